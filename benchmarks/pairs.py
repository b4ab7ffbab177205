"""Sums over all pairs of points beside CuPy and, compiled by hand, JAX: milliseconds of a call.

``GPUNUMPY_TIER=compiled python benchmarks/pairs.py [--peers jax cupy]``, on a machine with a GPU. Points have three
coordinates.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
from table import heading
from timing import seconds

import gpunumpy as np

COUNTS = (2048, 16384)


def squared(x: Any) -> Any:
    return ((x[:, None] - x) ** 2).sum(axis=-1)


def density(np: Any, x: Any) -> Any:
    """Return the sums of Gaussians around all points."""
    return np.exp(-squared(x)).sum(axis=1)


def farthest(np: Any, x: Any) -> Any:
    """Return the number of the point that is farthest from each."""
    return squared(x).argmax(axis=1)


def forces(np: Any, x: Any) -> Any:
    """Return what all other points pull each one with."""
    apart = x - x[:, None]
    distance = np.sqrt((apart**2).sum(axis=2) + 0.1)
    return ((1 / distance**3)[:, :, None] * apart).sum(axis=1)


def peers(names: list[str]) -> dict[str, Callable[[Any, Any], Callable[[], Any]]]:
    """Return, by the library's name, what makes a call of a function and NumPy's points that waits for its result."""
    found: dict[str, Callable[[Any, Any], Callable[[], Any]]] = {}
    if "cupy" in names:
        import cupy

        def of_cupy(function: Any, x: Any) -> Callable[[], Any]:
            points = cupy.asarray(x)
            return lambda: (function(cupy, points), cupy.cuda.Device().synchronize())

        found["CuPy"] = of_cupy
    if "jax" in names:
        import jax

        jax.config.update("jax_enable_x64", True)

        def of_jax(function: Any, x: Any) -> Callable[[], Any]:
            points, compiled = jax.numpy.asarray(x), jax.jit(partial(function, jax.numpy))
            return lambda: jax.block_until_ready(compiled(points))

        found["jax.jit"] = of_jax
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--peers", nargs="*", default=[], choices=["cupy", "jax"])
    libraries = peers(parser.parse_args().peers)
    np.set_residence("device")
    titles = ["work", "points", "dtype", "gpunumpy", *libraries]
    print(f"{heading()}\n\n| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    for function in (density, farthest, forces):
        for count in COUNTS:
            for dtype in ("float32", "float64"):
                data = numpy.random.default_rng(0).standard_normal((count, 3)).astype(dtype)
                x = np.asarray(data)
                calls = [lambda function=function, x=x: (function(np, x).computed(), np.synchronize())]
                calls += [make(function, data) for make in libraries.values()]
                times = [seconds(call, lambda: None, batch=0.02, repeats=5) * 1e3 for call in calls]
                cells = [function.__name__, f"{count}", dtype, *(f"{ms:.3f}" for ms in times)]
                print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
