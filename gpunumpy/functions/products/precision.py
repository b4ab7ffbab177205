"""The precision of matrix products: a setting of the context in which an operation is recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ...core.dtypes import KIND, DType

__all__ = ["matmul_precision"]

_NAMES = ("highest", "high", "medium", "emulated")
PRECISION: ContextVar[str] = ContextVar("matmul_precision", default="highest")


@contextmanager
def matmul_precision(name: str) -> Iterator[None]:
    """Set how precisely matrix products are computed, within a ``with`` statement.

    The setting holds for products that are recorded within the statement and run on a GPU. Products of 16-bit
    floats, of integers and of two vectors are the same with every setting.

    Parameters
    ----------
    name : {"highest", "high", "medium", "emulated"}
        - "highest", the default: the full precision of the operands' dtype.
        - "high": float32 and complex64 are rounded to TF32 (10 bits after the point) before they are multiplied.
        - "medium": they are rounded to bfloat16 (7 bits).
        - "emulated": float64 and complex128 are multiplied as sums of integers, with the precision of float64, if the
          GPU has that and cuBLAS finds it faster (it does not if the GPU has many units for float64, as an H200 has);
          float32 and complex64 as sums of nine products of bfloat16. Elsewhere as "highest".

        All sums of float32 products are made in float32.

    Raises
    ------
    ValueError
        If `name` is none of these.

    Examples
    --------
    >>> import gpunumpy as np
    >>> with np.linalg.matmul_precision("high"):
    ...     y = np.ones((2, 2), np.float32) @ np.ones((2, 2), np.float32)
    """
    if name not in _NAMES:
        raise ValueError(f"matmul_precision is one of {', '.join(map(repr, _NAMES))}, not {name!r}")
    token = PRECISION.set(name)
    try:
        yield
    finally:
        PRECISION.reset(token)


def precision_name() -> str:
    """Return the name of the current setting."""
    return PRECISION.get()


def precision(dtype: DType) -> str:
    """Return the setting that applies to products of a dtype: "highest" if the current one makes no difference."""
    name = PRECISION.get()
    if name == "highest" or KIND[dtype] not in "fc":
        return "highest"
    is_double = dtype.itemsize == (16 if KIND[dtype] == "c" else 8)
    return name if not is_double or name == "emulated" else "highest"
