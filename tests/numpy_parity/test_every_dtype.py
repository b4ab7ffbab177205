"""Arrays of the dtypes that no kernel computes: every function and method does what NumPy's does."""

from __future__ import annotations

import copy
import operator
import pickle
import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy
import pytest

import gpunumpy

from .calls import CALLS, NOT_CALLED

_TEXTS = ("bc", "a", "", "bc", "dd", "1")
_DATES = ("2020-02-29", "2020-01-01", "NaT", "2020-02-29", "1969-07-20", "2021-01-01")
_RECORD = [("x", "f8"), ("n", "i2"), ("s", "U2")]

# Six elements of every dtype, two of them equal.
DATA: dict[str, Any] = {
    "str": numpy.array(_TEXTS),
    "bytes": numpy.array([text.encode() for text in _TEXTS]),
    "StringDType": numpy.array(_TEXTS, numpy.dtypes.StringDType()),
    "object": numpy.array([3, 2.5, -1, 3, True, 40], object),
    "object of texts": numpy.array([*_TEXTS[:5], "x"], object),
    "datetime64": numpy.array(_DATES, "M8[D]"),
    "timedelta64": numpy.array([3, 1, -2, 3, 7, 4], "m8[s]"),
    "record": numpy.array(
        [(1.5, 2, "a"), (0.0, 1, "b"), (1.0, 1, ""), (1.5, 2, "a"), (2, 2, "c"), (3, 3, "d")], _RECORD
    ),
    "void": numpy.array([b"abc", b"abd", b"aaa", b"abc", b"zzz", b"xyz"], "V3"),
    "longdouble": numpy.array([1.5, -2, 0, 1.5, 3, 2], numpy.longdouble),
    "clongdouble": numpy.array([1.5, -2j, 0, 1.5, 3 + 1j, 2], numpy.clongdouble),
    "swapped integer": numpy.array([3, 1, -2, 3, 7, 4], numpy.dtype("i4").newbyteorder("S")),
    "swapped float": numpy.array([1.5, -2, 0, 1.5, 3, 2], numpy.dtype("f8").newbyteorder("S")),
}


def names_of(xp: Any, data: Any) -> dict[str, Any]:
    """What the calls use, in one of the two libraries."""
    make = xp.asarray
    return {
        "np": xp,
        "numpy": numpy,
        "t": data.dtype,
        "copy": copy,
        "operator": operator,
        "pickle": pickle,
        "x": make(data.copy()),
        "y": make(data[[1, 0, 2, 5, 4, 3]].copy()),
        "m": make(numpy.resize(data, (3, 4)).astype(data.dtype)),
        "q": make(numpy.resize(data[:5], (3, 3)).astype(data.dtype)),  # no two rows are equal
        "one": make(data[:1].copy()),
        "zero": make(data[0:1].reshape(()).copy()),
        "none": make(data[:0].copy()),
        "b": make(numpy.array([True, False, True, True, False, False])),
        "i": make(numpy.array([5, 0, 2, 2, 1, 3])),
    }


def outcome_of(xp: Any, call: str, data: Any, others: Mapping[str, Any] = MappingProxyType({})) -> tuple[Any, Any]:
    """What a call returns or raises, and what its arguments are afterwards; `others` replace arguments."""
    names = names_of(xp, data) | dict(others)
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result: Any = eval(call, names)
        except Exception as error:
            result = error
        return plain(result), {name: plain(names[name]) for name in ("x", "y", "m", "q", "zero")}


def plain(x: Any) -> Any:
    """A result for comparison: arrays and scalars as dtype, shape, flag and elements; errors as their type."""
    if isinstance(x, Exception):
        return next(kind for kind in type(x).__mro__ if kind.__module__ == "builtins")
    if isinstance(x, gpunumpy.ndarray):
        x, is_writeable = gpunumpy.asnumpy(x), x.flags.writeable or x.ndim == 0
        return str(x.dtype), x.shape, is_writeable, _elements(x)
    if isinstance(x, (numpy.ndarray, numpy.generic)):
        return str(x.dtype), x.shape, isinstance(x, numpy.generic) or x.flags.writeable, _elements(x)
    if isinstance(x, (tuple, list)):
        return type(x).__name__, [plain(part) for part in x]
    return type(x), repr(x)


def _elements(x: Any) -> Any:
    """The elements as text, or as bytes if texts among them hold no characters."""
    try:
        return repr(x.tolist())
    except SystemError:
        return x.tobytes()


# NumPy 2.3.0 itself writes to memory that is not there.
ENDS_THE_PROCESS = (("place", "StringDType"), (".byteswap", "StringDType"))
CASES = [(name, kind) for name in CALLS for kind in DATA if (name, kind) not in ENDS_THE_PROCESS]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_calls(name: str, kind: str) -> None:
    for call in CALLS[name]:
        expected = outcome_of(numpy, call, DATA[kind])
        assert outcome_of(gpunumpy, call, DATA[kind]) == expected, call


# What NumPy's own code converts, which takes results of this package for sequences beside texts.
CONVERTED_BY_NUMPY = frozenset(
    ("from_dlpack", "frompyfunc", "may_share_memory", "min_scalar_type", "shares_memory", "trim_zeros", ".__array__")
)


@pytest.mark.parametrize("name", [name for name in CALLS if name not in CONVERTED_BY_NUMPY])
def test_lists_of_texts_and_results_without_dimensions(name: str) -> None:
    data = DATA["str"]
    for call in CALLS[name]:
        found = []
        for xp in (numpy, gpunumpy):
            one, two = xp.arange(4.0).sum(), xp.arange(5)[2]
            texts = data.tolist()
            lists = {"x": [one, *texts[1:]], "y": [*texts[:5], two], "m": [[one, "a"], ["b", two], ["c", "d"]]}
            found.append(outcome_of(xp, call, data, lists)[0])
        assert found[1] == found[0], call


def test_the_class_with_an_explicit_layout() -> None:
    for xp in (numpy, gpunumpy):
        memory = bytearray(b"abcdef")
        x = xp.ndarray((2,), "S3", memory)
        x[0] = b"xy"
        assert x.tolist() == [b"xy", b"def"]
        assert bytes(memory) == b"xy\0def"
        assert xp.ndarray((2, 2), "S0").shape == (2, 2)


def test_every_public_function_is_called() -> None:
    functions = {name for name in numpy.__all__ if not isinstance(getattr(numpy, name), type)}
    functions = {name for name in functions if callable(getattr(numpy, name))}
    assert functions - NOT_CALLED <= CALLS.keys()


def test_every_method_is_called() -> None:
    methods = {name for name in dir(numpy.ndarray) if not name.startswith("_")}
    functions = {name.strip("_") for name in operator.__all__}
    operators = {name for name in dir(numpy.ndarray) if {name[2:-2], name[3:-2]} & functions}
    called = {name.removeprefix(".") for name in CALLS}
    # Two are objects that say where data are, and two only raise since NumPy 2, if they are there.
    assert methods | operators <= called | {"ctypes", "device", "itemset", "newbyteorder"}


@pytest.mark.parametrize("kind", [kind for kind in DATA if kind != "StringDType"])  # of which NumPy has no such views
def test_views_by_strides(kind: str) -> None:
    data = DATA[kind]
    windows = []
    for xp in (numpy, gpunumpy):
        tricks, x = xp.lib.stride_tricks, xp.asarray(data.copy())
        pairs, square = tricks.as_strided(x, (3, 2), (2 * x.itemsize, x.itemsize)), tricks.as_strided(x, (2, 2))
        windows.append([plain(part) for part in (tricks.sliding_window_view(x, 3), pairs, square)])
        pairs[0, 0] = x[4]
        assert x[0] == x[4]
    assert windows[0] == windows[1]


HELD: dict[str, Any] = {
    "list": [1, [2]],
    "list of NumPy's numbers": [numpy.float64(1), numpy.arange(3)],
    "tuple": (1, [2]),
    "dict": {"a": [1]},
    "NumPy's array": numpy.arange(3),
    "NumPy's array of objects": numpy.array([1, None], object),
    "NumPy's number": numpy.float32(2),
    "function": len,
}
ELEMENTS: dict[str, Any] = {
    "index": lambda x: x[1],
    "index from the end": lambda x: x[-2],
    "index that is a NumPy number": lambda x: x[numpy.int64(1)],
    "two indices": lambda x: x.reshape(3, 1)[1, 0],
    "part": lambda x: x[1:][0],
    "chosen": lambda x: x[[0, 1]][1],
    "copy": lambda x: x.copy()[1],
    "item": lambda x: x.item(1),
    "tolist": lambda x: x.tolist()[1],
    "loop": lambda x: list(x)[1],
    "flat": lambda x: list(x.flat)[1],
    "no dimension": lambda x: x[1, ...][()],
}


@pytest.mark.parametrize("get", ELEMENTS.values(), ids=ELEMENTS)
@pytest.mark.parametrize("held", HELD.values(), ids=HELD)
def test_an_element_of_objects_is_the_object_itself(held: Any, get: Any) -> None:
    x = gpunumpy.array([None, None, None])
    x[1] = held
    assert get(x) is held
    if isinstance(held, list):  # what others have stays what an array holds
        x.fill(held)
        assert get(x) is held


def test_elements_that_are_out_of_bounds() -> None:
    for data in (numpy.array(["a", "b"]), numpy.array([None, 1])):
        for key in (2, -3, (0, 0)):
            with pytest.raises(IndexError) as expected:
                data[key]
            with pytest.raises(IndexError, match=str(expected.value)):
                gpunumpy.asarray(data)[key]


def test_a_deep_copy_has_objects_of_its_own() -> None:
    for xp in (numpy, gpunumpy):
        shared = [1]
        x = xp.empty((2, 2), object)
        x[...] = None
        x[0, 1], x[1, 0] = shared, shared
        record = xp.array([(1, shared)], dtype=[("n", int), ("o", object)])
        copied, other = copy.deepcopy([x.T, record])
        assert type(copied) is type(x)
        assert copied[1, 0] == shared
        assert copied[1, 0] is copied[0, 1] is other["o"][0]
        assert copied[1, 0] is not shared
        assert copy.copy(x)[0, 1] is shared


@pytest.mark.parametrize("name", ["argmax", "argmin", "count_nonzero"])
@pytest.mark.parametrize("kind", DATA)
def test_positions_in_no_elements(name: str, kind: str) -> None:
    call = f"np.{name}(np.asarray(x)[:0].reshape(2, 0), axis=0)"
    assert outcome_of(gpunumpy, call, DATA[kind]) == outcome_of(numpy, call, DATA[kind])


SCALAR_METHODS: dict[str, Any] = {
    **{f"astype({dtype})": lambda x, dtype=dtype: x.astype(dtype) for dtype in ("M8[D]", "U3", "O", "g", ">i8")},
    "view": lambda x: x.view("m8[s]"),
    "getfield": lambda x: x.getfield("M8[s]"),
    "choose": lambda x: x.choose(["a", "b", "c", "d"]),
    "searchsorted": lambda x: x.searchsorted("a"),
    "compress": lambda x: x.compress("a"),
    "dumps": lambda x: pickle.loads(x.dumps()),
}


@pytest.mark.parametrize("call", SCALAR_METHODS.values(), ids=SCALAR_METHODS)
def test_methods_of_results_without_dimensions(call: Any) -> None:
    found, expected = [], []
    for xp, outcomes in ((gpunumpy, found), (numpy, expected)):
        try:
            outcomes.append(plain(call(xp.arange(3).sum())))
        except Exception as error:
            outcomes.append(plain(error))
    assert found == expected


def test_functions_of_the_program_say_nothing_of_objects(recwarn: pytest.WarningsRecorder) -> None:
    pairs = gpunumpy.frompyfunc(lambda a, b: (a, b), 2, 1)
    assert pairs(gpunumpy.array(["a", None]), 1).tolist() == [("a", 1), (None, 1)]
    assert not recwarn.list
