# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

def derivative(
    f: Any,
    x: Any,
    *,
    args: Any = ...,
    kwargs: Any = None,
    tolerances: Any = None,
    maxiter: Any = 10,
    order: Any = 8,
    initial_step: Any = 0.5,
    step_factor: Any = 2.0,
    step_direction: Any = 0,
    preserve_shape: Any = False,
    callback: Any = None,
) -> Any: ...
def hessian(
    f: Any,
    x: Any,
    *,
    tolerances: Any = None,
    maxiter: Any = 10,
    order: Any = 8,
    initial_step: Any = 0.5,
    step_factor: Any = 2.0,
) -> Any: ...
def jacobian(
    f: Any,
    x: Any,
    *,
    tolerances: Any = None,
    maxiter: Any = 10,
    order: Any = 8,
    initial_step: Any = 0.5,
    step_factor: Any = 2.0,
    step_direction: Any = 0,
) -> Any: ...

__all__ = ["derivative", "hessian", "jacobian"]
