"""The explanation of a plan before it runs: its kernels, their memory traffic, and why they are not fused."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from ..graph.library_calls.products import Product
from ..graph.library_calls.record import Batch
from ..graph.node import Node
from ..pictures.graph import Box, draw
from ..schedule.callbacks import FusedCall
from ..schedule.lower import Item, items_of
from ..schedule.passes import run_passes
from ..schedule.steps import RunKernel, RunLibraryCall, Step
from ..schedule.traffic import Traffic, traffic
from . import evaluate
from .byte_sizes import bytes_text
from .device import Device
from .explain_drawing import boxes_and_arrows
from .explain_room import moved_text, moves_text, slabs_text
from .plan import Executor

# A call with more arguments than this has equal arguments counted instead of listed.
_MAX_LISTED_ARGUMENTS = 8


class Explanation(NamedTuple):
    """What would run, as text and as a drawing, which notebooks show."""

    text: str
    svg: str

    def _repr_svg_(self) -> str:
        """Return the drawing, as notebooks ask for it."""
        return self.svg

    def __repr__(self) -> str:
        """Return the text."""
        return self.text


def explain(*arrays: Any, path: str | PathLike[str] | None = None, file: TextIO | None = None) -> None:
    """Print the kernels that would run if the arrays were computed now. Nothing is run.

    In a notebook they are drawn: kernels and library calls as boxes, between the arrays that they read and make.

    On a GPU each is compiled, interpreted until it is compiled, or waits for the compiler. Where the kernels are
    launched as one CUDA graph, as they have run again and again, the text says so.

    Small arrays on the host are counted: NumPy computes them at once (see `set_residence`).
    A flush computes all pending arrays of a device, so the kernels of other pending arrays are printed too. A graph of
    many sizes is computed in parts the first times: the text tells of how many. So it does of slabs where the device
    has no room for a result and what it is made of, of what is read and on the host by now, and of values that would
    move there to make room, those first that would leave first.

    Parameters
    ----------
    *arrays : ndarray
        The arrays to compute; without any, the pending arrays of the default device.
    path : str or path, optional
        Where to write the drawing, as SVG. Nothing is printed then, but to `file`.
    file : file object, optional
        The file to print to; standard output by default.

    Raises
    ------
    TypeError
        If something else than an array of this package is given.
    ValueError
        If the name of the drawing does not end with ".svg".
    """
    if path is not None and Path(path).suffix != ".svg":
        raise ValueError(f"the drawing is an .svg file, not {fspath(path)!r}")
    found = explained(*arrays)
    if path is not None:
        Path(path).write_text(found.svg, encoding="utf-8")
    if path is None and file is None and _is_in_notebook():
        sys.modules["IPython.display"].display(found)
    elif path is None or file is not None:
        print(found.text, file=file or sys.stdout)


def _is_in_notebook() -> bool:
    """Return whether the program runs in a kernel of Jupyter, which shows pictures."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None and "IPython.display" in sys.modules


def explanation(*arrays: Any) -> str:
    """Return the text that `explain` prints."""
    return explained(*arrays).text


def explained(*arrays: Any) -> Explanation:
    """Return what would run if the arrays were computed now."""
    for x in arrays:
        if not hasattr(x, "residence"):
            raise TypeError(f"explain takes arrays of gpunumpy, not {type(x).__module__}.{type(x).__qualname__}")
    devices = {Device(): []} if not arrays else dict.fromkeys(x.device for x in arrays)
    count = sum(x.residence == "host" for x in arrays)
    on_host = [f"{_count_text(count, 'array')} on the host, computed by NumPy at once"] if count else []
    boxes: list[Box] = []
    arrows: list[tuple[int, int]] = []
    on_devices = [
        _explain_device(device, [node for x in arrays if x.device is device for node in _owner_node(x)], boxes, arrows)
        for device in devices
    ]
    text = "\n".join((*on_host, *on_devices))
    return Explanation(text, draw(boxes or [Box("array", line) for line in text.splitlines()], arrows))


def _owner_node(x: Any) -> list[Node]:
    """Return the node that is computed for an array: for a view, that of its owner; none for an array on the host."""
    owner = x if x._base is None else x._base
    return [] if x.residence == "host" else [owner.value()]


def _explain_device(device: Device, requested: Sequence[Node], boxes: list[Box], arrows: list[tuple[int, int]]) -> str:
    """Return the text for one device, and add its boxes and arrows to a drawing."""
    queue = evaluate.queue_of(device)
    with queue.lock:
        roots = evaluate.live_roots(queue, requested)[0]
        if not roots:
            return f"nothing to run on {device}: everything is computed"
        nodes, key = evaluate.walk(roots)
        items, planner = items_of(nodes), queue.state.planner
        plan = planner.plans.find(key)
        parts = [] if plan else planner.parts(key, nodes, len(roots), times=0)
        slabs, moved = slabs_text(device, roots), moved_text(device, roots)
    executor = queue.state.executor
    steps, nodes_left = run_passes(items, range(len(roots)), executor)
    moves = "" if slabs else moves_text(queue, steps, nodes)
    text = slabs + moved + moves + _plan_text(steps, nodes_left, device, executor)

    def described(number: int, step: RunKernel | RunLibraryCall) -> tuple[str, list[str]]:
        return f"{number}. {step_name(step)}", _step_lines(step, traffic(step, steps, nodes_left), number, executor)

    new_boxes, new_arrows = boxes_and_arrows(steps, nodes_left, len(roots), described)
    arrows += [(len(boxes) + start, len(boxes) + end) for start, end in new_arrows]
    boxes += new_boxes
    if plan is not None and plan.is_cuda_graph:
        return f"launched as one CUDA graph:\n{text}"
    if parts:
        return f"in {len(parts)} parts, each with kernels of its own, until it comes up again; as a whole it is\n{text}"
    return text


def _plan_text(steps: Sequence[Step], items: Sequence[Item], device: Device, executor: Executor) -> str:
    """Return the description of a plan."""
    work = [step for step in steps if isinstance(step, (RunKernel, RunLibraryCall))]
    traffics = [traffic(step, steps, items) for step in work]
    kernels = sum(isinstance(step, RunKernel) for step in work)
    calls = len(work) - kernels
    heading = _count_text(kernels, "kernel") + (f" and {_count_text(calls, 'library call')}" if calls else "")
    total = Traffic(sum(moved.read for moved in traffics), sum(moved.written for moved in traffics))
    lines = [f"{heading} on {device}: {_traffic_text(total)}"]
    for number, (step, moved) in enumerate(zip(work, traffics, strict=True), 1):
        first, *rest = _step_lines(step, moved, number, executor)
        lines.append(f"{number}. {step_name(step)}: {first}")
        lines += [f"   {line}" for line in rest]
    return "\n".join(lines)


def _step_lines(step: RunKernel | RunLibraryCall, step_traffic: Traffic, number: int, executor: Executor) -> list[str]:
    """Return what is said of a step: its bytes, its loops or operands, and why it is one of its own."""
    lines = [_traffic_text(step_traffic)]
    lines.append(_kernel_text(step, executor) if isinstance(step, RunKernel) else _call_text(step))
    if number > 1 or isinstance(step, RunLibraryCall):
        lines.append(f"on its own because: {step.reason}")
    return lines


def step_name(step: RunKernel | RunLibraryCall) -> str:
    """Return the name of a step for tables: a kernel's name, or a call's with what its options add."""
    if isinstance(step, RunKernel):
        return step.kernel.name
    words, options = [step.name], step.options
    if isinstance(options, Batch):
        words, options = [*words, "batch"], options.options
    elif isinstance(options, FusedCall):
        words, options = [*words, "fused"], options.options
    if isinstance(options, Product):
        words += options.epilogues
    return "_".join(words)


def _kernel_text(step: RunKernel, executor: Executor) -> str:
    kernel = step.kernel
    outer = len(kernel.shape) - kernel.reduced
    parts = [f"loops {_shape_text(kernel.shape[:outer])}"]
    if kernel.reduced:
        parts.append(f"reduced over {_shape_text(kernel.shape[outer:])}")
    for kind, words in (("in", "reads"), ("scalar", "takes"), ("out", "writes")):
        dtypes = [str(arg.dtype) for arg in kernel.args if arg.kind == kind]
        if dtypes:
            parts.append(f"{words} {' '.join(dtypes)}")
    tier = executor.tier(kernel)
    if tier:
        parts.append(tier)
    return ", ".join(parts)


def _call_text(step: RunLibraryCall) -> str:
    parts = [
        f"{dtype} {_shape_text(where.shape)}"
        for (source, where), dtype in zip(step.args, step.dtypes, strict=True)
        if source.kind not in ("location", "const")
    ]
    if len(parts) > _MAX_LISTED_ARGUMENTS:
        parts = [f"{count} of {part}" for part, count in Counter(parts).items()]
    return f"reads {', '.join(parts)}"


def _shape_text(shape: Sequence[int]) -> str:
    return "×".join(map(str, shape)) or "1"


def _count_text(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _traffic_text(step_traffic: Traffic) -> str:
    return f"{bytes_text(step_traffic.read)} read, {bytes_text(step_traffic.written)} written"
