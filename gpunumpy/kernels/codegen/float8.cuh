// Floats of one byte, which only store and convert, by the rules of ml_dtypes: those of 8 bits and, of 4 bits, the lower
// four of a byte. The device's conversions saturate and keep no NaN's sign, so the bits are computed.
namespace op {

// MANTISSA bits of mantissa; the BIAS of the exponent; the SIGN bit; the codes of the GREATEST number, of what is BEYOND it,
// of the least infinity or NaN (NONE if there is none), of NaN, and of NaN with a sign.
struct e4m3fn {
  static constexpr u32 MANTISSA = 3, BIAS = 7, SIGN = 0x80, GREATEST = 0x7e, BEYOND = 0x7f, SPECIAL = 0x7f;
  static constexpr u32 NOT_A_NUMBER = 0x7f, NEGATIVE_NAN = 0xff;
};
struct e5m2 {
  static constexpr u32 MANTISSA = 2, BIAS = 15, SIGN = 0x80, GREATEST = 0x7b, BEYOND = 0x7c, SPECIAL = 0x7c;
  static constexpr u32 NOT_A_NUMBER = 0x7e, NEGATIVE_NAN = 0xfe;
};
struct e2m1fn {  // without NaN: ml_dtypes has a zero for it, of the other sign
  static constexpr u32 MANTISSA = 1, BIAS = 1, SIGN = 0x08, GREATEST = 0x07, BEYOND = 0x07, SPECIAL = 0x08;
  static constexpr u32 NOT_A_NUMBER = 0x08, NEGATIVE_NAN = 0x00;
};

// Rounds to nearest even. Below the normal numbers, whose exponent is at least 1 - BIAS, the sum with a power of two rounds
// to multiples of the least number.
template <class F> __device__ inline u8 byte_float_bits(f32 x) {
  constexpr u32 DROPPED = 23 - F::MANTISSA, ONE = 0x3f800000u;
  const u32 bits = bit_cast<u32>(x), size = bits & 0x7fffffffu, sign = bits >> 31 ? F::SIGN : 0;
  if (size > 0x7f800000u) return u8(sign ? F::NEGATIVE_NAN : F::NOT_A_NUMBER);
  u32 rounded;
  if (size < ONE + 0x00800000u - (F::BIAS << 23)) {
    constexpr u32 POWER = (127 + 24 - F::BIAS - F::MANTISSA) << 23;
    rounded = bit_cast<u32>(bit_cast<f32>(size) + bit_cast<f32>(POWER)) - POWER;
  } else {
    rounded = (size - ONE + (F::BIAS << 23) + ((1u << (DROPPED - 1)) - 1) + (size >> DROPPED & 1)) >> DROPPED;
  }
  return u8(sign | (rounded > F::GREATEST ? F::BEYOND : rounded));
}

template <class F> __device__ inline f32 byte_float_value(u8 bits) {
  const u32 size = bits & (F::SIGN - 1), sign = bits & F::SIGN ? 0x80000000u : 0;
  const f32 value = bit_cast<f32>(size << (23 - F::MANTISSA)) * bit_cast<f32>((254 - F::BIAS) << 23);
  if (size < F::SPECIAL) return bit_cast<f32>(bit_cast<u32>(value) | sign);
  return bit_cast<f32>((F::BEYOND == F::SPECIAL && F::BEYOND != F::NOT_A_NUMBER && size == F::SPECIAL ? 0x7f800000u : 0x7fc00000u) | sign);
}

template <class F> struct byte_float {
  u8 bits;
  byte_float() = default;
  __device__ explicit byte_float(f32 x) : bits(byte_float_bits<F>(x)) {}
  __device__ explicit byte_float(f64 x) : bits(byte_float_bits<F>(f32(x))) {}  // rounded twice, as in ml_dtypes
  __device__ explicit operator f32() const { return byte_float_value<F>(bits); }
};

template <class F> constexpr int kind<byte_float<F>> = 1;
template <class F> struct bits_of<byte_float<F>> { typedef u8 type; };
template <class F> constexpr u8 SIGN<byte_float<F>> = u8(F::SIGN);

template <class T, class X> __device__ inline T to_integer(X x);
template <class T, class A> __device__ inline T cast(A x);
template <class T, class A> __device__ inline T astype(A x);

// To integers: NaN is 0 and an infinity the nearest one.
template <class T, class F> __device__ inline T cast(byte_float<F> x) {
  if constexpr (same<T, byte_float<F>>) {
    return x;
  } else if constexpr (kind<T> == 0 && !same<T, bool>) {
    const f32 value = f32(x);
    constexpr bool IS_SIGNED = T(-1) < T(0);
    constexpr T LEAST = IS_SIGNED ? T(u64(1) << (8 * sizeof(T) - 1)) : T(0);
    if (value != value) return T(0);
    if (value == infinity<f32>()) return T(~LEAST);
    if (value == -infinity<f32>()) return LEAST;
    return to_integer<T>(value);
  } else {
    return cast<T>(f32(x));
  }
}

template <class F> __device__ inline byte_float<F> byte_float_of(u32 bits) {
  byte_float<F> out;
  out.bits = u8(bits);
  return out;
}

template <class F> __device__ inline byte_float<F> nextafter(byte_float<F> x, byte_float<F> toward) {
  const f32 from = f32(x), to = f32(toward);
  if (from != from || to != to) return byte_float_of<F>(F::NOT_A_NUMBER);
  if (from == to) return toward;  // as in C: of two zeros with different signs, the second
  if (from == 0) return byte_float_of<F>((toward.bits & F::SIGN) | 1);
  return byte_float_of<F>((from < to) == (from > 0) ? x.bits + 1 : x.bits - 1);
}

// The signed distance to the next value away from zero.
template <class F> __device__ inline byte_float<F> spacing(byte_float<F> x) {
  const u32 size = x.bits & (F::SIGN - 1), sign = x.bits & F::SIGN;
  if (size >= F::SPECIAL) return byte_float_of<F>(F::NOT_A_NUMBER);
  return byte_float<F>(f32(byte_float_of<F>(sign | (size == F::GREATEST ? F::BEYOND : size + 1))) - f32(x));
}

}  // namespace op

typedef op::byte_float<op::e4m3fn> f8e4m3;
typedef op::byte_float<op::e5m2> f8e5m2;
typedef op::byte_float<op::e2m1fn> f4e2m1;

namespace op {

// As a user sees it, a NaN of the one without NaN: conversions on the device lose the sign of a NaN, which decides.
template <class A> __device__ inline f4e2m1 as_float4(A x) {
  const f4e2m1 size(f32(op::fabs(x)));
  if (op::isnan(x)) return byte_float_of<e2m1fn>(op::signbit(x) ? e2m1fn::NEGATIVE_NAN : e2m1fn::NOT_A_NUMBER);
  return op::signbit(x) ? op::negative(size) : size;
}
template <> __device__ inline f4e2m1 astype<f4e2m1>(f16 x) { return as_float4(x); }
template <> __device__ inline f4e2m1 astype<f4e2m1>(bf16 x) { return as_float4(x); }
template <> __device__ inline f4e2m1 astype<f4e2m1>(f32 x) { return as_float4(x); }
template <> __device__ inline f4e2m1 astype<f4e2m1>(f64 x) { return as_float4(x); }
template <> __device__ inline f4e2m1 astype<f4e2m1>(f8e4m3 x) { return as_float4(x); }
template <> __device__ inline f4e2m1 astype<f4e2m1>(f8e5m2 x) { return as_float4(x); }

}  // namespace op
