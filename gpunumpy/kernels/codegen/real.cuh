// Operations on f32 and f64 that take more than one call of the mathematical library.
namespace op {

template <class T> __device__ inline T float_remainder(T a, T b) {
  T mod = ::fmod(a, b);
  if (b == 0) return mod;
  if (mod == 0) return ::copysign(T(0), b);
  return (b < 0) != (mod < 0) ? mod + b : mod;
}
template <class T> __device__ inline T float_floor_divide(T a, T b) {
  if (b == 0) return a / b;
  T mod = ::fmod(a, b);
  T div = (a - mod) / b;
  if (mod != 0 && (b < 0) != (mod < 0)) div -= 1;
  if (div == 0) return ::copysign(T(0), a / b);
  T floored = ::floor(div);
  return div - floored > T(0.5) ? floored + 1 : floored;
}

template <class T> __device__ inline T sign(T x) { return x > 0 ? T(1) : x < 0 ? T(-1) : x == 0 ? T(0) : x; }
template <class T> __device__ inline T heaviside(T x, T at_zero) {
  return isnan(x) ? x : x == 0 ? at_zero : x < 0 ? T(0) : T(1);
}

template <class T> __device__ inline T modf_int(T x) { return ::trunc(x); }
template <class T> __device__ inline T modf_frac(T x) { return isinf(x) ? ::copysign(T(0), x) : ::copysign(x - ::trunc(x), x); }
template <class T> __device__ inline T frexp_mantissa(T x) {
  int exponent;
  return isfinite(x) ? ::frexp(x, &exponent) : x;
}
template <class T> __device__ inline i32 frexp_exponent(T x) {
  int exponent = 0;
  if (isfinite(x)) ::frexp(x, &exponent);
  return exponent;
}
// An exponent beyond these bounds gives the same result as the bound.
template <class T> __device__ inline T ldexp(T x, i64 n) { return ::ldexp(x, n > 5000 ? 5000 : n < -5000 ? -5000 : int(n)); }

// The distance to the next value away from zero, with the sign of x.
__device__ inline f32 spacing(f32 x) {
  return !isfinite(x) ? nan<f32>() : x == 0 ? bit_cast<f32>(1u) : bit_cast<f32>(bit_cast<u32>(x) + 1) - x;
}
__device__ inline f64 spacing(f64 x) {
  return !isfinite(x) ? nan<f64>() : x == 0 ? bit_cast<f64>(u64(1)) : bit_cast<f64>(bit_cast<u64>(x) + 1) - x;
}

// The order of NumPy's clip: complex numbers compare by the real part first, even if an imaginary part is NaN.
template <class T> __device__ inline bool exceeds(T a, T b) {
  if constexpr (kind<T> == 3) return a.re == b.re ? a.im > b.im : a.re > b.re;
  else if constexpr (kind<T> == 1) return f32(a) > f32(b);
  else return a > b;
}
// Of two equal values (0.0 and -0.0) the second, as NumPy's vector instructions have it.
template <class T> __device__ inline T maximum(T a, T b) { return exceeds(a, b) || isnan(a) ? a : b; }
template <class T> __device__ inline T minimum(T a, T b) { return exceeds(b, a) || isnan(a) ? a : b; }
template <class T> __device__ inline T fmax(T a, T b) { return exceeds(a, b) || isnan(b) ? a : b; }
template <class T> __device__ inline T fmin(T a, T b) { return exceeds(b, a) || isnan(b) ? a : b; }
template <class T> __device__ inline T clip(T x, T low, T high) {
  T raised = isnan(x) || exceeds(x, low) ? x : low;
  return isnan(raised) || exceeds(high, raised) ? raised : high;
}

}  // namespace op
