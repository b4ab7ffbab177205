"""Elements of arrays of objects: the core reads and writes them by itself, as NumPy does."""

from __future__ import annotations

import functools
import gc
import operator
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core._native import IS_COMPILED

from .test_draws import called_by


class Item:
    """What can be referred to weakly."""


def _array(library: Any, *shape: int) -> Any:
    array = library.empty(shape, object)
    array[...] = None
    return array


@pytest.fixture(params=["auto", "device"], autouse=True)
def residence(request: pytest.FixtureRequest) -> Iterator[str]:
    before = np.set_residence(request.param)
    yield request.param
    np.set_residence(before)


ITEMS: dict[str, Callable[[], Any]] = {
    "object": Item,
    "number": lambda: 3,
    "list": lambda: [1, 2],
    "None": lambda: None,
    "array": lambda: np.arange(3.0),
    "array of a device": lambda: np.arange(3.0) + np.ones(3),
    "array without dimensions": lambda: np.float64(2) * np.ones(()),
    "NumPy's array": lambda: numpy.arange(3),
    "NumPy's array of objects": lambda: numpy.empty(2, object),
    "NumPy's array without dimensions": lambda: numpy.array(3),
}
KEYS: tuple[Any, ...] = ((0, 1), (-1, -1), (numpy.int64(1), 0))


@pytest.mark.parametrize("name", ITEMS)
def test_elements_are_the_objects_themselves(name: str) -> None:
    item = ITEMS[name]()
    vector, matrix = _array(np, 4), _array(np, 2, 3)
    vector[2], vector[-1] = item, item
    for key in KEYS:
        matrix[key] = item
        assert matrix[key] is item
    assert vector[2] is item
    assert vector[-1] is item
    assert vector[1] is None
    assert list(vector)[2] is item
    assert list(vector)[1] is None
    strided = matrix[::-1, ::2]
    strided[1, 0] = item
    assert matrix[0, 0] is item
    assert strided[1, 0] is item


@pytest.mark.parametrize("key", [4, -5, (0, 0), (0, 1, 2), 2**70, 1.0, "x"])
def test_errors_are_numpys(key: Any) -> None:
    for use in (lambda x: x[key], lambda x: x.__setitem__(key, 1)):
        raised = []
        for library in (numpy, np):
            with pytest.raises(Exception) as caught:  # whatever NumPy raises
                use(_array(library, 4))
            raised.append((type(caught.value), str(caught.value)))
        assert raised[0] == raised[1]


def test_what_is_written_over_is_let_go() -> None:
    array, item = _array(np, 3), Item()
    count = sys.getrefcount(item)
    array[0] = array[1] = item
    assert array[0] is item
    assert sys.getrefcount(item) == count + 2
    array[0] = array[1] = None
    assert sys.getrefcount(item) == count
    array[2], seen = item, weakref.ref(item)
    del item
    array[2] = 0
    gc.collect()
    assert seen() is None


def test_a_finalizer_may_write_to_the_array() -> None:
    array = _array(np, 2)

    class Writes:
        def __del__(self) -> None:
            array[1] = "last"

    array[0] = Writes()
    array[0] = 1
    assert list(array) == [1, "last"]


def test_what_is_read_only_stays_as_it_is() -> None:
    for library in (numpy, np):
        array = _array(library, 2)
        array.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
        assert array[0] is None


def test_what_was_never_written_is_none() -> None:
    array = np.empty(2, object)
    assert array[0] is None
    assert list(array) == [None, None]


@pytest.mark.parametrize("options", [{}, {"order": "F"}])
@pytest.mark.parametrize("name", ["empty", "zeros", "ones"])
def test_new_arrays(name: str, options: dict[str, Any]) -> None:
    made, expected = (getattr(library, name)((2, 3), object, **options) for library in (np, numpy))
    assert type(made) is np.ndarray
    assert made.dtype == object
    assert made.flags.writeable
    assert made.tolist() == expected.tolist()
    assert made.flags.f_contiguous == expected.flags.f_contiguous


@pytest.mark.skipif(not IS_COMPILED, reason="the core in Python runs Python's functions")
def test_the_core_asks_python_for_no_element() -> None:
    array, item = _array(np, 4), Item()

    def use() -> None:
        array[1] = item
        array[2] = array[1]
        list(array)

    assert called_by(use) == ["use"]


def test_functions_that_may_not_run_on_the_host_leave_objects_alone() -> None:
    array = _array(np, 2)
    before = np.host_fallback()
    np.host_fallback("error")
    try:
        for use in (lambda: array[0], lambda: array.__setitem__(0, 1), lambda: np.empty(2, object)):
            with pytest.raises(TypeError):
                use()
    finally:
        np.host_fallback(before)
    assert array[0] is None


@pytest.mark.skipif(not IS_COMPILED, reason="the core in Python runs Python's functions")
@pytest.mark.parametrize("options", [{"dtype": object}, {}], ids=["by name", "in order"])
def test_the_core_makes_arrays_of_objects_on_every_device(options: dict[str, Any]) -> None:
    names = called_by(lambda: np.empty(3, *(() if options else (object,)), **options))
    assert not {"run", "empty"}.intersection(names)


def test_what_is_no_shape_or_has_no_objects_is_left_to_python() -> None:
    for make in (lambda x: x.full(3, object), lambda x: x.full(3, 1, object)):
        assert make(np).tolist() == make(numpy).tolist()
    for wrong in (-1, "3", 2.5):
        with pytest.raises((TypeError, ValueError)):
            np.empty(wrong, object)
    with pytest.raises(TypeError):
        np.full(3, object, float)


CALLS_OF_HOST: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "sum of objects": lambda xp, p, s, d: p + p,
    "by a number": lambda xp, p, s, d: p * 2,
    "compared": lambda xp, p, s, d: p < 2,
    "compared with a text": lambda xp, p, s, d: s != "c",
    "in place": lambda xp, p, s, d: operator.iadd(p, 1),
    "reduced": lambda xp, p, s, d: p.sum(),
    "a part": lambda xp, p, s, d: p[1:],
    "a part of texts": lambda xp, p, s, d: s[::-1],
    "reshaped": lambda xp, p, s, d: p.reshape(3, 1),
    "joined": lambda xp, p, s, d: xp.concatenate([p, p]),
    "sorted": lambda xp, p, s, d: xp.sort(s),
    "chosen": lambda xp, p, s, d: xp.where(s == "c", 1, 0),
    "between dates": lambda xp, p, s, d: d - d[0],
    "a date later": lambda xp, p, s, d: d + numpy.timedelta64(1, "D"),
    "another dtype": lambda xp, p, s, d: s.astype("U5"),
    "distinct": lambda xp, p, s, d: xp.unique(s),
}


def _of_host(xp: Any) -> tuple[Any, Any, Any]:
    p, s = numpy.array([1, 2.5, 3], object), numpy.array(["ab", "c", "de"])
    return tuple(map(xp.asarray, (p, s, numpy.array(["2020-01-01", "2021-02-03"], "M8[D]"))))


@pytest.mark.parametrize("name", CALLS_OF_HOST)
def test_calls_on_objects_texts_and_dates(name: str, residence: str) -> None:
    call = CALLS_OF_HOST[name]
    ours, numpys = call(np, *_of_host(np)), call(numpy, *_of_host(numpy))
    if isinstance(numpys, numpy.ndarray):
        assert type(ours) is np.ndarray
        assert (ours.dtype, ours.shape, ours.base is None) == (numpys.dtype, numpys.shape, numpys.base is None)
    numpy.testing.assert_array_equal(np.asnumpy(ours), numpys)
    if IS_COMPILED and residence == "auto":
        arrays = _of_host(np)
        assert not {"unasked", "on_host"} & set(called_by(functools.partial(call, np, *arrays)))


def test_a_call_that_raises_is_made_once() -> None:
    class Counting:
        times = 0

        def __add__(self, other: Any) -> Any:
            type(self).times += 1
            raise KeyError("of the element")

    x = np.array([Counting(), 1], dtype=object)
    with pytest.raises(KeyError, match="of the element"):
        x + 1
    assert Counting.times == 1


def test_a_list_becomes_an_element_itself() -> None:
    x, held = np.array([None, None], dtype=object), [1, 2]
    x.fill(held)
    assert x[0] is held
