"""Library calls whose programs serve all sizes: as they would be for each, and few."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from gpunumpy.core.graph.layout import Layout, c_layout
from gpunumpy.core.graph.library_calls.elements import EQUAL_VALUES
from gpunumpy.core.graph.library_calls.products import Product
from gpunumpy.core.graph.library_calls.registry import RECORDS
from gpunumpy.core.runtime.executors import implementation
from gpunumpy.core.schedule.variants import Variants
from gpunumpy.kernels.codegen.sized_program import SizedProgram

F8, I8, BOOL = (numpy.dtype(name) for name in ("f8", "i8", "?"))
RNG = numpy.random.default_rng(0)


def masks(result: int, tile: int = 4096) -> list[Any]:
    """The layouts of a call over a mask, for so many picked elements of a mask."""
    n = result + int(RNG.integers(1, 20_000))
    tiles = -(-n // tile)
    return [c_layout((result,)), c_layout((n,)), c_layout((n,)), c_layout((tiles + 1,))]


def offsets(n: int, tile: int = 4096) -> list[Any]:
    return [c_layout((-(-n // tile) + 1,)), c_layout(()), c_layout((n,))]


def product(rows: int, columns: int) -> list[Any]:
    inner = int(RNG.integers(2, 300))
    return [c_layout((rows, columns)), Layout((rows, inner), (inner + 3, 1), 5 * inner), c_layout((inner, columns))]


def by_vector(rows: int) -> list[Any]:
    inner = int(RNG.integers(2, 600))
    return [c_layout((rows,)), c_layout((rows, inner)), c_layout((inner,))]


def written(n: int) -> list[Any]:
    """The layouts of a write to so many rows of a matrix: the matrix, the values, the indices, the source location."""
    rows = int(RNG.integers(2, 20_000))
    return [c_layout((rows, 3)), c_layout((n, 3)), c_layout((n,)), c_layout(())]


CALLS: dict[str, tuple[str, Any, list[Any], Any]] = {
    "mask_elements": ("mask_elements", (4096,), [F8, F8, BOOL, I8], masks),
    "mask_positions": ("mask_positions", (4096,), [I8, BOOL, I8], lambda n: masks(n)[:1] + masks(n)[2:]),
    "mask_offsets": ("mask_offsets", (4096,), [I8, I8, BOOL], offsets),
    "scatter": ("scatter", lambda layouts: (1, EQUAL_VALUES, layouts[0].shape), [F8, F8, I8, I8], written),
    "matrix and matrix": ("matmul", Product(), [F8] * 3, lambda n: product(n, n // 2 + 2)),
    "matrix and vector": ("matmul", Product(epilogues=("maximum",)), [F8] * 3, by_vector),
    "integers": ("matmul", Product(), [I8] * 3, lambda n: product(n, 70)),
}


@pytest.mark.parametrize("name", CALLS)
def test_programs(name: str) -> None:
    call, given_options, dtypes, layouts_of = CALLS[name]
    options_of = given_options if callable(given_options) else lambda layouts: given_options
    program = implementation(RECORDS[call].implementations["cuda"].sized_program)
    given: list[Any] = []

    def at(sizes: Any) -> list[Layout]:
        rest, layouts = iter(sizes), []
        for layout in given:
            ndim = len(layout.shape)
            shape, strides = (tuple([next(rest) for _ in range(ndim)]) for _ in range(2))
            layouts.append(Layout(shape, strides, next(rest)))
        return layouts

    def make(trace: Any, sizes: Any) -> SizedProgram | None:
        layouts = at(sizes)
        made = program(options_of(layouts), layouts, dtypes)
        return None if made is None else SizedProgram(made, trace)

    programs = Variants(make)
    for n in (*range(3, 250, 9), *range(20_000, 20_009), 300, 0, 1):
        given[:] = layouts_of(n)
        sizes = [number for layout in given for number in (*layout.shape, *layout.strides, layout.offset)]
        sized, values = programs.find(sizes)
        expected = program(options_of(given), given, dtypes)
        assert (None if sized is None else sized.at(values)) == expected
    assert len(programs) <= 16, "one for numbers and one for symbols, of few patterns and few classes"


def test_a_write_of_several_launches_is_prepared_for_each_size() -> None:
    program = implementation(RECORDS["scatter"].implementations["cuda"].sized_program)
    assert program((1, "", (5, 3)), written(9), [F8, F8, I8, I8]) is None


def test_all_are_here() -> None:
    sized = {name for name, record in RECORDS.items() if record.implementations.get("cuda", record) is not record}
    sized = {name for name in sized if RECORDS[name].implementations["cuda"].sized_program}
    assert sized == {call for call, *_ in CALLS.values()}
