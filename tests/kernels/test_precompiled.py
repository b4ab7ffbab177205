"""Programs that a wheel holds compiled: used where text, architecture and compiler match, and nowhere else."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest

from gpunumpy import information
from gpunumpy.core.graph.bounded_table import forget_all
from gpunumpy.core.runtime.device import Device
from gpunumpy.kernels.cuda import compile as module
from gpunumpy.kernels.cuda import precompiled
from gpunumpy.kernels.cuda.compile import compile_program, set_contraction
from gpunumpy.kernels.cuda.precompiled import digest, find_image, write_images

from ..support import fake_driver

VERSION = 13, 5
FAMILIES = {"sort": {"one": b"image of one", "two": b"image of two"}, "lu": {"three": b"image of three"}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_images(tmp_path / "images", VERSION, "sm_90", FAMILIES)
    return tmp_path / "images"


def test_every_image_is_found(root: Path) -> None:
    for family in FAMILIES.values():
        for text, image in family.items():
            assert find_image(root, digest(text), "sm_90", VERSION) == image
    assert find_image(root, digest("four"), "sm_90", VERSION) is None


@pytest.mark.parametrize(
    ("installed", "told"),
    [
        ("nvidia-cuda-nvrtc 13.5.37", ""),
        ("nvidia-cuda-nvrtc 13.0.88", " (not used: nvidia-cuda-nvrtc 13.0.88 is another)"),
    ],
)
def test_info_tells_what_is_ready(root: Path, installed: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write_images(root, VERSION, "sm_100", FAMILIES)
    monkeypatch.setattr(information, "FOLDER", root)
    monkeypatch.setattr(information, "_installed", lambda packages: installed)
    (line,) = [line for line in information.info() if line.startswith("kernels of the package")]
    assert line.endswith(f"  3 programs by NVRTC 13.5 for sm_90, sm_100{told}")


def test_info_of_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(information, "FOLDER", tmp_path / "none")
    assert any("none is compiled" in line for line in information.info())


@pytest.mark.parametrize("version", [(13, 4), (13, 6), (12, 5), (14, 0)])
def test_an_image_of_another_compiler_is_not_used(root: Path, version: tuple[int, int]) -> None:
    assert find_image(root, digest("one"), "sm_90", version) is None


def test_an_image_of_another_platform_is_not_used(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_platform", lambda: "win-amd64")
    assert find_image(root, digest("one"), "sm_90", VERSION) is None


@pytest.mark.parametrize(
    ("arch", "used"),
    [("sm_80", "sm_80"), ("sm_86", "sm_86"), ("sm_89", "sm_86"), ("sm_87", "sm_86"), ("sm_75", None), ("sm_100", None)],
)
def test_machine_code_runs_on_later_minor_versions(tmp_path: Path, arch: str, used: str | None) -> None:
    for made in ("sm_80", "sm_86", "sm_90"):
        write_images(tmp_path, VERSION, made, {"sort": {"one": made.encode()}})
    assert find_image(tmp_path, digest("one"), arch, VERSION) == (used and used.encode())


def test_python_without_lzma(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    precompiled._images.cache_clear()
    monkeypatch.setitem(sys.modules, "lzma", None)
    assert find_image(root, digest("one"), "sm_90", VERSION) is None


@pytest.fixture
def compiled(root: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that a pretended GPU's programs were compiled from."""
    texts: list[str] = []

    def compile_text(text: str, *target: object) -> bytes:
        texts.append(text)
        return b"compiled"

    fake_driver.install(monkeypatch)
    monkeypatch.setattr(precompiled, "FOLDER", root)
    monkeypatch.setattr(module, "_compile", compile_text)
    monkeypatch.setattr(module, "compile_target", lambda arch: (arch, "cubin"))
    monkeypatch.setattr(module, "compiler_version", lambda: VERSION)
    forget_all()
    return texts


def test_what_the_wheel_holds_is_not_compiled(compiled: list[str]) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    for text in ("one", "four", "three"):
        compile_program(text, ("main",), Device("cuda"))
    assert compiled == ["four"]


def test_with_contraction_everything_is_compiled(compiled: list[str]) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    set_contraction(True)
    try:
        compile_program("one", ("main",), Device("cuda"))
    finally:
        set_contraction(False)
    assert compiled == ["one"]


def test_with_another_compiler_everything_is_compiled(compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    monkeypatch.setattr(module, "compiler_version", lambda: (13, 4))
    compile_program("one", ("main",), Device("cuda"))
    assert compiled == ["one"]
