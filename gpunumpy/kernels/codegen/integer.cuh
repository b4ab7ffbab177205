// Integer operations, with NumPy's results where C leaves them undefined: division by zero, the least integer divided
// by -1, shifts by the width or more.
namespace op {

template <class T> constexpr bool is_signed = T(-1) < T(1);

template <class T> __device__ inline bool is_zero_or_minus_one(T b) { return b == 0 || (is_signed<T> && b == T(-1)); }

template <class T> __device__ inline T floor_divide(T a, T b) {
  if (is_zero_or_minus_one(b)) return b == 0 ? T(0) : T(u64(0) - u64(a));
  T q = T(a / b);
  return a % b != 0 && (a < 0) != (b < 0) ? T(q - 1) : q;
}
template <class T> __device__ inline T remainder(T a, T b) {
  if (is_zero_or_minus_one(b)) return T(0);
  T r = T(a % b);
  return r != 0 && (r < 0) != (b < 0) ? T(r + b) : r;
}
template <class T> __device__ inline T fmod(T a, T b) { return is_zero_or_minus_one(b) ? T(0) : T(a % b); }

template <class T> __device__ inline T left_shift(T a, T n) { return u64(n) < 8 * sizeof(T) ? T(u64(a) << u64(n)) : T(0); }
template <class T> __device__ inline T right_shift(T a, T n) {
  return u64(n) < 8 * sizeof(T) ? T(a >> n) : T(a < 0 ? -1 : 0);
}

// A negative exponent has raised an error before; the result is then arbitrary.
template <class T> __device__ inline T power(T base, T exponent) {
  if (exponent < 0) return T(0);
  u64 result = 1, square = u64(base);
  for (u64 n = u64(exponent); n; n >>= 1) {
    if (n & 1) result *= square;
    square *= square;
  }
  return T(result);
}

template <class T> __device__ inline u64 magnitude(T a) { return a < 0 ? u64(0) - u64(a) : u64(a); }
template <class T> __device__ inline T absolute(T a) { return T(magnitude(a)); }
__device__ inline u64 gcd_unsigned(u64 a, u64 b) {
  while (b) {
    u64 r = a % b;
    a = b;
    b = r;
  }
  return a;
}
template <class T> __device__ inline T gcd(T a, T b) { return T(gcd_unsigned(magnitude(a), magnitude(b))); }
template <class T> __device__ inline T lcm(T a, T b) {
  u64 divisor = gcd_unsigned(magnitude(a), magnitude(b));
  return divisor ? T(magnitude(a) / divisor * magnitude(b)) : T(0);
}
template <class T> __device__ inline u8 bitwise_count(T a) { return u8(popcount(magnitude(a))); }

// Comparisons of int64 with uint64 by value. No integer type holds the values of both.
__device__ inline bool less(i64 a, u64 b) { return a < 0 || u64(a) < b; }
__device__ inline bool less(u64 a, i64 b) { return b >= 0 && a < u64(b); }
__device__ inline bool equal(i64 a, u64 b) { return a >= 0 && u64(a) == b; }
__device__ inline bool equal(u64 a, i64 b) { return equal(b, a); }

}  // namespace op
