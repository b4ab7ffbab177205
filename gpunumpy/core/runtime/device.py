"""Devices: which devices exist, which of them is the default, and the CUDA context and stream of each GPU.

CUDA is loaded at the first use of a GPU, never at import. Each GPU is used through its primary context, which PyTorch,
CuPy, JAX and Numba use too, so pointers can be exchanged with these libraries. All work of a GPU goes to one stream, in
order. It is an ordinary (blocking) stream, not the legacy default stream itself: the driver orders it against the
legacy default stream, on which CuPy and PyTorch work by default, and it can still be captured into a CUDA graph.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from typing import Any, overload

from ..errors import DeviceError, allowed
from ..extras import install_command
from ..fork import after_fork
from ..helpers import Job
from ..late_dataclasses import dataclass
from ..late_imports import import_late
from ..source_location import warn


def check(result: tuple[Any, ...]) -> Any:
    """Return the value of a driver call, or raise the error that it reports.

    Parameters
    ----------
    result : tuple
        The tuple that a function of `cuda.bindings.driver` returned: the error code, then the values.

    Raises
    ------
    DeviceError, MemoryError
        If the code is not success; the message holds its name and the description that the driver gives.
    """
    if result[0]:
        raise device_error(result[0])
    return result[1] if len(result) == 2 else result[1:]


# Errors after which every call for the GPU fails until the process ends: a kernel of any library has faulted, or the
# GPU itself has. (CUDA documents them as leaving the process in an inconsistent state.)
_FATAL = frozenset(
    f"CUDA_ERROR_{name}"
    for name in (
        *(
            "ILLEGAL_ADDRESS",
            "LAUNCH_FAILED",
            "LAUNCH_TIMEOUT",
            "ASSERT",
            "HARDWARE_STACK_ERROR",
            "ILLEGAL_INSTRUCTION",
        ),
        *("MISALIGNED_ADDRESS", "INVALID_ADDRESS_SPACE", "INVALID_PC", "TENSOR_MEMORY_LEAK", "CONTAINED"),
        *("ECC_UNCORRECTABLE", "NVLINK_UNCORRECTABLE", "EXTERNAL_DEVICE", "MPS_CLIENT_TERMINATED"),
        "CONTEXT_IS_DESTROYED",
    )
)
# What every use of a GPU says after such an error.
_lost: dict[Device, str] = {}


def device_error(error: Any, doing: str = "") -> DeviceError | MemoryError:
    """Return the exception for an error code of a driver call: `DeviceError`, or `MemoryError` for a lack of memory.

    A fatal error is remembered for the GPU that this thread works with, and every later use of that GPU says so.
    """
    words = driver().cuGetErrorString(error)[1]
    text = f"{error.name}: {words.decode() if words else 'unknown error'}"
    if error.name == "CUDA_ERROR_OUT_OF_MEMORY":
        return MemoryError(f"out of memory on {_thread_state.device or 'the GPU'}: {f'{doing}: ' * bool(doing)}{text}")
    if error.name not in _FATAL:
        return DeviceError(f"{doing}: {text}" if doing else text)
    device = _thread_state.device
    message = (
        f"{device or 'the GPU'} cannot be used any more in this process: a kernel of this or of another library has "
        f"faulted, or the GPU has ({text}). The GPU needs a new process. What is only on the GPU is lost; arrays on "
        "the CPU device, and the CPU device itself, go on to work"
    )
    if device is None:
        return DeviceError(message)
    message = _lost.setdefault(device, message)
    device._stays_current = False
    return DeviceError(message)


def refuse_capture(device: Device, doing: str, *, is_work: bool = False) -> None:
    """Raise `DeviceError` if this thread captures the work of a device, of which `doing` cannot be a part.

    Other threads wait until the capture is over. `is_work` tells that it can, while the capture goes on.
    """
    if device.capture is not None:
        device.capture.refuse(doing, is_work=is_work)


def is_lost(device: Device) -> bool:
    """Return whether no call for a GPU can succeed in this process, after a fatal error or in a forked child."""
    return device in _lost or is_of_parent(device)


def is_of_parent(device: Device) -> bool:
    """Return whether this process is a forked child, and its parent has used the GPU."""
    return _devices.get(str(device)) is not device


def raise_if_lost(device: Device) -> None:
    """Raise `DeviceError` if a fatal error has ended the use of a GPU: libraries report it in words of their own."""
    device.activate()
    cuda = driver()
    status = cuda.cuStreamQuery(device.stream)[0]
    if status != cuda.CUresult.CUDA_ERROR_NOT_READY:
        check((status,))


# The driver

# Why a child of a process that used CUDA has no GPU.
_FORKED = (
    "this process was forked from one that used CUDA, which does not survive a fork, so what the parent has on a GPU "
    "cannot be read here; to use a GPU in workers, start them with the 'spawn' method of multiprocessing"
)


@dataclass(frozen=True)
class _Driver:
    """The result of looking for CUDA: the driver module and the number of GPUs; `reason` says why `count` is 0."""

    module: Any
    count: int
    reason: str | None


_LIBRARY = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"

_found_driver: _Driver | None = None


def _find_driver() -> _Driver:
    """Return the result of looking for CUDA, which is kept."""
    global _found_driver
    if _found_driver is None:
        _found_driver = _load_driver()
    return _found_driver


def _load_driver() -> _Driver:
    """Look for CUDA: its driver, without which importing the bindings is a waste of time, and the GPUs that it has."""
    try:
        ctypes.CDLL(_LIBRARY)
    except OSError as failure:
        return _Driver(None, 0, f"no NVIDIA driver was found ({failure})")
    try:
        bindings, module = import_late("cuda.bindings"), import_late("cuda.bindings.driver")
    except ImportError as error:
        return _Driver(None, 0, f"cuda-bindings cannot be imported ({error}); {install_command('cu13')} (or cu12)")
    try:
        # Where the bindings find no driver library this raises; the class of the exception differs between versions.
        error_code = module.cuInit(0)[0]
    except Exception as failure:
        return _Driver(module, 0, f"no NVIDIA driver was found ({failure})")
    if error_code:
        forked = error_code.name == "CUDA_ERROR_NOT_INITIALIZED"  # another library used CUDA in the parent
        return _Driver(module, 0, _FORKED if forked else f"the NVIDIA driver does not start: {error_code.name}")
    version = module.cuDriverGetVersion()[1]
    bindings_version = int(bindings.__version__.split(".")[0])
    if version // 1000 < bindings_version:
        driver_version = f"{version // 1000}.{version % 1000 // 10}"
        return _Driver(
            module,
            0,
            f"the NVIDIA driver supports CUDA {driver_version} and cuda-bindings is for CUDA {bindings_version}; "
            f"update the driver, or {install_command(f'cu{version // 1000}')}",
        )
    count = module.cuDeviceGetCount()[1]
    return _Driver(module, count, None if count else "the NVIDIA driver lists no device; see CUDA_VISIBLE_DEVICES")


def driver() -> Any:
    """Return the module `cuda.bindings.driver`, initialised.

    Raises
    ------
    DeviceError
        If this machine has no usable CUDA; the message says why.
    """
    found = _find_driver()
    if found.reason is not None:
        raise DeviceError(f"no GPU can be used: {found.reason}")
    return found.module


def function_address(name: str) -> int | None:
    """Return the address of a function of the driver's library; None where something else stands in for the driver."""
    return _address(name) if driver() is sys.modules.get("cuda.bindings.driver") else None


@cache
def _address(name: str) -> int | None:
    return ctypes.cast(getattr(ctypes.CDLL(_LIBRARY), name), ctypes.c_void_p).value


def why_no_gpu() -> str | None:
    """Return the reason why no GPU can be used here, or None if a GPU can be used."""
    found = _find_driver()
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
    """The properties of a GPU; sizes are in bytes.

    `starts_kernels_early` says that a kernel which waits for those before it can be started while they run.
    """

    name: str
    capability: tuple[int, int]
    multiprocessors: int
    threads_per_multiprocessor: int
    l2: int
    shared_per_block: int
    total_memory: int
    starts_kernels_early: bool

    @property
    def arch(self) -> str:
        """The name of the architecture for the compiler, such as ``sm_90``."""
        return f"sm_{self.capability[0]}{self.capability[1]}"


# The version of the driver from which on such launches can be captured into CUDA graphs too, as 1000 times CUDA's.
_EARLY_STARTS_VERSION = 12030
_DLPACK_TYPES = {"cpu": 1, "cuda": 2}
_EVALUATE, _MEMORY = ".evaluate", ".memory"  # which use devices


class _ThreadState(threading.local):
    """The GPU whose context is current in this thread, as far as this module has set it."""

    device: Device | None = None


_thread_state = _ThreadState()

# Of the names of a device, those that are the package's own business, and those that the CPU has not.
_INTERNAL_NAMES = frozenset(
    (
        "_hash",
        "_stays_current",
        "activate",
        "capture",
        "dlpack_type",
        "free_lists",
        "has_spilled",
        "has_stream",
        "launched",
        "note_launches",
    )
)
_NAMES_OF_GPUS = frozenset(("attributes", "compute_capability", "context", "handle", "stream"))


class Device:
    """A device that holds arrays and computes with them: ``cuda:N`` or ``cpu``.

    There is one object per device, so devices can be compared with ``is``. As a context manager, a device is the
    default device of this thread (and of contexts copied from it) inside the ``with`` block.

    Parameters
    ----------
    spec : Device, str, int or None
        ``"cuda"``, ``"cuda:1"``, ``"gpu"``, ``"gpu:1"``, ``"cpu"``, the number of a GPU, or None for the default.

    Attributes
    ----------
    kind : str
        ``"cuda"`` or ``"cpu"``.
    index, id : int
        The number of the GPU as CUDA counts them; 0 for the CPU.
    handle, context, stream : CUdevice, CUcontext, CUstream
        The objects of the CUDA driver for a GPU, made at their first use.
    attributes : Attributes
        The properties of the GPU.
    has_spilled : bool
        Whether values of the device were moved to memory of the host for lack of room; see `core/runtime/spill.py`.
    free_lists : dict
        The lists of free blocks by requested bytes; see `core/runtime/memory_pool.py`.
    launched : list
        What the driver said to the last launch of a kernel; see `note_launches`.
    capture : Capture or None
        What the work of a GPU is captured for, instead of run; see `core/runtime/capture.py`.
    """

    __slots__ = (
        *(
            "_hash",
            "_stays_current",
            "attributes",
            "capture",
            "context",
            "free_lists",
            "handle",
            "has_spilled",
            "index",
        ),
        *("kind", "launched", "stream"),
    )

    kind: str
    index: int
    handle: Any
    context: Any
    stream: Any
    attributes: Attributes
    has_spilled: bool
    free_lists: dict[int, Any]
    launched: list[Any]
    capture: Any
    _hash: int
    _stays_current: bool

    def __new__(cls, spec: Device | str | int | None = None) -> Device:
        """Return the device that `spec` names."""
        if isinstance(spec, Device):
            return spec
        if spec is None:
            return default_device()
        known = _devices.get(spec)
        return known if known is not None else _parse(spec)

    def __str__(self) -> str:
        """Return the name of the device, such as ``cuda:0``."""
        return "cpu" if self.kind == "cpu" else f"cuda:{self.index}"

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same device; NumPy's devices are strings."""
        return self is other or (isinstance(other, str) and other == str(self))

    def __hash__(self) -> int:
        """Return the hash of the name, which finds the device in a dict with either."""
        return self._hash

    def __repr__(self) -> str:
        """Return the expression that makes the device."""
        return f"Device({str(self)!r})"

    def __dir__(self) -> list[str]:
        """Return the names that are meant for users, and that this device has."""
        left_out = _INTERNAL_NAMES | _NAMES_OF_GPUS if self.kind == "cpu" else _INTERNAL_NAMES
        return sorted(set(object.__dir__(self)) - left_out)

    def __reduce__(self) -> tuple[type[Device], tuple[str]]:
        """Pickle the device by its name."""
        return Device, (str(self),)

    def __getattr__(self, name: str) -> Any:
        """Initialise a GPU at the first use of its handle, context, stream or attributes."""
        # Called only while the slots of a GPU are empty, so that later reads of them cost nothing.
        if name not in Device.__slots__ or self.kind == "cpu":
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        objects = _driver_objects.get(self)
        if objects is None:
            try:
                made = _make_driver_objects(self)
            except MemoryError as error:  # other processes fill the GPU
                raise DeviceError(f"{self} has no room for this process ({error})") from None
            objects = _driver_objects.setdefault(self, made)  # another thread may have been first
            if objects is not made:
                check(driver().cuStreamDestroy(made[3]))
            elif behind_context is not None:
                Job(partial(behind_context, self)).start_alone()
        self.handle, self.context, self.attributes, self.stream = objects
        return object.__getattribute__(self, name)

    @property
    def hardware(self) -> str:
        """A description of the device for people; a GPU that cannot be used raises `DeviceError`."""
        if self.kind == "cpu":
            return f"{platform.machine()}, {os.cpu_count()} processors"
        (major, minor), total = self.attributes.capability, self.attributes.total_memory
        return f"{self.attributes.name}, compute capability {major}.{minor}, {total / 2**30:.0f} GiB"

    @property
    def id(self) -> int:
        """The number of the GPU as CUDA counts them, under CuPy's name; 0 for the CPU."""
        return self.index

    def __int__(self) -> int:
        """Return the number of the GPU; 0 for the CPU."""
        return self.index

    @property
    def compute_capability(self) -> str:
        """The compute capability of the GPU, such as ``"90"``; the CPU has none."""
        if self.kind == "cpu":
            raise AttributeError("the CPU has no compute capability")
        return "{}{}".format(*self.attributes.capability)

    @property
    def mem_info(self) -> tuple[int, int]:
        """The bytes that are free for all programs, and all bytes of the device."""
        info = import_late(_MEMORY, __package__).memory_info(self)
        if info.total is None:
            raise DeviceError(f"the system does not tell how much memory {self} has")
        return info.free, info.total

    def use(self) -> None:
        """Make the device the default of this thread, until another one is, or an outer ``with`` block ends."""
        with_devices.set((*with_devices.get()[:-1], self))

    def synchronize(self) -> None:
        """Compute the pending arrays of the device, and wait until its work is done. See `synchronize`."""
        import_late(_EVALUATE, __package__).synchronize(self)

    @property
    def dlpack_type(self) -> int:
        """The number of the device type in DLPack."""
        return _DLPACK_TYPES[self.kind]

    @property
    def shares_host_memory(self) -> bool:
        """Whether the memory of the device is host memory, which NumPy can read and write."""
        return self.kind == "cpu"

    @property
    def has_stream(self) -> bool:
        """Whether the work of the device is queued on a CUDA stream and runs concurrently with the host."""
        return self.kind == "cuda"

    def activate(self) -> None:
        """Make the context of this GPU current in the calling thread."""
        # With several GPUs, another library may have changed the current context since: set it at every call.
        if _thread_state.device is not self or not self._stays_current:
            if self in _lost:
                raise DeviceError(_lost[self])
            check(driver().cuCtxSetCurrent(self.context))
            _thread_state.device = self

    def note_launches(self) -> list[Any]:
        """Return a new `launched`, which stays empty until the next launch: it tells whether there was one."""
        self.launched = []
        return self.launched

    def __enter__(self) -> Device:
        """Make the device the default of this thread."""
        with_devices.set((*with_devices.get(), self))
        return self

    def __exit__(self, *exception: object) -> None:
        """Restore the previous default."""
        with_devices.set(with_devices.get()[:-1])


# The handle, the context, the properties and the stream of a GPU.
_DriverObjects = tuple[Any, Any, Attributes, Any]


def _make_driver_objects(device: Device) -> _DriverObjects:
    """Have the driver begin to use a GPU."""
    cuda = driver()
    _thread_state.device = None  # an error before there is a context is no error of another GPU
    handle = check(cuda.cuDeviceGet(device.index))
    attribute_enum = cuda.CUdevice_attribute

    def read(name: str) -> int:
        return int(check(cuda.cuDeviceGetAttribute(getattr(attribute_enum, f"CU_DEVICE_ATTRIBUTE_{name}"), handle)))

    if not read("MEMORY_POOLS_SUPPORTED"):
        raise DeviceError(f"{device} has no memory pools (cuMemAllocAsync), which gpunumpy needs")
    capability = read("COMPUTE_CAPABILITY_MAJOR"), read("COMPUTE_CAPABILITY_MINOR")
    attributes = Attributes(
        name=check(cuda.cuDeviceGetName(128, handle)).split(b"\0")[0].decode(),
        capability=capability,
        multiprocessors=read("MULTIPROCESSOR_COUNT"),
        threads_per_multiprocessor=read("MAX_THREADS_PER_MULTIPROCESSOR"),
        l2=read("L2_CACHE_SIZE"),
        shared_per_block=read("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        total_memory=int(check(cuda.cuDeviceTotalMem(handle))),
        starts_kernels_early=capability >= (9, 0) and check(cuda.cuDriverGetVersion()) >= _EARLY_STARTS_VERSION,
    )
    if beside_context is not None:
        Job(beside_context).start_alone()
    context = check(cuda.cuDevicePrimaryCtxRetain(handle))
    check(cuda.cuCtxSetCurrent(context))
    _thread_state.device = device
    stream = check(cuda.cuStreamCreate(cuda.CUstream_flags.CU_STREAM_DEFAULT.value))
    return handle, context, attributes, stream


@contextmanager
def briefly_active(device: Device) -> Iterator[None]:
    """Return a context for finalizers, which come in the middle of work for another GPU: it is active again then."""
    before = _thread_state.device
    device.activate()
    try:
        yield
    finally:
        if before is not None:
            before.activate()


def _new_device(kind: str, index: int) -> Device:
    """Return a new object for a device, without its driver objects."""
    device = object.__new__(Device)
    device.kind, device.index, device.has_spilled, device.capture = kind, index, False, None
    device.free_lists = {}
    device._hash = hash(str(device))
    device.note_launches()
    return device


# Installed by `executors`: loads what work on a GPU needs, in a thread of its own while the driver makes a context.
beside_context: Callable[[], None] | None = None
# Installed by `evaluate`: prepares what the program is going to need, in another one as soon as there is a context.
behind_context: Callable[[Device], None] | None = None

CPU = _new_device("cpu", 0)
_devices: dict[str | int, Device] = {"cpu": CPU}
_driver_objects: dict[Device, _DriverObjects] = {}
with_devices: ContextVar[tuple[Device, ...]] = ContextVar("gpunumpy_default_device", default=())
_default: Device | None = None
# The default if nobody has named it and nothing has needed its context: whether that can be made is not known.
_provisional: Device | None = None


def _parse(spec: object) -> Device:
    """Return the device that a new `spec` names, and add it to `_devices`."""
    if not isinstance(spec, str | int) or isinstance(spec, bool):
        raise TypeError(f"a device is named by a Device, a str or an int, not {spec!r}; {allowed(devices())}")
    kind, _, number = spec.partition(":") if isinstance(spec, str) else ("cuda", "", str(spec))
    if kind not in ("cuda", "gpu") or (":" in str(spec) and not number) or not (number or "0").isdecimal():
        raise ValueError(f"{spec!r} names no device; {allowed(devices())}")
    index = int(number or 0)
    found = _find_driver()
    if index >= found.count:
        because = f" ({found.reason}; python -m gpunumpy info tells what is needed)" if found.reason else ""
        raise DeviceError(f"there is no device {spec!r} here{because}; {allowed(devices())}")
    new = _new_device("cuda", index)
    new._stays_current = found.count == 1
    return _devices.setdefault(spec, _devices.setdefault(f"cuda:{index}", new))


def _forget_gpus() -> None:
    """Have this process, a forked child, go without GPUs if its parent has used CUDA."""
    global _found_driver, _default, _provisional
    if _found_driver is None or not _found_driver.count:
        return
    for device in _devices.values():
        device._stays_current = False
    _devices.clear()
    _devices["cpu"] = CPU
    _thread_state.device = _provisional = None
    if _default is not CPU:
        _default = None
    if with_devices.get() != (CPU,) * len(with_devices.get()):
        with_devices.set(())
    _found_driver = _Driver(_found_driver.module, 0, _FORKED)  # at the end: a second call does nothing then


after_fork(None, _forget_gpus)


def devices() -> tuple[Device, ...]:
    """Return every device of this machine, the GPUs first.

    Examples
    --------
    >>> devices()[-1]
    Device('cpu')
    """
    return (*(Device(f"cuda:{index}") for index in range(_find_driver().count)), CPU)


@overload
def default_device() -> Device: ...
@overload
def default_device(device: Device | str | int) -> None: ...
def default_device(device: Device | str | int | None = None) -> Device | None:
    """Return the device that new arrays go to, or set it.

    Until it is set, the default is the device that the environment variable ``GPUNUMPY_DEVICE`` names, else the first
    GPU that can be used, else the CPU. No context is made to find out: where the GPU turns out to be full as the first
    array goes to it, a warning tells which device the arrays have instead.

    Parameters
    ----------
    device : Device, str or int, optional
        The new default of the whole process. For one thread and one block, write ``with Device("cpu"):`` instead.

    Returns
    -------
    Device or None
        The default device if none was given, else None.
    """
    global _default
    if device is not None:
        _default = Device(device)
        return None
    overrides = with_devices.get()
    if overrides:
        return overrides[-1]
    if _default is None:
        _default = _choose_default()
    return _default


def _choose_default() -> Device:
    """Return the default device for a process that has set none; no context is made if the driver promises one."""
    global _provisional
    name = os.environ.get("GPUNUMPY_DEVICE")
    if name != "cpu" and _find_driver().reason == _FORKED:
        warn(f"arrays go to the CPU: {_FORKED}", RuntimeWarning)
        return CPU
    if name:
        return Device(name)
    for device in devices()[:-1]:
        if _promises_context(device):
            _provisional = device
            return device
        if _can_be_used(device):
            return device
    return CPU


def _promises_context(device: Device) -> bool:
    """Return whether a GPU without a context can have one, unless it is full: no process can have it for itself."""
    if device in _driver_objects or is_lost(device):
        return False
    cuda = driver()
    names = cuda.CUdevice_attribute
    try:
        handle = check(cuda.cuDeviceGet(device.index))
        mode = check(cuda.cuDeviceGetAttribute(names.CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, handle))
        has_pools = check(cuda.cuDeviceGetAttribute(names.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, handle))
    except DeviceError:
        return False
    return bool(has_pools and mode == cuda.CUcomputemode.CU_COMPUTEMODE_DEFAULT.value)


def _can_be_used(device: Device) -> bool:
    """Return whether a GPU has a context, which is made; `why_no_gpu` tells why not."""
    try:
        device.activate()
    except DeviceError:
        return False
    return True


def proven(device: Device) -> Device:
    """Return a device that an array is about to go to; the one after it if it is the default by chance and unusable.

    That one is to be asked about next.
    """
    global _default, _provisional
    if device is not _provisional or device is not _default:
        return device
    try:
        device.activate()
    except DeviceError as error:
        if device in _driver_objects:  # another thread had more luck
            return device
        following = devices()[device.index + 1]
        if _default is device:
            _default, _provisional = following, None if following is CPU else following
            warn(f"arrays go to {following}, those of {device} too: {error}", RuntimeWarning)
        return following
    if _provisional is device:
        _provisional = None
    return device


def synchronize(device: Device | str | int | None = None) -> None:
    """Wait until everything queued on a device has run.

    Parameters
    ----------
    device : Device, str, int or None
        The device to wait for; the default device if None.

    Raises
    ------
    DeviceError
        If some of that work failed.
    """
    device = Device(device)
    if device is not CPU:
        refuse_capture(device, "to wait for the device")
        if device not in _driver_objects and not is_lost(device):
            return  # nothing was queued
        device.activate()
        check(driver().cuStreamSynchronize(device.stream))
