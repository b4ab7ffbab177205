// Attempts at numbers. A `Number` tells of a piece whether it makes a number by itself, and which: `begin`. Where it does
// not, `go_on` takes more. `quick` is `begin` with tables at hand: the result's highest bit says whether it does; what is
// made is held, and `value` is the number of that.

// Integers of a span: of the product of a piece with the span the upper half, if the lower one is large enough.
struct Integers {
  typedef Piece Held;
  struct Tables {
    struct Own {};
    __device__ void fill() {}
    __device__ Own own() const { return {}; }
  };
  u64 span, least, offset;
  __device__ explicit Integers(const u64* bounds) : span(bounds[0]), least(bounds[1]), offset(bounds[2]) {}
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

// Where in a piece the 8 bits of the layer begin, and an integer of so many bits that is the place in it.
template <int LAYER, int FIRST, int LENGTH> struct Place {
  static const int LOWEST = LAYER;
  __device__ __forceinline__ static int layer(Piece piece) { return int(piece >> LAYER & 255); }
  // The integer, as lower bits of a power of two that is taken away again: that is exact, and faster than to convert.
  __device__ __forceinline__ static f32 real(u32 piece) {
    static_assert(BITS == 64 || FIRST + LENGTH == 32, "the upper bits");
    return op::bit_cast<f32>(__funnelshift_r(piece, 0x4b000000u >> (32 - FIRST), FIRST)) - 8388608.0f;
  }
  __device__ __forceinline__ static f64 real(u64 piece) {
    const u64 integer = piece >> FIRST & ((u64(1) << LENGTH) - 1), two_52 = 0x433ull << 52, two_84 = 0x453ull << 52;
    if (LENGTH <= 52) return op::bit_cast<f64>(two_52 | integer) - 4503599627370496.0;
    return op::bit_cast<f64>(two_84 | integer >> 32) - 19342813118337666422669312.0 +
           op::bit_cast<f64>(two_52 | u32(integer));
  }
  // The highest bit is whether one of these is less than another: their difference is exact.
  __device__ __forceinline__ static u32 is_less(Value x, Value y) {
    return u32(op::bit_cast<Piece>(x - y) >> (BITS - 32));
  }
};

// What belongs to a layer, in shared memory, COPIES times: those that threads read at the same time are side by side.
struct alignas(2 * sizeof(Value)) Layer {
  Value inside, scale;
};
struct Tables {
  Layer of[256 * COPIES];
  __device__ void fill() {
    for (int k = threadIdx.x; k < 256 * COPIES; k += THREADS)
      of[k] = {Value(inside_bits[k / COPIES]), scale(k / COPIES)};
  }
  // The copies of a thread.
  struct Own {
    const Layer* of;
    u32 first;
    // The layer whose number begins at bit FIRST.
    template <int FIRST> __device__ __forceinline__ Layer at(Piece piece) const {
      const int size = sizeof(Layer) * COPIES;
      const u32 place = u32(FIRST ? piece >> FIRST : piece) * size & 255 * size | first;
      return *reinterpret_cast<const Layer*>(reinterpret_cast<const char*>(of) + place);
    }
  };
  // Shuffled, as otherwise it is computed again for each piece.
  __device__ Own own() const {
    return {of, __shfl_sync(~0u, u32(threadIdx.x % COPIES * sizeof(Layer)), int(threadIdx.x % 32))};
  }
};
#endif

struct Normal {
  __device__ explicit Normal(const u64*) {}
#if ZIGGURAT == 1
  typedef Value Held;
  typedef ::Tables Tables;
  typedef Place<0, 9, BITS == 64 ? 52 : 23> At;
  __device__ static Value with_sign(Piece piece, Value x) {
    return op::bit_cast<Value>(op::bit_cast<Piece>(x) ^ piece << (BITS - 9) & Piece(1) << (BITS - 1));
  }
  __device__ __forceinline__ u32 quick(const Tables::Own& tables, Piece piece, Value& held) const {
    const Layer its = tables.at<At::LOWEST>(piece);
    const Value real = At::real(piece);
    held = with_sign(piece, real * its.scale);
    return At::is_less(real, its.inside);
  }
  __device__ __forceinline__ Value value(Value held) const { return held; }
  __device__ bool begin(Piece piece, Value& value) const {
    const int layer = At::layer(piece);
    const Value real = At::real(piece);
    value = with_sign(piece, real * scale(layer));
    return At::is_less(real, Value(inside_bits[layer])) >> 31;
  }
  template <class More> __device__ bool go_on(Piece piece, More& more, Value& value) const {
    const int layer = At::layer(piece);
    if (layer) return below(layer, more.take(), ::exp(-0.5 * value * value));
    const Value r = Value(3.6541528853610087963519472518), inverse = Value(0.27366123732975827203338247596);
    // Beyond the last layer. A round succeeds in more than nine of ten cases: that it takes fifteen of them happens to
    // one word in 2^70, and then the last one counts.
    for (int round = 0; round < 15; ++round) {
      const Value x = -inverse * log_of_rest(unit(more.take())), y = -log_of_rest(unit(more.take()));
      value = piece >> 17 & 1 ? -(r + x) : r + x;
      if (y + y > x * x) break;
    }
    return true;
  }
#endif
};

struct Exponential {
  __device__ explicit Exponential(const u64*) {}
#if ZIGGURAT == 2
  typedef Value Held;
  typedef ::Tables Tables;
  typedef Place<BITS == 64 ? 3 : 1, BITS == 64 ? 11 : 9, BITS == 64 ? 53 : 23> At;
  __device__ __forceinline__ u32 quick(const Tables::Own& tables, Piece piece, Value& held) const {
    const Layer its = tables.at<At::LOWEST>(piece);
    const Value real = At::real(piece);
    held = real * its.scale;
    return At::is_less(real, its.inside);
  }
  __device__ __forceinline__ Value value(Value held) const { return held; }
  __device__ bool begin(Piece piece, Value& value) const {
    const int layer = At::layer(piece);
    const Value real = At::real(piece);
    value = real * scale(layer);
    return At::is_less(real, Value(inside_bits[layer])) >> 31;
  }
  template <class More> __device__ bool go_on(Piece piece, More& more, Value& value) const {
    const int layer = At::layer(piece);
    // NumPy's expf is nearly always the nearest number, and a GPU's is not.
    if (layer) return below(layer, more.take(), Value(::exp(-f64(value))));
    value = Value(7.6971174701310497140446280481) - log_of_rest(unit(more.take()));
    return true;
  }
#endif
};
