"""Matrices by texts: the names in ``bmat("A, B; C, D")`` are those where it is called, as in NumPy."""

from __future__ import annotations

import re
from typing import Any

import numpy

from ..core.source_location import user_name
from .fallback import OWN_FUNCTIONS, on_host

_NAME = re.compile(r"[^\W\d]\w*")
_by_numpy = on_host(numpy.bmat, "gpunumpy.bmat")


def bmat(obj: Any, ldict: Any = None, gdict: Any = None) -> Any:
    """Build a matrix from a text, nested sequences, or an array. See `numpy.bmat`."""
    if gdict is None and isinstance(obj, str):
        ldict, gdict = {name: x for name in _NAME.findall(obj) if (x := user_name(name)) is not None}, {}
    return _by_numpy(obj, ldict, gdict)


OWN_FUNCTIONS["numpy.bmat"] = bmat
