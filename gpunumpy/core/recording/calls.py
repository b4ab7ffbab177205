"""The memo of calls: what public functions of arrays record, by what they are given.

The arguments of a call are arrays, alone or in lists and tuples, and static arguments. What a call recorded is repeated
for arrays of the same signatures beside equal static arguments; a call that is anything else is left to the function.
The compiled core finds what is known by itself (core/_native/calls.cpp), without a call of Python's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from enum import IntEnum
from functools import wraps
from math import copysign
from typing import Any, Literal, NamedTuple

import numpy

from .. import source_location
from .._native import compiled, note_product, remembering_recorder
from ..graph.bounded_table import BoundedTable
from ..graph.layout import Layout
from ..graph.node import Node
from ..graph.primitives import View
from ..graph.signature import Signature
from ..runtime import evaluate, host_work
from ..runtime.device import default_device
from .array import MADE_AS_ARRAY, ON_HOST, ORDERED, READ_ONLY, is_scalar, make_view, ndarray, wrap
from .memo import (
    Key,
    MemoizedFunction,
    MemoizedOperation,
    Met,
    Path,
    Recipe,
    Recordings,
    Signatures,
    is_one_operation,
    is_shared,
    signatures_in,
    traced_recipe,
)

# A larger result may contain a long pending calculation from before the call.
_MAX_NODES = 100
# Of a key; what has more is left to the function.
_MAX_OPERANDS, _MAX_DEPTH = 64, 4


class Kind(IntEnum):
    """What the results of calls are made of."""

    OF_VALUES = 0  # of arrays
    OF_NO_VALUES = 1  # on the default device, maybe of arrays
    OF_LAYOUT = 2  # views of the first argument, the only array
    OF_NODES = 3  # operations on arrays and numbers, as a `MemoizedFunction` has them


class CallMemo(NamedTuple):
    """Where what calls of a function recorded is found.

    Attributes
    ----------
    kind
        What the results are made of.
    signatures, recordings
        The entries of two tables: signatures of results that are one operation on the operands as given; and recipes,
        or pairs of a layout, or None for the array itself, and flags for views, or False for what cannot be repeated.
    setting
        What the results depend on besides, a variable of the context; or None.
    flags
        Those that a result has besides.
    are_products
        Where a device shares the host's memory, arrays whose parts are multiplied may move there: see `note_product`.
    operations
        Of functions of nodes, the entries of a third table: signatures of operations by the kinds of the operands, from
        which those at other sizes follow. Of products these are library calls, if both operands are read as they are.
    reduction
        Where a call with an array and maybe an axis is a reduction that a function of nodes records.
    """

    kind: Kind
    signatures: dict[Any, Any]
    recordings: dict[Any, Any]
    setting: ContextVar[Any] | None = None
    flags: int = 0
    are_products: bool = False
    operations: dict[Any, Any] | None = None
    reduction: PlainReduction | None = None


class PlainReduction(NamedTuple):
    """What calls of a function without options record: one reduction, known to the memo of a function of nodes.

    The keys of that memo are a value's signature, or kind, then `op` and the axis. The compiled core looks there before
    it makes the key of a call.
    """

    op: str
    signatures: dict[Any, Any]
    operations: dict[Any, Any]


def plain_reduction(op: str, function: MemoizedOperation) -> PlainReduction:
    """Return what calls record by ``function((value,), op, axis)``."""
    return PlainReduction(op, function.entries()[0], function.operations())


def _unrepeatable_count() -> int:
    """Return how often there was what each call is to do itself: looks at elements, and warnings."""
    return host_work.look_count + source_location.warning_count


def memo_of_nodes(
    function: MemoizedFunction, setting: ContextVar[Any] | None = None, flags: int = 0, are_products: bool = False
) -> CallMemo:
    """Return the memo of calls that give all their arguments, arrays and numbers, to a function of nodes.

    The value of `setting` is its one static argument.
    """
    return CallMemo(Kind.OF_NODES, *function.entries(), setting, flags, are_products, function.operations())


def memoize_recording(
    record: Callable[..., Any],
    makes_arrays: bool = False,
    setting: ContextVar[Any] | None = None,
    are_products: bool = False,
    uses_values: bool = True,
    shares_scalars: bool = False,
) -> Callable[..., Any]:
    """Give a function of arrays a memo: a call with arrays of the same signatures and equal other arguments repeats.

    The recording is kept, when such a call comes for the second time, if the result is a new, pending array made by
    operations on all array arguments. These operations must depend on the signatures and memory order of the arguments,
    not on their elements. A result has its own scalars, as one that is recorded anew, but for those that are shared
    (`memo.shared_generator`).

    Parameters
    ----------
    makes_arrays
        The function makes arrays of no arrays too, on the default device.
    setting
        What the recording depends on besides, a variable of the context.
    are_products
        See `CallMemo`; the function notes them itself.
    uses_values
        What is recorded uses the values of all arrays. Of a function that takes their shapes alone it need not.
    shares_scalars
        Results share all scalars, of which a loop with many such calls would have as many.
    """
    recordings = Recordings()
    find = recordings.find

    @wraps(record)
    def run(*args: Any, **options: Any) -> Any:
        if evaluate.watcher is not None:  # which looks at every step
            return record(*args, **options)
        leading: tuple[Any, ...] = (evaluate.queue_of(default_device()),) if makes_arrays else ()
        if setting is not None:
            leading += (setting.get(),)
        found = call_key(leading, args, options)
        if found is None or not (found[1] or makes_arrays):
            return record(*args, **options)
        key, operands = found
        known = find(key) or recordings.recall(key)
        repeated = None
        if type(known) is Signature:
            repeated = wrap(Node(known, operands))
        elif type(known) is Recipe:
            repeated = known.array(operands)
        if repeated is not None:
            if are_products and repeated.queue.shares_memory:
                note_product(repeated, *_arrays_in(args))
            return repeated
        if known is not Met.AGAIN:
            return record(*args, **options)
        unrepeatable = _unrepeatable_count()
        result = record(*args, **options)
        recording: Signature | Recipe | Literal[False] | None = None
        arrays = [*_arrays_in((*args, *options.values()))]
        if type(result) is not ndarray or unrepeatable != _unrepeatable_count() or _shows_one_of(result, arrays):
            recording = False
        elif not are_products or len(arrays) == 2:
            recording = _recording_of(result, operands, signatures_in(key), uses_values, shares_scalars)
        if recording is not None:
            recordings.keep(key, recording)
        return result

    kind = Kind.OF_NO_VALUES if makes_arrays else Kind.OF_VALUES
    reduction = getattr(record, "reduction", None)
    memo = CallMemo(kind, *recordings.entries(), setting, 0, are_products, None, reduction)
    run.call_memo = memo  # type: ignore[attr-defined]
    return run


def memoize_inside(record: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function that others of this package call a memo; see `memoize_recording`."""
    run = memoize_recording(record)
    return remembering_recorder(run, run.call_memo)  # type: ignore[attr-defined]


def memoize_view(show: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function a memo whose result may be a view of its first argument, by the layout of that alone."""
    views: BoundedTable[Key, tuple[Layout | None, int] | Literal[False]] = BoundedTable()

    @wraps(show)
    def run(*args: Any, **options: Any) -> Any:
        array = args[0] if args else None
        if evaluate.watcher is not None or type(array) is not ndarray or not _can_have_views(array):
            return show(*args, **options)
        is_owner = array._base is None
        leading = (array._node.signature.shape, None) if is_owner else array._layout[:2]
        found = call_key(leading, args[1:], options)
        if found is None or found[1]:
            return show(*args, **options)
        key = found[0]
        known = views.find(key)
        if known:
            layout, flags = known
            if layout is None:
                return array
            shape, strides, offset = layout
            view = make_view(array, Layout(shape, strides, offset + (0 if is_owner else array._layout.offset)))
            view._flags |= flags
            return view
        start = None if is_owner else array._layout.offset  # before another thread may move the array
        unrepeatable = _unrepeatable_count()
        result = show(*args, **options)
        # A view of what is read-only does not tell whether it would be of another array.
        if known is None and not array._flags & READ_ONLY and unrepeatable == _unrepeatable_count():
            views.keep(key, _view_of(result, array, start or 0))
        return result

    run.call_memo = CallMemo(Kind.OF_LAYOUT, {}, views.find.__self__)  # type: ignore[attr-defined]
    return run


def _can_have_views(array: ndarray) -> bool:
    """Return whether an array is on a device and shows whole elements, and is none that acts as a NumPy scalar."""
    is_plain = not array._flags & ON_HOST and (array._base is None or not array._component)
    return is_plain and not is_scalar(array)


def _view_of(result: Any, array: ndarray, start: int) -> tuple[Layout | None, int] | Literal[False]:
    """Return how a view shows an array, whose first element is at `start`, and its flags; False if it is none.

    There is no layout where the result is the array itself.
    """
    if result is array:
        return None, 0
    if type(result) is not ndarray or result._flags & ON_HOST or result._base is None:
        return False
    if result._base is not (array if array._base is None else array._base) or result._component:
        return False
    shape, strides, offset = result._layout
    usual = array._flags & ~ORDERED | MADE_AS_ARRAY
    if usual & ~result._flags:
        return False
    return Layout(shape, strides, offset - start), result._flags & ~usual


# The key of a call: no two calls that differ have the same parts in the same order. A part that begins an argument
# tells which ones follow: after a signature, the strides of a view, and of a value without dimensions whether it was
# made as an array; after the class of a list or tuple its length and its items; after another class the static
# argument. An array that occurs before is its number.


@compiled
def call_key(
    leading: tuple[Any, ...], args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Key, tuple[Node, ...]] | None:
    """Return the key of a call, which begins with given parts, and its values, all different; None if it has none."""
    parts, nodes = [*leading], list[Node]()
    try:
        for x in args:
            if not _add(x, parts, nodes, 0):
                return None
        for name, x in options.items():
            parts.append(name)
            if not _add(x, parts, nodes, 0):
                return None
    except AttributeError:  # another thread has moved an array to the host
        return None
    return (tuple(parts), tuple(nodes)) if len(nodes) <= _MAX_OPERANDS else None


def _add(x: Any, parts: list[Any], nodes: list[Node], depth: int) -> bool:
    kind = type(x)
    if kind is ndarray:
        return _add_array(x, parts, nodes)
    if kind is tuple or kind is list:
        if len(x) > _MAX_OPERANDS or depth == _MAX_DEPTH:
            return False
        parts += (kind, len(x))
        return all(_add(item, parts, nodes, depth + 1) for item in x)
    if kind is float:
        if x != x or (not x and copysign(1, x) < 0):  # equal to itself, and to nothing else that it is not
            return False
    elif kind not in _STATIC and not isinstance(x, numpy.dtype):
        return False
    parts += (kind, x)
    return True


def _add_array(x: ndarray, parts: list[Any], nodes: list[Node]) -> bool:
    is_owner = x._base is None
    if x._flags & ON_HOST or not (is_owner or x._component == ""):
        return False
    node = x._node if is_owner else x.value()
    if node in nodes:
        parts.append(nodes.index(node))
        return True
    signature = node.signature
    parts.append(signature)
    if not is_owner:
        parts.append(x._layout.strides)  # a pending signature does not contain the memory order
    if not signature.shape:
        parts.append(x._flags & MADE_AS_ARRAY)
    nodes.append(node)
    return True


_STATIC = frozenset((bool, int, str, type(None), type))


def _arrays_in(args: Iterable[Any]) -> Iterator[ndarray]:
    """Return the arrays among the arguments of a call that has a key."""
    for x in args:
        if type(x) is ndarray:
            yield x
        elif type(x) is tuple or type(x) is list:
            yield from _arrays_in(x)


def _shows_one_of(result: ndarray, arrays: list[ndarray]) -> bool:
    """Return whether an array shows the memory of others, of which it may be one."""
    owner = result if result._base is None else result._base
    return any(owner is x or owner is x._base for x in arrays)


def _recording_of(
    result: ndarray, operands: tuple[Node, ...], signatures: Signatures, uses_values: bool, shares_scalars: bool
) -> Signature | Recipe | Literal[False] | None:
    """Return how an array was recorded from operands, all different, that had these signatures.

    It is False if others may record otherwise, and None if the array does not tell.
    """
    if result._flags & ON_HOST:
        return None
    owner = result if result._base is None else result._base
    node = owner._node
    # MADE_AS_ARRAY only matters for an array without dimensions.
    flags = result._flags & ~MADE_AS_ARRAY if result.ndim else result._flags
    if node.data is not None or (result is not owner and result._component):
        return None
    if result is owner and not flags and operands and is_one_operation(node, node.signature, operands, signatures):
        return node.signature
    available: dict[Node, tuple[Path, Signature]] = {
        operand: ((k,), signature) for k, (operand, signature) in enumerate(zip(operands, signatures))
    }
    if len(operands) == 1 and type(signatures[0].primitive) is View:
        # A view of a view is one of what the latter is of. Of several operands, more than one may be of that.
        available |= dict.fromkeys(operands[0].args, ((0, 0), signatures[0].args[0]))
    recipe = traced_recipe(node, operands, available, _MAX_NODES, None if shares_scalars else is_shared)
    if recipe is None or (uses_values and not recipe.uses(range(len(operands)))):
        return False  # the recording may depend on the elements of an unused operand
    return recipe._replace(layout=None if result is owner else result._layout, flags=flags)
