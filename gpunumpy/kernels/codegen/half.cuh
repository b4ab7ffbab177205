// Neighbours among the 16-bit floats, computed on their bits: arithmetic in f32 would find neighbours among f32.
namespace op {

template <class T> __device__ inline T from_bits(int bits) {
  T out;
  out.bits = u16(bits);
  return out;
}

template <class T> __device__ inline T nextafter(T x, T toward) {
  const f32 from = f32(x), to = f32(toward);
  if (isnan(x) || isnan(toward)) return from_bits<T>(0x7fff & T(nan<f32>()).bits);
  if (from == to) return toward;  // as in C: of two zeros with different signs, the second
  if (from == 0) return from_bits<T>((toward.bits & 0x8000) | 1);
  return from_bits<T>((from < to) == (from > 0) ? x.bits + 1 : x.bits - 1);
}

// float16: the positive distance to the next value up. bfloat16: the signed distance to the next value away from zero.
__device__ inline f16 spacing(f16 x) {
  if ((x.bits & 0x7c00) == 0x7c00) return f16(nan<f32>());
  return f16(f32(nextafter(x, f16(infinity<f32>()))) - f32(x));
}
__device__ inline bf16 spacing(bf16 x) {
  if ((x.bits & 0x7f80) == 0x7f80) return bf16(nan<f32>());
  return bf16(f32(from_bits<bf16>(x.bits + 1)) - f32(x));
}

}  // namespace op
