"""The code of docs/kernels-of-your-own.md runs: that for GPUs and other libraries where these are."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy
import pytest

from gpunumpy.core.runtime.device import Device

PAGE = Path(__file__).parents[2] / "docs" / "kernels-of-your-own.md"
# What the sections of a GPU need to be there.
LIBRARIES = {
    "CUDA C++": (),
    "Capture by torch and CuPy": ("torch",),
    "numba-cuda": ("numba.cuda",),
    "nvmath's device functions": ("numba.cuda", "nvmath.device"),
    "Triton": ("torch", "triton"),
    "Warp": ("warp",),
    "cuTile": ("cuda.tile",),
    "CUTLASS Python": ("cutlass",),
    "cuda.core": ("cuda.core",),
    "CuPy": ("cupy",),
}


# Packages of which one has the library that a section needs, and no module.
PACKAGES = {"nvmath's device functions": ("nvidia-libmathdx-cu13", "nvidia-libmathdx-cu12")}


def sections() -> Iterator[tuple[str, str]]:
    """The title and the text of each section."""
    _, *parts = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    yield from ((part.partition("\n")[0], part) for part in parts)


CODE = [(title, code) for title, text in sections() for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL)]
ON_CPU = [x for x in CODE if x[0] not in LIBRARIES]
ON_GPU = [x for x in CODE if x[0] in LIBRARIES]


def is_installed(package: str) -> bool:
    try:
        return bool(metadata.version(package))
    except metadata.PackageNotFoundError:
        return False


def run(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run code as a module with a file, which Triton reads."""
    path = folder / "code_of_page.py"
    path.write_text(code, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("code_of_page", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "code_of_page", module)
    spec.loader.exec_module(module)


def test_all_sections_are_known() -> None:
    assert set(LIBRARIES) <= {title for title, _ in CODE}
    assert len(ON_CPU) == 11


@pytest.mark.parametrize(("title", "code"), ON_CPU, ids=[title for title, _ in ON_CPU])
def test_code_for_all_devices(
    title: str, code: str, device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Device(device):
        run(code, tmp_path, monkeypatch)


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore")  # of other libraries
@pytest.mark.parametrize(("title", "code"), ON_GPU, ids=[title for title, _ in ON_GPU])
def test_code_for_gpus(title: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: Any = numpy
    if not hasattr(given, "row_stack"):  # which numba-cuda 0.30 looks for, and NumPy 2.5 does not have
        monkeypatch.setattr(given, "row_stack", given.vstack, raising=False)
    if title in PACKAGES and not any(map(is_installed, PACKAGES[title])):
        pytest.skip(f"needs {' or '.join(PACKAGES[title])}")
    for library in LIBRARIES[title]:
        pytest.importorskip(library)
    with Device("cuda"):
        run(code, tmp_path, monkeypatch)
