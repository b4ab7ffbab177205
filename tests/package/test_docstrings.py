"""The docstrings of public functions: numpydoc, with every parameter."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from types import FunctionType
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core._native import PublicFunction
from gpunumpy.functions.docstrings import merged


def functions() -> dict[str, Any]:
    """The functions of the package's own under public names."""
    return {
        name: found
        for name in (*np.__all__, "from_dlpack")
        if isinstance(found := getattr(np, name), (FunctionType, PublicFunction))
        and found.__module__.startswith("gpunumpy")
    }


@pytest.mark.sampled(len(functions()))
@pytest.mark.parametrize("name", sorted(functions()))
def test_every_parameter_is_described(name: str) -> None:
    function = functions()[name]
    doc = inspect.getdoc(function) or ""
    assert "  " not in doc.partition("\n")[0]
    parameters: list[Any] = [p for p in inspect.signature(function).parameters.values() if p.kind != p.VAR_KEYWORD]
    if parameters and parameters[0].kind != inspect.Parameter.VAR_POSITIONAL:
        assert len(re.findall(r"^Parameters\n-{10}$", doc, re.MULTILINE)) == 1, doc
    for heading, line in re.findall(r"^([A-Z]\w+)\n(-+)$", doc, re.MULTILINE):
        assert len(heading) == len(line), doc
    if name in numpy.__all__ and "device" in inspect.signature(function).parameters:
        assert "device : Device" in doc
        assert "Array-API interoperability" not in doc


def documented(a: Any, device: Any, copy: Any) -> None:
    """Own summary.

    Parameters
    ----------
    copy : bool
        Own words.

    Raises
    ------
    ValueError
        Often.
    """


def test_the_own_docstring_goes_first() -> None:
    reference = """
    Summary of NumPy.

    Parameters
    ----------
    a : array_like
        Words of NumPy.

        More.
    copy : bool
        Not these.
    device : str
        Nor these.

    Returns
    -------
    out : ndarray
        What it is.

    Notes
    -----
    A note of NumPy.
    """
    doc = inspect.cleandoc(merged(documented, documented.__doc__ or "", reference, False))
    summary, *sections = re.split(r"\n\n(?=[A-Z]\w+\n-)", doc)
    assert summary == "Own summary."
    assert [section.partition("\n")[0] for section in sections] == ["Parameters", "Returns", "Raises"]
    assert "a : array_like\n    Words of NumPy.\n\n    More.\ncopy : bool\n    Own words." in sections[0]
    assert "device : Device" in sections[0]
    assert "these" not in doc
    assert "A note of NumPy" not in doc
    assert "copy" not in merged(lambda a: None, "", reference, True)


def test_without_docstrings() -> None:
    code = "import gpunumpy as np; assert np.sum.__doc__ is None; print(np.sum([1, 2]))"
    ran = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "3"
