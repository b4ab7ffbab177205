// The interpreter of kernels. interpreter.py makes the cases of its operations, words.py and interpreted.py its words.
//
// A thread computes POINTS points at once. A value of its points is in a column of shared memory, 8 bytes each, that no other
// thread touches; a column is named by its slot. The first slots hold the indices of the loops. An instruction is one
// word: from the lowest bit on, 16 bits of the operation, and 12 each of the slot of the result and of three operands.
// Operands are slots of values, or numbers of words. The place of an element is an offset and a coefficient of each
// index, in elements.

struct Words {
  long long w[WORDS];
};


#define FUNCTION __device__ __noinline__ void
#define EACH _Pragma("unroll") for (int v = 0; v < POINTS; ++v)
// The same for what is much code: one copy of it.
#define EACH_ALONE _Pragma("unroll 1") for (int v = 0; v < POINTS; ++v)
// The first cell of the thread's column of slot 0.
#define COLUMNS                                \
  extern __shared__ unsigned long long shared[]; \
  u64* const cells = reinterpret_cast<u64*>(shared) + threadIdx.x
#define CELL(slot) (cells + (slot) * (POINTS * THREADS) + v * THREADS)

// 16 bytes, which take two slots.
struct Pair {
  u64 first, second;
};

template <class T> __device__ __forceinline__ T get(const u64* cell) {
  T x;
  if constexpr (sizeof(T) == sizeof(Pair)) {
    const Pair both = {cell[0], cell[POINTS * THREADS]};
    memcpy(&x, &both, sizeof(T));
  } else {
    memcpy(&x, cell, sizeof(T));
  }
  return x;
}

template <class T> __device__ __forceinline__ void put(u64* cell, T x) {
  if constexpr (sizeof(T) == sizeof(Pair)) {
    Pair both;
    memcpy(&both, &x, sizeof(T));
    cell[0] = both.first;
    cell[POINTS * THREADS] = both.second;
  } else {
    memcpy(cell, &x, sizeof(T));
  }
}

// States of reductions are in cells one behind the other: two, or four or six if a reduction of the kernel needs them.
// They are copied cell by cell, as the compiler would copy bytes.
template <class S> __device__ __forceinline__ S read(const u64* state) {
  u64 raw[(sizeof(S) + 7) / 8];
#pragma unroll
  for (int i = 0; i < int(sizeof(raw) / 8); ++i) raw[i] = state[i];
  S out;
  memcpy(&out, raw, sizeof(S));
  return out;
}
template <class S> __device__ __forceinline__ void write(u64* state, const S& x) {
  u64 raw[(sizeof(S) + 7) / 8] = {};
  memcpy(raw, &x, sizeof(S));
#pragma unroll
  for (int i = 0; i < int(sizeof(raw) / 8); ++i) state[i] = raw[i];
}

// The places of the thread's points.
__device__ __forceinline__ void places(
    long long (&at)[POINTS], const long long* w, int place, int dims, const u64* cells) {
  EACH at[v] = w[place];
#pragma unroll 1
  for (int d = 0; d < dims; ++d) {
    const long long coefficient = w[place + 1 + d];
    EACH at[v] += coefficient * get<long long>(CELL(d));
  }
}

template <class T>
__device__ __forceinline__ void load(
    const long long* w, int to, int a, int b, int c, int dims, unsigned mask, u64* cells) {
  const T* const from = reinterpret_cast<const T*>(w[a]);
  long long at[POINTS];
  places(at, w, b, dims, cells);
  T x[POINTS];
  EACH x[v] = mask >> v & 1 ? from[at[v]] : T();
  EACH put(CELL(to), x[v]);
}

template <class T>
__device__ __forceinline__ void store(
    const long long* w, int to, int a, int b, int c, int dims, unsigned mask, u64* cells) {
  T* const into = reinterpret_cast<T*>(w[b]);
  long long at[POINTS];
  places(at, w, c, dims, cells);
  EACH if (mask >> v & 1) into[at[v]] = get<T>(CELL(a));
}

template <class T>
__device__ __forceinline__ void gather(
    const long long* w, int to, int a, int b, int c, int dims, unsigned mask, u64* cells) {
  const T* const from = reinterpret_cast<const T*>(w[a]);
  long long at[POINTS];
  places(at, w, b, dims, cells);
  const int count = int(w[c]), source_location = int(w[w[c + 2]]);
  int* const flag = reinterpret_cast<int*>(w[w[c + 1]]);
  bool empty = false;
#pragma unroll 1
  for (int k = 0; k < count; ++k) {
    const int slot = int(w[c + 3 + 3 * k]);
    const long long size = w[c + 4 + 3 * k], stride = w[c + 5 + 3 * k];
    empty = empty || size == 0;
    EACH if (mask >> v & 1) at[v] += stride * wrap(get<long long>(CELL(slot)), size, source_location, flag);
  }
  T x[POINTS];
  EACH x[v] = !empty && mask >> v & 1 ? from[at[v]] : T();
  EACH put(CELL(to), x[v]);
}

// A tile: the elements that a thread of a compiled kernel accumulates as one array. It passes by in parts of POINTS.
struct Tile {
  int at, count;  // the first element of this part, and the elements of all parts
  u64 exists;     // which of those so far do
};

// Keeps this part of a tile, which is in slot `a`, in columns from slot `kept` on; after the last part, accumulates all.
template <class P, class S, class A>
__device__ __forceinline__ void push_tile(u64* state, int a, int kept, const Tile& tile) {
  COLUMNS;
  const auto cell = [&](int i) {
    return cells + (kept + i / POINTS * int(sizeof(A) > 8 ? 2 : 1)) * (POINTS * THREADS) + i % POINTS * THREADS;
  };
  EACH put(cell(tile.at + v), get<A>(CELL(a)));
  if (tile.at + POINTS < tile.count) return;
  const auto x = [&](int i) { return get<A>(cell(i)); };
  write(state, op::push_each<P>(read<S>(state), tile.count, x, [&](int i) { return bool(tile.exists >> i & 1); }));
}

// Groups
// The words at the end.
//
// The members of a team share a row, as the threads of a compiled kernel do: each of them accumulates the elements that
// a thread does, in the same order, and their states are combined in the same tree. So the bits are the same. A thread
// is several members, one after the other, where a block has more members than threads. An elementwise kernel has one
// row, of all points, which its blocks share.
struct Head {
  long long dims, outer, sizes;       // loops; those that are not reduced; the word of the first size
  long long rows, team, teams;        // rows; members that share a row; rows of a block
  long long adjacent;                 // whether the members of a team are neighbours in memory
  long long lanes, vectors, steps;    // elements that a member takes in a step, as a power of 2; steps of the last loop, and of a row
  long long splits, share;            // blocks that share a row; steps of each of them
  long long tile;                     // elements that are accumulated as one array, or 1
  long long passes, passes_end;       // the words of the first pass, and those behind the last
  long long last, last_end;           // the instructions that come once a row
  long long region, outside, outside_end;  // the word of the region's bounds, or 0; the instructions outside of it
  long long states, partial, counters;     // the first cell of the states; the words of two addresses in scratch memory
  long long cells;                         // of a state
};

// Over the rows, one after the other: instructions, the first and the one behind the last, and reductions likewise.
struct Pass {
  long long first, end, reduction, reduction_end;
};

// Combines the states of each team, for one reduction; the first member of a team gets the result.
__device__ __noinline__ void combine_members(
    int reducer, u64* states, int cells, int team, int teams, bool adjacent) {
  const int members = team * teams;
  const bool is_aligned = reducer >= MOMENTS;
  const auto add = [=](u64* into, const u64* other) {
    if (is_aligned) combine_aligned(reducer, into, other);
    else combine(reducer, into, other);
  };
  if (!adjacent) {
    for (int row = threadIdx.x; row < teams; row += THREADS) {
      u64* const first = states + cells * row * team;
      for (int m = 1; m < team; ++m) {
        if (is_aligned) align(reducer, first + cells * m, first);
        add(first, first + cells * m);
      }
    }
    __syncthreads();
    return;
  }
  // The members of a warp, and then the warps.
  for (int warp = 1; warp < team; warp *= 32) {
    const int size = warp > 1 ? team / 32 : team < 32 ? team : 32;
    for (int first = 0; is_aligned && size > 1 && first < 2; ++first) {  // the others first, as all are aligned to it
      for (int m = threadIdx.x; m < members; m += THREADS)
        if (m % warp == 0 && (m / warp % size == 0) == (first == 1))
          align(reducer, states + cells * m, states + cells * (m - m / warp % size * warp));
      __syncthreads();
    }
    for (int step = size / 2; step > 0; step /= 2) {
      for (int m = threadIdx.x; m < members; m += THREADS)
        if (m % warp == 0 && m / warp % size < step) add(states + cells * m, states + cells * (m + step * warp));
      __syncthreads();
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) interpret(const __grid_constant__ Words words) {
  await_kernels_before();
  COLUMNS;
  const long long* const w = words.w;
  const Head head = *reinterpret_cast<const Head*>(w + WORDS - sizeof(Head) / 8);
  const int dims = int(head.dims), outer = int(head.outer), team = int(head.team), teams = int(head.teams);
  const int members = team * teams, size_of_state = int(head.cells), elements = int(head.tile);
  u64* const states = cells - threadIdx.x + head.states;
  const long long group = blockIdx.x / head.splits, split = blockIdx.x - group * head.splits;
  const long long begin = split * head.share;
  const long long end = begin + head.share < head.steps ? begin + head.share : head.steps;
  const bool is_narrow = head.steps < 1ll << 31 && head.rows < 1ll << 31;
  const auto quotient = [is_narrow](long long a, long long b) {
    return is_narrow ? static_cast<long long>(u32(a) / u32(b)) : a / b;
  };

#pragma unroll 1
  for (long long next = head.passes; next <= head.passes_end; next += sizeof(Pass) / 8) {
    const bool is_last = next == head.passes_end;  // one point of each row, of its first member
    Pass pass = {head.last, head.last_end, 0, 0};
    if (!is_last) pass = *reinterpret_cast<const Pass*>(w + next);
    else if (head.last == head.last_end) break;
    const int first = int(pass.reduction - w[head.passes + 2]), count = int(pass.reduction_end - pass.reduction);
#pragma unroll 1
    for (int m = threadIdx.x; m < members; m += THREADS) {
      const int place = head.adjacent ? m / team : m % teams, number = head.adjacent ? m % team : m / teams;
      u64* const of_row = states + size_of_state * place * team;  // of the first reduction, those of the others in the same distances
      for (int r = 0; r < count; ++r)
        start(int(w[pass.reduction + r]), of_row + size_of_state * ((first + r) * members + number));
      long long rest = group * teams + place;
      if (rest >= head.rows || (is_last && number)) continue;
#pragma unroll 1
      for (int d = outer - 1; d >= 0; --d) {
        const long long size = w[head.sizes + d], above = d ? quotient(rest, size) : 0;
        EACH put(CELL(d), rest - above * size);
        rest = above;
      }
      Tile tile = {0, elements, 0};
      // A tile that has begun is passed to its end, as members of a team begin the same tiles.
      const int first_of_team = elements > 1 ? 0 : number;
#pragma unroll 1
      for (long long element = 0;
           is_last ? element == 0 : tile.at || begin + (element >> head.lanes) * team + first_of_team < end;
           element += POINTS) {
        // The loop indices of the points, which of them exist, and which of these are in the region.
        unsigned exists = 0, inside = 0;
        EACH_ALONE {
          const long long step = (element + v) >> head.lanes, lane = (element + v) - (step << head.lanes);
          long long left = is_last ? 0 : begin + step * team + number;
          bool is_there = is_last ? v == 0 : left < end, is_inside = true;
#pragma unroll 1
          for (int d = dims - 1; d >= outer; --d) {
            const long long size = w[head.sizes + d], steps = d == dims - 1 ? head.vectors : size;
            const long long above = d > outer ? quotient(left, steps) : 0;
            long long index = left - above * steps;
            if (d == dims - 1) {
              index = (index << head.lanes) + (is_last ? 0 : lane);
              is_there = is_there && index < size;
            }
            put(CELL(d), index);
            if (head.region)
              is_inside = is_inside && index >= w[head.region + 2 * d] && index < w[head.region + 2 * d + 1];
            left = above;
          }
          exists |= unsigned(is_there) << v;
          inside |= unsigned(is_there && is_inside) << v;
        }
        tile.exists |= u64(exists) << tile.at;

#pragma unroll 1
        for (int part = 0; part < 2; ++part) {
          const unsigned mask = part ? exists & ~inside : inside;
          if (!mask && (part || elements == 1)) continue;
          const int stop = int(part ? head.outside_end : pass.end);
#pragma unroll 1
          for (int instruction = int(part ? head.outside : pass.first); instruction < stop; ++instruction) {
            const u64 word = u64(w[instruction]);
            const int to = word >> 16 & 0xfff, a = word >> 28 & 0xfff, b = word >> 40 & 0xfff, c = word >> 52;
            long long at[POINTS];
            const int operation = int(word & 0xffff);
            if (operation >= RESULTS) {
              result(operation - RESULTS, to, of_row + size_of_state * a * members, b);
              continue;
            }
            if (operation >= ARRAYS) {
              accumulate_array(operation - ARRAYS, of_row + size_of_state * (to * members + number), a, c, tile);
              continue;
            }
            if (operation >= ACCUMULATIONS) {
              places(at, w, b, dims, cells);
              accumulate(operation - ACCUMULATIONS, of_row + size_of_state * (to * members + number), a, mask, at);
              continue;
            }
            if (operation >= GROUP) {
              switch (operation / GROUP) {
    // calls
              }
              continue;
            }
            switch (operation) {
    // accesses
            }
          }
        }
        if (elements > 1) tile.at += POINTS;
        if (tile.at >= elements) tile.at = 0;
        if (!tile.at) tile.exists = 0;
      }
    }
    if (!count) continue;
    __syncthreads();
#pragma unroll 1
    for (int r = 0; r < count; ++r)
      combine_members(int(w[pass.reduction + r]), states + size_of_state * (first + r) * members, size_of_state, team, teams,
                      head.adjacent);
    if (head.splits == 1) continue;

    // Only kernels of one pass split rows. The last block to finish combines the states of all.
    u64* const partial = reinterpret_cast<u64*>(w[head.partial]);
    const auto of_split = [&](int r, long long split, int place) {
      return partial + size_of_state * ((r * head.splits + split) * head.rows + group * teams + place);
    };
#pragma unroll 1
    for (int place = threadIdx.x; place < teams && group * teams + place < head.rows; place += THREADS)
      for (int r = 0; r < count; ++r)
        for (int k = 0; k < size_of_state; ++k)
          of_split(r, split, place)[k] = states[size_of_state * (r * members + place * team) + k];
    if (!last_block(reinterpret_cast<unsigned*>(w[head.counters]) + group, unsigned(head.splits))) return;
#pragma unroll 1
    for (int m = threadIdx.x; m < members; m += THREADS) {
      const int place = m / team;
      for (int r = 0; r < count; ++r) {
        u64* const state = states + size_of_state * (r * members + m);
        start(int(w[pass.reduction + r]), state);
        for (long long i = m % team; i < head.splits && group * teams + place < head.rows; i += team)
          combine(int(w[pass.reduction + r]), state, of_split(r, i, place));
      }
    }
    __syncthreads();
#pragma unroll 1
    for (int r = 0; r < count; ++r)
      combine_members(
          int(w[pass.reduction + r]), states + size_of_state * r * members, size_of_state, team, teams, head.adjacent);
  }
}
