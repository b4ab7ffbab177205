"""Every example in the docstrings of NumPy's public names, run with this package: what is shown is the same."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import io
import re
import warnings
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy
import pytest

import gpunumpy
from gpunumpy.core.runtime.device import CPU

# fmt: off
MODULES = (
    "numpy", "numpy.linalg", "numpy.fft", "numpy.random", "numpy.ma", "numpy.char", "numpy.strings", "numpy.rec",
    "numpy.emath", "numpy.lib", "numpy.polynomial", "numpy.polynomial.polynomial", "numpy.polynomial.chebyshev",
    "numpy.polynomial.legendre", "numpy.polynomial.hermite", "numpy.polynomial.hermite_e",
    "numpy.polynomial.laguerre", "numpy.polynomial.polyutils", "numpy.lib.stride_tricks", "numpy.lib.recfunctions",
    "numpy.lib.format", "numpy.lib.mixins", "numpy.lib.scimath", "numpy.lib.array_utils", "numpy.ctypeslib",
    "numpy.exceptions", "numpy.dtypes",
)
# fmt: on

# Statements of examples that are not run: they draw, ask, show text about NumPy, or what they show is by chance.
NOT_RUN = re.compile(
    r"plt\.|matplotlib|mpl_|scipy|\+SKIP|help\(|\binput\(|np\.info\(|np\.test\(|\bid\(|\.ids\(|time|ctypes\.data\b|"
    r"np\.empty|np\.ndarray\(shape|entropy|memmap|_umath_linalg|np\._core|tomaxint|overwrite_input|all\(a ?== ?b\)|"
    r"emath\.log\(-np\.exp"  # which is compared to the last bit
)
# Objects of which an example shows a difference of docs/differences.md, or what NumPy leaves open.
DIFFERENT = {
    "numpy.__array_namespace_info__*": "devices are objects",
    "numpy.asarray": "`recarray` is NumPy's class, and so is what it is a subclass of",
    "numpy.asmatrix": "matrices hold copies",
    "numpy.matrix*": "matrices hold copies; `base`, `flags.aligned`",
    "numpy.ma.MaskedArray._data": "masked arrays hold plain arrays",
    "numpy.ma.MaskedArray.iscontiguous": "a method of NumPy's masked arrays, which are arrays",
    "numpy.bitwise_left_shift": "the class of an element",
    "numpy.vectorize": "the class of an element",
    "numpy.random.default_rng": "the class of an element",
    "numpy.ma.MaskedArray.sum": "the class of an element",
    "numpy.ma.sum": "the class of an element",
    "numpy.ndarray.byteswap": "a view in the other byte order is a copy",
    "numpy.lib.Arrayterator.flat": "the class of an element",
    "numpy.dtype.metadata": "arrays of numbers forget metadata",
    "numpy.ndarray.setflags": "`flags.aligned`",
    "numpy.ndarray.resize": "references from the interpreter are not counted",
    "numpy.partition": "the order within parts",
    "numpy.linalg.eig": "complex, as in NumPy since 2.5",
    "numpy.linalg.eigvals": "complex, as in NumPy since 2.5",
    "numpy.unique_values": "`unique` always sorts",
    "numpy.lib.NumpyVersion": "asks for the version of this package",
}


class OnAGpu(NamedTuple):
    """What the examples of an object show on a GPU.

    Attributes
    ----------
    left_out
        A pattern of statements that are not compared.
    error
        The error that all other statements show instead; "" if they show what NumPy's do.
    in_any_order
        Whether numbers are compared in any order and with any signs.
    """

    left_out: str = ""
    error: str = ""
    in_any_order: bool = False


ON_A_GPU = {
    # The memory of a GPU has no `ctypes`.
    "numpy.ndarray.ctypes": OnAGpu(left_out=r"import|x = |x$", error="AttributeError"),
    "numpy.ctypeslib.as_ctypes": OnAGpu(left_out=r"_array = np\.array|type\(|\[:\]", error="BufferError"),
    "numpy.linalg.eigh": OnAGpu(in_any_order=True),
    # A matrix that is singular but for rounding.
    "numpy.linalg.inv": OnAGpu(left_out=r"# No errors|a @ inv|cond\(a\)|sigma"),
    "numpy.polynomial.Polynomial._roots": OnAGpu(in_any_order=True),
}


def _objects() -> Iterator[tuple[str, Any]]:
    """Yield names and objects: of each docstring the first that has it."""
    seen: set[str] = set()

    def new(name: str, x: Any) -> Iterator[tuple[str, Any]]:
        text = getattr(x, "__doc__", None)
        if isinstance(text, str) and ">>>" in text and text not in seen:
            seen.add(text)
            yield name, x

    for module_name in MODULES:
        try:
            module = importlib.import_module(module_name)
        except ImportError:  # of a newer release
            continue
        yield from new(module_name, module)
        for name in sorted(set(getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")])):
            x = getattr(module, name, None)
            if isinstance(x, ModuleType):
                continue
            yield from new(f"{module_name}.{name}", x)
            if inspect.isclass(x) and x.__module__.startswith("numpy"):
                for part in sorted(n for n in vars(x) if not n.startswith("__")):
                    yield from new(f"{module_name}.{name}.{part}", getattr(x, part, None))


with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of names that a release is about to drop
    OBJECTS = dict(_objects())


def _source(example: doctest.Example, is_numpy: bool) -> str:
    source = example.source.replace("default_rng()", "default_rng(5)").replace("PCG64()", "PCG64(5)")
    if is_numpy:
        return source
    source = re.sub(r"\bimport numpy as np\b", "import gpunumpy as np", source)
    source = re.sub(r"\bfrom numpy(?=[. ])", "from gpunumpy", source)
    return re.sub(r"\bimport numpy\b", "import gpunumpy", source)


def _shown(name: str, np: Any) -> list[tuple[str, str]]:
    """Return the statements of an object's examples, each with what Python shows of it."""
    shown, names = [], {"np": np, "__name__": "__main__"}
    np.random.seed(0)
    for example in doctest.DocTestParser().get_examples(OBJECTS[name].__doc__):
        if NOT_RUN.search(example.source):
            continue
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            try:
                exec(compile(_source(example, np is numpy), name, "single"), names)
            except Exception as error:
                print(type(error).__name__)
        shown.append((example.source, text.getvalue()))
    return shown


_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")


def _words_and_numbers(text: str) -> tuple[str, list[float]]:
    text = re.sub(r"0x[0-9a-f]+", "0x", text).replace("gpunumpy", "numpy")
    return re.sub(r"\s+|[-+]", "", _NUMBER.sub("#", text)), [float(n) for n in _NUMBER.findall(text)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize(
    "name", [name for name in OBJECTS if not any(fnmatchcase(name, pattern) for pattern in DIFFERENT)]
)
def test_examples_show_the_same(name: str, residence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = OnAGpu() if gpunumpy.default_device() is CPU else ON_A_GPU.get(name, OnAGpu())
    if rule.error and residence == "auto":
        rule = OnAGpu()  # the host has the memory of small arrays
    gpunumpy.set_residence(residence)
    monkeypatch.chdir(tmp_path)
    with numpy.printoptions(), numpy.errstate(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = _shown(name, numpy)
    with numpy.printoptions(), numpy.errstate(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tested = _shown(name, gpunumpy)
    for (source, reference), (_, text) in zip(expected, tested, strict=True):
        if rule.left_out and re.search(rule.left_out, source.strip()):
            continue
        if rule.error:
            assert text.strip() == rule.error, source
            continue
        words, numbers = _words_and_numbers(text)
        reference_words, reference_numbers = _words_and_numbers(reference)
        assert words == reference_words, f"{source}\n{text}\n{reference}"
        if rule.in_any_order:
            numbers, reference_numbers = (sorted(map(abs, n)) for n in (numbers, reference_numbers))
        numpy.testing.assert_allclose(numbers, reference_numbers, rtol=1e-6, atol=1e-12, err_msg=source)


def test_every_difference_is_of_an_object() -> None:
    """A pattern that fits no object, of any release, is out of date."""
    fits = {pattern for pattern in DIFFERENT for name in OBJECTS if fnmatchcase(name, pattern)}
    assert fits == DIFFERENT.keys() or numpy.__version__ < "2.4"
