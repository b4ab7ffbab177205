"""Functions of `scipy.special` are as accurate as their rows of the table say, beside mpmath."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.ops.special import SPECIAL
from tests.emulator import available

from ..support import special
from ..support.arrays import elementwise, from_host, to_host
from ..support.special import DTYPES, NAMES

pytest.importorskip("mpmath")

SUITES = [pytest.param(300, id="short"), pytest.param(20_000, id="full", marks=pytest.mark.full)]


def by_gpu(name: str, *given: Any) -> Any:
    device = np.Device("cuda:0")
    return numpy.asarray(to_host(elementwise(name, [from_host(x, device) for x in given])))


def check(name: str, label: str, compute: Any, count: int) -> None:
    given = special.arguments(name, DTYPES[label], count)
    found = special.worst(name, given, compute(name, *given), special.exact(name, given))
    assert found.error <= SPECIAL[name].ulp, f"{name} of {label}: {found}"


def test_every_function_is_measured() -> None:
    assert set(special.PLACES) == set(SPECIAL)


@pytest.mark.parametrize("order", [0, 1])
def test_exact_bessel_functions(order: int) -> None:
    from mpmath import mp

    from ..support import bessel

    with mp.workprec(200):
        for x in map(mp.mpf, (1e-30, 0.3, 7.7, 39.9, bessel.FAR, 40.1, 701.5)):
            k = mp.besselk(order, x)
            assert abs(bessel.k(order, x) - k) < k * mp.ldexp(1, -100)
            y = mp.bessely(order, x)
            amplitude = max(abs(y), mp.sqrt(2 / (mp.pi * x)))
            assert abs(bessel.y(order, x) - y) < (abs(y) if x < 0.5 else amplitude) * mp.ldexp(1, -100)


@pytest.mark.sampled(100)
@pytest.mark.parametrize("count", SUITES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.skipif(not available(), reason="needs g++")
def test_own_text(name: str, count: int) -> None:
    for label in DTYPES:
        check(name, label, special.by_own_text, count)


@pytest.mark.parametrize(("name", "x"), [("j0", 7.931462881829872), ("i1e", 7.662735859404792)])
@pytest.mark.skipif(not available(), reason="needs g++")
def test_the_worst_of_many_arguments(name: str, x: float) -> None:
    """Of 100,000, where the error was larger than the rows said before."""
    given = [numpy.array([x])]
    found = special.worst(name, given, special.by_own_text(name, *given), special.exact(name, given))
    assert 2 < found.error <= SPECIAL[name].ulp


@pytest.mark.gpu
@pytest.mark.sampled(100)
@pytest.mark.parametrize("name", NAMES)
def test_on_a_gpu(name: str) -> None:
    for label in DTYPES:
        check(name, label, by_gpu, 300)
