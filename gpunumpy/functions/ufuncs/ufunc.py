"""Elementwise functions: one `ufunc` object for each ufunc that the table has ops for, under all its names in NumPy."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache, partial, wraps
from typing import Any

import numpy
from numpy._core._exceptions import _UFuncOutputCastingError

from ...core import dtypes
from ...core._native import IS_COMPILED, compiled
from ...core.arguments import memory_order
from ...core.dtypes import DType
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.layout import MAX_DIMENSIONS, Layout
from ...core.graph.node import Node
from ...core.numpy_ufuncs import names as ufunc_names
from ...core.numpy_ufuncs import signature_of
from ...core.ops import table
from ...core.recording import residence
from ...core.recording.array import SUBCLASSES, make_view, ndarray, one_step, wrap, wrap_ordered
from ...core.recording.record import (
    as_array,
    as_nodes,
    binary_operator,
    elementwise,
    fit_scalars,
    leave_to_class,
    unary_operator,
    warn_of_lost_parts,
    weak_types,
)
from ...core.source_location import warn
from ..every_dtype import is_for_numpy, takes_every_dtype
from ..fallback import asks_a_class, late_on_host, on_host
from ..placement import ELSEWHERE, Placement, placed_ufunc
from ..subclasses import GENERALISED_UFUNCS, call_for_subclass, has_subclass, rule_of_ufunc
from .errstate import defer_checks
from .methods import NO_VALUE, accumulate_ufunc, at_ufunc, check_integer_powers, reduce_ufunc, reduceat_ufunc
from .output import (
    Output,
    check_shape,
    checked_outputs,
    in_order,
    made_arrays,
    mask_node,
    only_output,
    select,
    take_value,
    to_numpy_arguments,
    write_to_output,
)
from .python_ufunc import PythonUfunc

# The ops that compute the results of ufuncs with several results.
_OPS = {
    "divmod": ("floor_divide", "remainder"),
    "modf": ("modf_frac", "modf_int"),
    "frexp": ("frexp_mantissa", "frexp_exponent"),
}
_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
# Types that recording accepts unchanged; anything else becomes an array first.
_RECORDED_TYPES = (ndarray, bool, int, float, complex, numpy.generic)


class _NotGiven:
    """Type of the default of `out`: NumPy warns of `where` without `out`, but not of `where` with ``out=None``."""

    def __repr__(self) -> str:
        """Return the text that signatures show."""
        return "<not given>"


_NOT_GIVEN = _NotGiven()


def _takes_every_dtype(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator of methods of ufuncs that lets NumPy's method of a name do their work on the host."""

    def run_by_numpy(function: ufunc, *args: Any, **options: Any) -> Any:
        return getattr(function._numpy, name)(*args, **options)

    run_by_numpy.__qualname__ = f"ufunc.{name}"  # as messages call it
    run_by_numpy.method_of_ufunc = name  # type: ignore[attr-defined] # by which masked arrays know it
    run_on_host = on_host(run_by_numpy, "")

    def run_or_ask_class(function: ufunc, *args: Any, **options: Any) -> Any:
        return (run_by_numpy if asks_a_class(args, options) else run_on_host)(function, *args, **options)

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        run = takes_every_dtype(method, run_or_ask_class)

        @wraps(method)
        def run_of_class(self: ufunc, *args: Any, **options: Any) -> Any:
            if options and options.get("out") is Ellipsis:
                return made_arrays(run_of_class(self, *args, **{**options, "out": None}))
            if SUBCLASSES and has_subclass((args, options)):
                rule = rule_of_ufunc(self, name)
                return call_for_subclass(partial(run, self), rule, args, options)
            if residence.is_auto():
                result = self._places[name](args, options)
                if result is not ELSEWHERE:
                    return result
            if args and type(args[0]) is not ndarray and asks_a_class(args, options):
                return run_by_numpy(self, *args, **options)
            return run(self, *args, **options)

        return run_of_class

    return decorate


class _Places(dict[str, Placement]):
    """The placements of the methods of a ufunc, by name; made as they are asked for."""

    def __init__(self, numpy_ufunc: Any) -> None:
        self._numpy = numpy_ufunc

    def __missing__(self, method: str) -> Placement:
        place = self[method] = Placement(getattr(self._numpy, method), method)
        return place


class _PlacedMethod:
    """A method of ufuncs whose calls the core places: a ufunc has its own from the first look on."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, function: ufunc | None, owner: type) -> Any:
        if function is None:
            return self._method
        bound, place = self._method.__get__(function), function._places[self._name]
        if not isinstance(place, Placement):
            return bound
        placed = place.in_front_of(bound)
        placed.__signature__ = _signature(self._name)  # type: ignore[attr-defined]
        vars(function)[self._name] = placed
        return placed


def _placed(method: Callable[..., Any]) -> Any:
    return _PlacedMethod(method) if IS_COMPILED else method


@compiled
class UfuncCall:
    """The call of a ufunc. These record a call on plain operands, of which the first is an array, or the second."""

    __slots__ = ("_host_call", "_record_plain", "_record_reflected")

    _host_call: Callable[..., Any]  # of NumPy's ufunc, where a call is placed on the host
    _record_plain: Callable[..., Any] | None
    _record_reflected: Callable[..., Any] | None

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Apply the ufunc to the arguments, with the options that `numpy.ufunc` describes."""
        return self._call_with_any(*args, **options)  # type: ignore[attr-defined]


_ANY_ARGUMENTS = inspect.signature(lambda *args, **options: None)


class _NumpySignature:
    """The parameters of a ufunc as `inspect.signature` shows them: those of NumPy's ufunc, which has them since 2.4."""

    def __get__(self, function: ufunc | None, owner: type) -> Any:
        if function is None:
            raise AttributeError("the class has no signature of one ufunc")
        return signature_of(function._numpy) or _ANY_ARGUMENTS


@cache
def _signature(method: str) -> inspect.Signature:
    """Return the signature of a method of ufuncs that is bound to one: that of NumPy's method, if NumPy tells it."""
    found = signature_of(getattr(numpy.ufunc, method)) or inspect.signature(getattr(ufunc, method))
    return found.replace(parameters=[*found.parameters.values()][1:])


class _UfuncType(type):
    """Metaclass of `ufunc`, whose instances the generalised ufuncs are too: functions with the attributes of one."""

    def __instancecheck__(cls, x: Any) -> bool:
        """Return whether `x` is a ufunc of this package."""
        if type.__instancecheck__(cls, x) or type(x) is PythonUfunc:
            return True
        is_named_so = getattr(x, "__name__", None) in GENERALISED_UFUNCS
        return is_named_so and hasattr(x, "nin") and not isinstance(x, numpy.ufunc)


class ufunc(UfuncCall, metaclass=_UfuncType):
    """Function that operates element by element on whole arrays. See `numpy.ufunc`.

    Attributes
    ----------
    nin, nout, nargs : int
        The numbers of arguments, of results, and of both.
    identity : object
        The result of a reduction of no elements, or None.
    types : list of str
        The loops over NumPy's types, as in NumPy.
    signature : None
        The core dimensions of a generalised ufunc, which this class is not.
    """

    signature = None
    __signature__ = _NumpySignature()

    def __init__(self, name: str) -> None:
        numpy_ufunc: Any = table.ufunc_of(name)
        self._numpy, self._on_host = numpy_ufunc, late_on_host(numpy_ufunc)
        self._places: Mapping[str, Callable[..., Any]] = _Places(numpy_ufunc)
        self._host_call = placed_ufunc(numpy_ufunc).in_front_of(numpy_ufunc)
        self._ops = _OPS.get(name, (name,))
        self.__name__ = self.__qualname__ = name
        self.__doc__ = numpy_ufunc.__doc__
        self.nin, self.nout, self.nargs = numpy_ufunc.nin, numpy_ufunc.nout, numpy_ufunc.nargs
        self.identity = numpy_ufunc.identity
        self.types, self.ntypes = numpy_ufunc.types, numpy_ufunc.ntypes
        self._record_plain = None  # as `power` has it: it may have to read the exponents
        if self.nin < 3 and self.nout == 1 and name != "power":
            self._record_plain = unary_operator(name) if self.nin == 1 else binary_operator(name)
        self._record_reflected = None if self.nin != 2 or self._record_plain is None else binary_operator(name, True)

    def __repr__(self) -> str:
        """Return the text that NumPy's ufuncs show."""
        return f"<ufunc '{self.__name__}'>"

    def __eq__(self, other: object) -> bool:
        """Return whether another ufunc is this one, or NumPy's, which classes with ``__array_ufunc__`` are given."""
        return other is self or other is self._numpy

    def __hash__(self) -> int:
        """Return the hash of NumPy's ufunc."""
        return hash(self._numpy)

    def __reduce__(self) -> str:
        """Return the name, by which pickle finds the one object of this name."""
        return self.__name__

    def _call_with_any(self, *args: Any, **options: Any) -> Any:
        if SUBCLASSES and has_subclass((args, options)):
            return call_for_subclass(self, rule_of_ufunc(self), args, options)
        if not IS_COMPILED and residence.is_auto():
            result = self._places["__call__"](args, options)
            if result is not ELSEWHERE:
                return result
        try:
            if options or len(args) != self.nin:
                if options.get("out") is Ellipsis:
                    return made_arrays(self(*args, **{**options, "out": None}))
                return self._call(*self._arguments(args, dict(options)))
            if self._record_plain is None:
                return self._call(args)
            if type(args[0]) is ndarray:
                result = self._record_plain(*args)
                if result is not NotImplemented:
                    return result
            elif self._record_reflected is not None and type(args[1]) is ndarray:
                result = self._record_reflected(args[1], args[0])
                if result is not NotImplemented:
                    return result
            for x in args:
                leave_to_class(x)
            return elementwise(self.__name__, args)
        except Exception as error:
            if not is_for_numpy(error, (args, options)):
                raise
        if len(args) > self.nin and "out" not in options:
            args, options = args[: self.nin], {**options, "out": args[self.nin :]}
        return self._on_host(*args, **options)

    def _arguments(self, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
        """Return inputs, outputs, mask, casting, order and loop signature from the arguments of a call."""
        nin, name = self.nin, self.__name__
        if not nin <= len(args) <= self.nargs:
            expected = f"{nin} to {self.nargs}"
            verb = "was" if len(args) == 1 else "were"
            raise TypeError(f"{name}() takes from {expected} positional arguments but {len(args)} {verb} given")
        out = options.pop("out", _NOT_GIVEN)
        if len(args) > nin:
            if out is not _NOT_GIVEN:
                raise TypeError("cannot specify 'out' as both a positional and keyword argument")
            positional_outputs = args[nin:]
            out = positional_outputs + (None,) * (self.nout - len(positional_outputs))
        where = options.pop("where", True)
        if where is not True:
            leave_to_class(where)
            if out is _NOT_GIVEN:
                warn(
                    "'where' used without 'out': where it is False, the result is unspecified; out=None says that is "
                    "meant",
                    UserWarning,
                )
        casting, order = options.pop("casting", "same_kind"), memory_order(options.pop("order", "K"))
        _check_choice("casting", casting, _CASTINGS)
        signature = _loop_signature(self, options)
        if not isinstance(options.pop("subok", True), bool):
            raise TypeError("'subok' must be a boolean")
        if options:
            raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(options))!r}")
        outs = checked_outputs(None if out is _NOT_GIVEN else out, self.nout)
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
        """Record a call with any operands and options, and return its results."""
        given_outputs = [out for out in outs or () if out is not None]
        first_array = next((x for x in (*args, *given_outputs) if isinstance(x, ndarray)), None)
        device = None if first_array is None else first_array.device
        for x in args:
            leave_to_class(x)
        operands = [x if isinstance(x, _RECORDED_TYPES) else as_array(x, device) for x in args]
        mask = None if where is True else mask_node(where, None if first_array is None else first_array.queue)
        with one_step(next(iter(given_outputs), None)):  # an output may be an operand too
            return self._record(operands, outs, given_outputs, mask, casting, order, signature)

    def _record(
        self,
        operands: list[Any],
        outs: tuple[Output | None, ...] | None,
        given_outputs: list[Output],
        mask: Node | None,
        casting: str,
        order: str,
        signature: Any,
    ) -> Any:
        """Record a call and deliver its results; the options are checked and the operands converted."""
        nodes = as_nodes(operands)
        loop = self._loop(nodes, given_outputs, outs, casting, signature)
        if self.__name__ == "power":
            graph.common_queue([node.signature for node in nodes])
            check_integer_powers(nodes, loop, mask)
            if mask is not None and loop[1].kind == "i":
                operands = [operands[0], _selected_exponent(nodes[1], mask, loop[1])]
        input_shapes = [n.signature.shape for n in (*nodes, mask) if n is not None]
        shape = layout.broadcast_shapes(*input_shapes, *(out.shape for out in given_outputs))
        for out in given_outputs:
            check_shape(out, shape)
        result = None
        if given_outputs and mask is None and signature is None and casting == "same_kind":
            result = self._recorded_plainly(operands, nodes, loop)
        if result is None:
            record = elementwise if mask is None else defer_checks(elementwise)
            results = [record(op, operands, (*loop[: self.nin], loop[self.nin + k])) for k, op in enumerate(self._ops)]
        else:
            results = [result]
        returned = [
            self._return_result(result, None if outs is None else outs[k], mask, shape, order, operands)
            for k, result in enumerate(results)
        ]
        return returned[0] if self.nout == 1 else tuple(returned)

    def _recorded_plainly(self, operands: list[Any], nodes: list[Node], loop: tuple[DType, ...]) -> ndarray | None:
        """Return the result of a call with an output as one without records it, if the output changes no dtype.

        The compiled core then knows the next such call.
        """
        first, record, reflected = operands[0], self._record_plain, self._record_reflected
        if record is None or loop != table.resolve(self.__name__, weak_types(nodes)):
            return None
        if type(first) is ndarray:
            result = record(*operands)
        elif reflected is not None and type(operands[1]) is ndarray:
            result = reflected(operands[1], first)
        else:
            return None
        return None if result is NotImplemented else result

    def _loop(
        self,
        nodes: list[Node],
        given_outputs: list[Output],
        outs: tuple[Output | None, ...] | None,
        casting: str,
        signature: Any,
    ) -> tuple[DType, ...]:
        """Return the dtypes of the loop: those of the arguments, then those of the results."""
        types = weak_types(nodes)
        if casting == "same_kind" and signature is None and not given_outputs:
            return table.resolve(self.__name__, types)
        output_dtypes = tuple(None if out is None else out.dtype for out in outs or (None,) * self.nout)
        try:
            promoted = table.promoted_types(self.__name__, types)
            loop = _resolved_loop(self, (*promoted, *output_dtypes), casting, signature)
        except _UFuncOutputCastingError:
            # NumPy converts integers of Python before it looks at the outputs: raises if one is out of range.
            fit_scalars(self.__name__, nodes, table.resolve(self.__name__, types))
            raise
        if casting == "unsafe" and any(
            node.signature.dtype.kind == "c" and dtype.kind not in "cb"
            for node, dtype in zip(nodes, loop, strict=False)
        ):
            warn_of_lost_parts()
        return loop

    def _return_result(
        self,
        result: ndarray,
        out: Output | None,
        mask: Node | None,
        shape: tuple[int, ...],
        order: str,
        operands: list[Any],
    ) -> ndarray:
        """Return one result, in `out` or in the memory order `order`; without `out`, masked elements are zero."""
        if out is not None:
            return write_to_output(out, take_value(result), mask)
        if mask is not None:
            # NumPy leaves masked elements uninitialised; here they are zeros.
            value = graph.broadcast(result.value(), shape)
            zero = graph.typed_scalar(0, value.signature.dtype)
            result = wrap_ordered(select(mask, value, zero), None)
        elif result.shape != shape:  # the shape of another output
            result = wrap(graph.broadcast(result.value(), shape))
        if order == "A":
            arrays = [x for x in operands if isinstance(x, ndarray)]
            order = "F" if arrays and all(x.f_contiguous for x in arrays) else "C"
        return result if order == "K" else in_order(result, order)

    def resolve_dtypes(self, dtypes: Any, **options: Any) -> tuple[DType, ...]:
        """Return the dtypes of the loop for operands of some dtypes. See `numpy.ufunc.resolve_dtypes`."""
        if options.get("casting") == "equiv":
            # Up to 2.5.2 at least this method of NumPy ends the process where the rule forbids a cast of a Python
            # scalar. A call raises the error. Otherwise the rule differs from "no" for other byte orders alone.
            stand_ins = [d if d is None else d(1) if isinstance(d, type) else numpy.ones(1, d) for d in dtypes]
            call_options = {name: option for name, option in options.items() if name != "reduction"}
            with numpy.errstate(all="ignore"):
                self._numpy(*stand_ins[: self.nin], out=tuple(stand_ins[self.nin :]), **call_options)
            options["casting"] = "no"
        loop: tuple[DType, ...] = self._numpy.resolve_dtypes(dtypes, **options)
        return loop

    # The methods of binary ufuncs.

    @_placed
    @_takes_every_dtype("reduce")
    def reduce(
        self,
        array: Any,
        /,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Any:
        """Reduce over one axis, several, or all of them (None). See `numpy.ufunc.reduce`."""
        return reduce_ufunc(self.__name__, array, axis, dtype, only_output(out), keepdims, initial, where)

    @_placed
    @_takes_every_dtype("accumulate")
    def accumulate(self, array: Any, /, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        """Return every intermediate result of a reduction along an axis. See `numpy.ufunc.accumulate`."""
        return accumulate_ufunc(self.__name__, array, axis, dtype, only_output(out))

    @_placed
    @_takes_every_dtype("reduceat")
    def reduceat(self, array: Any, /, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        """Reduce slices of an axis. See `numpy.ufunc.reduceat`."""
        return reduceat_ufunc(self.__name__, array, indices, axis, dtype, only_output(out))

    @_placed
    def at(self, a: Any, indices: Any, /, *operands: Any) -> Any:
        """Operate in place on indexed elements; a repeated index counts each time. See `numpy.ufunc.at`.

        Returns None, or what the class of an operand returns that does the work (`__array_ufunc__`).
        """
        if isinstance(a, numpy.ndarray):
            return self._numpy.at(a, *map(to_numpy_arguments, (indices, *operands)))
        return self._at(a, indices, *operands)

    @_takes_every_dtype("at")
    def _at(self, a: Any, indices: Any, *operands: Any) -> Any:
        """Do the work of `at` on an array that is not NumPy's."""
        return at_ufunc(self.__name__, a, indices, operands)

    @_placed
    @_takes_every_dtype("outer")
    def outer(self, A: Any, B: Any, /, **kwargs: Any) -> Any:
        """Apply the ufunc to every pair of an element of `A` and an element of `B`. See `numpy.ufunc.outer`."""
        if self.nin != 2:
            raise ValueError("outer product only supported for binary functions")
        device = next((x.device for x in (A, B) if isinstance(x, ndarray)), None)
        left, right = as_array(A, device), as_array(B, device)
        if (count := left.ndim + right.ndim) > MAX_DIMENSIONS:
            raise ValueError(
                f"maximum supported dimension for an ndarray is {MAX_DIMENSIONS}, but `{self.__name__}.outer()` result "
                f"would have {count}."
            )
        # A view of the left operand that broadcasts with the right one to every pair of their elements.
        left_layout, ones = left.layout, (1,) * right.ndim
        left = make_view(left, Layout(left_layout.shape + ones, left_layout.strides + ones, left_layout.offset))
        return self(left, right, **kwargs)


def _check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """Raise `ValueError`, or `TypeError` if it is not a string, unless the argument is an allowed value."""
    if value not in allowed:
        choices = ", ".join(map(repr, allowed))
        error = ValueError if isinstance(value, str) else TypeError
        raise error(f"{name} must be one of {choices} (got {value!r})")


def _loop_signature(function: ufunc, options: dict[str, Any]) -> Any:
    """Return the loop that the arguments `dtype`, `signature` and `sig` ask for; None if they ask for none."""
    dtype = options.pop("dtype", None)
    signatures = [options.pop(name) for name in ("signature", "sig") if name in options]
    if len(signatures) > (dtype is None):
        raise TypeError("only one of 'signature', 'sig' and 'dtype' may be given")
    if dtype is not None:
        return (None,) * function.nin + (dtypes.check(dtype),) * function.nout
    if signatures and not isinstance(signatures[0], (tuple, str)):
        raise TypeError("the signature object to ufunc must be a string or a tuple.")
    if signatures and isinstance(signatures[0], tuple):
        return tuple(None if d is None else dtypes.check(d) for d in signatures[0])
    return signatures[0] if signatures else None


@cache
def _resolved_loop(function: ufunc, types: tuple[Any, ...], casting: str, signature: Any) -> tuple[DType, ...]:
    """Return the loop of a ufunc for inputs and outputs of some types, as `ufunc.resolve_dtypes` takes them."""
    options = {} if signature is None else {"signature": signature}
    return tuple(dtypes.check(d) for d in function.resolve_dtypes(types, casting=casting, **options))


def _selected_exponent(exponent: Node, mask: Node, dtype: DType) -> Any:
    """Return an integer exponent, with 0 for elements that are not selected: the CPU device refuses a negative one."""
    if exponent.signature.queue is None:
        return max(exponent.data, 0)
    return wrap(select(mask, graph.cast(exponent, dtype), graph.typed_scalar(0, dtype)))


def _ufuncs() -> dict[str, ufunc]:
    """Return the ufuncs by each of their names in NumPy's namespace."""
    names = {alias: name for alias, name in ufunc_names().items() if name in table.ELEMENTWISE or name in _OPS}
    by_name = {name: ufunc(name) for name in sorted(set(names.values()))}
    return {alias: by_name[name] for alias, name in sorted(names.items())}


# Every ufunc under each of its names in NumPy's namespace: `abs` and `absolute` are one object.
UFUNCS = _ufuncs()


def __getattr__(name: str) -> ufunc:
    """Return the ufunc of a name, so that ``from .ufunc import add`` works."""
    try:
        return UFUNCS[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
