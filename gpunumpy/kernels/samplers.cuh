// Attempts at numbers. `quick` tells whether a piece alone makes one; `slow` goes on where it does not, and takes pieces.

// Integers of a span: of the product of a piece with the span the upper half, if the lower one is large enough.
struct Integers {
  u64 span, least, offset;
  __device__ explicit Integers(const u64* state) : span(state[9]), least(state[10]), offset(state[11]) {}
  __device__ bool quick(Piece piece, Value& value) const {
    if (BITS == 64) {
      value = Value(offset + __umul64hi(piece, span));
      return u64(piece) * span >= least;
    }
    const u64 product = u64(piece) * u32(span);
    value = Value(offset + (product >> (BITS & 63)));
    return (product & ((u64(1) << (BITS & 63)) - 1)) >= least;
  }
  template <class More> __device__ bool slow(Piece, More&, Value&) const { return false; }
};

__device__ __forceinline__ f64 unit(u64 piece) { return f64(piece >> 11) * (1.0 / 9007199254740992.0); }
__device__ __forceinline__ f32 unit(u32 piece) { return f32(piece >> 8) * (1.0f / 16777216.0f); }

#ifdef ZIGGURAT
__device__ __forceinline__ Value scale(int layer) { return op::bit_cast<Value>(scale_bits[layer]); }
__device__ __forceinline__ Value height(int layer) { return op::bit_cast<Value>(height_bits[layer]); }

// Whether a point of a layer that is not inside of it is below the curve.
template <class F> __device__ __forceinline__ bool below(int layer, Piece piece, F curve) {
  return (height(layer - 1) - height(layer)) * unit(piece) + height(layer) < curve;
}

__device__ __forceinline__ f64 log_of_rest(f64 x) { return ::log1p(-x); }
__device__ __forceinline__ f32 log_of_rest(f32 x) { return ::log1pf(-x); }
#endif

struct Normal {
  __device__ explicit Normal(const u64*) {}
#if ZIGGURAT == 1
  // A layer, a sign, and an integer of 52 bits, or of 23.
  __device__ static Piece whole(Piece piece) { return BITS == 64 ? piece >> 9 & 0xfffffffffffff : piece >> 9; }
  __device__ bool quick(Piece piece, Value& value) const {
    const int layer = piece & 255;
    const Piece integer = whole(piece);
    const Value x = Value(integer) * scale(layer);
    value = piece >> 8 & 1 ? -x : x;
    return integer < inside_bits[layer];
  }
  template <class More> __device__ bool slow(Piece piece, More& more, Value& value) const {
    const int layer = piece & 255;
    if (layer) return below(layer, more.take(), ::exp(-0.5 * value * value));
    const Value r = Value(3.6541528853610087963519472518), inverse = Value(0.27366123732975827203338247596);
    // Beyond the last layer. A round succeeds in more than nine of ten cases: that it takes fifteen of them happens to
    // one word in 2^70, and then the last one counts.
    for (int round = 0; round < 15; ++round) {
      const Value x = -inverse * log_of_rest(unit(more.take())), y = -log_of_rest(unit(more.take()));
      value = whole(piece) >> 8 & 1 ? -(r + x) : r + x;
      if (y + y > x * x) break;
    }
    return true;
  }
#endif
};

struct Exponential {
  __device__ explicit Exponential(const u64*) {}
#if ZIGGURAT == 2
  __device__ bool quick(Piece piece, Value& value) const {
    piece >>= BITS == 64 ? 3 : 1;
    const int layer = piece & 255;
    piece >>= 8;
    value = Value(piece) * scale(layer);
    return piece < inside_bits[layer];
  }
  template <class More> __device__ bool slow(Piece piece, More& more, Value& value) const {
    const int layer = piece >> (BITS == 64 ? 3 : 1) & 255;
    if (layer) return below(layer, more.take(), BITS == 64 ? ::exp(-value) : ::expf(-value));
    value = Value(7.6971174701310497140446280481) - log_of_rest(unit(more.take()));
    return true;
  }
#endif
};
