// Matrices that a block of WARPS warps has in its registers: warp w the rows w, w + WARPS, ..., K of them, and a lane the
// columns lane, lane + 32, ..., TURNS of them. A step of elimination has one barrier; what all need of one row or column
// goes through either half of a buffer in turn.

namespace la {

// LU with partial pivoting. No row moves: what is left of each, when it is the pivot, is a row of `upper`.
template <class T, int WARPS> struct Block {
  T* upper;  // n rows of `width` elements, `pitch` from one to the next, which is odd
  T* rows;
  u32* ranks;
  int *places, *order;
  int n, width, pitch;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  __device__ Block(void* shared, int n, int width) : upper((T*)shared), n(n), width(width), pitch(width | 1) {
    rows = upper + n * pitch;
    ranks = (u32*)(rows + 2 * WARPS * width);
    places = (int*)(ranks + 2 * WARPS);
    order = places + 2 * WARPS;
  }

  // Returns whether a pivot was zero.
  template <int K, int TURNS, class At> __device__ __forceinline__ bool factor(At at) {
    T v[K][TURNS];
    u32 used = 0;  // of the warp's rows
    bool singular = false;
#pragma unroll
    for (int k = 0; k < K; ++k)
#pragma unroll
      for (int t = 0; t < TURNS; ++t) {
        const int r = warp + WARPS * k, c = lane + 32 * t;
        v[k][t] = r < n && c < width ? at(r, c) : of_real<T>(0);
        if (r >= n) used |= 1u << k;
      }
#pragma unroll
    for (int t = 0; t < TURNS; ++t)
      for (int i = 0; i < 32 && i + 32 * t < n; ++i) {
        const int j = i + 32 * t, half = j % 2 * WARPS;
        // The lane that has the column chooses among the rows of its warp, and all write the one it has chosen.
        u32 best = 0;
        int chosen = 0;
#pragma unroll
        for (int k = 0; k < K; ++k) {
          const u32 size = used >> k & 1 ? 0 : rank(v[k][t]);
          if (best < size) best = size, chosen = k;
        }
        chosen = __shfl_sync(ALL, chosen, i);
        if (lane == i) ranks[half + warp] = best, places[half + warp] = warp + WARPS * chosen;
#pragma unroll
        for (int k = 0; k < K; ++k)
          if (k == chosen)
#pragma unroll
            for (int u = t; u < TURNS; ++u)
              if (lane + 32 * u < width) rows[(half + warp) * width + lane + 32 * u] = v[k][u];
        __syncthreads();
        const u32 its = lane < WARPS ? ranks[half + lane] : 0, most = greatest<32>(its);
        const int who = __ffs(int(__ballot_sync(ALL, its == most))) - 1;
        const T* found = rows + (half + who) * width;
        if (who == warp) used |= 1u << chosen;
        if (threadIdx.x == 0) order[j] = places[half + who];
        singular |= is_zero(found[j]);
        const Divisor<T> over(or_one(found[j]));
        T top[TURNS];
#pragma unroll
        for (int u = t; u < TURNS; ++u) {
          const int c = lane + 32 * u;
          top[u] = c < width ? found[c] : of_real<T>(0);
          if (j % WARPS == warp && c < width) upper[j * pitch + c] = top[u];
        }
#pragma unroll
        for (int k = 0; k < K; ++k) {
          const T by = over(from(v[k][t], i, 32));
#pragma unroll
          for (int u = t; u < TURNS; ++u) v[k][u] = less(v[k][u], by, top[u]);
        }
      }
    __syncthreads();
    return singular;
  }

  // The solutions for the columns after the first n, of which there are `sides`; a warp to each.
  template <int ROWS, class Put> __device__ void substitute(int sides, Put put) {
    for (int c = warp; c < sides; c += WARPS) {
      T y[ROWS];
      Divisor<T> over[ROWS];
      const T* its[ROWS];
#pragma unroll
      for (int k = 0; k < ROWS; ++k) {
        const int i = lane + 32 * k < n ? lane + 32 * k : 0;
        its[k] = upper + i * pitch;
        y[k] = its[k][n + c];
        over[k] = Divisor<T>(its[k][i]);
      }
#pragma unroll
      for (int k = ROWS - 1; k >= 0; --k)
        for (int i = min(n - 32 * k, 32) - 1; i >= 0; --i) {
          const int j = 32 * k + i;
          if (lane == i) y[k] = over[k](y[k]);
          const T x = from(y[k], i, 32);
          if (lane < i) y[k] = less(y[k], its[k][j], x);
#pragma unroll
          for (int above = 0; above < k; ++above) y[above] = less(y[above], its[above][j], x);
        }
#pragma unroll
      for (int k = 0; k < ROWS; ++k)
        if (lane + 32 * k < n) put(lane + 32 * k, c, y[k]);
    }
  }

  // By the first warp.
  __device__ Determinant<T> determinant() {
    Determinant<T> result;
    for (int i = lane; i < n; i += 32) {
      bool odd = false;
      for (int k = 0; k < i; ++k) odd ^= order[k] > order[i];
      result.take(upper[i * pitch + i], odd);
    }
    result.template gather<32>();
    return result;
  }
};

// The Cholesky factor; a step shares one column. `put` takes the elements; returns whether there is none.
template <class T, int WARPS, int K, int TURNS, class At, class Put>
__device__ __forceinline__ bool cholesky_of_block(int n, At at, Put put) {
  __shared__ __align__(16) unsigned char memory[2 * 32 * TURNS * sizeof(T)];
  T* columns = (T*)memory;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  T v[K][TURNS];
  Real<T> over[TURNS];  // of the lane's columns, what they are divided by in the end
  bool failed = false;
#pragma unroll
  for (int k = 0; k < K; ++k)
#pragma unroll
    for (int t = 0; t < TURNS; ++t) {
      const int r = warp + WARPS * k, c = lane + 32 * t;
      v[k][t] = r < n && c <= r ? at(r, c) : of_real<T>(0);
    }
#pragma unroll
  for (int t = 0; t < TURNS; ++t)
    for (int i = 0; i < 32 && i + 32 * t < n; ++i) {
      const int j = i + 32 * t;
      T* column = columns + j % 2 * 32 * TURNS;
      if (lane == i)
#pragma unroll
        for (int k = 0; k < K; ++k) column[warp + WARPS * k] = v[k][t];
      __syncthreads();
      const Real<T> square = re(column[j]), inverse = ::rsqrt(square);
      failed |= !(square > 0);
      if (lane == i) over[t] = inverse;
      T across[TURNS], by[K];
#pragma unroll
      for (int u = t; u < TURNS; ++u) across[u] = times(conj(column[lane + 32 * u]), inverse);
      if (lane <= i) across[t] = of_real<T>(0);
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const T own = times(column[warp + WARPS * k], inverse);
        by[k] = warp + WARPS * k > j ? own : of_real<T>(0);
      }
      // What is above the diagonal, and what becomes of it, is nobody's.
#pragma unroll
      for (int k = 0; k < K; ++k)
#pragma unroll
        for (int u = t; u < TURNS; ++u) v[k][u] = less(v[k][u], by[k], across[u]);
    }
#pragma unroll
  for (int k = 0; k < K; ++k)
#pragma unroll
    for (int t = 0; t < TURNS; ++t) {
      const int r = warp + WARPS * k, c = lane + 32 * t;
      if (r < n && c < n)
        put(r, c, r < c ? of_real<T>(0) : r == c ? of_real<T>(::sqrt(re(v[k][t]))) : times(v[k][t], over[t]));
    }
  return failed;
}

}  // namespace la
