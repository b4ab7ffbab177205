"""How precisely matrices are multiplied: a setting of the context that an operation is recorded in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ...core.dtypes import KIND, DType

__all__ = ["matmul_precision"]

_NAMES = ("highest", "high", "medium", "emulated")
_precision: ContextVar[str] = ContextVar("matmul_precision", default="highest")


@contextmanager
def matmul_precision(name: str) -> Iterator[None]:
    """Let matrix products be made faster, and less precisely or by other means, inside a ``with`` statement.

    It counts for the products that are recorded inside, on a GPU. Halves, integers and vectors' products are
    the same in every case.

    Parameters
    ----------
    name : {"highest", "high", "medium", "emulated"}
        - "highest", the default: in the full precision of the operands' dtype.
        - "high": float32 and complex64 are rounded to TF32 (10 bits after the point) before they are multiplied.
        - "medium": they are rounded to bfloat16 (7 bits).
        - "emulated": float64 and complex128 are multiplied as sums of integers, with the precision of float64, where
          the GPU has that and cuBLAS finds it faster (it does not where units for float64 are many, as on an
          H200); float32 and complex64 as sums of nine products of bfloat16. Elsewhere it is as "highest".

        All sums of float32 products are made in float32.

    Examples
    --------
    >>> import gpunumpy as np
    >>> with np.linalg.matmul_precision("high"):
    ...     y = np.ones((2, 2), np.float32) @ np.ones((2, 2), np.float32)
    """
    if name not in _NAMES:
        raise ValueError(f"matmul_precision is one of {', '.join(map(repr, _NAMES))}, not {name!r}")
    token = _precision.set(name)
    try:
        yield
    finally:
        _precision.reset(token)


def precision_name() -> str:
    """The setting."""
    return _precision.get()


def precision(dtype: DType) -> str:
    """The setting as far as it counts for products of a dtype."""
    name = _precision.get()
    if name == "highest" or KIND[dtype] not in "fc":
        return "highest"
    double = dtype.itemsize == (16 if KIND[dtype] == "c" else 8)
    return name if not double or name == "emulated" else "highest"
