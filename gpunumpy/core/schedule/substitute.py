"""The sizes in a graph, in kernels and in steps: taken out, and others put in their places.

A structure is something whose sizes are left open. It can be a key, and with a list of sizes it becomes
the thing again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeAlias, TypeVar

from ..graph.layout import Layout
from ..graph.primitives import Leaf, LibraryCall, Primitive, Update, View
from .callbacks import FusedCall
from .kernel import Affine, Body, Instruction, Kernel, LoadIndexed, map_affines
from .sizes import Integer, Size
from .steps import Allocate, RunKernel, RunLibraryCall, Step

# Returns what stands in the places of some sizes.
Change: TypeAlias = Callable[[Sequence[Any]], tuple[Any, ...]]
S = TypeVar("S", bound=Step)


def looked_up(sizes: Mapping[Any, Any]) -> Change:
    """Return the change of sizes into what a mapping has for them."""
    return lambda numbers: tuple([sizes[n] for n in numbers])


def in_layout(where: Layout, change: Change) -> Layout:
    """Change every size of a layout."""
    return Layout(change(where.shape), change(where.strides), *change((where.offset,)))


def in_primitive(primitive: Primitive, change: Change) -> Primitive:
    """Change every size of a primitive. The options of library calls have none: these calls know them exactly."""
    if isinstance(primitive, Leaf):
        strides, (origin,) = change(primitive.strides), change((primitive.origin,))
        return Leaf(strides, origin, primitive.aligned)
    if isinstance(primitive, View):
        return View(change(primitive.strides), *change((primitive.offset,)))
    if isinstance(primitive, Update):
        return Update(in_layout(primitive.region, change))
    if isinstance(primitive, LibraryCall):
        results = tuple([(change(shape), dtype) for shape, dtype in primitive.results])
        return LibraryCall(primitive.name, primitive.options, results)
    return primitive


def in_kernel(kernel: Kernel, change: Change) -> Kernel:
    """Change every size of a kernel."""

    def affine(at: Affine) -> Affine:
        offset, *coef = change((at.offset, *at.coef))
        return Affine(offset, tuple(coef))

    def body(old: Body) -> Body:
        new = map_affines(old, affine)
        if LoadIndexed not in map(type, new.instructions):
            return new
        return Body(tuple([indexed(instr) for instr in new.instructions]), new.stores)

    def indexed(instr: Instruction) -> Instruction:
        if isinstance(instr, LoadIndexed):
            dims, strides = change(instr.dims), change(instr.strides)
            return LoadIndexed(instr.arg, instr.at, instr.index, dims, strides, instr.source_location)
        return instr

    region = kernel.region and tuple([change(bounds) for bounds in kernel.region])
    outside = kernel.outside and body(kernel.outside)
    shape = change(kernel.shape)
    return Kernel(shape, kernel.reduced, kernel.args, body(kernel.body), region, outside, kernel.name)


def in_step(step: S, change: Change) -> S:
    """Change every size of a step."""
    if isinstance(step, Allocate):
        (nbytes,) = change((step.nbytes,))
        return replace(step, nbytes=nbytes)
    if isinstance(step, RunKernel):
        return replace(step, kernel=in_kernel(step.kernel, change))
    if isinstance(step, RunLibraryCall):
        options = in_options(step.options, change)
        return replace(
            step, options=options, args=tuple([(source, in_layout(where, change)) for source, where in step.args])
        )
    return step


def in_options(options: tuple[object, ...], change: Change) -> tuple[object, ...]:
    """Change every symbolic size in the options of a library call, and all of kernels in it.

    What options had before the graph was scheduled are numbers: the call knows these exactly.
    """
    if not isinstance(options, FusedCall):
        return tuple([_in_option(option, change) for option in options]) if type(options) is tuple else options
    (taken, read), (made, written) = options.call_input, options.call_output
    return options._replace(
        call_input=(in_layout(taken, change), read),
        call_output=(in_layout(made, change), written),
        before=options.before and in_kernel(options.before, change),
        after=options.after and in_kernel(options.after, change),
    )


class _Hole:
    """Stands in a structure where a size was. There is one, also in what was read from disk."""

    def __reduce__(self) -> str:
        return "HOLE"


HOLE = _Hole()


def _in_option(option: object, change: Change) -> object:
    if isinstance(option, (Size, _Hole)):
        return change((option,))[0]
    return tuple([_in_option(x, change) for x in option]) if type(option) is tuple else option


def taken_out(thing: Any, inside: Callable[[Any, Change], Any]) -> tuple[Any, list[Integer]]:
    """Return the structure of a thing, and its sizes in the order in which `inside` changes them."""
    sizes: list[Integer] = []

    def note(numbers: Sequence[Integer]) -> tuple[_Hole, ...]:
        sizes.extend(numbers)
        return (HOLE,) * len(numbers)

    return inside(thing, note), sizes


def put_in(structure: Any, inside: Callable[[Any, Change], Any], sizes: Sequence[Any]) -> Any:
    """Return the thing of a structure that has these sizes."""
    rest = iter(sizes)
    return inside(structure, lambda holes: tuple(islice(rest, len(holes))))
