// Atomic functions that CUDA has for fewer types; the host has them for all.
#ifndef GPUNUMPY_HOST_ATOMICS

namespace op {

// The value at an address, which becomes `next` of it: computed again if another thread has written meanwhile.
template <class Word, class T, class F> __device__ inline T replaced(T* at, F next) {
  Word* where = reinterpret_cast<Word*>(at);
  Word old = *where, seen, bits;
  T value;
  do {
    seen = old;
    memcpy(&value, &seen, sizeof(T));
    const T result = next(value);
    memcpy(&bits, &result, sizeof(T));
    old = atomicCAS(where, seen, bits);
  } while (old != seen);
  return value;
}

// Of two bytes, in the word that they are in.
template <class T, class F> __device__ inline T replaced_half(T* at, F next) {
  const u64 address = reinterpret_cast<u64>(at);
  const int shift = address & 2 ? 16 : 0;
  T value;
  replaced<u32>(reinterpret_cast<u32*>(address - (address & 2)), [&](u32 word) {
    u16 bits = u16(word >> shift);
    memcpy(&value, &bits, 2);
    const T result = next(value);
    memcpy(&bits, &result, 2);
    return (word & ~(u32(0xffff) << shift)) | u32(bits) << shift;
  });
  return value;
}

}  // namespace op

__device__ inline i64 atomicAdd(i64* at, i64 x) { return i64(atomicAdd(reinterpret_cast<u64*>(at), u64(x))); }
__device__ inline i64 atomicSub(i64* at, i64 x) { return i64(atomicAdd(reinterpret_cast<u64*>(at), -u64(x))); }
__device__ inline u64 atomicSub(u64* at, u64 x) { return atomicAdd(at, -x); }
__device__ inline f32 atomicSub(f32* at, f32 x) { return atomicAdd(at, -x); }
__device__ inline f64 atomicSub(f64* at, f64 x) { return atomicAdd(at, -x); }
__device__ inline i64 atomicExch(i64* at, i64 x) { return i64(atomicExch(reinterpret_cast<u64*>(at), u64(x))); }
__device__ inline f64 atomicExch(f64* at, f64 x) { return op::replaced<u64>(at, [=](f64) { return x; }); }
__device__ inline i64 atomicCAS(i64* at, i64 expected, i64 x) {
  return i64(atomicCAS(reinterpret_cast<u64*>(at), u64(expected), u64(x)));
}
// A NaN gives way to a number, as in fmax.
#define EXTREMUM(name, T, Word, function)                                       \
  __device__ inline T name(T* at, T x) {                                        \
    return op::replaced<Word>(at, [=](T old) { return ::function(old, x); });   \
  }
EXTREMUM(atomicMax, f32, u32, fmaxf)
EXTREMUM(atomicMax, f64, u64, fmax)
EXTREMUM(atomicMin, f32, u32, fminf)
EXTREMUM(atomicMin, f64, u64, fmin)
#undef EXTREMUM
template <class Stored> __device__ inline small_float<Stored> atomicAdd(small_float<Stored>* at, float x) {
  return op::replaced_half(at, [=](small_float<Stored> old) { return small_float<Stored>(float(old) + x); });
}

#endif
