"""The rooms of the house: which module may import which, who may touch CUDA, and what `import gpunumpy` costs."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gpunumpy"

# The floors from the ground up, and on each floor the rooms from left to right. A module may import what stands lower,
# what stands further left on its own floor, and what shares its pattern. A module's room is the first that matches it;
# a module at the top of the package that matches none is a room of NumPy functions.
FUNCTIONS = "(any other module at the top)"
FLOORS: tuple[tuple[str, ...], ...] = (
    (
        "_version",
        "core.errors",
        "core.dtypes",
        "core.layout",
        "core.limits",
        "core.settings",
        "core.transforms",
        "kernels.table*",
    ),
    ("core.device", "core.memory*"),
    ("core.node*", "core.kernel", "core.verify"),
    ("core.lower*", "core.analysis*", "core.epilogues", "core.schedule*"),
    ("kernels.codegen*",),
    ("kernels.sites", "kernels.compile", "kernels.launch", "kernels.host*", "nvlib*", "kernels.cuda*"),
    ("core.plan", "core.evaluate", "core.explain", "core.profile"),
    ("core.array*", "core.record*"),
    (FUNCTIONS,),
    ("linalg*", "fft*", "random*", "kernels.custom"),
    ("core.interop*", "core.attach"),
    ("testing", "__init__", "demo", "__main__"),
)
SIBLINGS = ("linalg", "fft", "random")

MAY_IMPORT_CUDA = ("core.device", "core.memory*", "kernels.compile", "kernels.launch", "kernels.cuda*", "nvlib*")
CUDA = {"cuda", "nvmath"}
BASE_INSTALL = {"numpy", "ml_dtypes", "opt_einsum"}

# Imported inside a function all the same, downwards as any other import: what a machine may never need.
LATE = {"core.evaluate": {".kernels.cuda"}, "einsum": {"opt_einsum"}}

MAX_LINES = 800
MAX_IMPORT_SECONDS = 0.25


def module_name(path: Path) -> str:
    """The dotted name below gpunumpy; a package bears its folder's name, the top one `__init__`."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    if parts[-1] == "__init__" and len(parts) > 1:
        parts = parts[:-1]
    return ".".join(parts)


MODULES: dict[str, Path] = {
    module_name(path): path for path in sorted(PACKAGE.rglob("*.py")) if "_examples" not in path.parts
}
# Folders that only hold modules; their `__init__.py` has nothing in it.
BARE = {"core", "kernels"}
ROOMS = sorted(MODULES.keys() - BARE)


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def place(module: str) -> tuple[int, int]:
    """The floor of a module, and its room on the floor."""
    places = {pattern: (floor, room) for floor, rooms in enumerate(FLOORS) for room, pattern in enumerate(rooms)}
    for pattern in places:
        if fnmatchcase(module, pattern):
            return places[pattern]
    if "." not in module:
        return places[FUNCTIONS]
    raise LookupError(f"{module} has no room: give it one in FLOORS of {Path(__file__).name}")


def absolute(module: str, node: ast.ImportFrom) -> str:
    """The module that a `from ... import` names; one of ours as `.name` below the package."""
    if node.level == 0:
        return node.module or ""
    is_package = MODULES[module].name == "__init__.py"
    parts = [] if module == "__init__" else module.split(".")
    up = node.level - (1 if is_package else 0)
    kept = parts[: len(parts) - up]
    return "." + ".".join([*kept, *(node.module or "").split(".")]).strip(".")


def imports(module: str, within: ast.AST | None = None) -> Iterator[tuple[str, int]]:
    """What a module imports, with the line: ours as `.name` below the package, others by their full name."""
    for node in ast.walk(within or tree(module)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            source = absolute(module, node)
            for alias in node.names:
                inner = f"{source.rstrip('.')}.{alias.name}"
                ours = source.startswith(".") and inner[1:] in MODULES
                yield (inner if ours else source), node.lineno


@cache
def internal(module: str) -> frozenset[str]:
    """The modules of the package that a module imports."""
    return frozenset(name[1:] or "__init__" for name, _ in imports(module) if name.startswith("."))


def in_rooms(module: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(module, pattern) for pattern in patterns)


def where(module: str, line: int) -> str:
    return f"{MODULES[module].relative_to(ROOT)}:{line}"


@pytest.mark.parametrize("module", ROOMS)
def test_imports_go_down_or_left(module: str) -> None:
    floor, room = place(module)
    above = [f"{name} (floor {place(name)[0]})" for name in internal(module) - {module} if place(name) > (floor, room)]
    assert not above, f"{module}, on floor {floor}, imports from above or from its right: {', '.join(above)}"


def test_siblings_do_not_import_each_other() -> None:
    for module in ROOMS:
        family = module.split(".")[0]
        if family in SIBLINGS:
            others = {
                name for name in internal(module) if name.split(".")[0] in SIBLINGS and not name.startswith(family)
            }
            assert not others, f"{module} imports its siblings {sorted(others)}"


def test_there_are_no_circles() -> None:
    try:
        TopologicalSorter({module: internal(module) - {module} for module in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_bare_packages_import_nothing() -> None:
    # Whatever they imported, every module below them would import too.
    for module in sorted(BARE):
        assert not list(imports(module)), module


@pytest.mark.parametrize("module", ROOMS)
def test_imports_stand_at_the_top(module: str) -> None:
    """An import inside a function hides a circle. The lazy import of CUDA is the good reason for one."""
    lazy = CUDA if in_rooms(module, MAY_IMPORT_CUDA) else set()
    functions = (node for node in ast.walk(tree(module)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    hidden = {
        f"{where(module, line)} imports {name}"
        for function in functions
        for name, line in imports(module, function)
        if name.split(".")[0] not in lazy and name not in LATE.get(module, ())
    }
    assert not hidden, "\n".join(sorted(hidden))


@pytest.mark.parametrize("module", ROOMS)
def test_what_is_imported_from_outside(module: str) -> None:
    """Relative imports inside the package; outside it, what the base install has; CUDA only from the named rooms."""
    allowed = BASE_INSTALL | sys.stdlib_module_names | (CUDA if in_rooms(module, MAY_IMPORT_CUDA) else set())
    foreign = {
        f"{where(module, line)} imports {name}"
        for name, line in imports(module)
        if not name.startswith(".") and name.split(".")[0] not in allowed
    }
    assert not foreign, "\n".join(sorted(foreign))


def test_no_file_is_too_long() -> None:
    folders = [PACKAGE, ROOT / "tests", ROOT / "benchmarks", ROOT / "examples"]
    files = [path for folder in folders for kind in ("*.py", "*.cuh", "*.h") for path in folder.rglob(kind)]
    lines = {path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert not {path: count for path, count in lines.items() if count > MAX_LINES}


def test_the_floors_name_no_room_twice() -> None:
    rooms = [room for floor in FLOORS for room in floor]
    assert not [left for left, right in pairwise(sorted(rooms)) if left == right]


_IMPORT = """
import sys, time
import numpy
start = time.process_time()
import gpunumpy
seconds = time.process_time() - start
print(seconds, *(name for name in sys.modules if name.partition(".")[0] in {"cuda", "nvmath"}))
"""


def test_import_is_fast_and_touches_no_cuda(tmp_path: Path) -> None:
    # With the compiled modules written, as for whoever installs a package, whatever this environment says; and the
    # least of four: what the import costs, not what else the machine was doing.
    written = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    written["PYTHONPYCACHEPREFIX"] = str(tmp_path)
    runs = [
        subprocess.run(
            [sys.executable, "-c", _IMPORT], cwd=ROOT, env=written, capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(4)
    ]
    assert not runs[0][1:], f"import gpunumpy loads {runs[0][1:]}"
    assert min(float(run[0]) for run in runs) < MAX_IMPORT_SECONDS
