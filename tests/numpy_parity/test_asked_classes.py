"""What classes of the program are asked for: which functions, which ufuncs, and with which arguments."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy

LIBRARIES = (numpy, gpunumpy)


def outcome(program: str, names: dict[str, Any]) -> Any:
    try:
        return eval(program, names)
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("gpunumpy", "numpy")


def name_of(x: Any) -> Any:
    """Return an argument without what the libraries show differently."""
    if isinstance(x, tuple):
        return tuple(map(name_of, x))
    return type(x).__name__ if hasattr(type(x), "__array__") or isinstance(x, (Mask, Other)) else x


def elements(x: Any) -> Any:
    """Return the elements of an array, or of an object that has one, as lists."""
    return numpy.asarray(getattr(x, "array", x)).tolist()


class Other:
    """An array of another library."""

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return function.__name__, name_of(args), {name: name_of(x) for name, x in options.items()}


class Mask:
    """What decides about ufuncs that it is the mask of."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return ufunc.__name__, method, name_of(inputs), {name: name_of(x) for name, x in options.items()}


FUNCTIONS = (
    *("put(x, d, 1)", "put(d, [1], 1)", "put(x, [1], d)", "place(x, d, [1])", "place(d, [True], [1])"),
    *("putmask(x, d, 1)", "putmask(d, [True], [1])", "putmask(x, [True], d)", "put_along_axis(x, d, 1, 0)"),
    *("fill_diagonal(d, 1)", "fill_diagonal(x, d)", "lexsort(d)", "lexsort((d, x))", "lexsort(keys=(d, x), axis=0)"),
    *("copyto(d, x)", "copyto(x, d)", "copyto(x, d, where=True)", "copyto(x, x, where=d)"),
    *("array_repr(d)", "array_str(d)", "array2string(d)", "array2string(d, precision=3)"),
    *("array_repr(d, max_line_width=3)", "array_str(d, 3)", "unravel_index(d, (3,))"),
    *("unravel_index(indices=d, shape=(3,))", "may_share_memory(d, x)", "shares_memory(x, d, max_work=1)"),
    *("delete(x, d)", "insert(x, 0, d)", "digitize(x, d)", "take(x, d)"),
)


@pytest.mark.parametrize("call", FUNCTIONS)
def test_functions_that_ask_another_class(call: str) -> None:
    found = [outcome(f"np.{call}", {"np": np, "x": np.arange(4.0), "d": Other()}) for np in LIBRARIES]
    assert found[1] == found[0]


@pytest.mark.parametrize(
    "call", ["add(x, x, where=m)", "add(1, x, where=m)", "add(x, x, x, where=m)", "sin(x, where=m)"]
)
@pytest.mark.parametrize("prefix", ["np.", "numpy."])
def test_ufuncs_whose_mask_decides(prefix: str, call: str) -> None:
    found = [
        outcome(f"{prefix}{call}", {"np": np, "numpy": numpy, "x": np.arange(4.0), "m": Mask()}) for np in LIBRARIES
    ]
    assert found[1] == found[0]


NAMES = (
    *("sum(d)", "concatenate([d, x])", "where(d, 1, 2)", "linalg.norm(d)", "fft.fft(d)", "mean(d)", "stack([x, d])"),
    *("einsum('i', d)", "zeros_like(d)", "zeros(3, like=d)", "asarray([1], like=d)", "copyto(d, x)"),
)


@pytest.mark.parametrize("call", NAMES)
def test_functions_that_a_class_knows_by_the_names_of_the_program(call: str) -> None:
    outcomes = []
    for np in LIBRARIES:
        known = (np.sum, np.concatenate, np.where, np.linalg.norm, np.einsum, np.zeros, np.copyto)
        names = {function: function.__name__ for function in known}

        class Deciding:
            def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
                return names.get(function, NotImplemented), len(types), len(args), sorted(options)  # noqa: B023

        class Refusing(Deciding):
            def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
                name = names.get(function, NotImplemented)  # noqa: B023
                return name if name is NotImplemented else super().__array_function__(function, types, args, options)

        outcomes.append(outcome(f"np.{call}", {"np": np, "x": np.arange(4.0), "d": Refusing()}))
    assert outcomes[1] == outcomes[0]


@pytest.mark.parametrize("call", ["np.add.reduce(x, where=m)", "np.sum(x, where=m)", "x.max(initial=3, where=m)"])
def test_reductions_whose_mask_decides(call: str) -> None:
    found = [outcome(call, {"np": np, "x": np.arange(4.0), "m": Mask()}) for np in LIBRARIES]
    assert found[1] == found[0]


REDUCTIONS = ("sum", "prod", "max", "min", "any", "all", "cumsum", "cumprod", "clip")
ARGUMENTS = (
    *(
        "",
        "0",
        "axis=1",
        "keepdims=True",
        "dtype='f4'",
        "0, None",
        "out=None",
        "axis=None",
        "where=True",
        "initial=2.0",
    ),
    *("out=x[0]", "where=[True]", "min=1"),
)


@pytest.mark.parametrize("arguments", ARGUMENTS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_ask_for_what_numpy_asks_for(name: str, arguments: str) -> None:
    outcomes = []
    for np in LIBRARIES:

        class Asked(np.ndarray):  # type: ignore[name-defined, misc]
            def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
                shapes = [(type(x).__name__, x.shape) if hasattr(x, "shape") else x for x in inputs]
                return ufunc.__name__, method, shapes, {key: name_of(x) for key, x in options.items()}

        x = np.arange(6.0).reshape(2, 3).view(Asked)
        names = {"np": np, "x": x}
        calls = (f"x.{name}({arguments})", f"np.{name}(x{arguments and ', '}{arguments})")
        outcomes.append([outcome(call, names) for call in calls])
        outcomes[-1] = [x if isinstance(x, tuple) else str(x).partition(":")[0] for x in outcomes[-1]]
    assert outcomes[1] == outcomes[0]


def test_methods_of_a_class_are_called_with_numpys_arguments() -> None:
    outcomes = []
    for np in LIBRARIES:

        class Summed(np.ndarray):  # type: ignore[name-defined, misc]
            def sum(self, axis: Any, out: Any) -> Any:
                return "sum", axis, out

            def take(self, *args: Any, **options: Any) -> Any:
                return "take", args, options

            def std(self, *args: Any, **options: Any) -> Any:
                return "std", args, options

        class Asked(Summed):
            def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
                result = super().__array_function__(func=func, types=types, args=args, kwargs=kwargs)
                return result.view(type(self)) if isinstance(result, np.ndarray) else result  # noqa: B023

        found: list[Any] = []
        for cls in (Summed, Asked):
            x = np.arange(3.0).view(cls)
            found += [np.sum(x), np.sum(x, axis=0), np.take(x, [0]), np.std(x, ddof=1), np.std(np.arange(2.0))]
            found += [type(np.zeros(2, like=x)) is cls, type(np.asarray([1], like=x)) is cls]
        found.append(outcome("np.std(x, where=d)", {"np": np, "x": np.arange(3.0), "d": Other()}))
        outcomes.append([float(y) if hasattr(y, "dtype") else y for y in found])
    assert outcomes[1] == outcomes[0]


WRAPPED = (
    *("np.sqrt(w)", "np.add(w, 1)", "np.add(x, w)", "x + w", "x * w", "np.modf(w)", "np.matmul(w, w)", "np.sum(w)"),
    *("np.ptp(w)", "np.mean(w)", "np.cumsum(w)", "np.sort(w)", "np.round(w)", "np.clip(w, 1, 2)", "np.argmax(w)"),
    *("np.linalg.inv(m)", "np.linalg.solve(np.eye(2), w)", "np.squeeze(w)", "np.kron(w, w)", "np.isclose(w, w)"),
    *("np.concatenate([w, x])", "np.stack([w, w])", "np.where(x > 0, w, x)", "np.dot(x, w)", "np.asarray(w)"),
    *("np.fft.fft(w)", "np.histogram(w, 2)", "np.copyto(x, w)", "np.put(x, [0], w)", "np.take(x, [1])"),
    *("np.multiply.outer(x, w)", "np.add.accumulate(w)", "np.sqrt(w, out=x)", "np.sqrt(old)", "np.sum([w, w])"),
)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("call", WRAPPED)
@pytest.mark.parametrize("is_foreign", [False, True])
def test_objects_that_wrap_results(is_foreign: bool, call: str) -> None:
    outcomes = []
    for np in LIBRARIES:
        asked: list[Any] = []

        class Wrapping:
            def __init__(self, values: Any, np: Any = numpy if is_foreign else np) -> None:
                self.array = np.asarray(values)

            def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
                return self.array

            def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
                asked.append((context and context[0].__name__, return_scalar, array.shape))  # noqa: B023
                return type(self)(array.get() if is_foreign and hasattr(array, "get") else array)

        class Old(Wrapping):
            def __array_wrap__(self, array: Any) -> Any:  # type: ignore[override]
                return "wrapped as before NumPy 2"

        names = {"np": np, "x": np.arange(2.0), "w": Wrapping([1.0, 4.0]), "m": Wrapping(np.eye(2)), "old": Old([4.0])}
        found = outcome(call, names)
        parts = found if isinstance(found, tuple) else (found,)
        shown = [(type(y) is Wrapping, y if isinstance(y, str) else elements(y)) for y in parts]
        outcomes.append((shown, asked, names["x"].tolist()))
    assert outcomes[1] == outcomes[0]


class Refusing:
    """What takes no part in ufuncs."""

    __array_ufunc__ = None

    def __radd__(self, x: Any) -> str:
        return "its own sum"


class Undecided:
    """What leaves every ufunc to other classes."""

    def __array_ufunc__(self, *args: Any, **options: Any) -> Any:
        return NotImplemented


def _unpacking(np: Any) -> Any:
    """A class that computes with plain arrays, by the method of its base, as NumPy's manual has it."""

    class Unpacking(np.ndarray):
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
            plain = [x.view(np.ndarray) if isinstance(x, Unpacking) else x for x in inputs]
            result = super().__array_ufunc__(ufunc, method, *plain, **options)
            return result if result is NotImplemented else np.asarray(result).view(Unpacking)

    return Unpacking


OF_BASES = (
    *("a + a", "a + b", "b + a", "np.add(a, b)", "np.add(b, a)", "np.add.outer(a, b)", "x + b", "numpy.add(x, b)"),
    *("np.add(a, x)", "a.__array_ufunc__(np.add, '__call__', a, b)", "x.__array_ufunc__(np.add, 'reduce', b)"),
    *("x.__array_ufunc__(np.add, '__call__', x, b)", "x.__array_ufunc__(np.add, '__call__', x, x, out=(b,))"),
    *("a.__array_ufunc__(np.add, '__call__', x, x, where=b)", "x.__array_ufunc__(np.add, '__call__', x, x)"),
)


@pytest.mark.parametrize("operand", [Mask, Undecided, Refusing])
@pytest.mark.parametrize("call", OF_BASES)
def test_what_arrays_leave_to_operands_that_decide(call: str, operand: type) -> None:
    found = []
    for np in LIBRARIES:
        x = np.ones(2)
        names = {"np": np, "numpy": numpy, "x": x, "a": x.view(_unpacking(np)), "b": operand()}
        result = outcome(call, names)
        is_array = hasattr(result, "shape")
        error = result.partition(":")[0] if isinstance(result, str) else result
        found.append((type(result).__name__, result.tolist() if is_array else error))
    assert found[1] == found[0]


def test_classes_are_asked_from_the_left() -> None:
    for np in LIBRARIES:
        asked: list[str] = []

        class Asked(np.ndarray):  # type: ignore[name-defined, misc]
            def __array_ufunc__(self, *args: Any, **options: Any) -> Any:
                asked.append(type(self).__name__)  # noqa: B023
                return NotImplemented

        classes = [type(name, bases, {}) for name, bases in (("One", (Asked,)), ("Two", (Asked,)))]
        classes.append(type("Inner", (classes[0],), {}))
        one, two, inner = (np.ones(2).view(cls) for cls in classes)
        for args in ((two, one), (one, inner), (two, two)):
            with pytest.raises(TypeError):
                np.add(*args)
            asked.append("next")
        expected = "Two One next Inner One next Two next"
        assert asked == expected.split()
