"""Calls of SciPy itself, on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ..core.recording.array import ndarray
from ..core.runtime.device import Device
from ..core.source_location import call_for_user
from ..functions.fallback import HostCall
from ..random.generator import Generator
from . import sparse_formats
from .held import Held, hold, is_held
from .transfer import Callback, LibraryFunction, converted, is_function


class HostTransfer(HostCall):
    """One call of SciPy. What it makes may keep the NumPy arrays that it gets, so these have memory of their own."""

    gpu: Device | None = None

    def __init__(self, device: Device | None = None) -> None:
        super().__init__(device, outlives_call=True)
        self._held: list[Held] = []
        self.has_called_back = False

    def anew(self) -> HostTransfer:
        """Return a transfer for another call."""
        return HostTransfer(self.device)

    def call(self, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call a function of SciPy, and return its result."""
        host_args, host_options = self.arguments(args, options)
        result = call_for_user(function, *host_args, **host_options)
        self.write_back()
        return self.from_host(result)

    def to_host(self, x: Any) -> Any:
        """Return an argument with NumPy's and SciPy's objects in place of this package's."""
        if isinstance(x, Held):
            self.device = self.device or x._gpu
            self._held.append(x)
            return x._inner if x._gpu is None else sparse_formats.on_host(x._inner)
        if isinstance(x, LibraryFunction):
            return x.function
        if isinstance(x, Generator):
            return numpy.random.Generator(x.bit_generator)  # a draw moves both
        return Callback(x, self) if is_function(x) else super().to_host(x)

    def from_host(self, x: Any) -> Any:
        """Return a result with this package's objects in place of NumPy's and SciPy's."""
        if isinstance(x, (tuple, dict)) and type(x) not in (tuple, dict):
            return converted(x, self)
        if type(x) is dict:
            return {key: self.from_host(part) for key, part in x.items()}
        if isinstance(x, Callback):
            return x.function
        if not is_held(x):
            return LibraryFunction(x, self) if is_function(x) else super().from_host(x)
        return next((held for held in self._held if held._inner is x), None) or hold(x, self)

    to_library, from_library = to_host, from_host

    def original(self, x: Any) -> ndarray | None:
        """Return the array that a NumPy array stands for in this call; None if it stands for none."""
        found = next((hosted.array for hosted in self.hosted_arrays if hosted.host is x), None)
        return found if isinstance(found, ndarray) else None
