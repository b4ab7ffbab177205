"""`graph`: a function of arrays whose work is captured once, and launched as one CUDA graph from then on."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from functools import partial, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

from ..core.errors import DeviceError
from ..core.recording.array import memory_on_host, ndarray, require_device
from ..core.recording.lending import export
from ..core.runtime import evaluate, memory
from ..core.runtime.capture import Capture
from ..core.runtime.device import Device, check, default_device, driver, is_lost
from ..core.runtime.memory import Buffer
from .capture import close, prepared_capture, undo

_P = ParamSpec("_P")
_R = TypeVar("_R")

_MAX_GRAPHS = 8  # of a function: each keeps its arrays, and the memory of what it computes
# Graphs of the driver that nothing refers to, and their kernels; work that is queued may still use them.
_dropped: list[tuple[Device, Any, list[Any]]] = []


def graph(function: Callable[_P, _R]) -> Graph[_P, _R]:
    """Return a function that replays the work of `function` on a GPU as one CUDA graph.

    The first call with given arrays is an ordinary one, in which libraries and kernels are made ready. The second one
    captures what `function` launches. Later calls with the same arrays, or with others that show the same memory,
    launch that again, with what the arrays hold by then: the host takes a few microseconds for all of it. `function`
    itself does not run again, so everything else in it stays as it was: Python numbers, random numbers, arrays of
    NumPy, and every branch that was taken.

    From the second on, every call returns the same arrays, which the next call overwrites. An array that `function`
    writes to in place, an argument or not, is written by every call. On the CPU every call calls `function`, and so
    does a call inside of another capture.

    Parameters
    ----------
    function : callable
        A function of arrays, and of hashable values such as numbers, which may return arrays, and tuples, lists and
        dictionaries of them. It may do nothing that needs a value on the host.

    Returns
    -------
    Graph
        The function, with `graphs`, the number of graphs that it has, and `clear()`, which drops them.

    Raises
    ------
    DeviceError
        From the second call, if something cannot be captured. What was recorded before has been computed.
    TypeError
        If `function` is not callable; from a call, if an argument is neither an array nor hashable.

    Examples
    --------
    >>> @np.graph
    ... def step(u):
    ...     u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    >>> u = np.linspace(0, 1, 1001) ** 2
    >>> for _ in range(100):
    ...     step(u)
    """
    if not callable(function):
        raise TypeError(f"function is a function of arrays, not {type(function).__name__!r}")
    return Graph(function)


class Graph(Generic[_P, _R]):
    """A function whose work on a GPU is captured; see `graph`."""

    def __init__(self, function: Callable[_P, _R]) -> None:
        update_wrapper(self, function)
        self._function = function
        self._known: OrderedDict[Hashable, _Captured[_R] | None] = OrderedDict()  # None after an ordinary call
        self._last: _Captured[_R] | None = None

    def __repr__(self) -> str:
        """Return the function."""
        return f"<graph of {self._function!r}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return what calls the function as a method of an object, which must be hashable."""
        return self if instance is None else partial(self, instance)

    @property
    def graphs(self) -> int:
        """The number of CUDA graphs: one for each set of arrays."""
        return sum(captured is not None for captured in self._known.values())

    def clear(self) -> None:
        """Drop the graphs; arrays that were returned keep their values."""
        self._known.clear()
        self._last = None

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Launch the graph for these arguments; the first times, call the function."""
        last = self._last
        if last is not None and last.is_for(args, kwargs):
            return last.launch()
        values = [*args, *kwargs.values()]
        arrays = [value for value in values if isinstance(value, ndarray)]
        device = arrays[0].device if arrays else default_device()
        if not device.has_stream or device.capture is not None:
            return self._function(*args, **kwargs)
        for array in arrays:
            if array.device is not device:
                raise ValueError(f"a graph is of one device; arrays are of {device} and {array.device}")
            require_device(array)
        key = (device, tuple(kwargs), tuple([_key_of(value) for value in values]))
        if key not in self._known:
            if len(self._known) >= _MAX_GRAPHS:
                self._known.popitem(last=False)
            self._known[key] = None
            return self._function(*args, **kwargs)
        self._known.move_to_end(key)
        captured = self._known[key]
        if captured is None:
            captured, result = _captured(self._function, args, kwargs, device)
            self._known[key] = captured
        else:
            result = captured.launch()
        if arrays:  # else the default device may be another one at the next call
            captured.take(args, kwargs)
            self._last = captured
        return result


def _key_of(value: Any) -> Hashable:
    """Return what an argument is known by: the memory that an array shows, which stays where it is from now on."""
    if isinstance(value, ndarray):
        node, where = export(value)
        return ndarray, node.data.ptr, where, value.dtype
    try:
        hash(value)
    except TypeError:
        raise TypeError(f"a graph is of arrays and hashable values, not {type(value).__name__!r}") from None
    return _key_of_constant(value)


def _key_of_constant(value: Any) -> Hashable:
    """Return what tells apart values that are equal: 1, 1.0 and True, 0.0 and -0.0, also in tuples."""
    if isinstance(value, tuple):
        return type(value), tuple([_key_of_constant(part) for part in value])
    return type(value), repr(value) if isinstance(value, (float, complex)) else value


class _Captured(Generic[_R]):
    """One CUDA graph: the driver's, what it needs in memory, and the arrays that it writes.

    Attributes
    ----------
    result
        What the function returned.
    """

    def __init__(self, capture: Capture, executable: Any, result: _R) -> None:
        self.result = result
        self._queue, self._device = capture.queue, capture.device
        self._executable = executable
        self._arguments: tuple[Any, ...] = ()
        self._names: tuple[str, ...] = ()
        self._buffers: tuple[Any, ...] = ()
        weakref.finalize(self, _drop, self._device, executable, capture).atexit = False

    def take(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note the arguments, to know them again."""
        self._arguments, self._names = (*args, *kwargs.values()), tuple(kwargs)
        self._buffers = tuple([_buffer(value) for value in self._arguments])

    def is_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Return whether the arguments are the very objects that came last, and show the same memory as then."""
        if self._device.capture is not None or tuple(kwargs) != self._names:
            return False
        values = (*args, *kwargs.values())
        if len(values) != len(self._arguments):
            return False
        return all(
            value is known and (buffer is None or _buffer(value) is buffer)
            for value, known, buffer in zip(values, self._arguments, self._buffers, strict=True)
        )

    def launch(self) -> _R:
        """Launch the graph behind what is recorded, and return its arrays."""
        queue, cuda = self._queue, driver()
        with queue.lock:
            if queue.pending:
                evaluate.compute_pending(queue)
            self._device.activate()
            check(cuda.cuGraphLaunch(self._executable, self._device.stream))
        return self.result


def _buffer(value: Any) -> Any:
    """Return the memory of an array that is computed."""
    if not isinstance(value, ndarray):
        return None
    owner = value if value._base is None else value._base
    return owner._node.data if isinstance(owner, ndarray) else owner


def _captured(
    function: Callable[..., _R], args: tuple[Any, ...], kwargs: dict[str, Any], device: Device
) -> tuple[_Captured[_R], _R]:
    """Call a function and capture what it launches; launch that once, whatever the function raises."""
    cuda = driver()
    capture = prepared_capture(device)
    destroy_dropped()
    try:
        capture.open()
        device.activate()
        mode = cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        check(cuda.cuStreamBeginCapture(device.stream, mode))
    except BaseException:
        undo(capture)
        raise
    try:
        result = function(*args, **kwargs)
        for array in _arrays_in(result):
            if memory_on_host(array) is None:
                export(array)
    except BaseException:
        with suppress(DeviceError):  # that tells the same
            _drop(device, _ended(capture), capture)
        raise
    return _Captured(capture, _ended(capture), result), result


def _ended(capture: Capture) -> Any:
    """End a capture, and launch the graph, so that all arrays have their values; return what launches it again."""
    cuda, device = driver(), capture.device
    is_sound = False
    with capture.queue.lock:  # until the stream captures no more, for which other threads wait
        try:
            close(capture)
            is_sound = True
        finally:
            device.activate()
            error, handle = cuda.cuStreamEndCapture(device.stream)
            capture.end()
            if not (is_sound or error):
                cuda.cuGraphDestroy(handle)
    if error and capture.failure is not None:
        raise capture.failure
    check((error,))
    try:
        executable = memory.attempted(device, "no room for a CUDA graph", cuda.cuGraphInstantiate, handle, 0)
    finally:
        check(cuda.cuGraphDestroy(handle))
    check(cuda.cuGraphLaunch(executable, device.stream))
    return executable


def _arrays_in(result: Any) -> Iterator[ndarray]:
    """Yield the arrays of a result."""
    if isinstance(result, ndarray):
        yield result
    elif isinstance(result, (tuple, list)):
        for part in result:
            yield from _arrays_in(part)
    elif isinstance(result, dict):
        yield from _arrays_in(list(result.values()))


def _drop(device: Device, executable: Any, capture: Capture) -> None:
    """Give back what a graph has: what is queued on the device may still use it, and comes before what uses it next."""
    _dropped.append((device, executable, [kept for kept in capture.kept if not isinstance(kept, Buffer)]))
    memory.pool_of(device).give_up(capture.reserved)


def destroy_dropped(device: Device | None = None) -> None:
    """Have the driver destroy the graphs that nothing refers to, on devices whose work is over."""
    busy = []
    try:
        while _dropped:
            entry = _dropped.pop()
            device, executable, _ = entry
            if device.capture is not None:
                busy.append(entry)  # which cannot be waited for now
            elif not is_lost(device):
                device.activate()
                check(driver().cuStreamSynchronize(device.stream))
                check(driver().cuGraphExecDestroy(executable))
    finally:
        _dropped.extend(busy)


memory.out_of_memory_hooks.append(destroy_dropped)
