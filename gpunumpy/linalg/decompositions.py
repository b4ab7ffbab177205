"""QR, singular values and eigenvalues of matrices and stacks of matrices.

Each function records one library call over a stack. GPU libraries store matrices by columns, and arrays here are stored
by rows. So a matrix that the library shall read is transposed beforehand, and the vectors that the library writes as
columns are the rows of an output, of which the user gets a transposed view. The output `info` is nonzero for a matrix
that did not converge; it is computed at once, and the function raises as NumPy does.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy
from numpy.linalg import LinAlgError

from ..core.dtypes import KIND, DType
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.layout import Layout, Shape
from ..core.graph.node import Node
from ..core.graph.primitives import Leaf
from ..core.recording.array import ORDERED, make_view, ndarray, to_host, wrap
from ..core.recording.record import as_array, as_dtype, elementwise, transposed
from ..core.runtime import evaluate
from ..core.source_location import warn
from ..functions.creation.ranges import eye, tril
from ..functions.indexing.getitem import getitem
from ..functions.indexing.selection import take_along_axis
from ..functions.manipulation.shape import astype, swapaxes
from ..functions.products.stacked import matmul
from ..functions.reductions import reductions
from ..functions.sorting.sort import argsort, sort
from .checks import (
    check_matrices,
    check_square,
    common_dtype,
    failure_word_is_clear,
    raise_on_failure,
    real_dtype,
)

__all__ = ["eig", "eigh", "eigvals", "eigvalsh", "qr", "svd", "svdvals"]

# A matrix goes through QR before its singular values are computed if one side is at least so many times as long as the
# other, and the matrix has at least so many elements.
_MIN_ASPECT_RATIO, _MIN_QR_FIRST_ELEMENTS = 4, 1 << 15
# Elements from which on a matrix is copied to C order before the library call, as library calls transpose slowly.
_LARGE_ELEMENTS = 1 << 19
_NO_SVD = "SVD did not converge"
_NO_EIGENVALUES = "Eigenvalues did not converge"


class QRResult(NamedTuple):
    """Result of `qr`."""

    Q: ndarray
    R: ndarray


class SVDResult(NamedTuple):
    """Result of `svd` with vectors."""

    U: ndarray
    S: ndarray
    Vh: ndarray


class EigResult(NamedTuple):
    """Result of `eig`."""

    eigenvalues: ndarray
    eigenvectors: ndarray


class EighResult(NamedTuple):
    """Result of `eigh`."""

    eigenvalues: ndarray
    eigenvectors: ndarray


# --- QR -------------------------------------------------------------------------------------------------------------


def qr(a: Any, mode: str = "reduced") -> Any:
    """Factor matrices into orthonormal columns and an upper triangle. See `numpy.linalg.qr`."""
    mode = _qr_mode(mode)
    x = as_array(a)
    check_matrices(x)
    dtype = common_dtype(x)
    output_mode = "raw" if mode == "economic" else mode
    node = _contiguous_if_large(as_dtype(_transpose_matrices(x.value()), dtype))
    outputs = graph.library_call_outputs("qr", (output_mode,), (node,))
    if not x.size:
        outputs = [_zeros(output.signature.shape, x, dtype) for output in outputs]
        if mode == "complete":
            outputs[1] = _identities(outputs[1].signature.shape, x, dtype)
    if mode == "economic":
        return _wrap_transposed(outputs[0])
    if mode == "raw":
        return tuple(map(wrap, outputs))
    r = _wrap_transposed(outputs[0])
    return r if mode == "r" else QRResult(_wrap_transposed(outputs[1]), r)


def _qr_mode(mode: str) -> str:
    """Return the mode in full; warn of deprecated modes and raise `ValueError` for unknown ones."""
    if mode in ("reduced", "complete", "r", "raw"):
        return mode
    if mode in ("f", "full"):
        warn(
            "The 'full' option is deprecated in favor of 'reduced'.\nFor backward compatibility let mode default.",
            DeprecationWarning,
        )
        return "reduced"
    if mode in ("e", "economic"):
        warn("The 'economic' option is deprecated.", DeprecationWarning)
        return "economic"
    raise ValueError(f"Unrecognized mode '{mode}'")


# --- singular values ------------------------------------------------------------------------------------------------


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Return the singular value decomposition of matrices, the greatest value first. See `numpy.linalg.svd`."""
    x = as_array(a)
    if hermitian:
        return _hermitian_svd(x, compute_uv)
    check_matrices(x)
    return svd_in_dtype(x, common_dtype(x), bool(full_matrices), bool(compute_uv))


def svdvals(x: Any, /) -> ndarray:
    """Return the singular values of matrices, the greatest first. See `numpy.linalg.svdvals`."""
    array = as_array(x)
    check_matrices(array)
    return svd_in_dtype(array, common_dtype(array), False, False)


def svd_in_dtype(x: ndarray, dtype: DType, full_matrices: bool, vectors: bool, message: str = _NO_SVD) -> Any:
    """Return the singular values of matrices, computed in a dtype, or with `vectors` an `SVDResult`.

    The library call takes matrices with no more rows than columns, so taller ones are transposed. Its outputs for the
    vectors are the adjoint of `U`, and `Vh`.
    """
    (m, n), batch = x.shape[-2:], x.shape[:-2]
    short, long = min(m, n), max(m, n)
    if 0 in (*batch, short):
        s = wrap(_zeros((*batch, short), x, real_dtype(dtype)))
        if not vectors:
            return s
        identities = [_identities((*batch, k if full_matrices else short, k), x, dtype) for k in (m, n)]
        return SVDResult(_wrap_transposed(identities[0]), s, wrap(identities[1]))
    if long >= _MIN_ASPECT_RATIO * short and long * short >= _MIN_QR_FIRST_ELEMENTS and not full_matrices:
        return _svd_by_qr(x, dtype, vectors, message)
    value = as_dtype(x.value(), dtype)
    node = _contiguous_if_large(_transpose_matrices(value) if m > n else value)
    values, info, *sides = graph.library_call_outputs("svd", (vectors, full_matrices), (node,))
    if not vectors:
        return _compute_checked(info, message, [values], 0)[0]
    left, right = _conjugate(sides[0]), sides[1]
    s, vh, u = _compute_checked(info, message, [values, *((left, right) if m > n else (right, left))], 1)
    return SVDResult(u, s, vh)


def _svd_by_qr(x: ndarray, dtype: DType, vectors: bool, message: str) -> Any:
    """Return the SVD of matrices with one much longer side, by way of the small triangular factor R of their QR."""
    is_tall = x.shape[-2] > x.shape[-1]
    tall = astype(x if is_tall else swapaxes(x, -1, -2), dtype, copy=False)
    if not vectors:
        return svd_in_dtype(qr(tall, "r"), dtype, False, False, message)
    q, r = qr(tall)
    u, s, vh = svd_in_dtype(r, dtype, False, True, message)
    u = matmul(q, u)
    return SVDResult(u, s, vh) if is_tall else SVDResult(swapaxes(vh, -1, -2), s, swapaxes(u, -1, -2))


def _hermitian_svd(x: ndarray, vectors: bool) -> Any:
    """Return the SVD of Hermitian matrices: singular values are the absolute values of eigenvalues."""
    if not vectors:
        return _reversed(sort(elementwise("absolute", (eigvalsh(x),))))
    w, v = eigh(x)
    signs = elementwise("copysign", (1.0, w))
    s = elementwise("absolute", (w,))
    order = _reversed(argsort(s))
    signs, s = (take_along_axis(values, order, -1) for values in (signs, s))
    u = take_along_axis(v, _as_rows(order), -1)
    vh = elementwise("conjugate", (swapaxes(elementwise("multiply", (u, _as_rows(signs))), -1, -2),))
    return SVDResult(u, s, vh)


# --- eigenvalues ----------------------------------------------------------------------------------------------------


def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Return the eigenvalues and eigenvectors of Hermitian matrices, in ascending order. See `numpy.linalg.eigh`."""
    return EighResult(*_hermitian_eigen(a, UPLO, True))


def eigvalsh(a: Any, UPLO: str = "L") -> ndarray:
    """Return the eigenvalues of Hermitian matrices in ascending order. See `numpy.linalg.eigvalsh`."""
    return _hermitian_eigen(a, UPLO, False)[0]


def _hermitian_eigen(a: Any, triangle: str, vectors: bool) -> list[ndarray]:
    """Return the eigenvalues of Hermitian matrices, and with `vectors` the eigenvectors."""
    triangle = triangle.upper()
    if triangle not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    x = as_array(a)
    check_square(x)
    dtype = common_dtype(x)
    if not x.size:
        empty = wrap(_zeros(x.shape[:-1], x, real_dtype(dtype)))
        return [empty, wrap(_zeros(x.shape, x, dtype))] if vectors else [empty]
    # The library reads a matrix in C order as its transpose, which is the conjugate of a Hermitian matrix. Given the
    # conjugate in C order, the library reads the matrix itself.
    node = _conjugate(as_dtype(x.value(), dtype))
    values, info, *vector_rows = graph.library_call_outputs("eigh", (triangle, vectors), (node,))
    try:
        return _compute_checked(info, _NO_EIGENVALUES, [values, *vector_rows], len(vector_rows))
    except LinAlgError:
        return _eigh_by_svd(x, dtype, triangle, vectors)


def _eigh_by_svd(x: ndarray, dtype: DType, triangle: str, vectors: bool) -> list[ndarray]:
    """Return what `_hermitian_eigen` does where the library's eigensolver fails, as for some matrices of low rank.

    With a multiple of the identity added the matrix is positive definite: its singular vectors are its eigenvectors.
    """
    value = astype(x, dtype, copy=False)
    lower = value if triangle == "L" else swapaxes(elementwise("conjugate", (value,)), -1, -2)
    half = elementwise("multiply", (elementwise("add", (tril(lower), tril(lower, -1))), 0.5))
    matrix = elementwise("add", (half, elementwise("conjugate", (swapaxes(half, -1, -2),))))
    magnitudes = elementwise("absolute", (matrix,))
    shift = reductions.max(reductions.sum(magnitudes, -1, keepdims=True), -2, keepdims=True)
    shift = elementwise("multiply", (shift, 2.0))
    unit = eye(x.shape[-1], dtype=dtype, device=x.device)
    shifted = elementwise("add", (matrix, elementwise("multiply", (unit, shift))))
    u, s, _ = svd_in_dtype(shifted, dtype, False, True, _NO_EIGENVALUES)
    values = _reversed(elementwise("subtract", (s, getitem(shift, (..., 0)))))
    return [values, _reversed(u)][: 1 + vectors]


def eig(a: Any) -> EigResult:
    """Return the eigenvalues and right eigenvectors of square matrices, always complex. See `numpy.linalg.eig`."""
    return EigResult(*_general_eigen(a, True))


def eigvals(a: Any) -> ndarray:
    """Return the eigenvalues of square matrices, always complex. See `numpy.linalg.eigvals`."""
    return _general_eigen(a, False)[0]


def _general_eigen(a: Any, vectors: bool) -> list[ndarray]:
    """Return complex eigenvalues of square matrices, and with `vectors` the eigenvectors.

    NumPy before 2.5 returns real arrays if all eigenvalues are real; a dtype that depends on values on the GPU would
    have to wait for them.
    """
    x = as_array(a)
    check_square(x)
    dtype = common_dtype(x)
    if not x.size:
        complex_dtype = numpy.result_type(dtype, numpy.complex64)
        empty = wrap(_zeros(x.shape[:-1], x, complex_dtype))
        return [empty, wrap(_zeros(x.shape, x, complex_dtype))] if vectors else [empty]
    node = _contiguous_if_large(as_dtype(_transpose_matrices(x.value()), dtype))
    values, info, *vector_rows = graph.library_call_outputs("eig", (vectors,), (node,))
    try:
        return _compute_checked(info, _NO_EIGENVALUES, [values, *vector_rows], len(vector_rows))
    except LinAlgError:
        if to_host(reductions.all(elementwise("isfinite", (x,)))):
            raise
        raise LinAlgError("Array must not contain infs or NaNs") from None


def _compute_checked(info: Node, message: str, results: list[Node], transposed_count: int) -> list[ndarray]:
    """Compute a library call and return its results as arrays, the last `transposed_count` as transposed views.

    Raises `LinAlgError(message)` if `info` reports a failure.
    """
    arrays = [wrap(result) for result in results]
    word_was_clear = failure_word_is_clear(arrays[0].queue)
    evaluate.compute(results[0] if word_was_clear else info)
    for k in range(len(arrays) - transposed_count, len(arrays)):  # while the device is at work
        arrays[k] = _transposed_view(arrays[k])
    raise_on_failure(info, message, word_was_clear)
    return arrays


# --- values ---------------------------------------------------------------------------------------------------------


def _transposed_axes(ndim: int) -> tuple[int, ...]:
    """Return the permutation of all axes that exchanges the last two."""
    return (*range(ndim - 2), ndim - 1, ndim - 2)


def _transpose_matrices(node: Node) -> Node:
    """Record the transposed matrices of a stack."""
    return transposed(node, _transposed_axes(len(node.signature.shape)))


def _transposed_view(x: ndarray) -> ndarray:
    """Return the transposed matrices of a result in C order, which nothing else shows."""
    shape, strides = x.shape, layout.c_strides(x.shape)
    *_, row_stride, column_stride = strides
    view = make_view(x, Layout((*shape[:-2], shape[-1], shape[-2]), (*strides[:-2], column_stride, row_stride), 0))
    view._flags |= ORDERED
    return view


def _wrap_transposed(node: Node) -> ndarray:
    """Wrap a node whose value is in C order, and return a view of its transposed matrices."""
    return _transposed_view(wrap(node))


def _contiguous_if_large(node: Node) -> Node:
    """Return the node, or a copy in C order if it is a leaf with large matrices in another order."""
    shape, primitive = node.signature.shape, node.signature.primitive
    is_small = shape[-1] * shape[-2] < _LARGE_ELEMENTS
    if is_small or not isinstance(primitive, Leaf) or layout.is_c_contiguous(shape, primitive.strides):
        return node
    return graph.as_new_node(node)


def _conjugate(node: Node) -> Node:
    """Record the complex conjugate; return a real node as it is."""
    dtype = node.signature.dtype
    return graph.map_node("conjugate", (dtype, dtype), (node,)) if KIND[dtype] == "c" else node


def _zeros(shape: Shape, like: ndarray, dtype: DType) -> Node:
    """Record zeros on the queue of another array."""
    return graph.fill(graph.typed_scalar(0, dtype), shape, like.queue)


def _identities(shape: Shape, like: ndarray, dtype: DType) -> Node:
    """Record a stack of matrices with ones on the diagonal and zeros elsewhere; they need not be square."""
    if not prod(shape):
        return _zeros(shape, like, dtype)
    return graph.broadcast(eye(shape[-2], shape[-1], dtype=dtype, device=like.device).value(), shape)


def _reversed(x: ndarray) -> ndarray:
    """Return a view with the last axis reversed."""
    return getitem(x, (..., slice(None, None, -1)))


def _as_rows(x: ndarray) -> ndarray:
    """Return a view of vectors as matrices of one row, so that each value broadcasts over a column."""
    return getitem(x, (..., None, slice(None)))
