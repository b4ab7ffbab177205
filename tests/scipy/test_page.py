"""The page about SciPy: its program runs, and its tables are those of the code."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

import gpunumpy.scipy
from gpunumpy.core.extras import install_command
from gpunumpy.scipy import modules
from tools import scipy_page

ROOT = Path(__file__).parents[2]
PAGE = scipy_page.PAGE.read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")  # of what CuPy does not have
@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
def test_the_program_runs(code: str) -> None:
    exec(compile(code, str(scipy_page.PAGE), "exec"), {})


def test_tables_are_current() -> None:
    cupy = pytest.importorskip("cupy")
    if f"SciPy {version('scipy')} and CuPy {cupy.__version__}:" not in PAGE:
        pytest.skip("the page is of other versions of SciPy and CuPy")
    assert scipy_page.page() == PAGE


@pytest.mark.parametrize("path", scipy_page.MODULES)
def test_every_function_is_on_the_page(path: str) -> None:
    if f"SciPy {version('scipy')} " not in PAGE:
        pytest.skip("the page is of another version of SciPy")
    part = PAGE.split(f"### `{path}`\n")[1].split("###")[0]
    assert set(re.findall(r"`(\w+)`", part)) - {"SCIPY_ARRAY_API"} == {name for name, _ in scipy_page.names(path)}
    assert part.count("(") == part.count(")") > 0


@pytest.mark.parametrize("path", scipy_page.MODULES)
def test_import_statements_find_modules(path: str) -> None:
    module = import_module(f"gpunumpy.scipy.{path}")
    assert set(modules.public_names(path)) <= set(dir(module))
    names, found = path.split("."), gpunumpy.scipy
    for name in names:
        found = getattr(found, name)
    assert found is module


_IMPORT = "import sys, gpunumpy; print(*{name.partition('.')[0] for name in sys.modules} & {'scipy', 'cupy', 'cupyx'})"
_MISSING = """
import sys
sys.modules["scipy"] = None
try:
    from gpunumpy.scipy import ndimage
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(("code", "says"), [(_IMPORT, ""), (_MISSING, install_command("scipy"))])
def test_scipy_is_optional(code: str, says: str) -> None:
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip().endswith(says)
    assert bool(run.stdout.strip()) == bool(says)
