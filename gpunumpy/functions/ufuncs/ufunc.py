"""The elementwise functions: one `ufunc` object for each that the table has rows for, under all its NumPy names."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy

from ...core import dtypes
from ...core.dtypes import BOOL, DType
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import Layout
from ...core.graph.node import Node
from ...core.ops import table
from ...core.recording.array import make_view, ndarray, to_host, wrap, wrap_ordered
from ...core.recording.record import as_array, as_nodes, binary_operator, elementwise, unary_operator, weak_types
from .errstate import looked_at_later
from .methods import NO_VALUE, accumulate_ufunc, at_ufunc, reduce_ufunc, reduceat_ufunc
from .output import Output, check_shape, hosted, in_order, mask_node, outputs, release, select, write

# The rows that compute the results of the ufuncs with several.
_ROWS = {
    "divmod": ("floor_divide", "remainder"),
    "modf": ("modf_frac", "modf_int"),
    "frexp": ("frexp_mantissa", "frexp_exponent"),
}
_ORDERS = ("C", "F", "A", "K")
_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
# What recording takes as it is; anything else becomes an array first.
_RECORDED = (ndarray, bool, int, float, complex, numpy.generic)


class _NotGiven:
    """The default of `out`, which is not the same as None: NumPy warns of `where` without it."""

    def __repr__(self) -> str:
        return "<not given>"


_NOT_GIVEN = _NotGiven()


class ufunc:
    """A function that works element by element on whole arrays; see `numpy.ufunc`.

    Attributes
    ----------
    nin, nout, nargs : int
        The numbers of arguments, of results, and of both.
    identity : object
        What a reduction of nothing gives, or None.
    types : list of str
        The loops over NumPy's types, as in NumPy.
    signature : None
        The core dimensions of a generalised ufunc, which this is not.
    """

    signature = None

    def __init__(self, name: str) -> None:
        its: Any = table.ufunc_of(name)
        self._numpy = its
        self._rows = _ROWS.get(name, (name,))
        self.__name__ = name
        self.__doc__ = its.__doc__
        self.nin, self.nout, self.nargs = its.nin, its.nout, its.nargs
        self.identity = its.identity
        self.types, self.ntypes = its.types, its.ntypes
        # The quick way for one array, or an array and an operand; exponents may have to be looked at first.
        self._quick: Callable[..., Any] | None = None
        if self.nin < 3 and self.nout == 1 and name != "power":
            self._quick = unary_operator(name) if self.nin == 1 else binary_operator(name)

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__

    def __call__(self, *args: Any, **options: Any) -> Any:
        if options or len(args) != self.nin:
            return self._call(*self._arguments(args, options))
        if self._quick is None:
            return self._call(args)
        if type(args[0]) is ndarray:
            result = self._quick(*args)
            if result is not NotImplemented:
                return result
        return elementwise(self.__name__, args)

    def _arguments(self, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
        """Inputs, outputs, mask, and what decides the loop, out of the arguments of a call."""
        nin, name = self.nin, self.__name__
        if not nin <= len(args) <= self.nargs:
            few = f"{nin} to {self.nargs}"
            was = "was" if len(args) == 1 else "were"
            raise TypeError(f"{name}() takes from {few} positional arguments but {len(args)} {was} given")
        out = options.pop("out", _NOT_GIVEN)
        if len(args) > nin:
            if out is not _NOT_GIVEN:
                raise TypeError("cannot specify 'out' as both a positional and keyword argument")
            given = args[nin:]
            out = given + (None,) * (self.nout - len(given))
        where = options.pop("where", True)
        if where is not True and out is _NOT_GIVEN:
            warnings.warn(
                "'where' used without 'out': where it is False, the result is unspecified; out=None says that is meant",
                stacklevel=4,
            )
        casting, order = options.pop("casting", "same_kind"), options.pop("order", "K")
        _choice("casting", casting, _CASTINGS)
        _choice("order", order, _ORDERS)
        signature = _signature(self, options)
        options.pop("subok", None)
        if options:
            raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(options))!r}")
        outs = outputs(None if out is _NOT_GIVEN else out, self.nout)
        return args[:nin], outs, where, casting, order, signature

    def _call(
        self,
        args: tuple[Any, ...],
        outs: tuple[Output | None, ...] | None = None,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        signature: Any = None,
    ) -> Any:
        given = [out for out in outs or () if out is not None]
        model = next((x for x in (*args, *given) if isinstance(x, ndarray)), None)
        device = None if model is None else model.device
        operands = [x if isinstance(x, _RECORDED) else as_array(x, device) for x in args]
        nodes = as_nodes(operands)
        loop = self._loop(nodes, given, outs, casting, signature)
        if self.__name__ == "power":
            check_powers(nodes[1], loop)
        mask = None if where is True else mask_node(where, None if model is None else model.queue)
        inputs = [n.signature.shape for n in (*nodes, mask) if n is not None]
        shape = layout.broadcast_shapes(*inputs, *(out.shape for out in given))
        for out in given:
            check_shape(out, shape)
        record = elementwise if mask is None else looked_at_later(elementwise)
        results = [record(op, operands, (*loop[: self.nin], loop[self.nin + k])) for k, op in enumerate(self._rows)]
        made = [
            self._deliver(result, None if outs is None else outs[k], mask, shape, order, operands)
            for k, result in enumerate(results)
        ]
        return made[0] if self.nout == 1 else tuple(made)

    def _loop(
        self,
        nodes: list[Node],
        given: list[Output],
        outs: tuple[Output | None, ...] | None,
        casting: str,
        signature: Any,
    ) -> tuple[DType, ...]:
        types = weak_types(nodes)
        if casting == "same_kind" and signature is None and not given:
            return table.resolve(self.__name__, types)
        into = tuple(None if out is None else out.dtype for out in outs or (None,) * self.nout)
        fixed = {} if signature is None else {"signature": signature}
        loop = self._numpy.resolve_dtypes((*types, *into), casting=casting, **fixed)
        return tuple(dtypes.check(d) for d in loop)

    def _deliver(
        self,
        result: ndarray,
        out: Output | None,
        mask: Node | None,
        shape: tuple[int, ...],
        order: str,
        operands: list[Any],
    ) -> ndarray:
        if out is not None:
            return write(out, release(result), mask)
        if mask is not None:
            # NumPy leaves the other elements as it finds them in new memory; here they are zeros.
            value = graph.broadcast(result.value(), shape)
            zero = graph.typed_scalar(0, value.signature.dtype)
            result = wrap_ordered(select(mask, value, zero), None)
        if order == "A":
            arrays = [x.layout for x in operands if isinstance(x, ndarray)]
            fortran = arrays and all(layout.is_f(w.shape, w.strides) for w in arrays)
            order = "F" if fortran and not all(layout.is_c(w.shape, w.strides) for w in arrays) else "C"
        return result if order == "K" else in_order(result, order)

    def resolve_dtypes(self, dtypes: Any, **options: Any) -> tuple[DType, ...]:
        """The dtypes of the loop over operands of some dtypes. See `numpy.ufunc.resolve_dtypes`."""
        found: tuple[DType, ...] = self._numpy.resolve_dtypes(dtypes, **options)
        return found

    # The methods of binary ufuncs.

    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Any:
        """Reduce over one axis, several, or all of them (None). See `numpy.ufunc.reduce`."""
        return reduce_ufunc(self.__name__, array, axis, dtype, out, keepdims, initial, where)

    def accumulate(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        """Every intermediate result of a reduction along an axis. See `numpy.ufunc.accumulate`."""
        return accumulate_ufunc(self.__name__, array, axis, dtype, out)

    def reduceat(self, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        """Reductions of slices of an axis. See `numpy.ufunc.reduceat`."""
        return reduceat_ufunc(self.__name__, array, indices, axis, dtype, out)

    def at(self, a: Any, indices: Any, *operands: Any) -> None:
        """Work in place on indexed elements, an index that repeats counting each time. See `numpy.ufunc.at`."""
        if isinstance(a, numpy.ndarray):
            self._numpy.at(a, *map(hosted, (indices, *operands)))
        else:
            at_ufunc(self.__name__, a, indices, operands)

    def outer(self, A: Any, B: Any, /, **options: Any) -> Any:
        """The ufunc of every pair of an element of `A` and one of `B`. See `numpy.ufunc.outer`."""
        if self.nin != 2:
            raise ValueError("outer product only supported for binary functions")
        return self(*outer_operands(A, B), **options)


def _choice(name: str, given: Any, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        words = ", ".join(map(repr, allowed))
        error = ValueError if isinstance(given, str) else TypeError
        raise error(f"{name} must be one of {words} (got {given!r})")


def _signature(function: ufunc, options: dict[str, Any]) -> Any:
    """What the arguments `dtype`, `signature` and `sig` say of the loop; None if nothing."""
    dtype = options.pop("dtype", None)
    wanted = [options.pop(name) for name in ("signature", "sig") if name in options]
    if len(wanted) > (dtype is None):
        raise TypeError("only one of 'signature', 'sig' and 'dtype' may be given")
    if dtype is not None:
        return (None,) * function.nin + (dtypes.check(dtype),) * function.nout
    if wanted and isinstance(wanted[0], tuple):
        return tuple(None if d is None else dtypes.check(d) for d in wanted[0])
    return wanted[0] if wanted else None


def check_powers(exponent: Node, loop: tuple[DType, ...]) -> None:
    """Refuse integers to negative powers; exponents that are in an array are looked at."""
    dtype = exponent.signature.dtype
    if loop[1].kind != "i" or dtype.kind != "i":
        return
    if exponent.signature.queue is None:
        negative = exponent.data < 0
    else:
        below = graph.map_node("less", (dtype, dtype, BOOL), (exponent, graph.typed_scalar(0, dtype)))
        axes = tuple(range(len(exponent.signature.shape)))
        negative = bool(to_host(wrap(graph.reduce("logical_or", (BOOL, BOOL), axes, (below,)) if axes else below)))
    if negative:
        raise ValueError("Integers to negative integer powers are not allowed.")


def outer_operands(a: Any, b: Any) -> tuple[ndarray, ndarray]:
    """Views of two arrays that broadcast to every pair of their elements."""
    device = next((x.device for x in (a, b) if isinstance(x, ndarray)), None)
    left, right = as_array(a, device), as_array(b, device)
    where, ones = left.layout, (1,) * right.ndim
    return make_view(left, Layout(where.shape + ones, where.strides + ones, where.offset)), right


def _ufuncs() -> dict[str, ufunc]:
    names = {
        alias: its.__name__
        for alias, its in vars(numpy).items()
        if isinstance(its, numpy.ufunc) and (its.__name__ in table.ELEMENTWISE or its.__name__ in _ROWS)
    }
    made = {name: ufunc(name) for name in sorted(set(names.values()))}
    return {alias: made[name] for alias, name in sorted(names.items())}


# Every ufunc under each of its names in NumPy's namespace: `abs` and `absolute` are one object.
UFUNCS = _ufuncs()


def __getattr__(name: str) -> ufunc:
    """``from .ufunc import add``."""
    try:
        return UFUNCS[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
