// Integers up to bounds, where the bound of a piece depends on how many numbers come before it.
//
// Each piece of the stream, a word of BITS bits, makes the next number or is rejected, by a rule that depends on that
// number's bound. So whether a piece makes a number depends on how many numbers the pieces before it make. This is
// solved as a fixed point: a guess of the counts determines which pieces make numbers, and these determine better
// counts. Once nothing changes all is right: the first piece has no pieces before it, and each other piece is right if
// all pieces before it are. A warp resolves its pieces in this way, 32 at a time; then a block resolves its warps; then
// several blocks, which run concurrently, exchange the counts of their tiles. Their last count begins the next stage.
//
// The text before this file defines THREADS, THREAD_PIECES, Out, BITS, MASKED, BLOCKS_LEAVE, and `struct Bounds` with
// `bound(t)` of number t, `put(out, t, value)`, and `top`, the largest bound, if bounds fall.

const int WARPS = THREADS / 32, TILE = THREADS * THREAD_PIECES, MAX_BLOCKS = 256;
const u32 LARGEST = ~0u >> (32 - BITS);

// Whether a piece makes a number from 0 up to a bound, and which (`value`).
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

// Estimate how many numbers some pieces make, the first of this bound. With masks the bounds are assumed to fall by one
// from number to number.
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

// The pieces of a warp, of which it resolves 32 at a time, and which of them make numbers.
struct WarpPieces {
  u32 pieces[THREAD_PIECES], made[THREAD_PIECES];
  i64 first;  // the position of the first piece
  i64 entry;  // the count of numbers assumed to come before
  int count;  // the count of numbers of these pieces
  int slack_up, slack_down;  // how many more or fewer numbers may come before without a change

  __device__ __forceinline__ WarpPieces(const u32* words, i64 pieces_given, i64 first) : first(first) {
#pragma unroll
    for (int k = 0; k < THREAD_PIECES; ++k) {
      const i64 p = first + k * 32 + threadIdx.x % 32;
      pieces[k] = p < pieces_given ? words[p] : 0;
      made[k] = ~0u;
    }
  }
  __device__ __forceinline__ int before(int k) const { return __popc(made[k] & ((1u << threadIdx.x % 32) - 1)); }

  // Find which pieces make numbers if `numbers_before` come before. Pieces beyond the last one, which are next to never
  // needed, count as accepted, so that the loop ends.
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

  // Narrow the slack to changes that do not affect a piece: its bound keeps its mask and stays on the same side of its
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

  // Find which pieces make numbers for another count of numbers before.
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
  bool is_same;
};

// Publish the count of this block's tile, and read those of all blocks: the sum of the blocks before this one, the sum
// of all, and whether no block's count has changed since the last turn. One warp. Published counts carry the number of
// the turn. A block that begins the next turn has read all counts of this one, so two slots per block suffice.
__device__ __forceinline__ void exchange(
    Shared& shared, volatile u64* published, u32 turn, int blocks, int mine, u32 (&known)[MAX_BLOCKS / 32]) {
  const int lane = threadIdx.x;
  volatile u64* now = published + turn % 2 * MAX_BLOCKS;
  if (lane == 0) now[blockIdx.x] = u64(turn) << 32 | u32(mine);
  i64 before = 0, all = 0;
  bool is_same = true;
#pragma unroll
  for (int k = 0; k < MAX_BLOCKS / 32; ++k) {
    const int block = k * 32 + lane;
    if (block >= blocks) continue;
    u64 count = now[block];
    while (u32(count >> 32) != turn) count = now[block];
    is_same &= known[k] == u32(count);
    known[k] = u32(count);
    all += known[k];
    if (block < int(blockIdx.x)) before += known[k];
  }
  for (int step = 16; step; step /= 2) {
    before += __shfl_xor_sync(~0u, before, step);
    all += __shfl_xor_sync(~0u, all, step);
  }
  is_same = __all_sync(~0u, is_same);
  if (lane == 0) {
    shared.before = before;
    shared.all = all;
    shared.is_same = is_same;
  }
}

// Draw `total` numbers from the `count` pieces. All blocks run concurrently. With BLOCKS_LEAVE some exit when bounds
// become so small that the pieces of a stage depend much on one another.
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
    int sum_up_to;
    u32 known[MAX_BLOCKS / 32];
#pragma unroll
    for (u32& count_of_block : known) count_of_block = ~0u;
    pieces_of_warp.resolve(bounds, count, total, made + expected(bound, ahead));
    while (true) {
      for (int moved = 1; moved;) {
        if (lane == 0) shared.counts[warp] = pieces_of_warp.count;
        __syncthreads();
        sum_up_to = lane < WARPS ? shared.counts[lane] : 0;
        for (int step = 1; step < 32; step *= 2) {
          const int other = __shfl_up_sync(~0u, sum_up_to, step);
          if (lane >= step) sum_up_to += other;
        }
        const int mine = pieces_of_warp.count;
        const i64 entry = base + __shfl_sync(~0u, sum_up_to, warp) - mine;
        if (entry != pieces_of_warp.entry) pieces_of_warp.shift(bounds, count, total, entry);
        moved = __syncthreads_or(pieces_of_warp.count != mine);
      }
      sum_up_to = __shfl_sync(~0u, sum_up_to, WARPS - 1);
      if (blocks == 1) break;
      ++turn;
      if (warp == 0) exchange(shared, published, turn, blocks, sum_up_to, known);
      __syncthreads();
      base = made + shared.before;
      if (shared.is_same) break;
    }
    pieces_of_warp.write(out, taken, bounds, total);
    begin += i64(blocks) * TILE;
    made += blocks == 1 ? sum_up_to : shared.all;
  }
}
