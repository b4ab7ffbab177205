"""What the array API standard lets a program write can be written: every name, and every way to pass its arguments."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from inspect import Parameter, Signature, signature
from typing import Any

import pytest

import gpunumpy as np
from gpunumpy.arrays.namespace_info import EDITIONS

from . import signatures

POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
NAMED = (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def parsed(lines: str) -> Iterator[tuple[str, Signature]]:
    """The names and signatures of a table."""
    for line in filter(None, map(str.strip, lines.splitlines())):
        function = ast.parse(f"def {line}: ...").body[0]
        assert isinstance(function, ast.FunctionDef)
        yield function.name, signature(eval(f"lambda {ast.unparse(function.args)}: None"))


def cases(lines: str) -> list[Any]:
    return [pytest.param(name, wanted, id=name) for name, wanted in parsed(lines)]


def taken(parameters: list[Parameter], at: int, want: Parameter) -> Parameter | None:
    """The parameter of a gpunumpy function for the `at`-th parameter of the standard, or None."""
    variable = {p.kind: p for p in parameters if p.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)}
    if want.kind is Parameter.KEYWORD_ONLY:
        named = [p for p in parameters if p.name == want.name and p.kind in NAMED]
        return named[0] if named else variable.get(Parameter.VAR_KEYWORD)
    if want.kind is Parameter.VAR_POSITIONAL:
        return variable.get(Parameter.VAR_POSITIONAL)
    have = parameters[at] if at < len(parameters) and parameters[at].kind in POSITIONAL else None
    if want.kind is Parameter.POSITIONAL_ONLY:
        return have or variable.get(Parameter.VAR_POSITIONAL)
    if have and have.name == want.name and have.kind is want.kind:
        return have
    # NumPy's `clip` takes a bound under one name by its place, and under another by name.
    named = [p for p in parameters if p.name == want.name and p.kind is Parameter.KEYWORD_ONLY]
    return named[0] if have and named else None


def check(function: Any, wanted: Signature) -> None:
    """Assert that every call that the standard's signature allows can be made."""
    parameters, asked = list(signature(function).parameters.values()), list(wanted.parameters.values())
    used = set()
    for at, want in enumerate(asked):
        have = taken(parameters, at, want)
        assert have is not None, f"{want} cannot be passed to {signature(function)}"
        used.add(have.name)
        optional = have.default is not Parameter.empty or have.kind not in (*POSITIONAL, Parameter.KEYWORD_ONLY)
        assert optional or want.default is Parameter.empty, f"{want} is required by {signature(function)}"
        if isinstance(want.default, (str, bool)):
            assert have.default in (want.default, None) or not isinstance(have.default, type(want.default)), want
    more = [p for p in parameters if p.name not in used and p.kind in (*POSITIONAL, Parameter.KEYWORD_ONLY)]
    assert all(p.default is not Parameter.empty for p in more), f"{signature(function)} asks for more than {wanted}"


@pytest.mark.parametrize(("name", "wanted"), cases(signatures.FUNCTIONS[""]))
def test_functions(name: str, wanted: Signature) -> None:
    check(getattr(np, name), wanted)


@pytest.mark.parametrize("extension", ["fft", "linalg"])
def test_extensions(extension: str) -> None:
    for name, wanted in parsed(signatures.FUNCTIONS[extension]):
        check(getattr(getattr(np, extension), name), wanted)


@pytest.mark.parametrize(("name", "wanted"), cases(signatures.INSPECTION))
def test_inspection(name: str, wanted: Signature) -> None:
    check(getattr(np.__array_namespace_info__(), name), wanted)


@pytest.mark.parametrize(("name", "wanted"), cases(signatures.METHODS))
def test_methods(name: str, wanted: Signature) -> None:
    check(getattr(np.ndarray, name), wanted)


def test_a_signature_that_lacks_something_is_found() -> None:
    def tested(x: Any, axis: Any, /, out: Any = None, *, keep: bool = True) -> None: ...

    good = ("f(x, axis, /)", "f(x, axis, /, out=3)", "f(x, axis, /, *, keep=True)", "f(x, y, /, *, out=None)")
    wrong = ("f(x, axis)", "f(x, axis=1, /)", "f(x, axis, /, *, other=None)", "f(x, /)", "f(x, axis, /, *, keep=False)")
    for line in good:
        check(tested, next(parsed(line))[1])
    for line in (*wrong, "f(x, axis, /, other=None)", "f(x, axis, /, out=None, keep=True)", "f(*xs)"):
        with pytest.raises(AssertionError):
            check(tested, next(parsed(line))[1])


def test_constants_and_dtypes() -> None:
    for name in signatures.CONSTANTS:
        reference = getattr(math, name, None)
        assert str(getattr(np, name)) == str(reference)
    for name in signatures.DTYPES:
        assert np.zeros(1, getattr(np, name)).dtype == getattr(np, name) == np.dtype(name)


def test_properties(device: str) -> None:
    x = np.ones((2, 3), np.float32, device=device)
    shape, found = (2, 3), {name: getattr(x, name) for name in signatures.PROPERTIES}
    assert found.pop("T").shape == found.pop("mT").shape == shape[::-1]
    wanted = {"dtype": np.float32, "device": np.Device(device), "ndim": 2, "shape": shape, "size": 6}
    assert found == wanted


def test_namespace_info(device: str) -> None:
    info = np.__array_namespace_info__()
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert np.Device(device) in info.devices()
    assert type(info.devices()) is tuple
    assert info.default_device() in info.devices()
    kinds = ("real floating", "complex floating", "integral", "indexing")
    wanted = dict(zip(kinds, map(np.dtype, ("f8", "c16", "i8", "i8")), strict=True))
    assert info.default_dtypes(device=np.Device(device)) == wanted
    assert info.dtypes(device=device) == {name: np.dtype(name) for name in signatures.DTYPES}
    assert set(info.dtypes(kind=("bool", "signed integer"))) == {"bool", "int8", "int16", "int32", "int64"}


def test_editions() -> None:
    x = np.zeros(1)
    for edition in (None, *EDITIONS, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        assert x.__array_namespace__(api_version=edition) is np
    for edition in ("2020.12", "2026.12", "", "latest"):
        with pytest.raises(ValueError, match="edition"):
            x.__array_namespace__(api_version=edition)


def test_devices_of_results(device: str) -> None:
    x = np.arange(4, device=device)
    for made in (
        *(np.astype(x, np.float32, device=device), np.astype(x, x.dtype, copy=False, device=device)),
        *(np.asarray(x, device=device), np.from_dlpack(x, device=device), x.to_device(x.device)),
        *(np.fft.fftfreq(3, device=device), np.fft.rfftfreq(3, device=device), np.eye(2, device=device)),
        *(np.linspace(0, 1, 3, device=device), np.full((2,), 1, device=device), np.zeros_like(x, device=device)),
    ):
        assert made.device == np.Device(device)
    assert np.astype(x, x.dtype, copy=False, device=device) is x
    moved = np.astype(x, np.float32, device="cpu")
    assert (str(moved.device), moved.dtype, moved.tolist()) == ("cpu", np.float32, [0, 1, 2, 3])
