// Atomic changes of elements by a function, for all sizes up to eight bytes.

template <int bytes> struct Bits;
template <> struct Bits<1> { typedef u8 type; };
template <> struct Bits<2> { typedef u16 type; };
template <> struct Bits<4> { typedef u32 type; };
template <> struct Bits<8> { typedef u64 type; };
template <class T> using bits_of = typename Bits<sizeof(T)>::type;

// *place = function(*place), repeated until no other thread has changed the element in between. Single bytes cannot be
// exchanged: the aligned four bytes around one are, with the other three unchanged.
template <class T, class F> __device__ __forceinline__ void atomic_change(T* place, F function) {
  typedef bits_of<T> Word;
  if constexpr (sizeof(T) == 1) {
    u32* word = (u32*)((u64)place & ~3ull);
    const int shift = 8 * int((u64)place & 3);
    u32 seen = *(volatile u32*)word;
    for (;;) {
      const Word old = Word(seen >> shift), wanted = op::bit_cast<Word>(T(function(op::bit_cast<T>(old))));
      if (wanted == old) return;
      const u32 found = atomicCAS(word, seen, seen ^ u32(old ^ wanted) << shift);
      if (found == seen) return;
      seen = found;
    }
  } else {
    Word seen = *(volatile Word*)place;
    for (;;) {
      const Word wanted = op::bit_cast<Word>(T(function(op::bit_cast<T>(seen))));
      if (wanted == seen) return;
      const Word found = atomicCAS((Word*)place, seen, wanted);
      if (found == seen) return;
      seen = found;
    }
  }
}
