"""`ndarray`: the state of an array, its views and its evaluation. The layer `arrays` binds operators and methods to it.

An array that owns its storage holds the storage's current value (`_node`, in C order). A view holds its owner and a
layout over the owner's elements; reading the view derives its node from the owner's current node. Writing through any
view gives the owner a new node.

An array on the host shows memory of the host, a NumPy array: of a dtype that no kernel computes, or small
(`core.recording.residence`). It has no layout and cannot be assigned to: what asks for that moves a small array to its
device, and raises `OnHostError` for a dtype that no kernel computes.
"""

from __future__ import annotations

import gc
import math
import weakref
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy

from .. import _native, dtypes
from .._native import compiled, tried_first
from ..dtypes import BOOL, KIND, DType
from ..errors import OnHostError
from ..graph import layout
from ..graph import node as graph
from ..graph.layout import Layout
from ..graph.node import Node
from ..graph.primitives import Leaf, View
from ..graph.queue import Queue
from ..locks import ReentrantLock
from ..runtime import evaluate, hints, host_work, memory, memory_copy
from ..runtime.async_copies import buffer_under_way, wait_for_memory
from ..runtime.device import Device, default_device
from ..runtime.host_copies import COPIED_BYTES, bytes_on_host, is_on_host
from ..runtime.host_work import observed
from ..runtime.memory import address
from ..runtime.spill import buffer_of
from ..sequence_patterns import match_as_sequence
from .host_memory import placeholder, shows
from .states import take_state
from .view_values import component_layout, derived, in_c_order, reinterpreted, truth_bytes

_BYTE = numpy.dtype(numpy.uint8)

# The subclasses of `ndarray` that a program has defined. Few programs do: only then are arguments looked at for them.
SUBCLASSES: list[type[ndarray]] = []

# Bits of `_flags`.
READ_ONLY = 1
# The array was made as an array. Without this bit a 0-d array is the result of an operation and acts as a NumPy scalar,
# which cannot be written in place.
MADE_AS_ARRAY = 2
# The array shows memory that was given as read-only: nothing may make it writeable.
ALWAYS_READ_ONLY = 4
# The array is on the host.
ON_HOST = 8
# The array on the host has a view of a dtype that no kernel computes, which could not follow it to its device, or shows
# memory that somebody else has lent.
STAYS_ON_HOST = 16
# The array is a view for its memory order or shape alone, of an owner that nothing but it and its own views shows.
ORDERED = 32


@compiled
class ArrayState:
    """The fields of an array."""

    __slots__ = ("__weakref__", "_base", "_component", "_flags", "_layout", "_node", "_owner", "_source")

    _node: Node
    # The owner of a view, an `ndarray`; None for an owner. Of an array on the host its memory: a NumPy array, or a
    # NumPy scalar for the 0-d result of an operation.
    _base: Any
    _flags: int
    # For views only. The layout is over the owner's elements, or over its bytes as elements of the view's dtype if
    # _component is "view".
    _layout: Layout
    _component: str  # the part of an element that is shown: "" all of it, "real", "imag", or "view" for another dtype
    # The owner's node that _node was derived from; None to derive it at every use. Of an array on the host what it was
    # when it was copied to the device, and that copy; or the leaf whose memory it shows.
    _source: Any
    # Of an array on the host the array that has the memory, if another one. Of one that was moved to its device the
    # memory that it had, for views that still show it.
    _owner: Any


class ndarray(ArrayState):
    """A multi-dimensional array on a GPU or on the CPU.

    Create arrays by `array`, `zeros`, `arange` and similar functions; call the class itself only for an explicit memory
    layout (see `numpy.ndarray`). Operations on arrays are recorded, and computed when a value is needed.
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Note that there are subclasses."""
        super().__init_subclass__()
        SUBCLASSES.append(cls)

    def __array_finalize__(self, obj: Any) -> None:
        """Take over attributes of `obj`, the array that a new array of a subclass was made from. Subclasses do so."""

    # --- state --------------------------------------------------------------------------------------------------------
    # The core reads those of `core._native.ATTRIBUTES`. They follow from no other one: subclasses may have their own.

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of every dimension."""
        return self._node.signature.shape

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._node.signature.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._node.signature.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self._node.signature.shape)

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self._node.signature.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return math.prod(self._node.signature.shape) * self._node.signature.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """The stride of every dimension, in bytes."""
        on_host = memory_on_host(self)
        if on_host is not None:
            return on_host.strides
        signature = self._node.signature
        if 0 in signature.shape and self._has_zero_strides():
            return (0,) * len(signature.shape)
        itemsize = signature.dtype.itemsize
        return tuple([s * itemsize for s in self.element_strides])

    def _has_zero_strides(self) -> bool:
        """Return whether all strides are 0, as NumPy has them where the owner has no element, unless by a reshape."""
        owner = self if self._base is None else self._base
        shape, strides, _ = self.layout
        return 0 in owner._node.signature.shape and (shape == owner.shape or strides != layout.c_strides(shape))

    @property
    def element_strides(self) -> tuple[int, ...]:
        """The stride of every dimension, in elements of the array's own dtype."""
        strides = self.layout.strides
        if self._base is not None and self._component in ("real", "imag"):
            return tuple(2 * s for s in strides)  # the layout counts complex elements
        return strides

    @property
    def c_contiguous(self) -> bool:
        """Whether the elements are contiguous, in C order."""
        on_host = memory_on_host(self)
        if on_host is not None:
            return bool(on_host.flags.c_contiguous)
        return self._base is None or layout.is_c_contiguous(self._node.signature.shape, self.element_strides)

    @property
    def f_contiguous(self) -> bool:
        """Whether the elements are contiguous, in Fortran order."""
        on_host = memory_on_host(self)
        if on_host is not None:
            return bool(on_host.flags.f_contiguous)
        return layout.is_f_contiguous(self._node.signature.shape, self.element_strides)

    @property
    def base(self) -> Any:
        """What has the memory that this array shows: an array, or an object that lent its buffer. None for an owner."""
        if self._flags & ORDERED or not self._flags & ON_HOST:
            return None if self._flags & ORDERED else self._base
        if self._owner is not None or not self._flags & STAYS_ON_HOST:
            return self._owner
        return None if isinstance(self._base.base, numpy.ndarray) else self._base.base

    @property
    def device(self) -> Device:
        """The device that the elements are on."""
        device: Device = self.queue.device
        return device

    @property
    def residence(self) -> str:
        """Where the elements are now: "host", where NumPy computes with them, or "device". See `set_residence`."""
        return "device" if memory_on_host(self) is None else "host"

    @property
    def queue(self) -> Queue:
        """The queue of the device, which holds recorded values that are not computed."""
        queue = self._node.signature.queue
        assert queue is not None
        return queue

    @property
    def layout(self) -> Layout:
        """Shape, strides and offset over the elements of the owner, which is the array itself if it is no view."""
        if self._flags & ON_HOST:
            require_device(self)
        if self._base is None:
            return layout.c_layout(self._node.signature.shape)
        return self._layout

    @property
    def writeable(self) -> bool:
        """Whether the array is not marked as read-only."""
        on_host = memory_on_host(self)
        if isinstance(on_host, numpy.ndarray):
            return bool(on_host.flags.writeable)
        return not self._flags & READ_ONLY

    # --- values -------------------------------------------------------------------------------------------------------

    def value(self) -> Node:
        """Return the node of the array's current value."""
        base = self._base
        if base is None:
            return self._node
        if self._flags & ON_HOST:
            memory = memory_on_host(self)
            return self.value() if memory is None else _copied(self, memory)
        current = base.value()
        node, data = self._node, current.data
        # Of a computed base, a view is a window. A node that was recorded before may have a buffer of its own, if it
        # became the value of a copy, which then owns it: what is written to the copy overwrites that buffer.
        if self._source is not current or (node.data is not data and (data is not None or node.owner is not None)):
            with base.queue.lock:  # the two fields change together: another thread may derive them too
                current = base.value()
                self._node = node = derived(current, self._layout, self._component, self.dtype)
                self._source = None if _is_bool_view(self) else current
        return node

    def computed(self) -> Node:
        """Compute the array's value and return it: a leaf, which is a window of a buffer."""
        base = self._base
        if base is None:
            return evaluate.compute(self._node)
        if self._flags & ON_HOST:
            return self.value()
        evaluate.compute(base.value())
        node = self.value()
        return node if node.data is not None else evaluate.compute(node)

    def memory(self) -> Node:
        """Compute the array's value and return the window of its memory, which `computed` may return a copy of."""
        require_device(self)
        if not _is_bool_view(self):
            return self.computed()
        assert self._base is not None
        return reinterpreted(evaluate.compute(self._base.value()), self._layout, self.dtype)

    def assign(self, value: Node, where: Layout | None = None) -> None:
        """Record new values for the elements.

        Parameters
        ----------
        value
            Has the array's dtype, and broadcasts to the shape that is assigned to.
        where
            The elements to assign to, as a layout over the owner. By default all elements of the array.

        Raises
        ------
        ValueError
            If the array is read-only, or the values are on another device.
        OverlapError
            If elements overlap: NumPy writes them, one after the other.
        """
        if self._flags & (READ_ONLY | ON_HOST) and not self.writeable:
            raise ValueError("assignment destination is read-only")
        require_device(self)
        queue = self.queue
        where = where or self.layout
        shape = where.shape
        if value.signature.queue is None:
            value = graph.fill(value, shape, queue)
        elif value.signature.queue is not queue:
            raise graph.two_devices(queue, value.signature.queue)
        elif value.signature.shape != shape:
            value = graph.broadcast(value, shape)
        # Threads that write to parts of one array must each update the value that the others have recorded.
        with queue.lock:
            self._assign(value, where)

    def _assign(self, value: Node, where: Layout) -> None:
        owner = self if self._base is None else self._base
        current = owner._node
        data, primitive = current.data, value.signature.primitive
        if (owner is self or self._component == "") and not (data is not None and data.exported):
            if (
                type(primitive) is View
                and value.args[:1] == (current,)
                and (primitive.strides, primitive.offset) == where[1:]
            ):
                return  # the second half of ``a[i:j] += b``: the elements have these values already
            shape = current.signature.shape
            if where.offset or where.shape != shape or not layout.is_c_contiguous(shape, where.strides):
                layout.require_distinct(where)
                value = graph.update(current, where, value)
            elif not graph.may_be_owned(value):
                value = graph.as_new_node(value)
            owner._set(value)
            return
        layout.require_distinct(where)
        # Memory that another library sees, or that is seen as another dtype, is written at once and in place.
        if evaluate.watcher is not None:
            evaluate.watcher(value)
        current = evaluate.compute(current)
        dtype = value.signature.dtype
        if owner.dtype == BOOL != dtype and not owner.device.shares_host_memory:
            value = truth_bytes(value, owner.queue)
        evaluate.flush(owner.queue)
        count = owner.nbytes // dtype.itemsize
        start = current.offset * owner.itemsize // dtype.itemsize
        flat = graph.leaf(current.data, dtype, Layout((count,), (1,), start), owner.queue)
        if self._base is not None and self._component in ("real", "imag"):
            where = component_layout(where, self._component)
        if current.data.exported and evaluate.reads_alias(value, current.data):
            value = evaluate.compute(graph.as_new_node(value))
        written = evaluate.compute(graph.update(flat, where, value)).data
        if current.data.exported and written is not current.data:
            memory_copy.copy(current.data, 0, written, 0, owner.nbytes)
            written = current.data
        node = graph.leaf(written, owner.dtype, Layout(owner.shape, layout.c_strides(owner.shape), 0), owner.queue)
        node.owner = owner._node.owner
        owner._node = node

    def _set(self, node: Node) -> None:
        """Make a node, which no array owns yet, the value of this array, which must own its storage."""
        node.owner = ref = weakref.ref(self)
        queue = node.signature.queue
        assert queue is not None
        pending = queue.pending
        pending.append(ref)  # first: if an exception comes in between, the queue has an entry too many
        self._node = node
        if len(pending) > queue.review_at:
            queue.review(queue, node)
        elif not pending or pending[-1] is not ref:
            pending.append(ref)  # a flush of a signal handler, which saw the old value, may have removed the entry


match_as_sequence(ndarray)


def memory_on_host(array: ndarray) -> Any:
    """Return the memory of an array on the host as a NumPy array or scalar; None for an array on a device."""
    if not array._flags & ON_HOST:
        return None
    owner, memory = array._owner, array._base
    if not array._flags & ON_HOST:  # another thread has moved it
        return None
    if owner is not None and not owner._flags & ON_HOST:
        with owner.queue.lock:
            _follow(array, owner)
        return None
    return memory


def host_only_memory(array: ndarray) -> Any:
    """Return `memory_on_host` of an array that cannot be moved, as no kernel computes a dtype of the memory."""
    memory = memory_on_host(array)
    return None if memory is None or _can_leave_host(array) else memory


def _can_leave_host(array: ndarray) -> bool:
    """Return whether kernels compute all dtypes as which arrays show the memory of an array on the host.

    A field of a record shows the record's memory.
    """
    owner = owner_of(array)
    return owner._base.dtype in KIND and not owner._flags & STAYS_ON_HOST


def keep_on_host(array: ndarray) -> None:
    """Have an array that is on the host stay there, as something else shows its memory."""
    owner_of(array)._flags |= STAYS_ON_HOST


def require_device(array: ndarray) -> None:
    """Move an array that is on the host to its device. Raise `OnHostError` if no kernel computes its dtype."""
    memory = memory_on_host(array)
    if memory is None:
        return
    if not _can_leave_host(array):
        raise OnHostError(f"an array of dtype {memory.dtype} is on the host")
    owner = owner_of(array)
    with array.queue.lock:
        if owner._flags & ON_HOST:
            _move(owner)
        memory_on_host(array)


def _move(owner: ndarray) -> None:
    """Put the elements of an array on the host, which has the memory, on its device. Views follow when they are used.

    The bytes keep their order, so that a view finds its elements where they were, and stay as they are: booleans that a
    view of another dtype has made other bytes than 0 and 1 are bytes that the array shows as booleans.
    """
    memory = owner._base
    if not owner._flags & ON_HOST:
        return  # a signal handler has looked at it in between
    leaf: Any = getattr(owner, "_source", None)
    moved = wrap_leaf(leaf) if shows(memory, leaf) else _copy_on_device(memory, owner.device)
    if moved._base is None:
        moved._node.owner = weakref.ref(owner)
    moved._owner = memory  # for the views
    moved._flags = moved._flags & ORDERED | owner._flags & MADE_AS_ARRAY
    if moved._flags & MADE_AS_ARRAY and not memory.flags.writeable:
        moved._flags |= READ_ONLY
    take_state(owner, moved)


def _copy_on_device(memory: Any, device: Device) -> ndarray:
    """Return an array on a device with the bytes of an array on the host."""
    data = numpy.asarray(memory)
    stored = data.view(_BYTE) if data.dtype == BOOL and data.view(_BYTE).max(initial=0) > 1 else data
    moved = from_host(stored, device)
    return moved if stored is data else make_view(moved, moved.layout, "view", BOOL)


def owner_of(array: ndarray) -> ndarray:
    """Return the array that has the memory of an array: the array itself, or the one that it is a view of."""
    owner: ndarray | None = array._owner if array._flags & ON_HOST else array._base
    return array if owner is None else owner


def has_views(array: ndarray, known: int = 0) -> bool:
    """Return whether there are more views of an array than are known, that show no other array that a program sees."""
    owner: Any = owner_of(array)
    known += owner is not array
    if _native.IS_COMPILED:
        count: int = owner._views
        return count > known
    return sum(isinstance(referrer, ndarray) for referrer in gc.get_referrers(owner)) > known


def _follow(view: ndarray, owner: ndarray) -> None:
    """Have a view of an array on the host, which has been moved to its device, show the elements there."""
    memory: Any = view._base
    if not view._flags & ON_HOST:  # a signal handler has looked at it in between
        return
    itemsize = memory.itemsize
    first_byte = address(memory) - address(owner._owner) if memory.size else 0
    if memory.size and any(distance % itemsize for distance in (first_byte, *memory.strides)):
        raise ValueError(f"a view as {memory.dtype} would begin between two elements of {itemsize} bytes")
    strides = tuple(stride // itemsize for stride in memory.strides)
    storage = owner if owner._base is None else owner._base
    component = "" if memory.dtype == storage.dtype else "view"
    shown = make_view(storage, Layout(memory.shape, strides, first_byte // itemsize), component, memory.dtype)
    shown._flags = view._flags & ORDERED | (MADE_AS_ARRAY if memory.flags.writeable else MADE_AS_ARRAY | READ_ONLY)
    take_state(view, shown)


def on_host_memory(memory: Any, device: Device, owner: ndarray | None = None) -> ndarray:
    """Return an array that shows memory of the host, which is a NumPy array and not copied.

    Parameters
    ----------
    memory
        The NumPy array, of any dtype; a NumPy scalar for an array that acts as one.
    device
        The device of the array.
    owner
        The array on the host that `memory` is a view of, if any.
    """
    array = ArrayState.__new__(ndarray)
    array._flags = ON_HOST if isinstance(memory, numpy.generic) else ON_HOST | MADE_AS_ARRAY
    array._base = memory
    array._owner = owner
    array._node = placeholder(memory.shape, memory.dtype, evaluate.queue_of(device))
    if owner is not None and memory.dtype not in KIND:
        keep_on_host(owner)
    return array


def on_lent_memory(memory: Any, device: Device | None = None) -> ndarray:
    """Return an array that shows memory which somebody else has lent, as a NumPy array, and stays on the host.

    So what either writes the other sees. An operation on the device copies the elements there as they are then.
    """
    array = on_host_memory(memory, default_device() if device is None else device)
    array._flags |= STAYS_ON_HOST
    return array


def show(array: ndarray, memory: Any) -> None:
    """Have an array on the host show other memory, or memory whose shape or dtype has changed."""
    array._base = memory
    array._node = placeholder(memory.shape, memory.dtype, array.queue)


def _copied(array: ndarray, memory: Any) -> Node:
    """Return the value of an array on the host, as it is now, on its device.

    The last copy is kept with its bytes: what does not change, as few operands do, is copied once. The array that has
    the memory keeps it too, for the views that a loop makes anew in every step.
    """
    dtypes.check(memory.dtype)
    is_captured = array.device.capture is not None  # by a graph, which reads it where it is from now on
    if memory.nbytes > 2 * COPIED_BYTES or is_captured:
        if not _can_leave_host(array):
            return from_host(memory, array.device).value()
        require_device(array)  # it was on the host to be accessed by elements
        owner_of(array)._node.data.exported |= is_captured
        return array.value()
    if _native.has_met_device(array):
        require_device(array)
        return array.value()
    state = memory.shape, memory.dtype, memory.tobytes()
    keepers = [x for x in (array, owner_of(array)) if type(getattr(x, "_source", None)) is not Node]
    sources = [getattr(x, "_source", None) for x in keepers]
    kept = next((source for source in sources if source is not None and source[0] == state), None)
    if kept is None:
        kept = state, from_host(numpy.asarray(memory), array.device)
        for x in keepers:
            x._source = kept
    copy: ndarray = kept[1]
    return copy.value()


def value_beside(array: ndarray, other: ndarray) -> Node:
    """Return the value of an array as an operand beside another one: what acts as a scalar is a number for kernels."""
    if array._flags & ON_HOST and not other._flags & ON_HOST and isinstance(array._base, numpy.generic):
        return graph.typed_scalar(array._base, array._base.dtype)
    return array.value()


def one_step(target: object) -> AbstractContextManager[Any]:
    """Return a context in which reading an array and writing it back is one step for other threads.

    Threads that write to arrays of the device, or compute, wait meanwhile, so no write of theirs comes between and is
    lost. Whatever waits for another device, for a random stream or for foreign code comes before: two threads with one
    lock each could wait for each other. The context does nothing for a target that is no array of this package.
    """
    return target.queue.lock if isinstance(target, ndarray) else nullcontext()


def hand_over(temporary: ndarray, array: ndarray) -> bool:
    """Make the pending value of a temporary array that of another one, of the same shape and dtype, under its lock.

    Return False, and change nothing, if `array` cannot take it (`takes_values`), or the value is not pending.
    """
    if temporary._base is not None or temporary._node.data is not None or not takes_values(array):
        return False
    array._set(temporary._node)
    return True


def takes_values(array: ndarray) -> bool:
    """Return whether pending values can become those of an array: no view, not read-only and not exported."""
    return array._base is None and not array._flags & READ_ONLY and not getattr(array._node.data, "exported", False)


def _is_bool_view(array: ndarray) -> bool:
    """Return whether an array shows memory of another dtype, or of another library, as booleans.

    Kernels rely on booleans that are 0 or 1. Such memory can hold other bytes, which NumPy takes for True: it is read
    as bytes, and anew at every use, as other arrays and libraries write to it.
    """
    return array._base is not None and array._component == "view" and array._node.signature.dtype == BOOL


@compiled
def wrap(node: Node) -> ndarray:
    """Return a new array with this value."""
    if not graph.may_be_owned(node):
        node = graph.as_new_node(node)  # a node has one owner, and a new array its own buffer
    array = ArrayState.__new__(ndarray)
    array._node = node
    array._base = None
    array._flags = 0
    node.owner = ref = weakref.ref(array)
    queue = node.signature.queue
    pending = queue.pending  # type: ignore[union-attr]
    if len(pending) < queue.review_at:  # type: ignore[union-attr]
        pending.append(ref)
    else:
        queue.review(queue, node)  # type: ignore[union-attr,arg-type]
    return array


def mark_as_array(array: ndarray) -> ndarray:
    """Mark an array as made as an array, so that it does not act as a NumPy scalar even if it is 0-d, and return it."""
    array._flags |= MADE_AS_ARRAY
    if array._flags & ON_HOST and isinstance(array._base, numpy.generic):
        array._base = numpy.array(array._base)
    return array


def is_scalar(array: ndarray) -> bool:
    """Return whether an array is the 0-d result of an operation, which acts as a NumPy scalar."""
    return not array._flags & MADE_AS_ARRAY and not array._node.signature.shape


def scalar_of(result: ndarray, array: ndarray) -> ndarray:
    """Return the result of a method as what acts as a NumPy scalar, if it is 0-d and `array` acts as one too."""
    return wrap(result.value()) if is_scalar(array) and not result.shape else result


def wrap_leaf(node: Node) -> ndarray:
    """Return a new array that owns a leaf and its buffer."""
    array = ArrayState.__new__(ndarray)
    array._node = node
    array._base = None
    array._flags = MADE_AS_ARRAY
    node.owner = weakref.ref(array)
    return array


@tried_first
def make_view(array: ndarray, where: Layout, component: str = "", dtype: DType | None = None) -> ndarray:
    """Return a view of an array.

    Parameters
    ----------
    array
        An owner or a view.
    where
        The elements of the view: a layout over the owner's elements, or over elements of `dtype` if `component` is
        "view".
    component
        As in `ndarray._component`; "" for that of `array`.
    dtype
        The dtype of the view, by default that of `array`.
    """
    if len(where.shape) > layout.MAX_DIMENSIONS:
        layout.check_dimension_count(len(where.shape))
    if is_scalar(array):
        array = mark_as_array(wrap(array.value()))  # a view of a NumPy scalar is a new array
    if array._flags & ON_HOST:
        require_device(array)
    owner = array if array._base is None else array._base
    view = ArrayState.__new__(ndarray)
    view._base = owner
    view._layout = where
    view._component = component = component or ("" if array._base is None else array._component)
    view._flags = array._flags & ~ORDERED | MADE_AS_ARRAY
    view._source = current = owner._node
    view._node = (
        graph.view(current, where) if component == "" else derived(current, where, component, dtype or array.dtype)
    )
    if component == "view" and _is_bool_view(view):
        view._source = None
    return view


def as_class(array: ndarray, cls: type[ndarray], template: ndarray | None) -> Any:
    """Return a view of an array as an array of another class, made from `template` (None if made by a call)."""
    memory = memory_on_host(array)
    if memory is None:
        view = make_view(array, array.layout)
    else:
        # Arrays of subclasses are no scalars: of a scalar of NumPy the index makes an array.
        view = on_host_memory(memory.view() if cls is ndarray else memory[...], array.device, owner_of(array))
    if cls is ndarray:
        return view
    result = ArrayState.__new__(cls)
    take_state(result, view)
    result.__array_finalize__(template)
    return result


def wrap_ordered(node: Node, order: tuple[int, ...] | None) -> ndarray:
    """Return a new array with a value in memory order: dimension k of the node is the array's axis ``order[k]``."""
    array = wrap(node)
    return array if order is None else ordered_view(array, order)


def ordered_view(array: ndarray, order: tuple[int, ...]) -> ndarray:
    """Return the only view that is shown of a new array: dimension k of the array is its axis ``order[k]``."""
    view = make_view(array, layout.ordered_layout(array.shape, order))
    view._flags = array._flags | ORDERED
    return view


# --- to and from the host ---------------------------------------------------------------------------------------------


def from_host(data: Any, device: Device | None = None, blocking: bool = True) -> ndarray:
    """Return a new array with a copy of a NumPy array, of a supported dtype in either byte order.

    Unless `blocking` is set, a GPU reads page-locked memory behind this call.
    """
    dtype = dtypes.of_data(data.dtype)
    queue = evaluate.prove(evaluate.queue_of(default_device() if device is None else device))
    device = queue.device
    wait_for_memory(data, to_write=False)
    order = None
    if not data.flags.c_contiguous:
        order = layout.memory_order([(data.shape, [s // max(1, data.itemsize) for s in data.strides])], data.ndim)
    ordered = data if order is None else data.transpose(order)
    if ordered.dtype is not dtype or not ordered.flags.c_contiguous:
        ordered = numpy.ascontiguousarray(ordered, dtype=dtype).reshape(ordered.shape)
    if dtype == BOOL:
        ordered = ordered.view(_BYTE) != 0  # memory from elsewhere can hold other bytes than 0 and 1
    where = layout.c_layout(ordered.shape)
    buffer = buffer_under_way(ordered, device, queue.lock, blocking)
    array = wrap_leaf(graph.leaf(buffer or buffer_of(ordered, device), dtype, where, queue))
    return array if order is None else ordered_view(array, order)


def from_numpy(data: Any, device: Device | None = None) -> ndarray:
    """Return an array with the elements of a NumPy array: a copy on a device, or the array's own memory on the host."""
    if data.dtype in KIND:
        return from_host(data, device)
    return on_host_memory(data, default_device() if device is None else device)


def _element_on_host(array: ndarray) -> Any:
    """Return the element of a computed array that a 0-d array is to be a copy of, without making that copy.

    None if the array is anything else, if the host does not know the element, or if other values wait to be computed,
    as a look at a value computes them all.
    """
    node = array._node
    signature, args, owner = node.signature, node.args, node.owner
    if (
        owner is None
        or type(signature.primitive) is not View
        or signature.shape
        or len(args) != 1
        or args[0].data is None
    ):
        return None
    (leaf,) = args
    queue = array.queue
    if type(leaf.signature.primitive) is not Leaf or leaf.signature.shape:
        return None
    content = bytes_on_host(leaf.data)  # which may wait for the device, so without the lock
    if content is None:
        return None
    with queue.lock:  # no flush of another thread computes the array now, and then overwrites the memory
        if node.data is not None or queue.run is not None or not is_on_host(leaf.data, content):
            return None
        roots, count, kept = evaluate.live_roots(queue)
        if roots != [node]:
            return None
        queue.pending[:count] = [*kept, owner]
        dtype = signature.dtype
        element = numpy.ndarray((), dtype, content, leaf.offset * dtype.itemsize).copy()
    evaluate.check_errors(queue)
    return element


def to_host(array: ndarray) -> Any:
    """Return the elements as a new NumPy array, in C order."""
    host_work.look_count += 1
    on_host = memory_on_host(array)
    if on_host is not None:
        return numpy.array(on_host, order="C")
    found = _element_on_host(array)
    if found is not None:
        return found
    hints.note_look(array.value())
    node = array.computed() if array._base is not None else evaluate.compute_to_look(array._node)
    where, dtype, queue = graph.leaf_layout(node), node.signature.dtype, array.queue
    content = bytes_on_host(node.data)
    if content is not None and not where.shape:
        result = numpy.ndarray((), dtype, content, where.offset * dtype.itemsize).copy()
    elif not array.size:  # the strides of no elements may lead out of the memory
        result = numpy.empty(where.shape, dtype)
    elif content is not None:
        strides = [s * dtype.itemsize for s in where.strides]
        strided = numpy.ndarray(where.shape, dtype, content, where.offset * dtype.itemsize, strides)
        try:
            with observed("copy", "from", queue.device, nbytes=strided.nbytes):
                result = memory_copy.copied(strided)
        except MemoryError as error:
            raise memory.explained(error) from None
    else:
        node, where = in_c_order(node)
        hints.note_copy(node, array.nbytes)
        raw = memory_copy.copy_to_host(node.data, where.offset * dtype.itemsize, array.nbytes)
        result = raw.view(dtype).reshape(where.shape)
    evaluate.check_errors(queue)
    return result


_native.set_up(
    **{kind.__name__: kind for kind in (ndarray, Queue, Layout)},
    **graph.tables_of_core(),
    **memory.tables_of_core(),
    **evaluate.tables_of_core(),
    Lock=type(ReentrantLock()),
    value=ndarray.value,
    placeholder=placeholder,
)
