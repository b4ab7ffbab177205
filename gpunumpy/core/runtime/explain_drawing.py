"""The drawing of a plan: arrays that are read, kernels and calls, arrays that are asked for, and what leads to what."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..pictures.graph import Box
from ..schedule.lower import Item, Source
from ..schedule.steps import Adopt, RunKernel, RunLibraryCall, Step


def boxes_and_arrows(
    steps: Sequence[Step],
    items: Sequence[Item],
    root_count: int,
    described: Callable[[int, RunKernel | RunLibraryCall], tuple[str, list[str]]],
) -> tuple[list[Box], list[tuple[int, int]]]:
    """Return the boxes of a plan and the arrows between them.

    Parameters
    ----------
    root_count
        The first so many items are asked for.
    described
        Returns title and text of a kernel or a call, from its number among them and the step.
    """
    boxes: list[Box] = []
    arrows: list[tuple[int, int]] = []
    made_by: dict[Source, int] = {}

    def number_of(source: Source) -> int:
        """Return the box of what has written a source; a new one for an array that is given."""
        if source not in made_by:
            boxes.append(Box("array", _array_text(items, source.position)))
            made_by[source] = len(boxes) - 1
        return made_by[source]

    count = 0
    for step in steps:
        if isinstance(step, Adopt):
            made_by[step.target] = number_of(step.base)
        if not isinstance(step, (RunKernel, RunLibraryCall)):
            continue
        read, written = _operands(step)
        sources = [number_of(source) for source in read if source.kind in ("leaf", "new", "copy")]
        sources += [made_by[source] for source in written if source in made_by]  # what is overwritten in place
        count += 1
        boxes.append(Box("call" if isinstance(step, RunLibraryCall) else "kernel", *described(count, step)))
        arrows += [(source, len(boxes) - 1) for source in dict.fromkeys(sources)]
        made_by.update(dict.fromkeys(written, len(boxes) - 1))
    for position in range(root_count):
        source = Source("new", position)
        if source in made_by:
            boxes.append(Box("array", _array_text(items, position)))
            arrows.append((made_by[source], len(boxes) - 1))
    return boxes, arrows


def _operands(step: RunKernel | RunLibraryCall) -> tuple[list[Source], list[Source]]:
    """Return what a step reads and what it writes."""
    if isinstance(step, RunLibraryCall):
        return [source for source, _ in step.args], list(step.targets)
    pairs = list(zip(step.kernel.args, step.args, strict=True))
    return [s for arg, s in pairs if arg.kind == "in"], [s for arg, s in pairs if arg.kind == "out"]


def _array_text(items: Sequence[Item], position: int) -> str:
    signature = items[position].signature
    return f"{signature.dtype} {'×'.join(map(str, signature.shape)) or '()'}"
