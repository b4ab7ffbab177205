"""The calls that make a matrix product, on a model of BLAS; and the kernel for integers on the emulated machine."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from numpy.lib.stride_tricks import as_strided

from gpunumpy.core.graph.layout import Layout
from gpunumpy.kernels.products import cuda_integers
from gpunumpy.nvlib.cublas import as_matrices, gemms
from tests.emulator import available
from tests.emulator.executor import run_program


def column_major(flat: Any, start: int, rows: int, columns: int, leading: int) -> Any:
    """A matrix as BLAS sees it."""
    assert leading >= max(1, rows)
    assert start + (columns - 1) * leading + rows <= flat.size, "outside the memory"
    unit = flat.itemsize
    return as_strided(flat[start:], (rows, columns), (unit, leading * unit))


def blas(out: Layout, a: Layout, b: Layout, memory: tuple[Any, Any, Any]) -> int:
    """Carry out the calls with NumPy; returns how many there were."""
    plan = gemms(*as_matrices(out, a, b))
    m, n, k = plan.sizes
    result, left, right = memory
    for first, second, third in plan.offsets:
        for z in range(plan.batch):
            at = [o + z * s for o, s in zip((first, second, third), plan.strides, strict=True)]
            by_columns, leading = plan.blas_a
            shape = (k, m) if by_columns else (m, k)
            x = column_major(right, at[0], *shape, leading)
            by_columns_too, leading = plan.blas_b
            shape = (n, k) if by_columns_too else (k, n)
            y = column_major(left, at[1], *shape, leading)
            c = column_major(result, at[2], m, n, m)
            c[...] = (x.T if by_columns else x) @ (y.T if by_columns_too else y)
    return len(plan.offsets)


def layout_of(view: Any, base: Any) -> Layout:
    """Where the elements of a view lie, in elements of its base."""
    address = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return Layout(view.shape, tuple(s // view.itemsize for s in view.strides), address // view.itemsize)


def plain(array: Any) -> Any:
    return array


def by_columns(array: Any) -> Any:
    """The same values, the last two axes swapped in memory."""
    return array.swapaxes(-1, -2).copy().swapaxes(-1, -2) if array.ndim > 1 else array


def padded(array: Any) -> Any:
    """The same values with room between the rows."""
    room = numpy.zeros((*array.shape[:-1], array.shape[-1] + 3), array.dtype)
    room[..., : array.shape[-1]] = array
    return room[..., : array.shape[-1]]


def spaced(array: Any) -> Any:
    """The same values with room between the matrices, or between the elements of a vector."""
    room = numpy.zeros(
        (*array.shape[:-1], array.shape[-1], 2) if array.ndim == 1 else (*array.shape[:-2], 2, *array.shape[-2:])
    )
    room = room.astype(array.dtype)
    if array.ndim == 1:
        room[:, 0] = array
        return room[:, 0]
    room[..., 0, :, :] = array
    return room[..., 0, :, :]


WAYS = (plain, by_columns, padded, spaced)
SHAPES = (
    *(((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((1, 3), (3, 1)), ((2, 1), (1, 4)), ((1, 1), (1, 1))),
    *(((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((6, 1, 2, 3), (5, 3, 4)), ((5, 2, 3), (3,))),
    *(((3,), (5, 3, 4)), ((6, 5, 2, 3), (6, 5, 3, 4)), ((6, 5, 2, 3), (6, 1, 3, 4)), ((5, 1, 3), (5, 3, 1))),
)


def memory_of(array: Any) -> Any:
    """All of the memory below an array, flat."""
    while array.base is not None:
        array = array.base
    return array.ravel()


@pytest.mark.parametrize("one", WAYS)
@pytest.mark.parametrize("two", WAYS)
def test_the_calls_make_the_product(one: Any, two: Any) -> None:
    rng = numpy.random.default_rng(0)
    for left, right in SHAPES:
        a = one(rng.integers(-5, 5, left).astype("f8"))
        b = two(rng.integers(-5, 5, right).astype("f8"))
        expected = a @ b
        out = numpy.full(expected.shape, numpy.nan)
        held = [memory_of(x) for x in (a, b)]
        blas(layout_of(out, out), layout_of(a, held[0]), layout_of(b, held[1]), (out.reshape(-1), *held))
        numpy.testing.assert_array_equal(out, expected, err_msg=f"{left} {right}")


def test_stacks_take_few_calls() -> None:
    def count(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, int]:
        a, b = numpy.zeros(left), numpy.zeros(right)
        out = numpy.zeros((a @ b).shape)
        plan = gemms(*as_matrices(*(layout_of(x, x) for x in (out, a, b))))
        return len(plan.offsets), plan.batch

    assert count((7, 6, 5, 4), (4, 3)) == (1, 1)
    assert count((7, 6, 5, 4), (7, 6, 4, 3)) == (1, 42)
    assert count((5, 4), (7, 6, 4, 3)) == (1, 42)
    assert count((7, 1, 5, 4), (1, 6, 4, 3)) == (7, 6)


@pytest.mark.skipif(not available(), reason="the emulator needs g++")
@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8"])
def test_the_kernel_for_integers(dtype: str) -> None:
    rng = numpy.random.default_rng(1)
    # The last one by large tiles.
    for left, right in (((20, 35), (35, 17)), ((3, 1, 5, 4), (2, 4, 18)), ((16, 1, 70, 21), (2, 21, 140))):
        a, b = (rng.integers(0, 200, shape).astype(dtype) for shape in (left, right))
        for x, y in ((a, b), (by_columns(a), b[..., ::-1])):
            expected = x @ y
            out = numpy.zeros_like(expected, order="C")
            held = [memory_of(x), memory_of(y)]
            layouts = [layout_of(out, out), layout_of(x, held[0]), layout_of(y, held[1])]
            program = cuda_integers.matmul(layouts, [out.dtype] * 3)
            run_program(program, [out, *held])
            numpy.testing.assert_array_equal(out, expected)
