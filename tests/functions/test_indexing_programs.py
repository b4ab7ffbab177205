"""Random programs of views, reads and writes by every kind of index, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpunumpy
from gpunumpy.core.runtime.device import Device
from gpunumpy.functions.indexing import getitem

from ..support.arrays import from_host, to_host


@st.composite
def keys(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """A key that NumPy takes for an array of the shape; its arrays are NumPy arrays."""
    if shape and draw(st.integers(0, 5)) == 0:
        ndim = draw(st.integers(1, len(shape)))
        return draw(_masks(shape[:ndim]))
    key: list[Any] = []
    picked = draw(st.sampled_from([(), (1,), (3,), (2, 1)]))
    dotted = False
    axis = 0
    while axis < len(shape):
        kinds = ["slice", "slice", "int", "array", "new", "dots", "mask"]
        # After an ellipsis every axis has its item, or those that follow would be of other axes.
        kind = draw(st.sampled_from(kinds if dotted else [*kinds, "stop"]))
        n = shape[axis]
        if kind == "slice":
            bound = st.none() | st.integers(-n - 1, n + 1)
            key.append(slice(draw(bound), draw(bound), draw(st.none() | st.sampled_from([1, 2, -1, -2]))))
        elif kind == "int" and n:
            key.append(draw(st.integers(-n, n - 1)))
        elif kind == "array" and n:
            size = int(numpy.prod(picked))
            index = draw(st.lists(st.integers(-n, n - 1), min_size=size, max_size=size))
            key.append(numpy.array(index, numpy.int64).reshape(picked))
        elif kind == "mask" and picked == () and not any(isinstance(k, numpy.ndarray) for k in key):
            key.append(draw(_masks((n,))))
        elif kind == "stop":
            break
        else:
            if kind == "dots" and not dotted:
                dotted = True
                key.append(Ellipsis)
                axis += draw(st.integers(0, len(shape) - axis))
            elif len(key) < 5:
                key.append(None)
            continue
        axis += 1
    return tuple(key)


def _masks(shape: tuple[int, ...]) -> st.SearchStrategy[numpy.ndarray]:
    size = int(numpy.prod(shape))
    return st.lists(st.booleans(), min_size=size, max_size=size).map(
        lambda bits: numpy.array(bits, bool).reshape(shape)
    )


def to_gpunumpy(key: Any, translate: bool) -> Any:
    """The key with its arrays as gpunumpy arrays, or as lists."""
    if isinstance(key, tuple):
        return tuple(to_gpunumpy(item, translate) for item in key)
    if isinstance(key, numpy.ndarray):
        return from_host(key) if translate else key
    return key


def agree(pairs: list[tuple[Any, Any]]) -> None:
    for a, g in pairs:
        assert g.shape == a.shape
        assert g.dtype == a.dtype
        numpy.testing.assert_array_equal(to_host(g), a)


@given(st.data())
def test_programs(data: st.DataObject) -> None:
    with Device("cpu"):
        shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
        a = numpy.arange(int(numpy.prod(shape)), dtype=data.draw(st.sampled_from(["f8", "i4"]))).reshape(shape)
        pairs: list[tuple[Any, Any]] = [(a, from_host(a))]
        for _ in range(data.draw(st.integers(1, 7))):
            a, g = data.draw(st.sampled_from(pairs))
            key = data.draw(keys(a.shape))
            tested = to_gpunumpy(key, data.draw(st.booleans()))
            part = a[key]
            action = data.draw(st.sampled_from(["view", "scalar", "values", "self", "in place", "look", "expression"]))
            if action == "view" and isinstance(part, numpy.ndarray):
                pairs.append((part, g[tested]))
            elif action == "scalar":
                value = data.draw(st.integers(-9, 9))
                a[key] = value
                g[tested] = value
            elif action == "values":
                values = 100 + numpy.arange(part.size).reshape(part.shape)
                a[key] = values
                g[tested] = from_host(values)
            elif action == "self" and part.ndim:
                axes = tuple(slice(None, None, -1) for _ in part.shape)
                a[key] = a[key][axes]
                g[tested] = g[tested][axes]
            elif action == "in place":
                a[key] += 1
                g[tested] += 1
            elif action == "expression" and a.size:
                a[key] = a[key] * 2 - a.max()
                g[tested] = g[tested] * 2 - gpunumpy.max(g)
            else:
                agree([(numpy.asarray(part), g[tested])])
        agree(pairs)


KEYS: dict[str, Callable[[Any], Any]] = {
    "mask": lambda x: x > 0.5,
    "positions": lambda x: numpy.arange(0, len(x), 2),
    "negative": lambda x: numpy.array([[-1, 0], [2, -3]]),
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.on_device
def test_one_array_as_a_key_is_no_general_key(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that picks by a mask or by positions is bound by what a key takes on the host."""
    data = numpy.linspace(0, 1, 40)
    key = KEYS[name](data)
    x, k = gpunumpy.asarray(data), gpunumpy.asarray(key)
    monkeypatch.setattr(getitem, "resolve_key", None)
    numpy.testing.assert_array_equal(to_host(x[k]), data[key])
    if key.dtype != bool:
        x[k] += 1
        data[key] += 1
        numpy.testing.assert_array_equal(to_host(x), data)
