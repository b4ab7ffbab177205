"""`ElementwiseKernel`: an operation in C++ over the elements of arrays, recorded as an op of the graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import index
from typing import Any

from ..arrays.stream_order import ordered_with
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.layout import Shape
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.recording.array import ndarray, wrap
from ..core.recording.memo import MemoizedFunction
from ..kernels.custom.loop_text import Loop, LoopParameter
from ..kernels.custom.text import Operation, overwrites
from .outputs import NOT_GIVEN, GivenOutputs, write_outputs
from .parameters import (
    check_count,
    check_names,
    parsed,
    queue_of,
    types_for,
    values_of,
    variables,
)
from .prepared import Prepared, PreparedLoop

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
        if not self.out_params:
            raise ValueError(f"{name}: an operation has at least one output, which may be raw and is given then")
        self.operation, self.preamble, self.name = operation, preamble, name
        self.reduce_dims, self.no_return, self.return_tuple = reduce_dims, no_return, return_tuple
        self.loop_prep, self.after_loop, self.options = loop_prep, after_loop, tuple(options)
        self.__name__ = name
        self.params = params = (*self.in_params, *self.out_params)
        self.nin, self.nout, self.nargs = len(self.in_params), len(self.out_params), len(params)
        self._is_loop = bool(
            any(p.is_raw for p in params)
            or self.options
            or loop_prep
            or after_loop
            or _NEEDS_LOOP.search(preamble)
            or _NEEDS_LOOP.search(operation)
        )
        self._known: dict[tuple[Any, ...], Prepared | PreparedLoop] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return what the kernel was made from: what is prepared is prepared again by who unpickles it."""
        return {**self.__dict__, "_known": {}}

    def __call__(self, *args: Any, size: int | None = None, stream: Any = None, block_size: int | None = None) -> Any:
        """Record the operation over arrays and scalars.

        Parameters
        ----------
        *args
            The inputs, and then maybe the outputs, which are written to.
        size : int, optional
            The number of elements, if all arrays are raw. Raw outputs that are not given have as many, with no values
            before those that the operation writes.
        stream : object or int, optional
            A CUDA stream of another library, or its handle. The call is computed after what is on it, and before what
            comes to it later.
        block_size : int, optional
            Accepted: a kernel is launched in blocks of its own size.

        Returns
        -------
        ndarray, tuple of ndarray, or None
            The outputs.

        Raises
        ------
        TypeError
            If the arguments are too many or too few, or of other types.
        ValueError
            If they do not broadcast, are on two devices, or leave the number of elements open, or if a size is none.
        DeviceError
            If the operation does not compile.
        """
        if block_size is not None and block_size <= 0:
            raise ValueError(f"{self.name}: block_size is a positive number of threads, not {block_size}")
        if stream is not None:
            values = values_of(self.name, self.in_params, self.out_params, args)
            with ordered_with(stream, queue_of(self.name, values).device):
                return self(*args, size=size)
        arrays = args[len(self.in_params) :]
        if arrays:
            write_outputs(
                arrays,
                lambda: values_of(self.name, self.in_params, self.out_params, args),
                lambda values, given: self._results(values, size, given),
            )
        else:
            arrays = tuple(self._results(values_of(self.name, self.in_params, self.out_params, args), size))
        if self.no_return:
            return None
        return arrays[0] if len(arrays) == 1 and not self.return_tuple else arrays

    def _results(self, values: tuple[Node, ...], size: int | None, given: GivenOutputs = NOT_GIVEN) -> list[ndarray]:
        """Return the outputs as new arrays; `given` tells of outputs that are given."""
        # What has no array is computed on the default device, which the next call may find to be another one.
        if len(self.out_params) == 1 and (size is None or any(x.signature.queue is not None for x in values)):
            return [_memo(values, self, size, given)]
        return [wrap(value) for value in self._record(values, size, given)]

    def _record(self, args: Sequence[Node], size: int | None, given: GivenOutputs) -> list[Node]:
        """Return the outputs for some inputs, and maybe the values of outputs that are given."""
        queue = queue_of(self.name, args)
        kinds = (queue, given.same_as, *[x.signature.dtype for x in args])
        prepared = self._known.get(kinds)
        if prepared is None:
            prepared = self._known[kinds] = self._prepare(args, queue, given.same_as)
        values, made = [*args[: len(self.in_params)]], args[len(self.in_params) :]
        if isinstance(prepared, PreparedLoop):
            space = self._shape(values, made, size)
            if not made and size is None and any(p.is_raw for p in self.out_params):
                raise ValueError(f"{self.name}: the size of a raw output is open; give the output, or size")
            return prepared.record(values, space, given.values_before(made), size or 0)
        is_open = all(x.signature.queue is None for x in args)
        shape = self._shape(values, made, size) if size is not None or made or is_open else None
        if values and is_open and shape is not None:
            values[0] = graph.fill(values[0], shape, queue)
        return prepared.record([*args] if prepared.reads_outputs else values, shape)

    def _prepare(self, args: Sequence[Node], queue: Queue, same_as: tuple[int, ...]) -> Prepared | PreparedLoop:
        """Return the operation for some arguments, or the loop; `same_as` is that of outputs that are given."""
        inputs, outputs = self.in_params, self.out_params
        check_count(self.name, inputs, outputs, len(args))
        dtypes = [x.signature.dtype for x in args]
        made = dtypes[len(inputs) :]
        types = types_for(self.name, inputs, outputs, dtypes[: len(inputs)], made)
        if self._is_loop:
            parameters = [
                LoopParameter(p.name, dtype, p.is_raw, False) for p, dtype in zip(inputs, types.inputs, strict=True)
            ]
            same = same_as or (-1,) * len(outputs)
            parameters += [
                LoopParameter(p.name, dtype, p.is_raw, True, earlier)
                for p, dtype, earlier in zip(outputs, types.outputs, same, strict=True)
            ]
            texts = (self.operation, self.preamble, self.loop_prep, self.after_loop)
            return PreparedLoop(Loop(self.name, types.letters, tuple(parameters), *texts, self.options), queue)
        operation = Operation(
            self.name,
            types.letters,
            variables(inputs, types.inputs),
            variables(outputs, types.outputs),
            self.operation,
            self.preamble,
            bool(made) and self._reads_outputs(args[: len(inputs)]),
        )
        return Prepared(operation, queue)

    def _reads_outputs(self, given: Sequence[Node]) -> bool:
        """Return whether outputs that are given are arguments too: they may be read, or no input has a shape."""
        return all(x.signature.queue is None for x in given) or not all(
            overwrites(self.operation, self.preamble, p.name) for p in self.out_params
        )

    def _shape(self, values: Sequence[Node], made: Sequence[Node], size: int | None) -> Shape:
        """Return the shape of the loop: that of all arrays but raw ones, broadcast, or the number of elements.

        `values` are those of the inputs; those of outputs may follow.
        """
        shapes = [
            x.signature.shape
            for x, p in zip(values, self.in_params, strict=False)
            if not p.is_raw and x.signature.queue is not None
        ]
        written = [(p, x.signature.shape) for x, p in zip(made, self.out_params, strict=False) if not p.is_raw]
        shapes += [shape for _, shape in written]
        if size is not None:
            if shapes:
                raise ValueError(f"{self.name}: size is given where all arrays are raw, and some are not")
            if (count := index(size)) < 0:
                raise ValueError(f"{self.name}: size is the number of elements, not {size}")
            return (count,)
        if not shapes:
            raise ValueError(f"{self.name}: no array tells the number of elements; give size")
        loop = layout.broadcast_shapes(*shapes)
        for p, shape in written:
            if shape != loop:
                raise ValueError(f"{self.name}: the output {p.name} has shape {shape}, and the loop {loop}")
        return loop


def _record_one(
    args: tuple[Node, ...], kernel: ElementwiseKernel, size: int | None, given: GivenOutputs
) -> tuple[Node, None]:
    """Return the one output of a kernel, and that its dimensions are in C order."""
    (value,) = kernel._record(args, size, given)
    return value, None


_memo = MemoizedFunction(_record_one)
