"""The installed NumPy: what it does otherwise than other releases, where gpunumpy does as it does."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy

# From 2.5 on NumPy refuses some of what it only deprecated or wrapped before, and draws a few other random numbers.
NUMPY_2_5 = numpy.lib.NumpyVersion(numpy.__version__) >= "2.5.0"


def signature(function: Callable[..., Any]) -> inspect.Signature | None:
    """Return the signature of a function or class of NumPy's, or None where NumPy does not tell it, as before 2.4."""
    try:
        return inspect.signature(function)
    except ValueError:
        return None
