"""Kernels from the generator, run on the emulated machine."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import pytest

from gpunumpy.core.schedule.kernel import Affine, Apply, Arg, Body, Kernel, Load, LoadIndexed, LoopIndex, Scalar, Store
from gpunumpy.kernels.codegen.generate import generate
from tests.emulator import available, run_interpreted, run_kernel

pytestmark = pytest.mark.skipif(not available(), reason="the emulator needs g++")

F4, F8, I8 = (numpy.dtype(name) for name in ("f4", "f8", "i8"))


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i8", "u1", "c16"])
@pytest.mark.parametrize("shape", [(1000,), (37, 21), (3, 5, 64)])
@pytest.mark.parametrize("seed", [0, 1])
def test_an_elementwise_kernel(dtype: str, shape: tuple[int, ...], seed: int) -> None:
    kind = numpy.dtype(dtype)
    rng = numpy.random.default_rng(0)
    a, row = rng.integers(1, 9, shape).astype(kind), rng.integers(1, 9, shape[-1]).astype(kind)
    strides = tuple(s // a.itemsize for s in a.strides)
    body = Body(
        (
            Load(0, Affine(0, strides)),
            Load(1, Affine(shape[-1] - 1, (0,) * (len(shape) - 1) + (-1,))),
            Scalar(2),
            Apply("multiply", (0, 1), (kind, kind, kind)),
            Apply("add", (3, 2), (kind, kind, kind)),
        ),
        (Store(3, 4, Affine(0, strides)),),
    )
    args = (Arg("in", kind), Arg("in", kind), Arg("scalar", kind), Arg("out", kind))
    out = numpy.zeros_like(a)
    run_kernel(Kernel(shape, 0, args, body), [a, row, 3, out], seed=seed)
    numpy.testing.assert_array_equal(out, a * row[::-1] + kind.type(3))


@pytest.mark.parametrize("run", [run_kernel, run_interpreted])
def test_a_gather_reports_what_is_out_of_bounds(run: Callable[..., int]) -> None:
    args = (Arg("in", F8), Arg("in", I8), Arg("scalar", I8), Arg("out", F8))
    body = Body(
        (Load(1, Affine(0, (1,))), LoadIndexed(0, Affine(0, (0,)), (0,), (10,), (1,), 2)),
        (Store(3, 1, Affine(0, (1,))),),
    )
    a, out = numpy.arange(10.0), numpy.zeros(4)
    kernel = Kernel((4,), 0, args, body)
    assert run(kernel, [a, numpy.array([3, -1, 0, 9]), 7, out]) == 0
    assert out.tolist() == [3, 9, 0, 9]
    assert run(kernel, [a, numpy.array([3, -11, 0, 9]), 7, out]) == 7
    assert out.tolist() == [3, 0, 0, 9]


@pytest.mark.parametrize("run", [run_kernel, run_interpreted])
@pytest.mark.parametrize("n", [1, 5, 254, 300, 5000])
def test_indices_that_are_overwritten_are_looked_at_before(n: int, run: Callable[..., int]) -> None:
    """As in ``i = table[i]``, of which the last threads have no point: what is written there is no index."""
    args = (Arg("in", I8), Arg("in", I8), Arg("scalar", I8), Arg("out", I8))
    body = Body(
        (Load(1, Affine(0, (1,))), LoadIndexed(0, Affine(0, (0,)), (0,), (10,), (1,), 2)),
        (Store(3, 1, Affine(0, (1,))),),
    )
    table, index = numpy.arange(10) * 1000, numpy.random.default_rng(0).integers(1, 10, n)
    wanted = table[index]
    assert run(Kernel((n,), 0, args, body), [table, index, 7, index]) == 0
    numpy.testing.assert_array_equal(index, wanted)


@pytest.mark.parametrize("run", [run_kernel, run_interpreted])
@pytest.mark.parametrize(("columns", "stride"), [(16, 16), (16, 17), (13, 13), (4, 32)])
def test_whole_rows_are_gathered(columns: int, stride: int, run: Callable[..., int]) -> None:
    rows = LoadIndexed(0, Affine(0, (0, 1)), (0,), (10,), (stride,), 2)
    body = Body((Load(1, Affine(0, (1, 0))), rows), (Store(3, 1, Affine(0, (columns, 1))),))
    kernel = Kernel((70, columns), 0, (Arg("in", F4), Arg("in", I8), Arg("scalar", I8), Arg("out", F4)), body)
    rng = numpy.random.default_rng(0)
    a, index, out = (
        rng.random((10, stride), "float32"),
        rng.integers(-10, 10, 70),
        numpy.zeros((70, columns), "float32"),
    )
    assert run(kernel, [a, index, 7, out]) == 0
    numpy.testing.assert_array_equal(out, a[index, :columns])
    index[3] = 10
    assert run(kernel, [a, index, 7, out]) == 7
    numpy.testing.assert_array_equal(out, a[index.clip(-10, 9), :columns])


def test_an_index_of_a_whole_row_is_looked_at_once() -> None:
    texts = []
    for stride in (16, 17):
        rows = LoadIndexed(0, Affine(0, (0, 1)), (0,), (10,), (stride,), 2)
        body = Body((Load(1, Affine(0, (1, 0))), rows), (Store(3, 1, Affine(0, (16, 1))),))
        args = (Arg("in", F4), Arg("in", I8), Arg("scalar", I8), Arg("out", F4))
        texts.append(str(generate(Kernel((70, 16), 0, args, body), 2).text))
    loads = [text.split("__global__")[-1] for text in texts]
    assert [text.count("load_pack<4>(((a0") for text in loads] == [1, 0]
    assert all(text.index("wrap(") < text.index("for (int v") for text in loads)


@pytest.mark.parametrize("run", [run_kernel, run_interpreted])
def test_an_update_of_a_region(run: Callable[..., int]) -> None:
    index = Affine(0, (10, 1))
    body = Body((LoopIndex(Affine(0, (1, 0))), Apply("cast", (0,), (I8, F4))), (Store(1, 1, index),))
    outside = Body((Load(0, index),), (Store(1, 0, index),))
    kernel = Kernel((10, 10), 0, (Arg("in", F4), Arg("out", F4)), body, region=((1, 9), (2, 8)), outside=outside)
    a = numpy.random.default_rng(1).random((10, 10), numpy.float32)
    out = numpy.zeros_like(a)
    run(kernel, [a, out])
    a[1:9, 2:8] = numpy.arange(1, 9)[:, None]
    numpy.testing.assert_array_equal(out, a)
