"""Operations of which all types are known: compiled alone once, and recorded as ops or as calls of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy

from ..core.dtypes import DType
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.layout import Layout, Shape
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.ops.made import MadeOp
from ..kernels.custom.checks import check_loop, check_op
from ..kernels.custom.loop_text import Loop, MadeLoop
from ..kernels.custom.text import Operation, ops_of

_INT64 = numpy.dtype(numpy.int64)


class Prepared:
    """An operation on a device.

    Parameters
    ----------
    operation : Operation
        The texts and types.
    queue : Queue
        That of the device.

    Raises
    ------
    DeviceError
        If it does not compile.

    Attributes
    ----------
    ops : list
        The op of each output, with its loop.
    reads_index, reads_size, reads_outputs : bool
        As those of the operation.
    """

    __slots__ = ("ops", "queue", "reads_index", "reads_outputs", "reads_size")

    def __init__(self, operation: Operation, queue: Queue) -> None:
        self.queue = queue
        self.reads_index, self.reads_size = operation.reads_index, operation.reads_size
        self.reads_outputs = operation.reads_outputs
        arguments = operation.loop
        self.ops: list[tuple[MadeOp, tuple[DType, ...]]] = []
        for op, output in zip(ops_of(operation), operation.outputs, strict=True):
            loop = (*arguments, output.dtype)
            check_op(op, loop, queue.device, operation)
            self.ops.append((op, loop))

    def record(self, values: Sequence[Node], shape: Shape | None = None) -> list[Node]:
        """Return the outputs. `shape` is that of the values, broadcast, if it is known."""
        if self.reads_index or self.reads_size:
            if shape is None:
                shape = layout.broadcast_shapes(*[x.signature.shape for x in values])
            values = [*values]
            if self.reads_index:
                flat = graph.iota((prod(shape),), 0, self.queue)
                values.append(graph.view(flat, Layout(shape, layout.c_strides(shape), 0)))
            if self.reads_size:
                values.append(graph.typed_scalar(prod(shape), _INT64))
        return [graph.map_node(op, loop, values) for op, loop in self.ops]


class PreparedLoop:
    """An operation that indexes arrays by itself: a kernel of its own.

    Parameters
    ----------
    loop : Loop
        The texts and types.
    queue : Queue
        That of the device.
    """

    __slots__ = ("_made", "_queue")

    def __init__(self, loop: Loop, queue: Queue) -> None:
        self._made, self._queue = MadeLoop(loop), queue

    def record(self, values: Sequence[Node], shape: Shape, old: Sequence[Node] = (), size: int = 0) -> list[Node]:
        """Return the outputs; of several that are the same array, the first.

        Parameters
        ----------
        values
            The inputs.
        shape
            That of the loop.
        old
            The values of the outputs before; none if they are made. Without any input, they begin as zeros then. A
            value that no array has as a whole is pending: what is in memory may be overwritten there.
        size
            The number of elements, if all arrays are raw.

        Raises
        ------
        DeviceError
            If the operation does not compile.
        """
        made, queue = self._made, self._queue
        inputs, outputs = made.loop.inputs, made.loop.outputs
        if not values and not old:  # a call of the graph has arguments
            old = [graph.fill(graph.typed_scalar(0, p.dtype), shape, queue) for p in outputs]
        of_outputs = [x.signature.shape for x in old] or [shape] * len(outputs)
        shapes = [x.signature.shape if p.is_raw else shape for x, p in zip(values, inputs, strict=True)]
        ndims = tuple(map(len, (*shapes, *of_outputs)))
        check_loop(made, ndims, len(shape), queue.device)
        # A call takes its arguments from memory, scalars too.
        args = [
            graph.fill(x, where, queue) if x.signature.queue is None else graph.broadcast(x, where)
            for x, where in zip(values, shapes, strict=True)
        ]
        args += [x for x, p in zip(old, outputs, strict=False) if p.same_as < 0]
        results = tuple([(x, p.dtype) for x, p in zip(of_outputs, outputs, strict=True) if p.same_as < 0])
        options = made, size, len(results) if old else 0
        name = "elementwise_kernel" if made.is_plain else "elementwise_kernel_apart"
        if len(results) == 1:
            return [graph.library_call(name, options, args, results[0])]
        return graph.library_call_outputs(name, options, args, results)
