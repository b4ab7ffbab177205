// Samplers of distributions as a RandomState draws them.

// Numbers made of normal numbers in turn, each of which may consume further words. `Items` describes a row of them, and
// the phase of an attempt is the item that needs the next normal number. An attempt makes a pair of normal numbers, so
// an item that rejects one goes on with the next.
template <class Items> struct OfNormals : Items {
  using Items::Items;
  __device__ int next(int item) const { return item + 1 < this->count ? item + 1 : 0; }
  // Make the items from `item` on that need no normal number; return the next that does.
  template <class Source> __device__ int skip_to_normal(Source& s, int item, Sink& sink) const {
    for (; !sink.full() && !s.is_postponed && !this->needs_normal(item); item = next(item))
      sink.put(this->without_normal(s, item));
    return item;
  }
  // Use a normal number for an item; return the item that needs the next one.
  template <class Source> __device__ __forceinline__ int use_normal(Source& s, int item, f64 normal, Sink& sink) const {
    Value value;
    if (!this->from_normal(s, item, normal, value) || s.is_postponed) return item;
    sink.put(value);
    return skip_to_normal(s, next(item), sink);
  }
  template <class Source> __device__ __forceinline__ NormalPair begin(Source& s) const {
    const f64 u = s.unit(), v = s.unit();
    return NormalPair(u, v);
  }
  // Make an attempt that begins at `item`; return the item at which it ends, -1 if no attempt begins at `item`.
  template <class Source>
  __device__ __forceinline__ int attempt(Source& s, const NormalPair& pair, int item, Sink& sink) const {
    if (item >= this->count || !this->needs_normal(item)) return -1;
    if (!pair.made) return item;
    item = use_normal(s, item, pair.first, sink);
    sink.left = sink.full();
    return sink.left || s.is_postponed ? item : use_normal(s, item, pair.second, sink);
  }
  // Make the numbers before the first attempt, with a normal number left over from earlier draws if there is one
  // (`has`); return the item at which the first attempt begins.
  template <class Source> __device__ int begin_sampling(Source& s, bool has, f64 left, Sink& sink) const {
    const int item = skip_to_normal(s, 0, sink);
    return has && !sink.full() ? use_normal(s, item, left, sink) : item;
  }
};

// A gamma number of a shape above 1, of a normal number x (G. Marsaglia and W. W. Tsang, 2000). b and c depend on the
// shape. False if x is rejected.
template <class Source> __device__ __forceinline__ bool gamma_of(Source& s, f64 x, f64 b, f64 c, f64& value) {
  f64 v = 1.0 + c * x;
  if (v <= 0.0) return false;
  v = v * v * v;
  const f64 u = s.unit();
  value = b * v;
  if (u < 1.0 - 0.0331 * (x * x) * (x * x)) return true;
  return !s.postpones() && ::log(u) < 0.5 * x * x + b * (1. - v + ::log(v));
}

// A gamma number of a shape up to 1, without normal numbers. False if it is rejected.
template <class Source> __device__ __forceinline__ bool small_gamma(Source& s, f64 shape, f64& value) {
  const f64 u = s.unit();
  if (shape == 1) {
    value = -::log(1.0 - u);
    return true;
  }
  const f64 v = -::log(1.0 - s.unit());
  const bool inner = u <= 1.0 - shape;
  const f64 y = inner ? 0.0 : -::log((1 - u) / shape);
  value = ::pow(inner ? u : 1.0 - shape + shape * y, 1.0 / shape);
  return value <= v + y;
}

// Rows of normal and gamma numbers. The parameters are their count, and the shape, b and c of each, zeros for a normal
// number.
struct GammaItems {
  const f64* items;
  int count;
  __device__ explicit GammaItems(const f64* params) : items(params + 1), count(int(params[0])) {}
  __device__ __forceinline__ bool needs_normal(int item) const { return items[3 * item] == 0 || items[3 * item] > 1; }
  template <class Source> __device__ __forceinline__ bool from_normal(Source& s, int item, f64 x, f64& value) const {
    const f64* params = items + 3 * item;
    value = x;
    return params[0] == 0 || gamma_of(s, x, params[1], params[2], value);
  }
  template <class Source> __device__ f64 without_normal(Source& s, int item) const {
    f64 value;
    while (!small_gamma(s, items[3 * item], value)) {}
    return value;
  }
};
typedef OfNormals<GammaItems> LegacyGammas;

// Rows of gamma numbers of shapes up to 1: no phases are needed.
struct LegacySmallGammas : GammaItems {
  using GammaItems::GammaItems;
  template <class Source> __device__ bool draw(Source& s, f64& value) const {
    return small_gamma(s, items[0], value);
  }
  template <class Source> __device__ bool draw(Source& s, f64* values) const {
    for (int k = 0; k < count; ++k) values[k] = without_normal(s, k);
    return true;
  }
};

// The base of items that are alone in their row and need a normal number.
struct OneItem {
  static const int count = 1;
  __device__ static bool needs_normal(int) { return true; }
  template <class Source> __device__ static Value without_normal(Source&, int) { return 0; }
};

// Wald (inverse Gaussian) numbers.
struct WaldItem : OneItem {
  f64 mean, scale;
  __device__ explicit WaldItem(const f64* params) : mean(params[0]), scale(params[1]) {}
  template <class Source> __device__ bool from_normal(Source& s, int, f64 normal, f64& value) const {
    const f64 y = mean * normal * normal;
    const f64 x = mean + mean / (2 * scale) * (y - ::sqrt(4 * scale * y + y * y));
    value = s.unit() <= mean / (mean + x) ? x : mean * mean / x;
    return true;
  }
};
typedef OfNormals<WaldItem> LegacyWald;

// Beta numbers where neither parameter is greater than 1 (M. D. Joehnk, 1964).
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
    const f64 greater = log_x > log_y ? log_x : log_y;
    log_x -= greater;
    log_y -= greater;
    value = ::exp(log_x - ::log(::exp(log_x) + ::exp(log_y)));
    return true;
  }
};
