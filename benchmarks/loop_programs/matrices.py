"""Matrices by their rows and columns: iteration, orthogonalization, covariance, shortest paths."""

from __future__ import annotations

from typing import Any

import numpy

from .loop import Loop

BLOCK = 16


def power_iteration(np: Any, a: Any, x: Any, steps: int) -> Any:
    """The eigenvector of the largest eigenvalue."""
    for _ in range(steps):
        x = a @ x
        x = x / np.linalg.norm(x)
    return x


def power_iteration_jax(jax: Any, a: Any, x: Any, steps: int) -> Any:
    def step(_: Any, x: Any) -> Any:
        x = a @ x
        return x / jax.numpy.linalg.norm(x)

    return jax.lax.fori_loop(0, steps, step, x)


def positive(rng: numpy.random.Generator, size: int, steps: int) -> tuple[Any, ...]:
    return rng.random((size, size)), rng.random(size)


def gram_schmidt(np: Any, a: Any, steps: int) -> Any:
    """Make the rows orthonormal, a block of them a step."""
    a = a.copy()
    for start in range(0, steps * BLOCK, BLOCK):
        block, rest = a[start : start + BLOCK], a[start + BLOCK :]
        for i in range(BLOCK):
            block[i] /= np.linalg.norm(block[i])
            block[i + 1 :] -= np.outer(block[i + 1 :] @ block[i], block[i])
        rest -= (rest @ block.T) @ block
    return a


def gram_schmidt_jax(jax: Any, a: Any, steps: int) -> Any:
    """The rows that a block or a row leaves alone are masked: their projections are set to 0."""
    np, lax = jax.numpy, jax.lax

    def row(i: Any, block: Any) -> Any:
        q = block[i] / np.linalg.norm(block[i])
        block = block.at[i].set(q)
        return block - np.outer(np.where(np.arange(BLOCK) > i, block @ q, 0), q)

    def step(k: Any, a: Any) -> Any:
        block = lax.fori_loop(0, BLOCK, row, lax.dynamic_slice_in_dim(a, k * BLOCK, BLOCK))
        a = lax.dynamic_update_slice_in_dim(a, block, k * BLOCK, 0)
        is_later = np.arange(len(a)) >= (k + 1) * BLOCK
        return a - np.where(is_later[:, None], a @ block.T, 0) @ block

    return lax.fori_loop(0, steps, step, a)


def rows(rng: numpy.random.Generator, size: int, steps: int) -> tuple[Any, ...]:
    return (rng.standard_normal((steps * BLOCK, size)),)


def covariance(np: Any, data: Any, steps: int) -> Any:
    """The covariance matrix of the columns, of which there are as many as steps."""
    data = data - data.mean(axis=0)
    result = np.empty((steps, steps))
    for i in range(steps):
        result[i:, i] = result[i, i:] = data[:, i] @ data[:, i:] / (len(data) - 1)
    return result


def covariance_jax(jax: Any, data: Any, steps: int) -> Any:
    data = data - data.mean(axis=0)

    def step(i: Any, result: Any) -> Any:
        return result.at[i].set(data[:, i] @ data / (len(data) - 1))

    return jax.lax.fori_loop(0, steps, step, jax.numpy.empty((steps, steps)))


def samples(rng: numpy.random.Generator, size: int, steps: int) -> tuple[Any, ...]:
    return (rng.random((size, steps)),)


def shortest_paths(np: Any, length: Any, steps: int) -> Any:
    """The shortest paths between all pairs of nodes that go through the first `steps` nodes alone (Floyd, Warshall)."""
    for k in range(steps):
        length = np.minimum(length, length[:, k, None] + length[k])
    return length


def shortest_paths_jax(jax: Any, length: Any, steps: int) -> Any:
    def step(k: Any, length: Any) -> Any:
        return jax.numpy.minimum(length, length[:, k, None] + length[k])

    return jax.lax.fori_loop(0, steps, step, length)


def distances(rng: numpy.random.Generator, size: int, steps: int) -> tuple[Any, ...]:
    return (rng.random((size, size), "float32"),)


LOOPS = (
    Loop(power_iteration, power_iteration_jax, positive, {"small": (320, 300), "large": (3584, 50)}, 3),
    Loop(gram_schmidt, gram_schmidt_jax, rows, {"small": (1024, 6), "large": (1 << 20, 2)}, 5 * BLOCK + 3),
    Loop(covariance, covariance_jax, samples, {"small": (500, 200), "large": (1 << 18, 64)}, 4),
    Loop(shortest_paths, shortest_paths_jax, distances, {"small": (320, 320), "large": (3072, 20)}, 2),
)
