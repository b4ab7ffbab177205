// Copies of matrices by tiles. A tile is read along the dimension with the shorter stride and written along rows, so
// that neighbouring threads read and write neighbouring elements.

const int SIDE = 32, ROWS_AT_ONCE = 8;  // rows of a tile, and how many of them a block moves at once

// Copy a tile to a matrix in C order. `at(r, c)` reads an element, zero replaces it unless `keep(r, c)`; with
// `down_columns` neighbouring threads read neighbouring rows.

template <class T, class At, class Keep>
__device__ __forceinline__ void copy_tile(T* out, long long rows, long long columns, long long tile, bool down_columns,
                                          At at, Keep keep) {
  __shared__ T cells[SIDE][SIDE + 1];
  const long long row_tiles = (columns + SIDE - 1) / SIDE, r0 = tile / row_tiles * SIDE, c0 = tile % row_tiles * SIDE;
  const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
  for (int k = y; k < SIDE; k += ROWS_AT_ONCE) {
    const long long r = r0 + (down_columns ? x : k), c = c0 + (down_columns ? k : x);
    if (r < rows && c < columns && keep(r, c)) cells[down_columns ? x : k][down_columns ? k : x] = at(r, c);
  }
  __syncthreads();
  for (int k = y; k < SIDE; k += ROWS_AT_ONCE) {
    const long long r = r0 + k, c = c0 + x;
    if (r < rows && c < columns) out[r * columns + c] = keep(r, c) ? cells[k][x] : T{};
  }
}
