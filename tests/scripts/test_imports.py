"""What import statements of a script import, and what its `numpy.ndarray` is."""

from __future__ import annotations

import copy
import pickle
import sys
from functools import singledispatch
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core._native import IS_COMPILED
from gpunumpy.scripts import imports
from gpunumpy.scripts import numpy as script_numpy
from gpunumpy.scripts.selection import Selection, is_own
from tests.typing.test_stubs import __file__ as another_file

SCIPY = pytest.importorskip("scipy")

# Statements, and what a name is bound to after them: an expression of what `gpunumpy`, NumPy, SciPy and `script` give.
STATEMENTS = {
    "import numpy": ("numpy", "script"),
    "import numpy as np": ("np", "script"),
    "import os, numpy as np, sys": ("np", "script"),
    "import numpy.linalg": ("numpy", "script"),
    "import numpy.linalg as la": ("la", "gpunumpy.linalg"),
    "import numpy.lib.stride_tricks as s": ("s", "gpunumpy.lib.stride_tricks"),
    "from numpy import sin as s": ("s", "gpunumpy.sin"),
    "from numpy import ndarray": ("ndarray", "script.ndarray"),
    "from numpy import random": ("random", "gpunumpy.random"),
    "from numpy.linalg import norm": ("norm", "gpunumpy.linalg.norm"),
    "from numpy.lib.stride_tricks import as_strided": ("as_strided", "gpunumpy.lib.stride_tricks.as_strided"),
    "from numpy.random import default_rng": ("default_rng", "gpunumpy.random.default_rng"),
    "from numpy import *": ("cumsum", "gpunumpy.cumsum"),
    "import numpy.ma as ma": ("ma", "gpunumpy.ma"),
    "from numpy.testing import assert_allclose": ("assert_allclose", "gpunumpy.testing.assert_allclose"),
    "from numpy import float32": ("float32", "numpy.float32"),
    "from numpy import __version__": ("__version__", "numpy.__version__"),
    "import numpy._core as c": ("c", "numpy._core"),
    "from numpy._core import multiarray": ("multiarray", "numpy._core.multiarray"),
    "import numpy._core": ("numpy", "script"),
    "from numpy import _core": ("_core", "numpy._core"),
    "import scipy.ndimage": ("ndimage", "gpunumpy.scipy.ndimage", "ndimage = scipy.ndimage"),
    "from scipy import ndimage, io": ("ndimage", "gpunumpy.scipy.ndimage"),
    "import scipy.io": ("io", "scipy.io", "io = scipy.io"),
    "import scipy.io as io": ("io", "scipy.io"),
    "from scipy.io import wavfile": ("wavfile", "scipy.io.wavfile"),
    "from scipy.sparse.linalg import spsolve": ("spsolve", "gpunumpy.scipy.sparse.linalg.spsolve"),
    "from scipy import __version__": ("__version__", "scipy.__version__"),
    "def f():\n    import numpy as np\n    return np\nx = f()": ("x", "script"),
    "class A:\n    import numpy\nx = A.numpy": ("x", "script"),
    "import numbers": ("numbers", "numbers"),
    "import sys\nx = sys.modules['numpy']": ("x", "numpy"),
    "import importlib\nx = importlib.import_module('numpy')": ("x", "numpy"),
}


def compiled(text: str) -> dict[str, Any]:
    """The globals of a script after it has run."""
    found: dict[str, Any] = {"__name__": "script"}
    exec(imports.compile_file(text, "script.py"), found)
    return found


@pytest.mark.sampled(len(STATEMENTS))
@pytest.mark.parametrize("text", STATEMENTS)
def test_statement(text: str) -> None:
    name, expected, *more = STATEMENTS[text]
    found = compiled("\n".join((text, *more)))[name]
    import importlib
    import numbers

    importlib.import_module("scipy.io.wavfile")
    names = {"gpunumpy": gpunumpy, "numpy": numpy, "scipy": SCIPY, "script": script_numpy, "numbers": numbers}
    assert found is eval(expected, names)


def test_lines_and_columns_are_the_files() -> None:
    text = "'''A script.'''\nfrom __future__ import annotations\nimport numpy.linalg, numpy as np; x = np.zeros(3)\n"
    plain, code = compile(text, "script.py", "exec"), imports.compile_file(text, "script.py")
    lines = [{line for *_, line in each.co_lines() if line} for each in (plain, code)]
    assert lines[0] == lines[1]
    assert code.co_filename == "script.py"
    assert compiled(text)["__doc__"] == "A script."


@pytest.mark.parametrize("text", ["from numpy import nothing", "import numpy.nothing", "import numpy\nnumpy.nothing"])
def test_names_that_do_not_exist(text: str) -> None:
    with pytest.raises((ImportError, AttributeError)) as expected:
        exec(text, {})
    with pytest.raises(type(expected.value)):
        compiled(text)


def test_names_of_this_package_alone_are_told_of() -> None:
    with pytest.raises(AttributeError, match=r"module 'numpy' has no attribute 'explain'; gpunumpy\.explain is"):
        compiled("import numpy as np\nnp.explain(np.ones(3))")
    assert not hasattr(script_numpy, "explain")


def test_syntax_errors_are_pythons() -> None:
    for text in ("x = (", "return", "def f():\npass"):
        with pytest.raises(SyntaxError) as expected:
            compile(text, "script.py", "exec")
        with pytest.raises(SyntaxError) as found:
            imports.compile_file(text, "script.py")
        assert (found.value.args, type(found.value)) == (expected.value.args, type(expected.value))


@pytest.mark.skipif(not IS_COMPILED, reason="the core does it")
def test_instances_are_told_without_a_call_of_pythons() -> None:
    cls: Any = script_numpy.ndarray
    candidates, calls = (gpunumpy.zeros(2), numpy.zeros(2), 1.0), []
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_name) if event == "call" else None)
    for x in candidates:
        isinstance(x, cls)
    sys.setprofile(None)
    assert calls == []


def test_arrays_of_both_classes_are_instances() -> None:
    cls: Any = script_numpy.ndarray
    ours, theirs = gpunumpy.zeros(2), numpy.zeros(2)
    assert isinstance(ours, cls)
    assert isinstance(theirs, cls)
    assert not isinstance([], cls)
    assert isinstance(ours, cls | list)
    assert type(ours) == cls  # noqa: E721
    assert issubclass(gpunumpy.ndarray, cls)
    assert issubclass(numpy.ndarray, cls)
    assert {cls: 1}[gpunumpy.ndarray] == 1
    match theirs:
        case cls():
            pass
        case _:
            pytest.fail("it is no instance")


def test_the_class_is_this_packages() -> None:
    cls: Any = script_numpy.ndarray
    assert type(cls((2, 3))) is gpunumpy.ndarray
    assert cls.sum is gpunumpy.ndarray.sum
    assert cls.__doc__ == gpunumpy.ndarray.__doc__
    assert repr(cls) == repr(gpunumpy.ndarray)
    assert pickle.loads(pickle.dumps(cls)) is cls
    assert copy.deepcopy(cls) is cls
    assert cls[Any, Any] == gpunumpy.ndarray[Any, Any]


def test_subclasses_in_scripts() -> None:
    cls: Any = script_numpy.ndarray

    class Named(cls):
        def __new__(subclass, data: Any) -> Any:
            return gpunumpy.asarray(data).view(subclass)

    x = Named([1.0, 2.0])
    assert type(x) is Named
    assert issubclass(Named, gpunumpy.ndarray)
    assert isinstance(x, cls)
    assert type(x + 1) is Named
    assert type(x.view(cls)) is gpunumpy.ndarray


def test_dispatch_on_the_class() -> None:
    @singledispatch
    def kind(x: Any) -> str:
        return "other"

    kind.register(script_numpy.ndarray)(lambda x: "array")
    assert [kind(x) for x in (gpunumpy.zeros(2), numpy.zeros(2), 1.0)] == ["array", "array", "other"]


def test_public_names_are_numpys() -> None:
    assert script_numpy.__all__ == numpy.__all__
    missing = [name for name in numpy.__all__ if not hasattr(script_numpy, name)]
    assert not missing
    assert not [name for name in ("explain", "asnumpy", "kernels", "ElementwiseKernel") if hasattr(script_numpy, name)]
    assert isinstance(script_numpy.core, ModuleType)
    assert script_numpy.core.__name__ == "numpy.core"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (__file__, True),
        ("/home/me/project/script.py", True),
        (numpy.__file__, False),
        (pickle.__file__, False),
        (gpunumpy.__file__, False),
        (another_file, True),
        ("/elsewhere/lib/python3.12/site-packages/a/b.py", False),
        ("/usr/lib/python3/dist-packages/a.py", False),
    ],
)
def test_which_files_are_the_users_own(path: str, expected: bool) -> None:
    assert is_own(path) == expected


def test_packages_that_pip_has_put_into_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = tmp_path / "package-1.0.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text("module.py,sha256=AA,3\npackage/__init__.py,,\npackage/part/deep.py,,\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("module.py", "package/__init__.py", "package/part/deep.py"):
        assert not is_own(str(tmp_path / name))
    for name in ("script.py", "packages/__init__.py", "own/module.py"):
        assert is_own(str(tmp_path / name))


@pytest.mark.parametrize(
    ("only", "exclude", "module", "expected"),
    [
        ((), (), "a.b", True),
        ((), ("a",), "a.b", False),
        ((), ("a.b",), "a.b", False),
        ((), ("a.b",), "a.bc", True),
        (("a",), (), "a.b", True),
        (("a",), (), "ab", False),
        (("a",), ("a.b",), "a.b.c", False),
        (("a",), (), "__main__", False),
    ],
)
def test_selection(only: tuple[str, ...], exclude: tuple[str, ...], module: str, expected: bool) -> None:
    assert Selection(only, exclude).has(module, "/home/me/a.py") == expected
    if only:
        assert Selection(only, exclude).has(module, numpy.__file__) == expected


def test_selections_travel_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUNUMPY_SCRIPTS", "")
    for selected in (Selection(), Selection(("a", "b.c")), Selection((), ("d",)), Selection(("a",), ("d", "e"))):
        selected.to_environment()
        assert Selection.from_environment() == selected
