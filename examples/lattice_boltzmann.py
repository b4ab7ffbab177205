"""Flow past a cylinder by the lattice-Boltzmann method: nine directions in the plane, single relaxation time."""

import gpunumpy as np

# The nine directions (dx, dy), their weights, and the number of the direction opposite to each.
DIRECTIONS = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
DX, DY = np.array(DIRECTIONS).T[:, :, None, None]
WEIGHT = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)[:, None, None]
OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])

INFLOW = 0.1
REYNOLDS = 150


def equilibrium(density, ux, uy):
    """The populations of the nine directions for a fluid at local equilibrium."""
    along = 3 * (DX * ux + DY * uy)
    return WEIGHT * density * (1 + along + 0.5 * along**2 - 1.5 * (ux**2 + uy**2))


def run(size=256, steps=300, progress=range):
    """Return the velocity, 2 by `size` by `2 * size`, after `steps` time steps."""
    y, x = np.indices((size, 2 * size))
    radius = size / 9
    cylinder = (x - size / 2) ** 2 + (y - size / 2) ** 2 < radius**2
    omega = 1 / (3 * INFLOW * 2 * radius / REYNOLDS + 0.5)

    # A slight shear, so that the wake does not stay symmetric.
    start = INFLOW * (1 + 1e-3 * np.sin(2 * np.pi * y / size))
    inlet = equilibrium(1.0, start, 0.0 * start)[:, :, 0]
    f = equilibrium(1.0, start, 0.0 * start)

    for _ in progress(steps):
        density = f.sum(axis=0)
        ux = (f * DX).sum(axis=0) / density
        uy = (f * DY).sum(axis=0) / density
        collided = f + omega * (equilibrium(density, ux, uy) - f)
        # What reaches the cylinder turns back.
        f = np.where(cylinder, f[OPPOSITE], collided)
        for i, (dx, dy) in enumerate(DIRECTIONS):
            f[i] = np.roll(f[i], (dy, dx), axis=(0, 1))
        f[:, :, 0] = inlet
        f[:, :, -1] = f[:, :, -2]

    density = f.sum(axis=0)
    velocity = np.stack([(f * DX).sum(axis=0), (f * DY).sum(axis=0)]) / density
    velocity[:, cylinder] = 0.0
    return velocity


def picture(velocity):
    """How fast the fluid flows."""
    return np.sqrt((velocity**2).sum(axis=0))


def main():
    velocity = run()
    speed = picture(velocity)
    print(f"fastest {speed.max():.4f}, slowest {velocity[0].min():.4f} against an inflow of {INFLOW}")


if __name__ == "__main__":
    main()
