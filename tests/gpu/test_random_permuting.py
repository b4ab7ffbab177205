"""Permutations and samples that many blocks of a GPU draw, compared with NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from tests.numpy_parity.test_random_permuting import BITS, both

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("n", [1 << 15, 100_000, (1 << 20) + 1, 10**7, (1 << 24) + 1])
def test_permutations(n: int) -> None:
    for seed, kind in enumerate(BITS):
        both(kind, seed, lambda m, rng: rng.permutation(n))


@pytest.mark.parametrize(
    ("many", "count"), [(10**6, 10**6), (10**7, 10**6), (10**7, 10**5), (10**9, 10**5), (2**32 - 1, 50_000)]
)
def test_samples(many: int, count: int) -> None:
    for seed, kind in enumerate(BITS):
        both(kind, seed, lambda m, rng, seed=seed: rng.choice(many, count, replace=False, shuffle=seed != 1))


@pytest.mark.parametrize("shape", [(3, 10**6), (40, 30_000), (100, 8192), (1000, 1000), (10**5, 10), (10**6, 2)])
def test_rows(shape: tuple[int, int]) -> None:
    def permuted(m: Any, rng: Any) -> Any:
        return rng.permuted(m.arange(shape[0] * shape[1]).reshape(shape), axis=1)

    for seed, kind in enumerate(BITS):
        both(kind, seed, permuted)


@pytest.mark.parametrize(("dtype", "most"), [("i8", 1000), ("u4", 2**26), ("i2", 1000), ("i1", 7), ("?", 1)])
def test_integers_between_arrays(dtype: str, most: int) -> None:
    high = numpy.random.default_rng(1).integers(1, most + 1, 10**6)
    for seed, kind in enumerate(BITS):
        both(kind, seed, lambda m, rng: rng.integers(0, m.asarray(high), dtype=dtype, endpoint=True))
