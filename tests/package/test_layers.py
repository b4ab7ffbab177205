"""The layers of the package: which folder may import which, who may touch CUDA, and that an import loads no CUDA."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "gpunumpy"

# The folders from top to bottom; those of one line are siblings, which do not import each other. A module belongs to
# the longest of these folders that holds it ("" is the package's own), and imports from its own layer and lower ones.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("",),
    ("scripts", "dask", "distributed"),
    ("ma",),
    ("polynomial", "cuda", "custom", "scipy"),
    ("arrays",),
    ("linalg", "fft", "random"),
    ("functions",),
    ("kernels",),
    ("nvlib",),
    ("core/recording",),
    ("core/runtime",),
    ("core/schedule",),
    ("core/graph",),
    ("core/ops", "core/pictures"),
    ("core",),
    ("core/_native",),
)

# Imports that go up all the same, with the reason.
UPWARDS: dict[tuple[str, str], str] = {}

# Modules that import CUDA, all of them inside functions: a machine without a GPU never loads it.
MAY_IMPORT_CUDA = ("core/runtime/device", "core/runtime/memory", "kernels/cuda/", "nvlib/")
CUDA = {"cuda", "nvmath"}
BASE_INSTALL = {"numpy", "ml_dtypes", "opt_einsum", "tqdm"}

# Imported inside a function as CUDA is, since few programs need them.
LATE = {"functions/products/einsum": {"opt_einsum"}}

# What a folder is for, which the base install does not have.
SUBJECTS = {"dask/": {"dask", "distributed"}}

MAX_LINES = 800

# Modules by their path below the package, without the ending; a package is its folder.
MODULES: dict[str, Path] = {
    path.relative_to(PACKAGE).with_suffix("").as_posix().removesuffix("__init__").rstrip("/"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if "_examples" not in path.parts
}


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def layer(module: str) -> tuple[int, str]:
    """The number of a module's layer, counted from the top, and the folder that makes it belong there."""
    folders = [(len(folder), number, folder) for number, layer in enumerate(LAYERS) for folder in layer]
    inside = [found for found in folders if not found[2] or f"{module}/".startswith(f"{found[2]}/")]
    _, number, folder = max(inside)
    return number, folder


def absolute(module: str, node: ast.ImportFrom) -> str:
    """The module that a `from ... import` names; one of this package as a path that begins with a slash."""
    if node.level == 0:
        return node.module or ""
    folder = MODULES[module].relative_to(PACKAGE).parts[:-1]
    kept = folder[: len(folder) - node.level + 1]
    return "/" + "/".join([*kept, *(node.module or "").split(".")]).strip("/")


def imports(module: str, within: ast.AST | None = None) -> Iterator[tuple[str, int]]:
    """What a module imports, with the line: this package's modules as "/path", others by their full name."""
    for node in ast.walk(within or tree(module)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            source = absolute(module, node)
            for alias in node.names:
                inner = f"{source.rstrip('/')}/{alias.name}"
                yield (inner if source.startswith("/") and inner[1:] in MODULES else source), node.lineno


@cache
def internal(module: str) -> frozenset[str]:
    """The modules of the package that a module imports."""
    return frozenset(name[1:] for name, _ in imports(module) if name.startswith("/"))


def may_import_cuda(module: str) -> bool:
    return f"{module}/".startswith(MAY_IMPORT_CUDA)


def where(module: str, line: int) -> str:
    return f"{MODULES[module].relative_to(ROOT)}:{line}"


every_case = pytest.mark.sampled(sys.maxsize)  # in the short suite too


@every_case
@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module: str) -> None:
    number, folder = layer(module)
    refused = []
    for name in sorted(internal(module) - {module}):
        below, other = layer(name)
        if (below < number or (below == number and other != folder)) and (module, name) not in UPWARDS:
            refused.append(name)
    assert not refused, f"{module}, in the layer {folder!r}, imports from above or from a sibling: {refused}"


def test_exceptions_are_needed() -> None:
    for module, name in UPWARDS:
        assert name in internal(module), f"{module} does not import {name} any more"


def test_every_folder_of_a_layer_exists() -> None:
    for folders in LAYERS:
        for folder in folders:
            assert (PACKAGE / folder / "__init__.py").is_file(), folder


def test_there_are_no_circles() -> None:
    try:
        TopologicalSorter({module: internal(module) - {module} for module in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


@every_case
@pytest.mark.parametrize("module", MODULES)
def test_imports_stand_at_the_top(module: str) -> None:
    """An import inside a function hides a circle. The lazy import of CUDA is the good reason for one."""
    lazy = CUDA if may_import_cuda(module) else set()
    functions = (node for node in ast.walk(tree(module)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    hidden = {
        f"{where(module, line)} imports {name}"
        for function in functions
        for name, line in imports(module, function)
        if name.split(".")[0] not in lazy and name not in LATE.get(module, ())
    }
    assert not hidden, "\n".join(sorted(hidden))


@every_case
@pytest.mark.parametrize("module", MODULES)
def test_what_is_imported_from_outside(module: str) -> None:
    """Relative imports inside the package; outside it, what the base install has; CUDA where it may be."""
    subjects = {name for folder, names in SUBJECTS.items() if f"{module}/".startswith(folder) for name in names}
    allowed = BASE_INSTALL | sys.stdlib_module_names | (CUDA if may_import_cuda(module) else set()) | subjects
    foreign = {
        f"{where(module, line)} imports {name}"
        for name, line in imports(module)
        if not name.startswith("/") and name.split(".")[0] not in allowed
    }
    assert not foreign, "\n".join(sorted(foreign))


def test_no_file_is_too_long() -> None:
    folders = [PACKAGE, ROOT / "tests", ROOT / "benchmarks", ROOT / "examples"]
    files = [path for folder in folders for kind in ("*.py", "*.cuh", "*.h") for path in folder.rglob(kind)]
    lines = {path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert not {path: count for path, count in lines.items() if count > MAX_LINES}


def test_tests_lie_in_folders() -> None:
    loose = {path.name for path in (ROOT / "tests").glob("*.py")} - {"__init__.py", "conftest.py"}
    assert not loose, f"tests lie as the layers do, in folders: {sorted(loose)}"


_IMPORT = """
import sys
import gpunumpy
late = {"cuda", "cupy", "nvmath", "scipy", "torch"}
parts = {f"gpunumpy.{name}" for name in ("cuda", "custom", "dask", "distributed", "scipy", "core.runtime.kept_plans")}
print(*(name for name in sys.modules if name.partition(".")[0] in late or name in parts))
"""


def test_import_touches_no_cuda() -> None:
    run = subprocess.run([sys.executable, "-c", _IMPORT], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not run.stdout.split(), f"import gpunumpy loads {run.stdout}"


_DRAW = """
import sys
import gpunumpy as np
np.random.default_rng(0).random(100_000).sum().item()
print("numpy.ma" in sys.modules)
"""


def test_random_numbers_touch_no_masked_arrays() -> None:
    """NumPy imports those when they are asked for, which takes a tenth of the first draw."""
    run = subprocess.run([sys.executable, "-c", _DRAW], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


_SMALL = """
import sys
import gpunumpy as np
a = np.arange(10) * 2
a[3] += a[:3].sum()
print(a.residence, *(name for name in sys.modules if name.startswith("gpunumpy.kernels.host.loops")))
"""


def test_small_arrays_touch_no_kernels() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "GPUNUMPY_RESIDENCE"}
    environment["CUDA_VISIBLE_DEVICES"] = ""
    command = [sys.executable, "-c", _SMALL]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["host"]


# Where it may be asked of which kind a device is: in the runtime, and in what runs on devices of one kind. Others ask
# an executor's traits, or an attribute of the device that says what they want to know.
MAY_ASK_KIND = ("core/runtime/", "kernels/", "nvlib/", "bench/")  # the last tells other libraries
DEVICES = ("device", "Device", "default_device")


def is_device(node: ast.AST, known: set[str]) -> bool:
    """Whether an expression is a device, by its last name or as one of the names `known`."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr in DEVICES
    return isinstance(node, ast.Name) and (node.id in DEVICES or node.id in known)


def names_of_devices(function: ast.AST) -> set[str]:
    """The parameters and variables of a function that are devices, by annotation or by what they are given."""
    names = set()
    for node in ast.walk(function):
        if isinstance(node, ast.arg) and isinstance(node.annotation, ast.Name) and node.annotation.id == "Device":
            names.add(node.arg)
        elif isinstance(node, ast.Assign) and is_device(node.value, set()):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return names


def kinds_asked(function: ast.AST) -> Iterator[int]:
    """The lines of a function that ask a device for its kind."""
    known = names_of_devices(function)
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and node.attr == "kind" and is_device(node.value, known):
            yield node.lineno


@every_case
@pytest.mark.parametrize("module", MODULES)
def test_nobody_asks_of_which_kind_a_device_is(module: str) -> None:
    if f"{module}/".startswith(MAY_ASK_KIND):
        return
    functions = [node for node in ast.walk(tree(module)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    asked = {where(module, line) for scope in (tree(module), *functions) for line in kinds_asked(scope)}
    assert not asked, f"ask traits or an attribute with a true name instead: {sorted(asked)}"


def test_questions_of_kind_are_found() -> None:
    lines = ("if x.device.kind: return", "target.kind", "y = default_device()", "y.kind", "x.kind")
    text = "\n  ".join(("def f(x, target: Device):", *lines))
    (function,) = ast.parse(text).body
    assert sorted(kinds_asked(function)) == [2, 3, 5]
