"""Operations of which all types are known: compiled alone once, and recorded as ops of the graph."""

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
from ..kernels.custom.checks import check_op
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
