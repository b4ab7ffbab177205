"""Elementwise functions of NumPy that are not ufuncs: compositions of ufuncs, so that they fuse as ufuncs do."""

from __future__ import annotations

import builtins
import sys
from functools import partial
from math import inf, pi, prod
from operator import index
from typing import Any

import ml_dtypes
import numpy

from ...core.arguments import copy_mode
from ...core.dtypes import BOOL, FLOAT32, FLOAT64, ML_DTYPES, DType, check
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.node import Node
from ...core.graph.primitives import Const
from ...core.numpy_release import NUMPY_2_5
from ...core.numpy_ufuncs import UFUNCS
from ...core.ops import table
from ...core.recording.array import (
    MADE_AS_ARRAY,
    READ_ONLY,
    is_scalar,
    make_view,
    mark_as_array,
    ndarray,
    one_step,
    require_device,
    wrap,
)
from ...core.recording.calls import memo_of_nodes
from ...core.recording.memo import MemoizedOperation
from ...core.recording.record import (
    as_array,
    as_dtype,
    as_node,
    as_nodes,
    elementwise,
    elementwise_value,
    holds_arrays,
    leave_function_to_class,
    placed_array,
    weak_types,
)
from ...core.source_location import warn
from ..indexing.getitem import getitem, setitem
from .errstate import ignoring
from .methods import NO_VALUE, accumulate_ufunc, reduce_ufunc
from .output import (
    check_shape,
    checked_output,
    is_writable_array,
    made_arrays,
    take_value,
    to_numpy_arguments,
    write_to_output,
)
from .ufunc import (
    absolute,
    add,
    arctan2,
    bitwise_and,
    bitwise_or,
    divide,
    equal,
    greater,
    invert,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    logical_and,
    maximum,
    minimum,
    multiply,
    not_equal,
    positive,
    remainder,
    rint,
    signbit,
    sin,
    subtract,
    trunc,
    ufunc,
)

_clip = ufunc("clip")
_record_clip = MemoizedOperation(partial(elementwise_value, "clip"))
_SCALARS = (bool, int, float, complex, numpy.generic)


def _operand(x: Any) -> Any:
    """Return a scalar unchanged and anything else as an array."""
    return x if isinstance(x, _SCALARS) else as_array(x)


def _return_result(result: ndarray, out: Any) -> ndarray:
    """Return the result, written into `out` unless that is None."""
    into = checked_output(out)
    if into is None:
        return result
    check_shape(into, layout.broadcast_shapes(into.shape, result.shape))
    if not numpy.can_cast(result.dtype, into.dtype, "same_kind"):
        raise TypeError(f"Cannot cast from {result.dtype!r} to {into.dtype!r} with casting rule 'same_kind'")
    return write_to_output(into, take_value(result))


def _all(condition: Any) -> builtins.bool:
    """Return whether every element is true; this computes the elements and reads one value on the host."""
    return builtins.bool(reduce_ufunc("logical_and", condition, None))


def where(condition: Any, x: Any, y: Any) -> ndarray:
    """Return elements of `x` where the condition holds and of `y` elsewhere. See `numpy.where`."""
    return mark_as_array(_record_where(tuple(as_nodes((condition, x, y)))))  # an array even where it is 0-d


@MemoizedOperation
def _record_where(nodes: tuple[Node, ...]) -> tuple[Node, tuple[int, ...] | None]:
    """Record ``where(condition, x, y)``; return the value, its dimensions in memory order, and that order."""
    loop = table.resolve("where", weak_types(nodes))
    return elementwise_value("where", [_wrap_python_integer(node, dtype) for node, dtype in zip(nodes, loop)], loop)


MEMO_OF_WHERE = memo_of_nodes(_record_where, flags=MADE_AS_ARRAY)


def _wrap_python_integer(node: Node, dtype: DType) -> Node:
    """Return the node, with a Python integer wrapped around into `dtype`, as NumPy does before version 2.5."""
    primitive = node.signature.primitive
    if NUMPY_2_5 or dtype.kind not in "iu" or not (isinstance(primitive, Const) and primitive.weak.startswith("int")):
        return node
    limits = numpy.iinfo(dtype)
    if limits.min <= node.data <= limits.max:
        return node
    return graph.typed_scalar(numpy.asarray(node.data).astype(dtype)[()], dtype)


# --- limits and rounding ----------------------------------------------------------------------------------------------


def clip(
    a: Any,
    a_min: Any = NO_VALUE,
    a_max: Any = NO_VALUE,
    out: Any = None,
    *,
    min: Any = NO_VALUE,
    max: Any = NO_VALUE,
    **options: Any,
) -> ndarray:
    """Clip (limit) the values in an array to an interval. See `numpy.clip`.

    The bounds are `a_min` and `a_max`, or named `min` and `max`, of which one may be left out. The array API standard
    passes the bounds by position too, and the lower one alone, so `a_max` may be left out, which NumPy refuses.
    """
    if a_min is NO_VALUE and a_max is not NO_VALUE:
        raise TypeError("clip() missing 1 required positional argument: 'a_min'")
    if a_max is not NO_VALUE and (min is not NO_VALUE or max is not NO_VALUE):
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    if a_min is not NO_VALUE and min is not NO_VALUE:
        raise TypeError("clip() missing 1 required positional argument: 'a_max'")
    low, high = (min if a_min is NO_VALUE else a_min), (max if a_max is NO_VALUE else a_max)
    leave_function_to_class(low)
    leave_function_to_class(high)
    return _clip_between(placed_array(a), low, high, out, options)


def clip_method(a: ndarray, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> ndarray:
    """Return the array with its values limited to an interval. See `numpy.ndarray.clip`."""
    return _clip_between(a, min, max, out, options)


_MEMO_OF_CLIP = memo_of_nodes(_record_clip)
clip.call_memo = clip_method.call_memo = _MEMO_OF_CLIP  # type: ignore[attr-defined]


def _clip_between(a: ndarray, low: Any, high: Any, out: Any, options: dict[str, Any]) -> ndarray:
    """Clip an array; a bound that is None or `NO_VALUE` does not limit."""
    if out is Ellipsis:
        return made_arrays(_clip_between(a, low, high, None, options))
    low, high = (None if bound is NO_VALUE else bound for bound in (low, high))
    if a.dtype.kind in "iu":
        # A Python integer bound that does not fit the dtype, and that every value satisfies, is dropped.
        limits = numpy.iinfo(a.dtype)
        if type(low) is int and low < limits.min:
            low = None
        if type(high) is int and high > limits.max:
            high = None
    if out is None and low is not None and high is not None and not options:
        return _record_clip(tuple(as_nodes((a, low, high))))
    options["out"] = out  # None says that nobody looks at what `where` leaves out
    if low is None and high is None:
        return positive(a, **options)
    if low is None:
        return minimum(a, high, **options)
    if high is None:
        return maximum(a, low, **options)
    return _clip(a, low, high, **options)


def round(a: Any, decimals: Any = 0, out: Any = None) -> ndarray:
    """Round to a number of decimals, halves to the nearest even value. See `numpy.round`."""
    array, places = as_array(a), index(decimals)
    into = checked_output(out)
    with one_step(into):
        return _round(array, places, into)


def _round(array: ndarray, places: int, out: Any) -> ndarray:
    """Round an array to `places` decimals."""
    require_device(array)
    if out is not None and prod(out.shape) != array.size:
        raise ValueError("invalid output shape")
    kind = array.dtype.kind
    if kind in "iu":
        return _return_result(_round_integers(array, places), out)
    if places == 0:
        return rint(array, out=out)
    if kind == "b":
        UFUNCS["multiply"].resolve_dtypes((BOOL, float, BOOL))  # raises NumPy's TypeError: a bool has no decimals
    if kind == "c":
        parts = [_round_inexact(part, places) for part in (real(array), imag(array))]
        return _return_result(elementwise("complex", parts), out)
    return _return_result(_round_inexact(array, places), out)


around = round


def _round_inexact(x: ndarray, places: int) -> ndarray:
    """Round floats to `places` decimals: scale, round to the nearest integer, scale back."""
    scale = 10.0 ** abs(places) if abs(places) <= sys.float_info.max_10_exp else inf
    apply_scale, undo_scale = (multiply, divide) if places > 0 else (divide, multiply)
    if x.dtype not in ML_DTYPES:
        return undo_scale(rint(apply_scale(x, scale)), scale)
    # Of these, products with numbers are wider floats, and NumPy writes each step to an array of the dtype.
    scaled = _cast(apply_scale(x, scale), x.dtype)
    return _cast(undo_scale(_cast(rint(scaled), x.dtype), scale), x.dtype)


def _cast(x: ndarray, dtype: DType) -> ndarray:
    return wrap(graph.cast(take_value(x), dtype))


def _round_integers(x: ndarray, places: int) -> ndarray:
    """Round integers, which changes them only where `places` is negative."""
    if places >= 0:
        return positive(x)
    return _cast(_round_inexact(x, places), x.dtype)


def fix(x: Any, out: Any = None) -> ndarray:
    """Round to the nearest integer towards zero. See `numpy.fix`."""
    leave_function_to_class(x)
    if NUMPY_2_5:
        text = "numpy.fix is deprecated. Use numpy.trunc instead, which is faster and follows the Array API standard."
        warn(text, DeprecationWarning)
    return trunc(x, out=out)


def nan_to_num(x: Any, copy: builtins.bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> ndarray:
    """Replace NaN by zero and infinities by large finite numbers, or by given numbers. See `numpy.nan_to_num`."""
    copy = bool(copy_mode(copy))
    if not copy and isinstance(x, numpy.ndarray):
        return numpy.nan_to_num(x, False, *map(to_numpy_arguments, (nan, posinf, neginf)))
    array = as_array(x)
    if array.dtype.kind in "biu":
        if copy:
            return wrap(array.value())
        return array if array.shape else getitem(array, ())
    with one_step(None if copy else array):
        result = _without_nonfinite(array, nan, posinf, neginf)
        if not copy:
            write_to_output(array, take_value(result))
            return array if array.shape else getitem(array, ())
    if not array.shape:
        result._flags &= ~MADE_AS_ARRAY
    return result


def _without_nonfinite(array: ndarray, nan: Any, posinf: Any, neginf: Any) -> ndarray:
    """Replace NaN and infinities in an inexact array."""
    limits = ml_dtypes.finfo(_real_dtype(array.dtype))
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf
    parts = (real(array), imag(array)) if array.dtype.kind == "c" else (array,)
    finite_parts = [_replace_nonfinite(part, nan, high, low) for part in parts]
    return finite_parts[0] if len(finite_parts) == 1 else elementwise("complex", finite_parts)


def _replace_nonfinite(x: ndarray, nan: Any, high: Any, low: Any) -> ndarray:
    """Replace NaN, positive and negative infinity in an array that is not complex."""
    dtype = x.dtype
    queue = x.queue
    given = [as_node(v, queue) for v in (nan, high, low)]
    for n in given:
        if n.signature.dtype.kind == "c":
            numpy.copyto(numpy.empty(1, dtype), n.signature.dtype.type())  # raises NumPy's error
    nan, high, low = (
        wrap(graph.fill(as_dtype(n, dtype), n.signature.shape, queue))
        if n.signature.queue is None
        else wrap(graph.cast(n, dtype))
        for n in given
    )
    return where(isnan(x), nan, where(equal(x, inf), high, where(equal(x, -inf), low, x)))


# --- complex numbers --------------------------------------------------------------------------------------------------


def _real_dtype(dtype: DType) -> DType:
    """Return the dtype of the real parts of elements of a dtype."""
    return check(dtype.type(0).real.dtype) if dtype.kind == "c" else dtype


def real(val: Any) -> Any:
    """Return the real parts: a view of a complex array, and a real array itself. See `numpy.real`."""
    if isinstance(val, _SCALARS):
        return val.real
    return real_parts(as_array(val))


def imag(val: Any) -> Any:
    """Return the imaginary parts: a view of a complex array, and zeros for a real one. See `numpy.imag`."""
    if isinstance(val, _SCALARS):
        return val.imag
    return imaginary_parts(as_array(val))


def real_parts(x: ndarray) -> ndarray:
    """Return the real parts of the elements of an array."""
    require_device(x)
    return x if x.dtype.kind != "c" else _component(x, "real")


def imaginary_parts(x: ndarray) -> ndarray:
    """Return the imaginary parts of the elements of an array; for a real array, read-only zeros.

    Of what acts as a NumPy scalar the part does so too.
    """
    if x.dtype.kind == "c":
        return _component(x, "imag")
    zeros = wrap(graph.fill(graph.typed_scalar(0, x.dtype), x.shape, x.queue))
    if is_scalar(x):
        return zeros
    zeros._flags |= READ_ONLY | MADE_AS_ARRAY
    return zeros


def _component(x: ndarray, part: str) -> ndarray:
    """Return the real or imaginary parts of a complex array as a view.

    A 0-d result cannot be written, so its part is a new value.
    """
    if not is_writable_array(x):
        return elementwise(part, (x,))
    return make_view(x, x.layout, part, _real_dtype(x.dtype))


def set_real(x: ndarray, value: Any) -> None:
    """Assign the real parts of the elements."""
    setitem(real_parts(x), ..., _values_of_parts(value, x))


def set_imag(x: ndarray, value: Any) -> None:
    """Assign the imaginary parts of the elements; raise `TypeError` unless the array is complex."""
    if x.dtype.kind != "c":
        raise TypeError("array does not have imaginary part to set")
    setitem(imaginary_parts(x), ..., _values_of_parts(value, x))


def _values_of_parts(value: Any, x: ndarray) -> Any:
    """Return what is assigned to parts of elements: before 2.5 NumPy casts a number as it casts an array."""
    return value if NUMPY_2_5 else as_array(value, x.device)


def angle(z: Any, deg: builtins.bool = False) -> ndarray:
    """Return the angle of the complex argument, in radians or degrees. See `numpy.angle`."""
    z = as_array(z)
    radians = arctan2(imag(z), real(z)) if z.dtype.kind == "c" else arctan2(0, z)
    return multiply(radians, 180 / pi) if deg else radians


def real_if_close(a: Any, tol: float = 100) -> ndarray:
    """Return the real parts if every imaginary part is close to zero. See `numpy.real_if_close`.

    The imaginary parts are computed at once, as they decide the dtype of the result.
    """
    array = as_array(a)
    if array.dtype.kind != "c":
        return array
    if tol > 1:
        tol = tol * float(numpy.finfo(array.dtype).eps)
    return real(array) if _all(less(absolute(imag(array)), tol)) else array


def iscomplex(x: Any) -> ndarray:
    """Test element-wise for an imaginary part other than zero. See `numpy.iscomplex`."""
    array = as_array(x)
    return not_equal(imag(array), 0)


def isreal(x: Any) -> ndarray:
    """Test element-wise for an imaginary part of zero. See `numpy.isreal`."""
    array = as_array(x)
    return equal(imag(array), 0)


def iscomplexobj(x: Any) -> builtins.bool:
    """Return whether the dtype is complex, whatever the values are. See `numpy.iscomplexobj`."""
    if isinstance(x, (list, tuple)) and holds_arrays(x):
        x = as_array(x)
    return x.dtype.kind == "c" if isinstance(getattr(x, "dtype", None), numpy.dtype) else numpy.iscomplexobj(x)


def isrealobj(x: Any) -> builtins.bool:
    """Return whether the dtype is not complex, whatever the values are. See `numpy.isrealobj`."""
    leave_function_to_class(x)
    return not iscomplexobj(x)


# --- comparisons ------------------------------------------------------------------------------------------------------


def isposinf(x: Any, out: Any = None) -> ndarray:
    """Test element-wise for positive infinity. See `numpy.isposinf`."""
    x, into = _as_real_array(x), checked_output(out)
    return logical_and(isinf(x), invert(signbit(x)), out=into)


def isneginf(x: Any, out: Any = None) -> ndarray:
    """Test element-wise for negative infinity. See `numpy.isneginf`."""
    x, into = _as_real_array(x), checked_output(out)
    return logical_and(isinf(x), signbit(x), out=into)


def _as_real_array(x: Any) -> ndarray:
    """Return an array of the argument; raise `TypeError` if it is complex."""
    array = as_array(x)
    if array.dtype.kind == "c":
        raise TypeError(f"This operation is not supported for {array.dtype} values because it would be ambiguous.")
    return array


@ignoring(invalid="ignore")
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: builtins.bool = False) -> ndarray:
    """Test element-wise whether two arrays are equal within a tolerance. See `numpy.isclose`."""
    a, b, rtol, atol = (_operand(x) for x in (a, b, rtol, atol))
    if not all(isinstance(x, ndarray) or numpy.isfinite(x) for x in (rtol, atol)):
        _report_tolerance(f"One of rtol or atol is not valid, atol: {atol}, rtol: {rtol}")
    # Integers are subtracted as floats: an integer difference may overflow.
    if isinstance(b, ndarray):
        b = wrap(graph.cast(b.value(), check(numpy.result_type(b.dtype, 1.0)))) if b.dtype.kind in "biu" else b
    elif isinstance(b, (int, numpy.integer, numpy.bool_)):
        b = float(b) if isinstance(b, int) else numpy.float64(b)
    if all(isinstance(x, (int, float, complex)) for x in (b, rtol, atol)):
        bound = atol + rtol * abs(b)  # a Python scalar adapts to the dtype of `a`
    else:
        bound = add(atol, multiply(rtol, absolute(b)))
    is_near = less_equal(absolute(subtract(a, b)), bound)
    result = bitwise_or(bitwise_and(is_near, isfinite(b)), equal(a, b))
    return bitwise_or(result, bitwise_and(isnan(a), isnan(b))) if equal_nan else result


def _report_tolerance(message: str) -> None:
    """Report a tolerance that is not finite in the way that NumPy's settings have for invalid values."""
    mode = numpy.geterr()["invalid"]
    if mode == "raise":
        raise FloatingPointError(message)
    if mode == "print":
        print(message)
    elif mode == "warn":
        warn(message, RuntimeWarning)


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: builtins.bool = False) -> builtins.bool:
    """Return whether two arrays are element-wise equal within a tolerance. See `numpy.allclose`."""
    return _all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Any, a2: Any, equal_nan: builtins.bool = False) -> builtins.bool:
    """Return whether two arrays have the same shape and elements. See `numpy.array_equal`."""
    try:
        a1, a2 = as_array(a1), as_array(a2)
    except (TypeError, ValueError):  # strings, objects, or no array at all: NumPy compares them
        leave_function_to_class(a1)
        leave_function_to_class(a2)
        return numpy.array_equal(to_numpy_arguments(a1), to_numpy_arguments(a2), equal_nan)
    if a1.shape != a2.shape:
        return False
    is_equal = equal(a1, a2)
    return _all(bitwise_or(is_equal, bitwise_and(isnan(a1), isnan(a2))) if equal_nan else is_equal)


def array_equiv(a1: Any, a2: Any) -> builtins.bool:
    """Return whether two arrays broadcast to one shape and are equal there. See `numpy.array_equiv`."""
    try:
        a1, a2 = as_array(a1), as_array(a2)
    except (TypeError, ValueError):
        leave_function_to_class(a1)
        leave_function_to_class(a2)
        return numpy.array_equiv(to_numpy_arguments(a1), to_numpy_arguments(a2))
    try:
        layout.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return False
    return _all(equal(a1, a2))


# --- special functions ------------------------------------------------------------------------------------------------


def sinc(x: Any) -> ndarray:
    """Return the normalized sinc function ``sin(pi x) / (pi x)``. See `numpy.sinc`."""
    pi_x = multiply(pi, as_array(x))
    epsilon = float(numpy.finfo(pi_x.dtype).eps) if pi_x.dtype.kind == "f" else 1e-20
    nonzero = where(pi_x, pi_x, epsilon)  # with the sine of `epsilon`, which rounds to it, the quotient is 1
    return divide(sin(nonzero), nonzero)


def i0(x: Any) -> ndarray:
    """Return the modified Bessel function of the first kind, order 0. See `numpy.i0`."""
    array = as_array(x)
    if array.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    dtype = FLOAT64 if array.dtype.kind in "biu" else array.dtype
    loop = FLOAT64 if dtype.itemsize == 8 else FLOAT32
    value = graph.map_node("i0", (loop, loop), (graph.cast(array.value(), loop),))
    return mark_as_array(wrap(graph.cast(value, dtype)))


def unwrap(p: Any, discont: float | None = None, axis: int = -1, *, period: float = 2 * pi) -> ndarray:
    """Replace jumps of more than half a period by their complement modulo the period. See `numpy.unwrap`."""
    p = as_array(p)
    axis = layout.checked_axis(axis, p.ndim)
    before, after = ((slice(None),) * axis + (ends,) for ends in (slice(None, -1), slice(1, None)))
    difference = not_equal if p.dtype == BOOL else subtract
    steps = difference(getitem(p, after), getitem(p, before))
    dtype = check(numpy.result_type(steps.dtype, period))
    is_integer = dtype.kind in "iu"
    half = period // 2 if is_integer else period / 2
    wrapped = add(remainder(subtract(steps, -half), period), -half)
    if not is_integer or period % 2 == 0:
        # A jump of exactly half a period keeps its sign.
        wrapped = where(bitwise_and(equal(wrapped, -half), greater(steps, 0)), half, wrapped)
    is_small = less(absolute(steps), period / 2 if discont is None else discont)
    correction = accumulate_ufunc("add", where(is_small, 0, subtract(wrapped, steps)), axis)
    result = elementwise("cast", (p,), (p.dtype, dtype))
    setitem(result, after, add(getitem(p, after), correction))
    return result
