// Factors of matrices in the registers of a block of WARPS warps: warp w has the K rows w, w + WARPS, ..., and a lane
// of it the COLUMNS columns lane, lane + 32, ... In a step of elimination all threads read one row or column through
// shared memory; the steps use the halves of a buffer in turn, so that a step needs one barrier.

namespace la {

// LU with partial pivoting. No row moves: when a row becomes the pivot, what is left of it is written to `upper`.
template <class T, int WARPS> struct Block {
  T* upper;  // n rows of `width` elements, `pitch` from one to the next, which is odd
  T* rows;       // two halves with a candidate row for the pivot from each warp
  u32* ranks;    // the pivot ranks of the candidates
  int* places;   // the row numbers of the candidates
  int* order;    // the rows in the order in which they became pivots
  int n, width, pitch;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  __device__ Block(void* shared, int n, int width) : upper((T*)shared), n(n), width(width), pitch(width | 1) {
    rows = upper + n * pitch;
    ranks = (u32*)(rows + 2 * WARPS * width);
    places = (int*)(ranks + 2 * WARPS);
    order = places + 2 * WARPS;
  }

  // Factor the n by `width` matrix; returns true if a pivot is zero.
  template <int K, int COLUMNS, class At> __device__ __forceinline__ bool factor(At at) {
    T v[K][COLUMNS];
    u32 used = 0;  // a bit for each of the warp's rows that was a pivot or is not there
    bool singular = false;
#pragma unroll
    for (int k = 0; k < K; ++k)
#pragma unroll
      for (int t = 0; t < COLUMNS; ++t) {
        const int r = warp + WARPS * k, c = lane + 32 * t;
        v[k][t] = r < n && c < width ? at(r, c) : of_real<T>(0);
        if (r >= n) used |= 1u << k;
      }
#pragma unroll
    for (int t = 0; t < COLUMNS; ++t)
      for (int i = 0; i < 32 && i + 32 * t < n; ++i) {
        const int j = i + 32 * t, half = j % 2 * WARPS;
        // In each warp the lane with column j chooses among the warp's rows, and all lanes write the chosen row.
        u32 best = 0;
        int chosen = 0;
#pragma unroll
        for (int k = 0; k < K; ++k) {
          const u32 rank = used >> k & 1 ? 0 : pivot_rank(v[k][t]);
          if (best < rank) best = rank, chosen = k;
        }
        chosen = __shfl_sync(ALL, chosen, i);
        if (lane == i) ranks[half + warp] = best, places[half + warp] = warp + WARPS * chosen;
#pragma unroll
        for (int k = 0; k < K; ++k)
          if (k == chosen)
#pragma unroll
            for (int s = t; s < COLUMNS; ++s)
              if (lane + 32 * s < width) rows[(half + warp) * width + lane + 32 * s] = v[k][s];
        __syncthreads();
        const u32 candidate = lane < WARPS ? ranks[half + lane] : 0, largest = group_max<32>(candidate);
        const int winner = __ffs(int(__ballot_sync(ALL, candidate == largest))) - 1;
        const T* pivot_row = rows + (half + winner) * width;
        if (winner == warp) used |= 1u << chosen;
        if (threadIdx.x == 0) order[j] = places[half + winner];
        singular |= is_zero(pivot_row[j]);
        const Divisor<T> divisor(or_one(pivot_row[j]));
        T pivot_elements[COLUMNS];
#pragma unroll
        for (int s = t; s < COLUMNS; ++s) {
          const int c = lane + 32 * s;
          pivot_elements[s] = c < width ? pivot_row[c] : of_real<T>(0);
          if (j % WARPS == warp && c < width) upper[j * pitch + c] = pivot_elements[s];
        }
#pragma unroll
        for (int k = 0; k < K; ++k) {
          const T multiplier = divisor(shuffle(v[k][t], i, 32));
#pragma unroll
          for (int s = t; s < COLUMNS; ++s) v[k][s] = sub_mul(v[k][s], multiplier, pivot_elements[s]);
        }
      }
    __syncthreads();
    return singular;
  }

  // Solve the upper system for the `sides` columns after the first n, a warp to each column.
  template <int ROWS, class Put> __device__ void substitute(int sides, Put put) {
    for (int c = warp; c < sides; c += WARPS) {
      T y[ROWS];
      Divisor<T> divisor[ROWS];
      const T* factor_row[ROWS];
#pragma unroll
      for (int k = 0; k < ROWS; ++k) {
        const int i = lane + 32 * k < n ? lane + 32 * k : 0;
        factor_row[k] = upper + i * pitch;
        y[k] = factor_row[k][n + c];
        divisor[k] = Divisor<T>(factor_row[k][i]);
      }
#pragma unroll
      for (int k = ROWS - 1; k >= 0; --k)
        for (int i = min(n - 32 * k, 32) - 1; i >= 0; --i) {
          const int j = 32 * k + i;
          if (lane == i) y[k] = divisor[k](y[k]);
          const T x = shuffle(y[k], i, 32);
          if (lane < i) y[k] = sub_mul(y[k], factor_row[k][j], x);
#pragma unroll
          for (int above = 0; above < k; ++above) y[above] = sub_mul(y[above], factor_row[above][j], x);
        }
#pragma unroll
      for (int k = 0; k < ROWS; ++k)
        if (lane + 32 * k < n) put(lane + 32 * k, c, y[k]);
    }
  }

  // The determinant of the matrix, computed by the first warp.
  __device__ Determinant<T> determinant() {
    Determinant<T> result;
    for (int i = lane; i < n; i += 32) {
      bool odd = false;
      for (int k = 0; k < i; ++k) odd ^= order[k] > order[i];
      result.multiply(upper[i * pitch + i], odd);
    }
    result.template combine<32>();
    return result;
  }
};

// The Cholesky factor, whose elements `put` writes; a step shares one column. Returns true if the matrix is not
// positive definite.
template <class T, int WARPS, int K, int COLUMNS, class At, class Put>
__device__ __forceinline__ bool cholesky_of_block(int n, At at, Put put) {
  __shared__ __align__(16) unsigned char memory[2 * 32 * COLUMNS * sizeof(T)];
  T* columns = (T*)memory;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  T v[K][COLUMNS];
  Real<T> inverse_roots[COLUMNS];  // by which the lane's columns are multiplied in the end
  bool failed = false;
#pragma unroll
  for (int k = 0; k < K; ++k)
#pragma unroll
    for (int t = 0; t < COLUMNS; ++t) {
      const int r = warp + WARPS * k, c = lane + 32 * t;
      v[k][t] = r < n && c <= r ? at(r, c) : of_real<T>(0);
    }
#pragma unroll
  for (int t = 0; t < COLUMNS; ++t)
    for (int i = 0; i < 32 && i + 32 * t < n; ++i) {
      const int j = i + 32 * t;
      T* column = columns + j % 2 * 32 * COLUMNS;
      if (lane == i)
#pragma unroll
        for (int k = 0; k < K; ++k) column[warp + WARPS * k] = v[k][t];
      __syncthreads();
      const Real<T> square = re(column[j]), inverse_root = ::rsqrt(square);
      failed |= !(square > 0);
      if (lane == i) inverse_roots[t] = inverse_root;
      T across[COLUMNS], by[K];
#pragma unroll
      for (int u = t; u < COLUMNS; ++u) across[u] = times(conj(column[lane + 32 * u]), inverse_root);
      if (lane <= i) across[t] = of_real<T>(0);
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const T own = times(column[warp + WARPS * k], inverse_root);
        by[k] = warp + WARPS * k > j ? own : of_real<T>(0);
      }
      // Elements above the diagonal are updated too, but not read.
#pragma unroll
      for (int k = 0; k < K; ++k)
#pragma unroll
        for (int u = t; u < COLUMNS; ++u) v[k][u] = sub_mul(v[k][u], by[k], across[u]);
    }
#pragma unroll
  for (int k = 0; k < K; ++k)
#pragma unroll
    for (int t = 0; t < COLUMNS; ++t) {
      const int r = warp + WARPS * k, c = lane + 32 * t;
      if (r < n && c < n)
        put(r, c, r < c ? of_real<T>(0) : r == c ? of_real<T>(::sqrt(re(v[k][t]))) : times(v[k][t], inverse_roots[t]));
    }
  return failed;
}

}  // namespace la
