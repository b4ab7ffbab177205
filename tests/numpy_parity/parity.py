"""Comparing with NumPy: the same call on both, and values, dtype, shape or exception that must agree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from typing import Any

import ml_dtypes
import numpy

import gpunumpy.arrays.binding  # noqa: F401 - binds the operators
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.device import default_device
from gpunumpy.kernels.host.executor import HostExecutor

from ..support.arrays import from_host, ndarray, to_host

DTYPES = ("?", "i1", "i4", "i8", "u1", "u4", "u8", "e", "f", "d", "F", "D")


def generated() -> bool:
    """Whether kernels run here whose mathematical functions are not NumPy's own."""
    return type(evaluate.state_of(default_device()).executor) is not HostExecutor


def folds(name: str, x: numpy.ndarray) -> bool:
    """Return whether NumPy's own ufunc reduces an array step by step.

    Where the processor has AVX-512, some versions take the first element with the last one alone, in loops of floats
    that are no sums.
    """
    ufunc = getattr(numpy, name)
    with numpy.errstate(all="ignore"):
        return bool(numpy.allclose(ufunc.reduce(x), reduce(ufunc, x), rtol=1e-3, equal_nan=True))


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the exception that it raises; floating-point errors are no exceptions."""
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", numpy.exceptions.ComplexWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            return call()
        except Exception as error:
            return error


def on_host(x: Any) -> Any:
    """The result of a call, with gpunumpy arrays as NumPy arrays."""
    if isinstance(x, ndarray):
        return to_host(x)
    return tuple(map(on_host, x)) if isinstance(x, tuple) else x


def to_gpunumpy(x: Any) -> Any:
    """An argument of a call, with NumPy arrays as gpunumpy arrays."""
    return from_host(x) if isinstance(x, numpy.ndarray) else x


def check(
    tested: Callable[..., Any], reference: Callable[..., Any], *args: Any, ulp: float = 4, **options: Any
) -> None:
    """Assert that both functions have the same outcome for the same arguments."""
    expected = outcome(lambda: reference(*args, **options))
    found = outcome(lambda: on_host(tested(*map(to_gpunumpy, args), **{k: to_gpunumpy(v) for k, v in options.items()})))
    with told_of_failures(lambda: f"{getattr(reference, '__name__', reference)}{args}{options}"):
        same(found, expected, ulp)


@contextmanager
def told_of_failures(what: Callable[[], str]) -> Iterator[None]:
    """Add to the message of a failure what was called: the texts of all arrays take longer than many comparisons."""
    try:
        yield
    except AssertionError as error:
        error.add_note(what())
        raise


def same(found: Any, reference: Any, ulp: float = 4, what: str = "") -> None:
    """Assert that two outcomes agree."""
    if isinstance(reference, Exception):
        assert isinstance(found, Exception), f"{what}: {reference!r} was to be raised, not {found!r} returned"
        expected = next(t for t in type(reference).__mro__ if t.__module__ == "builtins")
        assert isinstance(found, expected), f"{what}: {found!r} instead of {reference!r}"
        return
    if isinstance(found, Exception):
        raise AssertionError(f"{what}: {found!r} instead of {reference!r}") from found
    if isinstance(reference, tuple):
        assert len(found) == len(reference), what
        for one, other in zip(found, reference):
            same(one, other, ulp, what)
        return
    if not hasattr(reference, "dtype"):
        assert type(found) is type(reference) or hasattr(found, "dtype"), f"{what}: {type(found)}"
    reference = numpy.asarray(reference)
    found = numpy.asarray(found)
    assert found.dtype == reference.dtype, f"{what}: dtype {found.dtype} instead of {reference.dtype}"
    assert found.shape == reference.shape, f"{what}: shape {found.shape} instead of {reference.shape}"
    if reference.dtype.kind in "biuOSUMm" or not ulp:
        numpy.testing.assert_array_equal(found, reference, what)
        return
    rtol = ulp * float(ml_dtypes.finfo(reference.dtype).eps)
    wide = numpy.complex128 if reference.dtype.kind == "c" else numpy.float64
    numpy.testing.assert_allclose(found.astype(wide), reference.astype(wide), rtol, rtol / 16, err_msg=what)


def sample(dtype: Any, shape: tuple[int, ...], seed: int = 0, low: int = -4, high: int = 9) -> Any:
    """Small numbers of a dtype, a few of them equal."""
    made = numpy.random.default_rng(seed).integers(low, high, shape)
    dtype = numpy.dtype(dtype)
    if dtype.kind == "u":
        made = abs(made)
    if dtype.kind == "b":
        made = made > 0
    if dtype.kind in "fcV":
        made = made / 2
    if dtype.kind == "c":
        made = made + 0.5j * numpy.random.default_rng(seed + 1).integers(low, high, shape)
    return made.astype(dtype)
