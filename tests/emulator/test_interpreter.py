"""The interpreter of elementwise kernels, run on the emulated machine beside the kernels that are generated."""

from __future__ import annotations

import copy
from typing import Any

import numpy
import pytest

from gpunumpy.core.ops.streams import STREAMS
from gpunumpy.core.schedule.kernel import Affine, Apply, Arg, Body, Kernel, Load, LoadIndexed, LoopIndex, Scalar, Store
from gpunumpy.kernels.codegen.interpreted import interpreted
from gpunumpy.kernels.codegen.interpreter import WORDS
from tests.emulator import available, run_interpreted, run_kernel
from tests.emulator.random_kernels import random_kernel

pytestmark = pytest.mark.skipif(not available(), reason="the emulator needs g++")

DTYPES = tuple(numpy.dtype(name) for name in ("?", "u1", "i4", "i8", "f4", "f8", "c8", "c16"))
F8, I8, I2 = (numpy.dtype(name) for name in ("f8", "i8", "i2"))


@pytest.mark.parametrize("seed", range(300))
def test_a_random_kernel(seed: int) -> None:
    kernel, given = random_kernel(seed, DTYPES, elementwise=True)
    expected = copy.deepcopy(given)
    flag = run_kernel(kernel, expected)
    if 0 in kernel.shape:
        assert interpreted(kernel) is None
        return
    assert run_interpreted(kernel, given, seed=seed % 3) == flag
    for arg, found, wanted in zip(kernel.args, given, expected):
        if arg.kind == "out":
            numpy.testing.assert_array_equal(found, wanted, strict=True)


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
    assert interpreted(chain(WORDS)) is None


def test_many_values_at_once_have_room_or_none() -> None:
    """All loads are added up from the last one on."""

    def kernel(count: int) -> Kernel:
        at = Affine(0, (1,))
        squares = [Apply("square", (k,), (F8, F8)) for k in range(count)]
        body: list[Any] = [Load(k, at) for k in range(count)] + squares
        last = 2 * count - 1
        for k in range(count - 2, -1, -1):
            body.append(Apply("add", (last, count + k), (F8,) * 3))
            last = len(body) - 1
        args = (*[Arg("in", F8)] * count, Arg("out", F8))
        return Kernel((70,), 0, args, Body(tuple(body), (Store(count, last, at),)))

    given = [numpy.full(70, float(k)) for k in range(20)]
    out = numpy.zeros(70)
    run_interpreted(kernel(20), [*given, out])
    numpy.testing.assert_array_equal(out, numpy.full(70, sum(k * k for k in range(20))))
    assert interpreted(kernel(60)) is None


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
    assert interpreted(Kernel((9,), 0, (*[Arg("scalar", word)] * arity, Arg("out", word)), body)) is None


def test_what_it_cannot_do() -> None:
    assert interpreted(chain(1, I2)) is None
    at = Affine(0, (1,))
    body = Body((LoopIndex(at), Apply("cast", (0,), (I8, F8))), (Store(0, 1, at),))
    kernel = Kernel((0,), 0, (Arg("out", F8),), body)
    assert interpreted(kernel) is None
