// Eigenvalues of a Hermitian matrix in shared memory, a block to each matrix: Householder reflections make it
// tridiagonal and real, and implicit QL steps make that diagonal. In the steps every warp works on its own copy of the
// two diagonals; all its threads compute and write the same numbers, and each thread rotates one row of the vectors. So
// no warp waits for another.

namespace la {

// Write to `order` the permutation that sorts values in ascending order.
template <class R> __device__ inline void sort_ascending(const R* values, int n, int* order) {
  for (int j = threadIdx.x; j < n; j += blockDim.x) {
    int rank = 0;
    for (int i = 0; i < n; ++i) rank += values[i] < values[j] || (values[i] == values[j] && i < j);
    order[rank] = j;
  }
  __syncthreads();
}

template <class T, int TEAM> struct Tridiagonal {
  typedef Real<T> R;
  T* cells;      // n rows, `pitch` elements from one to the next
  T* rows;       // of the matrix whose columns are the vectors, where vectors are wanted
  T* v;          // a reflection
  T* w;          // the matrix times the reflection
  T* tau;        // the factors of the reflections
  R* diagonals;  // for every warp of the steps n elements on the diagonal, and n beside it
  R* spare;      // a number for each warp
  int* order;
  int n, pitch;
  bool vectors;
  int lane = threadIdx.x % TEAM, team = threadIdx.x / TEAM, teams = blockDim.x / TEAM;

  __device__ Tridiagonal(void* shared, int n, bool vectors) : n(n), pitch(n | 1), vectors(vectors) {
    cells = (T*)shared;
    rows = cells + n * pitch;
    v = rows + (vectors ? n * pitch : 0);
    w = v + n;
    tau = w + n;
    diagonals = (R*)(tau + n);
    spare = diagonals + 2 * n * ((n + 31) / 32);
    order = (int*)(spare + 32);
  }

  __device__ R value(int j) const { return diagonals[order[j]] * spare[0]; }
  __device__ T vector(int j, int i) const { return rows[i * pitch + order[j]]; }

  // Compute eigenvalues; `at(i, j)` reads an element on or below the diagonal. Returns true if that fails.
  template <class At> __device__ bool run(At at) {
    R largest = 0;
    bool is_finite = true;
    for (int i = team; i < n; i += teams) {
      for (int j = lane; j <= i; j += TEAM) {
        const T x = i == j ? of_real<T>(re(at(i, j))) : at(i, j);
        cells[i * pitch + j] = x;
        cells[j * pitch + i] = conj(x);
        is_finite &= is_finite_number(x);
        largest = ::fmax(largest, largest_part(x));
      }
    }
    const R scale = power_of_two_scale(largest, is_finite, spare);
    if (scale == 0) return true;
    for (int i = team; i < n; i += teams)
      for (int j = lane; j < n; j += TEAM) cells[i * pitch + j] = times(cells[i * pitch + j], scale);
    __syncthreads();
    for (int k = 0; k < n - 1; ++k) reduce(k);
    if (threadIdx.x == 0) diagonals[n - 1] = re(cells[n * pitch - pitch + n - 1]);
    if (vectors) gather();
    __syncthreads();
    const int warps = vectors ? (n + 31) / 32 : 1, warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < 2 * n * (warps - 1); i += blockDim.x) diagonals[2 * n + i] = diagonals[i % (2 * n)];
    __syncthreads();
    bool failed = false;
    if (warp < warps) failed = step(diagonals + 2 * n * warp, vectors ? threadIdx.x : n);
    failed = __syncthreads_or(failed);
    if (threadIdx.x == 0) spare[0] = 1 / scale;
    sort_ascending(diagonals, n, order);
    return failed;
  }

  // Make column k zero below the element beside the diagonal, by a reflection from both sides.
  __device__ void reduce(int k) {
    if (threadIdx.x < 32) {
      T* column = cells + k;
      const auto at = [=](int i) { return column[i * pitch]; };
      const auto column_reflection = reflection<32, T>(at(k + 1), k + 2, n, at);
      __syncwarp();
      for (int i = k + 1 + threadIdx.x; i < n; i += 32)
        v[i] = column[i * pitch] = i == k + 1 ? of_real<T>(1) : column_reflection.scaled(column[i * pitch]);
      if (threadIdx.x == 0) {
        tau[k] = column_reflection.factor;
        diagonals[k] = re(cells[k * pitch + k]);
        diagonals[n + k] = column_reflection.beta;
      }
    }
    __syncthreads();
    const T factor = tau[k];
    for (int i = k + 1 + team; i < n; i += teams) {
      T dot = of_real<T>(0);
      for (int j = k + 1 + lane; j < n; j += TEAM) dot = sub_mul(dot, cells[i * pitch + j], -v[j]);
      dot = team_sum<TEAM>(dot) * factor;
      if (lane == 0) w[i] = dot;
    }
    __syncthreads();
    T dot = of_real<T>(0);
    for (int i = k + 1 + threadIdx.x % 32; i < n; i += 32) dot = add_conj_mul(dot, w[i], v[i]);
    dot = times(factor * team_sum<32>(dot), R(0.5));
    for (int i = k + 1 + team; i < n; i += teams) {
      const T own_element = sub_mul(w[i], dot, v[i]), column_factor = v[i];
      for (int j = k + 1 + lane; j < n; j += TEAM) {
        const T column_element = sub_mul(w[j], dot, v[j]);
        T& x = cells[i * pitch + j];
        x = sub_mul(sub_mul(x, column_factor, conj(column_element)), own_element, conj(v[j]));
      }
    }
    __syncthreads();
  }

  // Write the product of all reflections to `rows`; a team computes each column.
  __device__ void gather() {
    for (int j = team; j < n; j += teams) {
      for (int i = lane; i < n; i += TEAM) rows[i * pitch + j] = of_real<T>(i == j);
      for (int k = j - 1; k >= 0; --k) {
        const int first = k + 1 + (lane + TEAM - (k + 1) % TEAM) % TEAM;
        T dot = of_real<T>(0);
        for (int i = first; i < n; i += TEAM)
          dot = add_conj_mul(dot, cells[i * pitch + k], rows[i * pitch + j]);
        dot = team_sum<TEAM>(dot) * tau[k];
        for (int i = first; i < n; i += TEAM)
          rows[i * pitch + j] = sub_mul(rows[i * pitch + j], dot, cells[i * pitch + k]);
      }
    }
  }

  // Take QL steps over a copy of the diagonals, `d` and after it the elements beside; the thread rotates `row` of the
  // vectors, if there is such a row. Returns true if the steps do not converge.
  __device__ bool step(R* d, int row) {
    R* e = d + n;
    const int warp_lane = threadIdx.x % 32;
    T* x = rows + row * pitch;
    const bool has_row = row < n;
    for (int l = 0, steps = 0; l < n;) {
      int m = n - 1;
      for (int first = l; first < n; first += 32) {
        const int i = first + warp_lane;
        const bool is_split =
            i >= n - 1 || !(::fabs(e[i]) > EPSILON<R> * (::fabs(d[i]) + ::fabs(d[i + 1]) + EPSILON<R>));
        const u32 found = __ballot_sync(ALL, is_split);
        if (found) {
          m = first + __ffs(int(found)) - 1;
          break;
        }
      }
      if (m == l) {
        ++l;
        steps = 0;
        continue;
      }
      if (++steps > MAX_SWEEPS) return true;
      const R start = d[l], off_diagonal = e[l];
      R g = (d[l + 1] - start) / (2 * off_diagonal);
      g = d[m] - start + off_diagonal / (g + ::copysign(::sqrt(::fma(g, g, R(1))), g));
      R s = 1, c = 1, p = 0, above = d[m], current = d[m - 1], off = e[m - 1];
      T last = has_row ? x[m] : of_real<T>(0), next = has_row ? x[m - 1] : of_real<T>(0);
      int i = m - 1;
      for (; i >= l; --i) {
        const R f = s * off, b = c * off, square = ::fma(f, f, g * g), inverse = inverse_root(square);
        // Operands of the next rotation are read before this rotation writes the elements above them.
        const int lower = i > l ? i - 1 : i;
        const R below = d[lower], off_below = e[lower];
        const T next_below = has_row ? x[lower] : next;
        __syncwarp();
        e[i + 1] = square == 0 ? R(0) : square * inverse;
        if (square == 0) break;
        s = f * inverse;
        c = g * inverse;
        g = above - p;
        const R t = (current - g) * s + 2 * c * b;
        p = s * t;
        d[i + 1] = g + p;
        g = c * t - b;
        above = current;
        current = below;
        off = off_below;
        if (has_row) {
          x[i + 1] = add_scaled(times(last, c), next, s);
          last = add_scaled(times(next, c), last, -s);
        }
        next = next_below;
      }
      if (has_row) x[i + 1] = last;
      __syncwarp();
      if (warp_lane == 0) {
        if (i >= l) {  // the matrix has split above row l
          d[i + 1] = above - p;
        } else {
          d[l] = start - p;
          e[l] = g;
        }
        e[m] = 0;
      }
      __syncwarp();
    }
    return false;
  }
};

}  // namespace la
