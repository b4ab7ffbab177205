"""Library calls that are programs for all sizes of a class: at new sizes nothing is made but numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...core import _native
from ...core.graph.layout import Layout
from ...core.runtime.device import Device
from ...core.runtime.plan import CallAt, Runner
from ...core.schedule.sizes import Integer, Trace
from ...core.schedule.variants import Variants
from ..codegen.program import Program
from ..codegen.sized_program import SizedProgram
from .compile import contraction
from .program import prepare_program
from .scratch import SIZED_LAUNCHERS


def sized_call(
    device: Device,
    program: Callable[[Any, Sequence[Layout], Sequence[Any]], Program | None],
    dtypes: Sequence[Any],
    at: CallAt,
    otherwise: Callable[[Sequence[int]], Any],
) -> Callable[[Sequence[int]], Any]:
    """Return what prepares a call from its sizes.

    Parameters
    ----------
    program
        Takes options, layouts and dtypes, whose sizes may be symbolic. None stands for what `otherwise` prepares.
    """

    def make(trace: Trace, sizes: Sequence[Integer]) -> SizedProgram | None:
        made = program(*at(sizes), dtypes)
        return None if made is None else SizedProgram(made, trace)

    programs = Variants(make)

    def prepare_at(sizes: Sequence[int]) -> Any:
        sized, values = programs.find(sizes)
        if sized is None:
            return otherwise(sizes)
        launch = None if contraction() else sized.runner_at(values)
        if launch is not None:
            return launch
        return partial(_prepared, device, sized, values, len(dtypes))

    return _native.sized_launch(programs, prepare_at)


def _prepared(device: Device, sized: SizedProgram, values: Sequence[int], count: int) -> Runner:
    """Return what runs a program over so many arguments. If one launch does, it is kept for other sizes."""
    runner = prepare_program(device, sized.at(values), count)
    if sized.runner is None and isinstance(runner, (*SIZED_LAUNCHERS, *_native.LAUNCHES)) and not contraction():
        sized.runner = runner
    return runner
