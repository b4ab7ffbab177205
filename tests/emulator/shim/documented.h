// The device's mathematical functions, no better than they are documented: the exact result, rounded, and off by up to as
// many floats as the CUDA C++ Programming Guide allows ("Mathematical Functions", maximum ULP error), a number that the
// bits of the arguments decide. What calls them for a result that is closer, such as a whole number of log2, fails here
// as it may on a GPU. Exact are only the results that the guide lists as such: zeros, infinities, NaN, and those of a zero.
// With FUNCTIONS_ARE_OFF false they are the C library's.
#pragma once

#ifndef FUNCTIONS_ARE_OFF
#define FUNCTIONS_ARE_OFF true
#endif

#include <math.h>
#include <stdint.h>
#include <string.h>

namespace documented {

template <class T> struct bits_of;
template <> struct bits_of<float> { typedef uint32_t type; };
template <> struct bits_of<double> { typedef uint64_t type; };

template <class T>
static inline typename bits_of<T>::type bits(T x) {
    typename bits_of<T>::type out;
    memcpy(&out, &x, sizeof out);
    return out;
}

static inline uint64_t mixed(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// `result`, `most` floats off at most: as many as the bits of x and y say.
template <class T>
static inline T off(T result, int most, T x, T y = T(1)) {
    if (x == 0 || y == 0 || result == 0 || !(result - result == 0)) return result;
    auto moved = bits(result) + mixed(bits(x) + mixed(bits(y))) % (2 * most + 1) - most;
    T out;
    memcpy(&out, &moved, sizeof out);
    return out - out == 0 && (out > 0) == (result > 0) ? out : result;
}

}  // namespace documented

// `single` and `twice` are the floats that float and double may be off.
#define DOCUMENTED(name, single, twice)                                                                                \
    static inline double device_##name(double x) {                                                                     \
        return FUNCTIONS_ARE_OFF ? documented::off(double(::name##l(x)), twice, x) : ::name(x);                        \
    }                                                                                                                  \
    static inline float device_##name(float x) {                                                                       \
        return FUNCTIONS_ARE_OFF ? documented::off(float(::name(double(x))), single, x) : ::name##f(x);                \
    }                                                                                                                  \
    static inline float device_##name##f(float x) { return device_##name(x); }                                         \
    template <class T> static inline double device_##name(T x) { return device_##name(double(x)); }
#define DOCUMENTED_OF_TWO(name, single, twice, exact)                                                                  \
    static inline double device_##name(double x, double y) {                                                           \
        if (!FUNCTIONS_ARE_OFF) return ::name(x, y);                                                                   \
        double result = double(::name##l(x, y));                                                                       \
        return exact ? result : documented::off(result, twice, x, y);                                                  \
    }                                                                                                                  \
    static inline float device_##name(float x, float y) {                                                              \
        if (!FUNCTIONS_ARE_OFF) return ::name##f(x, y);                                                                \
        float result = float(::name(double(x), double(y)));                                                            \
        return exact ? result : documented::off(result, single, x, y);                                                 \
    }                                                                                                                  \
    static inline float device_##name##f(float x, float y) { return device_##name(x, y); }                             \
    template <class T, class U>                                                                                        \
    static inline auto device_##name(T x, U y) -> decltype(double(x) + double(y)) {                                    \
        return device_##name(double(x), double(y));                                                                    \
    }

DOCUMENTED(cbrt, 1, 1)
DOCUMENTED(exp, 2, 1)
DOCUMENTED(exp2, 2, 1)
DOCUMENTED(expm1, 1, 1)
DOCUMENTED(log, 1, 1)
DOCUMENTED(log2, 1, 1)
DOCUMENTED(log10, 2, 1)
DOCUMENTED(log1p, 1, 1)
DOCUMENTED(sin, 2, 2)
DOCUMENTED(cos, 2, 2)
DOCUMENTED(tan, 4, 2)
DOCUMENTED(asin, 2, 2)
DOCUMENTED(acos, 2, 2)
DOCUMENTED(atan, 2, 2)
DOCUMENTED(sinh, 3, 2)
DOCUMENTED(cosh, 2, 1)
DOCUMENTED(tanh, 2, 1)
DOCUMENTED(asinh, 3, 3)
DOCUMENTED(acosh, 4, 3)
DOCUMENTED(atanh, 3, 2)
DOCUMENTED_OF_TWO(pow, 4, 2, x == 1)
DOCUMENTED_OF_TWO(hypot, 3, 2, false)
DOCUMENTED_OF_TWO(atan2, 3, 2, isinf(x) || isinf(y))
#undef DOCUMENTED
#undef DOCUMENTED_OF_TWO

// The sign of a NaN stays.
static inline double device_fabs(double x) { return x != x ? x : ::fabs(x); }
static inline float device_fabs(float x) { return x != x ? x : ::fabsf(x); }
static inline float device_fabsf(float x) { return device_fabs(x); }
template <class T> static inline double device_fabs(T x) { return device_fabs(double(x)); }

// A text that calls them, or declares a function of such a name, means these.
#define cbrt device_cbrt
#define cbrtf device_cbrtf
#define exp device_exp
#define expf device_expf
#define exp2 device_exp2
#define exp2f device_exp2f
#define expm1 device_expm1
#define expm1f device_expm1f
#define log device_log
#define logf device_logf
#define log2 device_log2
#define log2f device_log2f
#define log10 device_log10
#define log10f device_log10f
#define log1p device_log1p
#define log1pf device_log1pf
#define sin device_sin
#define sinf device_sinf
#define cos device_cos
#define cosf device_cosf
#define tan device_tan
#define tanf device_tanf
#define asin device_asin
#define asinf device_asinf
#define acos device_acos
#define acosf device_acosf
#define atan device_atan
#define atanf device_atanf
#define sinh device_sinh
#define sinhf device_sinhf
#define cosh device_cosh
#define coshf device_coshf
#define tanh device_tanh
#define tanhf device_tanhf
#define asinh device_asinh
#define asinhf device_asinhf
#define acosh device_acosh
#define acoshf device_acoshf
#define atanh device_atanh
#define atanhf device_atanhf
#define pow device_pow
#define powf device_powf
#define hypot device_hypot
#define hypotf device_hypotf
#define atan2 device_atan2
#define atan2f device_atan2f
#define fabs device_fabs
#define fabsf device_fabsf
