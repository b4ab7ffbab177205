// The states of reductions that are more than one running value.
namespace op {

// An index of -1 is no element yet.
template <class T> struct arg {
  T value;
  i64 index;
};
template <class T> __device__ inline arg<T> no_arg() {
  arg<T> out = {};
  out.index = -1;
  return out;
}
template <bool Max, class T> __device__ inline bool beats(T a, T b) {
  if constexpr (kind<T> == 1) return beats<Max>(f32(a), f32(b));
  else if (isnan(b)) return false;
  else if (isnan(a)) return true;
  else return Max ? a > b : a < b;
}
// The first index of the best value, whatever the order of combination.
template <bool Max, class T> __device__ inline arg<T> best(arg<T> a, arg<T> b) {
  if (a.index < 0) return b;
  if (b.index < 0) return a;
  if (beats<Max>(a.value, b.value)) return a;
  if (beats<Max>(b.value, a.value)) return b;
  return a.index < b.index ? a : b;
}

// Sums of (x - shift) and |x - shift|^2. A state starts with its first element as the shift, so nothing cancels however
// far the mean is from zero, and adding an element takes no division.
template <class T, class R> struct moments {
  R n, q;
  T shift, s;
};
__device__ inline f64 norm(f64 x) { return x * x; }
__device__ inline f64 dot(f64 a, f64 b) { return a * b; }
__device__ inline f64 norm(c128 z) { return z.re * z.re + z.im * z.im; }
__device__ inline f64 dot(c128 a, c128 b) { return a.re * b.re + a.im * b.im; }
__device__ inline f64 scaled(f64 x, f64 by) { return x * by; }
__device__ inline c128 scaled(c128 z, f64 by) { return {z.re * by, z.im * by}; }

template <class T> __device__ inline moments<T, f64> first_moments(T x) { return {1, 0, x, T{}}; }
template <class T> __device__ inline moments<T, f64> no_moments() { return {0, 0, T{}, T{}}; }
template <class T> __device__ inline moments<T, f64> merge(moments<T, f64> a, moments<T, f64> b) {
  if (a.n == 0) return b;
  if (b.n == 0) return a;
  T d = b.shift - a.shift;
  return {a.n + b.n, a.q + b.q + 2 * dot(d, b.s) + b.n * norm(d), a.shift, a.s + b.s + scaled(d, b.n)};
}
template <class T> __device__ inline moments<T, f64> push(moments<T, f64> a, T x) {
  if (a.n == 0) return first_moments(x);
  T d = x - a.shift;
  return {a.n + 1, a.q + norm(d), a.shift, a.s + d};
}
template <class T> __device__ inline f64 variance(moments<T, f64> m, f64 ddof) {
  f64 freedom = m.n - ddof, total = m.q - norm(m.s) / m.n;
  return (total < 0 ? 0 : total) / (freedom < 0 ? 0 : freedom);
}

}  // namespace op
