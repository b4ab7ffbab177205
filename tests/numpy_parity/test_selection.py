"""Selecting and writing elements against NumPy, over all dtypes and many shapes; none of it runs on the host."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy
import pytest

import gpunumpy as np

from ..support.arrays import from_host
from .parity import check, sample

DTYPES = ("?", "i1", "u4", "i8", "e", "f", "d", "F", ml_dtypes.bfloat16)
SHAPES: tuple[tuple[int, ...], ...] = ((), (0,), (5,), (3, 4), (2, 0, 3), (2, 3, 2))
MODES = ("raise", "wrap", "clip", 0, 1, 2, None, "x")
INDICES: tuple[Any, ...] = (
    *([0, 1], [[0, -1], [1, 0]], 1, -1, [7, -9], [], [True, False], [1.0]),
    *(numpy.array([0, 1]), numpy.array(1), numpy.array([], int), numpy.array([0], "u8"), numpy.array([1.0])),
)
CONDITIONS = ([True, False, True], [1, 0], [], [[True]], [0, 0, 0, 0, 0, 0, 0, 1], numpy.array([1.0, 0.0]), True)


@pytest.fixture(autouse=True)
def _nothing_on_the_host() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def array(dtype: Any, shape: tuple[int, ...]) -> Any:
    return numpy.asarray(sample(dtype, shape, 1))


def seen_at_once(indices: Any, size: int) -> bool:
    """Whether an error of these indices comes at once, as those of the host do, and not where the host next looks."""
    return not (isinstance(indices, numpy.ndarray) and indices.size and indices.max() >= size)


def written(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A function of both modules that writes into its first argument, as one that returns what was written."""

    def of(module: Any) -> Callable[..., Any]:
        def run(a: Any, *args: Any) -> Any:
            a = a.copy()
            getattr(module, name)(a, *args)
            return a

        return run

    return of(np), of(numpy)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_found(dtype: Any, shape: tuple[int, ...]) -> None:
    a, mask = array(dtype, shape), array("?", shape)
    for name in ("nonzero", "flatnonzero", "argwhere"):
        check(getattr(np, name), getattr(numpy, name), a)
    check(lambda x: x.nonzero(), lambda x: x.nonzero(), a)
    for given in (mask, array("i8", shape), array("d", shape)):
        check(np.extract, numpy.extract, given, a)
        for values in (array(dtype, (2,)), 5, [], [1, 2]):
            check(*written("place"), a, given, values)
            check(*written("putmask"), a, given, values)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", SHAPES)
def test_taken(shape: tuple[int, ...], mode: Any) -> None:
    a = array("i8", shape)
    for indices in INDICES:
        for axis in (None, 0, 1, -1):
            if seen_at_once(indices, min(a.shape or (1,)) if axis is not None else a.size):
                check(np.take, numpy.take, a, indices, axis, mode=mode)
                check(np.ndarray.take, numpy.ndarray.take, a, indices, axis, mode=mode)
        if not seen_at_once(indices, a.size):
            continue
        for values in (array("i8", (3,)), 5, []):
            check(*written("put"), a, indices, values, mode)


def test_taken_from_nothing() -> None:
    for shape in ((0,), (0, 3), (2, 0), (3, 0, 0)):
        for indices in ([-1], [0, 5], [], [[]]):
            for axis in (None, *range(len(shape))):
                check(np.take, numpy.take, array("f", shape), indices, axis)


def test_modes_by_numbers() -> None:
    with pytest.raises(ValueError, match="integer clipmode must be RAISE, WRAP, or CLIP"):
        np.take([1], [0], mode=7)


def test_taken_into() -> None:
    def taken(np_: Any, dtype: str, n: int) -> Any:
        out = np_.zeros(n, dtype)
        try:
            assert np_.take(np_.asarray(a), [1, 9], None, out, "wrap") is out
        except (TypeError, ValueError) as error:
            return type(error)
        return out.tolist()

    a = array("i4", (5,))
    for dtype in ("i2", "i4", "i8", "d"):
        for n in (2, 3):
            assert taken(np, dtype, n) == taken(numpy, dtype, n)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES[::3])
def test_compressed(dtype: Any, shape: tuple[int, ...]) -> None:
    a = array(dtype, shape)
    for condition in CONDITIONS:
        for axis in (None, 0, -1, 3):
            check(np.compress, numpy.compress, condition, a, axis)
            check(lambda x, *rest: x.compress(*rest), lambda x, *rest: x.compress(*rest), a, condition, axis)


@pytest.mark.parametrize("shape", SHAPES[1:])
@pytest.mark.parametrize("dtype", DTYPES)
def test_along_an_axis(dtype: Any, shape: tuple[int, ...]) -> None:
    a = array(dtype, shape)
    for axis in (0, -1, None):
        indices = numpy.argsort(array("i8", shape), axis)
        check(np.take_along_axis, numpy.take_along_axis, a, indices, axis)
        for values in (5, indices.astype(dtype)):
            check(*written("put_along_axis"), a, indices, values, axis)
    check(np.take_along_axis, numpy.take_along_axis, a, numpy.zeros(shape, int), 5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", SHAPES)
def test_chosen(shape: tuple[int, ...], mode: Any) -> None:
    number = abs(array("i8", shape)) % 2
    for dtype in DTYPES:
        a = array(dtype, shape)
        for choices in ([a, a], [a, 5], [a, 2.5], [a], [1, 2]):
            check(
                lambda n, m, *c: np.choose(n, c, mode=m),
                lambda n, m, *c: numpy.choose(n, c, mode=m),
                number,
                mode,
                *choices,
            )
            check(
                lambda n, m, *c: n.choose(c, mode=m), lambda n, m, *c: n.choose(c, mode=m), number + 1, mode, *choices
            )
        check(np.choose, numpy.choose, number, numpy.stack([a, a]), mode=mode)


def test_none_is_chosen() -> None:
    empty, column = array("f", (0, 3)), numpy.array([[7], [-9]])
    for choices in ([empty, 1], [array("f", (0, 1)), empty], [empty]):
        check(lambda n, *c: np.choose(n, c), lambda n, *c: numpy.choose(n, c), column[:1], *choices)
        check(lambda n, *c: np.choose(n, c), lambda n, *c: numpy.choose(n, c), column, *choices)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_default_of_any_value(dtype: Any) -> None:
    a = array(dtype, (5,))
    for default in (-1, 300, 2.5, 1e300, 1j, numpy.uint8(7), True):
        check(
            lambda a, d: np.select([a == a[0], a == a[1]], [a, a[::-1]], d),
            lambda a, d: numpy.select([a == a[0], a == a[1]], [a, a[::-1]], d),
            a,
            default,
        )


def test_chosen_into() -> None:
    number = numpy.array([0, 1])
    for dtype in ("i1", "d"):
        out = np.zeros(2, dtype)
        assert np.choose(from_host(number), [3, 4], out=out) is out
        assert out.tolist() == [3, 4]
    with pytest.raises(TypeError, match="invalid shape for output"):
        np.choose(number, [3, 4], out=np.zeros(3))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_piecewise(dtype: Any, shape: tuple[int, ...]) -> None:
    a, mask = array(dtype, shape), array("?", shape)
    for functions in ([1, _doubled], [_doubled, 2.5], [_doubled]):
        check(
            lambda x, m, f=functions: np.piecewise(x, [m, ~m][: len(f)], f),
            lambda x, m, f=functions: numpy.piecewise(x, [m, ~m][: len(f)], f),
            *(a, mask),
        )
    for rest, named in ((([_doubled, 1], 3), {}), (([_doubled, 1],), {"by": 1}), (([1],), {}), (([1, 2, 3],), {})):
        for alone in (False, True):
            check(
                lambda x, m, *r, one=alone, **k: np.piecewise(x, m if one else [m], *r, **k),
                lambda x, m, *r, one=alone, **k: numpy.piecewise(x, m if one else [m], *r, **k),
                *(a, mask, *rest),
                **named,
            )


def test_piecewise_of_a_number() -> None:
    for xp in (np, numpy):
        x = xp.array(3.0)
        made = [float(xp.piecewise(x, c, [4, 0])) for c in (x > 3, x > 1, [x > 1], [x > 3, x > 1], True)]
        assert made == [0, 4, 4, 0, 4]


def _doubled(x: Any, by: int = 2) -> Any:
    return x * by


def test_piecewise_of_python_data() -> None:
    for args in (([1, 2, 3], [True, False, True], [1, 2]), (2.0, [True], [lambda x: -x]), (-2, [True, False], [1, 2])):
        check(np.piecewise, numpy.piecewise, *args)


@pytest.mark.parametrize("dtype", DTYPES)
def test_differences(dtype: Any) -> None:
    for shape in SHAPES:
        a = array(dtype, shape)
        for n in (0, 1, 3, -1, 7):
            for axis in (-1, 0, 2):
                check(np.diff, numpy.diff, a, n, axis)
                if shape:
                    check(np.diff, numpy.diff, a, n, axis, prepend=a, append=1)
