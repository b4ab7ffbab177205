"""NumPy's own ufuncs by name, whatever a program has put in their place in NumPy's namespace, or added to it."""

from __future__ import annotations

from typing import Any

import numpy

UFUNCS: dict[str, Any] = {
    name: function
    for name, function in vars(numpy._core.umath).items()  # type: ignore[attr-defined]
    if isinstance(function, numpy.ufunc)
}


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
    public = numpy._core.umath.__all__  # type: ignore[attr-defined]
    return {name: UFUNCS[name].__name__ for name in public if name in UFUNCS} | _ALIASES
