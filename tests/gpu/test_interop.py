"""Memory shared with other libraries on a real GPU: pointers, strides, the order of streams."""

from __future__ import annotations

import gc
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.dtypes import DTYPES, bfloat16
from gpunumpy.core.runtime.device import CPU, Device, check, driver

from ..support.arrays import from_dlpack, from_host, from_interface, to_host

pytestmark = pytest.mark.gpu


@pytest.fixture
def gpu() -> Device:
    return Device("cuda")


def counting_array(gpu: Device, shape: tuple[int, ...] = (3, 4), dtype: Any = numpy.float32) -> Any:
    return from_host(numpy.arange(int(numpy.prod(shape))).astype(dtype).reshape(shape), gpu)


class Exporter:
    """Another library's array, with DLPack alone."""

    def __init__(self, x: Any) -> None:
        self._x = x

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._x.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        return self._x.__dlpack__(**options)


class Window:
    """Another library's array, with the CUDA array interface alone."""

    def __init__(self, x: Any) -> None:
        self.kept = x
        self.__cuda_array_interface__ = x.__cuda_array_interface__


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_round_trip_by_dlpack_keeps_the_memory(gpu: Device, dtype: Any) -> None:
    x = counting_array(gpu, dtype=dtype)
    y = from_dlpack(Exporter(x))
    assert (y.dtype, y.shape, y.device) == (dtype, x.shape, gpu)
    assert y.data_ptr() == x.data_ptr()
    numpy.testing.assert_array_equal(to_host(y), to_host(x))


def test_strided_round_trips(gpu: Device) -> None:
    x = counting_array(gpu, (5, 6))[1:, ::2]
    for y in (from_dlpack(Exporter(x)), from_interface(Window(x))):
        assert y.data_ptr() == x.data_ptr()
        assert y.strides == x.strides
        y += 1.0
    numpy.testing.assert_array_equal(to_host(x), numpy.arange(30).reshape(5, 6)[1:, ::2] + 2)


def test_backward_round_trips(gpu: Device) -> None:
    x = counting_array(gpu, (5, 6))[::-1, ::2]
    with pytest.raises(BufferError, match="negative stride"):
        from_dlpack(Exporter(x))
    y = from_interface(Window(x))
    assert (y.data_ptr(), y.strides) == (x.data_ptr(), x.strides)
    y += 1.0
    numpy.testing.assert_array_equal(to_host(x), numpy.arange(30).reshape(5, 6)[::-1, ::2] + 1)


def test_the_interface(gpu: Device) -> None:
    x = counting_array(gpu)
    found = x.__cuda_array_interface__
    assert found["version"] == 3
    assert found["data"] == (x.data_ptr(), False)
    assert found["typestr"] == "<f4"
    assert found["strides"] is None
    assert found["stream"] == int(gpu.stream)
    assert np.asarray(Window(x)).data_ptr() == x.data_ptr()
    assert not hasattr(from_host(numpy.ones(2, bfloat16), gpu), "__cuda_array_interface__")


def test_a_consumers_stream_waits_for_ours(gpu: Device) -> None:
    cuda = driver()
    gpu.activate()
    stream = check(cuda.cuStreamCreate(cuda.CUstream_flags.CU_STREAM_NON_BLOCKING.value))
    big = counting_array(gpu, (1 << 24,))
    for _ in range(20):
        big = np.sqrt(big + 1.0)
        big.data_ptr()
    capsule = big.__dlpack__(stream=int(stream), max_version=(1, 0))
    host = numpy.empty(4, numpy.float32)
    check(cuda.cuMemcpyDtoHAsync(host.ctypes.data, big.data_ptr(), host.nbytes, stream))
    check(cuda.cuStreamSynchronize(stream))
    numpy.testing.assert_array_equal(host, to_host(big)[:4])
    del capsule, big
    gc.collect()
    counting_array(gpu, (1 << 24,)).data_ptr()
    check(cuda.cuStreamDestroy(stream))


def test_to_the_host_by_dlpack(gpu: Device) -> None:
    x = counting_array(gpu)
    n = numpy.from_dlpack(x, device="cpu")
    numpy.testing.assert_array_equal(n, to_host(x))
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    back = from_dlpack(n, device=gpu)
    assert back.device is gpu
    assert from_dlpack(x, device="cpu").device is CPU
    with pytest.raises(ValueError, match="stream"):
        x.__dlpack__(stream=0)


def test_numpy_functions_stay_on_the_gpu(gpu: Device) -> None:
    assert numpy.sin(counting_array(gpu)).device is gpu
    assert (numpy.float32(2) * counting_array(gpu)).device is gpu


def test_torch(gpu: Device) -> None:
    torch = pytest.importorskip("torch")
    x = counting_array(gpu)
    t = torch.from_dlpack(x)
    assert t.data_ptr() == x.data_ptr()
    t += 1
    numpy.testing.assert_array_equal(to_host(x), numpy.arange(12).reshape(3, 4) + 1)
    y = from_dlpack(t.T)
    assert y.data_ptr() == x.data_ptr()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        u = torch.ones(1 << 24, device="cuda")
        for _ in range(20):
            u = u + 1
        z = from_dlpack(u)
    assert float(to_host(z)[-1]) == 21.0
    assert np.asarray(u).data_ptr() == u.data_ptr()
    with pytest.raises(RuntimeError, match="shape"):
        torch.from_dlpack(x).reshape(7)


def test_cupy(gpu: Device) -> None:
    cupy = pytest.importorskip("cupy")
    x = counting_array(gpu)
    assert cupy.from_dlpack(x).data.ptr == x.data_ptr()
    assert cupy.asarray(x).data.ptr == x.data_ptr()
    c = cupy.arange(12.0).reshape(3, 4)[:, ::2]
    assert from_dlpack(c).data_ptr() == c.data.ptr
    assert np.asarray(c).data_ptr() == c.data.ptr


def test_jax(gpu: Device) -> None:
    numpy_of_jax = pytest.importorskip("jax.numpy")
    dlpack = pytest.importorskip("jax.dlpack")
    x = counting_array(gpu)
    j = dlpack.from_dlpack(x)
    assert j.unsafe_buffer_pointer() == x.data_ptr()
    y = from_dlpack(numpy_of_jax.arange(5.0))
    numpy.testing.assert_array_equal(to_host(y), numpy.arange(5.0))


def test_numba(gpu: Device) -> None:
    cuda = pytest.importorskip("numba.cuda")
    x = counting_array(gpu)
    d = cuda.as_cuda_array(x)
    assert d.device_ctypes_pointer.value == x.data_ptr()
    assert np.asarray(d).data_ptr() == x.data_ptr()
