"""`ReductionKernel`: a reduction in C++ along axes of arrays, recorded as a reduction of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import dtypes
from ..core.dtypes import DType
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.layout import Shape
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.recording.array import ndarray, wrap
from ..core.recording.record import as_dtype, as_node, reshaped
from ..functions.reductions.reductions import axes_of
from ..kernels.custom.reduction_text import ReductionTexts, reduction_of
from ..kernels.custom.text import Operation, Variable, user_type
from .checks import check_reduction
from .elementwise import record_ops
from .parameters import Parameter, Types, check_count, check_names, common_queue, parsed, types_for

# Types of C++ that are those of dtypes.
_DTYPES_OF_C = {
    "bool": "bool",
    "char": "int8",
    "signed char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "long long": "int64",
    "ptrdiff_t": "int64",
    "unsigned char": "uint8",
    "unsigned short": "uint16",
    "unsigned int": "uint32",
    "unsigned": "uint32",
    "unsigned long": "uint64",
    "unsigned long long": "uint64",
    "size_t": "uint64",
    "float": "float32",
    "double": "float64",
    "complex<float>": "complex64",
    "complex<double>": "complex128",
}


class ReductionKernel:
    """A reduction of arrays along axes. See `cupy.ReductionKernel`.

    A call is recorded like any reduction, and computed with what is around it in one kernel, on a GPU or on the CPU.
    There the host's C++ compiler makes a loop of it.

    Parameters
    ----------
    in_params, out_params : str
        Parameters with their types, as for `ElementwiseKernel`. None is raw.
    map_expr : str
        An expression in C++ of the inputs: what an element contributes.
    reduce_expr : str
        An expression of ``a`` and ``b``, two partial results: an operation whose operands may be exchanged and grouped.
    post_map_expr : str
        Statements that write the outputs, of the result ``a``.
    identity : str or number
        The result of no elements, with which a reduction begins.
    name : str
        What messages call the kernel.
    reduce_type : str, optional
        The type of ``a`` and ``b``: one of C++, a dtype, a letter of the parameters, or a type that the preamble
        defines, of at most 48 bytes. By default that of the first output.
    reduce_dims : bool
        Accepted, and adds nothing: dimensions are always merged.
    preamble : str
        C++ before all expressions.
    options : tuple of str
        Must be empty: a reduction is compiled with what is around it.

    Raises
    ------
    ValueError
        If a list of parameters cannot be read, or has raw parameters, or there are options.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: Any,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: tuple[str, ...] = (),
    ) -> None:
        self.in_params, self.out_params = parsed(in_params), parsed(out_params)
        check_names(self.in_params, self.out_params)
        if any(p.is_raw for p in (*self.in_params, *self.out_params)):
            raise ValueError(f"{name}: a reduction has no raw parameters")
        if not self.in_params or not self.out_params:
            raise ValueError(f"{name}: a reduction has at least one input and one output")
        if options:
            raise ValueError(f"{name}: a reduction takes no options of the compiler, as it is compiled with others")
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.identity = "" if identity is None else str(identity)
        self.name, self.reduce_type, self.reduce_dims, self.preamble = name, reduce_type, reduce_dims, preamble
        self.options = tuple(options)
        self.__name__ = name

    def __call__(self, *args: Any, out: ndarray | None = None, axis: Any = None, keepdims: bool = False) -> Any:
        """Record the reduction of arrays, which are broadcast.

        Parameters
        ----------
        *args
            The inputs, and then maybe the outputs, which are written to.
        out : ndarray, optional
            The output, if it is not among `args`.
        axis : int or tuple of int, optional
            The axes to reduce. By default all.
        keepdims : bool, optional
            Whether the result has the reduced axes, of length 1.

        Returns
        -------
        ndarray or tuple of ndarray
            The outputs.

        Raises
        ------
        TypeError
            If the arguments are too many or too few, or of other types.
        ValueError
            If they do not broadcast or are on two devices, or if there is nothing to reduce and no identity.
        DeviceError
            If an expression does not compile.
        """
        inputs, outputs = self.in_params, self.out_params
        if out is not None:
            args = (*args, out)
        check_count(self.name, len(inputs), len(outputs), len(args))
        given, made = args[: len(inputs)], args[len(inputs) :]
        for parameter, x in zip(outputs, made, strict=False):
            if not isinstance(x, ndarray):
                raise TypeError(f"{self.name}: the output {parameter.name} is an array, not {type(x).__name__!r}")
        types = types_for(self.name, inputs, outputs, given, made)
        queue = common_queue(self.name, args)
        values = [
            x.value() if isinstance(x, ndarray) else as_dtype(as_node(x, queue), dtype)
            for x, dtype in zip(given, types.inputs, strict=True)
        ]
        shape = layout.broadcast_shapes(*[x.signature.shape for x in values])
        axes = axes_of(axis, len(shape))
        final = tuple([1 if d in axes else n for d, n in enumerate(shape) if keepdims or d not in axes])
        for parameter, x in zip(outputs, made, strict=False):
            if x.shape != final:
                raise ValueError(f"{self.name}: the output {parameter.name} has shape {x.shape}, the result {final}")
        results = self._record(types, values, shape, axes, final, queue)
        if made:
            for x, value in zip(made, results, strict=True):
                x.assign(value)
        arrays = made or tuple([wrap(value) for value in results])
        return arrays[0] if len(arrays) == 1 else arrays

    def _record(
        self, types: Types, values: Sequence[Node], shape: Shape, axes: tuple[int, ...], final: Shape, queue: Queue
    ) -> list[Node]:
        """Return the values of the outputs."""
        is_empty = any(shape[d] == 0 for d in axes)
        if is_empty and not self.identity:
            raise ValueError(f"{self.name}: there are no elements to reduce, and the kernel has no identity")
        between, c_type = self._reduce_type(types)
        named = (*types.letters, *_names_of_types(types, between))
        outputs = _variables(self.out_params, types.outputs)
        if between is None:
            return self._record_states(named, types, values, axes, final, queue, c_type)
        if is_empty:
            start = graph.fill(graph.typed_scalar(0, between), final, queue)
            reduced = self._mapped(
                named, (Variable("_unused", between),), self.identity, between, [start], final, queue
            )
        else:
            mapped = self._mapped(
                named, _variables(self.in_params, types.inputs), self.map_expr, between, values, shape, queue
            )
            texts = ReductionTexts(self.name, named, c_type, self.reduce_expr, self.identity, self.preamble)
            loop = (between, between)
            op = reduction_of(texts, loop)
            check_reduction(op, loop, queue.device, texts)
            if not axes:  # every element is reduced alone
                mapped, axes = reshaped(mapped, (*shape, 1)), (len(shape),)
            reduced = reshaped(graph.reduce(op, loop, axes, (mapped,)), final)
        post = Operation(self.name, named, (Variable("a", between),), outputs, self.post_map_expr, self.preamble)
        return record_ops(post, [reduced], final, queue)

    def _mapped(
        self,
        named: tuple[tuple[str, DType], ...],
        inputs: tuple[Variable, ...],
        expression: str,
        between: DType,
        values: Sequence[Node],
        shape: Shape,
        queue: Queue,
    ) -> Node:
        """Return an expression of values as an op, of the type of partial results."""
        result = (Variable("_value", between),)
        operation = Operation(self.name, named, inputs, result, f"_value = ({expression})", self.preamble)
        (node,) = record_ops(operation, values, shape, queue)
        return node

    def _record_states(
        self,
        named: tuple[tuple[str, DType], ...],
        types: Types,
        values: Sequence[Node],
        axes: tuple[int, ...],
        final: Shape,
        queue: Queue,
        c_type: str,
    ) -> list[Node]:
        """Return the outputs of a reduction whose partial results have a type of the preamble."""
        if len(values) > 1:
            raise ValueError(
                f"{self.name}: with the type {self.reduce_type!r}, which is no dtype, a reduction has one input"
            )
        ((parameter,), (value,), (dtype,)) = self.in_params, values, types.inputs
        shape = value.signature.shape
        if not axes:
            value, axes = reshaped(value, (*shape, 1)), (len(shape),)
        results = []
        outputs = _variables(self.out_params, types.outputs)
        for output in outputs:
            texts = ReductionTexts(
                *(self.name, named, c_type, self.reduce_expr, self.identity, self.preamble),
                *(parameter.name, self.map_expr, outputs, self.post_map_expr, output.name),
            )
            loop = (dtype, output.dtype)
            op = reduction_of(texts, loop)
            check_reduction(op, loop, queue.device, texts)
            results.append(reshaped(graph.reduce(op, loop, axes, (value,)), final))
        return results

    def _reduce_type(self, types: Types) -> tuple[DType | None, str]:
        """Return the dtype of partial results, None if they have a type of the preamble; and the type in C++."""
        name = self.reduce_type or self.out_params[0].type_name
        letters = dict(types.letters)
        known = _DTYPES_OF_C.get(" ".join(name.replace("thrust::", "").split()), name)
        dtype = letters.get(name)
        if dtype is None and known in dtypes.NAMES:
            dtype = dtypes.check(known)
        return dtype, name if dtype is None else user_type(dtype)


def _variables(parameters: Sequence[Parameter], found: Sequence[DType]) -> tuple[Variable, ...]:
    return tuple([Variable(p.name, dtype) for p, dtype in zip(parameters, found, strict=True)])


def _names_of_types(types: Types, between: DType | None) -> list[tuple[str, DType]]:
    """Return the names that CuPy has for the types of inputs, outputs and partial results."""
    named = [(f"_type_in{k}_raw", dtype) for k, dtype in enumerate(types.inputs)]
    named += [(f"_type_out{k}_raw", dtype) for k, dtype in enumerate(types.outputs)]
    return named if between is None else [*named, ("_type_reduce", between)]
