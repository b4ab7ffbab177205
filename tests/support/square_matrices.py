"""Square matrices whose eigenvalues are hard to find, and what holds for eigenvalues of any."""

from __future__ import annotations

from typing import Any

import numpy


def sample(shape: tuple[int, ...], seed: int = 0) -> Any:
    return numpy.random.default_rng([seed, *shape]).standard_normal(shape)


def jordan(n: int, value: float = 1) -> Any:
    return value * numpy.eye(n) + numpy.eye(n, k=1)


def turned(a: Any, seed: int = 0) -> Any:
    q, _ = numpy.linalg.qr(sample(a.shape, seed))
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
    return sample((n, n), 5) * d[:, None] / d


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
    "nilpotent": turned(numpy.triu(sample((9, 9)), 1)),
    "of rank 1": numpy.outer(sample((9,), 1), sample((9,), 2)),
    "Grcar": numpy.tri(24, k=3).T[::-1, ::-1] - numpy.tri(24, k=-1) - numpy.eye(24, k=-1),
    "Frank": frank(12),
    "Wilkinson": numpy.diag(abs(numpy.arange(-10, 11.0))) + numpy.eye(21, k=1) + numpy.eye(21, k=-1),
    "Clement": numpy.diag(numpy.arange(1, 16.0), 1) + numpy.diag(numpy.arange(15, 0, -1.0), -1),
    "Hessenberg": numpy.triu(sample((20, 20)), -1),
    "companion": companion(numpy.arange(1.0, 11)),
    "companion of 1": companion(numpy.exp(2j * numpy.pi * numpy.arange(12) / 12)),
    "cycle of 3": numpy.roll(numpy.eye(3), 1, 0),
    "cycle of 4": numpy.roll(numpy.eye(4), 1, 0),
    "cycle of 16": numpy.roll(numpy.eye(16), -1, 0),
    "cycle of 33": numpy.roll(numpy.eye(33), 1, 0),
    "permutation": numpy.eye(24)[random.permutation(24)],
    "skew": sample((11, 11)) - sample((11, 11)).T,
    "symmetric": sample((12, 12)) + sample((12, 12)).T,
    "orthogonal": numpy.linalg.qr(sample((12, 12)))[0],
    "quarter turn": numpy.array([[0.0, 1], [-1, 0]]),
    "quarter turns": numpy.kron(numpy.eye(4), [[0.0, 1], [-1, 0]]),
    "pairs, defective": numpy.kron(jordan(4), numpy.eye(2)) + numpy.kron(numpy.eye(4), [[0.0, 1], [-1, 0]]),
    "pairs, defective and dense": turned(
        numpy.kron(jordan(4), numpy.eye(2)) + numpy.kron(numpy.eye(4), [[0.0, 1], [-1, 0]])
    ),
    "repeated": turned(numpy.diag([1, 1, 1, 2, 2, 3.0])),
    "tiny": sample((7, 7)) * 1e-300,
    "huge": sample((7, 7)) * 1e300,
    "of no full precision": sample((5, 5)) * 1e-312,
    "small": sample((7, 7)) * 1e-30,
    "large": sample((7, 7)) * 1e30,
    "of any sizes": sample((8, 8)) * 10.0 ** random.integers(-30, 30, (8, 8)),
    "badly scaled": scaled(8, random.integers(-15, 15, 8)),
    "worse scaled": scaled(6, [-100, -50, 0, 50, 100, 20]),
    "nearly a triangle": numpy.triu(sample((8, 8))) + numpy.tril(sample((8, 8)), -1) * 1e-18,
    "a triangle and nothing": numpy.triu(sample((8, 8))) + numpy.tril(sample((8, 8)), -1) * 1e-200,
    "blocks": numpy.triu(sample((10, 10))) + numpy.diag([1, 0, 0, 2, 0, 0, 0, 5, 0.0], -1),
    "Toeplitz": numpy.eye(30, k=1) + 1e-8 * numpy.eye(30, k=-1),
    "Markov": (lambda x: x / x.sum(1, keepdims=True))(abs(sample((15, 15)))),
}


def near_one(x: numpy.ndarray) -> Any:
    """The matrix in double precision, multiplied by a power of two, and what multiplies others by the same."""
    power = -int(numpy.frexp(abs(x).max(initial=0) or 1)[1])
    half = power // 2
    return lambda y: y.astype("c16") * 2.0**half * 2.0 ** (power - half)


def check_eig(a: numpy.ndarray, w: numpy.ndarray, v: numpy.ndarray, alone: numpy.ndarray, times: float = 8) -> None:
    """Vectors solve for their values, and each value, alone too, is that of a matrix near by, as with NumPy."""
    n, eps = a.shape[-1], numpy.finfo(a.dtype).eps
    for k in numpy.ndindex(a.shape[:-2]):
        scaled = near_one(a[k])
        x, values, vectors, others = scaled(a[k]), scaled(w[k]), v[k].astype("c16"), scaled(alone[k])
        # Of numbers that are all but nothing the last digits are lost.
        bound = times * n * eps * numpy.linalg.norm(x, 2) + abs(scaled(numpy.array([5e-324])))[0]
        assert abs(numpy.linalg.norm(vectors, axis=0) - 1).max() < 8 * eps
        # Balance makes eigenvalues exact, and not vectors, as beside a matrix of numbers of any sizes.
        their_w, their_v = numpy.linalg.eig(x)
        reference = numpy.linalg.norm(x @ their_v - their_v * their_w, axis=0).max() * eps / numpy.finfo("f8").eps
        assert numpy.linalg.norm(x @ vectors - vectors * values, axis=0).max() <= max(bound, 10 * reference)
        for some in (values, others):
            assert abs(some.sum() - numpy.trace(x)) <= bound * n
            for value in some:
                assert numpy.linalg.svd(x - value * numpy.eye(n), compute_uv=False)[-1] <= bound
        if a.dtype.kind == "f":
            check_conjugates(w[k], v[k])


def check_conjugates(w: numpy.ndarray, v: numpy.ndarray) -> None:
    """Those of real matrices come in pairs, exactly, that with the positive imaginary part first."""
    first = numpy.flatnonzero(w.imag > 0)
    assert (w[first] == w[first + 1].conj()).all()
    assert (v[:, first] == v[:, first + 1].conj()).all()
    assert (w.imag != 0).sum() == 2 * first.size
    assert not v[:, w.imag == 0].imag.any()
