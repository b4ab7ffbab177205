"""Modules: compiled programs that are loaded on a GPU, and unloaded when nothing holds them and the GPU is done.

Launchers hold a module through its functions, and plans hold launchers. All work of a GPU is queued on one stream, in
order, so a module that nothing holds may be unloaded once what is queued by then has run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ...core.runtime import memory
from ...core.runtime.device import Device, check, driver

_Entry = TypeVar("_Entry")

# For each GPU, the handles of modules that nothing holds, and those for which an event has been recorded since.
_dropped: dict[Device, deque[Any]] = {}
_waiting: dict[Device, deque[tuple[Any, list[Any]]]] = {}


class Function:
    """A kernel of a GPU. While its program is being compiled it has no handle.

    Attributes
    ----------
    handle
        The driver's handle.
    module
        The program of the kernel, which this keeps loaded.
    """

    __slots__ = ("_uses", "handle", "module")

    def __init__(self) -> None:
        self.handle: Any = None
        self.module: Module | None = None
        self._uses: list[Callable[[], None]] = []

    def load(self, module: Module, name: str) -> None:
        """Take the handle from a loaded program, and call what has waited for it."""
        self.handle, self.module = module.function(name), module
        while self._uses:
            self._uses.pop()()

    def when_loaded(self, use: Callable[[], None]) -> None:
        """Call a function once there is a handle: now, or from `load`."""
        if self.handle is None:
            self._uses.append(use)
        else:
            use()


class Module:
    """A program that is loaded on a GPU.

    Parameters
    ----------
    device : Device
        The GPU, which must be active.
    image : bytes
        The compiled program.
    """

    __slots__ = ("_dropped", "_functions", "device", "handle")

    def __init__(self, device: Device, image: bytes) -> None:
        self.device = device
        self._functions: dict[str, Any] = {}
        dropped = _dropped.setdefault(device, deque())
        _unload_dropped(device)
        asked = f"no room for a kernel of {len(image):,} bytes"
        self.handle = memory.attempted(device, asked, driver().cuModuleLoadData, image)
        self._dropped = dropped  # set last: a module that was not loaded is not unloaded either

    def function(self, name: str) -> Any:
        """Return the handle of a kernel of the program by the name of its entry."""
        handle = self._functions.get(name)
        if handle is None:
            self.device.activate()
            get = driver().cuModuleGetFunction
            handle = memory.attempted(self.device, "no room for a kernel", get, self.handle, name.encode())
            self._functions[name] = handle
        return handle

    def __del__(self) -> None:
        """Leave the module to be unloaded when the next one is loaded: a finaliser calls no driver."""
        if hasattr(self, "_dropped"):
            self._dropped.append(self.handle)


def _unload_dropped(device: Device) -> None:
    """Unload modules that nothing holds: at this call those on which no work waits, and the others at a later one.

    It is called before a module is loaded, and where memory is short.

    A signal handler may do the same in the middle. So a module is taken out of its list first; if the handler raises
    an exception then, the module stays loaded.
    """
    if device not in _dropped:
        return
    cuda = driver()
    dropped, waiting = _dropped[device], _waiting.setdefault(device, deque())
    handles = list(_taken_out(dropped))
    if handles:
        try:
            event = check(cuda.cuEventCreate(cuda.CUevent_flags.CU_EVENT_DISABLE_TIMING.value))
            check(cuda.cuEventRecord(event, device.stream))
        except BaseException:
            dropped.extend(handles)
            raise
        waiting.append((event, handles))
    for event, handles in _taken_out(waiting):
        if cuda.cuEventQuery(event)[0]:  # it has not been reached
            waiting.appendleft((event, handles))
            return
        for handle in handles:
            check(cuda.cuModuleUnload(handle))
        check(cuda.cuEventDestroy(event))


memory.out_of_memory_hooks.append(_unload_dropped)


def _taken_out(entries: deque[_Entry]) -> Iterator[_Entry]:
    """Take the entries out of a list, the first one first, until there is none."""
    while True:
        try:
            entry = entries.popleft()
        except IndexError:
            return
        yield entry
