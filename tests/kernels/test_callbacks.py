"""Elementwise kernels beside a library call are taken into it, and the functions made of them compute what they did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.graph import node as graph
from gpunumpy.core.graph.layout import Layout, c_layout
from gpunumpy.core.graph.library_calls.record import Record
from gpunumpy.core.graph.library_calls.registry import RECORDS
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.device import Device
from gpunumpy.core.runtime.plan import Plan, PlanTemplate
from gpunumpy.core.runtime.run import Run
from gpunumpy.core.schedule.callbacks import FusedCall, fuse_into_library_calls
from gpunumpy.core.schedule.kernel import Kernel
from gpunumpy.core.schedule.lower import items_of
from gpunumpy.core.schedule.passes import Scheduled, run_passes
from gpunumpy.core.schedule.sizes import Trace
from gpunumpy.core.schedule.steps import RunKernel, RunLibraryCall
from gpunumpy.core.schedule.verify_plan import verify_plan
from gpunumpy.kernels.codegen.callbacks import first_input, load_callback, store_callback
from gpunumpy.kernels.codegen.program import Launch, Program
from gpunumpy.kernels.cuda.compile import compile_lto
from gpunumpy.kernels.cuda.nvrtc import archs
from gpunumpy.kernels.fft import cuda_callbacks
from gpunumpy.kernels.fft import host as host_fft
from gpunumpy.kernels.host import loops
from gpunumpy.kernels.host.executor import HostExecutor

from ..emulator.build import available
from ..emulator.executor import bind, run_program
from ..support.arrays import ndarray, to_host, wrap

RNG = numpy.random.default_rng(4)


@pytest.fixture(autouse=True)
def on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    results = lambda options, args: ((args[0].shape, args[0].dtype),)  # noqa: E731
    monkeypatch.setitem(RECORDS, "turned", Record("turned", results=results))
    with Device("cpu"):
        yield


def turned(x: ndarray) -> ndarray:
    """A library call of one argument: its elements in reverse order."""
    return wrap(graph.library_call("turned", (), (x.value(),)))


def others(values: Sequence[Any], place: int, value: Any) -> list[Any]:
    """The arguments of a kernel, of which the one at `place` is not among `values`."""
    return [*values[:place], value, *values[place:]]


def by_kernel(kernel: Kernel, arguments: Sequence[Any], own: int) -> None:
    loops.SizedKernel(kernel, Trace()).at(())(arguments)


TYPES = "struct alignas(8) float2 { float x, y; };\nstruct alignas(16) double2 { double x, y; };\n"


def by_function(kernel: Kernel, arguments: Sequence[Any], own: int) -> None:
    """The same through the function that a library would call, in an order of its own; `own` is what it stores."""
    (store,) = kernel.body.stores
    if own == store.arg:
        text, data = load_callback(kernel, "call"), first_input(kernel)
        element = "to[i] = call(data, i, info, 0);"
    else:
        text, data = store_callback(kernel, own, "call"), store.arg
        element = "call(data, i, to[i], info, 0);"
    given = [v for n, v in enumerate(bind(kernel, arguments)) if n not in (own, data)]
    words = sum(2 if numpy.iscomplexobj(v) and not isinstance(v, numpy.ndarray) else 1 for v in given)
    c_type = {"f": "float", "d": "double", "F": "float2", "D": "double2"}[kernel.args[own].dtype.char]
    count = prod(kernel.shape)
    head = ", ".join(["void* data", f"{c_type}* to", *(f"long long w{k}" for k in range(words)), "long long n"])
    info = ", ".join([*(f"w{k}" for k in range(words)), "0"])
    text += f'extern "C" __global__ void every({head}) {{ long long info[] = {{{info}}};\n'
    text += f"  for (long long i = n - 1; i >= 0; --i) {{ {element} }}\n}}\n"
    program = Program(TYPES + text, (Launch("every", (1, 1, 1), (1, 1, 1), 0),), (), False, (count,))
    run_program(program, [arguments[data], arguments[own], *given])


def turn(options: Any, out: Any, x: Any) -> None:
    out[...] = x.ravel()[::-1].reshape(x.shape)


CALLS = {"turned": turn, "fft": host_fft.fft}


class Fusing(HostExecutor):
    """Runs calls with kernels in them, the kernels by `compute`."""

    def __init__(self, compute: Callable[[Kernel, Sequence[Any], int], None]) -> None:
        super().__init__(Device("cpu"))
        self.compute = compute

    def library_call(self, name: str, options: Any, dtypes: Any, at: Any) -> Any:
        def prepared(sizes: Sequence[int]) -> Callable[[Sequence[Any]], None]:
            options, layouts = at(sizes)
            if not isinstance(options, FusedCall):
                options = FusedCall(options, (layouts[1], dtypes[1]), (layouts[0], dtypes[0]))
            return lambda values: self.fused(name, options, layouts[0], values)

        return prepared

    def fused(self, name: str, options: FusedCall, target: Layout, values: Sequence[Any]) -> None:
        result, *given = values
        where, dtype = options.call_input
        if options.before is not None:
            taken, count = numpy.full(prod(where.shape), 99, dtype), len(options.before.args) - 1
            place = options.before.body.stores[0].arg
            self.compute(options.before, others(given[:count], place, taken), place)
            taken = taken.reshape(where.shape)
        else:
            strides = tuple(s * dtype.itemsize for s in where.strides)
            taken, count = numpy.ndarray(where.shape, dtype, given[0], where.offset * dtype.itemsize, strides), 1
        made = numpy.empty(options.call_output[0].shape, options.call_output[1])
        CALLS[name](options.options, made, taken)
        result = result[: prod(target.shape)]
        if options.after is None:
            result[...] = made.ravel()
            return
        out = options.after.body.stores[0].arg
        first, second = sorted(((out, result), (options.after_input, made.ravel())), key=lambda pair: pair[0])
        self.compute(options.after, others(others(given[count:], *first), *second), options.after_input)


def plan_of(steps: Any, items: Any, roots: Any, executor: Any) -> Plan:
    template = PlanTemplate(Scheduled(steps, items), roots, len(items), Trace(), executor)
    return Plan(template, (), [item.signature for item in items])


def arrays(*shapes: tuple[int, ...], dtype: str = "F") -> list[Any]:
    made = []
    for shape in shapes:
        x = RNG.standard_normal(shape) + 2
        made.append((x + 1j * RNG.standard_normal(shape) if dtype in "FD" else x).astype(dtype))
    return made


# What is recorded of x and h, in NumPy's words: which calls are left alone, and how many kernels stay.
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[tuple[int, ...], ...], str, int]] = {
    "before": (lambda xp, t, x, h: t(x * h), ((6, 8), (6, 8)), "F", 0),
    "after": (lambda xp, t, x, h: t(x) * h, ((6, 8), (6, 8)), "F", 0),
    "both": (lambda xp, t, x, h: t(x * h) * 2 - h, ((6, 8), (6, 8)), "D", 0),
    "between": (lambda xp, t, x, h: t(t(x) * h), ((6, 8), (6, 8)), "F", 0),
    "row": (lambda xp, t, x, h: t(x * h) + h, ((5, 6, 8), (8,)), "f", 0),
    "column": (lambda xp, t, x, h: t(x - h[:, None]), ((6, 8), (6,)), "d", 0),
    "middle": (lambda xp, t, x, h: t(x) / h[:, None], ((4, 3, 5), (3,)), "d", 0),
    "transposed": (lambda xp, t, x, h: t(x.T * h), ((6, 8), (8, 6)), "F", 0),
    "transposed after": (lambda xp, t, x, h: t(x).T * h, ((6, 8), (8, 6)), "F", 0),
    "backwards": (lambda xp, t, x, h: t(x[::-1, ::2] * h) * h[::-1], ((6, 8), (6, 4)), "F", 0),
    "power": (lambda xp, t, x, h: xp.abs(t(x)) ** 2, ((6, 8), (1,)), "F", 0),
    "scalars": (lambda xp, t, x, h: t(x * (2 + 3j)) * numpy.float32(0.5) + 3, ((40,), (1,)), "F", 0),
    "index": (lambda xp, t, x, h: t(x * xp.arange(8, dtype="f")), ((6, 8), (1,)), "f", 0),
    "kept": (lambda xp, t, x, h: (y := x * h, t(y)), ((6, 8), (6, 8)), "F", 1),
    "read twice": (lambda xp, t, x, h: (t(y := x * h), t(y)), ((6, 8), (6, 8)), "F", 1),
    "kept after": (lambda xp, t, x, h: (y := t(x), y * h), ((6, 8), (6, 8)), "F", 1),
    "reversed after": (lambda xp, t, x, h: (y := t(x)) + y[::-1], ((6, 8), (1,)), "F", 1),
    "two results": (lambda xp, t, x, h: ((y := t(x)) * h, y + h), ((6, 8), (6, 8)), "F", 1),
    "part": (lambda xp, t, x, h: t(x)[1:] * h[1:], ((6, 8), (6, 8)), "F", 1),
    "repeated": (lambda xp, t, x, h: t(x) + xp.zeros((3, 1, 1), "F"), ((6, 8), (1,)), "F", 1),
    "sum": (lambda xp, t, x, h: t(x * h - (x * h).sum()), ((6, 8), (6, 8)), "d", 1),
    "reduced": (lambda xp, t, x, h: t(x).sum(0), ((6, 8), (1,)), "F", 1),
    "convolution": (lambda xp, t, x, h: xp.fft.irfft(xp.fft.rfft(x) * h[:, :5]), ((6, 8), (6, 8)), "d", 0),
    "padded": (lambda xp, t, x, h: t(xp.fft.irfft(x * h)), ((6, 5), (6, 5)), "D", 0),
    "longer": (lambda xp, t, x, h: xp.fft.fft(x * h, 12), ((6, 8), (6, 8)), "D", 1),
    "part before": (lambda xp, t, x, h: t((x * h)[1:]), ((6, 8), (6, 8)), "F", 0),
    "powers": (lambda xp, t, x, h: xp.abs(xp.fft.fft(x, axis=0)) ** 2, ((16, 3), (1,)), "D", 0),
    "filter": (lambda xp, t, x, h: xp.fft.ifft2(xp.fft.fft2(x) * h), ((2, 6, 8), (6, 8)), "D", 0),
    "single": (lambda xp, t, x, h: t(x + 1) * 2, ((1, 1), (1,)), "F", 0),
}


def steps_of(results: Sequence[ndarray]) -> tuple[list[Any], Any, Any, list[Any]]:
    roots = list(dict.fromkeys(r._node for r in results))
    nodes, _ = evaluate.walk(roots)
    steps, items = run_passes(items_of(nodes), range(len(roots)), evaluate.state_of(Device("cpu")).executor)
    return nodes, steps, items, list(range(len(roots)))


@pytest.mark.parametrize("compute", [by_kernel, by_function])
@pytest.mark.parametrize("name", PROGRAMS)
def test_calls_with_kernels_in_them(name: str, compute: Callable[..., None]) -> None:
    if compute is by_function and not available():
        pytest.skip("the emulator needs g++")
    program, shapes, dtype, kernels = PROGRAMS[name]
    x, h = arrays(*shapes, dtype=dtype)
    wanted = program(numpy, lambda a: numpy.ravel(a)[::-1].reshape(a.shape), x, h)
    found = program(np, turned, np.asarray(x), np.asarray(h))
    results = found if isinstance(found, tuple) else (found,)
    nodes, steps, items, roots = steps_of(results)
    steps = fuse_into_library_calls(steps, items, roots, lambda name: lambda options: True)
    verify_plan(steps, items, roots)
    assert sum(isinstance(s, RunKernel) for s in steps) == kernels
    plan_of(steps, items, roots, Fusing(compute)).run(nodes, Run())
    for got, want in zip(results, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        numpy.testing.assert_allclose(to_host(got), want, rtol=1e-5)


def test_what_is_refused_stays() -> None:
    x, h = map(np.asarray, arrays((6, 8), (6, 8)))
    _, steps, items, roots = steps_of([turned(x * h) * h])
    asked: list[FusedCall] = []

    def should_fuse(options: FusedCall) -> bool:
        asked.append(options)
        return options.after is not None

    fused = fuse_into_library_calls(steps, items, roots, {"turned": should_fuse}.get)
    assert [(o.before is not None, o.after is not None) for o in asked] == [(True, False), (False, True)]
    assert [type(s) for s in fused if isinstance(s, (RunKernel, RunLibraryCall))] == [RunKernel, RunLibraryCall]
    (call,) = [s for s in fused if isinstance(s, RunLibraryCall)]
    assert call.name == "turned"
    assert isinstance(call.options, FusedCall)
    assert call.options.call_input == (c_layout((6, 8)), x.dtype)


def test_what_is_overwritten_is_read_before() -> None:
    """The product of what `x` was is not computed in the call after `x` has changed."""
    a, b = arrays((6, 8), (6, 8))
    x, h = np.asarray(a), np.asarray(b)
    product = x * h
    x += 1
    results = [turned(product), x]
    del product
    nodes, steps, items, roots = steps_of(results)
    steps = fuse_into_library_calls(steps, items, roots, lambda name: lambda options: True)
    verify_plan(steps, items, roots)
    plan_of(steps, items, roots, Fusing(by_kernel)).run(nodes, Run())
    numpy.testing.assert_allclose(to_host(results[0]), (a * b).ravel()[::-1].reshape(6, 8), rtol=1e-5)
    numpy.testing.assert_array_equal(to_host(results[1]), a + 1)


# Transforms of 2^22 elements in all: their shape, the dtype of what they read, and of a kernel before and one after it
# those that are taken in.
FASTER: tuple[tuple[str, tuple[int, ...], str, str], ...] = (
    *(("fft", (n,), "F", "before after") for n in (64, 1024, 4096, 8192)),
    *(("fft", (n,), "D", "before after") for n in (256, 8192)),
    ("fft", (256,), "F", "before"),
    *(("fft", (n,), "F", "before after") for n in (640, 1536)),
    ("fft", (768,), "F", ""),
    ("fft", (16384,), "F", ""),
    ("fft", (1 << 22,), "F", ""),
    ("fft2", (1024, 1024), "F", "before after"),
    ("fft2", (2048, 2048), "F", ""),
    ("fftn", (128, 128, 128), "F", "before after"),
    ("fftn", (256, 128, 128), "F", ""),
    *(("rfft", (n,), "f", "before after") for n in (64, 128, 512)),
    *(("rfft", (n,), "f", "before") for n in (256, 1024, 2048)),
    *(("rfft", (n,), "f", "") for n in (4096, 8192, 768)),
    *(("rfft", (n,), "f", "after") for n in (16384, 1 << 16, 1 << 22)),
    *(("rfft", (n,), "d", "before after") for n in (64, 256, 512)),
    *(("rfft", (n,), "d", "before") for n in (128, 1024, 4096)),
    *(("rfft", (n,), "d", "after") for n in (16384, 1 << 16)),
    *(("irfft", (n,), "F", "before after") for n in (64, 256, 1024)),
    *(("irfft", (n,), "F", "") for n in (2048, 8192, 768)),
    *(("irfft", (n,), "F", "before") for n in (16384, 1 << 16, 1 << 22)),
    *(("irfft", (n,), "D", "before after") for n in (64, 256)),
    ("irfft", (512,), "D", "before"),
    ("irfft", (2048,), "D", ""),
    *(("irfft", (n,), "D", "before") for n in (8192, 1 << 16)),
    ("rfft2", (256, 256), "f", "before after"),
    ("rfft2", (1024, 1024), "f", "before"),
    ("rfft2", (2048, 2048), "f", ""),
    ("rfftn", (128, 128, 128), "f", "before"),
    ("rfftn", (64, 64, 64), "d", "before after"),
    ("rfftn", (256, 256, 64), "f", ""),
)


@pytest.fixture(scope="module")
def many() -> Callable[[tuple[int, ...], str], ndarray]:
    """Arrays of up to 2^22 elements in the same memory."""
    with Device("cpu"):
        memory = np.zeros((1 << 22) + (1 << 16), "D")
        memory.computed()

    def array(shape: tuple[int, ...], dtype: str) -> ndarray:
        return memory.view(dtype)[: prod(shape)].reshape(shape)

    return array


@pytest.mark.parametrize(("name", "shape", "dtype", "wanted"), FASTER)
def test_what_is_faster_is_taken_in(
    name: str, shape: tuple[int, ...], dtype: str, wanted: str, many: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_callbacks, "available", lambda: True)
    shape = (-(-(1 << 22) // prod(shape)), *shape)
    half = (*shape[:-1], shape[-1] // 2 + 1)
    taken, made = (half if name == "irfft" else shape), (half if name[0] == "r" else shape)
    results = "".join(dtype.upper() if name != "irfft" else dtype.lower())
    transform = getattr(np.fft, name)
    options = {} if name in ("irfft", "rfft", "fft") else {"axes": tuple(range(1, len(shape)))}
    found = []
    for before, after in ((True, False), (False, True)):
        if name == "irfft":  # has a kernel before it anyway
            before = True
        x = many(taken, dtype)
        y = transform(x * many(taken, dtype) if before else x, **options)
        result = y * many(made, results) if after else y
        del y
        _, steps, items, roots = steps_of([result])
        steps = fuse_into_library_calls(steps, items, roots, {"fft": cuda_callbacks.should_fuse}.get)
        for step in steps:
            if isinstance(step, RunLibraryCall) and isinstance(step.options, FusedCall):
                found += ["before"] * (step.options.before is not None) + ["after"] * (step.options.after is not None)
    assert " ".join(sorted(set(found), reverse=True)) == wanted


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_the_functions_compile(arch: str) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    if arch not in archs():
        pytest.skip(f"this NVRTC does not know {arch}")
    kernels: list[str] = []

    def should_fuse(options: FusedCall) -> bool:
        if options.before is not None:
            kernels.append(load_callback(options.before, "load"))
        if options.after is not None:
            kernels.append(store_callback(options.after, options.after_input, "store"))
        return True

    for program, shapes, dtype, _ in PROGRAMS.values():
        found = program(np, turned, *map(np.asarray, arrays(*shapes, dtype=dtype)))
        _, steps, items, roots = steps_of(found if isinstance(found, tuple) else (found,))
        fuse_into_library_calls(steps, items, roots, lambda name: should_fuse)
    assert len(kernels) > 10
    for text in kernels:
        assert compile_lto(text, arch)
