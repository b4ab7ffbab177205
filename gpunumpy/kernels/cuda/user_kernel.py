"""A kernel that a user wrote, loaded on a GPU: its parameters, its attributes, and its launches."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...core.errors import DeviceError
from ...core.runtime.device import Device, check, driver
from .launch import Launcher, make_room
from .module import Function, Module

# CuPy's names of the attributes of a kernel, with the driver's.
ATTRIBUTES = {
    "max_threads_per_block": "MAX_THREADS_PER_BLOCK",
    "shared_size_bytes": "SHARED_SIZE_BYTES",
    "const_size_bytes": "CONST_SIZE_BYTES",
    "local_size_bytes": "LOCAL_SIZE_BYTES",
    "num_regs": "NUM_REGS",
    "ptx_version": "PTX_VERSION",
    "binary_version": "BINARY_VERSION",
    "cache_mode_ca": "CACHE_MODE_CA",
    "max_dynamic_shared_size_bytes": "MAX_DYNAMIC_SHARED_SIZE_BYTES",
    "preferred_shared_memory_carveout": "PREFERRED_SHARED_MEMORY_CARVEOUT",
}
SETTABLE = ("max_dynamic_shared_size_bytes", "preferred_shared_memory_carveout")
_MAX_LAUNCHERS = 64
WORD_BYTES = 8


class Argument(NamedTuple):
    """A value that a kernel takes: the bytes that count, in 8-byte words, and what it is for a message."""

    nbytes: int
    words: tuple[int, ...]
    described: str


class UserKernel:
    """A kernel of a user's program, on one GPU.

    Parameters
    ----------
    device : Device
        The GPU.
    module : Module
        The program, which is loaded there.
    entry : str
        The name of the kernel in the machine code.
    """

    def __init__(self, device: Device, module: Module, entry: str) -> None:
        self.device, self._entry = device, entry
        self._function = Function()
        self._function.load(module, entry)
        self._parameters = _parameter_sizes(self._function.handle)
        self._launchers: dict[tuple[Any, ...], Launcher] = {}

    def attribute(self, name: str) -> int:
        """Return one of `ATTRIBUTES`."""
        self.device.activate()
        return int(check(driver().cuFuncGetAttribute(_attribute(name), self._function.handle)))

    def set_attribute(self, name: str, value: int) -> None:
        """Set one of `SETTABLE`."""
        self.device.activate()
        check(driver().cuFuncSetAttribute(self._function.handle, _attribute(name), value))

    def launch(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Sequence[Argument],
        shared: int,
        stream: int | None = None,
        is_cooperative: bool = False,
    ) -> None:
        """Queue the kernel on a stream, by default that of the device.

        Raises
        ------
        TypeError
            If the arguments are not as many, or not as wide, as the kernel's parameters.
        DeviceError
            If the driver refuses the launch.
        """
        self._check(arguments)
        words = [word for argument in arguments for word in argument.words]
        if stream is None and not is_cooperative and len(words) == len(arguments):
            key = (*grid, *block, shared)
            launcher = self._launchers.get(key)
            if launcher is None:
                if len(self._launchers) >= _MAX_LAUNCHERS:
                    self._launchers.clear()
                launcher = Launcher(self.device, self._function, grid, block, shared, "Q" * len(words))
                self._launchers[key] = launcher
            launcher(words)
            return
        self._launch_apart(grid, block, arguments, words, shared, stream, is_cooperative)

    def _launch_apart(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        arguments: Sequence[Argument],
        words: Sequence[int],
        shared: int,
        stream: int | None,
        is_cooperative: bool,
    ) -> None:
        """Launch with arguments of more than a word, on another stream, or as a cooperative kernel."""
        cuda, values = driver(), array("Q", words or (0,))
        at, addresses = values.buffer_info()[0], array("Q")
        for argument in arguments:
            addresses.append(at)
            at += WORD_BYTES * len(argument.words)
        start = cuda.cuLaunchCooperativeKernel if is_cooperative else cuda.cuLaunchKernel
        on = self.device.stream if stream is None else cuda.CUstream(stream)
        last = () if is_cooperative else (0,)
        self.device.activate()
        failures = 0
        pointers = addresses.buffer_info()[0] if addresses else 0
        while error := start(self._function.handle, *grid, *block, shared, on, pointers, *last)[0]:
            make_room(self.device, error, failures)
            failures += 1

    def _check(self, arguments: Sequence[Argument]) -> None:
        """Raise TypeError for arguments that the kernel would read beyond: the driver does not look at them."""
        sizes = self._parameters
        if sizes is None:
            return
        if len(sizes) != len(arguments):
            raise TypeError(f"the kernel {self._entry} takes {len(sizes)} arguments; {len(arguments)} were given")
        for k, (size, (nbytes, _, described)) in enumerate(zip(sizes, arguments, strict=True)):
            if nbytes < size or (described == "float" and size != nbytes):
                raise TypeError(
                    f"argument {k} of the kernel {self._entry} has {size} bytes; a {described} of {nbytes} bytes was "
                    "given: a NumPy scalar such as numpy.float32(x) has the width of its dtype"
                )


def _attribute(name: str) -> Any:
    return getattr(driver().CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{ATTRIBUTES[name]}")


def _parameter_sizes(handle: Any) -> tuple[int, ...] | None:
    """Return the bytes of each parameter of a kernel; None from drivers before CUDA 12.4, which do not tell."""
    cuda = driver()
    get = getattr(cuda, "cuFuncGetParamInfo", None)
    sizes: list[int] = []
    while get is not None:
        error, _, *size = get(handle, len(sizes))
        if error == cuda.CUresult.CUDA_ERROR_INVALID_VALUE:  # there are no more
            return tuple(sizes)
        if error:
            return None
        sizes.append(int(size[0]))
    return None


def global_variable(device: Device, module: Module, name: str) -> tuple[int, int]:
    """Return the address and the bytes of a variable of a program.

    Raises
    ------
    DeviceError
        If the program has no variable of this name.
    """
    device.activate()
    error, *found = driver().cuModuleGetGlobal(module.handle, name.encode())
    if error == driver().CUresult.CUDA_ERROR_NOT_FOUND:
        raise DeviceError(f"the program has no variable {name!r}; one in C++ is found by the name that it has in C")
    if error:
        check((error, *found))
    address, nbytes = found
    return int(address), int(nbytes)
