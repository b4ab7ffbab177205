"""The registry of library calls: what it names exists, what is recorded is in it, and results follow from records."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy
import pytest

import gpunumpy
from gpunumpy.core.graph import node as graph
from gpunumpy.core.graph.library_calls.record import Implementation
from gpunumpy.core.graph.library_calls.registry import RECORDS
from gpunumpy.core.graph.node import Node
from gpunumpy.core.runtime.executors import EXECUTORS, implementation

PACKAGE = Path(gpunumpy.__file__).parent
IMPLEMENTATIONS = [
    (record.name, executor, field.name)
    for record in RECORDS.values()
    for executor, found in record.implementations.items()
    for field in fields(Implementation)
    if getattr(found, field.name)
]


def values(*shape: int) -> Node:
    return gpunumpy.asarray(numpy.ones(shape), device="cpu").value()


@pytest.mark.parametrize(("name", "executor", "kind"), IMPLEMENTATIONS)
def test_implementations_exist(name: str, executor: str, kind: str) -> None:
    assert callable(implementation(getattr(RECORDS[name].implementations[executor], kind)))


def test_records_are_whole() -> None:
    executors = {implementation(name).name for name in EXECUTORS.values()}
    for name, record in RECORDS.items():
        assert record.name == name
        assert set(record.implementations) <= executors
        for executor, found in record.implementations.items():
            assert not (found.run and found.program), f"{name} is run, or is a program"
            assert found.run or found.program or found.sized_program
            assert bool(found.should_fuse) == bool(found.run_fused), f"{name} with kernels in it"
            assert executor == "host" or bool(found.batch) == bool(record.is_worth_batching), f"batches of {name}"


def recorded() -> set[str]:
    """The names that the package records library calls by, as far as they are written out there."""
    names = set()
    for path in PACKAGE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant):
                function = getattr(call.func, "attr", getattr(call.func, "id", ""))
                if function in ("library_call", "library_call_outputs", "LibraryCall", "RunLibraryCall"):
                    names.add(str(call.args[0].value))
    return names


def test_what_is_recorded_has_a_record() -> None:
    names = recorded()
    assert len(names) > 20
    assert not names - set(RECORDS)


def test_an_unknown_name_is_refused_as_it_is_recorded() -> None:
    with pytest.raises(LookupError, match=r"no library call is named 'nosuch'; allowed: .*matmul"):
        graph.library_call("nosuch", (), (values(3),))
    with pytest.raises(LookupError, match="nosuch"):
        graph.library_call("nosuch", (), (values(3),), ((3,), numpy.dtype(float)))
    with pytest.raises(LookupError, match="nosuch"):
        graph.library_call_outputs("nosuch", (), (values(3),), (((3,), numpy.dtype(float)),))


def test_what_does_not_follow_has_to_be_given() -> None:
    with pytest.raises(TypeError, match="'bincount' do not follow"):
        graph.library_call("bincount", (), (values(3),))


def test_an_executor_without_an_implementation_says_so() -> None:
    with pytest.raises(NotImplementedError, match="'interp' has no implementation for 'cuda'"):
        RECORDS["interp"].implementation("cuda")


D, Z = numpy.dtype("d"), numpy.dtype("D")
INT32, INT64 = numpy.dtype("i4"), numpy.dtype("i8")
LOOP = (D, D, D)
RESULTS = {
    "sort": ((False,), [(3, 4)], [((3, 4), D)]),
    "argsort": ((False,), [(3, 4)], [((3, 4), INT64)]),
    "searchsorted": (("left",), [(9,), (4,)], [((4,), INT64)]),
    "mask_offsets": ((4,), [(9,)], [((4,), INT64), ((), INT64)]),
    "histogram": ((True, None), [(9,), (6,), (1,)], [((5,), INT64)]),
    "fold": (("subtract", LOOP, 1), [(3, 4, 5)], [((3, 5), D)]),
    "accumulate": (("subtract", LOOP, 1), [(3, 4, 5)], [((3, 4, 5), D)]),
    "reduceat": (("subtract", LOOP, 1), [(3, 4, 5), (2,)], [((3, 2, 5), D)]),
    "cholesky": ((True, False), [(2, 3, 3)], [((2, 3, 3), D), ((2,), INT32)]),
    "solve": ((), [(2, 3, 3), (2, 3, 4)], [((2, 4, 3), D), ((2,), INT32)]),
    "slogdet": ((), [(2, 3, 3)], [((2,), D), ((2,), D)]),
    "det": ((), [(2, 3, 3)], [((2,), D)]),
    "qr": (("complete",), [(4, 6)], [((4, 6), D), ((6, 6), D)]),
    "svd": ((True, True), [(4, 6)], [((4,), D), ((), INT32), ((4, 4), D), ((6, 6), D)]),
    "eigh": (("L", True), [(4, 4)], [((4,), D), ((), INT32), ((4, 4), D)]),
    "eig": ((False,), [(4, 4)], [((4,), Z), ((), INT32)]),
    "matmul": (("highest",), [(2, 1, 3, 4), (5, 4, 6)], [((2, 5, 3, 6), D)]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results(name: str) -> None:
    options, shapes, wanted = RESULTS[name]
    found = RECORDS[name].results
    assert found is not None
    assert list(found(options, [values(*shape).signature for shape in shapes])) == wanted  # type: ignore[attr-defined]


_SORT = """
import sys
import gpunumpy
with gpunumpy.Device("cpu"):
    gpunumpy.asnumpy(gpunumpy.sort(gpunumpy.asarray([3, 1, 2])))
print(*(name for name in sys.modules if name.startswith("gpunumpy.kernels")))
"""


def test_only_what_runs_is_imported() -> None:
    run = subprocess.run([sys.executable, "-c", _SORT], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    loaded = set(run.stdout.split())
    assert "gpunumpy.kernels.sort.host" in loaded
    assert not {name for name in loaded if "cuda" in name or "linalg" in name or "fft" in name}
