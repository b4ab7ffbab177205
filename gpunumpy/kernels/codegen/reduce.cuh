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

// The greater or the lesser of two, NaN if one is; which of two zeros is open, unlike in maximum and minimum.
template <bool Max> __device__ inline f32 further(f32 a, f32 b) {
#if __CUDA_ARCH__ >= 800
  if constexpr (Max) asm("max.NaN.f32 %0, %1, %2;" : "=f"(a) : "f"(a), "f"(b));
  else asm("min.NaN.f32 %0, %1, %2;" : "=f"(a) : "f"(a), "f"(b));
  return a;
#else
  return Max ? maximum(a, b) : minimum(a, b);
#endif
}
template <bool Max, class T> __device__ inline T further(T a, T b) {
  if constexpr (kind<T> == 0) return (Max ? a > b : a < b) ? a : b;
  else if constexpr (kind<T> == 1) return T(further<Max>(f32(a), f32(b)));
  else return Max ? maximum(a, b) : minimum(a, b);
}
template <bool Max, class T, class X, int N>
__device__ __forceinline__ T extreme(T a, const X (&x)[N], const bool (&there)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i)
    if (there[i]) a = further<Max>(a, cast<T>(x[i]));
  return a;
}

// Sums of (x - shift) and |x - shift|^2. A state starts with its first element as the shift, so nothing cancels however
// far the mean is from zero, and adding an element takes no division.
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
// About the shift of another state: such states are combined by adding them up.
template <class T> __device__ inline moments<T, f64> rebased(moments<T, f64> a, moments<T, f64> to) {
  T d = a.shift - to.shift;
  if (a.n == 0) return {0, 0, to.shift, T{}};
  return {a.n, a.q + 2 * dot(d, a.s) + a.n * norm(d), to.shift, a.s + scaled(d, a.n)};
}
template <class T> __device__ inline moments<T, f64> join(moments<T, f64> a, moments<T, f64> b) {
  return {a.n + b.n, a.q + b.q, a.shift, a.s + b.s};
}
template <class T> __device__ inline moments<T, f64> merge(moments<T, f64> a, moments<T, f64> b) {
  return a.n == 0 ? b : join(a, rebased(b, a));
}
template <class T> __device__ inline moments<T, f64> push(moments<T, f64> a, T x) {
  if (a.n == 0) return first_moments(x);
  T d = x - a.shift;
  return {a.n + 1, a.q + norm(d), a.shift, a.s + d};
}
// Elements at once, in a type P as narrow as the result: what they are from about their own mean is small and sums of
// it are exact enough, and what that mean is off is in the state. Scaled before they are summed, they cannot overflow.
template <class P, class T, class X, int N>
__device__ __forceinline__ moments<T, f64> push(moments<T, f64> a, const X (&x)[N], const bool (&there)[N]) {
  P mean = {}, s = {};
  decltype(norm(s)) q = 0;
  int n = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    if (there[i]) mean = mean + scaled(cast<P>(x[i]), 1.0 / N);
    n += there[i];
  }
  mean = scaled(mean, n == N ? 1.0f : f32(N) / f32(n));
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const P d = there[i] ? cast<P>(x[i]) - mean : P{};
    s = s + d;
    q = q + norm(d);
  }
  return merge(a, {f64(n), f64(q), cast<T>(mean), cast<T>(s)});
}
template <class T> __device__ inline f64 variance(moments<T, f64> m, f64 ddof) {
  f64 freedom = m.n - ddof, total = m.q - norm(m.s) / m.n;
  return (total < 0 ? 0 : total) / (freedom < 0 ? 0 : freedom);
}

}  // namespace op
