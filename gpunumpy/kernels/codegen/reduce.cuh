// The states of reductions that need more than one running value.
namespace op {

// The state of argmax and argmin. Index -1: no element yet.
template <class T> struct arg {
  T value;
  i64 index;
};
template <class T> __device__ inline arg<T> no_arg() {
  arg<T> out = {};
  out.index = -1;
  return out;
}
template <bool Max, class T> __device__ inline bool is_better(T a, T b) {
  if constexpr (kind<T> == 1) return is_better<Max>(f32(a), f32(b));
  else if (isnan(b)) return false;
  else if (isnan(a)) return true;
  else return Max ? a > b : a < b;
}
// The state with the better value; of equal values the lower index, so that the order of combination does not matter.
template <bool Max, class T> __device__ inline arg<T> best(arg<T> a, arg<T> b) {
  if (a.index < 0) return b;
  if (b.index < 0) return a;
  if (is_better<Max>(a.value, b.value)) return a;
  if (is_better<Max>(b.value, a.value)) return b;
  return a.index < b.index ? a : b;
}

// The greater (or lesser) of two values; NaN if either is NaN. Unlike in `maximum`, the sign of a zero is unspecified.
template <bool Max> __device__ inline f32 extreme_of_two(f32 a, f32 b) {
#if __CUDA_ARCH__ >= 800
  if constexpr (Max) asm("max.NaN.f32 %0, %1, %2;" : "=f"(a) : "f"(a), "f"(b));
  else asm("min.NaN.f32 %0, %1, %2;" : "=f"(a) : "f"(a), "f"(b));
  return a;
#else
  return Max ? maximum(a, b) : minimum(a, b);
#endif
}
template <bool Max, class T> __device__ inline T extreme_of_two(T a, T b) {
  if constexpr (kind<T> == 0) return (Max ? a > b : a < b) ? a : b;
  else if constexpr (kind<T> == 1) return T(extreme_of_two<Max>(f32(a), f32(b)));
  else return Max ? maximum(a, b) : minimum(a, b);
}
template <bool Max, class T, class X, int N>
__device__ __forceinline__ T extreme(T a, const X (&x)[N], const bool (&exists)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (exists[i]) a = extreme_of_two<Max>(a, cast<T>(x[i]));
  return a;
}

// The state of mean and variance: the count n, the sum s of (x - shift), and the sum q of |x - shift|^2. The shift is
// the first element, so that nothing cancels however far the mean is from zero, and adding an element takes no
// division.
template <class T, class R> struct moments {
  R n, q;
  T shift, s;
};
template <class T> __device__ inline T norm(T x) { return x * x; }
template <class T> __device__ inline T dot(T a, T b) { return a * b; }
template <class T> __device__ inline T scaled(T x, f64 by) { return x * T(by); }
template <class T> __device__ inline T norm(cx<T> z) { return z.re * z.re + z.im * z.im; }
template <class T> __device__ inline T dot(cx<T> a, cx<T> b) { return a.re * b.re + a.im * b.im; }
template <class T> __device__ inline cx<T> scaled(cx<T> z, f64 by) { return {z.re * T(by), z.im * T(by)}; }

template <class T> __device__ inline moments<T, f64> first_moments(T x) { return {1, 0, x, T{}}; }
template <class T> __device__ inline moments<T, f64> no_moments() { return {0, 0, T{}, T{}}; }
// State `a` about the shift of state `to`. States with the same shift are combined by adding them.
template <class T> __device__ inline moments<T, f64> rebased(moments<T, f64> a, moments<T, f64> to) {
  T d = a.shift - to.shift;
  if (a.n == 0) return {0, 0, to.shift, T{}};
  return {a.n, a.q + 2 * dot(d, a.s) + a.n * norm(d), to.shift, a.s + scaled(d, a.n)};
}
template <class T> __device__ inline moments<T, f64> combine_aligned(moments<T, f64> a, moments<T, f64> b) {
  return {a.n + b.n, a.q + b.q, a.shift, a.s + b.s};
}
template <class T> __device__ inline moments<T, f64> merge(moments<T, f64> a, moments<T, f64> b) {
  return a.n == 0 ? b : combine_aligned(a, rebased(b, a));
}
template <class T> __device__ inline moments<T, f64> push(moments<T, f64> a, T x) {
  if (a.n == 0) return first_moments(x);
  T d = x - a.shift;
  return {a.n + 1, a.q + norm(d), a.shift, a.s + d};
}
// Adds `count` elements x(i) at once, those of which exists(i), computing in a type P as narrow as the result. Their
// differences from their own mean are small, so sums of them are accurate enough; the rounding error of that mean is
// accounted for by s. The elements are scaled by 1 / count before they are summed, so the sum cannot overflow.
template <class P, class T, class X, class E>
__device__ __forceinline__ moments<T, f64> push_each(moments<T, f64> a, const int count, X x, E exists) {
  P mean = {}, s = {};
  decltype(norm(s)) q = 0;
  int n = 0;
#pragma unroll
  for (int i = 0; i < count; ++i) {
    if (exists(i)) mean = mean + scaled(cast<P>(x(i)), 1.0 / count);
    n += exists(i);
  }
  mean = scaled(mean, n == count ? 1.0f : f32(count) / f32(n));
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const P d = exists(i) ? cast<P>(x(i)) - mean : P{};
    s = s + d;
    q = q + norm(d);
  }
  return merge(a, {f64(n), f64(q), cast<T>(mean), cast<T>(s)});
}
template <class P, class T, class X, int N>
__device__ __forceinline__ moments<T, f64> push(moments<T, f64> a, const X (&x)[N], const bool (&exists)[N]) {
  return push_each<P>(a, N, [&](int i) { return x[i]; }, [&](int i) { return exists[i]; });
}
template <class T> __device__ inline f64 variance(moments<T, f64> m, f64 ddof) {
  f64 freedom = m.n - ddof, total = m.q - norm(m.s) / m.n;
  return (total < 0 ? 0 : total) / (freedom < 0 ? 0 : freedom);
}

}  // namespace op
