"""Transforms with elementwise kernels in them: which are faster so, and how they are run."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from ...core.dtypes import KIND
from ...core.graph.layout import Layout
from ...core.graph.library_calls.transforms import Passes, Transform, is_smooth, passes
from ...core.runtime import memory
from ...core.runtime.device import Device
from ...core.runtime.plan import Runner
from ...core.schedule.callbacks import FusedCall
from ...core.schedule.kernel import Affine, Apply, Kernel, Load
from ...nvlib import cufft
from ...nvlib.cufft_callbacks import Functions, available, load_name, store_name
from ...nvlib.handles import bindings
from ..codegen.callbacks import first_input, load_callback, store_callback
from ..cuda.compile import compile_lto
from ..cuda.launch import WIRE
from .callback_limits import LIMITS

# The operations that a function of a plan may have: what takes longer than its element takes to arrive is not free.
_ROWS = frozenset(
    ("absolute", "add", "cast", "complex", "conjugate", "divide", "equal", "greater", "greater_equal", "imag")
    + ("less", "less_equal", "logical_and", "logical_not", "logical_or", "maximum", "minimum", "multiply", "negative")
    + ("not_equal", "positive", "real", "scaled", "square", "subtract", "where")
)


def fuses(options: FusedCall) -> bool:
    """Whether a transform is faster with these kernels in it."""
    return can_fuse(options) and _pays(options)


def can_fuse(options: FusedCall) -> bool:
    """Whether a transform can have these kernels in it."""
    transform = options.options
    assert isinstance(transform, Transform)
    if not available():
        return False
    if options.before is not None:
        # The library reads from this argument, as far as it knows.
        arg = options.before.args[first_input(options.before)]
        if not arg.aligned or arg.dtype.itemsize < options.taken[1].itemsize:
            return False
    found = passes(transform, options.taken[0], options.made[0])
    if found is None or len(found.places) != 1:
        return False
    if options.after is None:
        return True
    # Of several passes, all but the last may use the result's memory for complex numbers.
    (store,) = options.after.body.stores
    smaller = options.after.args[store.arg].dtype.itemsize < options.made[1].itemsize
    return not smaller or _one_pass(transform, found)


def _one_pass(transform: Transform, found: Passes) -> bool:
    """Whether one kernel of the library's reads and writes every element once."""
    if transform.kind != "c2c" or len(transform.sizes) > 1 or not is_smooth(transform.sizes[0]):
        return False
    together = found.plan.source.stride == found.plan.target.stride == 1
    return transform.sizes[0] <= (LIMITS.one_pass if together else LIMITS.one_pass_strided)


def _pays(options: FusedCall) -> bool:
    transform = options.options
    assert isinstance(transform, Transform)
    kernels = [kernel for kernel in (options.before, options.after) if kernel is not None]
    simple = all(i.op in _ROWS for kernel in kernels for i in kernel.body.instrs if isinstance(i, Apply))
    few = all(len(k.args) <= LIMITS.max_arguments and len(k.body.instrs) <= LIMITS.max_operations for k in kernels)
    large = max(prod(options.taken[0].shape), prod(options.made[0].shape)) >= LIMITS.min_elements
    if not (simple and few and large and all(map(is_smooth, transform.sizes))):
        return False
    before, after = options.before, options.after
    if before is not None and not _in_step(before, before.body.stores[0].at):
        return False
    if after is not None and not _in_step(after, _walk(after, options.given)):
        return False
    return _faster(transform, options)


def _walk(kernel: Kernel, arg: int) -> Affine:
    """Where a kernel reads an argument that it reads at one place."""
    return next(i.at for i in kernel.body.instrs if isinstance(i, Load) and i.arg == arg)


def _in_step(kernel: Kernel, walk: Affine) -> bool:
    """Whether neighbours in the transform's memory are neighbours, or the same, in all that a kernel touches."""
    touched = [i.at for i in kernel.body.instrs if isinstance(i, Load)] + [s.at for s in kernel.body.stores]
    (along,) = [d for d, (c, n) in enumerate(zip(walk.coef, kernel.shape, strict=True)) if c == 1 and n != 1]
    return all(at.coef[along] in (0, 1) for at in touched)


def _faster(transform: Transform, options: FusedCall) -> bool:
    longest = max(transform.sizes)
    if LIMITS.slow_points in transform.sizes:
        return False
    if len(transform.sizes) > 1:
        halved = transform.kind == "r2c" and options.after is not None
        most = (LIMITS.halved_axes if halved else LIMITS.axes)[len(transform.sizes)]
        return transform.kind != "c2r" and longest <= most
    if transform.kind != "c2c":
        return _faster_real(transform, options)
    if options.after is not None and sum(arg.kind == "in" for arg in options.after.args) > 1:
        # Another array is read where the transform stores.
        power = longest.bit_count() == 1
        if (longest > LIMITS.one_pass_store and not power) or (options.made[1].itemsize, longest) == LIMITS.slow_store:
            return False
    found = passes(transform, options.taken[0], options.made[0])
    return found is not None and _one_pass(transform, found)


def _faster_real(transform: Transform, options: FusedCall) -> bool:
    (points,) = transform.sizes
    power = points.bit_count() == 1
    real, (source, _), (target, _) = transform.kind == "r2c", options.taken, options.made
    itemsize = (options.taken if real else options.made)[1].itemsize
    if (points >= LIMITS.long_points and points % 2 == 0) or (power and points * itemsize >= LIMITS.long_bytes):
        real_side = options.before if real else options.after
        if real_side is None:
            return True
    (axis,) = transform.axes
    if not power or source.strides[axis] != 1 or target.strides[axis] != 1:
        return False
    kind = transform.kind, itemsize
    if options.before is not None and points > LIMITS.short_before[kind]:
        return False
    return options.after is None or (points <= LIMITS.short_after[kind] and points != LIMITS.slow_after.get(kind))


def fft_fused(device: Device, options: FusedCall, layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare a transform that computes what it reads, or what it writes, in functions that cuFFT calls."""
    transform = options.options
    assert isinstance(transform, Transform)
    before, after = options.before, options.after
    found = passes(transform, options.taken[0], options.made[0])
    assert found is not None, "a value that no plan describes was to be copied"
    ((start, _),) = found.places
    start *= options.taken[1].itemsize
    double = options.taken[1].name in ("float64", "complex128")
    arch = device.attributes.arch
    own, count, load, store = 0, 1, b"", b""
    reads = writes = _Arguments((), "")
    if before is not None:
        (stored,) = before.body.stores
        own, count = first_input(before), len(before.args) - 1
        reads = _arguments(before, (stored.arg,), own)
        load = compile_lto(load_callback(before, load_name(transform.kind, double)), arch)
        own -= own > stored.arg
    if after is not None:
        (stored,) = after.body.stores
        writes = _arguments(after, (options.given, stored.arg))
        store = compile_lto(store_callback(after, options.given, store_name(transform.kind, double)), arch)
    functions = Functions(load, store, (len(reads.wires), len(writes.wires)))
    pack = struct.Struct("=" + reads.wires + writes.wires).pack
    library, plans = bindings("cufft"), cufft.plans_of(device)
    entry = plans.entry(found.plan, double, functions)
    linked = entry.linked
    assert linked is not None
    execute, direction = cufft.execution(transform, double)

    def run(pointers: Sequence[Any]) -> None:
        result, *given = pointers
        device.activate()
        with plans.lock:
            handle = plans.use(entry)
            linked.set(pack(*reads.words(given[:count]), *writes.words(given[count:])))
            if entry.work:
                held = memory.allocate(device, entry.work)
                library.set_work_area(handle, held.ptr)
            execute(handle, given[own] + start, result, *direction)

    return run


class _Arguments(NamedTuple):
    """Which of the values that are given are words of a function, and how they travel, in the letters of `struct`."""

    places: tuple[int, ...]
    kinds: str

    @property
    def wires(self) -> str:
        return "".join(WIRE[kind] for kind in self.kinds)

    def words(self, given: Sequence[Any]) -> list[Any]:
        """The values of the words."""
        found: list[Any] = []
        for place, kind in zip(self.places, self.kinds, strict=True):
            value = given[place]
            if kind == "c":
                found += (value.real, value.imag)
            else:
                found.append(bool(value) if kind == "b" else value)
        return found


def _arguments(kernel: Kernel, absent: Sequence[int], own: int = -1) -> _Arguments:
    """The words of a kernel's function, where all arguments but the `absent` are given; `own` is no word."""
    given = [n for n in range(len(kernel.args)) if n not in absent]
    words = [(place, kernel.args[n]) for place, n in enumerate(given) if n != own]
    kinds = "".join("P" if arg.kind != "scalar" else KIND[arg.dtype] for _, arg in words)
    return _Arguments(tuple(place for place, _ in words), kinds)
