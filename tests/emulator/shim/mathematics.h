// The device's mathematics beyond <math.h>, and its minima and maxima.
#pragma once

#define BOTH(name, expression)                                           \
    static inline double name(double x) { return expression; }           \
    static inline float name(float x) { return float(name(double(x))); } \
    static inline float name##f(float x) { return name(x); }

// sin(pi x) with the argument reduced exactly, as on the device: 0 at integers, 1 and -1 at halves.
namespace emulator {
static inline double sine_of_pi(double x, bool cosine) {
    const double pi = 3.14159265358979323846;
    if (!(__builtin_fabs(x) <= __DBL_MAX__)) return __builtin_nan("");
    const double turn = ::fmod(x, 2.0);
    const double quarters = ::nearbyint(turn * 2.0);
    const double rest = (turn - quarters * 0.5) * pi;
    switch ((int(quarters) + 4 + int(cosine)) & 3) {
        case 0: return ::sin(rest);
        case 1: return ::cos(rest);
        case 2: return -::sin(rest);
        default: return -::cos(rest);
    }
}
}  // namespace emulator

// Newer C libraries have functions of these names (C23), which must not be declared again.
#define rsqrt device_rsqrt
#define rsqrtf device_rsqrtf
#define sinpi device_sinpi
#define sinpif device_sinpif
#define cospi device_cospi
#define cospif device_cospif
BOTH(rsqrt, 1.0 / ::sqrt(x))
BOTH(rcbrt, 1.0 / ::cbrt(x))
BOTH(sinpi, emulator::sine_of_pi(x, false))
BOTH(cospi, emulator::sine_of_pi(x, true))
BOTH(normcdf, 0.5 * ::erfc(x * -0.70710678118654752440))
#undef BOTH

#define PAIR(name, sine, cosine)                                                                               \
    static inline void name(double x, double* s, double* c) { *s = sine(x), *c = cosine(x); }                  \
    static inline void name(float x, float* s, float* c) { *s = sine(x), *c = cosine(x); }                     \
    static inline void name##f(float x, float* s, float* c) { name(x, s, c); }
PAIR(sincospi, sinpi, cospi)
#undef PAIR

static inline void sincos(float x, float* s, float* c) { ::sincosf(x, s, c); }
static inline float exp10(float x) { return ::exp10f(x); }
static inline float rhypotf(float x, float y) { return float(1.0 / ::hypot(double(x), double(y))); }
static inline double rhypot(double x, double y) { return 1.0 / ::hypot(x, y); }

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
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __frsqrt_rn(float x) { return rsqrt(x); }
static inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

#define EXTREMA(T)                                                  \
    static inline T min(T a, T b) { return b < a ? b : a; }         \
    static inline T max(T a, T b) { return a < b ? b : a; }
EXTREMA(int)
EXTREMA(unsigned int)
EXTREMA(long)
EXTREMA(unsigned long)
EXTREMA(long long)
EXTREMA(unsigned long long)
#undef EXTREMA
static inline float min(float a, float b) { return ::fminf(a, b); }
static inline float max(float a, float b) { return ::fmaxf(a, b); }
static inline double min(double a, double b) { return ::fmin(a, b); }
static inline double max(double a, double b) { return ::fmax(a, b); }
