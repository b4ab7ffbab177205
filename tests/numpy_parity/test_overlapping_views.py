"""Writes through views whose elements overlap: NumPy writes them one after the other, and the last one stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np

from .parity import on_host, outcome, same


def strided(xp: Any, x: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """A view by strides in elements."""
    return xp.lib.stride_tricks.as_strided(x, shape, tuple(s * x.itemsize for s in strides))


def windows(xp: Any, x: Any, *args: Any, **options: Any) -> Any:
    return xp.lib.stride_tricks.sliding_window_view(x, *args, writeable=True, **options)


# Views of an array of 4 by 6 elements, all of which overlap.
VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "rows that overlap": lambda xp, x: strided(xp, x.reshape(-1), (4, 2), (1, 1)),
    "rows that overlap by one": lambda xp, x: strided(xp, x.reshape(-1), (5, 3), (2, 1)),
    "columns that overlap": lambda xp, x: strided(xp, x.reshape(-1), (3, 4), (1, 2)),
    "elements backwards": lambda xp, x: strided(xp, x.reshape(-1)[10:], (4, 3), (-2, 1)),
    "all backwards": lambda xp, x: strided(xp, x.reshape(-1)[10:], (4, 3), (-1, -2)),
    "one element repeated": lambda xp, x: strided(xp, x.reshape(-1), (4, 2), (0, 0)),
    "a row repeated": lambda xp, x: strided(xp, x.reshape(-1)[2:], (3, 4), (0, 1)),
    "a column repeated": lambda xp, x: strided(xp, x.reshape(-1)[2:], (3, 4), (2, 0)),
    "three dimensions": lambda xp, x: strided(xp, x.reshape(-1), (3, 2, 4), (2, 3, 1)),
    "a line over itself": lambda xp, x: strided(xp, x.reshape(-1), (8,), (0,)),
    "of two dimensions": lambda xp, x: strided(xp, x, (3, 5), (6, 1))[:, :4][::-1].T,
    "blocks": lambda xp, x: strided(xp, x, (3, 2, 3, 2), (6, 6, 2, 1)),
    "windows of a line": lambda xp, x: windows(xp, x.reshape(-1), 3),
    "windows of a part": lambda xp, x: windows(xp, x.reshape(-1)[3:20:2], 3),
    "windows of a line backwards": lambda xp, x: windows(xp, x.reshape(-1)[::-1], 3),
    "windows of columns": lambda xp, x: windows(xp, x, 2, axis=1),
    "windows of both": lambda xp, x: windows(xp, x, (2, 3)),
    "windows of a transpose": lambda xp, x: windows(xp, x.T, 2, axis=0),
    "windows in another order": lambda xp, x: windows(xp, x, 2, axis=0).transpose(2, 0, 1)[:, ::-1],
    "windows of windows": lambda xp, x: windows(xp, x, (2, 2), axis=(1, 1)),
    "one window for each": lambda xp, x: windows(xp, x, 1, axis=1),
}


def numbers(v: Any) -> Any:
    """A number of its own for every element of a view."""
    return numpy.arange(v.size).reshape(v.shape) % 23 + 1


def where_odd(v: Any) -> Any:
    return numbers(v) % 2 == 1


def positions(v: Any) -> tuple[list[int], ...]:
    """Index arrays of a few elements, the first of them twice."""
    return tuple([0, n - 1, n // 2, 0] for n in v.shape)


def own(xp: Any, x: Any, dtype: Any) -> Any:
    """A NumPy array as one of the library."""
    return xp.asarray(x.astype(dtype))


def assign(v: Any, key: Any, value: Any) -> None:
    v[key] = value


def set_slices(xp: Any, v: Any) -> None:
    v[1:] = v[:-1]


def in_place_part(xp: Any, v: Any) -> None:
    v[1:] += v[:-1]


def set_reversed(xp: Any, v: Any) -> None:
    v[...] = v[::-1]


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "a number": lambda xp, v: assign(v, ..., 7),
    "all": lambda xp, v: assign(v, ..., own(xp, numbers(v), v.dtype)),
    "all by slices": lambda xp, v: assign(v, slice(None), own(xp, numbers(v), v.dtype)),
    "of another dtype": lambda xp, v: assign(v, ..., own(xp, numbers(v), "i2")),
    "in Fortran order": lambda xp, v: assign(v, ..., own(xp, numbers(v).T.copy(), v.dtype).T),
    "of NumPy": lambda xp, v: assign(v, ..., numbers(v)),
    "a list": lambda xp, v: assign(v, ..., numbers(v).tolist()),
    "a row": lambda xp, v: assign(v, ..., own(xp, numbers(v[:1])[0], v.dtype)),
    "a part": lambda xp, v: assign(v, slice(1, None), own(xp, numbers(v[1:]), v.dtype)),
    "every second": lambda xp, v: assign(v, slice(None, None, -2), own(xp, numbers(v[::-2]), v.dtype)),
    "an index": lambda xp, v: assign(v, 1, own(xp, numbers(v[1]), v.dtype)),
    "an element": lambda xp, v: assign(v, (-1,) * v.ndim, 50),
    "from itself": set_slices,
    "backwards from itself": set_reversed,
    "a part added to": in_place_part,
    "a mask and a number": lambda xp, v: assign(v, where_odd(v), 9),
    "a mask on a device": lambda xp, v: assign(v, xp.asarray(where_odd(v)), 9),
    "a mask of its own": lambda xp, v: assign(v, v.real > 4, 0),
    "a mask and numbers": lambda xp, v: assign(v, where_odd(v), own(xp, numbers(v)[where_odd(v)], v.dtype)),
    "a mask of rows": lambda xp, v: assign(v, numpy.arange(len(v)) % 2 == 1, 5),
    "an index array": lambda xp, v: assign(v, [0, -1, 0], own(xp, numbers(v)[[1, 0, 1]], v.dtype)),
    "index arrays": lambda xp, v: assign(v, positions(v), own(xp, numpy.arange(4), v.dtype)),
    "index arrays on a device": lambda xp, v: assign(v, tuple(map(xp.asarray, positions(v))), 8),
    "in place": lambda xp, v: v.__iadd__(own(xp, numbers(v), v.dtype)),
    "in place by a number": lambda xp, v: v.__imul__(3),
    "in place from itself": lambda xp, v: v.__isub__(v[::-1]),
    "a ufunc": lambda xp, v: xp.add(v, own(xp, numbers(v), v.dtype), out=v),
    "a ufunc of others": lambda xp, v: xp.multiply(own(xp, numbers(v), v.dtype), 2, out=v),
    "a ufunc where": lambda xp, v: xp.add(v, 10, out=v, where=where_odd(v)),
    "a ufunc to a tuple": lambda xp, v: xp.negative(v, out=(v,)),
    "two results": lambda xp, v: xp.divmod(own(xp, numbers(v), "d"), 4.0, out=(None, v), casting="unsafe"),
    "two results, the first here": lambda xp, v: xp.modf(own(xp, numbers(v) / 4, "d"), out=(v, None), casting="unsafe"),
    "a fold": lambda xp, v: xp.add.reduce(own(xp, numpy.stack([numbers(v)] * 3), v.dtype), axis=0, out=v),
    "a sum": lambda xp, v: xp.sum(own(xp, numpy.stack([numbers(v)] * 3), v.dtype), axis=0, out=v),
    "a scan": lambda xp, v: xp.cumsum(v, axis=0, out=v),
    "a scan of a ufunc": lambda xp, v: xp.multiply.accumulate(v, axis=0, out=v),
    "at": lambda xp, v: xp.add.at(v, positions(v), 5),
    "at with a mask": lambda xp, v: xp.multiply.at(v, where_odd(v), 2),
    "copyto": lambda xp, v: xp.copyto(v, own(xp, numbers(v), v.dtype)),
    "copyto where": lambda xp, v: xp.copyto(v, own(xp, numbers(v), v.dtype), where=where_odd(v)),
    "put": lambda xp, v: xp.put(v, [0, v.size - 1, 1, 0], [40, 41, 42, 43]),
    "put as a method": lambda xp, v: v.put([1, 0], [40, 41]),
    "putmask": lambda xp, v: xp.putmask(v, where_odd(v), [40, 41, 42]),
    "place": lambda xp, v: xp.place(v, where_odd(v), [40, 41, 42]),
    "put_along_axis": lambda xp, v: xp.put_along_axis(v, numpy.zeros((1, *v.shape[1:]), int), 12, axis=0),
    "fill_diagonal": lambda xp, v: xp.fill_diagonal(v, 44),
    "fill_diagonal again": lambda xp, v: xp.fill_diagonal(v, 44, wrap=True),
    "fill": lambda xp, v: v.fill(6),
    "flat": lambda xp, v: setattr(v, "flat", [1, 2, 3]),
    "a part of flat": lambda xp, v: assign(v.flat, slice(1, 5), [1, 2, 3]),
    "elements of flat": lambda xp, v: assign(v.flat, [0, 2, 0], [1, 2, 3]),
    "an element of flat": lambda xp, v: assign(v.flat, v.size - 1, 33),
    "sort": lambda xp, v: v.sort(axis=0),
    "clip": lambda xp, v: v.real.clip(3, 9, out=v),
    "take": lambda xp, v: xp.take(own(xp, numpy.arange(40), v.dtype), numbers(v), out=v, mode="clip"),
    "concatenate": lambda xp, v: xp.concatenate([v[:1] + 1, v[1:] + 2], out=v),
    "einsum": lambda xp, v: xp.einsum("...,...->...", v, own(xp, numbers(v), v.dtype), out=v),
    "real parts": lambda xp, v: setattr(v, "real", own(xp, numbers(v), "d")),
    "imaginary parts": lambda xp, v: setattr(v, "imag", own(xp, numbers(v), "d")),
    "through another view": lambda xp, v: assign(v.T[::-1], ..., own(xp, numbers(v).T, v.dtype)),
    "a shuffle": lambda xp, v: xp.random.default_rng(3).shuffle(v),
    "a shuffle of old": lambda xp, v: xp.random.RandomState(3).shuffle(v),
    "numbers drawn": lambda xp, v: xp.random.default_rng(3).permuted(own(xp, numbers(v), v.dtype), axis=0, out=v),
}


def written(
    xp: Any, show: Callable[[Any, Any], Any], write: Callable[[Any, Any], Any], dtype: str, looks: bool
) -> tuple[Any, ...]:
    """What a write leaves, or raises: the view, the array, a view made before, a copy and a pending result."""
    x = (xp.arange(24).reshape(4, 6) % 13 + 2).astype(dtype)
    before, view = x[::-1, 1:], show(xp, x)
    if looks:
        on_host(view)
        on_host(x)
    read_before, copied = view + 1, view.copy()
    raised = outcome(lambda: write(xp, view))
    error = type(raised) if isinstance(raised, Exception) else None
    state = (on_host(a) for a in (view, x, before, read_before, copied, view * 2, show(xp, x)))
    return (error, view.flags.writeable, *state)


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("show", VIEWS)
def test_writes_through_views_that_overlap(show: str, residence: str) -> None:
    np.set_residence(residence)
    np.host_fallback("ignore")
    for name, write in WRITES.items():
        for dtype, looks in (("i8", False), ("d", True), ("D", False)):
            expected = written(numpy, VIEWS[show], write, dtype, looks)
            found = written(np, VIEWS[show], write, dtype, looks)
            assert found[:2] == expected[:2], f"{name}, {dtype}: {found[0]} instead of {expected[0]}"
            same(found[2:], expected[2:], what=f"{name}, {dtype}")


@pytest.mark.parametrize("residence", ["auto", "device"])
def test_parts_that_do_not_overlap_are_written_as_others_are(residence: str) -> None:
    np.set_residence(residence)
    np.host_fallback("error")  # NumPy writes nothing here for an array on the device

    def write(xp: Any) -> Any:
        x = xp.arange(20.0).reshape(4, 5)
        view = windows(xp, x, (2, 2))
        view[0, 0] = 7
        view[1, :, 0, 0] += xp.arange(4)
        view[:, ::2, 1][view[:, ::2, 1] > 12] = 0
        xp.add(view[2, 2], 1, out=view[2, 2], where=view[2, 2] > 13)
        return on_host((x, view))

    same(write(np), write(numpy))


def test_writes_to_large_views() -> None:
    np.host_fallback("ignore")

    def write(xp: Any) -> Any:
        x = xp.arange(20_000.0)
        view = windows(xp, x, 3)
        view[view % 5 == 1] += 4
        x[7] = -1
        view[...] = view[::-1] * 2
        return on_host((x, view.sum(axis=1)))

    same(write(np), write(numpy))


def test_writes_to_memory_that_is_exported() -> None:
    np.host_fallback("ignore")
    g, a = np.arange(6.0, device="cpu") + 0, numpy.arange(6.0)  # NumPy sees no memory of a GPU
    exported = numpy.from_dlpack(g)
    for xp, x in ((np, g), (numpy, a)):
        windows(xp, x, 3)[...] = xp.arange(12.0).reshape(4, 3)
        windows(xp, x, 3)[1:] += 1
    same(exported, a)
    same(on_host(g), a)


@pytest.mark.on_device
def test_writes_on_the_host_are_reported() -> None:
    view = windows(np, np.arange(6), 3)
    np.host_fallback("error")
    for write in (lambda: assign(view, ..., 1), lambda: np.add(view, 1, out=view), lambda: view.fill(2)):
        with pytest.raises(TypeError, match="overlap"):
            write()
    with pytest.raises(np.HostFallbackWarning, match="overlap"):
        view.flat[1:] = 3
    assert view[:, 0].tolist() == [0, 1, 2, 3]


def test_what_stays_read_only() -> None:
    for xp in (numpy, np):
        x = xp.arange(6)
        shown = (
            xp.broadcast_to(x, (2, 6)),
            xp.lib.stride_tricks.sliding_window_view(x, 3),
            xp.lib.stride_tricks.as_strided(x, (4, 2), (8, 8), writeable=False),
        )
        for view in shown:
            assert not view.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                view[...] = 1
        assert x.tolist() == list(range(6))
