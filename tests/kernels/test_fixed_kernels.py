"""The table of fixed kernels has what NumPy's functions ask for, and the builder makes what the run time would."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.graph.bounded_table import forget_all
from gpunumpy.kernels.cuda import compile as module
from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.cuda.nvrtc import archs, compiler_version
from gpunumpy.kernels.cuda.precompiled import digest, find_image
from gpunumpy.nvlib import handles
from tools.fixed_kernels.__main__ import compile_table, missing
from tools.fixed_kernels.nvrtc import NVRTC, installed
from tools.fixed_kernels.table import SHARED_BYTES, texts

from ..support import fake_driver

pytest.importorskip("cuda.bindings.nvrtc")

COUNT = 1 << 20
RNG = numpy.random.default_rng(0)


def array(*shape: int, dtype: str = "f8") -> Any:
    return np.asarray(RNG.random(shape).astype(dtype))


def written(x: Any, index: Any, value: Any) -> Any:
    x[index] = value
    return x


# Calls that wait for no compiler with a wheel: everything that they ask for is in the table.
CALLS: dict[str, Callable[[], Any]] = {
    "solve": lambda: np.linalg.solve(array(512, 512), array(512)),
    "solve of a small system": lambda: np.linalg.solve(array(20, 20), array(20)),
    **{
        f"solve of {n} rows, {dtype}": lambda n=n, dtype=dtype: np.linalg.solve(
            array(n, n, dtype=dtype), array(n, dtype=dtype)
        )
        for n, dtype in ((33, "f8"), (81, "f8"), (96, "f8"), (97, "f8"), (64, "f4"), (129, "f4"), (143, "f4"))
    },
    "writes to elements": lambda: written(array(600, 500), (numpy.arange(9), numpy.arange(9)), array(9)),
    "writes of a number": lambda: written(array(600, 500), (numpy.arange(9), numpy.arange(9)), 2.0),
    "writes to many elements": lambda: written(array(50_000), np.asarray(numpy.arange(50_000)), array(50_000)),
    "convolve": lambda: np.convolve(array(COUNT), array(64)),
    "inv": lambda: np.linalg.inv(array(512, 512)),
    "det": lambda: np.linalg.det(array(512, 512)),
    "svd": lambda: np.linalg.svd(array(64, 64)),
    "eigh": lambda: np.linalg.eigh(array(64, 64)),
    "eig": lambda: np.linalg.eig(array(64, 64)),
    "qr": lambda: np.linalg.qr(array(32, 32)),
    "sort": lambda: np.sort(array(COUNT)),
    "argsort": lambda: np.argsort(array(COUNT)),
    "median": lambda: np.median(array(COUNT)),
    "unique": lambda: np.unique(array(COUNT)),
    "searchsorted": lambda: np.searchsorted(array(1000), array(1000)),
    "cumsum": lambda: np.cumsum(array(COUNT)),
    "histogram": lambda: np.histogram(array(COUNT), 10)[0],
    "random": lambda: np.random.default_rng(0).random(COUNT),
    "normal": lambda: np.random.default_rng(0).normal(size=COUNT),
    "standard_normal": lambda: np.random.default_rng(0).standard_normal(COUNT, dtype="f4"),
    "integers": lambda: np.random.default_rng(0).integers(0, 100, COUNT),
    "permutation": lambda: np.random.default_rng(0).permutation(COUNT),
    "gamma": lambda: np.random.default_rng(0).gamma(2.0, size=COUNT),
}


@pytest.fixture(scope="module")
def table() -> set[str]:
    return {text for rows in texts("sm_90").values() for text in rows}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that a pretended GPU, with pretended libraries beside it, compiles."""
    found: list[str] = []

    def compile_text(text: str, *target: Any) -> bytes:
        found.append(text)
        return b"image"

    fake_driver.install(monkeypatch)
    monkeypatch.setattr(handles, "_handles", {})
    monkeypatch.setattr(handles, "bindings", lambda library: MagicMock(name=library))
    monkeypatch.setattr(module, "_compile", compile_text)
    # What other programs have left on disk, or the package holds, is compiled no more.
    for function in ("_image_on_disk", "_image_of_package"):
        monkeypatch.setattr(module, function, lambda key: None)
    forget_all()
    return found


@pytest.mark.parametrize("name", CALLS)
def test_a_first_call_is_in_the_table(name: str, asked: list[str], table: set[str]) -> None:
    with np.Device("cuda"):
        results = CALLS[name]()
        for result in results if isinstance(results, tuple) else (results,):
            result.computed()
    assert asked
    assert [text[-2000:] for text in asked if text not in table] == []


@pytest.mark.parametrize("arch", SHARED_BYTES)
def test_every_family_has_texts_and_no_text_is_twice(arch: str) -> None:
    rows = texts(arch)
    assert all(rows.values())
    everything = [text for family in rows.values() for text in family]
    assert len(everything) == len(set(everything))
    assert all('extern "C" __global__' in text for text in everything)


def test_images_are_what_is_compiled_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path / "cache"))
    compilers = [compiler for compiler in map(NVRTC, installed()) if compiler.version == compiler_version()]
    if not compilers:
        pytest.skip("NVRTC is not from a package")
    compile_table(tmp_path / "images", compilers, ["sm_90"], ["masks"])
    for text in texts("sm_90")["masks"]:
        assert find_image(tmp_path / "images", digest(text), "sm_90", compiler_version()) == compile_cubin(
            text, "sm_90"
        )
    assert "sm_90 sort" in missing(tmp_path / "images", compiler_version())
    assert "sm_90 masks" not in missing(tmp_path / "images", compiler_version())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("chunk", range(100))
def test_they_compile(chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every architecture has a turn; the build of a wheel compiles all texts for all of them."""
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    arch = [*SHARED_BYTES][chunk % len(SHARED_BYTES)]
    if arch not in archs():
        pytest.skip(f"the installed NVRTC knows {', '.join(archs())}")
    for text in [text for rows in texts(arch).values() for text in rows][chunk::100]:
        assert compile_cubin(text, arch)
