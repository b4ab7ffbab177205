"""A kernel that a user wrote, loaded on a GPU: its parameters, its attributes, and its launches."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cache
from typing import Any

from ...core.dtypes import DType
from ...core.errors import DeviceError
from ...core.runtime.device import Device, check, driver
from ...core.runtime.plan import Runner
from ..codegen.program import Launch
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


class Width:
    """How wide an argument is: the bytes that count, and what it is for a message. Launches are found by its identity.

    Attributes
    ----------
    nbytes, described
        As they are given.
    words : int
        The number of 8-byte words that the argument takes.
    """

    __slots__ = ("described", "nbytes", "words")

    def __init__(self, nbytes: int, described: str) -> None:
        self.nbytes, self.described = nbytes, described
        self.words = -(-nbytes // WORD_BYTES)


@cache
def width_of(dtype: DType) -> Width:
    """Return the width of a scalar of a dtype of NumPy's."""
    return Width(dtype.itemsize, str(dtype))


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
        # What launches the kernel, by grid, block, shared memory, and the widths of all arguments.
        self.launches: dict[tuple[Any, ...], Runner] = {}

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
        grid: tuple[int, ...],
        block: tuple[int, ...],
        words: Sequence[int],
        widths: tuple[Width, ...],
        shared: int,
        stream: int | None = None,
        is_cooperative: bool = False,
    ) -> None:
        """Queue the kernel on a stream, by default that of the device. What can be kept of it is in `launches` then.

        Parameters
        ----------
        grid, block
            Up to three sizes each.
        words
            The arguments, in 8-byte words.
        widths
            Those of the arguments.
        shared
            Bytes of dynamic shared memory.
        stream
            The handle of a stream.
        is_cooperative
            Whether all blocks run at once.

        Raises
        ------
        TypeError
            If the arguments are not as many, or not as wide, as the kernel's parameters.
        ValueError
            If the sizes are none of a grid.
        DeviceError
            If the driver refuses the launch.
        """
        sizes = _three(grid, "grid"), _three(block, "block")
        self._check(widths)
        if stream is not None or is_cooperative or len(words) != len(widths):
            self._launch_apart(sizes, words, widths, shared, stream, is_cooperative)
            return
        if len(self.launches) >= _MAX_LAUNCHERS:
            self.launches.clear()
        launch = Launch(self._entry, *sizes, shared)
        launcher = Launcher(self.device, self._function, launch, "Q" * len(words))
        run = self.launches[grid, block, shared, *widths] = launcher.launch or launcher
        run(words)

    def _launch_apart(
        self,
        sizes: tuple[tuple[int, ...], tuple[int, ...]],
        words: Sequence[int],
        widths: Sequence[Width],
        shared: int,
        stream: int | None,
        is_cooperative: bool,
    ) -> None:
        """Launch with arguments of more than a word, on another stream, or as a cooperative kernel."""
        cuda, values = driver(), array("Q", words or (0,))
        at, addresses = values.buffer_info()[0], array("Q")
        for width in widths:
            addresses.append(at)
            at += WORD_BYTES * width.words
        start = cuda.cuLaunchCooperativeKernel if is_cooperative else cuda.cuLaunchKernel
        on = self.device.stream if stream is None else cuda.CUstream(stream)
        last = () if is_cooperative else (0,)
        self.device.activate()
        failures = 0
        pointers = addresses.buffer_info()[0] if addresses else 0
        while error := start(self._function.handle, *sizes[0], *sizes[1], shared, on, pointers, *last)[0]:
            make_room(self.device, error, failures)
            failures += 1

    def _check(self, widths: Sequence[Width]) -> None:
        """Raise TypeError for arguments that the kernel would read beyond: the driver does not look at them."""
        sizes = self._parameters
        if sizes is None:
            return
        if len(sizes) != len(widths):
            raise TypeError(f"the kernel {self._entry} takes {len(sizes)} arguments; {len(widths)} were given")
        for k, (size, width) in enumerate(zip(sizes, widths, strict=True)):
            nbytes, described = width.nbytes, width.described
            if nbytes < size or (described == "float" and size != nbytes):
                raise TypeError(
                    f"argument {k} of the kernel {self._entry} has {size} bytes; a {described} of {nbytes} bytes was "
                    "given: a NumPy scalar such as numpy.float32(x) has the width of its dtype"
                )


def _three(sizes: Sequence[int], name: str) -> tuple[int, int, int]:
    """Return three sizes from up to three."""
    given = tuple([int(n) for n in sizes])
    if not 0 < len(given) <= 3 or min(given) < 1:
        raise ValueError(f"{name} has one to three sizes of at least 1, not {sizes!r}")
    return (*given, 1, 1)[:3]  # type: ignore[return-value]


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
