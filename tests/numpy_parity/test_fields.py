"""`getfield` and `setfield` of arrays on a device beside NumPy: views, dtypes, offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np

FIELDS = ("i4", "f4", "u1", "i2", "?", "f8", None, "x", "S2", ">i2", "c8")
OFFSETS = (0, 1, 2, 4, 8, -1, 1.5)


def views(x: Any) -> Iterator[Any]:
    """Yield an array and views of it."""
    yield from (x, x[1:], x[::-1], x.T, x[1], x[:0], x[:, ::2], x[..., 0, 0])
    if x.dtype.kind == "c":
        yield from (x.real, x.imag[:, 1:])
    yield from (x.view("u1")[:, ::2], x.view("i2"))


def outcome(function: Callable[[], Any]) -> Any:
    """The result of a call, or the type and the text of its error."""
    try:
        return function()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("number", range(12))
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "c16", "c8"])
def test_fields(dtype: str, number: int, pending: bool) -> None:
    data = (numpy.arange(12).reshape(3, 4) * 7).astype(dtype)
    for field in FIELDS:
        np.host_fallback("ignore" if field in ("S2", ">i2") else "error")
        for offset in OFFSETS:
            reference, tested = data.copy(), np.asarray(data)
            tested = tested + numpy.array(0, dtype) if pending else tested
            h, a = (list(views(x)) for x in (reference, tested))
            if number >= len(h):
                return
            x, y = h[number], a[number]
            expected, found = (outcome(lambda z=z: z.getfield(field, offset)) for z in (x, y))  # noqa: B023
            if isinstance(expected, tuple):
                assert found == expected
            else:
                assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
                assert found.dtype == bool or found.get().tobytes() == expected.tobytes()
                assert found.tolist() == expected.tolist() or numpy.isnan(expected).any()
            expected, found = (outcome(lambda z=z: z.setfield(3, field, offset)) for z in (x, y))  # noqa: B023
            assert found == expected
            assert tested.get().tobytes() == reference.tobytes(), (field, offset)


@pytest.mark.on_device
def test_a_field_shares_memory_where_it_can() -> None:
    np.host_fallback("error")
    x = np.arange(4.0)
    high = x.getfield("i4", 4)
    high[1] = 0
    assert x.tolist() == [0, 0, 2, 3]
    assert np.shares_memory(x, high)
    apart = x.getfield("i4", 2)
    with pytest.raises(ValueError, match="read-only"):
        apart[0] = 1
    x.flags.writeable = False
    assert not x.getfield("i4").flags.writeable
    for n in (np, numpy):
        with pytest.raises(ValueError, match="read-only"):
            x.setfield(1, "i4")
        with pytest.raises(TypeError, match="non-void array scalar"):
            n.float64(3).setfield(1, "i4") if n is numpy else n.sum(n.ones(2)).setfield(1, "i4")


def test_bytes_between_fields_are_those_of_the_memory() -> None:
    layout = numpy.dtype({"names": ["a", "b"], "formats": ["u1", "f8"], "offsets": [0, 56], "itemsize": 64})
    for _ in range(20):
        numpy.full(64, 0xFF, "u1")  # what a copy would be made in
        assert np.zeros(1, layout).tobytes() == bytes(64)
