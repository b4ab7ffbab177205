"""The bit generator of ``da.random.default_rng``. Dask reads in its module whose `default_rng` takes it."""

from __future__ import annotations

import numpy


class PCG64(numpy.random.PCG64):
    """NumPy's bit generator, whose numbers this package draws."""
