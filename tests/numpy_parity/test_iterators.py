"""NumPy's iterators over arrays of this package, what they read and what they write, beside NumPy."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from tests.support.arrays import to_host

WRITABLE = {"op_flags": ["readwrite"]}


def _with_statement(np: Any, x: Any) -> None:
    with np.nditer(x, **WRITABLE) as places:
        for place in places:
            place[...] = 2 * place


def _loop(np: Any, x: Any) -> None:
    for place in np.nditer(x, **WRITABLE):
        place += 1


def _loop_left(np: Any, x: Any) -> None:
    for place in np.nditer(x, order="C", **WRITABLE):
        place += 5
        if place > 7:
            break


def _positions(np: Any, x: Any) -> None:
    places = np.nditer(x, ["multi_index"], ["writeonly"])
    while not places.finished:
        places[0] = 10 * places.multi_index[0] + places.index if places.has_index else sum(places.multi_index)
        places.iternext()


def _rows(np: Any, x: Any) -> None:
    with np.nditer(x, flags=["external_loop"], order="F", **WRITABLE) as rows:
        for row in rows:
            row[...] = row[::-1].copy()


def _to_another(np: Any, x: Any) -> None:
    with np.nditer([x[0], x[1]], [], [["readonly"], ["writeonly"]]) as pairs:
        for source, target in pairs:
            target[...] = source * 3


def _buffered(np: Any, x: Any) -> None:
    with np.nditer(x, ["buffered"], op_dtypes=["f4"], casting="same_kind", **WRITABLE) as places:
        for place in places:
            place[...] = place / 2


def _twice(np: Any, x: Any) -> None:
    places = np.nditer(x, **WRITABLE)
    for place in places:
        place += 1
    places.reset()
    for place in places:
        place *= 2


def _later_than_another_write(np: Any, x: Any) -> None:
    places = np.nditer(x, **WRITABLE)
    places[0] = 7
    places.close()
    x[...] = 3
    del places
    gc.collect()


def _nested(np: Any, x: Any) -> None:
    rows, columns = np.nested_iters(x, [[0], [1]], **WRITABLE)
    for _ in rows:
        for place in columns:
            place[...] = place * place


def _copied(np: Any, x: Any) -> None:
    places = copy.copy(np.nditer(x, **WRITABLE))
    for place in places:
        place -= 1


WRITES: tuple[Callable[[Any, Any], None], ...] = (
    *(_with_statement, _loop, _loop_left, _positions, _rows, _to_another, _buffered, _twice),
    *(_later_than_another_write, _nested, _copied),
)
ARRAYS: dict[str, Callable[[Any], Any]] = {
    "numbers": lambda np: np.arange(6.0).reshape(2, 3),
    "a view": lambda np: np.arange(24.0).reshape(4, 6)[::-2, 1::2],
    "transposed": lambda np: np.arange(6.0).reshape(3, 2).T,
    "single precision": lambda np: np.arange(6, dtype="f4").reshape(2, 3) + 1,
    "the other byte order": lambda np: np.asarray(numpy.arange(6.0).reshape(2, 3).astype(">f8")),
    "a field": lambda np: np.asarray(numpy.zeros((2, 3), [("n", "i2"), ("x", "f8")]))["x"],
}


@pytest.mark.parametrize("make", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("write", WRITES)
def test_what_iterators_write(write: Callable[[Any, Any], None], make: Callable[[Any], Any]) -> None:
    x, reference = make(gpunumpy), make(numpy)
    write(gpunumpy, x)
    write(numpy, reference)
    numpy.testing.assert_array_equal(to_host(x), reference, strict=True)


def test_what_iterators_write_on_a_device(device: str) -> None:
    for write in WRITES:
        x, reference = (
            gpunumpy.arange(600.0, device=device).reshape(2, 300) + 1,
            numpy.arange(600.0).reshape(2, 300) + 1,
        )
        write(gpunumpy, x)
        write(numpy, reference)
        numpy.testing.assert_array_equal(to_host(x), reference, strict=True)


def test_what_iterators_write_is_seen_by_views() -> None:
    x = gpunumpy.arange(6.0)
    pending, even = x * 2, x[::2]
    _loop(gpunumpy, x[1:])
    assert even.tolist() == [0, 3, 5]
    assert pending.tolist() == [0, 2, 4, 6, 8, 10]


def test_an_array_that_moves_between_the_steps() -> None:
    x = gpunumpy.arange(6.0)
    places = gpunumpy.nditer(x, **WRITABLE)
    before = gpunumpy.set_residence("device")
    total = (x + 1).sum()
    for place in places:
        place += 1
    gpunumpy.set_residence(before)
    assert total == 21
    assert x.tolist() == [1, 2, 3, 4, 5, 6]


def test_iterators_refuse_what_numpy_refuses() -> None:
    for np in (gpunumpy, numpy):
        fixed = np.broadcast_to(np.arange(3), (2, 3))
        for iterate in (
            lambda np=np, fixed=fixed: np.nditer(fixed, **WRITABLE),
            lambda np=np: np.nditer(np.arange(3), op_flags=["readwrites"]),
            lambda np=np: np.nested_iters(np.arange(3), [[0]], **WRITABLE, op_dtypes=["f4"]),
        ):
            with pytest.raises((ValueError, TypeError)):
                iterate()


def test_classes_of_iterators() -> None:
    x = gpunumpy.arange(3.0)
    assert [float(place) for place in gpunumpy.nditer(x)] == [0, 1, 2]
    for iterator in (gpunumpy.nditer([x, None]), gpunumpy.nditer(x, **WRITABLE), numpy.nditer(numpy.zeros(2))):
        assert isinstance(iterator, gpunumpy.nditer)
    assert not isinstance(x, gpunumpy.nditer)
    assert len(gpunumpy.nditer([x, x], op_flags=[["readonly"], ["readwrite"]])) == 2
    host = numpy.zeros(3)
    for source, target in gpunumpy.nditer([x, host], op_flags=[["readonly"], ["readwrite"]]):
        target[...] = source
    assert host.tolist() == x.tolist()


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize(
    "key", [slice(None, None, -1), (slice(None), slice(None, None, -1)), (slice(None, None, -2),) * 2]
)
def test_arrays_that_run_backwards_are_gone_through_in_the_order_of_memory(key: Any, residence: str) -> None:
    values = numpy.arange(12.0).reshape(3, 4)
    gpunumpy.set_residence(residence)
    arrays: list[Any] = [values.copy(), gpunumpy.asarray(values)]
    read, written = [], []
    for xp, x in zip((numpy, gpunumpy), arrays, strict=True):
        read.append([float(place) for place in xp.nditer(x[key])])
        for k, place in enumerate(xp.nditer(x[key], op_flags=["writeonly"])):
            place[...] = k
        written.append(x.tolist())
    assert read[0] == read[1]
    assert written[0] == written[1]


def _flat_elements(np: Any) -> list[Any]:
    """Return what several uses of `flat` say: positions, elements, and what an array that moves meanwhile has."""
    x = np.arange(12.0).reshape(3, 4)
    places = x[:, ::2].flat
    seen = [float(next(places)), places.index, places.coords]
    for k, element in enumerate(places):
        seen += [float(element), places.index, places.coords]
        if k == 1:
            if np is gpunumpy:
                np.set_residence("device")
            x *= 10
        if k == 3:
            assert float(places[1]) == 20  # which begins again
        if k == 5:
            break
    texts = np.array(["a", "bc"]).flat
    return [*seen, float(next(places)), str(next(texts)), [str(text) for text in texts], texts.index]


@pytest.mark.parametrize("residence", ["auto", "device"])
def test_the_elements_of_flat(residence: str) -> None:
    gpunumpy.set_residence(residence)
    assert _flat_elements(gpunumpy) == _flat_elements(numpy)


def test_elements_of_flat_on_the_host_are_those_of_numpy() -> None:
    gpunumpy.set_residence("auto")
    x = gpunumpy.arange(3.0)
    assert {type(element) for element in x.flat} == {numpy.float64}
    objects = numpy.empty(1, object)
    objects[0] = x
    assert next(iter(gpunumpy.asarray(objects).flat)) is x


KEYS = (1.5, -1.0, 99.0, "a", None, ..., True, (1,), (1, 2), [True, False], [], [1.0], numpy.array(2.0), [2, 0])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_keys_of_flat(key: Any, residence: str) -> None:
    gpunumpy.set_residence(residence)
    outcomes: list[Any] = []
    for xp in (gpunumpy, numpy):
        try:
            found = xp.arange(12.0).reshape(3, 4).flat[key]
            outcomes.append((found.shape, found.tolist()))
        except (IndexError, DeprecationWarning) as error:
            outcomes.append((type(error), str(error)))
    assert outcomes[0] == outcomes[1]
