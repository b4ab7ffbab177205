"""Collective operations by NCCL, on the stream of the GPU: in order with all other work, with no wait on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from typing import Any

import numpy

from ..arrays.stream_order import consumer_waits, wait_for
from ..core.dtypes import DType
from ..core.errors import DeviceError
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.layout import Shape
from ..core.recording.array import ndarray, owner_of, wrap_leaf
from ..core.runtime import evaluate, memory
from ..core.runtime.device import Device, refuse_capture
from ..cuda.stream import Stream
from ..custom.raw import first_address, moved_address
from ..functions.creation import arrays as creation
from ..functions.manipulation.shape import swapaxes
from ..nvlib.nccl import Communicator, library, new_id
from .meeting import Meeting
from .nccl_operands import decoded, encoded
from .pieces import rows_of

_HIGHEST = -1000  # priority: the driver takes the highest that it has


class NcclTransport:
    """A communicator; see `Transport`."""

    def __init__(self, meeting: Meeting, device: Device) -> None:
        place = meeting.place
        self._rank, self._size, self._device = place.rank, place.size, device
        self._queue = evaluate.queue_of(device)
        if not device.has_stream:
            raise ValueError(f"backend 'nccl' is for GPUs, and the device is {device}")
        library()  # where it is missing, every process says so
        device.activate()  # who cannot use its GPU leaves the others here: NCCL would wait for it
        identity = meeting.exchange(new_id().hex() if place.rank == 0 else "")[0]
        self._communicator = meeting.together(
            lambda: Communicator(device, place.rank, place.size, bytes.fromhex(identity))
        )
        self._beside: Stream | None = None

    def empty(self, shape: Shape, dtype: DType) -> ndarray:
        """Return a new array for a result, in the GPU's memory whatever its size."""
        if 0 in shape:
            return creation.empty(shape, dtype, device=self._device)
        where = layout.c_layout(shape)
        buffer = memory.allocate(self._device, prod(shape) * dtype.itemsize)
        return wrap_leaf(graph.leaf(buffer, dtype, where, self._queue))

    def all_reduce(self, x: ndarray, out: Any, op: str) -> None:
        """See `Transport`."""
        self._reduce(x, out, op, self._communicator.all_reduce, True)

    def reduce_scatter(self, x: ndarray, out: Any, op: str) -> None:
        """See `Transport`."""
        self._reduce(x, out, op, self._communicator.reduce_scatter, False)

    def _reduce(self, x: ndarray, out: Any, op: str, call: Callable[..., None], in_place: bool) -> None:
        source = encoded(x, op)
        target = out if source is x else self.empty(out.shape, source.dtype)
        self._run(source, target, lambda start, to: call(start, to, target.size, target.dtype, op), in_place)
        if target is not out:
            out[...] = decoded(target, op, out.dtype)

    def all_gather(self, x: ndarray, out: Any) -> None:
        """See `Transport`."""
        self._run(x, out, lambda source, to: self._communicator.all_gather(source, to, x.nbytes))

    def broadcast(self, x: ndarray, out: Any, root: int) -> None:
        """See `Transport`."""
        self._run(x, out, lambda source, to: self._communicator.broadcast(source, to, x.nbytes, root), True)

    def all_to_all(self, x: ndarray, out: Any) -> None:
        """See `Transport`."""
        step = x.nbytes // self._size

        def swap(source: int, to: int) -> None:
            sent = [(rank, source + rank * step) for rank in range(self._size)]
            received = [(rank, to + rank * step) for rank in range(self._size)]
            self._communicator.send_and_receive(sent, received, step)

        self._run(x, out, swap)

    def all_to_all_in_pieces(self, pieces: Iterable[ndarray], out: Any) -> None:
        """See `Transport`. Pieces go on a stream of their own, for which the device waits at the end."""
        refuse_capture(self._device, "an operation of several processes")
        target = out if out.c_contiguous else self.empty(out.shape, out.dtype)
        stream = self._stream_beside()
        held: list[ndarray] = []  # until the device waits for the stream
        used: list[memory.Buffer] = []
        with memory.staying() as stay:
            try:
                for rows, piece in rows_of(pieces):
                    if out.size:
                        held.append(creation.ascontiguousarray(swapaxes(piece, 0, 1)))  # one message for each process
                        used += self._queue_piece(held[-1], target, rows.start, stream, stay)
            finally:
                with self._queue.lock, memory.unnoted(*used):
                    wait_for(self._device, stream)
        if target is not out:
            out[...] = target

    def _queue_piece(
        self, parts: ndarray, target: ndarray, first: int, stream: int, stay: memory.staying
    ) -> list[memory.Buffer]:
        """Queue a piece, with a part for each process, on a stream, behind the work that makes it.

        Its rows go where those of `target` begin with the first one. Return the buffers that stay until that is over.
        """
        nbytes = parts.nbytes // self._size
        row = nbytes // parts.shape[1]
        used: list[memory.Buffer] = []

        def swap(source: int, to: int) -> None:
            for x in (parts, target):
                used.append(x.memory().data)
                stay.add(used[-1])
            sent = [(rank, source + rank * nbytes) for rank in range(self._size)]
            received = [(rank, to + (rank * target.shape[1] + first) * row) for rank in range(self._size)]
            consumer_waits(self._device, stream)
            self._communicator.send_and_receive(sent, received, nbytes, stream)

        self._queue_work([parts, target], swap)
        return used

    def _stream_beside(self) -> int:
        """Return the handle of a stream beside that of the device, which the driver prefers.

        Messages are kernels, and would begin only when all blocks of the kernels before have.
        """
        if self._beside is None:
            with self._device:
                self._beside = Stream(non_blocking=True, priority=_HIGHEST)
        return self._beside.ptr

    def send(self, x: ndarray, to: int) -> None:
        """See `Transport`."""
        self._run(x, None, lambda source: self._communicator.send_and_receive([(to, source)], [], x.nbytes))

    def recv(self, out: Any, source: int) -> None:
        """See `Transport`."""
        self._run(None, out, lambda target: self._communicator.send_and_receive([], [(source, target)], out.nbytes))

    def sendrecv(self, x: ndarray, out: Any, to: int, source: int) -> None:
        """See `Transport`."""
        self._run(
            x,
            out,
            lambda first, second: self._communicator.send_and_receive([(to, first)], [(source, second)], x.nbytes),
        )

    def barrier(self) -> None:
        """See `Transport`."""
        word = creation.ones(1, numpy.int32, device=self._device)
        self.all_reduce(word, word, "max")
        evaluate.synchronize(self._device)
        self._communicator.check()

    def close(self) -> None:
        """See `Transport`. Operations that have failed are not waited for: they may never end."""
        try:
            self._communicator.check()
        except DeviceError:
            self._communicator.abort()
            raise
        evaluate.synchronize(self._device)
        self._communicator.close()

    def _run(self, source: ndarray | None, out: Any, call: Callable[..., None], in_place: bool = False) -> None:
        """Have NCCL work on arrays: `call` gets the addresses of elements in C order.

        Parameters
        ----------
        source, out
            The array that is read, and the one that is written to.
        call
            Queues the work.
        in_place
            Whether both may be one.
        """
        refuse_capture(self._device, "an operation of several processes")
        if not any(x.size for x in (source, out) if x is not None):
            return
        target = out if out is None or out.c_contiguous else self.empty(out.shape, out.dtype)
        if source is not None:
            overlaps = target is not None and owner_of(source) is owner_of(target)
            if not source.c_contiguous or (overlaps and not (in_place and source is target)):
                source = creation.array(source, order="C")
        self._queue_work([x for x in (source, target) if x is not None], call)
        if out is not None and target is not out:
            out[...] = target

    def _queue_work(self, arrays: list[ndarray], call: Callable[..., None]) -> None:
        """Queue work on arrays, after all that is pending."""
        queue = self._queue
        # Nothing may be recorded over the arrays between the computation of what reads them and the call.
        with queue.lock:
            if queue.pending:
                evaluate.flush(queue)
            if not self._device.has_spilled:
                addresses = [first_address(x, queue) for x in arrays]
                if None not in addresses:
                    call(*addresses)
                    return
            # What is moved to the GPU may find no room, and other memory moves away.
            buffers = [x.memory().data for x in arrays]
            with memory.staying(*buffers), memory.unnoted(*buffers):
                evaluate.flush(queue)  # what is cheaper to compute than to read waits until its operand has memory
                call(*[moved_address(x, queue) for x in arrays])
