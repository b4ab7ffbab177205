"""The kernels of random numbers, run on the emulated machine and compared with NumPy to the bit."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from gpunumpy.kernels import cuda_random, host_random
from gpunumpy.kernels.compile import compile_cubin
from gpunumpy.kernels.table_streams import CONGRUENTIAL
from gpunumpy.random.stream import Stream

from .executor import run_program
from .test_routines import layout_of

BITS = {"pcg64": numpy.random.PCG64, "pcg64dxsm": numpy.random.PCG64DXSM, "philox": numpy.random.Philox}


def run(make: Any, options: tuple[Any, ...], *arrays: Any) -> None:
    program = make(options, [layout_of(x) for x in arrays], [x.dtype for x in arrays])
    assert run_program(program, arrays, seed=3) == 0


@pytest.mark.parametrize("name", CONGRUENTIAL)
@pytest.mark.parametrize("chunks", [1, 15, 16, 5000])
def test_starts(name: str, chunks: int) -> None:
    state = Stream(BITS[name](9)).take()
    mine, theirs = ([numpy.zeros(chunks, numpy.uint64) for _ in range(2)] for _ in range(2))
    run(cuda_random.stream_starts, (name,), *mine, state)
    host_random.stream_starts((name,), *theirs, state)
    numpy.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", CONGRUENTIAL)
def test_nvrtc_compiles_them(name: str) -> None:
    arrays = [numpy.zeros(40, numpy.uint64) for _ in range(3)]
    program = cuda_random.stream_starts((name,), [layout_of(x) for x in arrays], [x.dtype for x in arrays])
    compile_cubin(program.text, "sm_90")
