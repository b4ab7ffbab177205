// Eigenvalues of a tridiagonal matrix by divide and conquer, a block to each matrix (Cuppen 1981; Gu and Eisenstat
// 1995). Without the elements beside the diagonal, which couple its rows, the matrix is diagonal. The coupling of two
// parts adds a matrix of rank one; all parts of a level are merged at once, two by two. The eigenvalues of a merged
// part are the roots of the secular equation, a sum of fractions whose poles are the old eigenvalues; a team finds each
// root. A root is stored as its distance to the closer of the two poles around it. From the roots follow the weights
// for which they are exact, and from these weights the vectors, which are then orthogonal.

namespace la {

// The parts [low, middle) and [middle, high) that are merged. If one of them is empty nothing is.
template <class R> struct Part {
  int low, middle, high;
  R coupling;
  __device__ bool is_trivial() const { return middle == low || middle == high; }
};

// A step smaller than this fraction of the distance to the nearest pole is the last one, as convergence is quadratic.
template <class R> constexpr R LAST_STEP = R(2e-5);
template <> constexpr f64 LAST_STEP<f64> = 2e-10;

template <class R, int TEAM> struct Division {
  static const int ROWS = 4;  // of the product of vectors, for each warp
  R *d, *e;  // the diagonal, which becomes the eigenvalues, and the elements beside it
  R* q;      // the vectors as columns; if they are not wanted, only the first and the last row of every part
  R* u;      // the vectors of the merge, in the basis of the old vectors
  R* z;      // the weights of the old eigenvalues in the coupling; then the inverse lengths of the vectors of u
  R *poles, *weights;  // of the old eigenvalues that the merge changes, in ascending order
  R* offsets;          // from the closest pole to each root
  R* factors;          // the weights for which the roots are exact
  int* columns;        // of q, of the poles
  int* origins;        // the pole closest to each root
  int *partners, *counts;  // of columns in rotations; of the poles of each part, and above 16 bits of its rotations
  int n, pitch;
  bool vectors;
  int lane = threadIdx.x % TEAM, team = threadIdx.x / TEAM, teams = blockDim.x / TEAM;

  __device__ Division(R* d, R* q, R* u, R* spare, int n, int pitch, bool vectors)
      : d(d), e(d + n), q(q), u(u), z(spare), n(n), pitch(pitch), vectors(vectors) {
    poles = z + n;
    weights = poles + n;
    offsets = weights + n;
    factors = offsets + n;
    columns = (int*)(factors + n);
    origins = columns + n;
    partners = origins + n;
    counts = partners + n;
  }

  __device__ Part<R> part_number(int level, int k) const {
    const int low = (k * n) >> level, high = ((k + 1) * n) >> level, middle = ((2 * k + 1) * n) >> (level + 1);
    return {low, middle, high, middle > 0 && middle < n ? e[middle - 1] : R(0)};
  }
  __device__ Part<R> of_column(int level, int j) const { return part_number(level, (((j + 1) << level) - 1) / n); }

  __device__ void run() {
    R largest = 0;
    for (int i = threadIdx.x % 32; i < n; i += 32) {
      if (i < n - 1) largest = ::fmax(largest, ::fabs(e[i]));
      largest = ::fmax(largest, ::fabs(d[i]));
    }
    const R tolerance = 4 * EPSILON<R> * team_max<32>(largest);
    for (int i = threadIdx.x; i < n * (vectors ? n : 2); i += blockDim.x)
      q[i / n * pitch + i % n] = !vectors || i / n == i % n ? R(1) : R(0);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      d[i] -= (i < n - 1 ? ::fabs(e[i]) : R(0)) + (i > 0 ? ::fabs(e[i - 1]) : R(0));
    int level = 0;
    while (1 << level < n) ++level;
    while (level--) {
      __syncthreads();
      merge(level, tolerance);
    }
    __syncthreads();
  }

  __device__ void merge(int level, R tolerance) {
    for (int j = threadIdx.x; j < n; j += blockDim.x) z[j] = weight(of_column(level, j), j, tolerance);
    __syncthreads();
    for (int j = team; j < n; j += teams) place(of_column(level, j), j);
    __syncthreads();
    bool has_close = false;
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
      const int low = of_column(level, j).low;
      has_close |= j + 1 < low + counts[low] && is_close(j, j + 1, tolerance);
    }
    if (__syncthreads_or(has_close)) {
      for (int j = threadIdx.x; j < n; j += blockDim.x)
        if (of_column(level, j).low == j) deflate(j, tolerance);
      __syncthreads();
      for (int j = threadIdx.x; j < n; j += blockDim.x) rotate_row(of_column(level, j), j);
      __syncthreads();
      for (int j = threadIdx.x; j < n; j += blockDim.x)
        if (of_column(level, j).low == j) counts[j] &= 0xffff;
      __syncthreads();
    }
    for (int j = team; j < n; j += teams) {
      const Part<R> part = of_column(level, j);
      if (j < part.low + counts[part.low]) find_root(part, j);
    }
    __syncthreads();
    for (int j = team; j < n; j += teams) {
      const Part<R> part = of_column(level, j);
      if (j < part.low + counts[part.low]) exact_weight(part, j);
    }
    __syncthreads();
    for (int j = team; j < n; j += teams) {
      const Part<R> part = of_column(level, j);
      if (j < part.low + counts[part.low]) make_vector(part, j);
    }
    __syncthreads();
    multiply(level);
  }

  // The weight of eigenvalue j in the coupling; 0 if it is negligible and the eigenvalue stays as it is.
  __device__ R weight(Part<R> part, int j, R tolerance) {
    if (part.is_trivial()) return 0;
    const bool is_right = j >= part.middle;
    R& end = q[(vectors ? part.middle - !is_right : !is_right) * pitch + j];
    const R own_weight = R(0.7071067811865476) * (is_right && part.coupling < 0 ? -end : end);
    if (!vectors) end = 0;
    return 2 * ::fabs(part.coupling * own_weight) > tolerance ? own_weight : R(0);
  }

  // Write eigenvalue j to its place among the poles, in ascending order, if the merge changes it.
  __device__ void place(Part<R> part, int j) {
    u32 found = 0;
    for (int i = part.low + lane; i < part.high; i += TEAM)
      if (z[i] != 0) found += 0x10000 + (d[i] < d[j] || (d[i] == d[j] && i < j));
    found = team_sum<TEAM>(found);
    if (lane == 0) {
      const int at = part.low + int(found & 0xffff);
      if (j == part.low) counts[j] = found >> 16;
      if (z[j] != 0) columns[at] = j, poles[at] = d[j], weights[at] = z[j];
    }
  }

  // Returns true if two neighbouring poles are so close that a rotation may take all weight from the first.
  __device__ bool is_close(int i, int j, R tolerance) const {
    const R a = weights[i], b = weights[j];
    return ::fabs((poles[j] - poles[i]) * a * b) <= tolerance * ::fma(a, a, b * b);
  }

  // Remove the poles of a part whose weight a rotation takes, by one thread. The rotations are written down (columns in
  // `origins` and `partners`, sine in `offsets`, cosine in `factors`), and their count goes into the upper bits of
  // `counts`.
  __device__ void deflate(int low, R tolerance) {
    const int count = counts[low];
    if (count == 0) return;
    int kept_end = low, rotations = 0, previous = low;
    const auto keep = [&]() {
      columns[kept_end] = columns[previous];
      poles[kept_end] = poles[previous];
      weights[kept_end] = weights[previous];
      ++kept_end;
    };
    for (int j = low + 1; j < low + count; ++j) {
      if (is_close(previous, j, tolerance)) {
        const R a = weights[previous], b = weights[j], inverse = inverse_root(::fma(a, a, b * b));
        const R s = -a * inverse, c = b * inverse;
        const R p = poles[previous], gap = poles[j] - p;
        origins[low + rotations] = columns[previous];
        partners[low + rotations] = columns[j];
        offsets[low + rotations] = s;
        factors[low + rotations] = c;
        ++rotations;
        d[columns[previous]] = ::fma(gap * s, s, p);
        poles[j] = ::fma(gap * c, c, p);
        weights[j] = ::fma(a, a, b * b) * inverse;
      } else {
        keep();
      }
      previous = j;
    }
    keep();
    counts[low] = (kept_end - low) | rotations << 16;
  }

  // Apply the rotations of a part to row i of the vectors.
  __device__ void rotate_row(Part<R> part, int i) {
    if (!vectors && i != part.low && i != part.high - 1) return;
    R* row = q + (vectors ? i : i != part.low) * pitch;
    const int rotations = counts[part.low] >> 16;
    for (int t = part.low; t < part.low + rotations; ++t) {
      R &x = row[origins[t]], &y = row[partners[t]];
      const R old_x = x, s = offsets[t], c = factors[t];
      x = ::fma(c, old_x, s * y);
      y = ::fma(c, y, -s * old_x);
    }
  }

  struct Sums {
    R below, above, slope_below, slope_above;  // of the fractions with poles up to pole j, and after it
  };

  __device__ Sums pole_sums(int low, int high, int j, int origin, R offset) const {
    Sums partial = {0, 0, 0, 0};
    const R pole = poles[origin];
    int i = low + lane;
    for (; i <= j; i += TEAM) {
      const R z = weights[i], t = z * quick_inverse((poles[i] - pole) - offset);
      partial.below = ::fma(z, t, partial.below);
      partial.slope_below = ::fma(t, t, partial.slope_below);
    }
    for (; i < high; i += TEAM) {
      const R z = weights[i], t = z * quick_inverse((poles[i] - pole) - offset);
      partial.above = ::fma(z, t, partial.above);
      partial.slope_above = ::fma(t, t, partial.slope_above);
    }
    return {team_sum<TEAM>(partial.below), team_sum<TEAM>(partial.above), team_sum<TEAM>(partial.slope_below),
            team_sum<TEAM>(partial.slope_above)};
  }

  // The root of c x^2 - a x + b that is closer to 0.
  __device__ static R closer(R c, R a, R b) {
    const R square = ::fabs(::fma(a, a, -4 * b * c)), root = square > 0 ? square * inverse_root(square) : R(0);
    return a <= 0 ? (a - root) * quick_inverse(2 * c) : 2 * b * quick_inverse(a + root);
  }

  // Find the root between pole j and the next, or after the last. Each step replaces the fractions up to pole j by one
  // with the same value and slope, and those after it by another, and solves the quadratic equation that is left.
  __device__ void find_root(Part<R> part, int j) {
    const int low = part.low, high = low + counts[low];
    const bool is_last = j == high - 1;
    const R constant = 1 / (2 * ::fabs(part.coupling)), own_weight = weights[j] * weights[j];
    R gap, next_weight = 0;
    if (is_last) {
      R weight_sum = 0;
      for (int i = low + lane; i < high; i += TEAM) weight_sum += weights[i] * weights[i];
      gap = 2 * ::fabs(part.coupling) * team_sum<TEAM>(weight_sum) * (1 + 4 * EPSILON<R>);
    } else {
      gap = poles[j + 1] - poles[j];
      next_weight = weights[j + 1] * weights[j + 1];
    }
    int origin = j;
    R start = gap / 2;
    const Sums at_middle = pole_sums(low, high, j, j, start);
    const R value = constant + at_middle.below + at_middle.above;
    // The value without the fractions of the two poles around the root.
    const R rest = value + (own_weight - next_weight) / start;
    R left = 0, right = start, offset;
    if (is_last) {
      if (value < 0) left = start, right = gap;
      offset = own_weight / rest;
    } else if (value >= 0) {
      offset = closer(rest, ::fma(rest, gap, own_weight + next_weight), own_weight * gap);
    } else {
      origin = j + 1;
      left = -start;
      right = 0;
      offset = closer(rest, ::fma(rest, -gap, own_weight + next_weight), -next_weight * gap);
    }
    if (!(offset > left && offset < right)) offset = (left + right) / 2;
    for (int steps = 0; steps < 2 * MAX_SWEEPS; ++steps) {
      const Sums current = pole_sums(low, high, j, origin, offset);
      const R value = constant + current.below + current.above, slope = current.slope_below + current.slope_above;
      const R error = EPSILON<R> * ::fma(::fabs(offset), slope, 4 * (current.above - current.below) + constant);
      if (::fabs(value) <= error) break;
      if (value < 0) left = offset;
      else right = offset;
      const R below_pole = (poles[j] - poles[origin]) - offset;
      R step, nearest = ::fabs(below_pole);  // to the nearest pole
      if (is_last) {
        step = below_pole * value * quick_inverse(::fma(-below_pole, current.slope_below, value));
      } else {
        const R above_pole = (poles[j + 1] - poles[origin]) - offset;
        nearest = ::fmin(nearest, ::fabs(above_pole));
        const R c = value - below_pole * current.slope_below - above_pole * current.slope_above;
        const R product = below_pole * above_pole;
        step = closer(c, ::fma(below_pole + above_pole, value, -(product * slope)), product * value);
      }
      R next_offset = offset + step;
      if (!(next_offset > left && next_offset < right)) {
        next_offset = (left + right) / 2;
        if (next_offset == left || next_offset == right) break;
      } else if (::fabs(step) <= LAST_STEP<R> * nearest) {
        offset = next_offset;
        break;
      }
      offset = next_offset;
    }
    if (lane == 0) offsets[j] = offset, origins[j] = origin;
  }

  // The distance from root j to pole i, positive if the pole is above.
  __device__ R distance(int i, int j) const { return (poles[i] - poles[origins[j]]) - offsets[j]; }

  // Compute the weight of pole i for which all roots are exact.
  __device__ void exact_weight(Part<R> part, int i) {
    R product = 1;
    for (int j = part.low + lane; j < part.low + counts[part.low]; j += TEAM) {
      const R to_root = distance(i, j);
      product *= i == j ? -to_root : to_root * quick_inverse(poles[i] - poles[j]);
    }
#pragma unroll
    for (int step = TEAM / 2; step; step /= 2) product *= across_team(product, step);
    if (lane == 0) factors[i] = ::copysign(::sqrt(::fabs(product)), weights[i]);
  }
  __device__ R across_team(R x, int step) const {
    const u32 here = TEAM == 32 ? ALL : ((1u << (TEAM % 32)) - 1) << (threadIdx.x % 32 / TEAM * TEAM);
    return __shfl_xor_sync(here, x, step);
  }

  // Compute the vector of root j, and the factor that makes its length 1; the root becomes the eigenvalue.
  __device__ void make_vector(Part<R> part, int j) {
    R square = 0;
    for (int i = part.low + lane; i < part.low + counts[part.low]; i += TEAM) {
      const R x = factors[i] * quick_inverse(distance(i, j));
      u[i * pitch + j] = x;
      square = ::fma(x, x, square);
    }
    square = team_sum<TEAM>(square);
    if (lane == 0) {
      z[j] = inverse_root(square);
      d[columns[j]] = poles[origins[j]] + offsets[j];
    }
  }

  // Multiply the old vectors by those of the merge; a warp computes ROWS rows at a time.
  __device__ void multiply(int level) {
    const int longest = ((n - 1) >> level) + 1, groups = vectors ? (longest + ROWS - 1) / ROWS : 1;
    for (int unit = threadIdx.x / 32; unit < groups << level; unit += blockDim.x / 32) {
      const Part<R> part = part_number(level, unit / groups);
      const int first = unit % groups * ROWS, rows = min(ROWS, vectors ? part.high - part.low - first : 2);
      if (part.is_trivial() || rows <= 0) continue;
      const int low = part.low, count = counts[low];
      R* from = q + (vectors ? low + first : 0) * pitch;
      if (count > 64) multiply_rows<4>(from, rows, low, count);
      else if (count > 32) multiply_rows<2>(from, rows, low, count);
      else if (count > 0) multiply_rows<1>(from, rows, low, count);
    }
  }

  // Multiply rows of up to 32 * COLUMNS columns.
  template <int COLUMNS> __device__ void multiply_rows(R* from, int rows, int low, int count) {
    const int warp_lane = threadIdx.x % 32;
    const R* merge_vectors = u + low * pitch + low;
    const R* rows_from[ROWS];
    int lane_columns[COLUMNS];
    R sum[ROWS][COLUMNS];
#pragma unroll
    for (int t = 0; t < COLUMNS; ++t) lane_columns[t] = min(warp_lane + 32 * t, count - 1);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      rows_from[r] = from + min(r, rows - 1) * pitch;
#pragma unroll
      for (int t = 0; t < COLUMNS; ++t) sum[r][t] = 0;
    }
#pragma unroll(COLUMNS > 2 ? 2 : 4)
    for (int i = 0; i < count; ++i) {
      const int column = columns[low + i];
      R x[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) x[r] = rows_from[r][column];
#pragma unroll
      for (int t = 0; t < COLUMNS; ++t) {
        const R y = merge_vectors[i * pitch + lane_columns[t]];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) sum[r][t] = ::fma(x[r], y, sum[r][t]);
      }
    }
    __syncwarp();
#pragma unroll
    for (int t = 0; t < COLUMNS; ++t) {
      if (warp_lane + 32 * t >= count) continue;
      const int column = columns[low + lane_columns[t]];
      const R inverse_length = z[low + lane_columns[t]];
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
        if (r < rows) from[r * pitch + column] = sum[r][t] * inverse_length;
    }
  }
};

// Eigenvalues of a Hermitian matrix by way of a tridiagonal one. The reflections in between lie in global memory.
template <class T, int K, int COLUMNS> struct Divided {
  typedef Real<T> R;
  typedef la::Reduction<T, K, COLUMNS> Reduction;
  static const int PARTS = sizeof(T) / sizeof(R);
  T* rows;  // of the matrix whose columns are the vectors, where vectors are wanted
  R *u, *q, *d, *spare;
  T* columns;  // of the reduction
  int* order;
  int n, pitch;
  bool vectors;
  R unscale;

  __device__ Divided(void* shared, int n, bool vectors)
      : columns((T*)shared), n(n), pitch(n | 1), vectors(vectors) {
    rows = columns + Reduction::VECTORS * Reduction::SIZE;
    u = (R*)rows;
    q = u + (vectors ? PARTS : 1) * n * pitch;
    if (PARTS == 1) rows = (T*)q;
    d = q + (vectors ? n : 2) * pitch;
    spare = d + 2 * n;
    order = (int*)(spare + 32 + 5 * n) + 4 * n;
  }

  __device__ R value(int j) const { return d[order[j]] * unscale; }
  __device__ T vector(int j, int i) const { return rows[i * pitch + order[j]]; }

  // Compute eigenvalues; `at(i, j)` reads an element on or below the diagonal, and the output of the vectors holds the
  // reflections in the meantime. Returns true if the matrix is not finite.
  template <class At> __device__ bool run(At at, T* reflections) {
    {
      Reduction reduction(columns, d, n);
      const R scale = reduction.load(at, spare);
      if (scale == 0) return true;
      unscale = 1 / scale;
      reduction.run(reflections);
    }
    Division<R, Reduction::TEAM> division(d, q, u, spare + 32, n, pitch, vectors);
    division.run();
    if (vectors) Reduction::apply(columns, n, q, rows, pitch, reflections);
    sort_ascending(d, n, order);
    return false;
  }
};

}  // namespace la
