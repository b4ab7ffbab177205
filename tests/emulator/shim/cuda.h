// CUDA C++ for the host's compiler: the one header that a kernel's text is compiled after. Precompiled.
#pragma once

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <type_traits>
#include <utility>

#include "runtime.h"
#include "language.h"
#include "vectors.h"
#include "threads.h"
#include "atomics.h"
#include "intrinsics.h"
#include "mathematics.h"
#define FUNCTIONS_ARE_OFF emulator_functions_are_off
#include "documented.h"

// A kernel's text stands in an unnamed namespace, so that nothing in it is shared between translation units or folded
// by the linker (static shared memory could not have a section of its own otherwise). A function that the text
// declares would hide its namesakes outside instead of overloading them: those names come inside first.
namespace {
using ::abs, ::fabs, ::sqrt, ::cbrt, ::rsqrt, ::rcbrt, ::hypot, ::rhypot, ::min, ::max, ::fmin, ::fmax, ::fdim, ::fmod;
using ::remainder, ::remquo, ::fma, ::modf, ::frexp, ::ldexp, ::scalbn, ::logb, ::ilogb, ::nextafter, ::copysign;
using ::exp, ::exp2, ::exp10, ::expm1, ::log, ::log2, ::log10, ::log1p, ::pow, ::erf, ::erfc, ::tgamma, ::lgamma;
using ::sin, ::cos, ::tan, ::asin, ::acos, ::atan, ::atan2, ::sinh, ::cosh, ::tanh, ::asinh, ::acosh, ::atanh;
using ::sinpi, ::cospi, ::sincos, ::sincospi, ::floor, ::ceil, ::trunc, ::round, ::rint, ::nearbyint;
using ::isnan, ::isinf, ::isfinite, ::signbit, ::__ldg, ::__ldcs, ::__stcs;
using ::atomicAdd, ::atomicSub, ::atomicMin, ::atomicMax, ::atomicExch, ::atomicCAS;
}  // namespace

namespace emulator {

template <class... T, size_t... i>
static inline void call(void (*kernel)(T...), void* const* parameters, std::index_sequence<i...>) {
    kernel(*static_cast<std::remove_cv_t<T>*>(parameters[i])...);
}

template <class... T>
static inline void call(void (*kernel)(T...), void* const* parameters) {
    const bool is_all_at_once = sizeof...(T) == 1 && ((sizeof(T) % 8 == 0) && ...);
    static_assert(is_all_at_once || ((sizeof(T) == 8 || std::is_same_v<T, float>) && ...),
                  "a parameter is 8 bytes wide, or float, or all of them at once");
    call(kernel, parameters, std::index_sequence_for<T...>());
}

}  // namespace emulator

// What Python finds of a kernel: a function of the addresses of its parameters.
#define EMULATOR_ENTRY(kernel) \
    extern "C" void emulate_##kernel(void* const* parameters) { emulator::call(kernel, parameters); }

// The bounds of the section of static shared memory; both null where the text has none.
#define EMULATOR_SHARED                                                                                    \
    extern "C" __attribute__((weak, visibility("hidden"))) unsigned char __start_cuda_shared[];            \
    extern "C" __attribute__((weak, visibility("hidden"))) unsigned char __stop_cuda_shared[];             \
    extern "C" unsigned char* const emulate_shared[] = {__start_cuda_shared, __stop_cuda_shared};
