// What every generated kernel uses beside the table's helpers: vectors of lanes, and the team of threads that
// shares a row. `Int` is the type of indices.

#pragma nv_diag_suppress 177  // a variable that a body has no use for

template <class T, int N>
struct Pack {
  T v[N];
};

// How many bytes one memory instruction moves of a vector of that many bytes.
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

template <int N, class T>
__device__ __forceinline__ Pack<T, N> load_if(const T* from, Int left) {
  Pack<T, N> out = {};
  if (left > 0) out = load_pack<N>(from);
  return out;
}

template <int N, class T>
__device__ __forceinline__ Pack<T, N> load_part(const T* from, Int left) {
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
__device__ __forceinline__ void store_if(T* to, const Pack<T, N>& value, Int left) {
  if (left > 0) store_pack(to, value);
}

template <int N, class T>
__device__ __forceinline__ void store_part(T* to, const Pack<T, N>& value, Int left) {
#pragma unroll
  for (int v = 0; v < N; ++v)
    if (v < left) to[v] = value.v[v];
}

// `number` over a divisor, for a `number` from 0 to 2^31 - 1: `magic` is the next integer above 2^shift / divisor, and
// 2^shift at least 2^31 times the divisor.
__device__ __forceinline__ Int quotient(Int number, long long magic, long long shift) {
  return Int((unsigned long long)(unsigned)number * (unsigned)magic >> (int)shift);
}

// An index counted from the start and brought into bounds; one that was out of bounds is reported.
__device__ __forceinline__ long long wrap(long long i, long long n, int site, int* flag) {
  const long long j = i < 0 ? i + n : i;
  if (j >= 0 && j < n) return j;
  atomicCAS(flag, 0, site);
  return j < 0 ? 0 : n - 1;
}

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

// The combination of the states of `K` neighbouring threads of a warp, the same bits in all of them.
template <class R, int K>
__device__ __forceinline__ typename R::State warp_reduce(typename R::State state) {
  const int lane = threadIdx.x % K;
  if constexpr (R::ALIGNED && K > 1) state = R::align(state, shuffle(state, 0, K));
#pragma unroll
  for (int step = K / 2; step > 0; step /= 2) {
    const typename R::State other = shuffle(state, lane + step, K);
    if (lane < step) state = R::join(state, other);
  }
  return shuffle(state, 0, K);
}

// The combination of the states of a team, the same bits in all its threads. A team is `K` threads: neighbours when
// `NEAR`, else `C` apart. `room` has a state for every thread of the block (for every warp, when NEAR).
template <class R, int K, int C, bool NEAR>
__device__ __forceinline__ typename R::State team_reduce(typename R::State state, typename R::State* room) {
  if (K == 1) return state;
  if (NEAR && K <= 32) return warp_reduce<R, (K < 32 ? K : 32)>(state);
  if (NEAR) {
    state = warp_reduce<R, 32>(state);
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = state;
  } else {
    room[threadIdx.x] = state;
  }
  __syncthreads();
  if (NEAR) {
    typename R::State* const first = room + threadIdx.x / K * (K / 32);
    if (sizeof(state) > 8) {  // the first warp alone, for the sake of the shuffles
      if (threadIdx.x % K < 32) {
        state = warp_reduce<R, larger(K / 32, 1)>(first[threadIdx.x % larger(K / 32, 1)]);
        __syncwarp();
        if (threadIdx.x % K == 0) *first = state;
      }
      __syncthreads();
      state = *first;
    } else {
      state = warp_reduce<R, larger(K / 32, 1)>(first[threadIdx.x % larger(K / 32, 1)]);
    }
  } else {
    state = room[threadIdx.x % C];
#pragma unroll (sizeof(state) > 8 ? 1 : 16)
    for (int i = 1; i < K; ++i) state = R::join(state, R::align(room[threadIdx.x % C + i * C], state));
  }
  __syncthreads();
  return state;
}

// Inclusive scan over `K` neighbouring threads of a warp.
template <class R, int K>
__device__ __forceinline__ typename R::State warp_scan(typename R::State state) {
  const int lane = threadIdx.x % K;
#pragma unroll
  for (int step = 1; step < K; step *= 2) {
    const typename R::State other = shuffle(state, lane >= step ? lane - step : lane, K);
    if (lane >= step) state = R::combine(other, state);
  }
  return state;
}

// Turn the totals of the `U` tiles of a team into what stands before this thread in each, and take them into `carry`,
// the state of all that is behind the team. Tiles follow one another, and threads within a tile.
template <class R, int K, int U>
__device__ __forceinline__ void team_scan(typename R::State (&totals)[U], typename R::State& carry,
                                          typename R::State* room) {
  typedef typename R::State S;
  constexpr int width = K < 32 ? K : 32;
  constexpr int warps = (K + 31) / 32;
  const int lane = threadIdx.x % width;
  const int warp = threadIdx.x % K / width;
  S before[U];
#pragma unroll
  for (int u = 0; u < U; ++u) {
    before[u] = totals[u];
    if (K == 1) continue;
    totals[u] = warp_scan<R, width>(totals[u]);
    before[u] = shuffle(totals[u], lane > 0 ? lane - 1 : 0, width);
    if (warps == 1) totals[u] = shuffle(totals[u], width - 1, width);
    else if (lane == width - 1) room[u * warps + warp] = totals[u];
  }
  if (warps > 1) __syncthreads();
#pragma unroll
  for (int u = 0; u < U; ++u) {
    S start = carry;
#pragma unroll
    for (int w = 0; w < warps; ++w) {
      if (w == warp) start = carry;
      carry = R::combine(carry, warps > 1 ? room[u * warps + w] : totals[u]);
    }
    totals[u] = lane > 0 ? R::combine(start, before[u]) : start;
  }
  if (warps > 1) __syncthreads();
}

// Whether this block is the last of `blocks` to come by; the counter is left at zero.
__device__ __forceinline__ bool last_block(unsigned* counter, unsigned blocks) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(counter, 1u) == blocks - 1;
    if (last) *counter = 0;
  }
  __syncthreads();
  __threadfence();
  return last;
}
