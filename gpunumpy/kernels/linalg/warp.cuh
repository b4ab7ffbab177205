// Factors of matrices of n rows, up to 32, each by a group of LANES threads of a warp with a row in each thread's
// registers. Rows n to N are those of an identity. In a step all threads read one row through shared memory; the steps
// use the halves of a buffer in turn, so that a step needs one barrier.

namespace la {

template <class T, int N, int LANES> struct Group {
  static const int PITCH = N + 1;
  T* tile;  // N rows in shared memory, through which neighbouring threads load and store neighbouring elements
  T* buffer;
  int n, lane = threadIdx.x % LANES, first = threadIdx.x % 32 - threadIdx.x % LANES;
  T row[N];
  int place = -1;  // of the thread's row in the permuted matrix; -1: not yet a pivot
  T pivot;
  bool singular = false, odd = false;  // whether a pivot is zero; whether the permutation is odd

  __device__ Group(void* shared, int n) : tile((T*)shared), buffer((T*)shared + N * PITCH), n(n) {}

  template <class At> __device__ __forceinline__ void load(At at) {
    for (int i = lane; i < N * N; i += LANES) {
      const int r = i / N, c = i % N;
      tile[r * PITCH + c] = r < n && c < n ? at(r, c) : of_real<T>(r == c);
    }
    __syncwarp();
#pragma unroll
    for (int c = 0; c < N; ++c) row[c] = lane < N ? tile[lane * PITCH + c] : of_real<T>(0);
    __syncwarp();
  }

  __device__ __forceinline__ void store() {
    if (lane < N)
#pragma unroll
      for (int c = 0; c < N; ++c) tile[lane * PITCH + c] = row[c];
    __syncwarp();
  }

  // LU with partial pivoting; each step also eliminates in the thread's elements of the right-hand sides.
  template <int C> __device__ __forceinline__ void factor(T (&side)[C]) {
    u32 unused = ALL >> (32 - N);  // a bit for each row that is not yet a pivot
#pragma unroll
    for (int j = 0; j < N; ++j) {
      T* shared_row = buffer + j % 2 * (N + C);
      const bool is_free = unused >> lane & 1;
      const u32 own = is_free ? pivot_rank(row[j]) : 0, best = group_max<LANES>(own);
      const int chosen = __ffs(int(__ballot_sync(ALL, own == best && is_free) >> first)) - 1;
      if (lane == chosen) {
#pragma unroll
        for (int c = j; c < N; ++c) shared_row[c] = row[c];
#pragma unroll
        for (int c = 0; c < C; ++c) shared_row[N + c] = side[c];
        place = j;
        pivot = row[j];
      }
      odd ^= __popc(unused & ((1u << chosen) - 1)) & 1;
      unused &= ~(1u << chosen);
      __syncwarp();
      const T top = shared_row[j];
      singular |= is_zero(top);
      if (unused >> lane & 1) {
        const T multiplier = row[j] = Divisor<T>(or_one(top))(row[j]);
#pragma unroll
        for (int c = j + 1; c < N; ++c) row[c] = sub_mul(row[c], multiplier, shared_row[c]);
#pragma unroll
        for (int c = 0; c < C; ++c) side[c] = sub_mul(side[c], multiplier, shared_row[N + c]);
      }
    }
    __syncwarp();
  }

  // Eliminate in further right-hand sides, as `factor` did; the factors are in the tile.
  template <int C> __device__ __forceinline__ void eliminate(T (&side)[C]) {
    for (int j = 0; j < n - 1; ++j) {
      T* shared_row = buffer + j % 2 * C;
      if (place == j)
#pragma unroll
        for (int c = 0; c < C; ++c) shared_row[c] = side[c];
      __syncwarp();
      if (place > j) {
        const T multiplier = tile[lane * PITCH + j];
#pragma unroll
        for (int c = 0; c < C; ++c) side[c] = sub_mul(side[c], multiplier, shared_row[c]);
      }
    }
    __syncwarp();
  }

  // Solve the upper system for eliminated right-hand sides; `divisor` divides by the thread's pivot.
  template <int C> __device__ __forceinline__ void substitute(T (&side)[C], Divisor<T> divisor) {
    for (int j = n - 1; j >= 0; --j) {
      T* shared_row = buffer + j % 2 * C;
      if (place == j)
#pragma unroll
        for (int c = 0; c < C; ++c) shared_row[c] = side[c] = divisor(side[c]);
      __syncwarp();
      if (place < j && place >= 0) {
        const T multiplier = tile[lane * PITCH + j];
#pragma unroll
        for (int c = 0; c < C; ++c) side[c] = sub_mul(side[c], multiplier, shared_row[c]);
      }
    }
    __syncwarp();
  }

  // Solve for `columns` right-hand sides: `at` and `side_at` read the matrix and the sides, `put` writes the solutions.
  template <int C, class At, class SideAt, class Put>
  __device__ __forceinline__ void solve(int columns, At at, SideAt side_at, Put put) {
    load(at);
    T side[C];
    Divisor<T> divisor;
    for (int begin = 0; begin < columns; begin += C) {
#pragma unroll
      for (int c = 0; c < C; ++c) side[c] = lane < n && begin + c < columns ? side_at(lane, begin + c) : of_real<T>(0);
      if (begin == 0) {
        factor<C>(side);
        store();
        divisor = Divisor<T>(pivot);
      } else {
        eliminate<C>(side);
      }
      substitute<C>(side, divisor);
#pragma unroll
      for (int c = 0; c < C; ++c)
        if (lane < n && begin + c < columns) put(place, begin + c, side[c]);
    }
  }

  template <class At> __device__ __forceinline__ Determinant<T> determinant(At at) {
    load(at);
    T none[1] = {of_real<T>(0)};
    factor<1>(none);
    Determinant<T> result;
    if (lane < N) result.multiply(pivot, lane == 0 && odd);
    result.template combine<LANES>();
    return result;
  }

  // Write the lower Cholesky factor to the tile; returns true if the matrix is not positive definite.
  template <class At> __device__ __forceinline__ bool cholesky(At at) {
    load(at);
    bool failed = false;
#pragma unroll
    for (int j = 0; j < N; ++j) {
      T* shared_row = buffer + j % 2 * LANES;
      const Real<T> square = shuffle(re(row[j]), j, LANES), inverse_root = ::rsqrt(square);
      failed |= !(square > 0);
      row[j] = lane == j ? of_real<T>(::sqrt(square)) : times(row[j], inverse_root);
      shared_row[lane] = conj(row[j]);
      __syncwarp();
#pragma unroll
      for (int c = j + 1; c < N; ++c) row[c] = sub_mul(row[c], row[j], shared_row[c]);
    }
    __syncwarp();
#pragma unroll
    for (int c = 0; c < N; ++c)
      if (c > lane) row[c] = of_real<T>(0);
    store();
    return failed;
  }
};

}  // namespace la
