"""Faults in the core: allocations that fail one after the other, and references that are lost or kept for ever."""

from __future__ import annotations

import ctypes
import gc
import inspect
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import copy_context
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
from .fault_calls import (
    CALL_STEPS,
    CALLS,
    FEW_CALLS,
    LONG_CALLS,
    MANY_CALLS,
    OF_VALUES,
    OTHER_ERRORS,
    STEPS,
    WRITES,
    is_of_others,
)

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="of the compiled core")

fails_once = pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="Python 3.12 crashes after failed allocations, with the core in Python too"
)
RESIDENCES = ("auto", "device")
# Of these calls the short suite has none that takes long.
NAMES = [pytest.param(name, marks=pytest.mark.full) if name in LONG_CALLS else name for name in CALLS]
PACKAGE = str(Path(np.__file__).parent)
ROOT = Path(__file__).parents[3]


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


@fails_once
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of generators that cannot be closed
@pytest.mark.parametrize("name", CALLS)
def test_every_allocation_may_fail_on_a_gpu(
    name: str, residence: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
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
    if name in OF_VALUES and residence == "device":
        pytest.skip("these kernels compute no values")
    failures = 0
    with np.Device("cuda:0"):
        for _ in range(3):
            values(call(*operands()))
        for fault in allocations.faults(STEPS.get(name, 1)):
            a, b = operands()
            # The pretended driver has errors of its own.
            result = fault.during(
                partial(call, a, b), lambda error: isinstance(error, ctypes.ArgumentError) or is_of_others(error)
            )
            failures += fault.has_failed
            values(result)
            values(call(*operands()))
            for operand, value in zip((a, b), operands(), strict=True):
                if name not in WRITES or operand is b:
                    numpy.testing.assert_array_equal(np.asnumpy(operand), np.asnumpy(value))
    assert failures or name != "sum of arrays" or residence == "auto"


@fails_once
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of generators that cannot be closed
@pytest.mark.parametrize("name", CALLS)
def test_every_allocation_may_fail(name: str, residence: str) -> None:
    call = CALLS[name]
    a, b = operands()
    call(a, b)  # fills the tables
    expected = values(call(*operands()))
    failures = 0
    for fault in allocations.faults(STEPS.get(name, 1)):
        a, b = operands()
        result = fault.during(partial(call, a, b), is_of_others)
        failures += fault.has_failed
        if result is not None:
            numpy.testing.assert_equal(values(result), expected)
        again = values(call(*operands()))
        numpy.testing.assert_equal(again, expected)
        for operand in (a, b):  # whole, whatever was raised
            assert np.asnumpy(operand).shape == (8,)
    assert failures or name != "sum of arrays"  # of other calls Python does what the core has no memory for


@fails_once
@pytest.mark.parametrize("error", [error for error, call in OTHER_ERRORS.items() if call])
def test_numpy_and_python_have_the_other_errors(error: tuple[type[Exception], str]) -> None:
    kind, words = error
    call = OTHER_ERRORS[error]
    assert call is not None
    found = []
    for fault in allocations.faults():
        with suppress(kind):
            fault.during(call, lambda error: found.append(str(error)) is None and isinstance(error, kind))
    assert any(words in told for told in found)


FIRST_USES = """
import sys
from functools import partial
import gpunumpy as np
from gpunumpy.core.runtime import evaluate
from tests.core.native.test_faults import CALLS, STEPS, allocations, is_of_others, operands, values
np.set_residence("device")
evaluate.CHECK = True
sys.unraisablehook = lambda unraisable: None
call, step = CALLS[sys.argv[1]], STEPS.get(sys.argv[1], 1)
with np.Device("cpu"):
    values(call(*operands()))  # without memory Python's compiler crashes
    for fault in allocations.faults(step):
        a, b = operands()
        fault.during(partial(call, a, b), is_of_others)
print("no crash")
"""


@fails_once
@pytest.mark.parametrize("residence", ["device"], indirect=True)
@pytest.mark.parametrize(
    "name", [name if name == "chosen by a mask" else pytest.param(name, marks=pytest.mark.full) for name in CALLS]
)
def test_first_uses_may_fail(name: str) -> None:
    """What the core makes once, where a process needs it first."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_USES, name], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert (done.returncode, done.stdout) == (0, "no crash\n"), done.stderr[-2000:]


class Stop(BaseException):
    """What a signal handler may raise, at the begin of any function in Python."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of what weak references call
@pytest.mark.parametrize("name", NAMES)
def test_every_call_of_python_may_fail(name: str, residence: str) -> None:
    """The core calls functions in Python for what it does not know: each of these calls raises once."""
    call = CALLS[name]
    for fills_tables in (False, True):
        failures, has_ended = 0, False
        step = CALL_STEPS.get(name, 1)
        for place in range(1, 3000 * step, step):
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
                result = copy_context().run(call, a, b)  # as in `Fault.during`
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


@pytest.mark.parametrize("name", NAMES)
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
    count = FEW_CALLS if name in LONG_CALLS else MANY_CALLS
    assert blocks_kept(CALLS[name], count) < 1000  # tables may grow


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
