// Numbers of which the random words themselves decide how many words these take.
//
// A piece is a word of BITS bits, PER of them in each word of 64 bits. An attempt begins at a piece, takes that one and
// perhaps more, and makes a number or none. Nearly every piece is an attempt of its own that makes a number (it is
// "quick"); where each attempt begins depends on all attempts before it only through the few that are not. So a block
// works up a tile of pieces as if an attempt began at each of them. Then it follows the attempts that are not quick: a
// thread those that reach into one another, which are hardly ever more than two; those at the start of the tile when it
// is known where the first attempt begins, which the tile before says as soon as it knows where its last one ends. How
// many numbers the tiles before make is found by looking back at what they say.

const int PER = 64 / BITS, TILE = DRAW_THREADS * STEPS * PER, MASKS = TILE / 32;
const int MOST = 32;  // no attempt takes more pieces
const u64 KNOWN = u64(1) << 63, SUM = u64(1) << 62;  // a tile's own numbers; its own and all before

// The pieces of a stream from a state on. Those of a first word, before all others, may be left of an earlier one.
struct Pieces {
  const u64 *state, *hi, *lo;
  i64 chunks, lead;
  __device__ Pieces(const u64* state, const u64* hi, const u64* lo, i64 chunks)
      : state(state), hi(hi), lo(lo), chunks(chunks), lead(leads(state)) {}
  __device__ static bool leads(const u64* state) { return PER > 1 && state[7]; }
  // Where the first piece is that nobody has had.
  __device__ int begin() const { return lead ? PER / 2 : 0; }
  __device__ u64 word(i64 w) const { return w < lead ? state[8] << 32 : word_at(*this, w); }
  __device__ static Piece cut(u64 word, int at) { return Piece(word >> (at * BITS & 63)); }
  __device__ Piece at(i64 p) const { return cut(word(p / PER), int(p % PER)); }
};

// The pieces after one, as an attempt takes them.
struct More {
  const Pieces& pieces;
  i64 next;
  __device__ Piece take() { return pieces.at(next++); }
};

// What becomes of a piece at which an attempt begins: how many pieces it takes, and whether there is a number.
struct Attempt {
  int length;
  bool made;
};

__device__ __noinline__ Attempt attempt(const Number& number, const Pieces& pieces, i64 p, Value& value) {
  const Piece piece = pieces.at(p);
  if (number.quick(piece, value)) return {1, true};
  if (ALONE) return {1, false};
  More more{pieces, p + 1};
  const bool made = number.slow(piece, more, value);
  return {int(more.next - p), made};
}

struct Shared {
  u32 masks[MASKS];   // of the pieces that are not quick
  u32 made[MASKS];    // of those at which a number is made
  int before[MASKS];  // how many numbers are made before those of a mask
  Value values[TILE];
  u16 slow[ALONE ? 1 : TILE];  // the pieces that are not quick, in any order,
  u8 codes[ALONE ? 1 : TILE];  // and what comes of each: the length of the attempt, and 128 if there is a number
  int count;                   // of those pieces
  int exit;                    // where the last attempt ends, in the next tile
  u32 ticket;
  i64 base;
};

// The bits of all threads of a warp, PER each, as words of 32: the one that this thread's bits are in.
__device__ __forceinline__ u32 gathered(u32 bits) {
  if (PER == 1) return __ballot_sync(~0u, bits);
  bits <<= threadIdx.x % 32 * PER & 31;
  for (int step = 1; step < 32 / PER; step *= 2) bits |= __shfl_xor_sync(~0u, bits, step);
  return bits;
}

// Work a tile up as if an attempt began at each of its pieces.
__device__ __forceinline__ void classify(Shared& shared, const Number& number, const Pieces& pieces, i64 tile) {
  const i64 first = tile * (TILE / PER) + threadIdx.x;
  Strides words(pieces, first);
#pragma unroll
  for (int step = 0; step < STEPS; ++step) {
    const int here = (step * DRAW_THREADS + int(threadIdx.x)) * PER;
    const u64 word = first < pieces.lead && step == 0 ? pieces.word(0) : words.word(step);
    u32 slow = 0;
#pragma unroll
    for (int k = 0; k < PER; ++k) {
      Value value;
      const bool quick = number.quick(Pieces::cut(word, k), value);
      shared.values[here + k] = value;
      if (quick) continue;
      slow |= 1u << k;
      if (!ALONE) shared.slow[atomicAdd(&shared.count, 1)] = u16(here + k);
    }
    slow = gathered(slow);
    if (here % 32 == 0) {
      shared.masks[here / 32] = slow;
      shared.made[here / 32] = ALONE ? ~slow : ~0u;
    }
  }
  __syncthreads();
  if (ALONE) return;
  for (int k = threadIdx.x; k < shared.count; k += DRAW_THREADS) {
    const int at = shared.slow[k];
    Value value;
    const Attempt its = attempt(number, pieces, tile * TILE + at, value);
    shared.codes[at] = u8(its.length | its.made << 7);
    if (its.made) shared.values[at] = value;
  }
  __syncthreads();
}

// The first piece from `at` on, and before `end`, that is not quick; the tile's size if there is none.
__device__ __forceinline__ int next_slow(const Shared& shared, int at, int end) {
  for (int k = at / 32; k < MASKS && k * 32 < end; ++k) {
    const u32 mask = shared.masks[k] & (k == at / 32 ? ~0u << at % 32 : ~0u);
    if (mask) return k * 32 + __ffs(int(mask)) - 1;
  }
  return TILE;
}

// Follow attempts from a piece on, the first one beginning at `until` or later, as long as one that is not quick is
// within the `reach` of another; the result is where the last of them ends.
__device__ __forceinline__ int follow(Shared& shared, int at, int until, int reach) {
  while (at < reach && (at = next_slow(shared, at, reach)) < min(reach, TILE)) {
    const int code = shared.codes[at], end = at + (code & 127);
    if (at >= until) {
      until = end;
      for (int p = at + (code >> 7); p < min(end, TILE); ++p) atomicAnd(&shared.made[p / 32], ~(1u << p % 32));
    }
    reach = max(reach, end);
    ++at;
  }
  return until;
}

// Whether no attempt that is not quick reaches a piece.
__device__ __forceinline__ bool is_free(const Shared& shared, int at) {
  for (int k = max(at - MOST, 0); (k = next_slow(shared, k, at)) < at; ++k)
    if (k + (shared.codes[k] & 127) > at) return false;
  return true;
}

// Follow all attempts but those at the start of the tile.
__device__ __forceinline__ void follow_all(Shared& shared) {
  for (int k = threadIdx.x; k < shared.count; k += DRAW_THREADS) {
    const int at = shared.slow[k];
    if (at < MOST || !is_free(shared, at)) continue;
    const int until = follow(shared, at, at, at + 1);
    if (until > TILE) shared.exit = until - TILE;
  }
  __syncthreads();
}

// Wait for a word that another block writes.
__device__ __forceinline__ u64 known(const volatile u64* word) {
  u64 its = *word;
  while (!(its & KNOWN)) its = *word;
  return its;
}

// How far what is not known before the tile before is reaches into the tile, at most.
__device__ __forceinline__ int uncertain(const Shared& shared) {
  int reach = MOST;
  for (int at = 0; at < reach && (at = next_slow(shared, at, reach)) < min(reach, TILE); ++at)
    reach = max(reach, at + (shared.codes[at] & 127));
  return reach;
}

// Follow the attempts at the start of a tile: one thread.
__device__ __forceinline__ void follow_first(Shared& shared, volatile u64* exits, i64 tile, int begin) {
  const bool certain = uncertain(shared) <= TILE;
  if (certain) exits[tile] = KNOWN | u64(shared.exit);
  const int entry = tile ? int(known(exits + tile - 1) & (MOST - 1)) : begin;
  if (entry) atomicAnd(&shared.made[0], ~0u << entry);
  const int until = follow(shared, 0, entry, MOST);
  if (!certain) exits[tile] = KNOWN | u64(until > TILE ? until - TILE : shared.exit);
}

// How many numbers the tiles before one make; `mine` is how many it makes itself. Many tiles are looked at together, as
// what is known spreads no faster than that.
__device__ __forceinline__ i64 count_before(volatile u64* sums, i64 tile, int mine) {
  const int lane = threadIdx.x, GROUPS = 8;
  if (lane == 0) sums[tile] = KNOWN | (tile ? 0 : SUM) | u64(mine);
  i64 base = 0;
  bool found = false;
  for (i64 look = tile - 1 - lane; !found; look -= 32 * GROUPS) {
    u64 words[GROUPS];
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) words[k] = look < 32 * k ? KNOWN | SUM : sums[look - 32 * k];
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
      if (found) continue;
      if (!(words[k] & KNOWN)) words[k] = known(sums + (look - 32 * k));
      const u32 ends = __ballot_sync(~0u, (words[k] & SUM) != 0);
      if (!ends || lane < __ffs(int(ends))) base += i64(words[k] & (SUM - 1));
      found = ends != 0;
    }
  }
  for (int step = 16; step; step /= 2) base += __shfl_xor_sync(~0u, base, step);
  if (lane == 0 && tile) sums[tile] = KNOWN | SUM | u64(base + mine);
  return base;
}

// Settle, by one warp, how many numbers are made before each piece of the tile.
__device__ __forceinline__ void settle(Shared& shared, volatile u64* exits, volatile u64* sums, i64 tile, int begin) {
  const int lane = threadIdx.x;
  if (lane == 0) {
    if (!ALONE) follow_first(shared, exits, tile, begin);
    else if (tile == 0) shared.made[0] &= ~0u << begin;
  }
  __syncwarp();
  int sum = 0;
  for (int k = lane; k < (MASKS + 31) / 32 * 32; k += 32) {
    const int mine = k < MASKS ? __popc(shared.made[k]) : 0;
    int upto = mine;
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(~0u, upto, step);
      if (lane >= step) upto += other;
    }
    if (k < MASKS) shared.before[k] = sum + upto - mine;
    sum += __shfl_sync(~0u, upto, 31);
  }
  const i64 base = count_before(sums, tile, sum);
  if (lane == 0) shared.base = base;
}

// Draw what is in a tile.
__device__ __forceinline__ void draw_tile(
    Value* out, i64* taken, const Pieces& pieces, u64* exits, u64* sums, u32* tickets, i64 n) {
  __shared__ Shared shared;
  // Tiles are handed out in order, so that all tiles that one waits for are on their way.
  if (threadIdx.x == 0) {
    shared.ticket = atomicAdd(tickets, 1u);
    shared.count = shared.exit = 0;
  }
  __syncthreads();
  const i64 tile = shared.ticket;
  const Number number(pieces.state);
  classify(shared, number, pieces, tile);
  if (!ALONE) follow_all(shared);
  if (threadIdx.x < 32) settle(shared, exits, sums, tile, pieces.begin());
  __syncthreads();
  const i64 base = shared.base;
  if (base >= n) return;
#pragma unroll 4
  for (int at = threadIdx.x; at < TILE; at += DRAW_THREADS) {
    const u32 mask = shared.made[at / 32];
    if (!(mask >> at % 32 & 1)) continue;
    const i64 to = base + shared.before[at / 32] + __popc(mask & ((1u << at % 32) - 1));
    if (to < n) out[to] = shared.values[at];
    if (to == n - 1) {
      const i64 p = tile * TILE + at;
      Value again;
      *taken = p + attempt(number, pieces, p, again).length - pieces.begin();
    }
  }
}

// Draw what all tiles together lack of `n` numbers: one thread.
__device__ __forceinline__ void draw_rest(
    Value* out, i64* taken, const Pieces& pieces, const u64* exits, const u64* sums, i64 tiles, i64 n) {
  i64 made = i64(sums[tiles - 1] & (SUM - 1));
  if (threadIdx.x != 0 || made >= n) return;
  const Number number(pieces.state);
  i64 p = tiles * TILE + (ALONE ? 0 : i64(exits[tiles - 1] & (MOST - 1)));
  while (made < n) {
    Value value;
    const Attempt its = attempt(number, pieces, p, value);
    if (its.made) out[made++] = value;
    p += its.length;
  }
  *taken = p - pieces.begin();
}
