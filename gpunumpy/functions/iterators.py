"""NumPy's iterators over several arrays: they run over NumPy arrays on the host, copies of those on a device.

What an iterator writes into a copy is written to the array when the iterator ends, is closed, or is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from ..core.recording.array import ndarray, on_lent_memory
from .fallback import OWN_FUNCTIONS
from .host_call import HostCall


class IteratorMeta(type):
    """Metaclass of the class of an iterator, of which NumPy's iterators are instances too."""

    numpy_class: type

    def __instancecheck__(cls, x: Any) -> bool:
        """Return whether `x` is an iterator of this package or of NumPy."""
        return isinstance(x, cls.numpy_class) or type(x) is cls


class nditer(metaclass=IteratorMeta):
    """NumPy's iterator over host copies of gpunumpy arrays. See `numpy.nditer`.

    An iterator that only reads is NumPy's own object. One that writes is an instance of this class: what it has written
    is in the arrays after the end of a ``with`` block or of the iteration.
    """

    numpy_class = numpy.nditer

    def __new__(
        cls,
        op: Any,
        flags: Any = None,
        op_flags: Any = None,
        op_dtypes: Any = None,
        order: Any = "K",
        casting: Any = "safe",
        op_axes: Any = None,
        itershape: Any = None,
        buffersize: Any = 0,
    ) -> Any:
        """Return an iterator."""
        call = HostCall(outlives_call=True)
        iterator = numpy.nditer(
            _in_order_of_memory(op, call), flags, op_flags, op_dtypes, order, casting, op_axes, itershape, buffersize
        )
        allocates = op is None or (isinstance(op, (list, tuple)) and any(x is None for x in op))
        return _writing_back(iterator, call) if allocates or _may_write(op_flags) else iterator

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of NumPy's iterator."""
        return getattr(self._iterator, name)

    @property
    def operands(self) -> tuple[Any, ...]:
        """The arrays that the iterator runs over. Those that it has allocated, and writes to, stay on the host."""
        given = [hosted.host for hosted in self._call.hosted_arrays]
        return tuple(
            self._call.from_host(x) if any(x is host for host in given) else on_lent_memory(x)
            for x in self._iterator.operands
        )

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute of NumPy's iterator, such as its index."""
        setattr(self._iterator, name, value)

    def __iter__(self) -> Iterator[Any]:
        """Return the iterator itself."""
        return self

    def __next__(self) -> Any:
        """Return the next elements; at the end, write to the arrays."""
        try:
            return next(self._iterator)
        except StopIteration:
            self._call.write_back()
            raise

    def iternext(self) -> bool:
        """Return whether there is a next element; if not, write to the arrays. See `numpy.nditer.iternext`."""
        goes_on: bool = self._iterator.iternext()
        if not goes_on:
            self._call.write_back()
        return goes_on

    def close(self) -> None:
        """Write to the arrays, and end the iterator. See `numpy.nditer.close`."""
        self._iterator.close()
        self._call.write_back()

    def copy(self) -> Any:
        """Return a copy of the iterator, over the same memory. See `numpy.nditer.copy`."""
        return _writing_back(self._iterator.copy(), self._call)

    __copy__ = copy

    def __enter__(self) -> Any:
        """Return the iterator itself."""
        self._iterator.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        """Close the iterator."""
        self.close()

    def __del__(self) -> None:
        """Write to the arrays."""
        self._call.write_back()

    def __len__(self) -> int:
        """Return the number of operands."""
        return len(self._iterator)

    def __getitem__(self, key: Any) -> Any:
        """Return the current elements of operands."""
        return self._iterator[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write to the current elements of operands."""
        self._iterator[key] = value


def _in_order_of_memory(op: Any, call: HostCall) -> Any:
    """Return host copies of operands that run backwards in memory where the operands do.

    NumPy's iterator goes through the elements as they lie in memory.
    """
    if isinstance(op, (list, tuple)):
        return [call.to_host(x) if isinstance(x, (list, tuple)) else _in_order_of_memory(x, call) for x in op]
    if not isinstance(op, ndarray) or min(op.strides, default=0) >= 0:
        return call.to_host(op)
    turned = tuple([slice(None, None, -1 if stride < 0 else 1) for stride in op.strides])
    forwards: Any = op
    return call.to_host(forwards[turned])[turned]


def _may_write(op_flags: Any) -> bool:
    """Return whether the flags of operands, or of all of them alike, have an iterator write to its operands."""
    flags = op_flags or ()
    return any(flag in ("readwrite", "writeonly") for part in flags for flag in ([part] if type(part) is str else part))


def _writing_back(iterator: Any, call: HostCall) -> nditer:
    """Return an iterator that writes to the arrays of a call what NumPy's iterator has written to their copies."""
    made: nditer = object.__new__(nditer)
    vars(made).update(_iterator=iterator, _call=call)
    return made


def nested_iters(
    op: Any,
    axes: Any,
    flags: Any = None,
    op_flags: Any = None,
    op_dtypes: Any = None,
    order: Any = "K",
    casting: Any = "safe",
    buffersize: Any = 0,
) -> Any:
    """Create iterators for nested loops over host copies. See `numpy.nested_iters`.

    What they have written is in the arrays after the end of the outermost loop.
    """
    call = HostCall(outlives_call=True)
    outermost, *inner = numpy.nested_iters(
        call.to_host(op), axes, flags, op_flags, op_dtypes, order, casting, buffersize
    )
    return (_writing_back(outermost, call) if _may_write(op_flags) else outermost, *inner)


class broadcast(metaclass=IteratorMeta):
    """Shape of arrays that are broadcast together, and iterator over their elements. See `numpy.broadcast`.

    The host reads the arrays when elements are asked for.
    """

    numpy_class = numpy.broadcast

    def __init__(self, *arrays: Any, **options: Any) -> None:
        if options:
            raise ValueError("keyword arguments not accepted.")
        parts: list[Any] = [part for x in arrays for part in (x._args if type(x) is broadcast else (x,))]
        self._args: list[Any] = [part if isinstance(part, ndarray) else numpy.asarray(part) for part in parts]
        # Arrays of that shape, of one element each.
        shapes = (numpy.broadcast_to(numpy.empty((), bool), x.shape) for x in self._args)
        self._shape = numpy.broadcast(*shapes)
        self._iterator: Any = None

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of NumPy's iterator."""
        if name in ("nd", "ndim", "numiter", "shape", "size"):
            return getattr(self._shape, name)
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._numpy(), name)

    def _numpy(self) -> Any:
        if self._iterator is None:
            self._iterator = numpy.broadcast(*HostCall().to_host(self._args))
        return self._iterator

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Return the iterator itself."""
        return self

    def __next__(self) -> tuple[Any, ...]:
        """Return the next element of each array."""
        return next(self._numpy())

    def reset(self) -> None:
        """Begin again with the first elements."""
        self._numpy().reset()


OWN_FUNCTIONS |= {"numpy.broadcast": broadcast, "numpy.nditer": nditer, "numpy.nested_iters": nested_iters}
