"""Launchers of compiled kernels: all that is the same in every launch is prepared once."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import starmap
from operator import call
from typing import Any

from ...core import _native
from ...core.errors import DeviceError
from ...core.locks import ReentrantLock
from ...core.runtime import memory
from ...core.runtime.device import Device, device_error, driver, function_address
from ...core.runtime.plan import Runner
from .module import Function

DEFAULT_SHARED = 48 << 10  # bytes of shared memory, static or not, that a block may have without an attribute


# Encoding of an argument, in letters of the module `struct`: of a pointer ("P"), or of a scalar, by the kind of its
# dtype. Each letter is 8 bytes wide; a complex number has two.
ARGUMENT_FORMAT = {"P": "Q", "b": "q", "i": "q", "u": "Q", "e": "d", "f": "d", "c": "dd"}


@cache
def _packer(format: str) -> Callable[..., None]:
    """Return what writes the arguments of a launch into a buffer."""
    packer = struct.Struct("=" + format)
    if packer.size != 8 * len(format):
        raise ValueError(f"every argument is 8 bytes wide, so a format is made of Q, q and d, not {format!r}")
    return packer.pack_into


class Launcher:
    """A kernel of a GPU with its grid, ready to be launched with different arguments.

    Every argument of the kernel is 8 bytes wide. The arguments are packed into one buffer, which the driver copies
    during the call; a lock keeps threads from overwriting each other's arguments.

    Parameters
    ----------
    device : Device
        The GPU.
    function : Function
        The kernel, as `compile_program` returns it.
    grid, block : sequence of int
        Up to three sizes each.
    shared : int
        Bytes of dynamic shared memory per block.
    format : str
        A letter of the module `struct` for each argument of a launch: ``Q`` for pointers and unsigned integers, ``q``
        for signed integers, ``d`` for floating-point numbers.
    params : sequence of int
        Signed integers that follow the arguments in every launch.
    is_packed : bool
        Whether all of these are one parameter of the kernel, a struct.
    fixed : sequence of int
        Integers between the arguments and `params`, which stay for other sizes of the kernel: addresses.

    Attributes
    ----------
    launch
        What the compiled core launches the kernel with, once that is loaded.
    """

    __slots__ = (
        *("_addresses", "_dimensions", "_fixed", "_format", "_function", "_is_packed", "_launch", "_lock", "_pack"),
        *("_params", "_values", "device", "launch"),
    )

    is_one_launch = True

    def __init__(
        self,
        device: Device,
        function: Function,
        grid: Sequence[int],
        block: Sequence[int],
        shared: int,
        format: str,
        params: Sequence[int] = (),
        is_packed: bool = False,
        fixed: Sequence[int] = (),
    ) -> None:
        self.device = device
        self._pack = _packer(format)
        self._format, self._is_packed = format, is_packed
        self._fixed, self._params = fixed, (*fixed, *params)
        self._function = function  # keeps its module loaded
        self._dimensions = (*(*grid, 1, 1)[:3], *(*block, 1, 1)[:3], shared)
        self._lock = ReentrantLock()
        self._launch: tuple[Any, ...] | None = None
        self.launch: Callable[..., None] | None = None
        function.when_loaded(self._prepare_launch)

    def at(self, grid: Sequence[int], params: Sequence[int]) -> Runner | None:
        """Return what launches the kernel, once it is loaded, with another grid and other parameters; else None."""
        if self._function.handle is None:
            return None
        if self.launch is not None:
            return self.launch.at(grid, params)  # type: ignore[attr-defined]
        made = object.__new__(Launcher)
        made.device, made._function, made._pack = self.device, self._function, self._pack
        made._format, made._is_packed = self._format, self._is_packed
        made._fixed, made._params = self._fixed, (*self._fixed, *params)
        made._dimensions = (*grid, *self._dimensions[3:])
        made._lock, made._launch = ReentrantLock(), None
        made.launch = None
        return made

    def _prepare_launch(self) -> None:
        """Allow the shared memory that a launch takes, and prepare the call of the driver."""
        cuda, handle, shared = driver(), self._function.handle, self._dimensions[-1]
        self.device.activate()
        attributes = cuda.CUfunction_attribute
        loading = partial(memory.attempted, self.device, "no room for a kernel")  # the driver does so when it is used
        of_static = attributes.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
        static = loading(cuda.cuFuncGetAttribute, of_static, handle) if shared else 0
        if shared + static > DEFAULT_SHARED:
            limit = self.device.attributes.shared_per_block
            if shared + static > limit:
                raise DeviceError(
                    f"a kernel asks for {shared + static} bytes of shared memory; {self.device} has {limit} per block"
                )
            # Another launcher of the function may have set a higher limit already.
            most = attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            known = loading(cuda.cuFuncGetAttribute, most, handle)
            loading(cuda.cuFuncSetAttribute, handle, most, max(shared, known))
        address = function_address("cuLaunchKernel")
        if address is not None:
            self.launch = _native.launch(
                *(address, int(handle), self._dimensions, int(self.device.stream)),
                *(self._format, self._params, self._is_packed, partial(make_room, self.device)),
                *(self.device, self._function, len(self._fixed)),
            )

    def __call__(self, values: Sequence[float]) -> None:
        """Queue the kernel on the device's stream.

        Parameters
        ----------
        values : sequence of int and float
            The arguments, in the order of the format.

        Raises
        ------
        MemoryError
            If the driver has no memory for the launch, even after what is unused has been freed.
        DeviceError
            If the driver refuses the launch, or reports that something queued earlier has failed.
        """
        if self.launch is not None:
            self.launch(values)
            return
        self.device.activate()
        failures = 0
        while error := self._launch_by_binding(values):
            make_room(self.device, error, failures)
            failures += 1

    def _call_of_binding(self) -> tuple[Any, ...]:
        """Return cuLaunchKernel and its arguments, and make the buffer that it finds those of the kernel in."""
        # The driver takes the address of each value. There is at least one value, also for a kernel without parameters.
        self._values = array("q", (*bytes(len(self._format)), *self._params) or (0,))
        start, count = self._values.buffer_info()
        self._addresses = array("Q", (start,) if self._is_packed else range(start, start + 8 * count, 8))
        # The binding converts its own objects and plain integers fastest.
        return (
            *(driver().cuLaunchKernel, self._function.handle, *self._dimensions),
            *(self.device.stream, self._addresses.buffer_info()[0], 0),
        )

    def _launch_by_binding(self, values: Sequence[float]) -> Any:
        """Launch by the driver's binding in Python; return what the driver says."""
        with self._lock:
            if self._launch is None:
                self._launch = self._call_of_binding()
            launched = self.device.launched
            launched.extend(starmap(call, ((self._pack, self._values, 0, *values), self._launch)))
            error = launched[-1][0]
            if error:
                launched.clear()
        return error


def make_room(device: Device, number: int, failures: int) -> None:
    """Free memory for another attempt at a launch, or raise the exception for the number of the error that it had.

    `failures` is how many attempts failed before.
    """
    error = driver().CUresult(number)
    if not memory.is_shortage(device, error):
        raise device_error(error, f"a kernel cannot be launched on {device}")
    memory.make_room(device, failures, "no room for the code, the stacks and the local variables of a kernel")
