// Numbers of which the random words themselves decide how many words these take.
//
// A piece is a word of BITS bits, PER of them in each word of 64 bits. An attempt begins at a piece, takes that one and
// perhaps more, and makes a number or none. Nearly every piece is an attempt of its own that makes a number (it is
// "quick"); where each attempt begins depends on all attempts before it only through the few that are not. So a warp
// works up a row of pieces as if an attempt began at each of them (`classify`). Then it follows the attempts that are
// not quick: a thread those that reach into one another, which are hardly ever more than two. For those at the start of
// the row, of which it is not known where the first one begins, it says what becomes of each case. Then it is counted
// how many numbers the rows before make (`settle`). Then the words are made once more, with the numbers (`write`):
// that takes less time than to keep them.

const int PER = 64 / BITS, WARPS = DRAW_THREADS / 32, MASKS = STEPS * PER, ROW = 32 * MASKS;
const int EACH = MASKS > 32 ? MASKS / 32 : 1;      // masks of a thread
const int STRETCH = STEPS > 32 ? STEPS / 32 : 1;  // steps of a thread
const int MOST = 32;                               // no attempt takes more pieces
const int SPAN = STEPS < 8 ? STEPS : 8;            // steps after which numbers are written
const int PACK = 16 / sizeof(Value);               // numbers that are written together
static_assert((STEPS <= 32 || STEPS % 32 == 0) && (MASKS <= 32 || MASKS % 32 == 0), "as many for each thread");
const u64 KNOWN = u64(1) << 63, SUM = u64(1) << 62;  // a tile's own numbers; its own and all before

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

__device__ __forceinline__ Attempt attempted(const Number& number, const Pieces& pieces, i64 p, Value& value) {
  More more(pieces, p);
  const Piece piece = more.take();
  const bool made = number.begin(piece, value) || (!ALONE && number.go_on(piece, more, value));
  return {more.taken, made};
}
__device__ __noinline__ Attempt attempt(const Number& number, const Pieces& pieces, i64 p, Value& value) {
  return attempted(number, pieces, p, value);
}

// What is kept of a row, besides its masks: a mask has a bit for each thread, of pieces number k at step s that with
// number s * PER + k.
struct Kept {
  int count;  // how many numbers are made, if the first attempt begins at the first piece and takes no other
  int many;   // how many pieces are not quick
  int exit;   // where the last attempt ends, in the next row; -1 if that is not known yet
};
struct Listed {
  u16 slow[ALONE ? 1 : SLOTS];      // the pieces that are not quick, in order,
  u8 codes[ALONE ? 1 : SLOTS];      // and what comes of each: the length of the attempt, and 128 if there is a number
  Value values[ALONE ? 1 : SLOTS];  // and which
};

struct Row {
  u32 made[MASKS];    // of the pieces at which a number is made
  int before[MASKS];  // how many numbers are made before those of a mask
  Listed list;
  int many, exit;
  __device__ static int mask_of(int at) { return at / PER / 32 * PER + at % PER; }
  __device__ static u32 bit_of(int at) { return 1u << (at / PER & 31); }
  __device__ bool makes(int at) const { return made[mask_of(at)] & bit_of(at); }
  __device__ void takes(int at) { atomicAnd(&made[mask_of(at)], ~bit_of(at)); }
  __device__ int end(int k) const { return list.slow[k] + (list.codes[k] & 127); }
  // Where the pieces begin of which an attempt makes no number.
  __device__ int idle(int k) const { return list.slow[k] + (list.codes[k] >> 7); }
  // How many numbers are made before that of a piece.
  __device__ int rank(int at) const {
    const int first = at / PER / 32 * PER, own = at % PER;
    const u32 bit = bit_of(at);
    int rank = before[first];
    for (int k = 0; k < PER; ++k) rank += __popc(made[first + k] & (bit - 1 | (k < own ? bit : 0)));
    return rank;
  }
};

// The sum of the threads' numbers before a thread of a warp, and of all.
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

// Count the numbers that are made before those of each mask; the result is how many are made: a warp.
__device__ __forceinline__ int count(Row& row) {
  const int first = threadIdx.x % 32 * EACH;
  int mine = 0, all;
#pragma unroll
  for (int k = 0; k < EACH; ++k) mine += first + k < MASKS ? __popc(row.made[first + k]) : 0;
  int before = sum_before(mine, all);
#pragma unroll
  for (int k = 0; k < EACH; ++k) {
    if (first + k >= MASKS) break;
    row.before[first + k] = before;
    before += __popc(row.made[first + k]);
  }
  __syncwarp();
  return all;
}

// List the pieces that are not quick, in order, and set all masks for now: a warp.
__device__ __forceinline__ void list(Row& row) {
  const int lane = threadIdx.x % 32;
  int mine = 0, all;
#pragma unroll
  for (int k = 0; k < STRETCH * PER; ++k)
    if (lane * STRETCH < STEPS) mine += __popc(~row.made[lane * STRETCH * PER + k]);
  int at = sum_before(mine, all);
  if (all > SLOTS) __trap();  // that many are as good as impossible
#pragma unroll
  for (int step = lane * STRETCH; step < (lane + 1) * STRETCH && step < STEPS; ++step) {
    u32 slow[PER], any = 0;
#pragma unroll
    for (int k = 0; k < PER; ++k) any |= slow[k] = ~row.made[step * PER + k];
    for (; any; any &= any - 1) {
      const int thread = __ffs(int(any)) - 1;
#pragma unroll
      for (int k = 0; k < PER; ++k)
        if (slow[k] >> thread & 1) row.list.slow[at++] = u16((step * 32 + thread) * PER + k);
    }
#pragma unroll
    for (int k = 0; k < PER; ++k) row.made[step * PER + k] = ~0u;
  }
  row.many = all;
  row.exit = 0;
  __syncwarp();
}

// Follow attempts from one that is not quick on, as long as one is within the `reach` of another, the first one
// beginning at `until` or later; the result is where the last of them ends. What they take is `lost`, or marked.
template <bool MARKS> __device__ __forceinline__ int follow(Row& row, int k, int until, int& reach, int& lost) {
  for (; k < row.many && row.list.slow[k] < reach; ++k) {
    const int end = row.end(k);
    if (row.list.slow[k] >= until) {
      until = end;
      lost += min(end, ROW) - row.idle(k);
      if (MARKS)
        for (int p = row.idle(k); p < min(end, ROW); ++p) row.takes(p);
    }
    reach = max(reach, end);
  }
  return until;
}

// Whether no attempt that is not quick reaches the piece of such a one.
__device__ __forceinline__ bool is_free(const Row& row, int k) {
  const int at = row.list.slow[k];
  for (--k; k >= 0 && row.list.slow[k] > at - MOST; --k)
    if (row.end(k) > at) return false;
  return true;
}

// Follow all attempts but those at the start of the row: a warp.
__device__ __forceinline__ void follow_all(Row& row) {
  for (int k = threadIdx.x % 32; k < row.many; k += 32) {
    const int at = row.list.slow[k];
    if (at < MOST || !is_free(row, k)) continue;
    int reach = at + 1, lost = 0;
    const int until = follow<true>(row, k, at, reach, lost);
    if (until > ROW) row.exit = until - ROW;
  }
  __syncwarp();
}

// What becomes of the attempts at the start of a row, the first of which begins at `entry`: where the last one ends in
// the next row, and how many numbers are lost. And whether what comes after them is certain.
template <bool MARKS> __device__ __forceinline__ int follow_first(Row& row, int entry, int& lost, bool& certain) {
  if (MARKS)
    for (int at = 0; at < entry; ++at) row.takes(at);
  lost = entry;
  int reach = MOST;
  const int until = follow<MARKS>(row, 0, entry, reach, lost);
  certain = reach <= ROW;
  return until > ROW ? until - ROW : row.exit;
}

// Work up a row as if an attempt began at each of its pieces: a warp.
__device__ __forceinline__ void classify(
    const Pieces& pieces, const Number& number, i64 r, i64 rows, u32* masks, Kept* kept, u32* cases, Listed* lists) {
  __shared__ typename Number::Insides insides;
  __shared__ Row shared[WARPS];
  insides.fill();
  __syncthreads();
  if (r >= rows) return;
  const int lane = threadIdx.x % 32;
  const i64 first = r * (ROW / PER);  // the row's first word
  Row& row = shared[threadIdx.x / 32];
  Words words(pieces, first + lane);
#pragma unroll 8
  for (int step = 0; step < STEPS; ++step) {
    const u64 word = PER > 1 && step == 0 ? pieces.word(first + lane, words.word()) : words.word();
    words.leap();
#pragma unroll
    for (int k = 0; k < PER; ++k) {
      const u32 quick = __ballot_sync(~0u, number.quick(insides, Pieces::cut(word, k)));
      if (lane == 0) row.made[step * PER + k] = quick;
    }
  }
  __syncwarp();
  Kept its{0, 0, 0};
  if (!ALONE) {
    list(row);
    for (int k = lane; k < row.many; k += 32) {
      Value value;
      const Attempt made = attempted(number, pieces, first * PER + row.list.slow[k], value);
      row.list.codes[k] = u8(made.length | made.made << 7);
      row.list.values[k] = value;
    }
    __syncwarp();
    follow_all(row);
    for (int k = lane; k < row.many; k += 32) {
      lists[r].slow[k] = row.list.slow[k];
      lists[r].codes[k] = row.list.codes[k];
      lists[r].values[k] = row.list.values[k];
    }
  }
  if (ALONE) {
    if (r == 0 && lane < pieces.begin()) row.takes(lane);
    __syncwarp();
  } else {
    int lost;
    bool certain;
    const int end = follow_first<false>(row, lane, lost, certain);
    cases[r * 32 + lane] = u32(lost | end << 16);
    its = {0, row.many, certain ? row.exit : -1};
  }
  its.count = count(row);
  if (lane == 0) kept[r] = its;
  for (int k = lane; k < MASKS; k += 32) masks[r * MASKS + k] = row.made[k];
}

// Where the first attempt of a row begins.
__device__ __forceinline__ int entry_of(i64 r, const Kept* kept, const u32* cases, int begin) {
  i64 from = r - 1;
  while (from >= 0 && kept[from].exit < 0) --from;
  int entry = from < 0 ? begin : kept[from].exit;
  for (++from; from < r; ++from) entry = int(cases[from * 32 + entry] >> 16);
  return entry;
}

// How many numbers the tiles before one make; `mine` is how many it makes itself: a warp. Many tiles are looked at
// together, as what is known spreads no faster than that.
__device__ __forceinline__ i64 count_before(volatile u64* sums, i64 tile, int mine) {
  const int lane = threadIdx.x, GROUPS = 4;
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
      while (!(words[k] & KNOWN)) words[k] = sums[look - 32 * k];
      const u32 ends = __ballot_sync(~0u, (words[k] & SUM) != 0);
      if (!ends || lane < __ffs(int(ends))) base += i64(words[k] & (SUM - 1));
      found = ends != 0;
    }
  }
  for (int step = 16; step; step /= 2) base += __shfl_xor_sync(~0u, base, step);
  if (lane == 0 && tile) sums[tile] = KNOWN | SUM | u64(base + mine);
  return base;
}

// Find how many numbers are made before those of each row, and where its first attempt begins: a thread for each.
__device__ __forceinline__ void settle(
    i64 rows, int begin, const Kept* kept, const u32* cases, u64* bases, int* entries, u64* sums, u32* tickets) {
  __shared__ u32 ticket;
  __shared__ int counts[DRAW_THREADS / 32];
  __shared__ i64 base;
  // Tiles are handed out in order, so that all tiles that one waits for are on their way.
  if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);
  __syncthreads();
  const int warp = threadIdx.x / 32;
  const i64 r = i64(ticket) * DRAW_THREADS + threadIdx.x;
  int entry = 0, mine = 0, all;
  if (r < rows) {
    entry = ALONE ? 0 : entry_of(r, kept, cases, begin);
    mine = kept[r].count - (ALONE ? 0 : int(cases[r * 32 + entry] & 0xffff));
  }
  int before = sum_before(mine, all);
  counts[warp] = all;
  __syncthreads();
  if (warp == 0) {
    int sum = 0;
    for (int k = 0; k < WARPS; ++k) sum += counts[k];
    const i64 found = count_before(sums, ticket, sum);
    if (threadIdx.x == 0) base = found;
  }
  __syncthreads();
  for (int k = 0; k < warp; ++k) before += counts[k];
  if (r >= rows) return;
  bases[r] = u64(base + before);
  entries[r] = entry;
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

// Where the numbers of some steps wait, in their order: the first one as far from a multiple of 16 bytes as in memory.
// After them is where goes what is none.
struct alignas(16) Stage {
  static const int NONE = SPAN * 32 * PER + PACK;
  Value numbers[NONE + 32];
};

// Write `many` numbers, the first of which is the `shift`-th of the stage: a warp.
__device__ __forceinline__ void unload(Value* out, const Stage& stage, int shift, int many) {
  for (int at = threadIdx.x % 32 * PACK; at < shift + many; at += 32 * PACK) {
    Value* const to = out + (at - shift);
    if (at >= shift && at + PACK <= shift + many) {
      *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(stage.numbers + at);
    } else {
      for (int k = 0; k < PACK; ++k)
        if (at + k >= shift && at + k < shift + many) to[k] = stage.numbers[at + k];
    }
  }
  __syncwarp();
}

// Write the numbers of a row, of which no more than `limit` are asked for: a warp.
__device__ __forceinline__ void write_row(
    Value* out, const Row& row, Stage& stage, const Number& number, const typename Number::Scales& scales,
    const Pieces& pieces, i64 first, int made, int limit) {
  const int lane = threadIdx.x % 32;
  const u32 own = 1u << lane, below = own - 1;
  Words words(pieces, first + lane);
  for (int part = 0, done = 0; part < STEPS; part += SPAN) {
    const int shift = int(u64(out + done) / sizeof(Value) % PACK);
#pragma unroll
    for (int step = part; step < part + SPAN; ++step) {
      const u64 word = PER > 1 && step == 0 ? pieces.word(first + lane, words.word()) : words.word();
      words.leap();
      int rank = row.before[step * PER] - done + shift;
#pragma unroll
      for (int k = 0; k < PER; ++k) rank += __popc(row.made[step * PER + k] & below);
#pragma unroll
      for (int k = 0; k < PER; ++k) {
        const bool there = row.made[step * PER + k] & own;
        stage.numbers[there ? rank : Stage::NONE + lane] = number.value(scales, Pieces::cut(word, k));
        rank += there;
      }
    }
    const int upto = min(part + SPAN < STEPS ? row.before[(part + SPAN) * PER] : made, limit);
    __syncwarp();
    unload(out + done, stage, shift, upto - done);
    if (upto == limit) break;
    done = upto;
  }
  if (ALONE) return;
  __syncwarp();  // what was written for pieces that are not quick is now written right
  for (int k = lane; k < row.many; k += 32) {
    const int at = row.list.slow[k];
    if (!row.makes(at)) continue;
    const int rank = row.rank(at);
    if (rank < limit) out[rank] = row.list.values[k];
  }
}

// The piece of which number `rank` of a row is made, if it is one of this thread's; else -1.
__device__ __forceinline__ int piece_of(const Row& row, int rank) {
  int found = -1;
  for (int at = threadIdx.x % 32; at < ROW; at += 32)
    if (row.makes(at) && row.rank(at) == rank) found = at;
  return found;
}

// Write what is in a row: a warp.
__device__ __forceinline__ void write_all(
    Value* out, u64* after, const Pieces& pieces, const Number& number, i64 r, i64 rows, i64 n, const u32* masks,
    const Kept* kept, const u32* cases, const Listed* lists, const u64* bases, const int* entries) {
  __shared__ typename Number::Scales scales;
  __shared__ Row shared[WARPS];
  __shared__ Stage stages[WARPS];
  scales.fill();
  __syncthreads();
  const i64 base = r < rows ? i64(bases[r]) : n;
  if (base >= n) return;
  const int lane = threadIdx.x % 32;
  const i64 first = r * (ROW / PER);
  Row& row = shared[threadIdx.x / 32];
  row.many = ALONE ? 0 : kept[r].many;
  for (int k = lane; k < MASKS; k += 32) row.made[k] = masks[r * MASKS + k];
  for (int k = lane; !ALONE && k < kept[r].many; k += 32) {
    row.list.slow[k] = lists[r].slow[k];
    row.list.codes[k] = lists[r].codes[k];
    row.list.values[k] = lists[r].values[k];
  }
  __syncwarp();
  if (!ALONE && lane == 0) {
    int lost;
    bool certain;
    follow_first<true>(row, entries[r], lost, certain);
  }
  __syncwarp();
  const int made = count(row), limit = int(min(n - base, i64(ROW)));
  write_row(out + base, row, stages[threadIdx.x / 32], number, scales, pieces, first, made, limit);
  if (base + made < n) {
    if (r == rows - 1 && lane == 0) {
      const int end = ALONE ? 0 : int(cases[r * 32 + entries[r]] >> 16);
      draw_rest(out, after, number, pieces, rows * ROW + end, base + made, n);
    }
    return;
  }
  const int last = piece_of(row, limit - 1);
  if (last < 0) return;
  Value again;
  finish(after, pieces, first * PER + last + attempt(number, pieces, first * PER + last, again).length);
}
