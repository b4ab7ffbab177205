"""The memory order of what is made of an array that is in C order, whatever its value was made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy import Device
from gpunumpy.core.recording.array import from_host

X = numpy.random.default_rng(0).permutation(numpy.arange(12.0)).reshape(3, 4)


def assigned(xp: Any, x: Any) -> Any:
    a = xp.empty((4, 3))
    a[...] = (x + 1).T
    return a


def added_to(xp: Any, x: Any) -> Any:
    a = xp.ones((4, 3))
    a += (x + 1).T
    return a


def copied_to(xp: Any, x: Any) -> Any:
    a = xp.empty((4, 3))
    xp.copyto(a, (x + 1).T)
    return a


# Arrays in C order, whose values are views of others, which nobody else has.
ARRAYS: dict[str, Callable[[Any, Any], Any]] = {
    "zeros": lambda xp, x: xp.zeros((4, 3)),
    "numbers": lambda xp, x: xp.full((4, 3), 2.5),
    "a copy of a transpose": lambda xp, x: (x + 1).T.copy(),
    "a transpose in C order": lambda xp, x: xp.ascontiguousarray((x + 1).T),
    "an array of a transpose": lambda xp, x: xp.array((x + 1).T, order="C"),
    "a transpose of another shape": lambda xp, x: (x + 1).T.flatten().reshape(4, 3),
    "axes that moved": lambda xp, x: xp.moveaxis(xp.stack([x, x]), 0, 2).copy(),
    "repeated columns": lambda xp, x: xp.broadcast_to((x + 1)[:, :1], (3, 4)).copy(),
    "repeated rows": lambda xp, x: xp.broadcast_to((x + 1)[0], (3, 4)).copy(),
    "columns backwards": lambda xp, x: (x + 1)[:, ::-1].copy(),
    "assigned": assigned,
    "added to": added_to,
    "copied to": copied_to,
    "written by a ufunc": lambda xp, x: xp.add((x + 1).T, 1, out=xp.ones((4, 3))),
    "columns in order": lambda xp, x: xp.sort(x, axis=0),
    "the order of columns": lambda xp, x: xp.argsort(x, axis=0),
    "columns in parts": lambda xp, x: xp.partition(x, 1, axis=0),
    "repeated elements": lambda xp, x: xp.repeat(x, xp.asarray([1, 2, 0, 1]), axis=1),
    "a border of the nearest": lambda xp, x: xp.pad(x, ((0, 0), (0, 1)), mode="edge"),
    "a border of the others": lambda xp, x: xp.pad(x, ((0, 0), (0, 1)), mode="wrap"),
    "choices": lambda xp, x: xp.select([x.T.copy().T > 1], [x], 0),
}

RESULTS: dict[str, Callable[[Any, Any], Any]] = {
    "of a number": lambda xp, a: a * 2,
    "of one operand": lambda xp, a: xp.negative(a),
    "of two": lambda xp, a: a + a,
    "beside Fortran order": lambda xp, a: a + xp.ones(a.shape[::-1]).T.copy("F"),
    "a copy": lambda xp, a: a.copy("K"),
    "like it": lambda xp, a: xp.zeros_like(a),
}


@pytest.mark.parametrize("made", ARRAYS)
@pytest.mark.parametrize("result", RESULTS)
def test_strides_of_results(made: str, result: str, device: str) -> None:
    with Device(device):
        found = RESULTS[result](np, ARRAYS[made](np, from_host(X)))
        reference = RESULTS[result](numpy, ARRAYS[made](numpy, X))
        assert found.strides == reference.strides
        numpy.testing.assert_array_equal(found.get(), reference)


@pytest.mark.parametrize("made", ARRAYS)
def test_writes_through_a_flat_view_of_a_result(made: str, device: str) -> None:
    with Device(device):
        found, reference = ARRAYS[made](np, from_host(X)) * 2, ARRAYS[made](numpy, X) * 2
        found.ravel()[::3] = 100
        reference.ravel()[::3] = 100
        numpy.testing.assert_array_equal(found.get(), reference)


# Functions whose results lie in memory as their argument does.
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "diff": lambda xp, x: xp.diff(x),
    "diff along the first axis": lambda xp, x: xp.diff(x, n=2, axis=0, prepend=0),
    "gradient": lambda xp, x: xp.gradient(x)[0],
    "gradient by distances": lambda xp, x: xp.gradient(x, xp.arange(float(x.shape[-1])) ** 2, axis=-1, edge_order=2),
    "gradient of integers": lambda xp, x: xp.gradient(x.astype(int), axis=1),
    "trapezoid": lambda xp, x: xp.trapezoid(x, axis=0),
    "unwrap": lambda xp, x: xp.unwrap(x, period=2),
    "unwrap along the first axis": lambda xp, x: xp.unwrap(x, axis=0),
    "angle": lambda xp, x: xp.angle(x * 1j + 1),
    "the real parts of a pending value": lambda xp, x: (x * 1j + 2).real + 1,
    "the imaginary parts of columns": lambda xp, x: (x * 1j)[:, 1:].imag + 1,
    "argwhere": lambda xp, x: xp.argwhere(x > 4),
}
ARGUMENTS: dict[str, Callable[[Any, Any], Any]] = {
    "in C order": lambda xp, x: x + 1,
    "in Fortran order": lambda xp, x: xp.asfortranarray(x),
    "a pending transpose": lambda xp, x: (x + 1).T,
    "columns in Fortran order": lambda xp, x: xp.asfortranarray(x)[:, :3],
    "three axes": lambda xp, x: xp.stack([x, -x, x + 2]).transpose(2, 0, 1),
    "backwards": lambda xp, x: x.T[::-1],
}


@pytest.mark.parametrize("argument", ARGUMENTS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_strides_of_functions(function: str, argument: str, device: str) -> None:
    with Device(device):
        found = FUNCTIONS[function](np, ARGUMENTS[argument](np, from_host(X)))
        reference = FUNCTIONS[function](numpy, ARGUMENTS[argument](numpy, X))
        assert found.strides == reference.strides
        numpy.testing.assert_allclose(found.get(), reference, rtol=1e-13)
