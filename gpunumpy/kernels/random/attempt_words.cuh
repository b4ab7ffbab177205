// The words that attempts (rejection_sampling.cuh) consume, in the units and the order of NumPy's bit generators.

const int TILE_WORDS = (TILE + MAX_WORDS) / PHASES;  // words that the attempts of a tile can consume

// The words from a position on. Beyond the last word they are made up, so that every attempt ends; an attempt that
// consumes made-up words is lost.
struct Source {
  const Word* words;
  int next;
  bool is_first_pass, is_postponed;
  __device__ Source(const Word* words, int next, bool is_first_pass = false)
      : words(words), next(next), is_first_pass(is_first_pass), is_postponed(false) {}
  // Called before long work that few attempts need. In the first pass it returns true: the attempt stops and its result
  // does not count. A second pass makes the postponed attempts, with an attempt for every thread of a warp.
  __device__ __forceinline__ bool postpones() {
    is_postponed |= is_first_pass;
    return is_first_pass;
  }
  __device__ static u64 made_up(u64 x) {
    x = (x + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 29) * 0x94d049bb133111ebull;
    return x ^ x >> 32;
  }
  __device__ __forceinline__ Word take() {
    const int at = next++;
    return at < TILE_WORDS ? words[at] : Word(made_up(u64(at)));
  }
  // A word of 32 bits; only where `Word` has 32.
  __device__ __forceinline__ u32 word32() { return u32(take()); }
  // A word of 64 bits; of words of 32 bits the first is the upper half.
  __device__ __forceinline__ u64 word64() {
    if (PAIRED) {
      const u64 pair = u64(take());
      return pair << 32 | pair >> 32;
    }
    if (sizeof(Word) == 8) return u64(take());
    const u64 upper = word32();
    return upper << 32 | word32();
  }
  // Uniform numbers in [0, 1).
  __device__ __forceinline__ f64 unit() {
    if (PAIRED) {
      const u64 pair = u64(take());  // two words of 32 bits, the first in the lower half
      return f64((pair & 0xffffffe0) << 21 | pair >> 38) * (1.0 / 9007199254740992.0);
    }
    if (sizeof(Word) == 8) return ::unit(word64());
    const u32 upper = word32() >> 5, lower = word32() >> 6;
    return (upper * 67108864.0 + lower) / 9007199254740992.0;
  }
  __device__ __forceinline__ f32 unit_float() { return ::unit(word32()); }

  // Ziggurat numbers, in the precision of the tables.
  __device__ __forceinline__ Piece piece() { return sizeof(Piece) == 8 ? Piece(word64()) : Piece(word32()); }
  __device__ __forceinline__ Real uniform() { return sizeof(Real) == 8 ? Real(unit()) : Real(unit_float()); }
  template <class Shape> __device__ __forceinline__ Real of_ziggurat() {
    for (;;) {
      const Piece piece = this->piece();
      Real value;
      if (Ziggurat<Shape>::begin(piece, value) || postpones()) return value;
      if (Ziggurat<Shape>::go_on(piece, [this] { return uniform(); }, value)) return value;
    }
  }
  __device__ Real normal() { return of_ziggurat<NormalShape>(); }
  __device__ Real exponential() { return of_ziggurat<ExponentialShape>(); }
};

// The number or numbers that one attempt makes.
template <class Number, int WIDTH> struct Drawn {
  Value values[WIDTH];
  __device__ bool from(const Number& number, Source& source) {
    if constexpr (WIDTH == 1) return number.draw(source, values[0]);
    else return number.draw(source, values);
  }
};
