"""How many kernels shape functions take: they fuse with what is around them, and write each part once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.schedule.steps import RunKernel
from gpunumpy.functions.manipulation.repeating import rolled_by_index

from .counting import kernels

A = numpy.arange(2000.0).reshape(40, 50)

# What is computed, and the kernels it takes.
CALLS: tuple[tuple[str, int, Callable[[Any], Any]], ...] = (
    (
        "roll",
        1,
        lambda a: np.roll(a * 2, 1, axis=0),
    ),  # and a library call; on a GPU a kernel, which fuses with what follows
    ("concatenate", 1, lambda a: np.concatenate([a * 2, a + 1])),
    ("stack", 1, lambda a: np.stack([a, -a], axis=-1)),
    ("tile", 1, lambda a: np.tile(a, (2, 3))),
    ("repeat", 1, lambda a: np.repeat(a, 2, axis=0)),
    ("pad by index", 1, lambda a: np.pad(a, 1, "reflect") * 2),  # and, on the CPU device, a library call
    ("pad with a constant", 1, lambda a: np.pad(a, 1)),
    ("flip", 1, lambda a: np.flip(a) + a),
    ("tril", 1, lambda a: np.tril(a) + 1),
    ("linspace", 1, lambda a: np.linspace(0, 1, 50) * a),
    ("eye and arange", 1, lambda a: a[:40, :40] * np.eye(40) + np.arange(40)),
)


@pytest.mark.parametrize(("count", "call"), [case[1:] for case in CALLS], ids=[case[0] for case in CALLS])
def test_kernels(count: int, call: Callable[[Any], Any]) -> None:
    a = np.asarray(A)
    steps = kernels(lambda: call(a))
    if call is CALLS[0][2] and a.device.kind == "cuda":
        count += 1  # the expression that is rolled, and a kernel that picks from it in place of the library call
    assert len([step for step in steps if isinstance(step, RunKernel)]) == count


def test_generators_stay_pending_when_others_are_computed() -> None:
    made = [np.zeros(5), np.ones((2, 3)), np.arange(7), np.eye(3)]
    kernels(lambda: np.asarray(A) + 1)
    assert all(x._node.data is None for x in made)


def test_a_part_of_what_is_in_memory_is_rolled_where_it_is() -> None:
    if np.asarray(A).device.kind != "cpu":
        pytest.skip("a library call of the CPU device")

    def program() -> Any:
        a = np.asarray(A) * 2
        for k in range(3):
            a[k::3, 1:] = np.roll(a[k::3, 1:], 2, axis=1)
        return a

    steps = kernels(program)
    # The product, and what writes each rolled part back: none that copies a part for the library call.
    assert len([step for step in steps if isinstance(step, RunKernel)]) == 4
    assert len(steps) == 7


def test_what_is_rolled_along_several_axes_is_stored_once() -> None:
    cube = A[:5, :25].reshape(5, 5, 5)
    x = np.asarray(cube)

    def rolled() -> Any:  # as on a GPU
        y: Any = x * 2
        results.append(sum([rolled_by_index(y, {axis: 2}) for axis in range(3)], y))
        return results[0]

    results: list[Any] = []
    steps = kernels(rolled)
    assert [len(step.kernel.body.stores) for step in steps if isinstance(step, RunKernel)] == [1, 1]
    y = cube * 2
    numpy.testing.assert_array_equal(np.asnumpy(results[0]), sum([numpy.roll(y, 2, axis) for axis in range(3)], y))
