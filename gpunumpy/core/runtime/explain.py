"""What would run: the kernels for an array, their memory traffic, and why there is more than one."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any, TextIO

from ..graph.library_calls.products import Product
from ..graph.library_calls.record import Batch
from ..graph.node import Node
from ..schedule.callbacks import FusedCall
from ..schedule.lower import Item
from ..schedule.passes import run_passes
from ..schedule.steps import RunKernel, RunLibraryCall, Step
from ..schedule.traffic import Traffic, traffic
from . import evaluate
from .device import Device

_NAMED = 8  # arguments of a call that are named one by one
_UNITS = ("B", "kB", "MB", "GB", "TB")


def explain(*arrays: Any, file: TextIO | None = None) -> None:
    """Print the kernels that would run if the arrays were computed now. Nothing is run.

    A flush computes everything that is pending on a device, so what else is pending is in it.

    Parameters
    ----------
    *arrays : ndarray
        Whose kernels; without any, those of what is pending on the default device.
    file : file object, optional
        Where to; standard output by default.
    """
    print(explanation(*arrays), file=file or sys.stdout)


def explanation(*arrays: Any) -> str:
    """The text that `explain` prints."""
    places = {Device(): []} if not arrays else dict.fromkeys(x.device for x in arrays)
    return "\n".join(_on(device, [_value(x) for x in arrays if x.device is device]) for device in places)


def _value(x: Any) -> Node:
    """What is computed for an array; for a view, its owner."""
    owner = x if x.base is None else x.base
    node: Node = owner.value()
    return node


def _on(device: Device, wanted: Sequence[Node]) -> str:
    queue = evaluate.queue_of(device)
    with queue.lock:
        roots = evaluate.live_roots(queue, wanted, forget=False)
        if not roots:
            return f"nothing to run on {device}: everything is computed"
        items = evaluate.items_of(evaluate.walk(roots)[0])
    return described(*run_passes(items, range(len(roots)), queue.state.executor), device)


def described(steps: Sequence[Step], items: Sequence[Item], device: Device) -> str:
    """A plan in words."""
    work = [step for step in steps if isinstance(step, (RunKernel, RunLibraryCall))]
    moves = [traffic(step, steps, items) for step in work]
    kernels = sum(isinstance(step, RunKernel) for step in work)
    calls = len(work) - kernels
    what = _count(kernels, "kernel") + (f" and {_count(calls, 'library call')}" if calls else "")
    total = Traffic(sum(m.read for m in moves), sum(m.written for m in moves))
    lines = [f"{what} on {device}: {_moved(total)}"]
    for number, (step, moved) in enumerate(zip(work, moves, strict=True), 1):
        lines.append(f"{number}. {name_of(step)}: {_moved(moved)}")
        lines.append(f"   {_loops(step) if isinstance(step, RunKernel) else _arguments(step)}")
        if number > 1 or isinstance(step, RunLibraryCall):
            lines.append(f"   on its own because: {step.reason}")
    return "\n".join(lines)


def name_of(step: RunKernel | RunLibraryCall) -> str:
    """What a step is called in tables: of a call, with what its options add to it."""
    if isinstance(step, RunKernel):
        return step.kernel.name
    words, options = [step.name], step.options
    if isinstance(options, Batch):
        words, options = [*words, "batch"], options.options
    elif isinstance(options, FusedCall):
        words, options = [*words, "fused"], options.options
    if isinstance(options, Product):
        words += options.after
    return "_".join(words)


def _loops(step: RunKernel) -> str:
    kernel = step.kernel
    outer = len(kernel.shape) - kernel.reduced
    parts = [f"loops {_size(kernel.shape[:outer])}"]
    if kernel.reduced:
        parts.append(f"reduced over {_size(kernel.shape[outer:])}")
    for kind, words in (("in", "reads"), ("scalar", "takes"), ("out", "writes")):
        dtypes = [str(arg.dtype) for arg in kernel.args if arg.kind == kind]
        if dtypes:
            parts.append(f"{words} {' '.join(dtypes)}")
    return ", ".join(parts)


def _arguments(step: RunLibraryCall) -> str:
    parts = [
        f"{dtype} {_size(where.shape)}"
        for (source, where), dtype in zip(step.args, step.dtypes, strict=True)
        if source.kind not in ("location", "const")
    ]
    if len(parts) > _NAMED:
        parts = [f"{count} of {part}" for part, count in Counter(parts).items()]
    return f"reads {', '.join(parts)}"


def _size(shape: Sequence[int]) -> str:
    return "×".join(map(str, shape)) or "1"


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _moved(moved: Traffic) -> str:
    return f"{bytes_in_words(moved.read)} read, {bytes_in_words(moved.written)} written"


def bytes_in_words(count: float) -> str:
    """A number of bytes with its unit."""
    unit = 0
    while count >= 999.5 and unit < len(_UNITS) - 1:
        count /= 1000
        unit += 1
    return f"{count:.3g} {_UNITS[unit]}"
