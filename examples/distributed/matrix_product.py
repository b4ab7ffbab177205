"""A product of matrices whose rows are spread over processes: blocks of the second one go round.

python -m gpunumpy.distributed -n 2 examples/distributed/matrix_product.py [size]
"""

import sys

import gpunumpy as np
import gpunumpy.distributed as dist


def product(a, b):
    """Return the rows of a product that belong to this process, of its rows of both factors.

    No process ever holds more of the second factor than its own part and one of another.
    """
    rank, size = dist.rank(), dist.size()
    rows = b.shape[0]
    total = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for turn in range(size):
        owner = (rank + turn) % size
        total += a[:, owner * rows : (owner + 1) * rows] @ b
        if turn < size - 1:
            b = dist.sendrecv(b, dest=(rank - 1) % size, source=(rank + 1) % size)
    return total


def matrix(size, seed, first, count):
    """Return rows of a matrix of which each process can make its own."""
    i, j = np.meshgrid(np.arange(first, first + count), np.arange(size), indexing="ij", sparse=True)
    return np.cos(0.7 * i * j + seed).astype(np.float32)


def main():
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    dist.init()
    count = size // dist.size()
    first = dist.rank() * count
    own = product(matrix(size, 1, first, count), matrix(size, 2, first, count))
    whole = dist.all_gather(own).reshape(size, size)
    if dist.rank() == 0:
        expected = matrix(size, 1, 0, size) @ matrix(size, 2, 0, size)
        error = abs(whole - expected).max() / abs(expected).max()
        print(f"{dist.size()} processes, {size} rows: largest difference from one process {float(error):.1e}")
        assert error < 1e-4
    dist.finalize()


if __name__ == "__main__":
    main()
