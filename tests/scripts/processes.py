"""Processes that run scripts: by Python itself, and by `python -m gpunumpy`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The words of the command line before a script's.
PLAIN = (sys.executable,)
RUNNER = (sys.executable, "-m", "gpunumpy")


def by_both(folder: Path, text: str) -> list[subprocess.CompletedProcess[str]]:
    """The finished processes of a script by the runner and by Python itself, which must end without an error."""
    (folder / "script.py").write_text(text)
    both = [run((*start, "script.py"), folder) for start in (RUNNER, PLAIN)]
    assert both[1].returncode == 0, both[1].stderr
    return both


def run(command: Sequence[str], folder: Path, text: str = "") -> subprocess.CompletedProcess[str]:
    """The finished process of a command line in a folder, on the CPU device."""
    environment = {**os.environ, "GPUNUMPY_DEVICE": "cpu", "JAX_PLATFORMS": "cpu", "MPLCONFIGDIR": str(folder.parent)}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_XDIST_WORKER", "PYTHONDONTWRITEBYTECODE"):
        environment.pop(name, None)
    return subprocess.run(command, cwd=folder, env=environment, input=text, capture_output=True, text=True)
