"""What makes arrays of nodes and of NumPy's arrays, and back, in the types that users see.

The package's own class has no operators and methods, as far as a checker knows: they are bound to it, and stand in the
stubs alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from gpunumpy import Device, ndarray
    from gpunumpy.core.graph.layout import Layout
    from gpunumpy.core.graph.node import Node

    def elementwise(op: str, args: Sequence[Any], types: Any = None) -> ndarray: ...
    def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> ndarray: ...
    def from_interface(x: Any) -> ndarray: ...
    def mark_as_array(array: ndarray) -> ndarray: ...
    def from_host(data: Any, device: Device | None = None) -> ndarray: ...
    def make_view(array: ndarray, where: Layout, part: str = "", dtype: Any = None) -> ndarray: ...
    def to_host(array: Any) -> Any: ...
    def wrap(node: Node) -> ndarray: ...
else:
    from gpunumpy.arrays.exchange import from_dlpack, from_interface
    from gpunumpy.core.recording.array import from_host, make_view, mark_as_array, ndarray, to_host, wrap
    from gpunumpy.core.recording.record import elementwise

__all__ = [
    "mark_as_array",
    "elementwise",
    "from_dlpack",
    "from_host",
    "from_interface",
    "make_view",
    "ndarray",
    "to_host",
    "wrap",
]


def has_rough_halves() -> bool:
    """Return whether NumPy's loops of float16 are those of its older versions for AVX-512 with float16.

    They are up to two units off, and raise flags that the values do not deserve.
    """
    return float(numpy.log1p(numpy.full(64, 0.4998, "e"))[0]) != 0.4052734375
