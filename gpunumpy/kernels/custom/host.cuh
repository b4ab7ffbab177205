// The words and functions of CUDA C++ that elementwise operations use, for the host's compiler.

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define __global__
#define __device__
#define __constant__ static
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define GPUNUMPY_HOST

static inline double rsqrt(double x) { return 1.0 / ::sqrt(x); }
static inline float rsqrt(float x) { return 1.0f / ::sqrt(x); }
static inline float rsqrtf(float x) { return rsqrt(x); }
static inline double rcbrt(double x) { return 1.0 / ::cbrt(x); }
static inline float rcbrt(float x) { return 1.0f / ::cbrt(x); }
static inline float rcbrtf(float x) { return rcbrt(x); }
static inline double normcdf(double x) { return 0.5 * ::erfc(x * -0.70710678118654752440); }
static inline float normcdf(float x) { return float(normcdf(double(x))); }
static inline float normcdff(float x) { return normcdf(x); }
static inline float exp10(float x) { return ::exp10f(x); }
static inline void sincos(float x, float* s, float* c) { ::sincosf(x, s, c); }
static inline float fdividef(float x, float y) { return x / y; }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __frsqrt_rn(float x) { return rsqrt(x); }
static inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int k = 0; k < 32; ++k) r |= (x >> k & 1) << (31 - k);
  return r;
}
static inline unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)__brev(unsigned(x)) << 32 | __brev(unsigned(x >> 32));
}
static inline int __mulhi(int x, int y) { return int((long long)x * y >> 32); }
static inline unsigned __umulhi(unsigned x, unsigned y) { return unsigned((unsigned long long)x * y >> 32); }
static inline long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
static inline double norm3d(double x, double y, double z) { return ::hypot(::hypot(x, y), z); }
static inline float norm3df(float x, float y, float z) { return float(norm3d(x, y, z)); }
static inline double rhypot(double x, double y) { return 1.0 / ::hypot(x, y); }
static inline float rhypotf(float x, float y) { return float(rhypot(x, y)); }
// No contraction is asked of the host's compiler, so each operator rounds.
#define ROUNDED(prefix, letter, T)                                                    \
  static inline T __##prefix##add_rn(T x, T y) { return x + y; }                      \
  static inline T __##prefix##sub_rn(T x, T y) { return x - y; }                      \
  static inline T __##prefix##mul_rn(T x, T y) { return x * y; }                      \
  static inline T __##prefix##div_rn(T x, T y) { return x / y; }                      \
  static inline T __##prefix##sqrt_rn(T x) { return T(::sqrt(x)); }                   \
  static inline T __fma##letter##_rn(T x, T y, T z) { return T(::fma##letter(x, y, z)); }
ROUNDED(f, f, float)
ROUNDED(d, , double)
#undef ROUNDED
static inline int __float2int_rn(float x) { return int(::rint(x)); }
static inline int __float2int_rz(float x) { return int(x); }
static inline int __float2int_rd(float x) { return int(::floor(x)); }
static inline int __float2int_ru(float x) { return int(::ceil(x)); }
#define VECTORS(name, T)                                                                              \
  struct name##2 { T x, y; };                                                                         \
  struct name##3 { T x, y, z; };                                                                      \
  struct name##4 { T x, y, z, w; };                                                                   \
  static inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                   \
  static inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                           \
  static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
VECTORS(float, float)
VECTORS(double, double)
VECTORS(int, int)
VECTORS(uint, unsigned)
#undef VECTORS
static inline int __float_as_int(float x) { int r; memcpy(&r, &x, sizeof r); return r; }
static inline unsigned __float_as_uint(float x) { unsigned r; memcpy(&r, &x, sizeof r); return r; }
static inline float __int_as_float(int x) { float r; memcpy(&r, &x, sizeof r); return r; }
static inline float __uint_as_float(unsigned x) { float r; memcpy(&r, &x, sizeof r); return r; }
static inline long long __double_as_longlong(double x) { long long r; memcpy(&r, &x, sizeof r); return r; }
static inline double __longlong_as_double(long long x) { double r; memcpy(&r, &x, sizeof r); return r; }
template <class T> static inline T __ldg(const T* x) { return *x; }

// Macros: the host's library declares functions of these names.
#define __expf(x) ::expf(x)
#define __exp10f(x) ::exp10f(x)
#define __logf(x) ::logf(x)
#define __log2f(x) ::log2f(x)
#define __log10f(x) ::log10f(x)
#define __sinf(x) ::sinf(x)
#define __cosf(x) ::cosf(x)
#define __tanf(x) ::tanf(x)
#define __powf(x, y) ::powf(x, y)

// Exact at whole numbers and halves; newer libraries of the host have the functions.
template <class T> static inline T sin_of_half_turns(T x) {
  T r = ::fmod(::fabs(x), T(2)), turned = r > 1 ? r - 1 : r;
  T size = turned == 1 ? T(0) : T(::sin(M_PI * (turned > T(0.5) ? 1 - turned : turned)));
  return ::copysign(size, x) * (r > 1 ? -1 : 1);
}
template <class T> static inline T cos_of_half_turns(T x) {
  T r = ::fmod(::fabs(x), T(2)), near = r > 1 ? 2 - r : r;
  return near == T(0.5) ? T(0) : T(::cos(M_PI * near));
}
static inline void sincospi(double x, double* s, double* c) { *s = sin_of_half_turns(x), *c = cos_of_half_turns(x); }
static inline void sincospif(float x, float* s, float* c) { *s = sin_of_half_turns(x), *c = cos_of_half_turns(x); }
#define sinpi(x) sin_of_half_turns(x)
#define cospi(x) cos_of_half_turns(x)
#define sinpif(x) sin_of_half_turns(float(x))
#define cospif(x) cos_of_half_turns(float(x))

#define EXTREMA(T)                                          \
  static inline T min(T a, T b) { return b < a ? b : a; }   \
  static inline T max(T a, T b) { return a < b ? b : a; }
EXTREMA(int)
EXTREMA(unsigned)
EXTREMA(long)
EXTREMA(unsigned long)
EXTREMA(long long)
EXTREMA(unsigned long long)
#undef EXTREMA
static inline float min(float a, float b) { return ::fminf(a, b); }
static inline float max(float a, float b) { return ::fmaxf(a, b); }
static inline double min(double a, double b) { return ::fmin(a, b); }
static inline double max(double a, double b) { return ::fmax(a, b); }

// A kernel may run on several threads of the host. These are for all types, so `atomics.cuh` has none to add.
#define GPUNUMPY_HOST_ATOMICS
template <class T> static inline bool exchanged(T* at, T* old, T next) {
  return __atomic_compare_exchange(at, old, &next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
#define ATOMIC(name, next)                                       \
  template <class T, class U> static inline T name(T* at, U x) { \
    T old = *at;                                                 \
    while (!exchanged(at, &old, T(next))) {}                     \
    return old;                                                  \
  }
ATOMIC(atomicAdd, old + x)
ATOMIC(atomicSub, old - x)
ATOMIC(atomicMin, T(x) < old || old != old ? T(x) : old)
ATOMIC(atomicMax, old < T(x) || old != old ? T(x) : old)
ATOMIC(atomicAnd, old & x)
ATOMIC(atomicOr, old | x)
ATOMIC(atomicXor, old ^ x)
ATOMIC(atomicExch, x)
#undef ATOMIC
template <class T> static inline T atomicCAS(T* at, T expected, T next) {
  T old = expected;
  exchanged(at, &old, next);
  return old;
}
