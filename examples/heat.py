"""Heat spreading over a square plate, by explicit finite differences.

The plate starts cold with two hot discs on it; its top edge is held at 100 degrees and the other three at zero.
"""

import gpunumpy as np

DIFFUSION = 0.2  # diffusivity * time step / spacing**2: stable below 0.25


def run(size=512, steps=2000, progress=range):
    """Return the temperatures, `size` by `size`, after `steps` time steps."""
    y, x = np.meshgrid(np.linspace(0, 1, size), np.linspace(0, 1, size), indexing="ij")
    u = np.zeros((size, size))
    u[(x - 0.3) ** 2 + (y - 0.5) ** 2 < 0.02] = 80.0
    u[(x - 0.7) ** 2 + (y - 0.7) ** 2 < 0.01] = 60.0
    u[0, :] = 100.0

    for _ in progress(steps):
        u[1:-1, 1:-1] += DIFFUSION * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


def picture(u):
    """The temperatures themselves."""
    return u


def main():
    u = run()
    print(f"mean temperature {u.mean():.4f}, below the hot edge {u[10, 10:-10].mean():.4f}")


if __name__ == "__main__":
    main()
