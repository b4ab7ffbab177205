// Eigenvalues of a Hermitian matrix in shared memory, a block to each: Householder's reflections make it tridiagonal and
// real, and implicit QL steps make that diagonal. In the steps every warp has a copy of the two diagonals and goes
// through the same numbers, which all of its threads write, and every thread turns the elements of one row of the vectors; so no thread waits for another.

namespace la {

// The order in which values rise.
template <class R> __device__ inline void in_order(const R* values, int n, int* order) {
  for (int j = threadIdx.x; j < n; j += blockDim.x) {
    int place = 0;
    for (int i = 0; i < n; ++i) place += values[i] < values[j] || (values[i] == values[j] && i < j);
    order[place] = j;
  }
  __syncthreads();
}

template <class T, int TEAM> struct Tridiagonal {
  typedef Real<T> R;
  T* cells;  // n rows, `pitch` from one to the next
  T* rows;  // of the vectors, as columns, where they are wanted
  T* v;  // a reflection
  T* w;
  T* tau;
  R* diagonals;  // for every warp of the steps n elements on the diagonal, and n beside it
  R* spare;
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

  // `at` gives the elements on and below the diagonal. Returns whether it failed.
  template <class At> __device__ bool run(At at) {
    R most = 0;
    bool sound = true;
    for (int i = team; i < n; i += teams) {
      for (int j = lane; j <= i; j += TEAM) {
        const T x = i == j ? of_real<T>(re(at(i, j))) : at(i, j);
        cells[i * pitch + j] = x;
        cells[j * pitch + i] = conj(x);
        sound &= finite(x);
        most = ::fmax(most, largest_part(x));
      }
    }
    const R scale = scale_for(most, sound, spare);
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
    in_order(diagonals, n, order);
    return failed;
  }

  // Make zeros below the diagonal's neighbour in a column, by a reflection from both sides.
  __device__ void reduce(int k) {
    if (threadIdx.x < 32) {
      T* column = cells + k;
      const auto its = reflection<32, T>(column[(k + 1) * pitch], k + 2, n, [=](int i) { return column[i * pitch]; });
      __syncwarp();
      for (int i = k + 1 + threadIdx.x; i < n; i += 32)
        v[i] = column[i * pitch] = i == k + 1 ? of_real<T>(1) : its.scaled(column[i * pitch]);
      if (threadIdx.x == 0) {
        tau[k] = its.factor;
        diagonals[k] = re(cells[k * pitch + k]);
        diagonals[n + k] = its.beta;
      }
    }
    __syncthreads();
    const T factor = tau[k];
    for (int i = k + 1 + team; i < n; i += teams) {
      T part = of_real<T>(0);
      for (int j = k + 1 + lane; j < n; j += TEAM) part = less(part, cells[i * pitch + j], -v[j]);
      part = team_sum<TEAM>(part) * factor;
      if (lane == 0) w[i] = part;
    }
    __syncthreads();
    T part = of_real<T>(0);
    for (int i = k + 1 + threadIdx.x % 32; i < n; i += 32) part = inner(part, w[i], v[i]);
    part = times(factor * team_sum<32>(part), R(0.5));
    for (int i = k + 1 + team; i < n; i += teams) {
      const T mine = less(w[i], part, v[i]), its = v[i];
      for (int j = k + 1 + lane; j < n; j += TEAM) {
        const T other = less(w[j], part, v[j]);
        T& x = cells[i * pitch + j];
        x = less(less(x, its, conj(other)), mine, conj(v[j]));
      }
    }
    __syncthreads();
  }

  // The product of all reflections, every column by itself.
  __device__ void gather() {
    for (int j = team; j < n; j += teams) {
      for (int i = lane; i < n; i += TEAM) rows[i * pitch + j] = of_real<T>(i == j);
      for (int k = j - 1; k >= 0; --k) {
        const int first = k + 1 + (lane + TEAM - (k + 1) % TEAM) % TEAM;
        T part = of_real<T>(0);
        for (int i = first; i < n; i += TEAM) part = inner(part, cells[i * pitch + k], rows[i * pitch + j]);
        part = team_sum<TEAM>(part) * tau[k];
        for (int i = first; i < n; i += TEAM) rows[i * pitch + j] = less(rows[i * pitch + j], part, cells[i * pitch + k]);
      }
    }
  }

  // QL steps over a copy of the diagonals, `d` and after it those beside; the thread turns one row, if there is such.
  __device__ bool step(R* d, int row) {
    R* e = d + n;
    const int place = threadIdx.x % 32;
    T* x = rows + row * pitch;
    const bool here = row < n;
    for (int l = 0, turns = 0; l < n;) {
      int m = n - 1;
      for (int first = l; first < n; first += 32) {
        const int i = first + place;
        const bool apart = i >= n - 1 || !(::fabs(e[i]) > EPSILON<R> * (::fabs(d[i]) + ::fabs(d[i + 1]) + EPSILON<R>));
        const u32 found = __ballot_sync(ALL, apart);
        if (found) {
          m = first + __ffs(int(found)) - 1;
          break;
        }
      }
      if (m == l) {
        ++l;
        turns = 0;
        continue;
      }
      if (++turns > SWEEPS) return true;
      const R start = d[l], beside = e[l];
      R g = (d[l + 1] - start) / (2 * beside);
      g = d[m] - start + beside / (g + ::copysign(::sqrt(::fma(g, g, R(1))), g));
      R s = 1, c = 1, p = 0, above = d[m], its = d[m - 1], off = e[m - 1];
      T last = here ? x[m] : of_real<T>(0), next = here ? x[m - 1] : of_real<T>(0);
      int i = m - 1;
      for (; i >= l; --i) {
        const R f = s * off, b = c * off, square = ::fma(f, f, g * g), inverse = one_over_root(square);
        // What the next turn needs is read before anything is written that lies above it.
        const int lower = i > l ? i - 1 : i;
        const R below = d[lower], off_below = e[lower];
        const T next_below = here ? x[lower] : next;
        __syncwarp();
        e[i + 1] = square == 0 ? R(0) : square * inverse;
        if (square == 0) break;
        s = f * inverse;
        c = g * inverse;
        g = above - p;
        const R t = (its - g) * s + 2 * c * b;
        p = s * t;
        d[i + 1] = g + p;
        g = c * t - b;
        above = its;
        its = below;
        off = off_below;
        if (here) {
          x[i + 1] = plus(times(last, c), next, s);
          last = plus(times(next, c), last, -s);
        }
        next = next_below;
      }
      if (here) x[i + 1] = last;
      __syncwarp();
      if (place == 0) {
        if (i >= l) {  // the rest is apart already
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
