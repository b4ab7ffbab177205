"""QR, singular values, eigenvalues and what is made of them, compared with NumPy.

Vectors are unique up to signs and phases at best, so factors are held to what defines them; values are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.numpy_release import RELEASE
from gpunumpy.linalg import decompositions

from ..support.arrays import from_host, ndarray, to_host
from .parity import outcome

pytestmark = pytest.mark.usefixtures("on_device", "nothing_runs_on_the_host")

FLOATS = ("f4", "f8", "c8", "c16")
SHAPES = ((1, 1), (3, 3), (5, 3), (3, 5), (2, 1), (1, 6), (33, 33), (40, 70), (70, 40), (4, 6, 6), (2, 3, 5, 4))
EMPTY = ((0, 3), (3, 0), (0, 0), (2, 0, 3), (2, 3, 0), (0, 3, 3))
VIEWS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda x: x.swapaxes(-1, -2),
    "every other": lambda x: x[..., ::2, 1::2],
    "reversed": lambda x: x[..., ::-1, ::-1],
    "stack last": lambda x: numpy.moveaxis(x, 0, -1) if isinstance(x, numpy.ndarray) else np.moveaxis(x, 0, -1),
    "pending": lambda x: x * 2 + 1,
}


def sample(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> Any:
    rng = numpy.random.default_rng([seed, *shape])
    x = rng.standard_normal(shape)
    if numpy.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return (x * (1 if numpy.dtype(dtype).kind in "fc" else 3)).astype(dtype)


def hermitian(shape: tuple[int, ...], dtype: Any) -> Any:
    x = sample(shape, dtype)
    return (x + x.swapaxes(-1, -2).conj().copy()).astype(dtype)


def host(x: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(map(host, x))
    return to_host(x) if isinstance(x, ndarray) else x


def near(found: Any, reference: Any, scale: Any = None) -> None:
    """Equal up to a small multiple of the rounding of the largest numbers, where NaN is NaN."""
    reference = numpy.asarray(reference)
    found = numpy.asarray(found)
    assert (found.shape, found.dtype) == (reference.shape, reference.dtype)
    if not reference.size:
        return
    size = numpy.max(numpy.abs(reference), initial=0, where=numpy.isfinite(reference)) if scale is None else scale
    unit = numpy.finfo(reference.dtype).eps if reference.dtype.kind in "fc" else 0
    numpy.testing.assert_allclose(found, reference, 0, 60 * unit * max(float(size), 1e-30))


def orthonormal(q: Any) -> None:
    """The columns of q."""
    unit = numpy.broadcast_to(numpy.eye(q.shape[-1], dtype=q.dtype), (*q.shape[:-2], q.shape[-1], q.shape[-1]))
    near(q.swapaxes(-1, -2).conj() @ q, unit)


def size_of(a: Any) -> float:
    return float(numpy.linalg.norm(a.reshape(-1).astype("c16"))) if a.size else 0.0


def check_qr(a: Any, x: Any, mode: str) -> None:
    reference, found = numpy.linalg.qr(a, mode), host(np.linalg.qr(x, mode))
    if mode == "r":
        assert (found.shape, found.dtype) == (reference.shape, reference.dtype)
        near(abs(found), abs(reference), size_of(a))
        return
    assert [(f.shape, f.dtype) for f in found] == [(t.shape, t.dtype) for t in reference]
    if mode == "raw":
        return
    q, r = found
    near(q @ r, a.astype(q.dtype), size_of(a))
    assert not numpy.tril(r, -1).any()
    orthonormal(q)


def check_svd(a: Any, x: Any, **options: Any) -> None:
    reference, found = numpy.linalg.svd(a, **options), host(np.linalg.svd(x, **options))
    assert [(f.shape, f.dtype) for f in found] == [(t.shape, t.dtype) for t in reference]
    u, s, vh = found
    near(s, reference[1], size_of(a))
    assert (numpy.diff(s) <= 0).all()
    assert (s >= 0).all()
    k = s.shape[-1]
    near((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a.astype(u.dtype), size_of(a))
    orthonormal(u)
    orthonormal(vh.swapaxes(-1, -2).conj())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["reduced", "complete", "r", "raw"])
def test_qr(shape: Any, dtype: str, mode: str) -> None:
    a = sample(shape, dtype)
    check_qr(a, from_host(a), mode)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("full", [False, True])
def test_svd(shape: Any, dtype: str, full: bool) -> None:
    a = sample(shape, dtype)
    check_svd(a, from_host(a), full_matrices=full)
    near(to_host(np.linalg.svdvals(from_host(a))), numpy.linalg.svdvals(a), size_of(a))
    near(to_host(np.linalg.svd(from_host(a), compute_uv=False)), numpy.linalg.svdvals(a), size_of(a))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [s for s in SHAPES if s[-1] == s[-2]])
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_eigh(shape: Any, dtype: str, triangle: str) -> None:
    a = hermitian(shape, dtype)
    n = shape[-1]
    inside = numpy.tri(n, dtype=bool) if triangle == "L" else ~numpy.tri(n, k=-1, dtype=bool)
    given = from_host(numpy.where(inside, a, numpy.nan).astype(dtype))  # the other triangle is not looked at
    w, v = host(np.linalg.eigh(given, triangle))
    reference = numpy.linalg.eigh(a, triangle)
    near(w, reference.eigenvalues, size_of(a))
    assert (numpy.diff(w) >= 0).all()
    assert v.dtype == a.dtype
    near(a @ v, v * w[..., None, :], size_of(a))
    orthonormal(v)
    near(to_host(np.linalg.eigvalsh(given, triangle)), reference.eigenvalues, size_of(a))
    check_svd(a, from_host(a), hermitian=True)
    near(to_host(np.linalg.svd(from_host(a), True, False, True)), numpy.linalg.svdvals(a), size_of(a))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [s for s in SHAPES if s[-1] == s[-2]])
def test_eig(shape: Any, dtype: str) -> None:
    a = sample(shape, dtype)
    w, v = host(np.linalg.eig(from_host(a)))
    wide = numpy.result_type(dtype, "c8")
    assert w.dtype == v.dtype == wide
    near(a @ v, v * w[..., None, :], 5 * size_of(a))
    near(numpy.linalg.norm(v, axis=-2).astype(wide), numpy.ones(w.shape, wide))
    for values in (w, to_host(np.linalg.eigvals(from_host(a)))):
        for tested, other in zip(values.reshape(-1, shape[-1]), numpy.linalg.eigvals(a).reshape(-1, shape[-1])):
            assert abs(tested[:, None] - other).min(0).max() < 1e3 * numpy.finfo(dtype).eps * size_of(a)
    if a.dtype.kind == "f":  # conjugate pairs are that exactly
        assert sorted(w.ravel(), key=lambda z: (z.real, z.imag)) == sorted(
            w.conj().ravel(), key=lambda z: (z.real, z.imag)
        )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_eigh_that_the_library_gives_up(triangle: str, dtype: str) -> None:
    a = hermitian((3, 7, 7), dtype)
    a[1] = 1
    inside = numpy.tri(7, dtype=bool) if triangle == "L" else ~numpy.tri(7, k=-1, dtype=bool)
    given = from_host(numpy.where(inside, a, numpy.nan).astype(dtype))
    w, v = host(tuple(decompositions._eigh_by_svd(given, a.dtype, triangle, True)))
    near(w, numpy.linalg.eigvalsh(a), 10 * size_of(a))
    near(a @ v, v * w[..., None, :], 10 * size_of(a))
    orthonormal(v)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_views(view: str, dtype: str) -> None:
    base = sample((6, 6, 6), dtype)
    a, x = VIEWS[view](base), VIEWS[view](from_host(base))
    check_qr(a, x, "complete")
    check_svd(a, x)
    if a.shape[-1] == a.shape[-2]:
        w, v = host(np.linalg.eig(x))
        near(a @ v, v * w[..., None, :], 5 * size_of(a))
        lower = numpy.tril(a)
        whole = lower + numpy.tril(a, -1).swapaxes(-1, -2).conj()
        whole[..., range(a.shape[-1]), range(a.shape[-1])] = numpy.diagonal(a, 0, -2, -1).real
        w, v = host(np.linalg.eigh(x))
        near(whole @ v, v * w[..., None, :], size_of(a))


@pytest.mark.parametrize("dtype", ["?", "i4", "u8"])
def test_integers(dtype: str) -> None:
    a = abs(sample((4, 4), dtype))
    check_qr(a, from_host(a), "reduced")
    check_svd(a, from_host(a))
    near(to_host(np.linalg.eigvalsh(from_host(a))), numpy.linalg.eigvalsh(a))


SPECIAL = {
    "zeros": lambda n: numpy.zeros((n, n)),
    "ones": lambda n: numpy.ones((n, n)),
    "identity": numpy.eye,
    "of rank 2": lambda n: sample((n, 2), "f8") @ sample((2, n), "f8"),
    "graded": lambda n: sample((n, n), "f8") * numpy.logspace(0, -30, n),
    "tiny": lambda n: sample((n, n), "f8") * 1e-30,
    "large": lambda n: sample((n, n), "f8") * 1e30,
    "two alike": lambda n: numpy.repeat(sample((n, (n + 1) // 2), "f8"), 2, 1)[:, :n],
    "upper triangle": lambda n: numpy.triu(sample((n, n), "f8")),
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("n", [2, 7, 32, 90])
@pytest.mark.parametrize("kind", SPECIAL)
def test_special_matrices(kind: str, n: int, dtype: str) -> None:
    a = SPECIAL[kind](n).astype(dtype)  # type: ignore[operator]
    check_qr(a, from_host(a), "reduced")
    check_svd(a, from_host(a))
    check_svd(a[: n // 2 + 1], from_host(a)[: n // 2 + 1])
    b = (a + a.T).astype(dtype)
    w, v = host(np.linalg.eigh(from_host(b)))
    near(w, numpy.linalg.eigvalsh(b), size_of(b))
    near(b @ v, v * w, size_of(b))
    orthonormal(v)


def test_special_matrices_in_one_stack() -> None:
    a = numpy.stack([make(9) for make in SPECIAL.values()])  # type: ignore[operator]
    for one, tested in zip(a, zip(*host(np.linalg.svd(from_host(a))))):
        u, s, vh = tested
        near((u * s) @ vh, one, size_of(one))
        orthonormal(u)
        orthonormal(vh.T)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(150, 150), (150, 130), (130, 150)])
def test_svd_of_ill_conditioned_matrices(shape: Any, dtype: str) -> None:
    least = min(shape)
    u, vh = (numpy.linalg.qr(sample((n, n), dtype, n)).Q for n in shape)
    values = numpy.logspace(0, -5, least).astype(dtype)
    made = (u[:, :least] * values @ vh[:least]).astype(dtype)
    stack = numpy.stack([made, numpy.outer(made[:, 0], made[0]), made[::-1]])
    for options in ({}, {"full_matrices": False}):
        check_svd(stack, from_host(stack), **options)


@pytest.mark.parametrize("dtype", ["c8", "f8", "c16"])
def test_svd_of_matrices_that_have_no_polar_decomposition(dtype: str) -> None:
    """Of rank 64, and with a condition far beyond what double precision tells from infinity."""
    doubled = sample((400, 127), dtype)
    doubled[:, 63:] = doubled[:, :64]
    for a in (numpy.triu(sample((258, 257), dtype)), doubled, doubled[None]):
        u, s, vh = host(np.linalg.svd(from_host(a), full_matrices=False))
        near(s, numpy.linalg.svd(a, compute_uv=False), size_of(a))
        near((u * s[..., None, :] @ vh).astype(dtype), a, size_of(a))


@pytest.mark.parametrize("shape", EMPTY)
def test_nothing(shape: Any) -> None:
    a = numpy.ones(shape, "f4")
    calls: list[tuple[str, tuple[Any, ...]]] = [
        (name, ()) for name in ("svdvals", "eigh", "eigvalsh", "matrix_rank", "pinv")
    ]
    calls += [("qr", (mode,)) for mode in ("reduced", "complete", "r", "raw")] + [("svd", (f,)) for f in (True, False)]
    for name, args in calls:
        found = outcome(lambda: host(getattr(np.linalg, name)(from_host(a), *args)))  # noqa: B023
        if name == "matrix_rank" and RELEASE < "2.4.5":  # which looks for the largest of no singular values
            numpy.testing.assert_array_equal(found, numpy.zeros(shape[:-2], int))
            continue
        reference = outcome(lambda: getattr(numpy.linalg, name)(a, *args))  # noqa: B023
        if isinstance(reference, Exception):
            assert type(found) is type(reference)
            assert str(found) == str(reference)
            continue
        for tested, other in zip(*(r if isinstance(r, tuple) else (r,) for r in (found, reference)), strict=True):
            numpy.testing.assert_array_equal(tested, other)
            assert numpy.asarray(tested).dtype == numpy.asarray(other).dtype


@pytest.mark.parametrize("name", ["qr", "svd", "svdvals", "eigh", "eigvalsh", "eig", "eigvals"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_errors(name: str, shape: Any) -> None:
    for dtype in ("f4", "f2"):
        a = numpy.ones(shape, dtype)
        reference = outcome(lambda: getattr(numpy.linalg, name)(a))  # noqa: B023
        found = outcome(lambda: getattr(np.linalg, name)(from_host(a)))  # noqa: B023
        assert isinstance(found, Exception) == isinstance(reference, Exception)
        if isinstance(reference, Exception):
            assert (type(found), str(found)) == (type(reference), str(reference))


def test_words() -> None:
    x = np.eye(2)
    with pytest.raises(ValueError, match="UPLO argument"):
        np.linalg.eigh(x, "X")
    with pytest.raises(ValueError, match="Unrecognized mode 'q'"):
        np.linalg.qr(x, "q")
    with pytest.warns(DeprecationWarning, match="'full' option"):
        np.linalg.qr(x, "full")
    with pytest.warns(DeprecationWarning, match="'economic' option"):
        assert np.linalg.qr(x, "economic").shape == (2, 2)
    assert np.linalg.svd(x)._fields == ("U", "S", "Vh")
    assert np.linalg.qr(x)._fields == ("Q", "R")
    assert np.linalg.eigh(x)._fields == np.linalg.eig(x)._fields == ("eigenvalues", "eigenvectors")


@pytest.mark.on_device  # NumPy finds singular values for some matrices with infinities
@pytest.mark.parametrize("n", [4, 60, 100])
@pytest.mark.parametrize("bad", [numpy.nan, numpy.inf])
def test_what_is_not_finite(n: int, bad: float) -> None:
    x = numpy.eye(n)
    x[n // 2, 1] = bad
    for function in (np.linalg.eig, np.linalg.eigvals):
        with pytest.raises(np.linalg.LinAlgError, match="infs or NaNs"):
            function(np.asarray(x))
    for function in (np.linalg.svd, np.linalg.svdvals, np.linalg.pinv):
        with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
            function(np.asarray(numpy.stack([numpy.eye(n), x])))
    assert np.isnan(np.linalg.norm(np.asarray(x))) or bad == numpy.inf


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (3, 6), (50, 20), (5, 1)])
@pytest.mark.parametrize("sides", [(), (2,), (0,)])
def test_lstsq(shape: Any, dtype: str, sides: Any) -> None:
    a, b = sample(shape, dtype), sample((shape[0], *sides), dtype, 1)
    for left in (a, numpy.outer(a[:, 0], a[0])):
        reference, found = numpy.linalg.lstsq(left, b), host(np.linalg.lstsq(from_host(left), from_host(b)))
        assert found[2] == reference[2]
        for tested, other in zip(found, reference):
            near(tested, other, 100 * max(size_of(b), float(abs(reference[0]).max(initial=1))))


@pytest.mark.parametrize("rcond", [-1, 0, 1, 2.5, 0.5, None])
def test_lstsq_of_a_tolerance_that_is_none(rcond: Any) -> None:
    for a in (numpy.ones((3, 2)), numpy.diag([1, 0.75, 0.25]), numpy.ones((3, 2), "c8")):
        reference, found = numpy.linalg.lstsq(a, numpy.arange(3.0), rcond), np.linalg.lstsq(a, np.arange(3.0), rcond)
        assert found[2] == reference[2]
        near(to_host(found[0]), reference[0], 100)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_lstsq_of_the_least_tolerance(dtype: str) -> None:
    for small in (0.5e-16, 1.5e-16, 3e-16):
        a = numpy.diag([1, small]).astype(dtype)
        for rcond in (-1, None):
            assert np.linalg.lstsq(from_host(a), np.ones(2), rcond)[2] == numpy.linalg.lstsq(a, numpy.ones(2), rcond)[2]


@pytest.mark.parametrize("dtype", [*FLOATS, "i4"])
@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (3, 6), (2, 5, 3)])
def test_ranks_and_inverses(shape: Any, dtype: str) -> None:
    full, lost = sample(shape, dtype), sample(shape, dtype)
    lost[..., 1] = lost[..., 0]
    for a in (full, lost):
        x = from_host(a)
        for options in ({}, {"tol": 0.5}, {"rtol": 0.1}):
            numpy.testing.assert_array_equal(
                to_host(np.linalg.matrix_rank(x, **options)), numpy.linalg.matrix_rank(a, **options)
            )
        reference = numpy.linalg.pinv(a)
        near(to_host(np.linalg.pinv(x)), reference, 100 * abs(reference).max())
        near(to_host(np.linalg.pinv(x, rcond=0.2)), numpy.linalg.pinv(a, rcond=0.2), 100 * abs(reference).max())
    if shape[-1] == shape[-2] and dtype != "i4":
        a = hermitian(shape, dtype)
        near(
            to_host(np.linalg.pinv(from_host(a), hermitian=True)),
            numpy.linalg.pinv(a),
            100 * abs(numpy.linalg.pinv(a)).max(),
        )
        assert np.linalg.matrix_rank(from_host(a), hermitian=True) == shape[-1]
    assert np.linalg.matrix_rank(np.zeros(3)) == 0
    assert np.linalg.matrix_rank(np.ones(3)) == 1


def test_tolerances_make_no_stacks() -> None:
    host = numpy.eye(3) + numpy.zeros((2, 3, 3))
    for shape in ((2,), (1,), ()):
        check = numpy.testing.assert_array_equal
        check(to_host(np.linalg.pinv(from_host(host), rtol=numpy.full(shape, 0.1))), host)
    for rtol in ([0.1, 0.2], [[0.1], [0.2]]):
        for matrices in (host[0], host[:1]):
            with pytest.raises(ValueError, match="non-broadcastable output operand") as reference:
                numpy.linalg.pinv(matrices, rtol=numpy.asarray(rtol))
            with pytest.raises(ValueError, match="non-broadcastable output operand") as tested:
                np.linalg.pinv(from_host(matrices), rtol=rtol)
            assert str(tested.value) == str(reference.value)


def test_axes_of_vector_norms() -> None:
    x, host = np.ones((2, 3)), numpy.ones((2, 3))
    assert (to_host(np.linalg.vector_norm(x, axis=1.0)) == numpy.linalg.vector_norm(host, axis=1.0)).all()
    for axis in ([0, 1], "a"):
        with pytest.raises(TypeError) as reference:
            numpy.linalg.vector_norm(host, axis=axis)
        with pytest.raises(TypeError) as tested:
            np.linalg.vector_norm(x, axis=axis)
        assert str(tested.value) == str(reference.value)


def test_words_of_norms_come_before_axes() -> None:
    for order in ("fro", "bad"):
        with pytest.raises(ValueError, match=f"^Invalid norm order '{order}' for vectors$"):
            np.linalg.norm(np.ones((2, 2)), order, axis=5)
        with pytest.raises(ValueError, match=f"^Invalid norm order '{order}' for vectors$"):
            np.linalg.vector_norm(np.ones((2, 2)), ord=order, axis=5)
    for order in (None, 0, 1, 2, 3, numpy.inf, -numpy.inf):
        with pytest.raises(numpy.exceptions.AxisError, match="axis 5 is out of bounds for array of dimension 2"):
            np.linalg.norm(np.ones((2, 2)), order, axis=5)


ORDERS = (None, "fro", "nuc", numpy.inf, -numpy.inf, 0, 1, -1, 2, -2, 3, 0.5, "bad")
NORMED = ((), (5,), (3, 4), (2, 3, 4), (0,), (0, 3))


@pytest.mark.parametrize("dtype", ["f2", *FLOATS, "i4", "?"])
@pytest.mark.parametrize("shape", NORMED)
def test_norms(shape: Any, dtype: str) -> None:
    a = sample(shape, dtype)
    x = from_host(numpy.asarray(a))
    places: tuple[Any, ...] = (None, 0, -1, (0, 1), (-1, 0), (0,), (0, 0), 7, "x")
    calls: list[tuple[str, dict[str, Any]]] = []
    for order in ORDERS:
        calls += [("norm", {"ord": order, "axis": axis, "keepdims": keep}) for axis in places for keep in (0, 1)]
        calls += [("vector_norm", {"ord": order, "axis": axis}) for axis in (None, 0, (0, 1))]
        calls += [("vector_norm", {"ord": order, "keepdims": True}), ("matrix_norm", {"ord": order})]
        calls += [("matrix_norm", {"ord": order, "keepdims": True})]
    for name, options in calls:
        reference = outcome(lambda: getattr(numpy.linalg, name)(a, **options))  # noqa: B023
        found = outcome(lambda: host(getattr(np.linalg, name)(x, **options)))  # noqa: B023
        if isinstance(reference, Exception):
            expected = next(t for t in type(reference).__mro__ if t.__module__ == "builtins")
            assert isinstance(found, expected), (name, options, reference, found)
            continue
        assert not isinstance(found, Exception), (name, options, found)
        with numpy.errstate(all="ignore"):
            near(found, reference, 10 * max(1.0, float(numpy.nan_to_num(reference, posinf=0).max(initial=0))))


@pytest.mark.parametrize("dtype", [*FLOATS, "i4"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 4), (5, 3)])
def test_condition_numbers(shape: Any, dtype: str) -> None:
    a = sample(shape, dtype)
    for p in (None, 2, -2, 1, -1, numpy.inf, -numpy.inf, "fro", "nuc"):
        reference = outcome(lambda: numpy.linalg.cond(a, p))  # noqa: B023
        found = outcome(lambda: host(np.linalg.cond(from_host(a), p)))  # noqa: B023
        if isinstance(reference, Exception):
            assert (type(found), str(found)) == (type(reference), str(reference))
        else:
            reference = reference.real  # complex before NumPy 2.3.3
            near(found, reference, 100 * float(reference.max()) ** 2)
    for singular in (numpy.zeros((2, 2)), numpy.ones((2, 2, 2))):
        assert to_host(np.isinf(np.linalg.cond(from_host(singular), 1))).all()
    with pytest.raises(np.linalg.LinAlgError, match="not defined on empty"):
        np.linalg.cond(np.zeros((0, 0)))


@pytest.mark.parametrize("p", [None, 1, -1, numpy.inf, -numpy.inf, "fro"])
def test_condition_numbers_beside_a_singular_matrix(p: Any) -> None:
    a = numpy.stack([numpy.diag([2.0, 1.0]), numpy.zeros((2, 2)), numpy.eye(2)])
    with numpy.errstate(all="ignore"):
        reference = numpy.linalg.cond(a, p)
    near(host(np.linalg.cond(from_host(a), p)), reference, 10)


def test_the_condition_number_of_one_matrix_is_a_scalar() -> None:
    for p in (None, 1):
        assert {np.linalg.cond(np.eye(2), p): 3} == {np.linalg.cond(np.eye(2), p).item(): 3}
    with pytest.raises(TypeError, match="unhashable"):
        hash(np.linalg.cond(np.ones((1, 2, 2)), 1))


@pytest.mark.parametrize("dtype", ["f4", "c16"])
@pytest.mark.parametrize("shape", [(5000, 7), (6, 6000), (2, 2, 3000, 4), (400, 90)])
def test_long_sides(shape: Any, dtype: str) -> None:
    a = sample(shape, dtype)
    x = from_host(a)
    check_svd(a, x, full_matrices=False)
    near(to_host(np.linalg.svdvals(x)), numpy.linalg.svdvals(a), size_of(a))
    check_qr(a, x, "reduced")
    lost = sample((*shape[:-1], 1), dtype) * sample(shape[-1:], dtype, 1)
    check_svd(lost, from_host(lost), full_matrices=False)
    if len(shape) == 2:
        b = sample(shape[:1], dtype, 2)
        reference, found = numpy.linalg.lstsq(a, b), host(np.linalg.lstsq(x, from_host(b)))
        assert found[2] == reference[2]
        near(found[0], reference[0], 100 * max(1.0, abs(reference[0]).max()))
        near(found[1], reference[1], 100 * size_of(b) ** 2)


@pytest.mark.parametrize("count", [100, 3000])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_many_matrices(count: int, dtype: str) -> None:
    a = sample((count, 5, 5), dtype)
    x = from_host(a)
    check_qr(a, x, "reduced")
    check_svd(a, x)
    w, v = host(np.linalg.eigh(x + np.matrix_transpose(x)))
    b = a + a.swapaxes(-1, -2)
    near(b @ v, v * w[..., None, :], 5 * prod(a.shape[-2:]))


@pytest.mark.parametrize(
    ("count", "n", "dtype"),
    [
        *((3, 64, "c16"), (2, 116, "f8"), (5, 110, "f8")),
        *(
            pytest.param(*large, marks=pytest.mark.full)
            for large in ((270, 58, "f4"), (48, 170, "f4"), (48, 90, "c16"))
        ),
    ],
)
def test_stacks_of_larger_matrices(count: int, n: int, dtype: str) -> None:
    a = sample((count, n, n), dtype)
    check_svd(a, from_host(a))
    b = hermitian((count, n, n), dtype)
    w, v = host(np.linalg.eigh(from_host(b)))
    near(w, numpy.linalg.eigvalsh(b), size_of(b[0]))
    near(b @ v, v * w[..., None, :], size_of(b[0]))
    orthonormal(v)
    near(to_host(np.linalg.eigvalsh(from_host(b))), w, size_of(b[0]))
