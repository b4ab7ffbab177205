"""Equal small calls that are one on a GPU give, to the bit, what each gives alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.dtypes import bfloat16
from gpunumpy.core.runtime.explain import explanation

pytestmark = pytest.mark.gpu

Program = Callable[..., Any]


@pytest.fixture(autouse=True)
def on_the_gpu() -> Iterator[None]:
    with np.Device("cuda:0"):
        yield


def values(count: int, *shape: int, dtype: str) -> list[Any]:
    rng = numpy.random.default_rng(shape)
    parts = rng.standard_normal((count, 2, *shape))
    return [((re + 1j * im) if dtype in "FD" else re).astype(dtype) for re, im in parts]


def agree(program: Program, sets: list[tuple[Any, ...]]) -> None:
    """Assert that a program gives the same bits for each set of arrays alone and in a batch."""
    alone = []
    for arrays in sets:
        result = program(*arrays)
        alone.append(np.asnumpy(result))
        del result
    batched = [program(*arrays) for arrays in sets]
    assert "_batch" in explanation(batched[0])
    for one, other in zip(batched, alone, strict=True):
        numpy.testing.assert_array_equal(np.asnumpy(one).view("u1"), other.view("u1"))


LENGTHS = (
    2,
    6,
    15,
    30,
    32,
    64,
    81,
    128,
    210,
    256,
    486,
    512,
    1000,
    1024,
    2000,
    2048,
    2187,
    2401,
    3750,
    4096,
    5000,
    8192,
)


@pytest.mark.parametrize("n", LENGTHS)
def test_transforms(n: int) -> None:
    for dtype in "FDfd":
        if n * numpy.dtype(dtype).itemsize > 1 << 16:
            continue
        arrays = [(np.asarray(x),) for x in values(7, n, dtype=dtype)]
        if dtype in "FD":
            agree(np.fft.fft, arrays)
            agree(np.fft.ifft, arrays)
        elif n % 2 == 0 and n <= 2048:
            agree(np.fft.rfft, arrays)
            agree(lambda x: np.fft.irfft(np.fft.rfft(x) * 2), arrays)


def test_layouts() -> None:
    (x,) = values(1, 40, 64, dtype="F")
    tested = np.asarray(x)
    agree(np.fft.fft, [(tested[k],) for k in range(40)])
    agree(np.fft.fft, [(tested[:, k],) for k in range(0, 64, 7)])
    agree(np.fft.fft2, [(tested[k : k + 5],) for k in range(20)])
    mixed = [tested[k] for k in range(5)] + [np.asarray(np.asnumpy(tested).T.copy())[:, k] for k in range(5)]
    found = [np.fft.fft(a) for a in mixed]
    assert explanation(found[0]).count("fft_batch") == 1
    for one, other in zip(found, [*x[:5], *x[:5]], strict=True):
        assert abs(np.asnumpy(one) - numpy.fft.fft(other)).max() < 1e-4


@pytest.mark.parametrize(
    ("program", "n", "dtype"), [(np.fft.fft, 81, "F"), (np.fft.rfft, 64, "f"), (np.fft.irfft, 33, "F")]
)
def test_one_that_is_not_a_number_is_so_alone(program: Program, n: int, dtype: str) -> None:
    arrays = values(6, n, dtype=dtype)
    arrays[1][3] = arrays[4][0] = numpy.nan
    found = [program(np.asarray(x)) for x in arrays]
    assert [bool(numpy.isfinite(np.asnumpy(x)).all()) for x in found] == [k not in (1, 4) for k in range(6)]


@pytest.mark.parametrize("dtype", "efd")
@pytest.mark.parametrize("shape", [(4, 4, 4), (33, 5, 17), (256, 32, 256)])
def test_products(shape: tuple[int, int, int], dtype: str) -> None:
    m, k, n = shape
    pairs = zip(values(70, m, k, dtype=dtype), values(70, k, n, dtype=dtype), strict=True)
    operands = [(np.asarray(a), np.asarray(b)) for a, b in pairs]
    (row,) = map(np.asarray, values(1, n, dtype=dtype))
    agree(lambda a, b: a @ b, operands)
    agree(lambda a, b: b.T @ a.T, operands)
    agree(lambda a, b: a @ b + row, operands)


@pytest.mark.parametrize("dtype", ["e", "bfloat16", "f", "d", "F", "D"])
@pytest.mark.parametrize("shape", [(300, 280, 290), (17, 999, 301), (264, 64, 33)])
def test_larger_products(shape: tuple[int, int, int], dtype: str) -> None:
    """A batch of the library's: equal within roundings to the product of each, whatever operands lie like."""
    m, k, n = shape
    kind, count = bfloat16 if dtype == "bfloat16" else numpy.dtype(dtype), 6
    hosts = [
        (x.astype(kind), y.astype(kind))
        for x, y in zip(values(count, m, k, dtype=dtype[0]), values(count, k, n, dtype=dtype[0]), strict=True)
    ]
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in hosts]
    wide = numpy.complex128 if dtype in "FD" else numpy.float64
    eps = {"e": 1e-3, "bfloat16": 8e-3, "f": 1.2e-7, "F": 1.2e-7}.get(dtype, 2.2e-16)
    programs: tuple[Program, ...] = (
        lambda a, b: a @ b,
        lambda a, b: b.T @ a.T,
        lambda a, b: a[1:, 1:] @ b[1:, 1:],  # which is not aligned
    )
    for program in programs:
        found = [program(a, b) for a, b in pairs]
        assert "matmul_batch" in explanation(found[0])
        for one, (a, b) in zip(found, hosts, strict=True):
            wanted = program(a.astype(wide), b.astype(wide))
            size = program(abs(a.astype(wide)), abs(b.astype(wide))).real.max()
            assert abs(np.asnumpy(one).astype(wide) - wanted).max() <= 4 * eps * size
        again = [program(a, b) for a, b in pairs]
        for one, other in zip(found, again, strict=True):
            numpy.testing.assert_array_equal(np.asnumpy(one), np.asnumpy(other))
