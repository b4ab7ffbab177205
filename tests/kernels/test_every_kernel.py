"""Every kernel that the suite's programs make compiles for every architecture that is promised.

The programs are those of the fusion tests, random ones, and the examples. They run on the CPU device; what a GPU would
compile for the same steps is generated beside it, and compiled by NVRTC, which needs no GPU: all texts for the
architecture that is measured on, and for every other one each sixth text, beginning with another.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.dtypes import bfloat16
from gpunumpy.core.errors import DeviceError
from gpunumpy.demo import load, names
from gpunumpy.fft import steps
from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.cuda.nvrtc import archs

from ..core.fusion import test_elementwise_kernels, test_reduction_kernels, test_shape_kernels
from ..emulator import test_philox_gpu
from ..numpy_parity import test_byte_floats
from ..programs.machine import Machine
from ..support.host_executor import with_traits
from ..support.texts import collected

pytest.importorskip("cuda.bindings.nvrtc")

ALL_ON = "sm_90"
SAMPLED = ("sm_75", "sm_80", "sm_100")
EVERY = 6
CHUNKS = 24
PROGRAMS = 120


def look(results: Any) -> None:
    """Compute everything that a program returns."""
    for result in results if isinstance(results, (tuple, list)) else (results,):
        gpunumpy.asnumpy(result)


def fusion_programs() -> None:
    for module in (test_elementwise_kernels, test_shape_kernels):
        for case in module.CALLS:
            look(case[-1](gpunumpy.asarray(module.A)))
    rng = numpy.random.default_rng(0)
    pair = [gpunumpy.asarray(rng.random((96, 80)).astype("f4") + 0.5) for _ in range(2)]
    for work, _ in test_reduction_kernels.CASES.values():
        look(work(gpunumpy, *pair))


def random_programs() -> None:
    for seed in range(PROGRAMS):
        Machine(1_000_000 + seed, gpunumpy).run(12)


def examples() -> None:
    for name in names():
        example = load(name)
        look(example.picture(example.run(16, 3)))


def set_programs() -> None:
    rng = numpy.random.default_rng(0)
    for dtype in ("?", "i2", "u8", "e", "f", "D"):
        a, b, rows = (gpunumpy.asarray(rng.integers(0, 40, shape).astype(dtype)) for shape in (500, 300, (50, 9)))
        look((*gpunumpy.unique_all(a), gpunumpy.unique(a), *gpunumpy.unique(rows, True, True, axis=0)))
        look((gpunumpy.isin(a, b), gpunumpy.isin(a, b[:3], invert=True), gpunumpy.setxor1d(a, b)))
        look(gpunumpy.intersect1d(a, b, return_indices=True))


def product_programs() -> None:
    rng = numpy.random.default_rng(0)
    with pytest.MonkeyPatch.context() as patch:
        with_traits(patch, takes_epilogues=True)  # as on a GPU
        for dtype in ("?", "i2", "u8", "e", bfloat16, "f", "d"):
            x, w = (gpunumpy.asarray(rng.integers(0, 4, (20, 20)).astype(dtype)) for _ in range(2))
            look((x @ w, gpunumpy.maximum((x @ w) * 2 + w[0] + x, 0), (x @ w).astype("f4")))
        for dtype in ("?", "i1", "u4", "i8"):
            look(gpunumpy.ones((70, 64, 2), dtype) @ gpunumpy.ones((70, 2, 64), dtype))


def byte_float_programs() -> None:
    for dtype in test_byte_floats.FORMATS:
        for statement in test_byte_floats.STATEMENTS.values():
            look(statement(gpunumpy, gpunumpy.asarray(test_byte_floats.data(dtype))))
        for write in test_byte_floats.WRITES.values():
            x = gpunumpy.asarray(test_byte_floats.data(dtype))
            write(gpunumpy, x)
            look(x)


def fft_programs() -> None:
    rng = numpy.random.default_rng(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "_LARGE_ELEMENTS", 1)  # as for many elements
        with_traits(patch, ignores_imaginary_ends=False)  # as on a GPU
        for dtype in ("f", "d", "F", "D"):
            x = gpunumpy.asarray((rng.random((4, 6, 9)) + 0.5).astype(dtype))
            for name in ("fft", "ifft", "irfft", "hfft", "fft2", "ifftn", "irfft2", "irfftn"):
                function = getattr(gpunumpy.fft, name)
                look((function(x), function(x * 2 + 1, norm="ortho"), function(x.T)))
            look((gpunumpy.fft.irfft(x, 8, axis=1), gpunumpy.fft.fftn(x, (3, 8), (0, 2))))
            look(abs(gpunumpy.fft.fft(x)) ** 2)


def stream_programs() -> None:
    rng = gpunumpy.random.Generator(gpunumpy.random.PhiloxGPU(1))  # type: ignore[attr-defined]
    for use in test_philox_gpu.USES.values():
        look(use(rng))


SOURCES: tuple[Callable[[], None], ...] = (
    *(fusion_programs, random_programs, examples, set_programs, product_programs, fft_programs, stream_programs),
    byte_float_programs,
)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """All texts, in an order that is the same in every process."""
    found: list[str] = []
    before = gpunumpy.set_residence("device")
    try:
        for source in SOURCES:
            with collected() as made:
                source()
            assert made, f"{source.__name__} ran no kernel"
            found.extend(made)
    finally:
        gpunumpy.set_residence(before)
    return sorted(set(found))


def compile_all(texts: list[str], arch: str) -> None:
    """Compile in as many threads as there are processors: NVRTC runs without the interpreter's lock."""

    def failure(text: str) -> str:
        try:
            compile_cubin(text, arch)
        except DeviceError as error:  # which shows the text with the compiler's log
            return str(error)
        return ""

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [message for message in pool.map(failure, texts) if message]
    assert not failures, f"{len(failures)} of {len(texts)} texts fail, the first:\n{failures[0]}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk cache that is empty, so that the compiler runs."""
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))


def skip_unknown(arch: str) -> None:
    if arch not in archs():
        pytest.skip(f"the installed NVRTC knows {', '.join(archs())}")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_all_compile(chunk: int, texts: list[str]) -> None:
    skip_unknown(ALL_ON)
    compile_all(texts[chunk::CHUNKS], ALL_ON)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("chunk", range(CHUNKS // EVERY))
@pytest.mark.parametrize("arch", SAMPLED)
def test_a_sample_compiles(arch: str, chunk: int, texts: list[str]) -> None:
    skip_unknown(arch)
    compile_all(texts[SAMPLED.index(arch) + chunk * EVERY :: CHUNKS], arch)


def test_a_text_that_does_not_compile_is_shown() -> None:
    with pytest.raises(AssertionError, match=r"1 of 2 texts fail, the first:(.|\n)*wrong\(\)"):
        compile_all(['extern "C" __global__ void right() {}', 'extern "C" __global__ void f() { wrong(); }'], ALL_ON)
