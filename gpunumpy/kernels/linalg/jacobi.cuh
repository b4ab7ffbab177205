// One-sided Jacobi method for the singular values of small matrices, a block to each matrix. A round pairs every row
// with another and rotates all pairs at once; the rounds of a sweep form every pair. Sums are taken in a fixed order.

namespace la {

// The rows p and q of a pair in a round, as in a round-robin tournament of an even number of rows.
__device__ inline void pair_of(int pair, int round, int padded_rows, int& p, int& q) {
  const int rounds = padded_rows - 1;
  p = round + pair;
  q = round - pair;
  if (pair == 0) p = rounds;
  else if (p >= rounds) p -= rounds;
  if (q < 0) q += rounds;
}

// The squared absolute value in double precision, so that it cannot underflow.
template <class T> __device__ inline f64 wide_square(T x) {
  if constexpr (op::kind<T> == 3) return square(c128{f64(x.re), f64(x.im)});
  else return square(f64(x));
}

// A rotation: q is multiplied by `phase`, then p becomes c p - s q, and q becomes s p + c q. It is computed by way of
// the tangent of half the angle: for a small angle what is added to a row is small, so many rotations keep its length.
template <class T> struct Rotation {
  Real<T> half_tangent, sine;
  T phase;
  // The rotation that makes two rows of squared lengths `a` and `b` and inner product `ab` orthogonal. The angle need
  // not be exact and is computed in single precision; the sine must belong exactly to the half tangent.
  __device__ Rotation(Real<T> a, Real<T> b, T ab) {
    typedef Real<T> R;
    R length;
    if constexpr (op::kind<T> == 3) {
      const R inverse = inverse_root(square(ab));
      length = square(ab) * inverse;
      phase = {ab.re * inverse, -ab.im * inverse};
      // Refined to length 1 to the last bit: a row is rotated hundreds of times, and would shrink.
      const R correction = R(0.5) * ::fma(-phase.im, phase.im, ::fma(-phase.re, phase.re, R(1)));
      phase = {::fma(phase.re, correction, phase.re), ::fma(phase.im, correction, phase.im)};
    } else {
      length = ::fabs(ab);
      phase = ::copysign(T(1), ab);
    }
    const f32 zeta = f32((b - a) / (2 * length)), magnitude = ::fabs(zeta);
    const f32 t = magnitude > 1e15f ? 0.5f / magnitude : 1 / (magnitude + ::sqrt(::fma(magnitude, magnitude, 1.0f)));
    half_tangent = R(::copysign(t / (1 + ::sqrt(::fma(t, t, 1.0f))), zeta));
    sine = 2 * half_tangent / ::fma(half_tangent, half_tangent, R(1));
  }
  // Rotate an element x of the first row and y of the second.
  __device__ void turn(T& x, T& y) const {
    const T z = y * phase;
    y = add_scaled(z, add_scaled(x, z, -half_tangent), sine);
    x = add_scaled(x, add_scaled(z, x, half_tangent), -sine);
  }
};

// Singular values of r rows of c elements, r <= c, and with `vectors` their vectors. A row of `cells` is a row of the
// matrix, followed by a row of an identity that becomes the left vectors; `right_rows` right vectors are wanted.
template <class T, int TEAM> struct Singular {
  typedef Real<T> R;
  T* cells;
  R* values;  // r of them
  int* order;  // the rows in descending order of their values, right_rows of them
  R* spare;    // a number for each warp
  T* parts;    // a number for each of right_rows rows
  int r, c, pitch, right_rows;
  bool vectors;

  // A matrix too large for shared memory lies in `global_cells`; null: in shared memory.
  __device__ Singular(void* shared, T* global_cells, int r, int c, int right_rows, int pitch, bool vectors)
      : r(r), c(c), pitch(pitch), right_rows(right_rows), vectors(vectors) {
    cells = global_cells ? global_cells : (T*)shared;
    parts = (T*)shared + (global_cells ? 0 : right_rows * pitch);
    values = (R*)(parts + right_rows);
    spare = values + r;
    order = (int*)(spare + 32);
  }

  // Decompose the matrix with elements `at(row, column)`. Returns true if that fails.
  template <class At> __device__ bool run(At at) {
    R largest = 0;
    bool is_finite = true;
    for (int i = threadIdx.x; i < r * c; i += blockDim.x) {
      const T x = cells[i / c * pitch + i % c] = at(i / c, i % c);
      is_finite &= is_finite_number(x);
      largest = ::fmax(largest, largest_part(x));
    }
    const R scale = power_of_two_scale(largest, is_finite, spare);
    if (scale == 0) return true;
    const int length = vectors ? c + r : c;
    for (int i = threadIdx.x; i < r * length; i += blockDim.x) {
      T& x = cells[i / length * pitch + i % length];
      x = i % length < c ? times(x, scale) : of_real<T>(i % length - c == i / length);
    }
    __syncthreads();
    bool rotated = true;
    for (int sweep = 0; sweep < MAX_SWEEPS && rotated; ++sweep) rotated = rotate(length);
    finish(1 / scale);
    return rotated;
  }

  // Rotate all pairs in one sweep; returns true if any pair was not orthogonal.
  __device__ bool rotate(int length) {
    const int padded_rows = r + r % 2, lane = threadIdx.x % TEAM, teams = blockDim.x / TEAM;
    const f64 threshold = f64(EPSILON<R>) * EPSILON<R> * c;
    bool rotated = false;
    for (int round = 0; round < padded_rows - 1; ++round) {
      for (int first = 0; first < padded_rows / 2; first += teams) {
        const int pair = first + threadIdx.x / TEAM;
        int p, q;
        pair_of(pair, round, padded_rows, p, q);
        const bool is_pair = pair < padded_rows / 2 && p < r && q < r;
        T* x = cells + (is_pair ? p : 0) * pitch;
        T* y = cells + (is_pair ? q : 0) * pitch;
        const int columns = is_pair ? c : 0;  // another team may write row 0 meanwhile
        R a = 0, b = 0;
        T ab = of_real<T>(0);
        for (int k = lane; k < columns; k += TEAM) {
          a += square(x[k]);
          b += square(y[k]);
          ab = add_conj_mul(ab, x[k], y[k]);
        }
        a = team_sum<TEAM>(a);
        b = team_sum<TEAM>(b);
        ab = team_sum<TEAM>(ab);
        if (!is_pair || a < NEGLIGIBLE_SQUARE<R> || b < NEGLIGIBLE_SQUARE<R> ||
            !(wide_square(ab) > threshold * f64(a) * f64(b)))
          continue;
        const Rotation<T> rotation(a, b, ab);
        for (int k = lane; k < length; k += TEAM) rotation.turn(x[k], y[k]);
        rotated = true;
      }
      __syncthreads();
    }
    return __syncthreads_or(rotated);
  }

  // Compute the values and their descending order, and scale rows to length 1.
  __device__ void finish(R scale) {
    for (int first = 0; first < r; first += blockDim.x / TEAM) {
      const int j = first + threadIdx.x / TEAM;
      R a = 0;
      for (int k = threadIdx.x % TEAM; j < r && k < c; k += TEAM) a += square(cells[j * pitch + k]);
      a = team_sum<TEAM>(a);
      if (j < r && threadIdx.x % TEAM == 0) values[j] = a;
    }
    __syncthreads();
    int nonzero_rows = 0;
    for (int j = 0; j < r; ++j) nonzero_rows += values[j] >= NEGLIGIBLE_SQUARE<R>;
    for (int j = threadIdx.x; j < right_rows; j += blockDim.x) {
      int rank = j;
      if (j < r) {
        rank = 0;
        for (int i = 0; i < r; ++i) rank += values[i] > values[j] || (values[i] == values[j] && i < j);
      }
      order[rank] = j;
    }
    if (vectors) {
      for (int i = threadIdx.x; i < r * c; i += blockDim.x) {
        const R a = values[i / c];
        if (a >= NEGLIGIBLE_SQUARE<R>)
          cells[i / c * pitch + i % c] = times(cells[i / c * pitch + i % c], 1 / ::sqrt(a));
      }
      __syncthreads();
      for (int row = nonzero_rows; row < right_rows; ++row) complete(row);
    }
    __syncthreads();
    for (int j = threadIdx.x; j < r; j += blockDim.x) values[j] = ::sqrt(values[j]) * scale;
    __syncthreads();
  }

  // Make one more row, orthogonal to the first n in order: from the axis that has the least of them, by Gram-Schmidt.
  __device__ void complete(int n) {
    T* row = cells + order[n] * pitch;
    int axis = 0;
    R smallest = 2;
    for (int k = 0; k < c; ++k) {
      R square_sum = 0;
      for (int i = threadIdx.x % 32; i < n; i += 32) square_sum += square(cells[order[i] * pitch + k]);
      square_sum = team_sum<32>(square_sum);
      if (square_sum < smallest) smallest = square_sum, axis = k;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < c; k += blockDim.x) row[k] = of_real<T>(k == axis);
    __syncthreads();
    for (int pass = 0; pass < 3; ++pass) {
      for (int first = 0; first < n; first += blockDim.x / TEAM) {
        const int i = first + threadIdx.x / TEAM;
        T dot = of_real<T>(0);
        for (int k = threadIdx.x % TEAM; i < n && k < c; k += TEAM)
          dot = add_conj_mul(dot, cells[order[i] * pitch + k], row[k]);
        dot = team_sum<TEAM>(dot);
        if (i < n && threadIdx.x % TEAM == 0) parts[i] = dot;
      }
      __syncthreads();
      for (int k = threadIdx.x; k < c; k += blockDim.x) {
        T x = row[k];
        for (int i = 0; i < n; ++i) x = sub_mul(x, parts[i], cells[order[i] * pitch + k]);
        row[k] = x;
      }
      __syncthreads();
      R a = 0;
      for (int k = threadIdx.x % 32; k < c; k += 32) a += square(row[k]);
      const R inverse_length = 1 / ::sqrt(team_sum<32>(a));
      __syncthreads();
      for (int k = threadIdx.x; k < c; k += blockDim.x) row[k] = times(row[k], inverse_length);
      __syncthreads();
    }
  }
};

}  // namespace la
