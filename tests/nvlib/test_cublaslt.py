"""The calls of cuBLASLt, against a model of the library that reads and writes host memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from enum import IntEnum
from itertools import count, product
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from numpy.lib.stride_tricks import as_strided

from gpunumpy.core.dtypes import bfloat16, float8_e4m3fn, float8_e5m2
from gpunumpy.core.graph.layout import Layout
from gpunumpy.core.graph.library_calls.products import Product
from gpunumpy.core.runtime import memory
from gpunumpy.kernels.products.cuda import _is_exact_in_library
from gpunumpy.nvlib import cublaslt
from gpunumpy.nvlib.cublas import as_matrices, gemms
from tests.kernels.test_matmul_plans import by_columns, layout_of, memory_of

DTYPES = {0: "f4", 1: "f8", 2: "f2", 4: "c8", 5: "c16", 14: bfloat16, 28: float8_e4m3fn, 29: float8_e5m2}
N, T, C = 0, 1, 2
DEFAULT, RELU, BIAS = 1, 2, 4


class _AnyName:
    """An enumeration whose members are their names."""

    def __getattr__(self, name: str) -> Any:
        return self[name]

    def __getitem__(self, name: str) -> Any:
        return _numbers.setdefault(name, 1000 + len(_numbers))


_numbers: dict[str, int] = {}


def _at(address: int, dtype: Any, elements: int) -> Any:
    dtype = numpy.dtype(dtype)
    raw = (ctypes.c_char * (elements * dtype.itemsize)).from_address(address)
    return numpy.frombuffer(raw, dtype)


class Model:
    """The functions of `nvmath.bindings.cublasLt` that products need.

    `refused` says which compute types it does not have, `least` to what operands have to be aligned, `lossy` which of
    its two algorithms lose NaNs.
    """

    MatmulDescAttribute = MatrixLayoutAttribute = MatmulPreferenceAttribute = _AnyName()
    MatmulMatrixScale: Any = IntEnum("MatmulMatrixScale", {"SCALAR_32F": 0, "VEC128_32F": 4, "BLK128x128_32F": 5})
    Epilogue = IntEnum("Epilogue", {"DEFAULT": DEFAULT, "RELU": RELU, "BIAS": BIAS, "RELU_BIAS": RELU | BIAS})
    cuBLASLtError = type("cuBLASLtError", (Exception,), {})

    def __init__(self) -> None:
        self.objects: dict[int, dict[str, Any]] = {}
        self.numbers = count(1)
        self.refused: set[str] = set()
        self.least = 1
        self.chosen: list[dict[str, Any]] = []
        self.algorithms: list[int] = []
        self.lossy: set[int] = set()
        self.workspace = 100
        self.refuses_modes = False
        self.used: list[int] = []

    def _create(self, **values: Any) -> int:
        number = next(self.numbers)
        self.objects[number] = values
        return number

    def _destroy(self, number: int) -> None:
        del self.objects[number]

    def _set(self, number: int, attribute: int, address: int, nbytes: int) -> None:
        name = next(n for n, value in _numbers.items() if value == attribute)
        if self.refuses_modes and name.endswith("_MODE"):
            raise self.cuBLASLtError("this version has no such attribute")
        self.objects[number][name] = int(_at(address, f"i{nbytes}", 1)[0])

    matmul_desc_destroy = matrix_layout_destroy = matmul_preference_destroy = _destroy
    matmul_desc_set_attribute = matrix_layout_set_attribute = matmul_preference_set_attribute = _set

    def matmul_desc_create(self, compute: int, scale: int) -> int:
        name = next(n for n, value in _numbers.items() if value == compute)
        return self._create(compute=name, scale=scale)

    def matrix_layout_create(self, code: int, rows: int, columns: int, leading: int) -> int:
        assert leading >= rows
        return self._create(dtype=DTYPES[code], rows=rows, columns=columns, leading=leading)

    def matmul_preference_create(self) -> int:
        return self._create()

    def MatmulHeuristicResult(self, size: int) -> Any:
        return SimpleNamespace(ptr=77, workspace_size=[self.workspace] * size if size > 1 else self.workspace)

    matmul_heuristic_result_dtype = SimpleNamespace(itemsize=10)

    def matmul_algo_get_heuristic(self, handle: int, description: int, *rest: Any) -> None:
        preference, wanted, found = rest[4], rest[5], rest[7]
        wish = self.objects[preference]
        self.chosen.append(wish)
        have = self.objects[description]["compute"] not in self.refused and wish["MIN_ALIGNMENT_A_BYTES"] >= self.least
        _at(found, "i4", 1)[0] = min(wanted, 2) if have else 0

    def matmul(self, handle: int, description: int, alpha: int, a: int, la: int, b: int, lb: int, *rest: Any) -> None:
        beta, c, lc, d, ld, algorithm, workspace, size, stream = rest
        assert stream == 9
        assert workspace == (5 if size == 32 << 20 else 6)
        self.used.append(size)
        self.algorithms.append(algorithm)
        asked = self.objects[description]
        scale = DTYPES[asked["scale"]]
        factor, kept = (_at(x, scale, 1)[0] for x in (alpha, beta))
        for z in range(self.objects[ld].get("BATCH_COUNT", 1)):
            x, y, old, new = (self._matrix(p, n, z) for p, n in ((a, la), (b, lb), (c, lc), (d, ld)))
            left, right = self._taken(x, asked["TRANSA"], scale), self._taken(y, asked["TRANSB"], scale)
            made = factor * ((left * self._scales("A", asked, left)) @ (right * self._scales("B", asked, right.T).T))
            if kept:
                made = made + kept * old.astype(scale)
            if asked["EPILOGUE"] & BIAS:
                made = made + _at(asked["BIAS_POINTER"], new.dtype, len(new)).astype(scale)[:, None]
            if asked["EPILOGUE"] & RELU:
                made = (numpy.fmax if algorithm in self.lossy else numpy.maximum)(made, 0)
            new[...] = made

    def _scales(self, letter: str, asked: dict[str, Any], matrix: Any) -> Any:
        """The scale of each element of a matrix whose rows lie along the sums."""
        if f"{letter}_SCALE_POINTER" not in asked:
            return numpy.ones((1, 1), matrix.dtype)
        address, mode = asked[f"{letter}_SCALE_POINTER"], asked.get(f"{letter}_SCALE_MODE", 0)
        (rows, inner), parts = matrix.shape, -(-matrix.shape[1] // 128)
        if mode == 0:
            return _at(address, "f4", 1).reshape(1, 1)
        assert address % 16 == rows % 4 == 0
        if mode == 4:  # all rows' first scales come first
            each = _at(address, "f4", parts * rows).reshape(parts, rows).T
        else:  # a row's scales lie together, of which there are a multiple of four
            assert mode == 5
            padded, blocks = -(-parts // 4) * 4, -(-rows // 128)
            each = numpy.repeat(_at(address, "f4", padded * blocks).reshape(blocks, padded), 128, axis=0)[:rows]
        return numpy.repeat(each, 128, axis=1)[:, :inner]

    def _matrix(self, pointer: int, number: int, z: int) -> Any:
        where = self.objects[number]
        dtype = numpy.dtype(where["dtype"])
        shape, leading = (where["rows"], where["columns"]), where["leading"]
        start = pointer + z * where.get("STRIDED_BATCH_OFFSET", 0) * dtype.itemsize
        flat = _at(start, dtype, (shape[1] - 1) * leading + shape[0])
        raw = flat.view(f"V{dtype.itemsize}")  # NumPy cannot lay out float8_e5m2
        return as_strided(raw, shape, (dtype.itemsize, leading * dtype.itemsize)).view(dtype)

    def _taken(self, matrix: Any, operation: int, dtype: Any) -> Any:
        wide = matrix.astype(dtype)
        return {N: wide, T: wide.T, C: wide.conj().T}[operation]


CUBLAS = SimpleNamespace(ComputeType=_AnyName(), Operation=IntEnum("Operation", {"N": N, "T": T, "C": C}))


class _Device:
    stream = 9

    def activate(self) -> None:
        pass


DEVICE: Any = _Device()


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    made = Model()
    monkeypatch.setattr(cublaslt, "handle", lambda device, name: (made, 3))
    monkeypatch.setattr(cublaslt, "bindings", lambda name: CUBLAS)
    monkeypatch.setattr(cublaslt, "workspace", lambda device: 5)
    monkeypatch.setattr(memory, "foreign_buffer", lambda pointer, nbytes, owner, device: pointer)
    monkeypatch.setattr(cublaslt, "copy_to_host", lambda pointer, start, nbytes: _at(pointer + start, "u1", nbytes))
    forget()
    yield made
    forget()


def forget() -> None:
    """Let go of all that was made of a model."""
    for kept in (cublaslt._multiplication, cublaslt._preference):
        kept.cache_clear()


def sample(shape: tuple[int, ...], dtype: Any) -> Any:
    rng = numpy.random.default_rng(len(shape))
    made = rng.integers(-4, 5, shape)
    if numpy.dtype(dtype).kind == "c":
        made = made + 1j * rng.integers(-4, 5, shape)
    return made.astype(dtype)


def run(a: Any, b: Any, out: Any, options: Product, rest: tuple[Any, ...] = ()) -> bool | None:
    """Multiply into `out`; says whether the library did, or None where it has no such product."""
    held = [memory_of(a), memory_of(b)]
    matrices = as_matrices(Layout(out.shape, (), 0), layout_of(a, held[0]), layout_of(b, held[1]))
    missed: list[Any] = []
    plan = gemms(*matrices, options.conjugate)
    prepared = cublaslt.prepare(DEVICE, plan, a.dtype, out.dtype, options, missed.append)
    if prepared is None:
        return None
    pointers = [out.ctypes.data, *(x.ctypes.data for x in held)]
    prepared([*pointers, *(x.ctypes.data if isinstance(x, numpy.ndarray) else x for x in rest)])
    return not missed


SHAPES = (((4, 3), (3, 5)), ((3,), (3, 5)), ((4, 3), (3,)), ((6, 4, 3), (3, 5)), ((2, 1, 4, 3), (6, 3, 5)))


@pytest.mark.parametrize("dtype", ["f2", bfloat16, "f4", "f8", "c8", "c16"])
def test_products(model: Model, dtype: Any) -> None:
    for left, right in SHAPES:
        a, b = sample(left, dtype), sample(right, dtype)
        for x, y in product((a, by_columns(a)), (b, by_columns(b))):
            wide = "c16" if a.dtype.kind == "c" else "f8"
            expected = x.astype(wide) @ y.astype(wide)
            out = numpy.zeros(expected.shape, dtype)
            assert run(x, y, out, Product())
            numpy.testing.assert_array_equal(out.astype(wide), expected)


@pytest.mark.parametrize("dtype", ["f4", "c16"])
def test_what_comes_after(model: Model, dtype: str) -> None:
    for left, right in SHAPES:
        a, b = sample(left, dtype), sample(right, dtype)
        plain = a @ b
        if b.ndim == 1:
            continue
        bias, residual = sample((b.shape[-1],), dtype), sample(plain.shape, dtype)
        for steps, rest, expected in (
            (("scale",), (3,), plain * 3),
            (("bias",), (bias,), plain + bias),
            (("residual",), (residual,), plain + residual),
            (("scale", "residual", "bias"), (2, residual, bias), plain * 2 + residual + bias),
            (("bias", "residual"), (bias, residual), plain + residual + bias),
            (("scale", "subtract"), (2, residual), plain * 2 - residual),
            (("scale", "subtract_from", "bias"), (2, residual, bias), residual - plain * 2 + bias),
            (("subtract_from",), (residual,), residual - plain),
            (("divide", "subtract"), (4, residual), plain / 4 - residual),
            (("divide", "subtract_from"), (4, residual), residual - plain / 4),
        ):
            out = numpy.zeros(plain.shape, dtype)
            assert run(a, b, out, Product(epilogues=steps), rest)
            numpy.testing.assert_array_equal(out, expected)
        if dtype == "f4":
            out = numpy.zeros(plain.shape, dtype)
            assert run(a, b, out, Product(epilogues=("bias", "maximum")), (bias, 0))
            numpy.testing.assert_array_equal(out, numpy.maximum(plain + bias, 0))


def test_conjugated_operands(model: Model) -> None:
    a, b = sample((4, 3), "c8"), sample((4, 5), "c8")
    out = numpy.zeros((3, 5), "c8")
    assert run(a.T, b, out, Product(conjugate=(True, False)))
    numpy.testing.assert_array_equal(out, a.conj().T @ b)
    out = numpy.zeros((4, 4), "c8")
    assert run(b, b.T, out, Product(conjugate=(False, True)))
    numpy.testing.assert_array_equal(out, b @ b.conj().T)
    row = sample((1, 4), "c8")
    out = numpy.zeros((1, 3), "c8")
    assert run(row, a, out, Product(conjugate=(True, False)))
    numpy.testing.assert_array_equal(out, row.conj() @ a)


def test_halves_may_give_float32(model: Model) -> None:
    a, b = sample((4, 3), "f2"), sample((3, 5), "f2")
    out = numpy.zeros((4, 5), "f4")
    assert run(a, b, out, Product(epilogues=("scale",)), (0.3,))
    numpy.testing.assert_array_equal(out, (a.astype("f4") @ b.astype("f4")) * numpy.float32(0.3))


def test_partial_sums_of_halves_are_not_rounded(model: Model) -> None:
    for dtype in ("f2", "f4"):
        a = sample((4, 4), dtype)
        run(a, a, numpy.zeros_like(a), Product())
    assert [wish["REDUCTION_SCHEME_MASK"] for wish in model.chosen[::2]] == [2, 7]


def test_pointers_that_are_not_aligned(model: Model) -> None:
    model.least = 16
    base = numpy.zeros(100, "f4")
    start = -(base.ctypes.data // 4) % 64  # where it is a multiple of 256
    a = base[start + 1 : start + 5].reshape(2, 2)
    out = numpy.zeros((2, 2), "f4")
    held = layout_of(a, a)
    missed: list[Any] = []
    plan = gemms(*as_matrices(held, held, held))
    prepared = cublaslt.prepare(DEVICE, plan, a.dtype, a.dtype, Product(), missed.append)
    assert prepared is not None
    prepared([out.ctypes.data, a.ctypes.data, a.ctypes.data])
    assert len(missed) == 1
    assert model.chosen[-1]["MIN_ALIGNMENT_B_BYTES"] == 4
    assert not model.algorithms


def test_a_maximum_keeps_not_numbers(model: Model) -> None:
    a, bias = sample((4, 4), "f4"), sample((4,), "f4")
    a[1, 1] = numpy.nan
    expected = numpy.maximum(a @ a * 2 + bias, 0)
    options = Product(epilogues=("scale", "bias", "maximum"))
    for lossy, algorithm in (((), 77), ((77,), 87), ((77, 87), None)):
        model.lossy = set(lossy)
        cublaslt._multiplication.cache_clear()
        model.algorithms.clear()
        out = numpy.zeros((4, 4), "f4")
        assert run(a, a, out, options, (2, bias, 0)) is (algorithm is not None)
        if algorithm is not None:
            numpy.testing.assert_array_equal(out, expected)
            tried = len(model.algorithms)
            assert run(a, a, out, options, (2, bias, 0))
            assert model.algorithms[tried:] == [algorithm]  # found out once


def test_precisions(model: Model) -> None:
    def computed(name: str, dtype: str) -> str:
        a = sample((4, 4), dtype)
        before = set(model.objects)
        out = numpy.zeros_like(a)
        if run(a, a, out, Product(precision=name)) is None:
            return "none"
        return next(v["compute"] for k, v in model.objects.items() if k not in before and "compute" in v)

    assert computed("highest", "f4") == "COMPUTE_32F"
    assert computed("high", "c8") == "COMPUTE_32F_FAST_TF32"
    assert computed("medium", "f4") == "COMPUTE_32F_FAST_16BF"
    assert computed("emulated", "f8") == "COMPUTE_64F_EMULATED_FIXEDPOINT"
    cublaslt._multiplication.cache_clear()
    model.refused = {"COMPUTE_64F_EMULATED_FIXEDPOINT"}
    assert "COMPUTE_64F" in {computed("emulated", "f8")} | {v.get("compute") for v in model.objects.values()}
    model.refused = {"COMPUTE_32F"}
    assert computed("highest", "f4") == "none"


def test_an_emulated_product_gets_the_memory_that_it_needs(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "allocate_fixed", lambda device, nbytes: SimpleNamespace(ptr=6))
    model.workspace = 100 << 20
    a = sample((4, 4), "f8")
    out = numpy.zeros_like(a)
    assert run(a, a, out, Product(precision="emulated"))
    numpy.testing.assert_array_equal(out, a @ a)
    assert (model.used, model.chosen[-1]["MAX_WORKSPACE_BYTES"]) == ([100 << 20], 2 << 30)
    model.workspace = 100
    assert run(a, a, out, Product())
    assert (model.used[1:], model.chosen[-1]["MAX_WORKSPACE_BYTES"]) == ([32 << 20], 32 << 20)


def test_objects_of_the_library_are_given_back(model: Model) -> None:
    a = sample((4, 4), "f4")
    for _ in range(3):
        assert run(a, a, numpy.zeros_like(a), Product())
    forget()
    assert not model.objects


def test_products_of_all_sizes_have_one_preference_for_each_alignment(model: Model) -> None:
    for size in (4, 5, 6):
        a = sample((size, size), "f4")
        assert run(a, a, numpy.zeros_like(a), Product())
    kept = [attributes for attributes in model.objects.values() if "MIN_ALIGNMENT_A_BYTES" in attributes]
    assert len(kept) == len({wish["MIN_ALIGNMENT_A_BYTES"] for wish in model.chosen})
    assert len(model.chosen) >= 3


def test_scalars_that_the_library_does_not_take_exactly() -> None:
    for step, fine, others in (
        ("scale", (1, -2.5, 1j), (0, 0.0, 0j, False)),
        ("divide", (1, 8, -0.25, True), (0, 3, 0.1, 2.0**120, 10**400, 1j, numpy.inf, numpy.nan)),
        ("maximum", (0, 0.0, False), (1, -0.0, -3.5, numpy.nan)),
    ):
        for value in fine:
            assert _is_exact_in_library(("bias", step), (1, 2, 3, 4, value)), (step, value)
        for value in others:
            assert not _is_exact_in_library(("bias", step), (1, 2, 3, 4, value)), (step, value)
