"""K-means clusters of handwritten digits: the 1,797 scanned digits, 8 by 8 pixels each, that scikit-learn ships.

Needs scikit-learn for the data alone: `pip install 'gpunumpy[examples]'`.
"""

from sklearn.datasets import load_digits

import gpunumpy as np


def assign(data, centres):
    """The number of the nearest centre, and the squared distance to it, of each row of `data`."""
    distance = ((data[:, None, :] - centres[None, :, :]) ** 2).sum(axis=-1)
    return distance.argmin(axis=1), distance.min(axis=1)


def run(size=10, steps=30, progress=range):
    """Return the centres, `size` by 64, after `steps` iterations of Lloyd's algorithm."""
    data = np.asarray(load_digits().data)
    centres = data[:: len(data) // size][:size].copy()

    for _ in progress(steps):
        nearest, _ = assign(data, centres)
        member = nearest[:, None] == np.arange(size)
        count = member.sum(axis=0)[:, None]
        means = member.T.astype(data.dtype) @ data / np.maximum(count, 1)
        # A cluster that lost all its members stays where it is.
        centres = np.where(count > 0, means, centres)
    return centres


def picture(centres):
    """The mean digit of each cluster, side by side."""
    return centres.reshape(-1, 8, 8).transpose(1, 0, 2).reshape(8, -1)


def main():
    digits = load_digits()
    digit = np.asarray(digits.target)
    nearest, distance = assign(np.asarray(digits.data), run())
    print(f"mean squared distance to the nearest centre: {distance.mean():.3f}")
    for cluster in range(10):
        votes = (digit[nearest == cluster][:, None] == np.arange(10)).sum(axis=0)
        print(f"cluster {cluster}: {votes.sum()} digits, {votes.max() / votes.sum():.0%} of them {votes.argmax()}s")


if __name__ == "__main__":
    main()
