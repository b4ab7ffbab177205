// Exponentials and hyperbolic functions with at most one unit of error, and the exponential of a double word.
// The argument is reduced to r, at most ln(2)/2, and k ln(2), whose first product is exact (Cody and Waite, 1980).
namespace op {

template <class T> constexpr T LOG2_E = T(1.4426950408889634);
template <class T> constexpr dw<T> LN2_WORDS = {T(0.6931471805599453), T(2.3190468138462996e-17)};
template <> constexpr dw<f32> LN2_WORDS<f32> = {0.6931472f, -1.9046542e-09f};

// exp(x) = exp(r) 2^k.
template <class T> struct reduced {
  dw<T> r;
  int k;
};
template <class T> __device__ inline reduced<T> reduce_exponent(dw<T> x) {
  integer<T> k = nearest(x.hi, LOG2_E<T>);
  return {{::fma(-k.value, LN2_WORDS<T>.hi, x.hi), ::fma(-k.value, LN2_WORDS<T>.lo, x.lo)}, k.n};
}
// exp(r) for a small r; tools/minimax.py has the polynomials here and below.
template <class T> __device__ inline dw<T> small_exp(dw<T> r) {
  T p;
  if constexpr (same<T, f64>)
    p = horner(r.hi, 0.5000000000000011, 0.16666666666666413, 0.04166666666653026, 0.008333333333494227,
               0.0013888888943599676, 0.00019841269506995181, 2.480149313466549e-05, 2.7557586082792157e-06,
               2.763023430517251e-07, 2.500012790179422e-08);
  else
    p = horner(r.hi, 0.49999994f, 0.16666521f, 0.041668385f, 0.008368707f, 0.0013814708f);
  dw<T> sum = fast_two_sum(T(1), r.hi);
  T low = ::fma(r.hi * r.hi, p, sum.lo);
  return {sum.hi, ::fma(r.lo, sum.hi + low, low)};
}

// x 2^k of an x from 1/2 to 2, where the power and the product are normal numbers.
template <class T> __device__ inline T scale_normal(T x, int k) {
  return bit_cast<T>(word<T>(bit_cast<word<T>>(x) + (word<T>(k) << DIGITS<T>)));
}
// exp(x) = y 2^k.
struct scaled_exp {
  f32 y;
  int k;
};
__device__ inline scaled_exp exp_in_parts(f32 x) {
  integer<f32> k = nearest(x, LOG2_E<f32>);
  f32 r = ::fma(-k.value, LN2_WORDS<f32>.lo, ::fma(-k.value, LN2_WORDS<f32>.hi, x));
  return {horner(r, 1.0f, 1.0f, 0.49999994f, 0.16666521f, 0.041668385f, 0.008368707f, 0.0013814708f), k.n};
}
// Of an x that gives a number too large or too small for scale_normal, or of NaN.
__device__ __noinline__ f32 rare_exp(f32 x, scaled_exp e) {
  return x > 88.8f ? infinity<f32>() : x < -104 ? 0 : scale(e.y, e.k);
}
__device__ inline f32 exp(f32 x) {
  scaled_exp e = exp_in_parts(x);
  f32 y = scale_normal(e.y, e.k);
  if (!(::fabsf(x) < 87)) y = rare_exp(x, e);
  return y;
}
__device__ inline f64 exp(f64 x) { return ::exp(x); }
// Exact of a whole x, whose r is 0.
template <class T> __device__ inline T exp2(T x) {
  const T normal = same<T, f64> ? T(1021) : T(125), most = same<T, f64> ? T(1024) : T(128);
  const T least = same<T, f64> ? T(-1076) : T(-151);
  integer<T> k = nearest(x, T(1));
  T r = x - k.value, y;
  if constexpr (same<T, f64>)
    y = horner(r, 1.0, LN2_WORDS<T>.hi, 0.24022650695910122, 0.05550410866482074, 0.009618129107596988,
               0.0013333558146685878, 0.00015403530454058837, 1.5252733547090279e-05, 1.321543661344811e-06,
               1.0178184571507691e-07, 7.073578511053183e-09, 4.4363142486512886e-10);
  else
    y = horner(r, 1.0f, LN2_WORDS<T>.hi, 0.24022648f, 0.05550362f, 0.009618526f, 0.0013390158f, 0.0001532126f);
  if (fabs(x) < normal) return scale_normal(y, k.n);
  return x >= most ? infinity<T>() : x < least ? 0 : scale(y, k.n);
}

// With the odd part s of exp(r), which is sinh(r), and the even part 1 + c, which is cosh(r):
// sinh(x) = (2^k + 2^-k)/2 s + (2^k - 2^-k)/2 (1 + c), and cosh(x) with the factors exchanged. There is no division, and
// where k is 0 no subtraction. Both are halved once more, as cosh(x) may need a 2^k that is infinite.
template <class T> struct hyperbolic {
  dw<T> s;
  T c;
  dw<T> sum, less;  // half of (2^k + 2^-k)/2 and of (2^k - 2^-k)/2
};
template <class T> __device__ inline hyperbolic<T> parts_of_exp(T x) {
  reduced<T> x_ = reduce_exponent(dw<T>{x, 0});
  dw<T> r = fast_two_sum(x_.r.hi, x_.r.lo);
  T z = r.hi * r.hi, odd, even;
  if constexpr (same<T, f64>) {
    odd = horner(z, 0.16666666666666677, 0.008333333333321622, 0.00019841269886138635, 2.75572442054982e-06,
                 2.5109035530389305e-08);
    even = horner(z, 0.5000000000000013, 0.04166666666651438, 0.0013888888947233137, 2.48014897557313e-05,
                  2.7631336842954545e-07);
  } else {
    odd = horner(z, 0.16666667f, 0.008333289f, 0.00019904945f);
    even = horner(z, 0.5f, 0.041666266f, 0.0013946216f);
  }
  T up = power_of_two<T>(x_.k - 2), down = power_of_two<T>(-(x_.k < 60 ? x_.k : 60) - 2);
  return {{r.hi, ::fma(r.hi * z, odd, r.lo)}, ::fma(r.hi, r.lo, z * even), fast_two_sum(up, down),
          fast_two_sum(up, -down)};
}
// factor (1 + c) + other s, of which the first is the larger, or 0 with its factor.
template <class T> __device__ inline T combined(dw<T> factor, T c, dw<T> other, dw<T> s) {
  dw<T> odd = two_product(other.hi, s.hi), sum = fast_two_sum(factor.hi, odd.hi);
  T low = ::fma(factor.hi, c, factor.lo) + ::fma(other.hi, s.lo, ::fma(other.lo, s.hi, odd.lo));
  return sum.hi + (sum.lo + low);
}

template <class T> __device__ inline T sinh(T x) {
  const T most = same<T, f64> ? T(710.5) : T(89.5f), itself_below = same<T, f64> ? T(0x1p-28) : T(0x1p-13);
  T size = fabs(x);
  hyperbolic<T> e = parts_of_exp(size);
  T half = combined(e.less, e.c, e.sum, e.s);
  return signed_as(size > most ? infinity<T>() : size < itself_below ? size : 2 * half, x);
}
__device__ inline f32 cosh(f32 x) {
  f32 size = fabs(x);
  hyperbolic<f32> e = parts_of_exp(size);
  return size > 89.5f ? infinity<f32>() : 2 * combined(e.sum, e.c, e.less, e.s);
}
__device__ inline f64 cosh(f64 x) { return ::cosh(x); }

// 1 - 2 / (exp(2x) + 1), whose terms cancel below 1: there x + x z P(z) with z = x^2.
__device__ inline f32 tanh(f32 x) {
  f32 size = fabs(x), z = size * size;
  f32 near_0 = ::fma(size * z, horner(z, -0.33333296f, 0.13332345f, -0.053879805f, 0.021486664f, -0.007946117f,
                                      0.0023013726f, -0.00035845445f), size);
  scaled_exp e = exp_in_parts(2 * (size < 10 ? size : 10.0f));
  f32 far = ::fma(-2.0f, rough_reciprocal(scale_normal(e.y, e.k) + 1), 1.0f);
  return signed_as(size < 1 ? near_0 : isnan(x) ? size : far, x);
}
__device__ inline f64 tanh(f64 x) { return ::tanh(x); }

}  // namespace op
