"""Launching compiled kernels, with everything prepared that does not change from one launch to the next."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Sequence
from typing import Any

from ...core.errors import DeviceError
from ...core.runtime.device import Device, check, driver, error_text

DEFAULT_SHARED = 48 << 10  # bytes of dynamic shared memory that a block may have without asking


# How an argument travels, in struct's letters: a pointer ("P"), or a scalar of a kind of dtypes. Every one takes 8
# bytes, a complex number twice that.
WIRE = {"P": "Q", "b": "q", "i": "q", "u": "Q", "e": "d", "f": "d", "c": "dd"}


class Launcher:
    """A kernel of a GPU with its grid, ready to be launched with different arguments.

    Every parameter of the kernel is 8 bytes wide. The arguments are packed into a buffer made once, which the driver
    copies during the call; a lock keeps threads from packing over each other.

    Parameters
    ----------
    device : Device
        Where it runs.
    function : CUfunction
        The kernel, as `compile_program` returns it.
    grid, block : sequence of int
        Up to three sizes each.
    shared : int
        Bytes of dynamic shared memory per block.
    format : str
        A letter per argument of a launch, as the module `struct` has them: ``Q`` for pointers and unsigned integers,
        ``q`` for signed ones, ``d`` for floating-point numbers.
    params : sequence of int
        Signed integers that follow the arguments in every launch.
    """

    __slots__ = ("_addresses", "_call", "_fixed", "_lock", "_pack", "_values", "device")

    def __init__(
        self,
        device: Device,
        function: Any,
        grid: Sequence[int],
        block: Sequence[int],
        shared: int,
        format: str,
        params: Sequence[int] = (),
    ) -> None:
        cuda = driver()
        device.activate()
        if shared > DEFAULT_SHARED:
            most = device.attributes.shared_per_block
            if shared > most:
                raise DeviceError(f"a kernel asks for {shared} bytes of shared memory; {device} has {most} per block")
            attribute = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            if shared > check(cuda.cuFuncGetAttribute(attribute, function)):  # others launch the function too
                check(cuda.cuFuncSetAttribute(function, attribute, shared))
        packer = struct.Struct("=" + format)
        if packer.size != 8 * len(format):
            raise ValueError(f"every argument is 8 bytes wide, so a format is made of Q, q and d, not {format!r}")
        self.device = device
        self._pack = packer.pack_into
        # The driver wants the address of each value. There is one value at least, for a kernel without parameters.
        self._values = (ctypes.c_int64 * max(len(format) + len(params), 1))()
        self._values[len(format) : len(format) + len(params)] = list(params)
        start = ctypes.addressof(self._values)
        self._addresses = (ctypes.c_void_p * len(self._values))(*range(start, start + ctypes.sizeof(self._values), 8))
        # In the order of cuLaunchKernel, whose binding converts its own objects and plain integers fastest.
        dimensions = (*(*grid, 1, 1)[:3], *(*block, 1, 1)[:3])
        self._fixed = (function, *dimensions, shared, device.stream, ctypes.addressof(self._addresses), 0)
        self._call = cuda.cuLaunchKernel
        self._lock = threading.Lock()

    def __call__(self, values: Sequence[float]) -> None:
        """Queue the kernel on the device's stream.

        Parameters
        ----------
        values : sequence of int and float
            The arguments, in the order of the format.

        Raises
        ------
        DeviceError
            If the driver refuses the launch, or reports that something queued earlier has failed.
        """
        self.device.activate()
        with self._lock:
            self._pack(self._values, 0, *values)
            error = self._call(*self._fixed)[0]
        if error:
            raise DeviceError(f"a kernel cannot be launched on {self.device}: {error_text(error)}")
