"""The ufuncs that Python's operators stand for: "add" is that of ``__add__``, ``__radd__`` and ``__iadd__``."""

from __future__ import annotations

BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
EQUALITY = {"eq": "equal", "ne": "not_equal"}
ORDERING = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
# Binary operators that are not computed element by element, or not always by the ufunc of their name.
OTHERS = {"matmul": "matmul", "pow": "power", "divmod": "divmod"}
