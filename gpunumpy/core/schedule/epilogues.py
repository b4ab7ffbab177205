"""What a matrix product does besides: its options, and the pass that gives it the elementwise operations behind it.

BLAS scales what it has summed, adds a row or a matrix to it and clamps it from below before it writes. An operation of
that kind on a product that nothing else needs becomes a part of the call, where that saves the kernel that would
otherwise read the product again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from ..graph import layout
from ..graph.primitives import Const, Leaf, LibraryCall, Map, Output
from ..graph.signature import Signature, signature
from .analysis import topological
from .lower import Item

# The kinds of devices that do it.
DEVICES = frozenset({"cuda"})
_FLOATS = frozenset({"float16", "bfloat16", "float32", "float64", "complex64", "complex128"})
_HALVES = frozenset({"float16", "bfloat16"})


class Product(NamedTuple):
    """The options of the call "matmul".

    Attributes
    ----------
    precision
        How float32 and float64 may be multiplied: see `gpunumpy.linalg.matmul_precision`.
    conjugate
        Which of the operands is conjugated.
    after
        What is done to the product, in this order: "scale" or "divide" by a scalar, add a "bias" along the last axis
        or a "residual" of the product's shape, subtract such an array ("less") or subtract from it ("from"), take the
        "maximum" with a scalar. For each there is one argument more.
    """

    precision: str = "highest"
    conjugate: tuple[bool, bool] = (False, False)
    after: tuple[str, ...] = ()


def fold_epilogues(items: Sequence[Item], roots: Sequence[int]) -> list[Item]:
    """Give products what follows them, where the result has to be in memory and nothing else needs the product."""
    result = list(items)
    queue = items[roots[0]].signature.queue
    if queue is None or queue.device.kind not in DEVICES or not any(map(_is_product, items)):
        return result
    order = topological(items, roots)
    readers: dict[int, list[int]] = {}
    for p in order:
        for a in items[p].args:
            readers.setdefault(a, []).append(p)
    kept = frozenset(roots)
    for p in order:
        if not _is_product(items[p]):
            continue
        # As far as operations can be taken in; the last place where that spares a kernel is where it ends.
        item, best = result[p], None
        while p not in kept and len(readers[p]) == 1:
            (q,) = readers[p]
            taken = _with(result, item, p, q, kept)
            if taken is None:
                break
            p, item = q, taken
            if p in kept or any(isinstance(items[r].signature.primitive, LibraryCall) for r in readers[p]):
                best = p, item
        if best is not None:
            result[best[0]] = best[1]
    return result


def _is_product(item: Item) -> bool:
    primitive = item.signature.primitive
    return isinstance(primitive, LibraryCall) and primitive.name == "matmul" and item.signature.dtype.name in _FLOATS


def _with(items: Sequence[Item], call: Item, p: int, q: int, kept: frozenset[int]) -> Item | None:
    """The call that computes item `q` from what `call`, the item at `p`, is computed from; None where there is none."""
    f = items[q].signature
    assert isinstance(call.signature.primitive, LibraryCall)
    product = Product(*call.signature.primitive.options)
    if not isinstance(f.primitive, Map) or f.shape != call.signature.shape:
        return None
    operands = items[call.args[0]].signature.dtype
    if f.dtype != call.signature.dtype:
        # What is summed in float32 may be written so, or rounded after all.
        fine = f.dtype == operands or (operands.name in _HALVES and f.dtype.name == "float32")
        if not fine or not _FACTORS.issuperset(product.after):
            return None
    if f.primitive.op == "cast":
        return _call(items, f, product, call.args)
    if len(items[q].args) != 2 or set(f.primitive.loop) != {f.dtype}:
        return None
    other = next((a for a in items[q].args if a != p), p)
    op, first = f.primitive.op, items[q].args[0] == p
    if op == "subtract":
        op = "less" if first else "from"
    elif op == "divide" and not first:
        return None
    step = _step(items, op, other, f, call, kept)
    if not step or not _follows(product.after, step):
        return None
    return _call(items, f, product._replace(after=(*product.after, step)), (*call.args, other))


def _step(items: Sequence[Item], op: str, other: int, f: Signature, call: Item, kept: frozenset[int]) -> str:
    """What an operation with another operand is to a product, or an empty string."""
    o = items[other].signature
    if isinstance(o.primitive, Const):
        real = f.dtype.kind != "c"
        return {"multiply": "scale", "divide": "divide", "maximum": "maximum" if real else ""}.get(op, "")
    if op not in _SUMS or o.dtype != f.dtype:
        return ""
    in_memory = isinstance(o.primitive, (Leaf, LibraryCall, Output)) or other in kept
    if isinstance(o.primitive, Leaf) and not (layout.is_c(o.shape, o.primitive.strides) and o.primitive.aligned):
        return ""
    right = items[call.args[1]].signature.shape
    if op == "add" and len(right) > 1 and right[-1:] == o.shape[-1:] == f.shape[-1:] and prod(o.shape[:-1]) == 1:
        return "bias"
    return _SUMS[op] if o.shape == f.shape and in_memory else ""


_SUMS = {"add": "residual", "less": "less", "from": "from"}
RESIDUALS = frozenset(_SUMS.values())
_FACTORS = frozenset({"scale", "divide"})
# The order in which BLAS does them. A bias and a residual may come in any order.
_ORDER = {"scale": 0, "divide": 0, "bias": 1, "residual": 1, "less": 1, "from": 1, "maximum": 2}


def _follows(after: tuple[str, ...], step: str) -> bool:
    """Whether a step can come after those that there are."""
    if step == "from" and not _FACTORS.issuperset(after):
        return False  # it would change the sign of what has been added
    if any(step in group and group.intersection(after) for group in (_FACTORS, RESIDUALS)):
        return False
    return step not in after and all(_ORDER[s] <= _ORDER[step] for s in after)


def _call(items: Sequence[Item], f: Signature, product: Product, args: tuple[int, ...]) -> Item:
    signatures = tuple(items[a].signature for a in args)
    return Item(signature(LibraryCall("matmul", product), signatures, f.shape, f.dtype, f.queue), args)
