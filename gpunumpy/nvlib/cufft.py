"""cuFFT: plans in a bounded cache, one for each GPU, and their execution over memory that all of them share.

A plan is made with no memory to work in: it is given some for each execution, which goes back to the pool at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

from ..core.graph.layout import Layout
from ..core.graph.library_calls.transforms import Plan, Transform, passes
from ..core.runtime import memory
from ..core.runtime.device import Device
from ..core.runtime.plan import Runner
from .cufft_callbacks import Functions, Linked
from .handles import bindings

# The type of a plan and the function that executes it, for single and for double precision.
_KINDS = {"c2c": ("C2C", "Z2Z"), "r2c": ("R2C", "D2Z"), "c2r": ("C2R", "Z2D")}
_FORWARD, _INVERSE = -1, 1

# A device keeps no more plans than this, and none beside the latest one that would make them hold more bytes.
MOST_PLANS = 256
MOST_BYTES = 1 << 28
_LARGEST_FACTOR = 127


class Entry:
    """A plan, as one of the library's or waiting to be made into one.

    Attributes
    ----------
    handle
        The library's plan, or 0.
    work, held
        The bytes that it needs to work in, and those of tables that it holds itself.
    used
        When it was used last: the number of that use.
    linked
        The functions of ours that its kernels call.
    """

    __slots__ = ("__weakref__", "double", "handle", "held", "linked", "plan", "used", "work")

    def __init__(self, plan: Plan, double: bool, linked: Linked | None = None) -> None:
        self.plan = plan
        self.double = double
        self.linked = linked
        self.handle = self.work = self.held = self.used = 0


class Plans:
    """The plans of a GPU; those of the library are the ones used last."""

    def __init__(self, device: Device) -> None:
        self.lock = threading.RLock()
        self._device = device
        self._library = bindings("cufft")
        self._entries: WeakValueDictionary[Any, Entry] = WeakValueDictionary()
        self._made: list[Entry] = []
        self._uses = 0

    def entry(self, plan: Plan, double: bool, functions: Functions | None = None) -> Entry:
        """The plan, made or not."""
        linked = Linked(self._device, functions) if functions is not None else None
        with self.lock:
            return self._entries.setdefault((plan, double, functions), Entry(plan, double, linked))

    def use(self, entry: Entry) -> int:
        """The library's plan; whoever executes it has the lock."""
        self._uses = entry.used = self._uses + 1
        if not entry.handle:
            self._make(entry)
        return entry.handle

    def clear(self) -> None:
        """Give up all of the library's plans."""
        with self.lock:
            for entry in list(self._made):
                self._forget(entry)

    def _forget(self, entry: Entry) -> None:
        self._made.remove(entry)
        handle, entry.handle = entry.handle, 0
        self._library.destroy(handle)

    def _make(self, entry: Entry) -> None:
        self._retried(entry)
        self._made.append(entry)
        held = sum(one.held for one in self._made)
        for old in sorted(self._made, key=lambda one: one.used)[:-1]:
            if len(self._made) <= MOST_PLANS and held <= MOST_BYTES:
                break
            held -= old.held
            self._forget(old)

    def _retried(self, entry: Entry) -> None:
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
            raise MemoryError(f"no memory on {self._device} for the tables of a Fourier transform") from error

    def _plan(self, entry: Entry) -> None:
        plan, library = entry.plan, self._library
        sizes, source, target = plan.sizes, plan.source, plan.target
        handle = library.create()
        try:
            library.set_auto_allocation(handle, 0)
            library.set_stream(handle, int(self._device.stream))
            kept = entry.linked.link(library, handle, plan.kind, entry.double) if entry.linked else None
            entry.work = library.make_plan_many64(
                *(handle, len(sizes), sizes),
                *(source.embed, source.stride, source.distance),
                *(target.embed, target.stride, target.distance),
                *(int(getattr(library.Type, _KINDS[plan.kind][entry.double])), plan.batch),
            )
        except BaseException:
            library.destroy(handle)
            raise
        del kept
        entry.handle = handle
        entry.held = _tables(plan, entry.double)


def _tables(plan: Plan, double: bool) -> int:
    """The bytes of the tables that a plan holds.

    They count where a size has a prime factor that cuFFT has no code for: it makes a convolution of such a transform.
    """
    longest = max((n for n in plan.sizes if _largest_factor(n) > _LARGEST_FACTOR), default=0)
    return 4 * longest * (16 if double else 8)


def _largest_factor(n: int) -> int:
    factor = 2
    while factor * factor <= n:
        if n % factor:
            factor += 1
        else:
            n //= factor
    return n


_plans: dict[Device, Plans] = {}
_lock = threading.Lock()


def plans_of(device: Device) -> Plans:
    """The plans of a GPU."""
    found = _plans.get(device)
    if found is None:
        with _lock:
            found = _plans.get(device) or _plans.setdefault(device, Plans(device))
    return found


def execution(options: Transform, double: bool) -> tuple[Callable[..., None], tuple[int, ...]]:
    """The library's function that executes a plan, and its arguments after the plan and the pointers."""
    direction = (_INVERSE if options.inverse else _FORWARD,) if options.kind == "c2c" else ()
    return getattr(bindings("cufft"), f"exec_{_KINDS[options.kind][double].lower()}"), direction


def fft(device: Device, options: Transform, layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare a transform, which is a few executions of one plan."""
    target, source = layouts
    found = passes(options, source, target)
    assert found is not None, "a value that no plan describes was to be copied"
    plan = found.plan
    double = dtypes[0].name in ("float64", "complex128")
    unit_result, unit = (dtype.itemsize for dtype in dtypes)
    places = [(unit * a, unit_result * b) for a, b in found.places]
    once = places == [(0, 0)]
    library, plans = bindings("cufft"), plans_of(device)
    execute, direction = execution(options, double)
    entry, use, lock = plans.entry(plan, double), plans.use, plans.lock
    activate = device.activate

    def run(pointers: Sequence[Any]) -> None:
        result, value = pointers
        activate()
        with lock:
            handle = use(entry)
            if once and not entry.work:
                execute(handle, value, result, *direction)
                return
            if entry.work:
                held = memory.allocate(device, entry.work)
                library.set_work_area(handle, held.ptr)
            for start, start_result in places:
                execute(handle, value + start, result + start_result, *direction)

    return run
