"""What every process of the tests runs: each check by itself, then one line of JSON with what failed in it.

`python -m gpunumpy.distributed -n 2 tests/distributed/program.py FOLDER` writes FOLDER/RANK.json.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy

import gpunumpy as np
import gpunumpy.distributed as dist

CHECKS: dict[str, Callable[[], None]] = {}
REDUCED = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
ML = {name: getattr(ml_dtypes, name) for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2")}
UFUNCS = {"sum": numpy.add, "prod": numpy.multiply, "min": numpy.minimum, "max": numpy.maximum}


def check(function: Callable[[], None]) -> Callable[[], None]:
    CHECKS[function.__name__] = function
    return function


def equal(x: Any, expected: Any) -> None:
    assert isinstance(x, np.ndarray)
    expected = numpy.asarray(expected)
    assert (x.dtype, x.shape) == (expected.dtype, expected.shape)
    assert x.get().tobytes() == expected.tobytes(), (x.get(), expected)


def raises(kind: type[Exception], call: Callable[..., Any], *args: Any, **options: Any) -> str:
    try:
        call(*args, **options)
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


def part(rank: int, dtype: Any, shape: tuple[int, ...] = (4, 3)) -> Any:
    """What a process has: small integers, so that no order of sums and no format rounds."""
    return ((numpy.arange(numpy.prod(shape, dtype=int)) + rank) % 3 + rank % 2).reshape(shape).astype(dtype)


def parts(dtype: Any, shape: tuple[int, ...] = (4, 3)) -> list[Any]:
    return [part(rank, dtype, shape) for rank in range(dist.size())]


def reduced(values: list[Any], op: str) -> Any:
    result = values[0]
    for value in values[1:]:
        result = UFUNCS[op](result, value)
    return result


@check
def all_reduce() -> None:
    for dtype in (*REDUCED, *ML.values()):
        mine = np.asarray(part(dist.rank(), dtype))
        for op in UFUNCS:
            if numpy.dtype(dtype).kind == "c" and op != "sum":
                raises(TypeError, dist.all_reduce, mine, op)
                continue
            equal(dist.all_reduce(mine, op), reduced(parts(dtype), op))
        equal(mine, part(dist.rank(), dtype))


@check
def wrapping_integers() -> None:
    for dtype in ("int8", "int16", "int32", "int64", "uint16"):
        high = numpy.full(3, numpy.iinfo(dtype).max, dtype)
        for op in ("sum", "prod"):
            equal(dist.all_reduce(np.asarray(high), op), reduced([high] * dist.size(), op))


@check
def mean() -> None:
    for dtype in ("float32", "float64", "complex64", "complex128"):
        mine = np.full(5, dist.rank() * 6, dtype)
        equal(dist.all_reduce(mine, "avg"), numpy.full(5, 3 * (dist.size() - 1), dtype))
    raises(TypeError, dist.all_reduce, np.arange(3), "avg")
    raises(ValueError, dist.all_reduce, np.arange(3), "median")


@check
def not_a_number() -> None:
    """It stays, wherever it comes from; signs of zeros and infinities are in order."""
    for dtype in ("float16", "float32", "float64", *ML.values()):
        values = [numpy.array([1, -1, 0, 5, numpy.nan, 2], dtype) for _ in range(dist.size())]
        values[-1] = numpy.array([numpy.nan, numpy.nan, -1, 448, numpy.nan, 1], dtype)
        for op in ("min", "max"):
            found = dist.all_reduce(np.asarray(values[dist.rank()]), op)
            assert found.dtype == values[0].dtype
            numpy.testing.assert_array_equal(found.get().astype("f4"), reduced(values, op).astype("f4"))
    limit = numpy.full(3, 448, ml_dtypes.float8_e4m3fn)
    numpy.testing.assert_array_equal(dist.all_reduce(np.asarray(limit)).get().astype("f4"), [numpy.nan] * 3)


@check
def moves_of_every_dtype() -> None:
    size, rank = dist.size(), dist.rank()
    for dtype in (*REDUCED, *ML.values(), ml_dtypes.float4_e2m1fn):
        values = parts(dtype, (size, 5))
        mine = np.asarray(values[rank])
        equal(dist.all_gather(mine), numpy.stack(values))
        equal(dist.all_to_all(mine), numpy.stack([value[rank] for value in values]))
        equal(dist.broadcast(mine, size - 1), values[-1])
        equal(dist.sendrecv(mine, (rank + 1) % size, (rank - 1) % size), values[rank - 1])


@check
def reduce_scatter() -> None:
    size, rank = dist.size(), dist.rank()
    for dtype in REDUCED:
        values = parts(dtype, (size, 4))
        equal(dist.reduce_scatter(np.asarray(values[rank])), reduced(values, "sum")[rank])
    equal(dist.reduce_scatter(np.asarray(values[rank].real), "max"), reduced([x.real for x in values], "max")[rank])


@check
def pending_arrays() -> None:
    rank, size = dist.rank(), dist.size()
    x = np.arange(1000.0)
    y = dist.all_reduce(x * 2 + rank) / size  # recorded before, and used after
    numpy.testing.assert_allclose(y.get(), numpy.arange(1000.0) * 2 + (size - 1) / 2, rtol=1e-15)
    before = x + 1  # pending, and reads what is written in place
    assert dist.all_reduce(x, out=x) is x
    equal(before, numpy.arange(1000.0) + 1)
    equal(x, numpy.arange(1000.0) * size)
    x += 1
    equal(dist.all_reduce(x, "max"), numpy.arange(1000.0) * size + 1)


@check
def large_arrays() -> None:
    """Larger than what sockets hold, and than what is on the host for its size."""
    rank, size = dist.rank(), dist.size()
    n = 1 << 19
    mine = np.arange(size * n, dtype="float32").reshape(size, n) + rank
    base = numpy.arange(size * n, dtype="float32").reshape(size, n)
    equal(dist.all_to_all(mine), numpy.stack([base[rank] + other for other in range(size)]))
    equal(dist.all_reduce(mine, "max"), base + (size - 1))
    equal(dist.sendrecv(mine, (rank + 1) % size, (rank - 1) % size), base + (rank - 1) % size)


@check
def pieces() -> None:
    """Of many sizes, small and large, into an array and into a view."""
    rank, size = dist.rank(), dist.size()
    for rows, width in ((7, 3), (5, 1 << 15), (0, 4)):
        base = numpy.arange(rows * size * width, dtype="float64").reshape(rows, size, width)
        expected = numpy.stack([base[:, rank] * 2 + other for other in range(size)])
        mine = np.asarray(base)
        for out in (np.empty((size, rows, width)), np.empty((size, rows, 2 * width))[:, :, ::2]):
            made = (mine[start : start + 2] * 2 + rank for start in range(0, rows, 2))
            assert dist.all_to_all_in_pieces(made, out) is out
            equal(out, expected)
    out = np.empty((size, 3, 2))
    raises(ValueError, dist.all_to_all_in_pieces, [], np.empty((size + 1, 3, 2)))
    raises(ValueError, dist.all_to_all_in_pieces, [np.empty((4, size, 2))], out)
    raises(ValueError, dist.all_to_all_in_pieces, [np.empty((1, size, 3))], out)
    raises(ValueError, dist.all_to_all_in_pieces, [np.empty((1, size, 2), "float32")], out)
    assert "2 rows less" in raises(ValueError, dist.all_to_all_in_pieces, [np.empty((1, size, 2))], out)
    raises(TypeError, dist.all_to_all_in_pieces, [], numpy.empty((size, 0)))


@check
def views() -> None:
    rank, size = dist.rank(), dist.size()
    whole = np.asarray(part(rank, "float64", (6, 8)))
    expected = sum(parts("float64", (6, 8)))
    equal(dist.all_reduce(whole[::2, 1::3]), numpy.ascontiguousarray(expected[::2, 1::3]))
    equal(dist.all_reduce(whole.T), numpy.ascontiguousarray(expected.T))
    equal(dist.all_reduce(whole[2:4]), expected[2:4])
    equal(dist.all_reduce(np.broadcast_to(whole[0], (3, 8))), numpy.tile(expected[0], (3, 1)))
    equal(dist.all_reduce(whole[1, ::-1]), expected[1, ::-1].copy())
    target = np.zeros((6, 8))
    result = dist.all_reduce(whole[:, ::2], out=target[:, ::2])
    assert result.shape == (6, 4)
    written = numpy.zeros((6, 8))
    written[:, ::2] = expected[:, ::2]
    equal(target, written)
    # a part of an array that is also read
    gathered = np.zeros((size, 4))
    gathered[rank] = rank + 1
    dist.all_gather(gathered[rank], out=gathered)
    equal(gathered, numpy.repeat(numpy.arange(1.0, size + 1), 4).reshape(size, 4))
    turned = np.arange(float(size)) + 10 * rank
    dist.all_to_all(turned, out=turned)
    equal(turned, numpy.arange(size) * 10.0 + rank)
    dist.broadcast(turned, out=turned)
    equal(turned, numpy.arange(size) * 10.0)


@check
def no_dimensions_and_no_elements() -> None:
    rank, size = dist.rank(), dist.size()
    equal(dist.all_reduce(np.arange(4.0).sum() + rank), 6.0 * size + size * (size - 1) / 2)
    equal(dist.all_gather(np.asarray(rank)), numpy.arange(size))
    equal(dist.all_reduce(np.int32(2) if rank else numpy.int32(2)), numpy.int32(2 * size))
    equal(dist.all_reduce(3.5), 3.5 * size)
    equal(dist.all_reduce(np.zeros((0, 3))), numpy.zeros((0, 3)))
    equal(dist.all_gather(np.zeros((0, 3))), numpy.zeros((size, 0, 3)))
    equal(dist.all_to_all(np.zeros((size, 0))), numpy.zeros((size, 0)))
    equal(dist.reduce_scatter(np.ones(size)), numpy.float64(size))


@check
def messages() -> None:
    rank, size = dist.rank(), dist.size()
    if rank == 0:
        for other in range(1, size):
            dist.send(np.arange(3.0) * other, other)
        got = np.empty((2, 2), "int64")
        for other in range(1, size):
            assert dist.recv(got, other) is got
            equal(got, numpy.full((2, 2), other))
    else:
        equal(dist.recv(np.zeros(3), 0), numpy.arange(3.0) * rank)
        dist.send(np.full((2, 2), rank), 0)
    equal(dist.sendrecv(np.arange(3), rank, rank), numpy.arange(3))
    raises(ValueError, dist.send, np.arange(3), rank)
    raises(ValueError, dist.recv, np.arange(3), size)
    if size > 2:
        raises(ValueError, dist.sendrecv, np.arange(3), rank, (rank + 1) % size)


@check
def arguments() -> None:
    size = dist.size()
    x = np.arange(6.0)
    assert "(5,)" in raises(ValueError, dist.all_reduce, x, out=np.empty(5))
    raises(TypeError, dist.all_reduce, x, out=np.empty(6, "float32"))
    raises(TypeError, dist.all_reduce, x, out=numpy.empty(6))
    raises(ValueError, dist.all_gather, x, out=np.empty(6))
    raises(ValueError, dist.all_to_all, np.empty((size + 1, 2)))
    raises(ValueError, dist.reduce_scatter, np.asarray(1.0))
    raises(ValueError, dist.broadcast, x, size)
    raises(ValueError, dist.broadcast, x, -1)
    raises(TypeError, dist.broadcast, x, 0.0)
    raises(TypeError, dist.all_reduce, np.asarray(["text"]))
    raises(TypeError, dist.all_gather, np.asarray([None]))
    raises(TypeError, dist.all_reduce, np.asarray(numpy.zeros(2, ml_dtypes.float4_e2m1fn)))
    fixed = np.zeros(6)
    fixed.flags.writeable = False
    raises(ValueError, dist.all_reduce, x, out=fixed)
    raises(RuntimeError, dist.init)


@check
def same_bits() -> None:
    """Every process has the same elements, and a second time too."""
    mine = np.random.default_rng(dist.rank()).random(1000).astype("float32")
    once, again = dist.all_reduce(mine), dist.all_reduce(mine)
    equal(once, again.get())
    everywhere = dist.all_gather(once).get()
    assert (everywhere == everywhere[0]).all()
    numpy.testing.assert_allclose(
        once.get(), sum(numpy.random.default_rng(r).random(1000) for r in range(dist.size())), rtol=1e-6
    )


@check
def many_in_a_row() -> None:
    x = np.ones(100)
    for _ in range(50):
        x = dist.all_reduce(x * 0.5, "sum") * (2 / dist.size())
    equal(x, numpy.ones(100))
    dist.barrier()


def main(folder: str) -> None:
    dist.init(backend=os.environ.get("TESTED_BACKEND"))
    failed = {}
    for name, run in CHECKS.items():
        try:
            run()
            failed[name] = ""
        except Exception:
            failed[name] = traceback.format_exc()
    dist.finalize()
    (Path(folder) / f"{os.environ['RANK']}.json").write_text(json.dumps(failed))


if __name__ == "__main__":
    main(sys.argv[1])
