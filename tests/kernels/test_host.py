"""The CPU executor against NumPy itself, on kernels built by hand."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

import ml_dtypes
import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.dtypes import DTYPES, bfloat16
from gpunumpy.core.ops.table import WIDER
from gpunumpy.core.schedule.kernel import (
    Affine,
    Apply,
    Arg,
    Body,
    Kernel,
    Load,
    LoadIndexed,
    LoopIndex,
    ReduceLoops,
    Scalar,
    ScanLoop,
    Store,
    are_row_level,
    value_dtypes,
)
from gpunumpy.core.schedule.sizes import Trace
from gpunumpy.kernels.host import gathers as host_gathers
from gpunumpy.kernels.host import loops as host
from gpunumpy.kernels.host import text as host_text
from gpunumpy.kernels.host import threads as host_threads
from gpunumpy.kernels.sort.host import sort

F4, F8, I8, B1 = (numpy.dtype(name) for name in ("f4", "f8", "i8", "?"))


class Builder:
    """Builds a kernel over `shape`, value by value."""

    def __init__(self, shape: Sequence[int], reduced: int = 0) -> None:
        self.shape, self.reduced = tuple(shape), reduced
        self.args: list[Arg] = []
        self.given: list[Any] = []
        self.instructions: list[Any] = []
        self.stores: list[Store] = []

    def affine(self, array: numpy.ndarray, base: numpy.ndarray) -> Affine:
        """Where `array`, a view of `base` that broadcasts to the loop, has its elements."""
        view = numpy.broadcast_to(array, self.shape)
        start = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        return Affine(start // array.itemsize, tuple(s // array.itemsize for s in view.strides))

    def argument(self, base: Any, arg: Arg) -> int:
        for k, known in enumerate(self.given):
            if known is base:
                return k
        self.given.append(base)
        self.args.append(arg)
        return len(self.args) - 1

    def put(self, instr: Any) -> int:
        self.instructions.append(instr)
        return len(self.instructions) - 1

    def load(self, array: numpy.ndarray, base: numpy.ndarray | None = None) -> int:
        base = array.reshape(-1) if base is None else base
        return self.put(Load(self.argument(base, Arg("in", base.dtype)), self.affine(array, base)))

    def scalar(self, value: Any, dtype: Any = F8) -> int:
        self.given.append(value)
        self.args.append(Arg("scalar", numpy.dtype(dtype)))
        return self.put(Scalar(len(self.args) - 1))

    def apply(self, op: str, *args: int, loop: Any = F8) -> int:
        loop = tuple(loop) if isinstance(loop, (tuple, list)) else (loop,) * (len(args) + 1)
        return self.put(Apply(op, args, tuple(map(numpy.dtype, loop))))

    def reduce(self, op: str, *args: int, loop: Any = F8) -> int:
        loop = tuple(loop) if isinstance(loop, (tuple, list)) else (loop,) * (len(args) + 1)
        return self.put(ReduceLoops(op, args, tuple(map(numpy.dtype, loop))))

    def store(self, value: int, out: numpy.ndarray, base: numpy.ndarray, alias: int = -1) -> None:
        self.given.append(base)
        self.args.append(Arg("out", base.dtype, alias=alias))
        self.stores.append(Store(len(self.args) - 1, value, self.affine(out, base)))

    def result(self, value: int, dtype: Any = F8) -> numpy.ndarray:
        """Store `value` to a new array of the shape it has, with size 1 along reduced dimensions if at row level."""
        shape = self.shape[: len(self.shape) - self.reduced] + (1,) * self.reduced
        return self._result(value, shape, dtype)

    def full(self, value: int, dtype: Any = F8) -> numpy.ndarray:
        return self._result(value, self.shape, dtype)

    def _result(self, value: int, shape: tuple[int, ...], dtype: Any) -> numpy.ndarray:
        out = numpy.zeros(shape, dtype)
        self.store(value, out, out.reshape(-1))
        return out

    def kernel(self, **more: Any) -> Kernel:
        return Kernel(
            self.shape, self.reduced, tuple(self.args), Body(tuple(self.instructions), tuple(self.stores)), **more
        )

    def run(self, **more: Any) -> None:
        host.SizedKernel(self.kernel(**more), Trace()).at(())(self.given)


def same(got: Any, expected: Any) -> None:
    """Equal to the bit, but for the sign and payload of a NaN."""
    got, expected = numpy.asarray(got), numpy.asarray(expected)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    ok = (got == expected) | ((got != got) & (expected != expected))
    assert ok.all(), (got, expected)


def values(shape: Sequence[int] | int, dtype: Any = F8, seed: int = 0) -> numpy.ndarray:
    rng = numpy.random.default_rng(seed)
    dtype = numpy.dtype(dtype)
    if dtype.kind == "c":
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return rng.integers(0, 100, shape).astype(dtype)
    return rng.normal(size=shape).astype(dtype)


def small_blocks(monkeypatch: pytest.MonkeyPatch, threads: int = 3) -> None:
    """Make blocks so small that everything is cut, and always use threads."""
    monkeypatch.setattr(host, "BLOCK_BYTES", 0)
    monkeypatch.setattr(host, "MIN_OPERAND_BYTES", 56)
    monkeypatch.setattr(host, "PARALLEL_WORK", 0)
    for module in (host, host_threads):
        monkeypatch.setattr(module, "workers", lambda: threads)


@pytest.fixture(params=["whole", "blocks"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "blocks":
        small_blocks(monkeypatch)
    return str(request.param)


def expression(k: Builder, a: int, b: int, loop: Any = F8) -> int:
    two, one, tenth, half = (k.scalar(x, loop) for x in (2.0, 1.0, 0.1, 0.5))

    def op(name: str, *args: int) -> int:
        return k.apply(name, *args, loop=loop)

    left = op("subtract", op("add", op("multiply", op("sin", a), two), b), one)
    right = op("divide", op("exp", op("multiply", a, tenth)), op("sqrt", op("add", op("multiply", b, b), one)))
    return op("add", op("multiply", left, right), op("multiply", a, half))


def expected_expression(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
    return (numpy.sin(a) * 2 + b - 1) * (numpy.exp(a * 0.1) / numpy.sqrt(b * b + 1)) + a * 0.5


def _views() -> dict[str, tuple[numpy.ndarray, numpy.ndarray]]:
    base = values(4000)
    grid = base[: 40 * 50].reshape(40, 50)
    return {
        "contiguous": (base, grid),
        "reversed": (base, grid[::-1, ::-1]),
        "strided": (base, base[:4000].reshape(40, 100)[:, 1::2]),
        "transposed": (base, base[100:2100].reshape(50, 40).T),
        "row": (base, base[7:57]),
        "column": (base, base[3:43].reshape(40, 1)),
        "one": (base, base[5:6]),
        "diagonal step": (base, base[:2500].reshape(50, 50)[5:45, ::-1]),
    }


@pytest.mark.parametrize("left", list(_views()))
@pytest.mark.parametrize("right", ["contiguous", "transposed", "row", "column"])
def test_map_over_views(left: str, right: str, blocks: str) -> None:
    (base, a), (other, b) = _views()[left], _views()[right]
    k = Builder((40, 50))
    out = k.full(expression(k, k.load(a, base), k.load(b, other)))
    k.run()
    same(out, numpy.broadcast_to(expected_expression(a, b), (40, 50)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype: numpy.dtype[Any], blocks: str) -> None:
    a, b = values((6, 20), dtype), values((6, 20), dtype, 1)
    k = Builder((6, 20))
    x, y = k.load(a), k.load(b)
    total = k.apply("add", x, y, loop=dtype)
    out = k.full(k.apply("multiply", total, k.scalar(dtype.type(1), dtype), loop=dtype), dtype)
    less = k.full(k.apply("less", x, y, loop=(dtype, dtype, B1)), bool)
    picked = k.full(k.apply("where", len(k.instructions) - 1, x, y, loop=(B1, dtype, dtype, dtype)), dtype)
    k.run()
    same(out, (a + b) * dtype.type(1))
    same(less, a < b)
    same(picked, numpy.where(a < b, a, b))


@pytest.mark.parametrize("source", DTYPES, ids=str)
def test_casts(source: numpy.dtype[Any], blocks: str) -> None:
    a = values(60, source)
    k = Builder((60,))
    x = k.load(a)
    outs = [k.full(k.apply("cast", x, loop=(source, target)), target) for target in DTYPES]
    k.run()
    real = a.real if source.kind == "c" else a
    for out in outs:
        same(out, (a if out.dtype.kind in "bc" else real).astype(out.dtype))


def test_errors_are_ignored_quietly() -> None:
    a = numpy.array([0.0, -1.0, numpy.inf])
    k = Builder((3,))
    out = k.full(k.apply("divide", k.load(a), k.load(numpy.zeros(3))))
    k.run()
    same(out, [numpy.nan, -numpy.inf, numpy.inf])


def test_kernels_see_nothing_of_the_context_that_asks_for_them() -> None:
    """Their values are the same, whoever looks."""
    of_a_program = ContextVar("of_a_program", default=0)
    of_a_program.set(1)
    with numpy.errstate(all="raise"), numpy.printoptions(precision=2):
        assert set(host_threads.quietly(numpy.geterr).values()) == {"ignore"}
        assert host_threads.quietly(of_a_program.get) == 0
        with np.Device("cpu"):
            numpy.testing.assert_array_equal((1 / np.asarray([0.0, 2.0])).get(), [numpy.inf, 0.5])


def test_what_an_exception_leaves_of_errors_is_forgotten() -> None:
    """A signal handler's may come in functions of NumPy that change how errors are told, before they set that back."""

    def interrupted() -> None:
        numpy.seterr(invalid="raise")
        raise KeyboardInterrupt

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            host_threads.quietly(interrupted)
        assert set(host_threads.quietly(numpy.geterr).values()) == {"ignore"}


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1), (0,), (3, 0), (2, 3, 4, 5)])
def test_shapes(shape: tuple[int, ...], blocks: str) -> None:
    a = values(shape)
    k = Builder(shape)
    out = k.full(k.apply("negative", k.load(numpy.asarray(a))))
    k.run()
    same(out, numpy.negative(a) if shape else numpy.asarray(-a))


def test_scalars_and_indices_alone(blocks: str) -> None:
    k = Builder((5, 9))
    out = k.full(k.apply("add", k.scalar(2.5), k.scalar(1)))
    line = k.full(k.put(LoopIndex(Affine(3, (9, -1)))), I8)
    column = k.full(k.apply("multiply", k.put(LoopIndex(Affine(-1, (2, 0)))), k.scalar(3, I8), loop=I8), I8)
    k.run()
    same(out, numpy.full((5, 9), 3.5))
    i, j = numpy.indices((5, 9))
    same(line, 3 + 9 * i - j)
    same(column, 3 * (2 * i - 1))


def test_values_stored_twice_and_loads_stored(blocks: str) -> None:
    a = values((8, 11))
    k = Builder((8, 11))
    x = k.load(a)
    y = k.apply("exp", x)
    outs = [k.full(y), k.full(y), k.full(x), k.full(k.apply("add", y, x))]
    k.run()
    for out, want in zip(outs, (numpy.exp(a), numpy.exp(a), a, numpy.exp(a) + a), strict=True):
        same(out, want)


def test_strided_store_leaves_the_rest(blocks: str) -> None:
    a, target = values((10, 6)), numpy.zeros((12, 20))
    k = Builder((10, 6))
    k.store(k.apply("sqrt", k.apply("square", k.load(a))), target[1:11, 17:5:-2], target.reshape(-1))
    k.run()
    want = numpy.zeros((12, 20))
    want[1:11, 17:5:-2] = numpy.sqrt(a * a)
    same(target, want)


def test_in_place(blocks: str) -> None:
    a = values((30,))
    old, flat = a.copy(), a
    k = Builder((30,))
    x = k.load(a, flat)
    doubled = k.apply("multiply", x, k.scalar(2.0))
    other = k.full(k.apply("add", doubled, x))  # the old value, read after the new one is known
    k.store(doubled, a, flat, alias=0)
    k.run()
    same(a, old * 2)
    same(other, old * 2 + old)


def test_exchange_in_place(blocks: str) -> None:
    a, b = values(50), values(50, seed=1)
    old = a.copy(), b.copy()
    k = Builder((50,))
    x, y = k.load(a, a), k.load(b, b)
    k.store(y, a, a, alias=0)
    k.store(x, b, b, alias=1)
    k.run()
    same(a, old[1])
    same(b, old[0])


def test_region(blocks: str) -> None:
    u = values((12, 15))
    flat = u.reshape(-1)
    out = numpy.zeros((12, 15))
    k = Builder((12, 15))

    def shifted(di: int, dj: int) -> int:
        return k.put(Load(k.argument(flat, Arg("in", F8)), Affine(di * 15 + dj, (15, 1))))

    total = k.apply("add", shifted(-1, 0), shifted(1, 0))
    total = k.apply("add", k.apply("add", total, shifted(0, -1)), shifted(0, 1))
    k.store(k.apply("multiply", total, k.scalar(0.25)), out, out.reshape(-1))
    at = Affine(0, (15, 1))
    outside = Body((Load(0, at),), (Store(k.stores[0].arg, 0, at),))
    k.run(region=((1, 11), (1, 14)), outside=outside)
    want = u.copy()
    want[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) * 0.25
    same(out, want)


SUMS = ["add", "maximum", "minimum", "multiply"]


@pytest.mark.parametrize("op", SUMS)
@pytest.mark.parametrize("axes", [(2,), (0,), (1,), (0, 2), (0, 1, 2), (1, 2)], ids=str)
@pytest.mark.parametrize("dtype", [F8, F4, I8], ids=str)
def test_reductions_to_the_bit(op: str, axes: tuple[int, ...], dtype: Any) -> None:
    a = values((5, 13, 21), dtype)
    keep = [d for d in range(3) if d not in axes]
    moved = a.transpose(*keep, *axes)
    k = Builder(moved.shape, len(axes))
    out = k.result(k.reduce(op, k.load(moved, a.reshape(-1)), loop=dtype), dtype)
    k.run()
    same(out.reshape([a.shape[d] for d in keep]), getattr(numpy, op).reduce(a, axes))


@pytest.mark.parametrize("axes", [(2,), (0,), (1,), (0, 2), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("threads", [1, 3])
def test_reductions_in_parts(axes: tuple[int, ...], threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch, threads)
    a = numpy.round(values((5, 13, 21)) * 4)
    keep = [d for d in range(3) if d not in axes]
    moved = a.transpose(*keep, *axes)
    k = Builder(moved.shape, len(axes))
    x = k.load(moved, a.reshape(-1))
    y = k.apply("multiply", x, k.scalar(0.5))
    total = k.reduce("add", y)
    outs = {
        "sum": k.result(total),
        "top": k.result(k.reduce("maximum", x)),
        "any": k.result(k.reduce("any", k.apply("greater", x, k.scalar(9.0), loop=(F8, F8, B1)), loop=B1), B1),
        "count": k.result(k.reduce("count_nonzero", x, loop=(F8, I8)), I8),
        "argmax": k.result(k.reduce("argmax", x, loop=(F8, I8)), I8),
        "argmin": k.result(k.reduce("argmin", x, loop=(F8, I8)), I8),
        "var": k.result(k.reduce("moments", x, k.scalar(1.0), loop=(F8, F8, F8))),
        "post": k.result(k.apply("sqrt", k.apply("absolute", total))),
    }
    k.run()
    shape = [a.shape[d] for d in keep]
    flat = moved.reshape(*shape, -1)
    want = {
        "sum": (a * 0.5).sum(axes),
        "top": a.max(axes),
        "any": (a > 9).any(axes),
        "count": numpy.count_nonzero(a, axes),
        "argmax": flat.argmax(-1),
        "argmin": flat.argmin(-1),
        "post": numpy.sqrt(abs((a * 0.5).sum(axes))),
    }
    for name, expected in want.items():
        same(outs[name].reshape(shape), expected)
    numpy.testing.assert_allclose(outs["var"].reshape(shape), a.var(axes, ddof=1), rtol=1e-13)


def test_position_of_a_nan_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    a = values(100)
    a[[40, 77]] = numpy.nan
    k = Builder((100,), 1)
    x = k.load(a)
    high, low = (k.result(k.reduce(op, x, loop=(F8, I8)), I8) for op in ("argmax", "argmin"))
    k.run()
    assert high == low == 40


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reduction_dtypes(dtype: numpy.dtype[Any], blocks: str) -> None:
    a = values((7, 30), dtype)
    k = Builder((7, 30), 1)
    x = k.load(a)
    add, top = k.result(k.reduce("add", x, loop=dtype), dtype), k.result(k.reduce("maximum", x, loop=dtype), dtype)
    at = k.result(k.reduce("argmax", x, loop=(dtype, I8)), I8)
    every = k.result(k.reduce("all", x, loop=(dtype, B1)), B1)
    k.run()
    same(every, numpy.all(a, 1, keepdims=True))
    exact = WIDER.get(dtype, dtype)
    want = numpy.add.reduce(a, 1, exact, keepdims=True).astype(dtype)
    if dtype.kind in "biu":
        same(add, want)
    else:
        eps = float(ml_dtypes.finfo(dtype).eps)
        error = abs(add.astype("c16") - want.astype("c16"))
        assert (error <= 16 * eps * abs(a.astype("c16")).sum(1, keepdims=True)).all()
    same(top, numpy.maximum.reduce(a, 1, keepdims=True))
    same(at, numpy.argmax(a, 1, keepdims=True))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
def test_variance_to_the_bit(dtype: str) -> None:
    a = values((7, 30), dtype)
    want = numpy.var(a, axis=1, ddof=1, keepdims=True)
    result = want.dtype
    if dtype == "f2":  # carried in float32 here, in float16 by NumPy
        want = numpy.var(a.astype(F4), axis=1, ddof=1, keepdims=True).astype(result)
    k = Builder((7, 30), 1)
    out = k.result(k.reduce("moments", k.load(a), k.scalar(1.0), loop=(dtype, F8, result)), result)
    k.run()
    same(out, want)


def test_float32_sum_in_parts_is_accurate(monkeypatch: pytest.MonkeyPatch) -> None:
    a = numpy.full(1 << 20, 0.1, F4)
    k = Builder(a.shape, 1)
    out = k.result(k.reduce("add", k.load(a), loop=F4), F4)
    k.run()
    exact = a.astype(F8).sum()
    assert abs(out[0] - exact) <= abs(a.sum() - exact)
    first = out.copy()
    monkeypatch.setattr(host_threads, "workers", lambda: 1)
    k.run()
    same(out, first)


def test_reduction_of_what_does_not_vary(blocks: str) -> None:
    a = values(9)
    k = Builder((9, 40), 1)
    rows = k.result(k.reduce("add", k.load(a[:, None], a)))
    alone = k.result(k.reduce("add", k.scalar(1.5)))
    k.run()
    numpy.testing.assert_allclose(rows[:, 0], a * 40, rtol=1e-14)
    same(alone, numpy.full((9, 1), 60.0))


def test_empty_rows() -> None:
    k = Builder((3, 0), 1)
    x = k.load(numpy.zeros((3, 0)))
    total, none = k.result(k.reduce("add", x)), k.result(k.reduce("moments", x, k.scalar(0.0), loop=(F8, F8, F8)))
    total += 7
    k.run()
    same(total, numpy.zeros((3, 1)))
    assert numpy.isnan(none).all()


@pytest.mark.parametrize("transposed", [False, True])
def test_softmax_rows(transposed: bool, blocks: str) -> None:
    base = values(20 * 33)
    a = base.reshape(33, 20).T if transposed else base.reshape(20, 33)
    k = Builder((20, 33), 1)
    x = k.load(a, base)
    e = k.apply("exp", k.apply("subtract", x, k.reduce("maximum", x)))
    total = k.reduce("add", e)
    out, sums = k.full(k.apply("divide", e, total)), k.result(total)
    k.run()
    want = numpy.exp(a - a.max(1, keepdims=True))
    numpy.testing.assert_allclose(sums, want.sum(1, keepdims=True), rtol=1e-15)
    numpy.testing.assert_allclose(out, want / want.sum(1, keepdims=True), rtol=1e-15)


@pytest.mark.parametrize("axis", [0, 1])
def test_scan(axis: int, blocks: str) -> None:
    a = values((31, 17))
    moved = a if axis == 1 else a.T
    k = Builder(moved.shape, 1)
    x = k.put(ScanLoop("add", (k.apply("negative", k.load(moved, a.reshape(-1))),), (F8, F8)))
    out = k.full(k.apply("multiply", x, k.scalar(2.0)))
    k.run()
    same(out, numpy.cumsum(-moved, axis=1) * 2)


def test_scan_of_one_and_none() -> None:
    for length in (0, 1):
        k = Builder((4, length), 1)
        a = values((4, length))
        out = k.full(k.put(ScanLoop("add", (k.load(a),), (F8, F8))))
        k.run()
        same(out, a)


def test_gather(blocks: str) -> None:
    a, i, j = values((9, 14)), values(40, I8) % 18 - 9, values(40, I8, 1) % 28 - 14
    k = Builder((40,))
    x, y = k.load(i), k.load(j)
    source_location = len(k.args)
    k.scalar(1, I8)
    source = k.argument(a.reshape(-1), Arg("in", F8))
    out = k.full(
        k.apply("negative", k.put(LoadIndexed(source, Affine(0, (0,)), (x, y), (9, 14), (14, 1), source_location)))
    )
    k.run()
    same(out, -a[i, j])


@pytest.mark.parametrize("run", [2, 16])
def test_gather_of_rows(run: int, blocks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_text, "_MIN_RUN_ELEMENTS", run)
    a, i = values((9, 14)), values(6, I8) % 18 - 9
    k = Builder((6, 14))
    x = k.load(i[:, None], i)
    source = k.argument(a.reshape(-1), Arg("in", F8))
    out = k.full(k.put(LoadIndexed(source, Affine(0, (0, 1)), (x,), (9,), (14,), 0)))
    k.run()
    same(out, a[i])


@pytest.mark.parametrize("bad", [9, -10])
@pytest.mark.parametrize("shape", [(6, 20), (1, 20)])  # a run at each of several positions, or at one
def test_gather_of_rows_out_of_bounds(bad: int, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[tuple[str, int]] = []
    monkeypatch.setattr(host_gathers, "index_errors", found)
    a, i = values((9, 20)), numpy.full(shape[0], bad, I8)
    k = Builder(shape)
    x = k.load(i[:, None], i)
    source_location = len(k.args)
    k.scalar(17, I8)
    source = k.argument(a.reshape(-1), Arg("in", F8))
    out = k.full(k.put(LoadIndexed(source, Affine(0, (0, 1)), (x,), (9,), (20,), source_location)))
    k.run()
    assert found == [(f"index {bad} is out of bounds for axis with size 9", 17)]
    same(out, a[i.clip(-9, 8)])


def test_one_number_a_row_is_a_scalar_in_blocks_of_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    a, weight = values((6, 20)), values((6, 1), "i4")
    k = Builder((6, 20))
    factor = k.apply("cast", k.apply("add", k.load(weight), k.load(weight), loop="i4"), loop=("i4", F8))
    out = k.full(k.apply("multiply", factor, k.load(a)))
    sums = k.full(factor)
    k.run()
    same(out, (weight + weight) * a)
    same(sums, numpy.broadcast_to(weight * 2.0, a.shape))


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_parts_of_complex_numbers(dtype: str, blocks: str) -> None:
    z, w = values((6, 40), dtype), values((6, 40), dtype, 1)
    c, f = numpy.dtype(dtype), z.real.dtype
    k, base = Builder((6, 40)), z.reshape(-1)
    x, y = k.load(z, base), k.load(w)
    early = k.apply("imag", x, loop=(c, f))
    x = k.apply("multiply", x, y, loop=c)
    squared = k.apply("square", x, loop=c)
    parts = [k.apply(part, squared, loop=(c, f)) for part in ("real", "imag")]
    # Neither the memory of the square nor that of what was loaded may be taken before its parts are read.
    cubed = k.full(k.apply("square", k.apply("multiply", x, squared, loop=c), loop=c), c)
    size = k.full(k.apply("multiply", *parts, loop=f), f)
    late = k.full(k.apply("multiply", early, parts[1], loop=f), f)
    turned = k.full(
        k.apply("complex", *(k.apply(part, x, loop=(c, f)) for part in ("imag", "real")), loop=(f, f, c)), c
    )
    k.store(x, z, base, alias=0)
    old = z.copy()
    k.run()
    product = old * w
    same(z, product)
    square = product**2
    same(cubed, numpy.square(product * square))
    same(size, square.real * square.imag)
    same(late, old.imag * square.imag)
    same(turned, product.imag + 1j * product.real)


@pytest.mark.parametrize("bad", [9, -10])
def test_gather_out_of_bounds(bad: int, blocks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[tuple[str, int]] = []
    monkeypatch.setattr(host_gathers, "index_errors", found)
    a, i = values(9), numpy.zeros(40, I8)
    i[33] = bad
    k = Builder((40,))
    x = k.load(i)
    source_location = len(k.args)
    k.scalar(17, I8)
    out = k.full(k.put(LoadIndexed(k.argument(a, Arg("in", F8)), Affine(0, (0,)), (x,), (9,), (1,), source_location)))
    k.run()
    assert found == [(f"index {bad} is out of bounds for axis with size 9", 17)]
    same(out, a[i.clip(-9, 8)])


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_stored_beside_their_sum(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch, threads)
    a = numpy.round(values((3, 50)) * 8)
    old = a.copy()
    k = Builder((3, 50), 1)
    x = k.load(a, a.reshape(-1))
    y = k.apply("add", x, k.scalar(1.0))
    total = k.result(k.reduce("add", y))
    k.store(y, a, a.reshape(-1), alias=0)
    k.run()
    same(a, old + 1)
    same(total, (old + 1).sum(1, keepdims=True))


def test_sum_spread_over_its_row(blocks: str) -> None:
    a = numpy.round(values((6, 50)) * 8)
    k = Builder((6, 50), 1)
    out = k.full(k.reduce("add", k.load(a)))
    k.run()
    same(out, numpy.broadcast_to(a.sum(1, keepdims=True), a.shape))


def test_large_map_with_broadcast_row() -> None:
    a, b = values((300, 1500)), values(1500, seed=1)
    k = Builder((300, 1500))
    out = k.full(expression(k, k.load(a), k.load(b)))
    k.run()
    same(out, expected_expression(a, b))


def test_read_only_input() -> None:
    a = values((4, 6)).astype(bfloat16)
    flat = a.reshape(-1)
    flat.flags.writeable = False
    k = Builder((4, 3))
    out = k.full(k.apply("positive", k.load(a[:, ::2], flat), loop=bfloat16), bfloat16)
    k.run()
    same(out, a[:, ::2])


def naive(kernel: Kernel, given: Sequence[Any]) -> list[tuple[numpy.ndarray, numpy.ndarray]]:
    """Every value in full, one instruction after the other: where each store goes, and what."""
    shape, axes = kernel.shape, tuple(range(len(kernel.shape) - kernel.reduced, len(kernel.shape)))
    points = numpy.indices(shape)

    def place(at: Affine) -> numpy.ndarray:
        return at.offset + sum((c * points[d] for d, c in enumerate(at.coef)), numpy.zeros(shape, I8))

    done: list[numpy.ndarray] = []
    for instr in kernel.body.instructions:
        if isinstance(instr, Load):
            value = given[instr.arg][place(instr.at)]
        elif isinstance(instr, Scalar):
            value = numpy.full(shape, given[instr.arg])
        elif isinstance(instr, LoopIndex):
            value = place(instr.at)
        elif isinstance(instr, LoadIndexed):
            at = place(instr.at)
            for k, n, stride in zip(instr.index, instr.dims, instr.strides, strict=True):
                at = at + done[k] % n * stride
            value = given[instr.arg][at]
        elif isinstance(instr, ReduceLoops):
            value = numpy.broadcast_to(getattr(numpy, instr.op).reduce(done[instr.args[0]], axes, keepdims=True), shape)
        elif isinstance(instr, ScanLoop):
            value = getattr(numpy, instr.op).accumulate(done[instr.args[0]], axes[0])
        elif instr.op == "cast":
            value = done[instr.args[0]].astype(instr.loop[1])
        else:
            value = getattr(numpy, instr.op)(*(done[k] for k in instr.args))
        done.append(value)
    return [(place(store.at), done[store.value]) for store in kernel.body.stores]


def random_kernel(seed: int) -> Builder:
    """A kernel of integers, whose sums are exact in any order."""
    rng = numpy.random.default_rng(seed)
    draw = rng.integers
    shape = tuple(int(n) for n in draw(1, 7, draw(1, 5)))
    k = Builder(shape, int(draw(0, len(shape))))
    outer = len(shape) - k.reduced

    def affine(dims: int = len(shape)) -> tuple[Affine, int]:
        """A view's affine map, all its points apart, and the size of the storage it needs."""
        coef, reach, low = [0] * len(shape), 1, 0
        for d in rng.permutation(dims) if draw(0, 2) else range(dims - 1, -1, -1):
            coef[d] = reach * int(draw(1, 3)) * (1 if draw(0, 3) else -1)
            low += min(0, coef[d] * (shape[d] - 1))
            reach = abs(coef[d]) * shape[d]
        return Affine(-low + int(draw(0, 3)), tuple(coef)), reach + 3

    inputs: list[tuple[int, Affine]] = []
    for _ in range(draw(1, 4)):
        at, size = affine()
        arg = k.argument(values(size, I8, int(draw(0, 1000))), Arg("in", I8))
        inputs.append((arg, at))
        keep = [bool(draw(0, 4)) for _ in shape] if draw(0, 2) else [True] * len(shape)
        base = sum(c * (n - 1) for c, n, f in zip(at.coef, shape, keep, strict=True) if c < 0 and not f)
        held = tuple(c if f else 0 for c, f in zip(at.coef, keep, strict=True))
        k.put(Load(arg, Affine(at.offset + base, held)))
        if all(keep):
            inputs[-1] = (arg, at)
        else:
            inputs.pop()
    if draw(0, 2):
        k.scalar(int(draw(-9, 9)), I8)
    if draw(0, 3) == 0:
        k.put(LoopIndex(Affine(int(draw(-5, 5)), tuple(int(c) for c in draw(-3, 4, len(shape))))))
    scanned = k.reduced == 1 and draw(0, 4) == 0
    for _ in range(draw(1, 12)):
        dtypes = value_dtypes(k.kernel(), k.kernel().body)
        one, two = (int(i) for i in rng.choice([i for i, dtype in enumerate(dtypes) if dtype == I8], 2))
        kind = draw(0, 10)
        if kind < 5:
            k.apply(["add", "multiply", "maximum", "bitwise_xor", "subtract"][kind], one, two, loop=I8)
        elif kind == 5:
            k.apply("negative", one, loop=I8)
        elif kind == 6:
            k.apply("cast", k.apply("cast", one, loop=(I8, "i2")), loop=("i2", I8))
        elif kind == 7:
            k.apply("where", k.apply("less", one, two, loop=(I8, I8, B1)), two, one, loop=(B1, I8, I8, I8))
        elif kind == 8 and k.reduced:
            k.reduce(["add", "maximum"][draw(0, 2)], one, loop=I8)
        elif scanned:
            k.put(ScanLoop("add", (one,), (I8, I8)))
    levels = are_row_level(k.kernel(), k.kernel().body)
    usable = [i for i, d in enumerate(value_dtypes(k.kernel(), k.kernel().body)) if d == I8]
    for _ in range(draw(1, 4)):
        value = int(rng.choice(usable))
        if inputs and draw(0, 3) == 0 and not (k.reduced and levels[value]):
            arg, at = inputs.pop()
            k.given.append(k.given[arg])
            k.args.append(Arg("out", I8, alias=arg))
        else:
            at, size = affine(outer if levels[value] else len(shape))
            k.given.append(numpy.zeros(size, I8))
            k.args.append(Arg("out", I8))
        k.stores.append(Store(len(k.args) - 1, value, at))
    return k


@pytest.mark.parametrize("seed", range(150))
def test_random_kernels(seed: int, blocks: str) -> None:
    k = random_kernel(seed)
    want = [given.copy() if isinstance(given, numpy.ndarray) else given for given in k.given]
    for n, arg in enumerate(k.args):
        if arg.alias >= 0:
            want[n] = want[arg.alias]
    for (at, value), store in zip(naive(k.kernel(), want), k.stores, strict=True):
        want[store.arg][at] = value
    k.run()
    for got, expected in zip(k.given, want, strict=True):
        same(got, expected)


def test_many_callers_at_once() -> None:
    a, b = values((100, 1000)), values((100, 1000), seed=1)
    k = Builder((100, 1000))
    k.full(expression(k, k.load(a), k.load(b)))
    run = host.SizedKernel(k.kernel(), Trace()).at(())

    def call(_: int) -> numpy.ndarray:
        out = numpy.empty(a.size)
        run([*k.given[:-1], out])
        return out

    with ThreadPoolExecutor(4) as pool:
        for out in pool.map(call, range(12)):
            same(out.reshape(a.shape), expected_expression(a, b))


@pytest.mark.parametrize("descending", [False, True])
def test_many_equal_float16_are_sorted(descending: bool) -> None:
    """NumPy's default sort leaves them out of order on some processors."""
    values = numpy.random.default_rng(0).integers(-100, 100, 100_000).astype("f2")
    found = numpy.empty_like(values)
    sort((descending,), found, values)
    expected = numpy.sort(values.astype("f4"))
    numpy.testing.assert_array_equal(found, expected[::-1] if descending else expected)
