"""Products over stacks: the generalised ufuncs `matmul`, `matvec`, `vecmat` and `vecdot`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy

from ...core.graph import layout
from ...core.graph.node import Node
from ...core.graph.primitives import LibraryCall
from ...core.numpy_ufuncs import UFUNCS, signature_of
from ...core.recording.array import ndarray, wrap
from ...core.recording.calls import memo_of_nodes
from ...core.recording.memo import MemoizedFunction, MemoizedOperation
from ...core.recording.record import reshaped, transposed
from ..fallback import on_host
from ..ufuncs.gufunc import NO_KEYWORDS, Keywords, axes_moved_last, axes_of, dtype_of, keywords
from ..ufuncs.output import checked_output, in_order, made_arrays, only_output
from .matrix_product import are_multiplied_by_library, conjugate, matrix_product, vector_product
from .operands import as_two_arrays, cast_operands, noted, reordered, write_product
from .precision import PRECISION, precision_name

__all__ = ["matmul", "matvec", "vecmat", "vecdot"]

_Gufunc = TypeVar("_Gufunc", bound=Callable[..., Any])
_NOT_GIVEN: Any = numpy._NoValue

# How many core dimensions the operands of each generalised ufunc have at most.
_MAX_CORE_NDIMS = {"matmul": (2, 2), "matvec": (2, 1), "vecmat": (1, 2), "vecdot": (1, 1)}


def _with_ufunc_attributes(function: _Gufunc) -> _Gufunc:
    """Give a function the attributes and the signature of NumPy's generalised ufunc of its name."""
    numpy_gufunc = UFUNCS[function.__name__]
    for name in ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature"):
        setattr(function, name, getattr(numpy_gufunc, name))
    for name in ("accumulate", "at", "outer", "reduce", "reduceat"):  # which raise NumPy's errors
        setattr(function, name, on_host(getattr(numpy_gufunc, name), ""))
    function.resolve_dtypes = numpy_gufunc.resolve_dtypes  # type: ignore[attr-defined]
    function.__signature__ = signature_of(numpy_gufunc) or inspect.signature(function)  # type: ignore[attr-defined]
    return function


@_with_ufunc_attributes
def matmul(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> ndarray:
    """Multiply matrices along the last two axes; the other axes are broadcast. See `numpy.matmul`."""
    if type(x1) is ndarray and type(x2) is ndarray and out is None and not options:
        left = x1._node if x1._base is None else x1.value()
        right = x2._node if x2._base is None else x2.value()
        precision = precision_name()
        signature = _find_memoized_matmul((left.signature, right.signature, precision))
        if signature is not None:
            return noted(wrap(Node(signature, (left, right))), x1, x2)
        return noted(_memoized_matmul((left, right), precision), x1, x2)
    return _call_gufunc("matmul", x1, x2, out, options)


@_with_ufunc_attributes
def matvec(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> ndarray:
    """Multiply matrices by vectors, both stacked. See `numpy.matvec`."""
    return _call_gufunc("matvec", x1, x2, out, options)


@_with_ufunc_attributes
def vecmat(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> ndarray:
    """Multiply conjugated vectors by matrices, both stacked. See `numpy.vecmat`."""
    return _call_gufunc("vecmat", x1, x2, out, options)


@_with_ufunc_attributes
def vecdot(x1: Any, x2: Any, /, out: Any = None, *, axis: Any = _NOT_GIVEN, **options: Any) -> ndarray:
    """Multiply vectors along an axis, the first ones conjugated, and sum. See `numpy.vecdot`."""
    if axis is not _NOT_GIVEN:  # `axes` is refused beside `axis`
        options["axis"] = axis
    return _call_gufunc("vecdot", x1, x2, out, options)


def _matmul(a: Node, b: Node) -> Node:
    """Return the product of two vectors, or of matrices."""
    return vector_product(a, b) if len(a.signature.shape) == len(b.signature.shape) == 1 else matrix_product(a, b)


def _matvec(a: Node, b: Node) -> Node:
    """Return the products of matrices and vectors."""
    left, right = a.signature.shape, b.signature.shape
    shape = (*layout.broadcast_shapes(left[:-2], right[:-1]), left[-2])
    return matrix_product(a, reshaped(b, (*right, 1)), shape)


def _vecmat(a: Node, b: Node) -> Node:
    """Return the products of conjugated vectors and matrices."""
    left, right = a.signature.shape, b.signature.shape
    shape = (*layout.broadcast_shapes(left[:-1], right[:-2]), right[-1])
    return matrix_product(reshaped(conjugate(a), (*left[:-1], 1, left[-1])), b, shape)


def _vecdot(a: Node, b: Node) -> Node:
    """Return the products of conjugated vectors and vectors."""
    return vector_product(conjugate(a), b)


# The product of nodes of one dtype, by the name of the generalised ufunc.
_PRODUCT_FUNCTIONS = {"matmul": _matmul, "matvec": _matvec, "vecmat": _vecmat, "vecdot": _vecdot}


def _product_without_options(name: str, operands: tuple[Node, ...], precision: str) -> tuple[Node, None]:
    """Return the product, and None for its memory order. `precision` is here as a part of the memo's key."""
    _check_dimensions(operands, name)
    return _PRODUCT_FUNCTIONS[name](*_checked_operands(name, operands, NO_KEYWORDS)), None


_MEMOIZED_PRODUCTS = {
    name: MemoizedOperation(partial(_product_without_options, name), (LibraryCall,), are_multiplied_by_library)
    if name == "matmul"
    else MemoizedFunction(partial(_product_without_options, name))
    for name in _PRODUCT_FUNCTIONS
}
_memoized_matmul = _MEMOIZED_PRODUCTS["matmul"]
_find_memoized_matmul = _memoized_matmul.find
MEMO_OF_MATMUL = memo_of_nodes(_memoized_matmul, PRECISION, are_products=True)
matmul.call_memo = MEMO_OF_MATMUL  # type: ignore[attr-defined]


def _call_gufunc(name: str, x1: Any, x2: Any, out: Any, options: dict[str, Any]) -> ndarray:
    """Return the result of a call of the generalised ufunc `name`."""
    if out is Ellipsis:
        return made_arrays(_call_gufunc(name, x1, x2, None, options))
    call_keywords = keywords(name, options) if options else NO_KEYWORDS
    out_array = checked_output(only_output(out))
    arrays = as_two_arrays(x1, x2)
    operands = tuple([x.value() for x in arrays])
    if call_keywords is NO_KEYWORDS and out_array is None:
        return _MEMOIZED_PRODUCTS[name](operands, precision_name())
    _check_dimensions(operands, name)
    core_ndims = [min(x.ndim, max_ndim) for x, max_ndim in zip(arrays, _MAX_CORE_NDIMS[name], strict=True)]
    result_core_ndim = 1 if call_keywords.keepdims else sum(core_ndims) - 2
    loop_ndim = max(x.ndim - n for x, n in zip(arrays, core_ndims, strict=True))
    ndims = [*(x.ndim for x in arrays), loop_ndim + result_core_ndim if out_array is None else len(out_array.shape)]
    axes = axes_of(name, call_keywords, ndims, (*core_ndims, result_core_ndim))
    order = None
    if axes is not None:
        left_order, right_order, order = (axes_moved_last(n, last) for n, last in zip(ndims, axes, strict=True))
        arrays = (reordered(arrays[0], left_order), reordered(arrays[1], right_order))
    node = _PRODUCT_FUNCTIONS[name](*_checked_operands(name, [x.value() for x in arrays], call_keywords))
    if call_keywords.keepdims:
        node = reshaped(node, (*node.signature.shape, 1))
    if out_array is not None:
        return write_product(node, out_array, name, result_core_ndim, call_keywords.casting, order)
    if order is not None:
        node = transposed(node, numpy.argsort(order).tolist())
    return wrap(node) if call_keywords.order == "K" else in_order(wrap(node), _order_like(call_keywords.order, arrays))


def _checked_operands(name: str, nodes: Sequence[Node], call_keywords: Keywords) -> list[Node]:
    """Return the operands in the dtype of the product. Raise `ValueError` if the summed axes differ in length."""
    a, b = (node.signature for node in nodes)
    _check_core_dimension(a.shape[-1], b.shape[-1 if len(b.shape) < 2 or _MAX_CORE_NDIMS[name][1] < 2 else -2], name, 0)
    return cast_operands(nodes, dtype_of(name, (a.dtype, b.dtype), call_keywords), call_keywords.casting, name)


def _order_like(order: str, arrays: Sequence[ndarray]) -> str:
    """Return the memory order "C" or "F"; "A" means "F" if all arrays are in Fortran order, and not all in C order."""
    if order != "A":
        return order
    return "F" if all(x.f_contiguous for x in arrays) and not all(x.c_contiguous for x in arrays) else "C"


def _check_dimensions(nodes: Sequence[Node], name: str) -> None:
    # Each operand of `matmul` may be a vector.
    """Raise `ValueError` if an operand has too few dimensions."""
    for k, (node, required) in enumerate(
        zip(nodes, (1, 1) if name == "matmul" else _MAX_CORE_NDIMS[name], strict=True)
    ):
        ndim = len(node.signature.shape)
        if ndim < required:
            raise ValueError(
                f"{name}: Input operand {k} does not have enough dimensions (has {ndim}, gufunc core with "
                f"signature {UFUNCS[name].signature} requires {required})"
            )


def _check_core_dimension(left_size: int, right_size: int, name: str, dimension: int) -> None:
    """Raise NumPy's `ValueError` unless two sizes of a core dimension are equal."""
    if left_size != right_size:
        raise ValueError(
            f"{name}: Input operand 1 has a mismatch in its core dimension {dimension}, with gufunc signature "
            f"{UFUNCS[name].signature} (size {right_size} is different from {left_size})"
        )
