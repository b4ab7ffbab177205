// Sums of squares and products over the threads that share a row or a column, always in the same order.

namespace la {

// What iterates gives up after so many times.
const int SWEEPS = 40;

// x + conj(a) * b
__device__ inline f32 inner(f32 x, f32 a, f32 b) { return ::fma(a, b, x); }
__device__ inline f64 inner(f64 x, f64 a, f64 b) { return ::fma(a, b, x); }
template <class T> __device__ inline cx<T> inner(cx<T> x, cx<T> a, cx<T> b) {
  return {::fma(a.im, b.im, ::fma(a.re, b.re, x.re)), ::fma(-a.im, b.re, ::fma(a.re, b.im, x.im))};
}
// x + by * y
__device__ inline f32 plus(f32 x, f32 y, f32 by) { return ::fma(by, y, x); }
__device__ inline f64 plus(f64 x, f64 y, f64 by) { return ::fma(by, y, x); }
template <class T> __device__ inline cx<T> plus(cx<T> x, cx<T> y, T by) {
  return {::fma(by, y.re, x.re), ::fma(by, y.im, x.im)};
}
__device__ inline f32 square(f32 x) { return x * x; }
__device__ inline f64 square(f64 x) { return x * x; }
template <class T> __device__ inline T square(cx<T> x) { return ::fma(x.im, x.im, x.re * x.re); }
// The device's own is off by two roundings.
template <class R> __device__ inline R one_over_root(R x) {
  const R y = ::rsqrt(x);
  return ::fma(y, ::fma(R(-0.5) * x * y, y, R(0.5)), y);
}
// Of a number that is neither tiny nor huge, within a rounding or two; 0 gives what is no number.
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
template <class T> __device__ inline bool finite(T x) {
  if constexpr (op::kind<T> == 3) return isfinite(x.re) && isfinite(x.im);
  else return isfinite(x);
}
template <class T> __device__ inline Real<T> largest_part(T x) {
  if constexpr (op::kind<T> == 3) return ::fmax(::fabs(x.re), ::fabs(x.im));
  else return ::fabs(x);
}
template <class R> constexpr R EPSILON = R(1.1920928955078125e-7);
template <> constexpr f64 EPSILON<f64> = 2.220446049250313e-16;
// A power of two by which numbers are multiplied at most.
template <class R> constexpr int LARGEST_POWER = 120;
template <> constexpr int LARGEST_POWER<f64> = 1000;
// A sum of squares below it has lost digits.
template <class R> constexpr R SMALL = R(1e-30);
template <> constexpr f64 SMALL<f64> = 1e-290;
// The square of the length of a row that is nothing beside another of length 1.
template <class R> constexpr R NOTHING = R(2e-16);
template <> constexpr f64 NOTHING<f64> = 7e-34;

// Over a team of neighbouring lanes; the others of the warp need not be there.
template <int TEAM, class T> __device__ inline T team_sum(T x) {
  const u32 here = TEAM == 32 ? ALL : ((1u << (TEAM % 32)) - 1) << (threadIdx.x % 32 / TEAM * TEAM);
#pragma unroll
  for (int step = TEAM / 2; step; step /= 2) {
    if constexpr (op::kind<T> == 3) {
      x = x + T{__shfl_xor_sync(here, x.re, step), __shfl_xor_sync(here, x.im, step)};
    } else {
      x += __shfl_xor_sync(here, x, step);
    }
  }
  return x;
}

template <int TEAM, class R> __device__ inline R team_max(R x) {
  const u32 here = TEAM == 32 ? ALL : ((1u << (TEAM % 32)) - 1) << (threadIdx.x % 32 / TEAM * TEAM);
#pragma unroll
  for (int step = TEAM / 2; step; step /= 2) x = ::fmax(x, __shfl_xor_sync(here, x, step));
  return x;
}

// The reflection that makes a column real and zero but for its first element, which becomes `beta`: 1 - factor v v^H,
// where v is 1 and then what `scaled` makes of the other elements.
template <class T> struct Reflection {
  T factor, shrink;
  Real<T> beta, unit;
  __device__ T scaled(T x) const { return times(x, unit) * shrink; }
};

// Of the elements from `first` to `end`, which a team goes through, behind `alpha`. Numbers so small that their squares
// have lost digits are brought near 1 before.
template <int TEAM, class T, class X> __device__ inline Reflection<T> reflection(T alpha, int first, int end, X x) {
  typedef Real<T> R;
  const int lane = threadIdx.x % TEAM;
  R sum = 0, unit = 1;
  for (int i = first + lane; i < end; i += TEAM) sum += square(x(i));
  sum = team_sum<TEAM>(sum);
  if (sum + square(alpha) < SMALL<R>) {
    R most = largest_part(alpha);
    for (int i = first + lane; i < end; i += TEAM) most = ::fmax(most, largest_part(x(i)));
    most = team_max<TEAM>(most);
    if (most > 0) {
      int exponent;
      ::frexp(most, &exponent);
      unit = ::ldexp(R(1), exponent < -LARGEST_POWER<R> ? LARGEST_POWER<R> : -exponent);
      sum = 0;
      for (int i = first + lane; i < end; i += TEAM) sum += square(times(x(i), unit));
      sum = team_sum<TEAM>(sum);
      alpha = times(alpha, unit);
    }
  }
  Reflection<T> its = {of_real<T>(0), of_real<T>(1), re(alpha) / unit, R(1)};
  bool real = true;
  if constexpr (op::kind<T> == 3) real = alpha.im == 0;
  if (sum == 0 && real) return its;
  const R beta = -::copysign(::sqrt(square(alpha) + sum), re(alpha));
  return {times(of_real<T>(beta) - alpha, 1 / beta), of_real<T>(1) / (alpha - of_real<T>(beta)), beta / unit, unit};
}

// A power of two that brings the greatest number near 1, of all that the threads have; 0 where one is not finite.
template <class R> __device__ inline R scale_for(R most, bool sound, R* spare) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int step = 16; step; step /= 2) most = ::fmax(most, __shfl_xor_sync(ALL, most, step));
  if (lane == 0) spare[threadIdx.x / 32] = most;
  const bool lost = __syncthreads_or(!sound);
  for (int w = 0; w < int(blockDim.x / 32); ++w) most = ::fmax(most, spare[w]);
  __syncthreads();
  if (lost) return 0;
  if (most == 0) return 1;
  int exponent;
  ::frexp(most, &exponent);
  exponent = exponent < -LARGEST_POWER<R> ? -LARGEST_POWER<R> : exponent > LARGEST_POWER<R> ? LARGEST_POWER<R> : exponent;
  return ::ldexp(R(1), -exponent);
}

}  // namespace la
