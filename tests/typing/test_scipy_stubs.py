"""The stubs of `gpunumpy.scipy` have the names, the parameters and the defaults of SciPy's functions."""

from __future__ import annotations

import ast
import inspect
import re
import types
from pathlib import Path
from typing import Any

import pytest

scipy = pytest.importorskip("scipy")

import gpunumpy  # noqa: E402
from gpunumpy.scipy.modules import NAMES  # noqa: E402
from tools.stubs import scipy_modules  # noqa: E402

from .test_stubs import differences, meaning, parameters, public  # noqa: E402

PACKAGE = Path(gpunumpy.__file__).parent
MODULES = ("", *NAMES, *scipy_modules.NESTED)
TEXTS = {module: (PACKAGE / scipy_modules.path_of(module)).read_text(encoding="utf-8") for module in MODULES}
MADE_WITH = re.findall(r"SciPy (\S+);", TEXTS[""])[0]

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.skipif(
        scipy.__version__ != MADE_WITH, reason=f"stubs are made with SciPy {MADE_WITH}, and this is {scipy.__version__}"
    ),
]


def test_they_are_fresh() -> None:
    made = scipy_modules.scipy_stubs()
    assert set(made) == {path.relative_to(PACKAGE).as_posix() for path in (PACKAGE / "scipy").rglob("*.pyi")}
    for module, text in TEXTS.items():
        source = made[scipy_modules.path_of(module)]
        assert meaning(text) == meaning(source), f"{module}: run python -m tools.stubs"


@pytest.mark.parametrize("module", MODULES[1:])
def test_names(module: str) -> None:
    there = scipy_modules.found_at(module)
    stub = public(ast.parse(TEXTS[module]).body)
    missing = set(dir(there)) - stub
    assert all(hasattr(there, name) for name in stub)
    old = {name for name in missing if isinstance(getattr(there, name), types.ModuleType)}
    assert missing == old  # modules that SciPy keeps for names of the past


@pytest.mark.parametrize("module", MODULES[1:])
def test_signatures(module: str) -> None:
    wrong = []
    for statement in ast.parse(TEXTS[module]).body:
        if isinstance(statement, ast.FunctionDef):
            found: Any = scipy_modules.found_at(module, statement.name)
            there = list(inspect.signature(found).parameters.values())
            found_differences = differences(there, [parameters(statement, False)], statement.name)
            wrong += [f"{statement.name}: {text}" for text in found_differences]
    assert not wrong, "\n".join(wrong)


def test_what_is_an_array() -> None:
    """Filters, transforms and own functions promise arrays; what gives several things, or a number, does not."""
    results = {
        (module, s.name): ast.unparse(s.returns)
        for module, text in TEXTS.items()
        for s in ast.parse(text).body
        if isinstance(s, ast.FunctionDef) and s.returns is not None
    }
    arrays = {key for key, result in results.items() if result == "ndarray"}
    assert {("ndimage", "gaussian_filter"), ("special", "softmax"), ("signal.windows", "hann")} <= arrays
    assert not arrays & {("ndimage", "label"), ("signal", "butter"), ("integrate", "quad"), ("ndimage", "sum_labels")}
    assert set(results.values()) == {"Any", "ndarray"}
