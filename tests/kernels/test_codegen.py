"""Generated kernels, run by the emulator and compared with NumPy, and compiled by NVRTC."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gpunumpy.core.dtypes import DTYPES, KIND
from gpunumpy.core.ops.special import SPECIAL
from gpunumpy.core.ops.table import WIDER
from gpunumpy.core.schedule.kernel import Body, Kernel, Load
from gpunumpy.kernels.codegen import op_code, unit
from gpunumpy.kernels.codegen.collapse import collapse
from gpunumpy.kernels.codegen.generate import generate
from gpunumpy.kernels.codegen.program import Program
from gpunumpy.kernels.codegen.reduce import reduce_plan
from gpunumpy.kernels.codegen.unit import Unit
from gpunumpy.kernels.cuda.compile import compile_cubin
from tests.emulator import available, compile_text, run_program
from tests.support.kernel_builder import Builder

pytestmark = pytest.mark.skipif(not available(), reason="the emulator needs g++")

PROCESSORS = 2


@pytest.fixture(autouse=True)
def few_small_kernels(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Have most kernels be as those of large arrays, though these are small."""
    if "side" not in request.fixturenames:
        monkeypatch.setattr(unit, "_SMALL_POINTS_PER_PROCESSOR", 32)


def values(*shape: int, dtype: Any = "float32", seed: int = 0) -> numpy.ndarray[Any, Any]:
    """Random values that are exact in every dtype."""
    found = numpy.random.default_rng(seed).integers(-9, 10, shape)
    if numpy.dtype(dtype).kind in "bu":
        found = numpy.abs(found)
    return found.astype(dtype)


def floats(*shape: int, seed: int = 0) -> numpy.ndarray[Any, Any]:
    """Random float32 values."""
    return numpy.random.default_rng(seed).standard_normal(shape).astype("float32")


def run(builder: Builder, processors: int = PROCESSORS, seed: int = 0) -> Program:
    """Generate and run what was built."""
    program = generate(builder.kernel(), processors)
    assert run_program(program, builder.values, seed=seed) == 0
    return program


# Elementwise


def base(*shape: int) -> numpy.ndarray[Any, Any]:
    return floats(*shape, seed=sum(shape))


VIEWS: dict[str, tuple[tuple[int, ...], list[tuple[tuple[int, ...], Callable[[Any], Any]]]]] = {
    "contiguous": ((2100,), [((2100,), lambda a: a), ((2100,), lambda a: a)]),
    "odd length": ((1003,), [((1003,), lambda a: a)]),
    "one": ((1,), [((1,), lambda a: a)]),
    "no loops": ((), [((), lambda a: a)]),
    "merged": ((4, 5, 6), [((4, 5, 6), lambda a: a)]),
    "misaligned": ((999,), [((1000,), lambda a: a[1:]), ((1000,), lambda a: a[:-1])]),
    "half aligned": ((998,), [((1000,), lambda a: a[2:]), ((1000,), lambda a: a[:-2])]),
    "strided": ((500,), [((1000,), lambda a: a[::2])]),
    "reversed": ((6, 50), [((6, 50), lambda a: a[::-1, ::-1])]),
    "broadcast row": ((9, 1200), [((9, 1200), lambda a: a), ((1200,), lambda a: a)]),
    "broadcast column": ((9, 1200), [((9, 1200), lambda a: a), ((9, 1), lambda a: a)]),
    "broadcast scalar": ((9, 120), [((9, 120), lambda a: a), ((1,), lambda a: a)]),
    "short rows": ((300, 3), [((300, 3), lambda a: a), ((3,), lambda a: a)]),
    "short vector rows": ((300, 8), [((300, 8), lambda a: a), ((8,), lambda a: a)]),
    "outer product": ((33, 65), [((33, 1), lambda a: a), ((65,), lambda a: a)]),
    "cropped": ((7, 1195), [((10, 1200), lambda a: a[3:, 5:])]),
    "cropped aligned": ((7, 1196), [((10, 1200), lambda a: a[3:, 4:])]),
    "four loops": ((3, 4, 5, 6), [((3, 1, 5, 1), lambda a: a), ((4, 1, 6), lambda a: a)]),
    "transposed": ((70, 50), [((50, 70), lambda a: a.T), ((70, 50), lambda a: a)]),
    "transposed twice": ((64, 32), [((32, 64), lambda a: a.T), ((32, 64), lambda a: a[:, ::-1].T)]),
    "batch transposed": ((3, 40, 33), [((3, 33, 40), lambda a: a.transpose(0, 2, 1))]),
    "rotated": ((70, 6, 50), [((6, 50, 70), lambda a: a.transpose(2, 0, 1))]),
    "turned over": ((20, 50, 6), [((6, 50, 20), lambda a: a.transpose(2, 1, 0))]),
    "transposed, short": ((9, 7), [((7, 9), lambda a: a.T)]),
}


@pytest.mark.parametrize("name", VIEWS)
def test_elementwise(name: str) -> None:
    shape, inputs = VIEWS[name]
    b = Builder(shape)
    bases = [base(*size) for size, _ in inputs]
    views = [view(a) for a, (_, view) in zip(bases, inputs, strict=True)]
    loaded = [b.load(a, view) for a, view in zip(bases, views, strict=True)]
    total, expected = loaded[0], numpy.broadcast_to(views[0], shape)
    for value, view in zip(loaded[1:], views[1:], strict=True):
        total, expected = b.apply("add", total, value), expected + view
    out = numpy.zeros(shape, "float32")
    b.store(b.apply("multiply", total, b.scalar(3, "float32")), out)
    run(b)
    assert_array_equal(out, expected * numpy.float32(3))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype: Any) -> None:
    a, c = values(999, dtype=dtype), values(999, dtype=dtype, seed=1)
    scalar = numpy.asarray(2 + 1j if KIND[dtype] == "c" else 1).astype(dtype)
    b = Builder((999,))
    out, equal = numpy.zeros(999, dtype), numpy.zeros(999, bool)
    x, y = b.load(a), b.load(c)
    b.store(b.apply("multiply", b.apply("add", x, y), b.scalar(scalar, dtype)), out)
    b.store(b.apply("equal", x, y), equal)
    run(b)
    assert_array_equal(out, (a + c) * scalar)
    assert_array_equal(equal, a == c)


def test_index_and_stores_in_another_order() -> None:
    a = values(5, 60)
    out, wide = numpy.zeros((60, 5), "float32"), numpy.zeros((5, 60), "int64")
    b = Builder((5, 60))
    b.store(b.load(a), out, out.T)
    b.store(b.index(7, (100, -2)), wide)
    run(b)
    assert_array_equal(out, a.T)
    assert_array_equal(wide, 7 + 100 * numpy.arange(5)[:, None] - 2 * numpy.arange(60))


def test_in_place() -> None:
    a = values(1001)
    before = a.copy()
    b = Builder((1001,))
    x = b.load(a)
    b.overwrite(b.apply("add", x, x), a)
    program = generate(b.kernel(), PROCESSORS)
    assert program.text.count("f32* __restrict__") == 0
    run_program(program, b.values, guard=False)
    assert_array_equal(a, before * 2)


def jacobi(u: numpy.ndarray[Any, Any], out: numpy.ndarray[Any, Any]) -> tuple[Builder, Kernel]:
    """A step of the heat equation: inside, the sum of the neighbours; at the border, what was there."""
    n, m = u.shape
    b = Builder((n, m))
    b.store(b.load(u), out)
    outside = b.body()
    total = -1
    for shift in (-m, m, -1, 1):
        value = b.load(u)
        load = b.instructions[value]
        assert isinstance(load, Load)
        b.instructions[value] = replace(load, at=load.at._replace(offset=shift))
        total = value if total < 0 else b.apply("add", total, value)
    b.store(total, out)
    return b, b.kernel(((1, n - 1), (1, m - 1)), outside)


@pytest.mark.parametrize(("n", "m"), [(20, 300), (9, 33), (40, 513)])
def test_stencil_is_one_kernel(n: int, m: int) -> None:
    u, out = floats(n, m), numpy.zeros((n, m), "float32")
    b, kernel = jacobi(u, out)
    program = generate(kernel, PROCESSORS)
    assert len(program.launches) == 1
    run_program(program, b.values)
    expected = u.copy()
    expected[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    assert_array_equal(out, expected)


REGIONS = [((0, 6), (0, 40)), ((2, 5), (0, 40)), ((0, 6), (8, 20)), ((3, 3), (0, 40)), ((1, 2), (39, 40))]


@pytest.mark.parametrize(
    ("shape", "region"),
    [
        *(((6, 40), region) for region in REGIONS),
        ((40, 1024), ((9, 31), (0, 1024))),
        ((40, 1021), ((9, 31), (300, 1000))),
        ((3000,), ((1001, 2999),)),
    ],
)
def test_region(shape: tuple[int, ...], region: Any) -> None:
    a, c, out = values(*shape), values(*shape, seed=1), numpy.zeros(shape, "float32")
    b = Builder(shape)
    b.store(b.load(a), out)
    outside = b.body()
    b.store(b.load(c), out)
    run_program(generate(b.kernel(region, outside), PROCESSORS), b.values)
    expected = a.copy()
    box = tuple(slice(*bounds) for bounds in region)
    expected[box] = c[box]
    assert_array_equal(out, expected)


# Gathers


def test_gather() -> None:
    source, index = floats(50, 7), numpy.random.default_rng(0).integers(-50, 50, 999)
    column = numpy.random.default_rng(1).integers(-7, 7, 999)
    out = numpy.zeros(999, "float32")
    b = Builder((999,))
    b.store(b.gather(source, (b.load(index), b.load(column)), source_location=5), out)
    run(b)
    assert_array_equal(out, source[index, column])


@pytest.mark.parametrize("rows", [3, 0])
def test_gather_out_of_bounds_is_reported(rows: int) -> None:
    source, index = floats(rows), numpy.array([0, 1, 3, -4])
    out = numpy.zeros(4, "float32")
    b = Builder((4,))
    b.store(b.gather(source, (b.load(index),), source_location=5), out)
    assert run_program(generate(b.kernel(), PROCESSORS), b.values) == 5


def test_gather_in_a_reduction() -> None:
    source, index = values(50), numpy.random.default_rng(0).integers(0, 50, (5, 300))
    out = numpy.zeros(5, "float32")
    b = Builder((5, 300), 1)
    b.store(b.reduce("add", b.gather(source, (b.load(index),), source_location=5)), out)
    run(b)
    assert_array_equal(out, source[index].sum(1))


# Reductions

REDUCED: dict[str, tuple[tuple[int, ...], tuple[int, ...], Callable[[Any], Any]]] = {
    "all": ((5000,), (0,), lambda a: a),
    "all, odd": ((5001,), (0,), lambda a: a),
    "all, split": ((40000,), (0,), lambda a: a),
    "all, misaligned": ((5001,), (0,), lambda a: a[1:]),
    "rows": ((37, 500), (1,), lambda a: a),
    "rows, long": ((3, 5003), (1,), lambda a: a),
    "rows, split": ((2, 30000), (1,), lambda a: a),
    "rows, short": ((300, 3), (1,), lambda a: a),
    "rows, a warp": ((9, 400), (1,), lambda a: a),
    "columns": ((500, 36), (0,), lambda a: a),
    "columns, odd": ((500, 37), (0,), lambda a: a),
    "columns, split": ((3000, 8), (0,), lambda a: a),
    "columns, few steps": ((5, 700), (0,), lambda a: a),
    "columns, two": ((3000, 2), (0,), lambda a: a),
    "points": ((9000, 3), (0,), lambda a: a),
    "points, aligned": ((9000, 4), (0,), lambda a: a),
    "points, misaligned": ((1003, 5), (0,), lambda a: a[:, 1:4]),
    "points, few": ((40, 3), (0,), lambda a: a),
    "sets of points": ((7, 600, 3), (1,), lambda a: a),
    "sets of points, transposed": ((600, 7, 3), (0,), lambda a: a),
    "a picture": ((40, 50, 3), (0, 1), lambda a: a),
    "middle": ((5, 30, 40), (1,), lambda a: a),
    "ends": ((5, 30, 40), (0, 2), lambda a: a),
    "two last": ((5, 30, 41), (1, 2), lambda a: a[:, :, 1:]),
    "strided": ((50, 60), (0, 1), lambda a: a[::2, ::-1]),
    "cropped": ((50, 64), (0,), lambda a: a[:, 4:60]),
    "cropped rows": ((50, 64), (1,), lambda a: a[::-1, 4:59]),
    "transposed": ((50, 70), (1,), lambda a: a.T),
    "one": ((1,), (0,), lambda a: a),
    "one each": ((20, 1), (1,), lambda a: a),
}


def reduced_views(a: Any, view: Any, axes: tuple[int, ...]) -> Any:
    """The view with the reduced axes last."""
    return numpy.moveaxis(view, axes, range(-len(axes), 0))


@pytest.mark.parametrize("name", REDUCED)
def test_siblings(name: str) -> None:
    shape, axes, make = REDUCED[name]
    a = floats(*shape)
    view = reduced_views(a, make(a), axes)
    b = Builder(view.shape, len(axes))
    x = b.load(a, view)
    outer = view.shape[: -len(axes)]
    results = {"add": "f4", "maximum": "f4", "argmax": "i8", "moments": "f8"}
    outs = {row: numpy.zeros(outer, dtype) for row, dtype in results.items()}
    b.store(b.reduce("add", x), outs["add"])
    b.store(b.reduce("maximum", b.apply("negative", x)), outs["maximum"])
    b.store(b.reduce("argmax", x, result="int64"), outs["argmax"])
    b.store(b.reduce("moments", x, b.scalar(0.0, "float64"), result="float64"), outs["moments"])
    run(b)
    flat = view.reshape(*outer, -1)
    assert_allclose(outs["add"], flat.sum(-1, dtype="f8"), rtol=1e-6, atol=1e-5)
    assert_array_equal(outs["maximum"], (-flat).max(-1))
    assert_array_equal(outs["argmax"], flat.argmax(-1))
    assert_allclose(outs["moments"], flat.var(-1, dtype="f8"), rtol=1e-12, atol=1e-15)


def attraction(bodies: int) -> tuple[Builder, numpy.ndarray[Any, Any], Any]:
    """What bodies are pulled by, from their distances: a kernel, its output and what it should be."""
    rng = numpy.random.default_rng(0)
    x, distance = rng.standard_normal((bodies, 3)), rng.random((bodies, bodies)) + 1
    out, shape = numpy.zeros((bodies, 3)), (bodies, 3, bodies)
    b = Builder(shape, 1)
    weight = b.apply("divide", b.scalar(1.0, "float64"), b.apply("sqrt", b.load(distance, distance[:, None])))
    moved = b.apply("subtract", b.load(x, x.T[None]), b.load(x, x[:, :, None]))
    b.store(b.reduce("add", b.apply("multiply", weight, moved)), out)
    return b, out, ((1 / numpy.sqrt(distance))[:, :, None] * (x[None] - x[:, None])).sum(1)


def test_coordinates_of_a_point_share_work() -> None:
    b, out, expected = attraction(70)
    run(b)
    assert_allclose(out, expected, rtol=1e-12, atol=1e-12)
    plan = reduce_plan(Unit(collapse(attraction(70)[0].kernel())), PROCESSORS)
    assert (plan.width, plan.rows, plan.team.adjacent) == (3, 70, True)


@pytest.mark.parametrize(
    ("shape", "lanes", "threads"),
    [((9000, 3), 3, 256), ((9000, 5), 1, 160), ((9000, 16), 4, 128), ((9000, 24), 4, 192)],
)
def test_few_columns_have_many_threads(shape: tuple[int, ...], lanes: int, threads: int) -> None:
    """Of a block of 256, those that have a column."""
    a = floats(*shape)
    b = Builder(a.T.shape, 1)
    b.store(b.reduce("add", b.load(a, a.T)), numpy.zeros(shape[1], "float32"))
    plan = reduce_plan(Unit(b.kernel()), PROCESSORS)
    assert (plan.width, plan.team.size * min(plan.rows, plan.team.rows)) == (lanes, threads)


@pytest.mark.parametrize("shape", [(3, 0), (0,), (2, 3, 0)])
def test_reduction_of_nothing(shape: tuple[int, ...]) -> None:
    a = numpy.zeros(shape, "float32")
    out, total = numpy.ones(shape[:-1], "float32"), numpy.ones(shape[:-1], "float32")
    b = Builder(shape, 1)
    x = b.load(a)
    b.store(b.apply("add", b.reduce("add", x), b.scalar(4, "float32")), out)
    b.store(b.reduce("multiply", x), total)
    run(b)
    assert_array_equal(out, 4)
    assert_array_equal(total, 1)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("axis", [0, 1])
def test_sum_of_every_dtype(dtype: Any, axis: int) -> None:
    a = values(70, 48, dtype=dtype)
    view = numpy.moveaxis(a, axis, -1)
    out = numpy.zeros(view.shape[0], dtype)
    b = Builder(view.shape, 1)
    b.store(b.reduce("add", b.load(a, view)), out)
    run(b)
    expected = a.any(axis) if KIND[dtype] == "b" else a.sum(axis, dtype=WIDER.get(dtype, dtype)).astype(dtype)
    assert_allclose(out.astype("complex128"), expected.astype("complex128"), rtol=1e-2 if KIND[dtype] == "e" else 1e-6)


def test_map_before_and_after_and_beside() -> None:
    a, c = floats(9, 700), floats(9, 700, seed=1)
    mean, difference = numpy.zeros(9, "float32"), numpy.zeros((9, 700), "float32")
    scale = floats(9, seed=2)
    b = Builder((9, 700), 1)
    d = b.apply("subtract", b.load(a), b.load(c))
    total = b.reduce("add", b.apply("multiply", d, d))
    by_row = b.load(scale, scale[:, None])
    b.store(d, difference)
    b.store(b.apply("multiply", b.apply("divide", total, b.scalar(700, "float32")), by_row), mean)
    run(b)
    assert_array_equal(difference, a - c)
    assert_allclose(mean, ((a - c) ** 2).mean(1) * scale, rtol=1e-5)


@pytest.mark.parametrize("shape", [(60000,), (3, 20000)])
def test_same_bits_whatever_the_order_of_blocks_and_threads(shape: tuple[int, ...]) -> None:
    a = floats(*shape).astype("float64")
    found = []
    for seed in range(3):
        out = numpy.zeros(shape[:-1])
        b = Builder(shape, 1)
        b.store(b.reduce("add", b.load(a)), out)
        assert run(b, 4, seed).scratch
        found.append(out.tobytes())
    assert len(set(found)) == 1


# Row-wise


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(3, 1000), (5, 1001), (70, 7), (70, 8), (2, 8192), (1, 100), (600, 33), (33, 600)])
def test_softmax(shape: tuple[int, int], axis: int) -> None:
    a = floats(*shape)
    view = numpy.moveaxis(a, axis, -1)
    out, largest = numpy.zeros(shape, "float32"), numpy.zeros(view.shape[0], "float32")
    b = Builder(view.shape, 1)
    x = b.load(a, view)
    top = b.reduce("maximum", x)
    e = b.apply("exp", b.apply("subtract", x, top))
    b.store(b.apply("divide", e, b.reduce("add", e)), out, numpy.moveaxis(out, axis, -1))
    b.store(top, largest)
    program = run(b)
    assert len(program.launches) == 1
    assert len(re.findall(r"= load_pack<\d>\(\(a0", program.text)) <= 1, "a row is loaded once"
    expected = numpy.exp(a - a.max(axis, keepdims=True))
    assert_allclose(out, expected / expected.sum(axis, keepdims=True), rtol=1e-5)
    assert_array_equal(largest, a.max(axis))


@pytest.mark.parametrize("shape", [(3, 1003), (2, 8192), (70, 33), (1, 40_000)])
def test_normalisation_by_moments(shape: tuple[int, int]) -> None:
    a = floats(*shape) * 3 + 1000
    out = numpy.zeros(shape, "float32")
    b = Builder(shape, 1)
    x, n = b.load(a), b.scalar(shape[1], "float32")
    spread = b.apply("sqrt", b.reduce("moments", x, b.scalar(0.0, "float64")))
    b.store(b.apply("divide", b.apply("subtract", x, b.apply("divide", b.reduce("add", x), n)), spread), out)
    run(b)
    wide = a.astype("float64")
    expected = (wide - wide.mean(1, keepdims=True)) / wide.std(1, keepdims=True)
    assert_allclose(out, expected, rtol=1e-5, atol=1e-4)  # the mean is rounded to float32


# How values that are near 0 become hard ones.
HARD: dict[str, Callable[[Any], Any]] = {
    "far from zero": lambda a: a + 30_000,
    "one far off first": lambda a: a + 1e6 * (numpy.arange(a.size) == 0).reshape(a.shape),
    "one far off last": lambda a: a + 1e6 * (numpy.arange(a.size) == a.size - 1).reshape(a.shape),
    "huge": lambda a: a * 1e18,
    "tiny": lambda a: a * 1e-15,
    "a step": lambda a: a + 1e5 * (numpy.arange(a.size) > a.size // 3).reshape(a.shape),
}


@pytest.mark.parametrize(
    ("shape", "axis"), [((40_001,), 0), ((3, 9000), 1), ((3, 9003), 1), ((900, 36), 0), ((901, 5), 0)]
)
@pytest.mark.parametrize("name", HARD)
def test_variance_of_hard_values(name: str, shape: tuple[int, ...], axis: int) -> None:
    a = HARD[name](floats(*shape)).astype("float32")
    view = numpy.moveaxis(a, axis, -1)
    out = numpy.zeros(view.shape[:-1], "float32")
    b = Builder(view.shape, 1)
    b.store(b.reduce("moments", b.load(a, view), b.scalar(1.0, "float64")), out)
    run(b)
    assert_allclose(out, view.astype("float64").var(-1, ddof=1), rtol=2e-6)


@pytest.mark.parametrize("where", [None, 0, 17, 4999, -1])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int32", "uint8", "bool"])
def test_extremes(dtype: str, where: int | None) -> None:
    a = values(10_001, dtype=dtype)
    if where is not None and a.dtype.kind in "fc":
        a[where] = numpy.nan
    b = Builder(a.shape, 1)
    outs = {row: numpy.zeros((), dtype) for row in ("maximum", "minimum")}
    x = b.load(a)
    for row, out in outs.items():
        b.store(b.reduce(row, x), out)
    run(b)
    assert_array_equal(outs["maximum"], a.max())
    assert_array_equal(outs["minimum"], a.min())


def test_layer_normalisation() -> None:
    a, gain, shift = floats(5, 768), floats(768, seed=1), floats(768, seed=2)
    out, deviation = numpy.zeros((5, 768), "float32"), numpy.zeros(5, "float32")
    b = Builder((5, 768), 1)
    x, n = b.load(a), b.scalar(768, "float32")
    centred = b.apply("subtract", x, b.apply("divide", b.reduce("add", x), n))
    spread = b.apply("sqrt", b.apply("divide", b.reduce("add", b.apply("multiply", centred, centred)), n))
    b.store(b.apply("add", b.apply("multiply", b.apply("divide", centred, spread), b.load(gain)), b.load(shift)), out)
    b.store(spread, deviation)
    run(b)
    assert_allclose(out, (a - a.mean(1, keepdims=True)) / a.std(1, keepdims=True) * gain + shift, rtol=1e-4, atol=1e-5)
    assert_allclose(deviation, a.std(1), rtol=1e-5)


# Scans

SCANNED: dict[str, tuple[tuple[int, ...], int]] = {
    "short": ((10,), 0),
    "one block": ((20001,), 0),
    "split": ((70000,), 0),
    "split, odd": ((70001,), 0),
    "few rows, split": ((3, 40000), 1),
    "tiny rows": ((40, 5), 1),
    "short rows": ((40, 30), 1),
    "warps": ((40, 200), 1),
    "blocks": ((4, 3001), 1),
    "columns": ((300, 30), 0),
    "columns, split": ((1000, 3), 0),
    "middle": ((5, 6, 7), 1),
}


@pytest.mark.parametrize("name", SCANNED)
def test_scan(name: str) -> None:
    shape, axis = SCANNED[name]
    a = values(*shape)
    view = numpy.moveaxis(a, axis, -1)
    out, least = numpy.zeros(shape, "float32"), numpy.zeros(shape, "float32")
    b = Builder(view.shape, 1)
    x = b.load(a, view)
    total = b.scan("add", b.apply("multiply", x, x))
    b.store(b.apply("add", total, x), out, numpy.moveaxis(out, axis, -1))
    b.store(b.scan("minimum", x), least, numpy.moveaxis(least, axis, -1))
    run(b)
    assert_array_equal(out, numpy.cumsum(a * a, axis) + a)
    assert_array_equal(least, numpy.minimum.accumulate(a, axis))


# Text


def every_strategy() -> dict[str, Kernel]:
    """A kernel of each kind, at a size where its rows are split and its vectors are whole."""
    a, out, row = floats(512, 1024), numpy.zeros((512, 1024), "float32"), floats(1024)
    kernels = {}
    b = Builder((512, 1024))
    b.store(b.apply("add", b.load(a), b.load(row)), out)
    kernels["map"] = b.kernel()
    b = Builder((1024, 512))
    b.store(b.apply("sin", b.load(a, a.T)), out.reshape(1024, 512))
    kernels["transposed"] = b.kernel()
    kernels["stencil"] = jacobi(a, out)[1]
    for name, axes in {"all": (0, 1), "columns": (0,), "rows": (1,)}.items():
        view = numpy.moveaxis(a, axes, range(-len(axes), 0))
        b = Builder(view.shape, len(axes))
        loaded, shape = b.load(a, view), view.shape[: -len(axes)]
        b.store(b.reduce("add", loaded), numpy.zeros(shape, "float32"))
        b.store(b.reduce("argmin", loaded, result="int64"), numpy.zeros(shape, "int64"))
        b.store(b.reduce("moments", loaded, b.scalar(1.0, "float64"), result="float64"), numpy.zeros(shape))
        kernels[f"reduce {name}"] = b.kernel()
    kernels["reduce points"] = attraction(64)[0].kernel()
    b = Builder((512, 1024), 1)
    e = b.apply("exp", b.apply("subtract", b.load(a), b.reduce("maximum", 0)))
    b.store(b.apply("divide", e, b.reduce("add", e)), out)
    kernels["row-wise"] = b.kernel()
    b = Builder((512 * 1024,), 1)
    b.store(b.scan("add", b.load(a.ravel())), out.ravel())
    kernels["scan"] = b.kernel()
    b = Builder((1024,))
    index = numpy.zeros(1024, "int64")
    b.store(b.gather(a, (b.load(index), b.load(index)), 3), out.ravel()[:1024].copy())
    kernels["gather"] = b.kernel()
    for dtype in ("float16", "bfloat16", "bool", "complex128"):
        x = values(64, 64, dtype=DTYPE_OF[dtype])
        b = Builder((64, 64), 1)
        b.store(b.reduce("add", b.apply("add", b.load(x), b.load(x, x[::-1]))), numpy.zeros(64, x.dtype))
        kernels[dtype] = b.kernel()
        b = Builder((2**16,), 1)
        x = numpy.zeros(2**16, x.dtype)
        b.store(b.scan("maximum", b.load(x)), x.copy())
        kernels[f"scan {dtype}"] = b.kernel()
    return kernels


DTYPE_OF = {str(dtype): dtype for dtype in DTYPES}
KERNELS = every_strategy()


@pytest.mark.parametrize("wide", [False, True], ids=["32-bit", "64-bit"])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
def test_compiles_for_the_device(arch: str, name: str, wide: bool) -> None:
    kernel = KERNELS[name]
    if wide:
        kernel = replace(kernel, shape=(2**22 * kernel.shape[0], *kernel.shape[1:]))
    assert compile_cubin(generate(kernel, 132).text, arch)


@pytest.mark.parametrize(("side", "vectors"), [(367, 1), (2048, 8)])
def test_a_thread_has_one_vector_where_there_are_few(side: int, vectors: int) -> None:
    """Those of 367 by 367 points of a stencil are all in flight at once on 132 processors."""
    u = numpy.zeros((side, side))
    text = generate(jacobi(u, u.copy())[1], 132).text
    found = {int(n) for n in re.findall(r"for \(int u = 0; u < (\d+)", text[text.index('extern "C"') :])}
    assert found == ({vectors} if vectors > 1 else set())
    assert text.count("if (all_inside)") == (vectors > 1)


@pytest.mark.parametrize(("count", "points"), [(1, 16), (2, 8), (4, 8), (8, 4), (16, 2), (40, 1)])
def test_a_thread_has_few_points_of_a_long_body(count: int, points: int) -> None:
    """Every copy of a mathematical function costs time of the compiler."""
    a, out = floats(1 << 20), numpy.zeros(1 << 20, "float32")
    b = Builder((1 << 20,))
    x = b.load(a)
    for _ in range(count):
        x = b.apply("multiply", b.apply("sin", x), x)
        x = b.apply("add", b.apply("multiply", x, x), b.apply("subtract", x, b.load(a)))
    b.store(x, out)
    assert points_of_a_thread(b) == points


def points_of_a_thread(builder: Builder) -> int:
    text = generate(builder.kernel(), 132).text
    loops = dict(re.findall(r"for \(int ([uv]) = 0; [uv] < (\d+)", text[text.index('extern "C"') :]))
    return int(loops.get("u", 1)) * int(loops.get("v", 1))


@pytest.mark.parametrize("name", [name for name, op in SPECIAL.items() if op.points])
def test_a_thread_has_few_points_of_a_function_of_hundreds_of_instructions(name: str) -> None:
    """Even if it is all that the kernel computes."""
    b = Builder((1 << 20,))
    x = b.load(floats(1 << 20))
    arguments = [x] * SPECIAL[name].arity
    b.store(b.apply(name, *arguments), numpy.zeros(1 << 20, "float32"))
    assert points_of_a_thread(b) == SPECIAL[name].points


@pytest.mark.parametrize("compiled", ["sm_90", "by the emulator"])
def test_all_helpers_fit_into_one_text(compiled: str) -> None:
    """A kernel may fuse any operations, so that no two helper files may define the same function."""
    text = op_code._concatenate(frozenset(op_code._HELPERS)) + '\nextern "C" __global__ void nothing() {}'
    if compiled == "by the emulator":
        assert compile_text(text, ["nothing"]).entries == ("nothing",)
    else:
        assert compile_cubin(text, compiled)


def ptx(name: str) -> str:
    """The PTX of a kernel."""
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    text = generate(KERNELS[name], 132).text
    program = nvrtc.nvrtcCreateProgram(text.encode(), b"kernel.cu", 0, [], [])[1]
    options = [b"--gpu-architecture=sm_90", b"-std=c++17", b"-fmad=false"]
    assert nvrtc.nvrtcCompileProgram(program, len(options), options)[0] == 0
    found = b" " * nvrtc.nvrtcGetPTXSize(program)[1]
    nvrtc.nvrtcGetPTX(program, found)
    return found.decode()


@pytest.mark.parametrize("name", ["map", "reduce all", "reduce columns", "reduce rows", "row-wise", "scan"])
def test_every_access_to_an_array_moves_16_bytes(name: str) -> None:
    loads = re.findall(r"ld\.global\.nc\.(\S+)", ptx(name))
    assert loads
    assert set(loads) - {"f64"} <= {"v4.f32", "v4.u32", "v2.u64"}


def test_text_depends_on_structure_alone() -> None:
    def text(n: int, m: int) -> str:
        b = Builder((n, m))
        a, row, out = floats(n, m), floats(m), numpy.zeros((n, m), "float32")
        b.store(b.apply("add", b.load(a), b.load(row)), out)
        return generate(b.kernel(), PROCESSORS).text

    assert text(30, 1200) == text(50, 2400)
    assert text(30, 1200) != text(30, 1201), "an odd row has no vectors"


def test_division_by_a_product() -> None:
    sides = [1, 2, 3, 5, 6, 7, 641, 2**16 - 1, 2**16, 2**16 + 1, 2**30 - 1, 2**30, 2**30 + 1, 2**31 - 1]
    rng = numpy.random.default_rng(0)
    for divisor in [*sides, *rng.integers(1, 2**31, 200).tolist()]:
        unit = Unit(Kernel((), 0, (), Body((), ())))
        assert unit.quotient("n", divisor, "key") == unit.quotient("n", divisor, "key") == "quotient(n, p0, p1)"
        magic, shift = unit.program().params
        assert magic < 2**32
        last = (2**31 - 1) // divisor * divisor
        for number in {0, divisor - 1, divisor, last - 1, last, 2**31 - 1, *rng.integers(0, 2**31, 9).tolist()}:
            assert number * magic < 2**64
            assert number * magic >> shift == number // divisor


def huge() -> Kernel:
    """A kernel of more elements than 32 bits can count."""
    b = Builder((2, 8))
    a, out = floats(2, 8), numpy.zeros((2, 8), "float32")
    b.store(b.load(a), out)
    kernel = b.kernel()
    return replace(kernel, shape=(2**20, 2**13))


def test_index_width() -> None:
    assert "typedef long long Int;" in generate(huge(), 132).text
    small = Builder((8,))
    small.store(small.load(floats(8)), numpy.zeros(8, "float32"))
    assert "typedef int Int;" in generate(small.kernel(), 132).text


def test_what_is_refused() -> None:
    a, out = floats(2, 300000), numpy.zeros((2, 300000), "float32")
    b = Builder((2, 300000), 1)
    x = b.load(a)
    b.store(b.apply("subtract", x, b.reduce("maximum", x)), out)
    with pytest.raises(ValueError, match="does not fit a block"):
        generate(b.kernel(), PROCESSORS)
    b = Builder((2, 300000), 1)
    x = b.load(a)
    b.store(b.apply("subtract", b.scan("add", x), b.reduce("maximum", x)), out)
    with pytest.raises(ValueError, match="both scans and reductions"):
        generate(b.kernel(), PROCESSORS)
