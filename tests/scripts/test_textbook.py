"""Whole scripts in the manner of text-books, by Python itself and by the runner: texts, exit codes, files, pictures."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from .processes import PLAIN, RUNNER, run

SCRIPTS = {path.stem: path for path in sorted((Path(__file__).parent / "textbook").glob("*.py"))}
NEEDED = {"plots": "matplotlib", "pictures": "PIL", "tables": "pandas", "estimates": "scipy"}
ARGUMENTS = {"commands": ("--size", "4", "one", "two")}
EXIT_CODES = {"commands": 3, "failing": 1}


def files(folder: Path) -> dict[str, bytes]:
    """The files that a script has written."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.sampled(len(SCRIPTS))
@pytest.mark.parametrize("name", SCRIPTS)
def test_script(name: str, tmp_path: Path) -> None:
    if name in NEEDED and find_spec(NEEDED[name]) is None:
        pytest.skip(f"{NEEDED[name]} is not installed")
    command = (str(SCRIPTS[name]), *ARGUMENTS.get(name, ()))
    done = {}
    for library, start in (("NumPy", PLAIN), ("gpunumpy", RUNNER)):
        folder = tmp_path / library
        folder.mkdir()
        process = run((*start, *command), folder)
        done[library] = process.stdout, process.stderr, process.returncode, files(folder)
    assert done["gpunumpy"] == done["NumPy"]
    assert done["NumPy"][2] == EXIT_CODES.get(name, 0)


def test_the_scripts_are_ten() -> None:
    assert len(SCRIPTS) == 10
