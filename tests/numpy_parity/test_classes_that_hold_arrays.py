"""Objects that hold arrays, subclasses in arrays of objects, and classes of errors, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy


class _Holder:
    def __init__(self, held: Any) -> None:
        self.held = held

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.held

    def __repr__(self) -> str:
        return "holder"


class _Delegate(_Holder):
    """Has the attributes of what it holds, such as a mask."""

    def __getattr__(self, name: str) -> Any:
        if name == "held":
            raise AttributeError(name)
        return getattr(self.held, name)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.asarray(self.held.data)


def _assigned(np: Any, value: Any, key: Any = slice(None), shape: Any = 2) -> Any:
    objects = np.empty(shape, object)
    objects[key] = value
    return objects


def _iterated(np: Any, *operands: Any) -> Any:
    with np.nditer(operands) as iterator:
        for *read, written in iterator:
            written[...] = sum(read)
        return iterator.operands[-1]


def _pairs(np: Any) -> Any:
    made = np.frompyfunc(lambda a, b: 10 * a + b, 2, 1)
    assert isinstance(made, np.ufunc)
    assert made.reduce([1, 2, 3]) == 123
    assert (made.nin, made.nout, made(1, 2)) == (2, 1, 12)
    return made


CALLS = """
np.array([h, 1], dtype=object)
np.array([h, h], dtype=object)
np.array([[h, 1], [2, h]], dtype=object)
np.array((1, [h]), dtype=object)
_assigned(np, [1, h])
_assigned(np, [h, h])
_assigned(np, (1, h), slice(0, 2), 3)
_assigned(np, [[1, h], [h, 2]], slice(None), (2, 2))
_assigned(np, [1, h], 0)
_assigned(np, [1, 2, h])
np.add(np.arange(3), 2**70, out=np.zeros(3, bool))
np.add(np.arange(3), 2, out=np.zeros(3, bool))
np.add(np.arange(3.0), 2**70, out=np.zeros(3, int))
np.matmul(b, b, out=np.zeros((2, 2), int))
np.matmul(b, b, dtype=int)
np.vecdot(b, b, out=np.zeros(2, int))
np.ma.array(_Delegate(np.ma.array([1, 2], mask=[0, 1])))
np.ma.array(_Delegate(np.ma.array([1, 2], mask=[0, 1], fill_value=7)), mask=[1, 0])
np.ma.array(_Delegate(np.ma.array([1, 2])))
np.ma.array(_Delegate(np.ma.array([1, 2], mask=[0, 1])), keep_mask=False)
np.ma.array(h)
_pairs(np)([1, 2], [3, 4])
_pairs(np)(np.arange(3), 1)
_pairs(np).outer([1, 2], [3, 4])
_pairs(np).outer(np.arange(2), [3, 4])
_pairs(np).accumulate([1, 2, 3])
_pairs(np).reduceat([1, 2, 3], [0, 2])
_iterated(np, np.arange(3), None)
_iterated(np, [1, 2], None)
_iterated(np, np.arange(3.0), np.ones((2, 1)), None)
""".strip().splitlines()


def _outcome(np: Any, text: str) -> Any:
    names = {"np": np, "h": _Holder(np.arange(3)), "b": np.ones((2, 2)), **globals()}
    try:
        made = eval(text, names)
    except Exception as error:
        return type(error)
    assert isinstance(made, (np.ndarray, np.ma.MaskedArray))
    fill_value = made.fill_value if isinstance(made, np.ma.MaskedArray) else None
    return repr(made.tolist()), made.dtype, made.shape, fill_value


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("text", CALLS)
def test_calls_are_numpys(text: str, residence: str) -> None:
    gpunumpy.set_residence(residence)
    assert _outcome(gpunumpy, text) == _outcome(numpy, text)


def _class_over(np: Any) -> Any:
    class Own(np.ndarray):  # type: ignore[misc]
        def __array_finalize__(self, source: Any) -> None:
            self.source = type(source).__name__

    return Own


@pytest.mark.parametrize("call", ["packbits(x)", "packbits(x, axis=0)", "unpackbits(x)"])
def test_packed_bits_are_finalized_from_nothing(call: str) -> None:
    def made(np: Any) -> Any:
        packed = eval(f"np.{call}", {"np": np, "x": np.ones(9, "u1").view(_class_over(np))})
        return packed.tolist(), type(packed).__name__, packed.source

    assert made(gpunumpy) == made(numpy)


@pytest.mark.parametrize(("shape", "key", "is_in_list"), [((), (), False), (2, 0, False), (2, slice(None), True)])
def test_arrays_of_objects_hold_subclasses(shape: Any, key: Any, is_in_list: bool) -> None:
    def held(np: Any) -> Any:
        part = np.arange(3).view(_class_over(np))
        objects = _assigned(np, [part, 1] if is_in_list else part, key, shape)
        return [type(x).__name__ for x in objects.ravel()]

    assert held(gpunumpy) == held(numpy)


def test_an_array_that_an_iterator_has_allocated_shows_what_it_writes() -> None:
    with gpunumpy.nditer([gpunumpy.arange(3), None]) as iterator:
        made = iterator.operands[1]
        for x, y in iterator:
            y[...] = 2 * x
    assert type(made) is gpunumpy.ndarray
    assert made.tolist() == [0, 2, 4]
