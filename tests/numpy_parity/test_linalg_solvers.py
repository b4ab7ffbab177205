"""Systems, inverses, determinants, Cholesky factors and powers, compared with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.numpy_release import RELEASE

from ..support.arrays import ndarray, to_host
from .parity import DTYPES, outcome, same

pytestmark = pytest.mark.usefixtures("on_device", "nothing_runs_on_the_host")

FLOATS = ("f4", "f8", "c8", "c16")
SHAPES: tuple[tuple[int, ...], ...] = (
    *((1, 1), (2, 2), (5, 5), (33, 33), (130, 130)),
    *((3, 4, 4), (2, 1, 3, 3), (0, 3, 3), (0, 0), (2, 0, 0), (3, 150, 150), (2, 300, 300)),
)
VIEWS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda x: x.T,
    "reversed": lambda x: x[::-1, :, ::-1],
    "sliced": lambda x: x[1:, 1:4, :3],
    "matrix": lambda x: x[2, ::2, ::2],
    "one column": lambda x: x[:, :1, :1],
}


def sample(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> Any:
    """Matrices that are far from singular, rows in an order that asks for pivots."""
    rng = numpy.random.default_rng([seed, *shape])
    dtype = numpy.dtype(dtype)
    made = rng.integers(-4, 5, shape) / (1 if dtype.kind in "biu" else 2)
    if dtype.kind == "c":
        made = made + 0.5j * rng.integers(-4, 5, shape)
    if len(shape) > 1:
        n = shape[-1]
        made = made + 10 * numpy.eye(shape[-2], n)[::-1]
    return abs(made).astype(dtype) if dtype.kind == "u" else made.astype(dtype)


def definite(shape: tuple[int, ...], dtype: str) -> Any:
    a = sample(shape, "c16" if dtype[0] == "c" else "f8")
    n = max(1, shape[-1])
    return (a @ a.conj().swapaxes(-1, -2) / n**2 + numpy.eye(n if 0 not in shape else shape[-1])).astype(dtype)


def check(name: str, *args: Any, ulp: float = 500, **options: Any) -> None:
    """A function of `numpy.linalg` over the same arguments."""
    reference = outcome(lambda: getattr(numpy.linalg, name)(*args, **options))
    tested = [np.asarray(x) if isinstance(x, numpy.ndarray) else x for x in args]
    found = outcome(lambda: on_host(getattr(np.linalg, name)(*tested, **options)))
    if isinstance(reference, numpy.linalg.LinAlgError):
        assert isinstance(found, numpy.linalg.LinAlgError)
        assert str(found) == " ".join(str(reference).split())
    if hasattr(reference, "dtype") and reference.dtype.kind in "fc":  # by the size of what is exact, zeros too
        finite = numpy.isfinite(reference)
        numpy.testing.assert_array_equal(numpy.isfinite(found), finite)
        largest = abs(numpy.asarray(reference)).max(initial=1, where=finite)
        with numpy.errstate(invalid="ignore"):
            reference, found = ((x / largest).astype(x.dtype) for x in (reference, found))
    same(found, reference, ulp, f"{name} {[getattr(x, 'shape', x) for x in args]}")


def on_host(x: Any) -> Any:
    return to_host(x) if isinstance(x, ndarray) else tuple(map(on_host, x)) if isinstance(x, tuple) else x


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(shape: tuple[int, ...], dtype: str) -> None:
    a, n = sample(shape, dtype), shape[-1]
    # Another order of equal pivots alone moves results by up to 4 roundings times the condition, which is 634 at most.
    ulp = max(500, 6 * float(numpy.linalg.cond(a).max(initial=1))) if a.size else 500
    for name in ("inv", "det", "slogdet"):
        check(name, a, ulp=ulp)
    for upper in (False, True):
        check("cholesky", definite(shape, dtype), upper=upper)
    for sides in ((n,), (n, 1), (n, 4), (n, 0), (*shape[:-1], 3), (3, 2, n, 2)):
        check("solve", a, sample(sides, dtype, 1), ulp=ulp)
    check("solve", a, numpy.eye(n, dtype=dtype), ulp=ulp)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: str) -> None:
    a = sample((3, 3), dtype) if dtype != "?" else numpy.eye(3, dtype=bool)
    for name in ("inv", "det", "slogdet"):
        check(name, a)
    check("cholesky", numpy.eye(3, dtype=dtype))
    for other in ("f4", "i8", "c8"):
        check("solve", a, sample((3,), other))
        check("solve", sample((3, 3), other), numpy.ones((3, 2), dtype))
    for power in (-2, -1, 0, 1, 2, 3, 4, 5):
        if dtype != "e" or power >= 0:
            check("matrix_power", a, power)
    check("matrix_power", sample((2, 2, 2), dtype), 2)


def test_bfloat16_is_refused_as_float16_is() -> None:
    x = np.ones((2, 2), ml_dtypes.bfloat16)
    for name in ("inv", "det", "slogdet", "cholesky"):
        with pytest.raises(TypeError, match="array type bfloat16 is unsupported in linalg"):
            getattr(np.linalg, name)(x)


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_strides(view: str) -> None:
    for dtype in ("f8", "c8"):
        whole = sample((4, 4, 4), dtype) + 9 * numpy.arange(1, 5)[:, None, None].astype(dtype) * numpy.eye(
            4, dtype=dtype
        )
        host, tested = VIEWS[view](whole), VIEWS[view](np.asarray(whole))
        b = VIEWS[view](np.asarray(whole))[..., :1]
        same(to_host(np.linalg.inv(tested)), numpy.linalg.inv(host), 5e3)
        same(to_host(np.linalg.det(tested)), numpy.linalg.det(host), 5e3)
        same(to_host(np.linalg.solve(tested, b)), numpy.linalg.solve(host, host[..., :1]), 1e4)
        same(to_host(np.linalg.solve(tested + 0, 2 * b)), numpy.linalg.solve(host, 2 * host[..., :1]), 1e4)


def test_triangles_that_are_not_read() -> None:
    for n in (5, 40, 150):
        a = definite((n, n), "c16")
        noise = numpy.full_like(a, numpy.nan)
        for upper in (False, True):
            keep = numpy.triu if upper else numpy.tril
            given = numpy.where(keep(numpy.ones((n, n), bool)), a, noise)
            same(
                to_host(np.linalg.cholesky(np.asarray(given), upper=upper)), numpy.linalg.cholesky(a, upper=upper), 500
            )


def test_broadcast_stacks() -> None:
    for left, right in (((2, 1, 3, 3), (4, 3, 2)), ((3, 3), (2, 4, 3, 2)), ((1, 3, 3), (5, 3, 1)), ((5, 3, 3), (3, 3))):
        check("solve", sample(left, "f8"), sample(right, "f8", 1))
    x = np.linalg.solve(np.asarray(sample((3, 3), "f8")), np.ones((6, 3, 2)))
    x[1] = 7
    assert (x[1] == 7).all()
    assert not (x[2] == 7).any()


@pytest.mark.parametrize("n", [1, 3, 40, 140])
def test_singular_and_indefinite(n: int) -> None:
    a = numpy.eye(n)
    a[n // 2] = 0
    check("inv", a)
    check("solve", a, numpy.ones(n))
    check("det", a)
    check("slogdet", a)
    stack = numpy.stack([numpy.eye(n), a, numpy.eye(n)])
    check("inv", stack)
    check("solve", stack, numpy.ones((n, 2)))
    check("det", stack)
    check("cholesky", -numpy.eye(n))
    check("cholesky", stack)
    if RELEASE >= "2.4.3":  # from its OpenBLAS on, a singular matrix is found without right-hand sides, too
        check("solve", numpy.zeros((n, n)), numpy.ones((n, 0)))


@pytest.mark.parametrize("n", [1, 3, 40, 140])
def test_no_factor_of_nan(device: str, n: int) -> None:
    a = numpy.eye(n) * numpy.nan
    if device == "cpu":
        check("cholesky", a)  # which OpenBLAS takes for a failure on some processors alone
    else:
        with pytest.raises(numpy.linalg.LinAlgError, match="Matrix is not positive definite"):
            np.linalg.cholesky(np.asarray(a))


def test_stacks_of_many() -> None:
    a = numpy.ones((70_000, 1, 1))
    check("inv", a)
    a[-1] = 0
    check("inv", a)
    check("cholesky", a)


def test_nan_and_infinity_are_no_errors() -> None:
    for n in (3, 40):
        assert np.isnan(np.linalg.inv(np.full((n, n), np.nan))).all()
        assert np.isnan(np.linalg.det(np.full((n, n), np.nan)))


def test_sizes_that_no_number_holds() -> None:
    sign, logarithm = np.linalg.slogdet(np.eye(100) * 1e200)
    assert sign == 1
    same(to_host(logarithm), numpy.array(100 * numpy.log(1e200)), 100)
    check("det", numpy.eye(100) * 1e200)
    check("det", numpy.eye(100) * 1e-200)
    check("det", [[1, 2], [3, 4]])


@pytest.mark.on_device
def test_errors() -> None:
    for name in ("inv", "det", "slogdet", "cholesky"):
        for shape in ((), (3,), (2, 3), (4, 2, 3), (0, 2)):
            check(name, numpy.ones(shape))
    a = sample((3, 3), "f8")
    for b in (numpy.float64(1), numpy.ones(2), numpy.ones((2, 2)), numpy.ones((2, 3)), numpy.ones((4, 2, 1))):
        check("solve", a, numpy.asarray(b))
    check("solve", sample((2, 3, 3), "f8"), numpy.ones((4, 3, 1)))
    check("matrix_power", a, 1.5)
    check("matrix_power", numpy.ones((2, 3)), 2)
    check("matrix_power", numpy.zeros((2, 2)), -1)
    check("tensorinv", numpy.ones((4, 6, 8, 3)), ind=0)
    check("tensorinv", numpy.ones((4, 6, 8, 2)))
    check("tensorinv", numpy.ones((5, 0)), ind=1)
    check("tensorinv", numpy.ones((0, 0)), ind=1)
    check("tensorinv", numpy.ones((0, 5)), ind=1)
    check("tensorsolve", numpy.ones((2, 3, 5)), numpy.ones((2, 3)))


def test_tensors() -> None:
    a = sample((24, 24), "f8")
    check("tensorinv", a.reshape(4, 6, 8, 3))
    check("tensorinv", a.reshape(24, 8, 3), ind=1)
    check("tensorsolve", a.reshape(6, 4, 2, 3, 4), sample((6, 4), "f8"))
    check("tensorsolve", a.reshape(2, 3, 4, 6, 4).transpose(3, 0, 1, 2, 4), sample((6, 4), "f8"), axes=(1, 2, 3))


def test_powers() -> None:
    rotation = numpy.array([[0, -1], [1, 0]])
    for power in (0, 1, 6, 7, 10, 1000, -3):
        check("matrix_power", rotation, power)
    check("matrix_power", sample((2, 3, 3), "f4") / 16, 9)
    assert np.linalg.matrix_power(np.zeros((0, 2, 2)), 0).shape == (0, 2, 2)


def test_lists_and_results() -> None:
    x = np.linalg.solve([[2.0, 0], [0, 4]], [2, 8])
    assert type(x) is ndarray
    assert x.tolist() == [1, 2]
    found = np.linalg.slogdet(np.eye(2))
    assert found._fields == ("sign", "logabsdet")
    assert float(np.linalg.det(np.eye(2))) == 1
