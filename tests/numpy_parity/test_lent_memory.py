"""Arrays over memory of other objects: what either writes the other sees, and the arrays stay on the host."""

from __future__ import annotations

import array
import ctypes
import mmap
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy

from ..support import fake_driver

LARGE = 1 << 20


@pytest.fixture(params=["auto", "device"], autouse=True)
def residence(request: pytest.FixtureRequest) -> Iterator[str]:
    before = gpunumpy.set_residence(request.param)
    yield request.param
    gpunumpy.set_residence(before)


def _bytes_of(x: Any) -> list[float]:
    result: list[float] = numpy.frombuffer(x, "f8").tolist()
    return result


def written_and_read(np: Any, lender: Any) -> list[Any]:
    """Write through an array and through its lender in turn; what each shows then."""
    x = np.ndarray((4,), "f8", buffer=lender)
    lent = numpy.frombuffer(lender, "f8")
    pending = x + 1.0
    x[:] = [1, 2, 3, 4]
    x[1:3] *= 10
    seen = [lent.tolist(), pending.tolist()]
    lent[0] = -1
    before = x * 2
    lent[3] = -4
    np.negative(x, out=x)
    x.reshape(2, 2)[0] += 0.5
    return [*seen, before.tolist(), x.tolist(), lent.tolist(), float(x.sum())]


LENDERS: dict[str, Callable[[], Any]] = {
    "bytearray": lambda: bytearray(32),
    "array.array": lambda: array.array("d", [0, 1, 2, 3]),
    "ctypes": lambda: (ctypes.c_double * 4)(1, 2, 3, 4),
    "mmap": lambda: mmap.mmap(-1, 32),
    "memoryview": lambda: memoryview(bytearray(32)),
    "NumPy's array": lambda: numpy.arange(4.0),
}


@pytest.mark.parametrize("lender", LENDERS)
def test_writes_are_seen_by_both(lender: str) -> None:
    assert written_and_read(gpunumpy, LENDERS[lender]()) == written_and_read(numpy, LENDERS[lender]())


def fortran(np: Any) -> Any:
    lent = bytearray(16)
    x = np.ndarray((2, 2), "i4", lent, order="F")
    x[0] = [1, 2]
    return list(lent), x.strides, x.flags.f_contiguous


def fields(np: Any) -> Any:
    lent = bytearray(24)
    x = np.ndarray((2,), [("a", "i4"), ("b", "f8")], lent)
    x["b"] = [1, 2]
    x["a"] += 3
    return bytes(lent)


def large(np: Any) -> Any:
    lent = numpy.zeros(LARGE)
    x = np.ndarray((LARGE,), "f8", lent)
    x += 1
    np.multiply(x, np.arange(float(LARGE)), out=x)
    x[::2] = -1
    return lent.sum(), float(x.sum()), float((x + np.ones(LARGE)).max()), lent[:4].tolist()


def with_a_device(np: Any) -> Any:
    x = np.ndarray((LARGE,), "f8", bytearray(8 * LARGE))
    y = np.arange(float(LARGE))
    y += x
    x[...] = y * 2
    return float(y[-1]), float(x[-1]), float(x[:9] @ y[:9])


def read_only(np: Any) -> Any:
    x = np.ndarray((2,), "f8", bytes(16))
    x[0] = 1


def too_small(np: Any) -> Any:
    return np.ndarray((3,), "f8", bytearray(16))


def offset_and_strides(np: Any) -> Any:
    lent = bytearray(range(64))
    x = np.ndarray((3,), "i8", lent, 8, 16)
    x[1] = 0
    return bytes(lent), x.strides, x.base is lent, x.flags.owndata


def made_and_counted(np: Any) -> Any:
    lent = bytearray(32)
    x = np.frombuffer(lent, "f8", 2, 8)
    x[:] = 1
    return _bytes_of(lent), x.base is not None, x.copy().base is None, x.flags.writeable


def subclass(np: Any) -> Any:
    class Own(np.ndarray):  # type: ignore[misc,name-defined]
        pass

    lent = bytearray(16)
    x = Own((2,), "f8", lent)
    x += 1
    return type(x).__name__, type(x * 2).__name__, _bytes_of(lent)


def from_ctypes(np: Any) -> Any:
    lent = (ctypes.c_double * 4)(1, 2, 3, 4)
    x = np.ctypeslib.as_array(lent)
    x *= 2
    pointer = ctypes.cast(lent, ctypes.POINTER(ctypes.c_double))
    np.ctypeslib.as_array(pointer, (2, 2))[1, 1] = 0
    return list(lent), list(np.ctypeslib.as_ctypes(x))


def pointers_of_c(np: Any) -> Any:
    kinds = [np.ctypeslib.ndpointer("f8", 1, flags=flags) for flags in ("C", "W", "C")]
    x = np.ones(4)
    told = []
    for kind in kinds:
        for argument in (x, x[1:], x[::2], np.ones(4, "f4"), np.ones((2, 2)), np.broadcast_to(x, (4, 4))[0], [1.0]):
            try:
                ctypes.memset(kind.from_param(argument)._as_parameter_, 0, 8)
                told.append(x.tolist())
            except TypeError as error:
                told.append(str(error))
    return told, kinds[0] is kinds[2], kinds[0].__name__


PROGRAMS = [fortran, fields, large, with_a_device, read_only, too_small, offset_and_strides, made_and_counted]
PROGRAMS += [subclass, from_ctypes]


def sorted_rows(np: Any) -> Any:
    rows = np.array([[3, 1], [2, 5], [2, 1]])
    rows.view("i8,i8").sort(order=["f0", "f1"], axis=0)
    return rows.tolist()


def records_of_numbers(np: Any) -> Any:
    x = np.arange(6.0) * 2
    before = x + 1
    records = x.view([("a", "f8"), ("b", "f8")])
    records["b"] = -1
    x[0] = 7
    x *= 2
    return before.tolist(), x.tolist(), records.tolist(), records["a"].sum().item(), records.flags.writeable


def dates_of_numbers(np: Any) -> Any:
    x = np.arange(400_000)
    dates = x[1:].view("M8[D]")
    dates[:2] = "1970-01-11"
    x += 1
    return x[:5].tolist(), str(dates[0]), str(dates[-1])


def a_matrix(np: Any) -> Any:
    x = np.arange(6.0).reshape(2, 3)
    m, other = np.asmatrix(x), x.T.view(np.matrix)
    m[0, 0], other[2, 1] = 5, 8
    x[1] += 1
    return m.tolist(), other.tolist(), x.tolist(), x.getfield("S4", 4).flags.writeable


def a_record_array(np: Any) -> Any:
    x = np.zeros((3, 2))
    x.view([("u", "f8"), ("v", "f8")]).view(np.recarray).v[1] = 4
    return x.tolist()


# What the host has the memory of: all arrays of the CPU device, and small ones of a GPU.
PROGRAMS_ON_THE_HOST = [sorted_rows, records_of_numbers, dates_of_numbers, a_matrix, a_record_array, pointers_of_c]


def _outcomes(program: Callable[[Any], Any]) -> list[Any]:
    outcomes = []
    for np in (gpunumpy, numpy):
        try:
            outcomes.append(program(np))
        except Exception as error:
            outcomes.append((type(error), str(error)))
    return outcomes


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs(program: Callable[[Any], Any]) -> None:
    found, expected = _outcomes(program)
    assert found == expected


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning", "ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("program", PROGRAMS_ON_THE_HOST, ids=lambda program: program.__name__)
def test_programs_on_the_host(program: Callable[[Any], Any], residence: str) -> None:
    has_memory = residence == "auto" and program is not dates_of_numbers
    with gpunumpy.default_device() if has_memory else gpunumpy.Device("cpu"):
        found, expected = _outcomes(program)
    assert found == expected


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning", "ignore::PendingDeprecationWarning")
def test_views_of_a_gpu_that_no_kernel_computes_are_read_only_copies() -> None:
    x = gpunumpy.zeros((2, 2), device="cuda:0")
    is_on_the_host = x.residence == "host"
    for view in (x.view("M8[s]"), gpunumpy.asmatrix(x), x.view("f8,f8")):
        assert view.flags.writeable == is_on_the_host


def test_they_stay_on_the_host() -> None:
    x = gpunumpy.ndarray((4,), "f8", bytearray(32))
    for use in (lambda: x.T, lambda: x.view("u1"), lambda: gpunumpy.lib.stride_tricks.as_strided(x, (2,), (8,)), x.sum):
        use()
        assert x.residence == "host"
    assert x[1:].residence == "host"


def test_as_ctypes_shares_the_memory_of_the_cpu_device() -> None:
    x = gpunumpy.arange(4.0, device="cpu")
    lent = gpunumpy.ctypeslib.as_ctypes(x)
    lent[0] = 7.0
    x[1] = 8.0
    assert (x.tolist(), list(lent)) == ([7, 8, 2, 3], [7, 8, 2, 3])


def test_a_gpu_gets_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_driver.install(monkeypatch)
    gpunumpy.set_residence("auto")
    with gpunumpy.Device("cuda:0"):
        x = gpunumpy.ndarray((2, 2), "f8", bytearray(32))
        assert x.__dlpack_device__()[0] == 2
        assert x.__dlpack__(stream=-1) is not None
        assert not hasattr(x, "__cuda_array_interface__")
        assert x.residence == "host"
