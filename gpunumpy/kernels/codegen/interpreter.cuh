// The interpreter of elementwise kernels. interpreter.py makes the cases of its operations, interpreted.py its words.
//
// A thread computes POINTS points. A value of its points is in a column of shared memory, 8 bytes each, that no other
// thread touches; a column is named by its slot. The first slots hold the indices of the loops. An instruction is one
// word: from the lowest bit on, 16 bits of the operation, and 12 each of the slot of the result and of three operands.
// Operands are slots of values, or numbers of words. The place of an element is an offset and a coefficient of each
// index, in elements.

struct Words {
  long long w[WORDS];
};

// The words at the end.
struct Head {
  long long count, dims, sizes, region;      // points; loops; the word of the first size; that of the region's bounds, or 0
  long long body, body_end, outside, outside_end;  // the first instruction of each body, and the one behind the last
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

// Groups
extern "C" __global__ void __launch_bounds__(THREADS) interpret(const __grid_constant__ Words words) {
  COLUMNS;
  const long long* const w = words.w;
  const Head head = *reinterpret_cast<const Head*>(w + WORDS - HEAD);
  const int dims = int(head.dims);

  // The loop indices of the points, which of them exist, and which of these are in the region.
  unsigned exists = 0, inside = 0;
  EACH_ALONE {
    long long rest = (static_cast<long long>(blockIdx.x) * POINTS + v) * THREADS + threadIdx.x;
    bool in = rest < head.count;
    exists |= unsigned(in) << v;
#pragma unroll 1
    for (int d = dims - 1; d >= 0; --d) {
      long long index = rest;
      if (d > 0) {
        const long long size = w[head.sizes + d];
        const long long quotient = head.count < 1ll << 31 ? static_cast<long long>(u32(rest) / u32(size)) : rest / size;
        index = rest - quotient * size;
        rest = quotient;
      }
      put(CELL(d), index);
      if (head.region) in = in && index >= w[head.region + 2 * d] && index < w[head.region + 2 * d + 1];
    }
    inside |= unsigned(in) << v;
  }

#pragma unroll 1
  for (int part = 0; part < 2; ++part) {
    const unsigned mask = part ? exists & ~inside : inside;
    if (!mask) continue;
    const int end = int(part ? head.outside_end : head.body_end);
#pragma unroll 1
    for (int next = int(part ? head.outside : head.body); next < end; ++next) {
      const u64 word = u64(w[next]);
      const int to = word >> 16 & 0xfff, a = word >> 28 & 0xfff, b = word >> 40 & 0xfff, c = word >> 52;
      long long at[POINTS];
      const int operation = int(word & 0xffff);
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
}
