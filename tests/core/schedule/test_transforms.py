"""Plans of cuFFT without a GPU: the library is a model that executes them with NumPy, over the host's memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from numpy.lib.stride_tricks import as_strided

import gpunumpy as np
from gpunumpy.core.graph.layout import Layout, c_layout
from gpunumpy.core.graph.library_calls.transforms import Transform, plan_transform, result_shape
from gpunumpy.core.runtime import memory
from gpunumpy.kernels.fft import host as host_fft
from gpunumpy.nvlib import cufft
from tests.support.host_executor import run_on_host, with_traits

from ...support.arrays import from_host, to_host

KINDS = {"c2c": ("F", "F"), "r2c": ("f", "F"), "c2r": ("F", "f")}
TYPES = {"C2C": ("c2c", "F"), "Z2Z": ("c2c", "D"), "R2C": ("r2c", "F"), "D2Z": ("r2c", "D")}
TYPES |= {"C2R": ("c2r", "F"), "Z2D": ("c2r", "D")}


@pytest.fixture(autouse=True)
def on_the_host() -> Iterator[None]:
    """The model reads the host's memory."""
    with np.Device("cpu"):
        yield


class Error(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Model:
    """What the adapter uses of `nvmath.bindings.cufft`; it refuses what the library was seen to refuse."""

    cuFFTError = Error
    Type = SimpleNamespace(**{name: number for number, name in enumerate(TYPES)})
    Result = SimpleNamespace(ALLOC_FAILED=2)

    def __init__(self) -> None:
        self.plans: dict[int, Any] = {}
        self.made = self.executed = self.short = self.work = 0
        self.strict = False  # whether real inverses are of what has the symmetry
        self.odd = False  # whether the rows of a batch began where cuFFT 12.0 goes wrong

    def create(self) -> int:
        self.made += 1
        self.plans[self.made] = None
        return self.made

    def destroy(self, handle: int) -> None:
        del self.plans[handle]

    def set_auto_allocation(self, handle: int, automatic: int) -> None:
        assert not automatic

    def set_stream(self, handle: int, stream: int) -> None:
        assert handle in self.plans

    def set_work_area(self, handle: int, pointer: int) -> None:
        assert pointer

    def make_plan_many64(self, handle: int, rank: int, n: Any, *rest: Any) -> int:
        if self.short:
            self.short -= 1
            raise Error(2)
        *sides, kind, batch = rest
        for embed, stride, distance in (sides[:3], sides[3:]):
            assert len(embed) == rank
            assert min(*embed, stride, distance, batch) > 0
        assert len(n) == rank <= 3
        name, complex_ = list(TYPES.values())[kind]
        real = numpy.empty(0, complex_).real.dtype
        half = (*n[:-1], n[-1] // 2 + 1)
        source = (half, complex_) if name == "c2r" else (n, real if name == "r2c" else complex_)
        target = (half, complex_) if name == "r2c" else (n, real if name == "c2r" else complex_)
        self.odd |= name == "c2r" and complex_ == "F" and sides[1] == 1 and batch > 1 and sides[2] % 2 > 0
        self.plans[handle] = (name, n, batch, (*source, *sides[:3]), (*target, *sides[3:]))
        return self.work

    def execute(self, handle: int, source: int, target: int, direction: int = -1) -> None:
        self.executed += 1
        kind, n, batch, *sides = self.plans[handle]
        views = []
        for pointer, (shape, dtype, embed, stride, distance) in zip((source, target), sides, strict=True):
            dtype = numpy.dtype(dtype)
            unit = dtype.itemsize
            steps = [stride * prod(embed[k + 1 :]) for k in range(len(n))]
            if kind != "c2c":
                assert pointer % (unit if dtype.kind == "c" else 2 * unit) == 0, "cuFFT wants it aligned as complex"
            reach = (batch - 1) * distance + sum((m - 1) * s for m, s in zip(shape, steps, strict=True)) + 1
            flat = numpy.frombuffer(memory.host_view(pointer, reach * unit), dtype)
            views.append(as_strided(flat, (batch, *shape), [distance * unit, *(s * unit for s in steps)]))
        x, out = views
        axes = tuple(range(1, len(n) + 1))
        if kind == "r2c":
            out[...] = numpy.fft.rfftn(x, axes=axes)
        elif kind == "c2r":
            for plane in (0, n[-1] // 2)[: 2 - n[-1] % 2] if self.strict else ():
                part = x[..., plane]
                opposite = numpy.roll(numpy.flip(part, axes[:-1]), 1, axes[:-1]) if len(n) > 1 else part
                numpy.testing.assert_allclose(part, opposite.conj(), 1e-5, 1e-5 * abs(x).max())
            out[...] = numpy.fft.irfftn(x, n, axes, "forward")
            if len(n) > 1:
                x[...] = numpy.nan  # as the library does
        else:
            out[...] = numpy.fft.fftn(x, axes=axes) if direction < 0 else numpy.fft.ifftn(x, axes=axes, norm="forward")

    exec_c2c = exec_z2z = exec_r2c = exec_d2z = exec_c2r = exec_z2d = execute


class Stub:
    """What the adapter uses of a device."""

    stream = 0
    capture = None

    def activate(self) -> None:
        pass


DEVICE: Any = Stub()


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Model:
    """The model in the place of the library, and the adapter in the place of the CPU device's transforms."""
    model = Model()
    monkeypatch.setattr(cufft, "bindings", lambda name: model)
    monkeypatch.setattr(cufft, "_plans", {})
    pool = SimpleNamespace(
        allocate_fixed=lambda device, nbytes: SimpleNamespace(ptr=16),
        free_all_blocks=lambda device: None,
        shortage=lambda device, what: MemoryError(what),
    )
    monkeypatch.setattr(cufft, "memory", pool)
    return model


def execute(options: Transform, out: Any, x: Any) -> None:
    """The library call over NumPy arrays, as a GPU's executor calls it."""
    unit = x.itemsize
    where = Layout(x.shape, tuple(s // unit for s in x.strides), 0)
    assert where.low() == 0, "a plan knows no negative steps"
    run = cufft.fft(DEVICE, options, (c_layout(out.shape), where), (out.dtype, x.dtype))
    run((memory.address(out), memory.address(x)))


def expected(options: Transform, x: Any) -> Any:
    out = numpy.empty(result_shape(options, x.shape), KINDS[options.kind][1])
    host_fft.fft(options, out, x)
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_every_layout_that_has_a_plan_is_transformed(library: Model, kind: str) -> None:
    rng = numpy.random.default_rng(0)
    big = rng.standard_normal((6, 8, 4, 10)) + 1j * rng.standard_normal((6, 8, 4, 10))
    big = big.astype(KINDS[kind][0]) if kind != "r2c" else big.real.astype("f")
    planned = 0
    for view in (
        big,
        big[:, ::2],
        big[::3, 2:6],
        big[:, :, :, :7],
        big[1],
        big[0, 0],
        big[:, 0],
        big[:, :1],
        big[..., 0],
    ):
        x = view if memory.address(view) % 16 == 0 else view.copy()
        for count in (1,) if kind == "c2r" else (1, 2, 3):
            for axes in itertools.combinations(range(x.ndim), count):
                sizes = [x.shape[axis] for axis in axes]
                if kind == "c2r":
                    sizes[-1] = 2 * (sizes[-1] - 1) + planned % 2
                if 1 in sizes or 0 in sizes:
                    continue
                options = Transform(kind, axes, tuple(sizes), planned % 2 == 0 and kind != "r2c")
                where = Layout(x.shape, tuple(s // x.itemsize for s in x.strides), 0)
                if plan_transform(options, where, c_layout(result_shape(options, x.shape))) is None:
                    continue
                planned += 1
                reference = expected(options, x)
                found = numpy.full_like(reference, numpy.nan)
                before = x.copy()
                execute(options, found, x)
                numpy.testing.assert_allclose(found, reference, 1e-4, 1e-4, err_msg=f"{options} {where}")
                numpy.testing.assert_array_equal(x, before)
    assert planned > {"c2c": 80, "r2c": 70, "c2r": 20}[kind]


def test_what_no_plan_describes() -> None:
    def found(x: Any, axes: tuple[int, ...], kind: str = "c2c") -> Any:
        options = Transform(kind, axes, tuple(x.shape[a] for a in axes), False)
        where = Layout(x.shape, tuple(s // x.itemsize for s in x.strides), 0)
        return plan_transform(options, where, c_layout(result_shape(options, x.shape)))

    x = numpy.zeros((4, 6, 8), "F")
    assert found(x, (0, 1, 2)) is not None
    assert found(x[::-1], (2,)) is None, "a batch that goes back"
    assert found(x[..., ::-1], (2,)) is None, "an axis that goes back"
    assert found(numpy.broadcast_to(x[0], (3, 6, 8)), (2,)) is None, "one source for several results"
    assert found(x.transpose(0, 2, 1), (1, 2)) is None, "axes in another order"
    assert found(x.reshape(4, 48)[:, :45].reshape(4, 5, 9)[:, ::2], (1, 2)) is not None
    assert found(as_strided(x, (4, 4), (40, 24)), (0, 1)) is None, "a step that is no multiple of the next one"
    real = numpy.zeros((3, 3, 5), "f")
    assert found(real, (2,), "r2c") is not None
    assert found(real, (1,), "r2c") is None, "real numbers that begin between two complex ones"


def test_few_executions() -> None:
    whole = c_layout((8, 16, 32))
    for axes, count in (((0,), 1), ((1,), 8), ((2,), 1), ((0, 1), 1), ((1, 2), 1), ((0, 2), 1), ((0, 1, 2), 1)):
        options = Transform("c2c", axes, tuple(whole.shape[a] for a in axes), False)
        made = plan_transform(options, whole, whole)
        assert made is not None
        assert len(made.offsets) == count
        assert made.plan.batch * count == 8 * 16 * 32 // prod(options.sizes)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("large", [1 << 20, 1])
def test_functions_over_plans(library: Model, monkeypatch: pytest.MonkeyPatch, large: int) -> None:
    from gpunumpy.fft import steps

    monkeypatch.setattr(steps, "_LARGE_ELEMENTS", large)
    run_on_host(monkeypatch, "fft", execute)
    with_traits(monkeypatch, ignores_imaginary_ends=False, calls_numpy=False)
    library.work, library.strict = 64, True
    rng = numpy.random.default_rng(1)
    data = rng.standard_normal((3, 4, 6, 5)) + 1j * rng.standard_normal((3, 4, 6, 5))
    names = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    for dtype in ("F", "d"):
        whole = data.astype(dtype) if dtype == "F" else data.real.copy()
        for x in (whole, whole.T, whole[::-1, 1:, ::2], whole[0, 0], numpy.broadcast_to(whole[0], (2, 4, 6, 5))):
            for name in names:
                if name in ("rfft", "ihfft") and dtype == "F":
                    continue
                for axis, n in itertools.product(range(x.ndim), (None, 3, 8)):
                    close(getattr(np.fft, name)(from_host(x), n, axis), getattr(numpy.fft, name)(x, n, axis))
            for name in ("fftn", "ifftn", "rfftn", "irfftn"):
                if name == "rfftn" and dtype == "F":
                    continue
                for axes in (None, *itertools.permutations(range(x.ndim), 2)):
                    tested, reference = (getattr(module.fft, name) for module in (np, numpy))
                    given = from_host(x)
                    close(tested(given, axes=axes), reference(x, axes=axes))
                    numpy.testing.assert_array_equal(to_host(given), x)
                    # An operation before, and one after.
                    close(tested(from_host(x) * 2, axes=axes) + 1, reference(x * 2, axes=axes) + 1)
    assert library.executed > 1000
    assert not library.odd


def close(found: Any, reference: Any) -> None:
    assert (found.shape, found.dtype) == (reference.shape, reference.dtype)
    tolerance = 1e-5 if reference.dtype.char in "fF" else 1e-13
    numpy.testing.assert_allclose(to_host(found), reference, tolerance, tolerance * abs(reference).max())


# --- the cache ------------------------------------------------------------------------------------------------------


def planned(n: int) -> Any:
    found = plan_transform(Transform("c2c", (0,), (n,), False), c_layout((n,)), c_layout((n,)))
    assert found is not None
    return found.plan


def test_plans_are_bounded(library: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cufft, "MAX_PLANS", 3)
    plans = cufft.Plans(DEVICE)
    entries = {n: plans.entry(planned(n), False) for n in (2, 3, 4)}
    assert not library.plans, "they are made when they are used"
    handles = {n: plans.use(entry) for n, entry in entries.items()}
    assert plans.entry(planned(2), False) is entries[2]
    assert plans.use(entries[2]) == handles[2], "it is kept"
    assert plans.use(plans.entry(planned(2), True)) not in handles.values(), "precisions differ"
    assert library.plans.keys() == {handles[2], handles[4], library.made}, "the one used last goes last"
    assert plans.use(entries[3]) == library.made, "it was given up, and is made again"
    plans.clear()
    assert not library.plans
    assert plans.use(entries[2]) in library.plans


def test_plans_are_bounded_by_their_tables(library: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cufft, "MAX_PLAN_BYTES", 10_000)
    plans = cufft.Plans(DEVICE)
    for n, double, held in ((127, False, 0), (65536, True, 0), (131, False, 4 * 131 * 8), (262, True, 4 * 262 * 16)):
        entry = plans.entry(planned(n), double)
        plans.use(entry)
        assert entry.table_bytes == held
    assert list(library.plans) == [entry.handle], "the latest alone"


def test_memory_for_a_plan(library: Model) -> None:
    plans = cufft.Plans(DEVICE)
    entries = [plans.entry(planned(n), False) for n in (4, 5, 6)]
    plans.use(entries[0])
    library.short = 1
    assert plans.use(entries[1]) in library.plans
    assert not entries[0].handle, "others were given up for it"
    library.short = 2
    with pytest.raises(MemoryError, match="Fourier"):
        plans.use(entries[2])
    assert not library.plans
