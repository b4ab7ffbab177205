"""Conway's game of life on a torus."""

import gpunumpy as np


def run(size=1024, steps=200, progress=range):
    """Return the cells, `size` by `size` zeros and ones, after `steps` generations."""
    y, x = np.indices((size, size))
    cells = ((x * x * 7 + y * y * 13 + x * y * 31) % 1009 < 350).astype(np.uint8)

    for _ in progress(steps):
        neighbours = np.zeros_like(cells)
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if (dy, dx) != (0, 0):
                    neighbours += np.roll(cells, (dy, dx), axis=(0, 1))
        born = neighbours == 3
        survives = (neighbours == 2) & (cells == 1)
        cells = (born | survives).astype(np.uint8)
    return cells


def picture(cells):
    """The cells themselves."""
    return cells


def main():
    cells = run()
    print(f"{int(cells.sum())} of {cells.size} cells are alive")


if __name__ == "__main__":
    main()
