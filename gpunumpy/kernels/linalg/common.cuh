// Arithmetic of real and complex numbers for factorisations, and exchanges within groups of LANES threads.

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
// The absolute value.
__device__ inline f32 magnitude(f32 x) { return ::fabs(x); }
__device__ inline f64 magnitude(f64 x) { return ::fabs(x); }
template <class T> __device__ inline T magnitude(cx<T> x) { return ::hypot(x.re, x.im); }
// |re x| + |im x|: cheaper than the absolute value, and within a factor of sqrt(2) of it.
__device__ inline f32 norm1(f32 x) { return ::fabs(x); }
__device__ inline f64 norm1(f64 x) { return ::fabs(x); }
template <class T> __device__ inline T norm1(cx<T> x) { return ::fabs(x.re) + ::fabs(x.im); }
// x - a * b
__device__ inline f32 sub_mul(f32 x, f32 a, f32 b) { return ::fma(-a, b, x); }
__device__ inline f64 sub_mul(f64 x, f64 a, f64 b) { return ::fma(-a, b, x); }
template <class T> __device__ inline cx<T> sub_mul(cx<T> x, cx<T> a, cx<T> b) {
  return {::fma(a.im, b.im, ::fma(-a.re, b.re, x.re)), ::fma(-a.im, b.re, ::fma(-a.re, b.im, x.im))};
}
template <class T> __device__ inline T of_real(Real<T> x) {
  if constexpr (op::kind<T> == 3) return T{x, 0};
  else return x;
}
__device__ inline f32 inverse(f32 x) { return 1 / x; }
__device__ inline f64 inverse(f64 x) { return 1 / x; }
// Not inlined: the code is long, and unrolled loops need it in every step.
template <class T> __device__ __noinline__ cx<T> inverse(cx<T> x) { return op::reciprocal(x); }
// Divides by a number, even by one whose inverse overflows.
template <class T> struct Divisor {
  T inverse_divisor;
  Real<T> scale;
  Divisor() = default;
  __device__ explicit Divisor(T by) {
    const bool is_single = sizeof(Real<T>) == 4;
    const Real<T> smallest = is_single ? 4e-38 : 4e-308;
    scale = norm1(by) < smallest ? Real<T>(is_single ? 1e15 : 1e30) : Real<T>(1);
    inverse_divisor = inverse(times(by, scale));
  }
  __device__ T operator()(T x) const { return times(x, scale) * inverse_divisor; }
};
template <class T> __device__ inline bool is_zero(T x) {
  if constexpr (op::kind<T> == 3) return x.re == 0 && x.im == 0;
  else return x == 0;
}

// The divisor for the elements below a pivot. Below a zero pivot all elements are zeros, and are divided by one.
template <class T> __device__ inline T or_one(T pivot) { return is_zero(pivot) ? of_real<T>(1) : pivot; }

// An unsigned integer that orders numbers by magnitude, well enough to choose a pivot; 0 is the rank of no number.
__device__ inline u32 pivot_rank(f32 x) { return (op::bit_cast<u32>(x) << 1) | 1; }
__device__ inline u32 pivot_rank(f64 x) {
  const u64 bits = op::bit_cast<u64>(x) << 1;
  return u32(bits >> 32) < 0xfffffffeu ? u32(bits >> 32) + 1 + (u32(bits) != 0) : 0xffffffffu;
}
template <class T> __device__ inline u32 pivot_rank(cx<T> x) { return pivot_rank(norm1(x)); }

// The value of x in another lane, of each segment of `lanes` lanes.
template <class T> __device__ inline T shuffle(T x, int lane, int lanes) {
  if constexpr (op::kind<T> == 3) return {__shfl_sync(ALL, x.re, lane, lanes), __shfl_sync(ALL, x.im, lane, lanes)};
  else return __shfl_sync(ALL, x, lane, lanes);
}
// The value of x in the lane whose number differs in the bit `step`.
template <class T> __device__ inline T shuffle_xor(T x, int step) {
  if constexpr (op::kind<T> == 3) return {__shfl_xor_sync(ALL, x.re, step), __shfl_xor_sync(ALL, x.im, step)};
  else return __shfl_xor_sync(ALL, x, step);
}
// The maximum over a group of LANES lanes.
template <int LANES> __device__ inline u32 group_max(u32 x) {
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
// The least place of the lanes of a warp that are in a set, which is not empty.
__device__ inline int first_place(bool is_in_set, int place) {
  return int(~group_max<32>(is_in_set ? ~u32(place) : 0));
}

// Write whether a matrix failed to its `info`, and if so set the device's failure word.
__device__ inline void report(bool failed, int* info, int* failure_word) {
  *info = failed;
  if (failed) *failure_word = 1;
}

// The determinant of a triangular matrix as a sign and a logarithm, accumulated over its diagonal.
template <class T> struct Determinant {
  T sign = of_real<T>(1);
  f64 logarithm = 0;
  // Multiply by an element d of the diagonal, and by -1 if rows were exchanged for it.
  __device__ void multiply(T d, bool exchanged) {
    const Real<T> absolute = magnitude(d);
    if constexpr (op::kind<T> == 3) d = absolute == 0 ? T{0, 0} : T{d.re / absolute, d.im / absolute};
    else d = absolute == 0 ? T(0) : d < 0 ? T(-1) : T(1);
    sign = sign * d;
    if (exchanged) sign = -sign;
    logarithm += ::log(f64(absolute));
  }
  // Multiply the partial determinants of a group of LANES threads.
  template <int LANES> __device__ void combine() {
#pragma unroll
    for (int step = LANES / 2; step; step /= 2) {
      sign = sign * shuffle_xor(sign, step);
      logarithm += shuffle_xor(logarithm, step);
    }
    if (is_zero(sign)) logarithm = -op::infinity<f64>();
  }
  __device__ T value() const { return times(sign, Real<T>(::exp(logarithm))); }
};

}  // namespace la
