// What factorisations share: parts and sizes of real and complex numbers, and exchanges within groups of LANES threads.

namespace la {

const u32 ALL = 0xffffffffu;

template <class T> struct Parts { typedef T Real; };
template <class T> struct Parts<cx<T>> { typedef T Real; };
template <class T> using Real = typename Parts<T>::Real;

__device__ inline f32 re(f32 x) { return x; }
__device__ inline f64 re(f64 x) { return x; }
template <class T> __device__ inline T re(cx<T> x) { return x.re; }
__device__ inline f32 conj(f32 x) { return x; }
__device__ inline f64 conj(f64 x) { return x; }
template <class T> __device__ inline cx<T> conj(cx<T> x) { return {x.re, -x.im}; }
__device__ inline f32 times(f32 x, f32 by) { return x * by; }
__device__ inline f64 times(f64 x, f64 by) { return x * by; }
template <class T> __device__ inline cx<T> times(cx<T> x, T by) { return {x.re * by, x.im * by}; }
__device__ inline f32 size(f32 x) { return ::fabs(x); }
__device__ inline f64 size(f64 x) { return ::fabs(x); }
template <class T> __device__ inline T size(cx<T> x) { return ::hypot(x.re, x.im); }
__device__ inline f32 norm(f32 x) { return ::fabs(x); }
__device__ inline f64 norm(f64 x) { return ::fabs(x); }
template <class T> __device__ inline T norm(cx<T> x) { return ::fabs(x.re) + ::fabs(x.im); }
// x - a * b
__device__ inline f32 less(f32 x, f32 a, f32 b) { return ::fma(-a, b, x); }
__device__ inline f64 less(f64 x, f64 a, f64 b) { return ::fma(-a, b, x); }
template <class T> __device__ inline cx<T> less(cx<T> x, cx<T> a, cx<T> b) {
  return {::fma(a.im, b.im, ::fma(-a.re, b.re, x.re)), ::fma(-a.im, b.re, ::fma(-a.re, b.im, x.im))};
}
template <class T> __device__ inline T of_real(Real<T> x) {
  if constexpr (op::kind<T> == 3) return T{x, 0};
  else return x;
}
__device__ inline f32 inverse(f32 x) { return 1 / x; }
__device__ inline f64 inverse(f64 x) { return 1 / x; }
// Long, and wanted in every step of an unrolled loop.
template <class T> __device__ __noinline__ cx<T> inverse(cx<T> x) { return op::reciprocal(x); }
// Divides by a number, also by one whose inverse overflows.
template <class T> struct Divisor {
  T over;
  Real<T> scale;
  Divisor() = default;
  __device__ explicit Divisor(T by) {
    const bool single = sizeof(Real<T>) == 4;
    const Real<T> least = single ? 4e-38 : 4e-308;
    scale = norm(by) < least ? Real<T>(single ? 1e15 : 1e30) : Real<T>(1);
    over = inverse(times(by, scale));
  }
  __device__ T operator()(T x) const { return times(x, scale) * over; }
};
template <class T> __device__ inline bool is_zero(T x) {
  if constexpr (op::kind<T> == 3) return x.re == 0 && x.im == 0;
  else return x == 0;
}

// What is below a pivot in its column is divided by; all below a zero are zeros.
template <class T> __device__ inline T or_one(T pivot) { return is_zero(pivot) ? of_real<T>(1) : pivot; }

// How large a number is, as an unsigned one that orders them well enough to choose a pivot; 0 is nobody's.
__device__ inline u32 rank(f32 x) { return (op::bit_cast<u32>(x) << 1) | 1; }
__device__ inline u32 rank(f64 x) {
  const u64 bits = op::bit_cast<u64>(x) << 1;
  return u32(bits >> 32) < 0xfffffffeu ? u32(bits >> 32) + 1 + (u32(bits) != 0) : 0xffffffffu;
}
template <class T> __device__ inline u32 rank(cx<T> x) { return rank(norm(x)); }

template <class T> __device__ inline T from(T x, int lane, int lanes) {
  if constexpr (op::kind<T> == 3) return {__shfl_sync(ALL, x.re, lane, lanes), __shfl_sync(ALL, x.im, lane, lanes)};
  else return __shfl_sync(ALL, x, lane, lanes);
}
template <class T> __device__ inline T across(T x, int step) {
  if constexpr (op::kind<T> == 3) return {__shfl_xor_sync(ALL, x.re, step), __shfl_xor_sync(ALL, x.im, step)};
  else return __shfl_xor_sync(ALL, x, step);
}
// The greatest of the group.
template <int LANES> __device__ inline u32 greatest(u32 x) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  if constexpr (LANES == 32) return __reduce_max_sync(ALL, x);
#endif
#pragma unroll
  for (int step = LANES / 2; step; step /= 2) {
    const u32 y = __shfl_xor_sync(ALL, x, step);
    x = x < y ? y : x;
  }
  return x;
}

// Whether a matrix failed, in its own place and in a word for all.
__device__ inline void tell(bool failed, int* info, int* told) {
  *info = failed;
  if (failed) *told = 1;
}

// The determinant of a triangular matrix, as a sign and a logarithm, while its diagonal is gone through.
template <class T> struct Determinant {
  T sign = of_real<T>(1);
  f64 logarithm = 0;
  __device__ void take(T d, bool exchanged) {
    const Real<T> h = size(d);
    if constexpr (op::kind<T> == 3) d = h == 0 ? T{0, 0} : T{d.re / h, d.im / h};
    else d = h == 0 ? T(0) : d < 0 ? T(-1) : T(1);
    sign = sign * d;
    if (exchanged) sign = -sign;
    logarithm += ::log(f64(h));
  }
  template <int LANES> __device__ void gather() {
#pragma unroll
    for (int step = LANES / 2; step; step /= 2) {
      sign = sign * across(sign, step);
      logarithm += across(logarithm, step);
    }
    if (is_zero(sign)) logarithm = -op::infinity<f64>();
  }
  __device__ T value() const { return times(sign, Real<T>(::exp(logarithm))); }
};

}  // namespace la
