"""Einstein sums: pairs of operands as matrix products where they are some, and as fused kernels where not."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy

from ...core.dtypes import FLOAT32, KIND, DType, check
from ...core.graph import layout
from ...core.graph import node as graph
from ...core.graph.bounded_table import BoundedTable
from ...core.graph.layout import Layout, Shape
from ...core.graph.node import Node
from ...core.graph.primitives import LibraryCall
from ...core.graph.signature import Signature
from ...core.recording.array import is_scalar, make_view, ndarray, wrap, wrap_ordered
from ...core.recording.memo import Recipe, StandIns, static_key
from ...core.recording.record import as_array, as_dtype, reshaped, transposed
from ..ufuncs.gufunc import joined
from ..ufuncs.output import in_order, output, write
from .einsum_plan import Kernel, Labels, Look, Operand, Product, Sum, pair, parse, subscripts_of
from .matrix_product import matrix_product
from .precision import precision_name

__all__ = ["einsum", "einsum_path"]


def einsum(
    *operands: Any,
    out: Any = None,
    optimize: Any = False,
    dtype: Any = None,
    order: Any = "K",
    casting: Any = "safe",
) -> ndarray:
    """Sums of products by Einstein's convention; see `numpy.einsum`.

    More than two operands are contracted in the order that `opt_einsum` finds, also with ``optimize=False``; a path
    that is given is followed.
    """
    subscripts, arrays = _arguments(operands)
    nodes = tuple([x.value() for x in arrays])
    signatures = tuple([node.signature for node in nodes])
    graph.common_queue(signatures)
    into = output(out)
    try:
        if order not in _ORDERS:
            raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
        if casting not in _CASTINGS:
            raise ValueError(f"casting must be one of {', '.join(map(repr, _CASTINGS))} (got {casting!r})")
        target = None if into is None else (into.shape, into.dtype)
        way = _hashable(optimize)
        key = (subscripts, signatures, static_key(way), static_key(dtype), casting, target, precision_name())
        found = _sums.find(key)
        if found is None:
            found = _sums.keep(key, _found(subscripts, nodes, signatures, way, dtype, casting, target))
    except (TypeError, ValueError) as error:
        options = {"optimize": optimize, "dtype": dtype, "order": order}
        if casting != "safe":  # a default that is given is stricter than one that is not
            options["casting"] = casting
        if optimize is not False and _is_taken(subscripts, arrays, into, options):
            if into is not None:
                return write(into, einsum(*operands, **options).value())
            if casting == "safe":  # of the products of matrices that NumPy makes, the default is another rule
                return einsum(*operands, **options, casting="same_kind")
        _refuse(subscripts, arrays, out, options)
        raise error
    if found.seen is not None and not is_scalar(arrays[0]):
        return _view(arrays[0], found.seen)
    node = found.recipe.value(nodes)
    if node is None:  # another thread has just computed an operand
        return einsum(*operands, out=out, optimize=optimize, dtype=dtype, order=order, casting=casting)
    for _ in range(found.halved):
        words = "Casting complex values to real discards the imaginary part"
        warnings.warn(words, numpy.exceptions.ComplexWarning, stacklevel=2)
    place = found.place
    if into is not None:
        return write(into, node if place is None else transposed(node, [place.index(k) for k in range(len(place))]))
    result = wrap_ordered(node, place)
    if order in ("K", "k"):
        return result
    by_columns = order in ("F", "f") or (order in ("A", "a") and all(_is_f(x) for x in arrays))
    return in_order(result, "F" if by_columns else "C")


_ORDERS = tuple("CFAKcfak")
_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    """The order of contraction that NumPy finds, and what it says of it; see `numpy.einsum_path`."""
    subscripts, arrays = _arguments(operands)
    options: Any = {"optimize": optimize, "einsum_call": einsum_call}
    return numpy.einsum_path(subscripts, *map(_stand_in, arrays), **options)


# --- arguments ------------------------------------------------------------------------------------------------------


def _arguments(operands: Sequence[Any]) -> tuple[str, list[ndarray]]:
    """The subscripts and the operands of either form of the call."""
    if len(operands) < 2:
        numpy.einsum(*map(_known, operands))  # says what is missing
    first = operands[0]
    if isinstance(first, (str, bytes)):
        return first if isinstance(first, str) else first.decode(), _arrays(operands[1:])
    given = list(operands)
    result = given.pop() if len(given) % 2 else None
    try:
        subscripts = subscripts_of(given[1::2], result)
    except (TypeError, ValueError) as error:
        sublists = [_known(x) if k % 2 else 0 for k, x in enumerate(given)]
        numpy.einsum(*sublists, *(() if result is None else (_known(result),)))
        raise error
    return subscripts, _arrays(given[::2])


def _hashable(optimize: Any) -> Any:
    """The argument, a path of lists as one of tuples."""
    if not isinstance(optimize, (list, tuple)):
        return optimize
    return tuple(tuple(x) if isinstance(x, list) else x for x in optimize)


def _known(x: Any) -> Any:
    """What NumPy knows itself: to an array of ours it would answer with our function."""
    return _stand_in(x) if isinstance(x, ndarray) else x


def _arrays(operands: Sequence[Any]) -> list[ndarray]:
    """The operands as arrays; host data goes to where the others are."""
    if set(map(type, operands)) == {ndarray}:
        return list(operands)
    device = next((x.device for x in operands if isinstance(x, ndarray)), None)
    return [as_array(x, device) for x in operands]


def _stand_in(x: ndarray, shape: Sequence[int] | None = None) -> Any:
    """An array of NumPy's of the same shape and dtype, which takes no memory; of a dtype that its `einsum` knows."""
    dtype = FLOAT32 if x.dtype.kind == "V" else x.dtype
    return numpy.broadcast_to(numpy.zeros((), dtype), x.shape if shape is None else shape)


def _refuse(subscripts: str, arrays: Sequence[ndarray], out: Any, options: dict[str, Any]) -> None:
    """Raise what NumPy raises for such arguments, in the words of the NumPy at hand."""
    try:
        _ask(subscripts, arrays, out, options)
    except ValueError:  # which may name the sizes, and comes before anything is computed
        into = None if out is None else numpy.empty(out.shape, out.dtype)
        numpy.einsum(subscripts, *map(_stand_in, arrays), out=into, **options)


def _is_taken(subscripts: str, arrays: Sequence[ndarray], out: Any, options: dict[str, Any]) -> bool:
    """Whether NumPy takes another dtype, or such an output, as it may where it multiplies matrices."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _ask(subscripts, arrays, out, options)
    except (TypeError, ValueError):
        return False
    return True


def _ask(subscripts: str, arrays: Sequence[ndarray], out: Any, options: dict[str, Any]) -> None:
    """Call NumPy's `einsum` with small sizes, equal where those are, since it computes what it does not refuse."""
    sizes = sorted({n for x in (*arrays, *([] if out is None else [out])) for n in x.shape if n > 1})
    small = {0: 0, 1: 1} | {n: k for k, n in enumerate(sizes, 2)}
    views = [_stand_in(x, [small[n] for n in x.shape]) for x in arrays]
    into = None if out is None else numpy.empty([small[n] for n in out.shape], out.dtype)
    numpy.einsum(subscripts, *views, out=into, **options)


def _dtype(dtypes: Sequence[DType], into: DType | None, dtype: Any, casting: str, direct: bool) -> DType:
    """The dtype that the sum is computed in.

    `direct` says that NumPy would make it in one step, which adds to the output and counts it as an operand.
    """
    operands = dtypes if into is None or not direct else [*dtypes, into]
    common = check(joined(operands) if dtype is None else dtype)
    for source, target in [*((d, common) for d in operands), *([] if into is None else [(common, into)])]:
        if source != target and not numpy.can_cast(source, target, casting):  # type: ignore[arg-type]
            raise TypeError(f"cannot cast from {source!r} to {target!r} according to the rule {casting!r}")
    return common


def _is_f(x: ndarray) -> bool:
    where = x.layout
    return layout.is_f(where.shape, where.strides)


# --- the sum --------------------------------------------------------------------------------------------------------


class _Found(NamedTuple):
    """How the sum of operands of certain forms is computed.

    Attributes
    ----------
    recipe, place
        What makes the value, and which axis of the result each of its dimensions is (None: it is in order).
    seen
        The sum, if it is a view of the only operand.
    halved
        How many operands lose their imaginary part.
    """

    recipe: Recipe
    place: tuple[int, ...] | None
    seen: Sum | None
    halved: int


# How sums are computed, by everything that decides it, the setting of precision too.
_sums: BoundedTable[tuple[Any, ...], _Found] = BoundedTable()


def _found(
    subscripts: str,
    operands: tuple[Node, ...],
    signatures: tuple[Signature, ...],
    optimize: Any,
    dtype: Any,
    casting: str,
    target: tuple[Shape, DType] | None,
) -> _Found:
    """Plan a sum; `target` is shape and dtype of the output that is given."""
    shapes = tuple(f.shape for f in signatures)
    plan = parse(subscripts, shapes, optimize is not False)
    if target is not None and target[0] != plan.shape:
        raise ValueError(f"the output operand has the shape {target[0]}, and the sum {plan.shape}")
    seen = plan if len(signatures) == 1 and target is None and not plan.sums else None
    if dtype is not None:
        dtype = numpy.dtype(dtype)
    dtypes = [f.dtype for f in signatures]
    direct = optimize is False or len(signatures) == 1
    # NumPy gives a view whatever dtype is asked for.
    common = dtypes[0] if seen else _dtype(dtypes, None if target is None else target[1], dtype, casting, direct)
    halved = 0 if common.kind in "cb" else sum(d.kind == "c" for d in dtypes)
    path = _path(plan, subscripts, shapes, optimize)
    stand_ins = StandIns(operands, signatures)
    place, node = _in_shape(plan, *_computed(plan, path, stand_ins.nodes, common))
    recipe = stand_ins.recipe(node)
    assert recipe is not None, "sums are operations on arrays"
    return _Found(recipe, place, seen, halved)


class _Term(NamedTuple):
    """A value and the labels of its dimensions."""

    labels: Labels
    node: Node


def _view(x: ndarray, plan: Sum) -> ndarray:
    """The view of the only operand that the result is."""
    (labels, where), *_ = plan.inputs
    if 0 in plan.shape:  # no element is anywhere
        return make_view(x, Layout(plan.shape, layout.c_strides(plan.shape), x.layout.offset))
    seen = layout.compose(x.layout, where)
    assert seen is not None, "every dimension runs along dimensions of the operand"
    strides = dict(zip(labels, seen.strides))
    view = make_view(x, Layout(plan.shape, tuple(strides.get(label, 0) for label in plan.output), seen.offset))
    return view if plan.shape else wrap(view.value())


def _computed(plan: Sum, path: Sequence[tuple[int, ...]], nodes: Sequence[Node], dtype: DType) -> _Term:
    """The sum, its dimensions in whatever order; those of size 1 have none."""
    terms = []
    for node, (labels, where) in zip(nodes, plan.inputs):
        terms.append(_Term(labels, graph.view(as_dtype(node, dtype), where)))
    present = {label for term in terms for label in term.labels}
    wanted = tuple(label for label in plan.output if label in present)
    if any(0 in term.node.signature.shape for term in terms):
        queue = nodes[0].signature.queue
        assert queue is not None
        shape = tuple(n for label, n in zip(plan.output, plan.shape) if label in present)
        return _Term(wanted, graph.fill(graph.typed_scalar(False, dtype), shape, queue))
    alone = [_needed(term, terms[:k] + terms[k + 1 :], wanted) for k, term in enumerate(terms)]
    terms = [_summed(term, kept) for term, kept in zip(terms, alone)]
    for chosen in path:
        parts = [terms[k] for k in chosen]
        terms = [term for k, term in enumerate(terms) if k not in chosen]
        done = parts[0]
        for k, part in enumerate(parts[1:], 2):
            done = _contracted(done, part, wanted, [*terms, *parts[k:]])
        terms.append(done)
    return terms[0]


def _needed(term: _Term, others: Sequence[_Term], wanted: Labels) -> Labels:
    """The labels of a term that the result or another term has, those of the result first."""
    rest = {label for other in others for label in other.labels}
    first = [label for label in wanted if label in term.labels]
    return (*first, *(label for label in term.labels if label in rest and label not in wanted))


def _operand(term: _Term) -> Operand:
    f = term.node.signature
    return Operand(term.labels, f.shape, tuple(f.strides))


def _summed(term: _Term, kept: Labels) -> _Term:
    """The sum over the labels that nothing else has."""
    if len(kept) == len(term.labels):
        return term
    dtype = term.node.signature.dtype
    order = _operand(term).by_stride(term.labels)
    node = transposed(term.node, [term.labels.index(label) for label in order])
    axes = tuple(k for k, label in enumerate(order) if label not in kept)
    return _Term(tuple(x for x in order if x in kept), graph.reduce("add", (dtype, dtype), axes, (node,)))


def _contracted(a: _Term, b: _Term, wanted: Labels, others: Sequence[_Term]) -> _Term:
    """Two terms multiplied, and summed over what neither the result nor another term has."""
    both = _Term((*a.labels, *(label for label in b.labels if label not in a.labels)), a.node)
    kept = _needed(both, others, wanted)
    dtype = a.node.signature.dtype
    plan = pair(_operand(a), _operand(b), kept, dtype.itemsize, KIND[dtype] in "efc")
    first, second = (b, a) if isinstance(plan, Product) and plan.swapped else (a, b)
    left, right = _looked(first.node, plan.left), _looked(second.node, plan.right)
    if isinstance(plan, Kernel):
        # Halves are multiplied and summed as float32.
        wide = FLOAT32 if KIND[dtype] == "e" and plan.axes else dtype
        node = graph.map_node("multiply", (wide,) * 3, (as_dtype(left, wide), as_dtype(right, wide)))
        if plan.axes:
            node = graph.reduce("add", (wide, dtype), plan.axes, (node,))
        return _Term(plan.labels, node)
    return _Term(plan.labels, matrix_product(left, right, plan.shape))


def _looked(node: Node, look: Look) -> Node:
    node = transposed(node, look.order)
    return reshaped(graph.fresh(node) if look.copy else node, look.shape)


def _in_shape(plan: Sum, labels: Labels, node: Node) -> tuple[tuple[int, ...] | None, Node]:
    """The value with its dimensions of size 1, and which axis of the result each of its dimensions is."""
    if labels == tuple(label for label in plan.output if label in labels):
        return None, _shaped(node, plan.shape)
    single = [label for label in plan.output if label not in labels]
    place = tuple(plan.output.index(label) for label in (*single, *labels))
    return place, _shaped(node, (1,) * len(single) + node.signature.shape)


def _shaped(node: Node, shape: Shape) -> Node:
    """The value in another shape; a product gives it any."""
    f = node.signature
    if isinstance(f.primitive, LibraryCall) and node.data is None:
        return graph.library_call(f.primitive.name, f.primitive.options, node.args, (shape, f.dtype))
    return reshaped(node, shape)


# --- the order of contraction ---------------------------------------------------------------------------------------


def _path(plan: Sum, subscripts: str, shapes: tuple[Shape, ...], optimize: Any) -> Sequence[tuple[int, ...]]:
    """Which terms to contract, one group after the other; the result of each goes to the end."""
    if not isinstance(optimize, (bool, type(None))):
        # NumPy's way with this argument.
        views = [numpy.broadcast_to(numpy.zeros(()), shape) for shape in shapes]
        given = list(optimize) if isinstance(optimize, tuple) and optimize[:1] == ("einsum_path",) else optimize
        path, _ = numpy.einsum_path(subscripts, *views, optimize=given)
        return [tuple(step) for step in path[1:]]
    count = len(plan.inputs)
    if count <= 2:
        return [(0, 1)] if count == 2 else []
    from opt_einsum import paths

    sizes = {label: n for labels, where in plan.inputs for label, n in zip(labels, where.shape)}
    inputs = [frozenset(labels) for labels, _ in plan.inputs]
    return [tuple(step) for step in paths.auto(inputs, frozenset(plan.output) & sizes.keys(), sizes)]
