"""The verifier of signatures, graphs and kernels: the invariants that hold for every program. On in tests, else off."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from ..dtypes import INT64
from ..graph import layout
from ..graph.layout import Layout, Shape
from ..graph.library_calls.registry import results_of
from ..graph.primitives import Const, Gather, Iota, LibraryCall, Map, Output, Reduce, Scan, Scatter, Update, View
from ..graph.signature import Signature
from . import kernel as ir
from .lower import Item


class InvalidPlan(AssertionError):
    """Raised for a recorded graph or a plan that contradicts itself: a defect of gpunumpy, never of the program."""


def expect(condition: bool, message: str, *values: object) -> None:
    """Raise `InvalidPlan` with the message unless the condition holds.

    The values are for the fields of the message, as for `str.format`: nearly all conditions hold, and the text of a
    signature takes longer than to check it.
    """
    if not condition:
        raise InvalidPlan(message.format(*values) if values else message)


# --- signatures -------------------------------------------------------------------------------------------------------


def verify_signature(signature: Signature) -> None:
    """Check the shape and the dtype of a signature against its primitive and its arguments.

    Raises
    ------
    InvalidPlan
        If they contradict each other.
    """
    primitive, args = signature.primitive, signature.args
    shapes = [a.shape for a in args]
    if isinstance(primitive, Map):
        expect(len(args) == len(primitive.loop) - 1, "{} has {} arguments", signature, len(args))
        _expect_shape(signature, layout.broadcast_shapes(signature.shape, *shapes))
        expect(signature.dtype == primitive.loop[-1], "{} does not have the dtype of its loop", signature)
    elif isinstance(primitive, Iota):
        expect(signature.dtype == INT64 and primitive.axis < len(signature.shape), "{} is no index", signature)
    elif isinstance(primitive, View):
        expect(signature.dtype == args[0].dtype, "{} has another dtype than what it is a view of", signature)
        _expect_inside(signature, Layout(signature.shape, primitive.strides, primitive.offset), args[0].shape)
    elif isinstance(primitive, Update):
        _expect_shape(signature, shapes[0])
        _expect_inside(signature, primitive.region, signature.shape)
        expect(
            layout.broadcast_shapes(primitive.region.shape, shapes[1]) == primitive.region.shape,
            "{} gets {}",
            signature,
            shapes[1],
        )
    elif isinstance(primitive, (Gather, Scatter)):
        first_index = 1 if isinstance(primitive, Gather) else 2
        expect(all(a.dtype == INT64 for a in args[first_index:]), "{} has indices that are no int64", signature)
        expect(
            primitive.count == len(args) - first_index <= len(shapes[0]),
            "{} has {} indices",
            signature,
            len(args) - first_index,
        )
        picked = layout.broadcast_shapes(*shapes[first_index:]) + shapes[0][primitive.count :]
        if isinstance(primitive, Gather):
            _expect_shape(signature, picked)
        else:
            expect(
                layout.broadcast_shapes(picked, shapes[1]) == picked, "{} gets {} for {}", signature, shapes[1], picked
            )
    elif isinstance(primitive, Reduce):
        _expect_shape(signature, tuple(n for axis, n in enumerate(shapes[0]) if axis not in primitive.axes))
        expect(signature.dtype == primitive.loop[-1], "{} does not have the dtype of its loop", signature)
    elif isinstance(primitive, Scan):
        _expect_shape(signature, shapes[0])
        expect(
            primitive.axis < len(signature.shape) and signature.dtype == primitive.loop[-1],
            "{} is no scan of {}",
            signature,
            shapes[0],
        )
    elif isinstance(primitive, LibraryCall):
        _expect_results(signature, primitive)
    elif isinstance(primitive, Output):
        call = args[0].primitive
        is_declared = isinstance(call, LibraryCall) and call.results[primitive.number] == (
            signature.shape,
            signature.dtype,
        )
        expect(is_declared, "{} is no result of {}", signature, call)
    elif isinstance(primitive, Const):
        _expect_shape(signature, ())


def _expect_results(signature: Signature, call: LibraryCall) -> None:
    """Check the numbers of elements only: shapes may differ from those of the record, dtypes too with an epilogue."""
    from_record = results_of(call, signature.args)
    if from_record is not None:
        stated = call.results or ((signature.shape, signature.dtype),)
        element_counts = [[prod(shape) for shape, _ in results] for results in (stated, from_record)]
        expect(
            element_counts[0] == element_counts[1],
            "{} has results of {} elements instead of {}",
            signature,
            element_counts[0],
            element_counts[1],
        )


def _expect_shape(signature: Signature, shape: Shape) -> None:
    expect(signature.shape == shape, "{} should have the shape {}", signature, shape)


def _expect_inside(signature: Signature, window: Layout, shape: Shape) -> None:
    is_inside = 0 in window.shape or (window.low() >= 0 and window.high() < prod(shape))
    expect(is_inside, "{} reaches outside of an array of shape {}", signature, shape)


# --- passes over a graph ----------------------------------------------------------------------------------------------


def verify_rewrite(name: str, before: Sequence[Item], after: Sequence[Item], roots: Sequence[int]) -> None:
    """Check the output of a graph pass: the roots keep shape and dtype, and new items are sound.

    Raises
    ------
    InvalidPlan
        If that is not so; the text begins with the name of the pass.
    """
    try:
        expect(len(after) >= len(before), "items are missing")
        for r in roots:
            old, new = before[r].signature, after[r].signature
            expect((old.shape, old.dtype) == (new.shape, new.dtype), "the root at {}, {}, has become {}", r, old, new)
        for p, item in enumerate(after):
            if p >= len(before) or item != before[p]:
                _verify_item(item, after)
    except InvalidPlan as error:
        raise InvalidPlan(f"{name}: {error}") from None


def _verify_item(item: Item, items: Sequence[Item]) -> None:
    signature = item.signature
    verify_signature(signature)
    if item.args:
        expect(len(item.args) == len(signature.args), "{} has {} arguments", signature, len(item.args))
    for a, expected in zip(item.args, signature.args):
        expect(0 <= a < len(items), "{} needs item {} of {}", signature, a, len(items))
        found = items[a].signature
        expect(
            (found.shape, found.dtype) == (expected.shape, expected.dtype),
            "{} gets {} for {}",
            signature,
            found,
            expected,
        )


# --- kernels ----------------------------------------------------------------------------------------------------------


def verify_kernel(kernel: ir.Kernel, extents: Sequence[int]) -> None:
    """Check a kernel against itself and against the sizes of its buffers.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    extents : sequence of int
        For every argument, the number of elements that may be touched (ignored for scalars).

    Raises
    ------
    InvalidPlan
        If the kernel contradicts itself or touches elements outside of a buffer.
    """
    expect(0 <= kernel.reduced <= len(kernel.shape), "more loops are reduced than there are")
    expect((kernel.region is None) == (kernel.outside is None), "a region without an outside, or the reverse")
    whole = tuple((0, n) for n in kernel.shape)
    _verify_body(kernel, kernel.body, kernel.region or whole, extents)
    if kernel.region is not None and kernel.outside is not None:
        is_inside = len(kernel.region) == len(whole) and all(
            0 <= low <= high <= n for (low, high), n in zip(kernel.region, kernel.shape, strict=True)
        )
        expect(is_inside, "the region {} is not inside the loops {}", kernel.region, kernel.shape)
        _verify_body(kernel, kernel.outside, whole, extents)


class _Value(NamedTuple):
    """A value of a kernel, whose text only the message of a failure needs."""

    number: int
    instruction: ir.Instruction

    def __str__(self) -> str:
        return f"value {self.number} ({self.instruction})"


def _verify_body(kernel: ir.Kernel, body: ir.Body, bounds: Sequence[tuple[int, int]], extents: Sequence[int]) -> None:
    for number, instr in enumerate(body.instructions):
        used = instr.index if isinstance(instr, ir.LoadIndexed) else getattr(instr, "args", ())
        expect(all(0 <= k < number for k in used), "value {} uses one that comes later", number)
    dtypes = ir.value_dtypes(kernel, body)
    is_row_level = ir.are_row_level(kernel, body)
    for number, instr in enumerate(body.instructions):
        name = _Value(number, instr)
        if isinstance(instr, (ir.Load, ir.LoadIndexed)):
            expect(kernel.args[instr.arg].kind == "in", "{} reads an argument that is no input", name)
            elements = index_range(instr.at, bounds)
            if isinstance(instr, ir.LoadIndexed):
                expect(all(dtypes[k] == INT64 for k in instr.index), "{} has indices that are no int64", name)
                source_location = kernel.args[instr.source_location]
                expect(
                    source_location.kind == "scalar" and source_location.dtype == INT64,
                    "{} has no source location",
                    name,
                )
                elements = gathered_range(elements, instr.dims, instr.strides)
            _expect_span(elements, extents[instr.arg], name)
        elif isinstance(instr, ir.Scalar):
            expect(kernel.args[instr.arg].kind == "scalar", "{} is no scalar argument", name)
        elif not isinstance(instr, ir.LoopIndex):
            taken = tuple([dtypes[k] for k in instr.args])
            expect(taken == instr.loop[:-1], "{} gets {}", name, taken)
            if isinstance(instr, (ir.ReduceLoops, ir.ScanLoop)):
                expect(kernel.reduced > 0, "{} has no loop to run along", name)
                expect(
                    all(is_row_level[k] for k in instr.args[1:]),
                    "{} has operands for its end that differ in a row",
                    name,
                )
    for store in body.stores:
        place = f"the store of value {store.value} to argument {store.arg}"
        arg = kernel.args[store.arg]
        expect(arg.kind == "out", "{} is into no output", place)
        expect(0 <= store.value < len(dtypes), "{} stores what is not computed", place)
        expect(arg.dtype == dtypes[store.value], "{} of {} into {}", place, dtypes[store.value], arg.dtype)
        _expect_span(index_range(store.at, bounds), extents[store.arg], place)
        outer = len(kernel.shape) - kernel.reduced
        loops = outer if is_row_level[store.value] and not any(store.at.coef[outer:]) else len(kernel.shape)
        writes_distinct_elements = all(
            c or high - low <= 1 for c, (low, high) in zip(store.at.coef[:loops], bounds, strict=False)
        )
        expect(writes_distinct_elements, "{} writes one element many times", place)


def index_range(at: ir.Affine, bounds: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Return the least and the greatest value of an affine function within the bounds, or None if they are empty."""
    if any(high <= low for low, high in bounds):
        return None
    ends = [(c * low, c * (high - 1)) for c, (low, high) in zip(at.coef, bounds, strict=True)]
    return at.offset + sum(map(min, ends)), at.offset + sum(map(max, ends))


def gathered_range(
    base_range: tuple[int, int] | None, dims: Sequence[int], strides: Sequence[int]
) -> tuple[int, int] | None:
    """Return the range of a `LoadIndexed`: that of its affine part, extended by every index inside `dims`."""
    if base_range is None or 0 in dims:
        return None
    ends = [(0, s * (n - 1)) for n, s in zip(dims, strides, strict=True)]
    return base_range[0] + sum(map(min, ends)), base_range[1] + sum(map(max, ends))


def _expect_span(elements: tuple[int, int] | None, extent: int, place: _Value | str) -> None:
    is_inside = elements is None or (elements[0] >= 0 and elements[1] < extent)
    expect(is_inside, "{} touches elements {} of {}", place, elements, extent)
