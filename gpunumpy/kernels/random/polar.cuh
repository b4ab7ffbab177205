// Two normal numbers by the polar method (G. Marsaglia and T. A. Bray, 1964), or none if the point that the uniform
// numbers u and v make is outside the unit disk. As in NumPy, the first number is that of the second coordinate.
struct NormalPair {
  bool made;
  f64 first, second;
  __device__ __forceinline__ NormalPair(f64 u, f64 v) {
    const f64 x = 2.0 * u - 1.0, y = 2.0 * v - 1.0, r = x * x + y * y;
    made = r < 1.0 && r != 0.0;
    const f64 scale = made ? ::sqrt(-2.0 * ::log(r) / r) : 0;
    first = scale * y;
    second = scale * x;
  }
};
