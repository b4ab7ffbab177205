// What a scan in one pass adds to the prelude: how the tiles of a long row tell each other what they hold.
//
// 32 tiles are a group, and 32 groups a span. A tile publishes its own state, the last tile of a group that of the
// group, and the last tile of a span the state of all that is behind it. Nothing but spans waits in a chain. What stands
// before a tile is (spans before, groups before in its span, tiles before in its group): an association that its place
// alone decides, whoever comes first.

// A state on its way from one block to another: words of 64 bits, half a part of it and half the mark that it is here.
// A word cannot be torn, so the order in which words arrive does not matter. Zeros are what has not come yet.
template <class S>
struct Letter {
  static constexpr int WORDS = (sizeof(S) + 3) / 4;
  static_assert(WORDS <= LETTER_WORDS, "room is set aside for numbers");
  unsigned long long words[WORDS];

  __device__ __forceinline__ void read(const volatile unsigned long long* from) {
#pragma unroll
    for (int i = 0; i < WORDS; ++i) words[i] = from[i];
  }
  __device__ __forceinline__ bool here() const {
    unsigned marks = 1;
#pragma unroll
    for (int i = 0; i < WORDS; ++i) marks &= unsigned(words[i] >> 32);
    return marks != 0;
  }
  __device__ __forceinline__ S state() const {
    unsigned parts[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; ++i) parts[i] = unsigned(words[i]);
    S out;
    memcpy(&out, parts, sizeof(S));
    return out;
  }
  static __device__ __forceinline__ void publish(volatile unsigned long long* to, const S& state) {
    unsigned parts[WORDS] = {};
    memcpy(parts, &state, sizeof(S));
#pragma unroll
    for (int i = 0; i < WORDS; ++i) to[i] = 1ull << 32 | parts[i];
  }
  static __device__ __forceinline__ void clear(volatile unsigned long long* at) {
#pragma unroll
    for (int i = 0; i < WORDS; ++i) at[i] = 0;
  }
};

// Where a tile stands: its letter, its group's and its span's among all letters, its place in the group and the
// group's in the span, how many tiles that group and how many groups that span have, and the counters of both.
struct Stand {
  long long tile, group, span;
  int place, turn, tiles, groups;
  bool first, more;  // whether its span is the row's first, and whether there is one after it
  unsigned *of_group, *of_span;
};

__device__ __forceinline__ int at_most_32(Int count) { return count < 32 ? int(count) : 32; }

// Of `tile` in `row`: of `rows` rows, each of `tiles`, `groups` and `spans`.
__device__ __forceinline__ Stand find_stand(long long row, Int tile, long long rows, Int tiles, Int groups, Int spans,
                                            unsigned* counters) {
  const Int group = tile / 32, span = group / 32;
  Stand at;
  at.tile = row * tiles + tile;
  at.group = rows * tiles + row * groups + group;
  at.span = rows * (tiles + groups) + row * spans + span;
  at.place = int(tile % 32);
  at.turn = int(group % 32);
  at.tiles = at_most_32(tiles - group * 32);
  at.groups = at_most_32(groups - span * 32);
  at.first = span == 0;
  at.more = span + 1 < spans;
  at.of_group = counters + (at.group - rows * tiles);
  at.of_span = counters + (at.span - rows * tiles);
  return at;
}

// The combination of the states of the first `count` lanes of a warp, in their order.
template <class R>
__device__ __forceinline__ typename R::State first_lanes(typename R::State state, int count) {
  state = shuffle(warp_scan<R, 32>(state), count > 0 ? count - 1 : 0, 32);
  return count > 0 ? state : R::identity();
}

// For the first warp of a block: publish the `total` of its tile, and return what stands before it. A lane that has no
// use for some letter reads the tile's own in its place, which is here at once.
template <class R>
__device__ __forceinline__ typename R::State look_back(unsigned long long* letters, const Stand& at,
                                                       typename R::State total) {
  typedef typename R::State S;
  typedef Letter<S> L;
  const int lane = threadIdx.x;
  unsigned long long* const own = letters + at.tile * L::WORDS;
  if (lane == 0) L::publish(own, total);
  __syncwarp();
  const unsigned long long* const tiles = lane < at.place ? own + (lane - at.place) * L::WORDS : own;
  const unsigned long long* const groups = lane < at.turn ? letters + (at.group - at.turn + lane) * L::WORDS : own;
  const unsigned long long* const spans = at.first ? own : letters + at.span * L::WORDS;
  L tile, group, span;
  do {  // all that is looked for, so that it is on its way together
    tile.read(tiles);
    group.read(groups);
    span.read(spans);
  } while (!tile.here());
  __syncwarp();
  const S near = first_lanes<R>(tile.state(), at.place);
  const bool last = at.place == 31;
  if (last && lane == 0) L::publish(letters + at.group * L::WORDS, R::combine(near, total));
  while (!(group.here() && span.here())) {
    group.read(groups);
    span.read(spans);
  }
  __syncwarp();
  const S middle = first_lanes<R>(group.state(), at.turn);
  const S before = R::combine(R::combine(at.first ? R::identity() : span.state(), middle), near);
  if (last && at.turn == 31 && at.more && lane == 0)
    L::publish(letters + (at.span + 1) * L::WORDS, R::combine(before, total));
  return before;
}

// Turn the totals of the `U` vectors of each of `K` threads into what stands before each in the row. Vectors follow one
// another over the threads. `room` has a state for every vector of every warp.
template <class R, int K, int U>
__device__ __forceinline__ void row_scan(typename R::State (&totals)[U], typename R::State* room,
                                         unsigned long long* letters, const Stand& at) {
  typedef typename R::State S;
  constexpr int warps = K / 32, count = U * warps, each = (count + 31) / 32;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int u = 0; u < U; ++u) {
    const S all = warp_scan<R, 32>(totals[u]);
    totals[u] = shuffle(all, lane > 0 ? lane - 1 : 0, 32);
    if (lane == 31) room[u * warps + warp] = all;
  }
  __syncthreads();
  if (warp == 0) {  // every lane has some neighbouring ones
    S mine[each];
#pragma unroll
    for (int i = 0; i < each; ++i) {
      mine[i] = lane * each + i < count ? room[lane * each + i] : R::identity();
      if (i > 0) mine[i] = R::combine(mine[i > 0 ? i - 1 : 0], mine[i]);
    }
    const S all = warp_scan<R, 32>(mine[each - 1]);
    const S left = shuffle(all, lane > 0 ? lane - 1 : 0, 32);
    S before = look_back<R>(letters, at, shuffle(all, 31, 32));
    if (lane > 0) before = R::combine(before, left);
#pragma unroll
    for (int i = 0; i < each; ++i)
      if (lane * each + i < count)
        room[lane * each + i] = i > 0 ? R::combine(before, mine[i > 0 ? i - 1 : 0]) : before;
  }
  __syncthreads();
#pragma unroll
  for (int u = 0; u < U; ++u) {
    const S start = room[u * warps + warp];
    totals[u] = lane > 0 ? R::combine(start, totals[u]) : start;
  }
}

// Keep a value as it is, in the registers that it takes, while what was made of it is forgotten: an element is narrower
// than its state, and the compiler would keep the state.
template <class T>
__device__ __forceinline__ void hold(T& value) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) % 4 == 0) {
    unsigned words[sizeof(T) / 4];
    memcpy(words, &value, sizeof(T));
#pragma unroll
    for (int i = 0; i < sizeof(T) / 4; ++i) asm volatile("" : "+r"(words[i]));
    memcpy(&value, words, sizeof(T));
  }
#endif
}

// Take one more element into a state.
template <class R>
__device__ __forceinline__ typename R::State advance(typename R::State& state, typename R::State item) {
  return state = R::combine(state, item);
}

// Clear the letters that `count` lanes find side by side.
template <class R>
__device__ __forceinline__ void clear(unsigned long long* letters, long long first, int count) {
  typedef Letter<typename R::State> L;
  if (threadIdx.x < count) L::clear(letters + (first + threadIdx.x) * L::WORDS);
}

// Whether `arrived` (of the first lane) makes the last of `count` to arrive; the counter is left at zero. For one warp.
__device__ __forceinline__ bool is_last(unsigned* counter, unsigned arrived, int count) {
  if (__shfl_sync(0xffffffffu, arrived, 0) != count - 1) return false;
  if (threadIdx.x == 0) *counter = 0;
  __threadfence();
  return true;
}

// The number that thread 0 brings, in all threads; `last` is the one with which all tiles and blocks are served, and the
// count of tickets begins anew. Between two calls there must be a barrier.
__device__ __forceinline__ Int hand_round(unsigned ticket, unsigned last, unsigned* tickets) {
  __shared__ unsigned taken;
  if (threadIdx.x == 0) {
    taken = ticket;
    if (ticket == last) *tickets = 0;
  }
  __syncthreads();
  return Int(taken);
}

// How many came to `counter` before this thread; what it has read and written until then comes before.
__device__ __forceinline__ unsigned arrive(unsigned* counter) {
  __threadfence();
  return atomicAdd(counter, 1u);
}
