"""Differences between NumPy releases: gpunumpy behaves like the installed one where that takes a line or two.

Otherwise it behaves like the newest release, and the tests name the release from which on NumPy does so too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy

# Compares with a release in full: ``RELEASE < "2.4.0"``. A patch release may bring a difference, too.
RELEASE = numpy.lib.NumpyVersion(numpy.__version__)
# NumPy 2.5 raises where earlier releases deprecate or wrap, and draws some random numbers differently.
NUMPY_2_5 = RELEASE >= "2.5.0"


def signature(function: Callable[..., Any]) -> inspect.Signature | None:
    """Return the signature of a NumPy function or class, or None if NumPy does not provide it (before 2.4)."""
    try:
        return inspect.signature(function)
    except ValueError:
        return None


# NumPy's warnings of attributes that it no longer wants to be set: programs filter them by their texts.
SETTER_WARNINGS = {
    "shape": (
        "Setting the shape on a NumPy array has been deprecated in NumPy 2.5.\n"
        "As an alternative, you can create a new view using np.reshape (with copy=False if needed)."
    ),
    "dtype": (
        "Setting the dtype on a NumPy array has been deprecated in NumPy 2.5.\n"
        "Instead of changing the dtype on an array x, create a new array with x.view(new_dtype)"
    ),
    "strides": (
        "Setting the strides on a NumPy array has been deprecated in NumPy 2.4.\n"
        "As an alternative, you can create a new view using np.lib.stride_tricks.as_strided."
    ),
}
