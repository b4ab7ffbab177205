// Integers from `offset` to offset + span - 1 as a `Number` of draws.cuh: the upper half of the product of a piece with
// the span (D. Lemire, 2019). The piece is rejected if the lower half is less than `least`.

struct Number {
  typedef Piece Held;
  struct Tables {
    struct Own {};
    __device__ void fill() {}
    __device__ Own own() const { return {}; }
  };
  u64 span, least, offset;
  __device__ explicit Number(const u64* bounds) : span(bounds[0]), least(bounds[1]), offset(bounds[2]) {}
  __device__ __forceinline__ u32 quick(const Tables::Own&, Piece piece, Piece& held) const {
    held = piece;
    return u32(BITS == 64 ? u64(piece) * span >= least : Piece(u64(piece) * u32(span)) >= Piece(least)) << 31;
  }
  __device__ __forceinline__ Value value(Piece piece) const {
    return Value(offset + (BITS == 64 ? __umul64hi(piece, span) : u64(piece) * u32(span) >> (BITS & 63)));
  }
  __device__ bool begin(Piece piece, Value& made) const {
    made = value(piece);
    return quick({}, piece, piece) >> 31;
  }
  template <class PieceReader> __device__ bool go_on(Piece, PieceReader&, Value&) const { return false; }
};
