"""Smoke that rises in a box, after J. Stam, "Stable Fluids" (1999): 20 relaxation steps for the pressure of a frame."""

import gpunumpy as np

RELAXATIONS = 20
TIME_STEP = 0.1


def sample(field, y, x):
    """A field between its grid points, linear in both directions."""
    size = field.shape[0]
    y, x = np.clip(y, 0.5, size - 1.5), np.clip(x, 0.5, size - 1.5)
    row, column = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    down, right = y - row, x - column
    above = (1 - right) * field[row, column] + right * field[row, column + 1]
    below = (1 - right) * field[row + 1, column] + right * field[row + 1, column + 1]
    return (1 - down) * above + down * below


def project(u, v):
    """Take the divergence out of a velocity."""
    divergence = 0.5 * (u[1:-1, 2:] - u[1:-1, :-2] + v[2:, 1:-1] - v[:-2, 1:-1])
    pressure = np.zeros_like(u)
    for _ in range(RELAXATIONS):
        around = pressure[1:-1, 2:] + pressure[1:-1, :-2] + pressure[2:, 1:-1] + pressure[:-2, 1:-1]
        pressure[1:-1, 1:-1] = 0.25 * (around - divergence)
        pressure[0], pressure[-1] = pressure[1], pressure[-2]
        pressure[:, 0], pressure[:, -1] = pressure[:, 1], pressure[:, -2]
    u[1:-1, 1:-1] -= 0.5 * (pressure[1:-1, 2:] - pressure[1:-1, :-2])
    v[1:-1, 1:-1] -= 0.5 * (pressure[2:, 1:-1] - pressure[:-2, 1:-1])


def walls(u, v):
    """Nothing flows through the walls."""
    u[:, 0], u[:, -1] = 0.0, 0.0
    v[0], v[-1] = 0.0, 0.0


def run(size=128, steps=50, progress=range):
    """Return the smoke and both velocities, 3 by `size` by `size`, after `steps` frames."""
    y, x = np.meshgrid(np.arange(size) * 1.0, np.arange(size) * 1.0, indexing="ij")
    source = (y - 0.85 * size) ** 2 + (x - 0.5 * size) ** 2 < (0.08 * size) ** 2
    u, v, smoke = np.zeros((size, size)), np.zeros((size, size)), np.zeros((size, size))
    for _ in progress(steps):
        smoke[source] = 1.0
        v -= TIME_STEP * 4.0 * smoke
        walls(u, v)
        project(u, v)
        back_y, back_x = y - TIME_STEP * v, x - TIME_STEP * u
        u, v, smoke = sample(u, back_y, back_x), sample(v, back_y, back_x), sample(smoke, back_y, back_x)
        walls(u, v)
    return np.stack([smoke, u, v])
