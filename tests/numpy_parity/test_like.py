"""The argument `like` of functions that make arrays: whose arrays they make."""

from __future__ import annotations

import inspect
from typing import Any

import numpy
import pytest

import gpunumpy as np

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "arange": (3,),
    "array": ([1, 2],),
    "asanyarray": ([1, 2],),
    "asarray": ([1, 2],),
    "ascontiguousarray": ([1, 2],),
    "asfortranarray": ([1, 2],),
    "empty": ((0, 2),),
    "eye": (2,),
    "frombuffer": (b"1234", "i2"),
    "fromfunction": (lambda i, j: i + j, (2, 3)),
    "fromiter": (range(3), int),
    "fromstring": ("1 2", float, 2),
    "full": (3, 7),
    "identity": (2,),
    "ones": ((2, 3),),
    "require": ([1, 2],),
    "tri": (3,),
    "zeros": (3,),
}
OPTIONS = {"fromstring": {"sep": " "}}


class Recorder:
    """An array of another library."""

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return function, tuple(types), args, options


class Refusing:
    def __array_function__(self, *_: Any) -> Any:
        return NotImplemented


def takes_like(function: Any) -> bool:
    try:
        return "like" in inspect.signature(function).parameters
    except ValueError:  # before 2.4, NumPy tells none of some functions in C, which run on the host
        return False


def test_every_function_with_the_argument_is_tested() -> None:
    assert callable(np.packbits)  # one of these, if another test has not looked at it
    found = {
        name: value for name, value in list(vars(np).items()) if hasattr(value, "__code__") and name in vars(numpy)
    }
    own = {name: value for name, value in found.items() if not value.__code__.co_filename.endswith("fallback.py")}
    assert {name for name, function in own.items() if takes_like(function)} == set(ARGUMENTS)


def call(xp: Any, name: str, like: Any) -> Any:
    return getattr(xp, name)(*ARGUMENTS[name], **OPTIONS.get(name, {}), like=like)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_whose_array_is_made(name: str) -> None:
    expected = call(numpy, name, None)
    for like, kind in ((None, np.ndarray), (np.zeros(1), np.ndarray), (numpy.zeros(1), numpy.ndarray)):
        made = call(np, name, like)
        assert type(made) is kind
        numpy.testing.assert_array_equal(np.asnumpy(made), expected, strict=True)
    assert call(np, name, Recorder()) == call(numpy, name, Recorder())
    assert isinstance(call(numpy, name, np.zeros(1)), np.ndarray)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_like_a_masked_array(name: str) -> None:
    made, expected = (call(xp, name, xp.ma.array([1])) for xp in (np, numpy))
    assert (type(made), type(expected)) == (np.ndarray, numpy.ndarray)
    numpy.testing.assert_array_equal(np.asnumpy(made), expected, strict=True)
    if name in ("array", "asarray", "asanyarray"):
        masked = np.ma.array([1, 2], mask=[False, True])
        made = getattr(np, name)(masked, like=masked)
        assert isinstance(made, np.ma.MaskedArray) == (name == "asanyarray")
        numpy.testing.assert_array_equal(np.asnumpy(getattr(made, "data", made)), [1, 2])


@pytest.mark.parametrize("name", ARGUMENTS)
def test_what_is_no_array(name: str) -> None:
    with pytest.raises(TypeError) as expected:
        call(numpy, name, 3)
    with pytest.raises(TypeError) as found:
        call(np, name, 3)
    assert str(found.value) == str(expected.value)
    with pytest.raises(TypeError, match=f"no implementation found for 'numpy.{name}' on types that implement"):
        call(np, name, Refusing())
