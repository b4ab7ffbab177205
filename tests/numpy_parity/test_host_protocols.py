"""What gives other code on the host an array's bytes, and arguments about memory, beside NumPy."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import io
import socket
import struct
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.runtime.device import Device
from tests.support.arrays import to_host
from tests.support.buffers import LENDS_BUFFERS, WHY_NOT

needs_buffers = pytest.mark.skipif(not LENDS_BUFFERS, reason=WHY_NOT)


@pytest.fixture(autouse=True)
def on_the_cpu() -> Any:
    with Device("cpu"):
        yield


ARRAYS: dict[str, Callable[[Any], Any]] = {
    "numbers": lambda np: np.arange(6.0).reshape(2, 3),
    "booleans": lambda np: np.array([True, False, True]),
    "none": lambda np: np.zeros((0, 3)),
    "texts": lambda np: np.array(["ab", "c"]),
    "records": lambda np: np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")]),
    "a field": lambda np: np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")])["b"].copy(),
    "dates": lambda np: np.array(["2020-01-01", "2021-01-01"], "M8[D]").view("i8"),
}
LENDING: dict[str, Callable[[Any], Any]] = {
    "bytes": bytes,
    "tobytes": lambda x: x.tobytes(),
    "a digest": lambda x: hashlib.sha256(x).hexdigest(),
    "a checksum": zlib.crc32,
    "a file": lambda x: io.BytesIO().write(x),
    "a file's contents": lambda x: io.BytesIO(x).getvalue(),
    "join": lambda x: b"-".join([x, x]),
    "an integer": lambda x: int.from_bytes(x, "little"),
    "unpacked": lambda x: struct.unpack_from("0b", x),
    "copied by ctypes": lambda x: (ctypes.c_char * x.nbytes).from_buffer_copy(x).raw,
    "data": lambda x: (x.data.shape, x.data.nbytes, x.data.c_contiguous),
}


@needs_buffers
@pytest.mark.parametrize("make", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("lend", LENDING.values(), ids=LENDING)
def test_bytes(lend: Callable[[Any], Any], make: Callable[[Any], Any]) -> None:
    x, reference = make(gpunumpy), make(numpy)
    if lend is LENDING["data"] and reference.dtype.kind == "U":
        pytest.skip("memoryview has no format for texts")
    assert lend(x) == lend(reference)


@needs_buffers
def test_bytes_are_lent_in_c_order_and_read_only() -> None:
    x = gpunumpy.arange(6).reshape(2, 3).T
    assert io.BytesIO(x).getvalue() == to_host(x).tobytes()  # NumPy refuses
    for refused in (memoryview, bytearray, (ctypes.c_char * 8).from_buffer):  # which ask as `numpy.asarray` does
        with pytest.raises(BufferError, match=r"x\.get\(\)"):
            refused(x)
    with pytest.raises(BufferError, match="objects have no bytes"):
        hashlib.sha256(gpunumpy.array([object()]))


# What writes to an array of 32 bytes or more, and what it returns.
WRITERS: dict[str, Callable[[Any], Any]] = {
    "readinto": lambda x: io.BytesIO(bytes(range(32))).readinto(x),
    "readinto of data": lambda x: io.BytesIO(bytes(range(32))).readinto(x.data.cast("B")),
    "pack_into": lambda x: struct.pack_into("<2d", x, 8, 1.0, 2.0),
    "recv_into": lambda x: _received(x, bytes(range(16))),
    "frombuffer": lambda x: numpy.frombuffer(x, "u1").__setitem__(slice(3, 9), 7),
    "an element of data": lambda x: x.data.__setitem__((0,) * x.ndim, x.dtype.type(1).item()),
    "ctypes": lambda x: (ctypes.c_char * 4).from_buffer(x.data).__setitem__(2, b"a"),
}
WRITTEN: dict[str, Callable[[Any], Any]] = {
    "floats": lambda np: np.zeros(4),
    "results": lambda np: np.arange(8.0) * 2 + 1,
    "a matrix": lambda np: np.ones((3, 4), "f4"),
    "a view": lambda np: np.zeros(9)[4:],
    "rows": lambda np: np.zeros((9, 5), "i8")[2:6],
    "parts of numbers": lambda np: np.zeros(9, "c16").view("f8"),
    "many": lambda np: np.zeros(300_000),
    "the other byte order": lambda np: np.zeros(4, ">f8"),
    "dates": lambda np: np.zeros(4, "M8[s]"),
    "records": lambda np: np.zeros(4, "i4,f8"),
    "a read-only array": lambda np: np.broadcast_to(np.zeros(1), 4),
    "a transpose": lambda np: np.zeros((2, 3)).T,
    "columns": lambda np: np.zeros((4, 4))[:, 1:],
    "every other element": lambda np: np.zeros(9)[::2],
    "a scalar": lambda np: np.ones(3, "c16").sum(),
}


def _received(x: Any, sent: bytes) -> int:
    sender, receiver = socket.socketpair()
    with sender, receiver:
        sender.send(sent)
        return receiver.recv_into(x)


def _written_by(write: Callable[[Any], Any], make: Callable[[Any], Any], np: Any) -> Any:
    """Return what a writer returns or which error it raises; and what was computed before and after it wrote."""
    x = make(np)
    before = x.copy()
    try:
        told = write(x)
    except Exception as error:
        told = type(error)
    return told, *(to_host(y) if isinstance(y, gpunumpy.ndarray) else y for y in (before, x, x.copy()))


@needs_buffers
@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("make", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_memory_is_lent_to_what_writes(write: Callable[[Any], Any], make: Callable[[Any], Any], residence: str) -> None:
    gpunumpy.set_residence(residence)
    found, expected = (_written_by(write, make, np) for np in (gpunumpy, numpy))
    assert found[0] == expected[0]
    for tested, reference in zip(found[1:], expected[1:], strict=True):
        assert numpy.asarray(tested).tobytes() == numpy.asarray(reference).tobytes()


@needs_buffers
@pytest.mark.parametrize("residence", ["auto", "device"])
def test_memory_that_was_lent_stays(residence: str) -> None:
    gpunumpy.set_residence(residence)
    for count in (8, 300_000):
        x = gpunumpy.zeros(count)
        lent, where = x.data, x.residence if count == 8 else "device"
        doubled = x * 2
        lent[1] = 5.0
        x += 1
        x[0] = 9.0
        assert lent[:2].tolist() == x[:2].tolist() == [9.0, 6.0]
        assert (x + gpunumpy.ones(count) + gpunumpy.zeros((300, 1)))[0, :2].tolist() == [10.0, 7.0]
        lent[1] = 7.0
        assert (gpunumpy.zeros((300, 1)) + x)[0, :2].tolist() == [9.0, 7.0]
        assert doubled.shape == (count,)
        assert x.residence == where


@needs_buffers
@pytest.mark.on_device
def test_elements_are_lent_read_only_to_what_reads_them() -> None:
    x = gpunumpy.arange(6.0).reshape(2, 3)
    for flags, shape in ((0x18, (2, 3)), (0x1C, (2, 3)), (0, (48,))):  # PyBUF_STRIDES, with PyBUF_FORMAT, PyBUF_SIMPLE
        lent = x.__buffer__(flags)
        assert lent.readonly
        assert lent.shape == shape
    assert x.__buffer__(0x1C).tolist() == x.tolist()
    x[0, 0] = 7.0
    assert x.__buffer__(0x1C)[0, 0] == 7.0
    with pytest.raises(ValueError, match="read-only"):
        gpunumpy.broadcast_to(x, (2, 2, 3)).__buffer__(0x1D)


@pytest.mark.gpu
@needs_buffers
def test_memory_of_a_gpu_is_not_lent() -> None:
    gpunumpy.set_residence("device")
    with Device("cuda:0"):
        x = gpunumpy.arange(4.0)
        with pytest.raises(BufferError, match="where the host cannot write"):
            x.__buffer__(1)
        assert x.data.readonly
        assert x.__buffer__(0x1C).tolist() == [0.0, 1.0, 2.0, 3.0]
        gpunumpy.set_residence("auto")
        small = gpunumpy.zeros(4)
        struct.pack_into("<d", small, 8, 5.0)
        assert (small + x).tolist() == [0.0, 6.0, 2.0, 3.0]
        assert small.residence == "host"


@needs_buffers
def test_bytes_outlive_the_array() -> None:
    view = gpunumpy.arange(1000.0).data
    gc.collect()
    others = [gpunumpy.arange(1000.0) * k for k in range(9)]
    assert [float(x[1]) for x in others] == list(range(9))
    assert view[999] == 999.0


def test_memory_of_the_host_is_lent_itself() -> None:
    x = gpunumpy.array([b"ab", b"cd"])
    memory = x.data
    x[0] = b"xy"
    assert memory.tobytes() == b"xycd"
    assert not memory.readonly


# --- ctypes

POINTERS: dict[str, Callable[[Any], Any]] = {
    "shape": lambda x: list(x.ctypes.shape),
    "strides": lambda x: list(x.ctypes.strides),
    "shape_as": lambda x: list(x.ctypes.shape_as(ctypes.c_int)),
    "strides_as": lambda x: list(x.ctypes.strides_as(ctypes.c_int)),
    "data": lambda x: type(x.ctypes.data),
    "the first element": lambda x: x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[0],
    "as an argument": lambda x: ctypes.string_at(x.ctypes._as_parameter_.value, 8),
}
VIEWS: dict[str, Callable[[Any], Any]] = {
    "a matrix": lambda np: np.arange(6.0).reshape(2, 3),
    "a view": lambda np: np.arange(6.0).reshape(2, 3)[::-1, 1:],
    "imaginary parts": lambda np: (np.arange(6.0) * 1j).imag[1:],
    "a field": lambda np: np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")])["b"],
}


@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("ask", POINTERS.values(), ids=POINTERS)
def test_ctypes(ask: Callable[[Any], Any], make: Callable[[Any], Any]) -> None:
    assert ask(make(gpunumpy)) == ask(make(numpy))


def test_ctypes_of_the_memory_itself() -> None:
    x = gpunumpy.zeros(4)
    p = x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    p[2] = 5.0
    assert x.tolist() == [0, 0, 5, 0]
    x += 1
    x[:] = 2 * x
    assert p[2] == 12.0
    last = gpunumpy.arange(1000.0).ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    gc.collect()
    assert float((gpunumpy.arange(1000.0) * 7)[5]) == 35
    assert last[5] == 5.0


@pytest.mark.on_device
def test_ctypes_lends_nothing_to_a_probe() -> None:
    x = gpunumpy.arange(4.0) + 1
    assert hasattr(x, "ctypes")
    assert x._node.data is None
    assert not hasattr(x.sum(), "ctypes")
    assert not hasattr(numpy.float64(1), "ctypes")


# --- what is refused


@pytest.mark.on_device
def test_no_array_interface() -> None:
    """NumPy would take it in the place of ``__array__``, and with it `numpy.asarray` could not copy."""
    x = gpunumpy.arange(4.0) + 1
    for array in (x, x.sum(), gpunumpy.array(["a"])):
        assert not hasattr(array, "__array_interface__")
        assert not hasattr(array, "__array_struct__")
        with pytest.raises(AttributeError, match=r"x\.get\(\)"):
            _ = array.__array_interface__
    assert x._node.data is None  # nothing was computed


@pytest.mark.parametrize("make", ARRAYS.values(), ids=ARRAYS)
def test_numpy_copies(make: Callable[[Any], Any]) -> None:
    x = make(gpunumpy)
    for copied in (numpy.asarray(x), numpy.array(x), numpy.array(x, copy=True)):
        assert copied.flags.writeable
        numpy.testing.assert_array_equal(copied, make(numpy))
        if x.size:
            copied[...] = copied.flat[-1]
    numpy.testing.assert_array_equal(to_host(x), make(numpy))
    if x.size:
        same = numpy.asarray(x, copy=False)
        same[...] = same.flat[-1]
        numpy.testing.assert_array_equal(to_host(x), same)
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        numpy.asarray(x, "c16", copy=False)


# --- arguments and attributes that tell of memory

CALLS: dict[str, Callable[[Any], Any]] = {
    **{f"copy={copy}": lambda np, copy=copy: np.array(np.arange(3), copy=copy) for copy in (True, False, None, 2)},
    "copy=False, impossible": lambda np: np.array([1, 2], copy=False),
    "copy=False, another dtype": lambda np: np.asarray(np.arange(3), "f4", copy=False),
    "astype(copy=False)": lambda np: _is_same(np.arange(3), lambda x: x.astype("i8", copy=False)),
    "reshape(copy=False)": lambda np: np.arange(6).reshape(2, 3).T.reshape(6, copy=False),
    **{
        f"order={order}": lambda np, order=order: _contiguous(np.array(np.ones((2, 3)).T, order=order))
        for order in ("C", "F", "A", "K", None, "c")
    },
    "order=an array": lambda np: np.ones(3).copy(np.arange(3)),
    "order=a text of NumPy's": lambda np: _contiguous(np.ones((2, 3)).copy(numpy.str_("f"))),
    "order='X'": lambda np: np.array([1], order="X"),
    "asarray(order='F')": lambda np: _contiguous(np.asarray(np.ones((2, 3)), order="F")),
    "ravel(order='K')": lambda np: np.arange(6).reshape(2, 3).T.ravel("K"),
    "zeros_like(order='A')": lambda np: _contiguous(np.zeros_like(np.ones((2, 3), order="F"), order="A")),
    "like=": lambda np: np.ones(2, like=np.zeros(1)),
    "like=None": lambda np: np.ones(2, like=None),
    "like=a list": lambda np: np.ones(2, like=[1]),
    "subok=True": lambda np: np.array(np.arange(2), subok=True),
    "subok=0": lambda np: np.zeros_like(np.arange(2), subok=0),
    "setflags()": lambda np: _written(np.arange(3), lambda x: x.setflags()),
    "setflags(write=False)": lambda np: _written(np.arange(3), lambda x: x.setflags(write=False)).flags.writeable,
    "setflags(write=0)": lambda np: _written(np.arange(3), lambda x: x.setflags(0)).flags.writeable,
    "setflags(write), a write": lambda np: _written(
        _written(np.arange(3), lambda x: x.setflags(write=False)), lambda x: x.__setitem__(0, 1)
    ),
    "setflags(align=True)": lambda np: np.arange(3).setflags(align=True),
    "setflags(uic=True)": lambda np: np.arange(3).setflags(uic=True),
    "setflags(x=1)": lambda np: np.arange(3).setflags(x=1),
    "flags['W'] = False": lambda np: _written(np.arange(3), lambda x: x.flags.__setitem__("W", False)).flags.writeable,
    "flags['A'] = True": lambda np: _written(np.arange(3), lambda x: x.flags.__setitem__("A", True)).flags.aligned,
    "flags['X'] = True": lambda np: np.arange(3).flags.__setitem__("X", True),
    "flags['C'] = True": lambda np: np.arange(3).flags.__setitem__("C", True),
    "flags['nothing'] = True": lambda np: np.arange(3).flags.__setitem__("nothing", True),
    "flags.aligned = True": lambda np: (
        _written(np.arange(3), lambda x: setattr(x.flags, "aligned", True)).flags.aligned
    ),
    "flags.writebackifcopy = False": lambda np: setattr(np.arange(3).flags, "writebackifcopy", False),
    "flags.writebackifcopy = True": lambda np: setattr(np.arange(3).flags, "writebackifcopy", True),
    "flags.owndata = True": lambda np: setattr(np.arange(3).flags, "owndata", True),
    "dtype =": lambda np: _written(np.arange(4, dtype="i4"), lambda x: setattr(x, "dtype", "i2")),
    "dtype =, of fields": lambda np: _written(np.arange(4), lambda x: setattr(x, "dtype", [("a", "i4"), ("b", "i4")])),
    "dtype =, of texts": lambda np: _written(np.array(["ab"]), lambda x: setattr(x, "dtype", "i4")),
    "dtype =, too large": lambda np: _written(np.arange(3, dtype="i1"), lambda x: setattr(x, "dtype", "i2")),
    "dtype =, strided": lambda np: _written(np.arange(4)[::2], lambda x: setattr(x, "dtype", "i2")),
    "dtype =, no dtype": lambda np: _written(np.arange(4), lambda x: setattr(x, "dtype", "nothing")),
    "del dtype": lambda np: delattr(np.arange(4), "dtype"),
    "resize(())": lambda np: _written(np.arange(1.0), lambda x: x.resize(())),
    "resize(()), to fewer": lambda np: _written(np.arange(3.0), lambda x: x.resize((), refcheck=False)),
    "resize(0)": lambda np: _written(np.arange(3.0), lambda x: x.resize(0, refcheck=False)),
    "resize(2, 3)": lambda np: _written(np.arange(3.0), lambda x: x.resize(2, 3, refcheck=False)),
    "resize(None)": lambda np: _written(np.arange(3.0), lambda x: x.resize(None)),
    "resize(-1)": lambda np: _written(np.arange(3.0), lambda x: x.resize(-1)),
    "resize of a view": lambda np: np.arange(4.0)[:2].resize(3),
    "resize of a view to as many": lambda np: _written(np.arange(6.0)[:4], lambda x: x.resize(2, 2)),
    "resize of a view's owner": lambda np: _resized_beside_a_view(np.arange(6.0), (3, 2)),
    "resize of a view's owner, of texts": lambda np: _resized_beside_a_view(np.array(["a", "b"]), (2, 1)),
    "resize beside a view": lambda np: _resized_beside_a_view(np.arange(6.0), 8),
    "resize of columns": lambda np: np.arange(6.0).reshape(2, 3)[:, 1:].resize(4),
    "resize of columns to as many": lambda np: np.arange(6.0).reshape(2, 3)[:, 1:].resize(2, 2),
    "resize in Fortran's order": lambda np: _written(np.arange(6.0).reshape(2, 3).copy("F"), lambda x: x.resize(3, 2)),
    "resize of a transpose": lambda np: _written(np.arange(6.0).reshape(2, 3).T, lambda x: x.resize(2, 3)),
    "resize(x=1)": lambda np: np.arange(3).resize(2, x=1),
}


def test_the_dtype_of_a_view_is_not_set_to_one_of_the_host() -> None:
    x = gpunumpy.arange(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        view = x[1:]
        for array in (view, x):
            with pytest.raises(ValueError, match="view"):
                array.dtype = [("a", "i8")]
        assert x.dtype == numpy.int64
        owner = gpunumpy.arange(4)
        gpunumpy.host_fallback("error")
        with pytest.raises(TypeError, match="no kernel computes"):
            owner.dtype = [("a", "i8")]


def _written(x: Any, write: Callable[[Any], Any]) -> Any:
    write(x)
    return x


def _resized_beside_a_view(x: Any, shape: Any) -> Any:
    """Resize an array, and write through a view of it that was made before."""
    view = x[1:3]
    x.resize(shape)
    view[...] = x.reshape(-1)[:1]
    return x


def _is_same(x: Any, call: Callable[[Any], Any]) -> bool:
    return call(x) is x


def _contiguous(x: Any) -> tuple[bool, bool]:
    return x.flags.c_contiguous, x.flags.f_contiguous


def _outcome(call: Callable[[Any], Any], np: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of setting a dtype, since NumPy 2.5
        try:
            result = call(np)
        except Exception as error:
            return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    return to_host(result) if isinstance(result, gpunumpy.ndarray) else result


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("name", CALLS)
def test_memory_arguments(name: str, residence: str) -> None:
    gpunumpy.set_residence(residence)
    tested, reference = (_outcome(CALLS[name], np) for np in (gpunumpy, numpy))
    if isinstance(reference, numpy.ndarray):
        assert isinstance(tested, numpy.ndarray)
        numpy.testing.assert_array_equal(tested, reference, strict=True)
    else:
        assert tested == reference
