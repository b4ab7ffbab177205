"""Modules: compiled programs that are loaded on a GPU, and unloaded when nothing holds them and the GPU is done.

Launchers hold a module through its functions, and plans hold launchers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.runtime import memory
from ...core.runtime.device import Device, driver
from .dropped import destroy_dropped, dropped_on


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
        dropped = dropped_on(device)
        destroy_dropped(device)
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
            self._dropped.append(("cuModuleUnload", self.handle))
