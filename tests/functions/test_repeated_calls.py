"""Functions that keep what they record: repeated calls, with other numbers, give NumPy's results every time."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy

from ..support.arrays import to_host

TIMES = 5
CALLS: dict[str, Callable[..., Any]] = {
    "joined rows": lambda np, a, b, k: np.concatenate([a, b]),
    "joined columns": lambda np, a, b, k: np.concatenate((a, b, a[:, ::2]), axis=1),
    "joined in memory order": lambda np, a, b, k: np.concatenate([a.T, b.T], -1),
    "joined in two orders": lambda np, a, b, k: np.concatenate([a.T, b], 0),
    "joined flat": lambda np, a, b, k: np.concatenate([a, b[0]], None),
    "joined dtypes": lambda np, a, b, k: np.concatenate([a, b.astype("c8"), (b > 0.5)]),
    "joined expressions": lambda np, a, b, k: np.concatenate([a + k, (b * 2)[1:]]),
    "joined with itself": lambda np, a, b, k: np.concatenate([a, a]),
    "joined parts of joined": lambda np, a, b, k: np.concatenate([np.concatenate([a, b]), np.concatenate([b, a])], 1),
    "as a dtype": lambda np, a, b, k: np.concatenate([a, b], dtype="f4", casting="unsafe"),
    "stacked": lambda np, a, b, k: np.stack([a, b, a + b], k % 3),
    "appended": lambda np, a, b, k: np.append(a[k], b[0]),
    "a gradient": lambda np, a, b, k: np.gradient(a, axis=k % 2),
    "a gradient of integers": lambda np, a, b, k: np.gradient((a * 99).astype("i2"), 2, axis=1, edge_order=2),
    "a gradient in memory order": lambda np, a, b, k: np.gradient(a.T, axis=0),
    "a gradient of a step": lambda np, a, b, k: np.gradient(a[0], (1, 1.0, numpy.float64(1), 2, 2.0)[k]),
    "a gradient of distances": lambda np, a, b, k: np.gradient(a[0], np.cumsum(b[0] + 1)),
    "a gradient of even distances": lambda np, a, b, k: np.gradient(b[0], np.arange(5.0) if k % 2 else np.cumsum(b[1])),
    "a gradient of an expression": lambda np, a, b, k: np.gradient(a[1] * k + b[2]),
}


@pytest.mark.parametrize("name", CALLS)
def test_repeated_calls(name: str) -> None:
    for k in range(TIMES):
        host = numpy.random.default_rng(k).random((2, 5, 5)) + 0.01
        found = CALLS[name](gpunumpy, *map(gpunumpy.asarray, host), k)
        expected = CALLS[name](numpy, *host, k)
        assert (found.dtype, found.shape, found.strides) == (expected.dtype, expected.shape, expected.strides)
        numpy.testing.assert_allclose(to_host(found), expected, rtol=1e-13)


def test_every_call_warns_of_lost_parts() -> None:
    array = gpunumpy.asarray(numpy.ones((3, 4), "c16"))
    for _ in range(TIMES):
        with pytest.warns(numpy.exceptions.ComplexWarning):
            gpunumpy.concatenate([array, array + 1], dtype="f8", casting="unsafe")


def test_every_call_refuses_what_does_not_fit() -> None:
    one, other = (gpunumpy.asarray(numpy.ones(shape)) for shape in ((3, 4), (3, 5)))
    for _ in range(TIMES):
        with pytest.raises(ValueError, match="must match exactly"):
            gpunumpy.concatenate([one, other])
        with pytest.raises(TypeError, match="Cannot cast"):
            gpunumpy.concatenate([one, one > 0], casting="no")


def test_an_array_that_grows() -> None:
    array, expected = gpunumpy.asarray(numpy.zeros(1)), numpy.zeros(1)
    for k in range(40):
        array = gpunumpy.concatenate([array, gpunumpy.asarray(numpy.full(2, k))])
        expected = numpy.concatenate([expected, numpy.full(2, k)])
    numpy.testing.assert_array_equal(to_host(array), expected)


def test_what_is_written_later_is_not_joined() -> None:
    for k in range(TIMES):
        one, other = gpunumpy.asarray(numpy.arange(4.0)), gpunumpy.asarray(numpy.arange(3.0))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            joined = gpunumpy.concatenate([one, other])
        one[:] = k
        joined[0] = -1
        assert to_host(joined).tolist() == [-1, 1, 2, 3, 0, 1, 2]
        assert to_host(one).tolist() == [k] * 4
