# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

def bracket_minimum(
    f: Any,
    xm0: Any,
    *,
    xl0: Any = None,
    xr0: Any = None,
    xmin: Any = None,
    xmax: Any = None,
    factor: Any = None,
    args: Any = ...,
    kwargs: Any = None,
    maxiter: Any = 1000,
) -> Any: ...
def bracket_root(
    f: Any,
    xl0: Any,
    xr0: Any = None,
    *,
    xmin: Any = None,
    xmax: Any = None,
    factor: Any = None,
    args: Any = ...,
    kwargs: Any = None,
    maxiter: Any = 1000,
) -> Any: ...
def find_minimum(
    f: Any,
    init: Any,
    /,
    *,
    args: Any = ...,
    kwargs: Any = None,
    tolerances: Any = None,
    maxiter: Any = 100,
    callback: Any = None,
) -> Any: ...
def find_root(
    f: Any,
    init: Any,
    /,
    *,
    args: Any = ...,
    kwargs: Any = None,
    tolerances: Any = None,
    maxiter: Any = None,
    callback: Any = None,
) -> Any: ...

__all__ = ["bracket_minimum", "bracket_root", "find_minimum", "find_root"]
