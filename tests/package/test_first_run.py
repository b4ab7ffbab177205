"""The programs of benchmarks/first_run.py: they compute what NumPy computes, and a GPU would compile few texts."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy
import pytest

import gpunumpy
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.loop_cut import LoopCut
from gpunumpy.demo import load, names
from gpunumpy.kernels.codegen.interpreted import interpreted

from ..support.texts import PROCESSORS, collected, kernels

PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "programs"

# name -> (size, steps, relative tolerance, most texts that a GPU would compile). What is decided by + - * and
# comparisons, division and square roots equals NumPy's to the bit; sums may be taken in another order.
CASES = {
    "factorizations": (24, 1, 1e-13, 38),
    "fluid": (32, 4, 1e-12, 25),
    "magnetohydrodynamics": (32, 5, 1e-12, 47),
    "ray_tracer": (32, 4, 1e-12, 51),
    "recurrent_network": (16, 6, 1e-11, 43),
    "transformer": (24, 2, 1e-4, 13),
}
# The same of the examples: name -> (size, steps, most texts).
EXAMPLES = {
    "black_scholes": (64, 3, 4),
    "heat": (64, 20, 2),
    "image_subtraction": (64, 2, 37),
    "kmeans": (10, 5, 10),
    "lattice_boltzmann": (32, 10, 12),
    "life": (64, 10, 2),
    "mandelbrot": (64, 30, 3),
    "nbody": (64, 5, 14),
}


def program(name: str, library: str = "gpunumpy") -> ModuleType:
    return load(name, library, PROGRAMS)


def test_every_program_has_a_case() -> None:
    assert sorted(path.stem for path in PROGRAMS.glob("*.py")) == sorted(CASES)
    assert names() == sorted(EXAMPLES)


@pytest.fixture
def symbols_at_once() -> None:
    """Plans are made here as they are for users: texts are counted."""


@pytest.mark.parametrize("name", CASES)
def test_matches_numpy(name: str, device: str) -> None:
    size, steps, tolerance, _ = CASES[name]
    expected = program(name, "numpy").run(size, steps)
    with gpunumpy.Device(device):
        result = program(name).run(size, steps)
        assert isinstance(result, gpunumpy.ndarray)
    values = numpy.asarray(result)
    assert values.dtype == expected.dtype
    numpy.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance * numpy.abs(expected).max())


def test_the_programs_are_right() -> None:
    """What is known of the results from elsewhere."""
    factors = program("factorizations", "numpy")
    a = factors.matrix(20)
    lu, r, lower = factors.run(20)
    numpy.testing.assert_allclose((numpy.tril(lu, -1) + numpy.eye(20)) @ numpy.triu(lu), a, atol=1e-12)
    numpy.testing.assert_allclose(r.T @ r, a.T @ a, atol=1e-9)
    numpy.testing.assert_allclose(lower @ lower.T, (a + a.T) / 2, atol=1e-12)

    state = program("magnetohydrodynamics", "numpy").run(32, 20)
    for total, first in zip(state.sum(axis=(1, 2)), program("magnetohydrodynamics", "numpy").run(32, 0)):
        assert total == pytest.approx(first.sum(), abs=1e-9)  # each variable is conserved

    smoke, _, v = program("fluid", "numpy").run(32, 20)
    assert v.min() < -1.0  # it rises
    assert 0.0 <= smoke.min() <= smoke.max() <= 1.0
    losses = program("recurrent_network", "numpy").run(32, 100)
    assert losses[-10:].mean() < 0.5 * losses[0]
    shares = program("transformer", "numpy").run(16, 2)
    numpy.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-5)


def program_of_case(name: str) -> ModuleType:
    """The program, on the CPU device, as it begins in a new process."""
    with gpunumpy.Device("cpu"):
        module = program(name) if name in CASES else load(name)
    state = evaluate.state_of(gpunumpy.Device("cpu"))
    evaluate.flush(state.queue)  # and what other tests left in the queue, which counts until it is reviewed
    state.cut = LoopCut()
    return module


def texts_of_two_runs(name: str) -> list[set[str]]:
    """The texts that a GPU would compile for each of two runs with the same arguments."""
    size, steps, *_ = (CASES | EXAMPLES)[name]
    module = program_of_case(name)
    counts = []
    for _ in range(2):
        with collected() as texts:
            module.run(size, steps).get()
        counts.append(set(texts))
    return counts


@pytest.mark.on_device
@pytest.mark.parametrize("name", [*CASES, *EXAMPLES])
def test_few_texts_are_generated(name: str) -> None:
    """Every text is compiled once, so a first run on a GPU waits for so many compilations, and a second for none."""
    first, second = texts_of_two_runs(name)
    assert 0 < len(first) <= (CASES | EXAMPLES)[name][-1]
    assert not second - first


@pytest.mark.on_device
@pytest.mark.parametrize("name", ["mean", "std"])
def test_statistics_recorded_anew_and_again_are_the_same_kernels(name: str) -> None:
    texts: list[set[str]] = []
    for _ in range(4):
        with gpunumpy.Device("cpu"), collected() as found:
            x = gpunumpy.asarray(numpy.ones((61, 97)))
            for _ in range(3):
                x = x - getattr(x, name)(axis=1, keepdims=True)
            x.get()
        texts.append(set(found))
    assert texts[1] | texts[2] | texts[3] == texts[0]


@pytest.mark.on_device
@pytest.mark.parametrize("name", [*CASES, *EXAMPLES])
def test_no_kernel_waits_for_the_compiler(name: str) -> None:
    """The interpreter has all operations and reductions, and room for every body."""
    size, steps, *_ = (CASES | EXAMPLES)[name]
    module = program_of_case(name)
    with kernels() as found:
        module.run(size, steps).get()
    assert found
    assert not [kernel for kernel in found if 0 not in kernel.shape and interpreted(kernel, PROCESSORS) is None]
