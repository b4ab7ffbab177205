"""Small programs as they are written for CuPy run with only their imports changed, on every device."""

from __future__ import annotations

from textwrap import dedent

import pytest

from gpunumpy.core.runtime.device import Device

PROGRAMS = {
    "arrays": """
        x_gpu = cp.array([1, 2, 3])
        l2_gpu = cp.linalg.norm(x_gpu)
        assert abs(float(l2_gpu) - np.linalg.norm([1, 2, 3])) < 1e-12
    """,
    "moves": """
        x_cpu = np.arange(6.0).reshape(2, 3)
        x_gpu = cp.asarray(x_cpu)
        assert (cp.asnumpy(x_gpu) == x_cpu).all() and (x_gpu.get() == x_cpu).all()
        y_cpu = cp.asnumpy(x_gpu, order="F")
        assert y_cpu.flags.f_contiguous
        out = np.empty_like(x_cpu)
        assert x_gpu.get(out=out) is out and (out == x_cpu).all()
    """,
    "code for both": """
        def softplus(x):
            xp = cp.get_array_module(x)
            return xp.maximum(0, x) + xp.log1p(xp.exp(-abs(x)))
        x = np.linspace(-3, 3, 50)
        assert isinstance(softplus(x), np.ndarray) and isinstance(softplus(cp.asarray(x)), cp.ndarray)
        cp.testing.assert_allclose(softplus(cp.asarray(x)), softplus(x))
    """,
    "current device": """
        device = cp.cuda.Device()
        with device:
            x = cp.ones(4)
        assert x.device == device and x.device.id == device.id
        device.synchronize()
    """,
    "elementwise": """
        squared_diff = cp.ElementwiseKernel(
            'float32 x, float32 y', 'float32 z', 'z = (x - y) * (x - y)', 'squared_diff')
        x = cp.arange(10, dtype=np.float32).reshape(2, 5)
        y = cp.arange(5, dtype=np.float32)
        assert (squared_diff(x, y).get() == (x.get() - y.get()) ** 2).all()
        assert (squared_diff(x, 5).get() == (x.get() - 5) ** 2).all()
        z = cp.empty((2, 5), dtype=np.float32)
        assert squared_diff(x, y, z) is z
    """,
    "elementwise of any type": """
        generic = cp.ElementwiseKernel('X x, Y y', 'Z z', 'z = (x - y) * (x - y)', 'generic')
        z = cp.empty(3, dtype=np.float64)
        generic(cp.arange(3, dtype=np.int32), cp.ones(3, dtype=np.float32), z)
        assert z.tolist() == [1, 0, 1]
    """,
    "elementwise, raw": """
        add_reverse = cp.ElementwiseKernel(
            'T x, raw T y', 'T z', 'z = x + y[_ind.size() - i - 1]', 'add_reverse')
        assert add_reverse(cp.arange(3), cp.arange(3) * 10).tolist() == [20, 11, 2]
    """,
    "elementwise, with a size": """
        fill = cp.ElementwiseKernel('T a', 'raw T y', 'y[i] = a * i', 'fill', no_return=True)
        y = cp.zeros(5)
        assert fill(2.0, y, size=5, block_size=32) is None
        assert y.tolist() == [0, 2, 4, 6, 8]
    """,
    "elementwise, two outputs": """
        divmod_ = cp.ElementwiseKernel(
            'T x, T y', 'T q, T r', 'q = x / y; r = x - q * y', 'divmod_', return_tuple=True)
        q, r = divmod_(cp.arange(7), cp.full(7, 3))
        assert q.tolist() == [0, 0, 0, 1, 1, 1, 2] and r.tolist() == [0, 1, 2, 0, 1, 2, 0]
    """,
    "elementwise, with a preamble": """
        normal = cp.ElementwiseKernel(
            'T x', 'T y', 'y = cdf(x)', 'normal',
            preamble='template <typename T> __device__ T cdf(T x) { return erfc(-x * (T)0.70710678118654752) / 2; }')
        assert abs(float(normal(cp.array([0.0]))[0]) - 0.5) < 1e-15
    """,
    "reduction": """
        l2norm_kernel = cp.ReductionKernel('T x', 'T y', 'x * x', 'a + b', 'y = sqrt(a)', '0', 'l2norm')
        x = cp.arange(10, dtype=np.float32).reshape(2, 5)
        expected = np.linalg.norm(x.get(), axis=1)
        cp.testing.assert_allclose(l2norm_kernel(x, axis=1), expected, rtol=1e-6)
        assert l2norm_kernel(x, axis=1, keepdims=True).shape == (2, 1)
        y = cp.zeros(2, dtype=np.float32)
        assert l2norm_kernel(x, axis=1, out=y) is y
    """,
    "fused": """
        @cp.fuse()
        def squared_diff(x, y):
            return (x - y) * (x - y)
        @cp.fuse(kernel_name='summed')
        def summed(x, y):
            return cp.sum((x - y) * (x - y), axis=-1)
        assert summed(cp.ones((2, 3)), 3).tolist() == [12, 12]
        assert squared_diff(cp.arange(3), 1).tolist() == [1, 0, 1]
    """,
    "streams": """
        map_streams = [cp.cuda.Stream(non_blocking=True) for i in range(4)]
        x, zs = cp.arange(1000.0), []
        for stream in map_streams:
            with stream:
                zs.append(cp.sqrt(x) * 2)
        for stream in map_streams:
            cp.cuda.get_current_stream().wait_event(stream.record())
        total = sum(zs)
        cp.cuda.Stream.null.synchronize()
        assert abs(float(total[4]) - 16) < 1e-12
    """,
    "stream in use": """
        s = cp.cuda.Stream()
        s.use()
        x = cp.ones(3) + 1
        s.synchronize()
        assert s.done and cp.cuda.get_current_stream() == s
        cp.cuda.Stream.null.use()
        assert x.sum() == 6
    """,
    "events": """
        start_gpu, end_gpu = cp.cuda.Event(), cp.cuda.Event()
        start_gpu.record()
        y = cp.ones((64, 64)) @ cp.ones((64, 64))
        end_gpu.record()
        end_gpu.synchronize()
        assert cp.cuda.get_elapsed_time(start_gpu, end_gpu) >= 0 and end_gpu.done
    """,
    "memory pools": """
        mempool, pinned_mempool = cp.get_default_memory_pool(), cp.get_default_pinned_memory_pool()
        a = cp.array(np.ones(100000))
        assert mempool.used_bytes() <= mempool.total_bytes()
        del a
        mempool.free_all_blocks()
        pinned_mempool.free_all_blocks()
        assert pinned_mempool.n_free_blocks() == 0
        before = mempool.get_limit()
        with cp.cuda.Device():
            mempool.set_limit(size=1024 ** 4)
        assert mempool.get_limit() == 1024 ** 4
        mempool.set_limit(size=before)
        cp.cuda.set_allocator(cp.cuda.MemoryPool().malloc)
    """,
    "scatters": """
        a = cp.zeros((6,), dtype=np.float32)
        cp.scatter_add(a, cp.array([1, 0, 1]), cp.array([1.0, 1.0, 1.0], dtype=np.float32))
        assert a.tolist() == [1, 2, 0, 0, 0, 0]
    """,
    "conjugate gradients": """
        rng = cp.random.RandomState(0)
        A = rng.standard_normal((30, 30))
        A = A @ A.T + 30 * cp.eye(30)
        b = rng.standard_normal(30)
        x = cp.zeros_like(b)
        r = b - A.dot(x)
        p, rs = r, cp.dot(r, r)
        for i in range(60):
            Ap = A.dot(p)
            alpha = rs / cp.dot(p, Ap)
            x, r = x + alpha * p, r - alpha * Ap
            new = cp.dot(r, r)
            if cp.sqrt(new) < 1e-10:
                break
            p, rs = r + new / rs * p, new
        assert float(abs(A.dot(x) - b).max()) < 1e-8
    """,
    "k-means": """
        var_kernel = cp.ElementwiseKernel('T x0, T x1, T c0, T c1', 'T out',
            'out = (x0 - c0) * (x0 - c0) + (x1 - c1) * (x1 - c1)', 'var_kernel')
        sum_kernel = cp.ReductionKernel('T x, S mask', 'T out', 'mask ? x : 0', 'a + b', 'out = a', '0', 'sum_kernel')
        count_kernel = cp.ReductionKernel('T mask', 'float32 out', 'mask ? 1 : 0', 'a + b', 'out = a', '0', 'count')
        X = cp.array(np.concatenate([np.eye(2) * 0.1, 5 + np.eye(2) * 0.1]).astype(np.float32))
        centers = cp.array([[0, 1], [4, 5]], dtype=np.float32)
        for _ in range(3):
            distances = var_kernel(X[:, None, 0], X[:, None, 1], centers[None, :, 0], centers[None, :, 1])
            mask = cp.arange(2)[:, None] == cp.argmin(distances, axis=1)[None]
            sums = sum_kernel(X[None], mask[:, :, None], axis=1)
            centers = sums / count_kernel(mask, axis=1).reshape(2, 1)
        assert abs(centers.get() - [[0.05, 0.05], [5.05, 5.05]]).max() < 1e-5
    """,
    "memoized": """
        calls = []
        @cp.memoize(for_each_device=True)
        def make(n):
            calls.append(n)
            return cp.arange(n)
        assert make(3) is make(3) and calls == [3]
        cp.clear_memo()
    """,
    "errors": """
        try:
            cp.cuda.Device(99)
        except cp.cuda.runtime.CUDARuntimeError as error:
            told = str(error)
        assert told
    """,
    "what there is": """
        assert cp.cuda.runtime.getDeviceCount() >= 0 and not cp.cuda.runtime.is_hip
        if cp.cuda.is_available() and cp.cuda.Device().kind == 'cuda':
            name = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)['name'].decode()
            free, total = cp.cuda.Device().mem_info
            assert name and free <= total and int(cp.cuda.Device().compute_capability) >= 70
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str, device: str) -> None:
    with Device(device):
        exec("import gpunumpy as cp\nimport numpy as np\n" + dedent(PROGRAMS[name]), {})
