# ruff: noqa: F401
"""`gpunumpy.random`: the namespace of `numpy.random`, drawing on the device where it can.

Bit generators are NumPy's own objects. `Generator` subclasses NumPy's `Generator`: it draws on the device from the
state of its bit generator and leaves that state as NumPy would, so device draws and host draws come from one stream.
`RandomState` does the same with MT19937. All other draws run through NumPy on the host and take and return gpunumpy
arrays.
"""

from typing import Any as _Any

from .namespace import default_rng
from .namespace import find as _find
from .namespace import names as __dir__


def __getattr__(name: str) -> _Any:
    """Return the attribute, which is found once."""
    value = globals()[name] = _find(name)
    return value
