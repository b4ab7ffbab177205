"""What belongs to transforms: frequencies, and the order of a spectrum."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np

from ..support.arrays import to_host
from .parity import DTYPES, check, same, sample


@pytest.fixture(autouse=True)
def nothing_on_the_host() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_a_length_that_was_computed(name: str) -> None:
    tested, reference = (getattr(m.fft, name)(m.ones(5, dtype=int).sum()) for m in (np, numpy))
    numpy.testing.assert_array_equal(np.asnumpy(tested), reference)


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(name: str) -> None:
    tested, reference = getattr(np.fft, name), getattr(numpy.fft, name)
    for n in (0, 1, 2, 5, 8, numpy.int32(9), 2.0, "3", None):
        for d in (1.0, 0.25, 3, numpy.float32(0.1)):
            check(tested, reference, n, d)
    for n in (-1, -3):
        check(tested, reference, n)
    for dtype in ("f2", "f4", "f8", np.bfloat16):
        found = tested(6, dtype=dtype, device="cpu")
        assert found.dtype == np.dtype(dtype)
        same(to_host(found).astype(float), reference(6).astype(dtype).astype(float))
    for dtype in (int, complex, bool):
        with pytest.raises(TypeError, match="real floating"):
            tested(6, dtype=dtype)


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_the_order_of_a_spectrum(name: str) -> None:
    tested, reference = getattr(np.fft, name), getattr(numpy.fft, name)
    x = sample("d", (3, 4, 5))
    axes: tuple[Any, ...] = (None, 0, -1, (0, 2), [1], (), (0, 0), 3, (0, -4), numpy.int64(1))
    for given in axes:
        check(tested, reference, x, given)
        check(tested, reference, x.T[::2], axes=given)
    for dtype in DTYPES:
        check(tested, reference, sample(dtype, (7,)))
    for other in ([1, 2, 3], numpy.zeros((0, 3)), numpy.array(3.0), 2):
        check(tested, reference, other)
    check(tested, reference, numpy.array(3.0), ())
    with pytest.raises(IndexError, match="tuple index out of range"):
        tested(np.asarray(x), 3)
