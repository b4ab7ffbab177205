// Cholesky factors of matrices that lie by columns, n elements from one column to the next, by panels of W columns. What
// is above the diagonal becomes zeros.

namespace la {

// Factor the `width` rows and columns from `first` on (W at most); returns whether they are not positive definite.
template <class T, int W, int THREADS> __device__ __forceinline__ bool definite(T* a, int n, int first, int width) {
  // A thread holds every GROUPS-th element of a row.
  const int GROUPS = THREADS / W, HELD = (W + GROUPS - 1) / GROUPS, me = threadIdx.x, r = me % W, group = me / W;
  __shared__ T columns[2][W];
  T* block = a + (long long)first * n + first;
  T v[HELD];
#pragma unroll
  for (int h = 0; h < HELD; ++h) {
    const int c = group + GROUPS * h;
    v[h] = c <= r && r < width ? block[(long long)c * n + r] : of_real<T>(0);
  }
  bool failed = false;
#pragma unroll
  for (int h = 0; h < HELD; ++h)
    for (int i = 0; i < GROUPS && GROUPS * h + i < width; ++i) {
      const int k = GROUPS * h + i;
      T* column = columns[k % 2];
      if (group == i) column[r] = v[h];
      __syncthreads();
      const Real<T> square = re(column[k]), by = ::rsqrt(square);
      failed |= !(square > 0);
      const T mine = times(column[r], by);
      if (group == i) v[h] = r == k ? of_real<T>(::sqrt(square)) : mine;
#pragma unroll
      for (int u = h; u < HELD; ++u) {
        const int c = group + GROUPS * u;
        if (c > k && c <= r) v[u] = less(v[u], mine, conj(times(column[c], by)));
      }
    }
#pragma unroll
  for (int h = 0; h < HELD; ++h) {
    const int c = group + GROUPS * h;
    if (c < width && r < width) block[(long long)c * n + r] = c <= r ? v[h] : of_real<T>(0);
  }
  return failed;
}

// Solve for the rows below, one a thread, and write zeros above.
template <class T, int W, int THREADS>
__device__ __forceinline__ void below(T* a, int n, int first, int width, int part) {
  const int me = threadIdx.x, row = part * THREADS + me;
  __shared__ __align__(16) T held[W * W];  // the conjugate, by columns
  __shared__ Real<T> over[W];
  const T* block = a + (long long)first * n + first;
  for (int i = me; i < W * W; i += THREADS) {
    const int c = i / W, r = i % W;
    held[i] = r > c && r < width ? conj(block[(long long)c * n + r]) : of_real<T>(0);
    if (r == c) over[c] = c < width ? 1 / re(block[(long long)c * n + c]) : Real<T>(1);
  }
  __syncthreads();
  T* own = a + (long long)first * n + row;
  if (row < first)
    for (int c = 0; c < width; ++c) own[(long long)c * n] = of_real<T>(0);
  if (row < first + width || row >= n) return;
  T v[W];
#pragma unroll
  for (int c = 0; c < W; ++c) v[c] = c < width ? own[(long long)c * n] : of_real<T>(0);
#pragma unroll
  for (int k = 0; k < W; ++k) {
    v[k] = times(v[k], over[k]);
#pragma unroll
    for (int c = k + 1; c < W; ++c) v[c] = less(v[c], v[k], held[k * W + c]);
  }
#pragma unroll
  for (int c = 0; c < W; ++c)
    if (c < width) own[(long long)c * n] = v[c];
}

}  // namespace la
