// The ziggurat of exponential numbers. The lowest bits of a piece, 3 of 64 or 1 of 32, are unused; the layer and the
// place follow.
struct ExponentialShape {
  static const bool IS_WIDE = sizeof(Piece) == 8;
  typedef PieceLayout<IS_WIDE ? 3 : 1, IS_WIDE ? 11 : 9, IS_WIDE ? 53 : 23> Layout;
  __device__ static Real limit(int layer) { return Real(exponential_limit[layer]); }
  __device__ static Real scale(int layer) { return op::bit_cast<Real>(exponential_scale[layer]); }
  __device__ static Real height(int layer) { return op::bit_cast<Real>(exponential_height[layer]); }
  __device__ __forceinline__ static Real number(Piece, Real place, Real scale) { return place * scale; }
  // By float64, and rounded: NumPy's expf is nearly always correctly rounded, a GPU's is not.
  __device__ static Real curve(Real x) { return Real(::exp(-f64(x))); }
  template <class Uniform> __device__ static Real tail(Piece, Uniform uniform) {
    return Real(7.6971174701310497140446280481) - log_1_minus(uniform());
  }
};
