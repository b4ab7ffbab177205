// Logistic functions, entropies, powers and losses: expressions of exponentials and logarithms in which nothing cancels.
namespace op {

template <class T> __device__ inline T expit(T x) {
  if (isnan(x)) return x;
  T e = exp(-fabs(x));
  dw<T> sum = fast_two_sum(T(1), e);
  T value = (x < 0 ? e : 1) / sum.hi;
  return ::fma(-value * (T(1.5) - T(0.5) * sum.hi), sum.lo, value);  // the factor is about 1 / sum
}
template <class T> __device__ inline T logit(T x) {
  if (!(is_moderate(x) && x < 1)) return ::log(x / (1 - x));
  dw<T> l = log_words(compare(dw<T>{x, 0}, two_sum(T(1), -x)));
  return l.hi + l.lo;
}
template <class T> __device__ inline T log_expit(T x) { return -logaddexp(T(0), -x); }

template <class T> __device__ inline T xlogy(T x, T y) { return x == 0 && !isnan(y) ? T(0) : x * ::log(y); }
template <class T> __device__ inline T xlog1py(T x, T y) { return x == 0 && !isnan(y) ? T(0) : x * ::log1p(y); }
template <class T> __device__ inline T entr(T x) {
  return x > 0 ? -x * ::log(x) : x == 0 ? T(0) : isnan(x) ? x : -infinity<T>();
}

// ln(x / y) of positive and finite numbers of any size.
template <class T> __device__ __noinline__ dw<T> log_of_any_quotient(T x, T y) {
  return sum_of_words(precise_log(x), negative_words(precise_log(y)));
}
template <class T> __device__ inline bool both_finite(T x, T y) {
  return x > 0 && y > 0 && x < infinity<T>() && y < infinity<T>();
}
template <class T> __device__ inline T rel_entr(T x, T y) {
  dw<T> l;
  if (is_moderate(x) && is_moderate(y)) {
    l = log_words(compare(dw<T>{x, 0}, dw<T>{y, 0}));
  } else if (both_finite(x, y)) {
    l = log_of_any_quotient(x, y);
  } else {
    if (isnan(x) || isnan(y)) return nan<T>();
    return x > 0 && y > 0 ? x * ::log(x / y) : x == 0 && y >= 0 ? T(0) : infinity<T>();
  }
  return ::fma(x, l.hi, x * l.lo);
}
// x ln(x / y) - x + y. With f = (x - y) / (x + y), z = f^2 and artanh(f) = f + f z p it is f (x - y) + 2 x f z p of near
// numbers, whose difference is exact.
template <class T> __device__ inline T kl_div(T x, T y) {
  dw<T> l;
  if (is_moderate(x) && is_moderate(y)) {
    log_quotient<T> q = compare(dw<T>{x, 0}, dw<T>{y, 0});
    T z = q.f.hi * q.f.hi, more = q.f.hi * z * artanh_series(z), difference = x - y;
    if (q.k == 0) return ::fma(q.f.hi, difference, ::fma(2 * x, more, q.f.lo * difference));
    l = with_exponent(q.k, LN2_SHORT<T>, dw<T>{2 * q.f.hi, 2 * (q.f.lo + more)});
  } else if (both_finite(x, y)) {
    l = log_of_any_quotient(x, y);
  } else {
    if (isnan(x) || isnan(y)) return nan<T>();
    return x > 0 && y > 0 ? x * ::log(x / y) - x + y : x == 0 && y >= 0 ? y : infinity<T>();
  }
  dw<T> main = two_product(x, l.hi), difference = two_sum(y, -x), sum = two_sum(main.hi, difference.hi);
  return sum.hi + (sum.lo + (main.lo + ::fma(x, l.lo, difference.lo)));
}

// (exp(x) - 1) / x; of a large x by parts of exp(x), which may itself be infinite.
template <class T> __device__ inline T exprel(T x) {
  const T most = same<T, f64> ? T(717) : T(94);
  if (x > most / 2) {
    reduced<T> x_ = reduce_exponent(dw<T>{x, 0});
    dw<T> e = small_exp(x_.r);
    return x > most ? infinity<T>() : scale((e.hi + e.lo) / x, x_.k);
  }
  return x == 0 ? T(1) : ::expm1(x) / x;
}
// cos(x) - 1 = -2 sin(x/2)^2.
template <class T> __device__ inline T cosm1(T x) {
  turned<T> x_ = reduce_angle<true>(T(0.5) * x);
  T z = x_.r.hi * x_.r.hi;
  dw<T> s = (x_.n & 1) != 0 ? precise_cosine(x_.r, z) : precise_sine(x_.r, z);
  return x == 0 ? T(0) : -2 * ::fma(s.hi, s.hi, 2 * s.hi * s.lo);
}
// ln(1 + x) - x. With f = x / (2 + x) and ln(1 + x) = 2 (f + f z p) it is f (2 z p - x).
template <class T> __device__ inline T log1pmx(T x) {
  if (!(x > -1 && x < infinity<T>())) return ::log1p(x) - x;
  if (x > T(-0.29f) && x < T(0.41f)) {
    dw<T> f = quotient(dw<T>{x, 0}, two_sum(T(2), x));
    T z = f.hi * f.hi;
    dw<T> factor = fast_two_sum(-x, 2 * z * artanh_series(z));
    return ::fma(f.hi, factor.hi, ::fma(f.hi, factor.lo, f.lo * factor.hi));
  }
  dw<T> l = log1p_words(x), sum = two_sum(l.hi, -x);
  return sum.hi + (sum.lo + l.lo);
}

// ln(x^y) of a positive and finite x; what is far from 0 has to be precise.
template <bool IS_PRECISE, class T> __device__ inline dw<T> raised(T x, T y) {
  dw<T> l = IS_PRECISE ? precise_log(x) : near_log(x, 0), power = two_product(y, l.hi);
  return {power.hi, ::fma(y, l.lo, power.lo)};
}
template <class T> __device__ __noinline__ dw<T> large_power(T x, T y) { return raised<true>(x, y); }
// (x^y - 1) / y, and ln(x) if y is 0 (Box and Cox, 1964).
template <class T> __device__ inline T boxcox(T x, T y) {
  T size = fabs(y);
  if (size < T(1e-19f)) return ::log(x);
  if (!(x > 0 && x < infinity<T>() && size < infinity<T>())) return ::expm1(y * ::log(x)) / y;
  dw<T> power = raised<same<T, f32>>(x, y);
  if (same<T, f64> && power.hi > 12) power = large_power(x, y);
  if (power.hi > 40) {  // a number beside which 1 is nothing, and which may itself be infinite
    reduced<T> x_ = reduce_exponent(power);
    dw<T> e = small_exp(x_.r);
    return power.hi > (same<T, f64> ? T(1400) : T(170)) ? infinity<T>() / y : scale((e.hi + e.lo) / y, x_.k);
  }
  if (power.hi < -100) power = {-100, 0};
  dw<T> sum = expm1_words(power);
  if (!is_normal(sum.hi)) return power.hi / y;
  if (!is_normal(y)) return sum.hi / y;
  dw<T> q = quotient(sum, y);
  return q.hi + q.lo;
}
template <class T> __device__ __noinline__ dw<T> large_inverse_power(dw<T> x, T y) {
  return quotient(log1p_words(x), y);
}
template <class T> __device__ inline T inv_boxcox(T x, T y) {
  dw<T> argument = two_product(x, y);
  if (y == 0 || fabs(argument.hi) < (same<T, f64> ? T(1e-154) : T(1e-19f))) return exp(x);
  if (argument.hi == -1 && argument.lo != 0) return exp(::log(argument.lo) / y);
  if (argument.hi == infinity<T>() && isfinite(x) && isfinite(y)) return exp((::log(fabs(x)) + ::log(fabs(y))) / y);
  if (!(argument.hi > -1 && argument.hi < infinity<T>() && is_normal(y))) return exp(::log1p(argument.hi) / y);
  dw<T> power = quotient(log1p_words<same<T, f32>>(argument), y);
  if (same<T, f64> && fabs(power.hi) > 12) power = large_inverse_power(argument, y);
  return exp_of_words(power);
}

// Of a residual r (Huber, 1964).
template <class T> __device__ inline T huber(T delta, T r) {
  T size = fabs(r);
  return delta < 0 ? infinity<T>() : size <= delta ? T(0.5) * r * r : delta * (size - T(0.5) * delta);
}
// delta^2 (sqrt(1 + v^2) - 1) with v = r / delta, which is r v / (1 + sqrt(1 + v^2)) times delta.
template <class T> __device__ inline T pseudo_huber(T delta, T r) {
  T size = fabs(r);
  if (delta < 0) return infinity<T>();
  if (delta == 0 || r == 0) return 0;
  if (isinf(delta)) return nan<T>();  // as SciPy's
  T v = size / delta;
  if (v > (same<T, f64> ? T(0x1p60) : T(0x1p30f))) return delta * (size - delta);
  dw<T> square = two_product(v, v), more = two_sum(T(1), square.hi);
  dw<T> s = root(dw<T>{more.hi, more.lo + square.lo}), below = two_sum(T(1), s.hi);
  if (!is_normal(size)) return size * (size / below.hi);
  dw<T> q = quotient(dw<T>{size, 0}, dw<T>{below.hi, below.lo + s.lo});
  return size * (q.hi + q.lo);
}

}  // namespace op
