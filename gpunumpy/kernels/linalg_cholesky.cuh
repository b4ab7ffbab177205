// Cholesky factors of matrices that lie by columns, n elements from one column to the next, by panels of W columns. What
// is above the diagonal becomes zeros.

namespace la {

// Factor the `width` rows and columns from `first` on (W at most); returns whether they are not positive definite.
template <class T, int W, int THREADS> __device__ __forceinline__ bool definite(T* a, int n, int first, int width) {
  const int PITCH = W + 1, me = threadIdx.x;
  __shared__ T held[W * PITCH];  // by columns
  __shared__ Real<T> over[W];
  T* block = a + (long long)first * n + first;
  for (int i = me; i < width * W; i += THREADS) {
    const int c = i / W, r = i % W;
    if (r >= c && r < width) held[c * PITCH + r] = block[(long long)c * n + r];
  }
  bool failed = false;
  // A column is divided by the root of its pivot only where it is used, so that a step has one barrier.
  for (int k = 0; k < width; ++k) {
    __syncthreads();
    const T* column = held + k * PITCH;
    const Real<T> square = re(column[k]), by = ::rsqrt(square);
    failed |= !(square > 0);
    const int r = me % W;
    if (r > k && r < width) {
      const T mine = times(column[r], by);
      for (int c = k + 1 + me / W; c <= r; c += THREADS / W)
        held[c * PITCH + r] = less(held[c * PITCH + r], mine, conj(times(column[c], by)));
    }
  }
  __syncthreads();
  if (me < width) over[me] = re(held[me * PITCH + me]);
  __syncthreads();
  for (int i = me; i < width * W; i += THREADS) {
    const int c = i / W, r = i % W;
    if (r >= width) continue;
    T x = of_real<T>(r == c ? ::sqrt(over[c]) : Real<T>(0));
    if (r > c) x = times(held[c * PITCH + r], ::rsqrt(over[c]));
    block[(long long)c * n + r] = x;
  }
  return failed;
}

// Solve for the rows below, one a thread, and write zeros above.
template <class T, int W, int THREADS>
__device__ __forceinline__ void below(T* a, int n, int first, int width, int part) {
  const int me = threadIdx.x, row = part * THREADS + me;
  __shared__ T held[W * W];  // the conjugate, by columns
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
