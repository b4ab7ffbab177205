"""How elements of several processes become one: which dtypes each operation takes, and NumPy's function for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy

from ..core.dtypes import KIND, DType, float4_e2m1fn
from ..core.errors import allowed

Operation: TypeAlias = Literal["sum", "prod", "min", "max", "avg"]

# The kinds of dtypes of each operation, as `core/dtypes.py` has them, and the ufunc. A mean is divided afterwards.
OPERATIONS: dict[str, tuple[str, Callable[..., Any]]] = {
    "sum": ("biuefc", numpy.add),
    "prod": ("biuef", numpy.multiply),
    "min": ("biuef", numpy.minimum),
    "max": ("biuef", numpy.maximum),
    "avg": ("efc", numpy.add),
}


def check_operation(op: str, dtype: DType) -> None:
    """Raise an exception unless an operation takes a dtype.

    Raises
    ------
    ValueError
        If there is no such operation.
    TypeError
        If it does not take the dtype.
    """
    if op not in OPERATIONS:
        raise ValueError(f"there is no operation {op!r}; {allowed(OPERATIONS)}")
    if dtype == float4_e2m1fn or KIND[dtype] not in OPERATIONS[op][0]:
        raise TypeError(f"{op!r} is not for dtype {dtype}: convert with astype()")


def reduce_on_host(parts: Sequence[Any], op: str) -> Any:
    """Return NumPy's arrays of all processes as one, in the order of the processes."""
    ufunc = OPERATIONS[op][1]
    result = parts[0]
    with numpy.errstate(all="ignore"):  # as on a GPU
        for part in parts[1:]:
            result = ufunc(result, part)
        return (result / len(parts)).astype(result.dtype) if op == "avg" else result
