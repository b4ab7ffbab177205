"""Generated kernels over more than 2^31 elements: 32-bit arithmetic on indices would show.

Arrays are mostly address space that nothing touches: a few elements are not zero, and only blocks that have to do with
those run.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy
import pytest

from gpunumpy.core.graph.layout import Layout, c_strides
from gpunumpy.kernels.codegen.generate import generate
from gpunumpy.kernels.codegen.program import Program
from gpunumpy.kernels.folds import cuda as cuda_fold
from gpunumpy.kernels.histogram import cuda as cuda_histogram
from gpunumpy.kernels.indexing import cuda_masks, cuda_scatter
from gpunumpy.kernels.products import cuda_integers
from gpunumpy.kernels.search import cuda as cuda_search

from ..support.kernel_builder import Builder
from .build import compile_text
from .executor import scalar_words
from .machine import launch

FAR = 2**31
ROWS, COLS = 2**16 + 3, 2**15
N = ROWS * COLS
PLACES = (1, FAR + 4099, N - 1)
TURNS = (256, 2048)  # the elements of a block that takes its turn again
PROCESSORS = 132
INT8, INT64, BOOL = (numpy.dtype(name) for name in ("int8", "int64", "bool"))


def sparse(shape: int | tuple[int, ...], dtype: Any = INT8) -> Any:
    """Zeros that take no memory until they are touched."""
    dtype, size = numpy.dtype(dtype), int(numpy.prod(shape, dtype=numpy.int64))
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)  # named since Python 3.13
    memory = mmap.mmap(-1, max(size, 1) * dtype.itemsize, flags=flags)
    return numpy.frombuffer(memory, dtype)[:size].reshape(shape)


def dotted(shape: int | tuple[int, ...] = N, dtype: Any = INT8) -> Any:
    """Zeros but for 2, 3 and 4 at `PLACES`."""
    x = sparse(shape, dtype)
    x.reshape(-1)[list(PLACES)] = [2, 3, 4]
    return x


def near(grid: int, places: Iterable[int] = PLACES, count: int = N) -> list[int]:
    """The blocks that have to do with the places among `count`: taken in order, backwards, or by turns."""
    found: set[int] = set()
    for place in places:
        block = place * grid // count
        found.update((block - 1, block, block + 1, grid - 1 - block, grid - block))
        found.update(place // turn % grid for turn in TURNS)
    return sorted(block for block in found if 0 <= block < grid)


def run(program: Program, arguments: Sequence[Any], places: Iterable[int] = PLACES, count: int = N) -> None:
    """Run the blocks of every launch that have to do with the places."""
    module = compile_text(program.text, tuple(dict.fromkeys(one.entry for one in program.launches)))
    scratch = [sparse(block.nbytes, numpy.uint8) for block in program.scratch]
    flag = numpy.zeros(1, numpy.int32)
    words: list[int] = []
    for value in (*arguments, *scratch, *((flag,) if program.flag else ())):
        words.extend((value.ctypes.data,) if isinstance(value, numpy.ndarray) else scalar_words(value))
    for one in program.launches:
        blocks = near(one.grid[0], places, count)
        for wanted, block in zip(program.scratch, scratch):
            if wanted.zeroed:  # the blocks that do not run have been there already
                block.view(numpy.uint32)[:] = one.grid[0] - len(blocks)
        launch(module, one.entry, one.grid, one.block, [*words, *program.params], shared=one.shared, blocks=blocks)
    assert not flag[0]


def run_kernel(b: Builder, **options: Any) -> None:
    """Run what was built."""
    kernel = b.kernel(**options)
    run(generate(kernel, PROCESSORS), b.values)


def values(x: Any, places: Iterable[int] = PLACES) -> list[Any]:
    """The elements at places of the flattened array."""
    return [x.reshape(-1)[place].item() for place in places]


# Generated from kernels


def test_elementwise() -> None:
    x, y, out = dotted(), dotted(), sparse(N)
    b = Builder((N,))
    b.store(b.apply("add", b.load(x), b.load(y)), out)
    run_kernel(b)
    assert values(out) == [4, 6, 8]


def test_backwards_and_in_steps() -> None:
    x, back, third = dotted(), sparse(N), sparse(-(-N // 3))
    b = Builder((N,))
    b.store(b.load(x, x[::-1]), back)
    run(generate(b.kernel(), PROCESSORS), b.values, [N - 1 - place for place in PLACES])
    assert values(back[::-1]) == [2, 3, 4]
    x[3 * (N // 3 - 1)] = 5
    b = Builder(third.shape)
    b.store(b.load(x, x[::3]), third)
    run(generate(b.kernel(), PROCESSORS), b.values, [N // 3 - 1], len(third))
    assert third[N // 3 - 1] == 5


def test_rows_and_planes() -> None:
    x, row, out = dotted((ROWS, COLS)), numpy.full(COLS, 1, INT8), sparse((ROWS, COLS))
    b = Builder((ROWS, COLS))
    b.store(b.apply("add", b.load(x), b.load(row)), out)
    run_kernel(b)
    assert values(out) == [3, 4, 5]
    odd = (FAR // 6 + 8, 3, 2)  # with short rows
    x, out = sparse(odd), sparse((3, odd[0], 2))
    x[-1] = [[1, 2], [3, 4], [5, 6]]
    b = Builder(odd)
    b.store(b.load(x), out, out.transpose(1, 0, 2))
    run(generate(b.kernel(), PROCESSORS), b.values, [x.size // 3 - 1, 2 * x.size // 3 - 1, x.size - 1], x.size)
    assert out[:, -1].tolist() == [[1, 2], [3, 4], [5, 6]]


def test_a_transpose() -> None:
    x, out = dotted((ROWS, COLS)), sparse((COLS, ROWS))
    b = Builder((COLS, ROWS))
    b.store(b.load(x, x.T), out)
    # The place of an element in the result says which block has it, give or take a row of squares.
    corners = [(place % COLS) * ROWS + place // COLS for place in PLACES[:1] + PLACES[-1:]]
    run(generate(b.kernel(), PROCESSORS), b.values, corners)
    assert values(out, corners[-1:]) == [4]


def test_positions() -> None:
    out = sparse(N, INT64)
    b = Builder((N,))
    b.store(b.index(7, (3,)), out)
    run_kernel(b)
    assert values(out) == [7 + 3 * place for place in PLACES]


def test_elements_picked_by_number() -> None:
    x, out = dotted(), sparse(N)
    b = Builder((N,))
    b.store(b.gather(x, (b.index(-1, (-1,)),), 1), out)
    run(generate(b.kernel(), PROCESSORS), b.values, [N - 1 - place for place in PLACES])
    assert values(out[::-1]) == [2, 3, 4]
    table, out = dotted((ROWS, COLS)), numpy.zeros(3, INT8)
    rows, columns = numpy.divmod(numpy.array(PLACES), COLS)
    b = Builder((3,))
    b.store(b.gather(table, (b.load(rows), b.load(columns)), 1), out)
    run_kernel(b)
    assert out.tolist() == [2, 3, 4]


def test_an_update() -> None:
    x, out = dotted(), sparse(N)
    b = Builder((N,))
    b.store(b.load(x), out)
    outside = b.body()
    b.store(b.apply("add", b.load(x), b.scalar(1, INT8)), out)
    run_kernel(b, region=((FAR + 4099, N - 1),), outside=outside)
    assert values(out) == [2, 4, 4]


def test_one_number_of_all() -> None:
    x = dotted()
    b = Builder((N,), 1)
    total, best, count = numpy.zeros((), INT64), numpy.zeros((), INT64), numpy.zeros((), INT64)
    loaded = b.load(x)
    b.store(b.reduce("add", b.cast(loaded, INT64)), total)
    b.store(b.reduce("argmax", loaded, result=INT64), best)
    b.store(b.reduce("count_nonzero", loaded, result=INT64), count)
    run_kernel(b)
    assert (total, best, count) == (9, N - 1, 3)


@pytest.mark.parametrize("shape", [(ROWS, COLS), (FAR // 8 + 5, 8)], ids=["long rows", "short rows"])
def test_a_number_of_each_row(shape: tuple[int, int]) -> None:
    x, total = sparse(shape), sparse(shape[0], INT64)
    x[-1] = 1
    b = Builder(shape, 1)
    b.store(b.reduce("add", b.cast(b.load(x), INT64)), total)
    run(generate(b.kernel(), 4), b.values, [x.size - 1], x.size)
    assert total[-1] == shape[1]


def test_a_number_of_each_column() -> None:
    x, total = sparse((9, FAR // 8)), sparse(FAR // 8, INT64)
    x[:, -1] = 1
    b = Builder((x.shape[1], x.shape[0]), 1)
    b.store(b.reduce("add", b.cast(b.load(x, x.T), INT64)), total)
    run(generate(b.kernel(), 4), b.values, [x.size - 1], x.size)
    assert total[-1] == 9


def test_rows_that_are_held() -> None:
    x = sparse((FAR // 64 + 9, 64))
    x[-1] = numpy.arange(64)
    out = sparse(x.shape)
    b = Builder(x.shape, 1)
    loaded = b.load(x)
    b.store(b.apply("subtract", loaded, b.reduce("maximum", loaded)), out)
    run(generate(b.kernel(), 4), b.values, [x.size - 1], x.size)
    assert out[-1].tolist() == list(range(-63, 1))


def test_a_scan() -> None:
    x, out = dotted(), sparse(N)
    b = Builder((N,), 1)
    b.store(b.scan("add", b.load(x)), out)
    run_kernel(b)
    assert values(out) == [2, 5, 9]
    assert values(out, [place - 1 for place in PLACES]) == [0, 2, 5]


@pytest.mark.parametrize("shape", [(2**31 - 2**22 - 1,), (2**27 - 2**18 - 1, 16), (2**16 - 2**7 - 1, 2**15)], ids=str)
def test_the_most_that_32_bits_count(shape: tuple[int, ...]) -> None:
    """The last tile of threads goes beyond the last element, and its numbers must fit too."""
    x, out = sparse(shape), sparse(shape)
    x.reshape(-1)[-40:] = range(40)
    b = Builder(shape)
    b.store(b.apply("add", b.load(x), b.scalar(1, INT8)), out)
    program = generate(b.kernel(), PROCESSORS)
    assert "typedef int Int;" in program.text
    run(program, b.values, [x.size - 40, x.size - 1], x.size)
    assert out.reshape(-1)[-40:].tolist() == list(range(1, 41))
    total = numpy.zeros((), INT64)
    b = Builder(shape, len(shape))
    b.store(b.reduce("add", b.cast(b.load(x), INT64)), total)
    run(generate(b.kernel(), PROCESSORS), b.values, [x.size - 40, x.size - 1], x.size)
    assert total == 780


# Library calls


def dense(*shape: int) -> Layout:
    return Layout(shape, c_strides(shape), 0)


def test_what_a_mask_picks() -> None:
    mask, tiles = dotted(N, BOOL), -(-N // 4096)
    offsets, picked, kept = sparse(tiles + 1, INT64), numpy.zeros(3, INT64), numpy.zeros(3, INT8)
    count, layouts = numpy.zeros((), INT64), [dense(tiles + 1), dense(), dense(N)]
    run(cuda_masks.mask_offsets((4096,), layouts, (INT64, INT64, BOOL)), (offsets, count, mask))
    assert (offsets[-1], count) == (3, 3)
    last = [dense(N), dense(tiles + 1)]
    run(cuda_masks.mask_positions((4096,), [dense(3), *last], (INT64, BOOL, INT64)), (picked, mask, offsets))
    assert picked.tolist() == list(PLACES)
    program = cuda_masks.mask_elements((4096,), [dense(3), dense(N), *last], (INT8, INT8, BOOL, INT64))
    run(program, (kept, dotted(), mask, offsets))
    assert kept.tolist() == [2, 3, 4]


def test_a_fold_and_its_steps() -> None:
    shape = (FAR // 8 + 5, 8)
    x, out, steps = sparse(shape), sparse(shape[0]), sparse(shape)
    x[-1] = range(8)
    layouts = [dense(shape[0]), dense(*shape)]
    run(cuda_fold.fold(("subtract", "", 1), layouts, (INT8, INT8)), (out, x), [shape[0] - 1], shape[0])
    assert out[-1] == -28
    program = cuda_fold.accumulate(("subtract", "", 1), [dense(*shape)] * 2, (INT8, INT8))
    run(program, (steps, x), [shape[0] - 1], shape[0])
    assert steps[-1].tolist() == [0, -1, -3, -6, -10, -15, -21, -28]


def test_folds_of_segments() -> None:
    x, out, starts = dotted(), numpy.zeros(2, INT64), numpy.array([FAR + 4000, N - 1])
    x[FAR + 4100] = 1
    program = cuda_fold.reduceat(("add", INT64, 0), [dense(2), dense(N), dense(2)], (INT64, INT8, INT64))
    run(program, (out, x, starts), [0, 1], 2)
    assert out.tolist() == [4, 4]


@pytest.mark.parametrize("row", ["", "add"])
def test_writes_by_number(row: str) -> None:
    x, given, index = dotted(), numpy.array([5, 6, 7], INT8), numpy.array(PLACES)
    layouts = [dense(N), dense(3), dense(3), dense()]
    program = cuda_scatter.scatter((1, row, (N,)), layouts, (INT8, INT8, INT64, INT64))
    run(program, (x, given, index, 1), [0], 3)
    assert values(x) == ([7, 9, 11] if row else [5, 6, 7])


def test_a_product_of_matrices() -> None:
    rows = N // 16
    a, eye, out = dotted((rows, 16)), numpy.eye(16, dtype=INT8)[::-1].copy(), sparse((rows, 16))
    program = cuda_integers.matmul([dense(rows, 16), dense(rows, 16), dense(16, 16)], (INT8, INT8, INT8))
    run(program, (out, a, eye))
    assert values(out, [place // 16 * 16 + 15 - place % 16 for place in PLACES]) == [2, 3, 4]


def test_counts_by_value() -> None:
    x, counts = dotted(), numpy.zeros(5, INT64)
    run(cuda_histogram.bincount((), [dense(5), dense(N)], (INT64, INT8)), (counts, x))
    assert counts[1:].tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_search(side: str) -> None:
    x, out = sparse(N), numpy.zeros(3, INT64)
    x[FAR + 5 :] = 1
    program = cuda_search.searchsorted((side,), [dense(3), dense(N), dense(3)], (INT64, INT8, INT8))
    run(program, (out, x, numpy.array([0, 1, 2], INT8)), [0], 3)
    assert out.tolist() == ([0, FAR + 5, N] if side == "left" else [FAR + 5, N, N])
