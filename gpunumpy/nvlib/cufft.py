"""cuFFT: a bounded cache of plans for each GPU, and their execution.

A plan owns no work area. Each execution allocates one from the memory pool and returns it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakSet, WeakValueDictionary

from ..core.graph.layout import Layout
from ..core.graph.library_calls.transforms import Plan, Transform, plan_transform
from ..core.locks import ReentrantLock
from ..core.runtime import memory
from ..core.runtime.device import Device
from ..core.runtime.plan import Runner
from .cufft_callbacks import Functions, Linked
from .handles import bindings

# Kind of a transform -> the names of its plan type and of its execution, for single and for double precision.
_KINDS = {"c2c": ("C2C", "Z2Z"), "r2c": ("R2C", "D2Z"), "c2r": ("C2R", "Z2D")}
_FORWARD, _INVERSE = -1, 1

# Limits of the plans of a GPU: their number, and the bytes of their tables (which the latest plan alone may exceed).
MAX_PLANS = 256
MAX_PLAN_BYTES = 1 << 28
_LARGEST_FACTOR = 127


class Entry:
    """A plan, with the library's plan while that exists.

    Attributes
    ----------
    handle
        The handle of the library's plan, or 0.
    work_bytes, table_bytes
        The bytes of its work area, and of the tables that it holds.
    last_use
        The number of its last use, which orders plans by time.
    linked
        Its callbacks, if any.
    captures
        What has captured an execution: the library's plan exists as long as the graphs do.
    """

    __slots__ = (
        *("__weakref__", "captures", "double", "handle", "last_use", "linked", "plan", "table_bytes", "work_bytes"),
    )

    def __init__(self, plan: Plan, double: bool, linked: Linked | None = None) -> None:
        self.plan = plan
        self.double = double
        self.linked = linked
        self.captures: WeakSet[Any] = WeakSet()
        self.handle = self.work_bytes = self.table_bytes = self.last_use = 0


class Plans:
    """The plans of a GPU. Only the last used ones exist in the library."""

    def __init__(self, device: Device) -> None:
        self.lock = ReentrantLock()
        self._device = device
        self._library = bindings("cufft")
        self._entries: WeakValueDictionary[Any, Entry] = WeakValueDictionary()
        self._made: list[Entry] = []
        self._uses = 0

    def entry(self, plan: Plan, double: bool, functions: Functions | None = None) -> Entry:
        """Return the entry of a plan, which may not exist in the library yet."""
        linked = Linked(self._device, functions) if functions is not None else None
        with self.lock:
            return self._entries.setdefault((plan, double, functions), Entry(plan, double, linked))

    def use(self, entry: Entry) -> int:
        """Return the handle of the library's plan. The caller holds `lock` until it has executed the plan."""
        self._uses = entry.last_use = self._uses + 1
        if self._device.capture is not None:
            entry.captures.add(self._device.capture)
        if not entry.handle:
            self._make(entry)
        return entry.handle

    def clear(self) -> None:
        """Destroy all plans of the library that no CUDA graph uses."""
        with self.lock:
            for entry in list(self._made):
                if not entry.captures:
                    self._forget(entry)

    def _forget(self, entry: Entry) -> None:
        """Destroy the library's plan of an entry."""
        self._made.remove(entry)
        handle, entry.handle = entry.handle, 0
        self._library.destroy(handle)

    def _make(self, entry: Entry) -> None:
        """Make the library's plan of an entry, and destroy the least recently used ones beyond the limits."""
        self._make_or_free_memory(entry)
        self._made.append(entry)
        held = sum(other.table_bytes for other in self._made)
        for old in sorted(self._made, key=lambda other: other.last_use)[:-1]:
            if len(self._made) <= MAX_PLANS and held <= MAX_PLAN_BYTES:
                break
            if not old.captures:
                held -= old.table_bytes
                self._forget(old)

    def _make_or_free_memory(self, entry: Entry) -> None:
        """Make the library's plan of an entry. If memory is short, free all that is unused and try again."""
        library = self._library
        try:
            return self._plan(entry)
        except library.cuFFTError as error:
            if error.status != int(library.Result.ALLOC_FAILED):
                raise
        self.clear()
        memory.free_all_blocks(self._device)
        try:
            self._plan(entry)
        except library.cuFFTError as error:
            if error.status != int(library.Result.ALLOC_FAILED):
                raise
            raise memory.shortage(self._device, "no room for the tables of a Fourier transform") from error

    def _plan(self, entry: Entry) -> None:
        """Make the library's plan of an entry, with callbacks if it has any."""
        plan, library = entry.plan, self._library
        sizes, source, target = plan.sizes, plan.source, plan.target
        handle = library.create()
        try:
            library.set_auto_allocation(handle, 0)
            library.set_stream(handle, int(self._device.stream))
            callback_infos = entry.linked.link(library, handle, plan.kind, entry.double) if entry.linked else None
            entry.work_bytes = library.make_plan_many64(
                *(handle, len(sizes), sizes),
                *(source.embed, source.stride, source.distance),
                *(target.embed, target.stride, target.distance),
                *(int(getattr(library.Type, _KINDS[plan.kind][entry.double])), plan.batch),
            )
        except BaseException:
            library.destroy(handle)
            raise
        del callback_infos  # which had to live until here
        entry.handle = handle
        entry.table_bytes = _tables(plan, entry.double)


def _tables(plan: Plan, double: bool) -> int:
    """Return an estimate of the bytes of the tables that a plan holds.

    They are large only if a size has a prime factor for which cuFFT has no code: it computes such a transform as a
    convolution.
    """
    longest = max((n for n in plan.sizes if _largest_factor(n) > _LARGEST_FACTOR), default=0)
    return 4 * longest * (16 if double else 8)


def _largest_factor(n: int) -> int:
    """Return the largest prime factor of n."""
    factor = 2
    while factor * factor <= n:
        if n % factor:
            factor += 1
        else:
            n //= factor
    return n


_plans: dict[Device, Plans] = {}


def plans_of(device: Device) -> Plans:
    """Return the plans of a GPU."""
    found = _plans.get(device)
    if found is None:
        found = _plans.setdefault(device, Plans(device))
    return found


def execution(options: Transform, double: bool) -> tuple[Callable[..., None], tuple[int, ...]]:
    """Return the library's function that executes a plan, and its arguments after the plan and the pointers."""
    direction = (_INVERSE if options.inverse else _FORWARD,) if options.kind == "c2c" else ()
    return getattr(bindings("cufft"), f"exec_{_KINDS[options.kind][double].lower()}"), direction


def fft(device: Device, options: Transform, layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare a transform: one or more executions of one plan."""
    target, source = layouts
    found = plan_transform(options, source, target)
    assert found is not None, "a value that no plan describes must be copied before"
    plan = found.plan
    double = dtypes[0].name in ("float64", "complex128")
    target_itemsize, source_itemsize = (dtype.itemsize for dtype in dtypes)
    offsets = [(source_itemsize * a, target_itemsize * b) for a, b in found.offsets]
    is_single = offsets == [(0, 0)]
    library, plans = bindings("cufft"), plans_of(device)
    execute, direction = execution(options, double)
    entry, use, lock = plans.entry(plan, double), plans.use, plans.lock
    activate = device.activate

    def run(pointers: Sequence[Any]) -> None:
        result, source_pointer = pointers
        activate()
        with lock:
            handle = use(entry)
            if is_single and not entry.work_bytes:
                execute(handle, source_pointer, result, *direction)
                return
            if entry.work_bytes:
                work_area = memory.allocate_fixed(device, entry.work_bytes)
                library.set_work_area(handle, work_area.ptr)
            for source_offset, target_offset in offsets:
                execute(handle, source_pointer + source_offset, result + target_offset, *direction)

    return run
