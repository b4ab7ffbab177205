"""A pretended driver of several GPUs that tells of every call which has something of another GPU than the active one.

Streams, events, modules, kernels, CUDA graphs and blocks of memory are of the GPU that was active as they were made.
What a call is given has to be of the GPU that is active in the thread, and so has what a kernel is given.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from gpunumpy.core import _native
from gpunumpy.kernels.cuda import cuda_graphs
from gpunumpy.kernels.cuda import launch as launch_module
from gpunumpy.kernels.cuda.launch import Launcher

from ..core.native.test_launch import LAUNCH_KERNEL
from . import fake_driver

_POINTER, _INT = ctypes.c_void_p, ctypes.c_int
_FIRST_HANDLE = 1 << 40  # so no number of bytes is one, and no address of the host
_ADDRESSES = range(1 << 41, 1 << 48)  # of the host, which numbers of programs are not among
# Calls that other GPUs than the active one may have part in.
_OF_ANY_GPU = (
    *("cuEventDestroy", "cuMemPoolSetAccess", "cuMemPoolSetAttribute", "cuPointerGetAttribute", "cuStreamDestroy"),
    "cuStreamIsCapturing",
)
_OF_TWO_GPUS = ("cuMemcpyPeerAsync", "cuStreamWaitEvent")
# Calls that make something of the GPU that is active.
_MAKES = ("cuCtxSynchronize", "cuEventCreate", "cuMemGetInfo", "cuMemHostAlloc", "cuModuleLoadData", "cuStreamCreate")
_NO_GPU = -1
_IS_CAPTURED = 1  # CU_STREAM_CAPTURE_STATUS_ACTIVE


class _NodeParams(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS, as cuda.h has it."""

    _fields_ = [
        *(("function", _POINTER), ("dimensions", ctypes.c_uint * 7)),
        *(("parameters", ctypes.POINTER(ctypes.POINTER(ctypes.c_int64))), ("extra", _POINTER)),
        *(("kernel", _POINTER), ("context", _POINTER)),
    ]


class WatchedDriver(fake_driver.FakeDriver):
    """A driver that knows of what GPU everything is.

    Attributes
    ----------
    faults
        What was of another GPU than the active one, in words.
    kernels
        How many kernels were launched on each GPU, in graphs too.
    graphs
        How many CUDA graphs were launched on each GPU.
    """

    def __init__(self, real: Any, count: int = 1) -> None:
        self._of_thread = threading.local()
        self._owners: dict[int, int] = {}  # of handles
        self._block_owners: dict[int, int] = {}  # of blocks, by their addresses
        self.formats: dict[int, str] = {}  # a letter for each word of kernels, which is "Q" for addresses
        self.faults: list[str] = []
        self.kernels, self.graphs = [0] * count, [0] * count
        self._captured: dict[int, list[int]] = {}  # the kernels of streams that capture, and of graphs
        self._nodes: dict[int, tuple[int, Sequence[int]]] = {}  # kernels and their words
        self._last = (_POINTER * 1)()
        super().__init__(real, count)
        self._of_thread = threading.local()  # no GPU is active in any thread
        self._handles = itertools.count(_FIRST_HANDLE)

    # The GPU of the context that is current in the thread.
    @property
    def _current(self) -> int:  # type: ignore[override]
        return getattr(self._of_thread, "index", _NO_GPU)

    @_current.setter
    def _current(self, index: int) -> None:
        self._of_thread.index = index

    @property
    def active(self) -> int:
        """The number of the GPU whose context is current in this thread; -1 if none is."""
        return self._current

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if not name.startswith("cu") or isinstance(found, type):
            return found

        def call(*args: Any) -> Any:
            self._look_at(name, args)
            return found(*args)

        return call

    def _look_at(self, name: str, args: Sequence[Any]) -> None:
        if name in _OF_ANY_GPU:
            return
        owners = {owner for owner in map(self._owner_of, args) if owner is not None}
        if name in _OF_TWO_GPUS:
            owners = set() if self._current in owners else owners
        if name.startswith(_MAKES):
            owners.add(self._current)
        for owner in owners - {self._current} if self._current >= 0 else owners:
            self._tell(f"{name} with something of {_named(owner)}")

    def _tell(self, fault: str) -> None:
        self.faults.append(f"{fault}, while {_named(self._current)} is active")

    def _owner_of(self, given: Any) -> int | None:
        """The GPU that a handle or an address is of; None for a number and for memory of the host."""
        try:
            number = int(given)
        except (TypeError, ValueError):
            return None
        if number in self._owners:
            return self._owners[number]
        return self._owner_at(number) if number in _ADDRESSES else None

    def _owner_at(self, address: int) -> int | None:
        block = self._block_at(address)
        return None if block is None else self._block_owners.get(block)

    def _block_at(self, address: int) -> int | None:
        blocks = list(self._blocks.items())
        return next((start for start, block in blocks if start <= address < start + len(block)), None)

    # --- what is made ---

    def _new_handle(self, *_: Any) -> int:
        handle = super()._new_handle()
        self._owners[handle] = self._current
        return handle

    _cuStreamCreate = _cuStreamCreateWithPriority = _cuEventCreate = _cuGraphInstantiate = _new_handle

    def _cuMemPoolCreate(self, properties: Any) -> int:
        handle = self._new_handle()
        self._owners[handle] = int(properties.location.id)
        return handle

    def _cuMemAllocFromPoolAsync(self, size: int, *rest: Any) -> Any:
        block = super()._cuMemAllocFromPoolAsync(size, *rest)
        if isinstance(block, int):
            self._block_owners[block] = self._current
        return block

    def _cuMemFreeAsync(self, block: int, stream: Any) -> None:
        super()._cuMemFreeAsync(block, stream)
        del self._block_owners[block]

    def _cuPointerGetAttribute(self, attribute: Any, pointer: int) -> Any:
        block = self._block_at(int(pointer))
        if block is None:
            return self._real.CUresult.CUDA_ERROR_INVALID_VALUE
        owner = self._block_owners.get(block)
        if attribute == self._real.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            return owner
        kinds = self._real.CUmemorytype
        return int(kinds.CU_MEMORYTYPE_HOST if owner is None else kinds.CU_MEMORYTYPE_DEVICE)

    def _cuModuleGetFunction(self, module: int, name: bytes) -> Any:
        assert module in self.modules
        return self._new_handle()

    def _cuFuncGetParamInfo(self, function: Any, index: int) -> Any:
        return self._real.CUresult.CUDA_ERROR_NOT_SUPPORTED

    def _cuMemcpyPeerAsync(self, target: int, on: Any, source: int, of: Any, size: int, stream: Any) -> None:
        # These are addresses, whatever they look like: the heap of some Pythons is where numbers of programs are.
        if (self._owner_at(int(target)), self._owner_at(int(source))) != (int(on) - 1, int(of) - 1):
            self._tell("a copy between GPUs with the context of another one")
        super()._cuMemcpyPeerAsync(target, on, source, of, size, stream)

    # --- kernels ---

    def _cuLaunchKernelEx(self, config: Any, function: Any, parameters: int, extra: int) -> None:
        self._run(int(config.hStream), int(function), self._words(int(function), _POINTER.from_address(parameters)))

    def _cuLaunchKernel(self, function: Any, *rest: Any) -> None:
        self._run(int(rest[-3]), int(function), ())

    def _run(self, stream: int, function: int, words: Sequence[int]) -> None:
        self._look_at_kernel(function, words)
        if self._owners.get(stream) != self._current:
            self._tell(f"a kernel on a stream of {_named(self._owners.get(stream, _NO_GPU))}")
        self.kernels[self._current] += 1

    def _look_at_kernel(self, function: int, words: Sequence[int]) -> None:
        if self._owners[function] != self._current:
            self._tell(f"a kernel of {_named(self._owners[function])}")
        for word, letter in zip(words, self.formats.get(function, ""), strict=False):
            if word not in _ADDRESSES:
                continue
            block = self._block_at(word)
            if block is None:
                if letter == "Q":
                    self._tell("a kernel with the address of no memory")
            elif self._block_owners.get(block, self._current) != self._current:
                self._tell(f"a kernel with memory of {_named(self._block_owners[block])}")

    def _words(self, function: int, first: Any) -> list[int]:
        """The words that a kernel is given, which are one after the other."""
        address = ctypes.cast(first, _POINTER).value
        assert address is not None
        return list((ctypes.c_int64 * len(self.formats[function])).from_address(address))

    # --- what the compiled core calls by addresses ---

    def addresses(self) -> dict[str, int]:
        """Return the addresses of functions, by their names; they are of use as long as the process."""
        prototype = ctypes.CFUNCTYPE
        pointer = ctypes.POINTER(_POINTER)
        functions = {
            "cuLaunchKernelEx": LAUNCH_KERNEL(self._launch_by_address),
            "cuStreamIsCapturing": prototype(_INT, _POINTER, ctypes.POINTER(_INT))(lambda stream, status: 0),
            "cuStreamGetCaptureInfo_v3": prototype(_INT, *7 * [_POINTER])(self._tell_last),
            "cuGraphExecKernelNodeSetParams_v2": prototype(_INT, _POINTER, _POINTER, ctypes.POINTER(_NodeParams))(
                self._set_params
            ),
            "cuGraphLaunch": prototype(_INT, _POINTER, _POINTER)(self._launch_graph),
            "cuStreamBeginCapture_v2": prototype(_INT, _POINTER, _INT)(self._begin_capture),
            "cuStreamEndCapture": prototype(_INT, _POINTER, pointer)(self._end_capture),
            "cuGraphInstantiateWithFlags": prototype(_INT, pointer, _POINTER, ctypes.c_ulonglong)(self._instantiate),
            "cuGraphDestroy": prototype(_INT, _POINTER)(lambda graph: 0),
        }
        _kept.append(functions)
        return {name: ctypes.cast(function, _POINTER).value or 0 for name, function in functions.items()}

    def _launch_by_address(self, config: Any, function: int, parameters: Any, extra: Any) -> int:
        stream, words = config[0].stream, self._words(function, parameters[0])
        if stream not in self._captured:
            self._run(stream, function, words)
            return 0
        self._look_at_kernel(function, words)
        self._captured[stream].append(number := next(_numbers))
        self._nodes[number] = function, words
        return 0

    def _tell_last(self, stream: int, status: int, id: int, graph: int, last: int, edges: int, count: int) -> int:
        self._last[0] = self._captured[stream][-1]
        _POINTER.from_address(last).value = ctypes.addressof(self._last)
        ctypes.c_size_t.from_address(count).value = 1
        _INT.from_address(status).value = _IS_CAPTURED
        return 0

    def _begin_capture(self, stream: int, mode: int) -> int:
        if self._owners[stream] != self._current:
            self._tell(f"a capture of a stream of {_named(self._owners[stream])}")
        self._captured[stream] = []
        return 0

    def _end_capture(self, stream: int, graph: Any) -> int:
        graph[0] = handle = self._new_handle()
        self._captured[handle] = self._captured.pop(stream)
        return 0

    def _instantiate(self, executable: Any, graph: int, flags: int) -> int:
        executable[0] = handle = self._new_handle()
        self._captured[handle] = self._captured[graph]
        return 0

    def _set_params(self, executable: int, node: int, params: Any) -> int:
        function, _ = self._nodes[node]
        assert params[0].function == function
        self._nodes[node] = function, self._words(function, params[0].parameters[0])
        return 0

    def _launch_graph(self, executable: int, stream: int) -> int:
        self.graphs[self._current] += 1
        if self._owners[executable] != self._current:
            self._tell(f"a CUDA graph of {_named(self._owners[executable])}")
        for node in self._captured[executable]:
            self._run(stream, *self._nodes[node])
        return 0


_kept: list[Any] = []  # the core may call them as long as the process
_numbers = itertools.count(1)


def _named(index: int) -> str:
    return "no GPU" if index == _NO_GPU else f"cuda:{index}"


def install(patch: pytest.MonkeyPatch, count: int = 2) -> WatchedDriver:
    """Have the process see GPUs that are not there and are watched, until the test ends."""
    driver = fake_driver.install(patch, count, WatchedDriver)
    assert isinstance(driver, WatchedDriver)
    # The compiled core.
    addresses, make = driver.addresses() if _native.IS_COMPILED else {}, _native.launch
    for module in (launch_module, cuda_graphs):
        patch.setattr(module, "function_address", addresses.get)

    def made(address: int, function: int, *rest: Any) -> Any:
        driver.formats[function] = rest[3] + "q" * len(rest[4])  # that of the arguments, and the parameters
        return make(address, function, *rest)

    patch.setattr(_native, "launch", made)
    # And Python's.
    call = Launcher._call_of_binding

    def called(launcher: Launcher) -> Any:
        made = call(launcher)
        driver.formats[int(launcher._function.handle)] = launcher._format + "q" * len(launcher._params)
        return made

    patch.setattr(Launcher, "_call_of_binding", called)
    return driver
