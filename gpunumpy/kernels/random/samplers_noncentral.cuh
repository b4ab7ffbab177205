// Noncentral chi-square and F numbers of at most one degree of freedom: central ones with a Poisson number of further
// pairs of degrees.
struct MixedChisquare {
  f64 df, mean;
  __device__ explicit MixedChisquare(const f64* params) : df(params[0]), mean(params[1] / 2.0) {}
  template <class Poisson, class Source> __device__ static i64 number(const Poisson& poisson, Source& s) {
    i64 value = 0;
    while (!poisson.draw(s, value) && !s.is_postponed) {}
    return value;
  }
  template <class Source> __device__ f64 number(Source& s) const {
    const i64 pairs = mean < 10 ? number(PoissonProduct(mean), s) : number(PoissonRatio(mean), s);
    return Gamma((df + 2 * pairs) / 2.0, 2).number(s);
  }
  template <class Source> __device__ bool draw(Source& s, f64& value) const {
    value = number(s);
    return true;
  }
};
struct MixedF : Ratio<MixedChisquare> {
  __device__ explicit MixedF(const f64* params) : Ratio(MixedChisquare(params), params[0], params[2]) {}
};
