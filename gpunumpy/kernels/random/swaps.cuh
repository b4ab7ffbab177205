// From swaps to the order that they leave.
//
// For i from the last place down, the elements at i and at j(i) <= i are swapped. Then i is done with, so what it ends
// up with is what was at j(i) before: what the swap of the next larger k with j(k) = j(i) has brought there from its own
// place k, or, where there is none, the element that has always been there. What is at k at that time was brought there
// by the next larger k' with j(k') = k, and so on. A swap is a number with j in its upper half and i in its lower one.
//
// It may be that only the places from `lowest` on are swapped; `first` begins with that one.

const u32 NONE = ~0u;

// The next larger place with the same j as the q-th swap in order.
__device__ __forceinline__ u32 next_alike(const u64* swaps, i64 q, i64 n) {
  return q + 1 < n && swaps[q + 1] >> 32 == swaps[q] >> 32 ? u32(swaps[q + 1]) : NONE;
}

// For each place k the next larger one whose j is k.
__device__ __forceinline__ void find_first(u32* first, const u64* swaps, i64 q, i64 n, u32 lowest) {
  const u32 value = u32(swaps[q] >> 32), place = u32(swaps[q]);
  if (value < lowest || (q && swaps[q - 1] >> 32 == value)) return;
  first[value - lowest] = place > value ? place : next_alike(swaps, q, n);
}

// The element that the q-th swap leaves at its place.
__device__ __forceinline__ u32 follow(const u32* first, const u64* swaps, i64 q, i64 n, u32 lowest) {
  u32 place = next_alike(swaps, q, n);
  if (place == NONE) return u32(swaps[q] >> 32);
  for (u32 next; (next = first[place - lowest]) != NONE;) place = next;
  return place;
}

// A sample of the integers below lowest + n: number t is that of those drawn, if it is not in the sample yet, and else
// lowest + t. It is in the sample if it was drawn before, or if it has taken the place of one that was.
__device__ __forceinline__ i64 sample_at(const u32* drawn, const bool* is_repeated, i64 t, u32 lowest) {
  i64 s = t;
  while (!is_repeated[s]) {
    if (drawn[s] < lowest || drawn[s] - lowest >= s) return drawn[t];
    s = drawn[s] - lowest;
  }
  return lowest + t;
}
