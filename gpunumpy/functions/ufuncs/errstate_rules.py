"""Which floating-point errors an operation made, found from its arguments and its result.

A processor keeps flags of what went wrong; a kernel has none, so they are worked out from the values, on the device: an
infinity that comes of finite numbers, a NaN that comes of none. The results are NumPy's flags, as bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce as folded
from typing import Any

import ml_dtypes
import numpy

from ...core.dtypes import BOOL, KIND, DType, bfloat16
from ...core.graph import node as graph
from ...core.graph.layout import Layout
from ...core.graph.library_calls.registry import record_of
from ...core.graph.node import Node
from ...core.graph.primitives import Const, LibraryCall, Map, Reduce, Scan, Scatter, View
from ...core.graph.queue import Queue
from ...core.ops import table

DIVIDE, OVER, UNDER, INVALID = 1, 2, 4, 8

# Rows whose infinities and NaNs are their arguments', or no error.
_QUIET = frozenset(
    (
        *("positive", "negative", "fabs", "sign", "heaviside", "conjugate", "real", "imag", "complex", "where", "clip"),
        *("maximum", "minimum", "fmax", "fmin", "floor", "ceil", "trunc", "rint", "copysign", "spacing"),
        *("modf_frac", "modf_int", "frexp_mantissa"),
    )
)
# Rows with poles: the argument that is zero at them, or None where every infinity that they make is one.
_POLES: dict[str, int | None] = {
    **dict.fromkeys(("log", "log2", "log10", "log1p", "arctanh")),
    **dict.fromkeys(("reciprocal", "power", "float_power"), 0),
    **dict.fromkeys(("divide", "floor_divide"), 1),
}
# Divisions of integers, and which argument is the divisor.
_DIVISORS = {"floor_divide": 1, "remainder": 1, "fmod": 1, "reciprocal": 0}
# Rows whose results may be too small; where they have an inverse, it tells whether the result was exact:
# (row, argument that takes part, argument that it must give back).
_SMALL: dict[str, tuple[str, int, int] | None] = {
    "multiply": ("divide", 1, 0),
    "divide": ("multiply", 1, 0),
    "square": ("divide", 0, 0),
    **dict.fromkeys(("reciprocal", "power", "float_power", "exp", "exp2", "ldexp", "radians", "deg2rad", "cast")),
}
# The integers that x86-64 converts a float to on the way to a dtype: beyond them the conversion is invalid.
_CONVERTED = {"i8": (-(2**63), 2**63), "u8": (-(2**63), 2**64), "u4": (-(2**63), 2**32)}
_INT32 = (-(2**31), 2**31)

_REDUCTIONS = frozenset(("add", "multiply", "hypot", "logaddexp", "logaddexp2", "moments"))

_U8 = numpy.dtype(numpy.uint8)
# From the flags of the elements of a value to those that count.
_Lift = Callable[[Node], Node]


def checks(recorded: Node) -> list[tuple[str, Node]]:
    """What tells which errors are made by the operations that a pending value needs, oldest first.

    Each is NumPy's name of an operation and a 0-d uint8 of flags.
    """
    found: list[tuple[str, Node]] = []
    queue = recorded.signature.queue
    assert queue is not None
    for node, lift in _operations(recorded):
        for name, flags in _flags(node, queue):
            whole = flags if lift is None else lift(flags)
            axes = tuple(range(len(whole.signature.shape)))
            found.append((name, graph.reduce("bitwise_or", (_U8, _U8), axes, (whole,)) if axes else whole))
    return found


def _operations(recorded: Node) -> list[tuple[Node, _Lift | None]]:
    """The pending nodes below a value, arguments before what is made of them.

    Elements that a `where` leaves out have no errors: with the nodes below one comes what drops their flags, unless the
    nodes are needed elsewhere too.
    """
    order: dict[Node, _Lift | None] = {}
    stack: list[tuple[Node, _Lift | None]] = [(recorded, None)]
    while stack:
        node, lift = stack[-1]
        below = [(a, _lift(node, k, lift)) for k, a in enumerate(node.args) if a.data is None]
        missing = [(a, its) for a, its in below if a not in order or (its is None and order[a] is not None)]
        if missing:
            stack += missing
        else:
            stack.pop()
            if node not in order or lift is None:
                order[node] = lift
    return list(order.items())


def _lift(node: Node, k: int, outer: _Lift | None) -> _Lift | None:
    """What drops the flags of the elements of argument `k` that the node does not take."""
    primitive, shape = node.signature.primitive, node.signature.shape
    if isinstance(primitive, View) and outer is not None:
        where = Layout(shape, primitive.strides, primitive.offset)
        return lambda flags: outer(graph.view(graph.broadcast(flags, node.args[0].signature.shape), where))
    if not isinstance(primitive, Map):
        return None
    if primitive.op != "where" or k == 0:
        return outer and (lambda flags: outer(graph.broadcast(flags, shape)))
    mask = node.args[0] if k == 1 else _map("logical_not", BOOL, node.args[0])

    def taken(flags: Node) -> Node:
        flags = graph.map_node("where", (BOOL, _U8, _U8, _U8), (mask, flags, _number(0, _U8)))
        return flags if outer is None else outer(graph.broadcast(flags, shape))

    return taken


def _flags(node: Node, queue: Queue) -> list[tuple[str, Node]]:
    """The flags of one operation by NumPy's name of it: those of its elements, or of all of them together."""
    primitive = node.signature.primitive
    if isinstance(primitive, Map) and 0 not in node.signature.shape:
        return _of_map(primitive, node, queue)
    if KIND[node.signature.dtype] not in "efc":
        return []
    if isinstance(primitive, Reduce) and primitive.op in _REDUCTIONS:
        found = ["reduce", _of_reduction(primitive, node)]
    elif isinstance(primitive, Scan) and primitive.op in ("add", "multiply"):
        found = ["accumulate", _of_scan(primitive, node)]
    elif isinstance(primitive, LibraryCall):
        errors = record_of(primitive.name).floating_errors(primitive.options, node.signature.dtype)
        if errors is None:
            return []
        found = [errors.name, _of_all(errors.op, node)]
    elif isinstance(primitive, Scatter) and primitive.op:
        found = [primitive.op, _of_all(primitive.op, node)]
    else:
        return []
    name, flags = found
    return [(str(name), flags)] if isinstance(flags, Node) else []


# --- elementwise ----------------------------------------------------------------------------------------------------


def _of_map(primitive: Map, node: Node, queue: Queue) -> list[tuple[str, Node]]:
    """The flags of a row, after those of the casts to the dtypes that it takes."""
    found = []
    args = []
    for arg, dtype in zip(node.args, primitive.loop[:-1], strict=True):
        given = _placed(arg, queue)
        taken = graph.cast(given, dtype)
        if taken is not given:
            # A Python scalar that is too small is rounded to zero without a word.
            python = isinstance(arg.signature.primitive, Const) and bool(arg.signature.primitive.weak)
            found.append(("cast", _of_row("cast", (arg.signature.dtype, dtype), (given,), taken, small=not python)))
        args.append(taken)
    function = table.ufunc_of(primitive.op)
    name = primitive.op if function is None else function.__name__
    found.append((name, _of_row(primitive.op, primitive.loop, args, _placed(node, queue))))
    return [(name, flags) for name, flags in found if flags is not None]


def _of_row(op: str, loop: tuple[DType, ...], args: Sequence[Node], result: Node, small: bool = True) -> Node | None:
    kind = KIND[loop[-1]]
    if op == "cast" and numpy.can_cast(loop[0], loop[1]):
        return None
    if kind in "iu":
        if op == "cast" and KIND[loop[0]] in "efc":
            return _coded((INVALID, _not(_convertible(args[0], loop[-1]))))
        return _of_integers(op, loop[-1], args)
    if kind not in "efc" or op in _QUIET or (op == "absolute" and KIND[loop[0]] != "c"):
        return None
    floats = [a for a in args if KIND[a.signature.dtype] in "efc"]
    finite = _every([_is("isfinite", a) for a in floats])
    error = _every([_is("isinf", result), finite])
    invalid = _every([_is("isnan", result), *(_not(_is("isnan", a)) for a in floats)])
    found = [(INVALID, invalid)]
    if op not in _POLES:
        found.append((OVER, error))
    elif (which := _POLES[op]) is None:
        found.append((DIVIDE, error))
    else:
        # The quotient of complex numbers and zero has a NaN where a part is zero.
        pole = _is("logical_not", args[which])
        found.append((DIVIDE, _every([error, pole])))
        found.append((OVER, _every([error, _not(pole)])))
    if small and op in _SMALL and kind in "ef":
        found.append((UNDER, _every([_small(result), finite, *map(_nonzero, args), _inexact(op, args, result)])))
    return _coded(*found)


def _of_integers(op: str, dtype: DType, args: Sequence[Node]) -> Node | None:
    """Of a division by zero, and of the least integer by -1."""
    if op not in _DIVISORS:
        return None
    divisor = args[_DIVISORS[op]]
    found = [(DIVIDE, _is("logical_not", divisor))]
    if op == "floor_divide" and dtype.kind == "i":
        least, one = _number(numpy.iinfo(dtype).min, dtype), _number(-1, dtype)
        found.append((OVER, _every([_map("equal", BOOL, args[0], least), _map("equal", BOOL, divisor, one)])))
    return _coded(*found)


def _convertible(x: Node, dtype: DType) -> Node:
    """Whether floats are in the range of the integers that they are converted to."""
    if KIND[x.signature.dtype] == "c":
        x = _map("real", table.resolve("real", (x.signature.dtype,))[-1], x)
    low, high = _CONVERTED.get(dtype.str[1:], _INT32)
    wide = graph.cast(x, numpy.dtype(numpy.float64))
    whole = _map("trunc", wide.signature.dtype, wide)
    above = _map("greater_equal", BOOL, whole, _number(float(low), wide.signature.dtype))
    return _every([above, _map("less", BOOL, whole, _number(float(high), wide.signature.dtype))])


def _small(x: Node) -> Node:
    """Whether floats are below the normal numbers of their dtype."""
    dtype = x.signature.dtype
    least = float(ml_dtypes.finfo(dtype).smallest_normal if dtype == bfloat16 else numpy.finfo(dtype).smallest_normal)
    return _map("less", BOOL, _map("absolute", dtype, x), _number(least, dtype))


def _inexact(op: str, args: Sequence[Node], result: Node) -> Node | None:
    """Whether a small result was rounded, as far as going back tells; None where it does not."""
    if op == "cast":
        return _map("not_equal", BOOL, graph.cast(result, args[0].signature.dtype), args[0])
    inverse = _SMALL[op]
    if inverse is None:
        return None
    back, by, expected = inverse
    dtype = result.signature.dtype
    return _map("not_equal", BOOL, _map(back, dtype, result, args[by]), args[expected])


# --- the others -----------------------------------------------------------------------------------------------------


def _of_reduction(primitive: Reduce, node: Node) -> Node:
    x = node.args[0]

    def over_axes(op: str, values: Node | None) -> Node | None:
        return None if values is None else graph.reduce(op, (BOOL, BOOL), primitive.axes, (values,))

    floats = KIND[x.signature.dtype] in "efc"
    finite = over_axes("logical_and", _is("isfinite", x) if floats else None)
    nan = over_axes("logical_or", _is("isnan", x) if floats else None)
    found = [(OVER, _every([_is("isinf", node), finite])), (INVALID, _every([_is("isnan", node), _not(nan)]))]
    if primitive.op == "multiply" and KIND[node.signature.dtype] != "c":
        found.append((UNDER, _every([_small(node), finite, over_axes("logical_and", _nonzero(x))])))
    return _coded(*found)


def _of_scan(primitive: Scan, node: Node) -> Node:
    x = node.args[0]
    finite = graph.scan("logical_and", (BOOL, BOOL), primitive.axis, _is("isfinite", x))
    nan = graph.scan("logical_or", (BOOL, BOOL), primitive.axis, _is("isnan", x))
    found = [(OVER, _every([_is("isinf", node), finite])), (INVALID, _every([_is("isnan", node), _not(nan)]))]
    if primitive.op == "multiply" and KIND[node.signature.dtype] != "c":
        nonzero = graph.scan("logical_and", (BOOL, BOOL), primitive.axis, _nonzero(x))
        found.append((UNDER, _every([_small(node), finite, nonzero])))
    return _coded(*found)


def _of_all(op: str, node: Node) -> Node | None:
    """Of what mixes all elements: an infinity counts if all arguments are finite, a NaN if none is one."""
    floats = [a for a in node.args if KIND[a.signature.dtype] in "efc" and a.signature.queue is not None]
    finite = [_whole("logical_and", _is("isfinite", a)) for a in floats]
    nan = [_not(_whole("logical_or", _is("isnan", a))) for a in floats]
    infinite = _whole("logical_or", _is("isinf", node))
    invalid = _whole("logical_or", _is("isnan", node))
    return _coded((DIVIDE if op in _POLES else OVER, _every([infinite, *finite])), (INVALID, _every([invalid, *nan])))


# --- what rules are written with ------------------------------------------------------------------------------------


def _map(op: str, result: DType, *args: Node) -> Node:
    """A row over arguments of the dtypes that it takes."""
    return graph.map_node(op, (*(args[0].signature.dtype for _ in args), result), args)


def _placed(x: Node, queue: Queue) -> Node:
    """The value, on the device also where it is made of scalars alone."""
    return x if x.signature.queue is not None else graph.fill(x, x.signature.shape, queue)


def _number(value: Any, dtype: DType) -> Node:
    return graph.typed_scalar(value, dtype)


def _is(op: str, x: Node) -> Node:
    return _map(op, BOOL, x)


def _nonzero(x: Node) -> Node:
    return _is("logical_not", _is("logical_not", x))


def _not(x: Any) -> Any:
    return None if x is None else _map("logical_not", BOOL, x)


def _every(conditions: Sequence[Node | None]) -> Any:
    """The conditions together; None is one that always holds."""
    given = [c for c in conditions if c is not None]
    return folded(lambda a, b: _map("logical_and", BOOL, a, b), given) if given else None


def _whole(op: str, x: Node) -> Node:
    axes = tuple(range(len(x.signature.shape)))
    return graph.reduce(op, (BOOL, BOOL), axes, (x,)) if axes else x


def _coded(*found: tuple[int, Node]) -> Node:
    """Conditions as bits of one number."""
    bits = [
        graph.map_node("where", (BOOL, _U8, _U8, _U8), (condition, _number(flag, _U8), _number(0, _U8)))
        for flag, condition in found
    ]
    return folded(lambda a, b: _map("bitwise_or", _U8, a, b), bits)
