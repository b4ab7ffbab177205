// Numbers of which the random words themselves decide how many words these take.
//
// A piece is a word of BITS bits, PER of them in each word of 64 bits. An attempt begins at a piece, takes that one and
// perhaps more, and makes a number or none. Nearly every piece is an attempt of its own that makes a number (it is
// "quick"); where each attempt begins depends on all attempts before it only through the few that are not. So a block
// works up a tile of pieces as if an attempt began at each of them, and then follows the attempts that are not quick,
// for every place of the tile where the first may begin: hardly ever does it matter for where the last one ends, and so
// for where the next tile begins. How many numbers the tiles before make is found by looking back at what they say.

const int PER = 64 / BITS, TILE = DRAW_THREADS * STEPS * PER, MASKS = TILE / 32;
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
  u32 masks[MASKS];   // of the pieces that are not quick, then of those at which a number is made
  int before[MASKS];  // how many numbers are made before those of a mask
  Value values[TILE];
  u16 slow[ALONE ? 1 : TILE];  // the pieces that are not quick, in any order,
  u8 codes[ALONE ? 1 : TILE];  // and what comes of each: the length of the attempt, and 128 if there is a number
  int count;                   // of those pieces
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
    if (here % 32 == 0) shared.masks[here / 32] = slow;
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

// Follow the attempts of a tile from where its first begins, which may be another place for each thread of the warp;
// `each` is called with the place, the end and the code of those that are not quick. The result is where the last ends.
template <class Each> __device__ __forceinline__ int follow(const Shared& shared, int until, Each each) {
  const int lane = threadIdx.x % 32;
  for (int base = 0; base < MASKS; base += 32) {
    const u32 mine = base + lane < MASKS ? shared.masks[base + lane] : 0;
    for (u32 some = __ballot_sync(~0u, mine != 0); some; some &= some - 1) {
      const int chosen = __ffs(int(some)) - 1;
      for (u32 mask = __shfl_sync(~0u, mine, chosen); mask; mask &= mask - 1) {
        const int at = (base + chosen) * 32 + __ffs(int(mask)) - 1;
        const int code = shared.codes[at];
        if (at >= until) {
          until = at + (code & 127);
          each(at, until, code >> 7);
        }
      }
    }
  }
  return until;
}

// Wait for a word that another block writes.
__device__ __forceinline__ u64 known(const volatile u64* word) {
  u64 its = *word;
  while (!(its & KNOWN)) its = *word;
  return its;
}

// Where the first attempt of a tile begins. No attempt takes more than 32 pieces, so that it is one of the first 32.
__device__ __forceinline__ int entry_of(const Shared& shared, volatile u64* exits, i64 tile, int begin) {
  const int lane = threadIdx.x;
  int exit = max(follow(shared, lane, [](int, int, int) {}) - TILE, 0);
  const bool same = __all_sync(~0u, exit == __shfl_sync(~0u, exit, 0));
  if (same && lane == 0) exits[tile] = KNOWN | u64(exit);
  const int entry = tile ? int(known(exits + tile - 1) & 31) : begin;
  exit = __shfl_sync(~0u, exit, entry);
  if (!same && lane == 0) exits[tile] = KNOWN | u64(exit);
  return entry;
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

// Settle, by one warp, at which pieces of the tile numbers are made, and how many before.
__device__ __forceinline__ void settle(Shared& shared, volatile u64* exits, volatile u64* sums, i64 tile, int begin) {
  const int lane = threadIdx.x;
  const int entry = ALONE ? (tile ? 0 : begin) : entry_of(shared, exits, tile, begin);
  for (int k = lane; k < MASKS; k += 32) {
    const int gone = entry - k * 32;
    shared.before[k] = int((ALONE ? ~shared.masks[k] : ~0u) & (gone <= 0 ? ~0u : gone >= 32 ? 0u : ~0u << gone));
  }
  __syncwarp();
  if (!ALONE)
    follow(shared, entry, [&](int at, int until, int made) {
      if (lane == 0)
        for (int p = at + made; p < min(until, TILE); ++p) shared.before[p / 32] &= ~(1u << p % 32);
    });
  __syncwarp();
  int sum = 0;
  for (int k = lane; k < (MASKS + 31) / 32 * 32; k += 32) {
    const u32 made = k < MASKS ? u32(shared.before[k]) : 0;
    int upto = __popc(made);
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(~0u, upto, step);
      if (lane >= step) upto += other;
    }
    if (k < MASKS) {
      shared.masks[k] = made;
      shared.before[k] = sum + upto - __popc(made);
    }
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
    shared.count = 0;
  }
  __syncthreads();
  const i64 tile = shared.ticket;
  const Number number(pieces.state);
  classify(shared, number, pieces, tile);
  if (threadIdx.x < 32) settle(shared, exits, sums, tile, pieces.begin());
  __syncthreads();
  const i64 base = shared.base;
  if (base >= n) return;
#pragma unroll 4
  for (int at = threadIdx.x; at < TILE; at += DRAW_THREADS) {
    const u32 mask = shared.masks[at / 32];
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
  i64 p = tiles * TILE + (ALONE ? 0 : i64(exits[tiles - 1] & 31));
  while (made < n) {
    Value value;
    const Attempt its = attempt(number, pieces, p, value);
    if (its.made) out[made++] = value;
    p += its.length;
  }
  *taken = p - pieces.begin();
}
