"""What NumPy refuses to draw, and what is hardly a draw: by the host, and where the device draws all it can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.random import device_draws
from tests.support.host_executor import with_traits

MANY = 20000


@pytest.fixture(autouse=True, params=["as they come", "on the device"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "on the device":
        monkeypatch.setattr(device_draws, "MIN_COUNT", 1)
        with_traits(monkeypatch, draws_faster_than_numpy=True)


def outcome(n: Any, use: Callable[[Any, Any], Any], state: Callable[[Any], Any]) -> tuple[Any, ...]:
    """What is made or raised, and the next number of the stream."""
    g = state(n)
    try:
        made = np.asnumpy(use(n, g))
    except Exception as raised:
        return type(raised), str(raised), g.uniform()
    return made.dtype, made.shape, made.tolist(), made.flags.f_contiguous, g.uniform()


def both(use: Callable[[Any, Any], Any], state: Callable[[Any], Any]) -> None:
    numpy.testing.assert_equal(outcome(np, use, state), outcome(numpy, use, state))


STATES: dict[str, Callable[[Any], Any]] = {
    "Generator": lambda n: n.random.default_rng(3),
    "SFC64": lambda n: n.random.Generator(n.random.SFC64(3)),
    "RandomState": lambda n: n.random.RandomState(3),
}
PARAMETERS: dict[str, Callable[[Any, Any], Any]] = {
    "normal": lambda n, g: g.normal(1j, 1, MANY),
    "normal of an array": lambda n, g: g.normal(0, n.array([1j]), MANY),
    "normal of nothing": lambda n, g: g.normal(None, 1, 4),
    "lognormal of nothing": lambda n, g: g.lognormal(None, 1, 4),
    "uniform": lambda n, g: g.uniform(n.array([1j]), 2, MANY),
    "exponential": lambda n, g: g.exponential(n.array([1j]), MANY),
    "gumbel": lambda n, g: g.gumbel(1j, size=MANY),
    "triangular": lambda n, g: g.triangular(1j, 2, 3, MANY),
    "weibull": lambda n, g: g.weibull(1j, MANY),
    "dirichlet": lambda n, g: g.dirichlet([1j, 1 - 1j], MANY),
    "dirichlet of an array": lambda n, g: g.dirichlet(n.array([1j, 1j]), MANY),
    "multivariate_normal": lambda n, g: g.multivariate_normal([0, 0], n.eye(2), numpy.array(MANY)),
    "nothing of nothing": lambda n, g: g.choice([], 0),
    "nothing of no integers": lambda n, g: g.choice(0, 0),
    "rows of nothing": lambda n, g: g.choice(n.zeros(0), (0, 3)),
    "rows of nothing at once": lambda n, g: g.choice(n.zeros(0), (0, 3), replace=False),
    "something of nothing": lambda n, g: g.choice(n.zeros(0), 2),
    "much of nothing": lambda n, g: g.choice(n.zeros(0), MANY),
    "much of fewer than none": lambda n, g: g.choice(-3, MANY),
    "nothing by chances": lambda n, g: g.choice([], 0, p=[]),
    "chances of others": lambda n, g: g.choice(5, MANY, p=[0.5, 0.5]),
    "some of very many": lambda n, g: g.choice(2**70, 3, replace=False),
    "much of very many": lambda n, g: g.choice(2**70, MANY),
    "numbers of True": lambda n, g: g.random(True),
    "rows of True": lambda n, g: g.normal(size=(2, True)),
    "chisquare of next to nothing": lambda n, g: g.chisquare(5e-324, MANY),
    "noncentral_chisquare around next to nothing": lambda n, g: g.noncentral_chisquare(0.5, 5e-324, MANY),
    "as many as a set": lambda n, g: g.poisson(size={2, 3}),
    "as many as a number of NumPy's": lambda n, g: g.normal(size=numpy.float64(3)),
    "as many as NumPy's True": lambda n, g: g.gamma(2.5, size=numpy.True_),
    "as many as keys": lambda n, g: g.normal(size={2: 3}),
    "rows as an array without dimensions": lambda n, g: g.multivariate_normal([0, 1], numpy.eye(2), n.array(3)),
    "rows around long doubles": lambda n, g: g.multivariate_normal(numpy.ones(2, "longdouble"), numpy.eye(2), 3),
    "samples along an axis that is true": lambda n, g: g.choice(n.ones((3, 4)), 2, axis=True),
}


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
@pytest.mark.parametrize("use", PARAMETERS.values(), ids=PARAMETERS)
def test_parameters(use: Callable[[Any, Any], Any], state: Callable[[Any], Any]) -> None:
    both(use, state)


def test_complex_numbers_are_no_parameters_of_the_faster_stream() -> None:
    for use in (
        lambda g: g.normal(1j, 1, 3),
        lambda g: g.exponential(np.array([1j]), 3),
        lambda g: g.uniform(1j, 2, 3),
    ):
        with pytest.raises(TypeError):
            use(np.random.default_rng(np.random.PhiloxGPU(1)))


OUTS: dict[str, Callable[[Any, Any], Any]] = {
    "backward": lambda n, g: g.random(out=n.zeros(3)[::-1]),
    "columns": lambda n, g: g.random(out=n.zeros((4, 6))[:, ::2]),
    "columns of integers": lambda n, g: g.random(dtype="i4", out=n.zeros((4, 6))[:, ::2]),
    "columns of gamma integers": lambda n, g: g.standard_gamma(2.5, 5, "i4", out=n.zeros((4, 6))[:, ::2]),
    "columns of no dtype": lambda n, g: g.standard_exponential(None, "x", out=n.zeros((4, 6))[:, ::2]),
    "columns after a size": lambda n, g: g.random((4, 3), "f8", n.zeros((4, 6))[:, ::2]),
    "columns of another size": lambda n, g: g.random(5, out=n.zeros((4, 6))[:, ::2]),
    "columns of others": lambda n, g: g.random(out=n.zeros((4, 6), "i4")[:, ::2]),
    "normal": lambda n, g: g.standard_normal(dtype="f4", out=n.zeros((4, 6), "f4")[1:3, :2]),
    "exponential": lambda n, g: g.standard_exponential(None, "f8", "inv", n.zeros(6)[::3]),
    "gamma": lambda n, g: g.standard_gamma(2.0, out=n.zeros(4)[::-1]),
    "gamma transposed": lambda n, g: g.standard_gamma(2.0, out=n.zeros((4, 6)).T),
    "gamma of an array": lambda n, g: g.standard_gamma(n.ones(2), out=n.zeros(4)[::2]),
    "gamma of another size": lambda n, g: g.standard_gamma(-1.0, size=3, out=n.zeros(4)),
    "gamma below zero": lambda n, g: g.standard_gamma(-1.0, size=4, out=n.zeros(4)),
    "transposed": lambda n, g: g.random(out=n.zeros((4, 6)).T),
    "rows": lambda n, g: g.random(out=n.zeros((4, 6))[1:3]),
    "a column of one": lambda n, g: g.random(out=n.zeros((4, 6))[1:2, ::6]),
    "nothing": lambda n, g: g.random(out=n.zeros((4, 6))[:0, ::2]),
}


@pytest.mark.parametrize("state", [STATES["Generator"], STATES["SFC64"]], ids=["Generator", "SFC64"])
@pytest.mark.parametrize("use", OUTS.values(), ids=OUTS)
def test_outs(use: Callable[[Any, Any], Any], state: Callable[[Any], Any]) -> None:
    both(use, state)


def _row(n: Any) -> Any:
    return n.broadcast_to(n.arange(3), (3, 3))


def _box(n: Any) -> Any:
    return n.broadcast_to(n.arange(6).reshape(2, 1, 3), (4, 2, 5, 3))


REPEATED: dict[str, Callable[[Any, Any], Any]] = {
    "all": lambda n, g: g.permuted(_row(n)),
    "all of a column": lambda n, g: g.permuted(_row(n).T),
    "rows": lambda n, g: g.permuted(_row(n), axis=1),
    "columns": lambda n, g: g.permuted(_row(n), axis=0),
    "a box": lambda n, g: g.permuted(_box(n)),
    "a box in another order": lambda n, g: g.permuted(_box(n).transpose(1, 3, 0, 2)),
    "rows of a box": lambda n, g: g.permuted(_box(n), axis=-1),
    "into an array": lambda n, g: g.permuted(_row(n), out=n.zeros((3, 3), int)),
    "integers of another byte order": lambda n, g: g.integers([0, 1], [9, 9], (MANY, 2), dtype=">i4"),
}


@pytest.mark.parametrize("state", [STATES["Generator"], STATES["SFC64"]], ids=["Generator", "SFC64"])
@pytest.mark.parametrize("use", REPEATED.values(), ids=REPEATED)
def test_repeated_elements(use: Callable[[Any, Any], Any], state: Callable[[Any], Any]) -> None:
    both(use, state)


def test_copies_of_repeated_elements() -> None:
    """Those that keep the order of memory."""
    for made in (_row, _box, lambda n: _box(n).T, lambda n: _box(n)[:, :1], lambda n: _box(n).transpose(1, 3, 0, 2)):
        assert made(np).copy(order="K").strides == made(numpy).copy(order="K").strides
        assert np.empty_like(made(np)).strides == numpy.empty_like(made(numpy)).strides
