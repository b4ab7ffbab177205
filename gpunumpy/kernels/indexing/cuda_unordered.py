"""``ufunc.at`` where the result does not depend on the order of duplicates: each application is one atomic change.

That holds for integers, and for extremes of floats. Sums and products of floats depend on the order.
"""

from __future__ import annotations

from typing import Any

from ...core.dtypes import BOOL, C_TYPE, KIND
from ..codegen.sources import source
from ..cuda.program_builder import ProgramBuilder

UNORDERED = source("indexing/unordered")

# The atomic function of an op for integers of four and eight bytes, and whether it depends on their sign.
_ATOMIC_FUNCTIONS: dict[str, tuple[str, bool]] = {
    "add": ("atomicAdd", False),
    "subtract": ("atomicAdd", False),
    "bitwise_and": ("atomicAnd", False),
    "bitwise_or": ("atomicOr", False),
    "bitwise_xor": ("atomicXor", False),
    "maximum": ("atomicMax", True),
    "fmax": ("atomicMax", True),
    "minimum": ("atomicMin", True),
    "fmin": ("atomicMin", True),
}
# The comparison in which the operand `other` wins over `state`, and the side whose NaN makes `other` win.
_EXTREME_OPS = {
    "maximum": ("greater", "other"),
    "minimum": ("less", "other"),
    "fmax": ("greater", "state"),
    "fmin": ("less", "state"),
}
# Ops without an atomic function, done by compare and exchange.
_EXCHANGE_OPS = ("multiply", "logical_xor")
# Ops on bools in which one True, or one False, decides: all threads that write to a cell write the same value.
_TRUE_WINS_OPS = ("add", "bitwise_or", "logical_or", "maximum", "fmax")
_FALSE_WINS_OPS = ("multiply", "bitwise_and", "logical_and", "minimum", "fmin")
# The types that the atomic functions take, by the bytes of an element: unsigned, signed.
_ATOMIC_TYPES = {4: ("unsigned", "int"), 8: ("unsigned long long", "long long")}


def unordered_application(builder: ProgramBuilder, op: str, dtype: Any, loop: tuple[Any, ...]) -> str | None:
    """Return C++ that applies an op to the element at `place` and `other`, both of a dtype.

    Returns None if the result depends on the order of applications. The text needs `UNORDERED`.
    """
    if loop != (dtype,) * 3:
        return None
    kind = KIND[dtype]
    if kind == "b" and op in _TRUE_WINS_OPS:
        return "if (other) *place = true;"
    if kind == "b" and op in _FALSE_WINS_OPS:
        return "if (!other) *place = false;"
    if kind in "iu" and op in _ATOMIC_FUNCTIONS and dtype.itemsize in _ATOMIC_TYPES:
        name, depends_on_sign = _ATOMIC_FUNCTIONS[op]
        atomic_type = _ATOMIC_TYPES[dtype.itemsize][depends_on_sign and kind == "i"]
        # A difference is the sum with the negative, both modulo the width.
        negation = "0 - " if op == "subtract" else ""
        return f"{name}(({atomic_type}*)place, {negation}({atomic_type})other);"
    if kind in "biu" and (op in _ATOMIC_FUNCTIONS or op in _EXCHANGE_OPS):
        result = builder.apply(op, loop, ["state", "other"])
    elif kind in "ef" and op in _EXTREME_OPS:
        result = _extreme(builder, op, dtype)
    else:
        return None
    return f"atomic_change(place, [=]({C_TYPE[dtype]} state) {{ return {result}; }});"


def _extreme(builder: ProgramBuilder, op: str, dtype: Any) -> str:
    """Return C++ for the extreme of two floats.

    Of two zeros or two NaNs NumPy takes the first; here the one with greater bits wins, whatever the order.
    """
    comparison, nan_side = _EXTREME_OPS[op]
    ctype = C_TYPE[dtype]
    equal = builder.apply("equal", (dtype, dtype, BOOL), ["state", "other"])
    is_better = builder.apply(comparison, (dtype, dtype, BOOL), ["other", "state"])
    has_greater_bits = f"op::bit_cast<bits_of<{ctype}>>(other) > op::bit_cast<bits_of<{ctype}>>(state)"
    is_tie = f"op::isnan(state) ? op::isnan(other) : {equal}"
    return f"(({is_tie}) ? {has_greater_bits} : {is_better} || op::isnan({nan_side})) ? other : state"
