"""Arrays of this package as outputs of ufuncs, of which the compiled core records most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
import gpunumpy as np
from gpunumpy.core._native import IS_COMPILED

# Outputs of the result's shape and dtype, of which the compiled core records the second and further calls, and others.
OUTPUTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "named": lambda np, x, y: np.add(x, y, out=np.zeros((2, 3))),
    "in a tuple": lambda np, x, y: np.add(x, y, out=(np.zeros((2, 3)),)),
    "by position": lambda np, x, y: np.add(x, y, np.zeros((2, 3))),
    "of one operand": lambda np, x, y: np.sqrt(x, out=np.zeros((2, 3))),
    "of one operand, by position": lambda np, x, y: np.negative(x, np.zeros((2, 3))),
    "a number first": lambda np, x, y: np.subtract(2.0, y, out=np.zeros((2, 3))),
    "a number last": lambda np, x, y: np.multiply(x, 3, out=np.zeros((2, 3))),
    "numbers alone": lambda np, x, y: np.add(1.0, 2.0, out=np.zeros((2, 3))),
    "broadcast": lambda np, x, y: np.add(x, y[0], out=np.zeros((2, 3))),
    "of comparisons": lambda np, x, y: np.less(x, y, out=np.zeros((2, 3), bool)),
    "an operand": lambda np, x, y: np.add(x, y, out=x),
    "both operands": lambda np, x, y: np.multiply(x, x, out=x),
    "a part of an operand": lambda np, x, y: np.add(x[:, :2], 1, out=x[:, 1:]),
    "a row": lambda np, x, y: np.add(x[0], y[1], out=np.zeros((4, 3))[2]),
    "Fortran's order": lambda np, x, y: np.add(x, y, out=np.zeros((2, 3), order="F")),
    "of operands in Fortran's order": lambda np, x, y: np.add(x.T, y.T, out=np.zeros((3, 2))),
    "reversed": lambda np, x, y: np.add(x, y, out=np.zeros((2, 3))[::-1, ::-1]),
    "of no dimension": lambda np, x, y: np.add(x[0, 0], y[0, 0], out=np.zeros(())),
    "of no elements": lambda np, x, y: np.add(x[:0], y[:0], out=np.zeros((0, 3))),
    "larger": lambda np, x, y: np.add(x, y, out=np.zeros((2, 2, 3))),
    "too small": lambda np, x, y: np.add(x, y, out=np.zeros(3)),
    "of another dtype": lambda np, x, y: np.add(x, y, out=np.zeros((2, 3), "f4")),
    "of a dtype that loses": lambda np, x, y: np.add(x, y, out=np.zeros((2, 3), int)),
    "read-only": lambda np, x, y: np.add(x, y, out=_read_only(np.zeros((2, 3)))),
    "overlapping": lambda np, x, y: np.add(x, y, out=np.lib.stride_tricks.as_strided(np.zeros(4), (2, 3), (8, 8))),
    "a list": lambda np, x, y: np.add(x, y, out=[0]),
    "two": lambda np, x, y: np.add(x, y, out=(np.zeros((2, 3)), np.zeros((2, 3)))),
    "twice": lambda np, x, y: np.add(x, y, np.zeros((2, 3)), out=np.zeros((2, 3))),
    "none": lambda np, x, y: np.add(x, y, out=None),
    "none, by position": lambda np, x, y: np.add(x, y, None),
    "with an order": lambda np, x, y: np.add(x, y, out=np.zeros((2, 3)), order="C"),
    "a power": lambda np, x, y: np.power(x, 2, out=np.zeros((2, 3))),
    "of texts": lambda np, x, y: np.add(x, y, out=np.zeros((2, 3), "U3")),
}


def _read_only(x: Any) -> Any:
    x.flags.writeable = False
    return x


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_of_ufuncs(name: str, residence: str) -> None:
    gpunumpy.set_residence(residence)

    def outcome(np: Any) -> Any:
        x, y = np.arange(6.0).reshape(2, 3), np.arange(6.0)[::-1].reshape(2, 3)
        try:
            result = OUTPUTS[name](np, x, y)
        except Exception as error:
            return type(error)
        return (
            numpy.asarray(result).tolist(),
            str(result.dtype),
            result.size and result.strides,
            numpy.asarray(x).tolist(),
        )

    expected = outcome(numpy)
    for _ in range(3):  # the first call is recorded in Python
        assert outcome(gpunumpy) == expected


@pytest.mark.skipif(not IS_COMPILED, reason="the compiled core records the call")
@pytest.mark.on_device
@pytest.mark.parametrize(
    "call", [lambda x, z: np.add(x, 3, out=z), lambda x, z: np.sin(x, z), lambda x, z: np.less(2, x, out=z > z)]
)
def test_calls_with_an_output_are_recorded_by_the_core(
    call: Callable[[Any, Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    x, z = np.arange(5.0), np.zeros(5)
    expected = call(x, z).tolist()

    def in_python(*args: Any, **options: Any) -> None:
        raise AssertionError("the call reached Python")

    monkeypatch.setattr(type(np.add), "_call_with_any", in_python)
    assert call(x, z).tolist() == expected
