"""Devices: which exist, which one is used, and the CUDA context and stream of each GPU.

CUDA is looked for at the first use of a GPU, never at import. Each GPU is used through its primary context, the one
that PyTorch, CuPy, JAX and Numba use too, so pointers can be exchanged with them. All work of a GPU goes to one stream,
in order. It is an ordinary (blocking) stream and not the legacy default stream itself: the driver orders it against the
legacy default stream, on which CuPy and PyTorch work unless told otherwise, and it can still be captured into a graph.
"""

from __future__ import annotations

import os
import platform
import threading
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, overload

from ..errors import DeviceError, allowed

_lock = threading.RLock()


def check(result: tuple[Any, ...]) -> Any:
    """Return the value of a driver call, or raise the error that it reports.

    Parameters
    ----------
    result : tuple
        What a function of `cuda.bindings.driver` returned: the error code, then the values.

    Raises
    ------
    DeviceError
        If the code is not success; its text holds the code's name and the driver's words for it.
    """
    if result[0]:
        raise DeviceError(error_text(result[0]))
    return result[1] if len(result) == 2 else result[1:]


def error_text(error: Any) -> str:
    """Words for a driver's error code."""
    words = driver().cuGetErrorString(error)[1]
    text = f"{error.name}: {words.decode() if words else 'unknown error'}"
    if error.name in ("CUDA_ERROR_NOT_INITIALIZED", "CUDA_ERROR_INVALID_CONTEXT"):
        text += " (CUDA does not survive a fork: start worker processes with the 'spawn' method)"
    return text


# The driver


@dataclass(frozen=True)
class _Driver:
    """What was found when CUDA was looked for: `reason` says why `count` is 0."""

    module: Any
    count: int
    reason: str | None


_found: _Driver | None = None


def _find() -> _Driver:
    """Look for CUDA, once."""
    global _found
    if _found is None:
        with _lock:
            if _found is None:
                _found = _look()
    return _found


def _look() -> _Driver:
    try:
        import cuda.bindings
        from cuda.bindings import driver as module
    except ImportError as error:
        return _Driver(None, 0, f"cuda-bindings cannot be imported ({error}); install gpunumpy[cu13] or gpunumpy[cu12]")
    try:
        # Where the driver library is missing this raises, with a class that differs between versions of cuda-bindings.
        status = module.cuInit(0)[0]
    except Exception as missing:
        return _Driver(module, 0, f"no NVIDIA driver was found ({missing})")
    if status:
        return _Driver(module, 0, f"the NVIDIA driver does not start: {status.name}")
    version = module.cuDriverGetVersion()[1]
    needed = int(cuda.bindings.__version__.split(".")[0])
    if version // 1000 < needed:
        have = f"{version // 1000}.{version % 1000 // 10}"
        return _Driver(
            module,
            0,
            f"the NVIDIA driver supports CUDA {have} and cuda-bindings is for CUDA {needed}; update the driver, "
            f"or install gpunumpy[cu{version // 1000}]",
        )
    count = module.cuDeviceGetCount()[1]
    return _Driver(module, count, None if count else "the NVIDIA driver lists no device; see CUDA_VISIBLE_DEVICES")


def driver() -> Any:
    """Return the module `cuda.bindings.driver`, initialised.

    Raises
    ------
    DeviceError
        If this machine has no usable CUDA; the text says why.
    """
    found = _find()
    if found.reason is not None:
        raise DeviceError(f"no GPU can be used: {found.reason}")
    return found.module


def why_no_gpu() -> str | None:
    """Return why no GPU can be used here, or None if one can."""
    found = _find()
    if found.reason is not None:
        return found.reason
    reasons = []
    for index in range(found.count):
        try:
            Device(index).activate()
            return None
        except DeviceError as error:
            reasons.append(f"cuda:{index}: {error}")
    return "; ".join(reasons)


# Devices


@dataclass(frozen=True)
class Attributes:
    """What a GPU is; sizes are in bytes."""

    name: str
    capability: tuple[int, int]
    multiprocessors: int
    threads_per_multiprocessor: int
    l2: int
    shared_per_block: int
    total_memory: int

    @property
    def arch(self) -> str:
        """The architecture's name for the compiler, as ``sm_90``."""
        return f"sm_{self.capability[0]}{self.capability[1]}"


_DLPACK_TYPES = {"cpu": 1, "cuda": 2}


class _Thread(threading.local):
    """Whose context is current in this thread, as far as this module has set it."""

    device: Device | None = None


_thread = _Thread()


class Device:
    """A place where arrays live: ``cuda:N``, or ``cpu``.

    There is one object per device, so devices can be compared with ``is``. As a context manager, a device is the
    default of this thread (and of the contexts copied from it) inside the ``with`` block.

    Parameters
    ----------
    spec : Device, str, int or None
        ``"cuda"``, ``"cuda:1"``, ``"gpu"``, ``"gpu:1"``, ``"cpu"``, the number of a GPU, or None for the default.

    Attributes
    ----------
    kind : str
        ``"cuda"`` or ``"cpu"``.
    index : int
        The number of the GPU as CUDA counts them; 0 for the CPU.
    handle, context, stream : CUdevice, CUcontext, CUstream
        The driver's objects of a GPU, made at their first use.
    attributes : Attributes
        What the GPU is.
    """

    __slots__ = ("_alone", "attributes", "context", "handle", "index", "kind", "stream")

    kind: str
    index: int
    handle: Any
    context: Any
    stream: Any
    attributes: Attributes
    _alone: bool

    def __new__(cls, spec: Device | str | int | None = None) -> Device:
        if isinstance(spec, Device):
            return spec
        if spec is None:
            return default_device()
        known = _devices.get(spec)
        return known if known is not None else _parse(spec)

    def __str__(self) -> str:
        return "cpu" if self.kind == "cpu" else f"cuda:{self.index}"

    def __repr__(self) -> str:
        return f"Device({str(self)!r})"

    def __reduce__(self) -> tuple[type[Device], tuple[str]]:
        return Device, (str(self),)

    def __getattr__(self, name: str) -> Any:
        # Reached only while the slots of a GPU are empty, so that reading them afterwards costs nothing.
        if name not in Device.__slots__ or self.kind == "cpu":
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        with _lock:
            if self not in _started:  # another thread may have been faster
                _start(self)
                _started.add(self)
        return object.__getattribute__(self, name)

    @property
    def hardware(self) -> str:
        """What the device is, in words; DeviceError for a GPU that cannot be used."""
        if self.kind == "cpu":
            return f"{platform.machine()}, {os.cpu_count()} processors"
        (major, minor), total = self.attributes.capability, self.attributes.total_memory
        return f"{self.attributes.name}, compute capability {major}.{minor}, {total / 2**30:.0f} GiB"

    @property
    def dlpack_type(self) -> int:
        """DLPack's number for the memory of the device."""
        return _DLPACK_TYPES[self.kind]

    @property
    def shares_host_memory(self) -> bool:
        """Whether the memory of the device is the host's, so that NumPy reads and writes it."""
        return self.kind == "cpu"

    @property
    def has_stream(self) -> bool:
        """Whether the work of the device is queued on a CUDA stream, and runs beside the host's."""
        return self.kind == "cuda"

    def activate(self) -> None:
        """Make this GPU's context current in the calling thread."""
        # With several GPUs, another library may have changed the current context since: set ours every time.
        if _thread.device is not self or not self._alone:
            check(driver().cuCtxSetCurrent(self.context))
            _thread.device = self

    def __enter__(self) -> Device:
        _overrides.set((*_overrides.get(), self))
        return self

    def __exit__(self, *exception: object) -> None:
        _overrides.set(_overrides.get()[:-1])


def _start(device: Device) -> None:
    """Fill in the driver's objects of a GPU; called under the lock."""
    cuda = driver()
    handle = check(cuda.cuDeviceGet(device.index))
    kinds = cuda.CUdevice_attribute

    def read(name: str) -> int:
        return int(check(cuda.cuDeviceGetAttribute(getattr(kinds, f"CU_DEVICE_ATTRIBUTE_{name}"), handle)))

    if not read("MEMORY_POOLS_SUPPORTED"):
        raise DeviceError(f"{device} has no memory pools (cuMemAllocAsync), which gpunumpy needs")
    attributes = Attributes(
        name=check(cuda.cuDeviceGetName(128, handle)).split(b"\0")[0].decode(),
        capability=(read("COMPUTE_CAPABILITY_MAJOR"), read("COMPUTE_CAPABILITY_MINOR")),
        multiprocessors=read("MULTIPROCESSOR_COUNT"),
        threads_per_multiprocessor=read("MAX_THREADS_PER_MULTIPROCESSOR"),
        l2=read("L2_CACHE_SIZE"),
        shared_per_block=read("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        total_memory=int(check(cuda.cuDeviceTotalMem(handle))),
    )
    context = check(cuda.cuDevicePrimaryCtxRetain(handle))
    check(cuda.cuCtxSetCurrent(context))
    stream = check(cuda.cuStreamCreate(cuda.CUstream_flags.CU_STREAM_DEFAULT.value))
    device.handle, device.context, device.attributes = handle, context, attributes
    device._alone = _find().count == 1
    device.stream = stream


def _make(kind: str, index: int) -> Device:
    device = object.__new__(Device)
    device.kind, device.index = kind, index
    return device


CPU = _make("cpu", 0)
_devices: dict[str | int, Device] = {"cpu": CPU}
_started: set[Device] = set()
_overrides: ContextVar[tuple[Device, ...]] = ContextVar("gpunumpy_default_device", default=())
_default: Device | None = None


def _parse(spec: object) -> Device:
    """Return the device that an unseen `spec` names, and remember it."""
    if not isinstance(spec, str | int) or isinstance(spec, bool):
        raise TypeError(f"a device is named by a Device, a str or an int, not {spec!r}; {allowed(devices())}")
    kind, _, number = spec.partition(":") if isinstance(spec, str) else ("cuda", "", str(spec))
    if kind not in ("cuda", "gpu") or (":" in str(spec) and not number) or not (number or "0").isdecimal():
        raise ValueError(f"{spec!r} names no device; {allowed(devices())}")
    index = int(number or 0)
    found = _find()
    if index >= found.count:
        because = f" ({found.reason})" if found.reason else ""
        raise DeviceError(f"there is no device {spec!r} here{because}; {allowed(devices())}")
    with _lock:
        name = f"cuda:{index}"
        device = _devices.get(name) or _devices.setdefault(name, _make("cuda", index))
        return _devices.setdefault(spec, device)


def devices() -> tuple[Device, ...]:
    """Return every device of this machine, the GPUs first.

    Examples
    --------
    >>> devices()[-1]
    Device('cpu')
    """
    return (*(Device(f"cuda:{index}") for index in range(_find().count)), CPU)


@overload
def default_device() -> Device: ...
@overload
def default_device(device: Device | str | int) -> None: ...
def default_device(device: Device | str | int | None = None) -> Device | None:
    """Return the device that new arrays go to, or set it.

    Until it is set, it is what the environment variable ``GPUNUMPY_DEVICE`` names, else the first GPU that can be used,
    else the CPU.

    Parameters
    ----------
    device : Device, str or int, optional
        The new default of the whole process. For one thread and one block, write ``with Device("cpu"):`` instead.

    Returns
    -------
    Device or None
        The default device where none was given.
    """
    global _default
    if device is not None:
        _default = Device(device)
        return None
    overrides = _overrides.get()
    if overrides:
        return overrides[-1]
    if _default is None:
        _default = _first()
    return _default


def _first() -> Device:
    """Decide the default device."""
    name = os.environ.get("GPUNUMPY_DEVICE")
    if name:
        return Device(name)
    for device in devices():
        if device is CPU:
            break
        try:
            device.activate()
        except DeviceError:
            continue  # why_no_gpu() tells; another process may own the GPU
        return device
    return CPU


def synchronize(device: Device | str | int | None = None) -> None:
    """Wait until everything queued on a device has run.

    Parameters
    ----------
    device : Device, str, int or None
        Whose work to wait for; by default the default device's.

    Raises
    ------
    DeviceError
        If some of that work failed.
    """
    device = Device(device)
    if device is not CPU:
        device.activate()
        check(driver().cuStreamSynchronize(device.stream))
