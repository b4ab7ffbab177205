"""Programs of several processes, as a user starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpunumpy.core.runtime.device import devices

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("program.py")


def environment(**variables: str) -> dict[str, str]:
    """The variables of this process, but for those of a launcher that runs it, and for the tier of tests."""
    left_out = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "GPUNUMPY_TIER")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, "PYTHONPATH": os.pathsep.join([str(ROOT), kept.get("PYTHONPATH", "")]), **variables}


def launched(*words: str, count: int = 2, **variables: str) -> subprocess.CompletedProcess[str]:
    """What `python -m gpunumpy.distributed` did with a script."""
    command = [sys.executable, "-m", "gpunumpy.distributed", "-n", str(count), *words]
    variables.setdefault("GPUNUMPY_DEVICE", "cpu")
    return subprocess.run(command, env=environment(**variables), capture_output=True, text=True, timeout=300)


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    """Write a program, and return its path."""

    def write(text: str) -> str:
        path = tmp_path / "script.py"
        path.write_text(f"import gpunumpy as np\nimport gpunumpy.distributed as dist\n{text}")
        return str(path)

    return write


def require_two_gpus() -> None:
    """Skip a test unless there are two GPUs, and NCCL."""
    if (count := len(devices()) - 1) < 2:
        pytest.skip(f"needs 2 GPUs, and there are {count}")
    pytest.importorskip("nccl.bindings", reason="nccl4py is not installed")


def results(folder: Path, count: int) -> list[dict[str, str]]:
    """What failed in each process, by the names of the checks."""
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(count)]
