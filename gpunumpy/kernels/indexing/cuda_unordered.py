"""``ufunc.at`` where the order of duplicates does not show in the result: one application, atomically.

That is so for integers, and for the extremes of floats. Sums and products of floats depend on the order.
"""

from __future__ import annotations

from typing import Any

from ...core.dtypes import BOOL, C_TYPE, KIND
from ..codegen.sources import source
from ..cuda.routine import Routine

HEAD = source("indexing/unordered")

# The atomic function of a row for integers of four and eight bytes, and whether it minds the sign.
_ATOMICS: dict[str, tuple[str, bool]] = {
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
# What a float must be to win, and whose NaN makes the newcomer win.
_EXTREMES = {
    "maximum": ("greater", "other"),
    "minimum": ("less", "other"),
    "fmax": ("greater", "state"),
    "fmin": ("less", "state"),
}
# Rows for which there is no atomic function, only the exchange.
_EXCHANGED = ("multiply", "logical_xor")
# The rows in which one True, or one False, decides for bools: all who write to a cell write the same.
_ONE_TRUE = ("add", "bitwise_or", "logical_or", "maximum", "fmax")
_ONE_FALSE = ("multiply", "bitwise_and", "logical_and", "minimum", "fmin")
# What the atomic functions take for elements of each size: unsigned, signed.
_WORD = {4: ("unsigned", "int"), 8: ("unsigned long long", "long long")}


def unordered(text: Routine, op: str, mine: Any, loop: tuple[Any, ...]) -> str | None:
    """Apply the row to the element at `place` and `other`, both of dtype `mine`; None if the order shows.

    The text needs `HEAD`.
    """
    if loop != (mine,) * 3:
        return None
    kind = KIND[mine]
    if kind == "b" and op in _ONE_TRUE:
        return "if (other) *place = true;"
    if kind == "b" and op in _ONE_FALSE:
        return "if (!other) *place = false;"
    if kind in "iu" and op in _ATOMICS and mine.itemsize in _WORD:
        name, minds = _ATOMICS[op]
        number = _WORD[mine.itemsize][minds and kind == "i"]
        # A difference is the sum with the negative, both modulo the width.
        sign = "0 - " if op == "subtract" else ""
        return f"{name}(({number}*)place, {sign}({number})other);"
    if kind in "biu" and (op in _ATOMICS or op in _EXCHANGED):
        result = text.apply(op, loop, ["state", "other"])
    elif kind in "ef" and op in _EXTREMES:
        result = _extreme(text, op, mine)
    else:
        return None
    return f"change(place, [=]({C_TYPE[mine]} state) {{ return {result}; }});"


def _extreme(text: Routine, op: str, mine: Any) -> str:
    """The extreme of two floats; of two zeros or two NaNs, which NumPy's loop takes the first of, the greater bits."""
    comparison, whose = _EXTREMES[op]
    own = C_TYPE[mine]
    equal = text.apply("equal", (mine, mine, BOOL), ["state", "other"])
    wins = text.apply(comparison, (mine, mine, BOOL), ["other", "state"])
    larger = f"op::bit_cast<bits_of<{own}>>(other) > op::bit_cast<bits_of<{own}>>(state)"
    alike = f"op::isnan(state) ? op::isnan(other) : {equal}"
    return f"(({alike}) ? {larger} : {wins} || op::isnan({whose})) ? other : state"
