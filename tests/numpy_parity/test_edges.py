"""Calls at the edge of what functions take, in which this package once differed from NumPy."""

from __future__ import annotations

import operator
import warnings
from collections import UserList, deque, namedtuple
from collections.abc import Callable
from functools import partial
from math import prod
from pickle import dumps, loads
from typing import Any

import numpy
import pytest

import gpunumpy
from tests.support.arrays import to_host

BOTH = (gpunumpy, numpy)
Place = namedtuple("Place", "row column")


def _written(x: Any, write: Callable[[Any], Any]) -> Any:
    write(x)
    return x


class Complexes(list[complex]):
    """A list that says so."""

    dtype = complex


def _set_to(x: Any, values: Any) -> Any:
    x[:] = values
    return x


def _results_among_objects(np: Any) -> Any:
    return _set_to(np.empty(2, object), [np.arange(4).sum(), np.arange(3).argmax()])


def _same_objects(np: Any, x: Any) -> list[bool]:
    return [element is x for element in _written(np.empty(2, object), lambda array: array.fill(x))]


def _sparse_grids(np: Any, x: Any, copy: bool) -> Any:
    return np.meshgrid(x, np.arange(2), sparse=True, copy=copy)


def _grow(x: Any) -> None:
    x.resize((2, 3), refcheck=False)


def _shrink(x: Any) -> None:
    x.resize((2, 1), refcheck=False)


def _checked(np: Any, call: Callable[[], Any]) -> Any:
    with np.errstate(all="raise"):
        return call()


def _warnings_of(call: Callable[[], Any]) -> list[type]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [warning.category for warning in caught]


CALLS: dict[str, Callable[[Any], Any]] = {
    "a range as an index": lambda np: np.arange(5)[range(3)],
    "a deque as an index": lambda np: np.arange(5)[deque([1, 2])],
    "a list of the user's as an index": lambda np: np.arange(5)[UserList([True, False, True, False, True])],
    "bytes as an index": lambda np: np.arange(5)[bytearray(b"\1\2")],
    "a range among indices": lambda np: np.arange(6).reshape(2, 3)[:, range(1, 3)],
    "a range to write to": lambda np: _written(np.arange(5), lambda x: x.__setitem__(range(2), 9)),
    "a named tuple as an index": lambda np: np.arange(6).reshape(2, 3)[Place(1, 2)],
    "text as an index": lambda np: np.arange(5)["1"],
    "a dictionary as an index": lambda np: np.arange(5)[{0: 1}],
    "choose as a method, of several": lambda np: np.array([0, 1]).choose([1, 2], [3, 4]),
    "choose as a method, of several, wrapped": lambda np: np.array([0, 3]).choose([1, 2], [3, 4], mode="wrap"),
    "choose as a method, of one": lambda np: np.array([0, 1]).choose([[1, 2], [3, 4]]),
    "choose as a method, of none": lambda np: np.array([0, 1]).choose(),
    "choose of too many": lambda np: np.choose([0, 65], [[k, k] for k in range(65)]),
    "choose of many": lambda np: np.choose([0, 62], [[k, k] for k in range(63)]),
    "choose of one too many": lambda np: np.choose([0, 62], [[k, k] for k in range(64)]),
    "a class whose dtype is a type": lambda np: [np.iscomplexobj(Complexes([1j])), np.isrealobj(Complexes([1j]))],
    "a range from None": lambda np: np.arange(None, 4),
    "a range from None by name": lambda np: np.arange(start=None, stop=4),
    "a range to None": lambda np: np.arange(4, None),
    "a range to nothing said": lambda np: np.arange(start=4),
    "no difference of a list": lambda np: np.diff([1, 2, 3], n=0),
    "an integer beyond int64 as a truth value": lambda np: np.full(2, 2**70, dtype=bool),
    "the same like an array": lambda np: np.full_like(np.zeros(2, bool), -(2**70)),
    "the same of an array": lambda np: np.full(2, np.array([2**70, 0], object), dtype=bool),
    "the same written to an array": lambda np: _written(np.zeros(2, bool), lambda x: x.__setitem__(0, 2**70)),
    "the same added to elements": lambda np: _written(np.zeros(2, bool), lambda x: np.add.at(x, [0], 2**70)),
    "the same added to real ones": lambda np: _written(np.zeros(2, "f4"), lambda x: np.add.at(x, [0], 2**70)),
    "the same added to integers": lambda np: _written(np.zeros(2, "i4"), lambda x: np.add.at(x, [0], 2**70)),
    "an interval to an integer beyond int64": lambda np: np.linspace(0, 2**63, 3),
    "an interval to an integer beyond uint64": lambda np: np.linspace(0, 2**64, 3),
    "a complex number for NaN": lambda np: np.nan_to_num(np.array([1, np.nan]), nan=1j),
    "a complex number for NaN of complex ones": lambda np: np.nan_to_num(np.array([1j, np.nan]), nan=1j),
    "a complex number for infinity": lambda np: np.nan_to_num(np.array([1, np.inf]), posinf=1j),
    "a list with an array that is too large": lambda np: _set_to(np.zeros(2, "u1"), [np.array(300)]),
    "a list with results that are too large": lambda np: _set_to(np.zeros(2, "u1"), list(np.array([300, -1]))),
    "a list in a list with one": lambda np: _set_to(np.zeros((2, 2), "i2"), [[np.array(70000)], [np.array(2)]]),
    "a list with one beside a number": lambda np: _set_to(np.zeros(2, "u1"), [np.array(300), 5]),
    "a list with one beside a number too large": lambda np: _set_to(np.zeros(2, "u1"), [np.array(2), 300]),
    "a list with a real one": lambda np: _set_to(np.zeros(2, "u1"), [np.array(300.5), np.array(3)]),
    "a list with rows": lambda np: _set_to(np.zeros((2, 2), "u1"), [np.array([300, 1]), [4, 5]]),
    "a list with rows of other lengths": lambda np: _set_to(np.zeros((2, 2), "u1"), [np.array([300, 1]), [4]]),
    "a quantile to a larger array": lambda np: np.percentile(np.arange(5.0), 50, out=np.zeros(1)),
    "quantiles to more rows": lambda np: np.quantile(np.arange(6.0).reshape(2, 3), 0.5, axis=1, out=np.zeros((3, 2))),
    "resize to no dimensions": lambda np: _written(np.array([3.0]), lambda x: x.resize(())),
    "resize to nothing said": lambda np: _written(np.array([3.0, 4.0]), lambda x: x.resize()),
    "the smallest step of float32": lambda np: np.finfo(np.float32).eps,
    "beyond the largest float32": lambda np: np.isinf(np.finfo(np.float32).max * 10),
    "strides of no elements": lambda np: [[*np.zeros(shape).strides] for shape in ((0, 3), (3, 0), (0, 0))],
    "strides of parts of no elements": lambda np: [
        *([*x.strides] for x in (np.ones((4, 3))[:0], np.ones((4, 3))[:0] + 1, np.ones((4, 3))[:0].copy())),
        *([*x.strides] for x in (np.zeros((0, 3)).T, np.zeros((0, 3))[:, 1:], np.zeros((0, 6)).reshape(3, 0))),
    ],
    "a stride that is no tuple": lambda np: np.ndarray(3, "i8", buffer=numpy.arange(8), strides=16),
    "copy that is text": lambda np: np.array(1, copy="x"),
    "a dimension that is a bool": lambda np: np.zeros((True, 2)),
    "a new dimension that is a bool": lambda np: np.zeros(4).reshape(True, -1),
    "reversed parts of no elements": lambda np: np.zeros((3, 4, 0), complex).real[::-1, ::-1],
    "a named target of putmask": lambda np: np.putmask(a=np.zeros(2), mask=[True, False], values=[5, 6]),
    "no mode of convolve": lambda np: np.convolve([1, 2], [1, 2], mode=None),
    "no mode of correlate": lambda np: np.correlate([1, 2], [1, 2], mode=None),
    "clip with one named bound": lambda np: np.clip(np.arange(3), a_max=2),
    "clip between more bounds": lambda np: np.clip(np.arange(3), 2, 3, min=2),
    "clip between more bounds that are None": lambda np: np.clip(np.arange(3), None, None, min=None, max=None),
    "clip with two lower bounds": lambda np: np.clip(np.arange(3), 2, min=1),
    "clip with a new and an old name": lambda np: np.clip(np.arange(3), a_max=2, min=1),
    "clip with two upper bounds": lambda np: np.clip(np.arange(3), a_max=2, max=1),
    "clip with a lower bound": lambda np: np.clip(np.arange(3), min=1),
    "clip with mixed names": lambda np: np.clip(np.arange(3), 1, a_max=2),
    "unwrap of bools": lambda np: np.unwrap(np.array([True, False])),
    "unwrap of bools, integral": lambda np: np.unwrap(np.array([True, False, True]), period=2),
    "accumulate of a scalar on a wrong axis": lambda np: np.add.accumulate(np.array(3), axis=5),
    "accumulate of a scalar": lambda np: np.add.accumulate(np.array(3), axis=-1),
    "reduceat of a scalar on a wrong axis": lambda np: np.add.reduceat(np.array(3), [0], axis=-2),
    "the device": lambda np: (np.zeros(3).device == "cuda:1", np.zeros(3).device != "cuda:1"),
    "an unpickled array": lambda np: (
        loads(dumps(_written(np.arange(3), lambda x: x.setflags(write=False)))).flags.writeable
    ),
    "an unpickled array of protocol 5": lambda np: loads(dumps(np.arange(3), 5)).flags.writeable,
    "an unpickled read-only array of protocol 5": lambda np: (
        loads(dumps(_written(np.arange(3), lambda x: x.setflags(write=False)), 5)).flags.writeable
    ),
    "an unpickled view": lambda np: loads(dumps(np.broadcast_to(np.arange(3), (2, 3)), 5)).flags.writeable,
    "read-only memory made writeable": lambda np: np.frombuffer(bytes(16)).setflags(write=True),
    "a view of a read-only array made writeable": lambda np: _written(np.arange(3), lambda x: x.setflags(write=False))[
        :
    ].setflags(write=True),
    "a first element of negative zero": lambda np: np.signbit(np.add.reduce([-0.0], initial=-0.0)),
    "a first element of negative zero, of an array": lambda np: np.signbit(np.sum(np.array([-0.0]), initial=-0.0)),
    "indices that no array has": lambda np: np.ravel_multi_index((np.array([5]), np.array([0])), (3, 3)),
    "numbers to an array without dimensions": lambda np: np.add(1, 2, out=np.zeros(())),
    "a shift of no dimensions": lambda np: np.fft.fftshift(np.array(3.0)),
    "strides in an array's memory": lambda np: np.ndarray(3, "i8", buffer=np.arange(6), strides=16),
    "strides of an array's own order": lambda np: np.ndarray((3, 2), "i4", strides=(8, 4)).flags.owndata,
    "strides of Fortran's order": lambda np: np.ndarray((3, 2), "i4", strides=(4, 12)).flags.owndata,
    "sparse grids that are views": lambda np: isinstance(_sparse_grids(np, np.arange(3), copy=False), list),
    "tensordot of all axes": lambda np: repr(np.tensordot(np.arange(3), np.arange(3), 1)),
    "memory of sparse grids": lambda np: np.shares_memory(x := np.arange(3), _sparse_grids(np, x, copy=False)[0]),
    "copied sparse grids": lambda np: isinstance(_sparse_grids(np, np.arange(3), copy=True), tuple),
    "an element of flat behind the last": lambda np: np.zeros((2, 3)).flat[np.array(6)],
    "an element of flat by an array": lambda np: np.arange(6).reshape(2, 3).flat[np.array(-2)],
    "written behind the last of flat": lambda np: operator.setitem(np.zeros((2, 3)).flat, np.array(6), 1),
    "written to flat without an index": lambda np: operator.setitem(np.zeros((2, 3)).flat, (), 1),
    "a shape with an array in it": lambda np: np.reshape(np.arange(6), (np.array([2]), -1)),
    "a product of negative zero": lambda np: np.signbit(np.dot(np.array([-0.0]), np.array([1.0]))),
    "a product of negative zero, of matrices": lambda np: np.signbit(np.dot(np.array([[-0.0]]), np.array([[1.0]]))),
    "a product of negative zero, along the last": lambda np: np.signbit(np.inner(np.array([-0.0]), np.array([1.0]))),
    "a sum of products of zeros": lambda np: np.signbit(np.dot(np.array([-0.0, 0.0]), np.array([1.0, -1.0]))),
    "numbers to a larger array": lambda np: np.add(1, 2, out=np.zeros(2)),
    "the bits of the largest integer": lambda np: np.bitwise_count(2**64 - 1),
    "a fraction to a larger array": lambda np: np.modf(np.arange(3.0), out=(None, np.zeros((2, 3))))[1],
    "a quotient to a larger array": lambda np: np.divmod(np.arange(3), 2, out=(None, np.zeros((2, 3), int)))[1],
    "a deviation in integers": lambda np: np.std(np.arange(5.0) * 1.5, dtype="int32"),
    "deviations in integers": lambda np: np.std(np.arange(6).reshape(2, 3), 0, "int32"),
    "deviations in truth values": lambda np: np.std(np.arange(6.0).reshape(2, 3), 1, bool),
    "a kept deviation in integers": lambda np: np.std(np.arange(4), dtype="int32", keepdims=True),
    "deviations to integers": lambda np: np.std(np.arange(6).reshape(2, 3), 0, out=np.zeros(3, "i4")),
    "deviations in integers to fractions": lambda np: np.std(np.arange(6).reshape(3, 2), 1, "i4", np.zeros(3)),
    "a variance in integers to a fraction": lambda np: np.var(np.arange(6), dtype="i4", out=np.zeros(())),
    "means in integers to fractions": lambda np: np.mean(np.arange(6).reshape(2, 3), 0, "i4", np.zeros(3)),
    "a masked mean in integers": lambda np: np.mean(np.arange(6), 0, "i4", np.zeros(()), where=np.arange(6) % 2 == 0),
    "extents to integers": lambda np: np.ptp(np.arange(6.0).reshape(2, 3), 0, np.zeros(3, "i4")),
    "a median to a larger array": lambda np: np.nanmedian(np.arange(4.0), out=np.zeros((3, 1))),
    "a median of integers to a larger array": lambda np: np.nanmedian(np.arange(4), out=np.zeros(1)),
    "medians to integers": lambda np: np.nanmedian(np.arange(6.0).reshape(2, 3), 1, np.zeros(2, "i4")),
    "a shape that is None": lambda np: np.arange(6.0).reshape(2, 3)[::-1].reshape(None),
    "two dimensions, of which one is None": lambda np: np.arange(3).reshape(None, 3),
    "limits where a mask says": lambda np: np.clip(np.arange(3.0), 1, 2, where=np.array([True] * 3)),
    "a limit where a mask says": lambda np: np.arange(3.0).clip(max=1, where=np.array([True] * 3)),
    "memory of others by its flag": lambda np: setattr(np.frombuffer(bytes(8), "i4").flags, "writeable", True),
    "memory of others by its flag's name": lambda np: operator.setitem(np.frombuffer(bytes(8)).flags, "W", True),
    "a flag that is None": lambda np: _written(np.arange(3), lambda x: setattr(x.flags, "writeable", None)).flags["W"],
    "an element at a float": lambda np: np.take(np.arange(3.0), np.floor(5 / 2)),
    "an element at a float of NumPy": lambda np: np.arange(3.0).take(numpy.float32(1.5)),
    "no elements at an array of a float": lambda np: np.take(np.arange(3.0), np.array([1.0])),
    "repeated as often as a float says": lambda np: np.repeat(np.arange(3.0), np.floor(5 / 2)),
    "repeated as often as a float of NumPy says": lambda np: np.arange(3.0).repeat(numpy.float64(2.0)),
    "put at a float": lambda np: _written(np.arange(3.0), lambda x: np.put(x, numpy.float32(1), 7)),
    "rounded to more dimensions": lambda np: np.round(np.arange(3.0) / 8, 1, np.zeros((1, 3))),
    "integers rounded to more dimensions": lambda np: np.round(np.array(5), out=np.zeros((1, 1), int)),
    "a variance about single numbers": lambda np: np.var(np.arange(4, dtype="f4"), mean=np.ones(4)),
    "a power of nothing selected": lambda np: np.power(np.arange(3), -1, where=False, out=np.zeros(3, int)),
    "powers of no elements": lambda np: np.power.outer(np.zeros(0, int), np.array([-1])),
    "no quantiles of no elements": lambda np: np.quantile(np.zeros((2, 0)), []),
    "strides that overlap": lambda np: np.lib.stride_tricks.as_strided(np.arange(5), (4, 2), (8, 8)),
    "windows to write to": lambda np: np.lib.stride_tricks.sliding_window_view(np.arange(5), 2, writeable=True),
    "an order in lower case": lambda np: np.add(np.ones((2, 3)), 1, order="f").flags.f_contiguous,
    "no order": lambda np: np.ones((2, 3), order="F").copy(order=None).flags.c_contiguous,
    "bytes in the order of memory": lambda np: np.arange(6).reshape(2, 3).T.tobytes("K"),
    "a number before an array": lambda np: np.maximum(1.5, np.arange(3)),
    "a list before an array": lambda np: np.multiply([1, 2, 3], np.arange(3)),
    "triangles of no columns": lambda np: np.tril_indices(3, m=-1)[0],
    "kept dimensions that are text": lambda np: np.sum(np.ones(3), keepdims="x"),
    "an axis that is a bool": lambda np: np.sum(np.ones((2, 2)), axis=True),
    "the depth of lists of objects": lambda np: np.array([[1, 2], [3, 4]], dtype=object, ndmax=1),
    "no depth": lambda np: np.array([[1, 2], [3, 4]], dtype=object, ndmax=0),
    "too little depth": lambda np: np.array([[1, 2], [3, 4]], ndmax=1),
    "texts by name": lambda np: [m(**{k: np.array(["a"])}).dtype for m, k in ((np.array, "object"), (np.asarray, "a"))],
    "an object by name": lambda np: np.array(object=[np.ones(2)], dtype=object)[0, 1],
    "a list by name": lambda np: np.asarray(dtype="U", a=[1, 2])[1],
    "a dtype of objects with metadata": lambda np: np.array([1], np.dtype("O", metadata={"a": 1})).dtype.metadata["a"],
    "parts as records": lambda np: np.ones((2, 3), "i2")[:, ::2].view("i2,i2"),
    "an array in Fortran's order": lambda np: np.array([[1, 2], [3, 4]], order="F").flags.owndata,
    "a part of one in Fortran's order": lambda np: np.array([[1, 2], [3, 4]], order="F")[1:].flags.owndata,
    "a larger one in Fortran's order": lambda np: _written(np.array([[1, 2], [3, 4]], order="F"), _grow),
    "a smaller one in Fortran's order": lambda np: _written(np.array([[1, 2], [3, 4]], order="F"), _shrink),
    "one in no order resized": lambda np: np.ones((2, 3, 4)).transpose(0, 2, 1).copy("K").resize((2, 3)),
    "a part of its own": lambda np: np.require(np.ones((2, 3)), requirements=["F", "O"]).flags.owndata,
    "a function that gives no scalar": lambda np: repr(np.i0(0.0)),
    "a correlation of mode 7": lambda np: np.correlate(np.ones(2), np.ones(2), mode=7),
    "the sine of nothing, checked": lambda np: _checked(np, lambda: np.sinc(np.array([0.0, 1.5]))),
    "finite, checked": lambda np: _checked(np, lambda: np.asarray_chkfinite(np.array([0.0, np.inf]))),
    "the class of flat": lambda np: isinstance(np.ones(2).flat, np.flatiter),
    "an axis that is a list": lambda np: np.sum(np.ones((2, 2)), axis=[0]),
    "a type as an index": lambda np: np.array(3)[np.float32],
    "nothing put into a read-only array": lambda np: np.broadcast_to(np.ones(1), 3).put([], 1),
    "the smallest type of an array": lambda np: np.min_scalar_type(np.array(2.5)),
    "a large integer around an array": lambda np: np.pad(np.ones(2), 1, constant_values=10**20),
    "a large integer in an array": lambda np: np.full_like(np.ones(2), 10**20, device="cpu"),
    "sections that do not divide": lambda np: np.split(np.ones((2, 3)), np.array(3)),
    "a geometric sequence of arrays that broadcast": lambda np: np.geomspace(np.array([[1], [2]]), [4, 9], 3),
    "a geometric sequence of a number and an array": lambda np: np.geomspace(2, np.array([4, -9j]), 3, endpoint=False),
    "memory in order": lambda np: np.sort(memoryview(numpy.array([3.0, 1, 2]))),
    "memory in Fortran's order": lambda np: np.median(memoryview(numpy.array([[3.0, 1], [2, 4]])), axis=0),
    "two outputs of objects": lambda np: np.add(np.array([1], object), 1, np.zeros(1, object), out=np.zeros(1, object)),
    "an array as a dtype": lambda np: np.array([1.5, 2], np.array([1, 2])),
    "an array as a dtype of another": lambda np: np.asarray(np.ones(2), np.array([1, 2])),
    "an array as a dtype of zeros": lambda np: np.zeros(2, np.array([1, 2])),
    "an array as a dtype of a cast": lambda np: np.ones(2).astype(np.array([1, 2])),
    "an array as a dtype of a sum": lambda np: np.sum(np.ones(2), dtype=np.array([1, 2])),
    "results among objects as texts": lambda np: _results_among_objects(np).astype(str),
    "results among objects as bytes": lambda np: np.array(_results_among_objects(np), "S3"),
    "results among objects as dates": lambda np: _results_among_objects(np).astype("M8[D]"),
    "results among objects as numbers": lambda np: _results_among_objects(np).astype("f4"),
    "results among objects written to texts": lambda np: _set_to(np.array(["a", "b"]), _results_among_objects(np)),
    "results among objects copied to texts": lambda np: _written(
        np.array(["a", "b"]), lambda x: np.copyto(x, _results_among_objects(np), casting="unsafe")
    ),
    "results among objects in a list, as bytes": lambda np: np.array([_results_among_objects(np)], "S"),
    "results among objects one by one, as texts": lambda np: np.fromiter(_results_among_objects(np), "U5"),
    "results among objects joined as texts": lambda np: np.concatenate(
        [_results_among_objects(np), np.array(["abc"])], dtype="U9", casting="unsafe"
    ),
    "results among objects stacked to texts": lambda np: np.stack(
        [_results_among_objects(np)], out=np.empty((1, 2), "U3"), casting="unsafe"
    ),
    "results among objects joined as dates": lambda np: np.hstack(
        [_results_among_objects(np)], dtype="M8[D]", casting="unsafe"
    ),
    "results among objects inserted into texts": lambda np: np.insert(
        np.array(["a", "b"]), 1, _results_among_objects(np)
    ),
    "results among objects written to flat": lambda np: _written(
        np.array(["a", "b"]), lambda x: setattr(x, "flat", _results_among_objects(np))
    ),
    "results among objects that fill texts": lambda np: np.full_like(np.array(["a", "b"]), _results_among_objects(np)),
    "results among objects as an array of texts": lambda np: np.char.array(_results_among_objects(np)),
    "arrays among objects as texts": lambda np: _set_to(np.empty(1, object), [np.arange(2)]).astype(str),
    "objects that are one array": lambda np: _same_objects(np, np.ones(2)),
    "objects that are one result": lambda np: _same_objects(np, np.ones(2).sum()),
    "a masked array like one with a fill value": lambda np: (
        np.ma.masked_all_like(np.ma.array([1], fill_value=7)).fill_value
    ),
    "an array in another shape": lambda np: isinstance(np.ma.reshape(np.ones(2), (1, 2)), np.ma.MaskedArray),
    "an array with its axes in another order": lambda np: isinstance(np.ma.transpose(np.ones(2)), np.ma.MaskedArray),
    "a result and what no number equals": lambda np: [
        [type(np.ones(1).min() == x), type(np.ones(1).min() != x)] for x in (None, {}, object())
    ],
    "a range up to a number of complex64": lambda np: np.arange(0, np.complex64(0.5)),
    "a range up to a truth value": lambda np: np.arange(np.array(True)),
    "a range from a truth value": lambda np: np.arange(numpy.array(True), 2.5),
    "a range of two truth values": lambda np: np.arange(np.array(False), np.array(True)),
    "conditions and choices as rows": lambda np: np.select(np.array([[True, False], [False, True]]), np.eye(2)),
    "conditions as elements": lambda np: repr(np.select(np.array([True, False]), np.array([1, 2]), 7)),
    "conditions without rows": lambda np: np.select(np.ones((0, 2), bool), np.ones((0, 2))),
    "complex numbers of the host outside of a domain": lambda np: np.emath.arccos(np.array([2, 1j], np.clongdouble)),
    "bytes swapped in place, as a text says": lambda np: _written(np.arange(3, dtype="i4"), lambda x: x.byteswap("x")),
    "warnings of a histogram of complex numbers": lambda np: _warnings_of(
        lambda: np.histogram(np.array([1 + 1j, 2, 3]))
    ),
    "a fit of infinite values, checked": lambda np: (
        _checked(np, lambda: np.polyfit(np.arange(3.0), [1, np.inf, 3], 1)).shape
    ),
}
if numpy.lib.NumpyVersion(numpy.__version__) < "2.4.0":
    del CALLS["written to flat without an index"]  # it ends NumPy's process


DIMENSIONS = (1,) * 64
TOO_MANY_DIMENSIONS: dict[str, Callable[[Any], Any]] = {
    "array": lambda np: np.array(1, ndmin=65),
    "zeros": lambda np: np.zeros((*DIMENSIONS, 1)),
    "reshape": lambda np: np.zeros(1).reshape(*DIMENSIONS, 1),
    "newaxis": lambda np: np.zeros(DIMENSIONS)[None],
    "newaxis, twice": lambda np: np.zeros(DIMENSIONS)[None, ..., None],
    "newaxis, written": lambda np: np.zeros(DIMENSIONS).__setitem__(None, 1),
    "a truth value as an index": lambda np: np.zeros(DIMENSIONS)[True],
    "a truth value as an index, written": lambda np: np.zeros(DIMENSIONS).__setitem__(True, 1),
    "an index array": lambda np: np.zeros(DIMENSIONS)[np.zeros((1, 1), int)],
    "a host's index array": lambda np: np.zeros(DIMENSIONS)[numpy.zeros((1, 1), int)],
    "an index array and a slice": lambda np: np.zeros(DIMENSIONS)[:, np.zeros((1, 1), int)],
    "expand_dims": lambda np: np.expand_dims(np.zeros(DIMENSIONS), 0),
    "broadcast_to": lambda np: np.broadcast_to(np.zeros(1), (*DIMENSIONS, 1)),
    "stack": lambda np: np.stack([np.zeros(DIMENSIONS)]),
    "outer": lambda np: np.add.outer(np.zeros(DIMENSIONS), np.zeros(1)),
    "meshgrid": lambda np: np.meshgrid(*[np.zeros(1)] * 65),
    "sparse meshgrid": lambda np: np.meshgrid(*[np.zeros(1)] * 65, sparse=True),
    "ix_": lambda np: np.ix_(*[np.zeros(1, int)] * 65),
    "indices": lambda np: np.indices(DIMENSIONS),
    "tile": lambda np: np.tile(np.zeros(1), (*DIMENSIONS, 1)),
    "kron": lambda np: np.kron(np.zeros((1,) * 40), np.zeros(1)),
    "tensordot": lambda np: np.tensordot(np.zeros((1,) * 40), np.zeros((1,) * 40), axes=0),
    "dot": lambda np: np.dot(np.zeros((1,) * 40), np.zeros((1,) * 40)),
    "inner": lambda np: np.inner(np.zeros((1,) * 40), np.zeros((1,) * 40)),
    "sliding windows": lambda np: np.lib.stride_tricks.sliding_window_view(np.zeros(DIMENSIONS), 1, 0),
}


def _outcome(call: Callable[[Any], Any], np: Any) -> Any:
    try:
        result = call(np)
    except Exception as error:
        return type(error), str(error)
    return to_host(result) if isinstance(result, gpunumpy.ndarray) else result


_nearly = partial(numpy.testing.assert_allclose, rtol=1e-14)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str, residence: str) -> None:
    gpunumpy.set_residence(residence)
    tested, reference = (_outcome(CALLS[name], np) for np in (gpunumpy, numpy))
    if isinstance(reference, tuple):
        assert tested == reference
    else:
        assert type(tested) is type(reference) or isinstance(reference, (numpy.generic, numpy.ndarray))
        # A GPU's powers have other last bits.
        same = _nearly if name.startswith("a geometric sequence") else numpy.testing.assert_array_equal
        same(numpy.asarray(tested), numpy.asarray(reference), strict=True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of NumPy 2.5
@pytest.mark.parametrize("residence", ["auto", "device"])
def test_diagonals_that_are_floats(residence: str) -> None:
    gpunumpy.set_residence(residence)
    for k in (1.0, numpy.float32(-1), numpy.float64(0)):
        found, expected = (
            [np.tri(3, 2, k), np.tril(np.ones((3, 3)), k), np.triu(np.ones((3, 3)), k), *np.triu_indices(4, k, 3)]
            for np in BOTH
        )
        assert [x.tolist() for x in found] == [x.tolist() for x in expected]
    with warnings.catch_warnings(action="error"):
        found, expected = (_outcome(lambda np: np.tril(np.ones((3, 3)), 1.0), np) for np in BOTH)
    assert isinstance(found, tuple) == isinstance(expected, tuple)


POSITIONS = [
    *((), (0,), (-1,), (7,), (numpy.int8(0),), (True,), (1.0,), (None,), ("a",), ([0],), ((0,),), ((),)),
    *((0, 0), (0, 1.0), (0, 5), (0, 0, 0)),
]


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 2), (0, 2)])
@pytest.mark.parametrize("position", POSITIONS)
def test_items(position: tuple[Any, ...], shape: tuple[int, ...], residence: str) -> None:
    gpunumpy.set_residence(residence)
    outcomes = [_outcome(lambda np: np.arange(prod(shape)).reshape(shape).item(*position), np) for np in BOTH]
    tested, reference = (x[0] if isinstance(x, tuple) else x for x in outcomes)
    assert (type(tested), tested) == (type(reference), reference)


@pytest.mark.parametrize("name", TOO_MANY_DIMENSIONS)
def test_more_dimensions_than_an_array_can_have(name: str) -> None:
    tested, reference = (_outcome(TOO_MANY_DIMENSIONS[name], np) for np in (gpunumpy, numpy))
    assert tested[0] is reference[0]
    assert reference[0] in (ValueError, IndexError)


@pytest.mark.on_device
def test_take_of_more_dimensions_than_an_array_can_have() -> None:
    with pytest.raises(ValueError, match="maximum supported dimension"):  # NumPy ends the process
        gpunumpy.take(gpunumpy.zeros((1,) * 40), gpunumpy.zeros((1,) * 26, int), 0)


def test_outer_names_itself_where_there_are_too_many_dimensions() -> None:
    with pytest.raises(ValueError, match=r"`add\.outer\(\)` result would have 66"):
        gpunumpy.add.outer(gpunumpy.zeros((1,) * 33), gpunumpy.zeros((1,) * 33))


def test_a_number_on_the_left_is_recorded_as_one_on_the_right_is() -> None:
    x = gpunumpy.arange(5.0)
    left, right = (y._node.signature for y in (gpunumpy.maximum(0.0, x), gpunumpy.maximum(x, 0.0)))
    assert left.primitive == right.primitive
    assert left.args == right.args[::-1]


def test_states_of_bit_generators_hold_arrays_of_numpy() -> None:
    for kind in ("MT19937", "Philox", "SFC64"):
        tested, reference = (getattr(np.random, kind)(3).state for np in (gpunumpy, numpy))
        assert repr(tested) == repr(reference)
        assert {type(x) for x in tested["state"].values()} == {type(x) for x in reference["state"].values()}


def test_every_name_exists_where_the_host_is_refused() -> None:
    gpunumpy.host_fallback("error")
    assert [name for name in numpy.__all__ if not hasattr(gpunumpy, name)] == []


def test_bars_of_a_plot() -> None:
    """What matplotlib's `bar` does with positions and heights, among which are None and texts."""
    x = gpunumpy.arange(3.0)
    parts = numpy.broadcast_arrays(numpy.atleast_1d(x), x**2, 0.8, 0, "a", None)
    assert [list(part.tolist()) for part in parts[3:]] == [[0] * 3, ["a"] * 3, [None] * 3]
    assert [(float(a), float(b), float(c)) for a, b, c, *_ in zip(*parts)] == [(0, 0, 0.8), (1, 1, 0.8), (2, 4, 0.8)]


def test_as_many_dimensions_as_an_array_can_have() -> None:
    x = gpunumpy.zeros(DIMENSIONS[1:])
    for full in (x[None], x[gpunumpy.zeros((1, 1), int)], gpunumpy.stack([x]), gpunumpy.array(1, ndmin=64)):
        assert full.shape == DIMENSIONS


def test_devices_are_equal_to_their_names() -> None:
    x = gpunumpy.zeros(3, device="cpu")
    assert x.device == "cpu"
    assert x.device == gpunumpy.Device("cpu")
    assert x.device != "cuda:0"
    assert x.device != 0
    by_device: dict[object, int] = {x.device: 1}
    assert by_device[gpunumpy.Device("cpu")] == by_device["cpu"] == 1
    assert {x.device, numpy.zeros(3).device} == {"cpu"}


class Doer:
    """A class that does what ufuncs would do with its instances."""

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **options: Any) -> Any:
        return f"done {method}"


def test_what_a_class_returns_for_at_is_returned() -> None:
    for np in (gpunumpy, numpy):
        done: Any = [np.add.at(Doer(), 1, 2), np.add.at(np.zeros(3), 1, Doer())]
        assert done == ["done at"] * 2


@pytest.mark.parametrize("shape", [(), (1,), (2,), (1, 1)])
def test_arrays_that_hold_themselves_are_printed(shape: tuple[int, ...]) -> None:
    texts = []
    for np in (gpunumpy, numpy):
        x, y = np.empty(shape, object), np.empty(1, object)
        x[(0,) * len(shape)] = y
        y[0] = x
        texts.append((repr(x), str(x), repr(y), str(y)))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("shape", [(), (1,), (2,), (1, 1)])
def test_arrays_of_a_subclass_that_hold_themselves_are_printed(shape: tuple[int, ...]) -> None:
    texts = []
    for np in (gpunumpy, numpy):
        cls = type("Sub", (np.ndarray,), {})
        x, y = np.empty(shape, object).view(cls), np.empty(1, object).view(cls)
        x[(0,) * len(shape)] = y
        y[0] = x
        texts.append((repr(x), repr(y)))
    assert texts[0] == texts[1]


def test_info_of_an_array(capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for np in (gpunumpy, numpy):
        np.info(np.arange(6, dtype="c8").reshape(2, 3))
        texts.append([line for line in capsys.readouterr().out.splitlines() if "pointer" not in line])
    assert texts[0] == texts[1]


def test_limits_are_annotations_with_a_type_in_brackets() -> None:
    assert str(gpunumpy.finfo[numpy.float64]).endswith("finfo[numpy.float64]")
