"""The Mandelbrot set: how many steps of z -> z**2 + c each point of the plane stays bounded."""

import gpunumpy as np


def run(size=1024, steps=100, progress=range):
    """Return the number of steps, at most `steps`, that each of `size` by `size` points stays within radius 2."""
    real = np.linspace(-2.1, 0.7, size)
    imaginary = np.linspace(-1.4, 1.4, size)
    c = real[None, :] + 1j * imaginary[:, None]
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=np.int32)

    for _ in progress(steps):
        bounded = z.real**2 + z.imag**2 <= 4.0
        z = np.where(bounded, z * z + c, z)
        count += bounded
    return count


def picture(count):
    """The counts on a logarithmic scale."""
    return np.log(count)


def main():
    count = run()
    print(f"{(count == count.max()).mean():.2%} of the points never escaped")


if __name__ == "__main__":
    main()
