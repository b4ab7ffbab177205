// Attempts at numbers. A `Number` tells of a piece whether it makes a number by itself, and which: `begin`. Where it does
// not, `go_on` takes more. `quick` and `value` are the two parts of `begin`, with tables at hand.

// Integers of a span: of the product of a piece with the span the upper half, if the lower one is large enough.
struct Integers {
  struct Insides {
    __device__ void fill() {}
  };
  typedef Insides Scales;
  u64 span, least, offset;
  __device__ explicit Integers(const u64* bounds) : span(bounds[0]), least(bounds[1]), offset(bounds[2]) {}
  __device__ __forceinline__ bool quick(const Insides&, Piece piece) const {
    return BITS == 64 ? u64(piece) * span >= least : Piece(u64(piece) * u32(span)) >= Piece(least);
  }
  __device__ __forceinline__ Value value(const Scales&, Piece piece) const {
    return Value(offset + (BITS == 64 ? __umul64hi(piece, span) : u64(piece) * u32(span) >> (BITS & 63)));
  }
  __device__ bool begin(Piece piece, Value& made) const {
    made = value({}, piece);
    return quick({}, piece);
  }
  template <class More> __device__ bool go_on(Piece, More&, Value&) const { return false; }
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

// A layer, where the 8 bits of it begin, and an integer, of so many bits from another one on, that is the place in it.
template <int LAYER, int FIRST, int LENGTH> struct Place {
  int layer;
  Piece integer;
  __device__ __forceinline__ explicit Place(Piece piece)
      : layer(int(piece >> LAYER & 255)), integer(piece >> FIRST & ((Piece(1) << LENGTH) - 1)) {}
  // Whether it is inside, of tables in which all integers are at the upper end.
  __device__ __forceinline__ static bool is_below(Piece piece, Piece inside) {
    return Piece(piece << (BITS - FIRST - LENGTH)) < inside;
  }
  static const int UP = BITS - LENGTH;
  __device__ __forceinline__ Value real() const {
    return Value(integer);
  }
};

// Tables in shared memory: that is faster where each thread asks for another layer.
static_assert(256 % DRAW_THREADS == 0, "all threads fill them");
template <int UP> struct Insides {
  Piece of[256];
  __device__ void fill() {
#pragma unroll
    for (int k = 0; k < 256; k += DRAW_THREADS) of[k + threadIdx.x] = inside_bits[k + threadIdx.x] << UP;
  }
};
// With the sign, where there is one, as the bit above the layer.
template <int MANY> struct Scales {
  Value of[MANY];
  __device__ void fill() {
#pragma unroll
    for (int first = 0; first < MANY; first += DRAW_THREADS) {
      const int k = first + int(threadIdx.x);
      of[k] = k & 256 ? -scale(k & 255) : scale(k);
    }
  }
};
#endif

struct Normal {
  __device__ explicit Normal(const u64*) {}
#if ZIGGURAT == 1
  typedef Place<0, 9, BITS == 64 ? 52 : 23> At;
  typedef ::Insides<At::UP> Insides;
  typedef ::Scales<512> Scales;
  __device__ static Value with_sign(Piece piece, Value x) {
    return op::bit_cast<Value>(op::bit_cast<Piece>(x) ^ piece << (BITS - 9) & Piece(1) << (BITS - 1));
  }
  __device__ __forceinline__ bool quick(const Insides& insides, Piece piece) const {
    return At::is_below(piece, insides.of[At(piece).layer]);
  }
  __device__ __forceinline__ Value value(const Scales& scales, Piece piece) const {
    return At(piece).real() * scales.of[piece & 511];
  }
  __device__ bool begin(Piece piece, Value& value) const {
    const At at(piece);
    value = with_sign(piece, at.real() * scale(at.layer));
    return at.integer < inside_bits[at.layer];
  }
  template <class More> __device__ bool go_on(Piece piece, More& more, Value& value) const {
    const At at(piece);
    if (at.layer) return below(at.layer, more.take(), ::exp(-0.5 * value * value));
    const Value r = Value(3.6541528853610087963519472518), inverse = Value(0.27366123732975827203338247596);
    // Beyond the last layer. A round succeeds in more than nine of ten cases: that it takes fifteen of them happens to
    // one word in 2^70, and then the last one counts.
    for (int round = 0; round < 15; ++round) {
      const Value x = -inverse * log_of_rest(unit(more.take())), y = -log_of_rest(unit(more.take()));
      value = at.integer >> 8 & 1 ? -(r + x) : r + x;
      if (y + y > x * x) break;
    }
    return true;
  }
#endif
};

struct Exponential {
  __device__ explicit Exponential(const u64*) {}
#if ZIGGURAT == 2
  typedef Place<BITS == 64 ? 3 : 1, BITS == 64 ? 11 : 9, BITS == 64 ? 53 : 23> At;
  typedef ::Insides<At::UP> Insides;
  typedef ::Scales<256> Scales;
  __device__ __forceinline__ bool quick(const Insides& insides, Piece piece) const {
    return At::is_below(piece, insides.of[At(piece).layer]);
  }
  __device__ __forceinline__ Value value(const Scales& scales, Piece piece) const {
    const At at(piece);
    return at.real() * scales.of[at.layer];
  }
  __device__ bool begin(Piece piece, Value& value) const {
    const At at(piece);
    value = at.real() * scale(at.layer);
    return at.integer < inside_bits[at.layer];
  }
  template <class More> __device__ bool go_on(Piece piece, More& more, Value& value) const {
    const At at(piece);
    // NumPy's expf is nearly always the nearest number, and a GPU's is not: of 2^26 draws one would be decided otherwise.
    if (at.layer) return below(at.layer, more.take(), Value(::exp(-f64(value))));
    value = Value(7.6971174701310497140446280481) - log_of_rest(unit(more.take()));
    return true;
  }
#endif
};
