"""cuFFT: plans in a bounded cache, one for each GPU, and their execution over memory that all of them share.

A plan is made with no memory to work in: it is given some for each execution, which goes back to the pool at once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..core import memory
from ..core.device import Device
from ..core.layout import Layout
from ..core.transforms import Plan, Transform, passes
from .handles import bindings

Prepared = Callable[[Sequence[Any]], None]

# The type of a plan and the function that executes it, for single and for double precision.
_KINDS = {"c2c": ("C2C", "Z2Z"), "r2c": ("R2C", "D2Z"), "c2r": ("C2R", "Z2D")}
_FORWARD, _INVERSE = -1, 1

# A device keeps no more plans than this, and none beside the latest one that would make them hold more bytes.
MOST_PLANS = 256
MOST_BYTES = 1 << 28
_LARGEST_FACTOR = 127


class _Made(NamedTuple):
    """A plan of cuFFT's: the bytes that it needs to work in, and those of tables that it holds itself."""

    handle: int
    work: int
    held: int


class Plans:
    """The plans of a GPU, the one used last at the end."""

    def __init__(self, device: Device) -> None:
        self.lock = threading.RLock()
        self._device = device
        self._library = bindings("cufft")
        self._made: OrderedDict[tuple[Plan, bool], _Made] = OrderedDict()
        self._held = 0

    def get(self, plan: Plan, double: bool) -> _Made:
        """The plan; whoever executes it has the lock."""
        key = (plan, double)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._make(plan, double)
            self._held += found.held
            while len(self._made) > MOST_PLANS or (self._held > MOST_BYTES and len(self._made) > 1):
                self._forget()
        else:
            self._made.move_to_end(key)
        return found

    def clear(self) -> None:
        """Give up all plans."""
        with self.lock:
            while self._made:
                self._forget()

    def _forget(self) -> None:
        _, old = self._made.popitem(last=False)
        self._held -= old.held
        self._library.destroy(old.handle)

    def _make(self, plan: Plan, double: bool) -> _Made:
        library = self._library
        try:
            return self._planned(plan, double)
        except library.cuFFTError as error:
            if error.status != int(library.Result.ALLOC_FAILED):
                raise
        self.clear()
        memory.free_all_blocks(self._device)
        try:
            return self._planned(plan, double)
        except library.cuFFTError as error:
            if error.status != int(library.Result.ALLOC_FAILED):
                raise
            raise MemoryError(f"no memory on {self._device} for the tables of a Fourier transform") from error

    def _planned(self, plan: Plan, double: bool) -> _Made:
        library, (sizes, source, target) = self._library, plan[1:4]
        handle = library.create()
        try:
            library.set_auto_allocation(handle, 0)
            library.set_stream(handle, int(self._device.stream))
            work = library.make_plan_many64(
                *(handle, len(sizes), sizes),
                *(source.embed, source.stride, source.distance),
                *(target.embed, target.stride, target.distance),
                *(int(getattr(library.Type, _KINDS[plan.kind][double])), plan.batch),
            )
        except BaseException:
            library.destroy(handle)
            raise
        return _Made(handle, work, _tables(plan, double))


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


def fft(device: Device, options: Transform, layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Prepared:
    """Prepare a transform, which is a few executions of one plan."""
    target, source = layouts
    found = passes(options, source, target)
    assert found is not None, "a value that no plan describes was to be copied"
    plan = found.plan
    double = dtypes[0].name in ("float64", "complex128")
    to, of = (dtype.itemsize for dtype in dtypes)
    places = [(of * a, to * b) for a, b in found.places]
    library, plans = bindings("cufft"), plans_of(device)
    execute = getattr(library, f"exec_{_KINDS[options.kind][double].lower()}")
    direction = (_INVERSE if options.inverse else _FORWARD,) if options.kind == "c2c" else ()
    get, lock = plans.get, plans.lock

    def run(pointers: Sequence[Any]) -> None:
        result, value = pointers
        device.activate()
        with lock:
            handle, work, _ = get(plan, double)
            if work:
                held = memory.allocate(device, work)
                library.set_work_area(handle, held.ptr)
            for at, to in places:
                execute(handle, value + at, result + to, *direction)

    return run
