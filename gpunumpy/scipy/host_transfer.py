"""Calls of SciPy itself, on the host."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from ..arrays.exchange import array_over
from ..core import dtypes
from ..core.dtypes import DType
from ..core.graph import node as graph
from ..core.graph.layout import Shape
from ..core.recording.array import ON_HOST, READ_ONLY, is_scalar, keep_on_host, ndarray
from ..core.recording.host_memory import is_writeable
from ..core.runtime import evaluate, memory
from ..core.runtime.device import Device, default_device
from ..core.runtime.memory import Buffer
from ..core.source_location import call_for_user
from ..functions.host_call import HostCall
from ..random.generator import Generator
from . import sparse_formats
from .held import Held, holder_of, is_held
from .transfer import Callback, LibraryFunction, converted, is_function, require_device


class _Memory:
    """What NumPy's array over the memory of an array has as its base. No array is, so views of it refer to it."""

    __slots__ = ("__array_interface__", "_buffer")

    def __init__(
        self, buffer: Buffer, offset: int, shape: Shape, strides: tuple[int, ...], dtype: DType, writeable: bool
    ) -> None:
        self._buffer = buffer
        self.__array_interface__ = {
            "version": 3,
            "data": (buffer.ptr + offset, not writeable),
            "shape": shape,
            "strides": strides,
            "typestr": dtype.str,
        }


class _Lent(NamedTuple):
    """An array on the CPU device, and NumPy's array over its memory."""

    array: ndarray
    window: numpy.ndarray
    buffer: Buffer


class HostTransfer(HostCall):
    """One call of SciPy.

    Memory of the host is shared: SciPy gets NumPy arrays over it. What SciPy keeps in an object stays where it is from
    then on.
    """

    gpu: Device | None = None

    def __init__(self, device: Device | None = None) -> None:
        super().__init__(device)
        self._staying = memory.staying()
        self._lent: list[_Lent] = []
        self._held: list[Held] = []
        self._may_keep = False  # whether an object of SciPy's takes part
        self.has_called_back = False

    def anew(self) -> HostTransfer:
        """Return a transfer for another call."""
        return HostTransfer(self.device)

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call a function of SciPy, and return its result."""
        with self._staying:
            host_args, host_options = self.arguments(args, options)
            self._compute_pending()
            result = call_for_user(function, *host_args, **host_options)
            self.write_back()
            found = self.from_host(result)
        if self._may_keep:
            del host_args, host_options, result
            self._leave_what_is_kept()
        return found

    def _compute_pending(self) -> None:
        """Compute what is pending: SciPy may read what it writes, and write to what it reads."""
        if self._lent or self._held:
            queue = evaluate.queue_of(self.device or default_device())
            if queue.pending:
                evaluate.compute_pending(queue)

    def _leave_what_is_kept(self) -> None:
        """Have memory stay where it is of which something else than this call has a NumPy array."""
        for lent in self._lent:
            if sys.getrefcount(lent.window) > _UNSHARED:
                lent.buffer.exported = True
        for hosted in self.hosted_arrays:
            if isinstance(hosted.array, ndarray) and hosted.stored is None and hosted.before is None:
                keep_on_host(hosted.array)

    def to_host(self, x: Any) -> Any:
        """Return an argument with NumPy's and SciPy's objects in place of this package's."""
        if isinstance(x, ndarray):
            require_device(x, self.device)
        if isinstance(x, ndarray) and not x._flags & ON_HOST and x.device.shares_host_memory:
            return super().to_host(x) if is_scalar(x) or x.dtype in dtypes.ML_DTYPES else self._window(x)
        if isinstance(x, Held):
            self._may_keep = True
            self.device = self.device or x._gpu
            self._held.append(x)
            return x._inner if x._gpu is None else sparse_formats.on_host(x._inner)
        if isinstance(x, LibraryFunction):
            return x.function
        if isinstance(x, Generator):
            return numpy.random.Generator(x.bit_generator)  # a draw moves both
        return Callback(x, self) if is_function(x) else super().to_host(x)

    def _window(self, x: ndarray) -> Any:
        """Return NumPy's array over the memory of an array on the CPU device."""
        for lent in self._lent:
            if lent.array is x:
                return lent.window
        self.device = self.device or x.device
        node = x.memory()
        buffer = node.data
        self._staying.add(buffer)
        where, itemsize = graph.leaf_layout(node), x.itemsize
        strides = tuple(s * itemsize for s in where.strides)
        window = numpy.asarray(_Memory(buffer, where.offset * itemsize, where.shape, strides, x.dtype, x.writeable))
        self._lent.append(_Lent(x, window, buffer))
        return window

    def from_host(self, x: Any) -> Any:
        """Return a result with this package's objects in place of NumPy's and SciPy's."""
        if isinstance(x, (tuple, dict)) and type(x) not in (tuple, dict) and not sparse_formats.is_class(type(x)):
            return converted(x, self)
        if type(x) is dict:
            return {key: self.from_host(part) for key, part in x.items()}
        if isinstance(x, Callback):
            return x.function
        if isinstance(x, numpy.ndarray):
            original = next((lent.array for lent in self._lent if lent.window is x), None)
            return super().from_host(x) if original is None else original
        if not is_held(x) and not is_function(x):
            return super().from_host(x)
        self._may_keep = True
        if not is_held(x):
            return LibraryFunction(x, self)
        return holder_of(x, self._held, self)

    def attribute(self, x: Any) -> Any:
        """Return an attribute of an object as a result; an array shows the object's memory, or is read-only."""
        found = self.from_host(x)
        if isinstance(found, ndarray) and not found._flags & ON_HOST and not found.device.shares_host_memory:
            found._flags |= READ_ONLY
        return found

    def original(self, x: Any) -> ndarray | None:
        """Return the array that a NumPy array stands for in this call; None if it stands for none."""
        for lent in self._lent:
            if lent.window is x:
                return lent.array
        found = next((hosted.array for hosted in self.hosted_arrays if hosted.host is x), None)
        return found if isinstance(found, ndarray) else None

    to_library, from_library = to_host, from_host

    def _is_placed_on_host(self, x: Any) -> bool:
        return not self._lent and super()._is_placed_on_host(x)

    def _result_array(self, x: Any) -> Any:
        """Return a new NumPy array as an array; on the CPU device it is shown, not copied.

        A matrix of NumPy's, as sums of sparse matrices are, is an array of two dimensions, as in `cupyx.scipy`.
        """
        if type(x) is numpy.matrix:
            x = numpy.asarray(x)
        device = self.device or default_device()
        is_shown = type(x) is numpy.ndarray and device.shares_host_memory and x.dtype in dtypes.KIND
        if not is_shown or not x.size or not x.flags.aligned or self._is_placed_on_host(x):
            return super()._result_array(x)
        if any(
            numpy.may_share_memory(x, hosted.host) for hosted in self.hosted_arrays if isinstance(hosted.array, ndarray)
        ):
            return super()._result_array(x)
        for lent in self._lent:
            if numpy.may_share_memory(x, lent.window):
                lent.buffer.exported = True  # two arrays see it from now on
        strides = tuple(s // x.itemsize for s in x.strides)
        if any(s % x.itemsize for s in x.strides):
            return super()._result_array(x)
        return array_over(memory.address(x), x.shape, strides, x.dtype, device, x, is_writeable(x))


def _unshared() -> int:
    """Return the references to an array that a record and a loop's name of it have alone."""
    for lent in [_Lent(None, numpy.empty(1), None)]:  # type: ignore[arg-type]
        return sys.getrefcount(lent.window)
    raise AssertionError


_UNSHARED = _unshared()
