# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

from ... import ndarray

class ClusterError(Exception): ...

def kmeans(
    obs: Any,
    k_or_guess: Any,
    iter: Any = 20,
    thresh: Any = 1e-05,
    check_finite: Any = True,
    *,
    rng: Any = None,
    seed: Any = None,
) -> Any: ...
def kmeans2(
    data: Any,
    k: Any,
    iter: Any = 10,
    thresh: Any = 1e-05,
    minit: Any = "random",
    missing: Any = "warn",
    check_finite: Any = True,
    *,
    rng: Any = None,
    seed: Any = None,
) -> Any: ...
def py_vq(obs: Any, code_book: Any, check_finite: Any = True) -> Any: ...
def vq(obs: Any, code_book: Any, check_finite: Any = True) -> Any: ...
def whiten(obs: Any, check_finite: Any = None) -> ndarray: ...

__all__ = ["ClusterError", "kmeans", "kmeans2", "py_vq", "vq", "whiten"]
