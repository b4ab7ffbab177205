"""Permutations, samples, and integers between arrays: equal to NumPy's to the bit, and so is the state after them."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.random import bounded_integers, device_draws
from tests.support.host_executor import with_traits

BITS = (numpy.random.PCG64, numpy.random.PCG64DXSM, numpy.random.Philox)


@pytest.fixture(autouse=True)
def on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever can be drawn on a device is, on the CPU device too, and whatever the size."""
    monkeypatch.setattr(device_draws, "MIN_COUNT", 1)
    with_traits(monkeypatch, draws_faster_than_numpy=True)
    monkeypatch.setattr(bounded_integers, "MAX_REJECTED", 1)


def both(kind: Any, seed: int, use: Any) -> None:
    """What NumPy's generator and gpunumpy's do, and their states after that."""
    outcomes = []
    for n in (gpunumpy, numpy):
        rng = n.random.Generator(kind(seed))
        rng.random(seed % 3, "f4")
        made = use(n, rng)
        outcomes.append((gpunumpy.asnumpy(made), rng.bit_generator.state, rng.random()))
    (tested, state, _), (reference, wanted, _) = outcomes
    assert tested.dtype == reference.dtype
    numpy.testing.assert_array_equal(tested, reference)
    numpy.testing.assert_equal(state, wanted)
    assert float(outcomes[0][2]) == outcomes[1][2]


@pytest.mark.parametrize("kind", BITS)
def test_permutations_of_a_number(kind: Any) -> None:
    for n in (1, 2, 3, 33, 1000, 9000):
        both(kind, n, lambda m, rng, n=n: rng.permutation(n))


def _shuffled(m: Any, rng: Any, shape: tuple[int, ...], axis: int, dtype: str, part: Any) -> Any:
    a = m.arange(numpy.prod(shape)).astype(dtype).reshape(shape)
    rng.shuffle(a[part], axis=axis)
    return a


@pytest.mark.parametrize(
    ("shape", "axis", "part"),
    [
        ((700,), 0, slice(None)),
        ((700,), -1, slice(5, None, 3)),
        ((30, 41), 0, slice(None)),
        ((30, 41), 1, slice(None, None, -2)),
        ((5, 3, 600), 2, (slice(None), slice(0, 2))),
        ((4, 0), 0, slice(None)),
    ],
)
def test_shuffles(shape: tuple[int, ...], axis: int, part: Any) -> None:
    for seed, dtype in enumerate(("f8", "u1", "?", "c16", "i2")):
        both(numpy.random.PCG64, seed, lambda m, rng, dtype=dtype: _shuffled(m, rng, shape, axis, dtype, part))


def _box(m: Any) -> Any:
    return m.arange(6e3).reshape(20, 30, 10)


def test_permutations_of_arrays() -> None:
    for axis in (0, 1, -1):
        both(
            numpy.random.PCG64,
            3,
            lambda m, rng, axis=axis: rng.permutation(m.arange(6e3).reshape(20, 30, 10), axis=axis),
        )
    both(numpy.random.Philox, 5, lambda m, rng: rng.permutation(m.arange(600.0)[::2]))
    both(numpy.random.Philox, 5, lambda m, rng: rng.permutation([4, 2, 8]))


PERMUTED: dict[str, Any] = {
    "all": lambda m, rng: rng.permuted(_box(m)),
    "all, in the order of Fortran": lambda m, rng: rng.permuted(_box(m).T),
    "all, in another order": lambda m, rng: rng.permuted(_box(m).transpose(0, 2, 1)),
    "all, in the order of Fortran but for axes of one": lambda m, rng: rng.permuted(_box(m)[:, :1].T[..., None]),
    "all of a part": lambda m, rng: rng.permuted(_box(m)[:, ::2].T),
    "a row": lambda m, rng: rng.permuted(m.arange(1000.0)[::-2]),
    "rows": lambda m, rng: rng.permuted(m.arange(1000.0).reshape(5, 200), axis=1),
    "columns": lambda m, rng: rng.permuted(m.arange(1000.0).reshape(5, 200), axis=0),
    "rows of a box": lambda m, rng: rng.permuted(_box(m), axis=1),
    "rows of a part": lambda m, rng: rng.permuted(_box(m)[::3, ::-2].T, axis=-1),
    "long rows": lambda m, rng: rng.permuted(m.arange(27000.0).reshape(3, 9000), axis=1),
    "many rows": lambda m, rng: rng.permuted(m.arange(40000).reshape(10, 4000), axis=0),
    "short rows": lambda m, rng: rng.permuted(m.arange(600).reshape(100, 3, 2), axis=1),
    "rows of one": lambda m, rng: rng.permuted(m.arange(600).reshape(600, 1), axis=1),
    "out": lambda m, rng: rng.permuted(m.arange(600, dtype="f4").reshape(20, 30), out=m.empty((20, 30))),
    "out of another order": lambda m, rng: rng.permuted(_box(m)[0], out=m.empty((10, 30)).T),
    "out of a part": lambda m, rng: rng.permuted(_box(m)[0], out=m.empty((30, 20))[:, ::2]),
    "out with rows": lambda m, rng: rng.permuted(_box(m)[0], axis=0, out=m.empty((10, 30)).T),
}


@pytest.mark.parametrize("use", PERMUTED.values(), ids=PERMUTED)
def test_permuted(use: Any) -> None:
    for kind in BITS:
        both(kind, 1, use)


CHOSEN: dict[str, Any] = {
    "a tail": lambda m, rng: rng.choice(20000, 3000, replace=False),
    "all": lambda m, rng: rng.choice(20000, (100, 200), replace=False),
    "all but one": lambda m, rng: rng.choice(10001, 10000, replace=False),
    "without a shuffle": lambda m, rng: rng.choice(11000, 900, replace=False, shuffle=False),
    "few": lambda m, rng: rng.choice(60000, (4, 300), replace=False),
    "few of few": lambda m, rng: rng.choice(1000, 999, replace=False),
    "few of few in any order": lambda m, rng: rng.choice(1000, 999, replace=False, shuffle=False),
    "half of few": lambda m, rng: rng.choice(1000, 500, replace=False),
    "one": lambda m, rng: rng.choice(1000, 1, replace=False),
    "all of few": lambda m, rng: rng.choice(100, 100, replace=False),
    "few of very many": lambda m, rng: rng.choice(2**32 - 1, 1000, replace=False),
    "few of too many": lambda m, rng: rng.choice(10**10, 1000, replace=False),
    "of rows": lambda m, rng: rng.choice(_box(m), 15, replace=False),
    "of columns": lambda m, rng: rng.choice(_box(m), (2, 5), replace=False, axis=1),
    "weighted": lambda m, rng: rng.choice(500, (10, 20), replace=False, p=numpy.arange(500) / 124750),
    "weighted by a gpunumpy array": lambda m, rng: rng.choice(_box(m)[:5], 4, replace=False, p=m.full(5, 0.2)),
    "most of a weighted one": lambda m, rng: rng.choice(50, 49, replace=False, p=numpy.arange(50) / 1225),
}


@pytest.mark.parametrize("use", CHOSEN.values(), ids=CHOSEN)
def test_samples(use: Any) -> None:
    for kind in BITS:
        both(kind, 2, use)


@pytest.mark.parametrize("dtype", ["i8", "u8", "i4", "u4", "i2", "u2", "i1", "u1", "?"])
def test_integers_between_arrays(dtype: str) -> None:
    most = {"?": 1}.get(dtype) or min(int(numpy.iinfo(dtype).max), 2**40)
    least = 0 if dtype in "?u8u4u2u1" else -most // 2
    for seed in range(3):
        rng = numpy.random.default_rng(seed)
        spread = rng.integers(1, 2 if dtype == "?" else min(most // 3, 2 ** (8 + 12 * seed)), (70, 50))
        low = rng.integers(least, max(most // 2, 1), (70, 1))

        def between(m: Any, draws: Any, low: Any = low, spread: Any = spread) -> Any:
            first, last = m.asarray(low), m.asarray(low + spread)
            made = [
                draws.integers(first, last, dtype=dtype, endpoint=True),
                draws.integers(low, last, (3, 70, 50), dtype=dtype, endpoint=True)[1],
            ]
            if dtype != "?":
                made += [
                    draws.integers(first, low + spread + 1, dtype=dtype),
                    draws.integers(first + 2, last + 3, dtype=dtype),
                ]
            return m.stack(made)

        both(BITS[seed], seed, between)


def test_what_the_host_draws() -> None:
    for high in ([1, 2, 3], [2**40, 5], [2.0, 7.5], numpy.array([2**63 + 5, 3], "u8")):
        dtype = "u8" if max(high) > 2**63 else "i8"
        both(numpy.random.PCG64, 1, lambda m, rng, high=high, dtype=dtype: rng.integers(m.asarray(high), dtype=dtype))
    for n in (gpunumpy, numpy):
        rng = n.random.default_rng(1)
        for low, high, dtype in (([3, 4], [4, 4], "i8"), ([0], [300], "u1"), ([-1, 0], [5], "u4")):
            with pytest.raises(ValueError, match=r"low|high"):
                rng.integers(n.asarray(low), n.asarray(high), dtype=dtype)
        for size, replace, p in ((11, False, None), (3, False, [1.0] + [0.0] * 9)):
            with pytest.raises(ValueError, match=r"larger|non-zero"):
                rng.choice(10, size, replace=replace, p=p)
        with pytest.raises(ValueError, match="sequence or an integer"):
            rng.choice(n.asarray(2.5), 3, replace=False)
    both(numpy.random.PCG64, 1, lambda m, rng: rng.choice(m.asarray(25), 3, replace=False))
