// Samplers of continuous distributions, step by step as NumPy draws them. Each round of a rejection method is an
// attempt of its own (rejection_sampling.cuh): draw(source, value) returns whether it made a number.

// Ziggurat numbers, which always succeed.
struct Normal {
  __device__ explicit Normal(const f64*) {}
  template <class Source> __device__ bool draw(Source& s, Real& value) const {
    value = s.normal();
    return true;
  }
};
struct Exponential {
  __device__ explicit Exponential(const f64*) {}
  template <class Source> __device__ bool draw(Source& s, Real& value) const {
    value = s.exponential();
    return true;
  }
};

// Standard gamma numbers, times a scale. For a shape above 1 by the method of G. Marsaglia and W. W. Tsang (2000).
struct Gamma {
  Real shape, scale, b, c;
  __device__ explicit Gamma(const f64* params) : Gamma(params[0], params[1]) {}
  __device__ explicit Gamma(f64 shape, f64 scale = 1)
      : shape(Real(shape)), scale(Real(scale)), b(Real(shape) - Real(1) / Real(3)), c(Real(1) / root(Real(9) * b)) {}

  __device__ static f64 root(f64 x) { return ::sqrt(x); }
  __device__ static f32 root(f32 x) { return ::sqrtf(x); }
  // By float64, and rounded: NumPy's float32 functions are nearly always correctly rounded, a GPU's are not, and the
  // last bit may decide.
  __device__ static Real log(Real x) { return Real(::log(f64(x))); }
  __device__ static Real pow(Real x, Real y) { return Real(::pow(f64(x), f64(y))); }

  template <class Source> __device__ bool draw(Source& s, Real& value) const {
    const bool made = attempt(s, value);
    value = scale * value;
    return made;
  }

  // A number, by as many attempts as needed: for samplers whose attempts contain whole gamma numbers.
  template <class Source> __device__ Real number(Source& s) const {
    Real value;
    while (!draw(s, value) && !s.is_postponed) {}
    return value;
  }

  template <class Source> __device__ __forceinline__ bool attempt(Source& s, Real& value) const {
    if (shape == 1) {
      value = s.exponential();
      return true;
    }
    if (shape < 1) {
      const Real u = s.uniform(), v = s.exponential();
      if (u <= 1 - shape) {
        value = pow(u, 1 / shape);
        return value <= v;
      }
      if (s.postpones()) return false;
      const Real y = -log((1 - u) / shape);
      value = pow(1 - shape + shape * y, 1 / shape);
      return value <= v + y;
    }
    const Real x = s.normal();
    Real v = 1 + c * x;
    if (v <= 0) return false;
    v = v * v * v;
    const Real u = s.uniform();
    value = b * v;
    if (u < 1 - Real(0.0331) * (x * x) * (x * x)) return true;
    return !s.postpones() && log(u) < Real(0.5) * x * x + b * (1 - v + log(v));
  }
};

// Beta numbers, of two gamma numbers.
struct Beta {
  Gamma first, second;
  __device__ explicit Beta(const f64* params) : first(params[0]), second(params[1]) {}
  template <class Source> __device__ bool draw(Source& s, f64& value) const {
    const f64 x = first.number(s), y = second.number(s);
    value = x / (x + y);
    return true;
  }
};

// Beta numbers where neither parameter is greater than 1: of powers of two uniform numbers whose sum is at most 1
// (M. D. Joehnk, 1964).
struct BetaOfPowers {
  f64 a, b;
  __device__ explicit BetaOfPowers(const f64* params) : a(params[0]), b(params[1]) {}
  template <class Source> __device__ bool draw(Source& s, f64& value) const {
    const f64 u = s.unit(), v = s.unit(), x = ::pow(u, 1.0 / a), y = ::pow(v, 1.0 / b);
    if (!(x + y <= 1 && u + v > 0)) return false;
    if (x > 0 && y > 0) {
      value = x / (x + y);
      return true;
    }
    const f64 delta = ::log(u) / a - ::log(v) / b;
    value = delta > 0 ? ::exp(-::log1p(::exp(-delta))) : ::exp(delta - ::log1p(::exp(delta)));
    return true;
  }
};

// Noncentral chi-square numbers of more than one degree of freedom: a central one of one degree fewer, plus the square
// of a shifted normal number.
struct NoncentralChisquare {
  Gamma central;
  f64 shift;
  __device__ explicit NoncentralChisquare(const f64* params)
      : central((params[0] - 1) / 2.0, 2), shift(::sqrt(params[1])) {}
  template <class Source> __device__ f64 number(Source& s) const {
    const f64 chisquare = central.number(s), x = s.normal() + shift;
    return chisquare + x * x;
  }
  template <class Source> __device__ bool draw(Source& s, f64& value) const {
    value = number(s);
    return true;
  }
};

// Ratios of two chi-square numbers, each over its degrees of freedom.
template <class Numerator> struct Ratio {
  Numerator numerator;
  Gamma denominator;
  f64 df_numerator, df_denominator;
  __device__ Ratio(Numerator numerator, f64 df_numerator, f64 df_denominator)
      : numerator(numerator), denominator(df_denominator / 2.0, 2), df_numerator(df_numerator),
        df_denominator(df_denominator) {}
  template <class Source> __device__ bool draw(Source& s, f64& value) const {
    const f64 x = numerator.number(s) * df_denominator;
    value = x / (denominator.number(s) * df_numerator);
    return true;
  }
};
struct F : Ratio<Gamma> {
  __device__ explicit F(const f64* params) : Ratio(Gamma(params[0] / 2.0, 2), params[0], params[1]) {}
};
struct NoncentralF : Ratio<NoncentralChisquare> {
  // The parameters: degrees of freedom of the numerator, its noncentrality, degrees of freedom of the denominator.
  __device__ explicit NoncentralF(const f64* params) : Ratio(NoncentralChisquare(params), params[0], params[2]) {}
};

// Student's t numbers, of a normal and a gamma number.
struct StandardT {
  Gamma gamma;
  f64 scale;
  __device__ explicit StandardT(const f64* params) : gamma(params[0] / 2), scale(::sqrt(params[0] / 2)) {}
  template <class Source> __device__ bool draw(Source& s, f64& value) const {
    const f64 x = s.normal(), y = gamma.number(s);
    value = scale * x / ::sqrt(y);
    return true;
  }
};

// Wald (inverse Gaussian) numbers.
struct Wald {
  f64 mean, scale;
  __device__ explicit Wald(const f64* params) : mean(params[0]), scale(params[1]) {}
  template <class Source> __device__ bool draw(Source& s, f64& value) const {
    f64 y = s.normal();
    y = mean * y * y;
    const f64 d = 1 + ::sqrt(1 + 4 * scale / y), x = mean * (1 - 2 / d), u = s.unit();
    value = u <= mean / (mean + x) ? x : mean * mean / x;
    return true;
  }
};

// Von Mises angles around the direction mu, for a kappa from 1e-8 to 1e6 (D. J. Best and N. I. Fisher, 1979). The third
// parameter, r, is that of the wrapped Cauchy envelope.
struct VonMises {
  f64 mu, kappa, r;
  __device__ explicit VonMises(const f64* params) : mu(params[0]), kappa(params[1]), r(params[2]) {}
  template <class Source> __device__ bool draw(Source& s, f64& value) const {
    const f64 pi = 3.14159265358979323846;
    const f64 z = ::cos(pi * s.unit()), w = (1 + r * z) / (r + z), y = kappa * (r - w), v = s.unit();
    if (!(y * (2 - y) - v >= 0 || s.postpones() || ::log(y / v) + 1 - y >= 0)) return false;
    const f64 angle = ::acos(w), turned = (s.unit() < 0.5 ? -angle : angle) + mu;
    const f64 within = ::fmod(::fabs(turned) + pi, 2 * pi) - pi;
    value = turned < 0 ? -within : within;
    return true;
  }
};

// Dirichlet vectors: gamma numbers over their sum. One attempt makes a whole row.
struct Dirichlet {
  const f64* shapes;
  __device__ explicit Dirichlet(const f64* params) : shapes(params) {}
  template <class Source> __device__ bool draw(Source& s, f64* values) const {
    f64 sum = 0;
    for (int k = 0; k < WIDTH; ++k) {
      values[k] = shapes[k] == 0 ? 0 : Gamma(shapes[k]).number(s);
      sum = sum + values[k];
    }
    const f64 inverse = 1 / sum;
    for (int k = 0; k < WIDTH; ++k) values[k] = values[k] * inverse;
    return true;
  }
};
