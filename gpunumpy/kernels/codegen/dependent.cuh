// Waits for the kernels before this one, which may still run: it comes first in every entry whose `Launch` says that it waits.
// All threads call it, so a kernel ends after the kernels before it, and the next one, which waits for this one's end, sees
// what all of them have written.
__device__ __forceinline__ void await_kernels_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
