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

// pow that is exact where the result is representable and simple. The library's pow may be off by a few units in the
// last place even then: powf(9, 0.5f) is 2.9999998, which a cast to an integer makes 2. A result that squares, square
// roots and products reach without any rounding is computed by them; fma gives the rounding error of a product.
template <class T> __device__ inline T float_power(T x, T y) {
  T base = x, exponent = y;
  for (int halvings = 0; halvings < 3 && exponent != ::trunc(exponent) && base > 0; ++halvings) {
    T root = ::sqrt(base);
    if (::fma(root, root, -base) != 0) break;
    base = root;
    exponent *= 2;
  }
  if (exponent == ::trunc(exponent) && ::fabs(exponent) <= 64) {
    T product = 1;
    bool exact = true;
    for (int left = int(::fabs(exponent)); left && exact; base = base * base) {
      if (left & 1) {
        exact = ::fma(product, base, -(product * base)) == 0;
        product *= base;
      }
      left >>= 1;
      if (left) exact = exact && ::fma(base, base, -(base * base)) == 0;
    }
    if (exact) return exponent < 0 ? 1 / product : product;
  }
  return ::pow(x, y);
}

template <class T> __device__ inline T sign(T x) { return x > 0 ? T(1) : x < 0 ? T(-1) : x == 0 ? T(0) : x; }
template <class T> __device__ inline T heaviside(T x, T at_zero) {
  return isnan(x) ? x : x == 0 ? at_zero : x < 0 ? T(0) : T(1);
}

template <class T> __device__ inline T logaddexp(T x, T y) {
  if (x == y) return x + T(0.693147180559945309417232121458176568);
  T d = x - y;
  return d > 0 ? x + ::log1p(::exp(-d)) : d <= 0 ? y + ::log1p(::exp(d)) : d;
}
template <class T> __device__ inline T logaddexp2(T x, T y) {
  const T log2e = T(1.442695040888963407359924681001892137);
  if (x == y) return x + 1;
  T d = x - y;
  return d > 0 ? x + log2e * ::log1p(::exp2(-d)) : d <= 0 ? y + log2e * ::log1p(::exp2(d)) : d;
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

// Of two equal values (0.0 and -0.0) the second is returned, as by the vector instructions that NumPy uses.
template <class T> __device__ inline T maximum(T a, T b) { return a > b || isnan(a) ? a : b; }
template <class T> __device__ inline T minimum(T a, T b) { return a < b || isnan(a) ? a : b; }
template <class T> __device__ inline T fmax(T a, T b) { return a > b || isnan(b) ? a : b; }
template <class T> __device__ inline T fmin(T a, T b) { return a < b || isnan(b) ? a : b; }
// The order of NumPy's clip: complex numbers compare by the real part first, even if an imaginary part is NaN.
template <class T> __device__ inline bool clip_above(T a, T b) {
  if constexpr (kind<T> == 3) return a.re == b.re ? a.im > b.im : a.re > b.re;
  else return a > b;
}
template <class T> __device__ inline T clip(T x, T low, T high) {
  T raised = isnan(x) || clip_above(x, low) ? x : low;
  return isnan(raised) || clip_above(high, raised) ? raised : high;
}

}  // namespace op
