// Beta functions, in float64 alone. Of large arguments the terms of ln(beta) that would cancel are left out (Didonato and
// Morris, 1992).
namespace op {

// The derivative of ln(gamma(x)), for what an argument has lost to rounding.
template <class T> __device__ inline T rough_digamma(T x) { return ::log(x + T(0.5)) - 1 / x; }

// ln(gamma(a + b) / gamma(a)) of a from 8 on and a positive b.
template <class T> __device__ __noinline__ dw<T> log_gamma_ratio(T a, T b) {
  dw<T> s = two_sum(a, b), l = {b / a, 0};
  if (is_normal(l.hi)) {
    dw<T> q = quotient(dw<T>{b, 0}, dw<T>{a, 0});
    l = log1p_words(q);
  }
  dw<T> sum = sum_of_words(product(dw<T>{a - T(0.5), 0}, l), product(dw<T>{b, 0}, log_of_words(s)));
  sum = sum_of_words(sum, dw<T>{-b, 0});
  return fast_two_sum(sum.hi, sum.lo + (stirling_rest(s.hi) - stirling_rest(a)));
}
// beta(a, b) of arguments of which neither they nor their sum, a word or a double word, are poles.
template <class W> __device__ inline W beta_by_product(f64 a, f64 b, W sum) {
  gamma_quotient<W> a_ = gamma_by_product<W>(a), b_ = gamma_by_product<W>(b), sum_ = gamma_by_product<W>(sum);
  return quotient(product(product(a_.above, b_.above), sum_.below), product(product(a_.below, b_.below), sum_.above));
}
__device__ inline dw<f64> beta_by_product(f64 a, f64 b) { return beta_by_product(a, b, two_sum(a, b)); }
__device__ inline bool is_moderate_size(f64 x) { return fabs(x) < PRODUCT_END<f64> && fabs(x) > NEAR_POLE<f64>; }
__device__ inline bool are_moderate_sizes(f64 a, f64 b) { return is_moderate_size(a) && is_moderate_size(b); }
// ln(beta(a, b)) of positive arguments.
template <class T> __device__ __noinline__ dw<T> log_beta(T a, T b) {
  T big = a > b ? a : b, small = a > b ? b : a;
  if (are_moderate_sizes(a, b)) return log_of_words(beta_by_product(a, b));
  if (big < PRODUCT_END<T>) return negative_words(precise_log(small));
  if (small < STIRLING_FROM<T>) return sum_of_words(lgamma_words(small), negative_words(log_gamma_ratio(big, small)));
  dw<T> s = two_sum(big, small), of_small = precise_log(small);
  dw<T> down = sum_of_words(log_of_words(s), negative_words(of_small)), q = quotient(dw<T>{small, 0}, dw<T>{big, 0});
  dw<T> l = log1p_words(q);
  dw<T> sum = sum_of_words(product(dw<T>{-small, 0}, down), product(dw<T>{T(0.5) - big, 0}, l));
  sum = sum_of_words(sum, sum_of_words(HALF_LN_2PI<T>, dw<T>{T(-0.5) * of_small.hi, T(-0.5) * of_small.lo}));
  return fast_two_sum(sum.hi, sum.lo + (stirling_rest(big) + stirling_rest(small) - stirling_rest(s.hi)));
}
// The same of the size of a beta function of any arguments that are no poles.
template <class T> __device__ inline dw<T> log_size_of_beta(T a, T b) {
  if (a > 0 && b > 0) return log_beta(a, b);
  return sum_of_words(sum_of_words(lgamma_words(a), lgamma_words(b)), negative_words(lgamma_words(a + b)));
}

// Of a whole a from 0 down: it is sign beta(1 - a - b, b) if b is whole too and less than 1 - a, else infinite.
struct beta_at_pole {
  f64 a, sign;
  bool is_finite;
};
__device__ inline beta_at_pole reflect_beta(f64 a, f64 b) {
  f64 half = 0.5 * b;
  bool is_whole = ::floor(b) == b && isfinite(b) && isfinite(a) && 1 - a - b > 0;
  return {1 - a - b, is_whole && ::floor(half) != half ? -1.0 : 1.0, is_whole && b > 0};
}
__device__ __noinline__ f64 beta(f64 a, f64 b) {
  f64 sign = 1;
  if (is_pole(a) || is_pole(b)) {
    f64 pole = is_pole(a) ? a : b, whole = is_pole(a) ? b : a;
    beta_at_pole other = reflect_beta(pole, whole);
    if (!other.is_finite) return other.sign * infinity<f64>();
    a = other.a, b = whole, sign = other.sign;
  }
  if (isnan(a) || isnan(b)) return nan<f64>();
  const f64 sign_of_parts = sign_of_gamma(a) * sign_of_gamma(b);
  if (is_pole(a + b)) return sign * sign_of_parts * 0;
  if (are_moderate_sizes(a, b)) {
    dw<f64> value = beta_by_product(a, b);
    return sign * (value.hi + value.lo);
  }
  sign *= sign_of_parts;
  if (isinf(a) || isinf(b)) return a > 0 && b > 0 ? (isinf(a) && isinf(b) ? nan<f64>() : 0) : sign * infinity<f64>();
  return sign * sign_of_gamma(a + b) * exp_of_words(log_size_of_beta(a, b));
}
__device__ __noinline__ f64 betaln(f64 a, f64 b) {
  if (is_pole(a) || is_pole(b)) {
    f64 pole = is_pole(a) ? a : b, whole = is_pole(a) ? b : a;
    beta_at_pole other = reflect_beta(pole, whole);
    if (!other.is_finite) return infinity<f64>();
    a = other.a, b = whole;
  }
  if (isnan(a) || isnan(b)) return nan<f64>();
  if (is_pole(a + b)) return -infinity<f64>();
  if (isinf(a) || isinf(b)) {
    return a > 0 && b > 0 ? (isinf(a) && isinf(b) ? nan<f64>() : -infinity<f64>()) : infinity<f64>();
  }
  if (are_moderate_sizes(a, b)) {
    dw<f64> value = beta_by_product(a, b);
    return ::log(fabs(value.hi + value.lo));
  }
  dw<f64> l = log_size_of_beta(a, b);
  return l.hi + l.lo;
}

// The product of (n - k + i) / i for i from 1 to a whole k below 20.
__device__ __noinline__ f64 binom_of_few(f64 n, int k) {
  dw<f64> above = {1, 0}, below = {1, 0};
  for (int i = 1; i <= k; ++i) {
    dw<f64> factor = two_sum(n, f64(i - k));
    above = product(above, factor);
    below.hi *= i;  // exact up to 18!
    if (fabs(above.hi) > 1e50) above = quotient(above, below), below = {1, 0};
  }
  dw<f64> value = quotient(above, below);
  return is_normal(value.hi) ? value.hi + value.lo : above.hi / below.hi;
}
// Up to here the products of gamma functions have so few factors that they take no longer than logarithms.
constexpr f64 MANY_FACTORS = 64;
// gamma(more) / (gamma(a) gamma(b)) of numbers that are no poles, each a word or a double word.
template <class W> __device__ inline W binom_by_product(W more, W a, W b) {
  gamma_quotient<W> above = gamma_by_product<W>(more), a_ = gamma_by_product<W>(a), b_ = gamma_by_product<W>(b);
  return quotient(product(product(a_.below, b_.below), above.above), product(product(a_.above, b_.above), above.below));
}
__device__ __noinline__ f64 binom(f64 n, f64 k) {
  if (isnan(n) || isnan(k) || k == infinity<f64>()) return nan<f64>();
  if (n == infinity<f64>() && k < 0) return ::floor(k) == k ? 0.0 : k > -1 ? nan<f64>() : -0.0;
  f64 whole_n = ::floor(n), few = ::floor(k);
  if (n < 0 && whole_n == n) return nan<f64>();
  if (few == k && (fabs(n) > 1e-8 || n == 0)) {
    if (whole_n == n && few > 0.5 * n && n > 0) few = n - few;
    if (few >= 0 && few < 20) return binom_of_few(n, int(few));
  }
  dw<f64> more = two_sum(n, 1.0), a = two_sum(more.hi, -k), b = two_sum(1.0, k);
  a.lo += more.lo;
  if (is_pole(a.hi) || is_pole(b.hi)) return more.hi < 0 ? -0.0 : 0.0;
  if (fmax(fabs(more.hi), fmax(fabs(a.hi), fabs(b.hi))) < MANY_FACTORS) {
    dw<f64> value = binom_by_product(more, a, b);
    return value.hi + value.lo;
  }
  if (more.hi > 0 && (a.hi < 0 || b.hi < 0)) {  // beta(n + 1, x) sin(pi x) / pi with x = k - n, or -k
    dw<f64> x = a.hi < 0 ? two_sum(k, -n) : dw<f64>{-k, 0};
    f64 whole = ::rint(x.hi), half = 0.5 * whole;
    sine_and_cosine<f64> turn = of_half_turns(x.hi - whole);
    dw<f64> s = {turn.s.hi, ::fma(PI_WORDS<f64>.hi * turn.c.hi, x.lo, turn.s.lo)}, l = log_beta(more.hi, x.hi);
    f64 of_sum = rough_digamma(x.hi + more.hi);
    l.lo += x.lo * (rough_digamma(x.hi) - of_sum) + more.lo * (rough_digamma(more.hi) - of_sum);
    dw<f64> part = quotient(s, PI_WORDS<f64>);
    f64 value = exp_of_words(l) * (part.hi + part.lo);
    return ::floor(half) == half ? value : -value;
  }
  f64 sign = sign_of_gamma(more.hi) * sign_of_gamma(a.hi) * sign_of_gamma(b.hi);
  dw<f64> l;
  if (a.hi > 0 && b.hi > 0) {
    l = sum_of_words(negative_words(log_beta(a.hi, b.hi)), negative_words(log_of_words(more)));
    f64 of_sum = rough_digamma(a.hi + b.hi);
    l.lo += a.lo * (of_sum - rough_digamma(a.hi)) + b.lo * (of_sum - rough_digamma(b.hi));
  } else {
    l = sum_of_words(lgamma_words(more.hi), negative_words(sum_of_words(lgamma_words(a.hi), lgamma_words(b.hi))));
  }
  return sign * exp_of_words(l);
}

// Of float32 one word of float64 is enough, and up to here logarithms of gamma functions have all places of a result.
// Further arguments, and those of which one is negative, are computed as those of float64.
constexpr f32 FEW_PLACES_END = 1e6f;
__device__ inline bool has_few_places(f32 x) { return x > 0 && x < FEW_PLACES_END; }
__device__ inline f64 log_beta_of_few_places(f64 a, f64 b) { return ::lgamma(a) + ::lgamma(b) - ::lgamma(a + b); }
__device__ inline f32 beta(f32 a, f32 b) {
  if (!(has_few_places(a) && has_few_places(b))) return f32(beta(f64(a), f64(b)));
  if (are_moderate_sizes(a, b)) return f32(beta_by_product(f64(a), f64(b), f64(a) + b));
  return f32(::exp(log_beta_of_few_places(a, b)));
}
__device__ inline f32 betaln(f32 a, f32 b) {
  if (!(has_few_places(a) && has_few_places(b))) return f32(betaln(f64(a), f64(b)));
  if (are_moderate_sizes(a, b)) return f32(::log(beta_by_product(f64(a), f64(b), f64(a) + b)));
  return f32(log_beta_of_few_places(a, b));
}
__device__ inline f32 binom(f32 n, f32 k) {
  if (!(has_few_places(n) && has_few_places(k))) return f32(binom(f64(n), f64(k)));
  f64 more = f64(n) + 1, beyond = f64(k) - n, whole = ::rint(beyond), rest = beyond - whole, half = 0.5 * whole;
  if (beyond > 0 && rest == 0) return 0;
  if (more < MANY_FACTORS && k < MANY_FACTORS - 1) return f32(binom_by_product(more, 1 - beyond, f64(k) + 1));
  if (beyond <= 0) return f32(::exp(::lgamma(more) - ::lgamma(f64(k) + 1) - ::lgamma(1 - beyond)));
  // beta(n + 1, x) sin(pi x) / pi with x = k - n
  f64 part = ::sin(PI_WORDS<f64>.hi * rest) / PI_WORDS<f64>.hi;
  return f32(::exp(log_beta_of_few_places(more, beyond)) * (::floor(half) == half ? part : -part));
}

}  // namespace op
