"""Flows on grids: shallow water, diffusion through the levels of the atmosphere, and a cavity with a moving lid."""

from __future__ import annotations

from typing import Any

import numpy

from .loop import Loop

SPEED = 0.3  # of a wave: grid cells a time step
LEVELS = 16
TIME_STEP = 0.1
VISCOSITY = 0.5
RELAXATIONS = 20


def shallow_water(np: Any, h: Any, u: Any, v: Any, steps: int) -> Any:
    """Waves in a basin: heights in the middle of the cells, velocities on their sides, which are walls at the rim."""
    h, u, v = h.copy(), u.copy(), v.copy()
    for _ in range(steps):
        u[:, 1:-1] -= SPEED * (h[:, 1:] - h[:, :-1])
        v[1:-1] -= SPEED * (h[1:] - h[:-1])
        h -= SPEED * (u[:, 1:] - u[:, :-1] + v[1:] - v[:-1])
    return h, u, v


def shallow_water_jax(jax: Any, h: Any, u: Any, v: Any, steps: int) -> Any:
    def step(_: Any, state: Any) -> Any:
        h, u, v = state
        u = u.at[:, 1:-1].add(-SPEED * (h[:, 1:] - h[:, :-1]))
        v = v.at[1:-1].add(-SPEED * (h[1:] - h[:-1]))
        return h - SPEED * (u[:, 1:] - u[:, :-1] + v[1:] - v[:-1]), u, v

    return jax.lax.fori_loop(0, steps, step, (h, u, v))


def basin(rng: numpy.random.Generator, size: int, steps: int) -> tuple[Any, ...]:
    return rng.random((size, size)), numpy.zeros((size, size + 1)), numpy.zeros((size + 1, size))


def vertical_diffusion(np: Any, lower: Any, diagonal: Any, upper: Any, x: Any, steps: int) -> Any:
    """Implicit steps in every column: a tridiagonal system each, by Thomas' sweep down and up again."""
    for _ in range(steps):
        c, d = np.empty_like(x), np.empty_like(x)
        c[0] = upper[0] / diagonal[0]
        d[0] = x[0] / diagonal[0]
        for k in range(1, len(x)):
            pivot = 1 / (diagonal[k] - lower[k] * c[k - 1])
            c[k] = upper[k] * pivot
            d[k] = (x[k] - lower[k] * d[k - 1]) * pivot
        for k in range(len(x) - 2, -1, -1):
            d[k] -= c[k] * d[k + 1]
        x = d
    return x


def vertical_diffusion_jax(jax: Any, lower: Any, diagonal: Any, upper: Any, x: Any, steps: int) -> Any:
    def down(above: Any, level: Any) -> Any:
        (c, d), (lower, diagonal, upper, x) = above, level
        pivot = 1 / (diagonal - lower * c)
        c, d = upper * pivot, (x - lower * d) * pivot
        return (c, d), (c, d)

    def up(below: Any, level: Any) -> Any:
        c, d = level
        x = d - c * below
        return x, x

    def step(_: Any, x: Any) -> Any:
        nothing = jax.numpy.zeros_like(x[0])
        _, sweep = jax.lax.scan(down, (nothing, nothing), (lower, diagonal, upper, x))
        return jax.lax.scan(up, nothing, sweep, reverse=True)[1]

    return jax.lax.fori_loop(0, steps, step, x)


def columns(rng: numpy.random.Generator, size: int, steps: int) -> tuple[Any, ...]:
    lower, diagonal, upper, x = rng.random((4, LEVELS, size, size))
    diagonal += 3
    return lower, diagonal, upper, x


def source(u: Any, v: Any) -> Any:
    """What the pressure has to make up for: the velocities' divergence, and that of their transport."""
    u_x, u_y = (u[1:-1, 2:] - u[1:-1, :-2]) / 2, (u[2:, 1:-1] - u[:-2, 1:-1]) / 2
    v_x, v_y = (v[1:-1, 2:] - v[1:-1, :-2]) / 2, (v[2:, 1:-1] - v[:-2, 1:-1]) / 2
    return (u_x + v_y) / TIME_STEP - u_x**2 - 2 * u_y * v_x - v_y**2


def moved(f: Any, u: Any, v: Any) -> Any:
    """A velocity a time step later, without pressure: carried along, and spread by viscosity."""
    here = f[1:-1, 1:-1]
    carried = u[1:-1, 1:-1] * (here - f[1:-1, :-2]) + v[1:-1, 1:-1] * (here - f[:-2, 1:-1])
    spread = f[1:-1, 2:] + f[1:-1, :-2] + f[2:, 1:-1] + f[:-2, 1:-1] - 4 * here
    return here + TIME_STEP * (VISCOSITY * spread - carried)


def cavity_flow(np: Any, u: Any, v: Any, p: Any, steps: int) -> Any:
    """The flow in a cavity below a moving lid, after step 11 of L. Barba's "12 steps to Navier-Stokes"."""
    u, v, p = u.copy(), v.copy(), p.copy()
    for _ in range(steps):
        b = source(u, v)
        for _ in range(RELAXATIONS):
            p[1:-1, 1:-1] = (p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1] - b) / 4
            p[:, -1] = p[:, -2]
            p[:, 0] = p[:, 1]
            p[0] = p[1]
            p[-1] = 0
        new_u, new_v = moved(u, u, v), moved(v, u, v)
        u[1:-1, 1:-1] = new_u - TIME_STEP / 2 * (p[1:-1, 2:] - p[1:-1, :-2])
        v[1:-1, 1:-1] = new_v - TIME_STEP / 2 * (p[2:, 1:-1] - p[:-2, 1:-1])
    return u, v, p


def cavity_flow_jax(jax: Any, u: Any, v: Any, p: Any, steps: int) -> Any:
    def step(_: Any, state: Any) -> Any:
        u, v, p = state
        b = source(u, v)

        def relax(_: Any, p: Any) -> Any:
            p = p.at[1:-1, 1:-1].set((p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1] - b) / 4)
            p = p.at[:, -1].set(p[:, -2])
            p = p.at[:, 0].set(p[:, 1])
            p = p.at[0].set(p[1])
            return p.at[-1].set(0)

        p = jax.lax.fori_loop(0, RELAXATIONS, relax, p)
        new_u, new_v = moved(u, u, v), moved(v, u, v)
        u = u.at[1:-1, 1:-1].set(new_u - TIME_STEP / 2 * (p[1:-1, 2:] - p[1:-1, :-2]))
        v = v.at[1:-1, 1:-1].set(new_v - TIME_STEP / 2 * (p[2:, 1:-1] - p[:-2, 1:-1]))
        return u, v, p

    return jax.lax.fori_loop(0, steps, step, (u, v, p))


def cavity(rng: numpy.random.Generator, size: int, steps: int) -> tuple[Any, ...]:
    u, v = 0.1 * rng.standard_normal((2, size, size))
    for velocity in (u, v):
        velocity[[0, -1]] = velocity[:, [0, -1]] = 0
    u[-1] = 1
    return u, v, rng.random((size, size))


LOOPS = (
    Loop(shallow_water, shallow_water_jax, basin, {"small": (320, 50), "large": (2048, 20)}, 11),
    Loop(
        vertical_diffusion,
        vertical_diffusion_jax,
        columns,
        {"small": (80, 5), "large": (1536, 2)},
        4 + 11 * (LEVELS - 1),
    ),
    Loop(cavity_flow, cavity_flow_jax, cavity, {"small": (320, 3), "large": (2048, 1)}, 53 + 10 * RELAXATIONS),
)
