"""The compiled core and the core in Python: where the former is built, and that both record the same."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import _native
from gpunumpy.core.graph import bounded_table
from gpunumpy.core.graph import node as node_module
from gpunumpy.core.graph.layout import Layout
from gpunumpy.core.graph.node import Node, leaf, map_node, view
from gpunumpy.core.graph.primitives import Leaf, View
from gpunumpy.core.recording.memo import StandIns
from gpunumpy.core.runtime import memory
from gpunumpy.core.runtime.evaluate import queue_of

ROOT = Path(__file__).parents[3]


def run(core: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GPUNUMPY_CORE": core, "GPUNUMPY_CHECK": "0"}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_the_core_is_built_where_it_can_be() -> None:
    has_headers = Path(sysconfig.get_path("include"), "Python.h").exists()
    if os.environ.get("GPUNUMPY_CORE") != "python" and has_headers and shutil.which("g++"):
        assert _native.IS_COMPILED


@pytest.mark.parametrize("core", ["python", "compiled"])
def test_the_core_is_chosen(core: str) -> None:
    ran = run(core, "-c", "from gpunumpy.core import _native; print(_native.IS_COMPILED)")
    if core == "compiled" and not _native.IS_COMPILED:
        pytest.skip("the core is not built for this Python")
    assert ran.stdout.strip() == str(core == "compiled"), ran.stderr


def test_an_unknown_core_is_refused() -> None:
    assert "GPUNUMPY_CORE is 'python' or 'compiled', not 'rust'" in run("rust", "-c", "import gpunumpy").stderr


@pytest.mark.skipif(not _native.IS_COMPILED, reason="the core is not built for this Python")
@pytest.mark.sampled(3)
@pytest.mark.parametrize("first", range(0, 200, 10))
def test_both_cores_record_the_same(first: int) -> None:
    seeds = map(str, range(first, first + 10))
    arguments = ("-m", "tests.core.native.recordings", *seeds)
    in_python, compiled = run("python", *arguments), run("compiled", *arguments)
    assert not in_python.returncode, in_python.stderr
    assert not compiled.returncode, compiled.stderr
    for expected, found in zip(in_python.stdout.splitlines(), compiled.stdout.splitlines(), strict=True):
        assert found == expected


@pytest.mark.skipif(not _native.IS_COMPILED, reason="the core is not built for this Python")
def test_both_cores_cut_loops_at_the_same_places() -> None:
    in_python, compiled = (run(core, "-m", "tests.core.native.searches") for core in ("python", "compiled"))
    assert "nested" in compiled.stdout, compiled.stderr
    assert "called" in compiled.stdout
    assert compiled.stdout.splitlines() == in_python.stdout.splitlines()


@pytest.mark.skipif(not _native.IS_COMPILED, reason="the core is not built for this Python")
def test_what_is_known_is_recorded_at_new_sizes_without_python() -> None:
    def arrays(m: Any) -> list[Any]:
        return [m.asarray(numpy.arange(1600.0).reshape(40, 40)), m.asarray(numpy.arange(40.0)), m.zeros((40, 40))]

    def record(m: Any, values: list[Any], k: int) -> list[Any]:
        a, c, x = values
        x[k:, k:] += a[k:, k:] * c[None, k:]
        x[:k] = a[-k:] - 2.0
        return [a[k:, ::k], m.sqrt(a[k:, None, k] * 2.0), c[k:, None] * c[None, :-k], -x[k:, 1:], c[:-k] < 3]

    bounded_table.forget_all()  # what tests before this one have recorded
    ours, theirs = arrays(np), arrays(numpy)
    recording = {}
    for k in (2, 3, 5):
        called: list[str] = []
        previous = sys.getprofile()
        sys.setprofile(lambda frame, event, _, called=called: called.append(frame.f_code.co_filename))
        try:
            results = record(np, ours, k)
        finally:
            sys.setprofile(previous)
        for x, y in zip(results, record(numpy, theirs, k), strict=True):
            numpy.testing.assert_array_equal(np.asnumpy(x), y)
        # Other code may free memory, or count what tables have.
        folders, others = {"arrays", "functions", "graph", "recording"}, {Path(__file__).name, "bounded_table.py"}
        files = [Path(file) for file in called]
        recording[k] = [file for file in files if file.name not in others and folders & {*file.parts}]
    assert recording[2], "what is not known yet"
    assert not recording[5], "what is known from other sizes"


def test_tables_that_the_core_fills_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_table, "MAX_ENTRIES", 1000)
    x, y = np.asarray(numpy.arange(3000.0)), np.zeros(3000)
    most = 0
    for k in range(1, 1500):
        y[k:] += x[k:] * 0.5
        if k % 100 == 0:
            np.synchronize()
        most = max(most, sum(map(len, bounded_table._tables)))
    assert most < 2000
    expected = numpy.arange(3000.0)
    numpy.testing.assert_array_equal(np.asnumpy(y), numpy.minimum(expected, 1499) * expected * 0.5)


def test_nothing_is_kept_of_what_is_recorded() -> None:
    """Neither of results nor of errors: the number of blocks of memory stays."""
    a, c = np.asarray(numpy.arange(36.0).reshape(6, 6)), np.zeros((6, 6))

    def record() -> None:
        x = a[1:-1, 1:-1] + a[:-2, 2:] * 2.0
        c[1:-1, 1:-1] = np.sqrt(x)
        c[2:] *= 0.5
        assert x.sum().get() > 0
        assert (-x == np.maximum(2.0, a)[None, 2:, 2:]).shape == (1, 4, 4)
        for wrong in (lambda: a[7], lambda: a["x"], lambda: a + numpy.ones(5), lambda: c.__setitem__(0, c)):
            with contextlib.suppress(IndexError, ValueError):
                wrong()

    counts = []
    for _ in range(4):
        for _ in range(300):
            record()
        np.synchronize()
        gc.collect()
        counts.append(sys.getallocatedblocks())
    assert counts[-1] - counts[1] < 300, counts


class _Looks:
    """A cycle that only the collector frees, whose finalizer looks at a value."""

    def __init__(self, arrays: list[Any]) -> None:
        self.arrays, self.itself = arrays, self

    def __del__(self) -> None:
        for x in self.arrays:
            x.get()


def test_finalizers_look_at_values_wherever_garbage_is_collected() -> None:
    """Python 3.11 collects it where objects are made, so in the middle of the core's functions too."""
    results = []
    thresholds = gc.get_threshold()
    for xp in (np, numpy):
        x, y = xp.asarray(numpy.arange(24.0)), xp.zeros(24)
        try:
            for k in range(300):
                if xp is np:
                    gc.set_threshold(1 + k % 7)
                    _Looks([x, y])
                z = x[1:] * 0.5 + y[:-1]
                y[1:] = z[::-1]
                y[::2] += 1
                x = xp.maximum(x, y[::-1]) - x[3]
        finally:
            gc.set_threshold(*thresholds)
        results.append(np.asnumpy(x + y))
    numpy.testing.assert_array_equal(*results)


def test_views_of_leaves_know_their_alignment_when_they_are_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves with equal signatures may begin at different places of their memory."""
    values = np.asarray(numpy.arange(64, dtype=numpy.float32))
    monkeypatch.setattr(queue_of(values.device), "alignment", 16)
    buffer = memory.allocate(values.device, values.nbytes)
    for _ in range(3):
        for offset in range(8):
            window = leaf(buffer, values.dtype, Layout((6,), (1,), offset), queue_of(values.device))
            shown = view(window, Layout((2, 2), (3, -1), 2))
            assert shown.offset == offset + 1
            assert shown.signature.primitive == Leaf((3, -1), 1, (offset + 1) % 4 == 0)


def leaf_or_view_strides(node: Node) -> tuple[int, ...]:
    primitive = node.signature.primitive
    assert isinstance(primitive, (Leaf, View))
    return primitive.strides


@pytest.mark.skipif(not _native.IS_COMPILED, reason="of the compiled core")
def test_windows_of_windows_are_arithmetic_in_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also through strides, as of the column that an outer product is made of: sizes that change cost no Python."""

    def fail(*args: Any) -> None:
        raise AssertionError(args)

    queue = queue_of(np.Device("cpu"))
    computed = leaf(memory.allocate(queue.device, 8 * 90), numpy.dtype(float), Layout((9, 10), (10, 1), 0), queue)
    pending = map_node("sin", (computed.signature.dtype,) * 2, (computed,))
    monkeypatch.setattr(node_module, "_window", fail)
    for base in (computed, pending):
        for k in range(1, 8):
            column = view(base, Layout((9 - k,), (10,), 10 * k + 3))
            shown = view(column, Layout((9 - k, 1), (1, 1), 0))
            assert leaf_or_view_strides(shown) == (10, 0)
            backwards = view(column, Layout((9 - k,), (-1,), 8 - k))
            assert leaf_or_view_strides(backwards) == (-10,)


def test_stand_ins_are_shown_as_what_they_stand_for() -> None:
    """Their buffers are of Python, and their arguments there when they are asked for: nothing for the core to read."""
    values = np.asarray(numpy.arange(64.0))
    pending = (values + 1).reshape(8, 8).T
    for operand, where in ((values._node, Layout((8, 4), (2, 1), 3)), (pending._node, Layout((8, 2), (1, 8), 1))):
        found = view(operand, where).signature
        for _ in range(50):
            (stand_in,) = StandIns((operand,), (operand.signature,)).nodes
            shown = view(stand_in, where)
            assert shown.signature is found
            assert [type(x) for x in shown.args] == [type(stand_in)] * len(found.args)


def test_what_was_found_last_is_forgotten_with_the_tables() -> None:
    x = np.asarray(numpy.arange(77.0)) * 2.0
    signature = x._node.signature
    bounded_table.forget_all()
    count = sys.getrefcount(signature)
    x[5:71:3], x + x
    assert sys.getrefcount(signature) > count
    bounded_table.forget_all()
    assert sys.getrefcount(signature) == count
