"""Results that own their memory in NumPy own it here, so that they can be resized."""

from __future__ import annotations

import copy
import operator
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy

from .calls import CALLS
from .parity import same

MORE = (
    *('m.flatten("F")', 'm.ravel("F")', "m.T.ravel()", '(m + 1).flatten("F")', "np.repeat(m, 2, 1)", "m.T.flatten()"),
    *("pickle.loads(pickle.dumps(m.T))", "copy.deepcopy(m.T)", "m.T.copy()", "np.ravel(m.T)", "np.vander(x, 3)"),
)


DECOMPOSITIONS = ("np.linalg.svd(m)", "np.linalg.qr(m)", "np.linalg.eigh(q)", "np.linalg.eig(q)", "np.linalg.inv(q)")


def arrays_in(x: Any) -> Iterator[Any]:
    if isinstance(x, (gpunumpy.ndarray, numpy.ndarray)):
        yield x
    elif isinstance(x, (list, tuple)):
        for part in x:
            yield from arrays_in(part)


def results(np: Any, call: str) -> list[Any]:
    """The arrays with dimensions that a call returns."""
    x = np.arange(1.0, 7.0)
    names = {
        "np": np,
        "numpy": numpy,
        "t": x.dtype,
        "copy": copy,
        "operator": operator,
        "pickle": pickle,
        "x": x.copy(),
        "y": x[::-1].copy(),
        "m": np.arange(1.0, 13.0).reshape(3, 4).copy(),
        "q": np.arange(1.0, 10.0).reshape(3, 3).copy(),
        "one": np.ones(1),
        "zero": np.array(1.0),
        "none": np.zeros(0),
        "b": np.array([True, False] * 3),
        "i": np.array([5, 0, 2, 2, 1, 3]),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return [array for array in arrays_in(eval(call, names)) if array.ndim]
        except Exception:
            return []


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("name", [*CALLS, ""])
def test_results_that_own_their_memory(name: str, residence: str) -> None:
    gpunumpy.set_residence(residence)
    for call in CALLS.get(name, MORE + DECOMPOSITIONS):
        for found, expected in zip(results(gpunumpy, call), results(numpy, call)):
            if expected.base is None and isinstance(found, gpunumpy.ndarray):
                assert found.base is None, call
                assert found.flags.owndata, call


@pytest.mark.parametrize("call", ["m.flatten()", "np.repeat(m, 2, 1)", "m.copy()", *MORE])
def test_results_are_resized(call: str) -> None:
    gpunumpy.set_residence("device")
    for found, expected in zip(results(gpunumpy, call), results(numpy, call), strict=True):
        if not (expected.flags.c_contiguous and found.flags.c_contiguous):
            continue
        for shape in ((5, 7), (2, 2)):
            found.resize(shape)
            expected.resize(shape, refcheck=False)
            same(found.get(), expected)
