"""Memory shared with other libraries: DLPack, pointers, NumPy's protocols."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.arrays import dlpack
from gpunumpy.arrays.dlpack import Description, make_capsule, open_capsule
from gpunumpy.core.dtypes import DTYPES, ML_DTYPES, bfloat16, float4_e2m1fn
from gpunumpy.core.graph.layout import Layout
from gpunumpy.core.runtime.device import CPU, Device
from gpunumpy.functions import fallback

from ..support.arrays import from_dlpack, from_host, from_interface, make_view, to_host


@pytest.fixture(autouse=True)
def on_the_cpu() -> Any:
    with Device("cpu"):
        yield


def pointer(n: Any) -> int:
    return int(n.__array_interface__["data"][0])


def counting_array(shape: tuple[int, ...] = (3, 4), dtype: Any = numpy.float64) -> Any:
    count = int(numpy.prod(shape))
    return from_host(numpy.arange(count).astype(dtype).reshape(shape), CPU)


# --- DLPack out


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in ML_DTYPES], ids=str)
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 3, 4), (0, 3)], ids=str)
def test_numpy_takes_ours(dtype: Any, shape: tuple[int, ...]) -> None:
    x = counting_array(shape, dtype)
    n = numpy.from_dlpack(x)
    assert n.dtype == dtype
    assert n.shape == shape
    numpy.testing.assert_array_equal(n, to_host(x))
    if x.size:
        assert pointer(n) == x.data_ptr()


VIEWS: dict[str, Any] = {
    "steps": numpy.s_[::2, 1:],
    "backwards": numpy.s_[::-1, ::-2],
    "newaxis": numpy.s_[:, None, 2],
}


@pytest.mark.parametrize("key", VIEWS.values(), ids=VIEWS)
def test_views_keep_strides_and_place(key: Any) -> None:
    x = counting_array((5, 6))
    n = numpy.from_dlpack(x[key], copy=False)
    reference = numpy.from_dlpack(x)[key]
    assert pointer(n) == pointer(reference)
    numpy.testing.assert_array_equal(n, reference)
    n[...] = -1.0
    assert (to_host(x)[key] == -1).all()


def test_parts_of_complex_numbers() -> None:
    x = counting_array((4,), numpy.complex128)
    assert pointer(numpy.from_dlpack(x.imag)) == x.data_ptr() + 8


def test_pending_work_is_done_first_and_memory_stays() -> None:
    x = counting_array((4,)) * 2.0
    n = numpy.from_dlpack(x)
    later = x + 1.0
    x += 10.0
    x[1:] = x[:-1]
    assert numpy.from_dlpack(x).__array_interface__["data"] == n.__array_interface__["data"]
    numpy.testing.assert_array_equal(n, [10, 10, 12, 14])
    numpy.testing.assert_array_equal(to_host(later), [1, 3, 5, 7])
    n[0] = -5.0
    numpy.testing.assert_array_equal(to_host(x), [-5, 10, 12, 14])


def test_what_cannot_be_computed_does_not_stop_an_export() -> None:
    np.set_residence("device")
    x = np.arange(65536.0)
    too_large, before = np.broadcast_to(x, (1 << 30, 65536)) + 1, x + 1
    assert numpy.from_dlpack(x)[2] == 2
    numpy.from_dlpack(x)[...] *= 3
    assert (np.asnumpy(before) == numpy.arange(65536) + 1).all()
    with pytest.raises(MemoryError):
        too_large.computed()


@pytest.mark.parametrize("is_computed", [False, True])
@pytest.mark.parametrize(
    "make", [lambda: np.arange(65536.0), lambda: np.ones(65536), lambda: np.asarray(numpy.arange(65536.0)) + 1]
)
def test_what_was_recorded_before_is_of_the_values_before(make: Callable[[], Any], is_computed: bool) -> None:
    """Also what is cheaper to compute than to read, which waits until its operand has memory."""
    np.set_residence("device")
    x = make()
    if is_computed:
        x.computed()
    before = x + 1
    numpy.from_dlpack(x)[...] *= 3
    assert (np.asnumpy(before) == np.asnumpy(make()) + 1).all()
    assert (np.asnumpy(x) == np.asnumpy(make()) * 3).all()


def test_the_memory_lives_as_long_as_the_consumer() -> None:
    n = numpy.from_dlpack(counting_array((1000,)) + 0.5)
    gc.collect()
    for _ in range(5):
        counting_array((1000,)) + 1.5
    numpy.testing.assert_array_equal(n, numpy.arange(1000) + 0.5)


def test_dropped_exports_release_their_memory() -> None:
    dlpack.sweep()
    before = len(dlpack._exports)
    n = numpy.from_dlpack(counting_array())
    unopened = counting_array().__dlpack__(max_version=(1, 0))
    dlpack.sweep()
    assert len(dlpack._exports) == before + 2
    del n, unopened
    dlpack.sweep()
    assert len(dlpack._exports) == before


def test_an_exception_passes_a_dying_capsule_unharmed() -> None:
    with pytest.raises(TypeError, match="PyCapsule"):
        int(counting_array().__dlpack__())


def test_versions() -> None:
    assert '"dltensor"' in repr(counting_array().__dlpack__())
    assert '"dltensor"' in repr(counting_array().__dlpack__(max_version=(0, 8)))
    assert '"dltensor_versioned"' in repr(counting_array().__dlpack__(max_version=(1, 0)))
    assert '"dltensor_versioned"' in repr(counting_array().__dlpack__(max_version=(2, 3)))


def test_read_only_arrays() -> None:
    x = np.broadcast_to(counting_array((3,)), (2, 3))
    n = numpy.from_dlpack(x)
    assert not n.flags.writeable
    assert n.strides == (0, 8)
    with pytest.raises(BufferError, match="read-only"):
        x.__dlpack__()


def test_copies_on_request() -> None:
    x = counting_array()
    n = numpy.from_dlpack(x, copy=True)
    assert pointer(n) != x.data_ptr()
    n[...] = 0.0
    assert to_host(x)[2, 3] == 11.0
    assert pointer(numpy.from_dlpack(x, copy=False)) == x.data_ptr()


def test_results_that_act_as_scalars_are_copied() -> None:
    total = counting_array((3,))[2]
    n = numpy.from_dlpack(total)
    n[...] = 7.0
    assert float(total) == 2.0
    with pytest.raises(BufferError):
        total.__dlpack__(copy=False)


def test_what_cannot_be_had() -> None:
    x = counting_array()
    assert x.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="device"):
        x.__dlpack__(dl_device=(99, 0))
    with pytest.raises(ValueError, match="stream"):
        x.__dlpack__(stream=1)


# --- DLPack in


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in ML_DTYPES], ids=str)
@pytest.mark.parametrize("key", [numpy.s_[...], numpy.s_[::2, ::-1], numpy.s_[1, 2], numpy.s_[1:1], numpy.s_[:, 3]])
def test_gpunumpy_takes_numpy_arrays(dtype: Any, key: Any) -> None:
    n = numpy.arange(30).astype(dtype).reshape(5, 6)
    part = n[key] if n[key].ndim else numpy.asarray(n[1:2, 2:3]).reshape(())
    x = from_dlpack(part)
    assert (x.dtype, x.shape) == (dtype, part.shape)
    numpy.testing.assert_array_equal(to_host(x), part)
    if part.size:
        assert x.data_ptr() == pointer(part)
        assert x.strides == part.strides or part.size == 1


def test_backward_strides_are_refused_unless_asked_for() -> None:
    """PyTorch, which cannot be told from other readers, ends the process at a capsule with one."""
    x = np.arange(20_000.0, device=CPU)
    for backwards in (x[::-1], x[:3][::-1], x.reshape(2, -1)[:, ::-1], np.flip(x[:4])):
        with pytest.raises(BufferError, match="negative stride"):
            backwards.__dlpack__()
        with pytest.raises(BufferError, match="negative stride"):
            numpy.from_dlpack(backwards)
        assert numpy.from_dlpack(backwards.copy()).tolist() == backwards.tolist()
        for copy in (True, False):
            assert numpy.from_dlpack(backwards, copy=copy).tolist() == backwards.tolist()
    for alike in (x[:1][::-1], x[:0][::-1]):
        alike.__dlpack__()


def test_writes_reach_the_other_side() -> None:
    n = numpy.arange(12.0).reshape(3, 4)
    x = from_dlpack(n.T[::-1])
    x[0] = 50.0
    x += 1.0
    expected = numpy.arange(12.0).reshape(3, 4)
    expected.T[::-1][0] = 50.0
    numpy.testing.assert_array_equal(n, expected + 1.0)


def test_overlapping_imports() -> None:
    n = numpy.arange(8.0)
    expected = n.copy()
    low, high = from_dlpack(n[:-1]), from_dlpack(n[1:])
    high[...] = low * 2.0
    expected[1:] = expected[:-1] * 2.0
    numpy.testing.assert_array_equal(n, expected)


def test_read_only_numpy_arrays() -> None:
    n = numpy.arange(3.0)
    n.flags.writeable = False
    x = from_dlpack(n)
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1.0


def test_imports_keep_their_producer() -> None:
    n = numpy.arange(1000.0)
    gone = weakref.ref(n)
    x = from_dlpack(n) + 1.0
    del n
    numpy.testing.assert_array_equal(to_host(x), numpy.arange(1000) + 1.0)
    del x
    gc.collect()
    assert gone() is None


def test_import_with_copy() -> None:
    n = numpy.arange(3.0)
    x = from_dlpack(n, copy=True)
    n[0] = 9.0
    numpy.testing.assert_array_equal(to_host(x), [0, 1, 2])


def test_ours_to_ours_is_the_same_memory() -> None:
    x = counting_array()
    y = from_dlpack(x[1:])
    y[0] = -1.0
    numpy.testing.assert_array_equal(to_host(x)[1], [-1] * 4)
    bf = from_host(numpy.arange(3).astype(bfloat16), CPU)
    assert from_dlpack(bf).dtype == bfloat16


class Producer:
    """A producer of any device, which may know only the protocol before DLPack 1.0."""

    def __init__(self, capsule: Any, device: tuple[int, int] = (1, 0)) -> None:
        self.capsule, self.device = capsule, device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self) -> Any:
        return self.capsule


# DLPack's code and bits, by dlpack.h of version 1.1.
CODES = {"bfloat16": (4, 16), "float8_e4m3fn": (10, 8), "float8_e5m2": (12, 8), "float4_e2m1fn": (17, 4)}


@pytest.mark.parametrize("dtype", sorted(ML_DTYPES, key=str), ids=str)
def test_dtypes_that_numpy_cannot_exchange_go_through_a_capsule(dtype: Any) -> None:
    x = from_host(numpy.arange(3).astype(dtype), CPU)
    tensor, _ = open_capsule(x.__dlpack__(max_version=(1, 1)))
    assert tensor.dtype == CODES[dtype.name]
    y = from_dlpack(Producer(x.__dlpack__(max_version=(1, 1))))
    assert y.dtype == dtype
    assert y.data_ptr() == x.data_ptr()


def test_arrays_of_jax_are_read_only_though_their_capsules_do_not_say_so() -> None:
    x = counting_array()
    assert from_dlpack(Producer(x.__dlpack__())).flags.writeable
    of_jax = type("ArrayImpl", (Producer,), {"__module__": "jaxlib._jax"})
    y = from_dlpack(of_jax(x.__dlpack__()))
    with pytest.raises(ValueError, match="read-only"):
        y[0] = 1
    assert not from_dlpack(of_jax((x > 0).__dlpack__())).flags.writeable
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        y.flags.writeable = True
    copied = y.copy()
    copied[0] = 1
    assert x[0, 1] == y[0, 1]


def test_what_is_no_array_is_for_asarray() -> None:
    with pytest.raises(TypeError, match=r"'list' has no __dlpack__ .*; asarray takes other data"):
        np.from_dlpack([1.0])


def test_float4_has_a_byte_for_each_element() -> None:
    x = from_host(numpy.arange(3).astype(float4_e2m1fn), CPU)
    with pytest.raises(BufferError, match="since version 1"):
        x.__dlpack__()
    packed = Description(x.data_ptr(), (1, 0), (17, 4), (6,), (1,))
    with pytest.raises(BufferError, match="share a byte"):
        from_dlpack(Producer(make_capsule(packed, True, x)))


def test_bad_producers() -> None:
    with pytest.raises(TypeError, match="__dlpack__"):
        from_dlpack([1, 2])
    with pytest.raises(ValueError, match="capsule"):
        from_dlpack(Producer(None))
    capsule = counting_array().__dlpack__()
    from_dlpack(Producer(capsule))
    with pytest.raises(ValueError, match="used"):
        from_dlpack(Producer(capsule))
    with pytest.raises(BufferError, match="99"):
        from_dlpack(Producer(capsule, (99, 0)))
    half = dlpack.make_capsule(dlpack.Description(64, (1, 0), (2, 8), (1,), (1,)), False, None)
    with pytest.raises(BufferError, match="float16"):
        from_dlpack(Producer(half))


def test_exports_may_outlive_the_interpreter() -> None:
    code = (
        "import numpy, gpunumpy as np\n"
        "import gpunumpy.arrays.dlpack as d\n"
        "keep = numpy.from_dlpack(np.ones(5) + 1)\n"
        "numpy.kept = keep, (np.ones(3) + 1).__dlpack__()\n"
    )
    environment = {**os.environ, "GPUNUMPY_DEVICE": "cpu"}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


# --- the CUDA array interface


def test_no_cuda_interface_on_the_cpu_and_no_flush() -> None:
    x = counting_array() + 1.0
    assert not hasattr(x, "__cuda_array_interface__")
    assert x._node.data is None
    assert from_interface(x) is None
    assert from_interface(numpy.ones(3)) is None


# --- NumPy's protocols


def test_array() -> None:
    x = counting_array()
    n = numpy.asarray(x)
    assert n.dtype == numpy.float64
    n[0, 0] = 5.0  # a copy
    assert to_host(x)[0, 0] == 0.0
    assert numpy.asarray(x, dtype=numpy.int8).dtype == numpy.int8
    assert pointer(numpy.array(x, copy=False)) == x.data_ptr()
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        numpy.array(x, copy=False, dtype=numpy.int8)


def test_ufuncs_stay_here() -> None:
    x = counting_array()
    reference = to_host(x)
    for made, expected in (
        (numpy.sin(x), numpy.sin(reference)),
        (numpy.add(reference, x), reference + reference),
        (reference * x, reference * reference),
        (numpy.float64(2) - x, 2 - reference),
        (numpy.add.reduce(x, axis=1), reference.sum(1)),
        (numpy.multiply.outer(x, [1.0, 2.0]), numpy.multiply.outer(reference, [1.0, 2.0])),
        (numpy.divmod(x, 4.0)[1], reference % 4),
        (numpy.matmul(x, reference.T), reference @ reference.T),
        (reference @ x.T, reference @ reference.T),
        (numpy.add(x, 1.0, where=reference >= 0, out=None), reference + 1),
    ):
        assert type(made) is np.ndarray
        numpy.testing.assert_array_equal(to_host(made), expected)


def test_ufuncs_into_numpy_arrays() -> None:
    x = counting_array()
    n = numpy.ones((3, 4))
    same = n
    n += x
    assert n is same
    numpy.testing.assert_array_equal(n, 1 + to_host(x))
    assert numpy.sqrt(x, out=n) is n
    numpy.testing.assert_array_equal(n, numpy.sqrt(to_host(x)))
    with pytest.raises(TypeError):
        numpy.sqrt(x, out=numpy.zeros((3, 4), numpy.int8))
    counts = numpy.zeros(3)
    numpy.add.at(counts, [0, 0, 2], counting_array((3,)))
    numpy.testing.assert_array_equal(counts, [1, 0, 2])


def test_other_peoples_ufuncs_say_that_they_run_on_the_host() -> None:
    ufunc = pytest.importorskip("scipy.special._ufuncs")._lgam1p  # no name of `scipy.special`
    x = counting_array()
    with pytest.warns(np.HostFallbackWarning, match="_lgam1p"):
        made = ufunc(x)
    assert type(made) is np.ndarray
    numpy.testing.assert_array_equal(to_host(made), ufunc(to_host(x)))


def test_other_classes_decide_themselves() -> None:
    class Other:
        def __array_ufunc__(self, *args: Any, **options: Any) -> str:
            return "other"

    assert numpy.add(counting_array(), Other()) == "other"


class Column:
    """Leaves ufuncs to every class with a method of its own that is not NumPy's, as columns of pandas do."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if any(type(x) not in (Column, numpy.ndarray, int) for x in (*inputs, *options.get("out", ()))):
            return NotImplemented
        numbers = [numpy.arange(12.0) if isinstance(x, Column) else x for x in inputs]
        return "column", getattr(ufunc, method)(*numbers, **options).tolist()


@pytest.mark.parametrize("residence", ["auto", "device"])
def test_a_class_that_leaves_a_ufunc_to_others_gets_arrays_of_numpy(residence: str) -> None:
    np.set_residence(residence)
    x = counting_array((12,))
    expected = "column", numpy.maximum(numpy.arange(12.0), to_host(x)).tolist()
    for maximum in (np.maximum, numpy.maximum):
        assert maximum(Column(), x) == maximum(x, Column()) == expected
        with pytest.raises(TypeError, match="NotImplemented"):
            maximum(Column(), x, out=x)

    class Subclass(np.ndarray):
        def __array_ufunc__(self, *args: Any, **options: Any) -> Any:
            return super().__array_ufunc__(*args, **options)  # type: ignore[misc]

    with pytest.raises(TypeError, match="NotImplemented"):
        np.maximum(x.view(Subclass), x)


def test_functions_stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "_warned", set())  # as if nothing had run on the host yet
    x = counting_array()
    made = numpy.reshape(x, (4, 3))
    assert type(made) is np.ndarray
    assert made.shape == (4, 3)
    with pytest.warns(np.HostFallbackWarning):
        numpy.linalg._umath_linalg.det(x[:, :3])  # type: ignore[attr-defined]  # a ufunc that no namespace has


def test_namespace() -> None:
    x = counting_array()
    assert x.__array_namespace__() is np
    for edition in ("2021.12", "2022.12", "2023.12", "2024.12", np.__array_api_version__):
        assert x.__array_namespace__(api_version=edition) is np
    assert np.__array_api_version__ == "2025.12"
    with pytest.raises(ValueError, match="edition"):
        x.__array_namespace__(api_version="1999")


def test_views_of_imports_are_views() -> None:
    n = numpy.arange(6.0)
    x = from_dlpack(n)
    make_view(x, Layout((3,), (2,), 0)).assign(counting_array((3,)).value())
    numpy.testing.assert_array_equal(n, [0, 1, 1, 3, 2, 5])


# What libraries ask NumPy of arrays that they are given. The functions that make an array of anything give NumPy's.
ASKED: dict[str, Callable[[Any], Any]] = {
    "iterable": numpy.iterable,
    "ndim": numpy.ndim,
    "shape": numpy.shape,
    "size": numpy.size,
    "iscomplexobj": numpy.iscomplexobj,
    "isrealobj": numpy.isrealobj,
    "result_type": lambda x: numpy.result_type(x, numpy.float32),
    "common_type": lambda x: numpy.common_type(x, x),
    "can_cast": lambda x: numpy.can_cast(x.dtype, "f4"),
    "array2string": numpy.array2string,
    "broadcast": lambda x: numpy.broadcast(x, 1).shape,
    "ndenumerate": lambda x: list(numpy.ndenumerate(x)),
    "allclose": lambda x: numpy.allclose(x, x),
    "array_equal": lambda x: numpy.array_equal(x, x),
}
MADE_BY_NUMPY: dict[str, Callable[[Any], Any]] = {
    "array": numpy.array,
    "asarray": numpy.asarray,
    "asanyarray": numpy.asanyarray,
    "ascontiguousarray": numpy.ascontiguousarray,
    "asfortranarray": numpy.asfortranarray,
    "asarray_chkfinite": numpy.asarray_chkfinite,
    "require": lambda x: numpy.require(x, float, "C"),
    "float32": numpy.float32,
    "r_": lambda x: numpy.r_[numpy.atleast_1d(x)[0], x[None] if x.ndim == 0 else x.T[0]],
    "vectorize": lambda x: numpy.vectorize(abs)(x),
    "ma.masked_invalid": lambda x: numpy.ma.masked_invalid(x).filled(0),
}
STAYING: dict[str, Callable[[Any], Any]] = {
    "atleast_1d": numpy.atleast_1d,
    "atleast_2d": numpy.atleast_2d,
    "atleast_3d": numpy.atleast_3d,
    "several at once": lambda x: numpy.atleast_1d(x, 2.0)[1],
    "broadcast_arrays": lambda x: numpy.broadcast_arrays(x, 3),
    "broadcast_arrays, ours last": lambda x: numpy.broadcast_arrays(numpy.ones((2, 3)), x),
    "broadcast_to": lambda x: numpy.broadcast_to(x, (4, 2, 3)),
    "column_stack": lambda x: numpy.column_stack([x, numpy.atleast_2d(x)[0] if x.ndim == 1 else x]),
    "vstack": lambda x: numpy.vstack([x, x]),
    "hstack": lambda x: numpy.hstack([x, x]),
    "dstack": lambda x: numpy.dstack([x, x]),
    "stack": lambda x: numpy.stack([x, x], axis=-1),
    "concatenate": lambda x: numpy.concatenate([numpy.atleast_1d(x), numpy.atleast_1d(x)]),
    "meshgrid": lambda x: numpy.meshgrid(x, [1, 2]),
    "squeeze": numpy.squeeze,
    "ravel": numpy.ravel,
    "reshape": lambda x: numpy.reshape(x, (-1, 1)),
    "copy": numpy.copy,
    "full_like": lambda x: numpy.full_like(x, 2),
    "where": lambda x: numpy.where(x > 0, x, numpy.nan),
    "isfinite": numpy.isfinite,
    "nan_to_num": numpy.nan_to_num,
    "clip": lambda x: numpy.clip(x, 0, 1),
    "repeat": lambda x: numpy.repeat(x, 2),
    "array_split": lambda x: numpy.array_split(numpy.atleast_1d(x), 2),
    "percentile": lambda x: numpy.percentile(x, [25, 50]),
    "histogram": lambda x: numpy.histogram(x, bins=3),
    "cumsum": numpy.cumsum,
    "nanmin": numpy.nanmin,
    "unique": numpy.unique,
}
ASKED_OF: dict[str, Callable[[Any], Any]] = {
    "vector": lambda np_: np_.arange(3.0),
    "matrix": lambda np_: np_.arange(6.0).reshape(2, 3),
    "view": lambda np_: np_.arange(6.0).reshape(3, 2).T,
    "0-d array": lambda np_: np_.array(2.0),
    "0-d result": lambda np_: np_.arange(3.0).sum(),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("make", ASKED_OF.values(), ids=ASKED_OF)
@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_questions_that_libraries_ask_numpy(ask: Callable[[Any], Any], make: Callable[[Any], Any]) -> None:
    assert ask(make(np)) == ask(make(numpy))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("make", ASKED_OF.values(), ids=ASKED_OF)
@pytest.mark.parametrize("call", (MADE_BY_NUMPY | STAYING).values(), ids=MADE_BY_NUMPY | STAYING)
def test_arrays_that_libraries_have_numpy_make(call: Callable[[Any], Any], make: Callable[[Any], Any]) -> None:
    tested, reference = call(make(np)), call(make(numpy))
    if not isinstance(reference, (tuple, list)):
        tested, reference = [tested], [reference]
    assert len(tested) == len(reference)
    for x, expected in zip(tested, reference, strict=True):
        assert isinstance(x, np.ndarray) == (call not in MADE_BY_NUMPY.values())
        numpy.testing.assert_array_equal(numpy.asarray(x), expected, strict=True)
