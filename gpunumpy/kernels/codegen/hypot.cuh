// sqrt(x^2 + y^2) with little more than half a unit of error: of the sum as a double word, scaled by a power of two
// (Borges, 2020, has the error of such a root as a correction to it).
namespace op {

template <class T> __device__ inline T hypot(T x, T y) {
  x = fabs(x), y = fabs(y);
  T big = x > y ? x : y, little = x > y ? y : x;
  int n = exponent_to_unit(big);
  T factor = power_of_two<T>(n);
  dw<T> a = two_product(big * factor, big * factor), b = two_product(little * factor, little * factor);
  dw<T> sum = fast_two_sum(a.hi, b.hi), r = root(dw<T>{sum.hi, sum.lo + (a.lo + b.lo)});
  if (isinf(x) || isinf(y)) return infinity<T>();
  return big == 0 ? x + y : (r.hi + r.lo) * power_of_two<T>(-n);
}

}  // namespace op
