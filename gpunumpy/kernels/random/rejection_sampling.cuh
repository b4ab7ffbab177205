// Rejection sampling: each number consumes a variable count of words, so where it begins depends on all before it.
//
// An attempt begins at a word, consumes that word and perhaps more, and makes a number or none; its number and its end
// are functions of the words from there on. So a tile of words is measured as if an attempt began at each word. In a
// span of 32 positions all chains of attempts are followed at once, by pointer doubling, to where they leave the span.
// Then, from each position where an attempt of the previous tile can end (an entry), a thread follows the chain from
// span to span out of the tile (to an exit) and counts its numbers. These functions, from entry to exit and count, are
// composed over groups of tiles and over all groups. Then each tile knows where its first attempt begins and how many
// numbers come before, and writes its own.
//
// An attempt may depend on the state, one of a few phases, that the previous attempt ended in. Then each word has a
// position for each phase, and positions take the part of words above. An attempt may then make several numbers.

const int SPAN = 32, SPANS = TILE / SPAN, ENTRIES = MAX_WORDS, GROUP = 4096 / MAX_WORDS;
// Whether the numbers of all attempts are kept in memory until it is known which attempts take place.
const bool KEEPS_VALUES = WIDTH == 1 && !HAS_PHASES;
const u32 LOST = 0xffff;  // exit of chains that reach an attempt with too few words, or one that takes too many
// The lower bits of a code are an exit, or the length of an attempt; the upper bits are a count of numbers.
const int EXIT_BITS = 9;
const u32 EXIT_MASK = (1 << EXIT_BITS) - 1;

// Destination of numbers: an array with a capacity, or null to count only. `left`: whether the second normal number of
// the last pair is left over.
struct Sink {
  Value* out;
  int capacity, count;
  bool left;
  __device__ explicit Sink(Value* out = nullptr, i64 capacity = 1 << 30)
      : out(out), capacity(int(capacity < 1 << 30 ? capacity : 1 << 30)), count(0), left(false) {}
  __device__ __forceinline__ void put(Value value) {
    if (out) out[count] = value;
    ++count;
  }
  __device__ __forceinline__ bool full() const { return count == capacity; }
};

// What the attempts at one word have in common in all phases, computed once; nothing without phases.
struct Nothing {};
template <class Number> __device__ __forceinline__ auto begin_attempts(const Number& number, Source& source) {
  if constexpr (HAS_PHASES) return number.begin(source);
  else return Nothing();
}

// The words of a tile in shared memory, made up beyond the end.
struct Words {
  Word at[TILE_WORDS];
  __device__ __forceinline__ void load(const Word* words, i64 first, i64 end) {
    for (int k = threadIdx.x; k < TILE_WORDS; k += blockDim.x)
      at[k] = first + k < end ? words[first + k] : Word(Source::made_up(u64(k)));
  }
};

// T, or nothing where it is not needed.
template <class T, bool NEEDED> struct Maybe : T {};
template <class T> struct Maybe<T, false> {};

// Follow the chains of attempts of a span, one lane to each position, given the length of the attempt there. `to`
// becomes the position where the chain leaves the span; the result has a bit for each position that it visits.
__device__ __forceinline__ u32 follow_span(int length, int& to) {
  const int lane = threadIdx.x % SPAN;
  u32 seen = 1u << lane;
  to = length ? lane + length : int(LOST);
#pragma unroll
  for (int round = 0; round < 5; ++round) {
    const bool inside = to < SPAN;
    const u32 others = __shfl_sync(~0u, seen, inside ? to : lane);
    const int further = __shfl_sync(~0u, to, inside ? to : lane);
    if (inside) {
      seen |= others;
      to = further;
    }
  }
  return seen;
}

// The counts of numbers that the attempts of a span make, as bit planes: bit p of digit k belongs to position p.
struct SpanCounts {
  u32 digits[COUNT_DIGITS];
  __device__ __forceinline__ static SpanCounts of(u32 count) {
    SpanCounts counts;
    for (int k = 0; k < COUNT_DIGITS; ++k) counts.digits[k] = __ballot_sync(~0u, count >> k & 1);
    return counts;
  }
  __device__ __forceinline__ u32 any() const {
    u32 some = 0;
    for (int k = 0; k < COUNT_DIGITS; ++k) some |= digits[k];
    return some;
  }
  // The sum over some positions.
  __device__ __forceinline__ u32 among(u32 positions) const {
    u32 count = 0;
    for (int k = 0; k < COUNT_DIGITS; ++k) count += u32(__popc(positions & digits[k])) << k;
    return count;
  }
};

// The attempts at the positions of a tile: the code of each has its length, 0 if it is lost, and its count of numbers.
struct Attempts {
  Words words;
  u16 codes[TILE];
  int waiting;
  // Measure the attempt at position p; false if it is postponed. `begun` is what all phases of the word share.
  template <class Number, class Begun>
  __device__ __forceinline__ bool measure(
      const Number& number, Source source, const Begun& begun, Value* values, int p, i64 end) {
    int to = 0, count;
    if constexpr (HAS_PHASES) {
      Sink sink;
      to = number.attempt(source, begun, p % PHASES, sink);
      count = sink.count;
    } else {
      Drawn<Number, WIDTH> drawn;
      count = drawn.from(number, source);
      if (KEEPS_VALUES) values[p] = drawn.values[0];
    }
    if (source.is_postponed) return false;
    const int begin = p / PHASES;
    const int taken = source.next - begin;
    const bool lost = to < 0 || taken > MAX_WORDS / PHASES || source.next > end || count >> COUNT_DIGITS;
    codes[p] = lost ? 0 : u16(source.next * PHASES + to - p | count << EXIT_BITS);
    return true;
  }
};

// Measure the attempts at all positions of a tile, and follow the chain from every entry into the tile's table: one
// block. Postponed attempts are measured in a second pass, by full warps.
template <class Number>
__device__ __forceinline__ void measure(
    const Number& number, const Word* words, u16* codes, Value* values, u32* table, i64 tile, i64 end) {
  __shared__ Attempts attempts;
  __shared__ u32 hops[TILE];
  u16* const postponed = reinterpret_cast<u16*>(hops);  // in the memory of the hops, which come later
  const i64 first = tile * TILE;
  if (threadIdx.x == 0) attempts.waiting = 0;
  const i64 rest = end - first / PHASES;
  attempts.words.load(words, first / PHASES, end);
  __syncthreads();
  for (int word = threadIdx.x; word < TILE / PHASES; word += blockDim.x) {
    Source source(attempts.words.at, word, true);
    const auto begun = begin_attempts(number, source);
    for (int p = word * PHASES; p < (word + 1) * PHASES; ++p)
      if (!attempts.measure(number, source, begun, values + first, p, rest))
        postponed[atomicAdd(&attempts.waiting, 1)] = u16(p);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < attempts.waiting; k += blockDim.x) {
    Source source(attempts.words.at, postponed[k] / PHASES);
    const auto begun = begin_attempts(number, source);
    attempts.measure(number, source, begun, values + first, postponed[k], rest);
  }
  __syncthreads();
  for (int p = threadIdx.x; p < TILE; p += blockDim.x) {
    const u16 code = codes[first + p] = attempts.codes[p];
    const SpanCounts made = SpanCounts::of(code >> EXIT_BITS);
    int to;
    const u32 seen = follow_span(code & EXIT_MASK, to);
    hops[p] = made.among(seen) << 16 | (to == int(LOST) ? LOST : u32(p / SPAN * SPAN + to));
  }
  __syncthreads();
  for (int entry = threadIdx.x; entry < ENTRIES; entry += blockDim.x) {
    u32 p = entry, count = 0;
    while (p < TILE) {
      const u32 hop = hops[p];
      count += hop >> 16;
      p = hop & LOST;
    }
    table[tile * ENTRIES + entry] = (p == LOST ? u32(ENTRIES) : p - TILE) | count << EXIT_BITS;
  }
}

// The tables of a group of tiles, or of a group of groups, in shared memory.
struct Tables {
  u32 at[GROUP * ENTRIES];
  int parts;
  __device__ __forceinline__ void load(const u32* tables, i64 group, i64 all) {
    const i64 first = group * GROUP;
    const int here = int(all - first < GROUP ? all - first : GROUP);
    for (int k = threadIdx.x; k < here * ENTRIES; k += blockDim.x) at[k] = tables[first * ENTRIES + k];
    if (threadIdx.x == 0) parts = here;
    __syncthreads();
  }
  // Follow a chain through the parts; `visit` gets the entry of each part and the count of numbers before it.
  template <class Visit> __device__ __forceinline__ void follow(u32& entry, u64& count, Visit visit) const {
    for (int part = 0; part < parts; ++part) {
      visit(part, entry, count);
      if (entry == u32(ENTRIES)) continue;
      const u32 code = at[part * ENTRIES + entry];
      count += code >> EXIT_BITS;
      entry = code & EXIT_MASK;
    }
  }
};

// Compose the tables of a group's tiles into the table of the group: one block.
__device__ __forceinline__ void compose_group(const u32* tables, u32* groups, i64 group, i64 tiles) {
  __shared__ Tables tables_of_group;
  tables_of_group.load(tables, group, tiles);
  for (int entry = threadIdx.x; entry < ENTRIES; entry += blockDim.x) {
    u32 exit = entry;
    u64 count = 0;
    tables_of_group.follow(exit, count, [](int, u32, u64) {});
    groups[group * ENTRIES + entry] = exit | u32(count) << EXIT_BITS;
  }
}

// Make the numbers before the first attempt, which begins with a pair of normal numbers: those that need no normal
// number, and one from a normal number left over. `opening` gets where the first attempt begins and how many numbers
// come before it. One block.
template <class Number>
__device__ __forceinline__ void open_sampling(
    const Number& number, const Word* words, bool has, f64 left, u64* opening, Value* out, i64* counts, i64 end,
    i64 n) {
  __shared__ Words tile_words;
  tile_words.load(words, 0, end);
  __syncthreads();
  if (threadIdx.x != 0) return;
  Source source(tile_words.at, 0);
  Sink sink(out, n);
  const int phase = number.begin_sampling(source, has, left, sink), entry = source.next * PHASES + phase;
  const bool done = sink.full(), lost = source.next > MAX_WORDS / PHASES || source.next > end || entry >= ENTRIES;
  *opening = u64(sink.count) << EXIT_BITS | u32(done || lost ? ENTRIES : entry);
  counts[0] = done && source.next <= end ? source.next : -1;
  counts[2] = lost && !done ? 0 : -1;
  counts[3] = -1;
}

// Find the entry of each group and the count of numbers before it: one block. The four counts are described at
// `cuda_rejection_sampling.rejection_sampling`.
__device__ __forceinline__ void compose_all(
    const u32* groups, u64* begins, const u64* opening, i64* counts, i64 all_groups) {
  __shared__ Tables tables_of_group;
  u32 entry = opening ? u32(*opening & EXIT_MASK) : 0;
  u64 count = opening ? *opening >> EXIT_BITS : 0;
  for (i64 k = 0; k * GROUP < all_groups; ++k) {
    __syncthreads();
    tables_of_group.load(groups, k, all_groups);
    if (threadIdx.x == 0)
      tables_of_group.follow(entry, count, [=](int part, u32 at, u64 before) {
        begins[k * GROUP + part] = before << EXIT_BITS | at;
      });
  }
  if (threadIdx.x == 0) {
    if (!opening) counts[0] = counts[2] = counts[3] = -1;
    counts[1] = i64(count);
  }
}

// Find the entry of each tile of a group and the count of numbers before it: one block.
__device__ __forceinline__ void spread_group(const u32* tables, const u64* begins, u64* starts, i64 group, i64 tiles) {
  __shared__ Tables tables_of_group;
  tables_of_group.load(tables, group, tiles);
  if (threadIdx.x == 0) {
    u32 entry = u32(begins[group] & EXIT_MASK);
    u64 count = begins[group] >> EXIT_BITS;
    tables_of_group.follow(entry, count, [=](int part, u32 at, u64 before) {
      starts[group * GROUP + part] = before << EXIT_BITS | at;
    });
  }
}

// Write the numbers of a tile: one block.
template <class Number, bool KEEPS = KEEPS_VALUES>
__device__ __forceinline__ void make_numbers(
    const Number& number, const Word* words, const u16* codes, const Value* values, const u64* starts, Value* out,
    i64* counts, i64 tile, i64 end, i64 n) {
  __shared__ Maybe<Words, !KEEPS> tile_words;
  __shared__ u32 seen[TILE], chosen[SPANS];
  __shared__ SpanCounts made[SPANS];
  // By position: the exit of its chain from the span. By span: the attempts that make numbers, and the numbers, before
  // it. By attempt that makes numbers: its position, and the first of its numbers.
  __shared__ u16 to[TILE], before[SPANS], list[TILE], numbers[SPANS], places[HAS_PHASES ? TILE : 1];
  __shared__ int total;
  const int entry = int(starts[tile] & EXIT_MASK);
  const i64 base = i64(starts[tile] >> EXIT_BITS), first = tile * TILE;
  if (entry == ENTRIES || base >= n) return;
  if constexpr (!KEEPS) tile_words.load(words, first / PHASES, end);
  for (int p = threadIdx.x; p < TILE; p += blockDim.x) {
    const u16 code = codes[first + p];
    const SpanCounts makes = SpanCounts::of(code >> EXIT_BITS);
    int where;
    seen[p] = follow_span(code & EXIT_MASK, where);
    to[p] = u16(where == int(LOST) ? LOST : u32(p / SPAN * SPAN + where));
    if (p % SPAN == 0) {
      made[p / SPAN] = makes;
      chosen[p / SPAN] = 0;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    int attempts = 0, count = 0;
    u32 p = entry;
    while (p < TILE) {
      const u32 span = p / SPAN, visited = seen[p], makes = visited & made[span].any();
      chosen[span] = makes;
      before[span] = u16(attempts);
      attempts += __popc(makes);
      if (HAS_PHASES) {
        numbers[span] = u16(count);
        count += made[span].among(visited);
      }
      p = to[p];
      if (p == LOST) counts[2] = (first + span * SPAN + 31 - __clz(int(visited))) / PHASES;
    }
    total = attempts;
  }
  __syncthreads();
  for (int p = threadIdx.x; p < TILE; p += blockDim.x) {
    const u32 makes = chosen[p / SPAN], earlier = makes & ((1u << p % SPAN) - 1);
    if (!(makes >> p % SPAN & 1)) continue;
    const int k = before[p / SPAN] + __popc(earlier);
    list[k] = u16(p);
    if (HAS_PHASES) places[k] = u16(numbers[p / SPAN] + made[p / SPAN].among(earlier));
  }
  __syncthreads();
  for (int k = threadIdx.x; k < total; k += blockDim.x) {
    const i64 at = base + (HAS_PHASES ? places[k] : k), p = first + list[k];
    if (at >= n) return;
    if constexpr (HAS_PHASES) {
      Source source(tile_words.at, list[k] / PHASES);
      const auto begun = begin_attempts(number, source);
      Sink sink(out + at, n - at);
      number.attempt(source, begun, list[k] % PHASES, sink);
      if (sink.full()) {
        counts[0] = first / PHASES + source.next;
        counts[3] = sink.left ? p / PHASES : -1;
      }
    } else if constexpr (KEEPS) {
      out[at] = values[p];
    } else {
      Source source(tile_words.at, list[k]);
      Drawn<Number, WIDTH> drawn;
      drawn.from(number, source);
      for (int j = 0; j < WIDTH; ++j) out[at * WIDTH + j] = drawn.values[j];
    }
    if (!HAS_PHASES && at == n - 1) counts[0] = p + (codes[p] & EXIT_MASK);
  }
}
