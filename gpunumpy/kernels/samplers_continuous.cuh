// Attempts at numbers of continuous distributions, in the steps in which NumPy makes them. Those of a gamma distribution
// begin anew with each pair of words that it refuses.

struct Gamma {
  Real shape, b, c;
  __device__ explicit Gamma(const f64* params) : Gamma(Real(params[0])) {}
  __device__ explicit Gamma(Real shape)
      : shape(shape), b(shape - Real(1) / Real(3)), c(Real(1) / root(Real(9) * b)) {}

  __device__ static f64 root(f64 x) { return ::sqrt(x); }
  __device__ static f32 root(f32 x) { return ::sqrtf(x); }
  __device__ static f64 log(f64 x) { return ::log(x); }
  __device__ static f32 log(f32 x) { return ::logf(x); }
  __device__ static f64 pow(f64 x, f64 y) { return ::pow(x, y); }
  __device__ static f32 pow(f32 x, f32 y) { return ::powf(x, y); }

  template <class Source> __device__ bool draw(Source& s, Real& value) const {
    if (shape == 1) {
      value = s.exponential();
      return true;
    }
    if (shape < 1) {
      const Real u = s.evenly(), v = s.exponential();
      if (u <= 1 - shape) {
        value = pow(u, 1 / shape);
        return value <= v;
      }
      const Real y = -log((1 - u) / shape);
      value = pow(1 - shape + shape * y, 1 / shape);
      return value <= v + y;
    }
    const Real x = s.normal();
    Real v = 1 + c * x;
    if (v <= 0) return false;
    v = v * v * v;
    const Real u = s.evenly();
    value = b * v;
    return u < 1 - Real(0.0331) * (x * x) * (x * x) || log(u) < Real(0.5) * x * x + b * (1 - v + log(v));
  }
};
