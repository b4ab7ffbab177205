// Conversions between element types. C leaves the conversion of a NaN or an out-of-range float to an integer undefined.
// The result here is that of x86-64, which NumPy shows: the least integer of the conversion instruction's width.
namespace op {

template <class F> __device__ inline i32 to_i32(F x) {
  return x > F(-2147483649.0) && x < F(2147483648.0) ? i32(x) : i32(0x80000000u);
}
template <class F> __device__ inline i64 to_i64(F x) {
  return x >= F(-9223372036854775808.0) && x < F(9223372036854775808.0) ? i64(x) : i64(0x8000000000000000ull);
}

// Unsigned conversions go through the signed instruction of the same width, the upper half shifted down first.
template <class T, class F> __device__ inline T to_integer(F x) {
  if constexpr (same<T, u64>) {
    const F half = F(9223372036854775808.0);
    return x >= half ? u64(to_i64(x - half)) ^ 0x8000000000000000ull : u64(to_i64(x));
  } else if constexpr (same<T, u32>) {
    const F half = F(2147483648.0);
    return x >= half ? u32(to_i32(x - half)) ^ 0x80000000u : u32(to_i32(x));
  } else if constexpr (same<T, i64>) {
    return to_i64(x);
  } else {
    return T(to_i32(x));
  }
}

template <class T, class A> __device__ inline T cast(A x) {
  if constexpr (same<T, A>) {
    return x;
  } else if constexpr (same<T, bool>) {
    return truth(x);
  } else if constexpr (kind<A> == 3 && kind<T> == 3) {
    return T{decltype(T::re)(x.re), decltype(T::re)(x.im)};
  } else if constexpr (kind<A> == 3) {
    return cast<T>(x.re);
  } else if constexpr (kind<T> == 3) {
    return T{cast<decltype(T::re)>(x), 0};
  } else if constexpr (same<A, f16> && same<T, u32>) {
    return u32(to_i64(f32(x)));  // the only conversion to uint32 that NumPy does not vectorise: no shift
  } else if constexpr (kind<A> == 1) {
    return cast<T>(f32(x));
  } else if constexpr (kind<T> == 1) {
    if constexpr (kind<A> == 2) return T(x);
    else return T(f32(x));
  } else if constexpr (kind<A> == 2 && kind<T> == 0) {
    return to_integer<T>(x);
  } else if constexpr (same<A, f64> && same<T, f32>) {
    return narrowed(x);
  } else if constexpr (same<A, f32> && same<T, f64>) {
    return widened(x);
  } else {
    return T(x);
  }
}

template <class T> constexpr bool is_float = kind<T> == 1 || kind<T> == 2;

// As a user sees it: a cast that keeps the sign of a NaN. The NaN of a conversion has none, so it takes no comparison.
template <class T, class A> __device__ inline T astype(A x) {
  if constexpr (kind<T> == 3 && kind<A> == 3) {
    return T{astype<decltype(T::re)>(x.re), astype<decltype(T::re)>(x.im)};
  } else if constexpr (kind<T> == 3) {
    return T{astype<decltype(T::re)>(x), 0};
  } else if constexpr (kind<A> == 3 && is_float<T>) {
    return astype<T>(x.re);
  } else if constexpr (is_float<A> && is_float<T> && !same<A, T>) {
    word<T> sign = signbit(x) ? SIGN<T> : word<T>(0);
    return bit_cast<T>(word<T>(bit_cast<word<T>>(cast<T>(x)) | sign));
  } else {
    return cast<T>(x);
  }
}

}  // namespace op
