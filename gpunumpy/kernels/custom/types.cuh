// The element types of operations that users write, where they are not those of generated kernels.

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
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
