"""cuSOLVER's 64-bit interface: its codes for dtypes, and the parameters that its routines take."""

from __future__ import annotations

import threading
from typing import Any

from ..core.device import Device
from .handles import handle

# dtype -> its cudaDataType, which is also that of the computation; and the letter of the older interface.
DATA_TYPES = {"float32": 0, "float64": 1, "complex64": 4, "complex128": 5}
LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
# cublasFillMode_t, cublasOperation_t.
LOWER, UPPER = 0, 1
NO_TRANSPOSE, TRANSPOSE, CONJUGATE_TRANSPOSE = 0, 1, 2

_params: dict[Device, int] = {}
_lock = threading.Lock()


def solver(device: Device) -> tuple[Any, int, int]:
    """The module `nvmath.bindings.cusolverDn`, the handle of a GPU, and the parameters of its routines, all default."""
    module, library = handle(device, "cusolverDn")
    found = _params.get(device)
    if found is None:
        with _lock:
            found = _params.get(device) or _params.setdefault(device, module.create_params())
    return module, library, found
