"""Subclasses of `ndarray`: the class of every result, its attributes, and what a class may take into its own hands."""

from __future__ import annotations

import copy
import operator
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.functions.subclasses import CALLING_METHODS

from .calls import CALLS
from .parity import outcome

LIBRARIES = (numpy, gpunumpy)


def _labelled(xp: Any) -> Any:
    """A class whose arrays keep a label."""

    class Labelled(xp.ndarray):
        label = ""

        def __array_finalize__(self, source: Any) -> None:
            self.label = getattr(source, "label", "")

    Labelled.__qualname__ = f"LABELLED[{LIBRARIES.index(xp)}]"
    return Labelled


def _counting(xp: Any) -> Any:
    """A class that decides what ufuncs do, and keeps which was the last."""

    class Counting(xp.ndarray):
        last: Any = None

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
            def plain(x: Any) -> Any:
                return x.view(xp.ndarray) if isinstance(x, Counting) else x

            if out is not None:
                options["out"] = tuple(map(plain, out))
            results = super().__array_ufunc__(ufunc, method, *map(plain, inputs), **options)
            if results is NotImplemented or method == "at":
                return results
            results = results if isinstance(results, tuple) else (results,)
            made = [xp.asarray(r).view(Counting) if o is None else o for r, o in zip(results, out or [None] * 2)]
            for array in made:
                array.last = ufunc.__name__, method
            return made[0] if len(made) == 1 else tuple(made)

    return Counting


def _wrapping(xp: Any) -> Any:
    """A class that is told what its results come from."""

    class Wrapping(xp.ndarray):
        source: Any = None

        def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
            result = super().__array_wrap__(array, context, return_scalar)
            result.source = None if context is None else context[0].__name__
            return result

    return Wrapping


CLASSES = {"label": _labelled, "last": _counting, "source": _wrapping}
LABELLED = tuple(map(_labelled, LIBRARIES))

# Calls whose results are of another class than NumPy's: arrays of subclasses are views here, also copies.
OTHER_CLASS = frozenset(("copy.copy(x).resize((2, 4))",))


def _class_of(x: Any, cls: Any) -> Any:
    if isinstance(x, (tuple, list)):
        return type(x).__name__, [_class_of(part, cls) for part in x]
    if isinstance(x, cls):
        return "labelled", x.label
    return "array" if isinstance(x, (numpy.ndarray, gpunumpy.ndarray)) and x.ndim else "other"


def _classes(xp: Any, call: str) -> Any:
    cls = LABELLED[LIBRARIES.index(xp)]
    data = numpy.array([1.5, 2, 0, 3, 1, 2])

    def made(values: Any) -> Any:
        array = xp.array(values).view(cls)
        array.label = "x"
        return array

    arrays = {"x": data, "y": data[::-1], "m": numpy.resize(data, (3, 4)), "q": numpy.resize(data, (3, 3))}
    arrays |= {"h": numpy.array([[4.0, 1, 0], [1, 5, 1], [0, 1, 3]])}
    arrays |= {"one": data[:1], "zero": data[0], "none": data[:0]}
    names = {name: made(values) for name, values in arrays.items()}
    names |= {"b": xp.asarray(data > 1), "i": xp.asarray([5, 0, 2, 2, 1, 3]), "t": data.dtype, "np": xp}
    names |= {"numpy": numpy, "copy": copy, "operator": operator, "pickle": pickle}
    try:
        return _class_of(eval(call, names), cls)
    except Exception as error:
        return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in CALLS if "pickle" not in name])
def test_the_class_of_results(name: str) -> None:
    with numpy.errstate(all="ignore"):
        for call in CALLS[name]:
            if call not in OTHER_CLASS:
                assert _classes(gpunumpy, call) == _classes(numpy, call), call


MORE_CALLS = (
    *(f"np.linalg.{name}(h)" for name in ("inv", "cholesky", "pinv", "eig", "eigh", "eigvalsh", "svd", "qr", "det")),
    *("np.linalg.solve(h, h)", "np.linalg.lstsq(h, h)", "np.linalg.multi_dot([h, h])", "np.linalg.qr(h, 'r')"),
    *("np.linalg.svd(h, compute_uv=False)", "np.linalg.tensorsolve(h, h[0])", "np.linalg.tensorinv(h, ind=1)"),
    *("np.linalg.norm(h, axis=0)", "np.linalg.matrix_power(h, 2)", "np.linalg.slogdet(h)", "np.linalg.cond(h)"),
    *("np.diag(h, 1)", "np.diag(x)", "np.percentile(x, [20, 50])", "np.quantile(m, 0.5, axis=0)", "np.ix_(i, i)"),
    *(
        "np.nanpercentile(m, 50, axis=0)",
        "np.argpartition(x, 1)",
        "np.partition(x, 1)",
        "np.zeros_like(x, subok=False)",
    ),
    *("np.empty_like(x, subok=True)", "np.full_like(x, 1, subok=False)", "np.array(x, subok=True)", "np.fft.fft(x)"),
    *("np.lib.stride_tricks.as_strided(x, (2,), (8,))", "np.lib.stride_tricks.as_strided(x, (2,), (8,), subok=True)"),
    "np.lib.stride_tricks.sliding_window_view(x, 2, subok=True)",
    *("np.nan_to_num(m)", "np.nan_to_num(x.sum())", "np.nan_to_num(x.all())", "np.nan_to_num(m.all(), nan=1.0)"),
    *("np.nan_to_num(x.argmax().view(type(x)))", "np.nan_to_num(x.sum(), copy=False)"),
    *("np.nan_to_num(x.all(), copy=False)", "np.nan_to_num(x.astype(int).sum(), copy=False)"),
)


# Calls of which other arguments, or the places of arguments, decide.
OF_OTHER_ARGUMENTS = (
    *(f"np.round({x}, {n})" for x in ("x", "i.view(type(x))", "(x * 1j)", "(x > 1)") for n in (0, 1)),
    *("np.around(x, -1)", "x.round(2)", "i.view(type(x)).round(-1)"),
    *(
        f"np.unique({x}, {k})"
        for x in "xm"
        for k in ("True", "True, True, True", "axis=0", "return_index=True, axis=0")
    ),
    *("np.linalg.solve(h, y[:3].view(np.ndarray))", "np.linalg.solve(h.view(np.ndarray), x[:3])"),
    *("np.linalg.lstsq(h, [1, 2, 3])", "np.linalg.lstsq(b=x[:3], a=np.eye(3))"),
    *("np.linalg.tensorsolve(h, [1, 2, 3])", "np.linalg.tensorsolve(np.eye(3), x[:3])", "np.linalg.qr(h, mode='raw')"),
    *("np.linalg.multi_dot([h, np.eye(3)])", "np.linalg.multi_dot([np.eye(3), h, h])", "np.dot(np.eye(3), h)"),
    *(
        "np.dot(h, np.eye(3))",
        "np.inner(np.eye(3), h)",
        "np.inner(h, np.eye(3))",
        "np.choose(i.view(type(x)) % 2, [i, i])",
    ),
    *("i.view(type(x)).choose([i] * 6)", "np.choose(i % 2, [x, x])"),
)

# Calls that have an array of the class in the place of an index, a mask or a second operand.
SECOND_PLACES = (
    *("np.arange(6)[i.view(type(x))]", "np.arange(6)[x > 1]", "np.array(list('abcdef'))[i.view(type(x))]"),
    *("np.take(np.arange(6), i.view(type(x)))", "np.repeat(np.arange(6), i.view(type(x)))", "x[i]", "x[b]"),
    *("np.compress(x > 1, np.arange(6))", "np.extract(x > 1, np.arange(6))", "np.extract(b, x)", "np.compress(b, x)"),
    *("np.insert(np.arange(6), 1, one)", "np.setdiff1d(np.arange(6), x)", "np.setdiff1d(x, np.arange(3))"),
    *("np.delete(np.arange(6), i.view(type(x)))", "m.reshape(2, 2, 3).trace()", "np.trace(m.reshape(2, 2, 3))"),
    *("np.nanargmax(m, axis=0)", "np.nanargmin(m)", "np.nanargmin(m, axis=1)"),
    *("np.resize(x, 8)", "np.resize(x, (2, 2))", "np.resize(none, 2)"),
    *("np.piecewise(np.arange(6), [x > 1], [1, 2])", "np.take_along_axis(np.arange(6), i.view(type(x)), 0)"),
)


# Calls with an array of the class beside a plain one, of which each has a result.
OF_SEVERAL = (
    *("np.atleast_1d(x, i)", "np.atleast_2d(i, x)", "np.atleast_3d(x, i, x)", "np.meshgrid(x, i)"),
    *("np.meshgrid(i, x, indexing='ij')", "np.meshgrid(i, x, sparse=True)", "np.ix_([0], i.view(type(x)))"),
    *("np.intersect1d(x, i, return_indices=True)", "np.intersect1d(x, i)", "np.histogramdd(m)", "np.polydiv(x, y)"),
    *("m.flat[:2]", "m.flat[[0, 3]]", "m.flat.base", "m.flat.copy()", "x.getfield('f8')"),
    "np.broadcast_arrays(x, i, subok=True)",
)


@pytest.mark.parametrize("call", [*MORE_CALLS, *OF_OTHER_ARGUMENTS, *SECOND_PLACES, *OF_SEVERAL])
def test_the_class_of_more_results(call: str) -> None:
    assert _classes(gpunumpy, call) == _classes(numpy, call)


def test_functions_that_ask_a_class() -> None:
    outcomes = []
    for xp in LIBRARIES:
        asked: list[Any] = []

        class Asked(xp.ndarray):  # type: ignore[name-defined, misc]
            def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
                is_public = function is getattr(xp, function.__name__, None)  # noqa: B023
                asked.append((function.__name__, is_public, {kind.__name__ for kind in types}))  # noqa: B023
                return super().__array_function__(function, types, args, options)

        class Deciding(Asked):
            def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
                return "decided"

        class Refusing(xp.ndarray):  # type: ignore[name-defined, misc]
            def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
                return NotImplemented

        x, plain = xp.arange(6.0).reshape(2, 3).view(Asked), xp.ones((1, 3))
        results = [xp.sum(x), xp.concatenate([x, plain]), xp.zeros_like(x), xp.linalg.norm(x), xp.reshape(x, (3, 2))]
        results += [x.sum(), x + 1, xp.add(x, 1), xp.asarray(x), xp.where(x > 1, x, 0), numpy.median(x)]
        shown = [(type(y) is Asked, y.tolist()) for y in results]
        names = ("sum", "concatenate", "zeros_like", "norm", "reshape", "where")  # NumPy's own functions call others
        shown += [entry for entry in asked if entry[0] in names]
        shown += [xp.stack([x, x.view(Deciding)]), xp.sum(plain).tolist()]
        with pytest.raises(TypeError, match="no implementation found"):
            xp.sum(x.view(Refusing))
        assert x.view(Refusing).sum() == 15
        outcomes.append(shown)
    assert outcomes[1] == outcomes[0]


def test_windows_of_texts() -> None:
    for xp in LIBRARIES:
        texts = xp.array(["a", "b", "c"])
        assert xp.lib.stride_tricks.sliding_window_view(texts, 2).tolist() == [["a", "b"], ["b", "c"]]
        assert xp.lib.stride_tricks.as_strided(texts, (2,), (8,)).tolist() == ["a", "c"]


OWN_WAYS = (
    "x + 1",
    "1 + x",
    "plain + x",
    "x < 2",
    "-x",
    "abs(x)",
    "divmod(x, 2)",
    "np.sqrt(x)",
    "np.modf(x)",
    "np.sin(x, out=x.copy())",
    "np.multiply(x, 2, out=x) is x",
    "np.add.outer(x, x)",
    "np.add.reduce(x)",
    "np.add.accumulate(x)",
    "np.add.at(x, [0], 1)",
    "x.sum()",
    "x.sum(keepdims=True)",
    "np.sum(x)",
    "np.matmul(h, h)",
    "h @ h",
    "h @ plain[:2]",
    "plain[:2] @ h",
    "np.vecdot(h, h)",
    "np.matvec(h, plain[:2])",
    "np.vecmat(plain[:2], h)",
    "operator.imatmul(h, h)",
    "x.max()",
    "x.cumsum()",
    "(x > 1).all()",
    "operator.iadd(x, 1)",
    "x[1:]",
    "x[0]",
    "x.view(np.ndarray)",
    "x.view('i8')",
    "repr(x)",
    "list(np.stack([x, x]).view(type(x)))",
    "np.array(['a', 'b']).view(type(x))",
    "np.array(['a', 'b']).view(type(x))[:1]",
)


@pytest.mark.parametrize("attribute", CLASSES)
@pytest.mark.parametrize("call", OWN_WAYS)
def test_what_a_class_takes_into_its_own_hands(call: str, attribute: str) -> None:
    def shown(x: Any) -> Any:
        if isinstance(x, (tuple, list)):
            return [shown(part) for part in x]
        if isinstance(x, (numpy.ndarray, gpunumpy.ndarray)) and type(x) not in (numpy.ndarray, gpunumpy.ndarray):
            return type(x).__name__, getattr(x, attribute), x.tolist()
        return x.tolist() if hasattr(x, "tolist") else x

    outcomes = []
    for xp in LIBRARIES:
        x = xp.array([1.0, 2.0, 3.0]).view(CLASSES[attribute](xp))
        h = xp.array([[1.0, 2.0], [3.0, 5.0]]).view(type(x))
        outcomes.append(shown(eval(call, {"np": xp, "x": x, "h": h, "plain": xp.ones(3), "operator": operator})))
    assert outcomes[1] == outcomes[0]


POWERS_AND_LIMITS = (
    *(f"x ** {n}" for n in ("2", "0.5", "-1", "1", "0", "3", "2.0", "np.float32(2)", "plain", "[1, 2, 3]", "True")),
    *("2 ** x", "plain ** x", "np.power(x, 2)", "operator.ipow(x, 2)", "operator.ipow(x, 3)", "x.clip(1, 2)"),
    *("np.clip(x, 1, 2)", "np.clip(x, 1, None)", "np.clip(x, None, 2)", "x.clip(max=2)", "np.clip(plain, x, 5)"),
    *("np.clip(x, 1, 2, out=x)", "x.clip(0, plain, out=plain.copy())", "np.clip(x, a_min=1, a_max=plain)"),
)


@pytest.mark.parametrize("call", POWERS_AND_LIMITS)
def test_the_ufunc_that_arguments_decide(call: str) -> None:
    outcomes = []
    for xp in LIBRARIES:
        asked: list[Any] = []

        class Asked(xp.ndarray):  # type: ignore[name-defined, misc]
            def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
                asked.append((ufunc.__name__, method, [type(x).__name__ for x in inputs], sorted(options)))  # noqa: B023
                plain = [x.view(xp.ndarray) if isinstance(x, Asked) else x for x in inputs]  # noqa: B023
                return getattr(ufunc, method)(*plain)

        x = xp.array([1.0, 2.0, 3.0]).view(Asked)
        result = eval(call, {"np": xp, "x": x, "plain": xp.ones(3), "operator": operator})
        outcomes.append((asked, result.tolist()))
    assert outcomes[1] == outcomes[0]


@pytest.mark.parametrize("replaced", ["method", "reflected", "both", "neither", "of ndarray itself"])
@pytest.mark.parametrize("size", [3, 100_000])
def test_which_method_an_operator_calls(replaced: str, size: int) -> None:
    outcomes = []
    for xp in LIBRARIES:
        calls: list[str] = []

        def method(name: str, result: Any, calls: list[str] = calls) -> Any:
            return lambda x, other: (calls.append(name), result)[1]

        given = {"__add__": method("method", NotImplemented), "__radd__": method("reflected", "r")}
        kept = {"method": ["__add__"], "reflected": ["__radd__"], "both": [*given]}.get(replaced, [])
        base = xp.ndarray
        if replaced == "of ndarray itself":  # as far as a class of NumPy's own can be changed
            base = type("Base", (xp.ndarray,), {"__add__": method("base", "b")})
        Asked = type("Asked", (base,), {name: given[name] for name in kept})
        x, plain = xp.ones(size).view(Asked), xp.ones(size)
        for call in (lambda: x + plain, lambda: plain + x, lambda: x + x, lambda: 1 + x, lambda: x + 1, lambda: -x):  # noqa: B023
            tested = outcome(call)
            calls.append(tested if isinstance(tested, str) else type(tested).__name__)
        outcomes.append(calls)
    assert outcomes[1] == outcomes[0]


def test_powers_left_to_the_other_operand() -> None:
    class Other:
        __array_ufunc__ = None

        def __rpow__(self, x: Any) -> str:
            return "of the other"

    class Asked(gpunumpy.ndarray):  # type: ignore[misc]
        def __array_ufunc__(self, *_: Any, **__: Any) -> str:
            return "asked"

    assert gpunumpy.arange(3.0).view(Asked) ** Other() == "of the other"


def test_as_numpy_documents_it() -> None:
    for xp in LIBRARIES:

        class Info(xp.ndarray):  # type: ignore[name-defined, misc]
            def __new__(cls, values: Any, info: Any = None) -> Any:
                made = xp.asarray(values).view(cls)  # noqa: B023 - used at once
                made.info = info
                return made

            def __array_finalize__(self, source: Any) -> None:
                self.info = getattr(source, "info", None)

        x = Info(numpy.arange(4.0), "metres")
        assert (type(x), x.info) == (Info, "metres")
        assert ((x * 2)[1:].info, (x * 2)[1:].tolist()) == ("metres", [2.0, 4.0, 6.0])
        x += 1
        x[0] = 7
        assert x.info == "metres"
        assert x.tolist() == [7.0, 2.0, 3.0, 4.0]
        assert xp.ndarray.__new__(Info, (2,)).shape == (2,)
        assert isinstance(x, xp.ndarray)


def test_pickles_keep_the_class() -> None:
    x = gpunumpy.arange(3.0).view(LABELLED[1])
    LABELLED[1].__qualname__ = "_restored_class"
    globals()["_restored_class"] = LABELLED[1]
    restored = pickle.loads(pickle.dumps(x))
    assert type(restored) is LABELLED[1]
    assert restored.tolist() == x.tolist()


def _stored_with_info(xp: Any) -> Any:
    """A class whose pickles keep what an array knows beside its elements, as programs write it for NumPy."""

    class Stored(xp.ndarray):
        def __array_finalize__(self, source: Any) -> None:
            self.info = getattr(source, "info", None)

        def __reduce__(self) -> Any:
            function, args, state = super().__reduce__()
            return function, args, (*state, self.info)

        def __setstate__(self, state: Any) -> None:
            self.info = state[-1]
            super().__setstate__(state[:-1])

    return Stored


@pytest.mark.parametrize("values", [[1.0, 2.0], ["a", "b"], [[1, 2], [3, 4]]], ids=repr)
def test_pickles_keep_what_a_class_adds(values: Any) -> None:
    for xp in LIBRARIES:
        cls = _stored_with_info(xp)
        cls.__qualname__ = "_stored_class"
        globals()["_stored_class"] = cls
        x = xp.array(values).view(cls)
        x.info = "metres"
        restored = pickle.loads(pickle.dumps(x))
        assert (type(restored), restored.info, restored.dtype) == (cls, "metres", x.dtype)
        restored[...] = restored[::-1].copy()
        assert restored.tolist() == values[::-1]


OUTPUTS: dict[str, Any] = {
    "ufunc": lambda np, x, out: np.add(x[0], 1, out=out),
    "ufunc by place": lambda np, x, out: np.add(x[0], 1, out),
    "reduction": lambda np, x, out: x.sum(axis=0, out=out),
    "function": lambda np, x, out: np.mean(x, axis=0, out=out),
    "scan": lambda np, x, out: np.cumsum(x[0], out=out),
    "clip": lambda np, x, out: np.clip(x[0], 0, 1, out=out),
    "matmul": lambda np, x, out: np.matmul(x, x[0], out=out),
    "dot": lambda np, x, out: np.dot(x, x[0], out=out),
    "take": lambda np, x, out: np.take(x[0], [1, 0], out=out),
    "round": lambda np, x, out: np.round(x[0], out=out),
    "choose": lambda np, x, out: np.choose(np.array([1, 0]), x, out=out),
    "choose as a method": lambda np, x, out: np.array([1, 0]).choose(x, out=out),
    "two outputs": lambda np, x, out: np.modf(x[0], out, np.zeros(2))[0],
}


@pytest.mark.parametrize("of_class", [False, True], ids=["array", "subclass"])
@pytest.mark.parametrize("run", OUTPUTS.values(), ids=OUTPUTS)
def test_an_output_is_returned_as_it_is(run: Any, of_class: bool) -> None:
    outcomes = []
    for xp, cls in zip(LIBRARIES, LABELLED, strict=True):
        x, out = xp.array([[2.5, 1.0], [1.0, 3.0]]).view(cls), xp.zeros(2)
        out = out.view(cls) if of_class else out
        outcomes.append((run(xp, x, out) is out, out.tolist()))
    assert outcomes[0] == outcomes[1]


CLASS_CALLS = (
    *("np.empty_like(x, subok=False)", "np.zeros_like(x, subok=False)", "np.full_like(x, 1, subok=False)"),
    *("x.astype('f4', subok=False)", "np.ones_like(x, subok=True)", "np.array(x, subok=True)", "np.linalg.inv(x)"),
    *("np.percentile(x, 50, axis=0)", "np.percentile(x, 50)", "np.partition(x, 1)", "np.inner(x, x)"),
    *("np.lib.stride_tricks.sliding_window_view(x, 2, 0)", "np.lib.stride_tricks.as_strided(x, (2,), subok=True)"),
    *("np.linspace(x[0], x[1], 3)", "np.linalg.qr(x)[1]", "np.linalg.pinv(x)", "np.linalg.cholesky(x)"),
)


@pytest.mark.parametrize("call", CLASS_CALLS)
def test_classes_of_results(call: str) -> None:
    found = []
    for xp, cls in zip(LIBRARIES, LABELLED, strict=True):
        result = eval(call, {"np": xp, "x": xp.array([[2.0, 1.0], [1.0, 3.0]]).view(cls)})
        found.append(type(result) is cls)
    assert found[0] == found[1]


def test_a_class_that_takes_no_part_in_ufuncs() -> None:
    for xp in LIBRARIES:

        class Silent(xp.ndarray):  # type: ignore[name-defined, misc]
            __array_ufunc__ = None

        x = xp.ones(2).view(Silent)
        with pytest.raises(TypeError):
            xp.add(x, 1)
        with pytest.raises(TypeError), warnings.catch_warnings():
            xp.ones(2) + x


def _rounded(array: Any) -> Any:
    return numpy.round(array.tolist(), 12).tolist()


# What `__array_wrap__` of a class returns, by the arguments that it takes: with NumPy 1 they were the first one or two.
WRAPS: dict[str, Callable[..., Any]] = {
    "array": lambda self, array: ("made", _rounded(array)),
    "context": lambda self, array, context=None: ("made", _rounded(array), context and context[2]),
    "refusing": lambda self, array, context=None: len(5),  # type: ignore[arg-type]
    "scalars": lambda self, array, context=None, return_scalar=False: array[()] if return_scalar else array,
}
WRAPPED = ("sin(x)", "add(x, 1)", "linalg.inv(h)", "divmod(x, 2)", "modf(x)", "frexp(x)", "add.reduce(h)", "sum(x)")
SCALARS = ("mean(x)", "std(x)", "median(x)", "ptp(x)", "nanmax(x)", "max(x)", "mean(h, axis=0)", "average(x)")


@pytest.mark.filterwarnings("default:__array_wrap__ must accept")
@pytest.mark.parametrize(
    ("kind", "call"), [(kind, call) for kind in WRAPS for call in (*WRAPPED, *(SCALARS if kind == "scalars" else ()))]
)
def test_arguments_of_array_wrap(kind: str, call: str) -> None:
    found: list[Any] = []
    for xp in LIBRARIES:
        cls = type("Wrapping", (xp.ndarray,), {"__array_wrap__": WRAPS[kind]})
        names = {"x": xp.array([1.5, 2.5]).view(cls), "h": xp.array([[2.0, 1.0], [1.0, 3.0]]).view(cls)}
        with warnings.catch_warnings(record=True) as caught:
            result = outcome(lambda names=names, xp=xp: eval(f"np.{call}", {"np": xp, **names}))
        found.append((str(result), isinstance(result, cls), {str(w.message) for w in caught}))
    assert found[1] == found[0]


def test_old_arguments_of_array_wrap_as_errors() -> None:
    for xp in LIBRARIES:
        x = xp.ones(2).view(type("Wrapping", (xp.ndarray,), {"__array_wrap__": WRAPS["array"]}))
        with pytest.raises(DeprecationWarning, match="must accept context") as caught:
            xp.sin(x)
        assert isinstance(caught.value.__cause__, TypeError)


OF_THE_HOST = {
    "dates": ("2020", "2021"),
    "times": (3, 5),
    "objects": (1, 2),
    "wide": (1, 2),
    "records": [(1.0,), (2.0,)],
}
DTYPES = {"dates": "M8[D]", "times": "m8[s]", "objects": "O", "wide": "g", "records": [("v", "f8")]}
WHOLE = (
    *("x.max()", "x.min()", "np.max(x)", "np.nanmax(x)", "x.sum()", "np.add.reduce(x)", "np.nansum(x)"),
    *("x.prod()", "x.all()", "x.any()", "x.max(axis=0)", "x.max(keepdims=True)", "x.sum(axis=0)", "x[0]", "x.argmax()"),
    *("x @ x", "x.reshape(1, 2).max()", "x.item()", "x['v'].sum()", "np.maximum.reduce(x)", "x.max(axis=None)"),
)


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("call", WHOLE)
def test_whole_reductions_of_dtypes_of_the_host(call: str, kind: str) -> None:
    found = []
    for xp, cls in zip(LIBRARIES, LABELLED, strict=True):
        x = numpy.array(OF_THE_HOST[kind], DTYPES[kind])
        x = (xp.array(x) if xp is gpunumpy else x).view(cls)
        x.label = "x"
        try:
            result = eval(call, {"np": xp, "x": x})
        except Exception as error:
            found.append(issubclass(type(error), (TypeError, IndexError, ValueError)))
        else:
            is_made = isinstance(result, cls)
            found.append((is_made, result.label if is_made else "", repr(result) if is_made else str(result)))
    assert found[1] == found[0]


OWN_METHODS = {
    "mean": lambda np, x: (np.mean(x), np.mean(x, axis=0), np.mean(x, 0, keepdims=True)),
    "sum": lambda np, x: (np.sum(x), np.add.reduce(x).tolist()),
    "max": lambda np, x: (np.max(x), np.amax(x, axis=1)),
    "transpose": lambda np, x: np.transpose(x, (1, 0)),
    "round": lambda np, x: (np.round(x, 1), np.around(x)),
    "take": lambda np, x: np.take(x, [0]),
    "__str__": lambda np, x: (str(x), f"{x}", format(x)),
}


@pytest.mark.parametrize("values", [[[1.5, 2.5], [3.5, 4.5]], [["a", "b"], ["c", "d"]]], ids=["numbers", "texts"])
@pytest.mark.parametrize("name", OWN_METHODS)
def test_functions_call_the_methods_of_a_class(name: str, values: Any) -> None:
    found = []
    for xp in LIBRARIES:
        cls = type("Own", (xp.ndarray,), {name: lambda self, *args, **options: "a method of its own"})
        try:
            found.append(OWN_METHODS[name](xp, xp.array(values).view(cls)))
        except TypeError as error:
            found.append(type(error).__mro__[-4:])
    assert found[0] == found[1]


# --- classes of other libraries -------------------------------------------------------------------------------------


def quantity_of(xp: Any) -> Any:
    """A class of no arrays, which holds one of the library and says what it is asked."""

    class Quantity:
        def __init__(self, x: Any) -> None:
            self.held = xp.asarray(x)

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return numpy.asarray(self.held.tolist(), dtype)

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
            kinds = ["own" if isinstance(x, Quantity) else type(x).__name__ for x in inputs]
            return ufunc.__name__, method, kinds, sorted(options)

        def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
            if function.__name__ == "std":
                return NotImplemented
            return function.__name__, len(args), sorted(options)

    return Quantity


ASKED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "unary": lambda np, x, q: np.sqrt(q),
    "binary": lambda np, x, q: np.add(q, q),
    "array first": lambda np, x, q: np.multiply(x, q),
    "array last": lambda np, x, q: np.subtract(q, x),
    "operator": lambda np, x, q: x * q,
    "comparison": lambda np, x, q: x < q,
    "in place": lambda np, x, q: x.__iadd__(q),
    "options": lambda np, x, q: np.add(x, q, where=x > 0, out=x),
    "out": lambda np, x, q: np.add(x, 1, out=q),
    "reduce": lambda np, x, q: np.add.reduce(q),
    "accumulate": lambda np, x, q: np.add.accumulate(q, axis=0),
    "outer": lambda np, x, q: np.multiply.outer(x, q),
    "mean": lambda np, x, q: np.mean(q),
    "sum of an axis": lambda np, x, q: np.sum(q, axis=0),
    "joined": lambda np, x, q: np.concatenate([x, q]),
    "chosen": lambda np, x, q: np.where(x > 0, x, q),
    "norm": lambda np, x, q: np.linalg.norm(q),
    "transform": lambda np, x, q: np.fft.fft(q),
    "refused": lambda np, x, q: np.std(q),
    "converted": lambda np, x, q: np.asarray(q).tolist(),
    "copied": lambda np, x, q: np.array(q, dtype="f4").tolist(),
}


@pytest.mark.parametrize("call", ASKED.values(), ids=ASKED)
def test_classes_of_other_libraries_are_asked(call: Any) -> None:
    outcomes = []
    for xp in LIBRARIES:
        try:
            outcomes.append(call(xp, xp.arange(1.0, 4), quantity_of(xp)([1.0, 4, 9])))
        except TypeError:
            outcomes.append(TypeError)
    assert outcomes[0] == outcomes[1]


METHODS = CALLING_METHODS.keys() - {"astype"}  # NumPy's function of that name refuses other classes
ARGUMENTS = {
    **dict.fromkeys(("argpartition", "choose", "partition", "repeat", "reshape", "searchsorted", "take"), (1,)),
    **dict.fromkeys(("clip", "put", "swapaxes"), (0, 1)),
}


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("name", sorted(METHODS))
def test_methods_of_objects_that_numpys_functions_call(name: str) -> None:
    class Frame:
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            return numpy.array([[1.5, 2.0]])

        def __getattr__(self, method: str) -> Any:
            if method not in CALLING_METHODS.values():
                raise AttributeError(method)
            return lambda *args, **options: (method, args, sorted(options))

    for x in (Frame(), numpy.asmatrix([[1.5, 2.0], [0.5, 3.0]])):
        found = []
        for xp in LIBRARIES:
            result = outcome(lambda xp=xp: getattr(xp, name)(x, *ARGUMENTS.get(name, ())))  # noqa: B023
            found.append((isinstance(result, numpy.matrix), str(result)))
        assert found[0] == found[1]


def test_a_numpy_subclass_that_is_asked() -> None:
    class Asked(numpy.ndarray):
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
            return ufunc.__name__, len(inputs)

    y = numpy.arange(3.0).view(Asked)
    for xp in LIBRARIES:
        x = xp.arange(3.0)
        assert [x + y, y + x, xp.add(x, y), xp.sqrt(y)] == [("add", 2)] * 3 + [("sqrt", 1)]


def _noting_wraps(xp: Any, wrapped: list[Any]) -> Any:
    """A class that counts what it is given to wrap."""

    class Wrapping(xp.ndarray):
        def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
            wrapped.append(array.shape)
            return super().__array_wrap__(array, context, return_scalar)

    return Wrapping


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in CALLS if not name.startswith(("char", "strings"))])
def test_classes_wrap_what_they_keep(name: str) -> None:
    """Where NumPy calls `__array_wrap__` and the result is of the class, gpunumpy calls it too."""
    data = numpy.array([1.5, -2, 0, 1.5, 3, 2])
    for call in CALLS[name]:
        found = []
        for xp in LIBRARIES:
            wrapped: list[Any] = []
            kind = _noting_wraps(xp, wrapped)
            arrays = {"x": data, "y": numpy.roll(data, 1), "m": data.reshape(2, 3), "q": numpy.resize(data[:5], (3, 3))}
            arrays |= {"one": data[:1], "zero": data[0], "none": data[:0]}
            names = {key: xp.asarray(numpy.array(x)).view(kind) for key, x in arrays.items()}
            indices = {"b": xp.asarray(data > 0), "i": xp.asarray(numpy.array([5, 0, 2, 2, 1, 3])), "np": xp}
            with numpy.errstate(all="ignore"):
                result = outcome(lambda call=call, names=names, others=indices: eval(call, {**names, **others}))
            found.append((bool(wrapped), type(result) is kind))
        (expected, is_kept), (ours, is_ours) = found
        assert ours == expected or not (is_kept and is_ours), (call, found)


ON_THE_HOST: dict[str, Callable[[Any, Any], Any]] = {
    "texts added": lambda xp, x: xp.char.add(x.astype("U3").view(type(x)), "x"),
    "texts stripped": lambda xp, x: xp.strings.strip(x.astype("U3").view(type(x))),
    "texts in upper case": lambda xp, x: xp.char.upper(x.astype("U3").view(type(x))),
    "dates": lambda xp, x: xp.busday_offset(x.astype("M8[D]").view(type(x)), 1, "forward"),
    "no dates": lambda xp, x: xp.isnat(x.astype("M8[D]").view(type(x))),
    "vectorize": lambda xp, x: xp.vectorize(lambda a: a + 1)(x),
    "vectorize of texts": lambda xp, x: xp.vectorize(str)(x),
    "vectorize, several results": lambda xp, x: xp.vectorize(lambda a, b: (a, b))(x, 1),
    "vectorize with a signature": lambda xp, x: xp.vectorize(lambda a: a.sum(), signature="(n)->()")(x),
    "frompyfunc": lambda xp, x: xp.frompyfunc(lambda a: a, 1, 1)(x),
    "required": lambda xp, x: (xp.require(x, "f4"), xp.require(x, "f4", "E"), xp.require(x, None, ["ENSUREARRAY"])),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("call", ON_THE_HOST.values(), ids=ON_THE_HOST)
def test_the_class_of_results_of_the_host(call: Callable[[Any, Any], Any], residence: str) -> None:
    gpunumpy.set_residence(residence)
    outcomes = []
    for xp, cls in zip(LIBRARIES, LABELLED, strict=True):
        x = xp.arange(3).view(cls)
        x.label = "x"
        result = call(xp, x)
        parts = result if isinstance(result, tuple) else (result,)
        outcomes.append([(_class_of(part, cls), part.dtype, part.tolist()) for part in parts])
    assert outcomes[0] == outcomes[1]


def _with_priority(xp: Any, priority: float | None) -> Any:
    base = LABELLED[LIBRARIES.index(xp)]
    return base if priority is None else type("Preferred", (base,), {"__array_priority__": priority})


JOINING = "append block column_stack concatenate dstack hstack stack vstack"
OF_TWO: dict[str, Callable[[Any, Any, Any], Any]] = {
    **{name: lambda xp, x, y, name=name: getattr(xp, name)([x, y]) for name in JOINING.split() if name != "append"},
    "append": lambda xp, x, y: xp.append(x, y),
    "sum": lambda xp, x, y: x + y,
    "maximum": lambda xp, x, y: xp.maximum(x, y),
    "inner": lambda xp, x, y: xp.inner(x.reshape(-1, 1), y.reshape(-1, 1)),
    "texts": lambda xp, x, y: xp.char.add(x.astype("U3"), y.astype("U3")),
    "vectorize": lambda xp, x, y: xp.vectorize(lambda a, b: a + b)(x, y),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("priorities", [(None, None), (None, 5.0), (5.0, None), (-5.0, None), (5.0, 7.0)], ids=str)
@pytest.mark.parametrize("call", OF_TWO.values(), ids=OF_TWO)
def test_the_class_of_a_priority(call: Callable[..., Any], priorities: tuple[float | None, float | None]) -> None:
    classes = []
    for xp in LIBRARIES:
        operands = []
        for name, priority in zip("xy", priorities, strict=True):
            operands.append(xp.arange(3).view(_with_priority(xp, priority)))
            operands[-1].label = name
        result = call(xp, *operands)
        classes.append((type(result).__name__ == "Preferred", getattr(result, "label", "plain"), result.tolist()))
    assert classes[0] == classes[1]
