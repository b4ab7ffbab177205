"""Outputs that are given to kernels of one's own: what is copied, and what other arrays see of the writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.graph.layout import Layout
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.device import Device
from gpunumpy.core.schedule.steps import RunKernel
from gpunumpy.kernels.cuda.user_program import UserProgram, compile_for
from gpunumpy.kernels.custom import cuda_loops
from gpunumpy.kernels.custom.loop_text import Loop, LoopParameter, MadeLoop
from tests.emulator import available
from tests.emulator.emulated import emulated
from tests.emulator.hand_written import OneKernel, run_program

pytestmark = pytest.mark.skipif(not available(), reason="the CPU device and the emulator need g++")


@pytest.fixture(autouse=True, params=["cpu", "emulator", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[None]:
    on = Device("cuda" if request.param == "cuda" else "cpu")
    before = np.set_residence("device")
    try:
        with on, emulated() if request.param == "emulator" else nullcontext():
            yield
    finally:
        np.set_residence(before)


@contextmanager
def ran() -> Iterator[list[str]]:
    """The kernels and calls that run, by name; kernels of copies are "copy"."""
    names: list[str] = []

    def note(step: Any, work: Callable[[], None]) -> None:
        names.append(step.kernel.name if isinstance(step, RunKernel) else step.name)
        work()

    np.synchronize()
    before, evaluate.observer = evaluate.observer, note
    try:
        yield names
        np.synchronize()
    finally:
        evaluate.observer = before


def numbers(*shape: int) -> Any:
    return numpy.arange(float(numpy.prod(shape))).reshape(shape)


def computed(values: Any) -> Any:
    """An array that alone has its memory, of the device."""
    x = np.asarray(values) + 0
    np.synchronize()
    return x


CALL = "elementwise_kernel"
ADD = np.ElementwiseKernel("T x", "raw T y", "y[i] += x", "add_to_raw", no_return=True)
TWO = np.ElementwiseKernel("T x", "raw T y, raw T z", "y[i] += x; z[i] -= x", "add_to_two")
FIRST = np.ElementwiseKernel("raw T x", "raw T y", "y[i] += x[0]", "add_first")
SUM = np.ReductionKernel("T x", "raw T y", "x", "a + b", "y[0] += a", "0", "add_sum_to_raw")
MACRO = ("-DMINE=(0.5 + 0.5)", "--use_fast_math")
APART = np.ElementwiseKernel("T x", "raw T y", "y[i] += x + MINE", "add_more", options=MACRO)


def test_an_output_is_written_in_place() -> None:
    x, y, z = computed(numbers(6)), computed(numbers(6)), computed(numbers(6))
    memory = [a._node.data for a in (y, z)]
    with ran() as names:
        for _ in range(3):
            ADD(x, y)
        TWO(x, y, z)
    assert names == [CALL] * 4
    assert [a._node.data for a in (y, z)] == memory
    assert (y.tolist(), z.tolist()) == ((5 * numbers(6)).tolist(), [0] * 6)
    with ran() as names:
        assert SUM(x, y) is y
        FIRST(x, y, size=6)
    assert names[-2:] == [CALL] * 2
    assert "copy" not in names
    assert y.tolist() == [15, 5, 10, 15, 20, 25]


def test_an_output_that_is_pending_is_no_copy() -> None:
    x, wanted = numbers(2000), 3 * numbers(2000)
    with ran() as names:
        y = np.asarray(x) * 2
        ADD(np.asarray(x), y)
    assert names == ["multiply", CALL]
    assert y.tolist() == wanted.tolist()
    with ran() as names:
        zeros = np.zeros(5)
        ADD(computed(numbers(5)), zeros)
    assert names.count(CALL) == 1
    assert zeros.tolist() == numbers(5).tolist()


def test_what_was_recorded_before_has_the_old_values() -> None:
    x, y = computed(numbers(6)), computed(numbers(6))
    before, reverse, copied = y * 10, y[::-1] + 1, y.copy()
    view = y[1:3]
    ADD(x, y)
    after = y * 10
    ADD(x, y)
    assert view.tolist() == [3, 6]
    assert before.tolist() == (numbers(6) * 10).tolist()
    assert reverse.tolist() == (numbers(6)[::-1] + 1).tolist()
    assert copied.tolist() == numbers(6).tolist()
    assert after.tolist() == (numbers(6) * 20).tolist()
    assert y.tolist() == (numbers(6) * 3).tolist()


def test_only_readers_that_cannot_come_before_have_a_copy() -> None:
    x, y = computed(numbers(6)), computed(numbers(6))
    with ran() as names:
        before = y * 10
        ADD(x, y)
    assert names == ["multiply", CALL]
    with ran() as names:
        old = y.copy()
        ADD(x, y)
        both = old + y  # reads both values
    assert sorted(names) == ["add", "copy", CALL]
    assert (before + both - old - y).tolist() == (numbers(6) * 10).tolist()


@pytest.mark.parametrize("window", [slice(None), slice(1, 5), slice(None, None, -1)], ids=str)
def test_what_a_kernel_reads_is_not_overwritten(window: slice) -> None:
    y = computed(numbers(6))
    wanted = numbers(6)
    wanted[: len(wanted[window])] += wanted[window].copy()
    ADD(y[window], y)
    assert y.tolist() == wanted.tolist()
    FIRST(y, y, size=6)
    assert y.tolist() == (wanted + wanted[0]).tolist()


@pytest.mark.parametrize(
    "window",
    [numpy.s_[3:9], numpy.s_[:6], numpy.s_[::-2], numpy.s_[:11:-1]],
    ids=["middle", "start", "steps", "end"],
)
def test_windows_are_written_through(window: Any) -> None:
    x, y, wanted = computed(numbers(6)), computed(numbers(18)), numbers(18)
    part = wanted[window]
    part[:6] += numbers(6)
    before = y + 0
    ADD(x, y[window])
    assert y.tolist() == wanted.tolist()
    assert before.tolist() == numbers(18).tolist()


def test_arrays_in_fortran_order_are_outputs() -> None:
    y = np.asfortranarray(np.asarray(numbers(2, 3)))
    np.ElementwiseKernel("T x", "raw T y", "y[i] += x", "add_raw_order")(np.asarray(numbers(6)), y)
    assert y.tolist() == (2 * numbers(2, 3)).tolist()
    assert y.flags.f_contiguous


def test_memory_that_others_see_stays_where_it_is() -> None:
    y = computed(numbers(6))
    other = numpy.from_dlpack(y) if y.device == "cpu" else None
    address, memory = y.data_ptr(), y._node.data
    x = computed(numbers(6))
    with ran() as names:
        before = y + 1
        ADD(x, y)
        after = y * 2
        if other is not None:
            assert other.tolist() == (2 * numbers(6)).tolist()
    assert sorted(names) == ["add", CALL, "multiply"]
    assert y._node.data is memory
    assert (before.tolist(), after.tolist()) == ((numbers(6) + 1).tolist(), (numbers(6) * 4).tolist())
    z = computed(numbers(6))
    TWO(x, z, y)
    assert (y.tolist(), z.tolist()) == (numbers(6).tolist(), (2 * numbers(6)).tolist())
    assert address == y.data_ptr()
    ADD(computed(numbers(3)), y[1:4])
    assert y.tolist() == [0, 1, 3, 5, 4, 5]
    if other is not None:
        assert other.tolist() == y.tolist()


def test_one_array_is_several_outputs() -> None:
    x, y, z = computed(numbers(4)), computed(numbers(4)), computed(numbers(4))
    TWO(x, y, y)
    assert y.tolist() == numbers(4).tolist()
    three = np.ElementwiseKernel(
        "T x", "raw T a, raw T b, raw T c", "a[i] += x; b[i] += 10; c[i] += 2 * x", "add_to_three"
    )
    with ran() as names:
        returned = three(x, y, z, y)
    assert names == [CALL]
    assert [a is b for a, b in zip(returned, (y, z, y), strict=True)] == [True] * 3
    assert (y.tolist(), z.tolist()) == ((4 * numbers(4)).tolist(), (numbers(4) + 10).tolist())
    swapped = np.ElementwiseKernel("", "raw T a, raw T b", "a[i] = 1; b[n - 1 - i] += 1", "swapped")
    swapped(y, y, size=2)
    assert y.tolist() in ([2, 2, 8, 12], [1, 2, 8, 12], [2, 1, 8, 12])


def test_a_window_and_a_copy_of_it_are_two_outputs() -> None:
    y = computed(numbers(12)) * 2
    window = y[1:-2]
    copied = window.copy()
    TWO(window, window, copied)
    wanted = 2 * numbers(12)
    assert copied.tolist() == [0] * 9
    wanted[1:-2] *= 2
    assert y.tolist() == wanted.tolist()


def test_an_output_that_nobody_has_any_more() -> None:
    x, y, z = computed(numbers(4)), computed(numbers(4)), computed(numbers(4))
    TWO(x, y, z)
    del z
    assert y.tolist() == (2 * numbers(4)).tolist()
    z = computed(numbers(4))
    TWO(x, y, z)
    del y
    assert z.tolist() == [0] * 4


def test_options_of_the_compiler_change_nothing_of_it() -> None:
    x, y = computed(numbers(4)), computed(numbers(4))
    with ran() as names:
        APART(x, y)
    assert names == ["elementwise_kernel_apart"]
    assert y.tolist() == (2 * numbers(4) + 1).tolist()


def test_arrays_on_the_host_move_to_the_device_once() -> None:
    np.set_residence("auto")
    y = np.asarray(numbers(6))
    view = y[1:]
    ADD(np.asarray(numbers(6)), y)
    with ran() as names:
        ADD(computed(numbers(6)), y)
    assert "copy" not in names
    assert y.tolist() == (3 * numbers(6)).tolist()
    assert view.tolist() == (3 * numbers(6)[1:]).tolist()


def test_a_read_only_output_is_refused() -> None:
    y = computed(numbers(3))
    y.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ADD(computed(numbers(3)), y)
    assert y.tolist() == numbers(3).tolist()


def test_a_graph_of_many_sizes_is_computed_as_in_place() -> None:
    """Such a graph is computed in parts, which read values before and after a kernel writes."""
    arrays = [computed(numbers(n)) for n in range(2, 40)]
    wanted = [numbers(n) for n in range(2, 40)]
    total, expected = np.zeros(()), 0.0
    for k, (x, y) in enumerate(zip(arrays, wanted, strict=True)):
        old = x * 2
        ADD(old, x)
        x[: k // 2] = old[: k // 2] - x[0]
        ADD(x + 1, x)
        total = total + (x * old).sum()
        before = y * 2
        y += before
        y[: k // 2] = before[: k // 2] - y[0]
        y += y + 1
        expected += (y * before).sum()
    assert float(total) == expected
    assert [x.tolist() for x in arrays] == [y.tolist() for y in wanted]


def test_a_view_in_another_array_sees_the_writes() -> None:
    y = computed(numbers(2, 6))
    rows, transposed, flat = [*y], y.T, y.reshape(-1)
    for row in rows:
        ADD(computed(numbers(6)), row)
    ADD(computed(numbers(12)), y)
    wanted = numbers(2, 6) * 2 + numbers(6)
    assert [row.tolist() for row in rows] == wanted.tolist()
    assert (transposed.tolist(), flat.tolist()) == (wanted.T.tolist(), wanted.ravel().tolist())


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_the_program_of_an_array_that_is_two_outputs(arch: str) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    f64 = numpy.dtype("f8")
    parameters = (
        LoopParameter("x", f64, False, False),
        LoopParameter("y", f64, True, True),
        LoopParameter("z", f64, True, True, 0),
        LoopParameter("w", f64, True, True),
    )
    made = MadeLoop(Loop("kernel", (), parameters, "y[i] += x; z[i] *= 2; w[i] -= x", "", "", "", ()))
    layouts = [Layout((n,), (1,), 0) for n in (4, 5, 4)]
    program = cuda_loops.loop_program((made, 0, 2), layouts, (f64,) * 3)
    assert compile_for(UserProgram(program.text, ()), arch)[0]
    x, y, w = numbers(4), numbers(4), numbers(5)
    run_program(OneKernel(program.text, program.launches, (), False, program.params), [y, w, x])
    assert (y.tolist(), w.tolist()) == ((numbers(4) * 4).tolist(), [0, 0, 0, 0, 4])
