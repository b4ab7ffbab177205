"""NumPy's own ufuncs by name, whatever a program has put in their place in NumPy's namespace, or added to it."""

from __future__ import annotations

import inspect
from typing import Any

import numpy

_umath: Any = numpy._core.umath  # type: ignore[attr-defined]
# Beside the public ones umath has those of texts, and what other functions are made of; 2.3 does not list `matmul`.
_PUBLIC = tuple(dict.fromkeys((*_umath.__all__, "matmul")))
# `clip` is a kernel here too.
UFUNCS: dict[str, Any] = {name: getattr(_umath, name) for name in (*_PUBLIC, "clip")}
UFUNCS = {name: function for name, function in UFUNCS.items() if isinstance(function, numpy.ufunc)}

# Names that NumPy's namespace alone has, beside those of the ufuncs themselves.
_ALIASES = {
    "abs": "absolute",
    "pow": "power",
    "atan2": "arctan2",
    "bitwise_not": "invert",
    "bitwise_invert": "invert",
    **{f"bitwise_{side}_shift": f"{side}_shift" for side in ("left", "right")},
    **{f"a{name}": f"arc{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")},
}


def names() -> dict[str, str]:
    """Return the name of the ufunc behind each of the public names that NumPy's namespace has for one."""
    return {name: UFUNCS[name].__name__ for name in _PUBLIC if name in UFUNCS} | _ALIASES


def signature_of(function: Any) -> inspect.Signature | None:
    """Return the parameters of a ufunc or of a method of ufuncs, which NumPy tells since 2.4; None before."""
    try:
        return inspect.signature(function)
    except ValueError:
        return None
