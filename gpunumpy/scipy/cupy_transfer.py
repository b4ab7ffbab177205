"""Calls of `cupyx.scipy`, on arrays in the memory of a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..core.recording.array import is_scalar, ndarray, to_host
from ..core.recording.residence import resident
from ..core.runtime import evaluate, memory
from ..core.runtime.device import Device
from ..random.generator import Generator
from . import cupy_library, sparse_formats
from .cupy_library import Lent, adopt, lend, take_back
from .held import Held, holder_of, is_held
from .transfer import Callback, LibraryFunction, converted, is_function, require_device

_OUTPUTS = frozenset(("out", "output"))


class CupyTransfer:
    """One call of `cupyx.scipy`.

    Attributes
    ----------
    gpu : Device
        The GPU that has the arrays.
    """

    def __init__(self, gpu: Device) -> None:
        self.gpu = gpu
        self._queue = evaluate.queue_of(gpu)
        self._array_class = cupy_library.cupy().ndarray
        self._staying = memory.staying()
        self._lent: list[Lent] = []
        self._held: list[Held] = []
        self.has_called_back = False

    def anew(self) -> CupyTransfer:
        """Return a transfer for another call."""
        return CupyTransfer(self.gpu)

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call a function of `cupyx.scipy`, and return its result."""
        with cupy_library.stream_of(self.gpu), self._staying:
            cupy_args = list(map(self.to_library, args))
            cupy_options = {name: self.to_library(x) for name, x in options.items()} if options else {}
            if self._queue.pending:
                evaluate.compute_pending(self._queue)  # before CuPy writes to what it reads
            result = function(*cupy_args, **cupy_options)
            cupy_args.clear()
            if options:
                cupy_options.clear()
            found = self.from_library(result)
            del result
            for lent in self._lent:
                take_back(lent)
        for name in _OUTPUTS & options.keys() if options else ():
            wanted: Any = options[name]
            if found is not wanted and _is_alike(found, wanted):  # a method of CuPy's that leaves it
                wanted[...] = found
                found = wanted
        return found

    def to_library(self, x: Any) -> Any:
        """Return an argument with CuPy's objects in place of this package's, NumPy's and SciPy's."""
        kind = type(x)
        if kind is ndarray or isinstance(x, ndarray):
            return self._lend(x)
        if kind is float or kind is int or kind is str:
            return x
        if kind in (list, tuple):
            return kind(map(self.to_library, x))
        if kind is dict:
            return {key: self.to_library(part) for key, part in x.items()}
        if isinstance(x, numpy.ndarray):
            return cupy_library.cupy().asarray(x)
        if isinstance(x, Held):
            return self._inner(x)
        if isinstance(x, LibraryFunction):
            return x.function
        if isinstance(x, Generator):
            return numpy.random.Generator(x.bit_generator)
        if is_function(x):
            return Callback(x, self)
        return sparse_formats.on_gpu(x) if sparse_formats.is_of_scipy(x) else x

    def _lend(self, x: ndarray) -> Any:
        signature = x._node.signature
        if not signature.shape and is_scalar(x):
            return to_host(x)[()]
        if signature.queue is not self._queue:
            require_device(x, self.gpu)
        for lent in self._lent:
            if lent.array is x:
                return lent.cupy_array
        lent = lend(x, self._staying)
        self._lent.append(lent)
        return lent.cupy_array

    def _inner(self, held: Held) -> Any:
        """Return the object of a holder; a sparse matrix on the host is moved to the GPU for good.

        Raises
        ------
        TypeError
            If it is another object on the host.
        """
        if held._gpu is None:
            if not sparse_formats.is_of_scipy(held._inner):
                raise TypeError(f"{type(held).__name__} is on the host")
            held._inner, held._transfer = sparse_formats.on_gpu(held._inner), self.anew()
        self._held.append(held)
        return held._inner

    def from_library(self, x: Any) -> Any:
        """Return a result with this package's objects in place of CuPy's."""
        if isinstance(x, self._array_class):
            original = self.original(x)
            return adopt(x, self._queue) if original is None else original
        kind = type(x)
        if isinstance(x, numpy.ndarray):
            return resident(x, self.gpu)
        if kind in (list, tuple):
            return kind(map(self.from_library, x))
        if kind is dict:
            return {key: self.from_library(part) for key, part in x.items()}
        if isinstance(x, (tuple, dict)):
            return converted(x, self)
        if isinstance(x, Callback):
            return x.function
        if not is_held(x):
            return LibraryFunction(x, self) if is_function(x) else x
        return holder_of(x, self._held, self)

    attribute = from_library

    def original(self, x: Any) -> ndarray | None:
        """Return the array that CuPy's array stands for in this call; None if it stands for none."""
        for lent in self._lent:
            if lent.cupy_array is x:
                return lent.array
        return None


def _is_alike(x: Any, y: Any) -> bool:
    """Return whether both are arrays of one shape."""
    return isinstance(x, ndarray) and isinstance(y, ndarray) and x.shape == y.shape
