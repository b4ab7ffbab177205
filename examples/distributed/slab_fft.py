"""The Fourier transform of a field with three axes that is cut into slabs, one for each process.

python -m gpunumpy.distributed -n 2 examples/distributed/slab_fft.py [size]
"""

import sys

import gpunumpy as np
import gpunumpy.distributed as dist


def transform(slab, count=8):
    """Return a slab of the transform along its second axis, of a slab of the field along its first.

    Two axes are whole in every process. For the third, each sends to each other what that one needs of it: some planes
    at once, while the next ones are transformed.
    """
    planes, rows, columns = slab.shape
    size = dist.size()
    step = -(-planes // count)
    pieces = (
        np.fft.fftn(slab[first : first + step], axes=(1, 2)).reshape(-1, size, rows // size, columns)
        for first in range(0, planes, step)
    )
    parts = dist.all_to_all_in_pieces(pieces, np.empty((size, planes, rows // size, columns), slab.dtype))
    return np.fft.fft(parts.reshape(size * planes, rows // size, columns), axis=0)


def field(size, first, count):
    """Return planes of a field that is known at every point."""
    z, y, x = np.meshgrid(np.arange(first, first + count), np.arange(size), np.arange(size), indexing="ij", sparse=True)
    return (np.sin(0.3 * x * z) + 1j * np.cos(0.2 * y + 0.1 * z)).astype(np.complex64)


def main():
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    dist.init()
    count = size // dist.size()
    own = transform(field(size, dist.rank() * count, count))
    whole = dist.all_gather(own)
    if dist.rank() == 0:
        expected = np.fft.fftn(field(size, 0, size))
        error = abs(np.concatenate(list(whole), axis=1) - expected).max() / abs(expected).max()
        print(f"{dist.size()} processes, {size}^3 points: largest difference from one process {float(error):.1e}")
        assert error < 1e-5
    dist.finalize()


if __name__ == "__main__":
    main()
