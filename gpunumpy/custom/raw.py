"""`RawKernel` and `RawModule`: CUDA C++ that a user wrote, launched over arrays."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy

from ..arrays import stream_order
from ..core._native import tried_first
from ..core.errors import allowed
from ..core.graph.queue import Queue
from ..core.recording.array import ON_HOST, ndarray
from ..core.runtime import evaluate, memory
from ..core.runtime.device import Device, default_device, refuse_capture
from ..core.runtime.plan import Runner
from ..kernels.cuda.user_kernel import ATTRIBUTES, SETTABLE, WORD_BYTES, UserKernel, Width, global_variable, width_of
from ..kernels.cuda.user_program import LoadedProgram, UserProgram, load, load_file, require_gpu

_WORD = 1 << 64
_DOUBLE = struct.Struct("<d")
_BACKENDS = ("nvrtc",)


class RawModule:
    """A program in CUDA C++, or one that is compiled already, with the kernels in it. See `cupy.RawModule`.

    It is compiled when something of it is first asked for, once for each kind of GPU, and kept on disk.

    Parameters
    ----------
    code : str
        CUDA C++. Either this or `path` is given.
    path : str
        A file with machine code (cubin) or PTX.
    options : tuple of str
        Options of NVRTC, such as ``("-DN=3", "--use_fast_math")``. By default the program is C++17.
    backend : {"nvrtc"}
        The compiler.
    translate_cucomplex : bool
        Accepted, and adds nothing: a program may include ``cuComplex.h`` itself.
    enable_cooperative_groups : bool
        Whether kernels are launched so that all of their blocks can wait for each other.
    name_expressions : sequence of str
        Kernels as C++ names them, such as ``"scale<float>"``; `get_function` finds them by these names.
    jitify : bool
        Must be False: CUDA's own ``<cuda/std/...>`` headers have what Jitify adds.

    Raises
    ------
    TypeError
        Unless exactly one of `code` and `path` is given.
    ValueError
        For another compiler.
    """

    def __init__(
        self,
        *,
        code: str | None = None,
        path: str | None = None,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Sequence[str] | None = None,
        jitify: bool = False,
    ) -> None:
        if (code is None) == (path is None):
            raise TypeError("exactly one of code and path is needed")
        if name_expressions is not None and code is None:
            raise ValueError("name_expressions are names of code, which a file has none of")
        _check_compiler(backend, jitify)
        self.code, self.path, self.options, self.backend = code, path, tuple(options), backend
        self.name_expressions = None if name_expressions is None else tuple(name_expressions)
        self.enable_cooperative_groups = enable_cooperative_groups
        self._loaded: dict[Device, LoadedProgram] = {}

    def get_function(self, name: str) -> RawKernel:
        """Return a kernel by its name, or by one of `name_expressions`.

        Raises
        ------
        DeviceError
            If the program does not compile, or has no such kernel.
        """
        kernel = RawKernel.__new__(RawKernel)
        kernel._set_up(self, name)
        kernel._on(_queue_of(()))
        return kernel

    def get_global(self, name: str) -> MemoryPointer:
        """Return the memory of a variable of the program, in global or constant memory.

        Its values are those of ``gpunumpy.ndarray(shape, dtype, module.get_global(name))``.

        Raises
        ------
        DeviceError
            If the program does not compile, or has no such variable.
        """
        device = require_gpu(_queue_of(()).device)
        program = self._program(device)
        known = program.names.get(name, name)
        address, nbytes = global_variable(device, program.module, known)
        return MemoryPointer(address, nbytes, device, program)

    def compile(self, log_stream: Any = None) -> None:
        """Compile the program, unless it is. `log_stream` is accepted: what the compiler says is in the exception."""
        self._program(require_gpu(_queue_of(()).device))

    def _program(self, device: Device) -> LoadedProgram:
        found = self._loaded.get(device)
        if found is None:
            if self.path is not None:
                found = load_file(self.path, device)
            else:
                assert self.code is not None
                found = load(UserProgram(self.code, self.options, self.name_expressions or ()), device)
            found = self._loaded.setdefault(device, found)
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Return what the module was made from: what is loaded is loaded again by who unpickles it."""
        return {**self.__dict__, "_loaded": {}}


def _attribute(name: str) -> property:
    """Return the property of an attribute of a kernel on the default GPU."""

    def get(self: RawKernel) -> int:
        """Ask the driver."""
        return self.kernel.attribute(name)

    def put(self: RawKernel, value: int) -> None:
        """Tell the driver."""
        self.kernel.set_attribute(name, value)

    return property(get, put if name in SETTABLE else None, doc=f"The driver's attribute {name} of the kernel.")


class RawKernel:
    """A kernel in CUDA C++. See `cupy.RawKernel`.

    Arrays are passed as the addresses of their first elements, whatever their strides are. What is recorded is computed
    before the launch. On the CPU there are no such kernels.

    Parameters
    ----------
    code : str
        CUDA C++.
    name : str
        The name of the kernel, which is ``extern "C"``.
    options, backend, translate_cucomplex, enable_cooperative_groups, jitify
        As for `RawModule`.

    Attributes
    ----------
    attributes : dict
        What the driver tells of the kernel on the default GPU; each is an attribute of the object too.
    """

    def __init__(
        self,
        code: str,
        name: str,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        *,
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        jitify: bool = False,
    ) -> None:
        module = RawModule(
            code=code,
            options=options,
            backend=backend,
            enable_cooperative_groups=enable_cooperative_groups,
            jitify=jitify,
        )
        self._set_up(module, name)

    def _set_up(self, module: RawModule, name: str) -> None:
        self._module = module
        self.name = self.__name__ = name
        self.code, self.options, self.backend = module.code, module.options, module.backend
        self._kernels: dict[Queue, UserKernel] = {}

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        *,
        shared_mem: int = 0,
        stream: Any = None,
    ) -> None:
        """Launch the kernel.

        Parameters
        ----------
        grid, block : sequence of int
            The blocks, and the threads of a block: up to three sizes each.
        args : sequence
            Arrays of one GPU, and scalars: a Python int is 64 bits wide, a float is a double; NumPy's scalars, and its
            arrays of one element, have the width of their dtypes.
        shared_mem : int
            Bytes of dynamic shared memory of a block.
        stream : object or int, optional
            A CUDA stream of another library, or its handle. By default the stream of the GPU. Either waits for the
            other, so that what is computed later finds what the kernel has written.

        Raises
        ------
        DeviceError
            If the text does not compile, there is no GPU, or the driver refuses the launch.
        TypeError
            If the arguments are not those of the kernel.
        ValueError
            If arrays are on two devices.
        """
        queue = _queue_of(args)
        kernel = self._kernels.get(queue) or self._on(queue)
        shape = tuple(grid), tuple(block), shared_mem
        is_ordinary = stream is None and not queue.device.has_spilled and queue.device.capture is None
        if is_ordinary and launched(kernel.launches, queue, shape, args, WIDTHS):
            return
        if queue.device.capture is not None:
            refuse_capture(queue.device, "a launch on another stream", is_work=stream is None)
        handle = None if stream is None else stream_order.stream_handle(stream, queue.device)
        # Nothing may be recorded over the arrays between the computation of what reads them and the launch.
        with queue.lock:
            if queue.pending:
                evaluate.flush(queue)
            if queue.device.capture is not None:
                queue.device.capture.keep([x.memory().data for x in args if isinstance(x, ndarray)])
            encoded = _encoded(args, queue, first_address)
            if encoded is None:  # what is moved to the GPU may find no room, and other memory moves away
                buffers = [x.memory().data for x in args if isinstance(x, ndarray)]
                with memory.staying(*buffers), memory.unnoted(*buffers):
                    evaluate.flush(queue)  # what is cheaper to compute than to read waits until its operand has memory
                    encoded = _encoded(args, queue, moved_address)
                    assert encoded is not None
                    self._launch(kernel, shape, handle, *encoded)
            elif queue.device.has_spilled:
                with memory.unnoted(*[x.memory().data for x in args if isinstance(x, ndarray)]):
                    self._launch(kernel, shape, handle, *encoded)
            else:
                self._launch(kernel, shape, handle, *encoded)

    def _launch(
        self,
        kernel: UserKernel,
        shape: tuple[tuple[int, ...], tuple[int, ...], int],
        handle: int | None,
        words: list[int],
        widths: list[Width],
    ) -> None:
        """Launch the kernel with encoded arguments."""
        if kernel.device.capture is not None:
            kernel.device.capture.keep([kernel])
        if handle is None:
            known = kernel.launches.get((*shape, *widths))
            if known is not None:
                known(words)
                return
        else:
            stream_order.consumer_waits(kernel.device, handle)
        is_cooperative = self._module.enable_cooperative_groups
        kernel.launch(shape[0], shape[1], words, tuple(widths), shape[2], handle, is_cooperative)
        if handle is not None:
            stream_order.wait_for(kernel.device, handle)

    @property
    def kernel(self) -> UserKernel:
        """The kernel as it is loaded on the default GPU."""
        return self._on(_queue_of(()))

    @property
    def attributes(self) -> dict[str, int]:
        """What the driver tells of the kernel on the default GPU."""
        kernel = self.kernel
        return {name: kernel.attribute(name) for name in ATTRIBUTES}

    max_threads_per_block = _attribute("max_threads_per_block")
    shared_size_bytes = _attribute("shared_size_bytes")
    const_size_bytes = _attribute("const_size_bytes")
    local_size_bytes = _attribute("local_size_bytes")
    num_regs = _attribute("num_regs")
    ptx_version = _attribute("ptx_version")
    binary_version = _attribute("binary_version")
    cache_mode_ca = _attribute("cache_mode_ca")
    max_dynamic_shared_size_bytes = _attribute("max_dynamic_shared_size_bytes")
    preferred_shared_memory_carveout = _attribute("preferred_shared_memory_carveout")

    def compile(self, log_stream: Any = None) -> None:
        """Compile the kernel, unless it is. `log_stream` is accepted: what the compiler says is in the exception."""
        self._on(_queue_of(()))

    def _on(self, queue: Queue) -> UserKernel:
        """Return the kernel as it is loaded on a GPU."""
        found = self._kernels.get(queue)
        if found is None:
            device = require_gpu(queue.device)
            program = self._module._program(device)
            made = UserKernel(device, program.module, program.names.get(self.name, self.name))
            found = self._kernels.setdefault(queue, made)
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Return what the kernel was made from: what is loaded is loaded again by who unpickles it."""
        return {**self.__dict__, "_kernels": {}}


class MemoryPointer:
    """The memory of a variable of a program. It is a buffer for `ndarray`, and an array of bytes for other libraries.

    Attributes
    ----------
    ptr : int
        The address.
    size : int
        The number of bytes.
    device : Device
        The GPU.
    """

    def __init__(self, ptr: int, size: int, device: Device, owner: object) -> None:
        self.ptr, self.size, self.device = ptr, size, device
        self._owner = owner  # keeps the program loaded

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The description of the memory by version 3 of the CUDA array interface."""
        return {"version": 3, "shape": (self.size,), "typestr": "|u1", "data": (self.ptr, False), "stream": 1}

    def __int__(self) -> int:
        """Return the address."""
        return self.ptr


def _check_compiler(backend: str, jitify: bool) -> None:
    if backend not in _BACKENDS:
        raise ValueError(f"the compiler {backend!r} is not supported; {allowed(_BACKENDS)}")
    if jitify:
        raise ValueError("jitify is not supported: include <cuda/std/...> of CUDA's headers for what it adds")


def _queue_of(args: Sequence[Any]) -> Queue:
    """Return the queue of the first array among some arguments, or that of the default device."""
    for x in args:
        if isinstance(x, ndarray):
            return x._node.signature.queue or x.queue
    return evaluate.queue_of(default_device())


def _refuse_two_devices(queue: Queue, other: Queue | None) -> NoReturn:
    second = None if other is None else other.device
    raise ValueError(f"arguments are on two devices, {queue.device} and {second}; move one with to_device()")


# Widths of arguments, by their types.
_ARRAY, _POINTER, _NULL = (Width(WORD_BYTES, name) for name in ("array", "pointer", "null pointer"))
_INT, _FLOAT, _BOOL = Width(WORD_BYTES, "int"), Width(WORD_BYTES, "float"), Width(1, "bool")


# What the core knows the widths of, by their numbers.
WIDTHS = _ARRAY, _INT, _FLOAT


@tried_first
def launched(
    launches: dict[tuple[Any, ...], Runner],
    queue: Queue,
    shape: tuple[tuple[int, ...], tuple[int, ...], int],
    args: Sequence[Any],
    widths: tuple[Width, ...],
) -> bool:
    """Return whether a kernel was launched: the core does so where nothing is pending and it knows all arguments.

    Parameters
    ----------
    launches
        Those of a `UserKernel`.
    shape
        The grid, the block, and the bytes of shared memory.
    widths
        `WIDTHS`.
    """
    return False


@tried_first
def first_address(x: ndarray, queue: Queue) -> int | None:
    """Return the address of an array's first element; None if the array is not computed, or not in the GPU's memory.

    What the host knows of the array is forgotten: it may be written to at the address.
    """
    signature = x._node.signature
    if signature.queue is not queue:
        _refuse_two_devices(queue, signature.queue)
    node = x._node if x._base is None or x._flags & ON_HOST else x.value()
    buffer = node.data
    if x._flags & ON_HOST or buffer is None or buffer.is_spilled or buffer.awaited() is not None:
        return None
    return moved_address(x, queue)


def moved_address(x: ndarray, queue: Queue) -> int:
    """Return the address of an array's first element, once the array is computed and in the GPU's memory.

    What the host knows of the array is forgotten: it may be written to at the address.
    """
    node = x.memory()
    signature, buffer = node.signature, node.data
    if signature.queue is not queue:
        _refuse_two_devices(queue, signature.queue)
    buffer.copy = None
    origin: int = signature.primitive.origin  # type: ignore[union-attr]
    return buffer.ptr + (node.offset + origin) * signature.dtype.itemsize


def _encoded(
    args: Sequence[Any], queue: Queue, address_of: Callable[[ndarray, Queue], int | None]
) -> tuple[list[int], list[Width]] | None:
    """Return arguments in words, and their widths; None if an array has no address."""
    words: list[int] = []
    widths = []
    for x in args:
        if isinstance(x, ndarray):
            address = address_of(x, queue)
            if address is None:
                return None
            words.append(address)
            widths.append(_ARRAY)
        else:
            widths.append(_encode(x, words))
    return words, widths


def _encode(x: Any, words: list[int]) -> Width:
    """Add an argument that is no array to the words that a kernel takes, and return how wide it is."""
    kind = type(x)
    if kind is int:
        if not -_WORD // 2 <= x < _WORD:
            raise OverflowError(f"Python integer {x} is beyond 64 bits")
        words.append(x % _WORD)
        return _INT
    if kind is float:
        words.append(int.from_bytes(_DOUBLE.pack(x), "little"))
        return _FLOAT
    if kind is bool:
        words.append(int(x))
        return _BOOL
    if x is None:
        words.append(0)
        return _NULL
    if isinstance(x, MemoryPointer):
        words.append(x.ptr)
        return _POINTER
    interface = getattr(x, "__cuda_array_interface__", None)
    if interface is not None:
        words.append(interface["data"][0])
        return _ARRAY
    if not isinstance(x, (complex, numpy.generic, numpy.ndarray)):
        raise TypeError(f"a kernel takes arrays and scalars, not {kind.__name__!r}")
    value = numpy.asarray(x)
    if value.size != 1 or value.dtype.hasobject:
        raise TypeError(
            f"a NumPy array is passed by value, if it has one element; asarray(x) makes one of shape {value.shape} an "
            "array of the device"
        )
    width = width_of(value.dtype)
    content = value.tobytes().ljust(width.words * WORD_BYTES, b"\0")
    words += struct.unpack(f"<{width.words}Q", content)
    return width


__all__ = ["MemoryPointer", "RawKernel", "RawModule"]
