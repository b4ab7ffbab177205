// Matrices of N rows, up to 32: each has a group of LANES threads, and a row of it is in the registers of a thread. What
// all threads need of one row goes through shared memory, to either half of a buffer in turn.

namespace la {

// A matrix goes from memory to the rows, and back, through shared memory, so that neighbours read neighbours.
template <class T, int N, int LANES, class At>
__device__ __forceinline__ void load_rows(T (&row)[N], T* tile, int lane, At at) {
  for (int i = lane; i < N * N; i += LANES) tile[i / N * (N + 1) + i % N] = at(i / N, i % N);
  __syncwarp();
#pragma unroll
  for (int c = 0; c < N; ++c) row[c] = lane < N ? tile[lane * (N + 1) + c] : of_real<T>(0);
  __syncwarp();
}

// What elimination leaves of a row: its place among the factors, and whether a pivot was zero.
template <class T> struct Found {
  int place = -1;
  bool singular = false;
  bool odd = false;
  T pivot;
};

// LU with partial pivoting; the sides are eliminated on the way. `first` is the lane of a group's first thread.
template <class T, int N, int LANES, int C>
__device__ __forceinline__ Found<T> factor_rows(T (&row)[N], T (&side)[C], T* shared, int lane, int first) {
  Found<T> found;
  u32 left = ALL >> (32 - N);  // rows that were no pivot yet
#pragma unroll
  for (int j = 0; j < N; ++j) {
    T* sent = shared + j % 2 * (N + C);
    const bool free = left >> lane & 1;
    const u32 mine = free ? rank(row[j]) : 0, most = greatest<LANES>(mine);
    const int pivot = __ffs(int(__ballot_sync(ALL, mine == most && free) >> first)) - 1;
    if (lane == pivot) {
#pragma unroll
      for (int c = j; c < N; ++c) sent[c] = row[c];
#pragma unroll
      for (int c = 0; c < C; ++c) sent[N + c] = side[c];
      found.place = j;
      found.pivot = row[j];
    }
    found.odd ^= __popc(left & ((1u << pivot) - 1)) & 1;
    left &= ~(1u << pivot);
    __syncwarp();
    found.singular |= is_zero(sent[j]);
    if (left >> lane & 1) {
      const T factor = row[j] = row[j] / sent[j];
#pragma unroll
      for (int c = j + 1; c < N; ++c) row[c] = less(row[c], factor, sent[c]);
#pragma unroll
      for (int c = 0; c < C; ++c) side[c] = less(side[c], factor, sent[N + c]);
    }
  }
  __syncwarp();
  return found;
}

// What `factor_rows` does to its sides, for others.
template <class T, int N, int C>
__device__ __forceinline__ void eliminate(T (&row)[N], T (&side)[C], T* shared, int place) {
#pragma unroll
  for (int j = 0; j < N - 1; ++j) {
    T* sent = shared + j % 2 * C;
    if (place == j)
#pragma unroll
      for (int c = 0; c < C; ++c) sent[c] = side[c];
    __syncwarp();
    if (place > j)
#pragma unroll
      for (int c = 0; c < C; ++c) side[c] = less(side[c], row[j], sent[c]);
  }
  __syncwarp();
}

template <class T, int N, int C>
__device__ __forceinline__ void substitute(T (&row)[N], T (&side)[C], T* shared, int place) {
#pragma unroll
  for (int j = N - 1; j >= 0; --j) {
    T* sent = shared + j % 2 * C;
    if (place == j)
#pragma unroll
      for (int c = 0; c < C; ++c) sent[c] = side[c] = side[c] / row[j];
    __syncwarp();
    if (place < j)
#pragma unroll
      for (int c = 0; c < C; ++c) side[c] = less(side[c], row[j], sent[c]);
  }
  __syncwarp();
}

// Systems with `columns` sides each: `at` reads the matrix, `given` a side, `put` takes the solutions.
template <class T, int N, int LANES, int C, class At, class Given, class Put>
__device__ __forceinline__ bool solve_rows(T* shared, int lane, int first, int columns, At at, Given given, Put put) {
  T row[N], side[C];
  load_rows<T, N, LANES>(row, shared, lane, at);
  Found<T> found;
  for (int begin = 0; begin < columns; begin += C) {
#pragma unroll
    for (int c = 0; c < C; ++c) side[c] = lane < N && begin + c < columns ? given(lane, begin + c) : of_real<T>(0);
    if (begin == 0) found = factor_rows<T, N, LANES, C>(row, side, shared, lane, first);
    else eliminate<T, N, C>(row, side, shared, found.place);
    substitute<T, N, C>(row, side, shared, found.place);
#pragma unroll
    for (int c = 0; c < C; ++c)
      if (lane < N && begin + c < columns) put(found.place, begin + c, side[c]);
  }
  return found.singular;
}

// The inverse, by Gauss-Jordan elimination where the matrix is; `put` takes its elements, neighbours in a row together.
template <class T, int N, int LANES, class At, class Put>
__device__ __forceinline__ bool invert_rows(T* shared, int lane, int first, At at, Put put) {
  T row[N];
  load_rows<T, N, LANES>(row, shared, lane, at);
  T* buffer = shared + N * (N + 1);
  int place = -1;
  bool singular = false;
  u32 left = ALL >> (32 - N);
  int came[N];  // which row was the pivot of a step
#pragma unroll
  for (int j = 0; j < N; ++j) {
    T* sent = buffer + j % 2 * N;
    const bool free = left >> lane & 1;
    const u32 mine = free ? rank(row[j]) : 0, most = greatest<LANES>(mine);
    const int pivot = came[j] = __ffs(int(__ballot_sync(ALL, mine == most && free) >> first)) - 1;
    left &= ~(1u << pivot);
    if (lane == pivot) {
      place = j;
#pragma unroll
      for (int c = 0; c < N; ++c) sent[c] = row[c];
    }
    __syncwarp();
    singular |= is_zero(sent[j]);
    const T inverse = of_real<T>(1) / sent[j], factor = lane == pivot ? inverse : -(row[j] * inverse);
#pragma unroll
    for (int c = 0; c < N; ++c)
      if (c != j) row[c] = lane == pivot ? row[c] * inverse : less(row[c], -factor, sent[c]);
    row[j] = factor;
  }
  if (lane < N)
#pragma unroll
    for (int j = 0; j < N; ++j) shared[place * (N + 1) + came[j]] = row[j];
  __syncwarp();
  for (int i = lane; i < N * N; i += LANES) put(i, shared[i / N * (N + 1) + i % N]);
  return singular;
}

// The lower Cholesky factor; returns whether there is none.
template <class T, int N, int LANES, class At, class Put>
__device__ __forceinline__ bool cholesky_rows(T* shared, int lane, At at, Put put) {
  T row[N];
  load_rows<T, N, LANES>(row, shared, lane, at);
  T* buffer = shared + N * (N + 1);
  bool failed = false;
#pragma unroll
  for (int j = 0; j < N; ++j) {
    T* sent = buffer + j % 2 * LANES;
    const Real<T> square = from(re(row[j]), j, LANES), root = ::sqrt(square);
    failed |= !(square > 0);
    row[j] = lane == j ? of_real<T>(root) : times(row[j], Real<T>(1) / root);
    sent[lane] = conj(row[j]);
    __syncwarp();
#pragma unroll
    for (int c = j + 1; c < N; ++c) row[c] = less(row[c], row[j], sent[c]);
  }
  __syncwarp();
  if (lane < N)
#pragma unroll
    for (int c = 0; c < N; ++c) shared[lane * (N + 1) + c] = c <= lane ? row[c] : of_real<T>(0);
  __syncwarp();
  for (int i = lane; i < N * N; i += LANES) put(i / N, i % N, shared);
  return failed;
}

template <class T, int N, int LANES, class At>
__device__ __forceinline__ Determinant<T> determinant_rows(T* shared, int lane, int first, At at) {
  T row[N], side[1] = {of_real<T>(0)};
  load_rows<T, N, LANES>(row, shared, lane, at);
  const Found<T> found = factor_rows<T, N, LANES, 1>(row, side, shared, lane, first);
  Determinant<T> result;
  if (lane < N) result.take(found.pivot, lane == 0 && found.odd);
  result.template gather<LANES>();
  return result;
}

}  // namespace la
