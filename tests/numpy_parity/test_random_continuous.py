"""Continuous distributions with parameters on a device: NumPy's numbers, and NumPy's state after them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.numpy_release import RELEASE
from gpunumpy.core.runtime.device import Device
from gpunumpy.random import device_draws, rejection_sampling, transformed_distributions
from gpunumpy.random.philox_gpu import PhiloxGPU
from tests.support.host_executor import run_on_host, with_traits

from ..emulator.test_rejection_sampling import emulated
from ..support.arrays import from_host, to_host, wrap

BITS = ("PCG64", "PCG64DXSM", "Philox", "MT19937")


@pytest.fixture(autouse=True)
def on_the_device(device: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """All numbers are drawn on the device, and those of the CPU on the emulated machine."""
    monkeypatch.setattr(device_draws, "MIN_COUNT", 1)
    with_traits(monkeypatch, draws_faster_than_numpy=True)
    run_on_host(monkeypatch, "rejection_sampling", emulated)
    draw = rejection_sampling.draw_from_words
    shapes: list[Any] = []

    def counted(peek: Any, sampler: Any, params: Any, shape: Any, *rest: Any) -> Any:
        shapes.append(shape)
        return draw(peek, sampler, params, shape, *rest)

    monkeypatch.setattr(rejection_sampling, "draw_from_words", counted)
    with Device(device):
        yield shapes


def pair(bits: str, seed: int = 1) -> tuple[Any, Any]:
    return tuple(n.random.Generator(getattr(n.random, bits)(seed)) for n in (np, numpy))


def _tolerance(name: str) -> float:
    """Return the relative tolerance of a draw, from what one ULP of a step does to the result.

    Steps differ by an ULP or two from one set of processor instructions to another. An angle is the arccosine of a
    number next to 1, which an ULP moves by 2**-53 / angle; a beta number of small parameters is the exponential of a
    difference of logarithms in the hundreds.
    """
    return 1e-9 if "angles" in name else 1e-12 if name == "beta of little" else 4e-14


def alike(tested: Any, reference: Any, rtol: float = 4e-14) -> None:
    got = to_host(tested)
    assert got.dtype == reference.dtype
    assert got.shape == reference.shape
    # What is near 0 may be a difference of larger numbers.
    numpy.testing.assert_allclose(got, reference, rtol=2e-6 if got.dtype == "f" else rtol, atol=1e-15)


def same_state(tested: Any, reference: Any) -> None:
    assert repr(tested.bit_generator.state) == repr(reference.bit_generator.state)


def _gamma(shape: float, dtype: str) -> Callable[[Any, Any], Any]:
    return lambda g, size: g.standard_gamma(shape, size, dtype)


COVARIANCE = numpy.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])
DRAWS: dict[str, Callable[[Any, Any], Any]] = {
    **{
        f"standard gamma {shape} {dtype}": _gamma(shape, dtype)
        for shape in (0.01, 0.7, 1, 1.25, 20)
        for dtype in ("f8", "f4")
    },
    "gamma": lambda g, size: g.gamma(2.5, 3, size),
    "gamma of a small shape": lambda g, size: g.gamma(0.4, 1e-3, size),
    "chi-square": lambda g, size: g.chisquare(5, size),
    "chi-square of an integer of 1": lambda g, size: g.chisquare(numpy.int8(1), size),
    "beta": lambda g, size: g.beta(2, 0.5, size),
    "beta of ones": lambda g, size: g.beta(1, 1.0, size),
    "beta of halves": lambda g, size: g.beta(0.5, 0.25, size),
    "beta of little": lambda g, size: g.beta(1e-3, 2e-3, size),
    "f": lambda g, size: g.f(3, 8, size),
    "noncentral f": lambda g, size: g.noncentral_f(3, 8, 1.5, size),
    "noncentral f of a centre": lambda g, size: g.noncentral_f(3, 8, 0, size),
    "noncentral chi-square": lambda g, size: g.noncentral_chisquare(4.5, 2, size),
    "noncentral chi-square of a centre": lambda g, size: g.noncentral_chisquare(4.5, 0, size),
    "noncentral chi-square of few": lambda g, size: g.noncentral_chisquare(0.5, 3, size),
    "noncentral chi-square of few, far out": lambda g, size: g.noncentral_chisquare(1, 50, size),
    "noncentral f of few": lambda g, size: g.noncentral_f(0.9, 0.7, 19.9, size),
    "t": lambda g, size: g.standard_t(6, size),
    "t of few": lambda g, size: g.standard_t(0.8, size),
    "wald": lambda g, size: g.wald(3, 2, size),
    # NumPy loses digits here before 2.3.4.
    **({"wald far out": lambda g, size: g.wald(1e3, 1e-2, size)} if RELEASE >= "2.3.4" else {}),
    "angles": lambda g, size: g.vonmises(0.5, 4, size),
    "angles all around": lambda g, size: g.vonmises(-2, 3e-6, size),
    "angles close by": lambda g, size: g.vonmises(3, 1e5, size),
    "shares alike": lambda g, size: g.dirichlet([1.0] * 4, size),
    "shares alike of many": lambda g, size: g.dirichlet(numpy.full(40, 0.5), size),
    "the only share": lambda g, size: g.dirichlet([2], size),
    "shares": lambda g, size: g.dirichlet([3, 0.5, 1], size),
    "many shares": lambda g, size: g.dirichlet(numpy.arange(12) / 4, size),
    "shares with none": lambda g, size: g.dirichlet([0, 2.0], size),
    "vectors": lambda g, size: g.multivariate_normal([1, 2, 3], COVARIANCE, size),
    "vectors by eigenvalues": lambda g, size: g.multivariate_normal(numpy.zeros(3), COVARIANCE, size, method="eigh"),
    "vectors by a factor": lambda g, size: g.multivariate_normal(numpy.zeros(3), COVARIANCE, size, method="cholesky"),
}
FEW = numpy.array([0.5, 1.0, 2.5])
TRANSFORMED: dict[str, Callable[[Any, Any], Any]] = {
    "laplace": lambda g, size: g.laplace(1, 2, size),
    "logistic": lambda g, size: g.logistic(-1, 0.5, size),
    "gumbel": lambda g, size: g.gumbel(0.1, 3, size),
    "triangular": lambda g, size: g.triangular(-1, 0.5, 3, size),
    "triangular on one side": lambda g, size: g.triangular(-1, -1, 3, size),
    "angles of all directions": lambda g, size: g.vonmises(3, 1e-9, size),
    "angles of one direction": lambda g, size: g.vonmises(-3.14159, 1.1e6, size),
    "angles of one direction, the other end": lambda g, size: g.vonmises(3.14159, 3e6, size),
    "cauchy": lambda g, size: g.standard_cauchy(size),
    "logarithms": lambda g, size: g.standard_exponential(size, method="inv"),
    "logarithms float32": lambda g, size: g.standard_exponential(size, "f4", "inv"),
    "rayleigh": lambda g, size: g.rayleigh(2, size),
    "weibull": lambda g, size: g.weibull(0.7, size),
    "pareto": lambda g, size: g.pareto(3, size),
    "power": lambda g, size: g.power(0.2, size),
    "laplace of arrays": lambda g, size: g.laplace(FEW[:, None], FEW),
    "logistic of an array": lambda g, size: g.logistic(FEW),
    "gumbel of an array": lambda g, size: g.gumbel(1, FEW, (size, 3) if isinstance(size, int) else None),
    "triangular of arrays": lambda g, size: g.triangular(-FEW, [0, 0.1, 0.2], FEW[:, None]),
    "rayleigh of an array": lambda g, size: g.rayleigh(FEW),
    "weibull of an array": lambda g, size: g.weibull(FEW),
    "pareto of an array": lambda g, size: g.pareto(FEW, (4, 3)),
    "gamma of no shape": lambda g, size: g.gamma(0, 2, size),
    "gamma of no shape in float32": lambda g, size: g.standard_gamma(1e-60, size, "f4"),
    "gamma of scales": lambda g, size: g.gamma(2.5, FEW),
    "gamma of scales to a size": lambda g, size: g.gamma(0.5, FEW[:, None], (3, 4)),
    "power of an array": lambda g, size: g.power(FEW),
}


@pytest.mark.parametrize("name", TRANSFORMED)
@pytest.mark.parametrize("bits", BITS)
def test_functions_of_one_number(bits: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tested, reference = pair(bits)
    for size in (1, 7, 300, (33, 64)):
        alike(TRANSFORMED[name](tested, size), TRANSFORMED[name](reference, size))
    same_state(tested, reference)


def test_words_that_are_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """They count as the smallest ones that are not."""
    even = wrap(from_host(numpy.array([0.0, 2.0**-53])).value()).value()
    draws = replace(transformed_distributions.NUMPY_DRAWS, uniform={numpy.dtype("f8"): lambda *_: even})  # type: ignore[attr-defined]
    monkeypatch.setattr(transformed_distributions, "NUMPY_DRAWS", draws)
    for name in ("laplace", "logistic", "gumbel"):
        first, second = to_host(getattr(np.random.default_rng(0), name)(size=2))
        assert first == second
        assert numpy.isfinite(first)


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "gamma": lambda n, g: g.gamma(-1, 2, 10),
    "standard gamma": lambda n, g: g.standard_gamma(-0.0, 10),
    "standard gamma of a dtype": lambda n, g: g.standard_gamma(1, 10, "i4"),
    "standard gamma to another dtype": lambda n, g: g.standard_gamma(1, out=n.zeros(3, "f4")),
    "standard gamma to another shape": lambda n, g: g.standard_gamma(1, 4, out=n.zeros(3)),
    "standard gamma in another order": lambda n, g: g.standard_gamma(1, out=n.zeros((3, 4)).T),
    "scale": lambda n, g: g.gamma(1, -2.0, 10),
    "scales": lambda n, g: g.gamma(1, n.asarray([1, -1.0])),
    "a shape beside scales": lambda n, g: g.gamma(-1, n.asarray([1, 1.0])),
    "beta": lambda n, g: g.beta(0, 1, 10),
    "f": lambda n, g: g.f(1, 0, 10),
    "noncentral f": lambda n, g: g.noncentral_f(1, 2, -1, 10),
    "noncentral chi-square": lambda n, g: g.noncentral_chisquare(-1, 1, 10),
    "t": lambda n, g: g.standard_t(0, 10),
    "wald": lambda n, g: g.wald(0, 1, 10),
    "von mises": lambda n, g: g.vonmises(0, -1, 10),
    "string": lambda n, g: g.vonmises(0, "1", 10),
    "size": lambda n, g: g.gamma(1, 1, -1),
    "dirichlet": lambda n, g: g.dirichlet([1, -1], 10),
    "dirichlet of a matrix": lambda n, g: g.dirichlet([[1, 1]], 10),
    "triangular": lambda n, g: g.triangular(1, 0, 2, 10),
    "triangular upper": lambda n, g: g.triangular(n.zeros(3), 3, n.ones(3)),
    "triangular of nothing": lambda n, g: g.triangular(1, 1, 1, 10),
    "laplace": lambda n, g: g.laplace(0, [-1, 1]),
    "weibull": lambda n, g: g.weibull(n.asarray([-1, 1.0])),
    "pareto": lambda n, g: g.pareto(0, 10),
    "shapes": lambda n, g: g.gumbel(n.zeros(3), 1, (3, 2)),
    "a covariance": lambda n, g: g.multivariate_normal([0, 0], n.asarray([[1, 2], [2, 1.0]]), 10, "raise"),
    "a covariance without a factor": lambda n, g: g.multivariate_normal([0, 0], -n.eye(2), 10, method="cholesky"),
    "a covariance of another shape": lambda n, g: g.multivariate_normal([0, 0, 0], n.eye(2), 10),
    "a method": lambda n, g: g.multivariate_normal([0, 0], n.eye(2), 10, method="lu"),
}


@pytest.mark.parametrize("draw", REFUSED.values(), ids=REFUSED)
def test_what_numpy_refuses(draw: Callable[[Any, Any], Any]) -> None:
    tested, reference = pair("PCG64")
    outcomes = []
    for n, g in ((np, tested), (numpy, reference)):
        with pytest.raises((ValueError, TypeError, numpy.linalg.LinAlgError)) as raised:
            draw(n, g)
        outcomes.append((raised.type, str(raised.value)))
    assert outcomes[0] == outcomes[1]
    same_state(tested, reference)


def test_a_covariance_that_is_none_is_warned_of() -> None:
    tested, reference = pair("PCG64")
    for n, g in ((np, tested), (numpy, reference)):
        with pytest.warns(RuntimeWarning, match="semidefinite"):
            g.multivariate_normal([0, 0], n.asarray([[1, 2], [2, 1.0]]), 10)
    same_state(tested, reference)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_out(dtype: str) -> None:
    tested, reference = pair("PCG64")
    for shape, part in (((30, 20), slice(None)), (200, slice(7, None))):
        tested_out, reference_out = (n.zeros(shape, dtype)[part] for n in (np, numpy))
        assert tested.standard_gamma(1.5, dtype=dtype, out=tested_out) is tested_out
        reference.standard_gamma(1.5, dtype=dtype, out=reference_out)
        alike(tested_out, reference_out)
        tested.standard_exponential(dtype=dtype, method="inv", out=tested_out)
        reference.standard_exponential(dtype=dtype, method="inv", out=reference_out)
        alike(tested_out, reference_out)
    same_state(tested, reference)


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("bits", BITS)
def test_draws(bits: str, name: str, on_the_device: list[int]) -> None:
    tested, reference = pair(bits)
    for size in (1, 7, 300, (33, 64)):
        alike(DRAWS[name](tested, size), DRAWS[name](reference, size), _tolerance(name))
        same_state(tested, reference)
    assert len(on_the_device) == (0 if "vectors" in name and bits != "MT19937" else 4)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("seed", range(4))
def test_draws_after_one_another(bits: str, seed: int) -> None:
    order = numpy.random.default_rng(seed)
    tested, reference = pair(bits, seed)
    names = list(DRAWS)
    for _ in range(10):
        name, size = names[order.integers(len(names))], int(order.integers(1, 400))
        alike(DRAWS[name](tested, size), DRAWS[name](reference, size), _tolerance(name))
        if not order.integers(3):
            alike(tested.random(5, "f4"), reference.random(5, "f4"))
        if not order.integers(3):
            alike(tested.standard_normal(100), reference.standard_normal(100))
    same_state(tested, reference)


def test_the_fast_stream_draws_as_philox() -> None:
    tested, reference = np.random.default_rng(PhiloxGPU(3)), numpy.random.Generator(numpy.random.Philox(3))
    for name in ("gamma", "beta of halves", "angles", "shares"):
        alike(DRAWS[name](tested, 100), DRAWS[name](reference, 100), _tolerance(name))
    for name in ("laplace", "triangular", "cauchy"):
        alike(TRANSFORMED[name](tested, 100), TRANSFORMED[name](reference, 100))
