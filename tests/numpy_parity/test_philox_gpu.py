"""The stream of `PhiloxGPU`: the same numbers on every device, of the distributions that they are said to have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.kernels.random.host_philox32 import _blocks

from ..support.arrays import to_host
from .test_random_names import ARGUMENTS

MANY = 200_003


@pytest.fixture(autouse=True)
def here(device: str) -> Iterator[None]:
    before = np.host_fallback()
    np.host_fallback("ignore")
    with np.Device(device):
        yield
    np.host_fallback(before)


def generator(seed: int = 7) -> Any:
    return np.random.Generator(np.random.PhiloxGPU(seed))


def test_words_are_those_of_philox4x32() -> None:
    """The words that the authors of the generator publish for some counters and keys."""
    pi = _blocks(numpy.array([0x85A308D3243F6A88], numpy.uint64), 0, 0x299F31D0A4093822, 0x0370734413198A2E)
    assert pi.tolist() == [[0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]]
    zeros = _blocks(numpy.zeros(1, numpy.uint64), 0, 0, 0)
    assert zeros.tolist() == [[0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]]


# What is drawn, and the first numbers after the seed 7, which no later version may change.
FIRST: dict[str, tuple[Callable[[Any, int], Any], list[float]]] = {
    "random": (lambda g, n: g.random(n), [0.941636884264664, 0.48848113836824325, 0.35358253329836065]),
    "random float32": (lambda g, n: g.random(n, "f4"), [0.624069094657898, 0.941636860370636, 0.004455864429473877]),
    "integers": (lambda g, n: g.integers(0, 1000, n), [624, 4, 953]),
    "integers of 64 bits": (
        lambda g, n: g.integers(0, 2**63, n),
        [8685067307197759324, 4505443272156644090, 3261223250344372257],
    ),
    "normal": (lambda g, n: g.standard_normal(n), [-1.5592497940029808, 1.8030203595654455, -0.41462108104530115]),
    "normal float32": (
        lambda g, n: g.standard_normal(n, "f4"),
        [0.3948059678077698, -0.8871958255767822, -2.152358293533325],
    ),
    "exponential": (
        lambda g, n: g.standard_exponential(n),
        [2.841071168552923, 0.6703708191349277, 0.43630975063407673],
    ),
    "exponential float32": (
        lambda g, n: g.standard_exponential(n, "f4"),
        [0.47149407863616943, 0.060135576874017715, 5.4135212898254395],
    ),
}


@pytest.mark.parametrize("name", FIRST)
def test_numbers_stay_the_same(name: str) -> None:
    draw, wanted = FIRST[name]
    got = to_host(draw(generator(), 3))
    numpy.testing.assert_allclose(got, wanted, rtol=1e-6 if got.dtype == "f4" else 1e-13)
    numpy.testing.assert_array_equal(to_host(draw(generator(), 1000))[:3], got)


DISTRIBUTIONS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "random": (lambda g: g.random(MANY), "uniform"),
    "random float32": (lambda g: g.random(MANY, "f4"), "uniform"),
    "normal": (lambda g: g.standard_normal(MANY), "norm"),
    "normal float32": (lambda g: g.standard_normal(MANY, "f4"), "norm"),
    "exponential": (lambda g: g.standard_exponential(MANY), "expon"),
    "exponential float32": (lambda g: g.standard_exponential(MANY, "f4"), "expon"),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions(name: str) -> None:
    stats = pytest.importorskip("scipy.stats")
    draw, distribution = DISTRIBUTIONS[name]
    x = to_host(draw(generator())).astype("f8")
    cdf = getattr(stats, distribution).cdf
    assert stats.kstest(x, cdf).pvalue > 1e-3
    # Those that come of one block, or of neighbouring ones, have nothing to do with each other; nor their squares.
    even = cdf(x) - 0.5
    for apart in (1, 2, 3, 4, 5, 8):
        for power in (1, 2):
            a = even**power - (even**power).mean()
            assert abs((a[apart:] * a[:-apart]).mean()) < 4 * a.var() / MANY**0.5, (apart, power)


@pytest.mark.parametrize("span", [2, 10, 1000, 3 * 2**30, 2**32, 3 * 2**61, 2**64])
def test_integers_are_all_alike(span: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    x = to_host(generator().integers(0, span, MANY, dtype="u8"))
    assert int(x.max()) < span
    bins = min(span, 100)
    counts = numpy.bincount((x.astype("f8") * (bins / span)).astype("i8").clip(0, bins - 1), minlength=bins)
    assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_integers_of_every_dtype(dtype: str) -> None:
    low, high = (0, 1) if dtype == "?" else (int(numpy.iinfo(dtype).min), int(numpy.iinfo(dtype).max))
    whole = to_host(generator().integers(low, high, 5000, dtype=dtype, endpoint=True))
    assert whole.dtype == dtype
    assert whole.min() < low + (high - low) * 0.1 + 1
    assert whole.max() > high - (high - low) * 0.1 - 1
    if dtype != "?":
        part = to_host(generator().integers(low + 3, low + 6, 5000, dtype=dtype))
        assert set(part.tolist()) == {low + 3, low + 4, low + 5}


def test_draws_are_streams_of_their_own() -> None:
    g = generator()
    draws = [g.random(1000), g.random(1000), *(child.random(1000) for child in g.spawn(2)), generator(8).random(1000)]
    draws.append(np.random.Generator(generator().bit_generator.jumped()).random(1000))
    correlations = numpy.corrcoef([to_host(x) for x in draws])
    assert abs(correlations - numpy.eye(len(draws))).max() < 0.15
    assert len({to_host(x).tobytes() for x in draws}) == len(draws)


def test_the_rest_is_philox() -> None:
    """What has no size, and all other methods; a draw takes two words of the stream."""
    g, reference = generator(), numpy.random.Generator(numpy.random.Philox(7))
    assert g.random() == reference.random()
    assert g.normal(3, 2) == reference.normal(3, 2)
    numpy.testing.assert_array_equal(to_host(g.poisson(5, 4)), reference.poisson(5, 4))
    g.random(10_000)
    reference.bit_generator.random_raw(2)
    numpy.testing.assert_array_equal(to_host(g.permutation(9)), reference.permutation(9))
    assert g.bit_generator.state["bit_generator"] == "PhiloxGPU"
    assert repr(g.bit_generator.state["state"]) == repr(reference.bit_generator.state["state"])


def test_parameters_and_places() -> None:
    g, again = generator(), generator()
    numpy.testing.assert_allclose(to_host(g.uniform(-1, 3, (4, 5))), to_host(again.random((4, 5))) * 4 - 1)
    numpy.testing.assert_allclose(to_host(g.normal(2, 3, 7)), to_host(again.standard_normal(7)) * 3 + 2)
    scale = np.arange(1.0, 4.0)
    numpy.testing.assert_allclose(to_host(g.exponential(scale)), to_host(again.standard_exponential(3) * scale))
    out = np.zeros((3, 4), "f4").T
    assert g.random(out=out, dtype="f4") is out
    numpy.testing.assert_array_equal(to_host(out.T).ravel(), to_host(again.random(12, "f4")))
    assert g.random((0, 3)).shape == (0, 3)
    with pytest.raises(ValueError, match="scale < 0"):
        g.normal(0, -1, 5)
    with pytest.raises(ValueError, match="low >= high"):
        g.integers(3, 3, 5)
    with pytest.raises(TypeError, match="dtype"):
        g.random(5, "i4")


@pytest.mark.parametrize("name", [name for name in ARGUMENTS if hasattr(numpy.random.Generator, name)])
def test_every_method_is_the_same_on_every_device(name: str) -> None:
    def drawn() -> list[Any]:
        g = generator()
        return [to_host(getattr(g, name)(*ARGUMENTS[name], size=n)) for n in (20_000, 5)]

    tested = drawn()
    with np.Device("cpu"):
        reference = drawn()
    for x, y in zip(tested, reference, strict=True):
        numpy.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-14)
