"""Faults while values are computed in slabs: no memory, another limit, exceptions; addresses that others have."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.arrays import dlpack
from gpunumpy.core.runtime import evaluate, memory, slab_reads, slabs, spill_store
from gpunumpy.core.runtime.device import CPU

from .test_slabs import EXPRESSIONS, LIMIT, ROUNDED, data, mapped

# One of each kind of pass: stretches, sums, positions, scans, masks, indices, sorts, products, transforms.
NAMES = (
    *("with a mean", "argmin of columns", "scan", "picked by a mask", "sums at indices", "written at indices"),
    *("order of long rows", "squares", "product of large matrices", "transforms of planes", "filtered line"),
)


@pytest.fixture(autouse=True)
def room() -> Iterator[Callable[[float], None]]:
    """Leaves room for so many times `LIMIT` besides the arrays that exist."""

    def leave(times: float) -> None:
        np.synchronize()
        memory.free_all_blocks("cpu")
        np.set_memory_limit(memory.memory_info("cpu").used + int(times * LIMIT), "cpu")

    has_spilled = CPU.has_spilled
    np.synchronize()
    gc.collect()
    with np.Device("cpu"):
        leave(1)
        yield leave
        np.set_memory_limit(None, "cpu")
    CPU.has_spilled = has_spilled


def assert_is(name: str, result: Any) -> None:
    rounded = 1e-9 if name in ROUNDED else 0
    numpy.testing.assert_allclose(
        result.get(), EXPRESSIONS[name](numpy, data()), rtol=rounded or 1e-13, atol=rounded, err_msg=name
    )


@contextmanager
def progress(told: Callable[[float], None]) -> Iterator[Callable[[float], None]]:
    """Stand-in for a progress bar, which calls a function between slabs."""
    yield told


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_an_allocation_that_fails_at_any_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The result is there all the same, or the error says that memory is short; the next attempt finds everything."""
    x = np.asarray(mapped(tmp_path, data()))
    pool = memory.pool_of(CPU)
    new_block, place = pool.new_block, spill_store.SpillStore.place
    number, left = 0, 0
    while left <= 0:
        number += 1 + number // 2
        left = number

        def fails() -> bool:
            nonlocal left
            left -= 1
            return left == 0

        result = EXPRESSIONS[name](np, x)
        with monkeypatch.context() as patch:
            patch.setattr(pool, "new_block", lambda size: None if fails() else new_block(size))
            patch.setattr(spill_store.SpillStore, "place", lambda *args: None if fails() else place(*args))
            with suppress(MemoryError):
                assert_is(name, result)
        assert_is(name, result)
    assert number > 3


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_a_limit_lowered_between_slabs(
    room: Callable[[float], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    x = np.asarray(mapped(tmp_path, data()))
    limits = iter([0.6])

    def lowered(part: float) -> None:
        if (times := next(limits, None)) is not None:
            np.set_memory_limit(int(times * LIMIT), "cpu")

    monkeypatch.setattr(slabs, "progress_bar", lambda nbytes: progress(lowered))
    assert_is(name, EXPRESSIONS[name](np, x))
    assert next(limits, None) is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_an_exception_between_slabs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Control-C ends the computation; what is pending is computed where it is looked at next."""
    x = np.asarray(mapped(tmp_path, data()))
    for number in (1, 2):
        result, left = EXPRESSIONS[name](np, x), number

        def interrupted(part: float) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(slabs, "progress_bar", lambda nbytes, told=interrupted: progress(told))
            with pytest.raises(KeyboardInterrupt):
                result.get()
        assert_is(name, result)


@pytest.mark.parametrize("how", ["look", "memory"])
def test_a_flush_between_slabs_overwrites_nothing(
    room: Callable[[float], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """A signal handler's look, or a lack of memory, flushes a write in place to an operand of slabs still to come."""
    np.set_memory_limit(None, "cpu")
    x, expected = np.asarray(data()) * 1, data()
    room(1)
    x[1:-1] *= 2
    expected[1:-1] *= 2
    operand, load, flushed = x._node.args[0].data, slab_reads.loaded, []

    def loaded(queue: Any, nodes: Any, *args: Any) -> Any:
        if not flushed and any(reading.buffer is operand for reading in slab_reads.readings(nodes)):
            flushed.append(how)
            with monkeypatch.context() as patch:
                patch.setattr(memory.pool_of(CPU), "limit", None)
                if how == "look":
                    numpy.testing.assert_array_equal(x.get(), expected)
                else:
                    evaluate._flush_for_memory(CPU)
        return load(queue, nodes, *args)

    monkeypatch.setattr(slabs, "loaded", loaded)
    target = mapped(tmp_path, numpy.zeros_like(expected), "r+")
    np.add(x, 1, out=target)
    assert flushed
    numpy.testing.assert_array_equal(target, expected + 1)
    numpy.testing.assert_array_equal(x.get(), expected)


def test_a_look_between_slabs_at_what_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal handler looks at another value that takes slabs, which had been tried again and again."""
    values = data()
    x = np.asarray(mapped(tmp_path, values))
    looked_at, load, looks = x * 3 + x[::-1], slab_reads.loaded, list[None]()

    def loaded(queue: Any, nodes: Any, *args: Any) -> Any:
        if not looks:
            looks.append(None)
            numpy.testing.assert_array_equal(looked_at.get(), values * 3 + values[::-1])
        return load(queue, nodes, *args)

    monkeypatch.setattr(slabs, "loaded", loaded)
    y = x + 1
    y.computed()
    assert looks
    numpy.testing.assert_array_equal(y.get(), values + 1)


def test_an_exported_address_stays(room: Callable[[float], None]) -> None:
    """Also that of an operand of which slabs read parts, which is on the device."""
    np.set_memory_limit(None, "cpu")
    x = np.asarray(data()) * 1
    shown, address = numpy.from_dlpack(x), x.data_ptr()
    room(1)
    for name in ("with a mean", "transposed", "product of large matrices", "sorted"):
        assert_is(name, EXPRESSIONS[name](np, x))
    assert x.data_ptr() == address == shown.ctypes.data
    shown[5] = 7
    assert float(x[5, 3]) == 7
    del x, shown
    dlpack.sweep()


@pytest.mark.parametrize(
    ("name", "passes"),
    [
        ("mean", 1),
        ("order of long rows", 2),
        ("transforms of planes", 2),
        ("filtered line", 7),
        ("squares", 1),
        ("product of large matrices", 2),
    ],
)
def test_a_bar_for_each_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, passes: int) -> None:
    """Slabs of slabs are part of their pass; a profile counts all of them."""
    told: list[list[float]] = []

    def bar(nbytes: int) -> Any:
        told.append([])
        return progress(told[-1].append)

    monkeypatch.setattr(slabs, "progress_bar", bar)
    x = np.asarray(mapped(tmp_path, data()))
    before = memory.pool_of(CPU).slabs
    assert_is(name, EXPRESSIONS[name](np, x))
    assert len(told) == passes, [len(parts) for parts in told]
    for parts in told:
        assert parts == sorted(parts)
        assert parts[-1] == 1
    assert memory.pool_of(CPU).slabs - before >= sum(map(len, told))
