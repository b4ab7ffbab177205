"""The library calls of masks and indexed writes, run on the emulated machine and compared with NumPy to the bit."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from gpunumpy.core.graph.layout import Layout
from gpunumpy.core.graph.library_calls.elements import EQUAL_VALUES
from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.cuda.program_builder import ProgramBuilder
from gpunumpy.kernels.indexing import cuda_masks, cuda_scatter

from .executor import run_program

TILE = 4096
SOURCE_LOCATION = 7


def layout_of(a: numpy.ndarray) -> Layout:
    return Layout(a.shape, tuple(step // a.itemsize for step in a.strides), 0)


def run(make: Any, options: tuple[Any, ...], *arrays: numpy.ndarray) -> int:
    """Run the program over its result and arguments; a scatter also gets its source location."""
    layouts, dtypes = [layout_of(a) for a in arrays], [a.dtype for a in arrays]
    extra = () if make is not cuda_scatter.scatter else (SOURCE_LOCATION,)
    program = make(options, [*layouts, *(Layout((), (), 0) for _ in extra)], dtypes)
    return run_program(program, [*arrays, *extra], seed=3)


def counted(mask: numpy.ndarray, tile: int) -> numpy.ndarray:
    """The offsets of a mask."""
    offsets, count = numpy.empty(-(-mask.size // tile) + 1, numpy.int64), numpy.empty((), numpy.int64)
    run(cuda_masks.mask_offsets, (tile,), offsets, count, mask)
    numpy.testing.assert_array_equal(offsets, [mask[: k * tile].sum() for k in range(offsets.size)])
    assert count == mask.sum()
    return offsets


@pytest.mark.parametrize("n", [0, 1, 33, TILE, 2 * TILE + 1])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_masks(n: int, share: float) -> None:
    random = numpy.random.default_rng(n)
    mask = random.random(n) < share
    offsets = counted(mask, TILE)
    total = offsets[-1]
    positions = numpy.empty(total, numpy.int64)
    run(cuda_masks.mask_positions, (TILE,), positions, mask, offsets)
    numpy.testing.assert_array_equal(positions, numpy.flatnonzero(mask))
    for dtype in ("?", "e", "f", "d", "D"):
        values = random.random(n).astype(dtype)
        picked = numpy.empty(total, dtype)
        run(cuda_masks.mask_elements, (TILE,), picked, values, mask, offsets)
        numpy.testing.assert_array_equal(picked, values[mask])


@pytest.mark.parametrize("tiles", [8, 9, 256 * 8, 256 * 8 + 1, 3 * 256 * 8 - 1])
def test_masks_of_many_tiles(tiles: int) -> None:
    """A thread adds up the counts of eight tiles at a time. Warps of eight take 32 elements each at a time."""
    tile = 256
    mask = numpy.random.default_rng(0).random(tiles * tile - 5) < 0.1
    offsets = counted(mask, tile)
    positions = numpy.empty(offsets[-1], numpy.int64)
    run(cuda_masks.mask_positions, (tile,), positions, mask, offsets)
    numpy.testing.assert_array_equal(positions, numpy.flatnonzero(mask))


# The shape written, the shapes of the index arrays, the shape of the value; many duplicates in all.
WRITES = (
    ((5,), ((7,),), (7,)),
    ((5, 3), ((4, 1), (1, 6)), ()),
    ((2, 3, 4), ((500,), ()), (1, 4)),
    ((300,), ((9000,),), (9000,)),
    ((5, 2), ((3000,),), (3000, 2)),
    ((3, 40), ((300,),), (40,)),
    ((70000, 1), ((5000,),), (1, 1)),
)


@pytest.mark.parametrize(
    ("row", "dtype"), [("", "f"), ("", "D"), ("add", "d"), ("subtract", "D"), ("add", "e"), ("bitwise_or", "i4")]
)
@pytest.mark.parametrize(("shape", "indices", "given"), WRITES)
def test_indexed_writes(shape: Any, indices: Any, given: Any, row: str, dtype: str) -> None:
    random = numpy.random.default_rng(1)
    where = [random.integers(-n, n, picked) for n, picked in zip(shape, indices, strict=False)]
    where = [numpy.asarray(index, numpy.int64) for index in where]
    value, want = (numpy.asarray(random.random(s) * 20).astype(dtype) for s in (given, shape))
    got = want.copy()
    if row:
        getattr(numpy, row).at(want, tuple(where), value)
    else:
        want[tuple(where)] = value
    assert run(cuda_scatter.scatter, (len(where), row, shape), got, value, *where) == 0
    assert got.tobytes() == want.tobytes()


def test_duplicates_that_write_the_same() -> None:
    """In any order, by one launch."""
    random = numpy.random.default_rng(3)
    where, want = random.integers(-50, 50, 300), random.random((50, 3))
    value = random.random((50, 3))[where]
    got = want.copy()
    want[where] = value
    program = cuda_scatter.scatter(
        (1, EQUAL_VALUES, want.shape),
        [layout_of(a) for a in (got, value, where)],
        [got.dtype, value.dtype, where.dtype],
    )
    assert (len(program.launches), program.scratch) == (1, ())
    assert run_program(program, [got, value, where, SOURCE_LOCATION], seed=3) == 0
    numpy.testing.assert_array_equal(got, want)
    where[7] = 50
    assert run_program(program, [got, value, where, SOURCE_LOCATION], seed=4) == SOURCE_LOCATION


UNORDERED = (
    *(("add", d) for d in ("?", "u1", "i2", "i4", "u8")),
    *(("subtract", d) for d in ("i1", "u2", "i8")),
    *(("multiply", d) for d in ("?", "i2", "i4", "u8")),
    *((row, d) for row in ("bitwise_and", "bitwise_or", "bitwise_xor") for d in ("?", "u1", "i4", "i8")),
    *((row, d) for row in ("maximum", "fmin") for d in ("?", "i1", "i2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")),
    *(("minimum", "f8"), ("fmax", "f4"), ("logical_or", "?"), ("logical_and", "?"), ("logical_xor", "?")),
)


@pytest.mark.parametrize(("row", "dtype"), UNORDERED)
def test_writes_in_any_order(row: str, dtype: str) -> None:
    random = numpy.random.default_rng(2)
    where, ufunc = random.integers(-61, 61, (400,)), getattr(numpy, row)
    value, want = random.integers(-9, 9, (400, 3)).astype(dtype), random.integers(-9, 9, (61, 3)).astype(dtype)
    if want.dtype.kind == "f":
        for numbers, step in ((value, 7), (want, 5)):
            numbers.flat[::step] = numpy.nan
            numbers.flat[1::step] = [0.0, -0.0, numpy.inf, -numpy.inf][step % 4]
    got = want.copy()
    program = cuda_scatter.scatter(
        (1, row, want.shape), [layout_of(a) for a in (got, value, where)], [got.dtype, value.dtype, where.dtype]
    )
    assert [launch.entry for launch in program.launches] == ["write"]
    results = []
    for seed in (3, 4):
        got = want.copy()
        assert run_program(program, [got, value, where, SOURCE_LOCATION], seed=seed) == 0
        results.append(got.tobytes())
    assert results[0] == results[1]
    with numpy.errstate(invalid="ignore"):
        ufunc.at(want, where, value)
    numpy.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("row", "dtype"),
    [
        ("add", "f4"),
        ("multiply", "f8"),
        ("maximum", "D"),
        ("hypot", "f4"),
        ("gcd", "i1"),
        ("floor_divide", "i4"),
        ("left_shift", "i8"),
    ],
)
def test_writes_whose_order_shows_are_sorted(row: str, dtype: str) -> None:
    a, where = numpy.ones(3, dtype), numpy.array([0, 0])
    program = cuda_scatter.scatter(
        (1, row, (3,)), [layout_of(x) for x in (a, a[:2], where)], [a.dtype] * 2 + [where.dtype]
    )
    assert program.launches[0].entry == "find"


@pytest.mark.parametrize(("row", "dtype"), [("", "d"), ("add", "d"), ("add", "i8")])
def test_out_of_bounds(row: str, dtype: str) -> None:
    got = numpy.zeros(4, dtype)
    where = numpy.array([1, 4, -5, -1])
    assert run(cuda_scatter.scatter, (1, row, (4,)), got, numpy.ones((), dtype), where) == SOURCE_LOCATION
    assert got.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("blocks", [1, 256, 700])
def test_counts_of_digits_become_places(blocks: int) -> None:
    builder = ProgramBuilder()
    n = builder.param(blocks)
    builder.add_entry("total", f"  sum_digits(counts, totals, {n});", 256)
    builder.add_entry("sum", f"  sum_counts(counts, totals, {n});", 256)
    program = builder.build(["Key* counts", "Key* totals"], head=f"typedef unsigned Key;\n{cuda_scatter.SORT_PAIRS}")
    counts = numpy.random.default_rng(0).integers(0, 99, 256 * blocks).astype(numpy.uint32)
    want = numpy.cumsum(counts) - counts
    run_program(program, [counts, numpy.zeros(256, numpy.uint32)], seed=2)
    numpy.testing.assert_array_equal(counts, want)


def test_a_unary_row() -> None:
    got = numpy.arange(4.0)
    run(cuda_scatter.scatter, (1, "negative", (4,)), got, numpy.zeros(()), numpy.array([1, 1, 2]))
    assert got.tolist() == [0, 1, -2, 3]


def test_nvrtc_compiles_them() -> None:
    a, index, mask = numpy.zeros((4, 2), numpy.float16), numpy.zeros(3, numpy.int64), numpy.zeros(9, bool)
    cases: list[tuple[Any, ...]] = [
        (cuda_masks.mask_elements, (TILE,), (numpy.zeros(2, "D"), numpy.zeros(9, "D"), mask, numpy.zeros(2, "i8"))),
        (cuda_scatter.scatter, (1, "", a.shape), (a, numpy.float16(1), index, index)),
        (cuda_scatter.scatter, (1, "add", a.shape), (a, numpy.float32(1), index, index)),
        *(
            (cuda_scatter.scatter, (1, row, (4,)), (numpy.zeros(4, dtype), numpy.ones((), dtype), index, index))
            for row in ("maximum", "fmin", "multiply", "add")
            for dtype in ("u1", "u2", "i4", "f2", "f8")
        ),
    ]
    for make, options, arrays in cases:
        program = make(options, [layout_of(numpy.asarray(x)) for x in arrays], [x.dtype for x in arrays])
        compile_cubin(program.text, "sm_90")
