"""The kernel for products of small matrices, on the emulated machine."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from gpunumpy.core.dtypes import bfloat16
from gpunumpy.core.graph.layout import Layout
from gpunumpy.kernels.products.cuda_small import is_small, small_matmul
from gpunumpy.nvlib.cublas import as_matrices
from tests.emulator import available
from tests.emulator.executor import run_program
from tests.kernels.test_matmul_plans import WAYS, layout_of, memory_of

pytestmark = pytest.mark.skipif(not available(), reason="the emulator needs g++")

SHAPES = (((5, 7), (7, 3)), ((40, 50), (50, 20)), ((3,), (3, 17)), ((18, 33), (33,)), ((1, 1), (1, 1)))
CASES: tuple[tuple[str, ...], ...] = (
    (),
    ("scale", "bias"),
    ("residual", "maximum"),
    ("divide", "subtract"),
    ("subtract_from", "maximum"),
)

APPLIED: dict[str, Any] = {
    "scale": numpy.multiply,
    "divide": numpy.divide,
    "bias": numpy.add,
    "residual": numpy.add,
    "subtract": numpy.subtract,
    "subtract_from": lambda made, operand: operand - made,
    "maximum": numpy.maximum,
}


@pytest.mark.parametrize(
    ("dtype", "out"), [("f2", "f2"), ("f2", "f4"), (bfloat16, bfloat16), ("f4", "f4"), ("f8", "f8")]
)
def test_small_matmul(dtype: Any, out: Any) -> None:
    rng = numpy.random.default_rng(0)
    for number, (left, right) in enumerate(SHAPES):
        a, b = (rng.integers(-4, 5, shape).astype(dtype) for shape in (left, right))
        a.reshape(-1)[0] = numpy.nan
        a, b = WAYS[number % 4](a), WAYS[(number + 1) % 4](b)
        product = a.astype("f8") @ b.astype("f8")
        held = [memory_of(x) for x in (a, b)]
        matrices = as_matrices(Layout(product.shape, (), 0), *map(layout_of, (a, b), held))
        assert is_small(matrices, numpy.dtype(dtype))
        bias, residual = (rng.integers(-4, 5, shape).astype(out) for shape in (product.shape[-1:], product.shape))
        for epilogues in CASES if b.ndim > 1 else CASES[:1]:
            program, argument_format = small_matmul(matrices, [numpy.dtype(x) for x in (out, dtype, dtype)], epilogues)
            shaped = {"bias": bias, "residual": residual, "subtract": residual, "subtract_from": residual}
            given = {"scale": 3.0, "divide": 4.0, "maximum": 2.5} | {name: x.reshape(-1) for name, x in shaped.items()}
            made = numpy.zeros(product.shape, out)
            run_program(program, [made.reshape(-1), *held, *(given[epilogue] for epilogue in epilogues)])
            expected = product
            for name in epilogues:
                expected = APPLIED[name](expected, given[name] if numpy.ndim(given[name]) < 1 else shaped[name])
            numpy.testing.assert_array_equal(made.astype("f8"), expected.astype(out).astype("f8"))
            assert len(argument_format) == 3 + len(epilogues)


def test_what_is_small() -> None:
    def small(*shape: int, inner: int = 64, dtype: str = "f4") -> bool:
        left, right = (*shape[:-1], inner), (*shape[:-2], inner, shape[-1])
        return is_small([Layout(s, (), 0) for s in (shape, left, right)], numpy.dtype(dtype))

    assert all((small(64, 64), small(1, 64, 64), small(128, 128, inner=128)))
    assert not any((small(129, 129, inner=128), small(257, 1), small(2, 64, 64)))
    assert not any((small(4, 4, dtype="c8"), small(4, 4, dtype="i4")))
