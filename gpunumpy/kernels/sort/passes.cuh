// Rows that many blocks sort: one kernel counts all digits of the keys, then a pass for each digit, the least
// significant first, moves every element once. A block moves a tile of TILE elements.
//
// `Index` is the type of counts of elements of a row, `Place` of a position carried along with its key, `Out` of the
// result: elements, or with POSITIONS their positions. `passes[row]` has a bit for every pass that a row takes: passes
// whose digit is the same in all elements of the row are left out, and those before FIRST_PASS, whose digits are in
// order.

const int TILE = THREADS * ITEMS;
static_assert(TILE < 1 << 16, "places in a tile are kept in 16 bits");
static_assert(THREADS >= RADIX, "a thread serves a digit");

// The state that a tile publishes of a digit: 0 at first, then COUNT | the number of its elements with the digit, then
// SUM | the number in all tiles up to it.
const int STATE_SHIFT = 8 * sizeof(Index) - 2;
const Index COUNT = Index(1) << STATE_SHIFT, SUM = Index(2) << STATE_SHIFT, VALUE = COUNT - 1;

extern "C" __global__ void __launch_bounds__(THREADS) sort_clear(PARAMETERS) {
  const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
  if (i < rows * PASSES * RADIX) counts[i] = 0;
  if (i < rows * tiles * RADIX) states[i] = 0;
  if (i < rows) passes[i] = 0;
  if (i == 0) *tickets = 0;
}

// Write to counts[row][pass][digit] how many elements of the row have smaller digits. A block counts `share` elements
// of a row; the last block to finish the row sums the counts of all, and decides which passes the row takes.
extern "C" __global__ void __launch_bounds__(RADIX) sort_count(PARAMETERS) {
  __shared__ u32 digit_counts[PASSES][RADIX], blocks_before;
  __shared__ Index sums[RADIX / 32];
  const long long shares = (n + share - 1) / share, row = blockIdx.x / shares;
  const long long first = (blockIdx.x - row * shares) * share;
  const int thread = threadIdx.x, size = int(n - first < share ? n - first : share);
  const Raw* const elements = x + begin + row * n + first;
  Index* const totals = counts + row * PASSES * RADIX + thread;
#pragma unroll
  for (int pass = 0; pass < PASSES; ++pass) digit_counts[pass][thread] = 0;
  __syncthreads();
#pragma unroll 8
  for (int i = thread; i < size; i += RADIX) {
    const Key key = key_of(elements[i]);
#pragma unroll
    for (int pass = 0; pass < PASSES; ++pass) atomicAdd(&digit_counts[pass][digit_of(key, pass)], 1u);
  }
  __syncthreads();
#pragma unroll
  for (int pass = 0; pass < PASSES; ++pass)
    if (digit_counts[pass][thread]) atomicAdd(totals + pass * RADIX, Index(digit_counts[pass][thread]));
  __threadfence();
  __syncthreads();
  if (thread == 0) blocks_before = atomicAdd(passes + row, 1u);
  __syncthreads();
  if (blocks_before != shares - 1) return;
  __threadfence();
  u32 pass_mask = 0;
  for (int pass = 0; pass < PASSES; ++pass) {
    const Index count = __ldcg(totals + pass * RADIX);
    totals[pass * RADIX] = sum_of_threads_before(count, sums);
    if (!__syncthreads_or(count == n) && pass >= FIRST_PASS) pass_mask |= 1u << pass;
  }
  if (thread == 0) passes[row] = pass_mask ? pass_mask : 1u << FIRST_PASS;
}

// Add to `before` what the AHEAD tiles before `tile` have published of a digit, up to the first that has published
// nothing. Returns true if `before` is complete. `own` points to the tile's state.
template <int AHEAD>
__device__ __forceinline__ bool look_back(const volatile Index*& own, long long& tile, Index& before) {
  Index states[AHEAD];
#pragma unroll
  for (int k = 0; k < AHEAD; ++k) states[k] = own[(tile > k ? -1 - k : -tile) * RADIX];
  int added = 0;
#pragma unroll
  for (int k = 0; k < AHEAD; ++k) {
    if (added < k || !(states[k] >> STATE_SHIFT)) continue;
    before += states[k] & VALUE;
    if (states[k] & SUM) return true;
    ++added;
  }
  own -= added * RADIX;
  tile -= added;
  return false;
}

// How many elements of the tiles before `tile` have a digit. In a long row one of the nearest four tiles has usually
// published the sum; in a short one, whose tiles all start at once, more tiles are read at a time.
__device__ __forceinline__ Index count_before(const volatile Index* own, long long tile) {
  Index before = 0;
  if (!look_back<4>(own, tile, before))
    while (!look_back<16>(own, tile, before)) {}
  return before;
}

// A tile of a pass: where it is read from, and the row to which its elements are written. In the first pass `places` is
// null, and the positions are generated; in the last pass `to_places` is null, and the positions go to the result.
struct Tile {
  const Raw* keys;
  const Place* places;
  Raw* to_keys;
  Place* to_places;
  Out* to_out;
  const Index* starts;  // of the digits, for the row's first tile
  Index* own;           // the tile's state of the digit that the thread serves
  long long number;
  int size, pass;
};

template <bool WHOLE>
__device__ __forceinline__ void move_tile(const Tile& tile, Digits<THREADS>& digits, u32* sums, Index* starts,
                                          Raw* moved, Place* moved_places) {
  const int thread = threadIdx.x, first = thread / HALF_WARP * HALF_WARP * ITEMS + thread % HALF_WARP;
  const bool counting = thread < RADIX;
  Raw keys[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    keys[i] = WHOLE || first + i * HALF_WARP < tile.size ? tile.keys[first + i * HALF_WARP] : Raw(0);
  // Missing elements have the last digit, and stay behind the others.
  auto digit = [&](int i) {
    return WHOLE || first + i * HALF_WARP < tile.size ? digit_of(key_of(keys[i]), tile.pass) : RADIX - 1;
  };
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) digits.count(digit(i));
  __syncthreads();
  Place places[POSITIONS ? ITEMS : 1];  // loaded early, while the digits are counted
  if constexpr (POSITIONS) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      places[i] = Place(tile.number * TILE) + first + i * HALF_WARP;
      if (tile.places && (WHOLE || first + i * HALF_WARP < tile.size)) places[i] = tile.places[first + i * HALF_WARP];
    }
  }
  const u32 digit_count = counting ? digits.count_of(thread) : 0;
  const u32 count = digit_count - (!WHOLE && thread == RADIX - 1 ? TILE - tile.size : 0);
  Index before = counting && tile.number == 0 ? tile.starts[thread] : 0;
  if (counting) *(volatile Index*)tile.own = tile.number == 0 ? SUM | (before + count) : COUNT | count;
  const u32 begin = sum_of_threads_before(digit_count, sums);
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) keep_in_register(keys[i]);
  if (counting) digits.start_at(thread, begin);
  __syncthreads();
  auto write_shared = [&](int i, u32 to) {
    moved[to] = keys[i];
    if constexpr (POSITIONS) moved_places[to] = places[i];
  };
  if (often_alike(digit(ITEMS / 2))) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) write_shared(i, digits.template take_place<true>(digit(i)));
  } else {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) write_shared(i, digits.template take_place<false>(digit(i)));
  }
  if (counting) {
    if (tile.number > 0) {
      before = count_before(tile.own, tile.number);
      *(volatile Index*)tile.own = SUM | (before + count);
    }
    starts[thread] = before - begin;
  }
  __syncthreads();

  // In shared memory the elements with one digit are contiguous, as they will be in the row.
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    keys[i] = moved[thread + i * THREADS];
    if constexpr (POSITIONS) places[i] = moved_places[thread + i * THREADS];
  }
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const int at = thread + i * THREADS;
    const Index to = starts[digit_of(key_of(keys[i]), tile.pass)] + at;
    if (!WHOLE && at >= tile.size) continue;
    if (!POSITIONS || tile.to_places) tile.to_keys[to] = keys[i];
    if constexpr (POSITIONS) {
      if (tile.to_places) tile.to_places[to] = places[i];
      else tile.to_out[to] = places[i];
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) sort_pass(PARAMETERS) {
  extern __shared__ u64 shared[];
  Raw* const moved = (Raw*)shared;
  Place* const moved_places = (Place*)(moved + TILE);
  Index* const starts = (Index*)(moved_places + (POSITIONS ? TILE : 0));
  Digits<THREADS>& digits = *(Digits<THREADS>*)(starts + RADIX);
  __shared__ u32 sums[THREADS / 32], ticket;
  const int thread = threadIdx.x;

  // Blocks take tiles in order, so that the tiles before this one, which it waits for, have started.
  if (thread == 0) ticket = atomicAdd(tickets, 1u);
  digits.clear();
  __syncthreads();
  const u32 all_tiles = u32(rows * tiles), pass = ticket / all_tiles;
  const u32 number = ticket - pass * all_tiles, row = number / u32(tiles);
  Tile tile;
  tile.number = number - row * u32(tiles);
  tile.own = states + ((pass & 1) * (long long)all_tiles + number) * RADIX + thread;
  // Two sets of states are used in turn; clear the one for the next pass.
  if (PASSES > 1 && thread < RADIX) tile.own[(pass & 1 ? -1 : 1) * (long long)all_tiles * RADIX] = 0;
  const u32 pass_mask = passes[row];
  if (!(pass_mask >> pass & 1)) return;

  // Passes write to two buffers in turn, and the last pass to the result. A sort uses the result as one of the buffers;
  // for positions, which are carried with their keys, it is too small.
  const int passes_before = __popc(pass_mask & ((1u << pass) - 1));
  const int passes_after = __popc(pass_mask) - 1 - passes_before;
  const long long total = rows * n, origin = row * n, from = origin + tile.number * TILE;
  const bool writes_out = passes_after % 2 == 0;
  tile.to_out = out + origin;
  if constexpr (POSITIONS) {
    Place* const spare_places = (Place*)spare;
    Raw* const spare_keys = (Raw*)(spare_places + 2 * total);
    tile.keys = spare_keys + (writes_out ? total : 0) + from;
    tile.places = passes_before ? spare_places + (writes_out ? total : 0) + from : nullptr;
    tile.to_keys = spare_keys + (writes_out ? 0 : total) + origin;
    tile.to_places = passes_after ? spare_places + (writes_out ? 0 : total) + origin : nullptr;
  } else {
    tile.keys = (writes_out ? (Raw*)spare : (Raw*)out) + from;
    tile.to_keys = (writes_out ? (Raw*)out : (Raw*)spare) + origin;
  }
  if (!passes_before) tile.keys = x + begin + from;
  keep_in_register(tile.keys);
  keep_in_register(tile.to_keys);
  keep_in_register(tile.to_out);
  keep_in_register(tile.to_places);
  keep_in_register(tile.places);
  tile.starts = counts + ((long long)row * PASSES + pass) * RADIX;
  tile.pass = pass;
  tile.size = n - tile.number * TILE < TILE ? int(n - tile.number * TILE) : TILE;
  if (tile.size == TILE) move_tile<true>(tile, digits, sums, starts, moved, moved_places);
  else move_tile<false>(tile, digits, sums, starts, moved, moved_places);
}
