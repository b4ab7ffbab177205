"""The operators of arrays and their conversions to Python scalars, as functions that `binding` binds to `ndarray`."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy

from ..core._native import in_front_of, in_place_recorder
from ..core.dtypes import BOOL, KIND
from ..core.errors import OnHostError
from ..core.graph import node as graph
from ..core.numpy_release import RELEASE
from ..core.numpy_ufuncs import UFUNCS as NUMPY_UFUNCS
from ..core.ops import table
from ..core.ops.operators import BINARY, EQUALITY, ORDERING, OTHERS, POWERS, UNARY
from ..core.recording.array import hand_over, host_only_memory, is_scalar, ndarray, to_host, wrap
from ..core.recording.record import (
    as_array,
    as_nodes,
    binary_operator,
    check_class,
    is_operand,
    unary_operator,
    weak_types,
)
from ..functions.products.stacked import MEMO_OF_MATMUL, matmul
from ..functions.ufuncs.methods import check_integer_powers, reduce_ufunc
from ..functions.ufuncs.output import check_shape, take_value, write_to_output
from ..functions.ufuncs.ufunc import UFUNCS

Operator = Callable[..., Any]

# --- arithmetic -----------------------------------------------------------------------------------------------------

# NumPy 2.3.0 and 2.3.1 square no booleans: ``bool ** 2`` has the dtype of other powers there, int64 instead of int8, as
# it has for NumPy's scalars in every release.
_SQUARES_BOOLEANS = RELEASE >= "2.3.2"
_power, _reflected_power = binary_operator("power"), binary_operator("power", reflected=True)
_special_powers = {exponent: unary_operator(op) for exponent, op in POWERS.items()}


def power(x: ndarray, y: Any, modulus: None = None) -> Any:
    """Return ``x ** y``."""
    if modulus is not None:
        return NotImplemented
    kind = x.dtype.kind
    if type(y) in (int, float):
        special = _special_powers.get(y)
        if special is not None and kind in "fc":
            return special(x)
        if y == 2 and type(y) is int and (kind in "iu" or (kind == "b" and _SQUARES_BOOLEANS and not is_scalar(x))):
            return _special_powers[2](x)
    if kind in "iub" and type(y) is not float:
        return _checked_power(_power, x, y, (x, y))
    return _power(x, y)


def reflected_power(x: ndarray, y: Any, modulus: None = None) -> Any:
    """Return ``y ** x``."""
    if modulus is not None:
        return NotImplemented
    return _checked_power(_reflected_power, x, y, (y, x))


def _checked_power(record: Operator, x: ndarray, y: Any, args: tuple[Any, Any]) -> Any:
    """Return ``record(x, y)``. Raise NumPy's error for an integer to a negative power; `args` are base and exponent."""
    if not is_operand(y, is_left=args[0] is y):
        return NotImplemented
    nodes = as_nodes(args)
    graph.common_queue([node.signature for node in nodes])  # raises before anything is computed on another device
    check_integer_powers(nodes, table.resolve("power", weak_types(nodes)))
    return record(x, y)


def divide_with_remainder(x: ndarray, y: Any) -> Any:
    """Return ``divmod(x, y)``."""
    return UFUNCS["divmod"](x, y) if is_operand(y) else NotImplemented


def reflected_divide_with_remainder(x: ndarray, y: Any) -> Any:
    """Return ``divmod(y, x)``."""
    return UFUNCS["divmod"](y, x) if is_operand(y, is_left=True) else NotImplemented


def matrix_product(x: ndarray, y: Any) -> Any:
    """Return ``x @ y``."""
    return matmul(x, y) if type(y) is ndarray or is_operand(y) else NotImplemented


matrix_product.call_memo = MEMO_OF_MATMUL  # type: ignore[attr-defined]


def matrix_product_in_place(x: ndarray, y: Any) -> Any:
    """Return the values that ``x @= y`` gives to `x`. Raise ValueError for a vector `y`, which removes a dimension."""
    product = matrix_product(x, y)
    if product is not NotImplemented and product.ndim < x.ndim:
        raise ValueError(
            "inplace matrix multiplication requires the first operand to have at least one and the second at least two "
            "dimensions."
        )
    return product


def reflected_matrix_product(x: ndarray, y: Any) -> Any:
    """Return ``y @ x``."""
    return matmul(y, x) if is_operand(y, is_left=True) else NotImplemented


_TYPES_AT_HAND = frozenset((ndarray, bool, int, float, complex))


def in_place(op: str, compute: Operator) -> Operator:
    """Return the in-place operator that assigns ``compute(x, y)`` to `x`; `op` is its ufunc."""

    def update(x: ndarray, y: Any) -> Any:
        is_at_hand = type(y) in _TYPES_AT_HAND
        if is_scalar(x) or not (is_at_hand or is_operand(y)):
            if not is_scalar(x):
                check_class(y)  # a masked array is written to the array, without its mask
                if getattr(type(y), "__array_ufunc__", x) is None:
                    return NUMPY_UFUNCS[op](x, y, out=x)  # raises: no other class decides what an array becomes
            result = compute(x, y)  # `x` acts as a scalar: the statement binds the name to the new value
            if result is NotImplemented and op == "multiply":
                return x * y  # lets Python repeat a sequence, which it does not do for ``x *= y``
            return result
        if not (is_at_hand or isinstance(y, (ndarray, int, float, complex, numpy.generic))):
            y = as_array(y, x.device)  # before the lock is held: may run foreign code
        with x.queue.lock:  # as `one_step` has it
            result = compute(x, y)
            source, target = result._node.signature, x._node.signature
            if source.dtype == target.dtype and source.shape == target.shape and hand_over(result, x):
                return x
            if source.dtype != target.dtype:
                # Called for NumPy's error, if the result cannot be cast to the dtype of `x`.
                nodes = as_nodes((x, y))
                NUMPY_UFUNCS[op].resolve_dtypes((*weak_types(nodes), x.dtype))
            check_shape(x, source.shape)
            return write_to_output(x, take_value(result))

    update.__name__ = op  # by which a profile counts calls on the host
    return in_place_recorder(update, compute)


def _equality(op: str) -> Operator:
    """Return the operator of "equal" or "not_equal", which also takes operands that are no numbers."""
    record = binary_operator(op)

    def compare(x: ndarray, y: Any) -> Any:
        if not isinstance(y, _NON_NUMERIC_TYPES) or host_only_memory(x) is not None:
            try:
                return record(x, y)
            except OnHostError:
                if host_only_memory(x) is not None or not _never_equals_numbers(y):
                    raise
        if is_scalar(x) and not isinstance(y, (str, bytes)):
            return op == "not_equal"
        # No element equals `y`: NumPy returns an array that says so for every element.
        return wrap(graph.fill(graph.typed_scalar(op == "not_equal", BOOL), x.shape, x.queue))

    compare.__name__ = op
    return in_front_of(compare, record)


_NON_NUMERIC_TYPES = (type(None), str, bytes, dict, set, frozenset)


def _never_equals_numbers(y: Any) -> bool:
    """Return whether no number equals `y`: text, a collection that is no sequence, an object equal only to itself."""
    if isinstance(y, _NON_NUMERIC_TYPES):
        return True
    kind = type(y)
    has_own_equality = kind.__eq__ is not object.__eq__  # type: ignore[comparison-overlap]
    if has_own_equality or hasattr(kind, "__array_ufunc__"):
        return False
    host = numpy.asarray(y)
    return host.dtype == object and not host.shape


# --- conversions ----------------------------------------------------------------------------------------------------


def item_of(x: ndarray) -> Any:
    """Return the only element as a NumPy scalar."""
    return to_host(x).reshape(())[()]


def truth(x: ndarray) -> bool:
    """Return ``bool(x)``."""
    if x.size != 1:
        if x.size == 0:
            raise ValueError(
                "The truth value of an empty array is ambiguous. "
                "Use `array.size > 0` to check that an array is not empty."
            )
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
    return bool(item_of(x))


def _conversion(convert: Callable[[Any], Any]) -> Operator:
    """Return a conversion to a Python scalar, which raises TypeError unless the array is 0-d.

    Before NumPy 2.4 an array of one element converts to a number too, which is deprecated.
    """
    takes_one_element = convert in (int, float, complex) and RELEASE < "2.4.0"

    def convert_array(x: ndarray, *args: Any) -> Any:
        if x.ndim:
            if not takes_one_element or x.size != 1:
                raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
            message = "Conversion of an array with ndim > 0 to a scalar is deprecated, and will error in future."
            warnings.warn(message, DeprecationWarning, stacklevel=2)
        if convert in (int, float) and KIND[x.dtype] == "c" and not is_scalar(x):
            raise TypeError(f"{convert.__name__}() argument must be a real number, not 'complex'")
        if convert is complex and x.dtype.kind in "UT":  # which `float` takes
            raise TypeError(f"Unable to convert {x.dtype!r} to complex")
        return convert(item_of(x), *args)

    return convert_array


def as_index(x: ndarray) -> int:
    """Return ``operator.index(x)``."""
    if x.ndim or x.dtype.kind not in "iu":
        raise TypeError("only integer scalar arrays can be converted to a scalar index")
    return operator.index(item_of(x))


def length(x: ndarray) -> int:
    """Return ``len(x)``."""
    if not x.ndim:
        raise TypeError("len() of unsized object")
    return x.shape[0]


def contains(x: ndarray, y: Any) -> bool:
    """Return ``y in x``."""
    if host_only_memory(x) is None and not is_scalar(x) and _never_equals_numbers(y):
        return False
    return truth(reduce_ufunc("logical_or", UFUNCS["equal"](x, y), None))


def hash_of(x: ndarray) -> int:
    """Return ``hash(x)``. Raise TypeError unless the array is the 0-d result of an operation."""
    if isinstance(x._base, numpy.generic):  # on the host
        return hash(x._base)
    if not is_scalar(x):
        raise TypeError("unhashable type: 'numpy.ndarray'")
    return hash(item_of(x))


# --- the table ------------------------------------------------------------------------------------------------------

_CONVERSIONS: dict[str, Callable[..., Any]] = {
    "__int__": int,
    "__float__": float,
    "__complex__": complex,
    "__round__": round,
    "__trunc__": lambda value: math.trunc(value.item()),
    "__floor__": lambda value: math.floor(value.item()),
    "__ceil__": lambda value: math.ceil(value.item()),
}

# The ufunc, and how it is given the operands, that an operator stands for to classes with their own `__array_ufunc__`.
UFUNC_OF_OPERATOR: dict[str, tuple[str, str]] = {
    **{f"__{name}__": (op, "") for name, op in (BINARY | ORDERING | EQUALITY | UNARY | OTHERS).items()},
    **{f"__r{name}__": (op, "swapped") for name, op in (BINARY | OTHERS).items()},
    **{f"__i{name}__": (op, "in place") for name, op in (BINARY | OTHERS).items()},
}

OPERATORS: dict[str, Operator] = {
    **{f"__{name}__": binary_operator(op) for name, op in (BINARY | ORDERING).items()},
    **{f"__r{name}__": binary_operator(op, reflected=True) for name, op in BINARY.items()},
    **{f"__i{name}__": in_place(op, binary_operator(op)) for name, op in BINARY.items()},
    **{f"__{name}__": unary_operator(op) for name, op in UNARY.items()},
    **{name: _conversion(convert) for name, convert in _CONVERSIONS.items()},
    "__pow__": power,
    "__rpow__": reflected_power,
    "__ipow__": in_place("power", power),
    "__matmul__": matrix_product,
    "__rmatmul__": reflected_matrix_product,
    "__imatmul__": in_place("matmul", matrix_product_in_place),
    "__divmod__": divide_with_remainder,
    "__rdivmod__": reflected_divide_with_remainder,
    "__eq__": _equality("equal"),
    "__ne__": _equality("not_equal"),
    "__bool__": truth,
    "__index__": as_index,
    "__len__": length,
    "__contains__": contains,
    "__hash__": hash_of,
}
