"""Keyword arguments that many functions share, checked as NumPy's C functions check them."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy

from .numpy_release import NUMPY_2_5
from .source_location import warn

_ORDERS = ("C", "F", "A", "K")
_IF_NEEDED = numpy._CopyMode.IF_NEEDED


def memory_order(order: Any, default: str = "K") -> str:
    """Return an `order` argument as "C", "F", "A" or "K"; the default for None."""
    if type(order) is str and order in _ORDERS:
        return order
    if order is None:
        return default
    if not isinstance(order, str):
        raise TypeError(f"order must be str, not {type(order).__name__}")
    if order.upper() not in _ORDERS:
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return order.upper()


def is_set(flag: Any) -> bool:
    """Return an argument such as `keepdims` or `subok` as a bool; raise `TypeError` unless it is an integer."""
    return bool(flag if type(flag) is bool else index(flag))


def copy_mode(copy: Any) -> bool | None:
    """Return a `copy` argument: True, False, or None for a copy only where one is needed."""
    if isinstance(copy, str):
        raise ValueError("strings are not allowed for 'copy' keyword. Use True/False/None instead.")
    return None if copy is None or copy is _IF_NEEDED else bool(copy)


def is_copied(copy: Any) -> bool:
    """Return the `copy` argument of a cast, which makes a copy where one is needed whatever it is."""
    if type(copy) is numpy._CopyMode:
        raise ValueError("_CopyMode enum is not allowed for astype function. Use true/false instead.")
    return bool(copy)


def whole_number(x: Any) -> int:
    """Return the number of a diagonal as an int, where NumPy takes floats: here those that are whole."""
    if not isinstance(x, (float, numpy.floating)) or not x.is_integer():
        return index(x)
    if NUMPY_2_5:
        warn(f"Cannot convert {type(x).__name__} safely to an integer. (Deprecated NumPy 2.5)", DeprecationWarning)
    return int(x)
