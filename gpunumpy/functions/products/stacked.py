"""Products over stacks: the generalised ufuncs matmul, matvec, vecmat and vecdot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy

from ...core.graph import layout
from ...core.graph.node import Node
from ...core.recording.array import ndarray, wrap
from ...core.recording.memo import MemoizedFunction
from ...core.recording.record import reshaped, transposed
from ..ufuncs.gufunc import NO_KEYWORDS, Keywords, axes_of, dtype_of, keywords, order_of
from ..ufuncs.output import in_order, output
from .matrix_product import conjugate, matrix_product, vector_product
from .operands import cast, finish, pair, reordered
from .precision import precision_name

__all__ = ["matmul", "matvec", "vecmat", "vecdot"]

_Stacked = TypeVar("_Stacked", bound=Callable[..., Any])

# The most core dimensions of the operands of each generalised ufunc.
_CORES = {"matmul": (2, 2), "matvec": (2, 1), "vecmat": (1, 2), "vecdot": (1, 1)}


def _described(function: _Stacked) -> _Stacked:
    """The attributes that NumPy's generalised ufunc of that name has."""
    its = getattr(numpy, function.__name__)
    for name in ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature"):
        setattr(function, name, getattr(its, name))
    return function


@_described
def matmul(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> ndarray:
    """Matrix product of the last two axes, the others broadcast; see `numpy.matmul`."""
    if type(x1) is ndarray and type(x2) is ndarray and out is None and not options:
        one = x1._node if x1._base is None else x1.value()
        two = x2._node if x2._base is None else x2.value()
        precision = precision_name()
        signature = _find_plain_matmul((one.signature, two.signature, precision))
        if signature is not None:
            return wrap(Node(signature, (one, two)))
        return _plain_matmul((one, two), precision)
    return _stacked("matmul", x1, x2, out, options)


@_described
def matvec(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> ndarray:
    """Products of matrices with vectors, both stacked; see `numpy.matvec`."""
    return _stacked("matvec", x1, x2, out, options)


@_described
def vecmat(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> ndarray:
    """Products of conjugated vectors with matrices, both stacked; see `numpy.vecmat`."""
    return _stacked("vecmat", x1, x2, out, options)


@_described
def vecdot(x1: Any, x2: Any, /, out: Any = None, *, axis: Any = -1, **options: Any) -> ndarray:
    """Products of vectors along an axis, the first conjugated; see `numpy.vecdot`."""
    if type(axis) is not int or axis != -1:  # the last one is what it is without a word, and `axes` goes without it
        options["axis"] = axis
    return _stacked("vecdot", x1, x2, out, options)


def _matmul(a: Node, b: Node) -> Node:
    return vector_product(a, b) if len(a.signature.shape) == len(b.signature.shape) == 1 else matrix_product(a, b)


def _matvec(a: Node, b: Node) -> Node:
    left, right = a.signature.shape, b.signature.shape
    shape = (*layout.broadcast_shapes(left[:-2], right[:-1]), left[-2])
    return matrix_product(a, reshaped(b, (*right, 1)), shape)


def _vecmat(a: Node, b: Node) -> Node:
    left, right = a.signature.shape, b.signature.shape
    shape = (*layout.broadcast_shapes(left[:-1], right[:-2]), right[-1])
    return matrix_product(reshaped(conjugate(a), (*left[:-1], 1, left[-1])), b, shape)


def _vecdot(a: Node, b: Node) -> Node:
    return vector_product(conjugate(a), b)


# What each of them does to operands of one dtype.
_MULTIPLY = {"matmul": _matmul, "matvec": _matvec, "vecmat": _vecmat, "vecdot": _vecdot}


def _plain_product(name: str, operands: tuple[Node, ...], precision: str) -> tuple[Node, None]:
    """The product without options; the setting of its precision is a part of it."""
    _check_dimensions(operands, name)
    return _MULTIPLY[name](*_matched(name, operands, NO_KEYWORDS)), None


_PLAIN = {name: MemoizedFunction(partial(_plain_product, name)) for name in _MULTIPLY}
_plain_matmul = _PLAIN["matmul"]
_find_plain_matmul = _plain_matmul.find


def _stacked(name: str, x1: Any, x2: Any, out: Any, options: dict[str, Any]) -> ndarray:
    """A generalised ufunc."""
    words = keywords(name, options) if options else NO_KEYWORDS
    into = output(out)
    arrays = pair(x1, x2)
    operands = tuple([x.value() for x in arrays])
    if words is NO_KEYWORDS and into is None:
        return _PLAIN[name](operands, precision_name())
    _check_dimensions(operands, name)
    cores = [min(x.ndim, most) for x, most in zip(arrays, _CORES[name], strict=True)]
    core = 1 if words.keepdims else sum(cores) - 2
    loops = max(x.ndim - n for x, n in zip(arrays, cores, strict=True))
    ndims = [*(x.ndim for x in arrays), loops + core if into is None else len(into.shape)]
    axes = axes_of(name, words, ndims, (*cores, core))
    order = None
    if axes is not None:
        one, two, order = (order_of(n, last) for n, last in zip(ndims, axes, strict=True))
        arrays = (reordered(arrays[0], one), reordered(arrays[1], two))
    node = _MULTIPLY[name](*_matched(name, [x.value() for x in arrays], words))
    if words.keepdims:
        node = reshaped(node, (*node.signature.shape, 1))
    if into is not None:
        return finish(node, into, name, core, words.casting, order)
    if order is not None:
        node = transposed(node, numpy.argsort(order).tolist())
    return wrap(node) if words.order == "K" else in_order(wrap(node), _order_like(words.order, arrays))


def _matched(name: str, nodes: Sequence[Node], words: Keywords) -> list[Node]:
    """The operands in the dtype of the product, if the axis that is summed is of one length."""
    a, b = (node.signature for node in nodes)
    _check_core(a.shape[-1], b.shape[-1 if len(b.shape) < 2 or _CORES[name][1] < 2 else -2], name, 0)
    return cast(nodes, dtype_of(name, (a.dtype, b.dtype), words), words.casting, name)


def _order_like(order: str, arrays: Sequence[ndarray]) -> str:
    """The memory order "C" or "F"; "A" is that of Fortran if all arrays are."""
    if order != "A":
        return order
    places = [x.layout for x in arrays]
    fortran = all(layout.is_f(w.shape, w.strides) for w in places)
    return "F" if fortran and not all(layout.is_c(w.shape, w.strides) for w in places) else "C"


def _check_dimensions(nodes: Sequence[Node], name: str) -> None:
    # The optional core dimensions of matmul may be missing.
    for k, (node, need) in enumerate(zip(nodes, (1, 1) if name == "matmul" else _CORES[name], strict=True)):
        ndim = len(node.signature.shape)
        if ndim < need:
            raise ValueError(
                f"{name}: Input operand {k} does not have enough dimensions (has {ndim}, gufunc core with "
                f"signature {getattr(numpy, name).signature} requires {need})"
            )


def _check_core(n: int, m: int, name: str, dimension: int) -> None:
    if n != m:
        raise ValueError(
            f"{name}: Input operand 1 has a mismatch in its core dimension {dimension}, with gufunc signature "
            f"{getattr(numpy, name).signature} (size {m} is different from {n})"
        )
