"""`ElementwiseKernel`: an operation in C++ over the elements of arrays, recorded as an op of the graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy

from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.layout import Layout, Shape
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.recording.array import ndarray, wrap
from ..core.recording.record import as_dtype, as_node
from ..kernels.custom.loop_text import Loop, LoopParameter
from ..kernels.custom.text import Operation, Variable, ops_of
from .checks import check_loop, check_op
from .parameters import Parameter, Types, check_count, check_names, common_queue, parsed, types_for

_INT64 = numpy.dtype(numpy.int64)
# What an op of the graph does not have: files to include, and the index of an element along each dimension.
_NEEDS_LOOP = re.compile(r"^[ \t]*#[ \t]*include(?![ \t]*<cupy/complex.cuh>)|\b_ind\s*\.\s*(?!size\b)", re.MULTILINE)


class ElementwiseKernel:
    """An operation on the elements of arrays, which are broadcast. See `cupy.ElementwiseKernel`.

    A call is recorded like any operation on arrays, and computed with what is around it in one kernel, on a GPU or on
    the CPU. There the host's C++ compiler makes a loop of it.

    Parameters
    ----------
    in_params, out_params : str
        Parameters with their types, such as ``"T x, float32 y"``. One letter stands for any type, the same wherever it
        is used; ``raw`` before a type has the operation index the array by itself: ``x[i]``.
    operation : str
        Statements in C++ that read the inputs and write the outputs. ``i`` is the position of the element, ``n`` and
        ``_ind.size()`` are the number of elements.
    name : str
        What messages call the kernel.
    reduce_dims : bool
        Accepted, and adds nothing: dimensions are always merged.
    preamble : str
        C++ before the operation.
    no_return : bool
        Whether a call returns None.
    return_tuple : bool
        Whether a call returns a tuple of one output too.
    loop_prep, after_loop : str
        Statements before and after the loop over the elements of each thread.
    options : tuple of str
        Options of NVRTC.

    Raises
    ------
    ValueError
        If a list of parameters cannot be read.

    Notes
    -----
    An operation with raw parameters, options, files to include, or statements outside of its loop is recorded too, and
    runs as a kernel of its own.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        *,
        loop_prep: str = "",
        after_loop: str = "",
        options: tuple[str, ...] = (),
    ) -> None:
        self.in_params, self.out_params = parsed(in_params), parsed(out_params)
        check_names(self.in_params, self.out_params)
        self.operation, self.preamble, self.name = operation, preamble, name
        self.reduce_dims, self.no_return, self.return_tuple = reduce_dims, no_return, return_tuple
        self.loop_prep, self.after_loop, self.options = loop_prep, after_loop, tuple(options)
        self.__name__ = name
        params = (*self.in_params, *self.out_params)
        self._is_loop = bool(
            any(p.is_raw for p in params)
            or self.options
            or loop_prep
            or after_loop
            or _NEEDS_LOOP.search(preamble)
            or _NEEDS_LOOP.search(operation)
        )
        self._known: dict[tuple[Any, ...], Types] = {}

    def __call__(self, *args: Any, size: int | None = None) -> Any:
        """Record the operation over arrays and scalars.

        Parameters
        ----------
        *args
            The inputs, and then maybe the outputs, which are written to.
        size : int, optional
            The number of elements, if all arrays are raw.

        Returns
        -------
        ndarray, tuple of ndarray, or None
            The outputs.

        Raises
        ------
        TypeError
            If the arguments are too many or too few, or of other types.
        ValueError
            If they do not broadcast, are on two devices, or leave the number of elements open.
        DeviceError
            If the operation does not compile.
        """
        inputs, outputs = self.in_params, self.out_params
        check_count(self.name, len(inputs), len(outputs), len(args))
        given, made = args[: len(inputs)], args[len(inputs) :]
        for parameter, x in zip(outputs, made, strict=False):
            if not isinstance(x, ndarray):
                raise TypeError(f"{self.name}: the output {parameter.name} is an array, not {type(x).__name__!r}")
        key = tuple([x._node.signature.dtype if isinstance(x, ndarray) else None for x in args])
        types = self._known.get(key)
        if types is None:
            types = self._known[key] = types_for(self.name, inputs, outputs, given, made)
        queue = common_queue(self.name, args)
        record = self._record_loop if self._is_loop else self._record_ops
        results = record(types, given, made, queue, size)
        if made:
            for x, value in zip(made, results, strict=True):
                x.assign(value)
        arrays = made or tuple([wrap(value) for value in results])
        if self.no_return:
            return None
        return arrays[0] if len(arrays) == 1 and not self.return_tuple else arrays

    def _record_ops(
        self, types: Types, given: Sequence[Any], made: Sequence[ndarray], queue: Queue, size: int | None
    ) -> list[Node]:
        """Return the outputs as ops of the graph."""
        operation = Operation(
            self.name,
            types.letters,
            tuple([Variable(p.name, dtype) for p, dtype in zip(self.in_params, types.inputs, strict=True)]),
            tuple([Variable(p.name, dtype) for p, dtype in zip(self.out_params, types.outputs, strict=True)]),
            self.operation,
            self.preamble,
            bool(made),
        )
        values = [_value(x, dtype, queue) for x, dtype in zip(given, types.inputs, strict=True)]
        values += [x.value() for x in made]
        shape = self._shape(values, [*self.in_params, *self.out_params], made, size)
        return record_ops(operation, values, shape, queue)

    def _record_loop(
        self, types: Types, given: Sequence[Any], made: Sequence[ndarray], queue: Queue, size: int | None
    ) -> list[Node]:
        """Return the outputs as those of a kernel of its own."""
        inputs, outputs = self.in_params, self.out_params
        values = [_value(x, dtype, queue) for x, dtype in zip(given, types.inputs, strict=True)]
        old = [x.value() for x in made]
        shape = self._shape([*values, *old], [*inputs, *outputs], made, size)
        if not made and any(p.is_raw for p in outputs):
            raise ValueError(f"{self.name}: the size of a raw output is open; give the output")
        parameters = [
            LoopParameter(p.name, dtype, p.is_raw, False) for p, dtype in zip(inputs, types.inputs, strict=True)
        ]
        parameters += [
            LoopParameter(p.name, dtype, p.is_raw, True, bool(made))
            for p, dtype in zip(outputs, types.outputs, strict=True)
        ]
        texts = (self.operation, self.preamble, self.loop_prep, self.after_loop)
        whole = prod(shape) if all(p.is_raw for p in parameters) else 0
        loop = Loop(self.name, types.letters, tuple(parameters), *texts, self.options, whole)
        # A call takes its arguments from memory, scalars too.
        values = [graph.fill(x, (), queue) if x.signature.queue is None else x for x in values]
        values = [x if p.is_raw else graph.broadcast(x, shape) for x, p in zip(values, inputs, strict=True)]
        results = tuple([(x.signature.shape, x.signature.dtype) for x in old]) or tuple(
            [(shape, dtype) for dtype in types.outputs]
        )
        ndims = [len(x.signature.shape) for x in values] + [len(made) for made, _ in results]
        check_loop(loop, tuple(ndims), len(shape), queue.device)
        return graph.library_call_outputs("elementwise_kernel", (loop,), [*values, *old], results)

    def _shape(
        self, values: Sequence[Node], parameters: Sequence[Parameter], made: Sequence[ndarray], size: int | None
    ) -> Shape:
        """Return the shape of the loop: that of all arrays but raw ones, broadcast, or the number of elements."""
        arrays = [
            x.signature.shape
            for x, p in zip(values, parameters, strict=False)
            if not p.is_raw and x.signature.queue is not None
        ]
        if size is not None:
            if arrays:
                raise ValueError(f"{self.name}: size is given where all arrays are raw, and some are not")
            return (int(size),)
        if not arrays:
            raise ValueError(f"{self.name}: no array tells the number of elements; give size")
        shape = layout.broadcast_shapes(*arrays)
        for x, p in zip(made, self.out_params, strict=False):
            if not p.is_raw and x.shape != shape:
                raise ValueError(f"{self.name}: the output {p.name} has shape {x.shape}, and the loop {shape}")
        return shape


def record_ops(operation: Operation, values: Sequence[Node], shape: Shape, queue: Queue) -> list[Node]:
    """Return the outputs of an operation as ops of the graph. It is compiled alone first, if it is new."""
    ops, loop = ops_of(operation), operation.loop
    for op, output in zip(ops, operation.outputs, strict=True):
        check_op(op, (*loop, output.dtype), queue.device, operation)
    args = list(values)
    if operation.reads_index:
        flat = graph.iota((prod(shape),), 0, queue)
        args.append(graph.view(flat, Layout(shape, layout.c_strides(shape), 0)))
    if operation.reads_size:
        args.append(graph.typed_scalar(prod(shape), _INT64))
    return [graph.map_node(op, (*loop, x.dtype), args) for op, x in zip(ops, operation.outputs, strict=True)]


def _value(x: Any, dtype: Any, queue: Queue) -> Node:
    """Return the value of an input. A scalar takes the type of its parameter."""
    return x.value() if isinstance(x, ndarray) else as_dtype(as_node(x, queue), dtype)
