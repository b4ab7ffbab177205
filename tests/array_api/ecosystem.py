"""Libraries that are written to the array API standard: the same call on NumPy's arrays and on ours must agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy

import gpunumpy

# What is called: with the namespace, and with what makes its arrays of NumPy's.
Case: TypeAlias = Callable[[Any, Callable[[Any], Any]], Any]


def agree(call: Case, device: str, rtol: float = 1e-9) -> None:
    """Assert that the call gives on arrays of the device what it gives on NumPy's, and as arrays of that device."""
    theirs = list(_flat(call(numpy, lambda x: x.copy())))
    found = list(_flat(call(gpunumpy, lambda x: gpunumpy.asarray(x, device=device))))
    assert len(found) == len(theirs)
    for mine, other in zip(found, theirs):
        if not isinstance(other, numpy.ndarray | numpy.generic):
            assert _plain(mine) == other if isinstance(other, int | str) else abs(_plain(mine) - other) <= 1e-9
            continue
        assert type(mine) is gpunumpy.ndarray
        assert str(mine.device) == device
        assert (mine.shape, mine.dtype) == (other.shape, other.dtype)
        numpy.testing.assert_allclose(gpunumpy.asnumpy(mine), other, rtol, rtol / 10)


def _plain(x: Any) -> Any:
    return x.item() if isinstance(x, gpunumpy.ndarray) else x


def _flat(x: Any) -> Iterable[Any]:
    """The results of a call, one by one."""
    if isinstance(x, list | tuple):
        for item in x:
            yield from _flat(item)
    else:
        yield x
