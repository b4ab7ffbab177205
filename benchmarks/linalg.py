"""Products, einsum, solvers and decompositions beside CuPy and PyTorch: docs/performance/libraries.md.

Run on a machine with a GPU: ``python benchmarks/linalg.py [--only NAME;NAME] [--peers gpunumpy,CuPy]``. Products
in float32 are in full float32 with every library.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

import numpy
from beside import Row, main, normal

EACH = {"CuPy": 1.0, "torch": 1.0}
MANY = 100
DTYPES = ("float32", "float64", "bfloat16")
STACK = (10_000, 32)
LARGE_STACK = (16, 1024, 1024)


def product(xp: Any, a: Any, b: Any) -> Any:
    return a @ b


def layer(xp: Any, x: Any, w: Any, b: Any) -> Any:
    return xp.relu(x @ w + b) if xp.__name__ == "torch" else xp.maximum(x @ w + b, 0)


def many(xp: Any, b: Any, *arrays: Any) -> Any:
    """One product of each array, as a program has them that looks at none of the results meanwhile."""
    return tuple([a @ b for a in arrays])


def contraction(subscripts: str) -> Callable[..., Any]:
    return lambda xp, *operands: xp.einsum(subscripts, *operands)


def of_linalg(name: str) -> Callable[..., Any]:
    return lambda xp, *args: getattr(xp.linalg, name)(*args)


def shaped(shapes: str, dtype: str) -> Callable[[], tuple[Any, ...]]:
    """Random arrays of shapes such as ``2,3 4``."""
    return lambda: tuple(normal(*map(int, shape.split(",")), dtype=dtype) for shape in shapes.split())


def square(shape: tuple[int, ...], dtype: str) -> tuple[Any, ...]:
    return (normal(*shape, dtype=dtype),)


def definite(shape: tuple[int, ...], dtype: str) -> tuple[Any, ...]:
    """Symmetric matrices, all eigenvalues of which are at least one."""
    (a,) = square(shape, dtype)
    return (a @ a.swapaxes(-1, -2) / numpy.dtype(dtype).type(shape[-1]) + numpy.eye(shape[-1], dtype=dtype),)


def system(shape: tuple[int, ...], dtype: str) -> tuple[Any, ...]:
    (a,) = definite(shape, dtype)
    return a, normal(*shape[:-2], shape[-1], 1, dtype=dtype)


def products() -> list[Row]:
    rows = []
    for side, count, goal in ((64, MANY, {"CuPy": 0.6}), (1024, 20, {"torch": 1.02})):
        for dtype in DTYPES:
            data = shaped(" ".join([f"{side},{side}"] * (count + 1)), dtype)
            rows.append(Row(f"matmul {side}^2 {dtype}, {count} in a row", many, data, goal, count))
        data = shaped(f"{side},{side} {side},{side}", dtype)
        rows.append(Row(f"matmul {side}^2 {dtype}, each computed at once", product, data, dict.fromkeys(goal, inf)))
    for dtype in DTYPES:
        rows.append(Row(f"matmul 8192^2 {dtype}", product, shaped("8192,8192 8192,8192", dtype), {"torch": 1.02}))
    for dtype in ("bfloat16", "float32"):
        data = shaped("4096,4096 4096,4096 4096", dtype)
        rows.append(Row(f"maximum(x @ w + b, 0), 4096^2 {dtype}", layer, data, {"torch.compile": 1.0}))
    return rows


# What is contracted, the shapes of the operands and their dtype: attention first, then networks of tensors.
CONTRACTIONS = (
    ("bhqd,bhkd->bhqk", "8,16,1024,64 8,16,1024,64", "float16"),
    ("bhqk,bhkd->bhqd", "8,16,1024,1024 8,16,1024,64", "float16"),
    ("bqhd,bkhd->bhqk", "8,1024,16,64 8,1024,16,64", "float16"),
    ("ij,jk,kl->il", "2048,2048 2048,32 32,2048", "float32"),
    ("abc,cde,efg->abdfg", "128,8,128 128,8,128 128,8,128", "float64"),
    ("ijk,jil->kl", "128,256,512 256,128,512", "float32"),
    ("abcd,cdef->abef", "48,48,48,48 48,48,48,48", "float64"),
    ("bij,bjk->bik", "1024,64,64 1024,64,64", "float32"),
    ("nchw,oc->nohw", "32,256,56,56 512,256", "float32"),
    ("pqrs,ap,bq,cr,ds->abcd", "64,64,64,64 64,64 64,64 64,64 64,64", "float64"),
)

DECOMPOSITIONS = (("solve", system), ("cholesky", definite), ("qr", square), ("eigh", definite), ("svd", square))


def decompositions() -> list[Row]:
    rows = []
    for dtype in ("float32", "float64"):
        for name, data in DECOMPOSITIONS:
            for shape in ((64, 64), (512, 512), (2048, 2048), (*STACK, STACK[1])):
                size = f"{shape[0]}^2" if len(shape) == 2 else "10,000 of 32^2"
                rows.append(Row(f"{name} {size} {dtype}", of_linalg(name), partial(data, shape, dtype), EACH))
        for name, data in DECOMPOSITIONS[:2]:
            make = partial(data, LARGE_STACK, dtype)
            rows.append(Row(f"{name} 16 of 1024^2 {dtype}", of_linalg(name), make, EACH))
    return rows


# The peers take about a millisecond for each matrix, one after the other, so they are given fewer.
EIG: tuple[tuple[str, tuple[int, ...], dict[str, float]], ...] = (
    ("64^2", (64, 64), EACH),
    ("100 of 8^2", (100, 8, 8), EACH),
    ("100 of 32^2", (100, 32, 32), EACH),
    ("10,000 of 8^2", (10_000, 8, 8), {}),
    ("10,000 of 32^2", (10_000, 32, 32), {}),
)


def general() -> list[Row]:
    """Eigenvalues and vectors of matrices that are not symmetric."""
    return [
        Row(f"eig {size} {dtype}", of_linalg("eig"), partial(square, shape, dtype), goal)
        for dtype in ("float32", "float64")
        for size, shape, goal in EIG
    ]


ROWS = (
    *products(),
    *(
        Row(f"einsum {what} {dtype}", contraction(what), shaped(shapes, dtype), EACH)
        for what, shapes, dtype in CONTRACTIONS
    ),
    *decompositions(),
    *general(),
)

if __name__ == "__main__":
    main(__doc__, ROWS)
