// Functions of every generated kernel, beside the helpers of its ops: vectors of lanes, and teams of threads that share
// a row. `Int` is the type of indices. A reduction is a struct R with the type R::State (see codegen/unit.py).

#pragma nv_diag_suppress 177  // unused variables: a body may leave some of the common definitions unused

template <class T, int N>
struct Pack {
  T v[N];
};

// The bytes that one memory instruction moves, for a vector of `bytes` bytes.
__device__ constexpr int chunk_of(int bytes) {
  return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
}

__device__ constexpr int larger(int a, int b) { return a > b ? a : b; }

template <int BYTES> struct Chunk;
template <> struct Chunk<16> { typedef uint4 type; };
template <> struct Chunk<8> { typedef uint2 type; };
template <> struct Chunk<4> { typedef unsigned type; };
template <> struct Chunk<2> { typedef unsigned short type; };
template <> struct Chunk<1> { typedef unsigned char type; };

// A vector of N lanes, read by the widest memory instructions that its size allows.
template <int N, class T>
__device__ __forceinline__ Pack<T, N> load_pack(const T* from) {
  typedef typename Chunk<chunk_of(sizeof(T) * N)>::type C;
  const int count = sizeof(T) * N / sizeof(C);
  C raw[count];
#pragma unroll
  for (int i = 0; i < count; ++i) raw[i] = reinterpret_cast<const C*>(from)[i];
  Pack<T, N> out;
  memcpy(&out, raw, sizeof(out));
  return out;
}

// The same if any lane is `left`, else zeros.
template <int N, class T>
__device__ __forceinline__ Pack<T, N> load_pack_if(const T* from, Int left) {
  Pack<T, N> out = {};
  if (left > 0) out = load_pack<N>(from);
  return out;
}

// The first `left` lanes, read one by one; the other lanes are zero.
template <int N, class T>
__device__ __forceinline__ Pack<T, N> load_lanes(const T* from, Int left) {
  Pack<T, N> out;
#pragma unroll
  for (int v = 0; v < N; ++v) out.v[v] = v < left ? from[v] : T();
  return out;
}

template <int N, class T>
__device__ __forceinline__ void store_pack(T* to, const Pack<T, N>& value) {
  typedef typename Chunk<chunk_of(sizeof(T) * N)>::type C;
  const int count = sizeof(T) * N / sizeof(C);
  C raw[count];
  memcpy(raw, &value, sizeof(value));
#pragma unroll
  for (int i = 0; i < count; ++i) reinterpret_cast<C*>(to)[i] = raw[i];
}

template <int N, class T>
__device__ __forceinline__ void store_pack_if(T* to, const Pack<T, N>& value, Int left) {
  if (left > 0) store_pack(to, value);
}

template <int N, class T>
__device__ __forceinline__ void store_lanes(T* to, const Pack<T, N>& value, Int left) {
#pragma unroll
  for (int v = 0; v < N; ++v)
    if (v < left) to[v] = value.v[v];
}

// `number` / divisor, for a `number` from 0 to 2^31 - 1. `magic` is the next integer above 2^shift / divisor, and
// 2^shift is at least 2^31 times the divisor.
__device__ __forceinline__ Int quotient(Int number, long long magic, long long shift) {
  return Int((unsigned long long)(unsigned)number * (unsigned)magic >> (int)shift);
}

// The state that thread `from` of this thread's group holds. A group is `width` neighbouring threads of a warp.
template <class S>
__device__ __forceinline__ S shuffle(const S& state, int from, int width) {
  unsigned words[(sizeof(S) + 3) / 4] = {};
  memcpy(words, &state, sizeof(S));
#pragma unroll
  for (int i = 0; i < (sizeof(S) + 3) / 4; ++i) words[i] = __shfl_sync(0xffffffffu, words[i], from, width);
  S out;
  memcpy(&out, words, sizeof(S));
  return out;
}

// The combined states of `SIZE` neighbouring threads of a warp. All of them get the same bits.
template <class R, int SIZE>
__device__ __forceinline__ typename R::State warp_reduce(typename R::State state) {
  const int lane = threadIdx.x % SIZE;
  if constexpr (R::ALIGNED && SIZE > 1) state = R::align(state, shuffle(state, 0, SIZE));
#pragma unroll
  for (int step = SIZE / 2; step > 0; step /= 2) {
    const typename R::State other = shuffle(state, lane + step, SIZE);
    if (lane < step) state = R::combine_aligned(state, other);
  }
  return shuffle(state, 0, SIZE);
}

// The combined states of a team of `SIZE` threads. All of them get the same bits. The threads' numbers are consecutive
// if `ADJACENT`, else `STRIDE` apart. `exchange` is shared memory for one state of each thread of the block (of each
// warp, if ADJACENT).
template <class R, int SIZE, int STRIDE, bool ADJACENT>
__device__ __forceinline__ typename R::State team_reduce(typename R::State state, typename R::State* exchange) {
  if (SIZE == 1) return state;
  if (ADJACENT && SIZE <= 32) return warp_reduce<R, (SIZE < 32 ? SIZE : 32)>(state);
  if (ADJACENT) {
    state = warp_reduce<R, 32>(state);
    if (threadIdx.x % 32 == 0) exchange[threadIdx.x / 32] = state;
  } else {
    exchange[threadIdx.x] = state;
  }
  __syncthreads();
  if (ADJACENT) {
    typename R::State* const first = exchange + threadIdx.x / SIZE * (SIZE / 32);
    if (sizeof(state) > 8) {  // only the first warp combines large states, as their shuffles take long
      if (threadIdx.x % SIZE < 32) {
        state = warp_reduce<R, larger(SIZE / 32, 1)>(first[threadIdx.x % larger(SIZE / 32, 1)]);
        __syncwarp();
        if (threadIdx.x % SIZE == 0) *first = state;
      }
      __syncthreads();
      state = *first;
    } else {
      state = warp_reduce<R, larger(SIZE / 32, 1)>(first[threadIdx.x % larger(SIZE / 32, 1)]);
    }
  } else {
    state = exchange[threadIdx.x % STRIDE];
#pragma unroll (sizeof(state) > 8 ? 1 : 16)
    for (int i = 1; i < SIZE; ++i)
      state = R::combine_aligned(state, R::align(exchange[threadIdx.x % STRIDE + i * STRIDE], state));
  }
  __syncthreads();
  return state;
}

// Inclusive scan over `SIZE` neighbouring threads of a warp.
template <class R, int SIZE>
__device__ __forceinline__ typename R::State warp_scan(typename R::State state) {
  const int lane = threadIdx.x % SIZE;
#pragma unroll
  for (int step = 1; step < SIZE; step *= 2) {
    const typename R::State other = shuffle(state, lane >= step ? lane - step : lane, SIZE);
    if (lane >= step) state = R::combine(other, state);
  }
  return state;
}

// Exclusive scan over the threads of a team, for `TILES` consecutive tiles. On entry `totals` are the thread's own
// totals in each tile, and `carry` is the state of all elements before the first tile. On return `totals` are the
// states of all elements before the thread's elements of each tile, and `carry` includes the tiles.
template <class R, int SIZE, int TILES>
__device__ __forceinline__ void team_scan(typename R::State (&totals)[TILES], typename R::State& carry,
                                          typename R::State* exchange) {
  typedef typename R::State S;
  constexpr int width = SIZE < 32 ? SIZE : 32;
  constexpr int warps = (SIZE + 31) / 32;
  const int lane = threadIdx.x % width;
  const int warp = threadIdx.x % SIZE / width;
  S before[TILES];
#pragma unroll
  for (int u = 0; u < TILES; ++u) {
    before[u] = totals[u];
    if (SIZE == 1) continue;
    totals[u] = warp_scan<R, width>(totals[u]);
    before[u] = shuffle(totals[u], lane > 0 ? lane - 1 : 0, width);
    if (warps == 1) totals[u] = shuffle(totals[u], width - 1, width);
    else if (lane == width - 1) exchange[u * warps + warp] = totals[u];
  }
  if (warps > 1) __syncthreads();
#pragma unroll
  for (int u = 0; u < TILES; ++u) {
    S start = carry;
#pragma unroll
    for (int w = 0; w < warps; ++w) {
      if (w == warp) start = carry;
      carry = R::combine(carry, warps > 1 ? exchange[u * warps + w] : totals[u]);
    }
    totals[u] = lane > 0 ? R::combine(start, before[u]) : start;
  }
  if (warps > 1) __syncthreads();
}
