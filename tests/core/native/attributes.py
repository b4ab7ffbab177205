"""Prints what the attributes of arrays tell in all states, and what it raises to write them, for both cores."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy

import gpunumpy

READ_ONLY = ("base", "device", "itemsize", "nbytes", "ndim", "residence", "size")
WRITABLE = ("dtype", "shape", "strides")
NAMES = (*READ_ONLY, *WRITABLE)
OF_NUMPY = ("dtype", "itemsize", "nbytes", "ndim", "shape", "size", "strides")


class Own(gpunumpy.ndarray):
    """A subclass with attributes of its own, which decide nothing about the others."""

    size = itemsize = ndim = -1  # type: ignore[assignment]


def _record(library: Any) -> Any:
    return library.asarray(numpy.zeros(3, [("a", "i4"), ("b", "f8", (2,))]))


# Each makes an array of a library.
STATES: dict[str, Callable[[Any], Any]] = {
    "owner": lambda np: np.ones((3, 4)),
    "pending": lambda np: np.ones((3, 4)) + 1,
    "in Fortran's order": lambda np: np.ones((3, 4), order="F"),
    "pending in Fortran's order": lambda np: np.ones((3, 4), order="F") + 1,
    "without dimensions": lambda np: np.array(2.0),
    "scalar": lambda np: np.ones(3).sum(),
    "scalar of longlong": lambda np: np.ones(3, np.longlong).max(),
    "half scalar": lambda np: np.ones(3, np.float16).max(),
    "part": lambda np: np.ones((6, 5), np.int16)[1::2, ::-1],
    "column": lambda np: np.ones((6, 5), np.int16)[:, 2],
    "element": lambda np: np.ones((6, 5), np.int16)[2, 2],
    "transposed": lambda np: np.ones((2, 3, 4), np.float32).transpose(1, 2, 0),
    "repeated": lambda np: np.broadcast_to(np.ones((1, 3)), (4, 3)),
    "real parts": lambda np: np.ones((3, 4), complex).real,
    "imaginary parts of a part": lambda np: np.ones((3, 4), np.complex64)[::2].imag,
    "of another dtype": lambda np: np.ones((3, 4)).view(np.int32),
    "as booleans": lambda np: np.ones(3, np.int8).view(bool),
    "without elements": lambda np: np.ones((3, 0, 4)),
    "no part": lambda np: np.ones((3, 4))[:, 2:2],
    "part without elements": lambda np: np.ones((3, 0, 4))[::2],
    "shape of no elements": lambda np: np.ones((3, 0)).reshape(0, 5),
    "of 17 dimensions": lambda np: np.ones((1,) * 17 + (3,)) + 1,
    "17 dimensions of a part": lambda np: np.ones((1,) * 17 + (3,))[..., ::2],
    "longlong": lambda np: np.ones(3, np.longlong) + 1,
    "unsigned longlong": lambda np: np.ones(3, np.ulonglong),
    "objects": lambda np: np.array([1, None, "x"], object),
    "texts": lambda np: np.array(["a", "bcd"]),
    "part of texts": lambda np: np.array(["a", "bcd"])[1:],
    "dates": lambda np: np.array(["2020-01-01"], "M8[D]"),
    "records": _record,
    "field": lambda np: _record(np)["b"],
    "in the other byte order": lambda np: np.array([1, 2], ">i4"),
    "shape that was set": lambda np: _with(np.ones((3, 4)), shape=(2, 6)),
    "strides that were set": lambda np: _with(np.ones((3, 4))[:], strides=(8, 8)),
    "dtype that was set": lambda np: _with(np.ones((3, 4)), dtype=np.int64),
}
# Of this package alone.
OWN_STATES: dict[str, Callable[[], Any]] = {
    "of a subclass": lambda: gpunumpy.ones((3, 4)).view(Own),
    "part of a subclass": lambda: gpunumpy.ones((3, 4)).view(Own)[::2],
    "no part of a subclass": lambda: gpunumpy.ones((3, 4)).view(Own)[:, 4:],
    "lent": lambda: gpunumpy.frombuffer(bytearray(24)),
    "moved": lambda: _moved()[0],
    "part that follows": lambda: _moved()[1],
    "bfloat16": lambda: gpunumpy.ones(3, gpunumpy.bfloat16) + gpunumpy.ones(3, gpunumpy.bfloat16),
    "more elements than an integer of C counts": lambda: gpunumpy.broadcast_to(1.0, (1 << 40, 1 << 40)),
}


def _with(x: Any, **attributes: Any) -> Any:
    for name, value in attributes.items():
        setattr(x, name, value)
    return x


def _moved() -> tuple[Any, Any]:
    """An array that was moved to its device, and a view of it which follows when it is looked at."""
    x = gpunumpy.ones((3, 4))
    part = x[::2, 1:]
    gpunumpy.set_residence("device")
    x += gpunumpy.ones((3, 4))
    gpunumpy.set_residence("auto")
    return x, part


def told(x: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """What attributes of an array tell, or what it raises to read them."""
    return {name: _tried(getattr, x, name) for name in names}


def _tried(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except Exception as error:  # whatever a core raises
        return f"{type(error).__name__}: {error}"


def _lines() -> Iterator[str]:
    # Without the core, arrays of longlong are on the device.
    makers = {name: partial(make, gpunumpy) for name, make in STATES.items() if "longlong" not in name}
    for state, make in (makers | OWN_STATES).items():
        x = _tried(make)
        for _ in range(2):  # the second time what the first one made is there
            told_of_x = told(x, NAMES)
            base = told_of_x.pop("base")
            yield f"{state}: {told_of_x} {type(base).__name__} {getattr(base, 'shape', None)}"
            _tried(getattr, x, "_node")
        for name in NAMES:
            deleted, written = _tried(delattr, x, name), _tried(setattr, x, name, "x")
            yield f"{state}, {name}: {deleted}, {written}"


if __name__ == "__main__":
    gpunumpy.set_residence(sys.argv[1])
    print(*_lines(), sep="\n")
