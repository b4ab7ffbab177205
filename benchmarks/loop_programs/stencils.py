"""Stencils in one, two and three dimensions."""

from __future__ import annotations

from typing import Any

import numpy

from .loop import Loop

SPREAD = 0.1


def heat_1d(np: Any, u: Any, steps: int) -> Any:
    """Heat in a rod whose ends keep their temperatures."""
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += SPREAD * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def heat_1d_jax(jax: Any, u: Any, steps: int) -> Any:
    def step(_: Any, u: Any) -> Any:
        return u.at[1:-1].add(SPREAD * (u[2:] - 2 * u[1:-1] + u[:-2]))

    return jax.lax.fori_loop(0, steps, step, u)


def heat_2d(np: Any, u: Any, steps: int) -> Any:
    """Heat in a plate whose edges keep their temperatures."""
    u = u.copy()
    for _ in range(steps):
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        u[1:-1, 1:-1] += SPREAD * (around - 4 * u[1:-1, 1:-1])
    return u


def heat_2d_jax(jax: Any, u: Any, steps: int) -> Any:
    def step(_: Any, u: Any) -> Any:
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        return u.at[1:-1, 1:-1].add(SPREAD * (around - 4 * u[1:-1, 1:-1]))

    return jax.lax.fori_loop(0, steps, step, u)


def next_wave(np: Any, new: Any, old: Any) -> Any:
    """The wave a time step after `new`, which is one after `old`."""
    around = -6 * new
    for axis in range(3):
        around = around + np.roll(new, 1, axis) + np.roll(new, -1, axis)
    return 2 * new - old + SPREAD * around


def wave_3d(np: Any, u: Any, steps: int) -> Any:
    """A wave in a periodic box, at rest at first."""
    new, old = u, u
    for _ in range(steps):
        new, old = next_wave(np, new, old), new
    return new


def wave_3d_jax(jax: Any, u: Any, steps: int) -> Any:
    def step(_: Any, waves: Any) -> Any:
        return next_wave(jax.numpy, *waves), waves[0]

    return jax.lax.fori_loop(0, steps, step, (u, u))[0]


def field(*shape: int, dtype: Any = "float64") -> Any:
    """Return a function that makes one random array: the size in every dimension."""

    def data(rng: numpy.random.Generator, size: int, steps: int) -> tuple[Any, ...]:
        return (rng.random(tuple(size * each for each in shape), dtype),)

    return data


LOOPS = (
    Loop(heat_1d, heat_1d_jax, field(1), {"small": (100_000, 200), "large": (1 << 22, 40)}, 5),
    Loop(heat_2d, heat_2d_jax, field(1, 1), {"small": (320, 100), "large": (2048, 20)}, 7),
    Loop(wave_3d, wave_3d_jax, field(1, 1, 1, dtype="float32"), {"small": (46, 50), "large": (192, 10)}, 17, 1e-4),
)
