// Numbers of continuous distributions as a RandomState draws them.

// Of a shape less than 1.
struct LegacyGammaBelowOne {
  f64 shape, scale;
  __device__ explicit LegacyGammaBelowOne(const f64* params) : shape(params[0]), scale(params[1]) {}
  template <class Source> __device__ bool draw(Source& s, f64& value) const {
    const f64 u = s.unit(), v = -::log(1.0 - s.unit());
    const bool inner = u <= 1.0 - shape;
    const f64 y = inner ? 0.0 : -::log((1 - u) / shape);
    const f64 x = ::pow(inner ? u : 1.0 - shape + shape * y, 1.0 / shape);
    value = scale * x;
    return x <= v + y;
  }
};

// Two normal numbers of a point of the unit disk, or none.
template <class Source> __device__ bool polar_pair(Source& s, f64* normals) {
  const f64 x = 2.0 * s.unit() - 1.0, y = 2.0 * s.unit() - 1.0, r = x * x + y * y;
  if (r >= 1.0 || r == 0.0) return false;
  const f64 scale = ::sqrt(-2.0 * ::log(r) / r);
  normals[0] = scale * y;
  normals[1] = scale * x;
  return true;
}

// What becomes of two normal numbers, one after the other: up to two numbers each, and NaN for what is missing; and how
// many words that took.
template <class Makes> struct OfPairs : Makes {
  using Makes::Makes;
  template <class Source> __device__ bool draw(Source& s, f64* values) const {
    f64 normals[2];
    const int begin = s.next;
    const bool made = polar_pair(s, normals);
    for (int k = 0; k < 2; ++k) values[k] = made ? this->of(s, normals[k]) : op::nan<f64>();
    values[2] = f64(s.next - begin);
    return true;
  }
};

// Of a shape greater than 1.
struct GammaOfNormal {
  f64 scale, b, c;
  __device__ explicit GammaOfNormal(const f64* params) : scale(params[1]), b(params[0] - 1. / 3.) {
    c = 1. / ::sqrt(9 * b);
  }
  template <class Source> __device__ f64 of(Source& s, f64 x) const {
    f64 v = 1.0 + c * x;
    if (v <= 0.0) return op::nan<f64>();
    v = v * v * v;
    const f64 u = s.unit();
    const bool made = u < 1.0 - 0.0331 * (x * x) * (x * x) || ::log(u) < 0.5 * x * x + b * (1. - v + ::log(v));
    return made ? scale * (b * v) : op::nan<f64>();
  }
};
typedef OfPairs<GammaOfNormal> LegacyGamma;

struct WaldOfNormal {
  f64 mean, scale;
  __device__ explicit WaldOfNormal(const f64* params) : mean(params[0]), scale(params[1]) {}
  template <class Source> __device__ f64 of(Source& s, f64 normal) const {
    const f64 y = mean * normal * normal;
    const f64 x = mean + mean / (2 * scale) * (y - ::sqrt(4 * scale * y + y * y));
    return s.unit() <= mean / (mean + x) ? x : mean * mean / x;
  }
};
typedef OfPairs<WaldOfNormal> LegacyWald;

// Of parameters neither of which is greater than 1.
struct LegacyBeta {
  f64 a, b;
  __device__ explicit LegacyBeta(const f64* params) : a(params[0]), b(params[1]) {}
  template <class Source> __device__ bool draw(Source& s, f64& value) const {
    const f64 u = s.unit(), v = s.unit(), x = ::pow(u, 1.0 / a), y = ::pow(v, 1.0 / b);
    if (x + y > 1.0) return false;
    if (x + y > 0) {
      value = x / (x + y);
      return true;
    }
    f64 log_x = ::log(u) / a, log_y = ::log(v) / b;
    const f64 most = log_x > log_y ? log_x : log_y;
    log_x -= most;
    log_y -= most;
    value = ::exp(log_x - ::log(::exp(log_x) + ::exp(log_y)));
    return true;
  }
};
