"""Image subtraction: what is new in the sky between two exposures of a field, the later one blurred and shifted.

The earlier exposure, convolved with a small kernel, is fitted to the later one and subtracted: what stays put leaves
noise alone, and what is new stands out. The kernel is free in every pixel, after D. M. Bramich, "A new algorithm for
difference image analysis", MNRAS 386, L77 (2008), so it takes up blur, shift and exposure at once. All of it is done in
Fourier space: there the normal equations of the fit hold two correlations, which are one inverse transform each.

The sky is the Hubble deep field that scikit-image ships (NASA; 872 by 1,000 pixels), mirrored at its edges until it is
as large as asked for. Both exposures are made from it, with white noise, and with new stars in the later one. Needs
scikit-image for that image alone: `pip install 'gpunumpy[examples]'`.
"""

from skimage.data import hubble_deep_field

import gpunumpy as np

SIDE = 9  # of the kernel, in pixels: odd
STARS = 12
SEEING = (0.9, 1.5)  # the blur of either exposure: standard deviations in pixels
NOISE = (0.5, 0.7)
SHIFT = (0.4, -0.7)  # how many pixels the later exposure is off: down, right
EXPOSURE = 1.3  # the later one over the earlier one
BRIGHTNESS = 60.0  # of a new star, over all of its pixels


def mirrored(image, size):
    """The image, `size` by `size`, continued beyond its edges by its reflections."""
    rows, columns = (
        np.abs((np.arange(size) + length) % (2 * length) - length + 0.5).astype(np.int64) for length in image.shape
    )
    return image[rows[:, None], columns]


def normal(size, seed):
    """Normally distributed numbers, `size` by `size`: the same ones with every library, so not from its generator."""
    bits = np.arange(2 * size * size, dtype=np.uint32) + np.uint32(seed)
    for factor in (0x7FEB352D, 0x846CA68B):
        bits = (bits ^ (bits >> 16)) * np.uint32(factor)
    u, v = ((bits >> 8).reshape(2, size, size) + 0.5) / 2**24
    return np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v)


def frequencies(size):
    """Cycles a pixel down and right, for the spectrum of a real image."""
    return np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size)


def blur(size, seeing):
    """The spectrum of a star at the origin: a Gaussian."""
    down, right = frequencies(size)
    return np.exp(-2 * (np.pi * seeing) ** 2 * (down**2 + right**2))


def star_places(size):
    """Where the new stars are: rows and columns, spread evenly."""
    number = np.arange(1, STARS + 1)
    return tuple((number * step % 1 * size).astype(np.int64) for step in (0.7548776662466927, 0.5698402909980532))


def exposures(size):
    """The two images, with the same sky but for the stars, the noise and a glow in the later one."""
    sky = mirrored(np.asarray(hubble_deep_field()).mean(axis=2), size)
    stars = np.zeros((size, size))
    stars[star_places(size)] = BRIGHTNESS
    down, right = frequencies(size)
    moved = EXPOSURE * np.exp(-2j * np.pi * (down * SHIFT[0] + right * SHIFT[1]))
    spectrum = np.fft.rfft2(sky)
    earlier = np.fft.irfft2(blur(size, SEEING[0]) * spectrum, s=sky.shape)
    later = np.fft.irfft2(blur(size, SEEING[1]) * (moved * spectrum + np.fft.rfft2(stars)), s=sky.shape)
    glow = 4 + 2 * np.cos(2 * np.pi * np.arange(size) / size)
    return earlier + NOISE[0] * normal(size, 1), later + glow + NOISE[1] * normal(size, 1 << 30)


def spread(x):
    """The standard deviation of `x` without what stands out of it."""
    deviation = x.std()
    for _ in range(2):
        deviation = x[np.abs(x) < 4 * deviation].std()
    return deviation


def offsets():
    """The rows and the columns of the kernel's pixels, counted from its centre."""
    along = np.arange(SIDE * SIDE)
    return along // SIDE - SIDE // 2, along % SIDE - SIDE // 2


def weight(size, matching):
    """What each frequency counts: one over the difference's noise, where `matching` is the kernel's spectrum.

    The lowest frequencies, which a glow of the sky is in, count nothing.
    """
    down, right = frequencies(size)
    kept = down**2 + right**2 > (1.5 / size) ** 2
    return kept / (NOISE[1] ** 2 + (NOISE[0] * np.abs(matching)) ** 2)


def fit(before, after, weight):
    """The spectrum of the kernel that brings the spectrum `before` nearest to `after`.

    To each pixel of the kernel belongs the earlier image shifted as far as the pixel is from the centre. The products
    of two such images, over all of them, are the image's correlation with itself, at the distance of the two pixels.
    """
    size = len(before)
    own = np.fft.irfft2(weight * np.abs(before) ** 2, s=(size, size))
    other = np.fft.irfft2(weight * after * np.conj(before), s=(size, size))
    rows, columns = offsets()
    kernel = np.zeros((size, size))
    kernel[rows, columns] = np.linalg.solve(own[rows[:, None] - rows, columns[:, None] - columns], other[rows, columns])
    return np.fft.rfft2(kernel)


def subtract(earlier, later, steps, progress=range):
    """Return how far a star at each pixel is above the noise of the difference, and the spectrum of the kernel.

    The kernel is fitted once more in each of `steps`: weighted as the last one asks for, and without the pixels that
    stood out of the last difference.
    """
    size = len(earlier)
    before, after = np.fft.rfft2(earlier), np.fft.rfft2(later)
    weights = weight(size, 1.0)
    matching = fit(before, after, weights)
    for _ in progress(steps):
        weights = weight(size, matching)
        difference = np.fft.irfft2((weights > 0) * (after - matching * before), s=earlier.shape)
        standing_out = np.abs(difference) > 4 * spread(difference)
        steady = np.fft.rfft2(np.where(standing_out, later - difference, later))
        matching = fit(before, steady, weights)

    # What is left is correlated noise, and stars as blurred as the later exposure.
    matched = weight(size, matching) * blur(size, SEEING[1])
    score = np.fft.irfft2(matched * (after - matching * before), s=earlier.shape)
    total = np.fft.irfft2(matched * blur(size, SEEING[1]), s=earlier.shape)[0, 0]
    return score / np.sqrt(total), matching


def found(score, least=6.0):
    """The rows and columns where the difference is more than `least` times its noise, and more than around."""
    around = [np.roll(score, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)]
    return np.nonzero((score > least) & (score == np.stack(around).max(axis=0)))


def run(size=512, steps=2, progress=range):
    """Return both exposures and the difference, 3 by `size` by `size`, with the kernel fitted again `steps` times."""
    earlier, later = exposures(size)
    score, _ = subtract(earlier, later, steps, progress)
    return np.stack([earlier, later, score])


def picture(images):
    """Both exposures, the brightest parts cut off, and the difference."""
    earlier, later, score = images
    return np.concatenate([np.clip(earlier / 100, 0, 1), np.clip(later / 130, 0, 1), np.clip(score / 12, 0, 1)], axis=1)


def main():
    score = run()[2]
    rows, columns = found(score)
    places = np.stack(star_places(len(score)), axis=1)
    nearest = np.abs(places[:, None] - np.stack([rows, columns], axis=1)).max(axis=2).min(axis=1)
    print(f"the noise of the difference is {float(spread(score)):.2f} times the expected")
    print(f"{len(rows)} new stars found; {int((nearest <= 1).sum())} of the {STARS} that there are")


if __name__ == "__main__":
    main()
