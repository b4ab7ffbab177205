"""Transforms with elementwise kernels fused into them as cuFFT callbacks: which are faster so, and how they run."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from ...core.graph.layout import Layout
from ...core.graph.library_calls.transforms import Executions, Transform, is_smooth, plan_transform
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
from ..cuda.launch import ARGUMENT_FORMAT, kind_of, packer
from .callback_limits import LIMITS

# The ops that a callback may have: cheap ones, which take no longer than an element takes to arrive from memory.
_OPS = frozenset(
    ("absolute", "add", "cast", "complex", "conjugate", "divide", "equal", "greater", "greater_equal", "imag")
    + ("less", "less_equal", "logical_and", "logical_not", "logical_or", "maximum", "minimum", "multiply", "negative")
    + ("not_equal", "positive", "real", "scaled", "square", "subtract", "where")
)


def should_fuse(options: FusedCall) -> bool:
    """Return whether a transform is faster with these kernels fused into it."""
    return can_fuse(options) and _is_worthwhile(options)


def can_fuse(options: FusedCall) -> bool:
    """Return whether these kernels can be fused into a transform."""
    transform = options.options
    assert isinstance(transform, Transform)
    if not available():
        return False
    if options.before is not None:
        # The library is given this argument as its source, so it must be aligned and large enough for that.
        arg = options.before.args[first_input(options.before)]
        if not arg.aligned or arg.dtype.itemsize < options.call_input[1].itemsize:
            return False
    found = plan_transform(transform, options.call_input[0], options.call_output[0])
    if found is None or len(found.offsets) != 1:
        return False
    if options.after is None:
        return True
    # All passes but the last may write complex numbers to the result's memory, so it must be large enough for them.
    (store,) = options.after.body.stores
    smaller = options.after.args[store.arg].dtype.itemsize < options.call_output[1].itemsize
    return not smaller or _is_one_pass(transform, found)


def _is_one_pass(transform: Transform, found: Executions) -> bool:
    """Return whether one kernel of the library reads and writes every element once."""
    if transform.kind != "c2c" or len(transform.sizes) > 1 or not is_smooth(transform.sizes[0]):
        return False
    contiguous = found.plan.source.stride == found.plan.target.stride == 1
    return transform.sizes[0] <= (LIMITS.one_pass if contiguous else LIMITS.one_pass_strided)


def _is_worthwhile(options: FusedCall) -> bool:
    """Return whether a transform that can have these kernels fused into it is faster so."""
    transform = options.options
    assert isinstance(transform, Transform)
    kernels = [kernel for kernel in (options.before, options.after) if kernel is not None]
    simple = all(i.op in _OPS for kernel in kernels for i in kernel.body.instructions if isinstance(i, Apply))
    few = all(
        len(k.args) <= LIMITS.max_arguments and len(k.body.instructions) <= LIMITS.max_operations for k in kernels
    )
    large = max(prod(options.call_input[0].shape), prod(options.call_output[0].shape)) >= LIMITS.min_elements
    if not (simple and few and large and all(map(is_smooth, transform.sizes))):
        return False
    before, after = options.before, options.after
    if before is not None and not _walks_alike(before, before.body.stores[0].at):
        return False
    if after is not None and not _walks_alike(after, _input_map(after, options.after_input)):
        return False
    return _is_faster(transform, options)


def _input_map(kernel: Kernel, arg: int) -> Affine:
    """Return the affine map with which a kernel reads an argument."""
    return next(i.at for i in kernel.body.instructions if isinstance(i, Load) and i.arg == arg)


def _walks_alike(kernel: Kernel, walk: Affine) -> bool:
    """Return whether all loads and stores of a kernel have stride 0 or 1 along the loop where `walk` has stride 1."""
    maps = [i.at for i in kernel.body.instructions if isinstance(i, Load)] + [s.at for s in kernel.body.stores]
    (along,) = [d for d, (c, n) in enumerate(zip(walk.coef, kernel.shape, strict=True)) if c == 1 and n != 1]
    return all(at.coef[along] in (0, 1) for at in maps)


def _is_faster(transform: Transform, options: FusedCall) -> bool:
    """Return whether the limits of a transform's points allow these kernels."""
    longest = max(transform.sizes)
    if LIMITS.slow_points in transform.sizes:
        return False
    if len(transform.sizes) > 1:
        halved = transform.kind == "r2c" and options.after is not None
        max_points = (LIMITS.halved_axes if halved else LIMITS.axes)[len(transform.sizes)]
        return transform.kind != "c2r" and longest <= max_points
    if transform.kind != "c2c":
        return _is_faster_real(transform, options)
    if options.after is not None and sum(arg.kind == "in" for arg in options.after.args) > 1:
        # The kernel after the transform reads another array.
        is_power_of_two = longest.bit_count() == 1
        if (longest > LIMITS.one_pass_store and not is_power_of_two) or (
            options.call_output[1].itemsize,
            longest,
        ) == LIMITS.slow_store:
            return False
    found = plan_transform(transform, options.call_input[0], options.call_output[0])
    return found is not None and _is_one_pass(transform, found)


def _is_faster_real(transform: Transform, options: FusedCall) -> bool:
    """Return whether the limits of a real transform along one axis allow these kernels."""
    (points,) = transform.sizes
    is_power_of_two = points.bit_count() == 1
    real, (source, _), (target, _) = transform.kind == "r2c", options.call_input, options.call_output
    itemsize = (options.call_input if real else options.call_output)[1].itemsize
    if (points >= LIMITS.long_points and points % 2 == 0) or (
        is_power_of_two and points * itemsize >= LIMITS.long_bytes
    ):
        real_side = options.before if real else options.after
        if real_side is None:
            return True
    (axis,) = transform.axes
    if not is_power_of_two or source.strides[axis] != 1 or target.strides[axis] != 1:
        return False
    kind = transform.kind, itemsize
    if options.before is not None and points > LIMITS.short_before[kind]:
        return False
    return options.after is None or (points <= LIMITS.short_after[kind] and points != LIMITS.slow_after.get(kind))


def fft_fused(device: Device, options: FusedCall, layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Runner:
    """Prepare a transform whose source or result is computed by callbacks."""
    transform = options.options
    assert isinstance(transform, Transform)
    before, after = options.before, options.after
    found = plan_transform(transform, options.call_input[0], options.call_output[0])
    assert found is not None, "a value that no plan describes must be copied before"
    ((start, _),) = found.offsets
    start *= options.call_input[1].itemsize
    double = options.call_input[1].name in ("float64", "complex128")
    arch = device.attributes.arch
    library_arg, count, load, store = 0, 1, b"", b""
    reads = writes = _Arguments((), "")
    if before is not None:
        (stored,) = before.body.stores
        library_arg, count = first_input(before), len(before.args) - 1
        reads = _arguments(before, (stored.arg,), library_arg)
        load = compile_lto(load_callback(before, load_name(transform.kind, double)), arch)
        library_arg -= library_arg > stored.arg
    if after is not None:
        (stored,) = after.body.stores
        writes = _arguments(after, (options.after_input, stored.arg))
        store = compile_lto(store_callback(after, options.after_input, store_name(transform.kind, double)), arch)
    functions = Functions(load, store, (len(reads.format), len(writes.format)))
    format = reads.format + writes.format
    pack, packed = packer(format), bytearray(8 * len(format))
    library, plans = bindings("cufft"), cufft.plans_of(device)
    entry = plans.entry(found.plan, double, functions)
    linked = entry.linked
    assert linked is not None
    execute, direction = cufft.execution(transform, double)

    def run(pointers: Sequence[Any]) -> None:
        result, *values = pointers
        device.activate()
        with plans.lock:
            handle = plans.use(entry)
            pack(packed, 0, *reads.words(values[:count]), *writes.words(values[count:]))
            linked.set(bytes(packed))
            if entry.work_bytes:
                work_area = memory.allocate_fixed(device, entry.work_bytes)
                library.set_work_area(handle, work_area.ptr)
            execute(handle, values[library_arg] + start, result, *direction)

    return run


class _Arguments(NamedTuple):
    """The words that a callback reads: the positions of their values, and their kinds (keys of `ARGUMENT_FORMAT`)."""

    positions: tuple[int, ...]
    kinds: str

    @property
    def format(self) -> str:
        """The letters of the module `struct` that encode the words."""
        return "".join(ARGUMENT_FORMAT[kind] for kind in self.kinds)

    def words(self, values: Sequence[Any]) -> list[Any]:
        """Return the words, in order, out of all values of the call."""
        words: list[Any] = []
        for position, kind in zip(self.positions, self.kinds, strict=True):
            value = values[position]
            if kind == "c":
                words += (value.real, value.imag)
            else:
                words.append(bool(value) if kind == "b" else value)
        return words


def _arguments(kernel: Kernel, omitted: Sequence[int], library_arg: int = -1) -> _Arguments:
    """Return the words of a kernel's callback.

    The call has values for all arguments but the `omitted` ones. `library_arg` is passed by the library, so it is not
    a word.
    """
    present = [n for n in range(len(kernel.args)) if n not in omitted]
    words = [(position, kernel.args[n]) for position, n in enumerate(present) if n != library_arg]
    kinds = "".join(kind_of(arg) for _, arg in words)
    return _Arguments(tuple(position for position, _ in words), kinds)
