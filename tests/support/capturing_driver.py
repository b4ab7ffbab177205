"""A pretended driver that captures: what is queued on a stream that captures goes to a graph, which may be launched.

As CUDA does, it draws a stream into a capture that waits for what is captured, and ends a capture in which the host
waits for the stream, asks about it, or has memory made on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .queued_driver import QueuedDriver


class _Graph(list[Callable[[], bool]]):
    """The operations of a graph, in order; `is_sound` tells whether nothing has ended its capture."""

    is_sound = True
    origin = 0


class CapturingDriver(QueuedDriver):
    """A driver whose streams can capture.

    Attributes
    ----------
    graphs
        All graphs, by their handles.
    launches
        How often graphs were launched.
    is_relaxed
        Whether the thread may make memory while a stream captures.
    """

    def __init__(self, real: Any, count: int = 1) -> None:
        super().__init__(real, count)
        self.graphs: dict[int, _Graph] = {}
        self.launches = 0
        self.is_relaxed = False
        self._capturing: dict[int, _Graph] = {}
        self._captured_events: dict[Any, _Graph | None] = {}

    def _queue(self, stream: Any, operation: Callable[[], bool]) -> None:
        graph = self._capturing.get(int(stream))
        if graph is None:
            super()._queue(stream, operation)
        else:
            graph.append(operation)

    def _cuThreadExchangeStreamCaptureMode(self, mode: Any) -> Any:
        modes = self._real.CUstreamCaptureMode
        before = self.is_relaxed
        self.is_relaxed = mode == modes.CU_STREAM_CAPTURE_MODE_RELAXED
        return modes.CU_STREAM_CAPTURE_MODE_RELAXED if before else modes.CU_STREAM_CAPTURE_MODE_GLOBAL

    def _cuStreamBeginCapture(self, stream: Any, mode: Any) -> Any:
        graph = _Graph()
        graph.origin = int(stream)
        self._capturing[int(stream)] = graph

    def _cuStreamEndCapture(self, stream: Any) -> Any:
        graph = self._capturing[int(stream)]
        assert graph.origin == int(stream)
        self._capturing = {other: found for other, found in self._capturing.items() if found is not graph}
        if not graph.is_sound:
            return self._real.CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
        handle = self._new_handle()
        self.graphs[handle] = graph
        return handle

    def _cuGraphInstantiate(self, graph: int, flags: int) -> int:
        handle = self._new_handle()
        self.graphs[handle] = self.graphs[graph]
        return handle

    def _cuGraphDestroy(self, graph: int) -> None:
        del self.graphs[graph]

    _cuGraphExecDestroy = _cuGraphDestroy

    def _cuGraphLaunch(self, executable: int, stream: Any) -> None:
        self.launches += 1
        for operation in self.graphs[executable]:
            self._queue(stream, operation)

    def _cuStreamIsCapturing(self, stream: Any) -> Any:
        states = self._real.CUstreamCaptureStatus
        graph = self._capturing.get(int(stream))
        if graph is None:
            return states.CU_STREAM_CAPTURE_STATUS_NONE
        if graph.is_sound:
            return states.CU_STREAM_CAPTURE_STATUS_ACTIVE
        return states.CU_STREAM_CAPTURE_STATUS_INVALIDATED

    def _refused(self, stream: Any) -> Any:
        """The error for what a stream cannot do while it captures."""
        graph = self._capturing.get(int(stream))
        if graph is None:
            return None
        graph.is_sound = False
        return self._real.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED

    def _cuStreamSynchronize(self, stream: Any) -> Any:
        return self._refused(stream) or super()._cuStreamSynchronize(stream)

    def _cuStreamQuery(self, stream: Any) -> Any:
        return self._refused(stream)

    def _cuMemAllocFromPoolAsync(self, size: int, pool: Any, stream: Any) -> Any:
        return self._refused(stream) or super()._cuMemAllocFromPoolAsync(size, pool, stream)

    def _cuMemFreeAsync(self, block: int, stream: Any) -> Any:
        return self._refused(stream) or super()._cuMemFreeAsync(block, stream)

    def _cuCtxSynchronize(self) -> Any:
        for graph in self._capturing.values():
            graph.is_sound = False
        if self._capturing:
            return self._real.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
        return super()._cuCtxSynchronize()

    # --- events ---

    def _cuEventRecord(self, event: int, stream: Any) -> None:
        graph = self._captured_events[event] = self._capturing.get(int(stream))
        if graph is None:
            super()._cuEventRecord(event, stream)

    def _cuStreamWaitEvent(self, stream: Any, event: int, flags: int) -> Any:
        graph, own = self._captured_events.get(event), self._capturing.get(int(stream))
        if graph is None and own is None:
            return super()._cuStreamWaitEvent(stream, event, flags)
        if graph is None or (own is not None and own is not graph):
            assert own is not None
            own.is_sound = False
            return self._real.CUresult.CUDA_ERROR_STREAM_CAPTURE_ISOLATION
        self._capturing[int(stream)] = graph
        return None

    def _cuEventQuery(self, event: int) -> Any:
        graph = self._captured_events.get(event)
        if graph is not None:
            graph.is_sound = False
            return self._real.CUresult.CUDA_ERROR_CAPTURED_EVENT
        return super()._cuEventQuery(event)
