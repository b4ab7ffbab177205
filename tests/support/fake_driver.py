"""A driver of GPUs that are not there: memory of the host, and kernels that do nothing but fail when a test says so."""

from __future__ import annotations

import ctypes
import gc
import itertools
import threading
from collections.abc import Callable
from typing import Any

import pytest

from gpunumpy.core.runtime import (
    async_copies,
    evaluate,
    host_copies,
    marks,
    memory,
    memory_copy,
    moves,
    page_locked,
    shared_blocks,
    spill,
)
from gpunumpy.core.runtime import device as module
from gpunumpy.core.runtime.device import CPU

MEMORY_BYTES = 1 << 30
# Calls that a context answers whatever has happened to it.
_ALWAYS_ANSWERED = ("cuGetErrorString", "cuCtxSetCurrent", "cuDeviceGetCount", "cuDeviceGet", "cuDriverGetVersion")


class FakeDriver:
    """In the place of `cuda.bindings.driver`, of which it has the constants.

    Attributes
    ----------
    count
        The number of GPUs.
    errors
        For each GPU whose context is lost, the name of the error that every call now returns.
    faulty
        The name of an error that the next kernel makes, as CUDA does: the launch succeeds and what follows fails.
    busy
        Whether events that were recorded have not happened yet.
    modules
        The handles of the modules that are loaded.
    launched
        The functions that were launched.
    work
        Called by every launch with the addresses of the arguments, to do what the kernel would.
    refuse
        Called with the name of every call; returns the name of the error that the call has instead of doing anything.
    calls
        The names of all calls.
    parameters
        The bytes of the parameters of kernels, by their names; the driver tells nothing of others, as older ones do.
    attributes
        Those of kernels, by the driver's names.
    globals
        The variables of modules: their memory, by their names.
    opened
        How many blocks of other processes are open.
    """

    def __init__(self, real: Any, count: int = 1) -> None:
        self._real = real
        self.count = count
        self.errors: dict[int, str] = {}
        self.faulty = ""
        self.busy = False
        self.modules: set[int] = set()
        self.launched: list[Any] = []
        self.work: Callable[[Any], None] | None = None
        self.refuse: Callable[[str], str | None] = lambda name: None
        self.calls: list[str] = []
        self.parameters: dict[str, tuple[int, ...]] = {}
        self.attributes: dict[str, int] = {}
        self.globals: dict[str, Any] = {}
        self.free_bytes = MEMORY_BYTES
        self.opened = 0
        self._current = 0
        self._blocks: dict[int, Any] = {}
        self._handles = itertools.count(101)
        self._lock = threading.Lock()  # without the GIL two threads could count to the same handle

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu") or not name[2].isupper() or isinstance(getattr(self._real, name, None), type):
            return getattr(self._real, name)
        answer = getattr(type(self), f"_{name}", None)

        def call(*args: Any) -> tuple[Any, ...]:
            self.calls.append(name)
            lost = self.errors.get(self._current)
            if lost and name not in _ALWAYS_ANSWERED:
                return (getattr(self._real.CUresult, lost), 0)
            refused = self.refuse(name)
            if refused:
                return (getattr(self._real.CUresult, refused), 0)
            result = answer(self, *args) if answer is not None else None
            if isinstance(result, self._real.CUresult):
                return (result, 0)
            values = () if result is None else result if isinstance(result, tuple) else (result,)
            return (self._real.CUresult.CUDA_SUCCESS, *values)

        return call

    def _new_handle(self, *_: Any) -> int:
        with self._lock:
            return next(self._handles)

    _cuDevicePrimaryCtxRetain = lambda self, device: 1 + device  # noqa: E731
    _cuStreamCreate = _cuEventCreate = _cuMemPoolCreate = _cuStreamEndCapture = _cuGraphInstantiate = _new_handle
    _cuStreamCreateWithPriority = _new_handle

    def _cuCtxGetStreamPriorityRange(self) -> tuple[int, int]:
        return 0, -5

    def _cuGetErrorString(self, error: Any) -> bytes:
        return f"what {error.name} means".encode()

    def _cuDriverGetVersion(self) -> int:
        return 13000

    def _cuDeviceGetCount(self) -> int:
        return self.count

    def _cuDeviceGet(self, index: int) -> int:
        return index

    def _cuDeviceGetAttribute(self, attribute: Any, device: int) -> int:
        known = {"COMPUTE_CAPABILITY_MAJOR": 9, "COMPUTE_CAPABILITY_MINOR": 0, "MAX_THREADS_PER_MULTIPROCESSOR": 2048}
        known |= {"MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 227 << 10, "MULTIPROCESSOR_COUNT": 132, "COMPUTE_MODE": 0}
        return known.get(attribute.name.removeprefix("CU_DEVICE_ATTRIBUTE_"), 1 << 17)

    def _cuDeviceGetName(self, length: int, device: int) -> bytes:
        return b"a GPU that is not there\0"

    def _cuDeviceTotalMem(self, device: int) -> int:
        return MEMORY_BYTES

    def _cuDeviceCanAccessPeer(self, *_: Any) -> int:
        return 0

    def _cuCtxSetCurrent(self, context: int) -> None:
        self._current = context - 1

    def _cuMemGetInfo(self) -> tuple[int, int]:
        return self.free_bytes, MEMORY_BYTES

    def _allocated(self, size: int) -> Any:
        if size > self.free_bytes:
            return self._real.CUresult.CUDA_ERROR_OUT_OF_MEMORY
        block = (ctypes.c_uint8 * max(size, 1))()
        self._blocks[ctypes.addressof(block)] = block
        return ctypes.addressof(block)

    def _cuMemAllocFromPoolAsync(self, size: int, *_: Any) -> Any:
        return self._allocated(size)

    def _cuMemHostAlloc(self, size: int, flags: int) -> Any:
        return self._allocated(size)

    def _cuMemAlloc(self, size: int) -> Any:
        return self._allocated(size)

    def _cuMemFree(self, block: int) -> None:
        del self._blocks[block]

    def _cuIpcGetMemHandle(self, block: int) -> Any:
        handle = self._real.CUipcMemHandle()
        ctypes.memmove(handle.getPtr(), block.to_bytes(64, "little"), 64)
        return handle

    def _cuIpcOpenMemHandle(self, handle: Any, flags: int) -> int:
        self.opened += 1
        return int.from_bytes(ctypes.string_at(handle.getPtr(), 64), "little")

    def _cuIpcCloseMemHandle(self, block: int) -> None:
        self.opened -= 1

    def _cuMemFreeAsync(self, block: int, stream: Any) -> None:
        del self._blocks[block]

    def _cuMemFreeHost(self, block: int) -> None:
        del self._blocks[block]

    def _cuMemHostGetDevicePointer(self, pointer: int, flags: int) -> int:
        return pointer

    def _cuMemcpyHtoDAsync(self, target: int, source: int, size: int, stream: Any) -> None:
        ctypes.memmove(target, source, size)

    _cuMemcpyDtoHAsync = _cuMemcpyDtoDAsync = _cuMemcpyHtoDAsync

    def _cuMemcpy2DAsync(self, copy: Any, stream: Any) -> None:
        target, source = int(copy.dstDevice), int(copy.srcDevice)
        assert copy.WidthInBytes <= min(copy.dstPitch, copy.srcPitch)
        for row in range(copy.Height):
            ctypes.memmove(target + row * copy.dstPitch, source + row * copy.srcPitch, copy.WidthInBytes)

    def _cuMemcpyPeerAsync(self, target: int, on: Any, source: int, of: Any, size: int, stream: Any) -> None:
        ctypes.memmove(target, source, size)

    def _cuMemsetD8Async(self, target: int, value: int, size: int, stream: Any) -> None:
        ctypes.memset(target, value, size)

    def _cuEventQuery(self, event: Any) -> Any:
        return self._real.CUresult.CUDA_ERROR_NOT_READY if self.busy else None

    _cuStreamQuery = _cuEventQuery

    def _cuStreamIsCapturing(self, stream: Any) -> Any:
        return self._real.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE

    def _cuThreadExchangeStreamCaptureMode(self, mode: Any) -> Any:
        return self._real.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL

    def _cuModuleLoadData(self, image: Any) -> Any:
        if len(image) > self.free_bytes:
            return self._real.CUresult.CUDA_ERROR_OUT_OF_MEMORY
        self.modules.add(handle := self._new_handle())
        return handle

    def _cuFuncGetAttribute(self, attribute: Any, function: Any) -> int:
        return self.attributes.get(attribute.name, 0)

    def _cuFuncSetAttribute(self, function: Any, attribute: Any, value: int) -> None:
        self.attributes[attribute.name] = value

    def _cuFuncGetParamInfo(self, function: Any, index: int) -> Any:
        sizes = self.parameters.get(function[1].decode())
        if sizes is None:
            return self._real.CUresult.CUDA_ERROR_NOT_SUPPORTED
        if index >= len(sizes):
            return self._real.CUresult.CUDA_ERROR_INVALID_VALUE
        return sum(sizes[:index]), sizes[index]

    def _cuModuleGetGlobal(self, module: int, name: bytes) -> Any:
        memory = self.globals.get(name.decode())
        if memory is None:
            return self._real.CUresult.CUDA_ERROR_NOT_FOUND
        return ctypes.addressof(memory), ctypes.sizeof(memory)

    def _cuPointerGetAttribute(self, attribute: Any, pointer: int) -> Any:
        known = any(start <= pointer < start + len(block) for start, block in self._blocks.items())
        return 0 if known else self._real.CUresult.CUDA_ERROR_INVALID_VALUE

    def _cuModuleUnload(self, handle: int) -> None:
        self.modules.remove(handle)

    def _cuModuleGetFunction(self, handle: int, name: bytes) -> tuple[int, bytes]:
        assert handle in self.modules
        return ((handle, name),)  # type: ignore[return-value]

    def _cuLaunchKernelEx(self, config: Any, *call: Any) -> None:
        self._launch(*call)

    def _cuLaunchKernel(self, function: Any, *rest: Any) -> None:
        self._launch(function, *rest[-2:])

    def _launch(self, function: Any, parameters: int, extra: int) -> None:
        assert function[0] in self.modules
        self.launched.append(function)
        if self.work is not None:
            self.work(ctypes.cast(parameters, ctypes.POINTER(ctypes.POINTER(ctypes.c_int64))))
        if self.faulty:
            self.errors[self._current], self.faulty = self.faulty, ""


def install(patch: pytest.MonkeyPatch, count: int = 1, kind: type[FakeDriver] = FakeDriver) -> FakeDriver:
    """Have the process see GPUs that are not there, as its default device too, until the test ends."""
    gc.collect()  # what is left of a real GPU's arrays goes to the real driver
    driver = kind(pytest.importorskip("cuda.bindings.driver"), count)
    patch.setattr("gpunumpy.kernels.cuda.tiers.TIER", "compiled")
    patch.delenv("GPUNUMPY_DEVICE", raising=False)
    patch.setattr(module, "_found_driver", module._Driver(driver, count, None))
    patch.setattr(module, "_default", None)
    patch.setattr(module, "_devices", {"cpu": CPU})
    patch.setattr(module, "_driver_objects", {})
    patch.setattr(moves, "_moves", {})  # a fork waits for all of them
    patch.setattr(async_copies, "_copies", {})  # later reads of the host's memory would look at them
    for table in (
        *(memory._pools, memory._zeroed_scratch, memory._index_error_words),
        *(memory_copy._stages, evaluate._states, host_copies._free_slots, marks._free_events),
        *(spill._stores, page_locked._free, shared_blocks._free, shared_blocks._opened, shared_blocks._staying_bytes),
    ):
        for key in list(table):
            if key is not CPU:
                patch.delitem(table, key)  # a real GPU has it again
    return driver
