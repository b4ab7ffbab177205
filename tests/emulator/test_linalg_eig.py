"""The GPU's own eigenvalues of square matrices, run on the emulated machine and held to NumPy's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from gpunumpy.core.layout import Layout
from gpunumpy.kernels import cuda_decompositions_eig as small
from gpunumpy.kernels import cuda_decompositions_small as beside
from gpunumpy.kernels.compile import compile_cubin

from .test_decompositions import DTYPES, layout_of, sample, told

Found = tuple[Any, Any, Any]


def eig(a: numpy.ndarray, vectors: bool = True, most: int = 1 << 20) -> Found:
    """Values, vectors as columns, and `info`."""
    stack, complex_ = a.shape[:-2], numpy.result_type(a.dtype, "c8")
    w, info = numpy.full(a.shape[:-1], numpy.nan, complex_), numpy.full(stack, -1, "i4")
    v = numpy.full(a.shape, numpy.nan, complex_)
    arrays = [w, info, *([v] if vectors else []), a.swapaxes(-1, -2)]
    told(lambda *rest: small.eig(*rest, most), (), *arrays)
    return w, v.swapaxes(-1, -2), info


def near_one(x: numpy.ndarray) -> Any:
    """The matrix in double precision, multiplied by a power of two, and what multiplies others by the same."""
    power = -int(numpy.frexp(abs(x).max(initial=0) or 1)[1])
    half = power // 2
    return lambda y: y.astype("c16") * 2.0**half * 2.0 ** (power - half)


def check(a: numpy.ndarray, times: float = 8) -> None:
    """Vectors solve for their values, and each value, alone too, is that of a matrix near by, as NumPy's are."""
    n, eps = a.shape[-1], numpy.finfo(a.dtype).eps
    found, alone = eig(a), eig(a, False)
    assert not found[2].any()
    assert not alone[2].any()
    for k in numpy.ndindex(a.shape[:-2]):
        scaled = near_one(a[k])
        x, w, v, others = scaled(a[k]), scaled(found[0][k]), found[1][k].astype("c16"), scaled(alone[0][k])
        # Of numbers that are all but nothing the last digits are lost.
        bound = times * n * eps * numpy.linalg.norm(x, 2) + abs(scaled(numpy.array([5e-324])))[0]
        assert abs(numpy.linalg.norm(v, axis=0) - 1).max() < 8 * eps
        # Balance makes eigenvalues exact, and not vectors, as beside a matrix of numbers of any sizes.
        their_w, their_v = numpy.linalg.eig(x)
        theirs = numpy.linalg.norm(x @ their_v - their_v * their_w, axis=0).max() * eps / numpy.finfo("f8").eps
        assert numpy.linalg.norm(x @ v - v * w, axis=0).max() <= max(bound, 10 * theirs)
        for values in (w, others):
            assert abs(values.sum() - numpy.trace(x)) <= bound * n
            for value in values:
                assert numpy.linalg.svd(x - value * numpy.eye(n), compute_uv=False)[-1] <= bound
        if a.dtype.kind == "f":
            check_conjugates(found[0][k], found[1][k])


def check_conjugates(w: numpy.ndarray, v: numpy.ndarray) -> None:
    """Those of real matrices come in pairs, exactly, that with the positive imaginary part first."""
    first = numpy.flatnonzero(w.imag > 0)
    assert (w[first] == w[first + 1].conj()).all()
    assert (v[:, first] == v[:, first + 1].conj()).all()
    assert (w.imag != 0).sum() == 2 * first.size
    assert not v[:, w.imag == 0].imag.any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape", [(1, 1), (2, 2), (3, 3), (4, 4), (2, 5, 5), (8, 8), (2, 2, 17, 17), (32, 32), (45, 45)]
)
def test_eig(shape: tuple[int, ...], dtype: str) -> None:
    a = sample(shape, dtype)
    check(a)
    w, n = eig(a)[0].reshape(-1, shape[-1]), shape[-1]
    theirs = numpy.linalg.eigvals(a.astype("c16")).reshape(-1, n)
    for mine, other in zip(w, theirs):
        assert abs(mine[:, None] - other).min(0).max() < 100 * n * numpy.finfo(dtype).eps


def test_layouts() -> None:
    base = sample((6, 6, 6), "f8")
    for a in (base, base.swapaxes(-1, -2), base[:, ::-1, ::-1], numpy.moveaxis(base, 0, -1), base[1::2, :5, 1:]):
        check(a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_not_shared(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More matrices than blocks have memory, one of which fails."""
    monkeypatch.setattr(beside, "_BLOCKS", 2)
    a = sample((5, 9, 9), dtype)
    a[1, 2, 3] = numpy.nan
    for vectors in (False, True):
        w, v, info = eig(a, vectors, 2000 if vectors else 1000)
        assert info.tolist() == [0, 1, 0, 0, 0]
        theirs = eig(a, vectors)
        numpy.testing.assert_array_equal(w, theirs[0])
        numpy.testing.assert_array_equal(v, theirs[1])


def jordan(n: int, value: float = 1) -> Any:
    return value * numpy.eye(n) + numpy.eye(n, k=1)


def turned(a: Any, seed: int = 0) -> Any:
    q, _ = numpy.linalg.qr(sample(a.shape, "f8", seed))
    return q @ a @ q.T


def companion(roots: Any) -> Any:
    coefficients = numpy.poly(roots).real
    a = numpy.eye(len(roots), k=-1)
    a[0] = -coefficients[1:]
    return a


def frank(n: int) -> Any:
    i, j = numpy.ogrid[1 : n + 1, 1 : n + 1]
    return numpy.where(j >= i - 1, n + 1 - numpy.maximum(i, j), 0.0)


def scaled(n: int, exponents: Any) -> Any:
    d = 10.0 ** numpy.asarray(exponents)
    return sample((n, n), "f8", 5) * d[:, None] / d


random = numpy.random.default_rng(0)
HARD: dict[str, Any] = {
    "zeros": numpy.zeros((5, 5)),
    "identity": numpy.eye(6),
    "ones": numpy.ones((10, 10)),
    "Jordan": jordan(8),
    "Jordan, lower": jordan(8).T,
    "Jordan, dense": turned(jordan(7)),
    "Jordan, long": jordan(40, 1e-3),
    "Jordan, several": turned(numpy.kron(numpy.eye(3), jordan(4, 2))),
    "nilpotent": turned(numpy.triu(sample((9, 9), "f8"), 1)),
    "of rank 1": numpy.outer(sample((9,), "f8", 1), sample((9,), "f8", 2)),
    "Grcar": numpy.tri(24, k=3).T[::-1, ::-1] - numpy.tri(24, k=-1) - numpy.eye(24, k=-1),
    "Frank": frank(12),
    "Wilkinson": numpy.diag(abs(numpy.arange(-10, 11.0))) + numpy.eye(21, k=1) + numpy.eye(21, k=-1),
    "Clement": numpy.diag(numpy.arange(1, 16.0), 1) + numpy.diag(numpy.arange(15, 0, -1.0), -1),
    "Hessenberg": numpy.triu(sample((20, 20), "f8"), -1),
    "companion": companion(numpy.arange(1.0, 11)),
    "companion of 1": companion(numpy.exp(2j * numpy.pi * numpy.arange(12) / 12)),
    "cycle of 3": numpy.roll(numpy.eye(3), 1, 0),
    "cycle of 4": numpy.roll(numpy.eye(4), 1, 0),
    "cycle of 16": numpy.roll(numpy.eye(16), -1, 0),
    "cycle of 33": numpy.roll(numpy.eye(33), 1, 0),
    "permutation": numpy.eye(24)[random.permutation(24)],
    "skew": sample((11, 11), "f8") - sample((11, 11), "f8").T,
    "symmetric": sample((12, 12), "f8") + sample((12, 12), "f8").T,
    "orthogonal": numpy.linalg.qr(sample((12, 12), "f8"))[0],
    "quarter turn": numpy.array([[0.0, 1], [-1, 0]]),
    "quarter turns": numpy.kron(numpy.eye(4), [[0.0, 1], [-1, 0]]),
    "pairs, defective": numpy.kron(jordan(4), numpy.eye(2)) + numpy.kron(numpy.eye(4), [[0.0, 1], [-1, 0]]),
    "pairs, defective and dense": turned(
        numpy.kron(jordan(4), numpy.eye(2)) + numpy.kron(numpy.eye(4), [[0.0, 1], [-1, 0]])
    ),
    "repeated": turned(numpy.diag([1, 1, 1, 2, 2, 3.0])),
    "tiny": sample((7, 7), "f8") * 1e-300,
    "huge": sample((7, 7), "f8") * 1e300,
    "of no full precision": sample((5, 5), "f8") * 1e-312,
    "small": sample((7, 7), "f8") * 1e-30,
    "large": sample((7, 7), "f8") * 1e30,
    "of any sizes": sample((8, 8), "f8") * 10.0 ** random.integers(-30, 30, (8, 8)),
    "badly scaled": scaled(8, random.integers(-15, 15, 8)),
    "worse scaled": scaled(6, [-100, -50, 0, 50, 100, 20]),
    "nearly a triangle": numpy.triu(sample((8, 8), "f8")) + numpy.tril(sample((8, 8), "f8"), -1) * 1e-18,
    "a triangle and nothing": numpy.triu(sample((8, 8), "f8")) + numpy.tril(sample((8, 8), "f8"), -1) * 1e-200,
    "blocks": numpy.triu(sample((10, 10), "f8")) + numpy.diag([1, 0, 0, 2, 0, 0, 0, 5, 0.0], -1),
    "Toeplitz": numpy.eye(30, k=1) + 1e-8 * numpy.eye(30, k=-1),
    "Markov": (lambda x: x / x.sum(1, keepdims=True))(abs(sample((15, 15), "f8"))),
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("kind", HARD)
def test_hard(kind: str, dtype: str) -> None:
    a = HARD[kind] * (numpy.exp(0.7j) if dtype[0] == "c" else 1)
    with numpy.errstate(over="ignore", under="ignore"):
        a = a.astype(dtype)
    check(numpy.nan_to_num(a, posinf=0, neginf=0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("half", ["upper", "lower"])
def test_triangles_have_their_diagonals(half: str, dtype: str) -> None:
    powers = numpy.random.default_rng(1).integers(-30, 30, (9, 9))
    a = sample((9, 9), dtype) * (10.0**powers).astype(numpy.finfo(dtype).dtype)
    a = numpy.triu(a) if half == "upper" else numpy.tril(a)
    for values in (eig(a)[0], eig(a, False)[0]):
        assert (numpy.sort_complex(values) == numpy.sort_complex(numpy.diagonal(a))).all()
    w, v, _ = eig(a)
    if half == "upper":
        assert (w == numpy.diagonal(a)).all()
        assert not numpy.tril(v, -1).any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_balance_keeps_what_is_small(dtype: str) -> None:
    """Eigenvalues of a badly scaled matrix are as exact as those of what it is scaled to."""
    a = sample((10, 10), dtype)
    d = 2.0 ** numpy.random.default_rng(4).integers(-20, 20, 10)
    bad = (a * d[:, None] / d).astype(dtype)
    order = numpy.linalg.eigvals(a.astype("c16"))
    for values in (eig(bad)[0], eig(bad, False)[0]):
        assert abs(values[:, None] - order).min(0).max() < 500 * numpy.finfo(dtype).eps


def test_what_does_not_converge(monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix of which one is not finite fails, alone."""
    a = numpy.stack([numpy.eye(4), numpy.full((4, 4), numpy.inf), numpy.eye(4)])
    a[2, 1, 1] = numpy.nan
    w, v, info = eig(a)
    assert info.tolist() == [0, 1, 1]
    assert (w[0] == 1).all()
    assert (v[0] == numpy.eye(4)).all()


def test_which_are_small() -> None:
    def fits(count: int, n: int) -> bool:
        return small.fits([Layout((count, n, n), (n * n, n, 1), 0)])

    assert [fits(1, most) for most in (128, 129)] == [True, False]
    assert [fits(8, most) for most in (256, 257)] == [True, False]
    assert [fits(64, most) for most in (512, 513)] == [True, False]


@pytest.mark.parametrize("dtype", DTYPES)
def test_they_compile(dtype: str) -> None:
    for count, n in ((2, 8), (1, 150)):
        a, info = numpy.empty((count, n, n), dtype), numpy.empty(count, "i4")
        w = numpy.empty((count, n), numpy.result_type(dtype, "c8"))
        v = numpy.empty(a.shape, w.dtype)
        for arrays in ((w, info, a), (w, info, v, a)):
            program = small.eig((), [layout_of(x) for x in arrays], [x.dtype for x in arrays])
            for arch in ("sm_75", "sm_90"):
                assert compile_cubin(program.text, arch)
