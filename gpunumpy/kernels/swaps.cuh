// From swaps to the order that they leave.
//
// For i from the last place down, the elements at i and at j[i] <= i are swapped. Then i is done with, so what it ends
// up with is what was at j[i] before: what the swap of the next larger k with j[k] = j[i] has brought there from its own
// place k, or, where there is none, the element that has always been there. What is at k at that time was brought there
// by the next larger k' with j[k'] = k, and so on. `order` sorts the j, those that are equal in the order of their i.
//
// Places and values begin with `lowest`: it may be that only the last places are swapped.

const u32 NONE = ~0u;

// The next larger place with the same j as the one that is q-th in order.
__device__ __forceinline__ u32 next_alike(const u32* sorted, const i64* order, i64 q, i64 n, u32 lowest) {
  return q + 1 < n && sorted[q + 1] == sorted[q] ? u32(order[q + 1]) + lowest : NONE;
}

// For each place k the next larger one whose j is k.
__device__ __forceinline__ void find_first(
    u32* first, const u32* sorted, const i64* order, i64 q, i64 n, u32 lowest) {
  const u32 value = sorted[q], place = u32(order[q]) + lowest;
  if (value < lowest || (q && sorted[q - 1] == value)) return;
  first[value - lowest] = place > value ? place : next_alike(sorted, order, q, n, lowest);
}

__device__ __forceinline__ u32 follow(
    const u32* first, const u32* sorted, const i64* order, i64 q, i64 n, u32 lowest) {
  u32 place = next_alike(sorted, order, q, n, lowest);
  if (place == NONE) return sorted[q];
  for (u32 next; (next = first[place - lowest]) != NONE;) place = next;
  return place;
}

// A sample of the integers below lowest + n: number t is that of those drawn, if it is not in the sample yet, and else
// lowest + t. It is in the sample if it was drawn before, or if it has taken the place of one that was.
__device__ __forceinline__ i64 sampled(const u32* drawn, const bool* again, i64 t, u32 lowest) {
  i64 s = t;
  while (!again[s]) {
    if (drawn[s] < lowest || drawn[s] - lowest >= s) return drawn[t];
    s = drawn[s] - lowest;
  }
  return lowest + t;
}
