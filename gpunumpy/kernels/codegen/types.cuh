// The element types of generated kernels. f16 and bf16 only store and convert: their arithmetic is done in f32.

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

namespace op {

template <class To, class From> __device__ inline To bit_cast(From x) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast keeps the size");
  union { From from; To to; } both;
  both.from = x;
  return both.to;
}

// Functions that are one instruction on the device, and an expression of its own in the emulator on the host. The device's
// conversions turn every NaN into one without a sign; the emulator's do too.
#ifdef GPUNUMPY_HOST
__device__ inline u16 f16_bits(f32 x) { return x != x ? 0x7fff : bit_cast<u16>(_Float16(x)); }
__device__ inline u16 f16_bits(f64 x) { return x != x ? 0x7fff : bit_cast<u16>(_Float16(x)); }
__device__ inline f32 f16_value(u16 bits) {
  return (bits & 0x7fff) > 0x7c00 ? bit_cast<f32>(0x7fffffffu) : f32(bit_cast<_Float16>(bits));
}
__device__ inline f32 narrowed(f64 x) { return x != x ? bit_cast<f32>(0x7fffffffu) : f32(x); }
__device__ inline f64 widened(f32 x) { return x != x ? bit_cast<f64>(0x7fffffffffffffffull) : f64(x); }
__device__ inline int popcount(u64 x) { return __builtin_popcountll(x); }
#else
__device__ inline u16 f16_bits(f32 x) { u16 r; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x)); return r; }
__device__ inline u16 f16_bits(f64 x) { u16 r; asm("cvt.rn.f16.f64 %0, %1;" : "=h"(r) : "d"(x)); return r; }
__device__ inline f32 f16_value(u16 bits) { f32 r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(bits)); return r; }
__device__ inline f32 narrowed(f64 x) { return f32(x); }
__device__ inline f64 widened(f32 x) { return f64(x); }
__device__ inline int popcount(u64 x) { return __popcll(x); }
#endif

// Rounds to nearest even. A NaN stays a NaN, also where only dropped bits of its payload are set.
__device__ inline u16 bf16_bits(f32 x) {
  u32 bits = bit_cast<u32>(x);
  if (x != x) return u16((bits >> 16 & 0x8000u) | 0x7fc0u);
  return u16((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace op

struct f16 {
  u16 bits;
  f16() = default;
  __device__ explicit f16(f32 x) : bits(op::f16_bits(x)) {}
  __device__ explicit f16(f64 x) : bits(op::f16_bits(x)) {}
  __device__ explicit operator f32() const { return op::f16_value(bits); }
};

struct bf16 {
  u16 bits;
  bf16() = default;
  __device__ explicit bf16(f32 x) : bits(op::bf16_bits(x)) {}
  __device__ explicit bf16(f64 x) : bits(op::bf16_bits(f32(x))) {}  // rounded twice, as in ml_dtypes
  __device__ explicit operator f32() const { return op::bit_cast<f32>(u32(bits) << 16); }
};

template <class T> struct alignas(2 * sizeof(T)) cx {
  T re, im;
};
typedef cx<f32> c64;
typedef cx<f64> c128;

namespace op {

// The kind of an element type: 0 integer or bool, 1 16-bit float, 2 float, 3 complex.
template <class T> constexpr int kind = 0;
template <> constexpr int kind<f16> = 1;
template <> constexpr int kind<bf16> = 1;
template <> constexpr int kind<f32> = 2;
template <> constexpr int kind<f64> = 2;
template <> constexpr int kind<c64> = 3;
template <> constexpr int kind<c128> = 3;

template <class T, class U> constexpr bool same = false;
template <class T> constexpr bool same<T, T> = true;

template <class T> __device__ inline T infinity() { return T(bit_cast<f32>(0x7f800000u)); }
template <class T> __device__ inline T nan() { return T(bit_cast<f32>(0x7fc00000u)); }

// The sign of a float is that of its bits: the device's abs and neg leave that of a NaN open, and lose it.
template <class T> struct bits_of;
template <> struct bits_of<f16> { typedef u16 type; };
template <> struct bits_of<bf16> { typedef u16 type; };
template <> struct bits_of<f32> { typedef u32 type; };
template <> struct bits_of<f64> { typedef u64 type; };
template <class T> using word = typename bits_of<T>::type;
template <class T> constexpr word<T> SIGN = word<T>(word<T>(1) << (8 * sizeof(T) - 1));

template <class T> __device__ inline word<T> sign_of(T x) { return bit_cast<word<T>>(x) & SIGN<T>; }
template <class T> __device__ inline bool signbit(T x) { return sign_of(x) != 0; }
template <class T> __device__ inline T fabs(T x) { return bit_cast<T>(word<T>(bit_cast<word<T>>(x) & ~SIGN<T>)); }
template <class T> __device__ inline T negative(T x) { return bit_cast<T>(word<T>(bit_cast<word<T>>(x) ^ SIGN<T>)); }
template <class T> __device__ inline T copysign(T x, T sign) {
  return bit_cast<T>(word<T>((bit_cast<word<T>>(x) & ~SIGN<T>) | sign_of(sign)));
}

template <class T> __device__ inline bool isnan(T x) {
  if constexpr (kind<T> == 3) return x.re != x.re || x.im != x.im;
  else if constexpr (kind<T> == 1) return f32(x) != f32(x);
  else return x != x;
}
template <class T> __device__ inline bool isinf(T x) {
  if constexpr (kind<T> == 3) return isinf(x.re) || isinf(x.im);
  else return ::fabs(x) == infinity<T>();
}
template <class T> __device__ inline bool isfinite(T x) {
  if constexpr (kind<T> == 3) return isfinite(x.re) && isfinite(x.im);
  else return ::fabs(x) < infinity<T>();
}
template <class T> __device__ inline bool truth(T x) {
  if constexpr (kind<T> == 3) return x.re != 0 || x.im != 0;
  else if constexpr (kind<T> == 1) return f32(x) != 0;
  else return x != 0;
}

}  // namespace op
