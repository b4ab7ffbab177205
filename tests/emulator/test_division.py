"""Eigenvalues by division of tridiagonal matrices, on the emulated machine: matrices that are hard for it."""

from __future__ import annotations

import numpy
import pytest

from gpunumpy.kernels.linalg import cuda_small_decompositions as small

from .test_decompositions import DTYPES, check_eigh, sample

RANDOM = numpy.random.default_rng(7)


def tridiagonal(diagonal: numpy.ndarray, beside: numpy.ndarray) -> numpy.ndarray:
    return numpy.diag(diagonal) + numpy.diag(beside, 1) + numpy.diag(beside, -1)


def of_values(values: numpy.ndarray) -> numpy.ndarray:
    """A dense matrix with these eigenvalues."""
    q = numpy.linalg.qr(RANDOM.standard_normal((len(values), len(values))))[0]
    return (q * values) @ q.T


def symmetric(n: int) -> numpy.ndarray:
    x = RANDOM.standard_normal((n, n))
    return x + x.T


def wilkinson(n: int) -> numpy.ndarray:
    return tridiagonal(abs(numpy.arange(n) - (n - 1) / 2), numpy.ones(n - 1))


def glued(n: int, parts: int, glue: float) -> numpy.ndarray:
    a = numpy.kron(numpy.eye(parts), wilkinson(n))
    for k in range(n, n * parts, n):
        a[k, k - 1] = a[k - 1, k] = glue
    return a


def arrow(n: int) -> numpy.ndarray:
    a = numpy.diag(numpy.linspace(0, 1, n))
    a[0, 1:] = a[1:, 0] = 1e-3 * RANDOM.standard_normal(n - 1)
    return a


HARD = {
    "zeros": numpy.zeros((9, 9)),
    "identity": numpy.eye(20),
    "ones": numpy.ones((24, 24)),
    "swaps": numpy.eye(18)[::-1].copy(),
    "Wilkinson's": wilkinson(21),
    "glued": glued(11, 3, 1e-8),
    "glued closely": glued(7, 5, 1e-14),
    "second differences": tridiagonal(numpy.full(33, 2.0), -numpy.ones(32)),
    "only beside": tridiagonal(numpy.zeros(16), numpy.ones(15)),
    "some apart": tridiagonal(numpy.arange(12.0), numpy.arange(11) % 3 == 0),
    "repeated": of_values(numpy.arange(26) // 9.0),
    "two values": of_values(numpy.arange(25) % 2 * 2.0 - 1),
    "a cluster": of_values(1 + 1e-13 * RANDOM.standard_normal(30)),
    "geometric": of_values(numpy.logspace(0, -16, 22)),
    "one apart": of_values(numpy.where(numpy.arange(19), 1e-12, 1.0)),
    "of rank 1": numpy.outer(numpy.arange(15.0), numpy.arange(15.0)),
    "Hilbert's": 1 / (numpy.arange(20.0)[:, None] + numpy.arange(20) + 1),
    "graded": symmetric(23) * numpy.outer(numpy.logspace(0, -12, 23), numpy.logspace(0, -12, 23)),
    "graded upwards": symmetric(23) * numpy.outer(numpy.logspace(-12, 0, 23), numpy.logspace(-12, 0, 23)),
    "tiny": symmetric(13) * 1e-30,
    "huge": symmetric(13) * 1e30,
    "an arrow": arrow(28),
    "two alike": numpy.kron(numpy.eye(2), symmetric(14)),
}


@pytest.fixture(autouse=True)
def divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Matrices of all sizes."""
    monkeypatch.setattr(small, "_MAX_UNDIVIDED_ROWS", {many: {4: 0, 8: 0} for many in (False, True)})


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8"])
@pytest.mark.parametrize("kind", HARD)
def test_hard_ones(kind: str, dtype: str) -> None:
    a = HARD[kind].astype(dtype)
    if dtype[0] == "c":
        turns = numpy.exp(1j * numpy.arange(len(a)))
        a = (a * numpy.outer(turns, turns.conj())).astype(dtype)
    check_eigh(numpy.tril(a) + numpy.tril(a, -1).conj().T)


@pytest.mark.parametrize("n", [*range(1, 10), 15, 16, 17, 31, 40])
def test_every_size(n: int) -> None:
    check_eigh(symmetric(n))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", DTYPES)
def test_few(dtype: str) -> None:
    a = sample((2, 37, 37), dtype)
    check_eigh(a + a.swapaxes(-1, -2).conj().copy())


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("dtype", "n"), [("f4", 128), ("f8", 116), ("c16", 80)])
def test_the_largest(dtype: str, n: int) -> None:
    check_eigh(symmetric(n).astype(dtype))


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e100, 1e150])
def test_scales(scale: float) -> None:
    a = symmetric(19) * scale
    check_eigh(a)
