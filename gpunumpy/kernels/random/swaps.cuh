// From the swaps of a shuffle to the permutation that they leave.
//
// For i from the last place down, the elements at i and at j(i) <= i are swapped. No later swap touches place i, so it
// ends up with the element that was at j(i) then. That element came from place k, by the swap of the next larger k with
// j(k) = j(i); if there is no such k, it is the element that began at j(i). The element at k came there in turn by the
// swap of the next larger k' with j(k') = k, and so on. A swap is a number with j in its upper half and i in its lower
// half; the swaps are sorted.
//
// Where only the places from `lowest` on are swapped, `first` begins at that place.

const u32 NONE = ~0u;

// Return the next larger place with the same j as the q-th swap; NONE if there is none.
__device__ __forceinline__ u32 next_alike(const u64* swaps, i64 q, i64 n) {
  return q + 1 < n && swaps[q + 1] >> 32 == swaps[q] >> 32 ? u32(swaps[q + 1]) : NONE;
}

// If the q-th swap is the first of its value j, write to first[j] the next larger place whose swap brings an element to
// place j.
__device__ __forceinline__ void find_first(u32* first, const u64* swaps, i64 q, i64 n, u32 lowest) {
  const u32 value = u32(swaps[q] >> 32), place = u32(swaps[q]);
  if (value < lowest || (q && swaps[q - 1] >> 32 == value)) return;
  first[value - lowest] = place > value ? place : next_alike(swaps, q, n);
}

// Return the element that the q-th swap leaves at its place.
__device__ __forceinline__ u32 follow(const u32* first, const u64* swaps, i64 q, i64 n, u32 lowest) {
  u32 place = next_alike(swaps, q, n);
  if (place == NONE) return u32(swaps[q] >> 32);
  for (u32 next; (next = first[place - lowest]) != NONE;) place = next;
  return place;
}

// Return number t of a sample by R. W. Floyd's algorithm: the integer drawn for t if it is not in the sample yet, else
// lowest + t. An integer is in the sample already if it was drawn before (`is_repeated`), or if it took the place of a
// repeated one: integer lowest + s did so if the draw for s was in the sample.
__device__ __forceinline__ i64 sample_at(const u32* drawn, const bool* is_repeated, i64 t, u32 lowest) {
  i64 s = t;
  while (!is_repeated[s]) {
    if (drawn[s] < lowest || drawn[s] - lowest >= s) return drawn[t];
    s = drawn[s] - lowest;
  }
  return lowest + t;
}
