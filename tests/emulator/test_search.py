"""The kernels of `searchsorted`, run on the emulated machine and compared with NumPy."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.search import cuda as cuda_search

from .executor import run_program
from .test_masks_and_scatter import layout_of

DTYPES = ("?", "i1", "u2", "i4", "u8", "e", "f", "d", "F", "D")


def numbers(dtype: Any, n: int, seed: int) -> Any:
    """Random numbers with duplicates, infinities and NaN."""
    random = numpy.random.default_rng(seed)
    made = random.integers(-50 if numpy.dtype(dtype).kind not in "bu" else 0, 50, n)
    if numpy.dtype(dtype).kind not in "fc":
        return made.astype(dtype)
    made = made / 2 + (1j * random.integers(0, 3, n) if numpy.dtype(dtype).kind == "c" else 0)
    made[random.integers(0, n, n // 9)] = numpy.nan
    made[random.integers(0, n, n // 9)] = numpy.inf
    if made.dtype.kind == "c":
        made.imag[random.integers(0, n, n // 9)] = numpy.nan
    return made.astype(dtype)


def search(side: str, ordered: Any, values: Any, entries: int) -> Any:
    out = numpy.empty(values.shape, numpy.int64)
    arrays = (out, ordered, values)
    program = cuda_search.searchsorted((side,), [layout_of(x) for x in arrays], [x.dtype for x in arrays])
    assert len(program.launches) == entries
    assert run_program(program, arrays, seed=5) == 0
    return out


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_few_values(dtype: Any, side: str) -> None:
    for n in (1, 2, 37):
        ordered, values = numpy.sort(numbers(dtype, n, 1)), numbers(dtype, 300, 2)
        numpy.testing.assert_array_equal(
            search(side, ordered, values, 1), numpy.searchsorted(ordered, values, side), f"{n}"
        )


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_an_index(dtype: Any, side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_search, "MANY_VALUES", 1)
    monkeypatch.setattr(cuda_search, "_TOP_BYTES", 64)
    values = numbers(dtype, 600, 2)
    for n in (3, 64, 1000, 3001):
        ordered = numpy.sort(numbers(dtype, n + 1, 1))[1:]  # which does not lie on 16 bytes
        entries = 1 + (n > 64 // values.itemsize)
        numpy.testing.assert_array_equal(
            search(side, ordered, values, entries), numpy.searchsorted(ordered, values, side)
        )
        aligned = numpy.sort(ordered)
        numpy.testing.assert_array_equal(
            search(side, aligned, values, entries), numpy.searchsorted(aligned, values, side)
        )


def test_far_more_elements_than_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_search, "MANY_VALUES", 1)
    monkeypatch.setattr(cuda_search, "_TOP_BYTES", 64)
    ordered, values = numpy.arange(999.0), numpy.array([-1.0, 5.0, 998.5])
    numpy.testing.assert_array_equal(search("left", ordered, values, 1), [0, 5, 999])


@pytest.mark.parametrize("n", [10, 1 << 22])
def test_nvrtc_compiles_them(n: int) -> None:
    for dtype in DTYPES:
        arrays = numpy.empty(n, numpy.int64), numpy.empty(1 << 22, dtype), numpy.empty(n, dtype)
        program = cuda_search.searchsorted(("right",), [layout_of(x) for x in arrays], [x.dtype for x in arrays])
        compile_cubin(program.text, "sm_90")
