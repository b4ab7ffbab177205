"""What `numpy.testing.overrides` tells of functions, and that generalised ufuncs are ufuncs."""

from __future__ import annotations

import inspect
from typing import Any

import numpy
import numpy.testing.overrides
import pytest

import gpunumpy

NAMES = tuple(
    n for n in numpy.__all__ if inspect.isroutine(getattr(numpy, n, 0)) or isinstance(getattr(numpy, n, 0), numpy.ufunc)
)


def told(np: Any, name: str) -> tuple[bool, bool]:
    function, overrides = getattr(np, name), np.testing.overrides
    return overrides.allows_array_function_override(function), overrides.allows_array_ufunc_override(function)


def test_what_may_be_overridden() -> None:
    different = [name for name in NAMES if told(gpunumpy, name) != told(numpy, name)]
    assert set(different) <= {"in1d", "isnat", "row_stack", "trapz"}  # of dates, and deprecated


@pytest.mark.parametrize("name", ["matmul", "matvec", "vecdot", "vecmat", "add"])
def test_ufuncs(name: str) -> None:
    ufunc, reference = getattr(gpunumpy, name), getattr(numpy, name)
    assert isinstance(ufunc, gpunumpy.ufunc)
    assert not isinstance(reference, gpunumpy.ufunc)
    assert not isinstance(gpunumpy.sum, gpunumpy.ufunc)
    assert [a for a in dir(reference) if not a.startswith("_") and not hasattr(ufunc, a)] == []
    for attribute in ("__name__", "__qualname__"):
        assert getattr(ufunc, attribute) == getattr(reference, attribute)
    dtypes = (numpy.dtype("f4"), numpy.dtype("i8"), None)
    assert ufunc.resolve_dtypes(dtypes) == reference.resolve_dtypes(dtypes)


@pytest.mark.parametrize("name", ["matmul", "vecdot"])
@pytest.mark.parametrize("call", ["reduce(x)", "accumulate(x)", "reduceat(x, [0])", "outer(x, x)", "at(x, [0], x)"])
def test_methods_that_generalised_ufuncs_do_not_have(call: str, name: str) -> None:
    texts = []
    for np in (gpunumpy, numpy):
        with pytest.raises((TypeError, RuntimeError)) as error:
            eval(f"np.{name}.{call}", {"np": np, "x": np.ones((2, 2))})
        texts.append((error.type, str(error.value)))
    assert texts[0] == texts[1]
