// Complex arithmetic and order, with the operations of NumPy's loops, in their order.

template <class T> __device__ inline cx<T> operator+(cx<T> a, cx<T> b) { return {a.re + b.re, a.im + b.im}; }
template <class T> __device__ inline cx<T> operator-(cx<T> a, cx<T> b) { return {a.re - b.re, a.im - b.im}; }
template <class T> __device__ inline cx<T> operator-(cx<T> a) { return {op::negative(a.re), op::negative(a.im)}; }
// With fused multiply-add, as in NumPy's vector loops on every processor that has it: the bits depend on it.
template <class T> __device__ inline cx<T> operator*(cx<T> a, cx<T> b) {
  return {::fma(a.re, b.re, -(a.im * b.im)), ::fma(a.re, b.im, a.im * b.re)};
}
// Division by Smith's algorithm (1962).
template <class T> __device__ inline cx<T> operator/(cx<T> a, cx<T> b) {
  T size = ::fabs(b.re);
  if (size >= ::fabs(b.im)) {
    if (size == 0 && b.im == 0) return {a.re / size, a.im / size};
    T ratio = b.im / b.re, scale = T(1) / (b.re + b.im * ratio);
    return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
  }
  T ratio = b.re / b.im, scale = T(1) / (b.im + b.re * ratio);
  return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}

// Lexicographic order. No value is less than, greater than or equal to a NaN.
template <class T> __device__ inline bool operator==(cx<T> a, cx<T> b) { return a.re == b.re && a.im == b.im; }
template <class T> __device__ inline bool operator!=(cx<T> a, cx<T> b) { return a.re != b.re || a.im != b.im; }
template <class T> __device__ inline bool operator<(cx<T> a, cx<T> b) {
  return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im < b.im);
}
template <class T> __device__ inline bool operator<=(cx<T> a, cx<T> b) {
  return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im <= b.im);
}
template <class T> __device__ inline bool operator>(cx<T> a, cx<T> b) { return b < a; }
template <class T> __device__ inline bool operator>=(cx<T> a, cx<T> b) { return b <= a; }

namespace op {

template <class T> __device__ inline cx<T> conjugate(cx<T> z) { return {z.re, negative(z.im)}; }
template <class T> __device__ inline cx<T> square(cx<T> z) { return z * z; }
template <class T> __device__ inline cx<T> rint(cx<T> z) { return {::rint(z.re), ::rint(z.im)}; }
template <class T> __device__ inline cx<T> reciprocal(cx<T> z) {
  if (::fabs(z.im) <= ::fabs(z.re)) {
    T ratio = z.im / z.re, d = z.re + z.im * ratio;
    return {T(1) / d, -ratio / d};
  }
  T ratio = z.re / z.im, d = z.re * ratio + z.im;
  return {ratio / d, T(-1) / d};
}
// What a scan multiplies by: no complex number leaves all others as they are, for 1 times an infinity has a NaN.
template <class T> struct factor {
  T value;
  bool exists;
};
template <class T> __device__ inline factor<T> no_factor() { return {}; }
template <class T> __device__ inline factor<T> multiplied(factor<T> a, factor<T> b) {
  return !a.exists ? b : !b.exists ? a : factor<T>{a.value * b.value, true};
}
// Of two equal values the first is returned, as by NumPy's scalar loops.
template <class T> __device__ inline cx<T> maximum(cx<T> a, cx<T> b) { return a >= b || isnan(a) ? a : b; }
template <class T> __device__ inline cx<T> minimum(cx<T> a, cx<T> b) { return a <= b || isnan(a) ? a : b; }
template <class T> __device__ inline cx<T> fmax(cx<T> a, cx<T> b) { return a >= b || isnan(b) ? a : b; }
template <class T> __device__ inline cx<T> fmin(cx<T> a, cx<T> b) { return a <= b || isnan(b) ? a : b; }
// z / |z|, given |z|. Where one part of z is infinite, the unit vector along that axis; where both are, NaN.
template <class T> __device__ inline cx<T> complex_sign(cx<T> z, T size) {
  if (isnan(size)) return {nan<T>(), nan<T>()};
  if (isinf(size)) {
    if (isinf(z.re) == isinf(z.im)) return {nan<T>(), nan<T>()};
    return isinf(z.re) ? cx<T>{::copysign(T(1), z.re), 0} : cx<T>{0, ::copysign(T(1), z.im)};
  }
  return size == 0 ? cx<T>{0, 0} : cx<T>{z.re / size, z.im / size};
}

}  // namespace op
