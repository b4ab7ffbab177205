// The element types of operations that users write, where they are not those of generated kernels.

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#endif

// Names that the host's headers have, for GPUs: integers of a width, and the constants of <math.h>.
#ifndef GPUNUMPY_HOST
typedef i8 int8_t;
typedef i16 int16_t;
typedef i32 int32_t;
typedef i64 int64_t;
typedef u8 uint8_t;
typedef u16 uint16_t;
typedef u32 uint32_t;
typedef u64 uint64_t;
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
#endif
// Of CUDA's own names for constants those that programs use.
#ifndef CUDART_PI
#define CUDART_INF double(INFINITY)
#define CUDART_INF_F float(INFINITY)
#define CUDART_NAN double(NAN)
#define CUDART_NAN_F float(NAN)
#define CUDART_PI 3.1415926535897932385
#define CUDART_PI_F 3.1415926535897932385f
#endif

// 16-bit floats that are computed with as float32.
template <class Stored> struct small_float {
  Stored value;
  small_float() = default;
  __device__ small_float(Stored x) : value(x) {}
  __device__ small_float(float x) : value(x) {}
  __device__ operator float() const { return float(value); }
  template <class T> __device__ small_float& operator+=(T x) { return *this = float(*this) + x; }
  template <class T> __device__ small_float& operator-=(T x) { return *this = float(*this) - x; }
  template <class T> __device__ small_float& operator*=(T x) { return *this = float(*this) * x; }
  template <class T> __device__ small_float& operator/=(T x) { return *this = float(*this) / x; }
};
typedef small_float<f16> float16;
typedef small_float<bf16> bfloat16;

namespace op {

// What operations know of the loop that they are in: `_ind`.
struct Size {
  i64 count;
  __device__ i64 size() const { return count; }
};

template <class T> __device__ inline T to_user(T x) { return x; }
__device__ inline float16 to_user(f16 x) { return x; }
__device__ inline bfloat16 to_user(bf16 x) { return x; }
template <class T> __device__ inline complex<T> to_user(cx<T> z) { return complex<T>(z.re, z.im); }

template <class T> __device__ inline T from_user(T x) { return x; }
template <class Stored> __device__ inline Stored from_user(small_float<Stored> x) { return x.value; }
template <class T> __device__ inline cx<T> from_user(complex<T> z) { return {z.real(), z.imag()}; }

}  // namespace op
