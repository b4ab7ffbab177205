// Samplers of mixed distributions: a parameter of the number is a random number itself.

// Negative binomial numbers: Poisson numbers with gamma numbers as means.
struct NegativeBinomial {
  Gamma gamma;
  f64 scale;
  __device__ explicit NegativeBinomial(const f64* params) : gamma(params[0]), scale(params[1]) {}
  template <class Source> __device__ bool draw(Source& s, i64& value) const {
    f64 mean;
    if (!gamma.draw(s, mean)) return false;
    mean = scale * mean;
    value = 0;
    if (mean >= 10) {
      const PoissonRatio poisson(mean);
      while (!poisson.draw(s, value) && !s.is_postponed) continue;
    } else if (mean != 0) {
      PoissonProduct(mean).draw(s, value);
    }
    return true;
  }
};
