"""Permutations, and integers whose bounds differ, through the kernels of a GPU, and NumPy's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.kernels import cuda_bounded, host_calls
from gpunumpy.kernels.compile import compile_cubin
from gpunumpy.random import method

from .executor import run_program
from .test_routines import layout_of

BITS = (numpy.random.PCG64, numpy.random.PCG64DXSM, numpy.random.Philox)


def bounded_draws(options: tuple[Any, ...], *arrays: Any) -> None:
    program = cuda_bounded.bounded(options, [layout_of(x) for x in arrays], 1)
    assert run_program(program, arrays, seed=3) == 0


def swapped(options: tuple[Any, ...], *arrays: Any) -> None:
    program = cuda_bounded.swapped(options, [layout_of(x) for x in arrays], [x.dtype for x in arrays])
    assert run_program(program, arrays, seed=3) == 0


@pytest.fixture(autouse=True)
def on_the_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(host_calls.CALLS, "bounded_draws", bounded_draws)
    monkeypatch.setitem(host_calls.CALLS, "swapped", swapped)
    monkeypatch.setattr(method, "MANY", 1)
    monkeypatch.setattr(method, "KINDS", {"cpu"})
    with gpunumpy.Device("cpu"):
        yield


def both(kind: Any, seed: int, use: Any) -> None:
    """What NumPy's generator and ours do, and where they are then."""
    outcomes = []
    for n in (gpunumpy, numpy):
        rng = n.random.Generator(kind(seed))
        rng.random(seed % 3, "f4")
        made = use(n, rng)
        outcomes.append((gpunumpy.asnumpy(made), rng.bit_generator.state, rng.random()))
    (mine, state, _), (theirs, wanted, _) = outcomes
    assert mine.dtype == theirs.dtype
    numpy.testing.assert_array_equal(mine, theirs)
    numpy.testing.assert_equal(state, wanted)
    assert float(outcomes[0][2]) == outcomes[1][2]


@pytest.mark.parametrize("kind", BITS)
def test_permutations_of_a_number(kind: Any) -> None:
    for n in (1, 2, 3, 33, 1000, 9000):
        both(kind, n, lambda m, rng, n=n: rng.permutation(n))


def _shuffled(m: Any, rng: Any, shape: tuple[int, ...], axis: int, dtype: str, part: Any) -> Any:
    a = m.arange(numpy.prod(shape)).astype(dtype).reshape(shape)
    rng.shuffle(a[part], axis=axis)
    return a


@pytest.mark.parametrize(
    ("shape", "axis", "part"),
    [
        ((700,), 0, slice(None)),
        ((700,), -1, slice(5, None, 3)),
        ((30, 41), 0, slice(None)),
        ((30, 41), 1, slice(None, None, -2)),
        ((5, 3, 600), 2, (slice(None), slice(0, 2))),
        ((4, 0), 0, slice(None)),
    ],
)
def test_shuffles(shape: tuple[int, ...], axis: int, part: Any) -> None:
    for seed, dtype in enumerate(("f8", "u1", "?", "c16", "i2")):
        both(numpy.random.PCG64, seed, lambda m, rng, dtype=dtype: _shuffled(m, rng, shape, axis, dtype, part))


def _box(m: Any) -> Any:
    return m.arange(6e3).reshape(20, 30, 10)


def test_permutations_of_arrays() -> None:
    for axis in (0, 1, -1):
        both(
            numpy.random.PCG64,
            3,
            lambda m, rng, axis=axis: rng.permutation(m.arange(6e3).reshape(20, 30, 10), axis=axis),
        )
    both(numpy.random.Philox, 5, lambda m, rng: rng.permutation(m.arange(600.0)[::2]))
    both(numpy.random.Philox, 5, lambda m, rng: rng.permutation([4, 2, 8]))


def test_nvrtc_compiles_them() -> None:
    arrays = numpy.zeros(40000, "u4"), numpy.zeros((), "i8"), numpy.zeros(90000, "u4")
    for options in (("masked", 32, 200, (39999, 1)), ("product", 32, 200, (49999, 1)), ("masked", 32, 9, (3999, 10))):
        program = cuda_bounded.bounded(options, [layout_of(x) for x in arrays], 132)
        compile_cubin(program.text, "sm_90")
    order = numpy.zeros(40000, "i8"), arrays[0], numpy.zeros(40000, "i8")
    compile_cubin(cuda_bounded.swapped((0,), [layout_of(x) for x in order], []).text, "sm_90")
