"""Threads that work together: barriers, shuffles, votes, shared memory, atomics, the order of blocks."""

from __future__ import annotations

import numpy
import pytest

from tests.emulator import EmulatorError, available
from tests.emulator.hand_written import Zeroed, run_text

pytestmark = pytest.mark.skipif(not available(), reason="the emulator needs g++")

ORDERS = pytest.mark.parametrize("seed", [0, 1, 2])

SUM = """
extern "C" __global__ void __launch_bounds__(256) sum(const float* __restrict__ a, float* __restrict__ out,
                                                      float* partial, unsigned int* arrived, long long n) {
    __shared__ float warps[8];
    __shared__ bool last;
    float s = 0;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        s += a[i];
    #pragma unroll
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = threadIdx.x < 8 ? warps[threadIdx.x] : 0.0f;
        for (int d = 4; d; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
        if (threadIdx.x == 0) {
            partial[blockIdx.x] = s;
            __threadfence();
            last = atomicAdd(arrived, 1u) == gridDim.x - 1;
        }
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        volatile float* p = partial;
        float total = 0;
        for (int b = 0; b < (int)gridDim.x; ++b) total += p[b];
        *out = total;
        *arrived = 0;
    }
}
"""


@ORDERS
@pytest.mark.parametrize("n", [1, 255, 256, 10_007])
def test_reduction_finished_by_the_last_block(seed: int, n: int) -> None:
    a = numpy.random.default_rng(n).integers(-50, 50, n).astype(numpy.float32)  # integers: the order does not matter
    out = numpy.full(1, numpy.nan, numpy.float32)
    scratch = (Zeroed(4 * 6, zeroed=False), Zeroed(4))
    run_text(SUM, a, out, grid=(6,), block=(256,), scratch=scratch, params=(n,), seed=seed)
    assert out[0] == a.sum()


def test_scratch_left_dirty_is_an_error() -> None:
    text = SUM.replace("*arrived = 0;", "")
    a, out = numpy.ones(10, numpy.float32), numpy.empty(1, numpy.float32)
    scratch = (Zeroed(4 * 6, zeroed=False), Zeroed(4))
    with pytest.raises(EmulatorError, match="scratch 1 must be left zero"):
        run_text(text, a, out, grid=(6,), block=(256,), scratch=scratch, params=(10,))


WARP_SCAN = """
template <class T> __device__ __forceinline__ T scan(T v) {
    for (int d = 1; d < 32; d *= 2) {
        T other = __shfl_up_sync(0xffffffffu, v, d);
        if (threadIdx.x % 32 >= d) v += other;
    }
    return v;
}
extern "C" __global__ void k(const TYPE* a, TYPE* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = scan(a[i]);
}
"""


@ORDERS
@pytest.mark.parametrize(
    ("c_type", "dtype"),
    [
        ("int", "i4"),
        ("unsigned int", "u4"),
        ("long long", "i8"),
        ("unsigned long long", "u8"),
        ("float", "f4"),
        ("double", "f8"),
    ],
)
def test_shuffles_of_every_type(seed: int, c_type: str, dtype: str) -> None:
    a = numpy.random.default_rng(7).integers(0, 2**18, (4, 32)).astype(dtype)
    if dtype in ("i8", "u8"):
        a <<= a.dtype.type(40)
    out = numpy.zeros_like(a)
    run_text(WARP_SCAN.replace("TYPE", c_type), a, out, grid=(2,), block=(64,), seed=seed)
    expected = numpy.cumsum(a, axis=1, dtype=dtype)
    numpy.testing.assert_array_equal(out, expected)


def test_shuffle_within_a_width_and_out_of_it() -> None:
    text = """
    extern "C" __global__ void k(int* out) {
        int i = threadIdx.x;
        out[i] = __shfl_sync(0xffffffffu, i, 3, 8);
        out[32 + i] = __shfl_down_sync(0xffffffffu, i, 3, 8);
        out[64 + i] = __shfl_up_sync(0xffffffffu, i, 3, 8);
        out[96 + i] = __shfl_xor_sync(0xffffffffu, i, 9, 8);
        out[128 + i] = __shfl_sync(0xffffffffu, i, i + 1);
    }
    """
    out = numpy.zeros((5, 32), numpy.int32)
    run_text(text, out)
    i = numpy.arange(32)
    low = i // 8 * 8
    flipped = i ^ 9
    expected = [
        low + 3,
        numpy.where(i + 3 < low + 8, i + 3, i),
        numpy.where(i - 3 >= low, i - 3, i),
        numpy.where(flipped < low + 8, flipped, i),
        (i + 1) % 32,
    ]
    numpy.testing.assert_array_equal(out, expected)


def test_lanes_that_exited_bring_nothing() -> None:
    text = """
    extern "C" __global__ void k(unsigned int* out, float* values) {
        if (threadIdx.x >= 20) return;
        out[threadIdx.x] = __ballot_sync(0xffffffffu, threadIdx.x % 2);
        values[threadIdx.x] = __shfl_sync(0xffffffffu, 1.0f, 25);
    }
    """
    out, values = numpy.zeros(20, numpy.uint32), numpy.zeros(20, numpy.float32)
    run_text(text, out, values)
    assert (out == 0xAAAAA).all()
    assert numpy.isnan(values).all()  # undefined on the device: poisoned here


@ORDERS
def test_votes_and_warp_reductions(seed: int) -> None:
    text = """
    extern "C" __global__ void k(const int* a, int* out) {
        const unsigned all = 0xffffffffu;
        int v = a[threadIdx.x];
        int r[7] = {__any_sync(all, v == 3), __all_sync(all, v < 100), __popc(__ballot_sync(all, v & 1)),
                    (int)__reduce_add_sync(all, v), __reduce_min_sync(all, v), __reduce_max_sync(all, v),
                    __popc(__match_any_sync(all, v))};
        for (int j = 0; j < 7; ++j) out[j * 32 + threadIdx.x] = r[j];
    }
    """
    a = numpy.random.default_rng(5).integers(0, 12, 32).astype(numpy.int32)
    out = numpy.zeros((7, 32), numpy.int32)
    run_text(text, a, out, seed=seed)
    expected = [3 in a, True, (a % 2).sum(), a.sum(), a.min(), a.max()]
    for row, value in zip(out, expected):
        assert (row == value).all()
    numpy.testing.assert_array_equal(out[6], (a[:, None] == a).sum(1))


@ORDERS
def test_parts_of_a_warp_synchronise_apart(seed: int) -> None:
    text = """
    extern "C" __global__ void k(int* out) {
        int i = threadIdx.x, v = i;
        if (i < 16) for (int d = 8; d; d /= 2) v += __shfl_xor_sync(0x0000ffffu, v, d);
        else if (i < 24) { v = __shfl_sync(0x00ff0000u, v, 17); __syncwarp(0x00ff0000u); }
        __syncwarp();
        out[i] = __shfl_sync(0xffffffffu, v, i);
    }
    """
    out = numpy.zeros(32, numpy.int32)
    run_text(text, out, seed=seed)
    assert (out[:16] == 120).all()
    assert (out[16:24] == 17).all()
    numpy.testing.assert_array_equal(out[24:], numpy.arange(24, 32))


TRANSPOSE = """
#define TILE 16
extern "C" __global__ void transpose(const double* __restrict__ a, double* __restrict__ out,
                                     long long rows, long long columns) {
    __shared__ double tile[TILE][TILE + 1];
    long long x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = a[y * columns + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    if (x < rows && y < columns) out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}
"""


@ORDERS
def test_transposition_through_shared_memory(seed: int) -> None:
    a = numpy.random.default_rng(1).random((37, 50))
    out = numpy.zeros((50, 37))
    run_text(TRANSPOSE, a, out, grid=(4, 3), block=(16, 16), params=a.shape, seed=seed)
    numpy.testing.assert_array_equal(out, a.T)


def test_a_missing_barrier_is_seen() -> None:
    a, out = numpy.ones((16, 16)), numpy.zeros((16, 16))
    run_text(TRANSPOSE.replace("__syncthreads();", ""), a, out, block=(16, 16), params=a.shape)
    assert numpy.isnan(out).any()  # shared memory that nobody had written yet


@ORDERS
def test_dynamic_shared_memory_and_structs(seed: int) -> None:
    text = """
    struct Best { double value; int at; };
    __device__ inline Best better(Best a, Best b) { return b.value > a.value ? b : a; }
    extern "C" __global__ void k(const double* a, long long* out) {
        extern __shared__ __align__(16) unsigned char memory[];
        Best* best = (Best*)memory;
        __shared__ struct { int count; Best winner; } all;
        if (threadIdx.x == 0) all.count = 0;
        best[threadIdx.x] = {a[threadIdx.x], (int)threadIdx.x};
        __syncthreads();
        for (int d = blockDim.x / 2; d; d /= 2) {
            if (threadIdx.x < d) best[threadIdx.x] = better(best[threadIdx.x], best[threadIdx.x + d]);
            __syncthreads();
        }
        atomicAdd(&all.count, 1);
        if (threadIdx.x == 0) all.winner = best[0];
        if (__syncthreads_count(threadIdx.x < 5) != 5) return;
        if (threadIdx.x == 127) { out[0] = all.winner.at; out[1] = all.count; }
    }
    """
    a = numpy.random.default_rng(2).random(128)
    out = numpy.zeros(2, numpy.int64)
    run_text(text, a, out, block=(128,), shared=16 * 128, seed=seed)
    assert out.tolist() == [int(a.argmax()), 128]


@ORDERS
def test_scan_that_looks_back_at_other_blocks(seed: int) -> None:
    text = """
    extern "C" __global__ void k(const int* a, int* out, unsigned long long* state, unsigned int* ticket, long long n) {
        __shared__ unsigned int block;
        __shared__ int before;
        __shared__ int line[64];
        if (threadIdx.x == 0) block = atomicAdd(ticket, 1u);
        __syncthreads();
        long long i = (long long)block * 64 + threadIdx.x;
        line[threadIdx.x] = i < n ? a[i] : 0;
        __syncthreads();
        if (threadIdx.x == 0) {
            int sum = 0;
            for (int j = 0; j < 64; ++j) line[j] = sum += line[j];
            before = 0;
            if (block > 0) {
                volatile unsigned long long* previous = state + block - 1;
                while (!(*previous >> 63)) __nanosleep(20);
                before = (int)*previous;
            }
            __threadfence();
            atomicExch(state + block, 1ull << 63 | (unsigned int)(before + sum));
        }
        __syncthreads();
        if (i < n) out[i] = before + line[threadIdx.x];
        if (block == gridDim.x - 1) {
            if (threadIdx.x < gridDim.x) state[threadIdx.x] = 0;
            *ticket = 0;
        }
    }
    """
    a = numpy.random.default_rng(3).integers(0, 9, 500).astype(numpy.int32)
    out = numpy.zeros_like(a)
    run_text(text, a, out, grid=(8,), block=(64,), scratch=(Zeroed(64), Zeroed(4)), params=(500,), seed=seed)
    numpy.testing.assert_array_equal(out, a.cumsum())


def test_a_spinning_thread_lets_others_run() -> None:
    text = """
    extern "C" __global__ void k(int* out) {
        __shared__ int flag;
        if (threadIdx.x == 0) flag = 0;
        __syncthreads();
        if (threadIdx.x == 0) while (atomicAdd(&flag, 0) == 0) __nanosleep(10);
        if (threadIdx.x == 40) atomicExch(&flag, 7);
        __syncthreads();
        out[threadIdx.x] = flag;
    }
    """
    out = numpy.zeros(64, numpy.int32)
    run_text(text, out, block=(64,))
    assert (out == 7).all()


def test_the_order_of_blocks_is_drawn_from_the_seed() -> None:
    text = """
    extern "C" __global__ void k(int* order, int* counter) { order[atomicAdd(counter, 1)] = blockIdx.x; }
    """
    orders = []
    for seed in (0, 1, 1, 2):
        order = numpy.zeros(40, numpy.int32)
        run_text(text, order, numpy.zeros(1, numpy.int32), grid=(40,), block=(1,), seed=seed)
        orders.append(order.tolist())
    assert orders[0] == list(range(40))
    assert orders[1] == orders[2]
    assert len({tuple(order) for order in orders}) == 3
    assert all(sorted(order) == orders[0] for order in orders)


def test_atomics() -> None:
    text = """
    extern "C" __global__ void k(int* i, unsigned int* u, unsigned long long* l, float* f, double* d) {
        int t = threadIdx.x;
        atomicAdd(i, t); atomicMax(i + 1, t); atomicMin(i + 2, -t); atomicSub(i + 3, 2); atomicXor(i + 4, t);
        atomicAdd(u, 1u); atomicOr(u + 1, 1u << t); atomicAnd(u + 2, ~(1u << t)); atomicInc(u + 3, 9u);
        atomicMax(l, (unsigned long long)t << 40); atomicAdd(l + 1, 1ull << 33);
        atomicAdd(f, 0.5f); atomicAdd(d, 0.25); atomicExch(f + 1, 3.0f);
        unsigned long long* bits = (unsigned long long*)(d + 1);
        unsigned long long old = *bits, seen;
        do {
            seen = old;
            double sum = __longlong_as_double((long long)seen) + t;
            old = atomicCAS(bits, seen, (unsigned long long)__double_as_longlong(sum));
        } while (old != seen);
    }
    """
    i, u, wide = numpy.zeros(5, "i4"), numpy.array([0, 0, 2**32 - 1, 0], "u4"), numpy.zeros(2, "u8")
    f, d = numpy.zeros(2, "f4"), numpy.zeros(2, "f8")
    run_text(text, i, u, wide, f, d)
    assert i.tolist() == [496, 31, -31, -64, 0]
    assert u.tolist() == [32, 2**32 - 1, 0, 2]
    assert wide.tolist() == [31 << 40, 32 << 33]
    assert f.tolist() == [16.0, 3.0]
    assert d.tolist() == [8.0, 496.0]
