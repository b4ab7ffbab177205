"""Permutations, and integers whose bounds differ, through the kernels of a GPU, compared with NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.random import cuda_bounded
from gpunumpy.kernels.sort import cuda as cuda_sort
from gpunumpy.random import bounded_integers, device_draws
from tests.support.host_executor import run_on_host, with_traits

from ..numpy_parity.test_random_permuting import (
    both,
)
from .executor import run_program
from .test_masks_and_scatter import layout_of


def bounded_draws(options: tuple[Any, ...], *arrays: Any) -> None:
    program = cuda_bounded.bounded_draws_program(options, [layout_of(x) for x in arrays], 1)
    assert run_program(program, arrays, seed=3) == 0


def run(make: Any, options: tuple[Any, ...], *arrays: Any) -> None:
    program = make(options, [layout_of(x) for x in arrays], [x.dtype for x in arrays])
    assert run_program(program, arrays, seed=3) == 0


@pytest.fixture(autouse=True)
def on_the_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    run_on_host(monkeypatch, "bounded_draws", bounded_draws)
    for make in (cuda_bounded.permutation_of_swaps, cuda_bounded.floyd_sample, cuda_sort.sort_upper):
        run_on_host(monkeypatch, make.__name__, lambda *args, make=make: run(make, *args))
    monkeypatch.setattr(device_draws, "MIN_COUNT", 1)
    with_traits(monkeypatch, draws_faster_than_numpy=True)
    monkeypatch.setattr(bounded_integers, "MAX_REJECTED", 1)
    with gpunumpy.Device("cpu"):
        yield


def test_more_pieces_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_bounded, "_MIN_WORDS_FOR_MORE", 1)
    for seed, n in enumerate((2, 500, 30000)):
        both(numpy.random.PCG64, seed, lambda m, rng, n=n: rng.permutation(n))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("arch", ["sm_90", "sm_75", "sm_100"])
def test_nvrtc_compiles_them(arch: str) -> None:
    words, taken = numpy.zeros(90000, "u4"), numpy.zeros((), "i8")
    integers, swaps, order = (numpy.zeros(40000, dtype) for dtype in ("u4", "u8", "i8"))
    falling = [layout_of(x) for x in (swaps, taken, words)]
    given = [layout_of(x) for x in (integers, taken, words, integers)]
    masked = (("masked", 32, 9, bounds) for bounds in ((39999, 1), (3999, 10), (9999, 4)))
    programs = [
        cuda_bounded.bounded_draws_program(options, falling, 132)
        for options in (*masked, ("product", 32, 9, (49999, 1)))
    ]
    programs += [
        cuda_bounded.bounded_draws_program(("product", bits, 200, None), given, 132) for bits in (1, 8, 16, 32)
    ]
    for make, arrays in (
        (cuda_bounded.permutation_of_swaps, (order, swaps)),
        (cuda_bounded.floyd_sample, (order, integers, swaps)),
        (cuda_sort.sort_upper, (swaps, swaps)),
    ):
        programs.append(make((0,), [layout_of(x) for x in arrays], [x.dtype for x in arrays]))
    for program in programs:
        compile_cubin(program.text, arch)
