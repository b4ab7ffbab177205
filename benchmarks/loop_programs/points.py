"""Points by themselves and in pairs: bodies, points that escape to infinity, and a recurrence."""

from __future__ import annotations

from typing import Any

import numpy

from .loop import Loop

TIME_STEP = 1e-3
SOFTENING = 0.1


def pulled(np: Any, x: Any, v: Any, mass: Any) -> tuple[Any, Any]:
    """Places and velocities of bodies a time step later."""
    apart = x[None] - x[:, None]
    distance = np.sqrt((apart**2).sum(axis=2) + SOFTENING)
    v = v + TIME_STEP * ((mass / distance**3)[:, :, None] * apart).sum(axis=1)
    return x + TIME_STEP * v, v


def bodies(np: Any, x: Any, v: Any, mass: Any, steps: int) -> Any:
    """Bodies that attract each other."""
    for _ in range(steps):
        x, v = pulled(np, x, v, mass)
    return x, v


def bodies_jax(jax: Any, x: Any, v: Any, mass: Any, steps: int) -> Any:
    def step(_: Any, state: Any) -> Any:
        x, v = state
        return pulled(jax.numpy, x, v, mass)

    return jax.lax.fori_loop(0, steps, step, (x, v))


def cluster(rng: numpy.random.Generator, size: int, steps: int) -> tuple[Any, ...]:
    return rng.standard_normal((size, 3)), rng.standard_normal((size, 3)), rng.random(size) / size


def escape_time(np: Any, c: Any, steps: int) -> Any:
    """After how many steps each point of the plane has left the Mandelbrot set's circle. Those inside are kept."""
    counts = np.zeros(c.shape, np.int64)
    alive = np.arange(c.size)
    z = np.zeros_like(c)
    for _ in range(steps):
        z = z * z + c
        inside = np.abs(z) <= 2
        alive, z, c = alive[inside], z[inside], c[inside]
        counts[alive] += 1
    return counts


def escape_time_jax(jax: Any, c: Any, steps: int) -> Any:
    """Every point is computed in every step: compiled arrays do not shrink."""

    def step(_: Any, state: Any) -> Any:
        z, counts, alive = state
        z = jax.numpy.where(alive, z * z + c, z)
        alive = alive & (abs(z) <= 2)
        return z, counts + alive, alive

    counts, alive = jax.numpy.zeros(c.shape, "int64"), jax.numpy.ones(c.shape, bool)
    return jax.lax.fori_loop(0, steps, step, (jax.numpy.zeros_like(c), counts, alive))[1]


def plane(rng: numpy.random.Generator, size: int, steps: int) -> tuple[Any, ...]:
    return (rng.uniform(-2, 0.6, size) + 1j * rng.uniform(-1.2, 1.2, size),)


def recurrence(np: Any, x: Any, rate: Any, steps: int) -> Any:
    """The logistic map, where it comes to rest or oscillates between two values."""
    for _ in range(steps):
        x = rate * x * (1 - x)
    return x


def recurrence_jax(jax: Any, x: Any, rate: Any, steps: int) -> Any:
    return jax.lax.fori_loop(0, steps, lambda _, x: rate * x * (1 - x), x)


def populations(rng: numpy.random.Generator, size: int, steps: int) -> tuple[Any, ...]:
    return rng.uniform(0.1, 0.9, size), rng.uniform(2.5, 3.4, size)


LOOPS = (
    Loop(bodies, bodies_jax, cluster, {"small": (100, 100), "large": (1536, 10)}, 13),
    Loop(escape_time, escape_time_jax, plane, {"small": (100_000, 50), "large": (1 << 21, 20)}, 10, different=1e-3),
    Loop(recurrence, recurrence_jax, populations, {"small": (100, 10_000)}, 3),
)
