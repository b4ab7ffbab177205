"""Scans of long rows: tiles that look back at those before them, in groups and spans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy
import pytest

import gpunumpy
from gpunumpy.kernels.codegen import lookback
from tests.emulator import available
from tests.emulator.emulated import emulated

pytestmark = pytest.mark.skipif(not available(), reason="the emulator needs g++")

# The threads of a block here, so that few elements are many tiles.
THREADS = 64
WIDE = ("add", "multiply", "maximum")
ROWS = (*WIDE, "minimum", "fmax", "logical_and", "logical_or", "logical_xor")
CASES = [
    *((row, dtype) for row in ROWS for dtype in ("bool", "int8", "uint16", "int32", "uint64", "float32", "float64")),
    *((row, dtype) for row in WIDE for dtype in ("float16", "bfloat16", "complex64", "complex128")),
    *(("bitwise_xor", dtype) for dtype in ("bool", "int8", "uint16", "int32", "uint64")),
]


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Tiles of two warps; the tiles of every kernel that looks back."""
    monkeypatch.setattr(lookback, "THREADS", THREADS)
    tiles: list[int] = []
    emit = lookback.emit_lookback

    def counted(unit: Any, plan: Any, processors: int) -> None:
        tiles.append(plan.splits)
        emit(unit, plan, processors)

    monkeypatch.setattr("gpunumpy.kernels.codegen.scan.emit_lookback", counted)
    return tiles


def sample(n: int, dtype: str, seed: int = 0) -> Any:
    """Values of which sums are exact and products stay small."""
    rng = numpy.random.default_rng(seed)
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    found = rng.choice([-1, 1], n) if numpy.dtype(kind).kind not in "bu" else rng.integers(0, 2, n)
    if numpy.dtype(kind).kind == "c":
        found = found * rng.choice([1, 1j], n)
    return found.astype(kind)


def scanned(of: Callable[..., Any], *arrays: Any, shuffled: bool = True) -> Any:
    with emulated(shuffled=shuffled), gpunumpy.Device("cpu"):
        return gpunumpy.asnumpy(of(gpunumpy, *map(gpunumpy.asarray, arrays)))


@pytest.mark.parametrize(("row", "dtype"), CASES)
def test_every_row_and_dtype(row: str, dtype: str, small_tiles: list[int]) -> None:
    data = sample(17_003, dtype)
    expected = getattr(numpy, row).accumulate(data)
    got = scanned(lambda np, x: getattr(np, row).accumulate(x), data)
    assert got.dtype == expected.dtype
    numpy.testing.assert_array_equal(got, expected)
    assert len(small_tiles) == 1


@pytest.mark.parametrize("tiles", [4, 31, 32, 33, 64, 65, 1023, 1024, 1025, 2100])
def test_groups_and_spans(tiles: int, small_tiles: list[int]) -> None:
    tile = THREADS * lookback.VECTORS * 4
    for n in {tile * tiles - 5, tile * (tiles - 1) + 4, tile * tiles} if tiles < 1000 else {tile * tiles - 4}:
        data = numpy.random.default_rng(n).integers(-9, 9, n).astype(numpy.float32)
        numpy.testing.assert_array_equal(scanned(lambda np, x: np.cumsum(x), data), numpy.cumsum(data))
    if tiles >= 1000:
        assert small_tiles == [tiles]


def test_tiles_of_several_warps(monkeypatch: pytest.MonkeyPatch) -> None:
    data = sample(60_001, "float32")
    for threads, vectors in ((64, 1), (256, 4), (512, 4), (96, 3)):
        monkeypatch.setattr(lookback, "THREADS", threads)
        monkeypatch.setattr(lookback, "VECTORS", vectors)
        numpy.testing.assert_array_equal(scanned(lambda np, x: np.cumsum(x), data), numpy.cumsum(data))


@pytest.mark.parametrize("shape", [(3, 6000), (7, 3001), (2, 3, 2048), (40, 2060)])
def test_rows(shape: tuple[int, ...], small_tiles: list[int]) -> None:
    data = numpy.random.default_rng(0).integers(0, 9, shape)
    numpy.testing.assert_array_equal(scanned(lambda np, x: np.cumsum(x, axis=-1), data), numpy.cumsum(data, axis=-1))
    assert len(small_tiles) == 1


PROGRAMS: dict[str, Callable[..., Any]] = {
    "fused": lambda np, x, y: np.cumsum(x * y + 1),
    "reversed": lambda np, x, y: np.cumsum(x[::-1]),
    "strided": lambda np, x, y: np.cumsum(x[1::2]),
    "broadcast": lambda np, x, y: np.cumsum(np.broadcast_to(x[:1], x.shape)),
    "generated": lambda np, x, y: np.cumsum(np.arange(x.size) * 2),
    "gathered": lambda np, x, y: np.cumsum(x[np.arange(x.size - 1, -1, -1)]),
    "in place": lambda np, x, y: np.add.accumulate(x, out=x),
    "of a scan": lambda np, x, y: np.cumsum(np.cumsum(x) - y),
    "followed": lambda np, x, y: np.cumsum(x) - y * 2,
    "narrowed": lambda np, x, y: np.cumsum(x, dtype="int8"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, small_tiles: list[int]) -> None:
    x, y = sample(9001, "float64"), sample(9001, "float64", 1)
    expected = PROGRAMS[name](numpy, x.copy(), y)
    numpy.testing.assert_array_equal(scanned(PROGRAMS[name], x, y), expected)
    assert small_tiles


def test_the_same_bits_whatever_the_order_of_threads() -> None:
    data = numpy.random.default_rng(1).standard_normal(50_003)
    first = scanned(lambda np, x: np.cumsum(x), data, shuffled=False)
    numpy.testing.assert_allclose(first, numpy.cumsum(data), rtol=1e-10, atol=1e-10)
    for _ in range(3):
        assert scanned(lambda np, x: np.cumsum(x), data).tobytes() == first.tobytes()


def test_many_rows_and_short_ones_are_walked(small_tiles: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookback, "THREADS", 256)
    for shape in ((300, 1100), (2, 300), (3000,)):
        data = sample(int(numpy.prod(shape)), "int64").reshape(shape)
        got = scanned(lambda np, x: np.cumsum(x, axis=-1), data)
        numpy.testing.assert_array_equal(got, numpy.cumsum(data, axis=-1))
    assert not small_tiles
