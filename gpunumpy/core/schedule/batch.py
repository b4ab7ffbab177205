"""Equal small calls of one flush become one call: to call a library takes longer than what it is to compute.

A call over n sets of arguments has n results, each in memory of its own, as it would have alone. What is put together
is decided by shapes, dtypes and options, so a program has the same calls every time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

from ..dtypes import KIND, DType
from ..graph.primitives import Const, LibraryCall, Scatter, Update, View
from ..graph.signature import Signature, outputs, signature
from .analysis import topological
from .epilogues import Product
from .lower import Item
from .transforms import Transform, is_smooth

SUFFIX = "_together"  # of the name of such a call


class Batch(NamedTuple):
    """The options of a call that is several: how many, and the options of each.

    Its results are theirs, one after the other, and its arguments are those of the first one, then of the next.
    """

    calls: int
    options: Any


MIN_BATCH, MAX_BATCH = 4, 64
_HELD = 1 << 26  # bytes of the results of one call, which there would not all have been at once
_BYTES = 1 << 16  # of the result and of every argument of a transform
_POINTS = 2048  # of a real one
# The longest sides, and the most products of elements, of matrices that a kernel multiplies sooner than a library.
_SIDE, _INNER, _WORK = 256, 512, 1 << 21
# The most products of elements of matrices that a library multiplies sooner as a batch: the host asks for it once, and
# the GPU has less that waits for the last of each.
_BATCH = {
    "float16": 1 << 32,
    "bfloat16": 1 << 32,
    "float32": 1 << 32,
    "float64": 1 << 29,
    "complex64": 1 << 29,
    "complex128": 1 << 27,
}
_SIDES = 16  # at least
_PART = 1 << 24  # bytes at most


def is_small_product(shape: Sequence[int], inner: int) -> bool:
    """Whether two matrices are so small; `shape` is that of their product."""
    return max(shape) <= _SIDE and inner <= _INNER and prod(shape) * inner <= _WORK


def is_batch(work: int, side: int, dtype: DType, precision: str) -> bool:
    """Whether matrices are multiplied sooner as some of a batch; `work` is how many products of elements there are.

    Of batches by addresses there is none that emulates.
    """
    return work <= _BATCH.get(dtype.name, 0) and side >= _SIDES and precision != "emulated"


def _small_fft(made: Signature, args: Sequence[Signature]) -> bool:
    """Whether it is small, and in a batch is what it is alone.

    Of other sizes the rounding depends on how many there are, and pairs of real transforms of odd sizes are computed
    as one, so that NaNs of either are in both.
    """
    assert isinstance(made.primitive, LibraryCall)
    kind, axes, sizes, _ = Transform(*made.primitive.options)
    last = axes[0] == len(made.shape) - len(axes)
    alike = kind == "c2c" or (sizes[-1] % 2 == 0 and sizes[-1] <= _POINTS)
    if kind == "c2r":
        alike &= prod(made.shape) == prod(sizes)  # where rows begin counts too
    small = all(prod(f.shape) * f.dtype.itemsize <= _BYTES for f in (made, *args))
    return small and last and alike and all(map(is_smooth, sizes))


def _small_matmul(made: Signature, args: Sequence[Signature]) -> bool:
    if (
        len(made.shape) != 2
        or any(len(f.shape) != 2 for f in args[:2])
        or any(isinstance(f.primitive, Const) for f in args)
    ):
        return False
    inner = args[0].shape[1]
    if KIND[args[0].dtype] in "ef" and is_small_product(made.shape, inner):
        return True
    assert isinstance(made.primitive, LibraryCall)
    product = Product(*made.primitive.options)
    if product.after or any(prod(f.shape) * f.dtype.itemsize > _PART for f in (made, *args)):
        return False
    return is_batch(prod(made.shape) * inner, min(*made.shape, inner), args[0].dtype, product.precision)


# Routines that know how to be several, and whether one of them is small.
SMALL: dict[str, Callable[[Signature, Sequence[Signature]], bool]] = {"fft": _small_fft, "matmul": _small_matmul}


def batch_calls(items: Sequence[Item], roots: Sequence[int]) -> Sequence[Item]:
    """The graph with each group of equal small calls as one call, whose parts stand where they stood.

    Calls are of a group if as many of those considered come before each of them, on the longest way from a leaf: then
    none needs another, whatever other groups become one. New items go to the end, so that positions stay.
    """
    names = [item.signature.primitive.name for item in items if isinstance(item.signature.primitive, LibraryCall)]
    if not any(names.count(name) >= MIN_BATCH for name in SMALL):
        return items
    groups: dict[Any, list[int]] = {}
    depths: dict[int, int] = {}
    written = _written(items)
    for p in topological(items, roots):
        item = items[p]
        f, args = item.signature, [items[a].signature for a in item.args]
        depth = max((depths[a] for a in item.args), default=0)
        known = (
            isinstance(f.primitive, LibraryCall)
            and not f.primitive.results
            and f.primitive.name in SMALL
            and SMALL[f.primitive.name](f, args)
        )
        if known and not any(_is_of(items, a, written) for a in item.args):
            depth += 1
            groups.setdefault((depth, f.primitive, f.shape, f.dtype, *((a.shape, a.dtype) for a in args)), []).append(p)
        depths[p] = depth
    result = list(items)
    for alike in groups.values():
        f = items[alike[0]].signature
        most = max(MIN_BATCH, min(MAX_BATCH, _HELD // (prod(f.shape) * f.dtype.itemsize or 1)))
        for start in range(0, len(alike), most):
            group = alike[start : start + most]
            if len(group) >= MIN_BATCH:
                _join(result, group)
    return result


def _written(items: Sequence[Item]) -> set[tuple[str, int]]:
    """The values that updates replace parts of, and the buffers of those that are in memory.

    Who reads one is done with it before it is written over: to wait for others would cost a copy of all of it.
    """
    bases = [item.args[0] for item in items if isinstance(item.signature.primitive, (Update, Scatter))]
    buffers = {("buffer", items[p].buffer) for p in bases if items[p].buffer >= 0}
    return buffers.union(("value", p) for p in bases)


def _is_of(items: Sequence[Item], p: int, written: set[tuple[str, int]]) -> bool:
    """Whether a value is one of those, or a part of one."""
    item = items[p]
    if ("value", p) in written or ("buffer", item.buffer) in written:
        return True
    return isinstance(item.signature.primitive, View) and _is_of(items, item.args[0], written)


def _join(items: list[Item], group: Sequence[int]) -> None:
    """Make one call of equal ones, in place."""
    f = items[group[0]].signature
    assert isinstance(f.primitive, LibraryCall)
    args = tuple(a for p in group for a in items[p].args)
    primitive = LibraryCall(
        f.primitive.name + SUFFIX, Batch(len(group), f.primitive.options), ((f.shape, f.dtype),) * len(group)
    )
    call = signature(primitive, tuple(items[a].signature for a in args), (), f.dtype, f.queue)
    for p, part in zip(group, outputs(call), strict=True):
        items[p] = replace(items[p], signature=part, args=(len(items),))
    items.append(Item(call, args))
