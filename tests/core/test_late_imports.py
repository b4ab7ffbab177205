"""Modules that are imported without the code of the packages that they are in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = {
    "outer/__init__.py": "print('outer runs')\nfrom . import inner, rest\nVERSION = 7\n__all__ = ['VERSION', 'rest']\n",
    "outer/rest.py": "print('rest runs')\nfrom outer.inner import more\n",
    "outer/inner/__init__.py": "print('inner runs')\nfrom outer.inner import tools, more\n",
    "outer/inner/tools.py": "print('tools runs')\nfrom outer.inner.deep import first\nANSWER = 42\n",
    "outer/inner/more.py": "print('more runs')\nfrom outer.inner import tools\n",
    "outer/inner/deep/__init__.py": "",
    "outer/inner/deep/first.py": "",
    "outer/inner/deep/later.py": "",
    "broken/__init__.py": "raise ImportError('no library')\n",
    "broken/tools.py": "ANSWER = 42\n",
}
IMPORT_ALONE = """
import sys
from gpunumpy.core.late_imports import import_late
tools = import_late("outer.inner.tools", alone=True)
print("answer", tools.ANSWER)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, text in PACKAGE.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def printed(folder: Path, program: str) -> list[str]:
    sources = str(Path(__file__).parents[2])
    path = f"import sys; sys.path[:0] = [{str(folder)!r}, {sources!r}]\n"
    done = subprocess.run(
        [sys.executable, "-c", path + program], capture_output=True, text=True, check=True, timeout=100
    )
    return done.stdout.splitlines()


def test_the_code_of_the_packages_does_not_run(folder: Path) -> None:
    program = IMPORT_ALONE + "print([name for name in sys.modules if name.startswith('outer')])"
    assert printed(folder, program) == [
        "tools runs",
        "answer 42",
        "['outer.inner.deep', 'outer.inner.deep.first', 'outer.inner.tools']",
    ]


@pytest.mark.parametrize(
    ("program", "result"),
    [
        ("import outer\nprint(outer.VERSION)", "7"),
        ("from outer import VERSION\nprint(VERSION)", "7"),
        ("import outer.rest\nprint(outer.rest.more.tools is tools)", "True"),
        ("import outer.inner\nprint(outer.inner.tools is tools)", "True"),
        ("import outer.inner.more as more\nprint(more.tools is tools)", "True"),
        ("import outer\nprint(outer.inner.deep.first.__name__)", "outer.inner.deep.first"),
        ("import outer.inner.deep.later\nprint(outer.inner.deep.first.__name__)", "outer.inner.deep.first"),
        ("from outer import *\nprint(VERSION, rest.__name__)", "7 outer.rest"),
        ("more = import_late('outer.inner.more', alone=True)\nprint(more.tools is tools)", "True"),
        (
            "import outer\nlater = import_late('outer.inner.deep.later', alone=True)\nprint(later.__name__)",
            "outer.inner.deep.later",
        ),
    ],
)
def test_the_code_runs_once_when_the_program_imports_them(folder: Path, program: str, result: str) -> None:
    lines = printed(folder, IMPORT_ALONE + program)
    assert lines[-1] == result
    assert lines.count("tools runs") == 1
    assert all(lines.count(f"{name} runs") <= 1 for name in ("outer", "rest", "inner", "more"))


def test_imported_packages_stay_as_they_are(folder: Path) -> None:
    lines = printed(folder, "import outer\nbefore = outer\n" + IMPORT_ALONE + "print(sys.modules['outer'] is before)")
    assert lines[-1] == "True"


def test_code_that_fails_does_so_when_the_program_imports_it(folder: Path) -> None:
    lines = printed(
        folder,
        """
from gpunumpy.core.late_imports import import_late
print(import_late("broken.tools", alone=True).ANSWER)
for name in ("broken", "missing.tools"):
    try:
        import_late(name, alone=True)
    except ImportError as error:
        print(error)
""",
    )
    assert lines == ["42", "no library", "No module named 'missing'"]


def test_another_thread_that_imports_a_package_meanwhile_gets_the_package(folder: Path) -> None:
    (folder / "outer/inner/tools.py").write_text(
        """
import sys, threading
import outer
stand_in, seen = outer, []
thread = threading.Thread(target=lambda: seen.append(stand_in.VERSION))
thread.start()
"""
    )
    program = """
from gpunumpy.core.late_imports import import_late
tools = import_late("outer.inner.tools", alone=True)
tools.thread.join()
print(tools.seen)
"""
    assert printed(folder, program)[-1] == "[7]"


def test_a_failure_keeps_nothing_that_was_to_be_computed(folder: Path) -> None:
    """A pending array that lives on would fail every later flush."""
    program = """
import gc
import weakref
from gpunumpy.core.late_imports import import_late

gc.disable()

class Value:
    pass

def compute(value):
    import_late("broken.tools")

value = Value()
kept = weakref.ref(value)
try:
    compute(value)
except ImportError as error:
    print(error)
del value
print(kept())
"""
    assert printed(folder, program) == ["no library", "None"]


@pytest.mark.parametrize("ahead", ["package.later", "neighbour.tools"])
def test_a_module_that_is_imported_ahead_does_not_wait_for_an_import_that_waits_for_it(
    tmp_path: Path, ahead: str
) -> None:
    """A thread imports a module of a package that the program is importing, or one that itself imports the package."""
    for path, text in {
        "package/__init__.py": """
import sys
from gpunumpy.core.late_imports import import_late
thread = sys.modules["__main__"].thread
thread.start()
thread.join(0.5)  # it is over, or it waits for this module
ANSWER = import_late("package.rest").ANSWER
""",
        "package/rest.py": "ANSWER = 42\n",
        "package/later.py": "",
        "neighbour/__init__.py": "",
        "neighbour/tools.py": "import package\nANSWER = package.ANSWER\n",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    program = f"""
import threading
from gpunumpy.core.late_imports import import_ahead, import_late
import neighbour
thread = threading.Thread(target=import_ahead, args=({ahead!r},))
import package
thread.join()
print(package.ANSWER, import_late("neighbour.tools").ANSWER)
"""
    assert printed(tmp_path, program) == ["42 42"]
