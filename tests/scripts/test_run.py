"""The runner beside Python itself: what a program sees of how it was started, how it ends, and what it starts."""

from __future__ import annotations

import sys
import sysconfig
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from gpunumpy.__main__ import main
from gpunumpy.core._native import IS_COMPILED

from .processes import PLAIN, RUNNER, by_both, run

SEEN = """
import sys
import numpy, helper
print(sys.argv, __name__, globals().get("__file__"), __package__, __spec__ and __spec__.name, sys.path[0])
print(sorted(globals()), sys.modules["__main__"].__dict__ is globals(), __annotations__ if "y" in globals() else "")
print(helper.total(numpy.arange(4.0)))
"""
HELPER = """
import numpy as np
def total(x):
    return float(np.sum(x))
"""
STACK = """
import inspect, traceback, warnings
def stack():
    traceback.print_stack()
    warnings.warn("of the caller's caller", stacklevel=3)
    print([frame.function for frame in inspect.stack()])
stack()
"""
LIBRARY = "import numpy\nprint(numpy.__name__)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a script, a module of its own, and a package."""
    folder = tmp_path / "program"
    for name, text in {
        "script.py": SEEN,
        "helper.py": HELPER,
        "package/__init__.py": "",
        "package/__main__.py": SEEN,
        "package/module.py": SEEN,
        "broken.py": "x = (\n",
        "imports_broken.py": "import numpy\nimport broken\n",
        "imports_missing.py": "import numpy\nimport nothing_of_that_name\n",
        "raises.py": "import helper\nhelper.total()\n",
        "chained.py": "import helper\ntry:\n    helper.total()\nexcept TypeError as e:\n    raise OSError from e\n",
        "interrupted.py": "import numpy\nraise KeyboardInterrupt\n",
        "hook.py": "import sys\nsys.excepthook = lambda *error: print(error[0])\nraise ValueError\n",
        "exits.py": "import sys\nsys.exit('a message')\n",
        "coded.py": "import atexit\natexit.register(print, 'the end')\nraise SystemExit(5)\n",
        "debugged.py": "import numpy as np\nx = np.arange(3)\nbreakpoint()\ny = x + 1\nprint(y)\n",
        "stack.py": STACK,
        "library.py": LIBRARY,
        "inner.py": "import helper\nhelper.total(1)\n",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with zipfile.ZipFile(folder / "packed.zip", "w") as archive:
        archive.writestr("__main__.py", SEEN)
        archive.writestr("helper.py", HELPER)
    return folder


COMMANDS = {
    "script": ("script.py", "--report", "-m", "b c"),
    "script in a folder": ("package/../script.py",),
    "module": ("-m", "package.module", "-x", "--only"),
    "package": ("-m", "package", "a"),
    "folder": ("package",),
    "zip file": ("packed.zip", "a"),
    "error in a text": ("-c", "import numpy\n1 / 0"),
    "text": ("-c", "import sys, numpy; print(sys.argv, __name__, sys.path[0], numpy.arange(3))", "-x"),
    "standard input": ("-", "a"),
    "missing file": ("missing.py",),
    "missing module": ("-m", "package.missing"),
    "syntax error": ("broken.py",),
    "syntax error in a module": ("imports_broken.py",),
    "missing import": ("imports_missing.py",),
    "error": ("raises.py",),
    "error in a module": ("-m", "raises"),
    "chained errors": ("chained.py",),
    "interrupt": ("interrupted.py",),
    "hook": ("hook.py",),
    "exit with a message": ("exits.py",),
    "exit with a code": ("coded.py",),
    "debugger": ("debugged.py",),
}
# What shows its stack, which ends with the runner's frames where the core is not built.
STACKS = {
    "stack": ("stack.py",),
    "stack of a module": ("-m", "stack"),
    "stack of a text": ("-c", STACK),
    "stack in the debugger": ("debugged.py",),
    "stack after an error": ("-m", "pdb", "raises.py"),
}
TEXTS = {
    "standard input": SEEN,
    "debugger": "p x\nn\np y\nc\n",
    "stack in the debugger": "w\nu\nw\nc\n",
    "stack after an error": "c\nw\nu\nu\nu\nu\nw\nq\n",
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", COMMANDS)
def test_as_by_python(name: str, folder: Path) -> None:
    if name == "folder":
        (folder / "package/helper.py").write_text(HELPER)
    expected, found = (run((*start, *COMMANDS[name]), folder, TEXTS.get(name, "")) for start in (PLAIN, RUNNER))
    assert found.stdout == expected.stdout
    if name != "debugger":
        assert found.stderr == expected.stderr
    assert found.returncode == expected.returncode


@pytest.mark.skipif(not IS_COMPILED, reason="the core is not built for this Python")
@pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="the collector needs all frames")
@pytest.mark.parametrize("name", STACKS)
def test_stacks_as_by_python(name: str, folder: Path) -> None:
    expected, found = (run((*start, *STACKS[name]), folder, TEXTS.get(name, "")) for start in (PLAIN, RUNNER))
    assert (found.stdout, found.stderr, found.returncode) == (expected.stdout, expected.stderr, expected.returncode)


def is_replaced(folder: Path, *words: str) -> bool:
    """Whether `numpy` is this package in `library.py`, or what else prints it, in a run with these words."""
    (line,) = {line for line in (run((*RUNNER, *words), folder).stdout.splitlines()) if line.endswith("numpy")}
    return line == "gpunumpy.scripts.numpy"


def test_options_select_modules(folder: Path) -> None:
    assert not is_replaced(folder, "--exclude", "__main__", "library.py")
    assert is_replaced(folder, "--only", "helper", "--only=library", "-m", "library")


def test_options_with_a_module_that_is_not_there(folder: Path) -> None:
    words = (*RUNNER, "--only", "helper.part", "--exclude", "__main__", "--exclude", "hepler", "library.py")
    assert run(words, folder).stderr == (
        "gpunumpy: no module 'hepler' is found as the program starts; is the name right?\n"
    )


def test_options_select_installed_packages(folder: Path) -> None:
    installed = folder / "site-packages"
    installed.mkdir()
    (installed / "installed_package.py").write_text(LIBRARY)
    (folder / "uses.py").write_text("import sys\nsys.path.append('site-packages')\nimport installed_package\n")
    assert is_replaced(folder, "--only", "installed_package", "uses.py")


def test_what_is_compiled_is_kept_apart(folder: Path) -> None:
    for start, name in ((RUNNER, "gpunumpy.scripts.numpy"), (PLAIN, "numpy"), (RUNNER, "gpunumpy.scripts.numpy")):
        assert run((*start, "-c", "import library"), folder).stdout.split() == [name]
    kept = [path.name for path in (folder / "__pycache__").iterdir()]
    assert len(kept) == 2
    assert sum("gpunumpy" in name for name in kept) == 1


CHILDREN = """
import multiprocessing, sys
import numpy
from library_of import library_of

def here(_):
    return numpy.__name__

if __name__ == "__main__":
    for method in multiprocessing.get_all_start_methods():
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(method, pool.map(here, [0]) + pool.map(library_of, [0]))
"""


def test_children_run_as_the_script(folder: Path) -> None:
    (folder / "children.py").write_text(CHILDREN)
    (folder / "library_of.py").write_text("import numpy\ndef library_of(_):\n    return numpy.__name__\n")
    for words in (("children.py",), ("-m", "children")):
        done = run((*RUNNER, *words), folder)
        assert not done.stderr
        lines = done.stdout.splitlines()
        assert lines
        assert all(line.endswith("['gpunumpy.scripts.numpy', 'gpunumpy.scripts.numpy']") for line in lines), lines


TEST = """
import numpy as np, library

def test_sum():
    x = np.arange(3)
    assert np.__name__ == library.numpy.__name__ == "gpunumpy.scripts.numpy"
    assert isinstance(x, np.ndarray) and x.sum() == 4
"""


@pytest.mark.parametrize("words", [(), pytest.param(("-n", "1", "-p", "xdist"), marks=pytest.mark.full)])
def test_pytest_under_the_runner(words: tuple[str, ...], folder: Path) -> None:
    (folder / "test_it.py").write_text(TEST)
    options = ("-q", "-rN", "--no-header", "-c", str(folder / "pytest.ini"), "--rootdir", str(folder))
    (folder / "pytest.ini").write_text("[pytest]\n")
    done = run((*RUNNER, "-m", "pytest", *options, *words), folder)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "assert (True and" in done.stdout, done.stdout
    plain = run((*PLAIN, "-m", "pytest", *options), folder)
    assert "'numpy' == 'gpunumpy.scripts.numpy'" in plain.stdout, plain.stdout


def test_debugger_and_coverage_around_the_runner(folder: Path) -> None:
    commands = "b library.py:2\nc\np numpy.__name__\nq\n"
    words = (sys.executable, "-m", "pdb", "-m", "gpunumpy", "library.py")
    assert "gpunumpy.scripts.numpy" in run(words, folder, commands).stdout
    if find_spec("coverage") is not None:
        words = (sys.executable, "-m", "coverage", "run", "--include=*.py", "-m", "gpunumpy", "inner.py")
        assert not run(words, folder).returncode
        report = run((sys.executable, "-m", "coverage", "report"), folder).stdout
        assert "inner.py" in report
        assert "helper.py" in report


@pytest.mark.parametrize(
    ("words", "commands"),
    [
        (("pdb", "library.py"), "c\nq\n"),
        (("pdb", "-m", "library"), "c\nq\n"),
        (("cProfile", "library.py"), ""),
        (("profile", "library.py"), ""),
        (("trace", "--trace", "--ignore-dir=/", "library.py"), ""),
        (("timeit", "-n1", "-r1", "import numpy; print(numpy.__name__)"), ""),
        (("coverage", "run", "library.py"), ""),
    ],
)
def test_tools_under_the_runner(words: tuple[str, ...], commands: str, folder: Path) -> None:
    if find_spec(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    lines = run((*RUNNER, "-m", *words), folder, commands).stdout.splitlines()
    assert "gpunumpy.scripts.numpy" in [line.removeprefix("(Pdb) ") for line in lines]


def test_a_script_with_the_name_of_a_command(folder: Path) -> None:
    (folder / "info").write_text("print('a script')\n")
    assert run((*RUNNER, "./info"), folder).stdout == "a script\n"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("info",), 0, "Programs run on "),
        (("--only", "a", "info"), 2, "info takes none of the options"),
        (("--only", "a.py", "b.py"), 2, "'a.py' is not the name of a module"),
        (("--exclude", "./a", "b.py"), 2, "'./a' is not the name of a module"),
        (("--report", "info"), 2, "info takes none of the options"),
        (("--help",), 0, "--exclude MODULE"),
        (("demo", "--help"), 0, "--steps"),
        (("bench", "--help"), 0, "page"),
    ],
)
def test_commands(words: tuple[str, ...], code: int, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        found = main(words)
    except SystemExit as end:
        found = end.code
    assert found == code
    assert told in "".join(capsys.readouterr())


def test_report_of_a_script(folder: Path) -> None:
    done = run((*RUNNER, "--report", "coded.py"), folder)
    assert (done.returncode, done.stdout) == (5, "the end\n")
    assert "coded.py:3" in done.stderr


BATCHES = """
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

x = np.arange(24, dtype=np.float32).reshape(12, 2)

class Rows(Dataset):
    def __len__(self):
        return len(x)

    def __getitem__(self, k):
        return x[k], {"sum": x[k].sum(), "number": k}

for workers in (0, 1):
    for rows, more in DataLoader(Rows(), batch_size=5, num_workers=workers):
        print(type(rows).__name__, rows.dtype, rows.tolist(), more["sum"], more["number"])
for [rows] in DataLoader([(row,) for row in x], batch_size=4):
    print(rows)
print(next(iter(DataLoader(x, batch_size=None))))
print(torch.as_tensor(x).mean())
"""


def test_loaders_of_torch_join_arrays(tmp_path: Path) -> None:
    if find_spec("torch") is None:
        pytest.skip("torch is not installed")
    found, expected = by_both(tmp_path, BATCHES)
    assert (found.stdout, found.stderr, found.returncode) == (expected.stdout, expected.stderr, 0)


def test_no_module_is_imported_that_only_other_commands_need(tmp_path: Path) -> None:
    script = "import {}, sys\nprint(sorted({{'bz2', 'lzma', 'shutil', 'sysconfig'}} & sys.modules.keys()))"
    (tmp_path / "changed.py").write_text(script.format("gpunumpy"))
    (tmp_path / "script.py").write_text(script.format("numpy"))
    expected = run((*PLAIN, "changed.py"), tmp_path).stdout
    assert run((*RUNNER, "script.py"), tmp_path).stdout == expected != ""
