"""How many kernels writes to parts of an array take: one where what is read of the array lies apart from them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.schedule.steps import RunKernel

from ...support import updates
from .counting import kernels

# What is written, and what is read.
WRITES: tuple[tuple[str, Any, Any], ...] = (
    ("a row by another", 3, 2),
    ("a row by a later one", 3, 5),
    ("rows by those above", slice(3, 6), slice(0, 3)),
    ("a column by another", (..., -1), (..., -2)),
    ("every second column by the others", (..., slice(None, None, 2)), (..., slice(1, None, 2))),
    ("rows in reverse by those below", slice(2, None, -1), slice(3, 6)),
    ("itself", slice(1, 4), slice(1, 4)),
)


@pytest.mark.parametrize(("written", "read"), [case[1:] for case in WRITES], ids=[case[0] for case in WRITES])
def test_one_kernel(written: Any, read: Any) -> None:
    expected = numpy.arange(60.0).reshape(6, 10)
    a = np.array(expected)
    np.synchronize()

    def write(a: Any) -> Any:
        a[written] = a[read] * 2 + 1
        return a

    steps = kernels(lambda: write(a))
    numpy.testing.assert_array_equal(np.asnumpy(a), write(expected))
    assert len([step for step in steps if isinstance(step, RunKernel)]) == 1


def _part(chance: random.Random, n: int) -> slice:
    return slice(
        chance.choice([None, *range(-n, n)]),
        chance.choice([None, *range(-n, n + 1)]),
        chance.choice([1, 1, 2, 3, -1, -2]),
    )


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_written_from_other_parts(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(50):
        shape = tuple(chance.choice([1, 2, 3, 4, 5, 7]) for _ in range(chance.choice([1, 2, 3])))
        expected = numpy.random.default_rng(chance.randrange(1 << 30)).random(shape)
        a = np.array(expected)
        np.synchronize()

        def key(shape: tuple[int, ...] = shape) -> Any:
            return tuple(chance.choice([_part(chance, n), chance.randrange(n), slice(None)]) for n in shape)

        written = key()
        wanted = expected[written].shape
        read = next((found for found in (key() for _ in range(60)) if expected[found].shape == wanted), None)
        if read is not None:
            for x in (expected, a):
                x[written] = x[read] * 2 + 1
                x[read] -= x[written]
            numpy.testing.assert_array_equal(np.asnumpy(a), expected, str((shape, written, read)))


# What is done to a matrix and a vector, and the kernels that it takes.
JOINED: tuple[tuple[str, int, Callable[[Any, Any], Any]], ...] = (
    (
        "a column and a row by one value",
        1,
        lambda a, v: _set(a, (slice(2, None), 2), a, (2, slice(2, None)), v[2:] * 2),
    ),
    ("two columns by their neighbours", 1, lambda a, v: _set_each(a, [((..., -1), (..., -2)), ((..., 0), (..., 1))])),
    ("a row by one that is written before", 2, lambda a, v: _set_each(a, [(1, 2), (0, 1)])),
    ("a row less its sum", 1, lambda a, v: _update(a, 3, lambda row: row - row.sum())),
    (
        "rows less multiples of another",
        1,
        lambda a, v: _update(a, slice(1, None), lambda x: x - (x * v).sum(1)[:, None] * v),
    ),
    ("sums of columns to a vector", 1, lambda a, v: _update(v, ..., lambda v: v + a.sum(0))),
    (
        "sums of rows that are overwritten",
        2,
        lambda a, v: _update(a, (..., slice(3, 4)), lambda x: a.sum(1)[:, None] + x),
    ),
    ("a row that is read again later", 2, lambda a, v: _set_and_scale(a)),
    ("parts of other sizes", 2, lambda a, v: _set_each(a, [(0, 1), ((slice(3), 3), (slice(3), 4))])),
    ("more rows than one kernel writes", 2, lambda a, v: _set_each(a, [(n, -1) for n in range(5)])),
)


def _set(a: Any, at: Any, b: Any, there: Any, value: Any) -> Any:
    a[at] = b[there] = value
    return a, b


def _set_each(a: Any, pairs: Any) -> Any:
    for written, read in pairs:
        a[written] = a[read]
    return a


def _set_and_scale(a: Any) -> Any:
    centred = a[3] - a[3].sum()
    scaled = centred / ((centred * centred).sum() + 1)
    a[3] = centred
    return a, scaled


def _update(a: Any, at: Any, change: Callable[[Any], Any]) -> Any:
    a[at] = change(a[at])
    return a


@pytest.mark.parametrize(("count", "run"), [case[1:] for case in JOINED], ids=[case[0] for case in JOINED])
def test_updates_are_written_by_the_kernel_before(count: int, run: Callable[[Any, Any], Any]) -> None:
    expected = [numpy.arange(49.0).reshape(7, 7), numpy.arange(7.0)]
    arrays = [np.array(x) for x in expected]
    np.synchronize()
    steps = kernels(lambda: run(*arrays))
    run(*expected)
    for x, y in zip(arrays, expected, strict=True):
        numpy.testing.assert_array_equal(np.asnumpy(x), y)
    assert len([step for step in steps if isinstance(step, RunKernel)]) == count


@pytest.mark.parametrize(
    ("n", "shares", "count"), [(1 << 20, False, 1), ((1 << 20) + 1, False, 2), ((1 << 20) + 1, True, 1)]
)
def test_large_kernels_are_joined_for_what_they_share(n: int, shares: bool, count: int) -> None:
    a, b = (np.array(numpy.arange(n + 1.0)) for _ in range(2))
    other = np.array(numpy.ones(n))
    np.synchronize()

    def write() -> Any:
        a[1:] = other * 2
        b[1:] = other * 2 + 1 if shares else 3.0
        return a, b

    steps = kernels(write)
    assert len(steps) == count
    numpy.testing.assert_array_equal(np.asnumpy(b[1:]), 3)


def test_an_update_waits_for_a_reader_of_the_old_value() -> None:
    """Both rows are written in place, though the first is recorded before what reads the row above it."""
    expected = [numpy.arange(12.0).reshape(4, 3) + k for k in range(2)]

    def sweep(c: Any, d: Any) -> Any:
        for k in range(1, 4):
            pivot = 1 / (2 + c[k - 1])
            c[k] = c[k] * pivot
            d[k] = (d[k] - d[k - 1]) * pivot
        return c, d

    arrays = [np.array(x) for x in expected]
    np.synchronize()
    steps = kernels(lambda: sweep(*arrays))
    sweep(*expected)
    for x, y in zip(arrays, expected, strict=True):
        numpy.testing.assert_array_equal(np.asnumpy(x), y)
    assert [step.kernel.shape for step in steps if isinstance(step, RunKernel)] == [(3,)] * 3


def test_a_kernel_does_not_overwrite_what_it_stores() -> None:
    expected = numpy.arange(12.0).reshape(3, 4)

    def write_sums(a: Any) -> Any:
        for k in range(5):
            a = a * 2 + k  # so long that it is stored, as it is read twice
        a[:, 0] = a.sum(axis=1)
        return a

    steps = kernels(lambda: write_sums(np.array(expected)))
    numpy.testing.assert_array_equal(np.asnumpy(write_sums(np.array(expected))), write_sums(expected))
    assert len([step for step in steps if isinstance(step, RunKernel)]) == 2


@pytest.mark.parametrize("seed", range(40))
def test_random_updates(seed: int) -> None:
    for part in range(8):
        run = updates.program(8 * seed + part)
        expected = [numpy.random.default_rng(seed).integers(-9, 9, shape) for shape in updates.SHAPES]
        arrays = [np.array(x) for x in expected]
        np.synchronize()
        run(expected)
        run(arrays)
        for x, y in zip(arrays, expected, strict=True):
            numpy.testing.assert_array_equal(np.asnumpy(x), y, f"program {8 * seed + part}")


def _ways_to_write(module: Any) -> dict[str, Callable[[Any], None]]:
    """Writes over what the same statement reads, of which it reads a part as a part of a larger array."""

    def by_a_mask(v: Any) -> None:
        v[v > 1] = 2

    def by_a_part_of_a_mask(v: Any) -> None:
        mask, part = v > 1, v[1:6]
        part[mask[1:6]] = 2

    def by_every_second_row_of_a_mask(v: Any) -> None:
        part, mask = v[::2], (v > 1)[::2]
        part[mask] = 2

    def kept_where_a_mask_is_true(v: Any) -> None:
        v[1:6] = module.where((v > 3)[1:6], v[1:6], 2)

    def kept_where_a_mask_is_false(v: Any) -> None:
        v[1:6] = module.where((v < 3)[1:6], 2, v[1:6])

    def clipped_by_itself(v: Any) -> None:
        v[1:6] = module.maximum((v * 2)[1:6], v[1:6]) - v[1:6]

    found = (by_a_mask, by_a_part_of_a_mask, by_every_second_row_of_a_mask, kept_where_a_mask_is_true)
    return {f.__name__: f for f in (*found, kept_where_a_mask_is_false, clipped_by_itself)}


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("shape", [(8, 7), (8, 60, 50)])
@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "f2", "f4", "f8"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("way", _ways_to_write(numpy))
def test_what_is_overwritten_is_read_as_parts_of_two_arrays(way: str, order: Any, dtype: str, shape: Any) -> None:
    np.set_residence("device")
    data = numpy.random.default_rng(0).integers(0, 5, shape).astype(dtype)
    expected, a = numpy.array(data, order=order), np.array(numpy.array(data, order=order), order=order)
    np.synchronize()
    _ways_to_write(numpy)[way](expected)
    _ways_to_write(np)[way](a)
    numpy.testing.assert_array_equal(np.asnumpy(a), expected)
