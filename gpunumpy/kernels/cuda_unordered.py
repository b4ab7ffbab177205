"""``ufunc.at`` where the order of duplicates does not show in the result: one application, atomically.

That is so for integers, and for the extremes of floats. Sums and products of floats depend on the order.
"""

from __future__ import annotations

from typing import Any

from ..core.dtypes import BOOL, C_TYPE, KIND
from .cuda_routine import Routine

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
# The rows in which one True, or one False, decides for bools: all who write to a cell write the same.
_ONE_TRUE = ("add", "bitwise_or", "logical_or", "maximum", "fmax")
_ONE_FALSE = ("multiply", "bitwise_and", "logical_and", "minimum", "fmin")
# What `atomicCAS` takes for elements of each size, of which it has none of one byte.
_WORD = {2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}
_SIGNED = {4: "int", 8: "long long"}


def unordered(text: Routine, row: str, mine: Any, loop: tuple[Any, ...]) -> str | None:
    """Apply the row to the element at `place` and `other`, both of dtype `mine`; None if the order shows."""
    if loop != (mine,) * 3:
        return None
    if mine == BOOL:
        if row in _ONE_TRUE:
            return "if (other) *place = true;"
        return "if (!other) *place = false;" if row in _ONE_FALSE else None
    kind, word = KIND[mine], _WORD.get(mine.itemsize)
    if word is None:
        return None
    if kind in "iu" and row in _ATOMICS and mine.itemsize in _SIGNED:
        name, minds = _ATOMICS[row]
        number = _SIGNED[mine.itemsize] if minds and kind == "i" else word
        # A difference is the sum with the negative, both modulo the width.
        sign = "0 - " if row == "subtract" else ""
        return f"{name}(({number}*)place, {sign}({number})other);"
    if kind in "iu" and (row in _ATOMICS or row == "multiply"):
        return _exchanged(C_TYPE[mine], word, text.apply(row, loop, ["state", "other"]))
    if kind in "ef" and row in _EXTREMES:
        return _exchanged(C_TYPE[mine], word, _extreme(text, row, mine, word))
    return None


def _extreme(text: Routine, row: str, mine: Any, word: str) -> str:
    """The extreme of two floats; of two zeros or two NaNs, which NumPy's loop takes the first of, the greater bits."""
    comparison, whose = _EXTREMES[row]
    equal = text.apply("equal", (mine, mine, BOOL), ["state", "other"])
    wins = text.apply(comparison, (mine, mine, BOOL), ["other", "state"])
    return (
        f"((op::isnan(state) ? op::isnan(other) : {equal}) ? op::bit_cast<{word}>(other) > seen\n"
        f"            : {wins} || op::isnan({whose})) ? other : state"
    )


def _exchanged(own: str, word: str, result: str) -> str:
    """Compare and exchange until no other thread came between."""
    return (
        f"{word} seen = *(volatile {word}*)place;\n"
        f"      for (;;) {{\n"
        f"        const {own} state = op::bit_cast<{own}>(seen);\n"
        f"        const {word} wanted = op::bit_cast<{word}>({own}({result}));\n"
        f"        if (wanted == seen) break;\n"
        f"        const {word} found = atomicCAS(({word}*)place, seen, wanted);\n"
        f"        if (found == seen) break;\n"
        f"        seen = found;\n      }}"
    )
