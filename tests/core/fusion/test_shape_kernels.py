"""How many kernels shape functions take: they fuse with what is around them, and write each part once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.schedule.steps import RunKernel
from gpunumpy.functions.manipulation import joining

from .counting import kernels

A = numpy.arange(2000.0).reshape(40, 50)

# What is computed, and the kernels it takes.
CALLS: tuple[tuple[str, int, Callable[[Any], Any]], ...] = (
    ("roll", 2, lambda a: np.roll(a * 2, 1, axis=0) + a),  # what is rolled is stored
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
    assert len([step for step in steps if isinstance(step, RunKernel)]) == count


def test_generators_stay_pending_when_others_are_computed() -> None:
    made = [np.zeros(5), np.ones((2, 3)), np.arange(7), np.eye(3)]
    kernels(lambda: np.asarray(A) + 1)
    assert all(x._node.data is None for x in made)


def test_a_part_of_what_is_in_memory_is_rolled_where_it_is() -> None:
    def program() -> Any:
        a = np.asarray(A) * 2
        for k in range(3):
            a[k::3, 1:] = np.roll(a[k::3, 1:], 2, axis=1)
        return a

    steps = kernels(program)
    # The product, and what reads each part rolled and writes it back: none that copies a part before.
    assert len(steps) == 7


def test_what_is_rolled_along_several_axes_is_stored_once() -> None:
    cube = A[:5, :25].reshape(5, 5, 5)
    x = np.asarray(cube)

    def rolled() -> Any:
        y: Any = x * 2
        results.append(sum([np.roll(y, 2, axis) for axis in range(3)], y))
        return results[0]

    results: list[Any] = []
    steps = kernels(rolled)
    assert [len(step.kernel.body.stores) for step in steps if isinstance(step, RunKernel)] == [1, 1]
    y = cube * 2
    numpy.testing.assert_array_equal(np.asnumpy(results[0]), sum([numpy.roll(y, 2, axis) for axis in range(3)], y))


def nested(xp: Any, a: Any) -> Any:
    """Blocks that are joined along two axes."""
    return xp.block([[a[:1, :2], a[:1]], [a[:, -1:] * 2, a, a[:, :1]]])


JOINED: dict[str, Callable[[Any, Any], Any]] = {
    "block": nested,
    "three axes": lambda xp, a: xp.block([[[a[:2], a[:2, :3]], [a[2:4], a[:2, :3]]], [[a[:4]], [a[:4, :3]]]][:1]),
    "rows of rows": lambda xp, a: xp.vstack([xp.hstack([a, a]), xp.hstack([a + 1, a])]),
    "of another dtype": lambda xp, a: xp.concatenate(
        [xp.concatenate([a, a]), a.astype("f4")], dtype="f4", casting="unsafe"
    ),
    "axes in another order": lambda xp, a: xp.concatenate([xp.concatenate([a.T, a.T], 1), (a * 2).T], 1),
    "rows of length one": lambda xp, a: xp.concatenate([xp.concatenate([a[:1], a[:1], a[3:4]]), a]),
    "columns of length one": lambda xp, a: xp.hstack([xp.hstack([a[:, :1], a[:, 2:3]]), a[:, 4:5]]),
    "in zeros": lambda xp, a: xp.concatenate([xp.pad(a, 1), xp.pad(a, 1)]),
}


@pytest.mark.parametrize("join", JOINED.values(), ids=JOINED)
def test_what_is_joined_of_joined_arrays(join: Callable[[Any, Any], Any]) -> None:
    numpy.testing.assert_array_equal(np.asnumpy(join(np, np.asarray(A))), join(numpy, A))


# Parts of an array of this shape with the strides of the array, which are no ranges along its axes.
WRITTEN_ACROSS: dict[str, tuple[tuple[int, ...], Callable[[Any, Any], Any]]] = {
    "the transpose of a column": ((5, 1), lambda xp, x: x.T),
    "the transpose of a column of matrices": ((4, 1, 1), lambda xp, x: x.T),
    "one row of all": ((2, 3), lambda xp, x: xp.lib.stride_tricks.as_strided(x, (1, 6), x.strides)),
}


@pytest.mark.parametrize(("shape", "part"), WRITTEN_ACROSS.values(), ids=WRITTEN_ACROSS)
def test_what_is_joined_of_arrays_that_are_written_across_their_rows(
    shape: tuple[int, ...], part: Callable[[Any, Any], Any]
) -> None:
    def joined(xp: Any, a: Any) -> Any:
        x = xp.empty(shape)
        view = part(xp, x)
        view[...] = (a.reshape(-1)[: x.size] * 2).reshape(view.shape)
        return xp.concatenate([x, x], axis=1)

    numpy.testing.assert_array_equal(np.asnumpy(joined(np, np.asarray(A))), joined(numpy, A))


def test_blocks_are_written_once() -> None:
    steps = kernels(lambda: nested(np, np.asarray(A) + 1))
    stored = [store for step in steps if isinstance(step, RunKernel) for store in step.kernel.body.stores]
    assert len(stored) == 5  # the blocks, each of them of the sum


def test_a_joined_array_that_is_joined_again_stays_what_it_was() -> None:
    a = np.asarray(A)
    inner = np.hstack([a, a])
    outer = np.vstack([inner, inner])
    inner[0, 0] = -1
    numpy.testing.assert_array_equal(outer.get(), numpy.block([[A, A], [A, A]]))
    expected = numpy.hstack([A, A])
    expected[0, 0] = -1
    numpy.testing.assert_array_equal(inner.get(), expected)


def test_an_array_that_grows_in_a_loop_takes_a_few_parts_each_time() -> None:
    x, expected = np.asarray(A[0]), A[0]
    for k in range(60):
        x, expected = np.append(x, A[k % 40]), numpy.append(expected, A[k % 40])
        node, parts = x._node, 0
        while node.data is None and len(node.args) == 2:
            node, parts = node.args[0], parts + 1
        assert parts <= 18
    numpy.testing.assert_array_equal(x.get(), expected)


def test_a_joined_array_that_is_computed_as_it_is_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may compute it, and then write to the arrays that it was joined of."""
    base, parts_of, calls = np.asarray(A) + 0, joining._parts_of, [0]
    base.computed()
    inner = np.concatenate([base, base * 2])

    def disturbed(value: Any) -> Any:
        parts = parts_of(value)
        calls[0] += 1
        if calls[0] == 1:
            inner.computed()
            base[3:] = -1
            base.computed()
        return parts

    monkeypatch.setattr(joining, "_parts_of", disturbed)
    outer = np.concatenate([inner, inner], 1)
    expected = numpy.concatenate([A, A * 2])
    numpy.testing.assert_array_equal(outer.get(), numpy.concatenate([expected, expected], 1))
    assert calls[0]
