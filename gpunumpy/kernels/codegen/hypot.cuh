// sqrt(x^2 + y^2) with at most one unit of error: the larger square is exact as a double word, so that the sum has one
// rounding, which the root halves. A power of two as a factor keeps the squares in range.
namespace op {

template <class T> __device__ inline T hypot(T x, T y) {
  x = fabs(x), y = fabs(y);
  T big = x > y ? x : y, little = x > y ? y : x;
  int n = exponent_to_unit(big);
  T factor = power_of_two<T>(n);
  dw<T> square = two_product(big * factor, big * factor);
  dw<T> r = root(dw<T>{square.hi + ::fma(little * factor, little * factor, square.lo), 0});
  if (isinf(x) || isinf(y)) return infinity<T>();
  return big == 0 ? x + y : (r.hi + r.lo) * power_of_two<T>(-n);
}

}  // namespace op
