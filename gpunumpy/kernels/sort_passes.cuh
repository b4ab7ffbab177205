// Rows that many blocks sort together: a count of all digits of the keys, then a pass for each digit, the least
// significant first, that moves every element once. A block moves a tile of TILE elements.
//
// `Index` counts and numbers the elements of a row, `Place` is a position while it is carried along, `Out` is what is
// written: elements, or with POSITIONS their positions. A pass whose digit is the same in all elements of a row is left
// out for that row: `passes[row]` has a bit for every pass that is made.

const int TILE = THREADS * ITEMS, WARPS = THREADS / 32;
const int SHARE = 1 << 16;  // elements that a block counts

// What a tile says of a digit: nothing yet, how many elements it has, or how many it has with all tiles before it.
const int MARK = 8 * sizeof(Index) - 2;
const Index COUNT = Index(1) << MARK, SUM = Index(2) << MARK, VALUE = COUNT - 1;
const int AHEAD = 4;  // tiles whose words are read together

// Where elements and their positions are between two passes. A sort needs one place beside the result; positions are
// carried with the keys, and both need two places, since the result has room for neither.
struct Room {
  Raw* keys[2];
  Place* places[2];
};
__device__ __forceinline__ Room room_of(Out* out, void* room, long long row, long long rows, long long n) {
  Room at;
  if constexpr (POSITIONS) {
    Place* const places = (Place*)room + row * n;
    Raw* const keys = (Raw*)((Place*)room + 2 * rows * n) + row * n;
    at.places[0] = places; at.places[1] = places + rows * n;
    at.keys[0] = keys; at.keys[1] = keys + rows * n;
  } else {
    at.keys[0] = (Raw*)out + row * n;
    at.keys[1] = (Raw*)room + row * n;
  }
  return at;
}

extern "C" __global__ void __launch_bounds__(THREADS) sort_clear(PARAMETERS) {
  const long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
  if (i < rows * PASSES * RADIX) counts[i] = 0;
  if (i < rows * tiles * RADIX) states[i] = 0;
  if (i == 0) *tickets = 0;
}

// counts[row][pass][digit]: how many elements of the row have the digit.
extern "C" __global__ void __launch_bounds__(RADIX) sort_count(PARAMETERS) {
  __shared__ u32 found[PASSES][RADIX];
  const long long shares = (n + SHARE - 1) / SHARE, row = blockIdx.x / shares;
  const long long first = (blockIdx.x - row * shares) * SHARE;
  const int me = threadIdx.x, size = n - first < SHARE ? int(n - first) : SHARE;
  const Raw* const from = x + begin + row * n + first;
#pragma unroll
  for (int pass = 0; pass < PASSES; ++pass) found[pass][me] = 0;
  __syncthreads();
#pragma unroll 8
  for (int i = me; i < size; i += RADIX) {
    const Key key = key_of(from[i]);
#pragma unroll
    for (int pass = 0; pass < PASSES; ++pass) atomicAdd(&found[pass][digit_of(key, 8 * pass)], 1u);
  }
  __syncthreads();
#pragma unroll
  for (int pass = 0; pass < PASSES; ++pass)
    if (found[pass][me]) atomicAdd(counts + (row * PASSES + pass) * RADIX + me, Index(found[pass][me]));
}

// Turn a row's counts into sums of what comes before, and say which passes are made. A block a row.
extern "C" __global__ void __launch_bounds__(RADIX) sort_sum(PARAMETERS) {
  __shared__ Index sums[RADIX / 32];
  const long long row = blockIdx.x;
  u32 made = 0;
  for (int pass = 0; pass < PASSES; ++pass) {
    Index* const at = counts + (row * PASSES + pass) * RADIX + threadIdx.x;
    const Index count = *at;
    *at = sum_before(count, sums);
    if (!__syncthreads_or(count == n)) made |= 1u << pass;
  }
  if (threadIdx.x == 0) passes[row] = made ? made : 1;
}

// How many elements of the tiles before `tile` have a digit; `own` is the tile's word of the digit.
__device__ __forceinline__ Index look_back(const volatile Index* own, long long tile) {
  Index before = 0;
  while (true) {
    Index words[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) words[k] = own[(tile > k ? -1 - k : -tile) * RADIX];
    int taken = 0;
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      if (taken < k || !(words[k] >> MARK)) continue;
      before += words[k] & VALUE;
      if (words[k] & SUM) return before;
      ++taken;
    }
    own -= taken * RADIX;
    tile -= taken;
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) sort_pass(PARAMETERS) {
  extern __shared__ u64 shared[];
  Raw* const moved = (Raw*)shared;
  Place* const moved_places = (Place*)(moved + TILE);
  Index* const starts = (Index*)(moved_places + (POSITIONS ? TILE : 0));
  u32 (*const counted)[RADIX] = (u32(*)[RADIX])(starts + RADIX);
  __shared__ u32 sums[WARPS], ticket;
  const int me = threadIdx.x, lane = me % 32, warp = me / 32;

  // Tiles are handed out in order, so that all tiles that one waits for are on their way.
  if (me == 0) ticket = atomicAdd(tickets, 1u);
  for (int digit = lane; digit < RADIX; digit += 32) counted[warp][digit] = 0;
  __syncthreads();
  const u32 all = u32(rows * tiles), pass = ticket / all, number = ticket - pass * all, row = number / u32(tiles);
  const long long tile = number - row * u32(tiles);
  Index* const own = states + ((pass & 1) * (long long)all + number) * RADIX + me;
  if (me < RADIX) own[(pass & 1 ? -1 : 1) * (long long)all * RADIX] = 0;  // for the next pass
  const u32 made = passes[row];
  if (!(made >> pass & 1)) return;
  const int done = __popc(made & ((1u << pass) - 1)), left = __popc(made) - 1 - done, shift = 8 * pass;
  const Room room = room_of(out, spare, row, rows, n);
  const Raw* const source = (done ? room.keys[~left & 1] : x + begin + row * n) + tile * TILE;
  const int size = n - tile * TILE < TILE ? int(n - tile * TILE) : TILE;

  // What is missing from the last tile has the last digit, and is last.
  const int first = warp * 32 * ITEMS + lane;
  Raw keys[ITEMS];
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) keys[i] = first + i * 32 < size ? source[first + i * 32] : Raw(0);
  Place places[POSITIONS ? ITEMS : 1];
  if constexpr (POSITIONS) {
    const Place* const from = room.places[~left & 1] + tile * TILE;
#pragma unroll
    for (int i = 0; i < ITEMS; ++i) {
      places[i] = Place(tile * TILE) + first + i * 32;
      if (done && first + i * 32 < size) places[i] = from[first + i * 32];
    }
  }
#pragma unroll
  for (int i = 0; i < ITEMS; ++i)
    if (first + i * 32 < size) atomicAdd(&counted[warp][digit_of(key_of(keys[i]), shift)], 1u);
  __syncthreads();
  const u32 count = me < RADIX ? count_digit<WARPS>(counted, me) : 0;
  Index before = me < RADIX && tile == 0 ? counts[((long long)row * PASSES + pass) * RADIX + me] : 0;
  if (me < RADIX) *(volatile Index*)own = tile == 0 ? SUM | (before + count) : COUNT | count;
  const u32 place = sum_before(count, sums);
  if (me < RADIX) begin_digit<WARPS>(counted, me, place);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const u32 digit = first + i * 32 < size ? digit_of(key_of(keys[i]), shift) : RADIX - 1;
    const u32 to = take_place(counted[warp], digit, (1u << lane) - 1);
    moved[to] = keys[i];
    if constexpr (POSITIONS) moved_places[to] = places[i];
  }
  if (me < RADIX) {
    if (tile > 0) {
      before = look_back(own, tile);
      *(volatile Index*)own = SUM | (before + count);
    }
    starts[me] = before - place;
  }
  __syncthreads();

  // Elements that go to one place of the row lie side by side.
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    const u32 at = me + i * THREADS;
    if (at < size) {
      const Raw key = moved[at];
      const Index to = starts[digit_of(key_of(key), shift)] + at;
      if constexpr (POSITIONS) {
        if (left == 0) {
          out[(long long)row * n + to] = moved_places[at];
        } else {
          room.keys[left & 1][to] = key;
          room.places[left & 1][to] = moved_places[at];
        }
      } else {
        room.keys[left & 1][to] = key;
      }
    }
  }
}
