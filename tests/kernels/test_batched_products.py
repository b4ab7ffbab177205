"""Products that are one call over addresses of matrices, against a model of the library that uses host memory."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy
import pytest
from numpy.lib.stride_tricks import as_strided

import gpunumpy
from gpunumpy.core.dtypes import FLOAT64, bfloat16
from gpunumpy.core.graph.layout import Layout, c_layout
from gpunumpy.core.graph.library_calls.products import Product
from gpunumpy.core.graph.library_calls.record import Batch
from gpunumpy.core.runtime.explain import step_name
from gpunumpy.core.schedule.batch import MIN_BATCH
from gpunumpy.core.schedule.steps import RunLibraryCall
from gpunumpy.kernels.products import cuda as cuda_calls_blas
from gpunumpy.kernels.products import cuda_batch
from gpunumpy.nvlib import cublas
from tests.core.fusion.counting import kernels

DTYPES = {0: "f4", 1: "f8", 2: "f2", 4: "c8", 5: "c16", 14: bfloat16}
Operation = IntEnum("Operation", {"N": 0, "T": 1, "C": 2})
ComputeType = IntEnum("ComputeType", {"COMPUTE_32F": 68, "COMPUTE_64F": 70, "COMPUTE_32F_FAST_TF32": 77})


def at(address: int, dtype: Any, elements: int) -> Any:
    dtype = numpy.dtype(dtype)
    return numpy.frombuffer((ctypes.c_char * (elements * dtype.itemsize)).from_address(address), dtype)


class Model:
    """The function of `nvmath.bindings.cublas`, and what it was asked for."""

    Operation, ComputeType = Operation, ComputeType

    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []

    def gemm_batched_ex_64(self, handle: int, first: int, second: int, m: int, n: int, k: int, *rest: Any) -> None:
        alpha, a, code, lda, b, same, ldb, beta, c, made, ldc, count, compute, algorithm = rest
        assert (handle, same, algorithm) == (1, code, -1)
        self.calls.append((count, compute))
        scalar = {14: "f4", 2: "f4"}.get(code, DTYPES[code])
        assert (at(alpha, scalar, 1)[0], at(beta, scalar, 1)[0]) == (1, 0)
        for x, y, z in zip(*(at(where, "u8", count) for where in (a, b, c)), strict=True):
            left, right = self._taken(x, code, m, k, lda, first), self._taken(y, code, k, n, ldb, second)
            self._matrix(z, made, m, n, ldc)[...] = left.astype(scalar) @ right.astype(scalar)

    def _matrix(self, address: int, code: int, rows: int, columns: int, leading: int) -> Any:
        assert address % 16 == 0
        assert leading >= rows
        unit = numpy.dtype(DTYPES[code]).itemsize
        flat = at(int(address), DTYPES[code], (columns - 1) * leading + rows)
        return as_strided(flat, (rows, columns), (unit, leading * unit))

    def _taken(self, address: int, code: int, rows: int, columns: int, leading: int, operation: int) -> Any:
        if operation == Operation.N:
            return self._matrix(address, code, rows, columns, leading)
        x = self._matrix(address, code, columns, rows, leading).T
        return x.conj() if operation == Operation.C else x


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    made = Model()
    monkeypatch.setattr(cublas, "handle", lambda device, library: (made, 1))
    monkeypatch.setattr(gpunumpy.Device, "activate", lambda device: None)
    return made


def layout_of(x: Any, base: Any) -> Layout:
    start = x.__array_interface__["data"][0] - base.ctypes.data
    return Layout(x.shape, tuple(s // x.itemsize for s in x.strides), start // x.itemsize)


def aligned(shape: tuple[int, ...], dtype: Any) -> Any:
    """Memory that begins at a multiple of 64 bytes."""
    raw = numpy.empty(int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize + 64, "u1")
    start = -raw.ctypes.data % 64
    return raw[start : start + raw.size - 64].view(dtype).reshape(shape)


VIEWS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda x: x,
    "by columns": lambda x: x.T,
    "a part": lambda x: x[:, 16:272],
}


CASES = [("f4", left, right) for left in VIEWS for right in VIEWS]
CASES += [(dtype, "by columns", "a part") for dtype in ("f2", "bfloat16", "f8", "c8", "c16")]


@pytest.mark.parametrize(("dtype", "left", "right"), CASES)
def test_calls(model: Model, dtype: Any, left: str, right: str) -> None:
    rng, count, dtype = numpy.random.default_rng(0), 3, bfloat16 if dtype == "bfloat16" else numpy.dtype(dtype)
    device = gpunumpy.Device("cpu")
    product = Product(conjugate=(dtype.kind == "c" and left == "by columns", False))
    layouts, pointers, wanted, results = [], [], [], []
    bases, shape = [], (300, 300)
    for _ in range(count):
        for view in (VIEWS[left], VIEWS[right]):
            base = aligned(shape, dtype)
            base[...] = rng.integers(-3, 4, shape) + (1j * rng.integers(-3, 4, shape) if base.dtype.kind == "c" else 0)
            bases.append((base, view(base)))
    for k in range(count):
        (_, a), (_, b) = bases[2 * k : 2 * k + 2]
        a = a.conj() if product.conjugate[0] else a
        rows, columns = min(a.shape[1], b.shape[0]), b.shape[1]
        a, b = a[:, :rows], b[:rows]
        wanted.append(a.astype("c16" if a.dtype.kind == "c" else "f8") @ b)
        results.append(aligned((300, columns), dtype))
    for base, x in bases:
        pointers.append(base.ctypes.data)
        layouts.append(layout_of(x, base))
    inner = min(layouts[0].shape[1], layouts[1].shape[0])
    for k in range(count):
        a, b = layouts[2 * k : 2 * k + 2]
        layouts[2 * k : 2 * k + 2] = a._replace(shape=(300, inner)), b._replace(shape=(inner, b.shape[1]))
    options = Batch(count, product)
    kinds = [dtype] * (3 * count)
    whole = [*(c_layout(x.shape) for x in results), *layouts]
    cuda_batch.matmul_batch(device, options, whole, kinds)([*(x.ctypes.data for x in results), *pointers])
    assert [count for count, _ in model.calls] == [3]
    for one, other in zip(results, wanted, strict=True):
        numpy.testing.assert_array_equal(one, other.astype(dtype))


def test_precision_and_ways_of_lying(model: Model) -> None:
    """A call for those that lie alike, in the precision that is asked for where the library has it."""
    device = gpunumpy.Device("cpu")
    arrays = [aligned((256, 256), "f4") for _ in range(18)]
    for k, x in enumerate(arrays):
        x[...] = numpy.random.default_rng(k).integers(-3, 4, x.shape)
    results, operands = arrays[:6], arrays[6:]
    ways = [c_layout((256, 256)), Layout((256, 256), (1, 256), 0)]
    layouts = [c_layout((256, 256))] * 6 + [ways[k in (2, 3)] for k in range(12)]
    for precision, kind in (("highest", ComputeType.COMPUTE_32F), ("high", ComputeType.COMPUTE_32F_FAST_TF32)):
        model.calls.clear()
        options = Batch(6, Product(precision))
        run = cuda_batch.matmul_batch(device, options, layouts, [numpy.dtype("f4")] * 18)
        run([x.ctypes.data for x in arrays])
        assert sorted(model.calls) == [(1, kind), (5, kind)]
        for k, found in enumerate(results):
            a, b = operands[2 * k : 2 * k + 2]
            numpy.testing.assert_array_equal(found, a.T @ b.T if k == 1 else a @ b)


def test_matrices_that_are_not_aligned_are_multiplied_alone(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    alone: list[Any] = []
    monkeypatch.setattr(cuda_batch, "matmul", lambda *args: alone.append)
    layouts = [c_layout((300, 300))] * 11 + [Layout((300, 300), (300, 1), 1)]
    run = cuda_batch.matmul_batch(gpunumpy.Device("cpu"), Batch(4, Product()), layouts, [bfloat16] * 12)
    run([1 << 20] * 12)
    assert alone[:3] == [[1 << 20] * 3] * 3
    assert alone[3] == [1 << 20, 1 << 20, (1 << 20) + 2]
    assert not model.calls


def test_which_are_batches() -> None:
    def names(shape: tuple[int, int], dtype: Any, count: int = MIN_BATCH, after: Any = None) -> list[str]:
        def work() -> Any:
            made = [a @ a.T for a in arrays]
            return made if after is None else [after(x) for x in made]

        with gpunumpy.Device("cpu"):
            arrays = [gpunumpy.asarray(numpy.ones(shape, dtype)) for _ in range(count)]
            return [step_name(step) for step in kernels(work) if isinstance(step, RunLibraryCall)]

    assert names((300, 300), "f4") == ["matmul_batch"]
    assert names((300, 300), "f4", MIN_BATCH - 1) == ["matmul"] * (MIN_BATCH - 1)
    assert names((1024, 1024), "f8") == ["matmul"] * MIN_BATCH  # the GPU takes longer in a batch
    assert names((1024, 1024), bfloat16) == ["matmul_batch"]
    assert names((300, 2), "f4") == ["matmul"] * MIN_BATCH  # not what the library is quick at
    assert names((300, 300), "i4") == ["matmul"] * MIN_BATCH


def test_results() -> None:
    rng = numpy.random.default_rng(0)
    pairs = [[rng.integers(-3, 4, (300, 300)).astype("f4") for _ in range(2)] for _ in range(6)]
    with gpunumpy.Device("cpu"):
        found = [gpunumpy.asarray(a) @ gpunumpy.asarray(b) for a, b in pairs]
        for one, (a, b) in zip(found, pairs, strict=True):
            numpy.testing.assert_array_equal(gpunumpy.asnumpy(one), a @ b)


def stack(dtype: Any) -> Any:
    """A stack in two dimensions that are not one, as the second does not follow the first."""
    base = aligned((6, 4, 32, 32), dtype)
    base[...] = numpy.random.default_rng(0).integers(-3, 4, base.shape)
    return base.swapaxes(0, 1)


def test_stacks_that_no_stride_follows(model: Model) -> None:
    left, right = stack("f8"), stack("f8")[:, ::2].repeat(2, axis=1)
    out = aligned((4, 6, 32, 32), "f8")
    result, a, b = c_layout(out.shape), layout_of(left, left.base), layout_of(right, right)
    plan = cublas.gemms(result, a, b)
    assert len(plan.offsets) == 4
    alone: list[Any] = []
    pointers = [x.ctypes.data for x in (out, left.base, right)]
    run = cuda_calls_blas._prepare_as_batch(gpunumpy.Device("cpu"), plan, FLOAT64, FLOAT64, Product(), alone.append)
    assert run is not None
    run(pointers)
    assert (model.calls, alone) == ([(24, ComputeType.COMPUTE_64F)], [])
    numpy.testing.assert_array_equal(out, left @ right)
    run([pointers[0], pointers[1] + 8, pointers[2]])
    assert alone == [[pointers[0], pointers[1] + 8, pointers[2]]]
    few = plan._replace(offsets=plan.offsets[: MIN_BATCH - 1])
    large = plan._replace(sizes=(1024, 1024, 1024))
    for other in (few, large):
        assert (
            cuda_calls_blas._prepare_as_batch(gpunumpy.Device("cpu"), other, FLOAT64, FLOAT64, Product(), run) is None
        )
