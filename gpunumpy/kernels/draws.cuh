// Numbers of which the random words themselves decide how many words these take.
//
// A piece is a word of BITS bits, PER of them in each word of 64 bits. An attempt begins at a piece, takes that one and
// perhaps more, and makes a number or none. Nearly every piece is an attempt of its own that makes a number (it is
// "quick"); where each attempt begins depends on all attempts before it only through the few that are not. So a block
// works up a tile of pieces as if an attempt began at each of them, and then follows the attempts that are not quick,
// for every place of the tile where the first may begin: what comes of it is how many numbers there are, and where in
// the next tile an attempt begins. One block joins the tiles to one chain (`draws_join`), and numbers are then made once
// more and written where they belong.

const int PER = 64 / BITS, TILE = DRAW_THREADS * STEPS * PER, MASKS = TILE / 32, WARPS = DRAW_THREADS / 32;
const int ENTRIES = ALONE ? 1 : 32;  // where the first attempt of a tile may begin: none takes more pieces

// The pieces of a stream from a state on. Those of a first word, before all others, are what is left of an earlier one.
struct Pieces {
  const u64 *state, *hi, *lo;
  i64 chunks, lead;
  u64 c[6];
  __device__ Pieces(const u64* state, const u64* hi, const u64* lo, i64 chunks)
      : state(state), hi(hi), lo(lo), chunks(chunks), lead(PER > 1 && state[7] ? 1 : 0) {
    for (int k = 0; k < 6; ++k) c[k] = state[k];
  }
  // Where the first piece is that nobody has had.
  __device__ int begin() const { return lead ? PER / 2 : 0; }
  __device__ u64 word(i64 w) const {
    if (w < lead) return state[8] << 32;
    return word_at(w - lead, hi, lo, chunks, c, state);
  }
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

__device__ __noinline__ Attempt attempt(const Number& number, const Pieces& pieces, i64 p, Piece piece, Value& value) {
  if (number.quick(piece, value)) return {1, true};
  if (ALONE) return {1, false};
  More more{pieces, p + 1};
  const bool made = number.slow(piece, more, value);
  return {int(more.next - p), made};
}

// The bits of all threads of a warp, PER each, as words of 32: the one that this thread's bits are in.
__device__ __forceinline__ u32 gathered(u32 bits) {
  const int lane = threadIdx.x % 32;
  if (PER == 1) return __ballot_sync(~0u, bits);
  bits <<= lane * PER & 31;
  for (int step = 1; step < 32 / PER; step *= 2) bits |= __shfl_xor_sync(~0u, bits, step);
  return bits;
}

template <bool KEEP> struct Shared {
  u32 masks[MASKS];  // of the pieces that are not quick, then of those at which a number is made
  int before[MASKS];  // how many numbers are made before those of a mask
  u8 codes[ALONE ? 1 : TILE];  // of pieces that are not quick: the length of the attempt, and 128 if there is a number
  Value values[KEEP ? TILE : 1];
};

// Work a tile up as if an attempt began at each of its pieces.
template <bool KEEP>
__device__ __forceinline__ void classify(Shared<KEEP>& shared, const Number& number, const Pieces& pieces, i64 tile) {
#pragma unroll 4
  for (int step = 0; step < STEPS; ++step) {
    const int thread = step * DRAW_THREADS + int(threadIdx.x), here = thread * PER;
    const u64 word = pieces.word(tile * (TILE / PER) + thread);
    u32 slow = 0;
#pragma unroll
    for (int k = 0; k < PER; ++k) {
      Value value;
      if (!number.quick(Pieces::cut(word, k), value)) slow |= 1u << k;
      if (KEEP) shared.values[here + k] = value;
    }
    slow = gathered(slow);
    if (here % 32 == 0) shared.masks[here / 32] = slow;
  }
  __syncthreads();
  if (ALONE) return;
  const int lane = threadIdx.x % 32;
  for (int k = threadIdx.x / 32; k < MASKS; k += WARPS) {
    if (!(shared.masks[k] >> lane & 1)) continue;
    const int at = k * 32 + lane;
    const i64 p = tile * TILE + at;
    Value value;
    const Attempt its = attempt(number, pieces, p, pieces.at(p), value);
    shared.codes[at] = u8(its.length | its.made << 7);
    if (KEEP && its.made) shared.values[at] = value;
  }
  __syncthreads();
}

// Follow the attempts of a tile from an entry on, the same for the whole warp or one in each thread; `each` is called
// with the place, the end and the code of every attempt that is not quick. The result is where the last one ends.
template <bool KEEP, class Each>
__device__ __forceinline__ int follow(const Shared<KEEP>& shared, int until, Each each) {
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

// How many numbers each tile makes for every entry, and where the next one is entered.
__device__ __forceinline__ void count_tile(const Pieces& pieces, int* counts, int* exits, int* steady) {
  __shared__ Shared<false> shared;
  const i64 tile = blockIdx.x;
  classify(shared, Number(pieces.state), pieces, tile);
  if (threadIdx.x >= 32) return;
  const int lane = threadIdx.x;
  if (ALONE) {
    int lost = 0;
    for (int k = lane; k < MASKS; k += 32) lost += __popc(shared.masks[k]);
    for (int step = 16; step; step /= 2) lost += __shfl_xor_sync(~0u, lost, step);
    if (lane == 0) {
      // What comes before the first piece is lost too.
      const int begin = tile == 0 ? pieces.begin() : 0;
      for (int k = 0; k < begin; ++k) lost += !(shared.masks[0] >> k & 1);
      counts[tile] = TILE - lost;
      steady[tile] = 0;
    }
    return;
  }
  int lost = lane;
  const int end = follow(shared, lane, [&](int at, int until, int made) { lost += min(until, TILE) - at - made; });
  const int exit = max(end - TILE, 0);
  counts[tile * ENTRIES + lane] = TILE - lost;
  exits[tile * ENTRIES + lane] = exit;
  const bool same = __all_sync(~0u, exit == __shfl_sync(~0u, exit, 0));
  if (lane == 0) steady[tile] = same ? exit : -1;
}

// The sum over a block of up to 1024 threads of what comes before each of them, and of all.
__device__ __forceinline__ i64 sum_before(i64 mine, i64& all) {
  __shared__ i64 sums[33];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  i64 sum = mine;
  for (int step = 1; step < 32; step *= 2) {
    const i64 other = __shfl_up_sync(~0u, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    i64 total = 0;
    for (int k = 0; k < int(blockDim.x) / 32; ++k) {
      const i64 its = sums[k];
      sums[k] = total;
      total += its;
    }
    sums[32] = total;
  }
  __syncthreads();
  all = sums[32];
  return sums[warp] + sum - mine;
}

// Where every tile is entered, and how many numbers are made before it: one block. What the tiles lack of `n` numbers,
// one thread makes from there on.
__device__ __forceinline__ void join_tiles(
    Value* out, i64* taken, const Pieces& pieces, const int* counts, const int* exits, const int* steady, int* entries,
    i64* bases, i64 tiles, i64 n) {
  const i64 share = (tiles + blockDim.x - 1) / blockDim.x;
  const i64 first = min(i64(threadIdx.x) * share, tiles), last = min(first + share, tiles);
  bool unsteady = false;
  for (i64 t = first; t < last; ++t) {
    const int before = t ? steady[t - 1] : pieces.begin();
    unsteady = unsteady || before < 0;
    entries[t] = ALONE ? 0 : before;
  }
  if (__syncthreads_or(unsteady)) {
    if (threadIdx.x == 0)
      for (i64 t = 1; t < tiles; ++t) entries[t] = exits[(t - 1) * ENTRIES + entries[t - 1]];
    __syncthreads();
  }
  i64 mine = 0, all;
  for (i64 t = first; t < last; ++t) mine += counts[t * ENTRIES + entries[t]];
  i64 base = sum_before(mine, all);
  for (i64 t = first; t < last; ++t) {
    bases[t] = base;
    base += counts[t * ENTRIES + entries[t]];
  }
  if (threadIdx.x != 0 || all >= n) return;
  const Number number(pieces.state);
  i64 p = tiles * TILE;
  if (tiles == 0) p = pieces.begin();
  else if (!ALONE) p += exits[(tiles - 1) * ENTRIES + entries[tiles - 1]];
  while (all < n) {
    Value value;
    const Attempt its = attempt(number, pieces, p, pieces.at(p), value);
    if (its.made) out[all++] = value;
    p += its.length;
  }
  *taken = p - pieces.begin();
}

// The numbers of a tile.
__device__ __forceinline__ void write_tile(
    Value* out, i64* taken, const Pieces& pieces, const int* entries, const i64* bases, i64 n) {
  __shared__ Shared<true> shared;
  const i64 tile = blockIdx.x, base = bases[tile];
  if (base >= n) return;
  const Number number(pieces.state);
  classify(shared, number, pieces, tile);
  const int begin = ALONE ? (tile == 0 ? pieces.begin() : 0) : entries[tile];
  if (threadIdx.x < 32) {
    const int lane = threadIdx.x;
    for (int k = lane; k < MASKS; k += 32) {
      // Before there is a number: every attempt that is quick, and of the others those that make one.
      const int gone = begin - k * 32;
      shared.before[k] = int((ALONE ? ~shared.masks[k] : ~0u) & (gone <= 0 ? ~0u : gone >= 32 ? 0u : ~0u << gone));
    }
    __syncwarp();
    if (!ALONE)
      follow(shared, begin, [&](int at, int until, int made) {
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
  }
  __syncthreads();
  for (int at = threadIdx.x; at < TILE; at += DRAW_THREADS) {
    const u32 mask = shared.masks[at / 32];
    if (!(mask >> at % 32 & 1)) continue;
    const i64 to = base + shared.before[at / 32] + __popc(mask & ((1u << at % 32) - 1));
    if (to < n) out[to] = shared.values[at];
    if (to == n - 1) {
      const i64 p = tile * TILE + at;
      Value again;
      *taken = p + attempt(number, pieces, p, pieces.at(p), again).length - pieces.begin();
    }
  }
}
