// Integers up to bounds that depend on how many of them come before.
//
// Every piece of the stream, a word of BITS bits, makes the next number or is rejected, by a rule that looks at the
// number's bound: so whether a piece makes a number depends on how many the pieces before it make. That is guessed and
// corrected: from a guess follows which pieces make numbers, and from that a better guess. When nothing changes any more
// all of it is right: the first piece has nothing before it, and each other one is right if all before it are. So a
// warp finds out about its pieces, 32 at a time; then a block about its warps; and then several blocks, which run side
// by side and tell each other how many numbers their tiles make. What they end with begins the next stage.
//
// Before this there are THREADS, THREAD_PIECES, Out, BITS, MASKED, BLOCKS_LEAVE, and `struct Bounds` with `bound(t)` of
// number t, `put(out, t, value)`, and `top`, the largest bound, if they fall.

const int WARPS = THREADS / 32, TILE = THREADS * THREAD_PIECES, MAX_BLOCKS = 256;
const u32 LARGEST = ~0u >> (32 - BITS);

// Whether a piece makes a number of a bound, and which.
__device__ __forceinline__ bool accepts(u32 piece, u32 bound, u32& value) {
  if (MASKED) {
    value = piece & ~0u >> __clz(int(bound));
    return value <= bound;
  }
  value = piece;
  if (bound == LARGEST) return true;
  const u64 product = u64(piece) * (u64(bound) + 1);
  const u32 lower = u32(product) & LARGEST;
  value = u32(product >> BITS);
  return lower > bound || lower >= (LARGEST - bound) % (bound + 1);
}

// How many numbers so many pieces make, about. With masks the bounds are taken to fall by one from number to number.
__device__ __forceinline__ i64 expected(u32 bound, i64 pieces) {
  if (!MASKED) {
    const u32 rejected = bound == LARGEST ? 0 : (LARGEST - bound) % (bound + 1);
    return pieces - i64(f64(pieces) * rejected / LARGEST);
  }
  f32 left = f32(pieces), made = 0, span = f32(bound) + 1;
  for (f32 masks = f32(~0u >> __clz(int(bound))) + 1; masks >= 2; masks /= 2) {
    const f32 all = masks * ::logf(2 * span / masks);
    if (left <= all) return i64(made - span * ::expm1f(-left / masks));
    made += span - masks / 2;
    left -= all;
    span = masks / 2;
  }
  return i64(made);
}

// The pieces of a warp, 32 in a row, and which of them make numbers.
struct WarpPieces {
  u32 pieces[THREAD_PIECES], made[THREAD_PIECES];
  i64 first;  // of the pieces
  // How many numbers were taken to come before, how many these make, and for how many more or fewer it is the same.
  i64 entry;
  int count, slack_up, slack_down;

  __device__ __forceinline__ WarpPieces(const u32* words, i64 pieces_given, i64 first) : first(first) {
#pragma unroll
    for (int k = 0; k < THREAD_PIECES; ++k) {
      const i64 p = first + k * 32 + threadIdx.x % 32;
      pieces[k] = p < pieces_given ? words[p] : 0;
      made[k] = ~0u;
    }
  }
  __device__ __forceinline__ int before(int k) const { return __popc(made[k] & ((1u << threadIdx.x % 32) - 1)); }

  // Find out which make numbers if so many come before. There are always enough pieces, as far as one can tell; those
  // beyond make numbers all the same, so that this ends.
  __device__ __forceinline__ void resolve(const Bounds& bounds, i64 pieces_given, i64 total, i64 numbers_before) {
    i64 t = entry = numbers_before;
    slack_up = slack_down = 1 << 30;
#pragma unroll
    for (int k = 0; k < THREAD_PIECES; ++k) {
      const bool beyond = first + k * 32 + threadIdx.x % 32 >= pieces_given;
      i64 mine;
      u32 value, bound;
      bool makes;
      while (true) {
        mine = t + before(k);
        bound = bounds.bound(mine);
        makes = mine < total && (accepts(pieces[k], bound, value) || beyond);
        const u32 all = __ballot_sync(~0u, makes);
        if (all == made[k]) break;
        made[k] = all;
      }
      t += __popc(made[k]);
      if (MASKED) narrow_slack(bounds, mine, total, bound, value, makes);
    }
    count = int(t - entry);
    for (int step = 16; MASKED && step; step /= 2) {
      slack_up = min(slack_up, __shfl_xor_sync(~0u, slack_up, step));
      slack_down = min(slack_down, __shfl_xor_sync(~0u, slack_down, step));
    }
  }

  // Narrow the slack to what changes nothing for a piece: its bound has the same mask, and is on the same side of its
  // value.
  __device__ __forceinline__ void narrow_slack(
      const Bounds& bounds, i64 mine, i64 total, u32 bound, u32 value, bool makes) {
    if (mine >= total) {
      slack_down = int(min(i64(slack_down), mine - total));
      return;
    }
    const u32 mask = ~0u >> __clz(int(bound)), least = mask / 2 + 1;
    slack_up = int(min(i64(slack_up), min(i64(bound - (makes ? max(value, least) : least)), total - 1 - mine)));
    slack_down = int(min(i64(slack_down), i64(makes ? min(mask, u32(bounds.top)) : value - 1) - bound));
  }

  // The same for another number of those before.
  __device__ __forceinline__ void shift(const Bounds& bounds, i64 pieces_given, i64 total, i64 numbers_before) {
    const i64 step = numbers_before - entry;
    if (!MASKED || step > slack_up || -step > slack_down) return resolve(bounds, pieces_given, total, numbers_before);
    entry = numbers_before;
    slack_up -= int(step);
    slack_down += int(step);
  }

  __device__ __forceinline__ void write(Out* out, i64* taken, const Bounds& bounds, i64 total) const {
    i64 t = entry;
#pragma unroll
    for (int k = 0; k < THREAD_PIECES; ++k) {
      if (made[k] >> threadIdx.x % 32 & 1) {
        const i64 mine = t + before(k);
        u32 value;
        accepts(pieces[k], bounds.bound(mine), value);
        bounds.put(out, mine, value);
        if (mine == total - 1) *taken = first + k * 32 + threadIdx.x % 32 + 1;
      }
      t += __popc(made[k]);
    }
  }
};

struct Shared {
  int counts[WARPS];
  i64 before, all;
  bool same;
};

// How many numbers the tiles of the blocks before this one make, and those of all; and whether no block has published
// another count than the last time. One warp. What is published carries the number of the turn; a block that begins the
// next turn has read all others of this one, so two places for each are enough.
__device__ __forceinline__ void exchange(
    Shared& shared, volatile u64* published, u32 turn, int blocks, int mine, u32 (&known)[MAX_BLOCKS / 32]) {
  const int lane = threadIdx.x;
  volatile u64* now = published + turn % 2 * MAX_BLOCKS;
  if (lane == 0) now[blockIdx.x] = u64(turn) << 32 | u32(mine);
  i64 before = 0, all = 0;
  bool same = true;
#pragma unroll
  for (int k = 0; k < MAX_BLOCKS / 32; ++k) {
    const int block = k * 32 + lane;
    if (block >= blocks) continue;
    u64 its = now[block];
    while (u32(its >> 32) != turn) its = now[block];
    same &= known[k] == u32(its);
    known[k] = u32(its);
    all += known[k];
    if (block < int(blockIdx.x)) before += known[k];
  }
  for (int step = 16; step; step /= 2) {
    before += __shfl_xor_sync(~0u, before, step);
    all += __shfl_xor_sync(~0u, all, step);
  }
  same = __all_sync(~0u, same);
  if (lane == 0) {
    shared.before = before;
    shared.all = all;
    shared.same = same;
  }
}

// Draw `total` numbers of the `count` pieces. As many blocks as there are run side by side, or some of them leave when
// the bounds are so small that all pieces of a stage have much to do with each other.
__device__ __forceinline__ void draw(Out* out, i64* taken, const u32* words, u64* published, const Bounds& bounds,
                                     i64 count, i64 total) {
  __shared__ Shared shared;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int blocks = gridDim.x;
  u32 turn = 0;
  i64 begin = 0, made = 0;
  while (made < total) {
    const u32 bound = bounds.bound(made);
    if (BLOCKS_LEAVE) blocks = max(min(blocks, int(bound / TILE)), 1);
    if (int(blockIdx.x) >= blocks) return;
    const i64 ahead = (i64(blockIdx.x) * WARPS + warp) * (32 * THREAD_PIECES);
    WarpPieces pieces_of_warp(words, count, begin + ahead);
    i64 base = made + expected(bound, i64(blockIdx.x) * TILE);
    int upto;
    u32 known[MAX_BLOCKS / 32];
#pragma unroll
    for (u32& its : known) its = ~0u;
    pieces_of_warp.resolve(bounds, count, total, made + expected(bound, ahead));
    while (true) {
      for (int moved = 1; moved;) {
        if (lane == 0) shared.counts[warp] = pieces_of_warp.count;
        __syncthreads();
        upto = lane < WARPS ? shared.counts[lane] : 0;
        for (int step = 1; step < 32; step *= 2) {
          const int other = __shfl_up_sync(~0u, upto, step);
          if (lane >= step) upto += other;
        }
        const int mine = pieces_of_warp.count;
        const i64 entry = base + __shfl_sync(~0u, upto, warp) - mine;
        if (entry != pieces_of_warp.entry) pieces_of_warp.shift(bounds, count, total, entry);
        moved = __syncthreads_or(pieces_of_warp.count != mine);
      }
      upto = __shfl_sync(~0u, upto, WARPS - 1);
      if (blocks == 1) break;
      ++turn;
      if (warp == 0) exchange(shared, published, turn, blocks, upto, known);
      __syncthreads();
      base = made + shared.before;
      if (shared.same) break;
    }
    pieces_of_warp.write(out, taken, bounds, total);
    begin += i64(blocks) * TILE;
    made += blocks == 1 ? upto : shared.all;
  }
}
