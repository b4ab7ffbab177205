"""A core that is older than its sources is not used, and that is said."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gpunumpy
from gpunumpy.core._native import IS_COMPILED

PACKAGE = Path(gpunumpy.__file__).parent

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="of the compiled core")


@pytest.mark.parametrize("chosen", ["", "compiled", "python"])
@pytest.mark.parametrize("is_stale", [False, True])
def test_a_core_older_than_its_sources(is_stale: bool, chosen: str, tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "gpunumpy", ignore=shutil.ignore_patterns("__pycache__"))
    source = tmp_path / "gpunumpy/core/_native/node.hpp"
    for path in source.parent.iterdir():
        os.utime(path, (1000, 1000))
    os.utime(source, (1001, 1001) if is_stale else (1000, 1000))
    done = subprocess.run(
        [sys.executable, "-c", "from gpunumpy.core._native import IS_COMPILED; print(IS_COMPILED)"],
        env={**os.environ, "GPUNUMPY_CORE": chosen, "PYTHONPATH": str(tmp_path), "PYTHONWARNINGS": "default"},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ("older than node.hpp" in done.stderr) == (is_stale and chosen != "python")
    if is_stale and chosen == "compiled":
        assert "StaleCoreError" in done.stderr
    else:
        assert done.stdout == f"{not is_stale and chosen != 'python'}\n", done.stderr
