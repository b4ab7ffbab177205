// Integers and ziggurat numbers: nearly every piece of the stream makes a number, and a few attempts take more pieces.
//
// A piece has BITS bits; a word of 64 bits has WORD_PIECES pieces. An attempt begins at a piece, consumes it and maybe
// more, and makes a number or none. An attempt is quick if it makes a number of one piece, as nearly all do; where an
// attempt begins depends on those before it only through the few slow ones. So a thread tests THREAD_PIECES pieces as
// if an attempt began at each (`test_quick`), and holds the numbers in shared memory. Then each warp follows the slow
// attempts of its row: one thread for each chain of slow attempts that overlap, hardly ever more than two. Only the
// start of a row depends on where the previous row ends, and nearly every row knows its own end without that. A block
// classifies a tile of rows. While it classifies the next tile, one more warp publishes the tile's count of numbers and
// looks back for the count before the tile (decoupled look-back, D. Merrill and M. Garland, 2016). Then the numbers are
// written.
//
// A `Number` has `begin`: whether a piece makes a number by itself, and which. Where it does not, `go_on` consumes more
// pieces. `quick` is `begin` with the tables in shared memory: the highest bit of its result says whether there is a
// number, in the form `Held`, of which `value` makes the number itself.

const int WARPS = THREADS / 32 - 1;  // without the warp that places the rows
// Pieces per word, per row (of one warp), per tile, and per iteration of `test_quick`.
const int WORD_PIECES = 64 / BITS, ROW_PIECES = 32 * THREAD_PIECES, TILE_PIECES = WARPS * ROW_PIECES;
const int TURN_PIECES = THREAD_PIECES < 8 * WORD_PIECES ? THREAD_PIECES : 8 * WORD_PIECES;
const int MAX_LENGTH = 32;  // the most pieces of an attempt
static_assert(THREAD_PIECES <= 32 && 32 % THREAD_PIECES == 0, "the pieces of a thread are bits of a word");
static_assert(THREAD_PIECES % WORD_PIECES == 0, "the pieces of a thread are whole words");
// Flags of a published count of numbers: that it is there, and that it includes all tiles before.
const u64 KNOWN = u64(1) << 63, SUM = u64(1) << 62;

// The pieces of a stream from a state on. If half a word is left over, `lead` is 1: word 0 has that half alone, and the
// stream's own words follow.
struct Pieces {
  const u64* state;
  const Wide* starts;
  i64 chunks, lead;
  __device__ Pieces(const u64* state, const Wide* starts, i64 chunks)
      : state(state), starts(starts), chunks(chunks), lead(leads(state)) {}
  __device__ static bool leads(const u64* state) { return WORD_PIECES > 1 && state[7]; }
  // The first piece that is not consumed.
  __device__ int begin() const { return lead ? WORD_PIECES / 2 : 0; }
  __device__ u64 word(i64 w, u64 its) const { return w < lead ? state[8] << 32 : its; }
  __device__ static Piece cut(u64 word, int at) { return Piece(word >> (at * BITS & 63)); }
};

// The pieces from piece p on, in order, as an attempt consumes them.
struct PieceReader {
  Words words;
  u64 word;
  int at, taken;
  __device__ PieceReader(const Pieces& pieces, i64 p)
      : words(pieces, p / WORD_PIECES), word(pieces.word(p / WORD_PIECES, words.word())), at(int(p % WORD_PIECES)),
        taken(0) {}
  __device__ Piece take() {
    if (at == WORD_PIECES) {
      words.step();
      word = words.word();
      at = 0;
    }
    ++taken;
    return Pieces::cut(word, at++);
  }
};

// The result of an attempt: how many pieces it consumes, and whether it makes a number.
struct Attempt {
  int length;
  bool made;
};

// Make the attempt at piece p: inline, where few attempts are made.
__device__ __forceinline__ Attempt attempted(const Number& number, const Pieces& pieces, i64 p, Value& value) {
  PieceReader reader(pieces, p);
  const Piece piece = reader.take();
  const bool made = number.begin(piece, value) || number.go_on(piece, reader, value);
  return {reader.taken, made};
}
// The same as a call. It takes copies, so that the caller's objects can stay in registers.
__device__ __noinline__ Attempt attempt(Number number, Pieces pieces, i64 p, Value& value) {
  return attempted(number, pieces, p, value);
}

// The slow attempts of a row.
struct Listed {
  u16 slow[SLOTS];  // their pieces, in order
  u8 codes[SLOTS];  // the length of each, plus 128 if it makes a number
};
// The numbers of 32 pieces.
struct alignas(8) Mask {
  u32 made;    // a bit for each piece that makes a number
  int before;  // the count of numbers of the row before these pieces
};
// A row of pieces and its numbers, until they are written.
struct Row {
  Mask masks[THREAD_PIECES];
  Listed list;
  int slow_count;  // slow pieces
  int count;       // numbers, if the first attempt begins at the first piece and the attempts at the start are quick
  int exit;        // where the last attempt ends, in pieces of the next row
  Held held[32 * (THREAD_PIECES + 1)];
  // Clear the numbers of the pieces from `from` to `until`, at most 32; return how many there were.
  __device__ __forceinline__ int drop_numbers(int from, int until) {
    const u64 bits = ((u64(1) << (until - from)) - 1) << (from & 31);
    int lost = 0;
    if (u32(bits)) lost += __popc(atomicAnd(&masks[from / 32].made, ~u32(bits)) & u32(bits));
    if (bits >> 32) lost += __popc(atomicAnd(&masks[from / 32 + 1].made, ~u32(bits >> 32)) & u32(bits >> 32));
    return lost;
  }
  // The piece after the slow attempt k.
  __device__ int end(int k) const { return list.slow[k] + (list.codes[k] & 127); }
  // The first piece of the slow attempt k that makes no number: its number, if any, counts for its first piece.
  __device__ int idle(int k) const { return list.slow[k] + (list.codes[k] >> 7); }
  // The index in `held` of a piece's number. Between threads, which write at the same time, an element is left out
  // against bank conflicts.
  __device__ static int place(int at) { return at / THREAD_PIECES * (THREAD_PIECES + 1) + at % THREAD_PIECES; }
};
// The shared memory of a block. Index 0 or 1 (`turn`): one tile is classified while the other is placed and written.
struct Block {
  typename Number::Tables tables;
  Row rows[2][WARPS];
  i64 bases[2];          // the count of numbers before the tile
  int before[2][WARPS];  // the count of numbers of the tile before a row
  int ends[2];           // where the last attempt ends, in pieces of the next tile
  u32 tickets[2];        // the tile's number
};
static_assert(sizeof(Block) <= SHARED, "the launch has to ask for the size of Block: cuda_draws._shared_bytes");

// Return the sum of `mine` over the lanes before this one; `all` becomes the sum over the warp.
__device__ __forceinline__ int sum_before(int mine, int& all) {
  int upto = mine;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(~0u, upto, step);
    if (threadIdx.x % 32 >= step) upto += other;
  }
  all = __shfl_sync(~0u, upto, 31);
  return upto - mine;
}

// Test a thread's pieces as if an attempt began at each, and hold their numbers; the result has a bit per quick piece.
__device__ __forceinline__ u32 test_quick(
    const Number& number, const typename Number::Tables::Own& tables, const Pieces& pieces, i64 first, Held* held) {
  Words words(pieces, first);
  u32 quick = 0;
#pragma unroll 1
  for (int part = 0; part < THREAD_PIECES; part += TURN_PIECES) {
#pragma unroll
    for (int step = 0; step < TURN_PIECES / WORD_PIECES; ++step) {
      const u64 word = words.word();
      words.step();
#pragma unroll
      for (int k = 0; k < WORD_PIECES; ++k) {
        const u32 its = number.quick(tables, Pieces::cut(word, k), held[part + step * WORD_PIECES + k]);
        quick = __funnelshift_l(its, quick, 1);
      }
    }
  }
  quick = __brev(quick) >> (32 - THREAD_PIECES);
  if (WORD_PIECES > 1 && first < pieces.lead) {  // word 0, of which half is left over: test its pieces again
    for (int k = 0; k < WORD_PIECES; ++k) {
      const u32 its = number.quick(tables, Pieces::cut(pieces.word(first, 0), k), held[k]) >> 31;
      quick = quick & ~(1u << k) | its << k;
    }
  }
  return quick;
}

// List the slow pieces in order, and make the attempt at each: a warp.
__device__ __forceinline__ void list(Row& row, const Number& number, const Pieces& pieces, i64 first, u32 slow) {
  const int lane = threadIdx.x % 32;
  int all, at = sum_before(__popc(slow), all);
  if (all > SLOTS) __trap();  // next to impossible
  for (; slow; slow &= slow - 1) row.list.slow[at++] = u16(lane * THREAD_PIECES + __ffs(int(slow)) - 1);
  row.slow_count = all;
  __syncwarp();
  for (int k = lane; k < all; k += 32) {
    const int at = row.list.slow[k];
    Value value;
    const Attempt made = attempted(number, pieces, first + at, value);
    row.list.codes[k] = u8(made.length | made.made << 7);
    row.held[Row::place(at)] = Held(value);
  }
  __syncwarp();
}

// Follow the slow attempts from attempt k on while each begins before the end of one before it (`reach`). Those that
// begin at `until` or later, where the last one ended, take place: the numbers of the pieces that they consume are
// cleared and counted in `lost`. Return where the last one ends.
__device__ __forceinline__ int follow(Row& row, int k, int until, int& reach, int& lost) {
  for (; k < row.slow_count && row.list.slow[k] < reach; ++k) {
    const int end = row.end(k);
    if (row.list.slow[k] >= until) {
      until = end;
      lost += row.drop_numbers(row.idle(k), min(end, ROW_PIECES));
    }
    reach = max(reach, end);
  }
  return until;
}

// Whether the slow attempt k begins a chain: no slow attempt before it reaches its piece.
__device__ __forceinline__ bool is_free(const Row& row, int k) {
  const int at = row.list.slow[k];
  for (--k; k >= 0 && row.list.slow[k] > at - MAX_LENGTH; --k)
    if (row.end(k) > at) return false;
  return true;
}

// Follow all chains of slow attempts except those at the start of the row: a warp.
__device__ __forceinline__ void follow_all(Row& row) {
  for (int k = threadIdx.x % 32; k < row.slow_count; k += 32) {
    const int at = row.list.slow[k];
    if (at < MAX_LENGTH || !is_free(row, k)) continue;
    int reach = at + 1, lost = 0;
    const int until = follow(row, k, at, reach, lost);
    if (until > ROW_PIECES) row.exit = until - ROW_PIECES;
  }
  __syncwarp();
}

// Classify the pieces of a row as if its first attempt began at its first piece: a warp.
__device__ __forceinline__ void classify(
    Row& row, const typename Number::Tables& tables, const Number& number, const Pieces& pieces, i64 first) {
  const int lane = threadIdx.x % 32;
  const int at = lane * THREAD_PIECES;
  const u32 quick = test_quick(number, tables.own(), pieces, (first + at) / WORD_PIECES, row.held + Row::place(at));
  u32 mask = SINGLE_PIECES ? quick : ~0u >> (32 - THREAD_PIECES);
#pragma unroll
  for (int step = 1; step < 32 / THREAD_PIECES; step *= 2)
    mask |= __shfl_down_sync(~0u, mask, step) << THREAD_PIECES * step % 32;
  if (lane % (32 / THREAD_PIECES) == 0) row.masks[at / 32].made = mask;
  row.exit = row.slow_count = 0;
  __syncwarp();
  if (!SINGLE_PIECES) {
    list(row, number, pieces, first, ~quick & ~0u >> (32 - THREAD_PIECES));
    follow_all(row);
  }
  int all;
  sum_before(lane < THREAD_PIECES ? __popc(row.masks[lane].made) : 0, all);
  row.count = all;
}

// Whether the end of a row is known without its entry: the slow attempts at its start do not reach the next row.
__device__ __forceinline__ bool is_certain(const Row& row) {
  int reach = MAX_LENGTH;
  for (int k = 0; k < row.slow_count && row.list.slow[k] < reach; ++k) reach = max(reach, row.end(k));
  return reach <= ROW_PIECES;
}

// Follow the attempts at the start of a row, the first of which begins at `entry`. Return how many numbers are cleared;
// `exit` becomes where the last attempt ends in the next row, if it is one of these.
__device__ __forceinline__ int follow_first(Row& row, int entry, int& exit) {
  int lost = row.drop_numbers(0, entry), reach = MAX_LENGTH;
  const int until = follow(row, 0, entry, reach, lost);
  if (until > ROW_PIECES) exit = until - ROW_PIECES;
  return lost;
}

// Publish the count of numbers of a tile, `mine`, and return that of all tiles before it: a warp. It looks back over
// many tiles at once, since sums spread no faster than that.
__device__ __forceinline__ i64 count_before(volatile u64* sums, i64 tile, int mine) {
  const int lane = threadIdx.x % 32, GROUPS = 4;
  if (lane == 0) sums[tile] = KNOWN | (tile ? 0 : SUM) | u64(mine);
  i64 base = 0;
  bool found = false;
  for (i64 from = tile - 1 - lane; !found; from -= 32 * GROUPS) {
    u64 words[GROUPS];
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) words[k] = from < 32 * k ? KNOWN | SUM : sums[from - 32 * k];
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
      if (found) continue;
      while (!(words[k] & KNOWN)) words[k] = sums[from - 32 * k];
      const u32 ends = __ballot_sync(~0u, (words[k] & SUM) != 0);
      if (!ends || lane < __ffs(int(ends))) base += i64(words[k] & (SUM - 1));
      found = ends != 0;
    }
  }
  for (int step = 16; step; step /= 2) base += __shfl_xor_sync(~0u, base, step);
  if (lane == 0 && tile) sums[tile] = KNOWN | SUM | u64(base + mine);
  return base;
}

// Find the entry of each row of a tile, where its first attempt begins, and the count of numbers before it: a warp.
__device__ __forceinline__ void place_rows(
    Block& block, int turn, i64 tile, int begin, volatile u32* exits, volatile u64* sums) {
  const int lane = threadIdx.x % 32;
  const bool mine = lane < WARPS;
  Row& row = block.rows[turn][mine ? lane : 0];
  int entry = -1, exit = SINGLE_PIECES || !mine ? 0 : is_certain(row) ? row.exit : -1, lost = 0;
  bool is_published = SINGLE_PIECES;
  const auto publish = [&] {
    if (lane != WARPS - 1 || exit < 0 || is_published) return;
    exits[tile] = u32(exit) + 1;
    is_published = true;
  };
  publish();
  int first = tile ? 0 : begin;
  if (!SINGLE_PIECES && lane == 0 && tile) {
    u32 known;
    while (!(known = exits[tile - 1])) {
    }
    first = int(known) - 1;
  }
  do {
    int from = __shfl_up_sync(~0u, exit, 1);
    if (lane == 0) from = first;
    if (mine && entry < 0 && from >= 0) {
      entry = from;
      int last = row.exit;
      lost = follow_first(row, entry, last);
      exit = last;
      publish();
    }
  } while (__any_sync(~0u, mine && entry < 0));
  const int count = mine ? row.count - lost : 0;
  int all;
  const int before = sum_before(count, all);
  if (mine) block.before[turn][lane] = before;
  if (lane == WARPS - 1) block.ends[turn] = exit;
  const i64 base = count_before(sums, tile, all);
  if (lane == 0) block.bases[turn] = base;
}

// Write the state after piece p - 1. Of a half of a word that is begun, the rest is dropped, as in NumPy.
__device__ __noinline__ void finish(u64* after, Pieces pieces, i64 p) {
  const i64 half = WORD_PIECES > 1 ? (p + WORD_PIECES / 2 - 1) / (WORD_PIECES / 2) : 2 * p, w = (half + 1) / 2;
  leave(after, pieces, w);
  after[7] = WORD_PIECES > 1 ? u64(half & 1) : pieces.state[7];
  after[8] = WORD_PIECES > 1 ? pieces.word(w - 1, Words(pieces, w - 1).word()) >> 32 : pieces.state[8];
}

// Draw the missing numbers, from number `made` on, of the pieces from p on: one thread.
__device__ __noinline__ void draw_rest(
    Value* out, u64* after, Number number, Pieces pieces, i64 p, i64 made, i64 n) {
  while (made < n) {
    Value value;
    const Attempt its = attempt(number, pieces, p, value);
    if (its.made) out[made++] = value;
    p += its.length;
  }
  finish(after, pieces, p);
}

// Write the numbers of a row, at most `limit` of them: a warp.
template <bool ALL>
__device__ __forceinline__ void write_row(Value* out, const Row& row, const Number& number, int limit) {
  const int lane = threadIdx.x % 32, STEP_PIECES = THREAD_PIECES < 8 ? THREAD_PIECES : 8;
  const u32 own = 1u << lane, below = own - 1;
  const volatile Held* from = row.held + Row::place(lane);  // volatile: the loads of a step are issued together
#pragma unroll 1
  for (int first = 0; first < THREAD_PIECES; first += STEP_PIECES) {
    Held held[STEP_PIECES];
    Mask masks[STEP_PIECES];
#pragma unroll
    for (int k = 0; k < STEP_PIECES; ++k) {
      held[k] = from[k * Row::place(32)];
      masks[k] = row.masks[first + k];
    }
#pragma unroll
    for (int k = 0; k < STEP_PIECES; ++k) {
      const int rank = masks[k].before + __popc(masks[k].made & below);
      if (masks[k].made & own && (ALL || rank < limit)) out[rank] = number.value(held[k]);
    }
    from += STEP_PIECES * Row::place(32);
  }
}

// Find the attempt that makes number `rank` of a row, and write the state after it: a warp.
__device__ __noinline__ void finish_row(
    u64* after, Number number, Pieces pieces, const Row& row, i64 first, int rank) {
  const u32 lane = threadIdx.x % 32;
  for (int k = 0; k < THREAD_PIECES; ++k) {
    const u32 made = row.masks[k].made;
    if (!(made >> lane & 1) || row.masks[k].before + __popc(made & ((1u << lane) - 1)) != rank) continue;
    Value value;
    const i64 last = first + k * 32 + lane;
    finish(after, pieces, last + attempt(number, pieces, last, value).length);
  }
}

// Write the numbers of a tile: all warps but the last one.
__device__ __forceinline__ void write_tile(
    Block& block, int turn, Value* out, u64* after, const Pieces& pieces, const Number& number, i64 tile, i64 tiles,
    i64 n) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  Row& row = block.rows[turn][warp];
  int made;
  const int before = sum_before(lane < THREAD_PIECES ? __popc(row.masks[lane].made) : 0, made);
  if (lane < THREAD_PIECES) row.masks[lane].before = before;
  __syncwarp();
  const i64 base = block.bases[turn] + block.before[turn][warp], left = n - base;
  Value* const to = reinterpret_cast<Value*>(__shfl_sync(~0u, reinterpret_cast<u64>(out + base), 0));
  if (left >= made) {
    write_row<true>(to, row, number, made);
  } else if (left > 0) {
    write_row<false>(to, row, number, int(left));
  }
  if (left > 0 && left <= made)
    finish_row(after, number, pieces, row, tile * TILE_PIECES + warp * ROW_PIECES, int(left) - 1);
  if (tile == tiles - 1 && left > made && warp == WARPS - 1 && lane == 0)
    draw_rest(out, after, number, pieces, tiles * TILE_PIECES + block.ends[turn], base + made, n);
}

// Draw all numbers. Blocks take tiles in order, so that every tile that a block waits for is in progress. While a block
// classifies a tile, its last warp takes the next ticket and places the rows of the previous tile, so that the other
// warps do not wait for that.
__device__ __forceinline__ void draw(
    Value* out, u64* after, const Pieces& pieces, const Number& number, i64 tiles, i64 n, u32* exits, u64* sums,
    u32* tickets, void* memory) {
  Block& block = *reinterpret_cast<Block*>(memory);
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) block.tickets[0] = atomicAdd(tickets, 1u);
  __syncthreads();
  if (block.tickets[0] < tiles) block.tables.fill();
  __syncthreads();
  i64 last = -1;
  for (int turn = 0;; turn ^= 1) {
    const i64 tile = block.tickets[turn];
    if (warp == WARPS) {
      const u32 next = threadIdx.x % 32 == 0 && tile < tiles ? atomicAdd(tickets, 1u) : 0;
      if (last >= 0) place_rows(block, turn ^ 1, last, pieces.begin(), exits, sums);
      if (threadIdx.x % 32 == 0) block.tickets[turn ^ 1] = next;
    } else if (tile < tiles) {
      classify(block.rows[turn][warp], block.tables, number, pieces, tile * TILE_PIECES + warp * ROW_PIECES);
    }
    __syncthreads();
    if (last >= 0 && warp < WARPS) write_tile(block, turn ^ 1, out, after, pieces, number, last, tiles, n);
    __syncwarp();  // the next tile but one overwrites the row
    if (tile >= tiles) return;
    last = tile;
  }
}
