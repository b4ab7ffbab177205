"""Memory, copies, launches and errors on a real GPU."""

from __future__ import annotations

import gc
import threading

import numpy
import pytest

from gpunumpy.core.errors import DeviceError
from gpunumpy.core.runtime import memory
from gpunumpy.core.runtime.device import CPU, Device, default_device, devices, synchronize, why_no_gpu
from gpunumpy.core.runtime.memory_copy import CHUNK_BYTES, MAX_CHUNKS, copy, copy_from_host, copy_to_host
from gpunumpy.kernels.codegen.program import Launch
from gpunumpy.kernels.cuda.compile import compile_program
from gpunumpy.kernels.cuda.launch import Launcher

pytestmark = pytest.mark.gpu

PROGRAM = """
extern "C" __global__ void scale(float* a, double s, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) a[i] *= (float)s;
}
extern "C" __global__ void fail(int* word, long long source_location) { *word = (int)source_location; }
extern "C" __global__ void count(unsigned long long* counter, unsigned long long* out, long long source_location) {
    extern __shared__ char space[];
    space[threadIdx.x] = 1;
    if (atomicAdd(counter, 1ull) == gridDim.x * (unsigned long long)blockDim.x - 1) { *out = *counter; *counter = 0; }
}
extern "C" __global__ void nothing() {}
"""


@pytest.fixture
def gpu() -> Device:
    return Device("cuda")


def function(device: Device, name: str) -> object:
    return compile_program(PROGRAM, (name,), device)[name]


def test_the_gpu_is_the_default(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    assert why_no_gpu() is None
    monkeypatch.delenv("GPUNUMPY_DEVICE", raising=False)
    monkeypatch.setattr("gpunumpy.core.runtime.device._default", None)
    assert default_device() is gpu


def test_what_a_gpu_is(gpu: Device) -> None:
    found = gpu.attributes
    assert found.name
    assert found.arch == f"sm_{found.capability[0]}{found.capability[1]}"
    assert found.multiprocessors > 0
    assert found.threads_per_multiprocessor >= 1024
    assert found.shared_per_block >= 48 << 10
    assert found.total_memory > 1 << 28
    assert gpu.stream is gpu.stream


def test_threads_share_one_stream() -> None:
    streams: list[int] = []

    def look() -> None:
        for device in devices()[:-1]:
            device.activate()
            streams.append(int(device.stream))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(streams)) == len(devices()) - 1


def test_a_dropped_block_is_used_again(gpu: Device) -> None:
    buffer = memory.allocate(gpu, 5000)
    ptr = buffer.ptr
    assert ptr % 256 == 0
    assert buffer.host is None
    del buffer
    assert memory.allocate(gpu, 5001).ptr == ptr


def test_memory_goes_back_to_the_system(gpu: Device) -> None:
    gc.collect()
    memory.free_all_blocks(gpu)
    before = memory.memory_info(gpu)
    buffers = [memory.allocate(gpu, 1 << 26) for _ in range(4)]
    assert memory.memory_info(gpu).used == before.used + (4 << 26)
    del buffers
    info = memory.memory_info(gpu)
    assert (info.used, info.cached) == (before.used, 4 << 26)
    memory.free_all_blocks(gpu)
    after = memory.memory_info(gpu)
    assert after.cached == 0
    assert after.free is not None
    assert before.free is not None
    assert after.free >= before.free - (1 << 26)


def test_large_blocks_of_another_size_do_not_pile_up(gpu: Device) -> None:
    room = memory.pool_of(gpu).cache_limit
    for n in range(20):  # twice the room, together
        memory.allocate(gpu, room // 16 + n * (room >> 8))
    assert memory.memory_info(gpu).cached <= room


def test_out_of_memory(gpu: Device) -> None:
    kept = memory.allocate(gpu, 1 << 20)
    copy_from_host(kept, 0, numpy.full(1 << 20, 7, numpy.uint8))
    words = r"cuda:0: asked for [\d,]+ bytes; gpunumpy uses [\d,]+; [\d,]+ of the device's [\d,]+ are free"
    with pytest.raises(MemoryError, match=words):
        memory.allocate(gpu, 1 << 50)
    assert (copy_to_host(kept, 0, 1 << 20) == 7).all()


def test_short_memory_runs_the_hooks(gpu: Device) -> None:
    kept = [memory.allocate(gpu, 1 << 24)]
    memory.set_memory_limit(memory.memory_info(gpu).used, gpu)
    hook = lambda device: kept.clear()  # noqa: E731
    memory.out_of_memory_hooks.append(hook)
    try:
        assert memory.allocate(gpu, 1 << 24).nbytes == 1 << 24
        assert not kept
    finally:
        memory.out_of_memory_hooks.remove(hook)
        memory.set_memory_limit(None, gpu)


@pytest.mark.parametrize(
    "nbytes",
    [0, 1, 1000, 65536, 65537, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES + 5, (MAX_CHUNKS + 3) * CHUNK_BYTES],
)
def test_copies_there_and_back(gpu: Device, nbytes: int) -> None:
    given = numpy.random.default_rng(nbytes).integers(0, 256, nbytes, numpy.uint8)
    source = given.copy()
    buffer = memory.allocate(gpu, nbytes + 3)
    copy_from_host(buffer, 3, source)
    source[:] = 0  # it has been read
    assert numpy.array_equal(copy_to_host(buffer, 3, nbytes), given)


def test_copies_between_all_devices() -> None:
    given = numpy.random.default_rng(0).integers(0, 256, 300_001, numpy.uint8)
    for source in devices():
        start = memory.allocate(source, given.size + 1)
        copy_from_host(start, 1, given)
        for target in devices():
            end = memory.allocate(target, given.size + 2)
            copy(end, 2, start, 1, given.size)
            assert numpy.array_equal(copy_to_host(end, 2, given.size), given), (source, target)


def test_pinned_memory_is_read_in_place(gpu: Device) -> None:
    source = memory.pinned(1 << 20, gpu)
    source[:] = 9
    buffer = memory.allocate(gpu, 1 << 20)
    copy_from_host(buffer, 0, source, borrow=True)
    synchronize(gpu)
    assert (copy_to_host(buffer, 0, 1 << 20) == 9).all()
    view = source[5:10].view()
    del source
    gc.collect()
    assert (view == 9).all()


def test_a_launch(gpu: Device) -> None:
    given = numpy.arange(1000, dtype=numpy.float32)
    buffer = memory.allocate(gpu, given.nbytes)
    copy_from_host(buffer, 0, given)
    run = Launcher(gpu, function(gpu, "scale"), Launch("scale", (4, 1, 1), (256, 1, 1)), "Qd", (1000,))
    run((buffer.ptr, 2.5))
    run((buffer.ptr, 3.0))
    expected = given * numpy.float32(2.5) * numpy.float32(3)
    assert numpy.array_equal(copy_to_host(buffer, 0, given.nbytes).view(numpy.float32), expected)


def test_a_launch_without_arguments(gpu: Device) -> None:
    Launcher(gpu, function(gpu, "nothing"), Launch("nothing", (1, 1, 1), (1, 1, 1)), "")(())
    synchronize(gpu)


def test_launches_from_threads(gpu: Device) -> None:
    run = Launcher(gpu, function(gpu, "scale"), Launch("scale", (1, 1, 1), (32, 1, 1)), "Qdq")
    results: dict[int, numpy.ndarray] = {}

    def work(n: int) -> None:
        buffer = memory.allocate(gpu, 128)
        copy_from_host(buffer, 0, numpy.full(32, n + 1, numpy.float32))
        for _ in range(50):
            run((buffer.ptr, 2.0, 32))
            run((buffer.ptr, 0.5, 32))
        run((buffer.ptr, float(n), 32))
        results[n] = copy_to_host(buffer, 0, 128).view(numpy.float32)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n in range(8):
        assert (results[n] == n * (n + 1)).all()


def test_much_shared_memory_and_counters(gpu: Device) -> None:
    counter, out = memory.zeroed_scratch(gpu, 8), memory.allocate(gpu, 8)
    run = Launcher(
        gpu, function(gpu, "count"), Launch("count", (10, 1, 1), (64, 1, 1), gpu.attributes.shared_per_block), "QQq"
    )
    for _ in range(3):
        run((counter.ptr, out.ptr, 0))
        assert copy_to_host(out, 0, 8).view(numpy.uint64)[0] == 640
    assert not copy_to_host(counter, 0, counter.nbytes).any()


def test_the_index_error_word(gpu: Device) -> None:
    assert memory.take_index_error(gpu) == 0
    Launcher(gpu, function(gpu, "fail"), Launch("fail", (1, 1, 1), (1, 1, 1)), "Qq")((memory.index_error_word(gpu), 41))
    synchronize(gpu)
    assert memory.take_index_error(gpu) == 41
    assert memory.take_index_error(gpu) == 0


def test_what_a_launch_refuses(gpu: Device) -> None:
    with pytest.raises(ValueError, match="8 bytes wide"):
        Launcher(gpu, function(gpu, "scale"), Launch("scale", (1, 1, 1), (1, 1, 1)), "Qi")
    most = gpu.attributes.shared_per_block
    with pytest.raises(DeviceError, match=f"asks for {most + 1} bytes of shared memory; cuda:0 has {most}"):
        Launcher(gpu, function(gpu, "scale"), Launch("scale", (1, 1, 1), (1, 1, 1), most + 1), "Qdq")
    with pytest.raises(DeviceError, match=r"cannot be launched on cuda:0: CUDA_ERROR_INVALID_VALUE"):
        Launcher(gpu, function(gpu, "nothing"), Launch("nothing", (1, 1, 1), (4096, 1, 1)), "")(())
    with pytest.raises(DeviceError, match="CUDA_ERROR_NOT_FOUND"):
        compile_program(PROGRAM, ("missing",), gpu)


def test_a_buffer_that_another_stream_uses(gpu: Device) -> None:
    from cuda.bindings import driver

    gpu.activate()
    stream = driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING.value)[1]
    memory.free_all_blocks(gpu)
    buffer = memory.allocate(gpu, 4096)
    ptr = buffer.ptr
    driver.cuMemsetD8Async(ptr, 5, 4096, stream)
    buffer.mark_used_by_other_stream()
    del buffer
    again = memory.allocate(gpu, 4096)
    copy_from_host(again, 0, numpy.full(4096, 6, numpy.uint8))
    assert again.ptr == ptr
    assert (copy_to_host(again, 0, 4096) == 6).all()
    driver.cuStreamDestroy(stream)


def test_the_cpu_device_works_beside_it(gpu: Device) -> None:
    with CPU:
        assert default_device() is CPU
        assert memory.allocate(default_device(), 10).host is not None
    synchronize(gpu)
