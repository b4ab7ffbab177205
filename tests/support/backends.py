"""Where elementwise functions are computed: NumPy on the CPU device, generated kernels in the emulator, or a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy

import gpunumpy as np

from ..emulator.emulated import emulated
from .arrays import elementwise, from_host, to_host

Array = numpy.ndarray[Any, Any]


@dataclass(frozen=True)
class Backend:
    """One of the backends.

    Attributes
    ----------
    device
        The device that computes.
    count
        About how many arguments of a function its test takes.
    is_numpy
        Whether NumPy computes, and not a generated kernel.
    """

    device: str
    count: int
    is_numpy: bool = False

    def compute(self, name: str, *arrays: Array) -> Array:
        device = np.Device(self.device)
        return numpy.asarray(to_host(elementwise(name, [from_host(array, device) for array in arrays])))

    def cast(self, array: Array, dtype: numpy.dtype[Any]) -> Array:
        return numpy.asarray(to_host(np.astype(from_host(array, np.Device(self.device)), dtype)))


BACKENDS = {
    "numpy": Backend("cpu", 1 << 17, True),
    "emulator": Backend("cpu", 1 << 15),
    "gpu": Backend("cuda:0", 1 << 20),
}


@contextmanager
def backend(name: str) -> Iterator[Backend]:
    """Enter the backend of this name, with NumPy's warnings off."""
    with emulated() if name == "emulator" else nullcontext(), numpy.errstate(all="ignore"):
        yield BACKENDS[name]
