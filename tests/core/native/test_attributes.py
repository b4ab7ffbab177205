"""What arrays tell of themselves: shape, dtype and others are NumPy's, and the core tells them without Python."""

from __future__ import annotations

import inspect
import subprocess
import sys
import warnings
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core._native import ATTRIBUTES, IS_COMPILED
from gpunumpy.core.recording.array import ArrayState

from .attributes import NAMES, OF_NUMPY, OWN_STATES, STATES, Own, told
from .test_cores import run
from .test_draws import called_by

# Those of which the core leaves some attribute to Python, and has others at hand.
LEFT_TO_PYTHON = {
    *("17 dimensions of a part", "of 17 dimensions", "no part", "part without elements", "shape of no elements"),
    *("longlong", "unsigned longlong", "scalar of longlong", "records"),
}
ALL = attrgetter(*NAMES)
needs_core = pytest.mark.skipif(not IS_COMPILED, reason="the core is not built for this Python")


@pytest.fixture(params=["auto", "device"], autouse=True)
def residence(request: pytest.FixtureRequest) -> Iterator[str]:
    before = np.set_residence(request.param)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of what sets strides and dtypes
        yield request.param
    np.set_residence(before)


@pytest.mark.parametrize("state", STATES)
def test_attributes_are_numpys(state: str) -> None:
    x, reference = STATES[state](np), STATES[state](numpy)
    expected = told(reference, OF_NUMPY)
    assert told(x, OF_NUMPY) == expected
    x._node  # noqa: B018  an array on the host has none until it is asked for
    assert told(x, OF_NUMPY) == expected


@needs_core
@pytest.mark.parametrize("state", [state for state in STATES if state not in LEFT_TO_PYTHON])
def test_the_core_tells_them(state: str) -> None:
    x = STATES[state](np)
    ALL(x)  # which makes the node of an array of a dtype that the host alone has
    assert called_by(lambda: ALL(x)) == []


@needs_core
@pytest.mark.parametrize("state", ["owner", "pending", "scalar", "part", "column"])
def test_a_new_array_on_the_host_tells_them_without_a_node(state: str) -> None:
    made = STATES[state](np)
    assert called_by(lambda: ALL(made)) == []


@needs_core
def test_both_cores_tell_the_same(residence: str) -> None:
    compiled, python = (
        run(core, "-W", "ignore", "-m", "tests.core.native.attributes", residence) for core in ("compiled", "python")
    )
    assert compiled.stdout.splitlines() == python.stdout.splitlines(), compiled.stderr + python.stderr
    assert len(compiled.stdout.splitlines()) > 300


def test_a_subclass_has_attributes_of_its_own() -> None:
    class Named(Own):
        @property
        def shape(self) -> Any:
            return "a", *super().shape

    x, plain = np.ones((3, 4)).view(Named), np.ones((3, 4))
    assert (x.shape, x.size, x.itemsize, x.ndim) == (("a", 3, 4), -1, -1, -1)
    assert (x.nbytes, x.strides) == (plain.nbytes, plain.strides)
    assert np.ndarray.size.__get__(x) == 12
    assert (x + x).shape == ("a", 3, 4)


def test_an_array_that_was_moved() -> None:
    x = OWN_STATES["moved"]()
    assert (x.residence, x.shape, x.strides, x.base) == ("device", (3, 4), (32, 8), None)


@pytest.mark.parametrize("name", ["base", "residence", "strides"])
def test_a_view_follows_a_move(name: str) -> None:
    x = OWN_STATES["part that follows"]()
    getattr(x, name)
    assert (x.residence, x.shape, x.strides, x.base.shape) == ("device", (2, 3), (64, 8), (3, 4))


def test_base() -> None:
    x, lent = np.ones(4), bytearray(24)
    assert x[:2].base is x
    assert (x + x).base is None
    assert getattr(np.frombuffer(lent).base, "obj", None) is lent


@pytest.mark.parametrize("name", NAMES)
def test_they_are_data_descriptors_with_docstrings(name: str) -> None:
    found = inspect.getattr_static(np.ndarray, name)
    assert inspect.isdatadescriptor(found)
    assert (inspect.getdoc(found) or "").endswith(".")
    assert inspect.isgetsetdescriptor(found) is (name in ATTRIBUTES)
    assert getattr(np.ndarray, name) is found


@pytest.mark.parametrize("name", NAMES)
def test_errors_name_the_attribute(name: str) -> None:
    x = np.ones((3, 4))
    for change in (lambda: delattr(x, name), lambda: setattr(x, name, object())):
        with pytest.raises((AttributeError, TypeError, ValueError)):
            change()
    assert (x.shape, x.strides, x.dtype) == ((3, 4), (32, 8), np.float64)


def test_an_array_without_fields_has_no_attributes() -> None:
    """Nobody hands out such an array, and what it may be missing is nothing to crash at."""
    x = ArrayState.__new__(np.ndarray)
    for name in {*NAMES} - {"residence"}:
        with pytest.raises(AttributeError):
            getattr(x, name)


def test_no_reference_is_kept() -> None:
    for state in ("owner", "pending", "scalar", "part", "real parts", "objects"):
        x = STATES[state](np)
        told(x, NAMES)
        held = [x, x.base, x.dtype, x.device, x.shape]
        before = [sys.getrefcount(one) for one in held]
        for _ in range(100):
            told(x, NAMES)
        assert all(now < counted + 50 for now, counted in zip(map(sys.getrefcount, held), before, strict=True)), state


def test_without_docstrings() -> None:
    code = "import gpunumpy as np; assert np.ndarray.shape.__doc__ is None; print(np.ones((2, 3)).shape)"
    ran = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "(2, 3)"
