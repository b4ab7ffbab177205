"""What a kernel must not do is an error that says what and where, and never a crash or a hang.

Places out of bounds lie within the guard of 1 MiB on either side of a buffer: farther away there may be other memory,
which a test must not write.
"""

from __future__ import annotations

import numpy
import pytest

from tests.emulator import CompileError, EmulatorError, available
from tests.emulator.hand_written import run_text

pytestmark = pytest.mark.skipif(not available(), reason="the emulator needs g++")


def kernel(body: str, parameters: str = "int* out") -> str:
    return f'extern "C" __global__ void k({parameters}) {{ {body} }}'


def test_threads_that_exited_do_not_count_at_a_barrier() -> None:
    text = kernel("int i = threadIdx.x; if (i >= 10) return; __syncthreads(); out[i] = __syncthreads_and(i < 10);")
    out = numpy.zeros(64, numpy.int32)
    run_text(text, out, block=(64,))
    assert out.tolist() == [1] * 10 + [0] * 54


def test_different_barriers() -> None:
    text = kernel("if (threadIdx.x < 32) {\n __syncthreads();\n } else {\n __syncthreads();\n } out[0] = 1;")
    with pytest.raises(EmulatorError, match=r"different barriers: \(0, 0, 0\) at line 2, \(32, 0, 0\) at line 4"):
        run_text(text, numpy.zeros(1, numpy.int32), block=(64,))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("if (threadIdx.x < 4) __syncwarp(); else __syncthreads();", "of which 0xfffffff0 never come"),
        (
            "if (threadIdx.x < 3) __syncwarp(threadIdx.x ? 7 : 3);",
            "at line 1 for lanes 0x3 of its warp, of which 0x2 never",
        ),
        ("if (threadIdx.x < 4) out[0] = __shfl_sync(0xf0u, 1, 0);", "mask 0xf0, which leaves it out"),
        ("if (threadIdx.x == 3) __trap();", "called __trap"),
        ("assert(threadIdx.x != 5);", "assertion failed at line 1"),
    ],
)
def test_deadlocks_and_traps(body: str, message: str) -> None:
    with pytest.raises(EmulatorError, match=message):
        run_text(kernel(body), numpy.zeros(1, numpy.int32))


@pytest.mark.parametrize("sync", ["", "__syncthreads();"])
def test_a_kernel_that_never_ends(sync: str) -> None:
    text = kernel(f"volatile int* flag = out; {sync} while (*flag == 0); ")
    with pytest.raises(EmulatorError, match=r"thread \(\d+, 0, 0\) of block \(0, 0, 0\) has not ended"):
        run_text(text, numpy.zeros(1, numpy.int32), timeout=0.1)


@pytest.mark.parametrize("at", [8, 7, 9, -1, -2, 4000, -4000, 10**5])
@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("sync", ["", "__syncthreads();"])
def test_out_of_bounds(at: int, write: bool, sync: str) -> None:
    access = "a[at] = 5" if write else "*(volatile int*)(a + at)"
    text = kernel(f"{sync} {access};", "int* a, long long at")
    a = numpy.arange(8, dtype=numpy.int32)
    if at == 7:
        run_text(text, a, block=(1,), params=(at,))
        assert a[7] == (5 if write else 7)
    elif -1000 < at < 0 and not write:
        run_text(text, a, block=(1,), params=(at,))  # a read just before the start is not seen
    else:
        with pytest.raises(EmulatorError, match=r"out of bounds|not its own"):
            run_text(text, a, block=(1,), params=(at,))
        assert a.tolist() == list(range(8))


@pytest.mark.parametrize("size", [5, 6, 7])
def test_a_write_just_past_an_odd_end(size: int) -> None:
    out = numpy.zeros(size, numpy.int8)
    with pytest.raises(EmulatorError, match=f"of {size} bytes, a write 1 bytes past its end"):
        run_text(kernel("out[n] = 1;", "char* out, long long n"), out, block=(1,), params=(size,))


def test_a_vector_load_past_the_end() -> None:
    text = kernel("float4 v = *(const float4*)(a + 4); out[0] = v.x + v.w;", "const float* a, float* out")
    a, out = numpy.ones(8, numpy.float32), numpy.zeros(1, numpy.float32)
    run_text(text, a, out, block=(1,))
    assert out[0] == 2
    with pytest.raises(EmulatorError, match="misaligned"):
        run_text(text, a[1:], out, block=(1,))
    with pytest.raises(EmulatorError, match="not its own"):
        run_text(text, a[4:], out, block=(1,))


def test_read_only_arrays_stay_so() -> None:
    a = numpy.zeros(3, numpy.int32)
    a.flags.writeable = False
    with pytest.raises(EmulatorError, match="not its own"):
        run_text(kernel("out[0] = 1;"), a, block=(1,))


def test_arrays_that_share_memory_are_one_buffer() -> None:
    text = kernel("b[0] = a[1] + 1; b[1] = a[0];", "const int* a, int* b")
    a = numpy.array([1, 2, 3, 4], numpy.int32)
    run_text(text, a[:2], a[1:], block=(1,))
    assert a.tolist() == [1, 3, 1, 4]


@pytest.mark.parametrize("guard", [False, True])
def test_with_and_without_guard(guard: bool) -> None:
    out = numpy.zeros(3, numpy.int32)
    run_text(kernel("out[0] = 1;"), out[1:], block=(1,), guard=guard)
    assert out.tolist() == [0, 1, 0]


def test_static_and_dynamic_shared_memory_have_ends() -> None:
    one = numpy.ones(1, numpy.int32)
    with pytest.raises(EmulatorError, match="out of its bounds"):
        run_text(kernel("__shared__ int s[32]; s[threadIdx.x + out[0]] = 1; __syncthreads();"), one)
    text = kernel("extern __shared__ int s[]; s[threadIdx.x + 1] = 1; __syncthreads();")
    with pytest.raises(EmulatorError, match="wrote byte 128 of its 128 bytes of dynamic shared memory"):
        run_text(text, one, shared=128)


def test_a_stack_that_is_too_small() -> None:
    text = """
    __device__ __noinline__ int deep(int n) {
        volatile int wide[500];
        for (int i = 0; i < 500; ++i) wide[i] = n;  // all of it, so that the end of the stack is written over
        return n ? deep(n - 1) + wide[n % 500] : 0;
    }
    extern "C" __global__ void k(int* out) { out[0] = deep(out[0]); __syncthreads(); }
    """
    out = numpy.full(1, 5, numpy.int32)
    run_text(text, out, block=(2,))
    with pytest.raises(EmulatorError, match=r"bytes of stack|not its own"):
        run_text(text, numpy.full(1, 33, numpy.int32), block=(2,))


def test_integer_division_by_zero_is_reported() -> None:
    with pytest.raises(EmulatorError, match="divided an integer by zero"):
        run_text(kernel("out[0] = 5 / out[0];"), numpy.zeros(1, numpy.int32), block=(1,))


def test_the_machine_works_after_a_fault() -> None:
    for _ in range(3):
        with pytest.raises(EmulatorError):
            run_text(kernel("out[1 << 17] = 1; __syncthreads();"), numpy.zeros(1, numpy.int32))
        out = numpy.zeros(32, numpy.int32)
        run_text(kernel("__syncthreads(); out[threadIdx.x] = threadIdx.x;"), out)
        assert out.tolist() == list(range(32))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"block": (1025,)}, "1 to 1024 threads"),
        ({"grid": (0,)}, "at least 1"),
        ({"grid": (1, 65536)}, "at most"),
        ({"shared": 300_000}, "dynamic shared memory"),
    ],
)
def test_sizes_that_no_device_takes(sizes: dict[str, object], message: str) -> None:
    with pytest.raises(EmulatorError, match=message):
        run_text(kernel("out[0] = 1;"), numpy.zeros(1, numpy.int32), **sizes)


def test_text_that_does_not_compile() -> None:
    with pytest.raises(CompileError, match=r"kernel.cu:2:.*undeclared_name"):
        run_text(kernel("\n out[0] = undeclared_name;"), numpy.zeros(1, numpy.int32))
    with pytest.raises(CompileError, match="8 bytes wide"):
        run_text(kernel("", "int a"), params=(1,))
