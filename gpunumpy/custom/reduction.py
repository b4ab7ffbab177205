"""`ReductionKernel`: a reduction in C++ along axes of arrays, recorded as a reduction of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..arrays.stream_order import ordered_with
from ..core import dtypes
from ..core.dtypes import DType
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.node import Node
from ..core.graph.queue import Queue
from ..core.ops.made import MadeReduction
from ..core.recording.array import ndarray, wrap
from ..core.recording.memo import MemoizedFunction
from ..core.recording.record import reshaped
from ..functions.reductions.reductions import axes_of
from ..kernels.custom.checks import check_reduction
from ..kernels.custom.loop_text import Loop, LoopParameter
from ..kernels.custom.reduction_text import ReductionTexts, reduction_of
from ..kernels.custom.text import Operation, Variable, macros_of, names, user_type
from .outputs import NOT_GIVEN, GivenOutputs, write_outputs
from .parameters import (
    Types,
    check_count,
    check_names,
    parsed,
    queue_of,
    types_for,
    values_of,
    variables,
)
from .prepared import Prepared, PreparedLoop

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


class _Steps(NamedTuple):
    """A reduction of which all types are known, as what is recorded.

    Attributes
    ----------
    map
        The operation on elements; None if the reductions map them.
    reductions
        The reductions of the graph with their loops: one, or one for each output if there is no `finish`.
    finish
        The operation on the result; None if the reductions make outputs.
    start
        The operation that makes the identity; None if there is none.
    """

    map: Prepared | PreparedLoop | None
    reductions: list[tuple[MadeReduction, tuple[DType, DType]]]
    finish: Prepared | PreparedLoop | None
    start: Prepared | None


class ReductionKernel:
    """A reduction of arrays along axes. See `cupy.ReductionKernel`.

    A call is recorded like any reduction, and computed with what is around it in one kernel, on a GPU or on the CPU.
    There the host's C++ compiler makes a loop of it.

    Parameters
    ----------
    in_params, out_params : str
        Parameters with their types, as for `ElementwiseKernel`. `map_expr` and `post_map_expr` index raw ones by
        themselves: ``table[x]``.
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
        Options of NVRTC that define macros, ``"-DN=3"``, or name a standard up to C++17: a reduction is compiled with
        what is around it.

    Raises
    ------
    ValueError
        If a list of parameters cannot be read, all inputs are raw, or there are other options.

    Notes
    -----
    Expressions with raw parameters are kernels of their own, before and after the reduction.
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
        if not self.in_params or not self.out_params:
            raise ValueError(f"{name}: a reduction has at least one input and one output")
        if all(p.is_raw for p in self.in_params):
            raise ValueError(f"{name}: all inputs are raw, so none tells what is reduced")
        self.params = (*self.in_params, *self.out_params)
        self.nin, self.nout, self.nargs = len(self.in_params), len(self.out_params), len(self.params)
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.identity = "" if identity is None else str(identity)
        self.name, self.reduce_type, self.reduce_dims, self.preamble = name, reduce_type, reduce_dims, preamble
        self.options = tuple(options)
        macros = macros_of(self.options)
        self._preamble = f"{macros}#line 1\n{preamble}" if macros else preamble
        self.__name__ = name
        self._known: dict[tuple[Any, ...], _Steps] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return what the kernel was made from: what is prepared is prepared again by who unpickles it."""
        return {**self.__dict__, "_known": {}}

    def __call__(
        self, *args: Any, out: ndarray | None = None, axis: Any = None, keepdims: bool = False, stream: Any = None
    ) -> Any:
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
        stream : object or int, optional
            A CUDA stream of another library, or its handle. The call is computed after what is on it, and before what
            comes to it later.

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
        if out is not None:
            if len(args) > len(self.in_params):
                raise ValueError(f"{self.name}: out is given twice, by position and by name")
            args = (*args, out)
        if stream is not None:
            values = values_of(self.name, self.in_params, self.out_params, args)
            with ordered_with(stream, queue_of(self.name, values).device):
                return self(*args, axis=axis, keepdims=keepdims)
        arrays = args[len(self.in_params) :]
        static = tuple(axis) if isinstance(axis, list) else axis, bool(keepdims)
        if arrays:
            write_outputs(
                arrays,
                lambda: values_of(self.name, self.in_params, self.out_params, args),
                lambda values, given: self._results(values, *static, given),
            )
        else:
            arrays = tuple(
                self._results(values_of(self.name, self.in_params, self.out_params, args), *static, NOT_GIVEN)
            )
        return arrays[0] if len(arrays) == 1 else arrays

    def _results(
        self, values: tuple[Node, ...], axis: Any, keepdims: bool, given: GivenOutputs = NOT_GIVEN
    ) -> list[ndarray]:
        """Return the outputs as new arrays; `given` tells of outputs that are given."""
        if len(self.out_params) == 1:
            return [_memo(values, self, axis, keepdims, given)]
        return [wrap(value) for value in self._record(values, axis, keepdims, given)]

    def _record(self, args: Sequence[Node], axis: Any, keepdims: bool, given: GivenOutputs) -> list[Node]:
        """Return the outputs for some inputs, and maybe the values of outputs that are given."""
        queue = queue_of(self.name, args)
        kinds = (queue, given.same_as, *[x.signature.dtype for x in args])
        steps = self._known.get(kinds)
        if steps is None:
            steps = self._known[kinds] = self._prepare(args, queue, given.same_as)
        values, made = [*args[: len(self.in_params)]], args[len(self.in_params) :]
        if all(x.signature.queue is None for x in values):
            raise ValueError(f"{self.name}: no array tells the number of elements")
        shape = layout.broadcast_shapes(
            *[x.signature.shape for x, p in zip(values, self.in_params, strict=True) if not p.is_raw]
        )
        raw = [x for x, p in zip(values, self.in_params, strict=True) if p.is_raw]
        axes = axes_of(axis, len(shape))
        final = tuple([1 if d in axes else n for d, n in enumerate(shape) if keepdims or d not in axes])
        if not made and any(p.is_raw for p in self.out_params):
            raise ValueError(f"{self.name}: the size of a raw output is open; give the output")
        for parameter, x in zip(self.out_params, made, strict=False):
            if not parameter.is_raw and x.signature.shape != final:
                raise ValueError(
                    f"{self.name}: the output {parameter.name} has shape {x.signature.shape}, the result {final}"
                )
        if any(shape[d] == 0 for d in axes):
            if steps.start is None:
                raise ValueError(f"{self.name}: there are no elements to reduce, and the kernel has no identity")
            unread = graph.fill(graph.typed_scalar(0, steps.reductions[0][1][0]), final, queue)
            reduced = steps.start.record([unread], final)
        else:
            if steps.map is not None:
                values = steps.map.record(values, shape)
            if not axes:  # every element is reduced alone
                values, axes = [reshaped(values[0], (*shape, 1))], (len(shape),)
            reduced = [reshaped(graph.reduce(op, loop, axes, values), final) for op, loop in steps.reductions]
        if steps.finish is None:
            return reduced
        if isinstance(steps.finish, PreparedLoop):
            return steps.finish.record([*reduced, *raw], final, given.values_before(made))
        return steps.finish.record(reduced, final)

    def _prepare(self, args: Sequence[Node], queue: Queue, same_as: tuple[int, ...]) -> _Steps:
        """Return the steps for some arguments; `same_as` is that of outputs that are given."""
        inputs, outputs = self.in_params, self.out_params
        check_count(self.name, inputs, outputs, len(args))
        dtypes = [x.signature.dtype for x in args]
        types = types_for(self.name, inputs, outputs, dtypes[: len(inputs)], dtypes[len(inputs) :])
        between, c_type = self._reduce_type(types)
        letters = (*types.letters, *_names_of_types(types, between))
        texts = ReductionTexts(self.name, letters, c_type, self.reduce_expr, self.identity, self._preamble)
        results = variables(outputs, types.outputs)
        if between is None:
            return self._steps_of_states(texts, types, results, queue)

        def prepared(read: tuple[Variable, ...], written: tuple[Variable, ...], text: str) -> Prepared:
            return Prepared(Operation(self.name, letters, read, written, text, self._preamble), queue)

        def prepared_loop(parameters: Sequence[LoopParameter], text: str) -> PreparedLoop:
            return PreparedLoop(Loop(self.name, letters, tuple(parameters), text, self._preamble, "", "", ()), queue)

        mapped = (Variable("_value", between),)
        loop = (between, between)
        read = [LoopParameter(p.name, dtype, p.is_raw, False) for p, dtype in zip(inputs, types.inputs, strict=True)]
        raw = [p for p in read if p.is_raw]
        same = same_as or (-1,) * len(outputs)
        written = [
            LoopParameter(p.name, dtype, p.is_raw, True, earlier)
            for p, dtype, earlier in zip(outputs, types.outputs, same, strict=True)
        ]
        map_text = f"_value = ({self.map_expr})"
        map_step = (
            prepared_loop([*read, LoopParameter("_value", between, False, True)], map_text)
            if raw
            else prepared(variables(inputs, types.inputs), mapped, map_text)
        )
        finish = (
            prepared_loop([LoopParameter("a", between, False, False), *raw, *written], self.post_map_expr)
            if any(names(self.post_map_expr, p.name) for p in raw) or any(p.is_raw for p in outputs)
            else prepared((Variable("a", between),), results, self.post_map_expr)
        )
        return _Steps(
            map_step,
            [(_checked(texts, loop, queue), loop)],
            finish,
            prepared((Variable("_unread", between),), mapped, f"_value = ({self.identity})") if self.identity else None,
        )

    def _steps_of_states(
        self, texts: ReductionTexts, types: Types, results: tuple[Variable, ...], queue: Queue
    ) -> _Steps:
        """Return the steps of a reduction whose partial results have a type of the preamble."""
        if any(p.is_raw for p in (*self.in_params, *self.out_params)):
            raise ValueError(f"{self.name}: with the type {self.reduce_type!r}, which is no dtype, no parameter is raw")
        if len(self.in_params) > 1:
            raise ValueError(
                f"{self.name}: with the type {self.reduce_type!r}, which is no dtype, a reduction has one input"
            )
        reductions = []
        for result in results:
            loop = (types.inputs[0], result.dtype)
            whole = texts._replace(
                element=self.in_params[0].name,
                map=self.map_expr,
                outputs=results,
                finish=self.post_map_expr,
                result=result.name,
            )
            reductions.append((_checked(whole, loop, queue), loop))
        return _Steps(None, reductions, None, None)

    def _reduce_type(self, types: Types) -> tuple[DType | None, str]:
        """Return the dtype of partial results, None if they have a type of the preamble; and the type in C++."""
        name = self.reduce_type or self.out_params[0].type_name
        letters = dict(types.letters)
        known = _DTYPES_OF_C.get(" ".join(name.replace("thrust::", "").split()), name)
        dtype = letters.get(name)
        if dtype is None and known in dtypes.NAMES:
            dtype = dtypes.check(known)
        return dtype, name if dtype is None else user_type(dtype)


def _record_one(
    args: tuple[Node, ...], kernel: ReductionKernel, axis: Any, keepdims: bool, given: GivenOutputs
) -> tuple[Node, None]:
    """Return the one output of a kernel, and that its dimensions are in C order."""
    (value,) = kernel._record(args, axis, keepdims, given)
    return value, None


_memo = MemoizedFunction(_record_one)


def _checked(texts: ReductionTexts, loop: tuple[DType, DType], queue: Queue) -> MadeReduction:
    """Return a reduction that compiles."""
    op = reduction_of(texts, loop)
    check_reduction(op, loop, queue.device, texts)
    return op


def _names_of_types(types: Types, between: DType | None) -> list[tuple[str, DType]]:
    """Return the names that CuPy has for the types of inputs, outputs and partial results."""
    named = [(f"_type_in{k}_raw", dtype) for k, dtype in enumerate(types.inputs)]
    named += [(f"_type_out{k}_raw", dtype) for k, dtype in enumerate(types.outputs)]
    return named if between is None else [*named, ("_type_reduce", between)]
