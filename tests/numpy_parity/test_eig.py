"""Eigenvalues of stacks of square matrices, and of those for which they are hard to find, compared with NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy as np

from ..support.arrays import from_host, to_host
from ..support.square_matrices import HARD, check_eig

pytestmark = pytest.mark.usefixtures("on_device", "nothing_runs_on_the_host")

FLOATS = ("f4", "f8", "c8", "c16")


def sample(shape: tuple[int, ...], dtype: str) -> Any:
    rng = numpy.random.default_rng(shape)
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype[0] == "c" else x).astype(dtype)


def check(a: Any) -> None:
    x = from_host(a)
    found = np.linalg.eig(x)
    w, v, alone = (to_host(y) for y in (*found, np.linalg.eigvals(x)))
    assert w.dtype == v.dtype == alone.dtype == numpy.result_type(a.dtype, "c8")
    assert (w.shape, v.shape, alone.shape) == (a.shape[:-1], a.shape, a.shape[:-1])
    check_eig(a[:40], w[:40], v[:40], alone[:40])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(400, 2, 2), (300, 8, 8), (2, 5, 17, 17), (20, 32, 32), (3, 48, 48), (2, 130, 130)])
def test_stacks(shape: tuple[int, ...], dtype: str) -> None:
    a, n = sample(shape, dtype), shape[-1]
    if a.size < 30000:
        check(a)
    values = to_host(np.linalg.eigvals(from_host(a))).reshape(-1, n)
    reference = numpy.linalg.eigvals(a.astype("c16")).reshape(-1, n)
    for tested, other in zip(values, reference):
        # Only eigenvalues close to each other are worse than that.
        assert numpy.median(abs(tested[:, None] - other).min(0)) < 100 * numpy.finfo(dtype).eps * n**0.5
        assert abs(tested.sum() - other.sum()) < 100 * numpy.finfo(dtype).eps * n


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("kind", HARD)
def test_hard_matrices(kind: str, dtype: str) -> None:
    a = HARD[kind] * (numpy.exp(0.7j) if dtype[0] == "c" else 1)
    with numpy.errstate(over="ignore", under="ignore"):
        a = numpy.nan_to_num(a.astype(dtype), posinf=0, neginf=0)
    check(numpy.stack([a, a]))


@pytest.mark.parametrize("dtype", FLOATS)
def test_triangles_have_their_diagonals(dtype: str) -> None:
    powers = (10.0 ** numpy.random.default_rng(1).integers(-30, 30, (9, 9))).astype(numpy.finfo(dtype).dtype)
    a = sample((5, 9, 9), dtype) * powers
    for half in (numpy.triu(a), numpy.tril(a)):
        for x in (half, half[0]):
            values = numpy.sort(to_host(np.linalg.eigvals(from_host(x))), -1)
            wanted = numpy.sort(numpy.diagonal(x, 0, -2, -1).astype(values.dtype), -1)
            assert (values == wanted).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_views(dtype: str) -> None:
    base = sample((7, 12, 12), dtype)
    for change in (
        lambda x: x.swapaxes(-1, -2),
        lambda x: x[::-2, 1:9, ::-1][..., :8],
        lambda x: x[:, 2:9].swapaxes(0, 1)[:, :, :7],
        lambda x: x * 2 + 1,
    ):
        a, x = change(base), change(from_host(base))
        w, v = (to_host(y) for y in np.linalg.eig(x))
        check_eig(a, w, v, to_host(np.linalg.eigvals(x)))


@pytest.mark.on_device
def test_what_does_not_converge(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    if device != "cpu":
        pytest.skip("a kernel that fails is emulated")

    def fail(*args: Any) -> None:
        raise numpy.linalg.LinAlgError("of NumPy")

    for name in ("eig", "eigvals"):
        monkeypatch.setattr(numpy.linalg, name, fail)
        with pytest.raises(np.linalg.LinAlgError, match="Eigenvalues did not converge"):
            getattr(np.linalg, name)(np.eye(3))
