"""What shows the memory of something else: parts of complex arrays, and booleans over bytes of other libraries."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy
import pytest

import gpunumpy as np

from .parity import on_host, outcome, same

# --- parts of complex arrays ------------------------------------------------------------------------------------------

COMPLEX_ARRAYS: dict[str, Callable[[Any], Any]] = {
    "vector": lambda z: z[0],
    "one element": lambda z: z[0, :1],
    "no elements": lambda z: z[:, :0],
    "C order": lambda z: z,
    "Fortran order": lambda z: z.T,
    "every second column": lambda z: z[:, ::2],
    "one column": lambda z: z[:, 1:2],
    "one row": lambda z: z[1:2],
    "backwards": lambda z: z[::-1, ::-1],
    "three axes": lambda z: z.reshape(2, 2, 6).transpose(2, 0, 1),
}
ACTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "itself": lambda xp, x: x,
    "ravel": lambda xp, x: x.ravel(),
    "ravel F": lambda xp, x: x.ravel("F"),
    "ravel A": lambda xp, x: x.ravel("A"),
    "ravel K": lambda xp, x: x.ravel("K"),
    "reshape": lambda xp, x: x.reshape(-1),
    "reshape to a column": lambda xp, x: x.reshape(-1, 1),
    "reshape F": lambda xp, x: x.reshape(-1, order="F"),
    "reshape A": lambda xp, x: x.reshape(-1, order="A"),
    "flatten": lambda xp, x: x.flatten(),
    "flatten A": lambda xp, x: x.flatten("A"),
    "transpose": lambda xp, x: x.T,
    "slice": lambda xp, x: x[1:],
    "copy": lambda xp, x: x.copy(),
    "copy A": lambda xp, x: x.copy("A"),
    "copy K": lambda xp, x: x.copy("K"),
    "astype": lambda xp, x: x.astype(float),
    "astype without a copy": lambda xp, x: x.astype(float, copy=False),
    "asarray": lambda xp, x: xp.asarray(x),
    "asarray C": lambda xp, x: xp.asarray(x, order="C"),
    "asarray F": lambda xp, x: xp.asarray(x, order="F"),
    "ascontiguousarray": lambda xp, x: xp.ascontiguousarray(x),
    "asfortranarray": lambda xp, x: xp.asfortranarray(x),
    "require": lambda xp, x: xp.require(x, requirements=["C"]),
    "squeeze": lambda xp, x: x.squeeze(),
    "swapaxes": lambda xp, x: x.swapaxes(0, -1),
    "moveaxis": lambda xp, x: xp.moveaxis(x, 0, -1),
    "expand_dims": lambda xp, x: xp.expand_dims(x, 0),
    "real": lambda xp, x: x.real,
    "view as integers": lambda xp, x: x.view("i8"),
    "negative": lambda xp, x: -x,
    "sort": lambda xp, x: xp.sort(x, axis=0),
}


@pytest.mark.parametrize("part", ["real", "imag"])
@pytest.mark.parametrize("action", ACTIONS)
def test_parts_of_complex_arrays(action: str, part: str) -> None:
    """Values, memory layout, and whether it is the memory of the complex array."""
    for name, view in COMPLEX_ARRAYS.items():

        def call(xp: Any, view: Callable[[Any], Any] = view) -> Any:
            z = xp.asarray(numpy.arange(24).reshape(4, 6) * (1 - 2j))
            x = ACTIONS[action](xp, getattr(view(z), part))
            layout = x.shape, x.flags.c_contiguous, x.flags.f_contiguous
            strides = tuple(s for s, n in zip(x.strides, x.shape, strict=True) if n > 1) if x.size else ()
            before = on_host(x).copy()
            x[...] = 7
            return layout, strides, before, on_host(z)

        (found_layout, found_strides, *found), (layout, strides, *expected) = outcome(lambda: call(np)), call(numpy)
        assert (found_layout, found_strides) == (layout, strides), name
        same(tuple(found), tuple(expected), 0, name)


# --- elements by frombuffer -------------------------------------------------------------------------------------------

PARTS: tuple[tuple[Any, ...], ...] = (
    ("f8",),
    ("i4",),
    ("u1", 5, 3),
    ("c16", -1, 16),
    ("f4", 2, 40),
    ("?",),
    ("f8", 0, 48),
)


@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_elements_by_frombuffer(part: tuple[Any, ...]) -> None:
    """A view of the array: what is written to it is seen."""

    def call(xp: Any) -> Any:
        x = xp.asarray(numpy.arange(18.0).reshape(6, 3))[2:4]
        y = xp.frombuffer(x, *part)
        before = on_host(y).copy()
        y[:1] = 1
        return y.shape, str(y.dtype), before, y.flags.writeable, on_host(x)

    found, expected = outcome(lambda: call(np)), call(numpy)
    assert found[:2] == expected[:2]
    same(tuple(found[2:]), tuple(expected[2:]), 0)


# --- booleans ---------------------------------------------------------------------------------------------------------

BYTES = bytes([0, 1, 255, 2, 0, 128, 254, 1, 0, 3, 0, 77])
BOOLEANS: dict[str, Callable[[Any], Any]] = {
    "frombuffer": lambda xp: xp.frombuffer(BYTES, bool),
    "frombuffer, part": lambda xp: xp.frombuffer(BYTES, bool, 8, 2),
    "view": lambda xp: xp.asarray(numpy.frombuffer(BYTES, "u1")).view(bool),
    "view of rows": lambda xp: xp.asarray(numpy.frombuffer(BYTES, "u1").reshape(3, 4)).view(bool).T[1:],
    "view of wider elements": lambda xp: xp.asarray(numpy.frombuffer(BYTES, "i4")).view(bool),
    "asarray": lambda xp: xp.asarray(numpy.frombuffer(BYTES, bool)),
    "array": lambda xp: xp.array(numpy.frombuffer(BYTES, bool)[::-1]),
    "from_dlpack": lambda xp: xp.from_dlpack(numpy.frombuffer(bytearray(BYTES), bool)),
    "from_dlpack, strided": lambda xp: xp.from_dlpack(numpy.frombuffer(bytearray(BYTES), bool).reshape(3, 4)[:, ::2]),
}


def changed(x: Any, change: Callable[[Any], Any]) -> Any:
    change(x)
    return x


USES: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda xp, x: x.sum(),
    "sum of rows": lambda xp, x: x.sum(0),
    "count_nonzero": lambda xp, x: xp.count_nonzero(x),
    "nonzero": lambda xp, x: x.nonzero(),
    "any": lambda xp, x: x.any(),
    "all": lambda xp, x: x.all(0),
    "cumsum": lambda xp, x: x.cumsum(),
    "mean": lambda xp, x: x.mean(),
    "dot": lambda xp, x: xp.dot(x.ravel(), x.ravel()),
    "matmul": lambda xp, x: x.reshape(-1, 2) @ x.reshape(2, -1),
    "astype": lambda xp, x: x.astype(int),
    "add": lambda xp, x: x + 1,
    "plus itself": lambda xp, x: x + x,
    "multiply": lambda xp, x: x * 2.5,
    "equal": lambda xp, x: x == True,  # noqa: E712
    "equal to itself": lambda xp, x: x == x.copy(),
    "less": lambda xp, x: x < x[::-1],
    "invert": lambda xp, x: ~x,
    "logical_not": lambda xp, x: xp.logical_not(x),
    "and": lambda xp, x: x & True,
    "xor": lambda xp, x: x ^ True,
    "maximum": lambda xp, x: xp.maximum(x, x[::-1]),
    "where": lambda xp, x: xp.where(x, 1, 2),
    "select": lambda xp, x: xp.select([x], [5], 6),
    "as a mask": lambda xp, x: xp.arange(x.size).reshape(x.shape)[x],
    "where of a ufunc": lambda xp, x: xp.add(1, 1, out=xp.zeros(x.shape), where=x),
    "where of a sum": lambda xp, x: xp.ones(x.shape).sum(where=x),
    "assignment by mask": lambda xp, x: changed(xp.ones(x.shape), lambda y: y.__setitem__(x, 5)),
    "take": lambda xp, x: xp.take(xp.arange(3), x),
    "as indices": lambda xp, x: xp.arange(3)[x.astype(int)],
    "sort": lambda xp, x: xp.sort(x),
    "argsort": lambda xp, x: xp.argsort(x, kind="stable"),
    "argmax": lambda xp, x: x.argmax(),
    "unique": lambda xp, x: xp.unique(x),
    "packbits": lambda xp, x: xp.packbits(x),
    "concatenate": lambda xp, x: xp.concatenate([x, x]).sum(),
    "diff": lambda xp, x: xp.diff(x.ravel()),
    "searchsorted": lambda xp, x: xp.searchsorted(xp.asarray([False, True]), x),
    "bincount": lambda xp, x: xp.bincount(x.ravel().astype(int)),
    "einsum": lambda xp, x: xp.einsum("...->", x),
    "real": lambda xp, x: x.real.sum(),
    "slice": lambda xp, x: x[1:].sum(),
    "copy": lambda xp, x: x.copy() + 0,
    "tolist": lambda xp, x: numpy.asarray(x.tolist()),
    "item": lambda xp, x: numpy.asarray(x.ravel()[2].item()),
    "int": lambda xp, x: numpy.asarray(int(x.ravel()[2])),
    "interp": lambda xp, x: xp.interp(x.ravel(), [0, 1], [0, 2]),
    "fft": lambda xp, x: xp.fft.fft(x.ravel()).real.round(9),
    "written": lambda xp, x: changed(x.copy(), lambda y: y.__setitem__(0, False)),
    "at": lambda xp, x: changed(xp.zeros(2, int), lambda y: xp.add.at(y, x.ravel().astype(int), 1)),
    "minimum.reduce": lambda xp, x: xp.minimum.reduce(x),
    "logical_xor.accumulate": lambda xp, x: xp.logical_xor.accumulate(x.ravel()),
}


OF_BYTES = ("argsort", "searchsorted")  # in NumPy, which small arrays on the host are left to


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
@pytest.mark.parametrize("use", USES)
def test_booleans_of_other_bytes_than_0_and_1(use: str) -> None:
    for name, make in BOOLEANS.items():
        expected = outcome(lambda: USES[use](numpy, make(numpy).copy() != 0))  # noqa: B023
        with np.Device("cpu") if name.startswith("from_dlpack") else nullcontext():
            found = outcome(lambda: on_host(USES[use](np, make(np))))  # noqa: B023
        if use in OF_BYTES and not numpy.array_equal(found, expected):
            expected = outcome(lambda: USES[use](numpy, make(numpy)))  # noqa: B023
        same(found, expected, 4, name)


@pytest.mark.parametrize("show", ["view", "from_dlpack"])
def test_booleans_that_are_written_reach_the_memory_and_leave_its_other_bytes(show: str) -> None:
    def call(xp: Any) -> Any:
        memory = numpy.frombuffer(bytearray(BYTES), "u1").reshape(3, 4)
        if show == "view":
            memory = xp.asarray(memory)
        x = memory.view(bool) if show == "view" else xp.from_dlpack(memory.view(bool))
        x.T[1:3, 1:] = True
        x[0] ^= True
        x[2, 3:] = False
        if xp is np:
            np.synchronize()
        return on_host(memory)

    same(call(np), call(numpy), 0)


# --- average ----------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("shape", [(0,), (3,), (0, 2), (2, 0), (0, 0), (2, 3), (2, 0, 3)])
def test_averages_of_empty_slices(shape: tuple[int, ...]) -> None:
    """Values, and the errors for no averages and for weights that sum to zero."""
    axes = (None, *range(-1, len(shape)), (0, len(shape) - 1))
    for axis, weighted, returned, keepdims in itertools.product(axes, (None, "ones", "zeros"), *[(False, True)] * 2):

        def call(xp: Any, axis: Any = axis, weighted: Any = weighted, options: Any = (returned, keepdims)) -> Any:
            weights = None if weighted is None else getattr(xp, weighted)(shape)
            return on_host(xp.average(xp.ones(shape), axis, weights, options[0], keepdims=options[1]))

        same(outcome(lambda: call(np)), outcome(lambda: call(numpy)), 0, f"{axis} {weighted} {returned} {keepdims}")


@pytest.mark.parametrize("part", [numpy.s_[:], numpy.s_[1:1, 3:3], numpy.s_[:, 1:1], numpy.s_[3:3]])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(0, 7, 0), (0, 3, 8), (3, 8, 8), (2, 0, 8)])
@pytest.mark.parametrize("dtypes", [("bool", "float64"), ("int64", "bool"), ("int16", "int32")])
def test_views_of_no_elements(dtypes: tuple[str, str], shape: tuple[int, ...], order: str, part: Any) -> None:
    def view(xp: Any) -> Any:
        x = xp.zeros(shape, dtype=dtypes[0], order=order)[part]
        return x.view(dtypes[1]).shape if 0 in x.shape else ()

    assert outcome(lambda: view(np)) == outcome(lambda: view(numpy))


# --- views of other classes -------------------------------------------------------------------------------------------


class Tagged:
    """Mixed with `ndarray`, a class of arrays."""


VIEWED: dict[str, Callable[[Any, Any], Any]] = {
    "of dates, of a subclass": lambda xp, c: xp.arange(3).view(c).view("M8[s]"),
    "of dates, as a subclass": lambda xp, c: xp.arange(3).view("M8[s]", c),
    "of a subclass, of dates, as an array": lambda xp, c: xp.arange(3).view(c).view("M8[s]", xp.ndarray),
    "of dates as numbers, of a subclass": lambda xp, c: xp.arange(3).view("M8[s]").view(c).view("i8"),
    "matrix": lambda xp, c: xp.arange(3.0).view(xp.matrix),
    "matrix, by name": lambda xp, c: xp.arange(3.0).view(type=xp.matrix),
    "matrix of another dtype": lambda xp, c: xp.arange(3.0).view("i8", xp.matrix),
    "records": lambda xp, c: xp.arange(3.0).view([("x", "f4"), ("y", "f4")], xp.recarray),
    "records of numbers": lambda xp, c: xp.arange(3.0).view("f4", xp.recarray),
    "no class": lambda xp, c: xp.arange(3.0).view(type="f4"),
    "a class of no arrays": lambda xp, c: xp.arange(3.0).view("f4", list),
}


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("view", VIEWED.values(), ids=VIEWED)
def test_views_as_other_classes(view: Callable[[Any, Any], Any], residence: str) -> None:
    np.set_residence(residence)
    outcomes = []
    for xp in (np, numpy):
        cls: Any = type("C", (Tagged, xp.ndarray), {})
        try:
            result = view(xp, cls)
        except ValueError as error:
            outcomes.append(str(error))
        else:
            outcomes.append((type(result).__name__, result.dtype, result.shape, result.tolist()))
    assert outcomes[0] == outcomes[1]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_and_its_array_on_the_host_are_one_memory() -> None:
    np.set_residence("auto")
    x = np.arange(4.0)
    matrix = x.view(np.matrix)
    matrix[0, 1] = 9
    x += np.ones(1_000_000)[:4]
    assert matrix.tolist() == [x.tolist()] == [[1, 10, 3, 4]]
