// Jacobi's methods for small matrices in shared memory, a block to each matrix. In a round every row meets another one,
// so that all pairs of a round are rotated at once, and in a sweep of rounds every pair meets. Rotations are as exact as
// numbers are, and nothing is summed in an order that changes.

namespace la {

const int SWEEPS = 40;

// x + by * y
__device__ inline f32 plus(f32 x, f32 y, f32 by) { return ::fma(by, y, x); }
__device__ inline f64 plus(f64 x, f64 y, f64 by) { return ::fma(by, y, x); }
template <class T> __device__ inline cx<T> plus(cx<T> x, cx<T> y, T by) {
  return {::fma(by, y.re, x.re), ::fma(by, y.im, x.im)};
}

// The rows that meet as pair g of a round, of an even number of rows of which the last one stays where it is.
__device__ inline void meet(int g, int round, int even, int& p, int& q) {
  const int around = even - 1;
  p = round + g;
  q = round - g;
  if (g == 0) p = around;
  else if (p >= around) p -= around;
  if (q < 0) q += around;
}

// p becomes c p - s q, and q becomes s p + c q, after q was multiplied by `phase`. What is added to a row is small where
// the angle is (`bend` is the tangent of its half), so that many rotations leave lengths as they are.
template <class T> struct Rotation {
  Real<T> bend, s;
  T phase;
  // What makes a pair with the squares `a` and `b` and the product `ab` orthogonal; also the tangent.
  __device__ Real<T> find(Real<T> a, Real<T> b, T ab) {
    const Real<T> length = size(ab), zeta = (b - a) / (2 * length), far = ::fabs(zeta);
    const Real<T> t = ::copysign(1 / (far + ::hypot(Real<T>(1), far)), zeta);
    const Real<T> c = 1 / ::sqrt(::fma(t, t, Real<T>(1)));
    s = c * t;
    bend = s / (1 + c);
    if constexpr (op::kind<T> == 3) phase = {ab.re / length, -ab.im / length};
    else phase = ::copysign(T(1), ab);
    return t * length;
  }
  __device__ void turn(T& x, T& y) const {
    const T z = y * phase;
    y = plus(z, plus(x, z, -bend), s);
    x = plus(x, plus(z, x, bend), -s);
  }
};
__device__ inline void clear(Rotation<f32>& r) { r = {0, 0, 1}; }
__device__ inline void clear(Rotation<f64>& r) { r = {0, 0, 1}; }
template <class T> __device__ inline void clear(Rotation<cx<T>>& r) { r = {0, 0, {1, 0}}; }

// Singular values of r rows of c elements, r <= c, and where `vectors` is set their vectors. A row of `cells` is one of
// the matrix, with that of an identity behind it; `right` rows of vectors are wanted.
template <class T, int TEAM> struct Singular {
  typedef Real<T> R;
  T* cells;
  R* values;  // r of them
  int* order;  // as many as there are rows of vectors
  R* spare;  // a number of each warp
  T* parts;  // one for every row of vectors
  int r, c, pitch, right;
  bool vectors;

  __device__ Singular(void* shared, int r, int c, int right, int pitch, bool vectors)
      : r(r), c(c), pitch(pitch), right(right), vectors(vectors) {
    cells = (T*)shared;
    parts = cells + right * pitch;
    values = (R*)(parts + right);
    spare = values + r;
    order = (int*)(spare + 32);
  }

  // Returns whether it failed.
  template <class At> __device__ bool run(At at) {
    R most = 0;
    bool sound = true;
    for (int i = threadIdx.x; i < r * c; i += blockDim.x) {
      const T x = cells[i / c * pitch + i % c] = at(i / c, i % c);
      sound &= finite(x);
      most = ::fmax(most, largest_part(x));
    }
    const R scale = scale_for(most, sound, spare);
    if (scale == 0) return true;
    const int length = vectors ? c + r : c;
    for (int i = threadIdx.x; i < r * length; i += blockDim.x) {
      T& x = cells[i / length * pitch + i % length];
      x = i % length < c ? times(x, scale) : of_real<T>(i % length - c == i / length);
    }
    __syncthreads();
    bool moving = true;
    for (int sweep = 0; sweep < SWEEPS && moving; ++sweep) moving = rotate(length);
    finish(1 / scale);
    return moving;
  }

  // A sweep; whether any pair was not orthogonal.
  __device__ bool rotate(int length) {
    const int even = r + r % 2, lane = threadIdx.x % TEAM, teams = blockDim.x / TEAM;
    const R least = EPSILON<R> * ::sqrt(R(c));
    bool moved = false;
    for (int round = 0; round < even - 1; ++round) {
      for (int first = 0; first < even / 2; first += teams) {
        const int g = first + threadIdx.x / TEAM;
        int p, q;
        meet(g, round, even, p, q);
        const bool here = g < even / 2 && p < r && q < r;
        T* x = cells + (here ? p : 0) * pitch;
        T* y = cells + (here ? q : 0) * pitch;
        R a = 0, b = 0;
        T ab = of_real<T>(0);
        for (int k = lane; k < c; k += TEAM) {
          a += square(x[k]);
          b += square(y[k]);
          ab = inner(ab, x[k], y[k]);
        }
        a = team_sum<TEAM>(a);
        b = team_sum<TEAM>(b);
        ab = team_sum<TEAM>(ab);
        if (!here || a < NOTHING<R> || b < NOTHING<R> || !(size(ab) > least * ::sqrt(a) * ::sqrt(b))) continue;
        Rotation<T> rotation;
        rotation.find(a, b, ab);
        for (int k = lane; k < length; k += TEAM) rotation.turn(x[k], y[k]);
        moved = true;
      }
      __syncthreads();
    }
    return __syncthreads_or(moved);
  }

  // The values, the order in which they fall, and rows of length 1.
  __device__ void finish(R scale) {
    for (int first = 0; first < r; first += blockDim.x / TEAM) {
      const int j = first + threadIdx.x / TEAM;
      R a = 0;
      for (int k = threadIdx.x % TEAM; j < r && k < c; k += TEAM) a += square(cells[j * pitch + k]);
      a = team_sum<TEAM>(a);
      if (j < r && threadIdx.x % TEAM == 0) values[j] = a;
    }
    __syncthreads();
    int known = 0;
    for (int j = 0; j < r; ++j) known += values[j] >= NOTHING<R>;
    for (int j = threadIdx.x; j < right; j += blockDim.x) {
      int place = j;
      if (j < r) {
        place = 0;
        for (int i = 0; i < r; ++i) place += values[i] > values[j] || (values[i] == values[j] && i < j);
      }
      order[place] = j;
    }
    if (vectors) {
      for (int i = threadIdx.x; i < r * c; i += blockDim.x) {
        const R a = values[i / c];
        if (a >= NOTHING<R>) cells[i / c * pitch + i % c] = times(cells[i / c * pitch + i % c], 1 / ::sqrt(a));
      }
      __syncthreads();
      for (int n = known; n < right; ++n) complete(n);
    }
    __syncthreads();
    for (int j = threadIdx.x; j < r; j += blockDim.x) values[j] = ::sqrt(values[j]) * scale;
    __syncthreads();
  }

  // One more row, orthogonal to the n first ones: what is left of the axis that they have least of.
  __device__ void complete(int n) {
    T* row = cells + order[n] * pitch;
    int axis = 0;
    R least = 2;
    for (int k = 0; k < c; ++k) {
      R taken = 0;
      for (int i = threadIdx.x % 32; i < n; i += 32) taken += square(cells[order[i] * pitch + k]);
      taken = team_sum<32>(taken);
      if (taken < least) least = taken, axis = k;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < c; k += blockDim.x) row[k] = of_real<T>(k == axis);
    __syncthreads();
    for (int pass = 0; pass < 3; ++pass) {
      for (int first = 0; first < n; first += blockDim.x / TEAM) {
        const int i = first + threadIdx.x / TEAM;
        T part = of_real<T>(0);
        for (int k = threadIdx.x % TEAM; i < n && k < c; k += TEAM)
          part = inner(part, cells[order[i] * pitch + k], row[k]);
        part = team_sum<TEAM>(part);
        if (i < n && threadIdx.x % TEAM == 0) parts[i] = part;
      }
      __syncthreads();
      for (int k = threadIdx.x; k < c; k += blockDim.x) {
        T x = row[k];
        for (int i = 0; i < n; ++i) x = less(x, parts[i], cells[order[i] * pitch + k]);
        row[k] = x;
      }
      __syncthreads();
      R a = 0;
      for (int k = threadIdx.x % 32; k < c; k += 32) a += square(row[k]);
      const R shrink = 1 / ::sqrt(team_sum<32>(a));
      __syncthreads();
      for (int k = threadIdx.x; k < c; k += blockDim.x) row[k] = times(row[k], shrink);
      __syncthreads();
    }
  }
};

// Eigenvalues of a Hermitian matrix of n rows, and where `vectors` is set its vectors, as rows.
template <class T> struct Hermitian {
  typedef Real<T> R;
  T* cells;
  T* rows;
  Rotation<T>* turns;
  R* spare;
  int* order;
  int n, pitch;
  bool vectors;

  __device__ Hermitian(void* shared, int n, int pitch, bool vectors) : n(n), pitch(pitch), vectors(vectors) {
    cells = (T*)shared;
    rows = cells + n * pitch;
    turns = (Rotation<T>*)(rows + (vectors ? n * n : 0));
    spare = (R*)(turns + (n + 1) / 2);
    order = (int*)(spare + 32);
  }

  // `at` gives the elements on and below the diagonal. Returns whether it failed.
  template <class At> __device__ bool run(At at) {
    R most = 0;
    bool sound = true;
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
      const int row = i / n, column = i % n;
      if (column > row) continue;
      T x = at(row, column);
      if (row == column) x = of_real<T>(re(x));
      cells[row * pitch + column] = x;
      cells[column * pitch + row] = conj(x);
      sound &= finite(x);
      most = ::fmax(most, largest_part(x));
    }
    const R scale = scale_for(most, sound, spare);
    if (scale == 0) return true;
    R total = 0;
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
      T& x = cells[i / n * pitch + i % n];
      x = times(x, scale);
      total += square(x);
      if (vectors) rows[i] = of_real<T>(i / n == i % n);
    }
    total = team_sum<32>(total);
    if (threadIdx.x % 32 == 0) spare[threadIdx.x / 32] = total;
    __syncthreads();
    total = 0;
    for (int w = 0; w < int(blockDim.x / 32); ++w) total += spare[w];
    const R least = EPSILON<R> * ::sqrt(total) / (4 * n);
    bool moving = true;
    for (int sweep = 0; sweep < SWEEPS && moving; ++sweep) moving = rotate(least);
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
      const R mine = re(cells[j * pitch + j]);
      int place = 0;
      for (int i = 0; i < n; ++i) {
        const R other = re(cells[i * pitch + i]);
        place += other < mine || (other == mine && i < j);
      }
      order[place] = j;
    }
    if (threadIdx.x == 0) spare[0] = 1 / scale;
    __syncthreads();
    return moving;
  }

  __device__ R value(int j) const { return re(cells[order[j] * pitch + order[j]]) * spare[0]; }

  __device__ bool rotate(R least) {
    const int even = n + n % 2, pairs = even / 2;
    bool moved = false;
    for (int round = 0; round < even - 1; ++round) {
      for (int g = threadIdx.x; g < pairs; g += blockDim.x) {
        int p, q;
        meet(g, round, even, p, q);
        clear(turns[g]);
        if (p >= n || q >= n || !(size(cells[p * pitch + q]) > least)) continue;
        T& a = cells[p * pitch + p];
        T& b = cells[q * pitch + q];
        const R step = turns[g].find(re(a), re(b), cells[p * pitch + q]);
        a = of_real<T>(re(a) - step);
        b = of_real<T>(re(b) + step);
        cells[p * pitch + q] = cells[q * pitch + p] = of_real<T>(0);
        moved = true;
      }
      __syncthreads();
      for (int i = threadIdx.x; i < pairs * pairs; i += blockDim.x) {
        const int g = i / pairs, h = i % pairs;
        if (g == h) continue;
        const Rotation<T> down = turns[g], across = turns[h];
        if (down.s == 0 && across.s == 0) continue;
        int p, q, x, y;
        meet(g, round, even, p, q);
        meet(h, round, even, x, y);
        T none = of_real<T>(0);
        T& px = p < n && x < n ? cells[p * pitch + x] : none;
        T& py = p < n && y < n ? cells[p * pitch + y] : none;
        T& qx = q < n && x < n ? cells[q * pitch + x] : none;
        T& qy = q < n && y < n ? cells[q * pitch + y] : none;
        T four[4] = {px, py, qx, qy};
        if (across.s != 0) {
          across.turn(four[0], four[1]);
          across.turn(four[2], four[3]);
        }
        if (down.s != 0) {
          const Rotation<T> its = {down.bend, down.s, conj(down.phase)};
          its.turn(four[0], four[2]);
          its.turn(four[1], four[3]);
        }
        px = four[0];
        py = four[1];
        qx = four[2];
        qy = four[3];
      }
      for (int i = threadIdx.x; vectors && i < pairs * n; i += blockDim.x) {
        const int g = i / n;
        if (turns[g].s == 0) continue;
        int p, q;
        meet(g, round, even, p, q);
        turns[g].turn(rows[p * n + i % n], rows[q * n + i % n]);
      }
      __syncthreads();
    }
    return __syncthreads_or(moved);
  }
};

}  // namespace la
