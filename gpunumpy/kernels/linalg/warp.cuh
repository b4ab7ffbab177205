// Matrices of n rows, up to 32: each has a group of LANES threads, and a row of it is in the registers of a thread. It
// is made N rows large by an identity. What all threads need of one row goes through shared memory, to either half of a
// buffer in turn, so that a step needs one barrier.

namespace la {

template <class T, int N, int LANES> struct Group {
  static const int PITCH = N + 1;
  T* tile;  // N rows, by which neighbours read and write neighbours in memory
  T* buffer;
  int n, lane = threadIdx.x % LANES, first = threadIdx.x % 32 - threadIdx.x % LANES;
  T row[N];
  int place = -1;  // of the row among the factors
  T pivot;
  bool singular = false, odd = false;

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

  // LU with partial pivoting; the sides are eliminated on the way.
  template <int C> __device__ __forceinline__ void factor(T (&side)[C]) {
    u32 left = ALL >> (32 - N);  // rows that were no pivot yet
#pragma unroll
    for (int j = 0; j < N; ++j) {
      T* sent = buffer + j % 2 * (N + C);
      const bool free = left >> lane & 1;
      const u32 mine = free ? rank(row[j]) : 0, most = greatest<LANES>(mine);
      const int chosen = __ffs(int(__ballot_sync(ALL, mine == most && free) >> first)) - 1;
      if (lane == chosen) {
#pragma unroll
        for (int c = j; c < N; ++c) sent[c] = row[c];
#pragma unroll
        for (int c = 0; c < C; ++c) sent[N + c] = side[c];
        place = j;
        pivot = row[j];
      }
      odd ^= __popc(left & ((1u << chosen) - 1)) & 1;
      left &= ~(1u << chosen);
      __syncwarp();
      const T top = sent[j];
      singular |= is_zero(top);
      if (left >> lane & 1) {
        const T by = row[j] = Divisor<T>(or_one(top))(row[j]);
#pragma unroll
        for (int c = j + 1; c < N; ++c) row[c] = less(row[c], by, sent[c]);
#pragma unroll
        for (int c = 0; c < C; ++c) side[c] = less(side[c], by, sent[N + c]);
      }
    }
    __syncwarp();
  }

  // What `factor` does to its sides, for others; the factors are in the tile.
  template <int C> __device__ __forceinline__ void eliminate(T (&side)[C]) {
    for (int j = 0; j < n - 1; ++j) {
      T* sent = buffer + j % 2 * C;
      if (place == j)
#pragma unroll
        for (int c = 0; c < C; ++c) sent[c] = side[c];
      __syncwarp();
      if (place > j) {
        const T by = tile[lane * PITCH + j];
#pragma unroll
        for (int c = 0; c < C; ++c) side[c] = less(side[c], by, sent[c]);
      }
    }
    __syncwarp();
  }

  template <int C> __device__ __forceinline__ void substitute(T (&side)[C], Divisor<T> over) {
    for (int j = n - 1; j >= 0; --j) {
      T* sent = buffer + j % 2 * C;
      if (place == j)
#pragma unroll
        for (int c = 0; c < C; ++c) sent[c] = side[c] = over(side[c]);
      __syncwarp();
      if (place < j && place >= 0) {
        const T by = tile[lane * PITCH + j];
#pragma unroll
        for (int c = 0; c < C; ++c) side[c] = less(side[c], by, sent[c]);
      }
    }
    __syncwarp();
  }

  // Systems with `columns` sides each: `at` reads the matrix, `given` a side, `put` takes the solutions.
  template <int C, class At, class Given, class Put>
  __device__ __forceinline__ void solve(int columns, At at, Given given, Put put) {
    load(at);
    T side[C];
    Divisor<T> over;
    for (int begin = 0; begin < columns; begin += C) {
#pragma unroll
      for (int c = 0; c < C; ++c) side[c] = lane < n && begin + c < columns ? given(lane, begin + c) : of_real<T>(0);
      if (begin == 0) {
        factor<C>(side);
        store();
        over = Divisor<T>(pivot);
      } else {
        eliminate<C>(side);
      }
      substitute<C>(side, over);
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
    if (lane < N) result.take(pivot, lane == 0 && odd);
    result.template gather<LANES>();
    return result;
  }

  // The lower Cholesky factor, in the tile; returns whether there is none.
  template <class At> __device__ __forceinline__ bool cholesky(At at) {
    load(at);
    bool failed = false;
#pragma unroll
    for (int j = 0; j < N; ++j) {
      T* sent = buffer + j % 2 * LANES;
      const Real<T> square = from(re(row[j]), j, LANES), over = ::rsqrt(square);
      failed |= !(square > 0);
      row[j] = lane == j ? of_real<T>(::sqrt(square)) : times(row[j], over);
      sent[lane] = conj(row[j]);
      __syncwarp();
#pragma unroll
      for (int c = j + 1; c < N; ++c) row[c] = less(row[c], row[j], sent[c]);
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
