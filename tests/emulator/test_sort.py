"""The GPU's sorts, run on the emulated machine and compared with NumPy to the bit, and for stability."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from gpunumpy.core.graph.layout import Layout
from gpunumpy.kernels.codegen.program import Program
from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.sort import cuda as cuda_sort

from .executor import run_program

DTYPES = ("?", "i1", "u1", "i2", "u2", "f2", "i4", "u4", "f4", "i8", "u8", "f8")
# Rows and their length: several a block, a block's at most, and longer than a block's.
SHORT = ((1, 1), (5, 1), (7, 2), (3, 5), (40, 17), (3, 32), (2, 33), (3, 100), (5, 128), (2, 129), (2, 700), (1, 2048))
LONG = ((1, 4097), (1, 9000), (3, 5000))
MANY_TILES = cuda_sort.Tile(256, 2, 1)


def sample(shape: tuple[int, int], dtype: str, seed: int = 0) -> numpy.ndarray:
    """All bits at random, a few values over and over; of floats all kinds of NaN, infinities and zeros, too."""
    random = numpy.random.default_rng(seed)
    d = numpy.dtype(dtype)
    if dtype == "?":
        return random.integers(0, 2, shape).astype(bool)
    bits = random.integers(0, 256, (*shape, d.itemsize), numpy.uint8).view(d)[..., 0]
    usual = [0, 1, 2, 3, 100] if d.kind == "u" else [0, -1, 1, -3, 100]
    if d.kind == "f":
        usual = [0.0, -0.0, 1.0, -1.0, numpy.inf, -numpy.inf, numpy.nan, -numpy.nan]
    picked = numpy.array(usual).astype(d)[random.integers(0, len(usual), shape)]
    return numpy.where(random.random(shape) < 0.5, bits, picked)


def order(x: numpy.ndarray, descending: bool) -> numpy.ndarray:
    """The positions that sort rows; a descending order is that of the ranks turned round, but NaN is last in both."""
    if not descending:
        return numpy.argsort(x, axis=-1, stable=True)
    ranks = numpy.array([numpy.unique(row, return_inverse=True)[1] for row in x])
    return numpy.argsort(numpy.where(numpy.isnan(x), 1, -ranks), axis=-1, stable=True)


def program(x: numpy.ndarray, descending: bool, positions: bool, begin: int = 0) -> Program:
    make = cuda_sort.argsort if positions else cuda_sort.sort
    out = numpy.dtype(numpy.int64) if positions else x.dtype
    where = Layout(x.shape, (x.shape[1], 1), begin)
    return make((descending,), (where._replace(offset=0), where), (out, x.dtype))


def check(x: numpy.ndarray, descending: bool, **options: Any) -> None:
    want = order(x, descending)
    for positions, wanted in ((False, numpy.take_along_axis(x, want, -1)), (True, want)):
        out = numpy.empty(x.shape, wanted.dtype)
        assert run_program(program(x, descending, positions), [out, x], seed=3, **options) == 0
        assert out.tobytes() == wanted.tobytes()


@pytest.fixture
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    for table in (cuda_sort.TILES, cuda_sort.PAIR_TILES):
        for size in table:
            monkeypatch.setitem(table, size, MANY_TILES)


@pytest.mark.parametrize("shape", SHORT)
@pytest.mark.parametrize("descending", [False, True])
def test_short_rows(shape: tuple[int, int], descending: bool) -> None:
    check(sample(shape, "f4"), descending)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_short_rows_of_every_dtype(dtype: str, descending: bool) -> None:
    check(sample((3, 7), dtype), descending)
    check(sample((3, 50), dtype), descending)
    check(sample((2, 150), dtype), descending)


@pytest.mark.parametrize("dtype", ["u1", "f2", "i4", "f8"])
@pytest.mark.parametrize("shape", LONG)
@pytest.mark.parametrize("few", [0, 1 << 19])
@pytest.mark.parametrize("descending", [False, True])
def test_long_rows(
    dtype: str, shape: tuple[int, int], few: int, descending: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_sort, "_FEW_ELEMENTS", few)
    check(sample(shape, dtype), descending)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.usefixtures("small_tiles")
def test_many_tiles(dtype: str, descending: bool) -> None:
    check(sample((2, 4600), dtype), descending)


@pytest.mark.parametrize("dtype", ["i4", "f4", "i8"])
@pytest.mark.usefixtures("small_tiles")
def test_digits_that_are_equal(dtype: str) -> None:
    """Passes are left out row by row: where all elements are equal, where a digit is, and where none is."""
    random = numpy.random.default_rng(1)
    x = numpy.zeros((5, 4200), dtype)
    x[1] = 3
    x[2] = random.integers(0, 200, 4200)
    x[3] = random.integers(0, 200, 4200) << 16
    x[4] = random.integers(0, 2**24, 4200)
    check(x, False)
    check(x, True)


@pytest.mark.parametrize("dtype", ["i4", "f8"])
def test_neighbours_that_are_alike(dtype: str) -> None:
    """Sorted data, and few values: lanes of a warp share their digits."""
    x = numpy.sort(sample((3, 4500), dtype))
    x[1] = x[1, ::-1]
    x[2] = numpy.random.default_rng(1).integers(0, 2, 4500) * 70_000
    check(x, False)


@pytest.mark.usefixtures("small_tiles")
def test_wide_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_sort, "_LARGE_INDEX", 1)
    monkeypatch.setattr(cuda_sort, "_LARGE_PLACE", 1)
    check(sample((2, 5000), "f4"), False)


@pytest.mark.parametrize("n", [5, 60, 4200])
def test_a_row_in_the_middle_of_memory(n: int) -> None:
    x = sample((1, n + 9), "i4")
    out = numpy.empty((1, n), "i4")
    run_program(program(x[:, 9:], False, False, 9), [out, x])
    assert out.tolist() == numpy.sort(x[:, 9:]).tolist()


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_nothing_to_do(shape: tuple[int, int]) -> None:
    assert not program(numpy.empty(shape), False, True).launches


def test_a_short_row_is_one_launch() -> None:
    for n in (1, 32, 1024, 2048):
        assert len(program(numpy.empty((1, n)), False, True).launches) == 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "i8"])
@pytest.mark.parametrize("positions", [False, True])
def test_nvrtc_compiles_them(dtype: str, positions: bool) -> None:
    for n in (7, 100, 2048, 10_000):
        made = program(numpy.empty((2, n), dtype), False, positions)
        for arch in ("sm_90", *(("sm_75", "sm_100") if dtype == "f4" else ())):
            compile_cubin(made.text, arch)
        assert all(launch.shared <= 1 << 16 for launch in made.launches), "more than every GPU has"
