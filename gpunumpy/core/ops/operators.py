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
# Exponents for which NumPy computes ``x ** y`` by another ufunc.
POWERS = {2: "square", 0.5: "sqrt", -1: "reciprocal", 1: "positive"}
# Binary operators that are not computed element by element, or not always by the ufunc of their name.
OTHERS = {"matmul": "matmul", "pow": "power", "divmod": "divmod"}
