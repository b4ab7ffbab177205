"""Cases of NumPy's own tests that failed here once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest

import gpunumpy as np
import gpunumpy.testing


class _FailingSequence:
    """Sequence whose elements cannot be had."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, k: int) -> Any:
        raise KeyError(k)


class _Prior:
    """Operand with a priority."""

    def __init__(self, priority: Any) -> None:
        self.__array_priority__ = priority

    def __radd__(self, x: Any) -> str:
        return "by the operand"


class _Unreadable:
    """Operand whose priority cannot be read."""

    @property
    def __array_priority__(self) -> Any:
        raise RuntimeError

    def __radd__(self, x: Any) -> str:
        return "by the operand"


def _sum_of_subclass(m: Any, y: Any) -> Any:
    class Own(m.ndarray):  # type: ignore[misc]
        __array_priority__ = -1000000.0

    return type(m.arange(2.0).view(Own) + y).__name__


def _knows_one_ufunc(m: Any) -> Any:
    """Return an object that knows `multiply` under the name that the program has for it."""

    class Knows:
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
            return (method, len(inputs), len(options.get("out", ()))) if ufunc is m.multiply else NotImplemented

    return Knows()


def _with_information(m: Any, make: str, *args: Any) -> Any:
    x = m.ma.array([1.0, 2.0], mask=[0, 1])
    x._optinfo["unit"] = "m"
    return getattr(m, make)(x, *args)._optinfo


def _masked_as_subclass(m: Any, dtype: Any) -> Any:
    class Own(m.ndarray):  # type: ignore[misc]
        pass

    x = m.ma.array([1, 2], mask=[0, 1])
    view = x.view(Own) if dtype is None else x.view(dtype, Own)
    return type(view).__name__, str(view.dtype), view.tolist()


def _applied(m: Any) -> Any:
    class Own(m.ndarray):  # type: ignore[misc]
        data = 1

        def __array_finalize__(self, x: Any) -> None:
            self.unit = getattr(x, "unit", None)

    class Other(m.ndarray):  # type: ignore[misc]
        pass

    of_class, plain = m.zeros((3, 2)).view(Own), m.arange(6).reshape(3, 2)
    of_class.unit = "m"
    results = [
        m.apply_along_axis(lambda x: x.data, 0, of_class),
        m.apply_along_axis(lambda x: len(x.unit), 0, of_class),
        m.apply_along_axis(lambda x: x * 2, 1, of_class),
        m.apply_along_axis(m.sum, 1, of_class),
        m.apply_along_axis(lambda x: m.asarray(x) + 1, 1, of_class),
        m.apply_along_axis(lambda x: x.view(Other), 1, of_class),
        m.apply_along_axis(lambda x: (x[::-1] * x[1:, None]).view(Other), 0, plain),
        m.apply_along_axis(lambda x: x.view(Other).sum(), 0, plain),
    ]
    return [(type(x).__name__, getattr(x, "unit", None), x.tolist()) for x in results]


def _begun_again(m: Any) -> Any:
    pairs = m.broadcast(m.arange(2), m.arange(2))
    first = next(pairs)
    next(pairs)
    pairs.reset()
    return pairs.index, next(pairs) == first


def _deleted_from_flat(m: Any) -> None:
    del m.ones(3).flat[0]


def _written_to_flat(value: Any, dtype: Any = "i2") -> Callable[[Any], Any]:
    def run(m: Any) -> Any:
        x = m.zeros(3, dtype)
        x.flat[0] = value
        return x.tolist()

    return run


_CASES: dict[str, Callable[[Any], Any]] = {
    "lexsort of a sequence that fails": lambda m: m.lexsort(_FailingSequence()),
    "lexsort of a dictionary": lambda m: m.lexsort({0: [1, 2]}),
    "lexsort of a range": lambda m: m.lexsort(range(3)).tolist(),
    "lexsort of nothing": lambda m: m.lexsort(()),
    "a class that knows a ufunc": lambda m: m.multiply(_knows_one_ufunc(m), 1),
    "beside an array": lambda m: m.multiply(m.ones(2), _knows_one_ufunc(m)),
    "with an output": lambda m: m.multiply(_knows_one_ufunc(m), 1, m.ones(2)),
    "another ufunc": lambda m: m.add(_knows_one_ufunc(m), 1),
    "zeros like a masked array": lambda m: _with_information(m, "zeros_like"),
    "ones like a masked array": lambda m: _with_information(m, "ones_like"),
    "full like a masked array": lambda m: _with_information(m, "full_like", 3),
    "masked array as a subclass": lambda m: _masked_as_subclass(m, None),
    "and of another dtype": lambda m: _masked_as_subclass(m, "f8"),
    "along an axis of a subclass": _applied,
    "complex number of a text": lambda m: complex(m.array("1")),
    "complex number of a StringDType": lambda m: complex(m.array("1", dtype="T")),
    "complex number of bytes": lambda m: complex(m.array(b"1")),
    "a priority that is no number": lambda m: (m.arange(2.0) + _Prior(b"x")).tolist(),
    "a priority that cannot be read": lambda m: (m.arange(2.0) + _Unreadable()).tolist(),
    "beside a subclass": lambda m: _sum_of_subclass(m, _Prior(None)),
    "beside a subclass, unreadable": lambda m: _sum_of_subclass(m, _Unreadable()),
    "a priority that is high": lambda m: m.arange(2.0) + _Prior(10),
    "broadcast with keywords": lambda m: m.broadcast(1, x=1),
    "broadcast that begins again": _begun_again,
    "range without an end": lambda m: m.arange(start=4),
    "range with a start by name": lambda m: m.arange(start=1, stop=4).tolist(),
    "range with two starts": lambda m: m.arange(1, 4, start=2),
    "deletion from flat": _deleted_from_flat,
    "nothing to flat": _written_to_flat(None),
    "nothing to flat of records": _written_to_flat(None, [("a", "i4"), ("b", "f8")]),
    "nothing to flat of objects": _written_to_flat(None, object),
    "text to flat": _written_to_flat("x"),
    "too much to flat": _written_to_flat(70000),
    "complex number to flat": _written_to_flat(1j, "f4"),
    "sequence to flat": _written_to_flat([1, 2]),
    "square of a truth value": lambda m: str((m.ones(3).any() ** 2).dtype),
    "square of truth values": lambda m: str((m.ones(3, bool) ** 2).dtype),
    "size of an array of objects": lambda m: sys.getsizeof(m.zeros(1000, object)) > 8000,
    "size of an array of texts": lambda m: sys.getsizeof(m.array(["long text"] * 100)) > 3600,
    "size of a view of texts": lambda m: sys.getsizeof(m.array(["long text"] * 100)[1:]) < 1000,
}


def _outcome(case: Callable[[Any], Any], module: Any) -> Any:
    try:
        return case(module)
    except Exception as error:
        return type(error)


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")  # of masked arrays in the residence "device"
@pytest.mark.parametrize("case", _CASES)
def test_case(device: np.Device, case: str) -> None:
    assert _outcome(_CASES[case], np) == _outcome(_CASES[case], numpy)


def _written(write: Callable[[Any, Any, Any], Any], dtype: str, value: Any, m: Any) -> Any:
    x = m.zeros(5, dtype)
    result = write(m, x, value)
    return (x if result is None else result).tolist()


_WAYS_OF_WRITING: dict[str, Callable[[Any, Any, Any], Any]] = {
    "an element": lambda m, x, v: x.__setitem__(0, v),
    "a window": lambda m, x, v: x.__setitem__(slice(None), v),
    "a window of an axis more": lambda m, x, v: x.__setitem__((slice(None), None), v),
    "a mask": lambda m, x, v: x.__setitem__(x == 0, v),
    "an array of indices": lambda m, x, v: x.__setitem__(m.array([0, 2]), v),
    "a list of indices": lambda m, x, v: x.__setitem__([0, 2], v),
    "True": lambda m, x, v: x.__setitem__(True, v),
    "flat": lambda m, x, v: x.flat.__setitem__(0, v),
    "all of flat": lambda m, x, v: x.flat.__setitem__(slice(None), v),
    "fill": lambda m, x, v: x.fill(v),
    "put": lambda m, x, v: m.put(x, [0, 1], v),
    "place": lambda m, x, v: m.place(x, x == 0, v),
    "putmask": lambda m, x, v: m.putmask(x, x == 0, v),
    "put_along_axis": lambda m, x, v: m.put_along_axis(x, m.array([0, 1]), v, 0),
    "copyto": lambda m, x, v: m.copyto(x, v, casting="unsafe"),
    "full": lambda m, x, v: m.full(3, v, x.dtype),
    "fill_diagonal": lambda m, x, v: m.fill_diagonal(x[:, None], v),
    "insert": lambda m, x, v: m.insert(x, 1, v),
    "add": lambda m, x, v: m.add(x, v),
    "pad": lambda m, x, v: m.pad(x, 1, constant_values=v),
    "two constants of pad": lambda m, x, v: m.pad(x, 1, constant_values=(v, v)),
    "constants of pad for two axes": lambda m, x, v: m.pad(x[:, None], 1, constant_values=[[1, v], [2, 3]]),
    "initial value of a sum": lambda m, x, v: m.sum(x, initial=v),
    "initial value of a maximum": lambda m, x, v: m.max(x, initial=v),
    "+=": lambda m, x, v: x.__iadd__(v),
}


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("way", _WAYS_OF_WRITING)
def test_integers_that_a_dtype_does_not_hold(device: np.Device, way: str, dtype: str) -> None:
    for value in (
        *(70000, -1, 2**40, 2**63, numpy.int64(70000), numpy.int32(-1)),
        *(numpy.uint64(2**64 - 1), numpy.float64(70000.5), 70000.5),
    ):
        case = partial(_written, _WAYS_OF_WRITING[way], dtype, value)
        mine, theirs = (_outcome(case, m) for m in (np, numpy))
        assert mine == theirs, repr(value)


_MODELS: dict[str, Callable[[Any], Any]] = {
    "empty": lambda m: m.array(()),
    "0-d": lambda m: m.array(1),
    "1-d": lambda m: m.arange(6),
    "backwards": lambda m: m.arange(6)[::-1],
    "C": lambda m: m.arange(6).reshape(2, 3),
    "F": lambda m: m.arange(6).reshape(2, 3).T,
    "3-d": lambda m: m.arange(24).reshape(2, 3, 4).swapaxes(0, 1),
}


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("shape", [(), (5,), (5, 6), (5, 6, 7)])
@pytest.mark.parametrize("model", _MODELS)
def test_memory_order_of_arrays_like_one_of_another_shape(
    device: np.Device, model: str, shape: tuple[int, ...], order: str
) -> None:
    mine, theirs = (m.zeros_like(_MODELS[model](m), shape=shape, order=order) for m in (np, numpy))
    assert mine.strides == theirs.strides


def test_testing_takes_objects_whose_array_is_of_this_package(device: np.Device) -> None:
    class Holder:
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            return np.arange(3)

    gpunumpy.testing.assert_array_equal(Holder(), [0, 1, 2])
    gpunumpy.testing.assert_equal(np.arange(3), Holder())
    with pytest.raises(AssertionError):
        gpunumpy.testing.assert_array_equal(Holder(), [0, 1, 3])


def test_testing_runs_text_with_the_arrays_of_the_program(device: np.Device) -> None:
    x = np.zeros(2)
    gpunumpy.testing.runstring("x[0] = 3", {"x": x})
    assert x.tolist() == [3, 0]


_LONG, _SINGLE = numpy.longdouble, numpy.float32
_GRIDS: dict[str, Any] = {
    "float": numpy.s_[0.1:0.33:0.1],
    "float32": numpy.s_[_SINGLE(0.1) : _SINGLE(0.33) : _SINGLE(0.1)],
    "float32 in a tuple": numpy.s_[_SINGLE(0.1) : _SINGLE(0.33) : _SINGLE(0.1),],
    "longdouble in a tuple": numpy.s_[_LONG(0.1) : _LONG(0.33) : _LONG(0.1),],
    "number of longdoubles": numpy.s_[0 : _LONG(1) : 3.4j],
    "number by a clongdouble": numpy.s_[0.1 : 0.3 : numpy.clongdouble(3.3j)],
    "integers": numpy.s_[numpy.int8(1) : 5],
    "none": numpy.s_[3:3],
    "down": numpy.s_[5:0:-1],
    "one": numpy.s_[0:1:1j],
    "two axes": numpy.s_[0:1:5j, 0:3],
}


@pytest.mark.parametrize("key", _GRIDS)
@pytest.mark.parametrize("name", ["mgrid", "ogrid"])
def test_dtypes_of_grids(device: np.Device, name: str, key: str) -> None:
    mine, theirs = (getattr(m, name)[_GRIDS[key]] for m in (np, numpy))
    pairs = zip(mine, theirs, strict=True) if isinstance(theirs, tuple) else [(mine, theirs)]
    for x, expected in pairs:
        assert x.dtype == expected.dtype
        gpunumpy.testing.assert_allclose(x, expected, rtol=1e-6)


@pytest.mark.parametrize("mode", ["clip", "wrap", "raise", ("clip", "raise", "wrap")])
@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("dims", [(2, 1, 0), (0, 2, 2), (2, 1, 3)])
def test_positions_in_an_empty_array(device: np.Device, dims: tuple[int, ...], count: int, mode: Any) -> None:
    mine, theirs = (
        _outcome(lambda m: m.ravel_multi_index(m.zeros((3, count), int), dims, mode=mode).tolist(), m)
        for m in (np, numpy)
    )
    assert mine == theirs


MATRIX = [[1, 2]]


def _local_matrix(m: Any, text: str, *names: Any) -> Any:
    B = m.array([[3.5, 4]])  # noqa: F841 - the text names it
    return m.bmat(text, *names)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning", "ignore::gpunumpy.HostFallbackWarning")
@pytest.mark.parametrize("text", ["MATRIX, B; B, MATRIX", "B", "B; C"])
def test_texts_of_matrices_name_what_the_program_has(device: np.Device, text: str) -> None:
    calls: list[Callable[[Any], Any]] = [
        lambda m: _local_matrix(m, text),
        lambda m: _local_matrix(m, text, {"B": m.zeros((1, 2))}, {"C": m.ones((1, 2)), "MATRIX": m.ones((1, 2))}),
    ]
    for call in calls:
        mine, theirs = (_outcome(lambda m, call=call: call(m).tolist(), m) for m in (np, numpy))
        assert mine == theirs


def _remembering(m: Any, calls: list[str]) -> Any:
    """Return a class that makes what is to be like its arrays."""

    class Remembering(m.ndarray):  # type: ignore[misc]
        def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
            calls.append(function.__name__)
            return super().__array_function__(function, types, args, options).view(Remembering)

    return Remembering


@pytest.mark.parametrize("name", ["loadtxt", "genfromtxt"])
def test_readers_of_files_ask_the_class_that_results_are_to_be_like(device: np.Device, name: str) -> None:
    found = []
    for m in (np, numpy):
        calls: list[str] = []
        like = m.zeros(1).view(_remembering(m, calls))
        made = getattr(m, name)(["1 2"], like=like)
        found.append((type(made) is type(like), made.tolist(), calls))
    assert found[0] == found[1]


def _held(m: Any, x: Any) -> Any:
    class Holder:
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            return m.array(x)

    return Holder()


def _rows_written(m: Any, row: Any) -> Any:
    x = m.zeros((2, 2))
    x[:] = [row, [5, 6]]
    x[0, :] += 1
    return x


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
@pytest.mark.parametrize("residence", ["auto", "device"])
def test_lists_with_objects_that_hold_arrays_of_this_package(device: np.Device, residence: str) -> None:
    np.set_residence(residence)
    calls: list[Callable[[Any], Any]] = [
        lambda m: _rows_written(m, _held(m, [1, 2])),
        lambda m: _rows_written(m, _held(m, [1, 2, 3])),
        lambda m: m.vectorize(len)(_held(m, ["a", "bc"])),
        lambda m: m.vectorize(lambda x: x + 1)(_held(m, [1, 2])),
    ]
    for call in calls:
        mine, theirs = (_outcome(lambda m, call=call: call(m).tolist(), m) for m in (np, numpy))
        assert mine == theirs


def test_lists_of_objects_hold_arrays_of_subclasses_themselves(device: np.Device) -> None:
    found = []
    for m in (np, numpy):
        kind = type("Own", (m.ndarray,), {})
        x, y = m.arange(2).view(kind), m.array(1.5).view(kind)
        made = m.array([[x, None], [y, [1]]], dtype=object), m.array([x, m.arange(3)], dtype=object)
        found.append((made[0][0, 0] is x, made[0][1, 0] is y, made[0].shape, made[1][0] is x, type(made[0]) is kind))
    assert found[0] == found[1]
