"""Programs of benchmarks/loops.py compute what NumPy computes. Their ports to JAX are checked where they are timed."""

from __future__ import annotations

import numpy
import pytest

import gpunumpy
from benchmarks.loop_programs import LOOPS
from benchmarks.loop_programs.loop import Loop
from gpunumpy.kernels.cuda.executor import CudaExecutor

from ..core.fusion.counting import kernels
from ..support.host_executor import with_traits

# The size and the steps of each loop.
CASES = {
    "heat_1d": (50, 5),
    "heat_2d": (12, 5),
    "wave_3d": (6, 3),
    "shallow_water": (12, 5),
    "vertical_diffusion": (4, 2),
    "cavity_flow": (12, 2),
    "bodies": (7, 3),
    "escape_time": (200, 12),
    "recurrence": (10, 40),
    "power_iteration": (9, 6),
    "gram_schmidt": (40, 2),
    "covariance": (30, 8),
    "shortest_paths": (12, 12),
}


def test_every_loop_has_a_case() -> None:
    assert sorted(loop.name for loop in LOOPS) == sorted(CASES)


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.name)
def test_matches_numpy(loop: Loop, device: str) -> None:
    size, steps = CASES[loop.name]
    data = loop.data(numpy.random.default_rng(0), size, steps)
    given = [x.copy() for x in data]
    expected = loop.program(numpy, *data, steps)
    with gpunumpy.Device(device):
        arrays = [gpunumpy.asarray(x) for x in data]
        result = loop.program(gpunumpy, *arrays, steps)
    pairs = zip(result, expected, strict=True) if isinstance(expected, tuple) else [(result, expected)]
    for values, reference in pairs:
        assert isinstance(values, gpunumpy.ndarray)
        values = numpy.asarray(values)
        assert values.dtype == reference.dtype
        largest = numpy.abs(reference).max()
        numpy.testing.assert_allclose(values, reference, rtol=0, atol=loop.tolerance * largest)
    for x, array, before in zip(data, arrays, given, strict=True):  # what the benchmark gives is given again
        numpy.testing.assert_array_equal(x, before)
        numpy.testing.assert_array_equal(numpy.asarray(array), before)


# By what the plans of a GPU differ.
PLANNED_BY = "takes_epilogues", "reduces_vector_products", "recomputes_pairs"

# The most kernels and library calls of a step on a GPU, and how many more the program may have in all.
LAUNCHES = {
    "heat_1d": (1, 0),
    "heat_2d": (1, 0),
    "wave_3d": (1, 0),
    "shallow_water": (3, 0),
    "vertical_diffusion": (33, 4),  # and more where a flush is in the midst of a step
    "cavity_flow": (63, 0),
    "bodies": (1, 0),
    "escape_time": (7, 1),
    "recurrence": (0, 1),
    "power_iteration": (2, 0),
    "gram_schmidt": (34, 0),
    "covariance": (1, 4),
    "shortest_paths": (1, 0),
}


@pytest.mark.on_device
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.name)
def test_few_launches(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small loops are bound by launches: what a step takes is a property of the schedule."""
    size, steps = CASES[loop.name]
    data = loop.data(numpy.random.default_rng(0), size, steps)
    with_traits(monkeypatch, **{name: getattr(CudaExecutor.traits, name) for name in PLANNED_BY})
    with gpunumpy.Device("cpu"):
        arrays = [gpunumpy.asarray(x) for x in data]
        ran = kernels(lambda: loop.program(gpunumpy, *arrays, steps))
    each, more = LAUNCHES[loop.name]
    assert len(ran) <= each * steps + more
