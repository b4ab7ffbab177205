"""Programs whose time is that of a loop over small statements: each for a module like NumPy, and by hand for JAX."""

from __future__ import annotations

from . import flows, matrices, points, stencils
from .loop import Loop

LOOPS: tuple[Loop, ...] = (*stencils.LOOPS, *flows.LOOPS, *points.LOOPS, *matrices.LOOPS)
