"""The Orszag-Tang vortex: ideal magnetohydrodynamics in the plane, finite volumes with Rusanov fluxes."""

import gpunumpy as np

GAMMA = 5 / 3
COURANT = 0.3


def primitive(state):
    """Density, two velocities, pressure and two magnetic fields, from the conserved variables."""
    density, mx, my, energy, bx, by = state
    vx, vy = mx / density, my / density
    pressure = (GAMMA - 1) * (energy - 0.5 * density * (vx**2 + vy**2) - 0.5 * (bx**2 + by**2))
    return density, vx, vy, pressure, bx, by


def flux(state):
    """The flux along x, and the fastest speed of a signal along x."""
    density, vx, vy, pressure, bx, by = primitive(state)
    field = bx**2 + by**2
    total = pressure + 0.5 * field
    values = (
        density * vx,
        density * vx**2 + total - bx**2,
        density * vx * vy - bx * by,
        (state[3] + total) * vx - bx * (bx * vx + by * vy),
        np.zeros_like(bx),
        by * vx - bx * vy,
    )
    return values, np.sqrt((GAMMA * pressure + field) / density) + np.abs(vx)


def differences(state, axis):
    """What flows into each cell along an axis, a step's length in time over one in space left out."""
    values, speed = flux(state)
    fastest = np.maximum(speed, np.roll(speed, -1, axis))
    result = []
    for u, f in zip(state, values):
        right = 0.5 * (f + np.roll(f, -1, axis)) - 0.5 * fastest * (np.roll(u, -1, axis) - u)
        result.append(np.roll(right, 1, axis) - right)
    return result


def turned(state):
    """The state with x and y exchanged in its vectors: a flux along y is one along x of this."""
    density, mx, my, energy, bx, by = state
    return [density, my, mx, energy, by, bx]


def run(size=256, steps=100, progress=range):
    """Return the six conserved variables, 6 by `size` by `size`, after `steps` steps."""
    place = (np.arange(size) + 0.5) / size
    x, y = np.meshgrid(place, place, indexing="ij")
    density = np.full((size, size), 25 / (36 * np.pi))
    pressure = np.full((size, size), 5 / (12 * np.pi))
    vx, vy = -np.sin(2 * np.pi * y), np.sin(2 * np.pi * x)
    bx, by = -np.sin(2 * np.pi * y) / np.sqrt(4 * np.pi), np.sin(4 * np.pi * x) / np.sqrt(4 * np.pi)
    energy = pressure / (GAMMA - 1) + 0.5 * density * (vx**2 + vy**2) + 0.5 * (bx**2 + by**2)
    state = [density, density * vx, density * vy, energy, bx, by]

    for _ in progress(steps):
        density, vx, vy, pressure, bx, by = primitive(state)
        speed = np.sqrt((GAMMA * pressure + bx**2 + by**2) / density) + np.sqrt(vx**2 + vy**2)
        ratio = COURANT / speed.max()
        along_x = differences(state, 0)
        along_y = turned(differences(turned(state), 1))
        state = [u + ratio * (dx + dy) for u, dx, dy in zip(state, along_x, along_y)]
    return np.stack(state)
