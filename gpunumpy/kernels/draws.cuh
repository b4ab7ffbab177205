// Numbers of which the random words themselves decide how many words these take.
//
// A piece is a word of BITS bits, PER of them in each word of 64 bits. An attempt begins at a piece, takes that one and
// perhaps more, and makes a number or none. Nearly every piece is an attempt of its own that makes a number (it is
// "quick"); where each attempt begins depends on all attempts before it only through the few that are not. So a warp
// works up a row of pieces as if an attempt began at each of them, and keeps the numbers of the quick ones in registers.
// Then it follows the attempts that are not quick: a thread those that reach into one another, which are hardly ever
// more than two; those at the start of the row when it is known where the first attempt begins, which the row before
// says as soon as it knows where its last one ends. The rows of a block are a tile. How many numbers the tiles before
// make is found by looking back at what they say.

const int PER = 64 / BITS, WARPS = DRAW_THREADS / 32, MASKS = STEPS * PER, ROW = 32 * MASKS, TILE = WARPS * ROW;
const int MOST = 32;  // no attempt takes more pieces
const u64 KNOWN = u64(1) << 63, SUM = u64(1) << 62;  // a tile's own numbers; its own and all before
static_assert(MASKS <= 32 && ROW >= MOST, "a mask for each thread of a warp, at most");

// The pieces of a stream from a state on. Those of a first word, before all others, may be left of an earlier one.
struct Pieces {
  const u64* state;
  const Wide *starts, *leaps;
  i64 chunks, lead;
  __device__ Pieces(const u64* state, const Wide* starts, const Wide* leaps, i64 chunks)
      : state(state), starts(starts), leaps(leaps), chunks(chunks), lead(leads(state)) {}
  __device__ static bool leads(const u64* state) { return PER > 1 && state[7]; }
  // Where the first piece is that nobody has had.
  __device__ int begin() const { return lead ? PER / 2 : 0; }
  __device__ u64 word(i64 w, u64 its) const { return w < lead ? state[8] << 32 : its; }
  __device__ static Piece cut(u64 word, int at) { return Piece(word >> (at * BITS & 63)); }
};

// Pieces from one on, as an attempt takes them.
struct More {
  Words words;
  u64 word;
  int at, taken;
  __device__ More(const Pieces& pieces, i64 p)
      : words(pieces, p / PER), word(pieces.word(p / PER, words.word())), at(int(p % PER)), taken(0) {}
  __device__ Piece take() {
    if (at == PER) {
      words.step();
      word = words.word();
      at = 0;
    }
    ++taken;
    return Pieces::cut(word, at++);
  }
};

// What becomes of a piece at which an attempt begins: how many pieces it takes, and whether there is a number.
struct Attempt {
  int length;
  bool made;
};

__device__ __noinline__ Attempt attempt(const Number& number, const Pieces& pieces, i64 p, Value& value) {
  More more(pieces, p);
  const Piece piece = more.take();
  const bool made = number.begin(piece, value) || (!ALONE && number.go_on(piece, more, value));
  return {more.taken, made};
}

// What there is of a row. Its masks have a bit for a thread: of its pieces number k at step s, mask s * PER + k.
struct Row {
  u32 made[32];    // of the pieces at which a number is made
  int before[32];  // how many numbers are made before those of a mask
  u16 slow[ALONE ? 1 : SLOTS];      // the pieces that are not quick, in order,
  u8 codes[ALONE ? 1 : SLOTS];      // and what comes of each: the length of the attempt, and 128 if there is a number
  Value values[ALONE ? 1 : SLOTS];  // and which
  int many;                         // of those pieces
  int exit;                         // where the last attempt ends, in the next row
  int count;                        // how many numbers are made
  __device__ static int mask_of(int at) { return at / PER / 32 * PER + at % PER; }
  __device__ static u32 bit_of(int at) { return 1u << (at / PER & 31); }
  __device__ bool makes(int at) const { return made[mask_of(at)] & bit_of(at); }
  __device__ void takes(int at) { atomicAnd(&made[mask_of(at)], ~bit_of(at)); }
  __device__ int length(int k) const { return codes[k] & 127; }
  // How many numbers are made before that of a piece.
  __device__ int rank(int at) const {
    const int first = at / PER / 32 * PER, own = at % PER;
    const u32 bit = bit_of(at);
    int rank = before[first];
    for (int k = 0; k < PER; ++k) rank += __popc(made[first + k] & (bit - 1 | (k < own ? bit : 0)));
    return rank;
  }
};

struct Shared {
  typename Number::Tables tables;
  Row rows[WARPS];
  u32 ticket;
  i64 base;
};

// List the pieces that are not quick, in order, and set all masks for now: a warp, each thread for a step or two. The
// result is how many these are.
__device__ __forceinline__ int list(Row& row) {
  const int lane = threadIdx.x % 32;
  u32 slow[PER], any = 0;
  int mine = 0;
#pragma unroll
  for (int k = 0; k < PER; ++k) {
    slow[k] = lane < STEPS ? ~row.made[lane * PER + k] : 0;
    mine += __popc(slow[k]);
    any |= slow[k];
  }
  int upto = mine;
  for (int step = 1; step < STEPS; step *= 2) {
    const int other = __shfl_up_sync(~0u, upto, step);
    if (lane >= step) upto += other;
  }
  const int many = __shfl_sync(~0u, upto, STEPS - 1);
  if (many > SLOTS) __trap();  // that many are as good as impossible
  for (int at = upto - mine; any; any &= any - 1) {
    const int thread = __ffs(int(any)) - 1;
#pragma unroll
    for (int k = 0; k < PER; ++k)
      if (slow[k] >> thread & 1) row.slow[at++] = u16((lane * 32 + thread) * PER + k);
  }
  row.made[lane] = ~0u;
  if (lane == 0) {
    row.many = many;
    row.exit = 0;
  }
  __syncwarp();
  return many;
}

// Work a row up as if an attempt began at each of its pieces.
__device__ __forceinline__ void classify(
    Row& row, const Number& number, const typename Number::Tables& tables, const Pieces& pieces, i64 first,
    typename Number::Kept (&kept)[MASKS]) {
  const int lane = threadIdx.x % 32;
  Words words(pieces, first + lane);
#pragma unroll
  for (int step = 0; step < STEPS; ++step) {
    if (step) words.leap();
    const u64 word = step ? words.word() : pieces.word(first + lane, words.word());
#pragma unroll
    for (int k = 0; k < PER; ++k) {
      const u32 quick = __ballot_sync(~0u, number.quick(tables, Pieces::cut(word, k), kept[step * PER + k]));
      if (lane == 0) row.made[step * PER + k] = quick;
    }
  }
  __syncwarp();
  if (ALONE) return;
  const int many = list(row);
  for (int k = lane; k < many; k += 32) {
    Value value;
    const Attempt its = attempt(number, pieces, first * PER + row.slow[k], value);
    row.codes[k] = u8(its.length | its.made << 7);
    row.values[k] = value;
  }
  __syncwarp();
}

// Follow attempts from one that is not quick on, as long as one is within the `reach` of another, the first one
// beginning at `until` or later; the result is where the last of them ends.
__device__ __forceinline__ int follow(Row& row, int k, int until, int reach) {
  for (; k < row.many && row.slow[k] < reach; ++k) {
    const int at = row.slow[k], end = at + row.length(k);
    if (at >= until) {
      until = end;
      for (int p = at + (row.codes[k] >> 7); p < min(end, ROW); ++p) row.takes(p);
    }
    reach = max(reach, end);
  }
  return until;
}

// Whether no attempt that is not quick reaches the piece of such a one.
__device__ __forceinline__ bool is_free(const Row& row, int k) {
  const int at = row.slow[k];
  for (--k; k >= 0 && row.slow[k] > at - MOST; --k)
    if (row.slow[k] + row.length(k) > at) return false;
  return true;
}

// Follow all attempts but those at the start of the row: a warp.
__device__ __forceinline__ void follow_all(Row& row) {
  for (int k = threadIdx.x % 32; k < row.many; k += 32) {
    const int at = row.slow[k];
    if (at < MOST || !is_free(row, k)) continue;
    const int until = follow(row, k, at, at + 1);
    if (until > ROW) row.exit = until - ROW;
  }
  __syncwarp();
}

// Whether what is not known before the row before ends inside of the row.
__device__ __forceinline__ bool is_certain(const Row& row) {
  int reach = MOST;
  for (int k = 0; k < row.many && row.slow[k] < reach; ++k) reach = max(reach, row.slow[k] + row.length(k));
  return reach <= ROW;
}

// Follow the attempts at the start of a row, the first of which begins at `entry`; the result is where the next row's
// first one begins.
__device__ __forceinline__ int follow_first(Row& row, int entry) {
  for (int at = 0; at < entry; ++at) row.takes(at);
  if (ALONE) return 0;
  const int until = follow(row, 0, entry, MOST);
  return until > ROW ? until - ROW : row.exit;
}

// Wait for a word that another block writes.
__device__ __forceinline__ u64 known(const volatile u64* word) {
  u64 its = *word;
  while (!(its & KNOWN)) its = *word;
  return its;
}

// Follow the attempts at the start of all rows.
__device__ __forceinline__ void follow_starts(Shared& shared, volatile u64* exits, i64 tile, int begin) {
  const int warp = threadIdx.x / 32;
  if (ALONE) {
    if (tile == 0 && threadIdx.x == 0) follow_first(shared.rows[0], begin);
    __syncwarp();
    return;
  }
  const bool leader = threadIdx.x % 32 == 0, certain = !leader || is_certain(shared.rows[warp]);
  if (leader && certain && warp == WARPS - 1) exits[tile] = KNOWN | u64(shared.rows[warp].exit);
  // In a row that is certain, what the row before says is what it said already.
  if (__syncthreads_and(certain)) {
    if (leader) {
      const int entry = warp ? shared.rows[warp - 1].exit : tile ? int(known(exits + tile - 1) & (MOST - 1)) : begin;
      follow_first(shared.rows[warp], entry);
    }
    __syncwarp();
    return;
  }
  if (threadIdx.x == 0) {
    int entry = tile ? int(known(exits + tile - 1) & (MOST - 1)) : begin;
    for (int k = 0; k < WARPS; ++k) entry = follow_first(shared.rows[k], entry);
    exits[tile] = KNOWN | u64(shared.rows[WARPS - 1].exit = entry);
  }
  __syncthreads();
}

// Count the numbers that are made before those of each mask: a warp.
__device__ __forceinline__ void count(Row& row) {
  const int lane = threadIdx.x % 32, mine = lane < MASKS ? __popc(row.made[lane]) : 0;
  int upto = mine;
  for (int step = 1; step < MASKS; step *= 2) {
    const int other = __shfl_up_sync(~0u, upto, step);
    if (lane >= step) upto += other;
  }
  row.before[lane] = upto - mine;
  if (lane == MASKS - 1) row.count = upto;
}

// How many numbers the tiles before one make; `mine` is how many it makes itself: a warp. Many tiles are looked at
// together, as what is known spreads no faster than that.
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

// Write the numbers of a row, of which no more than `limit` are asked for.
__device__ __forceinline__ void write(
    Value* out, const Row& row, const Number& number, const typename Number::Kept (&kept)[MASKS], int limit) {
  const int lane = threadIdx.x % 32;
  const u32 below = (1u << lane) - 1;
#pragma unroll
  for (int step = 0; step < STEPS; ++step) {
    int rank = row.before[step * PER];
#pragma unroll
    for (int k = 0; k < PER; ++k) rank += __popc(row.made[step * PER + k] & below);
#pragma unroll
    for (int k = 0; k < PER; ++k) {
      const bool made = row.made[step * PER + k] >> lane & 1;
      if (made && rank < limit) out[rank] = number.value(kept[step * PER + k]);
      rank += made;
    }
  }
  if (ALONE) return;
  __syncwarp();  // what was written for pieces that are not quick is now written right
  for (int k = lane; k < row.many; k += 32) {
    const int at = row.slow[k];
    if (!row.makes(at)) continue;
    const int rank = row.rank(at);
    if (rank < limit) out[rank] = row.values[k];
  }
}

// The piece of which number `rank` of a row is made, if it is one of this thread's; else -1.
__device__ __forceinline__ int piece_of(const Row& row, int rank) {
  int found = -1;
  for (int at = threadIdx.x % 32; at < ROW; at += 32)
    if (row.makes(at) && row.rank(at) == rank) found = at;
  return found;
}

// Leave the state in which piece `p` is the next one, but for pieces of a half that is begun.
__device__ __noinline__ void finish(u64* after, const Pieces& pieces, i64 p) {
  const i64 half = PER > 1 ? (p + PER / 2 - 1) / (PER / 2) : 2 * p, w = (half + 1) / 2;
  leave(after, pieces, w);
  after[7] = PER > 1 ? u64(half & 1) : pieces.state[7];
  after[8] = PER > 1 ? pieces.word(w - 1, Words(pieces, w - 1).word()) >> 32 : pieces.state[8];
}

// Draw what is lacking after piece `p`, from number `made` on: one thread.
__device__ __noinline__ void draw_rest(
    Value* out, u64* after, const Number& number, const Pieces& pieces, i64 p, i64 made, i64 n) {
  while (made < n) {
    Value value;
    const Attempt its = attempt(number, pieces, p, value);
    if (its.made) out[made++] = value;
    p += its.length;
  }
  finish(after, pieces, p);
}

// Draw what is in a tile.
__device__ __forceinline__ void draw_tile(
    Value* out, u64* after, const Pieces& pieces, const u64* bounds, u64* exits, u64* sums, u32* tickets, i64 tiles,
    i64 n) {
  __shared__ Shared shared;
  // Tiles are handed out in order, so that all tiles that one waits for are on their way.
  if (threadIdx.x == 0) shared.ticket = atomicAdd(tickets, 1u);
  shared.tables.fill();
  __syncthreads();
  const i64 tile = shared.ticket;
  const int warp = threadIdx.x / 32;
  const Number number(bounds);
  const i64 first = (tile * WARPS + warp) * (ROW / PER);  // the row's first word
  Row& row = shared.rows[warp];
  typename Number::Kept kept[MASKS];
  classify(row, number, shared.tables, pieces, first, kept);
  if (!ALONE) follow_all(row);
  follow_starts(shared, exits, tile, pieces.begin());
  count(row);
  __syncthreads();
  if (warp == 0) {
    int all = 0;
    for (int k = 0; k < WARPS; ++k) all += shared.rows[k].count;
    const i64 base = count_before(sums, tile, all);
    if (threadIdx.x == 0) {
      shared.base = base;
      if (tile == tiles - 1 && base + all < n)
        draw_rest(out, after, number, pieces, tiles * TILE + (ALONE ? 0 : shared.rows[WARPS - 1].exit), base + all, n);
    }
  }
  __syncthreads();
  i64 base = shared.base;
  for (int k = 0; k < warp; ++k) base += shared.rows[k].count;
  if (base >= n) return;
  const int limit = int(min(n - base, i64(ROW)));
  write(out + base, row, number, kept, limit);
  if (base + row.count < n) return;
  const int last = piece_of(row, limit - 1);
  if (last < 0) return;
  Value again;
  finish(after, pieces, first * PER + last + attempt(number, pieces, first * PER + last, again).length);
}
