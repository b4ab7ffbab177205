// Rows that many blocks sort together: a count of all digits of the keys, then a pass for each digit, the least
// significant first, that moves every element once. A block moves a tile of TILE elements.
//
// `Index` counts and numbers the elements of a row, `Place` is a position while it is carried along, `Out` is what is
// written: elements, or with POSITIONS their positions. A pass whose digit is the same in all elements of a row is left
// out for that row: `passes[row]` has a bit for every pass that is made. So are those before FIRST_PASS, whose digits are
// in order.

const int TILE = THREADS * ITEMS;
static_assert(TILE < 1 << 16, "places in a tile are kept in 16 bits");
static_assert(THREADS >= RADIX, "a thread serves a digit");

// What a tile says of a digit: nothing yet, how many elements it has, or how many it has with all tiles before it.
const int MARK = 8 * sizeof(Index) - 2;
const Index COUNT = Index(1) << MARK, SUM = Index(2) << MARK, VALUE = COUNT - 1;

extern "C" __global__ void __launch_bounds__(THREADS) sort_clear(PARAMETERS) {
  const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
  if (i < rows * PASSES * RADIX) counts[i] = 0;
  if (i < rows * tiles * RADIX) states[i] = 0;
  if (i < rows) passes[i] = 0;
  if (i == 0) *tickets = 0;
}

// counts[row][pass][digit]: how many elements of the row have smaller digits. A block counts `share` elements of a row;
// the last one sums what all have counted, and says which passes are made.
extern "C" __global__ void __launch_bounds__(RADIX) sort_count(PARAMETERS) {
  __shared__ u32 found[PASSES][RADIX], arrived;
  __shared__ Index sums[RADIX / 32];
  const long long shares = (n + share - 1) / share, row = blockIdx.x / shares;
  const long long first = (blockIdx.x - row * shares) * share;
  const int me = threadIdx.x, size = int(n - first < share ? n - first : share);
  const Raw* const from = x + begin + row * n + first;
  Index* const totals = counts + row * PASSES * RADIX + me;
#pragma unroll
  for (int pass = 0; pass < PASSES; ++pass) found[pass][me] = 0;
  __syncthreads();
#pragma unroll 8
  for (int i = me; i < size; i += RADIX) {
    const Key key = key_of(from[i]);
#pragma unroll
    for (int pass = 0; pass < PASSES; ++pass) atomicAdd(&found[pass][digit_of(key, pass)], 1u);
  }
  __syncthreads();
#pragma unroll
  for (int pass = 0; pass < PASSES; ++pass)
    if (found[pass][me]) atomicAdd(totals + pass * RADIX, Index(found[pass][me]));
  __threadfence();
  __syncthreads();
  if (me == 0) arrived = atomicAdd(passes + row, 1u);
  __syncthreads();
  if (arrived != shares - 1) return;
  __threadfence();
  u32 made = 0;
  for (int pass = 0; pass < PASSES; ++pass) {
    const Index count = __ldcg(totals + pass * RADIX);
    totals[pass * RADIX] = sum_before(count, sums);
    if (!__syncthreads_or(count == n) && pass >= FIRST_PASS) made |= 1u << pass;
  }
  if (me == 0) passes[row] = made ? made : 1u << FIRST_PASS;
}

// Add what the AHEAD tiles before `tile` say of a digit, as far as they do; is that all? `own` is the tile's word.
template <int AHEAD>
__device__ __forceinline__ bool look_back(const volatile Index*& own, long long& tile, Index& before) {
  Index words[AHEAD];
#pragma unroll
  for (int k = 0; k < AHEAD; ++k) words[k] = own[(tile > k ? -1 - k : -tile) * RADIX];
  int taken = 0;
#pragma unroll
  for (int k = 0; k < AHEAD; ++k) {
    if (taken < k || !(words[k] >> MARK)) continue;
    before += words[k] & VALUE;
    if (words[k] & SUM) return true;
    ++taken;
  }
  own -= taken * RADIX;
  tile -= taken;
  return false;
}

// How many elements of the tiles before `tile` have a digit. The nearest few know it in a long row; in a short one, whose
// tiles all begin at once, they do not.
__device__ __forceinline__ Index count_before(const volatile Index* own, long long tile) {
  Index before = 0;
  if (!look_back<4>(own, tile, before))
    while (!look_back<16>(own, tile, before)) {}
  return before;
}

// A tile of a pass: where it is read and written, counted from the row's first element. Without `places`, those read are
// made, and those written are the result.
struct Tile {
  const Raw* keys;
  const Place* places;
  Raw* to_keys;
  Place* to_places;
  Out* to_out;
  const Index* starts;  // of the digits, for the row's first tile
  Index* own;           // the thread's word
  long long number;
  int size, pass;
};

template <bool WHOLE>
__device__ __forceinline__ void move_tile(const Tile& tile, Digits<THREADS>& digits, u32* sums, Index* starts, Raw* moved,
                                          Place* moved_places) {
  const int me = threadIdx.x, first = me / HALF * HALF * ITEMS + me % HALF;
  const bool counting = me < RADIX;
  Raw keys[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    keys[i] = WHOLE || first + i * HALF < tile.size ? tile.keys[first + i * HALF] : Raw(0);
  // What is missing has the last digit, and stays behind what is there.
  auto digit = [&](int i) {
    return WHOLE || first + i * HALF < tile.size ? digit_of(key_of(keys[i]), tile.pass) : RADIX - 1;
  };
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) digits.count(digit(i));
  __syncthreads();
  Place places[POSITIONS ? ITEMS : 1];  // on their way while digits are settled
  if constexpr (POSITIONS) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      places[i] = Place(tile.number * TILE) + first + i * HALF;
      if (tile.places && (WHOLE || first + i * HALF < tile.size)) places[i] = tile.places[first + i * HALF];
    }
  }
  const u32 all = counting ? digits.all(me) : 0;
  const u32 count = all - (!WHOLE && me == RADIX - 1 ? TILE - tile.size : 0);
  Index before = counting && tile.number == 0 ? tile.starts[me] : 0;
  if (counting) *(volatile Index*)tile.own = tile.number == 0 ? SUM | (before + count) : COUNT | count;
  const u32 begin = sum_before(all, sums);
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) hold(keys[i]);
  if (counting) digits.begin(me, begin);
  __syncthreads();
  auto put = [&](int i, u32 to) {
    moved[to] = keys[i];
    if constexpr (POSITIONS) moved_places[to] = places[i];
  };
  if (are_alike(digit(ITEMS / 2))) {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) put(i, digits.template take<true>(digit(i)));
  } else {
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) put(i, digits.template take<false>(digit(i)));
  }
  if (counting) {
    if (tile.number > 0) {
      before = count_before(tile.own, tile.number);
      *(volatile Index*)tile.own = SUM | (before + count);
    }
    starts[me] = before - begin;
  }
  __syncthreads();

  // Elements that go to one place of the row lie side by side.
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    keys[i] = moved[me + i * THREADS];
    if constexpr (POSITIONS) places[i] = moved_places[me + i * THREADS];
  }
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const int at = me + i * THREADS;
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
  const int me = threadIdx.x;

  // Tiles are handed out in order, so that all tiles that one waits for are on their way.
  if (me == 0) ticket = atomicAdd(tickets, 1u);
  digits.clear();
  __syncthreads();
  const u32 all = u32(rows * tiles), pass = ticket / all, number = ticket - pass * all, row = number / u32(tiles);
  Tile tile;
  tile.number = number - row * u32(tiles);
  tile.own = states + ((pass & 1) * (long long)all + number) * RADIX + me;
  if (PASSES > 1 && me < RADIX) tile.own[(pass & 1 ? -1 : 1) * (long long)all * RADIX] = 0;  // for the next pass
  const u32 made = passes[row];
  if (!(made >> pass & 1)) return;

  // Passes write to two places in turn, and the last one to the result. It is one of the two places of a sort; positions
  // are carried with the keys, for which it has no room.
  const int done = __popc(made & ((1u << pass) - 1)), left = __popc(made) - 1 - done;
  const long long total = rows * n, origin = row * n, from = origin + tile.number * TILE;
  const bool even = left % 2 == 0;
  tile.to_out = out + origin;
  if constexpr (POSITIONS) {
    Place* const spare_places = (Place*)spare;
    Raw* const spare_keys = (Raw*)(spare_places + 2 * total);
    tile.keys = spare_keys + (even ? total : 0) + from;
    tile.places = done ? spare_places + (even ? total : 0) + from : nullptr;
    tile.to_keys = spare_keys + (even ? 0 : total) + origin;
    tile.to_places = left ? spare_places + (even ? 0 : total) + origin : nullptr;
  } else {
    tile.keys = (even ? (Raw*)spare : (Raw*)out) + from;
    tile.to_keys = (even ? (Raw*)out : (Raw*)spare) + origin;
  }
  if (!done) tile.keys = x + begin + from;
  hold(tile.keys), hold(tile.to_keys), hold(tile.to_out), hold(tile.to_places), hold(tile.places);
  tile.starts = counts + ((long long)row * PASSES + pass) * RADIX;
  tile.pass = pass;
  tile.size = n - tile.number * TILE < TILE ? int(n - tile.number * TILE) : TILE;
  if (tile.size == TILE) move_tile<true>(tile, digits, sums, starts, moved, moved_places);
  else move_tile<false>(tile, digits, sums, starts, moved, moved_places);
}
