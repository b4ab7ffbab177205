// Copies of matrices by tiles that are read along the shorter step in memory, whichever dimension that is of, and
// written along rows.

const int SIDE = 32, TURNS = 8;  // of a tile, and how many of its rows are moved at once

template <class T, class At, class Keep>
__device__ __forceinline__ void copy_tile(T* out, long long rows, long long columns, long long tile, bool across, At at, Keep keep) {
  __shared__ T cells[SIDE][SIDE + 1];
  const long long wide = (columns + SIDE - 1) / SIDE, r0 = tile / wide * SIDE, c0 = tile % wide * SIDE;
  const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
  for (int k = y; k < SIDE; k += TURNS) {
    const long long r = r0 + (across ? x : k), c = c0 + (across ? k : x);
    if (r < rows && c < columns && keep(r, c)) cells[across ? x : k][across ? k : x] = at(r, c);
  }
  __syncthreads();
  for (int k = y; k < SIDE; k += TURNS) {
    const long long r = r0 + k, c = c0 + x;
    if (r < rows && c < columns) out[r * columns + c] = keep(r, c) ? cells[k][x] : T{};
  }
}
