"""Arrays of more than 2^31 elements, which 32 bits cannot count, on a GPU that has the memory.

What is expected at a place follows from its number, and is worked out on the host.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime.memory import free_all_blocks, memory_info

pytestmark = pytest.mark.gpu

FAR = 2**31
ROWS, COLS = 2**16 + 3, 2**15
N = ROWS * COLS
PRIME = 251
PLACES = (0, 1, PRIME, FAR - 1, FAR, FAR + 1, FAR + 4097, N - 2, N - 1)


@pytest.fixture(autouse=True)
def room() -> Iterator[None]:
    """All the free memory of the GPU; nothing of it is kept afterwards."""
    with np.Device("cuda:0"):
        gc.collect()
        free_all_blocks()
        needs(20)
        yield
        gc.collect()
        free_all_blocks()


def needs(gib: int) -> None:
    """Skip the test where less memory is free."""
    free = memory_info().free or 0
    if free < gib << 30:
        pytest.skip(f"{free >> 30} GiB of the GPU's memory are free, {gib} are needed")


def stored(x: Any) -> Any:
    """The array, computed, so that what follows reads it from memory."""
    int(x.reshape(-1)[0])
    return x


def cycle() -> Any:
    """``i % PRIME`` at place ``i``."""
    return stored((np.arange(N) % PRIME).astype(np.uint8))


def at(x: Any, places: Any = PLACES) -> list[Any]:
    """Elements of a one-dimensional array, each read by itself."""
    return [x[int(place)].item() for place in places]


def residues(places: Any = PLACES) -> list[int]:
    """What `cycle` has at places."""
    return [int(place) % PRIME for place in places]


def before(value: int) -> int:
    """How many elements of `cycle` are smaller than the value."""
    return sum(-(-(N - v) // PRIME) for v in range(value))


# Elementwise


def test_elementwise() -> None:
    x = cycle()
    assert at(x) == residues()
    assert at(x * 2 + 1) == [(2 * v + 1) % 256 for v in residues()]
    assert at(np.where(x > 100, x, 7)) == [v if v > 100 else 7 for v in residues()]
    assert at(np.sqrt(x.astype(np.float16))) == [float(numpy.sqrt(numpy.float16(v))) for v in residues()]


def test_slices() -> None:
    x = cycle()
    last = (N - 1) // 3
    places = (0, 1, FAR // 3, last - 1, last)
    assert at(x[::3] + 1, places) == [3 * place % PRIME + 1 for place in places]
    assert at(x[::-1] + 1) == [(N - 1 - place) % PRIME + 1 for place in PLACES]
    assert at(x[FAR - 2 : FAR + 2] + 1, range(4)) == [(FAR - 2 + k) % PRIME + 1 for k in range(4)]
    assert at(x[1:] - x[:-1], PLACES[:-1]) == [1 if (place + 1) % PRIME else 256 - PRIME + 1 for place in PLACES[:-1]]


def test_transposes_and_broadcasts() -> None:
    x = cycle().reshape(ROWS, COLS)
    turned = stored(np.ascontiguousarray(x.T))
    rows, columns = numpy.array([0, 5, ROWS - 2, ROWS - 1]), numpy.array([0, COLS - 1])
    for r in rows:
        for c in columns:
            assert int(turned[c, r]) == (r * COLS + c) % PRIME
    table = stored(np.arange(ROWS).astype(np.uint8)[:, None] + np.arange(COLS).astype(np.uint8))
    assert [int(table[r, c]) for r in rows for c in columns] == [(r + c) % 256 for r in rows for c in columns]


def test_joining_and_repeating() -> None:
    half = cycle()[: N // 2 + 1]
    joined = np.concatenate((half, half))
    assert at(joined, range(N, N + 2)) == [(N - (N // 2 + 1) + k) % PRIME for k in range(2)]
    assert at(np.roll(cycle(), 5)) == [(place - 5) % N % PRIME for place in PLACES]
    repeated = np.repeat(np.arange(PRIME).astype(np.uint8), -(-N // PRIME))
    assert at(repeated) == [place // -(-N // PRIME) for place in PLACES]


def test_to_the_host_and_back() -> None:
    host = np.asnumpy(cycle())
    assert host[list(PLACES)].tolist() == residues()
    assert at(np.asarray(host)) == residues()


# Reductions and scans


def test_sums_and_counts() -> None:
    x = cycle()
    total = sum(v * (before(v + 1) - before(v)) for v in range(PRIME))
    assert int(x.sum()) == total
    assert float(x.mean()) == pytest.approx(total / N)
    assert int(np.count_nonzero(x)) == N - before(1)
    assert int((x == 3).sum()) == before(4) - before(3)
    odd = sum(before(v + 1) - before(v) for v in range(1, PRIME, 2)) / N
    assert float((x % 2).var(dtype=np.float64)) == pytest.approx(odd * (1 - odd))
    assert bool((x < PRIME).all())
    assert not bool((x >= PRIME).any())


@pytest.mark.parametrize("place", PLACES[-4:])
def test_the_place_of_an_extremum(place: int) -> None:
    x = np.zeros(N, np.int8)
    x[place] = 5
    assert int(np.argmax(x)) == place
    assert int(np.argmin(-x)) == place
    assert int(x.max()) == 5
    assert int(x.sum()) == 5
    x[place] = -5
    assert int(np.argmin(x)) == place
    assert int(x.min()) == -5


def test_reductions_of_rows_and_columns() -> None:
    x = cycle().reshape(ROWS, COLS)
    rows, columns = numpy.arange(ROWS, dtype=numpy.int64), numpy.arange(COLS, dtype=numpy.int64)
    found = np.asnumpy(x.sum(axis=1))
    for r in (0, FAR // COLS, ROWS - 1):
        assert found[r] == ((r * COLS + columns) % PRIME).sum()
    found, best = np.asnumpy(x.sum(axis=0)), np.asnumpy(x.argmax(axis=0))
    for c in (0, COLS - 1):
        assert found[c] == ((rows * COLS + c) % PRIME).sum()
        assert best[c] == ((rows * COLS + c) % PRIME).argmax()


def test_scans() -> None:
    needs(60)
    ones = stored(np.full(N, 1, np.int8))
    assert at(np.cumsum(ones)) == [place + 1 for place in PLACES]
    turned = np.maximum.accumulate(cycle())
    assert at(turned) == [min(place, PRIME - 1) for place in PLACES]
    down = stored(np.cumsum(ones.reshape(ROWS, COLS), axis=0, dtype=np.int32))
    assert [int(down[r, c]) for r in (0, ROWS - 1) for c in (0, COLS - 1)] == [1, 1, ROWS, ROWS]


def test_segments() -> None:
    needs(60)
    ones = stored(np.full(N, 1, np.int8))
    found = np.add.reduceat(ones, [0, 5, FAR + 1, N - 1], dtype=np.int64)
    assert found.tolist() == [5, FAR - 4, N - FAR - 2, 1]


def test_products_of_matrices() -> None:
    for dtype in (np.int8, np.float16):
        a = stored((np.arange(N) % 5).astype(dtype).reshape(-1, 32))
        made = a @ np.eye(32, dtype=dtype)[::-1]
        for row in (0, FAR // 32, FAR // 32 + 1, N // 32 - 1):
            assert made[row].tolist() == [(row * 32 + 31 - k) % 5 for k in range(32)]


# Sorts and searches


def test_sort() -> None:
    needs(24)
    found = np.sort(cycle())
    middle = PRIME // 2
    edges = [before(v) + d for v in (1, middle, PRIME - 1) for d in (-1, 0)]
    assert at(found, edges) == [0, 1, middle - 1, middle, PRIME - 2, PRIME - 1]
    assert at(found, (0, N - 1)) == [0, PRIME - 1]


def test_argsort() -> None:
    needs(64)
    order = np.argsort(cycle(), stable=True)
    for v in (0, PRIME // 2, PRIME - 1):
        many = before(v + 1) - before(v)
        places = numpy.array([0, 1, many // 2, many - 1])
        assert at(order, before(v) + places) == (v + PRIME * places).tolist()


def test_unique() -> None:
    needs(110)
    x = cycle()
    values, counts = np.unique(x, return_counts=True)
    assert values.tolist() == list(range(PRIME))
    assert counts.tolist() == [before(v + 1) - before(v) for v in range(PRIME)]
    del values, counts
    x[N - 2] = 255
    values, first = np.unique(x, return_index=True)
    assert values.tolist() == [*range(PRIME), 255]
    assert first.tolist() == [*range(PRIME), N - 2]
    del values, first
    _, inverse = np.unique(x, return_inverse=True)
    assert at(inverse) == [PRIME if place == N - 2 else place % PRIME for place in PLACES]


def test_searchsorted() -> None:
    needs(40)
    step = N // 100
    x = stored((np.arange(N) // step).astype(np.uint8))
    values = numpy.array([0, 1, 50, 99, 100, 200], numpy.uint8)
    assert np.searchsorted(x, values).tolist() == [min(int(v) * step, N) for v in values]
    assert np.searchsorted(x, values, side="right").tolist() == [min((int(v) + 1) * step, N) for v in values]
    many = np.searchsorted(np.arange(0, 256, 2).astype(np.uint8), cycle())
    assert at(many) == [(v + 1) // 2 for v in residues()]


def test_counts() -> None:
    needs(40)
    x = cycle()
    counts = [before(v + 1) - before(v) for v in range(PRIME)]
    assert np.bincount(x).tolist() == counts
    assert np.bincount(x, weights=x).tolist() == [v * many for v, many in enumerate(counts)]
    found, edges = np.histogram(x, bins=PRIME, range=(0, PRIME))
    assert found.tolist() == counts
    assert edges.shape == (PRIME + 1,)


# Indexing


def test_masks() -> None:
    needs(40)
    x = cycle()
    places = numpy.array(PLACES)
    mask = np.zeros(N, bool)
    mask[places] = True
    mask = stored(mask)
    assert x[mask].tolist() == residues()
    assert np.nonzero(mask)[0].tolist() == list(PLACES)
    found = np.nonzero(mask.reshape(ROWS, COLS))
    assert [axis.tolist() for axis in found] == [(places // COLS).tolist(), (places % COLS).tolist()]
    x[mask] = np.arange(len(PLACES)).astype(np.uint8)
    assert at(x) == list(range(len(PLACES)))
    x[~mask] = 9
    assert at(x) == list(range(len(PLACES)))
    assert int(x[FAR + 2]) == 9


def test_a_mask_that_picks_more_than_32_bits_count() -> None:
    needs(40)
    mask = np.arange(N) != 7
    kept = np.flatnonzero(mask)
    assert at(kept, (0, 7, FAR, N - 2)) == [0, 8, FAR + 1, N - 1]
    del kept
    picked = cycle()[mask]
    assert at(picked, (7, FAR, N - 2)) == [8 % PRIME, (FAR + 1) % PRIME, (N - 1) % PRIME]


def test_index_arrays() -> None:
    needs(40)
    x = cycle()
    places = numpy.array([*PLACES, -1, -N])
    assert x[places].tolist() == [place % N % PRIME for place in places]
    assert np.take(x, np.asarray(places)).tolist() == [place % N % PRIME for place in places]
    assert at(np.take(x, N - 1 - np.arange(N))) == [(N - 1 - place) % PRIME for place in PLACES]
    x[np.asarray(PLACES)] = np.asarray(range(len(PLACES)), dtype=np.uint8)
    assert at(x) == list(range(len(PLACES)))
    np.add.at(x, np.asarray(PLACES), 1)
    assert at(x) == [k + 1 for k in range(len(PLACES))]
    rows = x.reshape(ROWS, COLS)
    assert rows[np.asarray([ROWS - 1, 0]), np.asarray([COLS - 1, 0])].tolist() == [len(PLACES), 1]
    with pytest.raises(IndexError):
        x[np.asarray([N])].tolist()


def test_writes_in_place() -> None:
    x = cycle()
    x[FAR:] += 1
    assert at(x) == [v + (place >= FAR) for v, place in zip(residues(), PLACES)]
    x[1::2] = 7
    assert at(x) == [7 if place % 2 else place % PRIME + (place >= FAR) for place in PLACES]
    x = cycle()
    x[1:] = x[:-1]
    assert at(x, PLACES[1:]) == residues(numpy.array(PLACES[1:]) - 1)
    x.reshape(ROWS, COLS)[:, 0] = 255
    assert at(x, (FAR, FAR + 1, (ROWS - 1) * COLS)) == [255, FAR % PRIME, 255]
    x.fill(3)
    assert at(x) == [3] * len(PLACES)
    x += x
    assert int(x.sum()) == 6 * N
