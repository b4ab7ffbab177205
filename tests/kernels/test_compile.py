"""Compiling CUDA C++ with NVRTC, which needs no GPU, and the cache on disk."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gpunumpy.core.disk_cache import cache_folder, open_cache
from gpunumpy.core.errors import DeviceError
from gpunumpy.core.runtime.device import Device
from gpunumpy.kernels.cuda import compile as module
from gpunumpy.kernels.cuda.compile import compile_cubin, contraction, set_contraction
from gpunumpy.kernels.cuda.nvrtc import archs

pytest.importorskip("cuda.bindings.nvrtc")

SCALE = """
extern "C" __global__ void scale(float* a, double s, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) a[i] = a[i] * (float)s + 1.0f;
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    return tmp_path


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100"])
def test_machine_code_for_an_architecture(arch: str) -> None:
    if arch not in archs():
        pytest.skip(f"NVRTC knows {archs()}")
    cubin = compile_cubin(SCALE, arch)
    assert cubin.startswith(b"\x7fELF")
    assert b"scale" in cubin


def test_an_architecture_that_the_compiler_does_not_know() -> None:
    with pytest.raises(ValueError, match=r"'sm_20'; allowed: .*sm_90"):
        compile_cubin(SCALE, "sm_20")


def test_the_disk_cache(folder: Path) -> None:
    first = compile_cubin(SCALE, "sm_90")
    (entry,) = files(folder)
    disk = open_cache(folder)
    assert disk is not None
    key = bytes.fromhex(entry.name)
    assert disk.find(key) == first
    disk.keep(key, b"what the disk has")
    assert compile_cubin(SCALE, "sm_90") == b"what the disk has"
    compile_cubin(SCALE, "sm_80")
    compile_cubin(SCALE + "// another", "sm_90")
    assert len(files(folder)) == 3


@pytest.mark.parametrize("content", [b"", b"abc", b"machine code that is not whole"])
def test_an_entry_that_is_not_whole_is_compiled_again(folder: Path, content: bytes) -> None:
    first = compile_cubin(SCALE, "sm_90")
    (entry,) = files(folder)
    whole = entry.read_bytes()
    entry.write_bytes(content)
    assert compile_cubin(SCALE, "sm_90") == first
    assert entry.read_bytes() == whole


def test_contraction_is_off_until_asked_for() -> None:
    assert not contraction()
    plain = compile_cubin(SCALE, "sm_90")
    set_contraction(True)
    try:
        assert contraction()
        assert compile_cubin(SCALE, "sm_90") != plain
    finally:
        set_contraction(False)
    assert compile_cubin(SCALE, "sm_90") == plain


def test_an_error_shows_the_log_and_the_numbered_source() -> None:
    with pytest.raises(DeviceError) as caught:
        compile_cubin(SCALE.replace("(float)s", "missing"), "sm_90")
    text = str(caught.value)
    assert "does not compile for sm_90" in text
    assert 'identifier "missing" is undefined' in text
    assert "gpunumpy(4): error" in text
    assert "   4 |     if (i < n) a[i] = a[i] * missing + 1.0f;" in text


def test_a_folder_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = folder / "file"
    file.write_text("not a folder")
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(file))
    with pytest.warns(RuntimeWarning, match="set GPUNUMPY_CACHE_DIR"):
        assert compile_cubin(SCALE, "sm_90").startswith(b"\x7fELF")
    assert compile_cubin(SCALE, "sm_90").startswith(b"\x7fELF")  # and says so once


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    def full(*paths: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(RuntimeWarning, match="No space left"):
        assert compile_cubin(SCALE, "sm_90").startswith(b"\x7fELF")
    assert not files(folder)


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    assert cache_folder() == folder
    monkeypatch.delenv("GPUNUMPY_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "x"))
    assert cache_folder() == folder / "x" / "gpunumpy"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "gpunumpy"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(folder))
    assert cache_folder() == folder / "gpunumpy"


@pytest.mark.parametrize(
    ("arch", "chosen"),
    [
        ("sm_90", ("sm_90", "cubin")),
        ("sm_101", ("sm_100", "cubin")),
        ("sm_89", ("sm_86", "cubin")),
        ("sm_130", ("compute_120", "ptx")),
        ("sm_110", ("compute_100", "ptx")),
    ],
)
def test_the_nearest_architecture(monkeypatch: pytest.MonkeyPatch, arch: str, chosen: tuple[str, str]) -> None:
    monkeypatch.setattr(module, "archs", lambda: ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"))
    assert module.compile_target(arch) == chosen
    assert compile_cubin(SCALE, "sm_90")
    with pytest.raises(DeviceError, match="too new for sm_70"):
        module.compile_target("sm_70")


def test_a_program_is_loaded_on_a_gpu_only() -> None:
    with pytest.raises((DeviceError, AttributeError)):
        module.compile_program(SCALE, ("scale",), Device("cpu"))
