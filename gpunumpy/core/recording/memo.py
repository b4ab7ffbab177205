"""The memo: what a function records for operands of some signatures is worked out once, and repeated node by node.

Dtypes, shapes, memory order, which operations are made: all of it follows from the signatures of the operands and from
static arguments. So what a function records is kept as a recipe, or as a bare signature where it is one operation on
the operands, and the next call with the same key makes the same nodes over its own operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from math import inf
from typing import Any, Literal, NamedTuple, TypeAlias

from ..graph import layout
from ..graph import node as graph
from ..graph.bounded_table import BoundedTable
from ..graph.layout import Layout
from ..graph.node import Node
from ..graph.primitives import Const, Gather, Leaf, Scatter
from ..graph.signature import Signature
from .array import BOX, make_view, ndarray, wrap, wrap_ordered

# The signatures of the operands, in order, and all else that decides what is recorded.
Key: TypeAlias = tuple[Any, ...]
Signatures: TypeAlias = tuple[Signature, ...]
# Which operand, then which of its arguments, and so on.
Path: TypeAlias = tuple[int, ...]

# What a function of arrays records is not kept if it has more nodes: it may be a part of a long pending calculation.
_MAX_NODES = 100


class MemoizedFunction:
    """A function of nodes with a memo: for a key that was met before, it repeats what it recorded.

    The key is the signatures of the operands, then the static arguments. Those must be hashable, and mean the same if
    they are equal (`static_key`).

    Parameters
    ----------
    record
        Called with the operands and the static arguments. It returns a value, its dimensions in memory order, and
        that order (see `wrap_ordered`), and looks at nothing but signatures and static arguments. It may look at the
        value of a scalar operand if it does not pass that on: then nothing is kept.

    Attributes
    ----------
    find
        The signature kept for a key, where the result is one operation on the operands as they are given. Who records
        most often asks for it without a call between: ``wrap(Node(signature, operands))`` is the result.
    """

    __slots__ = ("_keep", "_recipes", "_record", "find")

    def __init__(self, record: Callable[..., tuple[Node, tuple[int, ...] | None]]) -> None:
        self._record = record
        signatures: BoundedTable[Key, Signature] = BoundedTable()
        self.find, self._keep = signatures.find, signatures.keep
        # None: the key was met once. False: nothing can be repeated.
        self._recipes: BoundedTable[Key, Recipe | Literal[False]] = BoundedTable()

    def __call__(self, operands: tuple[Node, ...], *static: Any) -> ndarray:
        """The result as a new array."""
        signatures = tuple([x.signature for x in operands])
        key = (*signatures, *static)
        whole = self.find(key)
        if whole is not None:
            return wrap(Node(whole, operands))
        recipe = self._recipes.find(key)
        if recipe:
            result = recipe.array(operands)
            if result is not None:
                return result
        node, order = self._record(operands, *static)
        # The result of scalars alone is where the default device is.
        if recipe is None and any(f.queue is not None for f in signatures):
            self._learn(key, node, order, operands, signatures)
        return wrap_ordered(node, order)

    def _learn(
        self, key: Key, node: Node, order: tuple[int, ...] | None, operands: tuple[Node, ...], signatures: Signatures
    ) -> None:
        """Keep for a key how a value was recorded.

        A recipe is traced when the key is met the second time, since that costs as much as to record.
        """
        f = node.signature
        if order is None and _is_whole(node, f, operands, signatures):
            self._keep(key, f)
        elif self._recipes.find((key,)) is None:
            self._recipes.keep((key,), False)
        else:
            stand_ins = StandIns(operands, signatures)
            node, order = self._record(stand_ins.nodes, *key[len(operands) :])
            if order is None and _is_whole(node, node.signature, stand_ins.nodes, signatures):
                self._keep(key, node.signature)  # of one operand given twice that is only sure now
                return
            recipe = stand_ins.recipe(node)
            if recipe is not None and order is not None:
                recipe = recipe._replace(layout=layout.ordered_layout(node.signature.shape, order))
            self._recipes.keep(key, recipe or False)


def memoize_recording(record: Callable[..., ndarray]) -> Callable[..., ndarray]:
    """A function of arrays with a memo: arrays of the same signatures, with the same other arguments, repeat a call.

    The function may do anything; what it records is kept if its result is a new array, pending, that operations on all
    the array arguments make. That must follow from their signatures and memory order, not from their elements.
    """
    signatures: BoundedTable[Key, Signature] = BoundedTable()
    recipes: BoundedTable[Key, Recipe] = BoundedTable()
    find, find_recipe = signatures.find, recipes.find

    @wraps(record)
    def run(*args: Any, **options: Any) -> ndarray:
        operands: tuple[Node, ...] = ()
        key: Key = ()
        try:
            for x in args:
                kind = type(x)
                if kind is ndarray:
                    if x._base is None:
                        node = x._node
                        key += (node.signature,)
                    else:
                        node = x.value()
                        key += (node.signature, x._layout.strides)  # what is pending does not tell the memory order
                    operands += (node,)
                elif kind is not tuple:
                    key += (kind, x)
                else:
                    key += (static_key(x),)
            if options:
                key += tuple([(name, static_key(x)) for name, x in options.items()])
            whole = find(key)
        except TypeError:  # an argument is not hashable
            return record(*args, **options)
        if whole is not None:
            return wrap(Node(whole, operands))
        known = find_recipe(key)
        result = None if known is None else known.array(operands)
        if result is None:
            result = record(*args, **options)
            if not any(result is x for x in args):
                made = _how_recorded(result, operands, tuple([f for f in key if type(f) is Signature]))
                if type(made) is Signature:
                    signatures.keep(key, made)
                elif type(made) is Recipe:
                    recipes.keep(key, made)
        return result

    return run


def static_key(x: Any) -> Any:
    """A static argument as a part of a key: with its type, for 1, 1.0 and True are equal and mean different things.

    Raises
    ------
    TypeError
        For an array, and for a tuple that holds one: those are operands.
    """
    kind = type(x)
    if kind is ndarray:
        raise TypeError("an array is no static argument")
    if kind is not tuple:
        return kind, x
    key: tuple[Any, ...] = (x,)
    for item in x:
        kind = type(item)
        if kind is tuple or kind is ndarray:
            return tuple(map(static_key, x))
        key += (kind,)
    return key


# --- recipes ----------------------------------------------------------------------------------------------------------


class _Window(NamedTuple):
    """A window of the leaf at a place, `step` elements after its beginning."""

    signature: Signature
    place: int
    step: int


class Recipe(NamedTuple):
    """The nodes to make over some operands, one after the other; the last one is the result.

    Places count the operands, then what is made in the order of the attributes.

    Attributes
    ----------
    inner
        Where to find what is taken from inside pending operands.
    scalars
        The scalars that are the same for all operands.
    windows
        The windows to make of leaves.
    steps
        The signature of each operation, and the places of its arguments.
    layout, flags
        What an array of the result has: its layout over the value if it is a view of it, and its flags.
    """

    inner: tuple[Path, ...]
    scalars: tuple[Node, ...]
    windows: tuple[_Window, ...]
    steps: tuple[tuple[Signature, tuple[int, ...]], ...]
    layout: Layout | None = None
    flags: int = 0

    def value(self, operands: tuple[Node, ...]) -> Node | None:
        """The result for these operands; None if another thread has just computed one that is looked into."""
        made = [*operands]
        for operand, *inside in self.inner:
            node = operands[operand]
            for k in inside:
                args = node.args
                if not args:  # those of what is computed are gone
                    return None
                node = args[k]
            made.append(node)
        made += self.scalars
        for signature, place, step in self.windows:
            node = made[place]
            made.append(graph.leaf_node(signature, graph.state(node)[0], node.offset + step))
        for signature, places in self.steps:
            if len(places) == 1:
                node = Node(signature, (made[places[0]],))
            else:
                node = Node(signature, tuple([made[p] for p in places]))
            if type(signature.primitive) is Gather:
                node.source_location = ""
            made.append(node)
        return made[-1]

    def array(self, operands: tuple[Node, ...]) -> ndarray | None:
        """The result for these operands as a new array; None where it has no value."""
        node = self.value(operands)
        if node is None:
            return None
        result = wrap(node)
        if self.layout is not None:
            result = make_view(result, self.layout)
        result._flags = self.flags
        return result

    def uses(self, places: Iterable[int]) -> bool:
        """Whether the result is made of all operands at these places."""
        used = {p for _, of in self.steps for p in of} | {window.place for window in self.windows}
        return used.issuperset(places)


# --- how a result was recorded ----------------------------------------------------------------------------------------


class _Unrepeatable(Exception):
    """What was recorded does not say what other operands would give."""


def _recipe(
    result: Node, operands: tuple[Node, ...], at_hand: dict[Node, tuple[Path, Signature]], limit: float = inf
) -> Recipe | None:
    """How a result was recorded; None where that would not hold for other operands of the same signatures.

    Parameters
    ----------
    at_hand
        The operands, and what may be taken from inside them: where it is found, and the signature that it had then.
        Another thread may compute a node meanwhile: then signatures do not agree, and there is no recipe.
    limit
        The number of nodes beyond which there is none.
    """
    met = {node: signature for node, (_, signature) in at_hand.items()}
    inner: dict[Node, Path] = {}
    scalars: list[Node] = []
    windows: dict[Node, tuple[Node, int]] = {}
    steps: dict[Node, tuple[Node, ...]] = {}
    # The arguments of a node come before the node: it stays in the stack, with them above it.
    stack: list[tuple[Node, Signature, tuple[Node, ...] | None]] = [(result, result.signature, None)]
    try:
        while stack:
            node, signature, args = stack.pop()
            if args is not None:
                steps[node] = args
            elif node in met:
                if met[node] is not signature:
                    raise _Unrepeatable
                if node in at_hand and (node is result or node not in operands):
                    inner[node] = at_hand[node][0]
            else:
                met[node] = signature
                if type(signature.primitive) is Const:
                    scalars.append(node)
                elif type(signature.primitive) is Leaf:
                    whole = _whole(node, signature, at_hand)
                    windows[node] = whole, node.offset - whole.offset
                    stack.append((whole, met[whole], None))
                else:
                    args = _args(node, signature)
                    stack.append((node, signature, args))
                    stack += [(arg, its, None) for arg, its in zip(args, signature.args)]
                    if len(met) > limit:
                        raise _Unrepeatable
    except _Unrepeatable:
        return None
    place = {node: k for k, node in enumerate((*operands, *inner, *scalars, *windows, *steps))}
    return Recipe(
        tuple(inner.values()),
        tuple(scalars),
        tuple([_Window(met[node], place[whole], step) for node, (whole, step) in windows.items()]),
        tuple([(met[node], tuple([place[a] for a in args])) for node, args in steps.items()]),
    )


def _args(node: Node, signature: Signature) -> tuple[Node, ...]:
    """The arguments of a pending node, if the same operation can be recorded again."""
    primitive, args = signature.primitive, node.args
    # The source location of a gather or a scatter is that of one call alone.
    located = type(primitive) is Scatter or (type(primitive) is Gather and node.source_location)
    if located or len(args) != len(signature.args):
        raise _Unrepeatable
    return args


def _whole(node: Node, signature: Signature, at_hand: dict[Node, tuple[Path, Signature]]) -> Node:
    """The leaf at hand that a leaf is a window of, if of every other leaf of its signature there is such a window."""
    data = graph.state(node)[0]
    found = [whole for whole in at_hand if whole.data is data]
    if len(found) == 1:
        its, window = at_hand[found[0]][1], signature.primitive
        leaf = its.primitive
        assert isinstance(window, Leaf)
        # A window of what is not aligned may be aligned by chance.
        if isinstance(leaf, Leaf) and its.dtype == signature.dtype and (leaf.aligned or not window.aligned):
            return found[0]
    raise _Unrepeatable


def _is_whole(result: Node, signature: Signature, operands: tuple[Node, ...], signatures: Signatures) -> bool:
    """Whether a result that has a signature is one operation on the operands as they are given, each of them once."""
    of_operands = signature.args == signatures and result.args == operands and len(set(operands)) == len(operands)
    return of_operands and type(signature.primitive) not in (Gather, Scatter)  # which have a source location


def _how_recorded(result: ndarray, operands: tuple[Node, ...], signatures: Signatures) -> Signature | Recipe | None:
    """How a new array was recorded from operands that had these signatures, if it would be the same for others."""
    owner = result if result._base is None else result._base
    node = owner._node
    f = node.signature
    # That an array was made as one only matters if it has no dimensions.
    flags = result._flags & ~BOX if result.ndim else result._flags
    if node.data is not None or not operands or (result is not owner and result._part):
        return None
    if result is owner and not flags and _is_whole(node, f, operands, signatures):
        return f
    if len(set(operands)) < len(operands):
        return None  # which of them is meant where?
    at_hand: dict[Node, tuple[Path, Signature]] = {
        x: ((k,), its) for k, (x, its) in enumerate(zip(operands, signatures))
    }
    recipe = _recipe(node, operands, at_hand, _MAX_NODES)
    if recipe is None or not recipe.uses(range(len(operands))):
        return None  # it depends on the elements of an operand
    return recipe._replace(layout=None if result is owner else result._layout, flags=flags)


# --- stand-ins --------------------------------------------------------------------------------------------------------


class StandIns:
    """Stand-ins for the operands of a function of nodes, and what it may take from inside them.

    They have the signatures of the operands and no values, but for scalars; where one node is given twice they differ.

    Attributes
    ----------
    nodes
        The stand-ins.
    """

    def __init__(self, operands: tuple[Node, ...], signatures: Signatures) -> None:
        self._at_hand: dict[Node, tuple[Path, Signature]] = {}
        self.nodes = tuple([_StandIn(f, (k,), self._at_hand) for k, f in enumerate(signatures)])
        self._scalars = [k for k, f in enumerate(signatures) if type(f.primitive) is Const]
        for k in self._scalars:
            self.nodes[k].data = operands[k].data

    def recipe(self, result: Node) -> Recipe | None:
        """How what the function made of the stand-ins is recorded; None where that depends on the value of a scalar."""
        recipe = _recipe(result, self.nodes, self._at_hand)
        return recipe if recipe is not None and recipe.uses(self._scalars) else None


class _Memory:
    """The buffer of a stand-in: one of its own, with an address that is not there."""

    __slots__ = ("ptr",)

    def __init__(self, ptr: float) -> None:
        self.ptr = ptr


class _StandIn(Node):
    """A node of a signature and without a value; its arguments are stand-ins too, made when they are looked at.

    Its false address is aligned only if the signature says so: no window of it is, if it does not.
    """

    __slots__ = ("_at_hand",)

    def __init__(self, signature: Signature, path: Path, at_hand: dict[Node, tuple[Path, Signature]]) -> None:
        self.signature = signature
        self.owner = None
        self._at_hand = at_hand
        at_hand[self] = path, signature
        primitive = signature.primitive
        self.data = None
        if type(primitive) is Leaf:
            self.data = _Memory(0 if primitive.aligned else 0.5)
            self.offset, self.bound = 0, None
        elif type(primitive) is Const:
            self.data = _Memory(0)  # whoever takes it for a number fails

    def __getattr__(self, name: str) -> Any:
        if name != "args":
            raise AttributeError(name)
        path, signature = self._at_hand[self]
        self.args = tuple([_StandIn(f, (*path, k), self._at_hand) for k, f in enumerate(signature.args)])
        return self.args
