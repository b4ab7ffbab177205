// Cholesky factors of matrices that are stored by columns, n elements from one column to the next, by panels of W
// columns. Elements above the diagonal become zero.

namespace la {

// Factor the square of `width` rows and columns (W at most) on the diagonal from `first` on. Returns true if it is not
// positive definite.
template <class T, int W, int THREADS>
__device__ __forceinline__ bool factor_corner(T* a, int n, int first, int width) {
  // A thread holds every GROUPS-th element of a row.
  const int GROUPS = THREADS / W, REGISTERS = (W + GROUPS - 1) / GROUPS;
  const int thread = threadIdx.x, r = thread % W, group = thread / W;
  __shared__ T columns[2][W];
  T* block = a + (long long)first * n + first;
  T v[REGISTERS];
#pragma unroll
  for (int h = 0; h < REGISTERS; ++h) {
    const int c = group + GROUPS * h;
    v[h] = c <= r && r < width ? block[(long long)c * n + r] : of_real<T>(0);
  }
  bool failed = false;
#pragma unroll
  for (int h = 0; h < REGISTERS; ++h)
    for (int i = 0; i < GROUPS && GROUPS * h + i < width; ++i) {
      const int k = GROUPS * h + i;
      T* column = columns[k % 2];
      if (group == i) column[r] = v[h];
      __syncthreads();
      const Real<T> square = re(column[k]), inverse_root = ::rsqrt(square);
      failed |= !(square > 0);
      const T own = times(column[r], inverse_root);
      if (group == i) v[h] = r == k ? of_real<T>(::sqrt(square)) : own;
#pragma unroll
      for (int u = h; u < REGISTERS; ++u) {
        const int c = group + GROUPS * u;
        if (c > k && c <= r) v[u] = sub_mul(v[u], own, conj(times(column[c], inverse_root)));
      }
    }
#pragma unroll
  for (int h = 0; h < REGISTERS; ++h) {
    const int c = group + GROUPS * h;
    if (c < width && r < width) block[(long long)c * n + r] = c <= r ? v[h] : of_real<T>(0);
  }
  return failed;
}

// Solve for the rows of the panel below its square, one row a thread, and write zeros above the square.
template <class T, int W, int THREADS>
__device__ __forceinline__ void solve_below(T* a, int n, int first, int width, int row_block) {
  const int thread = threadIdx.x, row = row_block * THREADS + thread;
  __shared__ __align__(16) T conjugate_block[W * W];  // the conjugate of the square's lower triangle, by columns
  __shared__ Real<T> inverse_diagonal[W];
  const T* block = a + (long long)first * n + first;
  for (int i = thread; i < W * W; i += THREADS) {
    const int c = i / W, r = i % W;
    conjugate_block[i] = r > c && r < width ? conj(block[(long long)c * n + r]) : of_real<T>(0);
    if (r == c) inverse_diagonal[c] = c < width ? 1 / re(block[(long long)c * n + c]) : Real<T>(1);
  }
  __syncthreads();
  T* row_elements = a + (long long)first * n + row;
  if (row < first)
    for (int c = 0; c < width; ++c) row_elements[(long long)c * n] = of_real<T>(0);
  if (row < first + width || row >= n) return;
  T v[W];
#pragma unroll
  for (int c = 0; c < W; ++c) v[c] = c < width ? row_elements[(long long)c * n] : of_real<T>(0);
#pragma unroll
  for (int k = 0; k < W; ++k) {
    v[k] = times(v[k], inverse_diagonal[k]);
#pragma unroll
    for (int c = k + 1; c < W; ++c) v[c] = sub_mul(v[c], v[k], conjugate_block[k * W + c]);
  }
#pragma unroll
  for (int c = 0; c < W; ++c)
    if (c < width) row_elements[(long long)c * n] = v[c];
}

}  // namespace la
