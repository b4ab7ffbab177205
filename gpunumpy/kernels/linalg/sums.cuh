// Sums of squares and products over the lanes that share a row or a column, in a fixed order; reflections; scales.

namespace la {

// Iterations give up after so many sweeps or steps.
const int MAX_SWEEPS = 40;

// x + conj(a) * b
__device__ inline f32 add_conj_mul(f32 x, f32 a, f32 b) { return ::fma(a, b, x); }
__device__ inline f64 add_conj_mul(f64 x, f64 a, f64 b) { return ::fma(a, b, x); }
template <class T> __device__ inline cx<T> add_conj_mul(cx<T> x, cx<T> a, cx<T> b) {
  return {::fma(a.im, b.im, ::fma(a.re, b.re, x.re)), ::fma(-a.im, b.re, ::fma(a.re, b.im, x.im))};
}
// x + by * y
__device__ inline f32 add_scaled(f32 x, f32 y, f32 by) { return ::fma(by, y, x); }
__device__ inline f64 add_scaled(f64 x, f64 y, f64 by) { return ::fma(by, y, x); }
template <class T> __device__ inline cx<T> add_scaled(cx<T> x, cx<T> y, T by) {
  return {::fma(by, y.re, x.re), ::fma(by, y.im, x.im)};
}
__device__ inline f32 square(f32 x) { return x * x; }
__device__ inline f64 square(f64 x) { return x * x; }
template <class T> __device__ inline T square(cx<T> x) { return ::fma(x.im, x.im, x.re * x.re); }
// 1 / sqrt(x), refined: the device's `rsqrt` is off by two roundings.
template <class R> __device__ inline R inverse_root(R x) {
  const R y = ::rsqrt(x);
  return ::fma(y, ::fma(R(-0.5) * x * y, y, R(0.5)), y);
}
// 1 / x within one or two roundings, for numbers that are neither tiny nor huge; 0 gives NaN.
__device__ inline f32 quick_inverse(f32 x) { return 1 / x; }
__device__ inline f64 quick_inverse(f64 x) {
#ifdef __CUDA_ARCH__
  f64 y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  y = ::fma(y, ::fma(-x, y, 1.0), y);
  return ::fma(y, ::fma(-x, y, 1.0), y);
#else
  return 1 / x;
#endif
}
template <class T> __device__ inline bool is_finite_number(T x) {
  if constexpr (op::kind<T> == 3) return isfinite(x.re) && isfinite(x.im);
  else return isfinite(x);
}
template <class T> __device__ inline Real<T> largest_part(T x) {
  if constexpr (op::kind<T> == 3) return ::fmax(::fabs(x.re), ::fabs(x.im));
  else return ::fabs(x);
}
template <class R> constexpr R EPSILON = R(1.1920928955078125e-7);
template <> constexpr f64 EPSILON<f64> = 2.220446049250313e-16;
// The largest exponent of a power of two by which matrices are scaled.
template <class R> constexpr int LARGEST_POWER = 120;
template <> constexpr int LARGEST_POWER<f64> = 1000;
// A smaller sum of squares has lost digits to underflow.
template <class R> constexpr R MIN_SUM_OF_SQUARES = R(1e-30);
template <> constexpr f64 MIN_SUM_OF_SQUARES<f64> = 1e-290;
// The squared length below which a row is negligible beside a row of length 1.
template <class R> constexpr R NEGLIGIBLE_SQUARE = R(2e-16);
template <> constexpr f64 NEGLIGIBLE_SQUARE<f64> = 7e-34;

// The sum over a team of neighbouring lanes; the other lanes of the warp need not take part.
template <int TEAM, class T> __device__ inline T team_sum(T x) {
  const u32 team_lanes = TEAM == 32 ? ALL : ((1u << (TEAM % 32)) - 1) << (threadIdx.x % 32 / TEAM * TEAM);
#pragma unroll
  for (int step = TEAM / 2; step; step /= 2) {
    if constexpr (op::kind<T> == 3) {
      x = x + T{__shfl_xor_sync(team_lanes, x.re, step), __shfl_xor_sync(team_lanes, x.im, step)};
    } else {
      x += __shfl_xor_sync(team_lanes, x, step);
    }
  }
  return x;
}

// The maximum over a team of neighbouring lanes.
template <int TEAM, class R> __device__ inline R team_max(R x) {
  const u32 team_lanes = TEAM == 32 ? ALL : ((1u << (TEAM % 32)) - 1) << (threadIdx.x % 32 / TEAM * TEAM);
#pragma unroll
  for (int step = TEAM / 2; step; step /= 2) x = ::fmax(x, __shfl_xor_sync(team_lanes, x, step));
  return x;
}

// The reflection 1 - factor v v^H that makes the first element of a column the real number `beta`, and the others zero.
// v begins with 1, and goes on with the other elements of the column, each passed through `scaled`.
template <class T> struct Reflection {
  T factor, shrink;
  Real<T> beta, unit;
  __device__ T scaled(T x) const { return times(x, unit) * shrink; }
};

// Make the reflection of a column that begins with `alpha` and goes on with `x(first)` to `x(end - 1)`; a team shares
// the elements. Numbers so small that their squares underflow are first multiplied by a power of two.
template <int TEAM, class T, class X> __device__ inline Reflection<T> reflection(T alpha, int first, int end, X x) {
  typedef Real<T> R;
  const int lane = threadIdx.x % TEAM;
  R sum = 0, unit = 1;
  for (int i = first + lane; i < end; i += TEAM) sum += square(x(i));
  sum = team_sum<TEAM>(sum);
  if (sum + square(alpha) < MIN_SUM_OF_SQUARES<R>) {
    R largest = largest_part(alpha);
    for (int i = first + lane; i < end; i += TEAM) largest = ::fmax(largest, largest_part(x(i)));
    largest = team_max<TEAM>(largest);
    if (largest > 0) {
      int exponent;
      ::frexp(largest, &exponent);
      unit = ::ldexp(R(1), exponent < -LARGEST_POWER<R> ? LARGEST_POWER<R> : -exponent);
      sum = 0;
      for (int i = first + lane; i < end; i += TEAM) sum += square(times(x(i), unit));
      sum = team_sum<TEAM>(sum);
      alpha = times(alpha, unit);
    }
  }
  Reflection<T> identity = {of_real<T>(0), of_real<T>(1), re(alpha) / unit, R(1)};
  bool real = true;
  if constexpr (op::kind<T> == 3) real = alpha.im == 0;
  if (sum == 0 && real) return identity;
  const R beta = -::copysign(::sqrt(square(alpha) + sum), re(alpha));
  return {times(of_real<T>(beta) - alpha, 1 / beta), of_real<T>(1) / (alpha - of_real<T>(beta)), beta / unit, unit};
}

// The power of two that brings the largest number of all threads near 1; 0 if a number of any thread is not finite.
template <class R> __device__ inline R power_of_two_scale(R largest, bool is_finite, R* spare) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int step = 16; step; step /= 2) largest = ::fmax(largest, __shfl_xor_sync(ALL, largest, step));
  if (lane == 0) spare[threadIdx.x / 32] = largest;
  const bool has_infinite = __syncthreads_or(!is_finite);
  for (int w = 0; w < int(blockDim.x / 32); ++w) largest = ::fmax(largest, spare[w]);
  __syncthreads();
  if (has_infinite) return 0;
  if (largest == 0) return 1;
  int exponent;
  ::frexp(largest, &exponent);
  const int power = LARGEST_POWER<R>;
  exponent = exponent < -power ? -power : exponent > power ? power : exponent;
  return ::ldexp(R(1), -exponent);
}

}  // namespace la
