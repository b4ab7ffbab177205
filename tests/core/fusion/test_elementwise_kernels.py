"""How many kernels elementwise programs take: chains, casts, broadcasts, generators, gathers, slices, updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.runtime import memory
from gpunumpy.core.schedule.kernel import Arg
from gpunumpy.core.schedule.steps import RunKernel

from .counting import kernels

A = numpy.random.default_rng(3).random((40, 50))
INDEX = numpy.random.default_rng(4).integers(0, 40, 50)


def expression(a: Any, b: Any) -> Any:
    return (np.sin(a) * 2 + b - 1) * np.exp(a * 0.1) / np.sqrt(b * b + 1) + a * 0.5


def jacobi(u: Any) -> Any:
    u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    return u


def part_in_place(a: Any) -> Any:
    a[3:5] *= 2
    return a


def masked_in_place(a: Any) -> Any:
    a[a > 0.5] = 0
    return a


def fresh_with_a_part(a: Any) -> Any:
    b = a * 2
    b[0, :] = 1
    return b


# What is computed, the kernels that it takes, and how many arrays those read and write.
CALLS: tuple[tuple[str, int, int, Callable[[Any], Any]], ...] = (
    ("chain", 1, 2, lambda a: expression(a, a)),
    ("casts", 1, 2, lambda a: (a.astype("float32") * 2).astype("int32") + 1),
    ("broadcast row", 1, 3, lambda a: expression(a, a[:1])),
    ("broadcast column", 1, 3, lambda a: a - a[:, :1]),
    ("outer", 1, 3, lambda a: a[0][:, None] * a[1][None, :]),
    ("transposed", 1, 3, lambda a: a[:40, :40].T + a[:40, :40]),
    ("generators", 1, 2, lambda a: a * np.arange(50) + np.linspace(0, 1, 50) + np.ones(50)),
    ("where", 1, 2, lambda a: np.where(a > 0.5, a, -a)),
    ("gather", 1, 3, lambda a: a[np.asarray(INDEX)] * 2 + 1),
    ("slices", 1, 3, lambda a: a[1:] - a[:-1]),
    ("two results", 1, 3, lambda a: (a + 1, a * 2)),
    ("reshape", 1, 2, lambda a: (a * 2).reshape(-1) + 1),
    ("scalars do not cut", 1, 2, lambda a: a * a.shape[0] + 2.5 - True),
    ("Jacobi step", 1, 6, jacobi),
    ("part in place", 1, 2, part_in_place),
    ("masked in place", 1, 2, masked_in_place),
    ("a part of a fresh array", 1, 2, fresh_with_a_part),
    ("dead temporaries", 1, 2, lambda a: ((a + 1) * (a + 2)) / (a + 3)),
    ("reduction of a chain", 1, 2, lambda a: ((a - 1) ** 2).sum()),
    ("what follows a reduction", 1, 2, lambda a: np.sqrt((a * a).sum(1)) + 1),
    ("normalisation", 1, 2, lambda a: (a - a.mean(1, keepdims=True)) / a.std(1, keepdims=True)),
)


@pytest.mark.parametrize(("count", "arrays", "call"), [case[1:] for case in CALLS], ids=[case[0] for case in CALLS])
def test_kernels(count: int, arrays: int, call: Callable[[Any], Any]) -> None:
    a = np.asarray(A)
    steps = kernels(lambda: call(a))
    assert len(steps) == count
    assert all(isinstance(step, RunKernel) for step in steps)
    pointers: list[Arg] = [arg for step in steps for arg in step.kernel.args if arg.kind != "scalar"]  # type: ignore[union-attr]
    assert len(pointers) == arrays


@pytest.mark.parametrize("call", [case[3] for case in CALLS], ids=[case[0] for case in CALLS])
def test_values(call: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    tested = call(np.asarray(A))
    monkeypatch.setitem(globals(), "np", numpy)
    reference = call(A.copy())
    for x, y in zip(*(r if isinstance(r, tuple) else (r,) for r in (tested, reference)), strict=True):
        numpy.testing.assert_allclose(x.get(), y, rtol=1e-11)


def test_only_the_result_takes_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = np.asarray(A), np.asarray(A)
    assert all(x.computed().data.ptr for x in (a, b))  # on a GPU the bytes go there when they are first asked for
    sizes: list[int] = []
    allocate = memory.allocate
    monkeypatch.setattr(memory, "allocate", lambda device, nbytes: (sizes.append(nbytes), allocate(device, nbytes))[1])
    expression(a, b).computed()
    assert sizes == [A.nbytes]


def test_a_loop_counter_is_an_argument() -> None:
    a = np.asarray(A)
    steps = [kernels(lambda i=i: a * i + 1)[0] for i in range(2, 5)]  # type: ignore[misc]
    assert all(isinstance(s, RunKernel) and s.kernel == steps[0].kernel for s in steps)  # type: ignore[union-attr]


def test_a_long_chain_is_one_kernel() -> None:
    def run() -> Any:
        x = np.asarray(A)
        for k in range(100):
            x = x + k
        return x

    assert len(kernels(run)) == 1


def test_many_steps_of_a_stencil_are_a_kernel_each() -> None:
    u = np.asarray(A)

    def run() -> Any:
        for _ in range(10):
            jacobi(u)
        return u

    assert len(kernels(run)) == 10
