// Atomic changes of elements by a function, for every size up to eight bytes.

template <int bytes> struct Bits;
template <> struct Bits<1> { typedef u8 type; };
template <> struct Bits<2> { typedef u16 type; };
template <> struct Bits<4> { typedef u32 type; };
template <> struct Bits<8> { typedef u64 type; };
template <class T> using bits_of = typename Bits<sizeof(T)>::type;

// *place = change(*place), tried until no other thread came between. There is no exchange of single bytes: they are
// changed within the aligned four that they stand in, the others kept as they are.
template <class T, class F> __device__ __forceinline__ void change(T* place, F changed) {
  typedef bits_of<T> Own;
  if constexpr (sizeof(T) == 1) {
    u32* word = (u32*)((u64)place & ~3ull);
    const int shift = 8 * int((u64)place & 3);
    u32 seen = *(volatile u32*)word;
    for (;;) {
      const Own old = Own(seen >> shift), wanted = op::bit_cast<Own>(T(changed(op::bit_cast<T>(old))));
      if (wanted == old) return;
      const u32 found = atomicCAS(word, seen, seen ^ u32(old ^ wanted) << shift);
      if (found == seen) return;
      seen = found;
    }
  } else {
    Own seen = *(volatile Own*)place;
    for (;;) {
      const Own wanted = op::bit_cast<Own>(T(changed(op::bit_cast<T>(seen))));
      if (wanted == seen) return;
      const Own found = atomicCAS((Own*)place, seen, wanted);
      if (found == seen) return;
      seen = found;
    }
  }
}
