"""A rotating disc of stars under their own gravity: every pair attracts, stepped by the leapfrog scheme."""

import gpunumpy as np

SOFTENING = 0.05
TIME_STEP = 0.005


def acceleration(position, mass):
    """The gravity of all stars on each of them; `position` is 3 by n."""
    x, y, z = position
    dx = x[None, :] - x[:, None]
    dy = y[None, :] - y[:, None]
    dz = z[None, :] - z[:, None]
    pull = mass * (dx**2 + dy**2 + dz**2 + SOFTENING**2) ** -1.5
    return np.stack([(pull * dx).sum(axis=1), (pull * dy).sum(axis=1), (pull * dz).sum(axis=1)])


def energy(position, velocity, mass):
    """Kinetic energy, and the potential energy of the softened attraction."""
    offset = position[:, None, :] - position[:, :, None]
    distance = np.sqrt((offset**2).sum(axis=0) + SOFTENING**2)
    pairs = mass[:, None] * mass[None, :] / distance
    kinetic = 0.5 * (mass * (velocity**2).sum(axis=0)).sum()
    return kinetic - 0.5 * (pairs.sum() - np.diagonal(pairs).sum())


def disc(size):
    """Stars laid along a sunflower's spiral, each moving on a circle about the centre."""
    star = np.arange(size)
    radius = np.sqrt((star + 0.5) / size)
    angle = star * np.pi * (3 - np.sqrt(5))
    position = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0.05 * np.sin(7 * angle)])
    speed = 0.8 * np.sqrt(radius)
    velocity = np.stack([-speed * np.sin(angle), speed * np.cos(angle), np.zeros(size)])
    return position, velocity, np.full(size, 1.0 / size)


def simulate(size, steps, progress=range):
    """Return positions, velocities and masses after `steps` time steps."""
    position, velocity, mass = disc(size)
    pull = acceleration(position, mass)
    for _ in progress(steps):
        velocity += 0.5 * TIME_STEP * pull
        position += TIME_STEP * velocity
        pull = acceleration(position, mass)
        velocity += 0.5 * TIME_STEP * pull
    return position, velocity, mass


def run(size=2048, steps=20, progress=range):
    """Return the positions, 3 by `size`, after `steps` time steps."""
    return simulate(size, steps, progress)[0]


def picture(position, pixels=256):
    """How many stars are seen in each pixel, looking down on the disc, on a logarithmic scale."""
    column = np.clip((position[0] + 1.25) / 2.5 * pixels, 0, pixels - 1).astype(np.int64)
    row = np.clip((position[1] + 1.25) / 2.5 * pixels, 0, pixels - 1).astype(np.int64)
    stars = np.zeros((pixels, pixels))
    np.add.at(stars, (row, column), 1.0)
    return np.log1p(stars)


def main():
    before = energy(*disc(256))
    after = energy(*simulate(256, 100))
    print(f"energy {before:.6f} before, {after:.6f} after: a drift of {abs(after / before - 1):.2e}")


if __name__ == "__main__":
    main()
