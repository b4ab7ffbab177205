"""What a process imports late, the next one of the same program imports while the driver makes a context."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from gpunumpy.core.disk_cache import _check

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys, threading
import pytest
import gpunumpy as np
from gpunumpy.kernels.cuda import executor
from tests.support import fake_driver

fake_driver.install(pytest.MonkeyPatch())
is_loaded = threading.Event()
load = executor.load
executor.load = lambda: (load(), is_loaded.set())
np.Device("cuda:0").context
assert is_loaded.wait(60)
print("gpunumpy.random.generator" in sys.modules)
if len(sys.argv) > 1:
    np.random.default_rng(0)
"""


def process(program: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GPUNUMPY_CACHE_DIR": str(program.parent / "cache")}
    command = [sys.executable, str(program), *arguments]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.strip()


def test_modules_are_imported_for_the_next_process_of_a_program(tmp_path: Path) -> None:
    program, other = tmp_path / "program.py", tmp_path / "other.py"
    program.write_text(PROGRAM)
    other.write_text(PROGRAM)
    assert process(program, "draws") == "False"
    assert process(other) == "False"
    assert process(program, "draws") == "True"
    assert process(program) == "True"
    assert process(program) == "False"  # as the process before did not ask for it


def leave(program: Path, *modules: str) -> None:
    """Have a process of a program leave other names of modules than those that it has imported."""
    process(program, "draws")
    for entry in (program.parent / "cache" / "programs").iterdir():
        if b"gpunumpy.random.generator" in entry.read_bytes():
            names = "\n".join(modules).encode()
            entry.write_bytes(names + _check(names))


def test_only_modules_of_the_package_are_imported(tmp_path: Path) -> None:
    program, evil = tmp_path / "program.py", tmp_path / "evil.py"
    program.write_text(PROGRAM)
    evil.write_text("print('imported')")
    leave(program, "evil", "gpunumpy.evil", "gpunumpy.random.generator")
    assert process(program) == "True"


def test_what_imports_libraries_that_the_program_may_be_importing_is_left_to_it(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace('print("gpunumpy.random.generator" in', 'print("gpunumpy.scipy" in'))
    leave(program, "gpunumpy.scipy.special", "gpunumpy.scipy")
    assert process(program) == "False"
