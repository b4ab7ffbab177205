// Bit casts, bit counts, cache-hinted accesses, conversions and correctly rounded arithmetic.
#pragma once

namespace emulator {

template <class To, class From>
static inline To bits(From value) {
    static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
    To result;
    __builtin_memcpy(&result, &value, sizeof result);
    return result;
}

// The device's conversions saturate, and NaN becomes zero (`nan` where PTX says otherwise).
template <class To, class From>
static inline To saturate(From value, To low, To high) {
    if (value != value) return sizeof(From) == 8 && sizeof(To) == 8 ? To(uint64_t(1) << 63)
                               : sizeof(From) == 8 && low < 0       ? low
                                                                    : 0;
    if (value <= From(low)) return low;
    if (value >= From(high)) return high;
    return To(value);
}

}  // namespace emulator

static inline int __float_as_int(float x) { return emulator::bits<int>(x); }
static inline unsigned int __float_as_uint(float x) { return emulator::bits<unsigned int>(x); }
static inline float __int_as_float(int x) { return emulator::bits<float>(x); }
static inline float __uint_as_float(unsigned int x) { return emulator::bits<float>(x); }
static inline long long __double_as_longlong(double x) { return emulator::bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return emulator::bits<double>(x); }
static inline int __double2hiint(double x) { return int(emulator::bits<long long>(x) >> 32); }
static inline int __double2loint(double x) { return int(emulator::bits<long long>(x)); }
static inline double __hiloint2double(int high, int low) {
    return emulator::bits<double>((long long)((unsigned long long)(unsigned int)high << 32 | (unsigned int)low));
}

static inline int __popc(unsigned int x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned int)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned long long __brevll(unsigned long long x) {
    unsigned long long result = 0;
    for (int i = 0; i < 64; ++i) result |= (x >> i & 1) << (63 - i);
    return result;
}
static inline unsigned int __brev(unsigned int x) { return (unsigned int)(__brevll(x) >> 32); }
static inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
    const unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned int result = 0;
    for (int i = 0; i < 4; ++i) result |= (unsigned int)(bytes >> (selector >> 4 * i & 7) * 8 & 0xFF) << 8 * i;
    return result;
}
static inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int n) {
    return (unsigned int)((((unsigned long long)high << 32 | low) << (n & 31)) >> 32);
}
static inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int n) {
    return (unsigned int)(((unsigned long long)high << 32 | low) >> (n & 31));
}

static inline int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
static inline unsigned int __umulhi(unsigned int a, unsigned int b) { return (unsigned int)((unsigned long long)a * b >> 32); }
static inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}

#define LOAD(name) template <class T> static inline T name(const T* address) { return *address; }
LOAD(__ldg) LOAD(__ldca) LOAD(__ldcg) LOAD(__ldcs) LOAD(__ldlu) LOAD(__ldcv)
#undef LOAD
#define STORE(name) template <class T> static inline void name(T* address, T value) { *address = value; }
STORE(__stwb) STORE(__stcg) STORE(__stcs) STORE(__stwt)
#undef STORE

// Rounding of a float to an integral value, by the suffix of the intrinsic.
#define CONVERT(name, From, To, low, high)                                                                       \
    static inline To name##_rn(From x) { return emulator::saturate<To>(From(::nearbyint(x)), low, high); }       \
    static inline To name##_rz(From x) { return emulator::saturate<To>(From(::trunc(x)), low, high); }           \
    static inline To name##_ru(From x) { return emulator::saturate<To>(From(::ceil(x)), low, high); }            \
    static inline To name##_rd(From x) { return emulator::saturate<To>(From(::floor(x)), low, high); }

CONVERT(__float2int, float, int, INT32_MIN, INT32_MAX)
CONVERT(__float2uint, float, unsigned int, 0, UINT32_MAX)
CONVERT(__float2ll, float, long long, INT64_MIN, INT64_MAX)
CONVERT(__float2ull, float, unsigned long long, 0, UINT64_MAX)
CONVERT(__double2int, double, int, INT32_MIN, INT32_MAX)
CONVERT(__double2uint, double, unsigned int, 0, UINT32_MAX)
CONVERT(__double2ll, double, long long, INT64_MIN, INT64_MAX)
CONVERT(__double2ull, double, unsigned long long, 0, UINT64_MAX)
#undef CONVERT
static inline float __int2float_rn(int x) { return float(x); }
static inline float __uint2float_rn(unsigned int x) { return float(x); }
static inline float __ll2float_rn(long long x) { return float(x); }
static inline float __ull2float_rn(unsigned long long x) { return float(x); }
static inline double __int2double_rn(int x) { return double(x); }
static inline double __uint2double_rn(unsigned int x) { return double(x); }
static inline double __ll2double_rn(long long x) { return double(x); }
static inline double __ull2double_rn(unsigned long long x) { return double(x); }
static inline float __double2float_rn(double x) { return float(x); }

#define ROUNDED(T, prefix, fused)                                                       \
    static inline T __##prefix##add_rn(T a, T b) { return a + b; }                      \
    static inline T __##prefix##sub_rn(T a, T b) { return a - b; }                      \
    static inline T __##prefix##mul_rn(T a, T b) { return a * b; }                      \
    static inline T __##prefix##div_rn(T a, T b) { return a / b; }                      \
    static inline T __##prefix##rcp_rn(T a) { return 1 / a; }                           \
    static inline T __##prefix##sqrt_rn(T a) { return ::sqrt(a); }                      \
    static inline T __##fused##_rn(T a, T b, T c) { return ::fma(a, b, c); }
ROUNDED(float, f, fmaf)
ROUNDED(double, d, fma)
#undef ROUNDED
