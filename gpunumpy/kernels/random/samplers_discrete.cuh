// Samplers of discrete distributions, step by step as NumPy draws them. Each round of a rejection method is an attempt
// of its own (rejection_sampling.cuh): draw(source, value) returns whether it made a number. What depends on the
// parameters alone comes from the host (random/discrete_plans.py), so that it equals NumPy's value to the last bit.

// A float64 as an int64; the least int64 stands for all that int64 cannot hold.
__device__ __forceinline__ i64 whole(f64 x) { return x >= -0x1p63 && x < 0x1p63 ? i64(x) : i64(1ull << 63); }

// The logarithm of the gamma function, as NumPy's `random_loggam`: by Stirling's series above 7.
__device__ __noinline__ f64 log_gamma(f64 x) {
  if (x == 1 || x == 2) return 0;
  const f64 series[10] = {8.333333333333333e-02,  -2.777777777777778e-03, 7.936507936507937e-04, -5.952380952380952e-04,
                          8.417508417508418e-04,  -1.917526917526918e-03, 6.410256410256410e-03, -2.955065359477124e-02,
                          1.796443723688307e-01,  -1.39243221690590e+00};
  const int steps = x <= 7 ? int(7 - x) : 0;
  f64 y = x + steps, sum = series[9];
  const f64 square = 1 / (y * y);
  for (int k = 8; k >= 0; --k) sum = sum * square + series[k];
  f64 value = sum / y + 0.5 * 1.8378770664093453 + (y - 0.5) * ::log(y) - y;
  for (int k = 0; k < steps; ++k) {
    y -= 1;
    value -= ::log(y);
  }
  return value;
}

// Poisson numbers of small means: how many uniform factors keep a product above exp(-mean).
struct PoissonProduct {
  f64 least;
  __device__ explicit PoissonProduct(const f64* params) : least(params[0]) {}
  __device__ explicit PoissonProduct(f64 mean) : least(::exp(-mean)) {}
  template <class Source> __device__ bool draw(Source& s, i64& value) const {
    f64 product = s.unit();
    for (value = 0; product > least; ++value) product *= s.unit();
    return true;
  }
};

// Poisson numbers of means of at least 10, by transformed rejection (PTRS, W. Hoermann, 1993). The logarithms of the
// parameters come from the host, or are computed when needed (`known` is false).
struct PoissonRatio {
  f64 mean, log_mean, a, b, log_scale, sure;
  bool known;
  __device__ explicit PoissonRatio(const f64* params)
      : mean(params[0]), log_mean(params[1]), a(params[2]), b(params[3]), log_scale(params[4]), sure(params[5]),
        known(true) {}
  __device__ explicit PoissonRatio(f64 mean) : mean(mean), known(false) {
    b = 0.931 + 2.53 * ::sqrt(mean);
    a = -0.059 + 0.02483 * b;
    sure = 0.9277 - 3.6224 / (b - 2);
  }
  template <class Source> __device__ bool draw(Source& s, i64& value) const {
    const f64 u = s.unit() - 0.5, v = s.unit(), rest = 0.5 - ::fabs(u);
    value = whole(::floor((2 * a / rest + b) * u + mean + 0.43));
    if (rest >= 0.07 && v <= sure) return true;
    if (value < 0 || (rest < 0.013 && v > rest)) return false;
    if (s.postpones()) return false;
    const f64 k = f64(value), log_mean = known ? this->log_mean : ::log(mean);
    const f64 log_scale = known ? this->log_scale : ::log(1.1239 + 1.1328 / (b - 3.4));
    return ::log(v) + log_scale - ::log(a / (rest * rest) + b) <= -mean + k * log_mean - log_gamma(k + 1);
  }
};

// Binomial numbers of means up to 30, for a probability p of at most 1/2, by inversion: the probabilities of 0, 1, ...
// are subtracted from a uniform number. Past `bound`, where only rounding errors lead, the attempt fails.
struct BinomialInversion {
  i64 n, bound;
  f64 p, q, none;
  bool flipped;
  __device__ explicit BinomialInversion(const f64* params)
      : n(i64(params[0])), bound(i64(params[1])), p(params[2]), q(params[3]), none(params[4]),
        flipped(params[5] != 0) {}
  __device__ BinomialInversion(i64 n, f64 p, bool flipped, bool legacy = false)
      : n(n), p(p), q(1 - p), flipped(flipped) {
    none = ::exp(n * (legacy ? ::log(q) : ::log1p(-p)));
    const f64 mean = n * p, most = mean + 10 * ::sqrt(mean * q + 1);
    bound = i64(f64(n) < most ? f64(n) : most);
  }
  template <class Source> __device__ bool draw(Source& s, i64& value) const {
    f64 u = s.unit(), px = none;
    i64 x = 0;
    while (u > px) {
      if (++x > bound) return false;
      u -= px;
      px = ((n - x + 1) * p * px) / (x * q);
    }
    value = flipped ? n - x : x;
    return true;
  }
};

// Binomial numbers of greater means: a point below a triangle, two parallelograms or two exponential tails (BTPE,
// V. Kachitvichyanukul and B. W. Schmeiser, 1988). The names are those of NumPy and of the paper.
struct BinomialRegions {
  i64 n, m;
  f64 r, q, p1, p2, p3, p4, xm, xl, xr, c, left, right;
  f64 first, sign;  // of Stirling's series: the first coefficient, and the sign of the terms of x and w
  bool flipped;
  __device__ explicit BinomialRegions(const f64* params)
      : BinomialRegions(i64(params[0]), params[1], params[2] != 0, params[3], params[4]) {}
  __device__ BinomialRegions(i64 n, f64 p, bool flipped, f64 first, f64 sign)
      : n(n), r(p), q(1 - p), first(first), sign(sign), flipped(flipped) {
    const f64 fm = n * r + r;
    m = whole(::floor(fm));
    p1 = ::floor(2.195 * ::sqrt(n * r * q) - 4.6 * q) + 0.5;
    xm = m + 0.5;
    xl = xm - p1;
    xr = xm + p1;
    c = 0.134 + 20.5 / (15.3 + m);
    const f64 below = (fm - xl) / (fm - xl * r), above = (xr - fm) / (xr * q);
    left = below * (1 + below / 2);
    right = above * (1 + above / 2);
    p2 = p1 * (1 + 2 * c);
    p3 = p2 + c / left;
    p4 = p3 + c / right;
  }
  __device__ __forceinline__ f64 series(f64 x) const {
    const f64 y = x * x;
    return (first - (462 - (132 - (99 - 140 / y) / y) / y) / y) / x / 166320;
  }
  // Whether the height v is below the scaled probability of y.
  __device__ __noinline__ bool below(i64 y, f64 v) const {
    const f64 nrq = n * r * q;
    const i64 k = y < m ? m - y : y - m;
    if (k <= 20 || !(k < nrq / 2 - 1)) {
      const f64 s = r / q, a = s * (n + 1);
      f64 f = 1;
      for (i64 i = m + 1; i <= y; ++i) f *= a / i - s;
      for (i64 i = y + 1; i <= m; ++i) f /= a / i - s;
      return v <= f;
    }
    const f64 rho = (k / nrq) * ((k * (k / 3.0 + 0.625) + 0.16666666666666666) / nrq + 0.5);
    const f64 t = f64(-i64(u64(k) * u64(k))) / (2 * nrq), height = ::log(v);
    if (height < t - rho) return true;
    if (height > t + rho) return false;
    const f64 x = f64(y + 1), f = f64(m + 1), z = f64(n + 1 - m), w = f64(n - y + 1);
    return height <= xm * ::log(f / x) + (n - m + 0.5) * ::log(z / w) + (y - m) * ::log(w * r / (x * q)) + series(f) +
                         series(z) + sign * series(x) + sign * series(w);
  }
  template <class Source> __device__ bool draw(Source& s, i64& value) const {
    const f64 u = s.unit() * p4;
    f64 v = s.unit();
    i64 y;
    if (u <= p1) {
      y = whole(::floor(xm - p1 * v + u));
      value = flipped ? n - y : y;
      return true;
    }
    if (u <= p2) {
      const f64 x = xl + (u - p1) / c;
      v = v * c + 1 - ::fabs(m - x + 0.5) / p1;
      if (v > 1 || s.postpones()) return false;
      y = whole(::floor(x));
    } else if (s.postpones()) {
      return false;
    } else if (u <= p3) {
      y = whole(::floor(xl + ::log(v) / left));
      if (y < 0 || v == 0) return false;
      v = v * (u - p2) * left;
    } else {
      y = whole(::floor(xr - ::log(v) / right));
      if (y > n || v == 0) return false;
      v = v * (u - p3) * right;
    }
    value = flipped ? n - y : y;
    return below(y, v);
  }
};

// Multinomial rows: for each outcome but the last a binomial number of the trials that are left, given the probability
// of the outcome among those that are left.
template <bool LEGACY> struct Multinomial {
  i64 n;
  const f64* params;
  __device__ explicit Multinomial(const f64* params) : n(i64(params[0])), params(params) {}
  template <class Source> __device__ bool draw(Source& s, i64* values) const {
    i64 left = n;
    for (int k = 0; k < WIDTH && !s.is_postponed; ++k) {
      i64 value = k == WIDTH - 1 ? left : 0;
      if (k < WIDTH - 1 && left > 0) value = binomial(s, left, params[3 + k]);
      values[k] = value;
      left -= value;
    }
    return true;
  }
  template <class Source> __device__ __noinline__ i64 binomial(Source& s, i64 n, f64 p) const {
    i64 value = 0;
    if (p == 0 && !LEGACY) return value;
    const bool flipped = !(p <= 0.5);
    if (flipped) p = 1 - p;
    if (p * n <= 30) {
      const BinomialInversion number(n, p, flipped, LEGACY);
      while (!number.draw(s, value) && !s.is_postponed) continue;
    } else {
      const BinomialRegions number(n, p, flipped, params[1], params[2]);
      while (!number.draw(s, value) && !s.is_postponed) continue;
    }
    return value;
  }
};

// Hypergeometric numbers of small samples: one item at a time, by masked words of 32 bits.
struct HypergeometricFew {
  i64 good, bad, sample;
  __device__ explicit HypergeometricFew(const f64* params)
      : good(i64(params[0])), bad(i64(params[1])), sample(i64(params[2])) {}
  template <class Source> __device__ bool draw(Source& s, i64& value) const {
    const i64 all = good + bad;
    const bool draws_complement = sample > all / 2;
    i64 left = draws_complement ? all - sample : sample, total = all, good_left = good;
    while (left > 0 && good_left > 0 && total > good_left) {
      --total;
      const u32 mask = ~0u >> __clz(int(u32(total)));
      u32 chosen = s.word32() & mask;
      while (chosen > u32(total)) chosen = s.word32() & mask;
      if (chosen < u32(good_left)) --good_left;
      --left;
    }
    if (total == good_left) good_left -= left;
    value = draws_complement ? good_left : good - good_left;
    return true;
  }
};

// Hypergeometric numbers of small samples, as a RandomState draws them: one item at a time, by uniform numbers (HYP).
struct HypergeometricUnits {
  i64 good, bad, sample;
  __device__ explicit HypergeometricUnits(const f64* params)
      : good(i64(params[0])), bad(i64(params[1])), sample(i64(params[2])) {}
  template <class Source> __device__ bool draw(Source& s, i64& value) const {
    const i64 others = good + bad - sample;
    const f64 fewer = f64(good < bad ? good : bad);
    f64 left = fewer;
    for (i64 k = sample; k > 0 && left > 0; --k) left -= f64(i64(::floor(s.unit() + left / (others + k))));
    value = i64(fewer - left);
    if (good > bad) value = sample - value;
    return true;
  }
};

// Hypergeometric numbers of larger samples, by ratios of uniform numbers (HRUA, E. Stadlober, 1989).
template <bool LEGACY> struct HypergeometricRatio {
  const f64* log_factorials;  // of 0 to 125
  i64 good, fewer, more, drawn;
  f64 a, h, bound, g;
  bool flipped, is_complement;
  __device__ explicit HypergeometricRatio(const f64* params)
      : log_factorials(params + 10), good(i64(params[0])), fewer(i64(params[1])), more(i64(params[2])),
        drawn(i64(params[3])), a(params[4]), h(params[5]), bound(params[6]), g(params[7]), flipped(params[8] != 0),
        is_complement(params[9] != 0) {}
  __device__ f64 log_factorial(i64 k) const {
    if (LEGACY) return log_gamma(f64(k + 1));
    if (k < 126) return log_factorials[k];
    const f64 x = f64(k);
    return (x + 0.5) * ::log(x) - x + (0.9189385332046728 + (1 / x) * (1 / 12.0 - 1 / (360 * x * x)));
  }
  template <class Source> __device__ bool draw(Source& s, i64& value) const {
    const f64 u = s.unit(), v = s.unit(), x = a + h * (v - 0.5) / u;
    if (!(x >= 0 && x < bound)) return false;
    const i64 k = i64(::floor(x));
    const f64 t = g - (log_factorial(k) + log_factorial(fewer - k) + log_factorial(drawn - k) +
                       log_factorial(more - drawn + k));
    value = flipped ? drawn - k : k;
    if (is_complement) value = good - value;
    if (u * (4 - u) - 3 <= t) return true;
    return u * (u - t) < 1 && 2 * ::log(u) <= t;
  }
};

// Logarithmic series numbers (A. W. Kemp, 1981); `log_rest` is log(1 - p).
template <bool LEGACY> struct LogarithmicSeries {
  f64 p, log_rest;
  __device__ explicit LogarithmicSeries(const f64* params) : p(params[0]), log_rest(params[1]) {}
  template <class Source> __device__ bool draw(Source& s, i64& value) const {
    value = 1;
    const f64 v = s.unit();
    if (v >= p) return true;
    const f64 power = log_rest * s.unit(), q = LEGACY ? 1 - ::exp(power) : -::expm1(power);
    if (v > q * q) {
      if (v < q) value = 2;
      return true;
    }
    value = whole(::floor(1 + ::log(v) / ::log(q)));
    return value >= 1 && v != 0;
  }
};

// Zipf numbers (L. Devroye, 1986): `power` is -1 / (a - 1), b is 2^(a - 1), and `least` is the smallest uniform number
// of which int64 can hold the power.
struct Zipf {
  f64 a_minus_1, power, b, least;
  __device__ explicit Zipf(const f64* params)
      : a_minus_1(params[0]), power(params[1]), b(params[2]), least(params[3]) {}
  template <class Source> __device__ bool draw(Source& s, i64& value) const {
    const f64 uniform = s.unit(), u = uniform * least + (1 - uniform), v = s.unit();
    const f64 x = ::floor(::pow(u, power));
    if (x > 0x1p63 || x < 1) return false;
    value = whole(x);
    const f64 t = ::pow(1 + 1 / x, a_minus_1);
    return v * x * (t - 1) / (b - 1) <= t / b;
  }
};

// Geometric numbers of large p: the first whose cumulative probability is not below a uniform number.
struct GeometricSearch {
  f64 p;
  __device__ explicit GeometricSearch(const f64* params) : p(params[0]) {}
  template <class Source> __device__ bool draw(Source& s, i64& value) const {
    const f64 u = s.unit(), q = 1 - p;
    f64 sum = p, term = p;
    for (value = 1; u > sum; ++value) {
      term *= q;
      if (sum + term == sum) break;
      sum += term;
    }
    return true;
  }
};

// Geometric numbers of small p, by inversion; `log_rest` is log(1 - p).
struct GeometricInversion {
  f64 log_rest;
  __device__ explicit GeometricInversion(const f64* params) : log_rest(params[0]) {}
  template <class Source> __device__ bool draw(Source& s, i64& value) const {
    value = whole(::ceil(::log1p(-s.unit()) / log_rest));
    return true;
  }
};
