// The ziggurat of normal numbers. From the lowest bit a piece has the layer, the sign and the place.
struct NormalShape {
  typedef PieceLayout<0, 9, sizeof(Piece) == 8 ? 52 : 23> Layout;
  __device__ static Real limit(int layer) { return Real(normal_limit[layer]); }
  __device__ static Real scale(int layer) { return op::bit_cast<Real>(normal_scale[layer]); }
  __device__ static Real height(int layer) { return op::bit_cast<Real>(normal_height[layer]); }
  __device__ __forceinline__ static Real number(Piece piece, Real place, Real scale) {
    const int highest = 8 * sizeof(Piece) - 1;
    return op::bit_cast<Real>(op::bit_cast<Piece>(place * scale) ^ piece << (highest - 8) & Piece(1) << highest);
  }
  __device__ static f64 curve(Real x) { return ::exp(-0.5 * x * x); }
  // A number beyond the box of layer 0. A round succeeds in more than nine of ten cases. Fifteen rounds are needed for
  // one word in 2^70, and then the last one counts.
  template <class Uniform> __device__ static Real tail(Piece piece, Uniform uniform) {
    const Real r = Real(3.6541528853610087963519472518), inverse = Real(0.27366123732975827203338247596);
    for (int round = 1;; ++round) {
      const Real x = -inverse * log_1_minus(uniform()), y = -log_1_minus(uniform());
      if (y + y > x * x || round == 15) return piece >> 17 & 1 ? -(r + x) : r + x;
    }
  }
};
