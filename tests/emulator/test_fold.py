"""The library calls that fold along an axis, run on the emulated machine and compared with NumPy's methods."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from gpunumpy.core.graph.layout import Layout
from gpunumpy.kernels.codegen.program import Program
from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.folds import cuda as cuda_fold

from .executor import run_program

# The row, the dtype of the array and that of the result.
FOLDS = (
    *(("subtract", d, d) for d in ("i1", "f2", "f4", "D")),
    *(("divide", "f8", "f8"), ("divide", "F", "F"), ("floor_divide", "i4", "i4"), ("power", "i8", "i8")),
    *(("left_shift", "u1", "u1"), ("not_equal", "?", "?"), ("arctan2", "f2", "f2"), ("subtract", "i4", "f8")),
)
SHAPES = (((9,), 0), ((4, 300), 0), ((70, 5), 1), ((3, 1, 4, 5), 2))


def layout_of(a: numpy.ndarray, base: numpy.ndarray) -> Layout:
    begin = (a.ctypes.data - base.ctypes.data) // base.itemsize
    return Layout(a.shape, tuple(step // a.itemsize for step in a.strides), begin)


def sample(shape: tuple[int, ...], dtype: str) -> numpy.ndarray:
    random = numpy.random.default_rng(numpy.prod(shape))
    if numpy.dtype(dtype).kind in "biu":
        return random.integers(0, 2 if dtype == "?" else 7, shape).astype(dtype)
    made = random.random(shape) + 0.5
    return (made + 1j * random.random(shape) if dtype in "FD" else made).astype(dtype)


def ways(a: numpy.ndarray) -> list[tuple[numpy.ndarray, numpy.ndarray]]:
    """Memory and arrays over it with the values of `a`: in C order, turned around, with gaps, and repeated."""
    turned = a.T.copy()
    gaps = numpy.zeros((*a.shape[:-1], 2 * a.shape[-1] + 1), a.dtype)
    gaps[..., 1::2] = a
    return [(a, a), (turned, turned.T), (gaps, gaps[..., 1::2])]


def made(make: Any, options: tuple[Any, ...], out: numpy.ndarray, x: Any, *rest: numpy.ndarray) -> Program:
    base, array = x
    layouts = [layout_of(out, out), layout_of(array, base), *(layout_of(r, r) for r in rest)]
    return make(options, layouts, [out.dtype, array.dtype, *(r.dtype for r in rest)])


def run(make: Any, options: tuple[Any, ...], out: numpy.ndarray, x: Any, *rest: numpy.ndarray) -> None:
    assert run_program(made(make, options, out, x, *rest), [out, x[0], *rest], seed=3) == 0


def check(got: numpy.ndarray, want: numpy.ndarray, ulp: int = 8) -> None:
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    with numpy.errstate(all="ignore"):
        exact = want.dtype.kind in "biu"
        numpy.testing.assert_allclose(got, want, rtol=0 if exact else ulp * numpy.finfo(want.dtype).eps)


@pytest.mark.parametrize(("row", "dtype", "result"), FOLDS)
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_folds_and_their_prefixes(shape: Any, axis: int, row: str, dtype: str, result: str) -> None:
    ufunc, a = getattr(numpy, row), sample(shape, dtype)
    axis %= a.ndim
    with numpy.errstate(all="ignore"):
        # 16-bit floats are carried in float32 in these, along every axis.
        wide = "f4" if result == "f2" and row in ("subtract", "divide") else result
        want = ufunc.reduce(a.astype(wide), axis, wide).astype(result)
        prefixes = ufunc.accumulate(a, axis, result)
    for way in ways(a):
        got = numpy.empty(want.shape, result)
        run(cuda_fold.fold, (row, None, axis), got, way)
        check(got, want)
        for out in (numpy.empty(a.shape, result), numpy.empty(a.T.shape, result).T):
            program = made(cuda_fold.accumulate, (row, None, axis), out, way)
            assert run_program(program, [out, way[0]], seed=3) == 0
            check(out, prefixes)


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_masked_folds(shape: Any, axis: int) -> None:
    a, mask = sample(shape, "f8"), numpy.random.default_rng(0).random(shape) < 0.5
    first = (slice(None),) * (axis % a.ndim) + (slice(0, 1),)
    taken = mask.copy()
    taken[first] = False
    want = numpy.take(a, 0, axis) - numpy.add.reduce(a, axis, where=taken)
    for way in ways(a):
        got = numpy.empty(want.shape)
        run(cuda_fold.fold, ("subtract", None, axis % a.ndim), got, way, mask)
        numpy.testing.assert_allclose(got, want, rtol=1e-12)


SEGMENTS = (
    ((9,), 0, [0, 4, 4, 2, 8]),
    ((4, 300), 0, [3, 0, 1]),
    ((2, 90, 3), 1, [10, 60]),
    ((3, 5000), 1, [17, 4990]),
    ((5000,), 0, [0]),
)
REDUCED = (
    *(("add", d) for d in ("i8", "f2", "f8", "F")),
    *(("multiply", "u4"), ("maximum", "f2"), ("fmax", "D"), ("logical_and", "?"), ("hypot", "f4"), ("logaddexp", "f8")),
)


@pytest.mark.parametrize(("row", "dtype"), [*REDUCED, *(fold[:2] for fold in FOLDS[::3])])
@pytest.mark.parametrize(("shape", "axis", "starts"), SEGMENTS)
def test_segments(shape: Any, axis: int, starts: list[int], row: str, dtype: str) -> None:
    a, at = sample(shape, dtype), numpy.array(starts)
    # float16's sums are compared with wider ones, and so is what NumPy rounds at every step.
    wide = {"f2": "f4", "f4": "f8", "F": "D"}.get(dtype, dtype) if row in (*WIDE, "subtract", "divide") else dtype
    carried = wide if row in WIDE or dtype == "f2" else dtype
    with numpy.errstate(all="ignore"):
        want = getattr(numpy, row).reduceat(a.astype(carried), at, axis, carried).astype(dtype)
    for way in ways(a):
        got = numpy.empty(want.shape, dtype)
        run(cuda_fold.reduceat, (row, None, axis), got, way, at)
        check(got, want, 64)


WIDE = ("add", "multiply", "hypot", "logaddexp")


def test_nothing_to_do() -> None:
    got = numpy.empty((0,))
    run(cuda_fold.reduceat, ("add", None, 0), got, (numpy.ones(3), numpy.ones(3)), numpy.zeros(0, int))
    run(cuda_fold.fold, ("subtract", None, 1), got, (numpy.ones((0, 3)), numpy.ones((0, 3))))


@pytest.mark.parametrize("dtype", ["f2", "i4", "D"])
def test_nvrtc_compiles_them(dtype: str) -> None:
    a = numpy.ones((3, 40), dtype)
    for program in (
        made(cuda_fold.fold, ("subtract", None, 1), numpy.empty(3, dtype), (a, a)),
        made(cuda_fold.fold, ("subtract", None, 1), numpy.empty(3, dtype), (a, a), numpy.ones(a.shape, bool)),
        made(cuda_fold.accumulate, ("subtract", None, 0), a.copy(), (a, a)),
        made(cuda_fold.reduceat, ("multiply", None, 1), numpy.empty((3, 1), dtype), (a, a), numpy.zeros(1, int)),
    ):
        compile_cubin(program.text, "sm_90")
