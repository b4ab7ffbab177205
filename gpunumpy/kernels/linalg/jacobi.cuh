// Jacobi's method for the singular values of small matrices, a block to each matrix. In a round every row meets another one,
// so that all pairs of a round are rotated at once, and in a sweep of rounds every pair meets. Rotations are as exact as
// numbers are, and nothing is summed in an order that changes.

namespace la {

// The rows that meet as pair g of a round, of an even number of rows of which the last one stays where it is.
__device__ inline void meet(int g, int round, int even, int& p, int& q) {
  const int around = even - 1;
  p = round + g;
  q = round - g;
  if (g == 0) p = around;
  else if (p >= around) p -= around;
  if (q < 0) q += around;
}

// In double precision, so that nothing is lost.
template <class T> __device__ inline f64 wide_square(T x) {
  if constexpr (op::kind<T> == 3) return square(c128{f64(x.re), f64(x.im)});
  else return square(f64(x));
}

// p becomes c p - s q, and q becomes s p + c q, after q was multiplied by `phase`. What is added to a row is small where
// the angle is (`bend` is the tangent of its half), so that many rotations leave lengths as they are.
template <class T> struct Rotation {
  Real<T> bend, s;
  T phase;
  // What makes a pair with the squares `a` and `b` and the product `ab` orthogonal. The angle need not be exact, so it is
  // found in single precision; that the sine belongs to it must be.
  __device__ Rotation(Real<T> a, Real<T> b, T ab) {
    typedef Real<T> R;
    R length;
    if constexpr (op::kind<T> == 3) {
      const R inverse = one_over_root(square(ab));
      length = square(ab) * inverse;
      phase = {ab.re * inverse, -ab.im * inverse};
      // Of length 1 within what a number can say: a row is turned hundreds of times, and would shrink.
      const R off = R(0.5) * ::fma(-phase.im, phase.im, ::fma(-phase.re, phase.re, R(1)));
      phase = {::fma(phase.re, off, phase.re), ::fma(phase.im, off, phase.im)};
    } else {
      length = ::fabs(ab);
      phase = ::copysign(T(1), ab);
    }
    const f32 zeta = f32((b - a) / (2 * length)), far = ::fabs(zeta);
    const f32 t = far > 1e15f ? 0.5f / far : 1 / (far + ::sqrt(::fma(far, far, 1.0f)));
    bend = R(::copysign(t / (1 + ::sqrt(::fma(t, t, 1.0f))), zeta));
    s = 2 * bend / ::fma(bend, bend, R(1));
  }
  __device__ void turn(T& x, T& y) const {
    const T z = y * phase;
    y = plus(z, plus(x, z, -bend), s);
    x = plus(x, plus(z, x, bend), -s);
  }
};

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

  // What is too large to be shared is `away`, in global memory.
  __device__ Singular(void* shared, T* away, int r, int c, int right, int pitch, bool vectors)
      : r(r), c(c), pitch(pitch), right(right), vectors(vectors) {
    cells = away ? away : (T*)shared;
    parts = (T*)shared + (away ? 0 : right * pitch);
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
    const f64 least = f64(EPSILON<R>) * EPSILON<R> * c;
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
        if (!here || a < NOTHING<R> || b < NOTHING<R> || !(wide_square(ab) > least * f64(a) * f64(b))) continue;
        const Rotation<T> rotation(a, b, ab);
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

}  // namespace la
