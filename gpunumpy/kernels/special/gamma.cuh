// Gamma functions. Up to 16 an argument is moved to 1 + t, with t at most 1/2, by a product, and from there on there is
// Stirling's series; logarithms have it from 8 on. Logarithms that are raised are double words, so that exponentials of
// them lose nothing. Below there is the reflection at 0, with the sine of pi x.
namespace op {

template <class T> constexpr dw<T> HALF_LN_2PI = {T(0.9189385332046728), T(-3.8782941580672414e-17)};
template <> constexpr dw<f32> HALF_LN_2PI<f32> = {0.9189385f, 1.5634177e-08f};
template <class T> constexpr dw<T> EULER = {T(0.5772156649015329), T(-4.942915152430645e-18)};
template <> constexpr dw<f32> EULER<f32> = {0.5772157f, -6.637774e-09f};
// Beside the inverse of a smaller number the other terms of gamma and digamma are nothing.
template <class T> constexpr T NEAR_POLE = same<T, f64> ? T(0x1p-60) : T(0x1p-30f);
template <class T> constexpr T STIRLING_FROM = T(8);

template <class T> __device__ inline dw<T> log_of_words(dw<T> x) {
  dw<T> l = precise_log(fabs(x.hi));
  return fast_two_sum(l.hi, ::fma(x.lo, near_reciprocal(x.hi), l.lo));
}
template <class T> __device__ inline bool is_pole(T x) { return x <= 0 && ::floor(x) == x; }
// The sign of gamma(x) where that is no pole.
template <class T> __device__ inline T sign_of_gamma(T x) {
  T whole = ::floor(x), half = T(0.5) * whole;
  return x < 0 && ::floor(half) != half ? T(-1) : T(1);
}

// Up to this size gamma(x) is a product.
template <class T> constexpr T PRODUCT_END = T(16);

// gamma(x) of an x that is no pole as above / below. With x = 1 + t + n these are the n numbers from 1 + t to x - 1 and
// 1 / gamma(1 + t), or 1 and its product with the -n numbers from x to t: each number is exact. W is a word or a double
// word, and X, the type of x, may be a word where W is a double one.
template <class W> struct gamma_quotient {
  W above, below;
};
__device__ inline f64 product(f64 a, f64 b) { return a * b; }
__device__ inline f64 quotient(f64 a, f64 b) { return a / b; }
template <class T> __device__ inline T moved_by(T x, T step) { return x + step; }
template <class T> __device__ inline dw<T> moved_by(dw<T> x, T step) { return {x.hi + step, x.lo}; }
// 1 / gamma(x) where x is near 1, less `whole`.
__device__ inline f64 rgamma_of_moved(f64 x, f64 whole) {
  f64 t = x - whole;
  return ::fma(t, ::fma(t, rgamma_near_1(t), EULER<f64>.hi), 1.0);
}
template <class T> __device__ inline dw<T> rgamma_of_moved(dw<T> x, T whole) {
  T t = (x.hi - whole) + x.lo;
  dw<T> slope = fast_two_sum(EULER<T>.hi, t * rgamma_near_1(t)), less = two_product(t, slope.hi);
  dw<T> sum = fast_two_sum(T(1), less.hi);
  return {sum.hi, sum.lo + ::fma(t, slope.lo + EULER<T>.lo, less.lo)};
}
template <class W, class X> __device__ inline gamma_quotient<W> gamma_by_product(X x) {
  typedef decltype(high_word(x)) T;
  const T whole = ::rint(high_word(x));
  const int n = int(whole) - 1;
  const bool is_above = n > 0;
  const W one = {1}, rgamma = rgamma_of_moved(W{x}, whole);
  const T step = is_above ? T(-1) : T(1);
  X factor = is_above ? moved_by(x, T(-1)) : x;
  W all = is_above ? one : rgamma;
#pragma unroll 2  // the threads of a warp have loops of different lengths
  for (int k = ::abs(n); k > 0; --k) {
    all = product(all, factor);
    factor = moved_by(factor, step);
  }
  return {is_above ? all : one, is_above ? rgamma : all};
}

// x = 2 + t + steps, and what gamma(2 + t) is multiplied by, or if there are fewer than 0 steps divided by.
template <class T> struct moved_argument {
  T t;
  int steps;
  dw<T> factor;
};
template <class T> __device__ inline moved_argument<T> move_to_2(T x) {
  T whole = ::rint(x);
  int steps = int(whole) - 2;
  dw<T> factor = {1, 0};
#pragma unroll 1
  for (int k = 1; k <= steps; ++k) factor = product(factor, dw<T>{x - k, 0});
#pragma unroll 1
  for (int k = 0; k < -steps; ++k) factor = product(factor, two_sum(x, T(k)));
  return {x - whole, steps, factor};
}
template <class T> __device__ inline dw<T> lgamma_of_moved(T t) { return product(dw<T>{t, 0}, lgamma_near_2(t)); }

// ln(gamma(x)) - (x - 1/2) ln(x) + x - ln(2 pi) / 2 of x from 8 on.
template <class T> __device__ inline T stirling_rest(T x) {
  T inverse = near_reciprocal(x);
  return inverse * stirling(inverse * inverse);
}
template <class T> __device__ inline dw<T> lgamma_of_large(T x) {
  dw<T> main = product(dw<T>{x - T(0.5), 0}, precise_log(x)), sum = two_sum(main.hi, -x);
  dw<T> all = two_sum(sum.hi, HALF_LN_2PI<T>.hi);
  return fast_two_sum(all.hi, all.lo + (sum.lo + (main.lo + (HALF_LN_2PI<T>.lo + stirling_rest(x)))));
}

// sin(pi x) and cos(pi x) of x from -1/2 to 1/2.
template <class T> struct sine_and_cosine {
  dw<T> s, c;
};
template <class T> __device__ inline sine_and_cosine<T> of_half_turns(T x) {
  bool other = fabs(x) > T(0.25);
  T rest = other ? T(0.5) - fabs(x) : x;
  dw<T> r = product(dw<T>{rest, 0}, PI_WORDS<T>);
  T z = r.hi * r.hi;
  dw<T> s = precise_sine(r, z), c = precise_cosine(r, z);
  if (!other) return {s, c};
  return {x < 0 ? negative_words(c) : c, s};
}
// -x sin(pi x) / pi, whose product with gamma(x) gamma(-x) is 1, for x from 8 on; its sign is that of gamma(-x).
template <class T> __device__ inline dw<T> reflection(T x) {
  T whole = ::rint(x), half = T(0.5) * whole;
  dw<T> s = product(of_half_turns(x - whole).s, dw<T>{::floor(half) == half ? -x : x, 0});
  return quotient(s, PI_WORDS<T>);
}

// ln(|gamma(x)|) where that is no pole.
template <class T> __device__ __noinline__ dw<T> lgamma_words(T x) {
  T size = fabs(x);
  if (size < NEAR_POLE<T>) return negative_words(precise_log(size));
  if (size < STIRLING_FROM<T>) {
    moved_argument<T> x_ = move_to_2(x);
    dw<T> l = lgamma_of_moved(x_.t);
    if (x_.steps == 0) return l;
    dw<T> of_factor = log_of_words(x_.factor);
    return sum_of_words(l, x_.steps < 0 ? negative_words(of_factor) : of_factor);
  }
  dw<T> l = lgamma_of_large(size);
  return x > 0 ? l : negative_words(sum_of_words(l, log_of_words(reflection(size))));
}
template <class T> __device__ inline T gammaln(T x) {
  if (isinf(x)) return x;
  if (is_pole(x)) return infinity<T>();
  if (x > (same<T, f64> ? T(1e300) : T(1e30f))) return x * (::log(x) - 1);
  T size = fabs(x);
  bool is_large = size >= STIRLING_FROM<T>;
  // The steps to a number from 1.25 to 2.25: near the zeros at 1 and 2 no difference of logarithms cancels.
  T whole = ::floor(x - T(1.25)), t = x - (whole + 2), factor = 1;
  int steps = is_large ? 0 : int(whole);
  const T step = steps > 0 ? T(-1) : T(1);
  T next = steps > 0 ? x - 1 : x;
#pragma unroll 2
  for (int k = ::abs(steps); k > 0; --k) {
    factor *= next;
    next += step;
  }
  T l = ::log(is_large ? size : fabs(factor));
  if (!is_large) return t * lgamma_near_2(t).hi + (steps < 0 ? -l : l);
  T large = ::fma(size - T(0.5), l, -size) + (HALF_LN_2PI<T>.hi + stirling_rest(size));
  return x > 0 ? large : -large - ::log(fabs(reflection(size).hi));
}
// |gamma(x)| of x from 8 on.
template <class T> __device__ inline scaled_words<T> gamma_of_large(T x) {
  return exp_words(lgamma_of_large(x));
}
// Where gamma is infinite, and at minus which it is 0.
template <class T> constexpr T GAMMA_END = same<T, f64> ? T(172) : T(36);
template <class T> constexpr T GAMMA_START = same<T, f64> ? T(-185) : T(-43);

template <class T> __device__ inline T gamma(T x) {
  T size = fabs(x);
  if (size < NEAR_POLE<T>) return 1 / x;
  if (is_pole(x)) return nan<T>();
  if (size < PRODUCT_END<T>) {
    gamma_quotient<dw<T>> parts = gamma_by_product<dw<T>>(x);
    dw<T> value = quotient(parts.above, parts.below);
    return value.hi + value.lo;
  }
  if (x > GAMMA_END<T>) return infinity<T>();
  if (x < GAMMA_START<T>) return sign_of_gamma(x) * T(0);
  scaled_words<T> of_size = gamma_of_large(size);
  if (x > 0) return scale(of_size.x.hi + of_size.x.lo, of_size.k);
  dw<T> value = quotient(dw<T>{1, 0}, product(of_size.x, reflection(size)));
  return scale(value.hi + value.lo, -of_size.k);
}
template <class T> __device__ inline T rgamma(T x) {
  T size = fabs(x);
  if (size < NEAR_POLE<T>) return x;
  if (is_pole(x)) return 0;
  if (size < PRODUCT_END<T>) {
    gamma_quotient<dw<T>> parts = gamma_by_product<dw<T>>(x);
    dw<T> value = quotient(parts.below, parts.above);
    return value.hi + value.lo;
  }
  if (size > -GAMMA_START<T>) return x > 0 ? T(0) : isnan(x) ? x : sign_of_gamma(x) * infinity<T>();
  scaled_words<T> of_size = gamma_of_large(size);
  dw<T> value = x > 0 ? quotient(dw<T>{1, 0}, of_size.x) : product(of_size.x, reflection(size));
  return scale(value.hi + value.lo, x > 0 ? -of_size.k : of_size.k);
}

template <class T> constexpr dw<T> DIGAMMA_ROOT = {T(1.4616321449683622), T(9.549995429965697e-17)};
template <> constexpr dw<f32> DIGAMMA_ROOT<f32> = {1.4616321f, 1.243815e-08f};
// Of x from 8 on.
template <class T> __device__ inline T digamma_of_large(T x) {
  T inverse = near_reciprocal(x);
  return ::log(x) - inverse * ::fma(inverse, digamma_tail(inverse * inverse), T(0.5));
}
template <class T> __device__ inline T digamma(T x) {
  T size = fabs(x);
  if (size < NEAR_POLE<T>) return -1 / x;
  if (is_pole(x) || x == -infinity<T>()) return nan<T>();
  if (x >= PRODUCT_END<T>) return x == infinity<T>() ? x : digamma_of_large(x);
  if (x <= -STIRLING_FROM<T>) {  // pi / tan(pi x) beside digamma(1 - x), which is digamma(-x) - 1 / x
    sine_and_cosine<T> turn = of_half_turns(x - ::rint(x));
    dw<T> cotangent = quotient(product(turn.c, PI_WORDS<T>), turn.s);
    T large = digamma_of_large(size);
    dw<T> sum = two_sum(large, -cotangent.hi);
    return sum.hi + (sum.lo + (near_reciprocal(size) - cotangent.lo));
  }
  // The steps to a number from 1.25 to 2.25: the sum of their inverses is numerator / denominator. Below 0 it cancels.
  const int steps = int(::floor(x - T(1.25)));
  dw<T> numerator = {0, 0}, denominator = {1, 0};
  if (x > 0) {
    const T step = steps > 0 ? T(-1) : T(1);
    T factor = steps > 0 ? x - 1 : x;
#pragma unroll 2
    for (int k = ::abs(steps); k > 0; --k) {
      numerator.hi = ::fma(numerator.hi, factor, denominator.hi);
      denominator.hi *= factor;
      factor += step;
    }
    numerator.hi *= -step;
  } else {
#pragma unroll 1
    for (int k = 0; k < -steps; ++k) {
      dw<T> factor = fast_two_sum(T(k), x);  // which is exact where k is the smaller one, as it is of the other sign
      numerator = sum_of_words(product(numerator, factor), negative_words(denominator));
      denominator = product(denominator, factor);
    }
  }
  dw<T> y = two_sum(x, T(-steps));
  dw<T> from_root = two_sum(y.hi, -DIGAMMA_ROOT<T>.hi);
  from_root.lo += y.lo - DIGAMMA_ROOT<T>.lo;
  dw<T> value = sum_of_words(product(from_root, digamma_near(y.hi - T(1.75))), quotient(numerator, denominator));
  return value.hi + value.lo;
}

}  // namespace op
