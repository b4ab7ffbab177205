"""Shapes, joining, splitting, repeating, padding and editing: values, views and errors as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.numpy_release import RELEASE
from gpunumpy.functions.manipulation.repeating import rolled_by_index

from ..support.arrays import to_host
from .parity import DTYPES, check, same, sample

ARRAYS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda m: m.arange(24.0).reshape(2, 3, 4),
    "transposed": lambda m: m.arange(24, dtype="i4").reshape(2, 3, 4).transpose(2, 0, 1),
    "strided": lambda m: m.arange(48, dtype="f4").reshape(4, 3, 4)[::2, :, ::-1],
    "repeated": lambda m: m.broadcast_to(m.arange(4), (2, 3, 4)),
    "matrix": lambda m: m.arange(12.0).reshape(3, 4),
    "fortran": lambda m: m.arange(12.0).reshape(3, 4, order="F"),
    "vector": lambda m: m.arange(5),
    "every second": lambda m: m.arange(10.0)[::2],
    "ones": lambda m: m.ones((1, 3, 1)),
    "empty": lambda m: m.zeros((0, 3)),
    "0-d": lambda m: m.array(2.5),
}


def compare(call: Callable[[Any, Any], Any], name: str = "plain", views: bool = True) -> None:
    """The same call on both modules; where NumPy gives a writable view, a write through gpunumpy's view is seen."""
    check(lambda: _listed(call(np, ARRAYS[name](np))), lambda: _listed(call(numpy, ARRAYS[name](numpy))))
    if not views:
        return
    try:
        mine_base, base = ARRAYS[name](np), ARRAYS[name](numpy)
        if not base.flags.writeable:
            return
        tested, reference = call(np, mine_base), call(numpy, base)
    except Exception:
        return
    if isinstance(reference, numpy.ndarray) and reference.size:
        assert tested.flags.writeable == reference.flags.writeable, name
        assert (tested.flags.c_contiguous, tested.flags.f_contiguous) == (
            reference.flags.c_contiguous,
            reference.flags.f_contiguous,
        ), name
        if reference.flags.writeable:
            tested[...], reference[...] = 77, 77
            same(to_host(mine_base), base, 0, f"{name} after a write through the result")


def _listed(x: Any) -> Any:
    return tuple(x) if isinstance(x, list) else x


SHAPE_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "ravel": lambda m, x: m.ravel(x),
    "ravel F": lambda m, x: m.ravel(x, order="F"),
    "ravel A": lambda m, x: x.ravel("A"),
    "ravel K": lambda m, x: x.ravel(order="K"),
    "flatten": lambda m, x: x.flatten(),
    "flatten F": lambda m, x: x.flatten("F"),
    "flatten K": lambda m, x: x.flatten("K"),
    "reshape -1": lambda m, x: x.reshape(-1),
    "reshape -1,2": lambda m, x: x.reshape(-1, 2),
    "reshape F": lambda m, x: m.reshape(x, (4, -1), order="F"),
    "reshape A": lambda m, x: m.reshape(x, (-1, 3), order="A"),
    "reshape 2,12": lambda m, x: x.reshape((2, 12)),
    "reshape 6,4": lambda m, x: x.reshape([6, 4]),
    "reshape ones": lambda m, x: x.reshape((1, *x.shape, 1)),
    "reshape -1,-1": lambda m, x: x.reshape(-1, -1),
    "reshape 7": lambda m, x: x.reshape(7),
    "reshape copy": lambda m, x: m.reshape(x, (x.size,), copy=True),
    "reshape no copy": lambda m, x: m.reshape(x, (x.size,), copy=False),
    "reshape text": lambda m, x: x.reshape("a"),
    "T": lambda m, x: x.T,
    "mT": lambda m, x: x.mT,
    "transpose": lambda m, x: m.transpose(x, range(x.ndim)[::-1]),
    "transpose method": lambda m, x: x.transpose(*range(1, x.ndim), 0),
    "transpose negative": lambda m, x: x.transpose(-1, 0, 1),
    "transpose twice": lambda m, x: x.transpose(0, 0, 1),
    "transpose few": lambda m, x: x.transpose(0),
    "transpose None": lambda m, x: x.transpose(None),
    "transpose by an array": lambda m, x: x.transpose(m.arange(x.ndim)[::-1]),
    "permute_dims": lambda m, x: m.permute_dims(x, (1, 0)),
    "matrix_transpose": lambda m, x: m.matrix_transpose(x),
    "swapaxes": lambda m, x: x.swapaxes(0, -1),
    "swapaxes 3": lambda m, x: m.swapaxes(x, 0, 3),
    "moveaxis": lambda m, x: m.moveaxis(x, 0, -1),
    "moveaxis many": lambda m, x: m.moveaxis(x, (0, 1), (-1, 0)),
    "moveaxis range": lambda m, x: m.moveaxis(x, range(2), m.array([1, 0])),
    "moveaxis float": lambda m, x: m.moveaxis(x, (0.0,), (1,)),
    "moveaxis wrong": lambda m, x: m.moveaxis(x, (0, 1), (0,)),
    "moveaxis twice": lambda m, x: m.moveaxis(x, (0, 0), (0, 1)),
    "rollaxis": lambda m, x: m.rollaxis(x, 1),
    "rollaxis end": lambda m, x: m.rollaxis(x, 0, 2),
    "rollaxis far": lambda m, x: m.rollaxis(x, 0, 9),
    "squeeze": lambda m, x: m.squeeze(x),
    "squeeze 0": lambda m, x: x.squeeze(0),
    "squeeze 0,2": lambda m, x: x.squeeze((0, 2)),
    "expand_dims": lambda m, x: m.expand_dims(x, 0),
    "expand_dims many": lambda m, x: m.expand_dims(x, (0, -1)),
    "expand_dims twice": lambda m, x: m.expand_dims(x, (1, 1)),
    "expand_dims far": lambda m, x: m.expand_dims(x, 7),
    "atleast_1d": lambda m, x: m.atleast_1d(x),
    "atleast_2d": lambda m, x: m.atleast_2d(x),
    "atleast_3d": lambda m, x: m.atleast_3d(x),
    "atleast many": lambda m, x: m.atleast_2d(x, 1, [1, 2]),
    "flip": lambda m, x: m.flip(x),
    "flip 0": lambda m, x: m.flip(x, 0),
    "flip -1,0": lambda m, x: m.flip(x, (-1, 0)),
    "flip 5": lambda m, x: m.flip(x, 5),
    "flipud": lambda m, x: m.flipud(x),
    "fliplr": lambda m, x: m.fliplr(x),
    "rot90": lambda m, x: m.rot90(x),
    "rot90 2": lambda m, x: m.rot90(x, 2),
    "rot90 -1": lambda m, x: m.rot90(x, -1, (1, 0)),
    "rot90 4": lambda m, x: m.rot90(x, 4),
    "rot90 same": lambda m, x: m.rot90(x, 1, (0, 0)),
    "diagonal": lambda m, x: m.diagonal(x, 1, 0, -1),
    "copy": lambda m, x: x.copy(),
    "copy K": lambda m, x: m.copy(x),
    "copy F": lambda m, x: x.copy("F"),
    "astype": lambda m, x: x.astype("i2"),
    "astype C": lambda m, x: x.astype("c8", order="C"),
    "astype no copy": lambda m, x: x.astype(x.dtype, copy=False),
    "astype unsafe": lambda m, x: x.astype("i1", casting="safe"),
    "broadcast_to": lambda m, x: m.broadcast_to(x, (2, *x.shape)),
    "broadcast_to wrong": lambda m, x: m.broadcast_to(x, (7, 7, 7, 7)),
    "broadcast_to few": lambda m, x: m.broadcast_to(x, ()),
    "broadcast_arrays": lambda m, x: m.broadcast_arrays(x, m.ones((3, 1, 1, 1)), 2),
    "broadcast_arrays wrong": lambda m, x: m.broadcast_arrays(x, m.ones((9, 9, 9, 9))),
}


@pytest.mark.parametrize("call", SHAPE_CALLS)
def test_shapes(call: str) -> None:
    for name in ARRAYS:
        compare(SHAPE_CALLS[call], name)


def test_views_of_another_dtype() -> None:
    for dtype in ("i4", "f4", "u1", "i8", "c8", "?", "e", "d", "c16"):
        for name in ("plain", "transposed", "strided", "matrix", "fortran", "vector", "every second", "0-d"):
            compare(lambda m, x, dtype=dtype: x.view(dtype), name, views=False)
    tested, reference = np.zeros(4), numpy.zeros(4)
    tested.view("u8")[1], reference.view("u8")[1] = 2**62, 2**62
    same(to_host(tested), reference, 0)
    bits = tested[1:3].view("u4")
    tested[2] = -1.0
    same(to_host(bits), numpy.array([0, 2**30, 0, 0xBFF00000], "u4"), 0)
    z = np.array([1 + 2j, 3 + 4j])
    pairs = z.view("f8")
    pairs[1] = 9
    same(to_host(z), numpy.array([1 + 9j, 3 + 4j]), 0)
    same(to_host(z.real.view("i8")), z.get().real.copy().view("i8"), 0)


@pytest.mark.parametrize("words", [{"dtype": "class"}, {"type": "class"}, {"dtype": "i8", "type": "class"}], ids=str)
def test_views_of_the_class(words: dict[str, str]) -> None:
    for xp in (np, numpy):
        given = {key: xp.ndarray if value == "class" else value for key, value in words.items()}
        base = xp.zeros(3)
        seen = base.view(**given)
        seen[1] = 7
        assert type(seen) is xp.ndarray
        assert base.tolist() == ([0, 3.5e-323, 0] if "i8" in words.values() else [0, 7, 0])
        with pytest.raises(ValueError, match="Type must be a sub-type of ndarray type"):
            base.view(type=list)


PAD_WORDS: list[dict[str, Any]] = [
    {"mode": "constant", "constant_values": ((1, 2), (3, 4))},
    *({"mode": mode} for mode in ("constant", "edge", "reflect", "symmetric", "wrap")),
]


@pytest.mark.parametrize("words", PAD_WORDS, ids=str)
@pytest.mark.parametrize("width", [((1, 2), (2, 1)), 0, ((0, 0), (0, 3))], ids=str)
def test_borders_keep_fortran_order(words: dict[str, Any], width: Any) -> None:
    for a in (
        numpy.arange(12.0).reshape(3, 4).T,
        numpy.arange(12.0).reshape(4, 3),
        numpy.arange(24.0).reshape(4, 6)[::2],
    ):
        got, expected = np.pad(np.asarray(a), width, **words), numpy.pad(a, width, **words)
        same(to_host(got), expected, 0)
        assert got.strides == expected.strides


JOIN_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "concatenate": lambda m, x: m.concatenate([x, x + 1]),
    "concatenate -1": lambda m, x: m.concatenate((x, x, x[..., :1]), axis=-1),
    "concatenate None": lambda m, x: m.concatenate((x, [1, 2]), axis=None),
    "concatenate numbers": lambda m, x: m.concatenate((x.astype("i2"), 2, -1, m.float32(3)), axis=None),
    "concatenate number too large": lambda m, x: m.concatenate((x.astype("u1"), 300), axis=None),
    "concatenate number": lambda m, x: m.concatenate((2, x)),
    "concatenate dtype": lambda m, x: m.concat([x, x], dtype="c16"),
    "concatenate unsafe": lambda m, x: m.concatenate([x, x], dtype="?"),
    "concatenate anyhow": lambda m, x: m.concatenate([x, x], dtype="i1", casting="unsafe"),
    "concatenate mixed": lambda m, x: m.concatenate([x, x.astype("c8"), m.zeros(x.shape, "?")]),
    "concatenate differing": lambda m, x: m.concatenate([x, m.ones((2, 7))]),
    "concatenate ndim": lambda m, x: m.concatenate([x, m.ones(2)]),
    "concatenate far": lambda m, x: m.concatenate([x, x], axis=4),
    "concatenate nothing": lambda m, x: m.concatenate([]),
    "concatenate array": lambda m, x: m.concatenate(x),
    "stack": lambda m, x: m.stack([x, x * 2]),
    "stack 1": lambda m, x: m.stack([x, x * 2], axis=1),
    "stack -1": lambda m, x: m.stack([x, x * 2, x], axis=-1),
    "stack differing": lambda m, x: m.stack([x, x[..., :1]]),
    "stack nothing": lambda m, x: m.stack([]),
    "vstack": lambda m, x: m.vstack([x, x]),
    "hstack": lambda m, x: m.hstack([x, x]),
    "dstack": lambda m, x: m.dstack([x, x]),
    "column_stack": lambda m, x: m.column_stack([x, x]),
    "append": lambda m, x: m.append(x, [1.5, 2]),
    "append 0": lambda m, x: m.append(x, x, axis=0),
    "block": lambda m, x: m.block([[x, x], [x, x * 0]]),
    "block row": lambda m, x: m.block([x, x]),
    "block one": lambda m, x: m.block(x),
    "block uneven": lambda m, x: m.block([[x], x]),
    "block empty": lambda m, x: m.block([]),
    "split 2": lambda m, x: m.split(x, 2),
    "split 3 -1": lambda m, x: m.split(x, 3, axis=-1),
    "split at": lambda m, x: m.split(x, [1, 2], axis=0),
    "split far": lambda m, x: m.split(x, [0, 9, -1]),
    "array_split": lambda m, x: m.array_split(x, 3),
    "array_split 0": lambda m, x: m.array_split(x, 0),
    "hsplit": lambda m, x: m.hsplit(x, [1]),
    "vsplit": lambda m, x: m.vsplit(x, [1]),
    "dsplit": lambda m, x: m.dsplit(x, 2),
    "unstack": lambda m, x: m.unstack(x),
    "unstack 1": lambda m, x: m.unstack(x, axis=1),
}


@pytest.mark.parametrize("call", JOIN_CALLS)
def test_joining_and_splitting(call: str) -> None:
    for name in ARRAYS:
        compare(JOIN_CALLS[call], name)


def test_concatenate_out_and_pending_parts() -> None:
    a, b = np.arange(3.0), np.arange(2.0)
    out = np.zeros(5)
    assert np.concatenate([a * 2, b], out=out) is out
    same(to_host(out), numpy.array([0, 2, 4, 0, 1.0]))
    with pytest.raises(ValueError, match="shape"):
        np.concatenate([a, b], out=np.zeros(4))
    with pytest.raises(TypeError):
        np.concatenate([a, b], out=np.zeros(5, "i4"))
    joined = np.concatenate([a, a])
    a[0] = 9
    same(to_host(joined), numpy.array([0, 1, 2, 0, 1, 2.0]))
    parts = np.split(a, [1])
    parts[1][0] = 5
    same(to_host(a), numpy.array([9, 5, 2.0]))


REPEAT_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "roll 1": lambda m, x: m.roll(x, 1),
    "roll -5": lambda m, x: m.roll(x, -5),
    "roll 100": lambda m, x: m.roll(x, 100, axis=-1),
    "roll 0": lambda m, x: m.roll(x, 0, axis=0),
    "roll many": lambda m, x: m.roll(x, (1, -2), axis=(0, -1)),
    "roll twice": lambda m, x: m.roll(x, (1, 1), axis=(0, 0)),
    "roll spread": lambda m, x: m.roll(x, 1, axis=(0, 1)),
    "roll far": lambda m, x: m.roll(x, 1, axis=5),
    "roll uneven": lambda m, x: m.roll(x, (1, 2, 3), axis=(0, 1)),
    "roll of an expression": lambda m, x: m.roll(x * 2 + 1, 2, axis=0) - x,
    "tile 2": lambda m, x: m.tile(x, 2),
    "tile 2,1": lambda m, x: m.tile(x, (2, 1)),
    "tile 1,2,1,3": lambda m, x: m.tile(x, (1, 2, 1, 3)),
    "tile 0": lambda m, x: m.tile(x, 0),
    "tile 1": lambda m, x: m.tile(x, 1),
    "tile -1": lambda m, x: m.tile(x, -1),
    "repeat 2": lambda m, x: m.repeat(x, 2),
    "repeat 0": lambda m, x: m.repeat(x, 3, axis=0),
    "repeat -1": lambda m, x: x.repeat(2, -1),
    "repeat none": lambda m, x: m.repeat(x, 0, axis=0),
    "repeat negative": lambda m, x: m.repeat(x, -1),
    "repeat each": lambda m, x: m.repeat(x, [1, 0, 3], axis=1),
    "repeat each 0": lambda m, x: m.repeat(x, m.arange(x.shape[0]), axis=0),
    "repeat each negative": lambda m, x: m.repeat(x, [1, -1, 3], axis=1),
    "repeat float": lambda m, x: m.repeat(x, 2.0),
    "repeat one": lambda m, x: m.repeat(x, [2], axis=0),
    "resize": lambda m, x: m.resize(x, (5, 7)),
    "resize few": lambda m, x: m.resize(x, 3),
    "resize none": lambda m, x: m.resize(x, (0, 2)),
}


@pytest.mark.parametrize("call", REPEAT_CALLS)
def test_repeating(call: str) -> None:
    for name in ARRAYS:
        compare(REPEAT_CALLS[call], name, views=call != "roll of an expression")


# What is done to an array of 3 by 4 by 5 in place, with rolls of parts of it.
ROLLED_PARTS: dict[str, Callable[[Any, Any], Any]] = {
    "in its place": lambda m, x: x.__setitem__(1, m.roll(x[1], (1, -1), axis=(0, 1))),
    "another's place": lambda m, x: x.__setitem__(0, m.roll(x[2], 1, axis=1)),
    "with steps": lambda m, x: x.__setitem__((slice(None, None, 2), slice(1, 3)), m.roll(x[::2, 1:3], 2, axis=2)),
    "backwards": lambda m, x: x.__setitem__(..., m.roll(x[:, ::-1], (1, 2), axis=(1, 2))),
    "turned": lambda m, x: x.__setitem__(slice(1, 3), m.roll(x[1:].T, 3, axis=1).T),
    "reshaped": lambda m, x: x.__setitem__((0, slice(2)), m.roll(x.reshape(60)[7:17].reshape(2, 5), 1, axis=0)),
}


@pytest.mark.parametrize("base", [lambda m, x: x, lambda m, x: m.where(x > 20, x * 2, x + 1)], ids=["leaf", "pending"])
def test_rolled_parts(base: Callable[[Any, Any], Any]) -> None:
    def program(m: Any) -> list[Any]:
        x = base(m, m.arange(60.0).reshape(3, 4, 5))
        seen = [x.copy()]
        for write in (*ROLLED_PARTS.values(), *reversed(ROLLED_PARTS.values())):
            rolled = m.roll(x[2], -1, axis=0)
            write(m, x)
            seen.append(rolled)
        return [*seen, x]

    for tested, reference in zip(program(np), program(numpy), strict=True):
        same(to_host(tested), reference)


def test_rolls_by_equal_numbers_of_other_types() -> None:
    for name in ("plain", "strided", "vector"):
        for shift in (1, True, numpy.int8(1), (1,), [1], numpy.array(1), 1, -1, 1.0, "1", None):
            for axis in (0, False, (0,), [0], numpy.int64(0), None, 0):
                compare(lambda m, x, shift=shift, axis=axis: m.roll(x, shift, axis=axis), name, views=False)


def test_roll_by_index() -> None:
    for name in ("plain", "transposed", "strided"):
        for moved in ({0: 1}, {2: 1}, {0: 1, 1: 2}, {1: 1, 2: 1}):
            reference = numpy.roll(ARRAYS[name](numpy), tuple(moved.values()), tuple(moved))
            same(to_host(rolled_by_index(ARRAYS[name](np), moved)), reference)


PAD_WIDTHS: tuple[Any, ...] = (
    1,
    0,
    3,
    9,
    (1, 2),
    ((1, 2),),
    ((0, 3), (2, 0)),
    ((2, 1), (0, 2), (3, 4)),
    -1,
    1.5,
    *([{0: 2}] if RELEASE >= "2.4.0" else []),  # NumPy takes no dictionary before
)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
def test_pad(mode: str) -> None:
    for name in ARRAYS:
        for width in PAD_WIDTHS:
            compare(lambda m, x, width=width: m.pad(x, width, mode), name, views=False)


def test_pad_constants_and_keywords() -> None:
    for values in (5, (1, 2), ((1, 2), (3, 4)), 2.5):
        for name in ("matrix", "fortran", "plain", "vector"):
            compare(lambda m, x, values=values: m.pad(x, 2, constant_values=values), name, views=False)
    compare(lambda m, x: m.pad(x, 1, "edge", constant_values=3), "matrix")
    compare(lambda m, x: m.pad(x, 1, "sideways"), "matrix")
    assert np.pad(np.ones((2, 3)), 1, "empty").shape == (4, 5)
    for dtype in DTYPES:
        check(np.pad, numpy.pad, sample(dtype, (3, 4)), ((2, 1), (0, 3)), "reflect")


def _write_borders(vector: Any, width: Any, axis: int, options: Any) -> None:
    vector[: width[0]] = options.get("value", axis)
    if width[1]:
        vector[-width[1] :] = vector[width[0]]


COMPUTED_BORDERS: tuple[tuple[Any, dict[str, Any]], ...] = (
    *(("linear_ramp", options) for options in ({}, {"end_values": 5}, {"end_values": (5, -4)}, {"end_values": 2.5})),
    *(
        (mode, {} if length == "all" else {"stat_length": length})
        for mode in ("maximum", "mean", "median", "minimum")
        for length in ("all", None, 2, (1, 3), 9, 0, -1)
    ),
    *((mode, {"reflect_type": kind}) for mode in ("reflect", "symmetric") for kind in ("odd", "even", "x")),
    *((_write_borders, {}), (_write_borders, {"value": 5})),
    *(("nothing", {}), (3, {}), ("edge", {"stat_length": 2}), ("mean", {"reflect_type": "odd"})),
)


@pytest.mark.filterwarnings("ignore")  # of means of no elements
@pytest.mark.parametrize(("mode", "options"), COMPUTED_BORDERS, ids=lambda x: getattr(x, "__name__", str(x)))
@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "f8", "c16"])
def test_computed_borders(mode: Any, options: dict[str, Any], dtype: str) -> None:
    np.host_fallback("error")
    numbers = numpy.array([[3, 1, 5], [9, 2, 7]]).astype(dtype)
    for x in (numbers, numbers.T, numbers[0], numbers[:, :1], numbers[0, 0], numbers[:, :0]):
        for width in (0, 1, 7, ((0, 0), (1, 1)), (2, 1)):
            check(np.pad, numpy.pad, x, width, mode, ulp=64, **options)


EDIT_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "delete 1": lambda m, x: m.delete(x, 1),
    "delete -1 0": lambda m, x: m.delete(x, -1, axis=0),
    "delete far": lambda m, x: m.delete(x, 99),
    "delete slice": lambda m, x: m.delete(x, slice(None, None, 2), axis=-1),
    "delete list": lambda m, x: m.delete(x, [0, 2], axis=1),
    "delete mask": lambda m, x: m.delete(x, m.array([True, False, True]), axis=1),
    "delete none": lambda m, x: m.delete(x, []),
    "delete float": lambda m, x: m.delete(x, 1.0),
    "insert 1": lambda m, x: m.insert(x, 1, 50),
    "insert -1 0": lambda m, x: m.insert(x, -1, 50.5, axis=0),
    "insert nothing": lambda m, x: m.insert(x, [], 0, axis=0),
    "insert nothing at all": lambda m, x: m.insert(x, (), []),
    "insert at floats": lambda m, x: m.insert(x, m.zeros(0), 1),
    "insert row": lambda m, x: m.insert(x, 1, m.arange(x.shape[-1]), axis=0),
    "insert columns": lambda m, x: m.insert(x, [1], [[1], [2], [3]], axis=1),
    "insert column": lambda m, x: m.insert(x, 1, [1, 2, 3], axis=1),
    "insert list": lambda m, x: m.insert(x, [0, 2, 2], [7, 8, 9]),
    "insert at list": lambda m, x: m.insert(x, [0, 2], 5, axis=1),
    "insert slice": lambda m, x: m.insert(x, slice(0, 2), [5, 6]),
    "insert many at one": lambda m, x: m.insert(x, 2, [5, 6, 7]),
    "insert many at a list of one": lambda m, x: m.insert(x, [2], [5, 6, 7]),
    "insert mask": lambda m, x: m.insert(x, m.array([True, False, True]), [5, 6]),
    "insert far": lambda m, x: m.insert(x, 99, 5),
    "insert wrong": lambda m, x: m.insert(x, [0, 1], [1, 2, 3]),
    "trim_zeros": lambda m, x: m.trim_zeros(m.pad(x, 2)),
    "trim_zeros f": lambda m, x: m.trim_zeros(m.pad(x, 2), "f"),
    "trim_zeros b 0": lambda m, x: m.trim_zeros(m.pad(x, 2), "B", 0),
    "trim_zeros all": lambda m, x: m.trim_zeros(x * 0),
    "trim_zeros all f": lambda m, x: m.trim_zeros(x * 0, "f"),
    "trim_zeros all b": lambda m, x: m.trim_zeros(x * 0, "b", 0),
    "trim_zeros wrong": lambda m, x: m.trim_zeros(x, "x"),
    "trim_zeros of a list": lambda m, x: tuple(m.trim_zeros([0, 1, 2, 0])),
    "trim_zeros of nested lists": lambda m, x: m.trim_zeros([[0, 1]]),
    "concatenate of a generator": lambda m, x: m.concatenate(part for part in [x, x]),
    "vstack of a generator": lambda m, x: m.vstack(part for part in [x, x]),
    "stack of an iterator": lambda m, x: m.stack(iter([x, x])),
    "hstack of a set": lambda m, x: m.hstack({1, 2}),
}


@pytest.mark.parametrize("call", EDIT_CALLS)
def test_editing(call: str) -> None:
    for name in ("plain", "transposed", "matrix", "fortran", "vector", "every second"):
        compare(EDIT_CALLS[call], name, views=False)


_MANY = 40_000  # more positions than the host deletes from
DELETED: dict[str, Any] = {
    "indices": numpy.random.default_rng(0).integers(-_MANY // 2, _MANY // 2, (5, 20)),
    "list": [5, 3, -1, 5],
    "mask": numpy.arange(_MANY // 2) % 3 == 0,
    "slice": slice(3, 9),
    "slice backwards": slice(9, 2, -1),
    "slice of none": slice(9, 2),
    "every third": slice(None, 2, -3),
    "none": [],
    "floats": [1.0, 2.0],
    "no floats": numpy.zeros(0),
    "one": [_MANY // 2 - 1],
    "one beyond": [_MANY],
    "beyond": [1, _MANY],
    "short mask": numpy.ones(3, bool),
}


@pytest.mark.parametrize("name", DELETED)
def test_deleting_from_many(name: str) -> None:
    data = numpy.random.default_rng(1).integers(0, 100, (_MANY // 2, 2)).astype("i4")
    obj = DELETED[name]
    for x, axis in ((data[:, 0], None), (data, 0), (numpy.ascontiguousarray(data.T), 1)):
        check(np.delete, numpy.delete, x, obj, axis)
        check(lambda x, axis=axis: np.delete(x, obj, axis), lambda x, axis=axis: numpy.delete(x, obj, axis), x)


def test_resize_in_place() -> None:
    for shape in ((2, 5), 3, (4,), (0,)):
        tested, reference = np.arange(1, 7), numpy.arange(1, 7)
        tested.resize(shape)
        reference.resize(shape, refcheck=False)
        same(to_host(tested), reference)
    with pytest.raises(ValueError, match="single-segment"):
        np.arange(4)[::2].resize(1)


def test_views_of_scalars_do_not_write_them() -> None:
    s = np.sum(np.arange(3.0))
    for view in (s.reshape(1), np.atleast_1d(s), s[None], np.expand_dims(s, 0), s.ravel()):
        view[0] = 99
        assert float(s) == 3.0


def test_flags() -> None:
    for name, make in ARRAYS.items():
        tested, reference = make(np).flags, make(numpy).flags
        for flag in ("c_contiguous", "f_contiguous", "writeable", "contiguous", "fortran", "forc", "fnc", "aligned"):
            assert getattr(tested, flag) == getattr(reference, flag), (name, flag)
        for key in ("C", "F", "W", "C_CONTIGUOUS", "WRITEABLE", "FORC", "CA", "FA", "B"):
            assert tested[key] == reference[key], (name, key)
    a = np.arange(3)
    assert repr(a.flags) == repr(numpy.arange(3).flags)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        a[1:].setflags(write=True)
    a.setflags(write=True)
    a[0] = 1
    with pytest.raises(KeyError):
        a.flags["nonsense"]


@pytest.mark.parametrize(
    "make",
    [
        lambda np: np.frombuffer(b"abc", "u1"),
        lambda np: np.frombuffer(b"abc", "u1")[1:],
        lambda np: np.frombuffer(b"abc", "u1").copy(),
        lambda np: np.frombuffer(bytearray(b"abc"), "u1"),
        lambda np: np.broadcast_to(np.zeros(1), (3,)),
        lambda np: np.broadcast_to(np.frombuffer(b"a", "u1"), (3,)),
        lambda np: np.diagonal(np.zeros((2, 2))),
        lambda np: np.zeros(2).imag,
        lambda np: np.from_dlpack(np.frombuffer(bytes(16), "f8")),
    ],
)
def test_what_can_be_made_writeable(make: Callable[[Any], Any]) -> None:
    outcomes = []
    for xp in (np, numpy):
        x = make(xp)
        try:
            x.setflags(write=True)
        except ValueError as error:
            outcomes.append(str(error))
        else:
            outcomes.append(x.flags.writeable)
        x.setflags(write=False)
    assert outcomes[0] == outcomes[1]


def test_the_part_of_a_list_is_a_list() -> None:
    for given in ([0, 1, 0], (0, 1, 0), [0.0, 0.0]):
        assert np.trim_zeros(given) == numpy.trim_zeros(given)
        assert type(np.trim_zeros(given)) is type(given)
