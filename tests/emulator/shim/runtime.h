// What a kernel sees of the machine that runs it: who the current thread is, and the ways in which threads wait.
// Compiled once, in runtime.cpp; kernels only call it.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct uint3 {
    unsigned int x, y, z;
};

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
};

// Blocks run one after the other on one operating-system thread, so these are plain variables.
extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;

// Whether mathematical functions are off by what the device's may be (documented.h), which is so unless a test says.
extern "C" int emulator_functions_are_off;

namespace emulator {

constexpr int warp_size = 32;
constexpr size_t most_shared = 232448;  // bytes of shared memory a block may ask for (sm_90)

enum class Vote { count, all, any };

// Dynamic shared memory of the running block.
extern unsigned char dynamic_shared[];

// Wait for the block's threads that have not exited; `line` tells barriers apart.
int barrier(int line, Vote vote = Vote::count, bool predicate = false);

// Wait for the lanes of `mask` and return the value of lane `source`.
uint64_t exchange(unsigned int mask, uint64_t value, int source, int line);

// Wait for the lanes of `mask` and return those whose predicate holds.
unsigned int ballot(unsigned int mask, bool predicate, int line);

// The lanes of this warp that have not exited.
unsigned int alive();

int lane();

// Let the other threads of the block run.
void pause();

// Stop the launch with this message.
[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace emulator
