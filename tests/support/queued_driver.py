"""A pretended driver whose streams run late: what is queued happens in any order that events and streams allow.

Copies and kernels read and write when a stream comes to them, which a random choice decides, at the latest where the
host waits. So a wait that is missing shows in values. Memory that is freed is overwritten, or given to others.
"""

from __future__ import annotations

import ctypes
import random
import re
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy

from .fake_driver import FakeDriver

# What a queued operation returns: whether it is done, and does not wait for an event.
_Operation = Callable[[], bool]


class QueuedDriver(FakeDriver):
    """A driver that runs copies, and kernels that fill, copy or add two arrays of float64, or an array and a number.

    Attributes
    ----------
    choice
        Decides the order.
    eagerness
        How many operations happen at most with each that is queued.
    slow_stream
        A stream that comes on only where nothing else can, if it is set.
    stopped_stream
        A stream that does not come on, if it is set: what waits for it fails.
    bytes_to_device, bytes_between_devices
        How many bytes copies from the host to a device, and between two devices, have had so far.
    """

    def __init__(self, real: Any, count: int = 1) -> None:
        super().__init__(real, count)
        self.choice = random.Random(0)
        self.eagerness = 3
        self.slow_stream: Any = None
        self.stopped_stream: Any = None
        self.bytes_to_device = 0
        self.bytes_between_devices = 0
        self._queues: defaultdict[Any, deque[_Operation]] = defaultdict(deque)
        self._recorded: defaultdict[Any, int] = defaultdict(int)  # how often each event was
        self._reached: set[tuple[Any, int]] = set()  # events, and which record of them
        self._pinned: dict[int, int] = {}  # blocks and their sizes
        self._free: defaultdict[int, list[int]] = defaultdict(list)
        self._sizes: dict[int, int] = {}
        self._texts: dict[int, str] = {}
        self._stream: Any = None  # of kernels
        self._lock = threading.RLock()

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if not name.startswith("cu") or isinstance(found, type):
            return found

        def call(*args: Any) -> Any:
            with self._lock:  # one thread at a time
                return found(*args)

        return call

    # --- what is queued ---

    def _queue(self, stream: Any, operation: _Operation) -> None:
        self._queues[int(stream)].append(operation)
        for _ in range(self.choice.randrange(self.eagerness + 1)):
            self._step()

    def _step(self) -> bool:
        stopped = None if self.stopped_stream is None else int(self.stopped_stream)
        streams = [stream for stream, queue in self._queues.items() if queue and stream != stopped]
        self.choice.shuffle(streams)
        streams.sort(key=lambda stream: stream == self.slow_stream)
        for stream in streams:
            if self._queues[stream][0]():
                self._queues[stream].popleft()
                return True
        return False

    def _run_until(self, is_over: Callable[[], bool]) -> None:
        while not is_over():
            assert self._step(), "streams wait for each other"

    def _cuStreamSynchronize(self, stream: Any) -> None:
        self._run_until(lambda: not self._queues[int(stream)])

    def _cuCtxSynchronize(self) -> None:
        self._run_until(lambda: not any(self._queues.values()))

    def _cuEventRecord(self, event: int, stream: Any) -> None:
        self._recorded[event] += 1
        number = self._recorded[event]

        def reach() -> bool:
            self._reached.add((event, number))
            return True

        self._queue(stream, reach)

    def _cuStreamWaitEvent(self, stream: Any, event: int, flags: int) -> None:
        number = self._recorded[event]
        self._queue(stream, lambda: not number or (event, number) in self._reached)

    def _cuEventSynchronize(self, event: int) -> None:
        number = self._recorded[event]
        self._run_until(lambda: not number or (event, number) in self._reached)

    def _cuEventQuery(self, event: int) -> Any:
        number = self._recorded[event]
        return None if not number or (event, number) in self._reached else self._real.CUresult.CUDA_ERROR_NOT_READY

    # --- memory ---

    def _cuMemAllocFromPoolAsync(self, size: int, pool: Any, stream: Any) -> Any:
        if self._free[size]:
            return self._free[size].pop()
        block = self._allocated(size)
        self._sizes[block] = size
        return block

    def _cuMemFreeAsync(self, block: int, stream: Any) -> None:
        self._free[self._sizes[block]].append(block)

    def _cuMemHostAlloc(self, size: int, flags: int) -> Any:
        block = self._allocated(size)
        self._pinned[block] = size
        return block

    def _cuMemFreeHost(self, block: int) -> None:
        ctypes.memset(block, 0x7F, self._pinned.pop(block))

    def _is_pinned(self, address: int) -> bool:
        return any(start <= address < start + size for start, size in self._pinned.items())

    def _cuPointerGetAttribute(self, attribute: Any, pointer: int) -> Any:
        if attribute == self._real.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE and self._is_pinned(pointer):
            return self._real.CUmemorytype.CU_MEMORYTYPE_HOST
        return super()._cuPointerGetAttribute(attribute, pointer)

    def _copy(self, target: int, source: int, size: int, stream: Any) -> None:
        def copy() -> bool:
            ctypes.memmove(target, source, size)
            return True

        self._queue(stream, copy)

    def _cuMemcpyHtoDAsync(self, target: int, source: int, size: int, stream: Any) -> None:
        self.bytes_to_device += size
        if not self._is_pinned(source):
            taken = ctypes.create_string_buffer(ctypes.string_at(source, size), size)
            source = ctypes.addressof(taken)
            self._queue(stream, lambda: bool(ctypes.memmove(target, source, taken._length_)))
            return
        self._copy(target, source, size, stream)

    def _cuMemcpyDtoHAsync(self, target: int, source: int, size: int, stream: Any) -> None:
        self._copy(target, source, size, stream)
        if not self._is_pinned(target):
            self._cuStreamSynchronize(stream)

    def _cuMemcpyDtoDAsync(self, target: int, source: int, size: int, stream: Any) -> None:
        self._copy(target, source, size, stream)

    def _cuMemcpyPeerAsync(self, target: int, on: Any, source: int, of: Any, size: int, stream: Any) -> None:
        assert on != of
        self.bytes_between_devices += size
        self._copy(target, source, size, stream)

    def _cuMemsetD8Async(self, target: int, value: int, size: int, stream: Any) -> None:
        self._queue(stream, lambda: bool(ctypes.memset(target, value, size)))

    # --- kernels ---

    def _cuModuleLoadData(self, image: bytes) -> Any:
        handle = super()._cuModuleLoadData(image)
        self._texts[handle] = image.decode()
        return handle

    def _cuLaunchKernel(self, function: Any, *rest: Any) -> None:
        self._stream = rest[-3]
        super()._cuLaunchKernel(function, *rest)

    def _cuLaunchKernelEx(self, config: Any, *call: Any) -> None:
        self._stream = config.hStream
        super()._cuLaunchKernelEx(config, *call)

    def _launch(self, function: Any, parameters: int, extra: int) -> None:
        handle, name = function
        self.launched.append(function)
        words = ctypes.cast(parameters, ctypes.POINTER(ctypes.POINTER(ctypes.c_int64)))
        text = self._texts[handle]
        declared = re.search(rf"{name.decode()}\((.*) a0, (.*) a1(, f64\*.* a2)?, long long", text)
        assert declared is not None, f"no kernel of one or two values: {re.findall(rf'{name.decode()}.*', text)}"
        count = 2 if declared[3] else 1
        operands = [self._operand(declared[k + 1], words[k]) for k in range(count)]
        result = self._values(words[count][0])

        def run() -> bool:
            size = min([result.size, *[x.size for x in operands if isinstance(x, numpy.ndarray)]])
            parts = [x[:size] if isinstance(x, numpy.ndarray) else x for x in operands]
            result[:size] = sum(parts)
            return True

        self._queue(self._stream, run)

    def _operand(self, declared: str, word: Any) -> Any:
        """A number, or the elements of an array."""
        if declared == "double":
            return ctypes.cast(word, ctypes.POINTER(ctypes.c_double))[0]
        return self._values(word[0])

    def _values(self, block: int) -> numpy.ndarray:
        return numpy.frombuffer((ctypes.c_double * (self._sizes[block] // 8)).from_address(block))
