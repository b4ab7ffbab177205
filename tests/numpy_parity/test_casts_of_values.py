"""Values that a dtype does not hold: nothing warns by default in either residence, and what is asked for is NumPy's."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy

VALUES = {
    "beyond float32": 1e39,
    "beyond float16": numpy.float64(-7e4),
    "NaN": float("nan"),
    "a NaN of NumPy": numpy.float32("nan"),
    "infinity": -float("inf"),
    "beyond float64": numpy.longdouble("1e400"),
    "a complex number": numpy.complex128(complex(1e39, 1)),
}
DTYPES = ("i1", "u8", "f2", "f4", "c8", "g")


def _written(write: Callable[..., Any]) -> Callable[..., Any]:
    """Return a call that writes a value to an array of a dtype, and returns the array."""

    def run(np: Any, value: Any, dtype: str) -> Any:
        array = np.ones(3, dtype)
        write(np, array, value)
        return array

    return run


CALLS: dict[str, Callable[..., Any]] = {
    "array": lambda np, v, dtype: np.array([v, 1], dtype),
    "array of an array": lambda np, v, dtype: np.array(np.array([v]), dtype),
    "asarray of NumPy's": lambda np, v, dtype: np.asarray(numpy.array([v]), dtype=dtype),
    "asfortranarray": lambda np, v, dtype: np.asfortranarray([[v]], dtype),
    "full": lambda np, v, dtype: np.full(2, v, dtype),
    "full of a list": lambda np, v, dtype: np.full((2, 2), [v, v], dtype=dtype),
    "full_like": lambda np, v, dtype: np.full_like(np.ones(2, dtype), v),
    "full_like of a shape": lambda np, v, dtype: np.full_like(np.ones(2, dtype), v, shape=(2, 2)),
    "fromiter": lambda np, v, dtype: np.fromiter([v, v], dtype),
    "astype": lambda np, v, dtype: np.array([v, 1]).astype(dtype),
    "concatenate": lambda np, v, dtype: np.concatenate([np.array([v])] * 2, dtype=dtype, casting="unsafe"),
    "an element": _written(lambda np, a, v: a.__setitem__(0, v)),
    "all elements": _written(lambda np, a, v: a.__setitem__(slice(None), v)),
    "a list": _written(lambda np, a, v: a.__setitem__(slice(None), [v] * 3)),
    "elements of an index": _written(lambda np, a, v: a.__setitem__([0, 1], v)),
    "elements of a mask": _written(lambda np, a, v: a.__setitem__(a == a, v)),
    "fill": _written(lambda np, a, v: a.fill(v)),
    "copyto": _written(lambda np, a, v: np.copyto(a, v, casting="unsafe")),
    "put": _written(lambda np, a, v: np.put(a, [0, 1], v)),
    "putmask": _written(lambda np, a, v: np.putmask(a, [True, False, True], v)),
    "the real parts": _written(lambda np, a, v: setattr(a, "real", v)),
    "insert": lambda np, v, dtype: np.insert(np.ones(3, dtype), 1, v),
    "pad": lambda np, v, dtype: np.pad(np.ones(3, dtype), 1, constant_values=v),
    "initial": lambda np, v, dtype: np.ones(3, dtype).sum(initial=v),
    "an addend": lambda np, v, dtype: np.ones(3, dtype) + v,
    "the end of a range": lambda np, v, dtype: np.linspace(0, v, 3, dtype=dtype),
    "a step of a range": lambda np, v, dtype: np.arange(0, 1e39, 5e38, dtype=dtype),
    "the range of a histogram": lambda np, v, dtype: np.histogram(np.ones(3, dtype), range=(0, v)),
    "a fill value": lambda np, v, dtype: np.ma.array(np.ones(3, dtype), mask=[1, 0, 1]).filled(v).shape,
}
RESIDENCES = ("auto", "device")


@pytest.fixture(autouse=True, params=RESIDENCES)
def of_residence(request: pytest.FixtureRequest, residence: None) -> Iterator[None]:
    before = gpunumpy.set_residence(request.param)
    yield
    gpunumpy.set_residence(before)


def outcome(np: Any, call: Callable[..., Any], value: Any, dtype: str) -> str:
    """The name of the error that a call raises; "" if it raises none."""
    try:
        result = call(np, value, dtype)
        if hasattr(result, "get"):
            result.get()
    except Exception as error:
        return type(error).__name__
    return ""


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_nothing_warns_by_default(call: Callable[..., Any], value: Any) -> None:
    for dtype in DTYPES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = outcome(numpy, call, value, dtype)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            assert outcome(gpunumpy, call, value, dtype) == expected, dtype
        assert not [str(found.message) for found in told if found.category is RuntimeWarning], dtype


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", [v for v in VALUES.values() if not isinstance(v, complex)], ids=str)
@pytest.mark.parametrize("name", ["array", "full", "full of a list", "full_like", "full_like of a shape", "fromiter"])
def test_what_is_asked_for_raises(name: str, value: Any) -> None:
    for dtype in DTYPES:
        with numpy.errstate(all="ignore", over="raise", invalid="raise"):
            expected = outcome(numpy, CALLS[name], value, dtype)
        with gpunumpy.errstate(all="ignore", over="raise", invalid="raise"):
            assert outcome(gpunumpy, CALLS[name], value, dtype) == expected, dtype
