// The words of CUDA C++, as the host's compiler can take them.
#pragma once

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __constant__ static
#define __managed__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

// One section holds the static shared memory, so that every block finds it poisoned. `extern __shared__` arrays
// are rewritten by build.py before the compiler sees them.
#define __shared__ static __attribute__((section("cuda_shared")))

#define __builtin_assume(condition) ((void)0)
#define __trap() emulator::fail("a thread called __trap()")
#define assert(condition) ((condition) ? (void)0 : emulator::fail("assertion failed at line %d: %s", __LINE__, #condition))

// A compiler may not keep values in registers across a fence; nothing else is needed where one thread runs at a time.
#define __threadfence() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __threadfence_block() __threadfence()
#define __threadfence_system() __threadfence()
