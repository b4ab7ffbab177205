"""Libraries written to the array API standard: the same call on NumPy arrays and on gpunumpy arrays must agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy

import gpunumpy

# What is called: with the namespace, and with the function that makes its arrays of NumPy arrays.
Case: TypeAlias = Callable[[Any, Callable[[Any], Any]], Any]


def agree(call: Case, device: str, rtol: float = 1e-9) -> None:
    """Assert that the call gives on the device's arrays what it gives on NumPy arrays, as arrays of that device."""
    reference = list(_flat(call(numpy, lambda x: x.copy())))
    found = list(_flat(call(gpunumpy, lambda x: gpunumpy.asarray(x, device=device))))
    assert len(found) == len(reference)
    for tested, other in zip(found, reference):
        if not isinstance(other, numpy.ndarray | numpy.generic):
            assert _plain(tested) == other if isinstance(other, int | str) else abs(_plain(tested) - other) <= 1e-9
            continue
        assert type(tested) is gpunumpy.ndarray
        assert str(tested.device) == device
        assert (tested.shape, tested.dtype) == (other.shape, other.dtype)
        numpy.testing.assert_allclose(gpunumpy.asnumpy(tested), other, rtol, rtol / 10)


def _plain(x: Any) -> Any:
    return x.item() if isinstance(x, gpunumpy.ndarray) else x


def _flat(x: Any) -> Iterable[Any]:
    """The results of a call, one by one."""
    if isinstance(x, list | tuple):
        for item in x:
            yield from _flat(item)
    else:
        yield x
