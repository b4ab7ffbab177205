// Negative binomial numbers as a RandomState draws them: Poisson numbers with gamma numbers as means.

template <class Source> __device__ i64 poisson_of(Source& s, f64 mean) {
  i64 value = 0;
  if (mean >= 10) {
    const PoissonRatio poisson(mean);
    while (!poisson.draw(s, value) && !s.is_postponed) {}
  } else if (mean != 0) {
    PoissonProduct(mean).draw(s, value);
  }
  return value;
}

// Negative binomial numbers of n > 1. The parameters are n, the scale, and b and c of `gamma_of`.
struct MixedItem : OneItem {
  f64 scale, b, c;
  __device__ explicit MixedItem(const f64* params) : scale(params[1]), b(params[2]), c(params[3]) {}
  template <class Source> __device__ bool from_normal(Source& s, int, f64 normal, i64& value) const {
    f64 mean;
    if (!gamma_of(s, normal, b, c, mean)) return false;
    value = poisson_of(s, scale * mean);
    return true;
  }
};
typedef OfNormals<MixedItem> LegacyNegativeBinomial;

// Negative binomial numbers of n <= 1.
struct LegacySmallNegativeBinomial {
  f64 shape, scale;
  __device__ explicit LegacySmallNegativeBinomial(const f64* params) : shape(params[0]), scale(params[1]) {}
  template <class Source> __device__ bool draw(Source& s, i64& value) const {
    f64 mean;
    if (!small_gamma(s, shape, mean)) return false;
    value = poisson_of(s, scale * mean);
    return true;
  }
};
