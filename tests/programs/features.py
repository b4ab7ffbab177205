"""The functions that random programs draw steps from: one row each, that says what is called, on what, with what.

A row knows nothing of the library that it runs on: its call is made with NumPy and with gpunumpy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy

from . import draw
from .draw import Arguments, Draw


class Feature(NamedTuple):
    """One row: a call that random programs make.

    Attributes
    ----------
    call
        ``call(xp, o, *operands)`` with the module and the drawn options `o`, whose NumPy arrays are arrays of `xp`.
    operands
        What the variables must be that it is called with; all that it writes to come first.
    options
        The arguments, drawn in order: a tuple of choices, or a function of the program, the options so far and the
        operands.
    result
        "whole": whole numbers if the operands are; "bits": as in NumPy to the bit, but with fractions; "close": to
        `draw.TOLERANCE`, and forgotten; "written": nothing, operands are written to.
    sums
        Whether it adds up, so that its operands must be whole numbers.
    layout
        What is compared besides values: "strides", or "view": whether the result is a view of the first operand, and
        its strides if so.
    loop
        Whether it writes several times, so that an interruption may leave what is between.
    """

    name: str
    call: Callable[..., Any]
    operands: tuple[Callable[[Any], bool], ...] = (draw.anything,)
    options: Mapping[str, tuple[Any, ...] | Draw] = {}
    result: Literal["whole", "bits", "close", "written"] = "whole"
    sums: bool = False
    layout: Literal["", "strides", "view"] = ""
    loop: bool = False


def _set(x: Any, key: Any, value: Any) -> None:
    x[key] = value


def _at(xp: Any, o: Arguments, x: Any) -> None:
    getattr(xp, o.ufunc).at(x, o.index, o.values)


def _with(o: Arguments, *names: str) -> dict[str, Any]:
    """Return the options with these names that are given, by name."""
    return {name: getattr(o, name) for name in names if getattr(o, name) is not draw.LEFT_OUT}


def _ufunc_into(xp: Any, o: Arguments, out: Any, x: Any) -> None:
    getattr(xp, o.ufunc)(_masked_operand(xp, o, x), _divisor(o), out=out, **_with(o, "where", "casting", "dtype"))


def _divisor(o: Arguments) -> Any:
    """Return the second operand; without zeros where quotients may be cast to integers.

    NumPy's loops make different integers of infinity, and the place of an element decides which of them takes it.
    """
    if o.ufunc != "floor_divide" or o.casting != "unsafe":
        return o.y
    return numpy.where(o.y == 0, numpy.ones_like(o.y), o.y)


def _ufunc_over_itself(xp: Any, o: Arguments, x: Any) -> None:
    """Write into a part of an array what is computed from another part of it."""
    operands = [_masked_operand(xp, o, x[key]) for key in (o.first, o.second)]
    getattr(xp, o.ufunc)(*operands, out=x[o.out], **_with(o, "where"))


def _masked_operand(xp: Any, o: Arguments, x: Any) -> Any:
    """Return an operand; with ``where=`` NumPy's is a copy, and so is one that NumPy computes with on the host.

    Where `out` overlaps an operand and has another dtype than the loop, NumPy (2.3 to 2.5) casts the elements that the
    mask leaves out too: ``x = np.arange(5); np.greater(x[1:], x[:-1], out=x[1:], where=False)`` makes them 1.
    """
    is_numpys = xp is numpy or x.residence == "host"
    return x.copy() if is_numpys and o.where is not draw.LEFT_OUT else x


def _out_of_another_dtype(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a call into an array that has the shape of the result and a drawn dtype."""

    def into(xp: Any, o: Arguments, *operands: Any) -> Any:
        out = xp.full(call(xp, o, *operands).shape, 3, dtype=o.dtype, order=o.order)
        call(xp, o, *operands, out=out)
        return 0 + out  # sums of products begin with 0 or with the first product, so that zeros have either sign

    return into


def _window_loop(xp: Any, o: Arguments, x: Any) -> None:
    """Make windows that shrink, so that each statement is seen at other sizes."""
    for k in range(min(o.steps, x.shape[0])):
        if o.kind == 0:
            x[k:] -= x[k]
        elif o.kind == 1:
            x[k + 1 :] = x[k:-1] + 1
        elif o.kind == 2:
            x[k] = x[k:].max(axis=0)
        elif o.kind == 3:
            x[: x.shape[0] - k] += x[k:]
        elif o.kind == 4:
            x[k:] = xp.where(x[k:] > 1, x[k:] - 1, x[: x.shape[0] - k][::-1])
        else:
            x[k:][x[k:] > 1] = k % 3
    x %= x.dtype.type(7)


def _outer_loop(xp: Any, o: Arguments, x: Any) -> None:
    for k in range(min(o.steps, *x.shape[:2])):
        x[k:, k:] -= xp.outer(x[k:, k].reshape(x.shape[0] - k, -1)[:, 0], x[k, k:].reshape(x.shape[1] - k, -1)[:, 0])
        x %= x.dtype.type(5)


def _growing(xp: Any, o: Arguments, x: Any) -> Any:
    """Make batches of another length in each step."""
    parts = [xp.concatenate([x] * k) for k in range(1, 4)]
    return xp.concatenate([(p * 2 - p[:1]) % p.dtype.type(7) for p in parts])


def _two_outs(xp: Any, o: Arguments, x: Any, y: Any) -> Any:
    return getattr(xp, o.ufunc)(x, y)


def _write_through(xp: Any, o: Arguments, view: Any) -> Any:
    """Write through a view before it is returned, if so drawn."""
    if o.write and getattr(view, "ndim", 0) and view.flags.writeable:
        view[...] = 2
    return view


def _view(name: str, call: Callable[..., Any], condition: Any = draw.array, **options: Any) -> Feature:
    return Feature(
        name,
        lambda xp, o, x: _write_through(xp, o, call(xp, o, x)),
        (condition,),
        {"write": (False, False, True), **options},
        layout="view",
    )


_MODES = ("raise", "wrap", "clip")
_FOLDS = ("add", "multiply", "maximum", "minimum", "logical_or", "bitwise_and", "bitwise_xor", "fmax", "subtract")
_PAIRS = ("add", "subtract", "multiply", "maximum", "fmin", "logical_xor", "bitwise_or", "greater", "floor_divide")
_CASTING = (
    draw.LEFT_OUT,
    draw.LEFT_OUT,
    draw.LEFT_OUT,
    "unsafe",
    "unsafe",
    "no",
    "equiv",
    "safe",
    "same_kind",
    "unsafe",
)
_SOME_DTYPE = (draw.LEFT_OUT, draw.LEFT_OUT, "int32", "float32", "float64", "complex128", "int8")
_OUT_DTYPES = ("float64", "float64", "complex128", "int64", "float32", "bool")
_ORDERS = ("C", "F", "A", "K")
_AXES = (None, 0, -1, 1, (0, 1), ())
_QUANTILE_METHODS = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
)  # fmt: skip

WRITES = [
    Feature("x[index] = values", lambda xp, o, x: _set(x, o.key, o.values), (draw.target,),
            {"key": draw.index, "values": draw.values_for_key}, "written"),
    Feature("x[index] += values", lambda xp, o, x: _set(x, o.key, x[o.key] + o.values), (draw.number_target,),
            {"key": draw.index, "values": draw.values_for_key}, "written"),
    Feature("ufunc.at", _at, (draw.target,), {"ufunc": _FOLDS, "index": draw.places, "values": draw.values_at},
            "written"),
    Feature("negative.at", lambda xp, o, x: xp.negative.at(x, o.index), (draw.target,), {"index": draw.places},
            "written"),
    Feature("put", lambda xp, o, x: xp.put(x, o.places, o.values, mode=o.mode), (draw.target,),
            {"mode": _MODES, "axis": (None,), "places": draw.places_by_mode, "values": draw.few_values}, "written"),
    Feature("place", lambda xp, o, x: xp.place(x, x > 1, o.values), (draw.real_target,), {"values": draw.few_values},
            "written"),
    Feature("putmask", lambda xp, o, x: xp.putmask(x, x > 1, o.values), (draw.real_target,),
            {"values": draw.few_values}, "written"),
    Feature("put_along_axis", lambda xp, o, x: xp.put_along_axis(x, o.places, o.values, axis=o.axis), (draw.target,),
            {"axis": (0, -1, 0, 2), "places": draw.places_along_axis, "values": (1, 2, 3)}, "written"),
    Feature("copyto", lambda xp, o, x: xp.copyto(x, o.y, **_with(o, "casting", "where")),
            (draw.target,), {"y": draw.fitting, "casting": _CASTING, "where": draw.mask_or_nothing}, "written"),
    Feature("fill_diagonal", lambda xp, o, x: xp.fill_diagonal(x, o.value, wrap=o.wrap), (draw.matrix_target,),
            {"value": (0, 1, 2), "wrap": (False, True)}, "written"),
    Feature("ufunc out=", lambda xp, o, x: _ufunc_into(xp, o, x, x), (draw.target,),
            {"y": draw.fitting, "ufunc": _PAIRS, "casting": _CASTING, "dtype": _SOME_DTYPE,
             "where": draw.mask_or_nothing}, "written"),
    Feature("ufunc out= of another", _ufunc_into, (draw.target, draw.anything),
            {"y": draw.fitting, "ufunc": _PAIRS, "casting": _CASTING, "dtype": _SOME_DTYPE,
             "where": draw.mask_or_nothing}, "written"),
    Feature("ufunc out= over its operands", _ufunc_over_itself, (draw.target,),
            {"ufunc": _PAIRS, "first": draw.window, "second": draw.window, "out": draw.window,
             "where": (draw.LEFT_OUT, draw.LEFT_OUT, True, False)}, "written"),
    Feature("unary out=", lambda xp, o, x: getattr(xp, o.ufunc)(o.y, out=x, **_with(o, "where", "casting")),
            (draw.target,), {"ufunc": ("negative", "absolute", "square", "positive", "invert", "sign"),
            "y": draw.fitting, "where": draw.mask_or_nothing, "casting": _CASTING}, "written"),
    Feature("x[window] = x[window][::-1]", lambda xp, o, x: _set(x, o.out, x[o.first][::-1]), (draw.target,),
            {"first": draw.window, "out": draw.window}, "written"),
    Feature("x += x.T", lambda xp, o, x: x.__iadd__(x.T), (draw.number_target,), {}, "written"),
    Feature("x -= x[0]", lambda xp, o, x: x.__isub__(x[0]), (draw.number_target,), {}, "written"),
    Feature("clip out=", lambda xp, o, x: xp.clip(x, o.low, o.high, out=x), (draw.target,),
            {"low": (None, -1, 0), "high": (None, 1, 2)}, "written"),
    Feature("cumsum out=", lambda xp, o, x: xp.cumsum(x, axis=o.axis, out=x), (draw.number_target,),
            {"axis": draw.axis_for_sums}, "written", sums=True),
    Feature("accumulate out=", lambda xp, o, x: getattr(xp, o.ufunc).accumulate(x[o.first], axis=o.axis, out=x[o.out]),
            (draw.target,), {"ufunc": _FOLDS, "axis": draw.axis, "first": draw.window, "out": draw.window_for_sums},
            "written", sums=True),
    Feature("take out=", lambda xp, o, x: xp.take(x[o.first], o.places, axis=0, mode=o.mode, out=x[o.first]),
            (draw.target,), {"mode": ("raise", "wrap", "clip"), "first": draw.window, "places": draw.as_many_places},
            "written"),
    Feature("sort", lambda xp, o, x: x.sort(axis=o.axis, kind=o.kind), (draw.target,),
            {"axis": draw.axis, "kind": (None, "stable")}, "written"),
    Feature("fill", lambda xp, o, x: x.fill(o.value), (draw.target,), {"value": (0, 1, 2)}, "written"),
    Feature("flat", lambda xp, o, x: _set(x.flat, o.key, o.value), (draw.target,),
            {"key": (slice(None, None, 2), 0, slice(1, None)), "value": (0, 1, 2)}, "written"),
    Feature("windows that shrink", _window_loop, (draw.number_target,), {"kind": tuple(range(6)), "steps": (2, 5)},
            "written", sums=True, loop=True),
    Feature("outer products that shrink", _outer_loop, (draw.number_matrix_target,), {"steps": (2, 4)}, "written",
            loop=True),
]  # fmt: skip

SELECTIONS = [
    Feature("x[index]", lambda xp, o, x: x[o.key].copy(), (draw.array,), {"key": draw.index}),
    Feature("take", lambda xp, o, x: xp.take(x, o.places, axis=o.axis, mode=o.mode), (draw.array,),
            {"axis": draw.axis, "mode": _MODES, "places": draw.places_by_mode}),
    Feature("take_along_axis", lambda xp, o, x: xp.take_along_axis(x, o.places, axis=o.axis), (draw.array,),
            {"axis": draw.axis, "places": draw.places_along_axis}),
    Feature("choose", lambda xp, o, x, y: xp.choose(o.which, [x, y, 1], mode=o.mode), (draw.array, draw.anything),
            {"mode": _MODES, "which": draw.choices}),
    Feature("select", lambda xp, o, x, y: xp.select([x > 1, y > 0], [x, y], o.default), (draw.real, draw.real),
            {"default": (0, 1)}),
    Feature("compress", lambda xp, o, x: xp.compress(o.mask, x, axis=o.axis), (draw.array,),
            {"axis": draw.axis, "mask": draw.mask_line}),
    Feature("extract", lambda xp, o, x: xp.extract(x > 0, x), (draw.real,)),
    Feature("nonzero", lambda xp, o, x: xp.nonzero(x), (draw.array,)),
    Feature("argwhere", lambda xp, o, x: xp.argwhere(x), (draw.array,)),
    Feature("piecewise", lambda xp, o, x: xp.piecewise(x, [x > 0], [1, 2]), (draw.real,)),
    Feature("delete", lambda xp, o, x: xp.delete(x, o.key, axis=o.axis), (draw.filled,),
            {"axis": draw.axis, "key": (0, -1, slice(None, None, 2), [0, 0])}),
    Feature("insert", lambda xp, o, x: xp.insert(x, o.key, o.value, axis=o.axis), (draw.filled,),
            {"axis": draw.axis, "key": (0, -1, [0, 0], [0, -1]), "value": (1, 2)}),
    Feature("repeat", lambda xp, o, x: xp.repeat(x, o.repeats, axis=o.axis), (draw.array,),
            {"axis": draw.axis, "repeats": (0, 1, 2, [2], numpy.array([1]))}),
    Feature("tile", lambda xp, o, x: xp.tile(x, o.reps), (draw.filled_or_writeable,),
            {"reps": (2, (1, 2), (0,), (2, 1, 1))}),
    Feature("roll", lambda xp, o, x: xp.roll(x, o.shift, axis=o.axis), (draw.array,),
            {"axis": draw.axis, "shift": (0, 1, -2, 9)}),
    Feature("concatenate", lambda xp, o, x, y: xp.concatenate([x, y, x], axis=o.axis), (draw.array, draw.array),
            {"axis": draw.axis}),
    Feature("stack", lambda xp, o, x: xp.stack([x, x + x], axis=o.axis), (draw.anything,), {"axis": (0, -1, 1)}),
    Feature("pad", lambda xp, o, x: xp.pad(x, o.width, **o.how), (draw.array,),
            {"width": draw.pad_width, "how": draw.pad_mode}, "bits", sums=True),
    Feature("tril", lambda xp, o, x: getattr(xp, o.name)(x, o.k), (draw.matrix,),
            {"name": ("tril", "triu"), "k": (0, 1, -1)}),
    Feature("diag", lambda xp, o, x: xp.diag(x, o.k).copy(), (draw.array,), {"k": (0, 1, -1)}),
    Feature("batches that grow", _growing, (draw.number,)),
]  # fmt: skip

CALCULATIONS = [
    Feature("ufunc order=",
            lambda xp, o, x, y: getattr(xp, o.ufunc)(x, y, order=o.order, **_with(o, "casting", "dtype")),
            (draw.anything, draw.anything),
            {"ufunc": ("add", "maximum", "less", "logical_and"), "order": draw.order, "casting": _CASTING,
             "dtype": _SOME_DTYPE}, layout="strides"),
    Feature("accumulate", lambda xp, o, x: getattr(xp, o.ufunc).accumulate(x, axis=o.axis, **_with(o, "dtype")),
            (draw.array,), {"ufunc": _FOLDS, "axis": draw.axis, "dtype": _SOME_DTYPE}, sums=True),
    Feature("reduceat", lambda xp, o, x: getattr(xp, o.ufunc).reduceat(x, o.places, axis=o.axis).copy(), (draw.array,),
            {"ufunc": _FOLDS, "axis": draw.axis, "places": draw.starts}, sums=True),
    Feature("reduce", lambda xp, o, x: getattr(xp, o.ufunc).reduce(
                x, axis=o.axis, keepdims=o.keepdims, **_with(o, "initial", "where", "dtype")),
            (draw.anything,),
            {"ufunc": _FOLDS, "axis": _AXES, "keepdims": (False, True), "initial": draw.start,
             "where": draw.mask_or_nothing, "dtype": _SOME_DTYPE}, sums=True),
    Feature("outer", lambda xp, o, x, y: getattr(xp, o.ufunc).outer(x, y), (draw.small, draw.small),
            {"ufunc": _PAIRS}),
    Feature("two results", _two_outs, (draw.real, draw.real), {"ufunc": ("divmod",)}),
    Feature("modf", lambda xp, o, x: getattr(xp, o.ufunc)(x), (draw.real,), {"ufunc": ("modf", "frexp")}),
    Feature("astype order=", lambda xp, o, x: x.astype(o.dtype, order=o.order, casting=o.casting, copy=o.copy),
            (draw.anything,),
            {"dtype": ("int16", "float64", "bool", "complex64"), "order": _ORDERS, "casting": _CASTING[3:],
             "copy": (False, True)}, layout="strides"),
    Feature("copy order=", lambda xp, o, x: x.copy(order=o.order), (draw.array,), {"order": _ORDERS}, layout="strides"),
    Feature("like", lambda xp, o, x: getattr(xp, o.name)(x, order=o.order, **_with(o, "dtype", "shape")),
            (draw.array,), {"name": ("zeros_like", "ones_like"), "order": _ORDERS, "dtype": _SOME_DTYPE,
                            "shape": (draw.LEFT_OUT, draw.LEFT_OUT, (2, 0), (1, 3))}, layout="strides"),
    Feature("sum where=", lambda xp, o, x: getattr(xp, o.name)(
                x, axis=o.axis, keepdims=o.keepdims, **_with(o, "where", "dtype")),
            (draw.anything,), {"name": ("sum", "any", "all", "prod"), "axis": _AXES, "keepdims": (False, True),
                               "where": draw.mask_or_nothing, "dtype": (draw.LEFT_OUT,)}, sums=True),
    Feature("mean", lambda xp, o, x: xp.mean(x, axis=o.axis, keepdims=o.keepdims, **_with(o, "where")),
            (draw.number,), {"axis": _AXES, "keepdims": (False, True), "where": draw.mask_or_nothing}, "close",
            sums=True),
    Feature("var", lambda xp, o, x: getattr(xp, o.name)(x, axis=o.axis, ddof=o.ddof, **_with(o, "where")),
            (draw.number,), {"name": ("var", "std"), "axis": _AXES, "ddof": (0, 1),
                             "where": draw.mask_or_nothing}, "close", sums=True),
    Feature("sum out=", _out_of_another_dtype(lambda xp, o, x, **out: xp.sum(x, axis=o.axis, keepdims=True, **out)),
            (draw.array,), {"axis": _AXES, "dtype": _OUT_DTYPES, "order": ("C", "F")}, sums=True),
    Feature("matmul out=", _out_of_another_dtype(lambda xp, o, **out: xp.matmul(o.a, o.b, **out)), (),
            {"a": draw.factor, "b": draw.factor, "dtype": _OUT_DTYPES, "order": ("C", "F")}),
    Feature("einsum out=", _out_of_another_dtype(
                lambda xp, o, **out: xp.einsum(o.equation, *map(xp.asarray, o.factors), **out)), (),
            {"equation": draw.EQUATIONS, "factors": draw.einsum_factors, "dtype": _OUT_DTYPES, "order": ("C", "F")}),
    Feature("ptp", lambda xp, o, x: xp.ptp(x, axis=o.axis), (draw.number,), {"axis": _AXES}),
    Feature("nan-functions", lambda xp, o, x: getattr(xp, o.name)(x, axis=o.axis), (draw.filled_number,),
            {"name": ("nansum", "nanmax", "nanmin", "nanprod", "nanargmax"), "axis": (None, 0, -1)}, sums=True),
    Feature("median", lambda xp, o, x: xp.median(x, axis=o.axis, keepdims=o.keepdims), (draw.filled_number,),
            {"axis": _AXES, "keepdims": (False, True)}, "close", sums=True),
    Feature("quantile", lambda xp, o, x: getattr(xp, o.name)(
                x, xp.asarray(o.q), axis=o.axis, method=o.method, keepdims=o.keepdims),
            (draw.real,), {"name": ("quantile", "nanquantile"), "q": draw.probabilities,
                           "axis": draw.axes_of_elements,
                           "method": _QUANTILE_METHODS, "keepdims": (False, True)}, "close", sums=True),
    Feature("weighted quantile", lambda xp, o, x: xp.quantile(
                x, o.q, axis=o.axis, weights=xp.ones(x.shape), method="inverted_cdf"),
            (draw.filled_number,), {"q": (0.0, 0.25, 1.0), "axis": (None, 0, -1)}, "close", sums=True),
    Feature("cumulative", lambda xp, o, x: getattr(xp, o.name)(x, axis=o.axis), (draw.array,),
            {"name": ("cumsum", "cumprod", "nancumsum"), "axis": draw.axis}, sums=True),
    Feature("diff", lambda xp, o, x: xp.diff(x, n=o.n, axis=o.axis), (draw.array,), {"n": (0, 1, 2), "axis": (0, -1)}),
    Feature("sorted", lambda xp, o, x: getattr(xp, o.name)(x, axis=o.axis), (draw.array,),
            {"name": ("sort", "argmax", "argmin"), "axis": draw.axis}),
    Feature("argsort", lambda xp, o, x: xp.argsort(x, axis=o.axis, kind="stable"), (draw.array,), {"axis": draw.axis}),
    Feature("partition", lambda xp, o, x: xp.sort(xp.partition(x, o.kth, axis=-1), axis=-1), (draw.array,),
            {"kth": (0, -1, (0, 1))}),
    Feature("unique", lambda xp, o, x: xp.unique(
                x, return_index=o.index, return_inverse=o.inverse, return_counts=o.counts, axis=o.axis),
            (draw.array,), {"index": (False, True), "inverse": (False, True), "counts": (False, True),
                            "axis": (None, None, 0, -1)}),
    Feature("searchsorted", lambda xp, o, x, y: xp.searchsorted(xp.sort(x.reshape(-1)), y, side=o.side),
            (draw.real, draw.real), {"side": ("left", "right")}),
    Feature("set functions", lambda xp, o, x, y: getattr(xp, o.name)(x, y), (draw.real, draw.real),
            {"name": ("isin", "union1d", "intersect1d", "setdiff1d", "setxor1d")}),
    Feature("bincount", lambda xp, o: xp.bincount(o.index, minlength=o.length), (),
            {"index": draw.counts, "length": (0, 1, 9)}),
    Feature("histogram", lambda xp, o, x: xp.histogram(x, bins=o.bins, range=(-5, 14))[0], (draw.real,),
            {"bins": (1, 4, 19)}),
    Feature("digitize", lambda xp, o, x: xp.digitize(x, o.bins, right=o.right), (draw.real,),
            {"bins": (numpy.array([0, 1, 3]), numpy.array([2.5, 0.5]), numpy.array([1])), "right": (False, True)}),
    Feature("interp", lambda xp, o, x: xp.interp(x, o.xs, o.xs * 2), (draw.real,),
            {"xs": (numpy.array([0.0, 1, 3]), numpy.array([1.0]))}, "bits"),
    Feature("einsum", lambda xp, o: 0 + xp.einsum(o.equation, *map(xp.asarray, o.factors), optimize=o.optimize), (),
            {"equation": draw.EQUATIONS, "factors": draw.einsum_factors, "optimize": draw.einsum_path}),
    Feature("products", lambda xp, o: 0 + getattr(xp, o.name)(o.a, o.b), (),
            {"name": ("matmul", "dot", "inner", "kron", "vecdot", "outer", "tensordot"), "a": draw.factor,
             "b": draw.factor}),
    Feature("convolve", lambda xp, o, x, y: xp.convolve(x.reshape(-1), y.reshape(-1), mode=o.mode),
            (draw.number, draw.number), {"mode": ("full", "same", "valid")}, sums=True),
    Feature("round", lambda xp, o, x: xp.round(x, o.decimals), (draw.number,), {"decimals": (0, 1, -1)}, "bits"),
    Feature("nan_to_num", lambda xp, o, x: xp.nan_to_num(x, nan=o.nan), (draw.anything,), {"nan": (0.0, 1.0)}),
    Feature("clip", lambda xp, o, x: xp.clip(x, o.low, o.high), (draw.number,),
            {"low": (None, 0, 1.0, -1), "high": (None, 2, 300)}),
    Feature("trace", lambda xp, o, x: xp.trace(x, offset=o.k), (draw.matrix,), {"k": (0, 1, -1)}, sums=True),
    Feature("gradient", lambda xp, o, x: xp.gradient(x), (draw.number,), {}, "close", sums=True),
    Feature("apply_along_axis", lambda xp, o, x: xp.apply_along_axis(lambda row: row[::-1] * 2, o.axis, x),
            (draw.filled_number,), {"axis": (0, -1)}),
    Feature("indices", lambda xp, o: xp.indices(o.shape), (), {"shape": draw.shape}),
    Feature("meshgrid", lambda xp, o, x: xp.meshgrid(x.reshape(-1), xp.arange(o.n), indexing=o.indexing), (draw.small,),
            {"n": (0, 1, 3), "indexing": ("ij", "xy")}),
]  # fmt: skip

VIEWS = [
    _view("transpose", lambda xp, o, x: xp.transpose(x, o.axes), axes=draw.permutation),
    _view("swapaxes", lambda xp, o, x: xp.swapaxes(x, 0, -1), draw.matrix),
    _view("moveaxis", lambda xp, o, x: xp.moveaxis(x, 0, -1), draw.matrix),
    _view("diagonal", lambda xp, o, x: xp.diagonal(x, o.k), draw.matrix, k=(0, 1, -1)),
    _view("squeeze", lambda xp, o, x: xp.squeeze(x)),
    _view("expand_dims", lambda xp, o, x: xp.expand_dims(x, o.axis), axis=(0, -1, (0, -1))),
    _view("ravel", lambda xp, o, x: xp.ravel(x, order=o.order), order=_ORDERS),
    _view("reshape", lambda xp, o, x: xp.reshape(x, o.shape, order=o.order), shape=draw.reshape, order=_ORDERS[:3]),
    _view("flip", lambda xp, o, x: xp.flip(x, o.axis), axis=(None, 0, -1)),
    _view("rot90", lambda xp, o, x: xp.rot90(x, o.k), draw.matrix, k=(0, 1, 2, 3)),
    _view("view", lambda xp, o, x: x.view(o.dtype), dtype=draw.dtype_of_view),
    _view("real", lambda xp, o, x: getattr(x, o.part), part=("real", "imag")),
    _view("view of a view", lambda xp, o, x: x[o.first][o.second], first=draw.window, second=draw.window),
    _view("view of a transpose", lambda xp, o, x: x.T[o.key].T, key=(slice(None, None, -1), slice(1, None), 0)),
    _view("split", lambda xp, o, x: xp.array_split(x, o.parts, axis=o.axis)[0], draw.array, parts=(1, 2, 3),
          axis=(0, -1)),
    _view("broadcast_to", lambda xp, o, x: xp.broadcast_to(x, (o.n, *x.shape)), n=(0, 1, 2)),
    _view("sliding windows", lambda xp, o, x: xp.lib.stride_tricks.sliding_window_view(x, o.n, axis=0), n=(1, 2, 3)),
    _view("atleast", lambda xp, o, x: xp.atleast_3d(x)),
    _view("asarray order=", lambda xp, o, x: xp.asarray(x, order=o.order), order=_ORDERS),
]  # fmt: skip


def _linalg(name: str, call: Callable[..., Any] | None = None, matrix: Draw = draw.square, **options: Any) -> Feature:
    call = call or (lambda xp, o: getattr(xp.linalg, name)(o.a))
    return Feature(f"linalg.{name}", call, (), {"a": matrix, **options}, "close")


LINEAR_ALGEBRA = [
    _linalg("det"),
    _linalg("slogdet"),
    _linalg("inv"),
    _linalg("solve", lambda xp, o: xp.linalg.solve(o.a, o.b), b=draw.right_side),
    _linalg("cholesky", upper=(False, True)),
    _linalg("eigvalsh", matrix=draw.symmetric),
    _linalg("svdvals", lambda xp, o: xp.linalg.svd(o.a, compute_uv=False), draw.rectangle),
    _linalg("svd", lambda xp, o: [abs(x) * 0 for x in xp.linalg.svd(o.a, full_matrices=o.full)], draw.rectangle,
            full=(False, True)),
    _linalg("qr", lambda xp, o: abs(xp.linalg.qr(o.a, mode="r")), draw.rectangle),
    _linalg("pinv", matrix=draw.rectangle),
    _linalg("matrix_rank", matrix=draw.filled_rectangle),
    _linalg("matrix_power", lambda xp, o: xp.linalg.matrix_power(o.a, o.n), n=(0, 1, 2, 3)),
    _linalg("norm", lambda xp, o: xp.linalg.norm(o.a, o.ord, axis=(-2, -1)), draw.rectangle,
            ord=(None, "fro", "nuc", 1, -1, 2, -2, numpy.inf, -numpy.inf)),
    _linalg("norm of vectors", lambda xp, o: xp.linalg.norm(o.a, o.ord, axis=-1), draw.rectangle,
            ord=(None, 0, 1, 2, numpy.inf, -numpy.inf)),
    _linalg("lstsq", lambda xp, o: xp.linalg.lstsq(o.a, o.b, rcond=None)[0], b=draw.right_side),
    _linalg("multi_dot", lambda xp, o: xp.linalg.multi_dot([o.a, o.a, o.a])),
    _linalg("trace", matrix=draw.rectangle),
]  # fmt: skip

# The groups of rows, and how often a step is from each.
GROUPS: list[tuple[list[Feature], float]] = [
    (WRITES, 5), (SELECTIONS, 2), (CALCULATIONS, 4), (VIEWS, 4), (LINEAR_ALGEBRA, 0.5),
]  # fmt: skip
