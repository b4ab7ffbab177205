"""Raw kernels: what NVRTC makes of a user's text, and what the driver is asked for. The driver is a pretended one."""

from __future__ import annotations

import ctypes
import os
import pickle
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import _native
from gpunumpy.core.graph import bounded_table
from gpunumpy.core.graph.bounded_table import forget_all
from gpunumpy.core.runtime import host_copies, memory
from gpunumpy.core.runtime.device import CPU
from gpunumpy.custom import raw
from gpunumpy.kernels.cuda import user_program
from gpunumpy.kernels.cuda.nvrtc import archs
from gpunumpy.kernels.cuda.user_program import UserProgram, compile_for

from ..support import fake_driver

pytest.importorskip("cuda.bindings.nvrtc")

SCALE = r"""
extern "C" __global__ void scale(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
"""
TEMPLATE = r"""
template <typename T> __global__ void triple(T* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 3; }
"""
COMPLEX = r"""
#include <cupy/complex.cuh>
extern "C" __global__ void combine(const complex<float>* x, const complex<float>* y, complex<float>* z, float a) {
  z[threadIdx.x] = x[threadIdx.x] + a * y[threadIdx.x] + sqrt(exp(x[threadIdx.x])) / pow(y[threadIdx.x], 2.0f);
}
"""


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path / "cache"))
    forget_all()


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, cache: None) -> fake_driver.FakeDriver:
    return fake_driver.install(monkeypatch)


# --- the compiler ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arch", archs())
@pytest.mark.parametrize("text", [SCALE, COMPLEX], ids=["scale", "complex"])
def test_texts_compile_for_every_architecture(cache: None, arch: str, text: str) -> None:
    image, names = compile_for(UserProgram(text), arch)
    assert image[:4] == b"\x7fELF"
    assert names == ()


def test_names_of_templates_are_kept_on_disk_too(cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    program = UserProgram(TEMPLATE, (), ("triple<float>", "triple<double>"))
    made = compile_for(program, "sm_90")
    assert made[1] == ("_Z6tripleIfEvPT_i", "_Z6tripleIdEvPT_i")
    monkeypatch.setattr(user_program, "compiled_with_names", pytest.fail)
    assert compile_for(program, "sm_90") == made


def test_a_header_that_changes_is_compiled_anew(cache: None, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "outer.h").write_text('#include "value.h"\n')
    header = tmp_path / "inner" / "value.h"
    header.write_text("#define VALUE 1\n")
    text = '#include "inner/outer.h"\nextern "C" __global__ void f(int* x) { *x = VALUE; }'
    program = UserProgram(text, (f"-I{tmp_path}",))
    first = compile_for(program, "sm_90")
    assert compile_for(program, "sm_90") == first
    header.write_text("#define VALUE 123\n")
    os.utime(header, (1, 1))
    assert compile_for(program, "sm_90") != first


def test_options_are_the_users(cache: None) -> None:
    text = 'extern "C" __global__ void f(int* x) { *x = N; }'
    with pytest.raises(np.DeviceError, match='identifier "N" is undefined'):
        compile_for(UserProgram(text), "sm_90")
    assert compile_for(UserProgram(text, ("-DN=3",)), "sm_90")
    assert compile_for(UserProgram(text, ("-D", "N=3", "-std=c++14")), "sm_90")


def test_an_error_shows_the_users_lines(gpu: fake_driver.FakeDriver) -> None:
    kernel = np.RawKernel('extern "C" __global__ void f(float* x) {\n  x[0] = misspelt;\n}', "f")
    with pytest.raises(np.DeviceError, match=r'(?s)\(2\): error: identifier "misspelt".*2 \|   x\[0\] = misspelt;'):
        kernel((1,), (1,), (np.zeros(3, numpy.float32),))


def test_programs_of_users_are_bounded(gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each counts by its text and its code; what a kernel holds stays loaded."""
    monkeypatch.setattr(user_program, "compile_for", lambda program, *target: (b"x" * 3500, ()))
    monkeypatch.setattr(bounded_table, "MAX_ENTRIES", 110)  # ten programs, each of which counts as eleven entries
    held = user_program.load(UserProgram("text"), np.Device("cuda:0"))
    for k in range(50):
        user_program.load(UserProgram(f"text {k}"), np.Device("cuda:0"))
        assert len(gpu.modules) <= 22  # those of a new turn, and of the one before until the first of the new is loaded
    assert held.module.handle in gpu.modules


# --- launches -------------------------------------------------------------------------------------------------------


def scale(gpu: fake_driver.FakeDriver) -> Any:
    gpu.parameters["scale"] = (8, 8, 4, 4)
    return np.RawKernel(SCALE, "scale")


def run_scale(pointers: Any) -> None:
    x, y = (ctypes.c_float * 4).from_address(pointers[0][0]), (ctypes.c_float * 4).from_address(pointers[1][0])
    (a,) = struct.unpack("f", (pointers[2][0] & 0xFFFFFFFF).to_bytes(4, "little"))
    for i in range(pointers[3][0]):
        y[i] = a * x[i]


def test_pending_work_comes_first_and_what_is_written_is_seen(gpu: fake_driver.FakeDriver) -> None:
    x = np.array(numpy.arange(4, dtype=numpy.float32))
    y = np.array(numpy.zeros(4, numpy.float32))
    assert float(y[1]) == 0  # which the host knows from now on
    np.synchronize()
    gpu.work = run_scale
    scale(gpu)((1,), (4,), (x, y, numpy.float32(2.5), 4))
    gpu.work = None
    assert y.get().tolist() == [0, 2.5, 5, 7.5]
    assert float(y[3]) == 7.5


@pytest.mark.skipif(not _native.IS_COMPILED, reason="the core in Python encodes all arguments of every launch")
def test_the_core_repeats_a_launch(gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[tuple[int, ...]] = []

    def work(pointers: Any) -> None:
        found.append(tuple([pointers[k][0] for k in range(5)]))
        ctypes.c_float.from_address(pointers[0][0]).value += 1

    gpu.work = work
    gpu.parameters["f"] = (8, 8, 8, 8, 8)
    kernel = np.RawKernel('extern "C" __global__ void f(float*, float*, double, long long, long long) {}', "f")
    x, y = np.array(numpy.zeros(4, numpy.float32)), np.array(numpy.zeros(4, numpy.float32))
    given = (x, y, 0.1, -3, 1 << 62)
    kernel((1,), (4,), given)
    assert float(x[0]) == 1  # which the host knows from now on
    np.synchronize()
    with monkeypatch.context() as patch:
        patch.setattr(raw, "_encoded", None)
        kernel((1,), (4,), given)
    gpu.work = None
    assert found[0] == found[1]
    assert float(x[0]) == 2
    assert found[0][:2] == (x.data_ptr(), y.data_ptr())
    kernel((1,), (4,), (x, x + 1, 0.1, numpy.int64(1), None))  # for Python: what is pending, other widths
    with pytest.raises(OverflowError, match="beyond 64 bits"):
        kernel((1,), (4,), (x, y, 0.1, -3, 1 << 65))
    with pytest.raises(TypeError, match="takes 5 arguments; 4 were given"):
        kernel((1,), (4,), (x, y, 0.1, -3))


def test_what_was_recorded_before_is_computed_before(gpu: fake_driver.FakeDriver) -> None:
    np.set_residence("device")
    x, y = np.arange(65536, dtype=numpy.float32), np.zeros(65536, numpy.float32)
    before = x + 1  # cheaper to compute than to read
    scale(gpu)((1,), (4,), (x, y, numpy.float32(2.5), 4))
    assert before._node.data is not None


def test_arrays_stay_where_they_are_until_the_launch(gpu: fake_driver.FakeDriver) -> None:
    """While one argument moves to the GPU, the memory of another must not move away."""
    x, y = np.array(numpy.arange(4, dtype=numpy.float32)), np.array(numpy.zeros(4, numpy.float32))
    y.data_ptr()
    held: list[bool] = []
    allocate = memory.allocate_for_all_work

    def allocate_and_look(*given: Any) -> Any:
        held.append(memory.stays(y._node.data))
        return allocate(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_copies, "allocate_for_all_work", allocate_and_look)
        gpu.work = run_scale
        scale(gpu)((1,), (4,), (x, y, numpy.float32(2), 4))
        gpu.work = None
    assert held == [True]
    assert y.get().tolist() == [0, 2, 4, 6]


def test_the_launch_is_the_users(gpu: fake_driver.FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    launches: list[Any] = []
    monkeypatch.setattr(type(gpu), "_cuLaunchKernel", lambda self, function, *rest: launches.append((function, rest)))
    monkeypatch.setattr(type(gpu), "_cuLaunchKernelEx", lambda self, config, *rest: launches.append((rest[0], config)))
    x = np.array(numpy.zeros(4, numpy.float32))
    kernel = scale(gpu)
    kernel((2, 3), (4,), (x, x, numpy.float32(1), 4), shared_mem=128)
    kernel((2,), (4, 1, 2), (x, x, numpy.float32(1), 4), stream=77)
    (function, first), (_, second) = launches
    assert function[1] == b"scale"
    assert (first.gridDimX, first.gridDimY, first.gridDimZ) == (2, 3, 1)
    assert (first.blockDimX, first.blockDimY, first.blockDimZ, first.sharedMemBytes) == (4, 1, 1, 128)
    assert not first.numAttrs, "a kernel that is not known to wait is not started early"
    assert second[:7] == (2, 1, 1, 4, 1, 2, 0)
    assert int(second[7]) == 77
    assert gpu.calls.count("cuStreamWaitEvent") == 2  # the stream for what was queued, and later work for the stream


def test_scalars_have_their_bytes(gpu: fake_driver.FakeDriver) -> None:
    gpu.parameters["f"] = (8, 8, 16, 1, 2, 12, 8)
    found: list[bytes] = []

    def work(pointers: Any) -> None:
        for k, size in enumerate(gpu.parameters["f"]):
            found.append(ctypes.string_at(ctypes.addressof(pointers[k].contents), size))

    gpu.work = work
    triple = numpy.zeros(1, numpy.dtype([("x", "f4"), ("y", "f4"), ("z", "i4")]))
    triple["x"], triple["z"] = 1.5, -7
    kernel = np.RawKernel('struct C { double x, y; }; extern "C" __global__ void f(long long, double, C) {}', "f")
    kernel((1,), (1,), (-3, 0.1, 1 + 2j, True, numpy.int16(-2), triple, None))
    assert found == [
        (-3).to_bytes(8, "little", signed=True),
        struct.pack("d", 0.1),
        struct.pack("dd", 1, 2),
        b"\1",
        b"\xfe\xff",
        triple.tobytes(),
        bytes(8),
    ]


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ((1, 2), TypeError, "takes 4 arguments; 2 were given"),
        ((0, 0, 2.5, 4), TypeError, "argument 2 of the kernel scale has 4 bytes; a float of 8 bytes was given"),
        ((0, numpy.int32(0), numpy.float32(1), 4), TypeError, "argument 1 .* has 8 bytes; a int32 of 4"),
        ((0, 0, numpy.float32(1), "4"), TypeError, "not 'str'"),
        ((0, 0, numpy.float32(1), numpy.zeros(2)), TypeError, r"if it has one element; asarray\(x\)"),
        ((0, 0, numpy.float32(1), 1 << 70), OverflowError, "beyond 64 bits"),
    ],
)
def test_wrong_arguments(gpu: fake_driver.FakeDriver, args: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        scale(gpu)((1,), (1,), args)
    assert not gpu.launched


@pytest.mark.parametrize("sizes", [(), (0,), (1, 2, 3, 4), (-1,)])
def test_wrong_grids(gpu: fake_driver.FakeDriver, sizes: Any) -> None:
    with pytest.raises(ValueError, match="one to three sizes"):
        scale(gpu)(sizes, (1,), (0, 0, numpy.float32(1), 4))


def test_arrays_of_two_devices(gpu: fake_driver.FakeDriver) -> None:
    x = np.zeros(3, numpy.float32)
    with CPU:
        y = np.zeros(3, numpy.float32)
    with pytest.raises(ValueError, match="two devices, cuda:0 and cpu"):
        scale(gpu)((1,), (1,), (x, y, numpy.float32(1), 3))
    with pytest.raises(ValueError, match="two devices, cpu and cuda:0"):
        np.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")(x, y)
    with pytest.raises(ValueError, match="two devices, cpu and cuda:0"):
        np.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot")(x, y)


@pytest.mark.parametrize(
    "given",
    [
        SimpleNamespace(cuda_stream=77, device=SimpleNamespace(type="cuda", index=1)),  # torch's
        SimpleNamespace(ptr=77, device_id=1),  # CuPy's
        SimpleNamespace(__cuda_stream__=lambda: (0, 77), device=SimpleNamespace(device_id=1)),  # cuda.core's
    ],
    ids=["torch", "CuPy", "cuda.core"],
)
def test_a_stream_of_another_device(gpu: fake_driver.FakeDriver, given: Any) -> None:
    x = np.zeros(3, numpy.float32)
    with pytest.raises(ValueError, match="a stream of cuda:1 is given for work of cuda:0"):
        scale(gpu)((1,), (1,), (x, x, numpy.float32(1), 3), stream=given)
    with pytest.raises(ValueError, match="a stream of cuda:1"):
        np.ElementwiseKernel("T x", "T y", "y = x", "same")(x, stream=given)
    with pytest.raises(ValueError, match="a stream of cuda:1"):
        np.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")(x, stream=given)
    with pytest.raises(ValueError, match="a stream of cuda:1"):
        x.get(given)
    assert not gpu.launched


def test_memory_is_kept_until_a_kernel_on_another_stream_is_done(gpu: fake_driver.FakeDriver) -> None:
    """It is given back on the stream of the device, which waits for the other one."""
    x = np.array(numpy.zeros(65536, numpy.float32))
    kernel = scale(gpu)
    kernel((1,), (4,), (x, x, numpy.float32(1), 4), stream=77)
    last = len(gpu.calls) - gpu.calls[::-1].index("cuStreamWaitEvent")
    assert not {"cuMemFreeAsync", "cuMemFree"} & set(gpu.calls[:last])
    assert {"cuLaunchKernel", "cuLaunchKernelEx"} & set(gpu.calls[:last])


def test_there_is_none_on_the_cpu() -> None:
    with CPU, pytest.raises(np.DeviceError, match=r"to_device\('cuda'\), or write an ElementwiseKernel"):
        np.RawKernel(SCALE, "scale")((1,), (1,), (np.zeros(3), np.zeros(3), 1, 3))


# --- programs and attributes ----------------------------------------------------------------------------------------


def test_constants_are_written_as_arrays(gpu: fake_driver.FakeDriver) -> None:
    gpu.globals["factors"] = memory = (ctypes.c_float * 4)()
    module = np.RawModule(code='extern "C" { __constant__ float factors[4]; __global__ void f() {} }')
    pointer = module.get_global("factors")
    assert (pointer.size, pointer.ptr) == (16, ctypes.addressof(memory))
    factors = np.ndarray((4,), numpy.float32, pointer)
    assert factors.data_ptr() == pointer.ptr
    with pytest.raises(np.DeviceError, match="no variable 'other'"):
        module.get_global("other")


def test_kernels_of_a_module_are_found_by_expressions(gpu: fake_driver.FakeDriver) -> None:
    module = np.RawModule(code=TEMPLATE, name_expressions=["triple<float>", "triple<double>"])
    kernel = module.get_function("triple<double>")
    kernel((1,), (8,), (np.zeros(8), 8))
    assert gpu.launched[-1][1] == b"_Z6tripleIdEvPT_i"
    assert kernel.name == "triple<double>"


def test_a_module_of_machine_code(gpu: fake_driver.FakeDriver, tmp_path: Path) -> None:
    path = tmp_path / "scale.cubin"
    path.write_bytes(compile_for(UserProgram(SCALE), "sm_90")[0])
    np.RawModule(path=str(path)).get_function("scale")((1,), (1,), (0, 0, numpy.float32(1), 4))
    assert gpu.launched[0][1] == b"scale"
    with pytest.raises(np.DeviceError, match="cannot be read"):
        np.RawModule(path=str(tmp_path / "none")).get_function("scale")


def test_attributes(gpu: fake_driver.FakeDriver) -> None:
    gpu.attributes["CU_FUNC_ATTRIBUTE_NUM_REGS"] = 18
    kernel = scale(gpu)
    assert kernel.num_regs == kernel.attributes["num_regs"] == 18
    kernel.max_dynamic_shared_size_bytes = 50_000
    assert kernel.attributes["max_dynamic_shared_size_bytes"] == 50_000
    with pytest.raises(AttributeError):
        kernel.num_regs = 3


def test_pickles(gpu: fake_driver.FakeDriver) -> None:
    kernel = scale(gpu)
    kernel.compile()
    copy = pickle.loads(pickle.dumps(kernel))
    copy((1,), (1,), (0, 0, numpy.float32(1), 4))
    assert (copy.name, copy.code, copy.options) == ("scale", SCALE, ())


@pytest.mark.parametrize(
    ("given", "error"),
    [({}, TypeError), ({"code": "", "path": ""}, TypeError), ({"code": "", "backend": "nvcc"}, ValueError)]
    + [({"code": "", "jitify": True}, ValueError), ({"path": "", "name_expressions": ["f"]}, ValueError)],
)
def test_wrong_modules(given: Any, error: Any) -> None:
    with pytest.raises(error):
        np.RawModule(**given)


def test_a_program_is_loaded_once(gpu: fake_driver.FakeDriver) -> None:
    for _ in range(3):
        scale(gpu)((1,), (1,), (0, 0, numpy.float32(1), 4))
    assert len(gpu.modules) == 1


@pytest.mark.parametrize("options", [(), ("-DMORE=1",)], ids=["plain", "options"])
def test_an_output_of_a_loop_is_written_in_place_in_one_launch(
    gpu: fake_driver.FakeDriver, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUNUMPY_TIER", "compiled")
    residence = np.set_residence("device")
    try:
        x, y = np.array(numpy.arange(4.0)), np.array(numpy.arange(4.0))
        kernel = np.ElementwiseKernel("T x", "raw T y", "y[i] += x", "added", options=options)
        kernel(x, y)
        np.synchronize()
        found: list[tuple[int, int]] = []

        def work(pointers: Any) -> None:
            found.append((pointers[0][0], pointers[1][0]))
            target, given = ((ctypes.c_double * 4).from_address(address) for address in found[-1])
            for i in range(4):
                target[i] += given[i]

        gpu.work, memory_of_y = work, y._node.data
        before = y.get()
        # A helper thread takes what is more than one launch.
        monkeypatch.setattr("gpunumpy.core.runtime.plan.Job", None)
        for _ in range(3):
            kernel(x, y)
            np.synchronize()
        gpu.work = None
        assert found == [(y._node.data.ptr, x._node.data.ptr)] * 3
        assert y._node.data is memory_of_y
        assert y.get().tolist() == (before + 3 * numpy.arange(4.0)).tolist()
    finally:
        np.set_residence(residence)
