"""Calls of NumPy's functions with arrays of this package: NumPy arrays stand for these, and results come back as these.

What the function writes into its arguments is written into the arrays. A view of an argument that it returns becomes a
view of the array. Where there is no such view the result is read-only, so that a write which the argument would not see
raises. Of an array on the host the function gets the memory itself. A new array goes to the device if kernels compute
its dtype, and stays on the host otherwise.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache
from typing import Any, NamedTuple

import numpy

from ..core import dtypes
from ..core.floating_errors import silent_unless_asked
from ..core.graph import layout
from ..core.graph import node as graph
from ..core.graph.layout import Layout
from ..core.late_imports import import_late
from ..core.nesting import leaves
from ..core.recording import residence
from ..core.recording.array import (
    MADE_AS_ARRAY,
    ON_HOST,
    READ_ONLY,
    as_class,
    from_host,
    host_only_memory,
    is_scalar,
    keep_on_host,
    make_view,
    memory_on_host,
    ndarray,
    on_host_memory,
    on_lent_memory,
    one_step,
    owner_of,
    show,
    to_host,
)
from ..core.recording.host_memory import is_writeable
from ..core.recording.lending import host_window
from ..core.recording.overlap import overlaps, stored_elements
from ..core.recording.record import (
    array_of_protocol,
    is_numpy_masked_array,
    wants_numpys_array,
    wraps_results,
)
from ..core.runtime.device import Device, default_device
from ..core.runtime.memory import address
from ..core.source_location import call_for_user

# Where masked arrays are converted: a layer above, imported at first need.
_MASKED_ARRAYS = "..ma.conversions"


class _StandIn(numpy.ndarray):
    """NumPy array of a class that stands for a subclass of `ndarray`, so that NumPy decides which results are of it."""

    stands_for: type


@cache
def _stand_in(cls: type) -> type[_StandIn]:
    """Return the class that stands for a subclass of `ndarray`, and has its name for texts."""
    namespace: dict[str, Any] = {"stands_for": cls}
    priority = getattr(cls, "__array_priority__", None)
    if isinstance(priority, (int, float)):
        namespace["__array_priority__"] = priority
    return type(cls.__name__, (_StandIn,), namespace)


class _HostedArray(NamedTuple):
    """Array argument and the NumPy array that stands for it on the host."""

    array: Any
    host: Any
    before: bytes | None  # the bytes of `host` before the call; None if nothing is written back
    stored: Layout | None  # layout of `array` over its owner, dimensions in the order of the memory of `host`


class _Wrapper:
    """Stand-in for an object that makes objects of its class of results: it gets arrays of this package."""

    def __init__(self, original: Any, host: Any, call: HostCall) -> None:
        self._original, self._host, self._call = original, host, call

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the object, such as its priority, or a method that NumPy's function calls."""
        return getattr(self._original, name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the NumPy array of the object's elements."""
        return numpy.asarray(self._host, dtype, copy=copy)

    def __array_wrap__(self, array: Any, *options: Any) -> Any:
        """Return what the object makes of a result, as a stand-in too if it goes on in the same function."""
        if options and options[0] is not None:
            ufunc, args, position = options[0]
            own = getattr(sys.modules[__name__.partition(".")[0]], ufunc.__name__, ufunc)
            options = (own, tuple(map(self._call.from_host, args)), position), *options[1:]
        made = self._original.__array_wrap__(self._call.from_host(array), *options)
        return _Wrapper(made, array, self._call) if wraps_results(made) else made


class HostCall:
    """One call of a function on the host: replaces gpunumpy arrays by NumPy arrays, and results the other way round.

    Attributes
    ----------
    hosted_arrays
        The array arguments with their NumPy arrays.
    device
        The device of results: that of the first array argument if it is not given, or else the default device.
    outlives_call
        Whether the NumPy arrays are used later too, when an array on the host may have moved: then they are copies.
    lends
        Whether the function gets the memory of arrays that the host reaches, as the result is to show it.
    """

    def __init__(self, device: Device | None = None, outlives_call: bool = False, lends: bool = False) -> None:
        self.hosted_arrays: list[_HostedArray] = []
        self.device = device
        self._memory_of = host_only_memory if outlives_call else memory_on_host
        self._outlives_call = outlives_call
        self._lends = lends
        self._outputs: list[Any] = []
        self._memories: dict[tuple[int, str, Any], Any] = {}  # by owner and part: what views that overlap share
        self._masked: list[tuple[Any, Any]] = []  # masked arrays, and NumPy's that stand for them
        self._outer: set[int] = set()  # ids of the lists, tuples and dicts whose parts are being replaced

    def arguments(self, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments with NumPy arrays in place of gpunumpy arrays.

        Arrays may share memory, so those of one device are copied with no write of another thread in between.
        """
        out = options.get("out")
        self._outputs = list(out) if isinstance(out, tuple) else [out]
        queues = {array.queue for array in arrays_in((args, options))}
        with queues.pop().lock if len(queues) == 1 else nullcontext():
            return self.to_host(args), self.to_host(options)

    def run(self, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call NumPy's function; once more, with scalars for 0-d results among objects, where it refuses these.

        So it does where objects become texts and dates, for which an array is a sequence.
        """
        try:
            with silent_unless_asked():
                return call_for_user(function, *args, **options)
        except ValueError:
            hosts = (hosted.host for hosted in self.hosted_arrays)
            plain = {id(host): _with_scalars(host) for host in hosts if _holds_results(host)}
            if not plain:
                raise

        def replaced(x: Any) -> Any:
            return _with_parts(x, replaced) if type(x) in (list, tuple, dict) else plain.get(id(x), x)

        with silent_unless_asked():
            return call_for_user(function, *replaced(args), **replaced(options))

    def to_host(self, x: Any) -> Any:
        """Return an argument with NumPy arrays in place of gpunumpy arrays, also inside lists, tuples and dicts."""
        if isinstance(x, ndarray):
            for hosted in self.hosted_arrays:
                if hosted.array is x:
                    return hosted.host
            self.device = self.device or x.device
            memory = self._memory_of(x)
            if memory is not None:
                return self._enter(x, memory, None, None)
            if is_scalar(x):
                return to_host(x)[()]
            if self._lends and x.device.shares_host_memory:
                return self._enter(x, host_window(x), None, None)
            if x.writeable and overlaps(x):
                return self._overlapping(x)
            memory = memory_on_host(x)
            host, stored = _in_memory_order(x) if memory is None else (memory.copy("K"), None)
            host.flags.writeable = x.writeable
            return self._enter(x, host, host.tobytes() if x.writeable else None, stored)
        if hasattr(type(x), "is_masked_array"):
            found = next((host for array, host in self._masked if array is x), None)
            if found is None:
                found = x._hosted(self.to_host)
                self._masked.append((x, found))
            return found
        if type(x) in (list, tuple, dict):
            return self._parts_to_host(x)
        if isinstance(x, numpy.ndarray):
            self.hosted_arrays.append(_HostedArray(x, x, None, None))
            return x
        is_asked = hasattr(type(x), "__array_ufunc__") or wants_numpys_array(x)  # by NumPy's function
        held = None if is_asked else array_of_protocol(x)
        if held is not None and wraps_results(x):
            return _Wrapper(x, self.to_host(held), self)
        return self.to_host(held) if isinstance(held, ndarray) else x

    def _parts_to_host(self, x: Any) -> Any:
        """Return a list, tuple or dict with its parts on the host; inside itself it stays as it is."""
        if id(x) in self._outer:
            return x
        self._outer.add(id(x))
        try:
            return _with_parts(x, self.to_host)
        finally:
            self._outer.remove(id(x))

    def _overlapping(self, x: ndarray) -> Any:
        """Return a NumPy array whose elements overlap as those of `x`, in a copy of what the owner of `x` stores."""
        stored = stored_elements(x)
        key = id(x._base), x._component, x.dtype
        memory = self._memories.get(key)
        if memory is None:
            self._memories[key] = memory = self.to_host(stored)
        step = x.itemsize
        shape, strides, offset = x.layout
        host = numpy.ndarray(shape, x.dtype, memory, offset * step, tuple(s * step for s in strides))
        return self._enter(x, host, None, x.layout)

    def _enter(self, x: ndarray, host: Any, before: bytes | None, stored: Layout | None) -> Any:
        """Note the NumPy array that stands for an argument, and return it."""
        cls: Any = type(x)
        if cls is not ndarray and isinstance(host, numpy.ndarray) and not self._outlives_call:
            host = host.view(_stand_in(cls))
        self.hosted_arrays.append(_HostedArray(x, host, before, stored))
        return host

    def write_back(self) -> None:
        """Assign what was written into the NumPy arrays, since the last time too, to the gpunumpy arrays."""
        for x, host in self._masked:
            x._written_back(host, self.from_host)
        for k, hosted in enumerate(self.hosted_arrays):
            array, host, before, stored = hosted
            if stored is None and isinstance(array, ndarray) and (array.shape, array.dtype) != (host.shape, host.dtype):
                show(array, numpy.asarray(host))
            if before is None or (after := host.tobytes()) == before:
                continue
            # Other threads may have written to the other elements meanwhile.
            changed = numpy.frombuffer(before, numpy.uint8) != numpy.frombuffer(after, numpy.uint8)
            changed_elements = changed.reshape(*host.shape, host.itemsize).any(axis=-1)
            self.hosted_arrays[k] = hosted._replace(before=after)
            if (memory := memory_on_host(array)) is not None:
                numpy.copyto(memory, host, where=changed_elements)
                continue
            value, mask = (from_host(x, array.device).value() for x in (host, changed_elements))
            with one_step(array):
                old_value = array.value()
                loop = (dtypes.BOOL, array.dtype, array.dtype, array.dtype)
                array.assign(graph.map_node("where", loop, (mask, value, old_value)))

    def from_host(self, x: Any) -> Any:
        """Return a result with gpunumpy arrays in place of NumPy arrays; an argument comes back as itself."""
        if isinstance(x, _Wrapper):
            return x._original
        if is_numpy_masked_array(x) and x is not numpy.ma.masked and x.dtype in dtypes.KIND:
            found = next((array for array, host in self._masked if host is x), None)
            if found is not None:
                return found
            kinds = (array for array, _ in self._masked if type(array).__mro__[1] is not object)
            return import_late(_MASKED_ARRAYS, __package__).on_device(x, self.from_host, next(kinds, None))
        if isinstance(x, numpy.ndarray):
            argument = next((hosted for hosted in self.hosted_arrays if hosted.host is x), None)
            if argument is not None:
                return self._returned(argument.array)
            if not isinstance(x, _StandIn):
                return self._result_array(x)
            arrays: list[Any] = [hosted.array for hosted in self.hosted_arrays]
            template: Any = next((array for array in arrays if type(array) is x.stands_for), None)
            return as_class(self._result_array(x.view(numpy.ndarray)), x.stands_for, template)
        if isinstance(x, numpy.generic) and self.device is not None and x.dtype in dtypes.KIND:
            if self._is_placed_on_host(x):
                return on_host_memory(x, self.device)
            scalar = from_host(numpy.asarray(x), self.device)
            scalar._flags &= ~MADE_AS_ARRAY  # as the 0-d result of an operation
            return scalar
        if type(x) in (list, tuple):
            return _with_parts(x, self.from_host)
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return type(x)(*map(self.from_host, x))
        return x

    def _is_placed_on_host(self, x: Any) -> bool:
        """Return whether a new result stays on the host: it is small, and all operands are there."""
        limit = residence.host_bytes(self.device or default_device())
        if not residence.is_auto() or x.nbytes > limit or x.dtype not in residence.DTYPES:
            return False
        return all(array._flags & ON_HOST for array, *_ in self.hosted_arrays if isinstance(array, ndarray))

    def _returned(self, x: Any) -> Any:
        """Return an array argument that is the result: as it is, or as what a conversion of a NumPy array returns."""
        is_of_numpy = type(x) is numpy.ndarray and x.dtype not in dtypes.KIND
        if not is_of_numpy or any(x is out for out in self._outputs):
            return x
        return on_host_memory(x, self.device or default_device())

    def _result_array(self, x: Any) -> Any:
        """Return a new NumPy array as a gpunumpy array, or as it is if its class does not allow that."""
        arguments = (hosted for hosted in self.hosted_arrays if isinstance(hosted.array, ndarray))
        source = next((hosted for hosted in arguments if numpy.may_share_memory(x, hosted.host)), None)
        is_plain, has_kernels = type(x) is numpy.ndarray, x.dtype in dtypes.KIND
        device = self.device or default_device()
        if source is not None and source.stored is None:
            is_on_host = bool(source.array._flags & ON_HOST)
            if is_plain:
                return on_host_memory(x, device, owner_of(source.array)) if is_on_host else on_lent_memory(x, device)
            if is_on_host:
                keep_on_host(source.array)
        if source is not None and source.stored is not None:
            view = _view_of(source, source.stored, x) if is_plain and has_kernels else None
            if view is not None:
                return view
            x.flags.writeable = False
        if not is_plain:
            return x
        if not has_kernels:
            return on_host_memory(x, device)
        if self._is_placed_on_host(x):
            return residence.result_on_host(x, device)
        array = from_host(x, device)
        if not is_writeable(x):
            array._flags |= READ_ONLY
        return array


def _holds_results(x: Any) -> bool:
    """Return whether a NumPy array is one of objects, among which are 0-d results."""
    return x.dtype == object and any(map(_is_result, x.flat))


def _with_scalars(x: Any) -> Any:
    """Return a copy of an array of objects with NumPy's scalars for 0-d results in it."""
    plain = x.copy()
    for position, found in numpy.ndenumerate(x):
        if _is_result(found):
            plain[position] = to_host(found)[()]
    return plain


def _is_result(x: Any) -> bool:
    return isinstance(x, ndarray) and not x.shape


def _with_parts(x: Any, convert: Callable[[Any], Any]) -> Any:
    """Return a list, tuple or dict of converted parts; the object itself, which others may hold, if none changes."""
    parts = [convert(part) for part in (x.values() if type(x) is dict else x)]
    if all(map(operator.is_, parts, x.values() if type(x) is dict else x)):
        return x
    return dict(zip(x, parts, strict=True)) if type(x) is dict else type(x)(parts)


def _in_memory_order(x: ndarray) -> tuple[Any, Layout]:
    """Return a NumPy array of the elements whose axes lie in memory in the order of the array's, and its layout.

    The layout is that of the elements over the owner of the array; its dimensions come in memory order.
    """
    shape, strides, offset = where = x.layout
    order = layout.copied_order(shape, strides)
    if order is None:
        return to_host(x), where
    stored = Layout(tuple(shape[k] for k in order), tuple(strides[k] for k in order), offset)
    return to_host(make_view(x, stored)).transpose([order.index(axis) for axis in range(len(order))]), stored


def _view_of(source: _HostedArray, stored: Layout, x: Any) -> ndarray | None:
    """Return the view of a gpunumpy array that corresponds to the view `x` of its host array; None if there is none."""
    itemsize = x.itemsize
    start = address(x) - address(source.host)
    if x.dtype != source.host.dtype or any(s % itemsize for s in (start, *x.strides)):
        return None
    view_layout = layout.compose(stored, Layout(x.shape, tuple(s // itemsize for s in x.strides), start // itemsize))
    if view_layout is None:
        return None
    view = make_view(source.array, view_layout)
    if not is_writeable(x):
        view._flags |= READ_ONLY
    return view


def arrays_in(x: Any) -> Iterator[ndarray]:
    """Yield the arrays in an argument, also inside lists, tuples and dicts."""
    return (part for part in leaves(x) if isinstance(part, ndarray))
