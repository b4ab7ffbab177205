"""Rules that find the floating-point errors of an operation from its arguments and its result.

A processor keeps flags of floating-point errors; a kernel has none, so the rules record operations that work them out
from the values: an infinity made of finite numbers, a NaN made of numbers. Their results are NumPy's flags, as bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce as folded
from typing import Any

import ml_dtypes
import numpy

from ...core.dtypes import BOOL, KIND, ML_DTYPES, DType
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout
from ...core.graph.library_calls.registry import record_of
from ...core.graph.node import Node
from ...core.graph.primitives import Const, LibraryCall, Map, Reduce, Scan, Scatter, View
from ...core.graph.queue import Queue
from ...core.ops import table

DIVIDE, OVER, UNDER, INVALID = 1, 2, 4, 8

# Ops whose infinities and NaNs come from their arguments, or are no error.
_WITHOUT_ERRORS = frozenset(
    (
        *("positive", "negative", "fabs", "sign", "heaviside", "conjugate", "real", "imag", "complex", "where", "clip"),
        *("maximum", "minimum", "fmax", "fmin", "floor", "ceil", "trunc", "rint", "copysign", "spacing"),
        *("modf_frac", "modf_int", "frexp_mantissa"),
    )
)
# Ops with poles: the argument that is zero at a pole, or None where every new infinity is a pole.
_POLES: dict[str, int | None] = {
    **dict.fromkeys(("log", "log2", "log10", "log1p", "arctanh")),
    **dict.fromkeys(("reciprocal", "power", "float_power"), 0),
    **dict.fromkeys(("divide", "floor_divide"), 1),
}
# Integer divisions: the position of the divisor among the arguments.
_DIVISORS = {"floor_divide": 1, "remainder": 1, "fmod": 1, "reciprocal": 0}
_ORDERINGS = frozenset(("less", "less_equal", "greater", "greater_equal"))
# Ops whose results may underflow. Where an inverse op exists, it shows whether the result was exact:
# (inverse op, position of its second argument, position of the argument that it must give back).
_UNDERFLOWS: dict[str, tuple[str, int, int] | None] = {
    "multiply": ("divide", 1, 0),
    "divide": ("multiply", 1, 0),
    "square": ("divide", 0, 0),
    **dict.fromkeys(("reciprocal", "power", "float_power", "exp", "exp2", "ldexp", "radians", "deg2rad", "cast")),
}
# Range of the integers that x86-64 converts a float to on the way to a dtype, _INT32 for dtypes not listed; outside it
# the conversion is invalid.
_CONVERSION_RANGES = {"i8": (-(2**63), 2**63), "u8": (-(2**63), 2**64), "u4": (-(2**63), 2**32)}
_INT32 = (-(2**31), 2**31)

# Folds of integers, whose divisions are checked, and what NumPy calls them.
_INTEGER_FOLDS = {"fold": "reduce", "accumulate": "accumulate", "reduceat": "reduceat"}

_CHECKED_REDUCTIONS = frozenset(("add", "multiply", "hypot", "logaddexp", "logaddexp2", "moments"))

_U8 = numpy.dtype(numpy.uint8)
# Function from the flags of the elements of a value to the flags that count.
_FlagFilter = Callable[[Node], Node]


def checks(recorded: Node) -> list[tuple[str, Node]]:
    """Return the flags of the pending operations that a value needs, oldest first.

    Each item is NumPy's name of an operation and a 0-d uint8 node of its flags.
    """
    found: list[tuple[str, Node]] = []
    queue = recorded.signature.queue
    assert queue is not None
    for node, flag_filter in _pending_operations(recorded):
        for name, flags in _flags(node, queue):
            whole = flags if flag_filter is None else flag_filter(flags)
            axes = tuple(range(len(whole.signature.shape)))
            found.append((name, graph.reduce("bitwise_or", (_U8, _U8), axes, (whole,)) if axes else whole))
    return found


def _pending_operations(recorded: Node) -> list[tuple[Node, _FlagFilter | None]]:
    """Return the pending nodes that a value needs, arguments before the nodes that use them.

    Beside a node stands a function that drops the flags of elements that a `where` above leaves out; None where all
    elements count, as for a node that is also used elsewhere.
    """
    order: dict[Node, _FlagFilter | None] = {}
    stack: list[tuple[Node, _FlagFilter | None]] = [(recorded, None)]
    while stack:
        node, flag_filter = stack[-1]
        arguments = [(a, _filter_through(node, k, flag_filter)) for k, a in enumerate(node.args) if a.data is None]
        missing = [
            (a, arg_filter)
            for a, arg_filter in arguments
            if a not in order or (arg_filter is None and order[a] is not None)
        ]
        if missing:
            stack += missing
        else:
            stack.pop()
            if node not in order or flag_filter is None:
                order[node] = flag_filter
    return list(order.items())


def _filter_through(node: Node, k: int, outer: _FlagFilter | None) -> _FlagFilter | None:
    """Return a function that drops the flags of the elements of argument `k` that the node does not use.

    `outer` does the same for the node itself. The result is None where all elements count.
    """
    primitive, shape = node.signature.primitive, node.signature.shape
    if isinstance(primitive, View) and outer is not None:
        view_layout = Layout(shape, primitive.strides, primitive.offset)
        return lambda flags: outer(graph.view(graph.broadcast(flags, node.args[0].signature.shape), view_layout))
    if not isinstance(primitive, Map):
        return None
    if primitive.op != "where" or k == 0:
        return outer and (lambda flags: outer(graph.broadcast(flags, shape)))
    mask = node.args[0] if k == 1 else _map("logical_not", BOOL, node.args[0])

    def drop_unselected(flags: Node) -> Node:
        flags = graph.map_node("where", (BOOL, _U8, _U8, _U8), (mask, flags, _constant(0, _U8)))
        return flags if outer is None else outer(graph.broadcast(flags, shape))

    return drop_unselected


def _flags(node: Node, queue: Queue) -> list[tuple[str, Node]]:
    """Return pairs of NumPy's name of an operation and its flags, of each element or of all elements as one value.

    A node has several pairs if it casts its arguments, and none if it cannot have errors.
    """
    primitive = node.signature.primitive
    if isinstance(primitive, Map) and 0 not in node.signature.shape:
        return _flags_of_map(primitive, node, queue)
    if KIND[node.signature.dtype] in "iu" and isinstance(primitive, LibraryCall):
        return _flags_of_integer_fold(primitive, node)
    if KIND[node.signature.dtype] in "iu" and isinstance(primitive, Scatter):
        return _flags_of_integer_scatter(primitive, node)
    if KIND[node.signature.dtype] not in "efc":
        return []
    if isinstance(primitive, Reduce) and primitive.op in _CHECKED_REDUCTIONS:
        found = ["reduce", _flags_of_reduction(primitive, node)]
    elif isinstance(primitive, Scan) and primitive.op in ("add", "multiply"):
        found = ["accumulate", _flags_of_scan(primitive, node)]
    elif isinstance(primitive, LibraryCall):
        errors = record_of(primitive.name).floating_errors(primitive.options, node.signature.dtype)
        if errors is None:
            return []
        found = [errors.name, _flags_of_whole(errors.op, node)]
    elif isinstance(primitive, Scatter) and primitive.op:
        found = [primitive.op, _flags_of_whole(primitive.op, node)]
    else:
        return []
    name, flags = found
    return [(str(name), flags)] if isinstance(flags, Node) else []


# --- flags of elementwise operations ---------------------------------------------------------------------------------


def _flags_of_map(primitive: Map, node: Node, queue: Queue) -> list[tuple[str, Node]]:
    """Return the flags of an elementwise operation, after the flags of the casts of its arguments."""
    found = []
    args = []
    for arg, dtype in zip(node.args, primitive.loop[:-1], strict=True):
        uncast = _on_device(arg, queue)
        cast = graph.cast(uncast, dtype)
        if cast is not uncast:
            # NumPy rounds a Python scalar that is too small to zero without an error.
            is_python = isinstance(arg.signature.primitive, Const) and bool(arg.signature.primitive.weak)
            found.append(
                ("cast", _flags_of_op("cast", (arg.signature.dtype, dtype), (uncast,), cast, underflows=not is_python))
            )
        args.append(cast)
    function = table.ufunc_of(primitive.op)
    name = primitive.op if function is None else function.__name__
    found.append((name, _flags_of_op(primitive.op, primitive.loop, args, _on_device(node, queue))))
    return [(name, flags) for name, flags in found if flags is not None]


def _flags_of_op(
    op: str, loop: tuple[DType, ...], args: Sequence[Node], result: Node, underflows: bool = True
) -> Node | None:
    """Return the flags of each element of `result`, op `op` over `args`, or None if there can be no error."""
    kind = KIND[loop[-1]]
    if op in _ORDERINGS and KIND[loop[0]] == "c":
        return _encode((INVALID, _is_unordered(*args)))
    if op == "cast" and numpy.can_cast(loop[0], loop[1]):
        return None
    if kind in "iu":
        if op == "cast" and KIND[loop[0]] in "efc":
            return _encode((INVALID, _negate(_is_convertible(args[0], loop[-1]))))
        return _flags_of_integer_division(op, loop[-1], args)
    if kind not in "efc" or op in _WITHOUT_ERRORS or (op == "absolute" and KIND[loop[0]] != "c"):
        return None
    if op == "nextafter":
        return _flags_of_nextafter(args, result)
    floats = [a for a in args if KIND[a.signature.dtype] in "efc"]
    finite = _all_of([_test("isfinite", a) for a in floats])
    new_infinity = _all_of([_test("isinf", result), finite])
    new_nan = _all_of([_test("isnan", result), *(_negate(_test("isnan", a)) for a in floats)])
    found = [(INVALID, new_nan)]
    if op not in _POLES:
        found.append((OVER, new_infinity))
    elif (zero_at := _POLES[op]) is None:
        found.append((DIVIDE, new_infinity))
    else:
        # A complex number over zero has a NaN for each of its parts that is zero: INVALID beside DIVIDE.
        pole = _test("logical_not", args[zero_at])
        found.append((DIVIDE, _all_of([new_infinity, pole])))
        found.append((OVER, _all_of([new_infinity, _negate(pole)])))
    if kind == "c" and op in ("divide", "reciprocal"):
        found += _flags_of_complex_quotient(args)
    if underflows and op in _UNDERFLOWS and kind in "ef":
        tiny = [_is_subnormal(result), finite, *map(_is_nonzero, args), _was_rounded(op, args, result)]
        found.append((UNDER, _all_of(tiny)))
    return _encode(*found)


def _flags_of_complex_quotient(args: Sequence[Node]) -> list[tuple[int, Node]]:
    """Return the flags of a NaN in a complex divisor, whose parts are ordered, of overflow, and of division by zero."""
    dtype = table.resolve("real", (args[-1].signature.dtype,))[-1]
    found = [(INVALID, _test("isnan", args[-1])), *((OVER, new) for new in _overflows_of_complex_quotient(args, dtype))]
    if len(args) == 2:
        pole = _test("logical_not", args[1])
        for part in ("real", "imag"):
            dividend = _map(part, dtype, args[0])
            divided = _all_of([pole, _test("isfinite", dividend), _is_nonzero(dividend)])
            found += [(DIVIDE, divided), (INVALID, _all_of([pole, _test("logical_not", dividend)]))]
    return found


def _overflows_of_complex_quotient(args: Sequence[Node], dtype: DType) -> list[Node]:
    """Record where the steps of a complex quotient make infinities of finite numbers.

    They are those of Smith's method (1962), as NumPy takes them: the result need not show that one has overflown.
    """
    real, imag = (_map(part, dtype, args[-1]) for part in ("real", "imag"))
    is_real_larger = _map("greater_equal", BOOL, _map("absolute", dtype, real), _map("absolute", dtype, imag))

    def chosen(x: Node, y: Node) -> Node:
        return graph.map_node("where", (BOOL, dtype, dtype, dtype), (is_real_larger, x, y))

    def multiplied(x: Node, y: Node) -> Node:
        return _map("multiply", dtype, x, y)

    larger, smaller = chosen(real, imag), chosen(imag, real)
    ratio = _map("divide", dtype, smaller, larger)
    denominator = _map("add", dtype, larger, multiplied(smaller, ratio))
    scale = _map("divide", dtype, _constant(1, dtype), denominator)
    found = [
        _all_of([_test("isinf", denominator), _test("isfinite", args[-1])]),
        _all_of([_test("isinf", scale), _is_nonzero(denominator)]),
    ]
    if len(args) == 2:
        dividend = [_map(part, dtype, args[0]) for part in ("real", "imag")]
        first, second = chosen(*dividend), chosen(*reversed(dividend))
        for numerator in (
            _map("add", dtype, first, multiplied(second, ratio)),
            _map("subtract", dtype, second, multiplied(first, ratio)),
        ):
            found.append(_all_of([_test("isinf", numerator), _test("isfinite", args[0]), _test("isfinite", ratio)]))
            scaled = [_test("isinf", multiplied(numerator, scale)), _test("isfinite", numerator)]
            found.append(_all_of([*scaled, _test("isfinite", scale)]))
    return found


def _is_unordered(x: Node, y: Node) -> Node:
    """Record whether the parts that NumPy orders complex numbers by have a NaN: the imaginary ones of equal real ones.

    Numbers that are not complex compare without a flag.
    """
    dtype = table.resolve("real", (x.signature.dtype,))[-1]
    (x_real, y_real), (x_imag, y_imag) = ([_map(part, dtype, z) for z in (x, y)] for part in ("real", "imag"))
    among_real, among_imag = (
        _map("logical_or", BOOL, _test("isnan", a), _test("isnan", b)) for a, b in ((x_real, y_real), (x_imag, y_imag))
    )
    return _map("logical_or", BOOL, among_real, _all_of([_map("equal", BOOL, x_real, y_real), among_imag]))


def _flags_of_nextafter(args: Sequence[Node], result: Node) -> Node:
    """Return the flags of steps to infinity, and, but for float16 as in NumPy, of steps to zero or a subnormal."""
    found = [(OVER, _all_of([_test("isinf", result), _test("isfinite", args[0])]))]
    if result.signature.dtype.itemsize > 2:
        found.append((UNDER, _all_of([_is_subnormal(result), _map("not_equal", BOOL, *args)])))
    return _encode(*found)


def _flags_of_integer_division(op: str, dtype: DType, args: Sequence[Node]) -> Node | None:
    """Return the flags of a division by zero and of the least integer divided by -1; None for other ops."""
    if op not in _DIVISORS:
        return None
    divisor = args[_DIVISORS[op]]
    is_zero = _test("logical_not", divisor)
    found = [(DIVIDE, is_zero)]
    if op == "reciprocal":  # NumPy converts an infinity to an integer
        found.append((INVALID, is_zero))
    if op == "floor_divide" and dtype.kind == "i":
        least, minus_one = _constant(numpy.iinfo(dtype).min, dtype), _constant(-1, dtype)
        found.append((OVER, _all_of([_map("equal", BOOL, args[0], least), _map("equal", BOOL, divisor, minus_one)])))
    return _encode(*found)


def _is_convertible(x: Node, dtype: DType) -> Node:
    """Record whether floats are in the range of integers that a conversion to a dtype passes through."""
    if KIND[x.signature.dtype] == "c":
        x = _map("real", table.resolve("real", (x.signature.dtype,))[-1], x)
    low, high = _CONVERSION_RANGES.get(dtype.str[1:], _INT32)
    widened = graph.cast(x, numpy.dtype(numpy.float64))
    truncated = _map("trunc", widened.signature.dtype, widened)
    is_above = _map("greater_equal", BOOL, truncated, _constant(float(low), widened.signature.dtype))
    return _all_of([is_above, _map("less", BOOL, truncated, _constant(float(high), widened.signature.dtype))])


def _is_subnormal(x: Node) -> Node:
    """Record whether the magnitude of floats is below the normal numbers of their dtype."""
    dtype = x.signature.dtype
    least = float(ml_dtypes.finfo(dtype).smallest_normal if dtype in ML_DTYPES else numpy.finfo(dtype).smallest_normal)
    return _map("less", BOOL, _map("absolute", dtype, x), _constant(least, dtype))


def _was_rounded(op: str, args: Sequence[Node], result: Node) -> Node | None:
    """Record whether a small result was rounded, by applying the inverse op; None if there is no inverse."""
    if op == "cast":
        return _map("not_equal", BOOL, graph.cast(result, args[0].signature.dtype), args[0])
    inverse = _UNDERFLOWS[op]
    if inverse is None:
        return None
    inverse_op, operand, expected = inverse
    dtype = result.signature.dtype
    return _map("not_equal", BOOL, _map(inverse_op, dtype, result, args[operand]), args[expected])


# --- flags of reductions, scans and library calls --------------------------------------------------------------------


def _flags_of_reduction(primitive: Reduce, node: Node) -> Node:
    """Return the flags of each element of a reduction."""
    x = node.args[0]

    def over_axes(op: str, values: Node | None) -> Node | None:
        return None if values is None else graph.reduce(op, (BOOL, BOOL), primitive.axes, (values,))

    floats = KIND[x.signature.dtype] in "efc"
    finite = over_axes("logical_and", _test("isfinite", x) if floats else None)
    nan = over_axes("logical_or", _test("isnan", x) if floats else None)
    found = [(OVER, _all_of([_test("isinf", node), finite])), (INVALID, _all_of([_test("isnan", node), _negate(nan)]))]
    if primitive.op == "multiply" and KIND[node.signature.dtype] != "c":
        found.append((UNDER, _all_of([_is_subnormal(node), finite, over_axes("logical_and", _is_nonzero(x))])))
    return _encode(*found)


def _flags_of_scan(primitive: Scan, node: Node) -> Node:
    """Return the flags of each element of a scan."""
    x = node.args[0]
    finite = graph.scan("logical_and", (BOOL, BOOL), primitive.axis, _test("isfinite", x))
    nan = graph.scan("logical_or", (BOOL, BOOL), primitive.axis, _test("isnan", x))
    found = [(OVER, _all_of([_test("isinf", node), finite])), (INVALID, _all_of([_test("isnan", node), _negate(nan)]))]
    if primitive.op == "multiply" and KIND[node.signature.dtype] != "c":
        nonzero = graph.scan("logical_and", (BOOL, BOOL), primitive.axis, _is_nonzero(x))
        found.append((UNDER, _all_of([_is_subnormal(node), finite, nonzero])))
    return _encode(*found)


def _flags_of_integer_fold(primitive: LibraryCall, node: Node) -> list[tuple[str, Node]]:
    """Return the flags, as one value, of integer divisions along an axis; none for other library calls.

    The least integer divided by -1 is not found in `reduceat`.
    """
    name = _INTEGER_FOLDS.get(primitive.name)
    op, loop, axis = primitive.options if name else ("", (), 0)
    if name is None or op not in _DIVISORS:
        return []
    value, *others = node.args
    length = value.signature.shape[axis]
    if primitive.name == "reduceat":
        is_zero = _all_of(
            [_test("logical_not", value), _are_divisors(others[0], length, axis, len(value.signature.shape))]
        )
        return [(name, _reduce_flags(_encode((DIVIDE, is_zero))))]
    if others:  # a mask: to divide by 1 changes nothing
        value = graph.map_node("where", (BOOL, *loop), (others[0], value, _constant(1, loop[1])))
    states = node if primitive.name == "accumulate" else graph.library_call("accumulate", primitive.options, (value,))
    flags = _flags_of_integer_division(
        op, loop[1], (_along_axis(states, axis, 0, length - 1), _along_axis(value, axis, 1, length))
    )
    assert flags is not None
    return [(name, _reduce_flags(flags))]


def _flags_of_integer_scatter(primitive: Scatter, node: Node) -> list[tuple[str, Node]]:
    """Return the flags, as one value, of integers that `ufunc.at` divides by zero, or adds a float to that is none.

    There are none for other ops.
    """
    divisor = node.args[1]
    if 0 in divisor.signature.shape:
        return []
    if primitive.op in ("add", "subtract") and KIND[divisor.signature.dtype] in "ef":
        is_lost = _negate(_is_convertible(divisor, node.signature.dtype))
        return [("at", _reduce_flags(_encode((INVALID, is_lost))))]
    if _DIVISORS.get(primitive.op) != 1:
        return []
    is_zero = _test(
        "logical_not", graph.view(divisor, Layout((1,), (0,), 0)) if not divisor.signature.shape else divisor
    )
    # NumPy has a loop of its own for `floor_divide.at`, which has the ufunc's name.
    return [("floor_divide" if primitive.op == "floor_divide" else "at", _reduce_flags(_encode((DIVIDE, is_zero))))]


def _are_divisors(starts: Node, length: int, axis: int, ndim: int) -> Node:
    """Record for the positions along an axis whether a slice of `reduceat` holds them, but not as its first element."""
    (count,), queue = starts.signature.shape, starts.signature.queue
    assert queue is not None
    positions = graph.iota((1, length), 1, queue)

    def rows(first: int, row_count: int) -> Node:
        return graph.view(starts, Layout((row_count, 1), (1, 0), first))

    is_divisor = _map("less", BOOL, rows(count - 1, 1), positions)  # the last slice ends with the axis
    if count > 1:
        is_after = _map("less", BOOL, rows(0, count - 1), positions)
        is_inside = _all_of([is_after, _map("less", BOOL, positions, rows(1, count - 1))])
        in_any_slice = graph.reduce("logical_or", (BOOL, BOOL), (0,), (is_inside,))
        is_divisor = _map("logical_or", BOOL, is_divisor, in_any_slice)
    trailing = ndim - axis - 1
    return graph.view(is_divisor, Layout((length, *(1,) * trailing), (1, *(0,) * trailing), 0))


def _along_axis(x: Node, axis: int, start: int, stop: int) -> Node:
    """Return the elements from `start` to `stop` along an axis."""
    shape = x.signature.shape
    strides = layout.c_strides(shape)
    return graph.view(x, Layout((*shape[:axis], stop - start, *shape[axis + 1 :]), strides, start * strides[axis]))


def _flags_of_whole(op: str, node: Node) -> Node | None:
    """Return the flags of an operation that mixes all elements, as one value.

    A new infinity counts if all arguments are finite, a new NaN if no argument has one.
    """
    floats = [a for a in node.args if KIND[a.signature.dtype] in "efc" and a.signature.queue is not None]
    finite = [_reduce_all("logical_and", _test("isfinite", a)) for a in floats]
    nan = [_negate(_reduce_all("logical_or", _test("isnan", a))) for a in floats]
    infinite = _reduce_all("logical_or", _test("isinf", node))
    invalid = _reduce_all("logical_or", _test("isnan", node))
    return _encode(
        (DIVIDE if op in _POLES else OVER, _all_of([infinite, *finite])), (INVALID, _all_of([invalid, *nan]))
    )


# --- building blocks of the rules ------------------------------------------------------------------------------------


def _map(op: str, result: DType, *args: Node) -> Node:
    """Record an elementwise op over arguments that all have the dtype of the first."""
    return graph.map_node(op, (*(args[0].signature.dtype for _ in args), result), args)


def _on_device(x: Node, queue: Queue) -> Node:
    """Return the value as a value on the device, even if it is made of scalars alone."""
    return x if x.signature.queue is not None else graph.fill(x, x.signature.shape, queue)


def _constant(value: Any, dtype: DType) -> Node:
    return graph.typed_scalar(value, dtype)


def _test(op: str, x: Node) -> Node:
    """Record an op with a boolean result."""
    return _map(op, BOOL, x)


def _is_nonzero(x: Node) -> Node:
    return _test("logical_not", _test("logical_not", x))


def _negate(x: Any) -> Any:
    """Negate a condition; None, which stands for no condition, stays None."""
    return None if x is None else _map("logical_not", BOOL, x)


def _all_of(conditions: Sequence[Node | None]) -> Any:
    """Record whether all conditions hold, None standing for no condition; return None if there is none."""
    present = [c for c in conditions if c is not None]
    return folded(lambda a, b: _map("logical_and", BOOL, a, b), present) if present else None


def _reduce_flags(flags: Node) -> Node:
    """Combine the flags of all elements."""
    return graph.reduce("bitwise_or", (_U8, _U8), tuple(range(len(flags.signature.shape))), (flags,))


def _reduce_all(op: str, x: Node) -> Node:
    """Reduce booleans over all axes."""
    axes = tuple(range(len(x.signature.shape)))
    return graph.reduce(op, (BOOL, BOOL), axes, (x,)) if axes else x


def _encode(*found: tuple[int, Node]) -> Node:
    """Combine pairs of a flag and a condition into one value with a bit for each flag whose condition holds."""
    bits = [
        graph.map_node("where", (BOOL, _U8, _U8, _U8), (condition, _constant(flag, _U8), _constant(0, _U8)))
        for flag, condition in found
    ]
    return folded(lambda a, b: _map("bitwise_or", _U8, a, b), bits)
