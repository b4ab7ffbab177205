"""The calls of cuBLASLt for float8, against the model of the library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

from gpunumpy.core.dtypes import bfloat16, float8_e4m3fn, float8_e5m2
from gpunumpy.core.errors import DeviceError
from gpunumpy.core.graph.layout import Layout, c_strides
from gpunumpy.nvlib import cublaslt, cublaslt_scaled

from .test_cublaslt import CUBLAS, DEVICE, Model

FORMATS = [(float8_e4m3fn, float8_e4m3fn), (float8_e4m3fn, float8_e5m2), (float8_e5m2, float8_e4m3fn)]
RESULTS = [bfloat16, numpy.dtype("f2"), numpy.dtype("f4")]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    made = Model()
    for module in (cublaslt, cublaslt_scaled):
        monkeypatch.setattr(module, "handle", lambda device, name: (made, 3))
        monkeypatch.setattr(module, "bindings", lambda name: CUBLAS)
    monkeypatch.setattr(cublaslt, "workspace", lambda device: 5)
    kept = cublaslt_scaled._scaled_product, cublaslt._preference
    for cached in kept:
        cached.cache_clear()
    yield made
    for cached in kept:
        cached.cache_clear()


def run(arrays: list[Any], fast: bool = False, kinds: tuple[str, str] = ("whole", "whole")) -> None:
    layouts = [Layout(x.shape, c_strides(x.shape), 0) for x in arrays]
    prepared = cublaslt_scaled.scaled_matmul(DEVICE, (fast, *kinds), layouts, [x.dtype for x in arrays])
    prepared([x.ctypes.data for x in arrays])


def aligned(values: Any, dtype: Any) -> Any:
    """The values in memory that begins at a multiple of 256 bytes."""
    dtype = numpy.dtype(dtype)
    raw = numpy.zeros(values.size * dtype.itemsize + 256, "u1")
    start = -raw.ctypes.data % 256
    out = raw[start : start + values.size * dtype.itemsize].view(dtype).reshape(values.shape)
    out[...] = values.astype(dtype)
    return out


def operands(left: Any, right: Any, out: Any) -> list[Any]:
    rng = numpy.random.default_rng(1)
    a, b = rng.integers(-4, 5, (5, 32)), rng.integers(-4, 5, (48, 32))
    scales = [aligned(numpy.array([x]), "f4") for x in (0.5, 4)]
    return [aligned(numpy.zeros((5, 48)), out), aligned(a, left), aligned(b, right), *scales]


@pytest.mark.parametrize("out", RESULTS, ids=str)
@pytest.mark.parametrize("formats", FORMATS, ids=str)
def test_products(model: Model, formats: tuple[Any, Any], out: Any) -> None:
    arrays = operands(*formats, out)
    run(arrays)
    a, b = (x.astype("f8") for x in arrays[1:3])
    assert (arrays[0] == ((a @ b.T) * 2).astype(out)).all()
    (description,) = [x for x in model.objects.values() if "compute" in x]
    assert description["compute"] == "COMPUTE_32F"
    assert (description["TRANSA"], description["TRANSB"]) == (CUBLAS.Operation.T, CUBLAS.Operation.N)


def test_scales_are_those_of_the_call(model: Model) -> None:
    arrays = operands(*FORMATS[1], RESULTS[2])
    run(arrays)
    once = arrays[0].copy()
    arrays[3] = aligned(numpy.array([1.0]), "f4")
    run(arrays)
    assert (arrays[0] == 2 * once).all()
    assert len(model.chosen) == 1


@pytest.mark.parametrize("fast", [False, True])
def test_fast_accumulation_is_asked_for(model: Model, fast: bool) -> None:
    run(operands(*FORMATS[0], RESULTS[0]), fast)
    assert {x["FAST_ACCUM"] for x in model.objects.values() if "compute" in x} == {int(fast)}


def test_what_the_library_does_not_have(model: Model) -> None:
    model.least = 512
    with pytest.raises(DeviceError, match="no product of float8_e4m3fn and float8_e4m3fn in bfloat16"):
        run(operands(*FORMATS[0], RESULTS[0]))
    model.least = 16
    cublaslt_scaled._scaled_product.cache_clear()
    arrays = operands(*FORMATS[0], RESULTS[0])
    raw = numpy.zeros(arrays[1].size + 256, "u1")
    start = -raw.ctypes.data % 256 + 1
    arrays[1] = raw[start : start + arrays[1].size].view(arrays[1].dtype).reshape(arrays[1].shape)
    with pytest.raises(DeviceError, match="not aligned"):
        run(arrays)


SIDES = (8, 160), (272, 160)  # of the operands, whose rows lie along the sums


def blocks_of(kind: str, shape: tuple[int, int], seed: int) -> tuple[Any, Any]:
    """Scales as the library reads them, and those of each element of a matrix."""
    rows, inner = shape
    size = (rows if kind == "vectors" else -(-rows // 128), -(-inner // 128))
    values = 2.0 ** numpy.random.default_rng(seed).integers(-2, 3, size)
    each = values if kind == "vectors" else numpy.repeat(values, 128, axis=0)[:rows]
    memory = values.T if kind == "vectors" else numpy.pad(values, ((0, 0), (0, -size[1] % 4)))
    return aligned(memory, "f4"), numpy.repeat(each, 128, axis=1)[:, :inner]


@pytest.mark.parametrize("kinds", [("vectors", "vectors"), ("vectors", "blocks"), ("blocks", "vectors")])
def test_scales_of_blocks(model: Model, kinds: tuple[str, str]) -> None:
    rng = numpy.random.default_rng(2)
    a, b = (rng.integers(-4, 5, shape) for shape in SIDES)
    (scale_a, each_a), (scale_b, each_b) = (blocks_of(k, s, n) for n, (k, s) in enumerate(zip(kinds, SIDES)))
    out = aligned(numpy.zeros((8, 272)), "f4")
    run([out, aligned(a, float8_e4m3fn), aligned(b, float8_e4m3fn), scale_a, scale_b], kinds=kinds)
    assert (out == (a * each_a) @ (b * each_b).T).all()


def test_libraries_without_scales_of_blocks(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = operands(*FORMATS[0], RESULTS[0])
    with monkeypatch.context() as patch:
        patch.setattr(Model, "MatmulMatrixScale", None)
        with pytest.raises(DeviceError, match="nvmath-python has no scales of blocks"):
            run(arrays, kinds=("vectors", "vectors"))
    model.refuses_modes = True
    with pytest.raises(DeviceError, match="in bfloat16 with scales of vectors and blocks"):
        run(arrays, kinds=("vectors", "blocks"))
