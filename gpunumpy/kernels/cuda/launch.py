"""Launchers of compiled kernels: all that is the same in every launch is prepared once."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Sequence
from ctypes import c_float
from functools import cache, partial
from itertools import starmap
from operator import call
from typing import Any

from ...core import _native
from ...core.dtypes import FLOAT32, KIND
from ...core.errors import DeviceError
from ...core.locks import ReentrantLock
from ...core.runtime import memory
from ...core.runtime.device import Device, device_error, driver, function_address
from ...core.runtime.plan import Runner
from ...core.schedule.kernel import Arg
from ..codegen.program import Launch
from .module import Function

DEFAULT_SHARED = 48 << 10  # bytes of shared memory, static or not, that a block may have without an attribute


# Encoding of an argument, in letters of the module `struct`: of a pointer ("P"), of a scalar of float32 ("s"), or of
# another scalar, by the kind of its dtype. Each letter stands for a word of 8 bytes, of which float32 has the lower
# half: to round a double in every thread is what a kernel of few operations would notice. A complex number has two.
ARGUMENT_FORMAT = {"P": "Q", "b": "q", "i": "q", "u": "Q", "e": "d", "s": "f", "f": "d", "c": "dd"}


def kind_of(arg: Arg) -> str:
    """Return the key of `ARGUMENT_FORMAT` for an argument of a kernel, or of its structure."""
    if arg.kind != "scalar":
        return "P"
    return "s" if arg.dtype == FLOAT32 else KIND[arg.dtype]


@cache
def packer(format: str) -> Callable[..., None]:
    """Return what writes the arguments of a launch into a buffer."""
    words = struct.Struct("=" + format.replace("f", "f4x"))
    if words.size != 8 * len(format):
        raise ValueError(f"every argument is 8 bytes wide, so a format is made of Q, q, d and f, not {format!r}")
    singles = [n for n, letter in enumerate(format) if letter == "f"]
    if not singles:
        return words.pack_into

    def pack_into(buffer: Any, offset: int, *values: Any) -> None:
        rounded = list(values)
        for n in singles:
            rounded[n] = c_float(values[n]).value  # what is too large is infinite, where `struct` raises
        words.pack_into(buffer, offset, *rounded)

    return pack_into


class Launcher:
    """A kernel of a GPU with its grid, ready to be launched with different arguments.

    Every argument of the kernel is 8 bytes wide, of which a float32 takes the first half. The arguments are packed into
    one buffer, which the driver copies during the call; a lock keeps threads from overwriting each other's arguments.

    Parameters
    ----------
    device : Device
        The GPU.
    function : Function
        The kernel, as `compile_program` returns it.
    launch : Launch
        The grid, the block, and how the kernel is launched.
    format : str
        A letter of the module `struct` for each argument of a launch: ``Q`` for pointers and unsigned integers, ``q``
        for signed integers, ``f`` for float32, ``d`` for other floating-point numbers.
    params : sequence of int
        Signed integers that follow the arguments in every launch.
    fixed : sequence of int
        Integers between the arguments and `params`, which stay for other sizes of the kernel: addresses.

    Attributes
    ----------
    launch
        What the compiled core launches the kernel with, once that is loaded.
    """

    __slots__ = (
        *("_addresses", "_call", "_fixed", "_format", "_function", "_lock", "_pack", "_params", "_prepared", "_values"),
        *("device", "launch"),
    )

    is_one_launch = True

    def __init__(
        self,
        device: Device,
        function: Function,
        launch: Launch,
        format: str,
        params: Sequence[int] = (),
        fixed: Sequence[int] = (),
    ) -> None:
        self.device = device
        self._pack = packer(format)
        self._format, self._prepared = format, launch
        self._fixed, self._params = fixed, (*fixed, *params)
        self._function = function  # keeps its module loaded
        self._lock = ReentrantLock()
        self._call: tuple[Any, ...] | None = None
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
        made._format, made._prepared = self._format, self._prepared._replace(grid=(grid[0], grid[1], grid[2]))
        made._fixed, made._params = self._fixed, (*self._fixed, *params)
        made._lock, made._call = ReentrantLock(), None
        made.launch = None
        return made

    def _prepare_launch(self) -> None:
        """Allow the shared memory that a launch takes, and prepare the call of the driver."""
        cuda, handle, shared = driver(), self._function.handle, self._prepared.shared
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
        address = function_address("cuLaunchKernelEx")
        if address is not None:
            self.launch = _native.launch(
                *(address, int(handle), (*self._prepared.grid, *self._prepared.block, shared), int(self.device.stream)),
                *(self._starts_early, self._format, self._params, self._prepared.is_packed),
                *(partial(make_room, self.device), self.device, self._function, len(self._fixed)),
            )

    @property
    def _starts_early(self) -> bool:
        """Whether the kernel may be started while those before it run."""
        return self._prepared.waits and self.device.attributes.starts_kernels_early

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
        """Return cuLaunchKernelEx and its arguments, and make the buffer that it finds those of the kernel in."""
        # The driver takes the address of each value. There is at least one value, also for a kernel without parameters.
        self._values = array("q", (*bytes(len(self._format)), *self._params) or (0,))
        start, count = self._values.buffer_info()
        self._addresses = array("Q", (start,) if self._prepared.is_packed else range(start, start + 8 * count, 8))
        cuda = driver()
        config = cuda.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = self._prepared.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = self._prepared.block
        config.sharedMemBytes, config.hStream = self._prepared.shared, self.device.stream
        if self._starts_early:
            attribute = cuda.CUlaunchAttribute()
            attribute.id = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
            attribute.value.programmaticStreamSerializationAllowed = 1
            config.attrs, config.numAttrs = [attribute], 1
        return cuda.cuLaunchKernelEx, config, self._function.handle, self._addresses.buffer_info()[0], 0

    def _launch_by_binding(self, values: Sequence[float]) -> Any:
        """Launch by the driver's binding in Python; return what the driver says."""
        with self._lock:
            if self._call is None:
                self._call = self._call_of_binding()
            launched = self.device.launched
            launched[:] = starmap(call, ((self._pack, self._values, 0, *values), self._call))
            error = launched[-1][0]
            if error:
                launched.clear()
        return error


def make_room(device: Device, number: int, failures: int) -> None:
    """Free memory for another attempt at a launch, or raise the exception for the number of the error that it had.

    `failures` is how many attempts failed before. The GPU is active afterwards.
    """
    error = driver().CUresult(number)
    if not memory.is_shortage(device, error):
        raise device_error(error, f"a kernel cannot be launched on {device}")
    memory.make_room(device, failures, "no room for the code, the stacks and the local variables of a kernel")
    device.activate()
