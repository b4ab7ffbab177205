"""CUDA graphs of the kernels of plans, for the compiled core: see "CUDA graphs" in docs/design/kernels.md."""

from __future__ import annotations

from collections import deque
from typing import Any
from weakref import WeakSet, ref

from ...core import _native
from ...core.runtime import memory
from ...core.runtime.device import Device, driver, function_address
from ...core.runtime.memory import Buffer
from .dropped import destroy_dropped, dropped_on

MAX_LAUNCHES = 1 << 12  # of all graphs of a GPU: each takes 4 KB of the driver's memory on the GPU
MAX_WORKSPACE_BYTES = 1 << 25  # kernels over more take longer than their launches
_MIN_WORKSPACE_BYTES = 1 << 16
_FIRST_VERSION = 12030  # of the driver: 1000 times CUDA's
# What the core calls, in its order.
_FUNCTIONS = (
    *("cuStreamIsCapturing", "cuStreamGetCaptureInfo_v3"),
    *("cuGraphExecKernelNodeSetParams_v2", "cuGraphLaunch", "cuStreamBeginCapture_v2", "cuStreamEndCapture"),
    *("cuGraphInstantiateWithFlags", "cuGraphDestroy"),
)
_makers: WeakSet[CudaGraphs] = WeakSet()  # of two threads that meet a GPU first, each makes one, and one stays


class CudaGraphs:
    """Makes the CUDA graphs of a GPU; see `core.runtime.plan.GraphMaker`.

    All graphs share one workspace: they run in the order of the stream, and none finds anything in it.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.dropped = dropped_on(device)
        self._workspace: ref[Buffer] | None = None  # which goes with the last graph
        self._made: deque[ref[Any]] = deque()  # in the order in which they were made
        self._stream: Any = None
        self._is_usable: bool | None = None
        _makers.add(self)

    def workspace(self, nbytes: int) -> Buffer | None:
        """Return memory for the values that die inside of a plan; None if the plan is to have no graph."""
        if self._is_usable is None:
            self._is_usable = self._find_functions()
        if not self._is_usable or nbytes > MAX_WORKSPACE_BYTES:
            return None
        workspace = None if self._workspace is None else self._workspace()
        if workspace is None or workspace.nbytes < nbytes:
            workspace = memory.allocate_unless_short(self.device, max(nbytes, _MIN_WORKSPACE_BYTES))
            if workspace is not None:
                self._workspace = ref(workspace)
        return workspace

    def _find_functions(self) -> bool:
        """Tell the core the addresses of the driver's functions; return whether there are such."""
        if driver().cuDriverGetVersion()[1] < _FIRST_VERSION:
            return False
        addresses = [function_address(name) for name in _FUNCTIONS]
        known = [address for address in addresses if address is not None]
        return len(known) == len(addresses) and _native.set_graph_functions(known)

    def make(self, graph: Any) -> bool:
        """Have the driver make a graph, the core's object, of its launches; return whether it has."""
        destroy_dropped(self.device)
        if not self._make_room(graph.launch_count):
            return False
        self.device.activate()
        cuda, stream = driver(), self._stream
        self._stream = None
        if stream is None:  # of its own, which no work of others is ordered with
            error, stream = cuda.cuStreamCreate(cuda.CUstream_flags.CU_STREAM_NON_BLOCKING.value)
            if error:
                return False
        if not graph.make(int(stream)):
            cuda.cuStreamDestroy(stream)  # after an error it may be of no use any more
            return False
        self._stream = stream
        self._made.append(ref(graph))
        return True

    def _make_room(self, launches: int) -> bool:
        """Drop the graphs that were made first until another one has room; return whether it has."""
        alive = [graph for known in self._made if (graph := known()) is not None and graph.is_made]
        count = sum(graph.launch_count for graph in alive)
        while alive and count + launches > MAX_LAUNCHES:
            count -= alive[0].launch_count
            alive.pop(0).drop()
        self._made = deque(map(ref, alive))
        return count + launches <= MAX_LAUNCHES

    def drop_all(self) -> None:
        """Give back what the graphs keep."""
        for known in list(self._made):
            graph = known()
            if graph is not None:
                graph.drop()


def _drop_all(device: Device) -> None:
    for maker in list(_makers):
        if maker.device is device:
            maker.drop_all()
    destroy_dropped(device)


memory.out_of_memory_hooks.append(_drop_all)
