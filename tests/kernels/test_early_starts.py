"""Kernels that are started while those before them run: which ones, and that they touch no memory before they wait."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import _native
from gpunumpy.core.graph.bounded_table import forget_all
from gpunumpy.core.graph.layout import Layout
from gpunumpy.core.runtime.device import Device
from gpunumpy.kernels.codegen.generate import generate
from gpunumpy.kernels.codegen.interpreted import interpreted
from gpunumpy.kernels.codegen.interpreter import text as interpreter_text
from gpunumpy.kernels.codegen.program import Launch, Program
from gpunumpy.kernels.cuda.compile import compile_program
from gpunumpy.kernels.cuda.launch import Launcher
from gpunumpy.kernels.cuda.nvrtc import compiled
from gpunumpy.kernels.folds import cuda as folds
from gpunumpy.kernels.indexing import cuda_masks
from gpunumpy.kernels.products.cuda_small import small_matmul
from gpunumpy.kernels.sort import cuda as sort

from ..core.native.test_launch import STARTS_EARLY, Config, attributes_of
from ..support import fake_driver
from .test_codegen import KERNELS

pytest.importorskip("cuda.bindings.nvrtc")

MATRIX = Layout((64, 64), (64, 1), 0)
FLOAT64, BOOL, INT64 = (numpy.dtype(name) for name in ("f8", "?", "i8"))
TILES = Layout((200,), (1,), 0)


def interpreter() -> Program:
    program = interpreted(KERNELS["map"], 132)
    assert program is not None
    return program._replace(text=interpreter_text())


PROGRAMS: dict[str, Callable[[], Program]] = {
    **{name: lambda kernel=kernel: generate(kernel, 1024) for name, kernel in KERNELS.items()},  # type: ignore[misc]
    "small product": lambda: small_matmul([MATRIX] * 3, [FLOAT64] * 3, ())[0],
    "fold": lambda: folds.fold(("subtract", False, 0), [Layout((64,), (1,), 0), MATRIX], [FLOAT64] * 2),
    "accumulate": lambda: folds.accumulate(("subtract", False, 0), [MATRIX] * 2, [FLOAT64] * 2),
    "counts of a mask": lambda: cuda_masks.mask_offsets(
        (1024,), [TILES, Layout((), (), 0), MATRIX], [INT64, INT64, BOOL]
    ),
    "positions of a mask": lambda: cuda_masks.mask_positions((1024,), [TILES, MATRIX, TILES], [INT64, BOOL, INT64]),
    "elements of a mask": lambda: cuda_masks.mask_elements(
        (1024,), [TILES, MATRIX, MATRIX, TILES], [FLOAT64, FLOAT64, BOOL, INT64]
    ),
    "interpreter": interpreter,
    "sort": lambda: sort.sort((1,), [MATRIX] * 2, [FLOAT64] * 2),
}
# Any instruction that reads or writes memory which other kernels see.
ACCESS = re.compile(r"\b(?:ld|st|atom|red|cp|prefetch)\.(?!param|shared|local|const)|\bld\.global|\bcall\b")


def body(text: str, entry: str) -> str:
    """The statements of an entry, in C++ or PTX."""
    return text[re.search(rf"(?:void|\.entry)[^;{{]*?\b{entry}\(", text).start() :].partition("{")[2]  # type: ignore[union-attr]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_waits_does_so_first(name: str) -> None:
    program = PROGRAMS[name]()
    assert program.launches
    for launch in program.launches:
        first = body(program.text, launch.entry).strip().partition("\n")[0]
        assert (first == "await_kernels_before();") is launch.waits
    assert all(launch.waits is (name != "sort") for launch in program.launches)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ("sort", "interpreter")])
def test_no_memory_is_touched_before_the_wait(name: str) -> None:
    """Neither in the compiler's order: it must not move loads. (The interpreter takes it ten seconds.)"""
    program = PROGRAMS[name]()
    code = ptx(program.text, 90)
    for launch in program.launches:
        before, _, after = body(code, launch.entry).partition("griddepcontrol.wait;")
        assert not ACCESS.search(before)
        assert ACCESS.search(after)
    assert "griddepcontrol" not in ptx(program.text, 80)


def ptx(text: str, capability: int) -> str:
    options = [f"-arch=compute_{capability}".encode(), b"--fmad=false", b"--std=c++17"]
    return compiled(text, "ptx", options).decode()


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "sort"])
def test_what_waits_declares_no_array_constant(name: str) -> None:
    """The compiler may load such an array at any time, and large kernels are up to a fifth faster for it."""
    text = PROGRAMS[name]().text
    assert not re.search(r"\bconst \w+\* __restrict__", text)
    assert "__ldg" not in text
    if name in KERNELS:
        large = generate(KERNELS[name], 0)
        assert re.search(r"\bconst \w+\* __restrict__", large.text)
        assert not any(launch.waits for launch in large.launches)
        assert "await_kernels_before();" not in large.text


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_driver.FakeDriver:
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    forget_all()
    return fake_driver.install(monkeypatch)


@pytest.fixture
def attributes(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The attributes of each launch by the driver's binding."""
    seen: list[Any] = []
    launch = fake_driver.FakeDriver._cuLaunchKernelEx

    def spy(self: Any, config: Any, *rest: Any) -> None:
        seen.append(attributes_of(Config.from_address(config.getPtr())))
        launch(self, config, *rest)

    monkeypatch.setattr(fake_driver.FakeDriver, "_cuLaunchKernelEx", spy)
    return seen


@pytest.mark.parametrize(
    ("capability", "version", "is_early"),
    [((9, 0), 13000, True), ((12, 0), 12030, True), ((9, 0), 12020, False), ((8, 9), 13000, False)],
)
def test_kernels_are_started_early_where_gpu_and_driver_can(
    capability: tuple[int, int],
    version: int,
    is_early: bool,
    gpu: fake_driver.FakeDriver,
    attributes: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = fake_driver.FakeDriver._cuDeviceGetAttribute
    numbers = dict(zip(("COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR"), capability, strict=True))
    monkeypatch.setattr(
        fake_driver.FakeDriver,
        "_cuDeviceGetAttribute",
        lambda self, attribute, device: numbers.get(
            attribute.name.removeprefix("CU_DEVICE_ATTRIBUTE_"), answer(self, attribute, device)
        ),
    )
    monkeypatch.setattr(fake_driver.FakeDriver, "_cuDriverGetVersion", lambda self: version)
    (np.asarray(numpy.arange(5000.0)) + 1).computed()
    (np.asarray(numpy.arange(1e6)) + 1).computed()
    assert attributes == [STARTS_EARLY if is_early else [], []]


def test_only_what_waits_is_started_early(gpu: fake_driver.FakeDriver, attributes: list[Any]) -> None:
    np.sort(np.asarray(numpy.arange(20000.0))).computed()
    assert attributes
    assert not any(attributes)


@pytest.mark.skipif(not _native.IS_COMPILED, reason="the core is not built for this Python")
@pytest.mark.parametrize("waits", [False, True])
def test_the_core_is_told(waits: bool, gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[bool] = []
    monkeypatch.setattr("gpunumpy.kernels.cuda.launch.function_address", lambda name: 1)
    monkeypatch.setattr(_native, "launch", lambda *given: told.append(given[4]))
    monkeypatch.setattr(fake_driver.FakeDriver, "_cuModuleGetFunction", lambda self, *given: 1)
    device, text = Device("cuda"), 'extern "C" __global__ void empty() {}'
    device.activate()
    Launcher(
        device,
        compile_program(text, ("empty",), device)["empty"],
        Launch("empty", (1, 1, 1), (1, 1, 1), 0, False, waits),
        "",
    )
    assert told == [waits]
