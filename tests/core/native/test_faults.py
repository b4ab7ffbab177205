"""Faults in the core: allocations that fail one after the other, and references that are lost or kept for ever."""

from __future__ import annotations

import ctypes
import gc
import inspect
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core._native import IS_COMPILED
from gpunumpy.core.graph.bounded_table import forget_all
from gpunumpy.kernels.cuda import compile as compile_module
from gpunumpy.kernels.cuda import launch as launch_module

from ...support import allocations, fake_driver
from ...support.interruptions import is_in_finalizer

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="of the compiled core")

RESIDENCES = ("auto", "device")
PACKAGE = str(Path(np.__file__).parent)
WRITES = ("element written", "part written", "in place")
# Calls of what the core does by itself; `a` and `b` have eight elements.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "sum of arrays": lambda a, b: a + b,
    "with a number": lambda a, b: 2.5 * a,
    "of a number": lambda a, b: np.sqrt(5),
    "of a NumPy array": lambda a, b: a + numpy.ones(8),
    "power": lambda a, b: a**2,
    "ufunc": lambda a, b: np.maximum(a, b),
    "method": lambda a, b: a.sum(),
    "function": lambda a, b: np.concatenate([a, b]),
    "attribute": lambda a, b: a.T,
    "view": lambda a, b: a[1:-1],
    "views of views": lambda a, b: a.reshape(2, 4)[:, 1:][1],
    "element": lambda a, b: float(a[3]),
    "scalars": lambda a, b: bool(a[3] * 2 > 0),
    "power of a scalar": lambda a, b: a[3] ** 1.5,
    "scalar of NumPy": lambda a, b: numpy.float64(2) * a,
    "chosen": lambda a, b: a[np.array([0, 2])],
    "iteration": lambda a, b: [x for x in a],  # noqa: C416
    "new": lambda a, b: np.zeros((2, 3)),
    "of a list": lambda a, b: np.array([1.0, 2.0]),
    "element written": lambda a, b: a.__setitem__(3, 3.0),
    "part written": lambda a, b: a.__setitem__(slice(2, 5), b[2:5]),
    "in place": lambda a, b: a.__iadd__(b),
    "flushed": lambda a, b: np.asnumpy((a + b) * a),
}


@pytest.fixture(params=RESIDENCES)
def residence(request: pytest.FixtureRequest) -> Iterator[str]:
    before = np.set_residence(request.param)
    with np.Device("cpu"):
        yield request.param
    np.set_residence(before)


def operands() -> tuple[Any, Any]:
    return np.asarray(numpy.arange(8.0)), np.asarray(numpy.arange(8.0) % 3)


def values(x: Any) -> Any:
    return [values(part) for part in x] if isinstance(x, list) else np.asnumpy(x) if isinstance(x, np.ndarray) else x


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="Python 3.12 crashes after failed allocations, with the core in Python too"
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of generators that cannot be closed
@pytest.mark.parametrize("residence", ["device"], indirect=True)
@pytest.mark.parametrize("name", ["sum of arrays", "of a NumPy array", "element", "scalars", "in place", "flushed"])
def test_every_allocation_may_fail_on_a_gpu(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One that is pretended, whose kernels do nothing: the calls are made, and the operands stay."""
    pytest.importorskip("cuda.bindings.nvrtc")
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile_module, "_compile", lambda text, *target: b"image")
    fake_driver.install(monkeypatch)
    # The core launches by a function of C's that returns 0 for whatever it is given.
    succeed = ctypes.cast(ctypes.CDLL(None).pthread_condattr_destroy, ctypes.c_void_p).value
    monkeypatch.setattr(launch_module, "function_address", lambda name: succeed)
    monkeypatch.setattr(fake_driver.FakeDriver, "_cuModuleGetFunction", lambda *args: 0)
    call = CALLS[name]
    failures = 0
    with np.Device("cuda:0"):
        for _ in range(3):
            values(call(*operands()))
        for fault in allocations.faults():
            a, b = operands()
            # The pretended driver's.
            result = fault.during(partial(call, a, b), lambda error: isinstance(error, ctypes.ArgumentError))
            failures += fault.has_failed
            values(result)
            values(call(*operands()))
            for operand, value in zip((a, b), operands(), strict=True):
                if name != "in place":
                    numpy.testing.assert_array_equal(np.asnumpy(operand), np.asnumpy(value))
    assert failures or (name == "in place" and IS_COMPILED)  # of which all memory is kept


def forgets_what_failed(error: Exception) -> bool:
    """Return whether an exception is of NumPy's reductions, which forget to say what failed."""
    told = str(error)
    return isinstance(error, SystemError) and ("numpy.ufunc" in told or told == "error return without exception set")


@pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="Python 3.12 crashes after failed allocations, with the core in Python too"
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of generators that cannot be closed
@pytest.mark.parametrize("name", CALLS)
def test_every_allocation_may_fail(name: str, residence: str) -> None:
    call = CALLS[name]
    a, b = operands()
    call(a, b)  # fills the tables
    expected = values(call(*operands()))
    failures = 0
    for fault in allocations.faults():
        a, b = operands()
        result = fault.during(partial(call, a, b), forgets_what_failed)
        failures += fault.has_failed
        if result is not None:
            numpy.testing.assert_equal(values(result), expected)
        again = values(call(*operands()))
        numpy.testing.assert_equal(again, expected)
        for operand in (a, b):  # whole, whatever was raised
            assert np.asnumpy(operand).shape == (8,)
    assert failures or name != "sum of arrays"  # of other calls Python does what the core has no memory for


class Stop(BaseException):
    """What a signal handler may raise, at the begin of any function in Python."""


@pytest.mark.parametrize("name", CALLS)
def test_every_call_of_python_may_fail(name: str, residence: str) -> None:
    """The core calls functions in Python for what it does not know: each of these calls raises once."""
    call = CALLS[name]
    for fills_tables in (False, True):
        failures, has_ended = 0, False
        for place in range(1, 3000):
            a, b = operands()
            np.synchronize()
            if not fills_tables:
                forget_all()  # so that the core has to ask
            result, left = None, place

            def fail(frame: Any, event: str, _: Any) -> None:
                nonlocal left
                code = frame.f_code
                if event != "call" or PACKAGE not in code.co_filename or code.co_flags & inspect.CO_GENERATOR:
                    return  # generators are called again to be closed, where exceptions are only printed
                if not is_in_finalizer(frame):
                    left -= 1
                    if left == 0:
                        raise Stop

            sys.setprofile(fail)
            try:
                result = call(a, b)
            except Stop:
                failures += 1
            finally:
                sys.setprofile(None)
            expected = values(call(*operands()))
            if result is not None:
                numpy.testing.assert_equal(values(result), expected)
            for operand, before in zip((a, b), operands(), strict=True):  # as before, or as after the statement
                if name in WRITES and operand is a:
                    written = operands()
                    call(*written)
                    allowed = (np.asnumpy(before), np.asnumpy(written[0]))
                    assert any(numpy.array_equal(np.asnumpy(operand), value) for value in allowed)
                else:
                    numpy.testing.assert_array_equal(np.asnumpy(operand), np.asnumpy(before))
            has_ended = left > 0
            if has_ended:
                break
        assert has_ended
        asks = residence == "device" and name not in ("view", "part written")  # views are arithmetic in the core
        assert failures or fills_tables or not asks


@pytest.mark.parametrize("name", CALLS)
def test_no_memory_is_lost(name: str, residence: str) -> None:
    call = CALLS[name]
    a, b = operands()

    def repeat(count: int) -> None:
        for k in range(count):
            call(a, b)
            if k % 10 == 9:
                np.asnumpy(a)
        gc.collect()

    def grown() -> int:
        before = tracemalloc.get_traced_memory()[0]
        repeat(3000)
        return tracemalloc.get_traced_memory()[0] - before

    b *= 0  # what is added up stays finite
    repeat(300)
    tracemalloc.start()
    try:
        repeat(300)
        # Less than a word each. What is pending, and lists of free blocks, grow and shrink by some 20 kB in turn.
        assert any(grown() < 3000 * 8 for _ in range(3))
    finally:
        tracemalloc.stop()


def blocks_kept(call: Callable[[Any, Any], Any], count: int) -> int:
    """Return how many blocks of Python's memory are taken after so many calls, beside those before."""
    a, b = operands()
    b *= 0

    def repeat(count: int) -> None:
        for k in range(count):
            call(a, b)
            if k % 10 == 9:
                np.synchronize()
        gc.collect()

    repeat(1000)
    before = sys.getallocatedblocks()
    repeat(count)
    return sys.getallocatedblocks() - before


counts_blocks = pytest.mark.skipif(not sys.getallocatedblocks(), reason="with PYTHONMALLOC Python counts no blocks")


@pytest.mark.full
@counts_blocks
@pytest.mark.parametrize("name", CALLS)
def test_no_block_is_lost(name: str, residence: str) -> None:
    assert blocks_kept(CALLS[name], 100_000) < 1000  # tables may grow


@counts_blocks
def test_a_lost_block_is_seen(residence: str) -> None:
    kept: list[Any] = []
    assert blocks_kept(lambda a, b: kept.append(a + b), 2000) >= 2000


@pytest.mark.full
@pytest.mark.skipif(not hasattr(sys, "gettotalrefcount"), reason="a build of Python for debugging counts references")
def test_no_reference_is_lost(residence: str) -> None:
    a, b = operands()
    b *= 0
    for call in CALLS.values():
        call(a, b)
        before = sys.gettotalrefcount()
        for _ in range(1_000_000 // len(CALLS)):
            call(a, b)
        assert sys.gettotalrefcount() - before < 1000
