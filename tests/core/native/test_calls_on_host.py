"""Calls on small arrays that run none of this package's functions in Python, and give what NumPy gives."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core._native import IS_COMPILED
from gpunumpy.functions import host_call

PACKAGE = str(Path(np.__file__).parent)
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "nonzero": lambda library, x: library.nonzero(x > 2),
    "method nonzero": lambda library, x: (x > 2).nonzero(),
    "where": lambda library, x: library.where(x[0] > 2),
    "flatnonzero": lambda library, x: library.flatnonzero(x),
    "columns": lambda library, x: x[:, library.asarray([2, 0])],
    "square root of a float": lambda library, x: library.sqrt(2.0),
    "ufunc of two floats": lambda library, x: library.maximum(0.25, -0.0),
    "predicate of a float": lambda library, x: library.isnan(2.5),
    "ufunc of a float and a scalar": lambda library, x: library.hypot(numpy.float32(3), 4.0),
    "str": lambda library, x: str(x.sum()),
    "format": lambda library, x: f"{x.sum():.3f}",
}


@pytest.fixture(autouse=True)
def auto() -> Iterator[None]:
    before = np.set_residence("auto")
    yield
    np.set_residence(before)


def _same(result: Any, expected: Any) -> None:
    """Compare results, also those in a tuple; arrays have to be writeable."""
    assert isinstance(result, tuple) == isinstance(expected, tuple)
    for found, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (result, expected)), strict=True):
        if isinstance(other, str):
            assert found == other
            continue
        assert (type(found), found.residence, found.base) == (np.ndarray, "host", None)
        assert found.dtype == other.dtype
        assert found.flags.writeable == other.flags.writeable
        numpy.testing.assert_array_equal(found, other)


def _files_called(call: Callable[[], Any]) -> list[str]:
    """Return the files of this package with the functions in Python that a call runs."""
    files: list[str] = []
    sys.setprofile(lambda frame, *_: files.append(frame.f_code.co_filename))
    try:
        call()
    finally:
        sys.setprofile(None)
    return [name for name in files if name.startswith(PACKAGE)]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_core_alone_makes_calls_and_what_they_return(call: Callable[[Any, Any], Any]) -> None:
    data = numpy.arange(6.0).reshape(2, 3)
    mine = np.asarray(data)
    result = call(np, mine)  # the first call imports
    _same(result, call(numpy, data))
    assert not IS_COMPILED or not _files_called(lambda: call(np, mine))


WRITES: list[tuple[Any, Any]] = [
    ([1, 3], 2.5),
    ([1, 1], [0.5, 1.5]),
    ([True, False, True, False, True], -1),
    ([-1, 0], numpy.arange(2)),
    ([0, 2], numpy.float32(0.1)),
]
WRONG_WRITES: list[tuple[Any, Any]] = [
    ([2, 5], 0.0),
    ([0, 1], [1.0, 2.0, 3.0]),
    ([True, False], 1.0),
    ([0.0, 1.0], 1.0),
]


@pytest.mark.parametrize(("key", "value"), WRITES)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "?"])
def test_the_core_alone_writes_at_positions_and_masks(key: Any, value: Any, dtype: str) -> None:
    data = numpy.arange(5).astype(dtype)
    mine = np.asarray(data)
    view, where = mine[::-1], np.asarray(key)
    given = np.asarray(value) if isinstance(value, numpy.ndarray) else value
    assert not IS_COMPILED or not _files_called(lambda: mine.__setitem__(where, given))
    mine[where] = given
    data[numpy.asarray(key)] = value
    numpy.testing.assert_array_equal(view, data[::-1])


@pytest.mark.parametrize(("key", "value"), WRONG_WRITES)
def test_wrong_positions_and_masks_are_numpys_errors(key: Any, value: Any) -> None:
    data = numpy.arange(5.0)
    mine = np.asarray(data)
    with pytest.raises((IndexError, ValueError)) as expected:
        data[numpy.asarray(key)] = value
    with pytest.raises(expected.type) as error:
        mine[np.asarray(key)] = value
    assert str(error.value) == str(expected.value)
    numpy.testing.assert_array_equal(mine, data)


def test_positions_of_arrays_that_are_read_only_are_not_written() -> None:
    mine = np.arange(5)
    mine.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        mine[np.asarray([1, 2])] = 0
    assert mine.tolist() == [0, 1, 2, 3, 4]


RANDOM: dict[str, Callable[[Any, Any], Any]] = {
    "shuffle": lambda rng, x: rng.shuffle(x),
    "shuffle a column": lambda rng, x: rng.shuffle(x[:, 1]),
    "permutation": lambda rng, x: rng.permutation(x),
    "choice": lambda rng, x: rng.choice(x[1]),
    "choices": lambda rng, x: rng.choice(x[1], 2, False),
}


@pytest.mark.parametrize("seeded", ["default_rng", "RandomState"])
@pytest.mark.parametrize("call", RANDOM.values(), ids=RANDOM)
def test_numpy_permutes_the_memory_of_small_arrays(
    call: Callable[[Any, Any], Any], seeded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = numpy.arange(12.0).reshape(4, 3)
    mine = np.asarray(data)
    rng, other = (getattr(xp.random, seeded)(3) for xp in (np, numpy))
    monkeypatch.delattr(host_call.HostCall, "arguments")  # that copies arrays
    result, expected = call(rng, mine), call(other, data)
    numpy.testing.assert_array_equal(mine, data)
    if expected is None:
        assert result is None
    else:
        _same(result, numpy.asarray(expected)[()])
        assert not np.shares_memory(result, mine)


def test_what_may_not_be_shuffled_is_numpys_error() -> None:
    mine = np.arange(5.0)
    mine.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        np.random.default_rng(0).shuffle(mine)
    with pytest.raises(TypeError, match="unsized"):
        np.random.default_rng(0).shuffle(np.zeros(()))


@pytest.mark.parametrize("value", [True, 3, -2.5, 1j, numpy.float32(0.1)])
def test_hashes_of_scalars(value: Any) -> None:
    assert {np.asarray([value])[0]: "found"}[numpy.asarray([value])[0]] == "found"
    with pytest.raises(TypeError, match="unhashable"):
        hash(np.asarray(value))
