"""QR, singular values and eigenvalues of matrices and stacks of them.

Each is one routine over a stack. The libraries of a GPU think in columns, so what a routine takes and gives is what is
next to each other in memory: columns where an argument is transposed beforehand, and vectors as rows of a result that
is then seen transposed. What does not converge is told by the result `info`, which is looked at.
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
from ..core.recording.array import make_view, ndarray, to_host, wrap
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
from .checks import check_matrices, check_square, common_dtype, look, real_dtype, tells

__all__ = ["eig", "eigh", "eigvals", "eigvalsh", "qr", "svd", "svdvals"]

# A matrix with a side so many times as long as the other, of so many elements, goes through QR first.
_TALL, _MUCH = 4, 1 << 15
_LARGE = 1 << 19  # elements of a matrix
_NO_SVD = "SVD did not converge"
_NO_EIGENVALUES = "Eigenvalues did not converge"


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: ndarray
    R: ndarray


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: ndarray
    S: ndarray
    Vh: ndarray


class EigResult(NamedTuple):
    """What `eig` returns."""

    eigenvalues: ndarray
    eigenvectors: ndarray


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: ndarray
    eigenvectors: ndarray


# --- QR -------------------------------------------------------------------------------------------------------------


def qr(a: Any, mode: str = "reduced") -> Any:
    """The factors of matrices, one with orthonormal columns and one upper triangular. See `numpy.linalg.qr`."""
    mode = _qr_mode(mode)
    x = as_array(a)
    check_matrices(x)
    dtype = common_dtype(x)
    kind = "raw" if mode == "economic" else mode
    found = graph.library_call_outputs("qr", (kind,), (_large_in_order(as_dtype(_swapped(x.value()), dtype)),))
    if not x.size:
        found = [_zeros(node.signature.shape, x, dtype) for node in found]
        if mode == "complete":
            found[1] = _identities(found[1].signature.shape, x, dtype)
    if mode == "economic":
        return _transposed(found[0])
    if mode == "raw":
        return tuple(map(wrap, found))
    r = _transposed(found[0])
    return r if mode == "r" else QRResult(_transposed(found[1]), r)


def _qr_mode(mode: str) -> str:
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
    """Singular values with their vectors, the greatest first. See `numpy.linalg.svd`."""
    x = as_array(a)
    if hermitian:
        return _hermitian_svd(x, compute_uv)
    check_matrices(x)
    return singular(x, common_dtype(x), bool(full_matrices), bool(compute_uv))


def svdvals(x: Any, /) -> ndarray:
    """Singular values, the greatest first. See `numpy.linalg.svdvals`."""
    array = as_array(x)
    check_matrices(array)
    return singular(array, common_dtype(array), False, False)


def singular(x: ndarray, dtype: DType, full: bool, vectors: bool, message: str = _NO_SVD) -> Any:
    """The singular values of matrices, computed in a dtype, and with `vectors` all three factors.

    The library call takes matrices with no more rows than columns, so higher ones are transposed. It gives the vectors
    of the shorter side as the rows of a matrix, conjugated; those of the longer side are as they are to be.
    """
    (m, n), batch = x.shape[-2:], x.shape[:-2]
    short, long = min(m, n), max(m, n)
    if 0 in (*batch, short):
        s = wrap(_zeros((*batch, short), x, real_dtype(dtype)))
        if not vectors:
            return s
        ends = [_identities((*batch, k if full else short, k), x, dtype) for k in (m, n)]
        return SVDResult(_transposed(ends[0]), s, wrap(ends[1]))
    if long >= _TALL * short and long * short >= _MUCH and not full:
        return _of_triangle(x, dtype, vectors, message)
    value = as_dtype(x.value(), dtype)
    node = _large_in_order(_swapped(value) if m > n else value)
    values, info, *sides = graph.library_call_outputs("svd", (vectors, full), (node,))
    if not vectors:
        return _looked_at(info, message, [values], 0)[0]
    left, right = _conjugate(sides[0]), sides[1]
    s, vh, u = _looked_at(info, message, [values, *((left, right) if m > n else (right, left))], 1)
    return SVDResult(u, s, vh)


def _of_triangle(x: ndarray, dtype: DType, vectors: bool, message: str) -> Any:
    """Where one side is much longer: those of the triangular factor of QR, which is as small as the other side."""
    high = x.shape[-2] > x.shape[-1]
    tall = astype(x if high else swapaxes(x, -1, -2), dtype, copy=False)
    if not vectors:
        return singular(qr(tall, "r"), dtype, False, False, message)
    q, r = qr(tall)
    u, s, vh = singular(r, dtype, False, True, message)
    u = matmul(q, u)
    return SVDResult(u, s, vh) if high else SVDResult(swapaxes(vh, -1, -2), s, swapaxes(u, -1, -2))


def _hermitian_svd(x: ndarray, vectors: bool) -> Any:
    """By eigenvalues, whose absolute values they are."""
    if not vectors:
        return _reversed(sort(elementwise("absolute", (eigvalsh(x),))))
    w, v = eigh(x)
    signs = elementwise("copysign", (1.0, w))
    s = elementwise("absolute", (w,))
    order = _reversed(argsort(s))
    signs, s = (take_along_axis(part, order, -1) for part in (signs, s))
    u = take_along_axis(v, _along_rows(order), -1)
    vh = elementwise("conjugate", (swapaxes(elementwise("multiply", (u, _along_rows(signs))), -1, -2),))
    return SVDResult(u, s, vh)


# --- eigenvalues ----------------------------------------------------------------------------------------------------


def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """The eigenvalues of Hermitian matrices, the least first, and their eigenvectors. See `numpy.linalg.eigh`."""
    return EighResult(*_hermitian(a, UPLO, True))


def eigvalsh(a: Any, UPLO: str = "L") -> ndarray:
    """The eigenvalues of Hermitian matrices, the least first. See `numpy.linalg.eigvalsh`."""
    return _hermitian(a, UPLO, False)[0]


def _hermitian(a: Any, triangle: str, vectors: bool) -> list[ndarray]:
    triangle = triangle.upper()
    if triangle not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    x = as_array(a)
    check_square(x)
    dtype = common_dtype(x)
    if not x.size:
        values = wrap(_zeros(x.shape[:-1], x, real_dtype(dtype)))
        return [values, wrap(_zeros(x.shape, x, dtype))] if vectors else [values]
    # By columns a matrix in C order is its transpose, which is its conjugate; so its conjugate is the matrix itself.
    node = _conjugate(as_dtype(x.value(), dtype))
    found, info, *rows = graph.library_call_outputs("eigh", (triangle, vectors), (node,))
    try:
        return _looked_at(info, _NO_EIGENVALUES, [found, *rows], len(rows))
    except LinAlgError:
        return _by_singular_values(x, dtype, triangle, vectors)


def _by_singular_values(x: ndarray, dtype: DType, triangle: str, vectors: bool) -> list[ndarray]:
    """For what the library gives up, as it does some matrices of low rank.

    A multiple of the identity makes the matrix positive definite, and then it has its eigenvectors for singular ones.
    """
    value = astype(x, dtype, copy=False)
    lower = value if triangle == "L" else swapaxes(elementwise("conjugate", (value,)), -1, -2)
    half = elementwise("multiply", (elementwise("add", (tril(lower), tril(lower, -1))), 0.5))
    whole = elementwise("add", (half, elementwise("conjugate", (swapaxes(half, -1, -2),))))
    sizes = elementwise("absolute", (whole,))
    shift = reductions.max(reductions.sum(sizes, -1, keepdims=True), -2, keepdims=True)
    shift = elementwise("multiply", (shift, 2.0))
    unit = eye(x.shape[-1], dtype=dtype, device=x.device)
    moved = elementwise("add", (whole, elementwise("multiply", (unit, shift))))
    u, s, _ = singular(moved, dtype, False, True, _NO_EIGENVALUES)
    values = _reversed(elementwise("subtract", (s, getitem(shift, (..., 0)))))
    return [values, _reversed(u)][: 1 + vectors]


def eig(a: Any) -> EigResult:
    """The eigenvalues and right eigenvectors of square matrices, always complex. See `numpy.linalg.eig`."""
    return EigResult(*_general(a, True))


def eigvals(a: Any) -> ndarray:
    """The eigenvalues of square matrices, always complex. See `numpy.linalg.eigvals`."""
    return _general(a, False)[0]


def _general(a: Any, vectors: bool) -> list[ndarray]:
    """NumPy before 2.5 lets the values decide the dtype: complex, or real where they all are; a GPU cannot."""
    x = as_array(a)
    check_square(x)
    dtype = common_dtype(x)
    if not x.size:
        wide = numpy.result_type(dtype, numpy.complex64)
        values = wrap(_zeros(x.shape[:-1], x, wide))
        return [values, wrap(_zeros(x.shape, x, wide))] if vectors else [values]
    node = _large_in_order(as_dtype(_swapped(x.value()), dtype))
    found, info, *rows = graph.library_call_outputs("eig", (vectors,), (node,))
    try:
        return _looked_at(info, _NO_EIGENVALUES, [found, *rows], len(rows))
    except LinAlgError:
        if to_host(reductions.all(elementwise("isfinite", (x,)))):
            raise
        raise LinAlgError("Array must not contain infs or NaNs") from None


def _looked_at(info: Node, message: str, results: list[Node], turned: int) -> list[ndarray]:
    """Arrays of computed results, the last ones transposed, unless `info` tells of a failure."""
    made = [wrap(result) for result in results]
    told = tells(made[0].queue)
    evaluate.compute(results[0] if told else info)
    for k in range(len(made) - turned, len(made)):  # while the device is at work
        made[k] = _columns(made[k])
    look(info, message, told)
    return made


# --- values ---------------------------------------------------------------------------------------------------------


def _order(ndim: int) -> tuple[int, ...]:
    """All axes, the last two of them swapped."""
    return (*range(ndim - 2), ndim - 1, ndim - 2)


def _swapped(node: Node) -> Node:
    return transposed(node, _order(len(node.signature.shape)))


def _columns(x: ndarray) -> ndarray:
    """The transpose of an array in C order, as a view."""
    shape, strides = x.shape, layout.c_strides(x.shape)
    *_, down, across = strides
    return make_view(x, Layout((*shape[:-2], shape[-1], shape[-2]), (*strides[:-2], across, down), 0))


def _transposed(node: Node) -> ndarray:
    """A new array, the transpose of what lies in memory."""
    return _columns(wrap(node))


def _large_in_order(node: Node) -> Node:
    """The value, and where matrices are large a copy in C order of one that is not: routines transpose slowly."""
    f = node.signature
    small = f.shape[-1] * f.shape[-2] < _LARGE
    if small or not isinstance(f.primitive, Leaf) or layout.is_c(f.shape, f.primitive.strides):
        return node
    return graph.fresh(node)


def _conjugate(node: Node) -> Node:
    dtype = node.signature.dtype
    return graph.map_node("conjugate", (dtype, dtype), (node,)) if KIND[dtype] == "c" else node


def _zeros(shape: Shape, like: ndarray, dtype: DType) -> Node:
    return graph.fill(graph.typed_scalar(0, dtype), shape, like.queue)


def _identities(shape: Shape, like: ndarray, dtype: DType) -> Node:
    """The identity, or a part of it, for every matrix of a stack."""
    if not prod(shape):
        return _zeros(shape, like, dtype)
    return graph.broadcast(eye(shape[-2], shape[-1], dtype=dtype, device=like.device).value(), shape)


def _reversed(x: ndarray) -> ndarray:
    """The last axis from its end."""
    return getitem(x, (..., slice(None, None, -1)))


def _along_rows(x: ndarray) -> ndarray:
    """A value for every column."""
    return getitem(x, (..., None, slice(None)))
