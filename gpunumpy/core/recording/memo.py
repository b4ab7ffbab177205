"""The memo: cache of the nodes that a function records, by the signatures of its operands.

The signatures of the operands and the static arguments decide the dtypes, the shapes, the memory order and the
operations of a result. So the memo keeps what a function recorded as a `Recipe`, or as a bare signature if it is one
operation on the operands. The next call with an equal key makes the same nodes over its own operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from math import inf
from typing import Any, Literal, NamedTuple, TypeAlias

from .._native import tried_first
from ..graph import layout
from ..graph import node as graph
from ..graph.bounded_table import BoundedTable
from ..graph.layout import Layout
from ..graph.node import Node
from ..graph.primitives import Const, Gather, Leaf, Map, Reduce, Scatter, View
from ..graph.signature import Signature, at_new_sizes, with_arguments
from ..runtime import evaluate, memory
from .array import ORDERED, make_view, ndarray, wrap, wrap_ordered

# The signatures of the operands, in order, and everything else that decides what is recorded.
Key: TypeAlias = tuple[Any, ...]
Signatures: TypeAlias = tuple[Signature, ...]
# The way to a node inside an operand: the operand's number, then at each level down the number of an argument.
Path: TypeAlias = tuple[int, ...]


class MemoizedFunction:
    """Function of nodes with a memo: for a key that occurred before, it makes the same nodes again.

    The key is the signatures of the operands, then the static arguments. Static arguments must be hashable, and have
    the same meaning if they are equal (`static_key`).

    Parameters
    ----------
    record
        Called with the operands and the static arguments. It returns a value whose dimensions are in memory order, and
        that order (see `wrap_ordered`). Its result must depend on signatures and static arguments only. If it reads
        the value of a scalar operand without making that scalar an argument of the result, nothing is kept.

    Attributes
    ----------
    find
        ``find(key)`` returns the signature of a result that is one operation on the operands as given, or None. The
        hottest callers use it directly: the result is ``wrap(Node(signature, operands))``.
    """

    __slots__ = ("_keep", "_record", "_recordings", "find")

    def __init__(self, record: Callable[..., tuple[Node, tuple[int, ...] | None]]) -> None:
        self._record = record
        self._recordings = Recordings()
        self.find, self._keep = self._recordings.find, self._recordings.keep_signature

    def entries(self) -> tuple[dict[Key, Signature], dict[Key, Recipe | Literal[False]]]:
        """Return the entries of the tables of signatures and of recipes, which the core looks into."""
        return self._recordings.entries()

    def operations(self) -> dict[Key, Signature] | None:
        """Return the entries of a table of operations by the kinds of operands, if there is one."""
        return None

    def __call__(self, operands: tuple[Node, ...], *static: Any) -> ndarray:
        """Return the result as a new array."""
        signatures = tuple([x.signature for x in operands])
        key = (*signatures, *static)
        signature = self.find(key)
        if signature is not None:
            return wrap(Node(signature, operands))
        known = self._recordings.recall(key)
        if type(known) is Signature:
            return wrap(Node(known, operands))
        if type(known) is Recipe:
            result = known.array(operands)
            if result is not None:
                return result

        def record(operands: tuple[Node, ...]) -> ndarray:
            node, order = self._record(operands, *static)
            # Scalars alone are not kept: their result goes to the default device, which can change.
            if type(known) is Met and any(f.queue is not None for f in signatures):
                self._learn(key, known, node, order, operands, signatures)
            return wrap_ordered(node, order)

        result = undisturbed(record, operands)
        if result is None:
            evaluate.compute_operands(operands)
            result = wrap_ordered(*self._record(operands, *static))
        return result

    def _learn(
        self,
        key: Key,
        met: Met,
        node: Node,
        order: tuple[int, ...] | None,
        operands: tuple[Node, ...],
        signatures: Signatures,
    ) -> None:
        """Keep how a value was recorded for a key.

        A recipe is traced when operands that look the same occur for the second time, as tracing costs as much as
        recording.
        """
        if order is None and is_one_operation(node, node.signature, operands, signatures):
            self._recordings.keep(key, node.signature)
            return
        if met is Met.AGAIN:
            stand_ins = StandIns(operands, signatures)
            node, order = self._record(stand_ins.nodes, *key[len(operands) :])
            if order is None and is_one_operation(node, node.signature, stand_ins.nodes, signatures):
                # If one node was given twice, only distinct stand-ins can tell.
                self._recordings.keep(key, node.signature)
                return
            recipe = stand_ins.recipe(node)
            if recipe is not None and order is not None:
                recipe = recipe._replace(layout=layout.ordered_layout(node.signature.shape, order), flags=ORDERED)
            self._recordings.keep(key, recipe or False)


class MemoizedOperation(MemoizedFunction):
    """Memo of a function that records one operation, whose shape follows from the operands'.

    So a call with operands of other sizes repeats a recording too, where all dimensions are in C order and not empty.

    Parameters
    ----------
    record
        As of a `MemoizedFunction`.
    primitives
        What is known by the kinds of its operands.
    is_repeated
        Whether operands of these signatures are recorded as others of their kinds are.

    Attributes
    ----------
    find_at_new_sizes
        ``find_at_new_sizes(kinds)`` returns the signature of such a result for operands of these kinds, of some sizes,
        or None.
    """

    __slots__ = ("_is_repeated", "_keep_operation", "_primitives", "find_at_new_sizes")

    def __init__(
        self,
        record: Callable[..., tuple[Node, tuple[int, ...] | None]],
        primitives: tuple[type, ...] = (Map, Reduce),
        is_repeated: Callable[[Signatures], bool] | None = None,
    ) -> None:
        super().__init__(record)
        self._primitives, self._is_repeated = primitives, is_repeated
        # For kinds of operands and static arguments, the signature of a result of any shape.
        operations: BoundedTable[Key, Signature] = BoundedTable()
        self.find_at_new_sizes, self._keep_operation = operations.find, operations.keep

    def operations(self) -> dict[Key, Signature]:
        """Return the entries of the table of operations by kinds of operands and static arguments."""
        return self.find_at_new_sizes.__self__  # type: ignore[attr-defined]

    def __call__(self, operands: tuple[Node, ...], *static: Any) -> ndarray:
        """Return the result as a new array."""
        signatures = tuple([x.signature for x in operands])
        signature = self.find((*signatures, *static))
        if signature is None and (self._is_repeated is None or self._is_repeated(signatures)):
            signature = at_new_sizes(self.find_at_new_sizes, self._keep, signatures, static)
        if signature is not None:
            return wrap(Node(signature, operands))
        return super().__call__(operands, *static)

    def _learn(
        self,
        key: Key,
        met: Met,
        node: Node,
        order: tuple[int, ...] | None,
        operands: tuple[Node, ...],
        signatures: Signatures,
    ) -> None:
        signature = node.signature
        one_operation = node.args == operands and signature.args == signatures
        is_known = one_operation and not any(0 in s.shape for s in signatures)
        if (
            is_known
            and type(signature.primitive) in self._primitives
            and (self._is_repeated is None or self._is_repeated(signatures))
        ):
            self._keep_operation((*[s.kind for s in signatures], *key[len(operands) :]), signature)
        super()._learn(key, met, node, order, operands, signatures)


def undisturbed(record: Callable[[tuple[Node, ...]], ndarray | None], operands: tuple[Node, ...]) -> ndarray | None:
    """Record over operands, and return None if values were computed meanwhile.

    A recording can look into pending operands: a product leaves out the conjugate that an operand is. A flush of
    another thread or of a signal handler that comes before the new array is in the queue may compute the operand, and
    then overwrite what it was computed from, which the array reads.
    """
    queue = next((node.signature.queue for node in operands if node.signature.queue is not None), None)
    if queue is None or evaluate.watcher is not None:  # a watcher computes every value as it is recorded
        return record(operands)
    publications = queue.publications
    result = record(operands)
    return result if queue.run is None and queue.publications == publications else None


def static_key(x: Any) -> Any:
    """Return a static argument as part of a key, with its type: 1, 1.0 and True are equal but mean different things.

    Raises
    ------
    TypeError
        For an array, or a tuple that contains one: arrays are operands.
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
    """A window of leaf number `source`: a leaf with `signature`, beginning `step` elements after the source."""

    signature: Signature
    source: int
    step: int


class Recipe(NamedTuple):
    """Instructions to make a result from operands, node by node. The last node is the result.

    Nodes are numbered: the operands first, then the nodes of each attribute, in the order of the attributes.

    Attributes
    ----------
    inner
        The paths of nodes that are taken from inside pending operands.
    constants
        Nodes that no operand is in, the same for all operands: scalars, and generators made of them.
    scalars
        Scalars of which each result has its own, with the same value.
    windows
        Windows to make of leaves.
    steps
        The operations to make: signature, and numbers of the arguments.
    layout, flags
        For the result as an array: its layout over the value if it is a view, and its flags.
    """

    inner: tuple[Path, ...]
    constants: tuple[Node, ...]
    scalars: tuple[Node, ...]
    windows: tuple[_Window, ...]
    steps: tuple[tuple[Signature, tuple[int, ...]], ...]
    layout: Layout | None = None
    flags: int = 0

    def value(self, operands: tuple[Node, ...]) -> Node | None:
        """Return the result for these operands, or None if a node of `inner` or of `constants` has been computed."""
        return repeated(self, operands)

    def array(self, operands: tuple[Node, ...]) -> ndarray | None:
        """Return the result for these operands as a new array, or None if `value` returns None or was too late."""
        return undisturbed(self._array, operands) if self.inner else self._array(operands)

    def _array(self, operands: tuple[Node, ...]) -> ndarray | None:
        node = repeated(self, operands)
        if node is None:
            return None
        result = wrap(node)
        if self.layout is not None:
            result = make_view(result, self.layout)
        result._flags = self.flags
        return result

    def over(self, operands: Signatures) -> Recipe:
        """Return the recipe for other operands that look the same; see `_outline`."""
        known = dict(enumerate(operands))
        for number, (operand, *path) in enumerate(self.inner, len(operands)):
            signature = operands[operand]
            for k in path:
                signature = signature.args[k]
            known[number] = signature
        steps = []
        first = len(known) + len(self.constants) + len(self.scalars) + len(self.windows)
        for number, (signature, numbers) in enumerate(self.steps, first):
            args = tuple([known.get(k, arg) for k, arg in zip(numbers, signature.args, strict=True)])
            known[number] = with_arguments(signature, args)
            steps.append((known[number], numbers))
        return self._replace(steps=tuple(steps))

    def uses(self, operands: Iterable[int]) -> bool:
        """Return whether the recipe uses all operands with these numbers, or what is inside of them."""
        used = {k for _, numbers in self.steps for k in numbers} | {window.source for window in self.windows}
        used |= {operand for operand, *path in self.inner if path}
        return used.issuperset(operands)


@tried_first
def repeated(recipe: Recipe, operands: tuple[Node, ...]) -> Node | None:
    """Return the result of a recipe for operands, or None if a node of `inner` or of `constants` has been computed."""
    nodes = [*operands]
    for operand, *path in recipe.inner:
        node = operands[operand]
        for k in path:
            args = node.args
            if not args:  # a computed node has no arguments any more
                return None
            node = args[k]
        nodes.append(node)
    for node in recipe.constants:
        if node.data is not None and type(node.signature.primitive) is not Const:
            return None
        nodes.append(node)
    nodes += [Node(node.signature, (), node.data) for node in recipe.scalars]
    for signature, source, step in recipe.windows:
        node = nodes[source]
        nodes.append(graph.leaf_node(signature, graph.consistent_state(node)[0], node.offset + step))
    for signature, numbers in recipe.steps:
        if len(numbers) == 1:
            node = Node(signature, (nodes[numbers[0]],))
        else:
            node = Node(signature, tuple([nodes[k] for k in numbers]))
        if type(signature.primitive) is Gather:
            node.source_location = ""
        nodes.append(node)
    return nodes[-1]


class Met(Enum):
    """How a key is met of which nothing is known."""

    FIRST = 1
    AGAIN = 2


_recordings: list[Recordings] = []  # for as long as the program runs


@memory.limit_hooks.append
def _forget_all() -> None:
    for recordings in _recordings:
        recordings.clear()


class Recordings:
    """What a function recorded, by keys.

    A loop that looks at no value records the same in each step, of operands that have a longer calculation behind them.
    So what is known of a key is also known of those with the same outline.

    Attributes
    ----------
    find
        ``find(key)`` returns the signature of a result that is one operation on the operands as given, or None.
    keep_signature
        ``keep_signature(key, signature)`` keeps it, for this key alone.
    """

    __slots__ = ("_met", "_outlined", "_recipes", "_signatures", "find", "keep_signature")

    def __init__(self) -> None:
        self._signatures: BoundedTable[Key, Signature] = BoundedTable()
        self.find, self.keep_signature = self._signatures.find, self._signatures.keep
        self._recipes: BoundedTable[Key, Recipe | Literal[False]] = BoundedTable()  # False: no recipe exists
        self._outlined: BoundedTable[Key, Signature | Recipe] = BoundedTable()
        # For keys that have occurred and were unknown, and for their outlines.
        self._met: BoundedTable[Key, Met] = BoundedTable()
        _recordings.append(self)

    def clear(self) -> None:
        """Forget what was recorded."""
        for table in (self._signatures, self._recipes, self._outlined, self._met):
            table.clear()

    def entries(self) -> tuple[dict[Key, Signature], dict[Key, Recipe | Literal[False]]]:
        """Return the entries of the tables of signatures and of recipes."""
        return self.find.__self__, self._recipes.find.__self__  # type: ignore[attr-defined]

    def recall(self, key: Key) -> Signature | Recipe | Literal[False] | Met:
        """Return what is known of a key that `find` does not know, False if no recipe exists; else how it is met."""
        recipe = self._recipes.find(key)
        if recipe is not None:
            return recipe
        outline = _outline(key)
        similar = self._outlined.find(outline)
        if similar is None:
            met = self._met.find(outline)
            if met is None:
                self._met.keep(outline, Met.AGAIN)  # the next time
                if key != outline:
                    self._met.keep(key, Met.AGAIN)
            return met or Met.FIRST
        if self._met.find(key) is not None:
            # It was recorded anew, maybe with signatures that are equal to those of the outline and no others'
            # (`at_new_sizes`): so it is once more, or a program that runs again would have another plan.
            return Met.AGAIN
        if isinstance(similar, Signature):
            return self.keep_signature(key, with_arguments(similar, signatures_in(key)))
        return self._recipes.keep(key, similar.over(signatures_in(key)))

    def keep(self, key: Key, recording: Signature | Recipe | Literal[False]) -> None:
        """Keep how something was recorded."""
        if isinstance(recording, Signature):
            self.keep_signature(key, recording)
        else:
            self._recipes.keep(key, recording)
        if recording:
            self._outlined.keep(_outline(key), recording)


def signatures_in(key: Key) -> Signatures:
    """Return the signatures of the operands, in order."""
    return tuple([item for item in key if type(item) is Signature])


def _outline(key: Key) -> Key:
    """Return a key with what functions look at of an operand in the place of its signature."""
    return tuple([_looked_at(item) if type(item) is Signature else item for item in key])


def _looked_at(signature: Signature) -> Any:
    """Return what a function that records looks at of an operand: not what a pending one is computed from.

    But it looks through a view, and a matrix product looks at what was conjugated.
    """
    primitive, args = signature.primitive, signature.args
    if not args or (type(primitive) is Map and primitive.op == "conjugate"):
        return signature
    own = primitive, signature.shape, signature.dtype, signature.queue
    return (*own, _looked_at(args[0])) if type(primitive) is View else own


# --- tracing a recipe -------------------------------------------------------------------------------------------------


class _Unrepeatable(Exception):
    """The recording does not tell what other operands of the same signatures would give."""


def traced_recipe(
    result: Node,
    operands: tuple[Node, ...],
    available: dict[Node, tuple[Path, Signature]],
    max_nodes: float = inf,
    is_shared: Callable[[Node], bool] | None = None,
) -> Recipe | None:
    """Return how a result was recorded, or None if other operands of the same signatures may give another recording.

    Parameters
    ----------
    available
        The operands and the nodes that may be taken from inside them: the path to each, and its signature when the
        recording began. If another thread computes a node meanwhile, signatures disagree and the result is None.
    max_nodes
        The result is None for more nodes than this.
    is_shared
        Whether all results share a scalar, or a generator made of shared nodes; by default they do.
    """
    traced = {node: signature for node, (_, signature) in available.items()}
    inner: dict[Node, Path] = {}
    constants: dict[Node, Node] = {}
    scalars: list[Node] = []
    shares = is_shared or (lambda node: True)
    windows: dict[Node, tuple[Node, int]] = {}
    steps: dict[Node, tuple[Node, ...]] = {}
    # Depth first: a node goes back on the stack with its arguments, below them, and becomes a step after all of them.
    stack: list[tuple[Node, Signature, tuple[Node, ...] | None]] = [(result, result.signature, None)]
    try:
        while stack:
            node, signature, args = stack.pop()
            if args is not None:
                if signature.generator and node is not result and constants.keys() >= set(args) and shares(node):
                    constants[node] = _constant(node, signature, *[constants[arg] for arg in args])
                else:
                    steps[node] = args
            elif node in traced:
                if traced[node] is not signature:
                    raise _Unrepeatable
                if node in available and (node is result or node not in operands):
                    inner[node] = available[node][0]
            else:
                traced[node] = signature
                if type(signature.primitive) is Const:
                    if shares(node):
                        constants[node] = _constant(node, signature)
                    else:
                        scalars.append(node)
                elif type(signature.primitive) is Leaf:
                    source = _source_of_window(node, signature, available)
                    windows[node] = source, node.offset - source.offset
                    stack.append((source, traced[source], None))
                else:
                    args = _args(node, signature)
                    stack.append((node, signature, args))
                    stack += [(arg, arg_signature, None) for arg, arg_signature in zip(args, signature.args)]
                    if len(traced) > max_nodes:
                        raise _Unrepeatable
    except _Unrepeatable:
        return None
    arguments = {arg for args in steps.values() for arg in args}
    used = [node for node in constants if node in arguments or node is result]
    number = {node: k for k, node in enumerate((*operands, *inner, *used, *scalars, *windows, *steps))}
    return Recipe(
        tuple(inner.values()),
        tuple([constants[node] for node in used]),
        tuple([Node(node.signature, (), node.data) for node in scalars]),
        tuple([_Window(traced[node], number[source], step) for node, (source, step) in windows.items()]),
        tuple([(traced[node], tuple([number[arg] for arg in args])) for node, args in steps.items()]),
    )


# Nodes that recipes share, by their signatures and either their arguments or their value.
_constants: BoundedTable[Key, Node] = BoundedTable()


def _constant(node: Node, signature: Signature, *args: Node) -> Node:
    """Return the node that stands in all recipes for an integer, or for a generator with these arguments.

    A loop records the same function of other operands in every step, as their signatures differ. The graph of many
    steps is smaller where they share what does not depend on the operands.
    """
    is_scalar = type(signature.primitive) is Const
    if is_scalar and type(node.data) is not int:
        return node
    key = (signature, node.data) if is_scalar else (signature, *args)
    known = _constants.keep(key, node)
    return known if is_scalar or known.data is None else node  # a generator that was computed is a leaf


def is_shared(node: Node) -> bool:
    """Return whether a node is one that recipes share."""
    signature = node.signature
    key = (signature, node.data) if type(signature.primitive) is Const else (signature, *node.args)
    return _constants.find(key) is node


def shared_scalar(value: float) -> Node:
    """Return the node that all recordings share for a number, made anew or from a recipe."""
    node = graph.scalar(value)
    return _constants.keep((node.signature, value), node)


def shared_generator(node: Node) -> Node:
    """Return the node that recipes share for a generator, so that what records anew makes the same graph as they do.

    Otherwise the first rounds of a loop, which make the recipes, would have plans of their own.
    """
    if node.data is not None or not node.signature.generator:
        return _constant(node, node.signature) if type(node.signature.primitive) is Const else node
    return _constant(node, node.signature, *[shared_generator(arg) for arg in node.args])


def _args(node: Node, signature: Signature) -> tuple[Node, ...]:
    """Return the arguments of a pending node. Raise `_Unrepeatable` if the operation cannot be recorded again."""
    primitive, args = signature.primitive, node.args
    # The source location of a gather or a scatter belongs to one call.
    has_location = type(primitive) is Scatter or (type(primitive) is Gather and node.source_location)
    if has_location or len(args) != len(signature.args):
        raise _Unrepeatable
    return args


def _source_of_window(node: Node, signature: Signature, available: dict[Node, tuple[Path, Signature]]) -> Node:
    """Return the available leaf that a leaf is a window of.

    Raise `_Unrepeatable` if there is none, or if the same window of another leaf may have another signature.
    """
    data = graph.consistent_state(node)[0]
    sources = [source for source in available if source.data is data]
    if len(sources) == 1:
        source_signature, window = available[sources[0]][1], signature.primitive
        leaf = source_signature.primitive
        assert isinstance(window, Leaf)
        # A window of an unaligned leaf is aligned by chance only.
        same_dtype = source_signature.dtype == signature.dtype
        if isinstance(leaf, Leaf) and same_dtype and (leaf.aligned or not window.aligned):
            return sources[0]
    raise _Unrepeatable


def is_one_operation(result: Node, signature: Signature, operands: tuple[Node, ...], signatures: Signatures) -> bool:
    """Return whether a result with this signature is one operation on the operands in order, all distinct nodes."""
    of_operands = signature.args == signatures and result.args == operands and len(set(operands)) == len(operands)
    return of_operands and type(signature.primitive) not in (Gather, Scatter)  # these have a source location


# --- stand-ins --------------------------------------------------------------------------------------------------------


class StandIns:
    """Placeholder nodes for the operands of a function of nodes, from which its recipe can be traced.

    A stand-in has the signature of its operand. It has no value unless it is a scalar. Stand-ins are distinct even if
    the same node is given for two operands.

    Attributes
    ----------
    nodes
        The stand-ins, one for each operand.
    """

    def __init__(self, operands: tuple[Node, ...], signatures: Signatures) -> None:
        self._available: dict[Node, tuple[Path, Signature]] = {}
        self.nodes = tuple([_StandIn(signature, (k,), self._available) for k, signature in enumerate(signatures)])
        self._scalars = [k for k, signature in enumerate(signatures) if type(signature.primitive) is Const]
        for k in self._scalars:
            self.nodes[k].data = operands[k].data

    def recipe(self, result: Node) -> Recipe | None:
        """Return how a result was recorded from the stand-ins; None if it may depend on the value of a scalar."""
        recipe = traced_recipe(result, self.nodes, self._available)
        return recipe if recipe is not None and recipe.uses(self._scalars) else None


class _FakeBuffer:
    """Buffer of a stand-in, distinct for each, without memory."""

    __slots__ = ("phase",)

    def __init__(self, phase: float) -> None:
        self.phase = phase


class _StandIn(Node):
    """Placeholder node with a signature and no value. Its arguments are stand-ins too, made on first access.

    It is aligned only if the signature requires alignment: a phase of 0.5 makes every window unaligned.
    """

    __slots__ = ("_available",)

    def __init__(self, signature: Signature, path: Path, available: dict[Node, tuple[Path, Signature]]) -> None:
        self.signature = signature
        self.owner = None
        self._available = available
        available[self] = path, signature
        primitive = signature.primitive
        self.data = None
        if type(primitive) is Leaf:
            self.data = _FakeBuffer(0 if primitive.aligned else 0.5)
            self.offset = 0
        elif type(primitive) is Const:
            self.data = _FakeBuffer(0)  # code that uses it as a number fails

    def __getattr__(self, name: str) -> Any:
        """Make the arguments, the only attribute that is not set at first."""
        if name != "args":
            raise AttributeError(name)
        path, signature = self._available[self]
        self.args = tuple([_StandIn(s, (*path, k), self._available) for k, s in enumerate(signature.args)])
        return self.args
