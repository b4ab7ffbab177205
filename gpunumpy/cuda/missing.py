"""What to write for names of `cupy.cuda` that are not here."""

from __future__ import annotations

_MEMORY = "arrays have one allocator; data may be larger than the GPU's memory, and gpunumpy.set_memory_limit bounds it"
_ADDRESSES = "x.data_ptr() is an address, and gpunumpy.from_dlpack(t) an array over the memory of another library"
_LIBRARIES = "nvmath-python and cuda-core have CUDA's libraries and driver, on int(x.device.stream)"

INSTEAD = {
    **dict.fromkeys(
        (
            *("CFunctionAllocator", "ManagedMemory", "MemoryAsync", "MemoryAsyncPool", "MemoryHook"),
            *("PythonFunctionAllocator", "malloc_async", "malloc_managed", "memory_hooks", "using_allocator"),
        ),
        _MEMORY,
    ),
    **dict.fromkeys(
        ("BaseMemory", "Memory", "MemoryPointer", "PinnedMemory", "PinnedMemoryPointer", "UnownedMemory", "alloc"),
        _ADDRESSES,
    ),
    **dict.fromkeys(("cub", "cublas", "cufft", "curand", "cusolver", "cusparse", "cutensor", "driver"), _LIBRARIES),
    **dict.fromkeys(("get_cublas_handle", "nvrtc"), _LIBRARIES),
    **dict.fromkeys(("Function", "Module", "compiler", "function"), "gpunumpy.RawModule and RawKernel compile kernels"),
    **dict.fromkeys(
        ("nvtx", "profile", "profiler"),
        'gpunumpy.profile("run.html") draws a timeline, and the package nvtx marks ranges for NVIDIA\'s profilers',
    ),
    "Graph": "gpunumpy.graph(function) makes CUDA graphs",
    "nccl": "gpunumpy.distributed sends arrays between GPUs by NCCL",
    "set_pinned_memory_allocator": "gpunumpy.empty_pinned makes arrays in page-locked memory",
}
