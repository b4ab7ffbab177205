"""The interpreter of kernels, run on the emulated machine beside the kernels that are generated."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import numpy
import pytest

from gpunumpy.core.ops.streams import STREAMS
from gpunumpy.core.ops.table import ELEMENTWISE, REAL_OF, loops
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
)
from gpunumpy.core.schedule.substitute import in_kernel, taken_out
from gpunumpy.kernels.codegen.interpreted import interpreted
from gpunumpy.kernels.codegen.interpreter import WORDS, can_apply, reduction
from gpunumpy.kernels.codegen.sized import sized_interpretations
from tests.emulator import available, run_interpreted, run_kernel
from tests.emulator.random_kernels import random_kernel

pytestmark = pytest.mark.skipif(not available(), reason="the emulator needs g++")

DTYPES = tuple(map(numpy.dtype, ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16")))
F8, I8, F2 = (numpy.dtype(name) for name in ("f8", "i8", "f2"))
NARROW = ("i1", "i2", "u2")


def can_interpret(kernel: Kernel) -> bool:
    """Whether there is room, no scan, and no reduction but those that the interpreter has."""
    known = [
        can_apply(instr.op, instr.loop)
        if isinstance(instr, Apply)
        else not isinstance(instr, ScanLoop) and (not isinstance(instr, ReduceLoops) or reduction(instr.op, instr.loop))
        for instr in kernel.body.instructions
    ]
    return 0 not in kernel.shape and all(known)


@pytest.mark.parametrize("name", [name for name in ELEMENTWISE if any("i2" in loop for loop in loops(name))])
def test_narrow_integers(name: str) -> None:
    """They are computed as int32, whatever bits they have: every loop of every operation that takes them."""
    rng = numpy.random.default_rng(len(name))
    at = Affine(0, (1,))
    found = [loop for loop in loops(name) if {*loop} & {numpy.dtype(narrow) for narrow in NARROW}]
    for loop in found:
        kernel = Kernel(
            (1000,), 0, (*(Arg("in", dtype) for dtype in loop[:-1]), Arg("out", loop[-1])),
            Body(
                (*(Load(n, at) for n in range(len(loop) - 1)), Apply(name, tuple(range(len(loop) - 1)), loop)),
                (Store(len(loop) - 1, len(loop) - 1, at),),
            ),
        )  # fmt: skip
        if not can_interpret(kernel):
            assert {*loop} - {*DTYPES}
            continue
        given = []
        for dtype in loop[:-1]:
            if dtype.kind in "iu":
                limits = numpy.iinfo(dtype)
                some = [limits.min, limits.max, 0, 1, 2, limits.max // 2, limits.min // 2]
                values = rng.choice([*some, *rng.integers(limits.min, limits.max, 50, dtype)], 1000)
            else:
                values = rng.standard_normal(1000) * 10.0 ** rng.integers(-2, 12, 1000)
                values[::7] = numpy.nan
            with numpy.errstate(all="ignore"):
                given.append(values.astype(dtype) if dtype != "?" else values > 0)
        in_both_ways(kernel, [*given, numpy.zeros(1000, loop[-1])])


@pytest.mark.parametrize("elementwise", [True, False])
@pytest.mark.parametrize("seed", range(300))
def test_a_random_kernel(seed: int, elementwise: bool) -> None:
    kernel, given = random_kernel(seed, DTYPES, elementwise=elementwise)
    if not can_interpret(kernel):
        assert interpreted(kernel, 4) is None
        return
    in_both_ways(kernel, given, seed=seed % 3)


def in_both_ways(kernel: Kernel, given: list[Any], one_nan: bool = False, **options: Any) -> None:
    """Run a kernel generated and interpreted; what they write is the same, to the bit.

    `one_nan`: all NaNs are the same, as on a GPU. Here the sign of the sum of two is that of the first, and g++ may
    exchange them.
    """
    expected = copy.deepcopy(given)
    flag = run_kernel(kernel, expected, **options)
    assert run_interpreted(kernel, given, **options) == flag
    for arg, found, wanted in zip(kernel.args, given, expected):
        if arg.kind == "out":
            numpy.testing.assert_array_equal(found, wanted, strict=True)
            if one_nan and found.dtype.kind in "fc":
                for array in (found, wanted):
                    reals = array.view(array.real.dtype)
                    reals[numpy.isnan(reals)] = numpy.nan
            assert found.tobytes() == wanted.tobytes()


def places(shape: tuple[int, ...], reduced: int, transposed: bool) -> tuple[Affine, Affine]:
    """Where an element lies, and where the result of its row does."""
    order = range(len(shape))[::-1] if transposed else range(len(shape))
    coef = [0] * len(shape)
    stride = 1
    for d in reversed(order):
        coef[d], stride = stride, stride * shape[d]
    outer = shape[: len(shape) - reduced]
    of_row = (*(math.prod(outer[d + 1 :]) for d in range(len(outer))), *[0] * reduced)
    return Affine(0, tuple(coef)), Affine(0, of_row)


def reducing(name: str, shape: tuple[int, ...], reduced: int, dtype: numpy.dtype, transposed: bool = False) -> Kernel:
    """A reduction, and how far each element is from the result, where that is a number like it."""
    at, of_row = places(shape, reduced, transposed)
    result = I8 if name.startswith("arg") else dtype
    body: list[Any] = [Load(0, at), ReduceLoops(name, (0,), (dtype, result))]
    stores = [Store(1, 1, of_row)]
    args = [Arg("in", dtype), Arg("out", result)]
    if result == dtype:
        body.append(Apply("subtract", (0, 1), (dtype,) * 3))
        stores.append(Store(2, 2, at))
        args.append(Arg("out", dtype))
    return Kernel(shape, reduced, tuple(args), Body(tuple(body), tuple(stores)))


# Shapes whose rows take teams of every size, are split among blocks, and lie along either loop.
ROWS = [((40_000,), 1, False), ((3, 9_000), 1, False), ((30, 700), 1, False), ((100, 20), 1, False),
        ((500, 3), 1, False), ((5, 40, 30), 2, False), ((70, 300), 1, True), ((4, 5_000), 1, True),
        ((2, 3, 400), 1, True)]  # fmt: skip


@pytest.mark.parametrize(("shape", "reduced", "transposed"), ROWS)
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "argmin"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "i2"])
def test_rows(name: str, dtype: str, shape: tuple[int, ...], reduced: int, transposed: bool) -> None:
    rng = numpy.random.default_rng(len(name))
    values = rng.standard_normal(math.prod(shape)) * 10
    if dtype[0] == "f":
        values[rng.random(values.size) < 1e-4] = numpy.nan
    kernel = reducing(name, shape, reduced, numpy.dtype(dtype), transposed)
    if math.prod(shape[len(shape) - reduced :]) > 4_000:  # no block has registers for such a row
        kernel = replace(kernel, args=kernel.args[:2], body=Body(kernel.body.instructions[:2], kernel.body.stores[:1]))
    outs = [
        numpy.zeros(values.size if store.value == 2 else math.prod(shape[:-reduced]), kernel.args[store.arg].dtype)
        for store in kernel.body.stores
    ]
    in_both_ways(kernel, [values.astype(dtype), *outs], processors=4)


def variances(shape: tuple[int, ...], reduced: int, dtype: numpy.dtype, transposed: bool, along_rows: bool) -> Kernel:
    """A variance and a sum; `along_rows` adds what each element is above the variance, divided by the sum of those."""
    real = REAL_OF.get(dtype, F8 if dtype.kind in "biu" else dtype)
    total = dtype if dtype.kind in "fc" else I8
    at, of_row = places(shape, reduced, transposed)
    body: list[Any] = [Load(0, at), Scalar(1), ReduceLoops("moments", (0, 1), (dtype, I8, real))]
    body += [ReduceLoops("add", (0,), (dtype, total)), Apply("sqrt", (2,), (real, real))]
    stores = [Store(2, 3, of_row), Store(3, 4, of_row)]
    args = [Arg("in", dtype), Arg("scalar", I8), Arg("out", total), Arg("out", real)]
    if along_rows:
        body += [Apply("cast", (0,), (dtype, real))] if real != dtype else []
        body.append(Apply("subtract", (len(body) - 1 if real != dtype else 0, 2), (real,) * 3))
        body.append(ReduceLoops("moments", (len(body) - 1, 1), (real, I8, real)))
        body.append(Apply("divide", (len(body) - 2, len(body) - 1), (real,) * 3))
        stores.append(Store(4, len(body) - 1, at))
        args.append(Arg("out", real))
    return Kernel(shape, reduced, tuple(args), Body(tuple(body), tuple(stores)))


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(("shape", "reduced", "transposed"), ROWS)
@pytest.mark.parametrize("along_rows", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4", "i1"])
def test_variances(dtype: str, along_rows: bool, shape: tuple[int, ...], reduced: int, transposed: bool) -> None:
    """A thread of a compiled kernel accumulates several elements at once, and its states are aligned with others."""
    along_rows = along_rows and dtype not in ("c8", "c16") and math.prod(shape[len(shape) - reduced :]) <= 1_000
    rng = numpy.random.default_rng(len(shape))
    for magnitude, nans in ((1.0, 0), (1e4, 0), (1e30 if dtype != "f8" else 1e200, 0), (1.0, 3)):
        values = rng.standard_normal(math.prod(shape)) + 10
        if numpy.dtype(dtype).kind in "fc":
            values = values * magnitude
            values[rng.integers(0, values.size, nans)] = [numpy.nan, numpy.inf, -numpy.inf][:nans]
        if dtype[0] == "c":
            values = values + 1j * rng.standard_normal(values.size)
        kernel = variances(shape, reduced, numpy.dtype(dtype), transposed, along_rows)
        outs = [
            numpy.zeros(values.size if store.arg == 4 else math.prod(shape[:-reduced]), kernel.args[store.arg].dtype)
            for store in kernel.body.stores
        ]
        in_both_ways(kernel, [values.astype(dtype), 1, *outs], one_nan=True, processors=4)


def test_rows_are_overwritten_in_the_last_pass() -> None:
    """What another pass overwrites would be loaded by the next. The scheduler makes no such kernel."""
    at = Affine(0, (50, 1))
    instructions = (
        Load(0, at),
        ReduceLoops("add", (0,), (F8, F8)),
        Apply("divide", (0, 1), (F8,) * 3),
        Apply("add", (0, 0), (F8,) * 3),
    )
    args = Arg("in", F8), Arg("out", F8, alias=0), Arg("out", F8)
    x = numpy.random.default_rng(0).random((20, 50))
    for stores, is_interpreted in (
        ((Store(1, 2, at), Store(2, 3, at)), True),
        ((Store(1, 3, at), Store(2, 2, at)), False),
    ):
        kernel = Kernel((20, 50), 1, args, Body(instructions, stores))
        results = []
        for run in (run_kernel, run_interpreted)[: 1 + is_interpreted]:
            overwritten, out = x.copy(), numpy.zeros((20, 50))
            run(kernel, [overwritten, overwritten, out], seed=5)
            results.append((overwritten, out)[:: 1 if is_interpreted else -1])
            numpy.testing.assert_allclose(results[-1], (x / x.sum(1)[:, None], x + x), rtol=1e-14)
        assert (interpreted(kernel, 4) is not None) == is_interpreted
        assert all(numpy.array_equal(results[0], other) for other in results)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("name", ["add", "multiply", "maximum"])
def test_not_a_number(name: str, dtype: str) -> None:
    """Its sign and its other bits are those of the compiled kernel."""
    dtype_ = numpy.dtype(dtype)
    for values in ([numpy.inf, -numpy.inf, 1, 2, 3], [-numpy.nan, 1, 2, 3, 4], [numpy.nan, 1, -0.0, 3, 4]):
        kernel = reducing(name, (5,), 1, dtype_)
        kernel = replace(kernel, args=kernel.args[:2], body=Body(kernel.body.instructions[:2], kernel.body.stores[:1]))
        if can_interpret(kernel):
            in_both_ways(kernel, [numpy.array(values, dtype_), numpy.zeros(1, dtype_)])


def test_shared_memory_of_every_gpu_is_enough() -> None:
    """Besides 64 KB, of which some are static, a GPU may have none."""
    at = Affine(0, (1,))
    for count in range(20, 40):
        squares = [Apply("square", (k,), (F8, F8)) for k in range(count)]
        body: list[Any] = [Load(k, at) for k in range(count)] + squares
        for k in range(count - 1):
            body.append(Apply("add", (len(body) - 1, count + k), (F8,) * 3))
        args = (*[Arg("in", F8)] * count, Arg("out", F8))
        program = interpreted(Kernel((70,), 0, args, Body(tuple(body), (Store(count, len(body) - 1, at),))), 4)
        assert program is None or program.launches[0].shared <= 63 << 10


def chain(length: int, dtype: numpy.dtype = F8) -> Kernel:
    """So many additions of one scalar, of which each is stored."""
    at = Affine(0, (1,))
    adds = [Apply("add", (0 if k == 0 else k + 1, 1), (dtype,) * 3) for k in range(length)]
    stores = (Store(2, length + 1, at),)
    return Kernel(
        (100,), 0, (Arg("in", dtype), Arg("scalar", dtype), Arg("out", dtype)),
        Body((Load(0, at), Scalar(1), *adds), stores),
    )  # fmt: skip


def test_a_long_body_has_room_or_none() -> None:
    x, out = numpy.arange(100.0), numpy.zeros(100)
    run_interpreted(chain(200), [x, 2.0, out])
    numpy.testing.assert_array_equal(out, x + 400)
    assert interpreted(chain(WORDS), 4) is None


def test_many_values_at_once_have_room_or_none() -> None:
    """All squares are added up from the last one on, which another order has room for, and then to their sum."""

    def kernel(count: int, again: bool = False) -> Kernel:
        at = Affine(0, (1,))
        squares = [Apply("square", (k,), (F8, F8)) for k in range(count)]
        body: list[Any] = [Load(k, at) for k in range(count)] + squares
        last = 2 * count - 1
        for k in range(count - 2, -1, -1):
            body.append(Apply("add", (last, count + k), (F8,) * 3))
            last = len(body) - 1
        for k in range(count if again else 0):
            body.append(Apply("add", (last, count + k), (F8,) * 3))
            last = len(body) - 1
        args = (*[Arg("in", F8)] * count, Arg("out", F8))
        return Kernel((70,), 0, args, Body(tuple(body), (Store(count, last, at),)))

    for count in (20, 60):
        given = [numpy.full(70, float(k)) for k in range(count)]
        out = numpy.zeros(70)
        run_interpreted(kernel(count), [*given, out])
        numpy.testing.assert_array_equal(out, numpy.full(70, sum(k * k for k in range(count))))
    assert interpreted(kernel(20, again=True), 4) is not None
    assert interpreted(kernel(60, again=True), 4) is None


def test_all_is_read_before_anything_is_overwritten() -> None:
    """A swap in place."""
    at = Affine(0, (1,))
    body = Body((Load(0, at), Load(1, at)), (Store(2, 1, at), Store(3, 0, at)))
    args = (Arg("in", F8), Arg("in", F8), Arg("out", F8, alias=0), Arg("out", F8, alias=1))
    a, b = numpy.arange(100.0), numpy.arange(100.0, 200.0)
    run_interpreted(Kernel((100,), 0, args, body), [a, b, a, b])
    assert a.tolist() == list(range(100, 200))
    assert b.tolist() == list(range(100))


def test_what_nothing_needs_is_not_computed() -> None:
    args = (Arg("in", F8), Arg("in", I8), Arg("scalar", I8), Arg("out", F8))
    at = Affine(0, (1,))
    gather = LoadIndexed(0, Affine(0, (0,)), (0,), (10,), (1,), 2)
    dead = Apply("square", (1,), (F8, F8))
    body = Body((Load(1, at), gather, dead, Load(0, at)), (Store(3, 3, at),))
    given = [numpy.arange(10.0), numpy.full(4, 99), 7, numpy.zeros(4)]
    assert run_interpreted(Kernel((4,), 0, args, body), given) == 0


@pytest.mark.parametrize("name", STREAMS)
def test_words_of_random_streams_are_not_interpreted(name: str) -> None:
    arity, at = STREAMS[name].arity, Affine(0, (1,))
    word = numpy.dtype("u8")
    body = Body(
        (*map(Scalar, range(arity)), Apply(name, tuple(range(arity)), (word,) * (arity + 1))),
        (Store(arity, arity, at),),
    )
    assert interpreted(Kernel((9,), 0, (*[Arg("scalar", word)] * arity, Arg("out", word)), body), 4) is None


def test_what_it_cannot_do() -> None:
    assert interpreted(chain(1, F2), 4) is None
    assert interpreted(reducing("add", (3, 20), 1, F2), 4) is None
    at = Affine(0, (1,))
    body = Body((LoopIndex(at), Apply("cast", (0,), (I8, F8))), (Store(0, 1, at),))
    kernel = Kernel((0,), 0, (Arg("out", F8),), body)
    assert interpreted(kernel, 4) is None


def test_sizes_that_change_have_formulas() -> None:
    """Words are encoded for the first sizes, and once for all others; what does not change is the same everywhere."""
    structure, sizes = taken_out(reducing("add", (300, 7), 1, F8), in_kernel)
    programs = sized_interpretations(structure, 4)
    for rows, columns in ((300, 7), (400, 9), (50, 1000), (300, 7), (7, 11)):
        kernel = reducing("add", (rows, columns), 1, F8)
        program, values = programs.find(taken_out(kernel, in_kernel)[1])
        assert program is not None
        assert program.at(values) == interpreted(kernel, 4)
        assert program.work(values) == rows * columns * len(kernel.body.instructions)
    assert len(programs) < 5
    sort = Kernel((3,), 0, (Arg("out", F2),), Body((LoopIndex(Affine(0, (1,))), Apply("cast", (0,), (I8, F2))), ()))
    structure, sizes = taken_out(sort, in_kernel)
    assert sized_interpretations(structure, 4).find(sizes)[0] is None
