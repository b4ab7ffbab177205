// Correlation in one dimension. A block computes a tile of sums, each thread a few that are next to each other: it keeps
// the elements under its windows in registers, and moves them on by as many as it has sums.

const int SUMS = 8, TILE = THREADS * SUMS, TAPS = 256;

// One-dimensional values in memory; the elements from `begin` to `end` are those of the array, all others are left out.
template <class T> struct Elements {
  const T* first;
  long long stride, begin, end;
  __device__ __forceinline__ bool has(long long i) const { return i >= begin && i < end; }
  __device__ __forceinline__ T at(long long i) const { return has(i) ? first[(i - begin) * stride] : T{}; }
};

// Elements lie with a gap after each eight, so that neighbouring threads read different banks.
__device__ __forceinline__ int slot(int k) { return k + k / SUMS; }

template <bool IS_INSIDE, class T, class Multiply, class Add>
__device__ __forceinline__ void add_products(
    T (&sums)[SUMS], const Elements<T>& x, long long first, const T* elements, const T* taps, int count,
    Multiply multiply, Add add) {
  const T* own = elements + threadIdx.x * (SUMS + 1);
  first += (long long)threadIdx.x * SUMS;
  T now[SUMS], next[SUMS];
#pragma unroll
  for (int k = 0; k < SUMS; ++k) now[k] = own[k];
  for (int j = 0; j < count; j += SUMS) {
    own += SUMS + 1;
#pragma unroll
    for (int k = 0; k < SUMS; ++k) next[k] = own[k];
#pragma unroll
    for (int u = 0; u < SUMS; ++u) {
      if (j + u >= count) break;
      const T tap = taps[j + u];
#pragma unroll
      for (int k = 0; k < SUMS; ++k) {
        const T sum = add(sums[k], multiply(k + u < SUMS ? now[k + u] : next[(k + u) % SUMS], tap));
        // A tap that is infinite does not meet what is left out.
        sums[k] = IS_INSIDE || x.has(first + j + u + k) ? sum : sums[k];
      }
    }
#pragma unroll
    for (int k = 0; k < SUMS; ++k) now[k] = next[k];
  }
}

// out[i] = sum of x[i + j] * taps[j] over j, for elements of `x` and `taps` alone.
template <class T, class Multiply, class Add>
__device__ __forceinline__ void correlate(
    T* out, long long count, const Elements<T>& x, const Elements<T>& taps, Multiply multiply, Add add) {
  __shared__ T elements[(TILE + TAPS + SUMS) / SUMS * (SUMS + 1)], part[TAPS];
  for (long long first = (long long)blockIdx.x * TILE; first < count; first += (long long)gridDim.x * TILE) {
    T sums[SUMS] = {};
    for (long long j = 0; j < taps.end; j += TAPS) {  // sums of parts, which are added up, are more exact than long ones
      const int width = taps.end - j < TAPS ? int(taps.end - j) : TAPS;
      const long long from = first + j;
      if (from + TILE + width <= x.begin || from >= x.end) continue;
      __syncthreads();
      for (int k = threadIdx.x; k < TILE + TAPS; k += THREADS) elements[slot(k)] = x.at(from + k);
      if (threadIdx.x < width) part[threadIdx.x] = taps.at(j + threadIdx.x);
      __syncthreads();
      T of_part[SUMS] = {};
      if (from >= x.begin && from + TILE + width <= x.end)
        add_products<true>(of_part, x, from, elements, part, width, multiply, add);
      else
        add_products<false>(of_part, x, from, elements, part, width, multiply, add);
#pragma unroll
      for (int k = 0; k < SUMS; ++k) sums[k] = add(sums[k], of_part[k]);
    }
#pragma unroll
    for (int k = 0; k < SUMS; ++k) {
      const long long i = first + (long long)threadIdx.x * SUMS + k;
      if (i < count) out[i] = sums[k];
    }
  }
}
