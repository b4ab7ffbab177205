// NumPy's ziggurats (G. Marsaglia and W. W. Tsang, 2000): a curve covered by 256 layers of equal area; layer 0 is a box
// and the tail beyond it.
//
// A piece of random bits, 64 for a float64 and 32 for a float32, has the number of a layer, a place in the layer and,
// for a normal number, the sign. Nearly every place is inside the part of its layer below the curve and makes a number:
// `begin`. For the others further uniform numbers decide whether they make one: `go_on`.

// The upper bits of a piece as a uniform number in [0, 1).
__device__ __forceinline__ f64 unit(u64 piece) { return f64(piece >> 11) * (1.0 / 9007199254740992.0); }
__device__ __forceinline__ f32 unit(u32 piece) { return f32(piece >> 8) * (1.0f / 16777216.0f); }

// log(1 - x)
__device__ __forceinline__ f64 log_1_minus(f64 x) { return ::log1p(-x); }
__device__ __forceinline__ f32 log_1_minus(f32 x) { return ::log1pf(-x); }

// The layout of a piece: the layer is its 8 bits from LAYER_BIT on, the place an integer of PLACE_BITS bits.
template <int LAYER_BIT, int PLACE_BIT, int PLACE_BITS> struct PieceLayout {
  static const int FIRST_BIT = LAYER_BIT;
  __device__ __forceinline__ static int layer(Piece piece) { return int(piece >> LAYER_BIT & 255); }
  // The place as a float: its bits are put below those of a power of two, which is then subtracted. That is exact, and
  // faster than a conversion.
  __device__ __forceinline__ static f32 place(u32 piece) {
    static_assert(PLACE_BIT + PLACE_BITS == 32, "the place has to be the upper bits of the piece");
    return op::bit_cast<f32>(__funnelshift_r(piece, 0x4b000000u >> (32 - PLACE_BIT), PLACE_BIT)) - 8388608.0f;
  }
  __device__ __forceinline__ static f64 place(u64 piece) {
    const u64 integer = piece >> PLACE_BIT & ((u64(1) << PLACE_BITS) - 1);
    const u64 two_52 = 0x433ull << 52, two_84 = 0x453ull << 52;
    if (PLACE_BITS <= 52) return op::bit_cast<f64>(two_52 | integer) - 4503599627370496.0;
    return op::bit_cast<f64>(two_84 | integer >> 32) - 19342813118337666422669312.0 +
           op::bit_cast<f64>(two_52 | u32(integer));
  }
};

// Whether a place is below the limit of its layer, in the highest bit: the sign of their difference, which is exact.
__device__ __forceinline__ u32 is_inside(Real place, Real limit) {
  return u32(op::bit_cast<Piece>(place - limit) >> (8 * sizeof(Piece) - 32));
}

// A ziggurat. Its `Shape` has the layout of pieces, the tables of the layers, the curve and the tail.
template <class Shape> struct Ziggurat : Shape {
  typedef typename Shape::Layout Layout;
  __device__ __forceinline__ static bool begin(Piece piece, Real& value) {
    const int layer = Layout::layer(piece);
    const Real place = Layout::place(piece);
    value = Shape::number(piece, place, Shape::scale(layer));
    return is_inside(place, Shape::limit(layer)) >> 31;
  }
  // Decide a piece for which `begin` returned false; `value` is the number that `begin` made, and uniform() returns the
  // next uniform number.
  template <class Uniform> __device__ static bool go_on(Piece piece, Uniform uniform, Real& value) {
    const int layer = Layout::layer(piece);
    if (layer) {
      const Real height = Shape::height(layer);
      return (Shape::height(layer - 1) - height) * uniform() + height < Shape::curve(value);
    }
    value = Shape::tail(piece, uniform);
    return true;
  }
};
