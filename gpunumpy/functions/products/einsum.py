"""Einstein sums, contracted pair by pair: as a matrix product if a pair of operands is one, else as a fused kernel."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy

from ...core.arguments import memory_order
from ...core.dtypes import FLOAT32, KIND, DType, check
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.bounded_table import BoundedTable
from ...core.graph.layout import Layout, Shape
from ...core.graph.node import Node
from ...core.graph.primitives import LibraryCall
from ...core.graph.signature import Signature
from ...core.recording.array import is_scalar, make_view, ndarray, wrap, wrap_ordered
from ...core.recording.memo import Recipe, StandIns, static_key, undisturbed
from ...core.recording.record import as_array, as_dtype, reshaped, transposed
from ...core.runtime import evaluate
from ...core.source_location import warn
from ..ufuncs.errstate import ignoring
from ..ufuncs.gufunc import product_dtype
from ..ufuncs.output import checked_output, in_order, write_to_output
from .einsum_plan import Arrangement, Kernel, Labels, Operand, Product, Sum, parse, plan_pair, subscripts_of
from .matrix_product import matrix_product, vector_product_by_numpy
from .precision import precision_name

__all__ = ["einsum", "einsum_path"]


@ignoring(all="ignore")
def einsum(
    *operands: Any,
    out: Any = None,
    optimize: Any = False,
    dtype: Any = None,
    order: Any = "K",
    casting: Any = "safe",
) -> ndarray:
    """Sum products of elements by Einstein's convention. See `numpy.einsum`.

    More than two operands are contracted in the order that `opt_einsum` finds, even with ``optimize=False``; a given
    path is followed.
    """
    subscripts, arrays = _arguments(operands)
    nodes = tuple([x.value() for x in arrays])
    signatures = tuple([node.signature for node in nodes])
    graph.common_queue(signatures)
    out_array = checked_output(out)
    try:
        order = memory_order(order)
        if casting not in _CASTINGS:
            raise ValueError(f"casting must be one of {', '.join(map(repr, _CASTINGS))} (got {casting!r})")
        out_properties = None if out_array is None else (out_array.shape, out_array.dtype)
        optimize_key = _hashable_optimize(optimize)
        key = (
            subscripts,
            signatures,
            static_key(optimize_key),
            static_key(dtype),
            casting,
            out_properties,
            precision_name(),
        )
        planned = _planned_sums.find(key)
        if planned is None:
            planned = _planned_sums.keep(
                key, _plan_sum(subscripts, nodes, signatures, optimize_key, dtype, casting, out_properties)
            )
    except (TypeError, ValueError) as error:
        options = {"optimize": optimize, "dtype": dtype, "order": order}
        if casting != "safe":  # to NumPy the default, when given, is stricter than when it is not
            options["casting"] = casting
        if optimize is not False and _numpy_accepts(subscripts, arrays, out_array, options):
            if out_array is not None:
                return write_to_output(out_array, einsum(*operands, **options).value())
            if casting == "safe":  # the default rule of NumPy's matrix products
                return einsum(*operands, **options, casting="same_kind")
        _raise_as_numpy(subscripts, arrays, out, options)
        raise error
    if planned.view_plan is not None and not is_scalar(arrays[0]):
        return _operand_view(arrays[0], planned.view_plan)
    result = undisturbed(partial(_recorded, planned), nodes)
    if result is None:  # a flush that goes on, maybe of another thread, may have computed an operand
        evaluate.compute_operands(nodes)
        signatures = tuple([node.signature for node in nodes])
        of_computed = _plan_sum(subscripts, nodes, signatures, optimize_key, dtype, casting, out_properties)
        result = _recorded(of_computed, nodes)
        assert result is not None, "what is computed stays as it is"
    for _ in range(planned.real_cast_count):
        message = "Casting complex values to real discards the imaginary part"
        warn(message, numpy.exceptions.ComplexWarning)
    if out_array is not None:
        return write_to_output(out_array, result.value())
    if order == "K":
        return result
    is_f_order = order == "F" or (order == "A" and all(x.f_contiguous for x in arrays))
    return in_order(result, "F" if is_f_order else "C")


def _recorded(planned: _PlannedSum, nodes: tuple[Node, ...]) -> ndarray | None:
    """Return the result as a new array; None if another thread has just computed what the plan looks into."""
    node = planned.recipe.value(nodes)
    return None if node is None else wrap_ordered(node, planned.result_axes)


_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    """Return the order of contraction that NumPy finds, and its description. See `numpy.einsum_path`."""
    subscripts, arrays = _arguments(operands)
    options: Any = {"optimize": optimize, "einsum_call": einsum_call}
    return numpy.einsum_path(subscripts, *map(_numpy_stand_in, arrays), **options)


# --- arguments ------------------------------------------------------------------------------------------------------


def _arguments(operands: Sequence[Any]) -> tuple[str, list[ndarray]]:
    """Return the subscripts and the operands.

    A call gives subscripts as a string before the operands, or as a sublist after each operand.
    """
    if len(operands) < 2:
        numpy.einsum(*map(_without_dispatch, operands))  # raises the error for missing operands
    first = operands[0]
    if isinstance(first, (str, bytes)):
        return first if isinstance(first, str) else first.decode(), _arrays(operands[1:])
    alternating = list(operands)
    output_sublist = alternating.pop() if len(alternating) % 2 else None
    try:
        subscripts = subscripts_of(alternating[1::2], output_sublist)
    except (TypeError, ValueError) as error:
        sublists = [_without_dispatch(x) if k % 2 else 0 for k, x in enumerate(alternating)]
        numpy.einsum(*sublists, *(() if output_sublist is None else (_without_dispatch(output_sublist),)))
        raise error
    return subscripts, _arrays(alternating[::2])


def _hashable_optimize(optimize: Any) -> Any:
    """Return the argument `optimize`, with a path of lists as a path of tuples."""
    if not isinstance(optimize, (list, tuple)):
        return optimize
    return tuple(tuple(x) if isinstance(x, list) else x for x in optimize)


def _without_dispatch(x: Any) -> Any:
    """Return an argument for a NumPy function, an `ndarray` as a stand-in: NumPy would call this package's function."""
    return _numpy_stand_in(x) if isinstance(x, ndarray) else x


def _arrays(operands: Sequence[Any]) -> list[ndarray]:
    """Return the operands as arrays; host data goes to the device of the first `ndarray`."""
    if set(map(type, operands)) == {ndarray}:
        return list(operands)
    device = next((x.device for x in operands if isinstance(x, ndarray)), None)
    return [as_array(x, device) for x in operands]


def _numpy_stand_in(x: ndarray, shape: Sequence[int] | None = None) -> Any:
    """Return a NumPy array of the same shape, without memory for it, and of the same dtype if NumPy has that dtype."""
    dtype = FLOAT32 if x.dtype.kind == "V" else x.dtype
    return numpy.broadcast_to(numpy.zeros((), dtype), x.shape if shape is None else shape)


def _raise_as_numpy(subscripts: str, arrays: Sequence[ndarray], out: Any, options: dict[str, Any]) -> None:
    """Raise the exception that NumPy raises for such arguments, with the message of the installed NumPy."""
    try:
        _call_numpy_with_small_sizes(subscripts, arrays, out, options)
    except ValueError:  # its message may name the sizes, and it is raised before NumPy computes
        host_out = None if out is None else numpy.empty(out.shape, out.dtype)
        numpy.einsum(subscripts, *map(_numpy_stand_in, arrays), out=host_out, **options)


def _numpy_accepts(subscripts: str, arrays: Sequence[ndarray], out: Any, options: dict[str, Any]) -> bool:
    """Return True if NumPy accepts the dtypes and the output.

    It may do so although the rules of `einsum` refuse them, as it multiplies matrices by the rules of `matmul`.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _call_numpy_with_small_sizes(subscripts, arrays, out, options)
    except (TypeError, ValueError):
        return False
    return True


def _call_numpy_with_small_sizes(subscripts: str, arrays: Sequence[ndarray], out: Any, options: dict[str, Any]) -> None:
    """Call NumPy's `einsum` with small sizes, equal where the operands' are, as it computes unless it raises."""
    sizes = sorted({n for x in (*arrays, *([] if out is None else [out])) for n in x.shape if n > 1})
    small_size = {0: 0, 1: 1} | {n: k for k, n in enumerate(sizes, 2)}
    views = [_numpy_stand_in(x, [small_size[n] for n in x.shape]) for x in arrays]
    host_out = None if out is None else numpy.empty([small_size[n] for n in out.shape], out.dtype)
    numpy.einsum(subscripts, *views, out=host_out, **options)


def _computed_dtype(
    dtypes: Sequence[DType], out_dtype: DType | None, dtype: Any, casting: str, is_one_step: bool
) -> DType:
    """Return the dtype in which the sum is computed.

    `is_one_step`: NumPy would make the sum in one step, which adds to the output and counts the output as an operand.
    """
    operands = dtypes if out_dtype is None or not is_one_step else [*dtypes, out_dtype]
    common = check(product_dtype(operands) if dtype is None else dtype)
    for source, target in [*((d, common) for d in operands), *([] if out_dtype is None else [(common, out_dtype)])]:
        if source != target and not numpy.can_cast(source, target, casting):  # type: ignore[arg-type]
            raise TypeError(f"cannot cast from {source!r} to {target!r} according to the rule {casting!r}")
    return common


# --- the sum --------------------------------------------------------------------------------------------------------


class _PlannedSum(NamedTuple):
    """How the sum of operands of certain signatures is computed.

    Attributes
    ----------
    recipe, result_axes
        The recipe of the value, and which axis of the result each of its dimensions is (None: they are in order).
    view_plan
        The plan, if the result is a view of the only operand.
    real_cast_count
        How many operands lose their imaginary part.
    """

    recipe: Recipe
    result_axes: tuple[int, ...] | None
    view_plan: Sum | None
    real_cast_count: int


# Planned sums by everything that decides the plan, the precision setting included.
_planned_sums: BoundedTable[tuple[Any, ...], _PlannedSum] = BoundedTable()


def _plan_sum(
    subscripts: str,
    operands: tuple[Node, ...],
    signatures: tuple[Signature, ...],
    optimize: Any,
    dtype: Any,
    casting: str,
    out_properties: tuple[Shape, DType] | None,
) -> _PlannedSum:
    """Plan a sum. `out_properties`: shape and dtype of the given output."""
    shapes = tuple(f.shape for f in signatures)
    plan = parse(subscripts, shapes, optimize is not False)
    if out_properties is not None and out_properties[0] != plan.shape:
        raise ValueError(f"the output operand has the shape {out_properties[0]}, and the sum {plan.shape}")
    view_plan = plan if len(signatures) == 1 and out_properties is None and not plan.sums else None
    if dtype is not None:
        dtype = numpy.dtype(dtype)
    dtypes = [f.dtype for f in signatures]
    is_one_step = optimize is False or len(signatures) == 1
    # Where dtypes differ, NumPy's order of contraction decides the dtype of each step.
    is_mixed = not is_one_step and len(dtypes) > 2 and dtype is None and len(set(dtypes)) > 1
    path = _contraction_path(plan, subscripts, shapes, optimize, is_mixed)
    step_dtypes = _dtypes_of_steps(path, dtypes) if is_mixed else None
    # NumPy returns a view whatever the dtype asked for.
    computed_dtype = (
        dtypes[0]
        if view_plan
        else _computed_dtype(
            dtypes if step_dtypes is None else step_dtypes[-1:],
            None if out_properties is None else out_properties[1],
            dtype,
            casting,
            is_one_step,
        )
    )
    real_cast_count = 0 if computed_dtype.kind in "cb" else sum(d.kind == "c" for d in dtypes)
    stand_ins = StandIns(operands, signatures)
    if step_dtypes is None:
        step_dtypes = [computed_dtype] * max(len(path), 1)
    result_axes, node = _with_unit_dimensions(plan, *_contract(plan, path, stand_ins.nodes, step_dtypes))
    recipe = stand_ins.recipe(node)
    assert recipe is not None, "sums are operations on arrays"
    return _PlannedSum(recipe, result_axes, view_plan, real_cast_count)


class _Term(NamedTuple):
    """A value and the labels of its dimensions."""

    labels: Labels
    node: Node


def _operand_view(x: ndarray, plan: Sum) -> ndarray:
    """Return the result that is a view of the only operand."""
    (labels, operand_layout), *_ = plan.inputs
    if 0 in plan.shape:  # the result has no elements
        return make_view(x, Layout(plan.shape, layout.c_strides(plan.shape), x.layout.offset))
    view_layout = layout.compose(x.layout, operand_layout)
    assert view_layout is not None, "every dimension runs along dimensions of the operand"
    strides = dict(zip(labels, view_layout.strides))
    view = make_view(x, Layout(plan.shape, tuple(strides.get(label, 0) for label in plan.output), view_layout.offset))
    return view if plan.shape else wrap(view.value())


def _dtypes_of_steps(path: Sequence[tuple[int, ...]], dtypes: Sequence[DType]) -> list[DType]:
    """Return the dtype that NumPy computes each step of a path in: that of a product of what the step contracts."""
    terms = list(dtypes)
    made = []
    for step in path:
        made.append(product_dtype([terms[k] for k in step]))
        terms = [d for k, d in enumerate(terms) if k not in step] + made[-1:]
    return made


def _steps_of_operands(path: Sequence[tuple[int, ...]], count: int) -> list[int]:
    """Return the number of the step that contracts each operand."""
    terms = list(range(count))
    found = [0] * count
    for number, step in enumerate(path):
        for k in step:
            if terms[k] >= 0:
                found[terms[k]] = number
        terms = [term for k, term in enumerate(terms) if k not in step] + [-1]
    return found


def _contract(plan: Sum, path: Sequence[tuple[int, ...]], nodes: Sequence[Node], step_dtypes: Sequence[DType]) -> _Term:
    """Return the sum as one term, its dimensions in any order, without those of size 1.

    `path`: which terms to contract in each step; `step_dtypes`: the dtypes that steps are computed in, at least one.
    """
    dtype = step_dtypes[-1]
    terms = []
    for node, (labels, operand_layout), number in zip(nodes, plan.inputs, _steps_of_operands(path, len(nodes))):
        terms.append(_Term(labels, graph.view(as_dtype(node, step_dtypes[number]), operand_layout)))
    present = {label for term in terms for label in term.labels}
    wanted = tuple(label for label in plan.output if label in present)
    if any(0 in term.node.signature.shape for term in terms):
        queue = nodes[0].signature.queue
        assert queue is not None
        shape = tuple(n for label, n in zip(plan.output, plan.shape) if label in present)
        return _Term(wanted, graph.fill(graph.typed_scalar(False, dtype), shape, queue))
    kept_labels = [_labels_needed(term, terms[:k] + terms[k + 1 :], wanted) for k, term in enumerate(terms)]
    terms = [_summed_to(term, kept) for term, kept in zip(terms, kept_labels)]
    for step, step_dtype in zip(path, step_dtypes):
        chosen = [_Term(terms[k].labels, as_dtype(terms[k].node, step_dtype)) for k in step]
        terms = [term for k, term in enumerate(terms) if k not in step]
        product = chosen[0]
        for k, other in enumerate(chosen[1:], 2):
            product = _contract_pair(product, other, wanted, [*terms, *chosen[k:]])
        terms.append(product)
    return terms[0]


def _labels_needed(term: _Term, others: Sequence[_Term], wanted: Labels) -> Labels:
    """Return the labels of a term that the result or another term has, the result's labels first."""
    labels_of_others = {label for other in others for label in other.labels}
    wanted_first = [label for label in wanted if label in term.labels]
    return (*wanted_first, *(label for label in term.labels if label in labels_of_others and label not in wanted))


def _operand(term: _Term) -> Operand:
    """Return the labels, sizes and strides of a term for planning."""
    signature = term.node.signature
    return Operand(term.labels, signature.shape, tuple(signature.strides))


def _summed_to(term: _Term, kept: Labels) -> _Term:
    """Return a term summed over the labels that are not in `kept`."""
    if len(kept) == len(term.labels):
        return term
    dtype = term.node.signature.dtype
    order = _operand(term).by_stride(term.labels)
    node = transposed(term.node, [term.labels.index(label) for label in order])
    axes = tuple(k for k, label in enumerate(order) if label not in kept)
    return _Term(tuple(x for x in order if x in kept), graph.reduce("add", (dtype, dtype), axes, (node,)))


def _contract_pair(a: _Term, b: _Term, wanted: Labels, others: Sequence[_Term]) -> _Term:
    """Return two terms multiplied, and summed over the labels that neither the result nor another term has."""
    both = _Term((*a.labels, *(label for label in b.labels if label not in a.labels)), a.node)
    kept = _labels_needed(both, others, wanted)
    dtype = a.node.signature.dtype
    plan = plan_pair(_operand(a), _operand(b), kept, dtype.itemsize, KIND[dtype] in "efc")
    first, second = (b, a) if isinstance(plan, Product) and plan.swapped else (a, b)
    left, right = _arranged(first.node, plan.left), _arranged(second.node, plan.right)
    if isinstance(plan, Kernel):
        by_numpy = vector_product_by_numpy(left, right) if plan.axes == (len(left.signature.shape) - 1,) else None
        if by_numpy is not None:
            return _Term(plan.labels, by_numpy)
        # Low-precision floats are multiplied and summed as float32.
        product_dtype = FLOAT32 if KIND[dtype] == "e" and plan.axes else dtype
        node = graph.map_node(
            "multiply", (product_dtype,) * 3, (as_dtype(left, product_dtype), as_dtype(right, product_dtype))
        )
        if plan.axes:
            node = graph.reduce("add", (product_dtype, dtype), plan.axes, (node,))
        return _Term(plan.labels, node)
    return _Term(plan.labels, matrix_product(left, right, plan.shape))


def _arranged(node: Node, arrangement: Arrangement) -> Node:
    """Return a value in the arrangement that a plan asks for."""
    node = transposed(node, arrangement.order)
    return reshaped(graph.as_new_node(node) if arrangement.copy else node, arrangement.shape)


def _with_unit_dimensions(plan: Sum, labels: Labels, node: Node) -> tuple[tuple[int, ...] | None, Node]:
    """Return which axis of the result each dimension of the value is, and the value with its dimensions of size 1."""
    if labels == tuple(label for label in plan.output if label in labels):
        return None, _in_shape(node, plan.shape)
    unit_labels = [label for label in plan.output if label not in labels]
    result_axes = tuple(plan.output.index(label) for label in (*unit_labels, *labels))
    return result_axes, _in_shape(node, (1,) * len(unit_labels) + node.signature.shape)


def _in_shape(node: Node, shape: Shape) -> Node:
    """Return the value in another shape, which a pending library call takes as the shape of its output."""
    signature = node.signature
    if isinstance(signature.primitive, LibraryCall) and node.data is None:
        return graph.library_call(
            signature.primitive.name, signature.primitive.options, node.args, (shape, signature.dtype)
        )
    return reshaped(node, shape)


# --- the order of contraction ---------------------------------------------------------------------------------------


def _contraction_path(
    plan: Sum, subscripts: str, shapes: tuple[Shape, ...], optimize: Any, is_of_numpy: bool
) -> Sequence[tuple[int, ...]]:
    """Return which terms to contract in each step. The result of a step becomes the last term.

    `is_of_numpy`: whether the order must be NumPy's, also where the argument `optimize` leaves it open.
    """
    if is_of_numpy or not isinstance(optimize, (bool, type(None))):
        # NumPy interprets the argument, which may be a path or a strategy.
        views = [numpy.broadcast_to(numpy.zeros(()), shape) for shape in shapes]
        numpy_optimize = (
            list(optimize) if isinstance(optimize, tuple) and optimize[:1] == ("einsum_path",) else optimize
        )
        path, _ = numpy.einsum_path(subscripts, *views, optimize=numpy_optimize)
        return [tuple(step) for step in path[1:]]
    count = len(plan.inputs)
    if count <= 2:
        return [(0, 1)] if count == 2 else []
    from opt_einsum import paths

    sizes = {label: n for labels, operand_layout in plan.inputs for label, n in zip(labels, operand_layout.shape)}
    inputs = [frozenset(labels) for labels, _ in plan.inputs]
    return [tuple(step) for step in paths.auto(inputs, frozenset(plan.output) & sizes.keys(), sizes)]
