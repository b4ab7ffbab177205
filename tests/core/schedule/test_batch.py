"""Equal small calls of one flush are one call, where none of them needs another, and give what they give alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.graph.layout import Layout, c_layout, c_strides
from gpunumpy.core.graph.library_calls.record import Batch
from gpunumpy.core.graph.library_calls.transforms import Transform, result_shape
from gpunumpy.core.graph.primitives import LibraryCall
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.explain import step_name
from gpunumpy.core.runtime.memory import host_view
from gpunumpy.core.schedule.batch import MAX_BATCH, MIN_BATCH, batch_calls
from gpunumpy.core.schedule.lower import items_of
from gpunumpy.core.schedule.steps import RunKernel, RunLibraryCall
from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.fft import cuda_batch
from gpunumpy.kernels.fft import host as host_fft
from gpunumpy.kernels.fft.cuda_batch import copying
from gpunumpy.kernels.host.executor import HostExecutor
from gpunumpy.kernels.products.cuda_small import small_matmul
from tests.core.fusion.counting import kernels
from tests.emulator import available
from tests.emulator.executor import run_program

RNG = numpy.random.default_rng(5)


@pytest.fixture(autouse=True)
def on_the_cpu() -> Iterator[None]:
    with gpunumpy.Device("cpu"):
        yield


def values(count: int, *shape: int) -> list[Any]:
    return [RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape) for _ in range(count)]


def names(work: Callable[[], Any]) -> list[str]:
    """What runs: the names of calls, and "kernel"."""
    return [step_name(step) if isinstance(step, RunLibraryCall) else "kernel" for step in kernels(work)]


def each(program: Callable[..., Any], hosts: list[Any]) -> Callable[[], list[Any]]:
    """The program over each of the arrays, recorded before any is computed."""
    arrays = [gpunumpy.asarray(x) for x in hosts]

    def work() -> list[Any]:
        return [program(gpunumpy, x) for x in arrays]

    return work


def agree(program: Callable[..., Any], hosts: list[Any]) -> None:
    for found, x in zip(each(program, hosts)(), hosts, strict=True):
        numpy.testing.assert_allclose(gpunumpy.asnumpy(found), program(numpy, x), atol=1e-12)


@pytest.mark.parametrize(
    "count", [1, MIN_BATCH - 1, MIN_BATCH, 37, MAX_BATCH, MAX_BATCH + 1, 2 * MAX_BATCH + MIN_BATCH]
)
def test_how_many_are_a_batch(count: int) -> None:
    work = each(lambda xp, x: xp.fft.fft(x), values(count, 12))
    whole, rest = divmod(count, MAX_BATCH)
    last = ["fft_batch"] if rest >= MIN_BATCH else ["fft"] * rest
    assert names(work) == ["fft_batch"] * whole + last
    agree(lambda xp, x: xp.fft.fft(x), values(count, 12))


PROGRAMS: dict[str, tuple[Callable[..., Any], list[str]]] = {
    "fft": (lambda xp, x: xp.fft.fft(x), ["fft_batch"]),
    "fft2": (lambda xp, x: xp.fft.fft2(x), ["fft_batch"]),
    "rfft": (lambda xp, x: xp.fft.rfft(x.real), ["fft_batch"]),
    "ifft": (lambda xp, x: xp.fft.ifft(x), ["fft_batch"]),
    "irfft": (lambda xp, x: xp.fft.irfft(x[0]), ["fft_batch"]),
    "rows of irfft": (lambda xp, x: xp.fft.irfft(x), ["fft"] * 6),
    "before and after": (lambda xp, x: xp.abs(xp.fft.fft(x * 2)), ["kernel", "fft_batch", "kernel"]),
    "filter": (lambda xp, x: xp.fft.ifft(xp.fft.fft(x) * 3), ["fft_batch", "kernel", "fft_batch"]),
    "first axis": (lambda xp, x: xp.fft.fft(x, axis=0), ["fft"] * 6),
    "product": (lambda xp, x: xp.abs(x) @ xp.abs(x.T), ["kernel", "kernel", "matmul_batch"]),
    "complex product": (lambda xp, x: x @ x.T, ["matmul"] * 6),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    program, steps = PROGRAMS[name]
    assert names(each(program, values(6, 5, 6))) == steps
    agree(program, values(6, 5, 6))


def test_those_of_other_shapes_and_options_are_not_of_the_group() -> None:
    hosts = values(6, 16) + values(6, 18)
    arrays = [gpunumpy.asarray(x) for x in hosts]

    def work() -> list[Any]:
        return [gpunumpy.fft.fft(x) for x in arrays] + [gpunumpy.fft.fft(x, 8) for x in arrays[:2]]

    assert names(work).count("fft_batch") == 2
    for found, x in zip(work(), hosts, strict=False):
        numpy.testing.assert_allclose(gpunumpy.asnumpy(found), numpy.fft.fft(x), atol=1e-12)


@pytest.mark.parametrize(
    ("program", "points"),
    [
        (lambda xp, x: xp.fft.fft(x), 4098),  # too large
        (lambda xp, x: xp.fft.fft(x), 131),  # cuFFT has no code of its own for it
        (lambda xp, x: xp.fft.rfft(x.real), 81),  # cuFFT may compute two as one
        (lambda xp, x: xp.fft.irfft(x, 81), 41),
    ],
)
def test_those_that_are_alone(program: Callable[..., Any], points: int) -> None:
    assert not any("batch" in name for name in names(each(program, values(5, points))))
    agree(program, values(5, points))


def test_what_needs_another_comes_after_it() -> None:
    """One way first and then back, and back first for others: groups of which each needs the other cannot be."""
    hosts = values(8, 8)
    arrays = [gpunumpy.asarray(x) for x in hosts]

    def there(xp: Any, x: Any) -> Any:
        return xp.fft.ifft(xp.fft.fft(x), norm="forward")

    def back(xp: Any, x: Any) -> Any:
        return xp.fft.fft(xp.fft.ifft(x, norm="forward"))

    found = [there(gpunumpy, x) for x in arrays[:4]] + [back(gpunumpy, x) for x in arrays[4:]]
    wanted = [there(numpy, x) for x in hosts[:4]] + [back(numpy, x) for x in hosts[4:]]
    for one, other in zip(found, wanted, strict=True):
        numpy.testing.assert_allclose(gpunumpy.asnumpy(one), other, atol=1e-12)


def test_results_are_arrays_of_their_own() -> None:
    hosts = values(5, 8)
    arrays = [gpunumpy.asarray(x) for x in hosts]
    found = [gpunumpy.fft.fft(x) for x in arrays]
    arrays[0][...] = 0  # which what was recorded before does not see
    found[1][:2] = 7
    sums = [gpunumpy.asnumpy(x) for x in found]
    for k, (one, x) in enumerate(zip(sums, hosts, strict=True)):
        wanted = numpy.fft.fft(x)
        if k == 1:
            wanted[:2] = 7
        numpy.testing.assert_allclose(one, wanted, atol=1e-12)


@pytest.mark.parametrize("computed", [True, False])
def test_what_is_written_over_is_not_copied_for_it(computed: bool) -> None:
    host = numpy.stack(values(8, 8))
    given = gpunumpy.asarray(host)
    found = []

    def work() -> list[Any]:
        arrays = given if computed else given * 2
        for k in range(7):
            found.append(gpunumpy.fft.fft(arrays[k]))
            arrays[k + 1, :3] = k
        return found

    steps = kernels(work)
    copies = [step for step in steps if isinstance(step, RunKernel) and 64 in [prod(step.kernel.shape)]]
    assert len(copies) == (0 if computed else 1)
    for k, one in enumerate(found):
        row = host[k] * (1 if computed else 2)
        row[:3] = k - 1 if k else row[:3]
        numpy.testing.assert_allclose(gpunumpy.asnumpy(one), numpy.fft.fft(row), atol=1e-12)


def test_one_after_the_other_in_place() -> None:
    host = numpy.stack(values(6, 8))
    arrays = gpunumpy.asarray(host)
    for k in range(6):
        arrays[k] = gpunumpy.fft.fft(arrays[k])
    numpy.testing.assert_allclose(gpunumpy.asnumpy(arrays), numpy.fft.fft(host), atol=1e-12)


# --- the kernels ----------------------------------------------------------------------------------------------------

SHAPES: tuple[tuple[int, ...], ...] = ((8,), (7,), (3, 5), (64, 9))


@pytest.mark.skipif(not available(), reason="the emulator needs g++")
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_values_that_are_brought_together(dtype: str) -> None:
    for shape in SHAPES:
        for count in (4, 5, MAX_BATCH):
            arrays = [RNG.integers(0, 9, shape).astype(dtype) for _ in range(count)]
            strides = c_strides(shape)
            if count == 5:  # as columns of something else
                arrays = [numpy.asfortranarray(x) for x in arrays]
                strides = c_strides(shape[::-1])[::-1]
            held = numpy.zeros((count, *shape), dtype)
            flat = [x.reshape(-1, order="A") for x in arrays]
            program = copying([Layout(shape, strides, 0)] * count, held.itemsize, into=True)
            run_program(program, [*flat, *[flat[0]] * (MAX_BATCH - count), held.reshape(-1)])
            numpy.testing.assert_array_equal(held, numpy.stack(arrays))
            back = [numpy.zeros(shape, dtype) for _ in range(count)]
            flat = [x.reshape(-1) for x in back]
            program = copying([c_layout(shape)] * count, held.itemsize, into=False)
            run_program(program, [*flat, *[flat[0]] * (MAX_BATCH - count), held.reshape(-1)])
            for one, x in zip(back, arrays, strict=True):
                numpy.testing.assert_array_equal(one, x)


def test_one_text_serves_all_counts_and_sizes() -> None:
    texts = {copying([c_layout((n,))] * count, 8, into=True).text for count in (4, 37, MAX_BATCH) for n in (8, 512)}
    assert len(texts) == 1


@pytest.mark.skipif(not available(), reason="the emulator needs g++")
@pytest.mark.parametrize("epilogues", [(), ("residual",)])
def test_products(epilogues: tuple[str, ...]) -> None:
    shapes = ((5, 7), (7, 3))
    layouts = [c_layout((5, 3)), *map(c_layout, shapes)]
    dtypes = [numpy.dtype("f4")] * (3 + len(epilogues))
    single, _ = small_matmul(layouts, dtypes, epilogues)
    program, argument_format = small_matmul(layouts, dtypes, epilogues, 6)
    assert len(argument_format) == MAX_BATCH * len(dtypes)
    sets = []
    for _ in range(6):
        a, b = (RNG.standard_normal(shape).astype("f4") for shape in shapes)
        sets.append([numpy.zeros(15, "f4"), a.reshape(-1), b.reshape(-1), *[RNG.random(15, "f4") for _ in epilogues]])
    run_program(program, [x for one in sets + [sets[0]] * (MAX_BATCH - 6) for x in one])
    for out, *operands in sets:
        alone = numpy.zeros(15, "f4")
        run_program(single, [alone, *operands])
        numpy.testing.assert_array_equal(out, alone)


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_100"])
def test_texts_compile(arch: str) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    program, _ = small_matmul([c_layout((8, 8))] * 3, [numpy.dtype("f4")] * 3, (), 8)
    texts = [program.text]
    for itemsize, shape in ((4, (7,)), (8, (512,)), (16, (3, 5))):
        for into in (False, True):
            texts.append(copying([c_layout(shape)] * 5, itemsize, into=into).text)
    for text in texts:
        assert compile_cubin(text, arch)


def _by_numpy(device: Any, options: Any, layouts: Any, dtypes: Any) -> Callable[[Any], None]:
    """A transform as the library does it, over the host's memory."""

    def run(pointers: Any) -> None:
        out, x = (
            numpy.ndarray(
                w.shape, t, host_view(at, (w.high() + 1) * t.itemsize), 0, [s * t.itemsize for s in w.strides]
            )
            for at, w, t in zip(pointers, layouts, dtypes, strict=True)
        )
        host_fft.fft(options, out, x)

    return run


@pytest.mark.skipif(not available(), reason="the emulator needs g++")
@pytest.mark.parametrize("count", [4, 7])
@pytest.mark.parametrize(("kind", "shape", "axes"), [("c2c", (6,), (0,)), ("r2c", (3, 8), (1,)), ("c2r", (5,), (0,))])
def test_batches_of_transforms(
    kind: str, shape: tuple[int, ...], axes: tuple[int, ...], count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def emulated(device: Any, program: Any, pointers: int) -> Callable[[Any], bool]:
        return lambda values: bool(run_program(program, [int(v) for v in values], guard=False))

    monkeypatch.setattr(cuda_batch, "prepare_program", emulated)
    monkeypatch.setattr(cuda_batch.cufft, "fft", _by_numpy)  # type: ignore[attr-defined]
    options = Transform(kind, axes, (8 if kind != "c2c" else 6,), kind == "c2r")
    made = result_shape(options, shape)
    taken, given = (numpy.dtype("D" if kind[at] == "c" else "d") for at in (0, 2))
    arrays = [x if taken == "D" else x.real.copy() for x in values(count, *shape)]
    wide = numpy.zeros((*shape, 2), taken)  # the last one is read through strides, from its second element on
    wide[..., 1] = arrays[-1]
    results = [numpy.zeros(made, given) for _ in range(count)]
    where = [c_layout(shape)] * (count - 1) + [Layout(shape, tuple(2 * s for s in c_strides(shape)), 1)]
    run = cuda_batch.fft_batch(
        gpunumpy.Device("cpu"),
        Batch(count, options),
        [c_layout(made)] * count + where,
        [given] * count + [taken] * count,
    )
    run([x.ctypes.data for x in (*results, *arrays[:-1], wide)])
    for one, x in zip(results, arrays, strict=True):
        alone = numpy.zeros(made, given)
        host_fft.fft(options, alone, x)
        numpy.testing.assert_array_equal(one, alone)


def test_calls_of_other_sizes_are_not_looked_through() -> None:
    """As in a loop whose sizes change: nothing is copied, and no depth is counted."""
    arrays = [gpunumpy.asarray(x[0]) for x in (values(1, n) for n in range(12, 40))]
    results = [gpunumpy.fft.fft(x) for x in arrays]
    nodes, _ = evaluate.walk([x.value() for x in results])
    items = items_of(nodes)
    assert sum(isinstance(item.signature.primitive, LibraryCall) for item in items) == len(arrays) > MIN_BATCH
    assert batch_calls(items, range(len(results)), HostExecutor.traits) is items
