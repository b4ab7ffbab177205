"""Draws of few random numbers: NumPy's own, and made without functions of Python but for the stream's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core._native import IS_COMPILED
from gpunumpy.random import device_draws

DRAWS: dict[str, Callable[[Any], Any]] = {
    "a number": lambda g: g.random(),
    "a size": lambda g: g.normal(size=3),
    "a shape": lambda g: g.normal(0.0, numpy.float64(2), (2, 3)),
    "no size": lambda g: g.exponential(2.0, None),
    "no elements": lambda g: g.random((0, 5)),
    "no dimensions": lambda g: g.random(()),
    "a dtype": lambda g: g.random(4, dtype=numpy.float32),
    "integers": lambda g: g.integers(0, 9, 10),
    "a permutation": lambda g: g.permutation(5),
}
LEGACY_DRAWS: dict[str, Callable[[Any], Any]] = {
    "a number": lambda g: g.rand(),
    "a shape as arguments": lambda g: g.rand(2, 3),
    "a size": lambda g: g.normal(size=3),
    "integers": lambda g: g.randint(0, 9, 10),
    "choice": lambda g: g.choice(5, 3),
}
ERRORS: dict[str, Callable[[Any], Any]] = {
    "a negative size": lambda g: g.normal(size=-1),
    "a negative scale": lambda g: g.normal(0, -1.0, 3),
    "a float as size": lambda g: g.normal(size=2.5),
    "too many arguments": lambda g: g.normal(1, 2, 3, 4),
    "an unknown option": lambda g: g.normal(size=3, extent=4),
}


def _alike(found: Any, expected: Any) -> None:
    if not isinstance(expected, numpy.ndarray):
        assert type(found) is type(expected)
    else:
        assert type(found) is np.ndarray
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    numpy.testing.assert_array_equal(np.asnumpy(found), expected)


def called_by(function: Callable[[], Any]) -> list[str]:
    """Return the names of Python's functions that a call runs, but for the function itself."""
    names: list[str] = []
    previous = sys.getprofile()
    sys.setprofile(lambda frame, event, _: names.append(frame.f_code.co_name) if event == "call" else None)
    try:
        function()
    finally:
        sys.setprofile(previous)
    return [name for name in names if name != "<lambda>"]


@pytest.mark.parametrize("name", DRAWS)
def test_few_numbers_of_a_generator(name: str) -> None:
    tested, reference = np.random.default_rng(3), numpy.random.default_rng(3)
    for _ in range(2):
        _alike(DRAWS[name](tested), DRAWS[name](reference))
    assert tested.bit_generator.state == reference.bit_generator.state


@pytest.mark.parametrize("name", LEGACY_DRAWS)
def test_few_numbers_of_the_first_generator(name: str) -> None:
    tested, reference = np.random.RandomState(3), numpy.random.RandomState(3)
    for _ in range(2):
        _alike(LEGACY_DRAWS[name](tested), LEGACY_DRAWS[name](reference))


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_numpy(name: str) -> None:
    tested, reference = np.random.default_rng(3), numpy.random.default_rng(3)
    with pytest.raises(Exception) as expected:
        ERRORS[name](reference)
    with pytest.raises(expected.type) as found:
        ERRORS[name](tested)
    assert str(found.value) == str(expected.value)
    _alike(tested.random(3), reference.random(3))  # the lock is free, and the stream where it was


class _Lock:
    """A lock that fails to be released."""

    def acquire(self) -> None:
        return None

    __enter__ = acquire

    def release(self) -> None:
        raise KeyboardInterrupt("in the release")

    def __exit__(self, *_: object) -> None:
        self.release()


@pytest.mark.parametrize(("scale", "error"), [(-1.0, ValueError), (1.0, KeyboardInterrupt)])
@pytest.mark.skipif(not IS_COMPILED, reason="of the compiled core")
def test_the_first_exception_is_kept_where_the_lock_fails_too(
    scale: float, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    generator: Any = np.random.default_rng(0)
    monkeypatch.setattr(generator._stream, "lock", _Lock())
    with pytest.raises(error):
        generator.normal(0.0, scale, 3)


@pytest.mark.skipif(not IS_COMPILED, reason="of the compiled core")
def test_no_function_of_python_draws() -> None:
    generator, first = np.random.default_rng(0), np.random.RandomState(0)
    before = np.set_residence("auto")
    try:
        for _ in range(2):  # the default device is found at first
            called = [called_by(lambda: generator.normal(size=3)), called_by(lambda: first.normal(size=3))]
    finally:
        np.set_residence(before)
    assert called == [["synchronize"], ["lock", "synchronize"]]


def test_the_device_draws_from_its_least_count_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the core draws is bounded by the variable of the module, as tests of devices have it."""
    generator = np.random.default_rng(0)
    monkeypatch.setattr(device_draws, "MIN_COUNT", 3)
    counts: list[int] = []
    monkeypatch.setattr(device_draws.Target, "is_for_device", lambda self, draw="": counts.append(self.count))
    for count in (2, 3, 4):
        generator.normal(size=count)
    assert counts == [3, 4]
