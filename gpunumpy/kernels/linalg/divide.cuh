// Eigenvalues of a tridiagonal matrix by division, a block to each matrix (Cuppen; Gu and Eisenstat). Without the numbers
// beside the diagonal that couple its rows it is diagonal; what couples two parts adds a matrix of rank one to them, and
// all parts of a size are merged at once, two by two. The eigenvalues of a merge are the roots of a sum of fractions, and
// a team finds each. A root is kept as the distance to the closer one of the old values around it, its poles; from the roots
// follows of which weights they are the roots exactly, and of these the vectors, so that they are orthogonal.

namespace la {

// The parts [low, middle) and [middle, high) that are merged, if neither is empty.
template <class R> struct Part {
  int low, middle, high;
  R coupling;
  __device__ bool whole() const { return middle == low || middle == high; }
};

// A step so small beside the distance to the nearest pole is the last one, since errors are squared.
template <class R> constexpr R CLOSE = R(2e-5);
template <> constexpr f64 CLOSE<f64> = 2e-10;

template <class R, int TEAM> struct Division {
  static const int ROWS = 4;  // of a product, that a warp has to itself
  R *d, *e;  // the diagonal, which becomes the eigenvalues, and what is beside it
  R* q;  // the vectors as columns; where they are not wanted, only the first and the last row of every part
  R* u;  // the vectors of what is merged
  R *z, *poles, *weights, *offsets, *factors;
  int *columns, *origins, *partners, *counts;
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

  __device__ Part<R> numbered(int level, int k) const {
    const int low = (k * n) >> level, high = ((k + 1) * n) >> level, middle = ((2 * k + 1) * n) >> (level + 1);
    return {low, middle, high, middle > 0 && middle < n ? e[middle - 1] : R(0)};
  }
  __device__ Part<R> of_column(int level, int j) const { return numbered(level, (((j + 1) << level) - 1) / n); }

  __device__ void run() {
    R most = 0;
    for (int i = threadIdx.x % 32; i < n; i += 32) {
      if (i < n - 1) most = ::fmax(most, ::fabs(e[i]));
      most = ::fmax(most, ::fabs(d[i]));
    }
    const R least = 4 * EPSILON<R> * team_max<32>(most);
    for (int i = threadIdx.x; i < n * (vectors ? n : 2); i += blockDim.x)
      q[i / n * pitch + i % n] = !vectors || i / n == i % n ? R(1) : R(0);
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      d[i] -= (i < n - 1 ? ::fabs(e[i]) : R(0)) + (i > 0 ? ::fabs(e[i - 1]) : R(0));
    int level = 0;
    while (1 << level < n) ++level;
    while (level--) {
      __syncthreads();
      merge(level, least);
    }
    __syncthreads();
  }

  __device__ void merge(int level, R least) {
    for (int j = threadIdx.x; j < n; j += blockDim.x) z[j] = weight(of_column(level, j), j, least);
    __syncthreads();
    for (int j = team; j < n; j += teams) place(of_column(level, j), j);
    __syncthreads();
    bool close = false;
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
      const int low = of_column(level, j).low;
      close |= j + 1 < low + counts[low] && near(j, j + 1, least);
    }
    if (__syncthreads_or(close)) {
      for (int j = threadIdx.x; j < n; j += blockDim.x)
        if (of_column(level, j).low == j) deflate(j, least);
      __syncthreads();
      for (int j = threadIdx.x; j < n; j += blockDim.x) turn(of_column(level, j), j);
      __syncthreads();
      for (int j = threadIdx.x; j < n; j += blockDim.x)
        if (of_column(level, j).low == j) counts[j] &= 0xffff;
      __syncthreads();
    }
    for (int j = team; j < n; j += teams) {
      const Part<R> part = of_column(level, j);
      if (j < part.low + counts[part.low]) find(part, j);
    }
    __syncthreads();
    for (int j = team; j < n; j += teams) {
      const Part<R> part = of_column(level, j);
      if (j < part.low + counts[part.low]) weigh(part, j);
    }
    __syncthreads();
    for (int j = team; j < n; j += teams) {
      const Part<R> part = of_column(level, j);
      if (j < part.low + counts[part.low]) point(part, j);
    }
    __syncthreads();
    multiply(level);
  }

  // How much of the coupling a vector has; nothing where it stays as it is.
  __device__ R weight(Part<R> part, int j, R least) {
    if (part.whole()) return 0;
    const bool right = j >= part.middle;
    R& end = q[(vectors ? part.middle - !right : !right) * pitch + j];
    const R its = R(0.7071067811865476) * (right && part.coupling < 0 ? -end : end);
    if (!vectors) end = 0;
    return 2 * ::fabs(part.coupling * its) > least ? its : R(0);
  }

  // Those that do not stay, in the order of their values.
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

  // Whether two neighbours are so close that a rotation may take all weight from the first one.
  __device__ bool near(int i, int j, R least) const {
    const R a = weights[i], b = weights[j];
    return ::fabs((poles[j] - poles[i]) * a * b) <= least * ::fma(a, a, b * b);
  }

  // By one thread for a part. Rotations are noted, and how many there are beside the number of those that are left.
  __device__ void deflate(int low, R least) {
    const int count = counts[low];
    if (count == 0) return;
    int left = low, turns = 0, last = low;
    const auto keep = [&]() {
      columns[left] = columns[last];
      poles[left] = poles[last];
      weights[left] = weights[last];
      ++left;
    };
    for (int j = low + 1; j < low + count; ++j) {
      if (near(last, j, least)) {
        const R a = weights[last], b = weights[j], inverse = one_over_root(::fma(a, a, b * b)), s = -a * inverse, c = b * inverse;
        const R p = poles[last], gap = poles[j] - p;
        origins[low + turns] = columns[last];
        partners[low + turns] = columns[j];
        offsets[low + turns] = s;
        factors[low + turns] = c;
        ++turns;
        d[columns[last]] = ::fma(gap * s, s, p);
        poles[j] = ::fma(gap * c, c, p);
        weights[j] = ::fma(a, a, b * b) * inverse;
      } else {
        keep();
      }
      last = j;
    }
    keep();
    counts[low] = (left - low) | turns << 16;
  }

  // The row of the vectors that a thread has, if it has one.
  __device__ void turn(Part<R> part, int i) {
    if (!vectors && i != part.low && i != part.high - 1) return;
    R* row = q + (vectors ? i : i != part.low) * pitch;
    const int turns = counts[part.low] >> 16;
    for (int t = part.low; t < part.low + turns; ++t) {
      R &x = row[origins[t]], &y = row[partners[t]];
      const R was = x, s = offsets[t], c = factors[t];
      x = ::fma(c, was, s * y);
      y = ::fma(c, y, -s * was);
    }
  }

  struct Sums {
    R below, above, slope_below, slope_above;  // of the fractions with poles up to that of a root, and after it
  };

  __device__ Sums sums(int low, int high, int j, int origin, R offset) const {
    Sums its = {0, 0, 0, 0};
    const R pole = poles[origin];
    int i = low + lane;
    for (; i <= j; i += TEAM) {
      const R z = weights[i], t = z * quick_inverse((poles[i] - pole) - offset);
      its.below = ::fma(z, t, its.below);
      its.slope_below = ::fma(t, t, its.slope_below);
    }
    for (; i < high; i += TEAM) {
      const R z = weights[i], t = z * quick_inverse((poles[i] - pole) - offset);
      its.above = ::fma(z, t, its.above);
      its.slope_above = ::fma(t, t, its.slope_above);
    }
    return {team_sum<TEAM>(its.below), team_sum<TEAM>(its.above), team_sum<TEAM>(its.slope_below),
            team_sum<TEAM>(its.slope_above)};
  }

  // The root of c x^2 - a x + b that is the closer one to 0.
  __device__ static R closer(R c, R a, R b) {
    const R square = ::fabs(::fma(a, a, -4 * b * c)), root = square > 0 ? square * one_over_root(square) : R(0);
    return a <= 0 ? (a - root) * quick_inverse(2 * c) : 2 * b * quick_inverse(a + root);
  }

  // The root between a pole and the next one, or after the last one. Fractions of the sums that have the same value
  // and slope, one for all poles up to the root and one for the others, lead to it.
  __device__ void find(Part<R> part, int j) {
    const int low = part.low, high = low + counts[low];
    const bool final = j == high - 1;
    const R constant = 1 / (2 * ::fabs(part.coupling)), own = weights[j] * weights[j];
    R gap, next = 0;
    if (final) {
      R whole = 0;
      for (int i = low + lane; i < high; i += TEAM) whole += weights[i] * weights[i];
      gap = 2 * ::fabs(part.coupling) * team_sum<TEAM>(whole) * (1 + 4 * EPSILON<R>);
    } else {
      gap = poles[j + 1] - poles[j];
      next = weights[j + 1] * weights[j + 1];
    }
    int origin = j;
    R start = gap / 2;
    const Sums half = sums(low, high, j, j, start);
    const R value = constant + half.below + half.above;
    const R rest = value + (own - next) / start;
    R left = 0, right = start, offset;
    if (final) {
      if (value < 0) left = start, right = gap;
      offset = own / rest;
    } else if (value >= 0) {
      offset = closer(rest, ::fma(rest, gap, own + next), own * gap);
    } else {
      origin = j + 1;
      left = -start;
      right = 0;
      offset = closer(rest, ::fma(rest, -gap, own + next), -next * gap);
    }
    if (!(offset > left && offset < right)) offset = (left + right) / 2;
    for (int turns = 0; turns < 2 * SWEEPS; ++turns) {
      const Sums its = sums(low, high, j, origin, offset);
      const R value = constant + its.below + its.above, slope = its.slope_below + its.slope_above;
      if (::fabs(value) <= EPSILON<R> * ::fma(::fabs(offset), slope, 4 * (its.above - its.below) + constant)) break;
      if (value < 0) left = offset;
      else right = offset;
      const R back = (poles[j] - poles[origin]) - offset;
      R by, room = ::fabs(back);  // to the nearest pole
      if (final) {
        by = back * value * quick_inverse(::fma(-back, its.slope_below, value));
      } else {
        const R ahead = (poles[j + 1] - poles[origin]) - offset;
        room = ::fmin(room, ::fabs(ahead));
        const R c = value - back * its.slope_below - ahead * its.slope_above;
        by = closer(c, ::fma(back + ahead, value, -(back * ahead * slope)), back * ahead * value);
      }
      R better = offset + by;
      if (!(better > left && better < right)) {
        better = (left + right) / 2;
        if (better == left || better == right) break;
      } else if (::fabs(by) <= CLOSE<R> * room) {
        offset = better;
        break;
      }
      offset = better;
    }
    if (lane == 0) offsets[j] = offset, origins[j] = origin;
  }

  // The distance from a pole to a root.
  __device__ R distance(int i, int j) const { return (poles[i] - poles[origins[j]]) - offsets[j]; }

  // The weight of a pole of which all roots are exact.
  __device__ void weigh(Part<R> part, int i) {
    R product = 1;
    for (int j = part.low + lane; j < part.low + counts[part.low]; j += TEAM) {
      const R far = distance(i, j);
      product *= i == j ? -far : far * quick_inverse(poles[i] - poles[j]);
    }
#pragma unroll
    for (int step = TEAM / 2; step; step /= 2) product *= across_team(product, step);
    if (lane == 0) factors[i] = ::copysign(::sqrt(::fabs(product)), weights[i]);
  }
  __device__ R across_team(R x, int step) const {
    const u32 here = TEAM == 32 ? ALL : ((1u << (TEAM % 32)) - 1) << (threadIdx.x % 32 / TEAM * TEAM);
    return __shfl_xor_sync(here, x, step);
  }

  // The vector of a root, and what makes its length 1; the root is the new value.
  __device__ void point(Part<R> part, int j) {
    R square = 0;
    for (int i = part.low + lane; i < part.low + counts[part.low]; i += TEAM) {
      const R x = factors[i] * quick_inverse(distance(i, j));
      u[i * pitch + j] = x;
      square = ::fma(x, x, square);
    }
    square = team_sum<TEAM>(square);
    if (lane == 0) {
      z[j] = one_over_root(square);
      d[columns[j]] = poles[origins[j]] + offsets[j];
    }
  }

  // The vectors of the merged parts; a warp has some rows to itself.
  __device__ void multiply(int level) {
    const int longest = ((n - 1) >> level) + 1, groups = vectors ? (longest + ROWS - 1) / ROWS : 1;
    for (int unit = threadIdx.x / 32; unit < groups << level; unit += blockDim.x / 32) {
      const Part<R> part = numbered(level, unit / groups);
      const int first = unit % groups * ROWS, rows = min(ROWS, vectors ? part.high - part.low - first : 2);
      if (part.whole() || rows <= 0) continue;
      const int low = part.low, count = counts[low];
      R* from = q + (vectors ? low + first : 0) * pitch;
      if (count > 64) multiply_rows<4>(from, rows, low, count);
      else if (count > 32) multiply_rows<2>(from, rows, low, count);
      else if (count > 0) multiply_rows<1>(from, rows, low, count);
    }
  }

  // Up to 32 * TURNS columns.
  template <int TURNS> __device__ void multiply_rows(R* from, int rows, int low, int count) {
    const int place = threadIdx.x % 32;
    const R* its = u + low * pitch + low;
    const R* row[ROWS];
    int where[TURNS];
    R sum[ROWS][TURNS];
#pragma unroll
    for (int t = 0; t < TURNS; ++t) where[t] = min(place + 32 * t, count - 1);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      row[r] = from + min(r, rows - 1) * pitch;
#pragma unroll
      for (int t = 0; t < TURNS; ++t) sum[r][t] = 0;
    }
#pragma unroll(TURNS > 2 ? 2 : 4)
    for (int i = 0; i < count; ++i) {
      const int column = columns[low + i];
      R x[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) x[r] = row[r][column];
#pragma unroll
      for (int t = 0; t < TURNS; ++t) {
        const R y = its[i * pitch + where[t]];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) sum[r][t] = ::fma(x[r], y, sum[r][t]);
      }
    }
    __syncwarp();
#pragma unroll
    for (int t = 0; t < TURNS; ++t) {
      if (place + 32 * t >= count) continue;
      const int column = columns[low + where[t]];
      const R shrink = z[low + where[t]];
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
        if (r < rows) from[r * pitch + column] = sum[r][t] * shrink;
    }
  }
};

// Of a Hermitian matrix, from its tridiagonal one; the reflections that make it so are kept in global memory meanwhile.
template <class T, int K, int COLUMNS> struct Divided {
  typedef Real<T> R;
  typedef la::Reduction<T, K, COLUMNS> Reduction;
  static const int PARTS = sizeof(T) / sizeof(R);
  T* rows;  // of the vectors, as columns, where they are wanted
  R *u, *q, *d, *spare;
  T* columns;  // of the reduction
  int* order;
  int n, pitch;
  bool vectors;
  R back;

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

  __device__ R value(int j) const { return d[order[j]] * back; }
  __device__ T vector(int j, int i) const { return rows[i * pitch + order[j]]; }

  // Returns whether it failed. The memory for the vectors holds the reflections meanwhile.
  template <class At> __device__ bool run(At at, T* kept) {
    {
      Reduction reduction(columns, d, n);
      const R scale = reduction.load(at, spare);
      if (scale == 0) return true;
      back = 1 / scale;
      reduction.run(kept);
    }
    Division<R, Reduction::TEAM> division(d, q, u, spare + 32, n, pitch, vectors);
    division.run();
    if (vectors) Reduction::apply(columns, n, q, rows, pitch, kept);
    in_order(d, n, order);
    return false;
  }
};

}  // namespace la
