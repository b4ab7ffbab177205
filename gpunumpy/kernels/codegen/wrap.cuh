// The index i of a dimension of size n, counted from the start. An index out of bounds is clamped, and the first one
// sets `flag` to the source location of its operation.
__device__ __forceinline__ long long wrap(long long i, long long n, int source_location, int* flag) {
  const long long j = i < 0 ? i + n : i;
  if (j >= 0 && j < n) return j;
  atomicCAS(flag, 0, source_location);
  return j < 0 ? 0 : n - 1;
}
