"""NumPy's loops run by the core: over windows, rows and columns as NumPy runs them, and in memory that nobody needs."""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
import pickle
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.arrays import numpy_protocols
from gpunumpy.core._native import IS_COMPILED

from .test_draws import called_by

OPERATORS = (operator.add, operator.sub, operator.mul, operator.lt, operator.truediv, operator.and_)
IN_PLACE = (operator.iadd, operator.isub, operator.imul)
DTYPES = ("f8", "f4", "i8", "u1", "?", "c16")
KEYS: tuple[Any, ...] = (
    *(..., slice(1, -1), slice(None, None, 2), slice(None, None, -1), None, (slice(None), None), 0),
    *((..., slice(1, None)), (..., 1), (slice(1, 3), slice(None, -1)), (None, slice(2))),
)
# Before Python 3.14 temporaries are found by reference counts, which other threads change where there is no GIL.
KNOWS_TEMPORARIES = IS_COMPILED and (sys.version_info >= (3, 14) or "t" not in getattr(sys, "abiflags", ""))
ELEMENTS = 1 << 16  # of float64: a result as large can be in the memory of an operand


@pytest.fixture(autouse=True)
def on_the_host() -> Iterator[None]:
    before = np.set_residence("auto")
    yield
    np.set_residence(before)


def _window(x: Any, seed: int) -> Any:
    """Return a view by some of the keys that `seed` chooses, the same of either library."""
    chosen = numpy.random.default_rng(seed)
    for _ in range(chosen.integers(3)):
        if chosen.random() < 0.3:
            x = x.T
        elif x.ndim > 1:
            with suppress(IndexError):
                x = x[KEYS[chosen.integers(len(KEYS))]]
    return x


def _outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except (TypeError, ValueError) as error:
        return type(error)


def _alike(found: Any, expected: Any) -> None:
    if isinstance(expected, type):
        assert found is expected
        return
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if isinstance(expected, numpy.ndarray) and expected.size:
        steps = [pair for pair, length in zip(zip(found.strides, expected.strides), expected.shape) if length > 1]
        assert all(step == expected_step for step, expected_step in steps)
    numpy.testing.assert_array_equal(np.asnumpy(found), expected)


@pytest.mark.parametrize("seed", range(40))
def test_windows_rows_and_columns(seed: int) -> None:
    rng = numpy.random.default_rng(seed)
    with numpy.errstate(all="ignore"):
        for _ in range(40):
            ndim = int(rng.integers(1, 4))
            shape = tuple(int(n) for n in rng.integers(1, 6, ndim))
            order, dtype = "CF"[rng.integers(2)], DTYPES[rng.integers(len(DTYPES))]
            data = [numpy.asarray(rng.integers(0, 9, shape).astype(dtype), order=order) for _ in range(2)]  # type: ignore[call-overload]
            ours = [np.array(x, order=order) for x in data]
            seeds = rng.integers(1 << 30, size=2)
            windows = [[_window(x, s) for x, s in zip(arrays, seeds, strict=True)] for arrays in (ours, data)]
            if rng.random() < 0.2:
                for pair in windows:
                    pair[int(seeds[0] % 2)] = 3
            if rng.random() < 0.2:  # of one array, which may overlap
                windows = [[_window(x[0], s) for s in seeds] for x in (ours, data)]
            functions = OPERATORS if rng.random() < 0.7 else IN_PLACE
            function = functions[rng.integers(len(functions))]
            if isinstance(windows[1][0], int) and functions is IN_PLACE:
                continue
            _alike(_outcome(function, *windows[0]), _outcome(function, *windows[1]))
            for mine, theirs in zip(ours, data, strict=True):
                numpy.testing.assert_array_equal(np.asnumpy(mine), theirs)


SCALAR_OPERATORS = (*OPERATORS, operator.pow, operator.floordiv, operator.mod, operator.lshift, *IN_PLACE)


@pytest.mark.parametrize("dtype", [*DTYPES, "i4", "f2"])
def test_scalars(dtype: str) -> None:
    """With each other, with numbers of Python and with NumPy's scalars, on either side."""
    data = numpy.asarray([2, 0, 3], dtype)
    mine = np.asarray(data)
    others = (2, 0.5, True, numpy.float64(1.5), numpy.float32(2), numpy.int64(3), numpy.bool_(True))
    with numpy.errstate(all="ignore"):
        for k, function in itertools.product(range(3), SCALAR_OPERATORS):
            pairs = [((mine[k], mine[2]), (data[k], data[2])), ((mine, data[k]), (data.copy(), data[k]))]
            pairs += [((mine[k], x), (data[k], x)) for x in others] + [((x, mine[k]), (x, data[k])) for x in others]
            for ours, theirs in pairs:
                if function in IN_PLACE and not numpy.ndim(theirs[0]):
                    mine = np.asarray(data)
                _alike(_outcome(function, *ours), _outcome(function, *theirs))
                if ours[0] is mine:
                    mine = np.asarray(data)
    numpy.testing.assert_array_equal(np.asnumpy(mine), data)


@pytest.mark.skipif(not IS_COMPILED, reason="of the compiled core")
def test_numpy_scalars_on_the_left_ask_python_once(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, data, factor = np.arange(1.0, 4.0), numpy.arange(1.0, 4.0), numpy.float64(1.5)
    operators = (operator.mul, operator.sub, operator.truediv, operator.lt)

    def check() -> None:
        for function in operators:
            for ours, theirs in ((mine, data), (mine[1], data[1])):
                _alike(function(factor, ours), function(factor, theirs))
        _alike(numpy.hypot(mine, 2.0), numpy.hypot(data, 2.0))

    check()
    monkeypatch.setattr(numpy_protocols, "_function_for", None)
    check()


def test_positions_that_are_numbers_of_either_library() -> None:
    data = numpy.arange(6.0).reshape(2, 3)
    mine, places = np.asarray(data), np.asarray([1, -1])
    for row, column in ((places[0], places[1]), (numpy.int64(1), numpy.int32(-1)), (places[0], 2)):
        _alike(mine[row, column], data[1, 2])
        mine[row, column] += 0.0
    with pytest.raises(IndexError):
        mine[places[0], numpy.int64(3)]
    mask: Any = numpy.bool_(True)
    _alike(mine[mask], data[mask])


def test_functions_of_one_operand() -> None:
    data = numpy.arange(1.0, 61.0).reshape(3, 4, 5)
    mine = np.asarray(data)
    for key in KEYS:
        for function in (operator.neg, abs, lambda x: x**2, lambda x: x**0.5):
            _alike(function(mine[key]), function(data[key]))
        _alike(np.sqrt(mine[key].T), numpy.sqrt(data[key].T))


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "f4", "f8", "F"])
def test_functions_of_one_operand_over_short_rows(dtype: str) -> None:
    """NumPy's own loops of some fail where the elements of the result do not follow each other."""
    for length in (2, 9, 16, 17, 33):
        data = (numpy.arange(4 * length) % 7).reshape(length, 4).astype(dtype)
        mine = np.asarray(data)
        for name in ("negative", "isnan", "isinf", "isfinite", "absolute", "square", "sqrt", "logical_not"):
            for rows in (slice(0, 2), slice(1, 4), slice(0, 4, 2)):
                with numpy.errstate(all="ignore"):
                    _alike(getattr(np, name)(mine[:, rows]), getattr(numpy, name)(data[:, rows].copy()))


@pytest.mark.skipif(not KNOWS_TEMPORARIES, reason="of the compiled core, and no Python 3.13 without the GIL")
def test_a_result_is_in_the_memory_of_a_temporary_array() -> None:
    x = np.ones(ELEMENTS)
    expressions: tuple[Callable[[], Any], ...] = (
        lambda: (x + 1.0) * 2.0,
        lambda: 2.0 * (x + 1.0),
        lambda: x - (x + 1.0) * x,
        lambda: -(x + 1.0),
        lambda: (x + x) ** 2,
    )
    for compute in expressions:
        for _ in range(3):
            tracemalloc.start()
            result = compute()
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < 1.5 * result.nbytes
        numpy.testing.assert_array_equal(np.asnumpy(x), 1.0)


def _in_an_array_of_objects() -> list[Any]:
    held = numpy.empty(2, object)
    held[:] = [np.ones(ELEMENTS), np.ones(ELEMENTS)]
    for _ in range(3):
        held + 1.0, -held, held * held, numpy.add.outer(held, held)
    return list(held)


def _in_a_list() -> list[Any]:
    held = [np.ones(ELEMENTS), np.ones(ELEMENTS)]
    for _ in range(3):
        list(map(operator.add, held, held))
        functools.reduce(operator.add, held)
        list(itertools.accumulate(held, operator.add))
        sum(held), [x + 1.0 for x in held], held[0] + 1.0, -held[1]
    return held


def _in_variables() -> list[Any]:
    x = np.ones(ELEMENTS)
    for _ in range(3):
        y = x
        del x
        z = y + 1.0
        x = y
        del y
    (lambda x: x + 1.0)(x)
    return [x, z - 1.0]


def _in_an_attribute() -> list[Any]:
    class Holder:
        pass

    holder = Holder()
    holder.x = np.ones(ELEMENTS)  # type: ignore[attr-defined]
    for _ in range(3):
        holder.x + 1.0, operator.attrgetter("x")(holder) + 1.0  # type: ignore[attr-defined]
    return [holder.x]  # type: ignore[attr-defined]


def _in_calls_of_operators() -> list[Any]:
    """What holds the only reference to an array calls the function of an operator, more than once."""
    pair = np.ones(ELEMENTS), 1.0
    for _ in range(3):
        operator.add(*pair), operator.neg(*pair[:1]), list(itertools.starmap(operator.mul, [pair, (2.0, pair[0])]))
    add = functools.partial(operator.add, np.ones(ELEMENTS))
    subtract = functools.partial(operator.sub, np.ones(ELEMENTS))
    added = map(np.ones(ELEMENTS).__add__, [1.0] * 3)
    sums = [[add(1.0) - 1.0 for _ in range(3)], [subtract(-1.0) - 1.0 for _ in range(3)], [x - 1.0 for x in added]]
    return [pair[0], *itertools.chain(*sums)]


def _shown_by_a_view() -> list[Any]:
    views = [(np.ones(ELEMENTS) * 1.0)[:] for _ in range(2)]
    for view in views:
        (view.base + 1.0) * 2.0  # type: ignore[operator]
    return views


@pytest.mark.parametrize(
    "held",
    [_in_an_array_of_objects, _in_a_list, _in_variables, _in_an_attribute, _in_calls_of_operators, _shown_by_a_view],
)
def test_what_is_held_elsewhere_is_not_written_to(held: Callable[[], list[Any]]) -> None:
    for x in held():
        numpy.testing.assert_array_equal(np.asnumpy(x), 1.0)


@pytest.mark.skipif(not IS_COMPILED, reason="of the compiled core")
def test_methods_of_ufuncs_are_placed_by_the_core() -> None:
    x = np.asarray(numpy.arange(1.0, 7.0).reshape(2, 3))
    calls: dict[str, Callable[[Any, Any], Any]] = {
        "reduce": lambda xp, a: xp.add.reduce(a, axis=1, keepdims=True),
        "accumulate": lambda xp, a: xp.maximum.accumulate(a),
        "reduceat": lambda xp, a: xp.multiply.reduceat(a, [0, 1]),
        "outer": lambda xp, a: xp.subtract.outer(a, 2.0),
    }
    for name, call in calls.items():
        _alike(call(np, x), call(numpy, np.asnumpy(x)))  # the first look makes the method
        assert called_by(lambda call=call: call(np, x)) == []  # type: ignore[misc]
        method = getattr(np.add, name)
        assert pickle.loads(pickle.dumps(method)) == getattr(pickle.loads(pickle.dumps(np.add)), name)
        assert "self" not in inspect.signature(method).parameters
    y, expected = np.ones(3), numpy.ones(3)
    for xp, a in ((np, y), (numpy, expected)):
        xp.add.at(a, [0, 0, 2], 1.0)
    _alike(y, expected)


_ALL_OPERATORS = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod),
    *(operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift),
    *(operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge),
)


@pytest.mark.parametrize(("one", "other"), list(itertools.product("?bBhHiIlLefdD", repeat=2)))
def test_scalars_of_two_dtypes(one: str, other: str) -> None:
    a, b = numpy.array([3, 100]).astype(one), numpy.array([2, 7]).astype(other)
    x, y = np.asarray(a), np.asarray(b)
    with numpy.errstate(all="ignore"):
        for function in _ALL_OPERATORS:
            for ours, numpys in (((x[0], y[0]), (a[0], b[0])), ((x, y[0]), (a, b[0])), ((x[1], y), (a[1], b))):
                _alike(_outcome(function, *ours), _outcome(function, *numpys))


@pytest.mark.skipif(not IS_COMPILED, reason="of the compiled core")
def test_operators_on_scalars_run_no_python() -> None:
    x, y, z = np.ones(3)[0], np.ones(3, int)[1], np.ones(3, "u1")[2]
    for function in _ALL_OPERATORS[:4]:
        for operands in ((x, y), (y, z), (x, 2), (2.0, y)):
            assert called_by(functools.partial(function, *operands)) == []
    assert called_by(lambda: -x + abs(y)) == []


class _Reflecting(np.ndarray):
    """A subclass that has a say in sums."""

    def __radd__(self, other: Any) -> Any:
        return "reflected"


class _Adding(np.ndarray):
    def __add__(self, other: Any) -> Any:
        return "added"


class _Foreign:
    def __radd__(self, other: Any) -> Any:
        return "foreign"

    __add__ = __radd__
    __array_ufunc__ = None

    def __lt__(self, other: Any) -> Any:
        return "less"

    def __gt__(self, other: Any) -> Any:
        return "greater"


def test_classes_decide_about_operators_as_in_python() -> None:
    x = np.ones(3)
    assert x.view(_Adding) + x == "added"
    assert type(x + x.view(_Adding)) is _Adding
    assert x + np.ones(3).view(_Reflecting) == "reflected"
    assert x + _Foreign() == _Foreign() + x == "foreign"
    assert (x < _Foreign(), _Foreign() < x) == ("greater", "less")
    with pytest.raises(TypeError):
        x + object.__new__(type("Nothing", (), {"__array_ufunc__": None}))
    y = x
    y += 1
    assert y is x
    with pytest.raises(TypeError):
        x & x
