// Reflections that make a Hermitian matrix tridiagonal and real, by a block with the matrix in registers: every team of
// eight lanes has some rows, and a lane of it every eighth column. In a step all rows are multiplied by the column x
// that becomes zero, and the first warp makes its reflection 1 - factor u u^H, where u is x but for its first element.

namespace la {

// The squared length below which a column is negligible in a matrix whose largest number is near 1.
template <class R> constexpr R NEGLIGIBLE = R(1e-18);
template <> constexpr f64 NEGLIGIBLE<f64> = 1e-36;

// x or y. The arguments are passed by value, so that they stay in registers.
__device__ inline f32 select(bool first, f32 x, f32 y) { return first ? x : y; }
__device__ inline f64 select(bool first, f64 x, f64 y) { return first ? x : y; }
template <class T> __device__ inline cx<T> select(bool first, cx<T> x, cx<T> y) {
  return {first ? x.re : y.re, first ? x.im : y.im};
}

// The reduction with K rows in each team and COLUMNS columns in each lane.
template <class T, int K, int COLUMNS> struct Reduction {
  static const int TEAM = 8, SIZE = TEAM * COLUMNS, PARTS = (SIZE + 31) / 32, VECTORS = 6;
  typedef Real<T> R;
  T a[K][COLUMNS];
  T *factors, *x, *next, *y, *u, *w;  // SIZE elements each; `next` is the column after x
  R *d, *e;
  int n, lane = threadIdx.x % TEAM, team = threadIdx.x / TEAM, teams = blockDim.x / TEAM;

  // The diagonal is written to `d`, and after it the elements beside.
  __device__ Reduction(T* shared, R* d, int n)
      : factors(shared), x(shared + SIZE), next(x + SIZE), y(next + SIZE), u(y + SIZE), w(u + SIZE), d(d), e(d + n),
        n(n) {}

  // Load the matrix; `at(r, c)` reads an element on or below the diagonal. Returns the power of two by which the
  // elements are multiplied, 0 if one of them is not finite.
  template <class At> __device__ R load(At at, R* spare) {
    R largest = 0;
    bool is_finite = true;
#pragma unroll
    for (int k = 0; k < K; ++k)
#pragma unroll
      for (int t = 0; t < COLUMNS; ++t) {
        const int r = team + teams * k, c = lane + TEAM * t;
        T& element = a[k][t] = of_real<T>(0);
        if (r < n && c < n) element = c < r ? at(r, c) : c > r ? conj(at(c, r)) : of_real<T>(re(at(r, r)));
        is_finite &= is_finite_number(element);
        largest = ::fmax(largest, largest_part(element));
      }
    for (int i = threadIdx.x; i < VECTORS * SIZE; i += blockDim.x) factors[i] = of_real<T>(0);
    const R scale = power_of_two_scale(largest, is_finite, spare);
#pragma unroll
    for (int k = 0; k < K; ++k)
#pragma unroll
      for (int t = 0; t < COLUMNS; ++t) a[k][t] = times(a[k][t], scale);
    return scale;
  }

  // Compute both diagonals, and write the reflections to the rows of `stored` unless that is null.
  __device__ void run(T* stored) {
    publish_columns(0);
    for (int k = 0; k < n - 1; ++k) {
      __syncthreads();
      multiply();
      T vector[PARTS], alpha, factor;
      R beta;
      if (threadIdx.x < 32) reflect(k, vector, alpha, beta, factor);
      __syncthreads();
      if (threadIdx.x < 32) prepare(k, vector, alpha, beta, factor, stored);
      __syncthreads();
      update();
      publish_columns(k + 1);
    }
    __syncthreads();
  }

  // Write column j, below the diagonal, and the column after it to shared memory.
  __device__ void publish_columns(int j) {
    const bool is_first = lane == j % TEAM;
    if (!is_first && lane != (j + 1) % TEAM) return;
    const int c = is_first ? j : j + 1;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const int r = team + teams * k;
      T element = a[k][0];
#pragma unroll
      for (int t = 1; t < COLUMNS; ++t) element = select(t == c / TEAM, a[k][t], element);
      if (r >= n) continue;
      if (is_first && r == j) d[j] = re(element);
      if (is_first) x[r] = r > j ? element : of_real<T>(0);
      else next[r] = element;
    }
  }

  // y = the matrix times x.
  __device__ void multiply() {
    T vector[COLUMNS];
#pragma unroll
    for (int t = 0; t < COLUMNS; ++t) vector[t] = x[lane + TEAM * t];
#pragma unroll
    for (int k = 0; k < K; ++k) {
      T even = of_real<T>(0), odd = even;
#pragma unroll
      for (int t = 0; t < COLUMNS; t += 2) {
        even = sub_mul(even, a[k][t], -vector[t]);
        odd = sub_mul(odd, a[k][t + 1], -vector[t + 1]);
      }
      const T sum = team_sum<TEAM>(even + odd);
      if (lane == 0 && team + teams * k < n) y[team + teams * k] = sum;
    }
  }

  // Make the reflection of column k, by the first warp; its lanes share the elements of the vector.
  __device__ void reflect(int k, T (&vector)[PARTS], T& alpha, R& beta, T& factor) {
    R sum = 0;
#pragma unroll
    for (int s = 0; s < PARTS; ++s) {
      const int i = threadIdx.x + 32 * s;
      vector[s] = i < SIZE ? x[i] : of_real<T>(0);
      sum += square(vector[s]);
    }
    sum = team_sum<32>(sum);
    alpha = x[k + 1];
    beta = 0;
    factor = of_real<T>(0);
    if (sum > NEGLIGIBLE<R>) {
      const R inverse = inverse_root(sum);
      beta = -::copysign(sum * inverse, re(alpha));
      factor = times(la::inverse(conj(alpha - of_real<T>(beta))), ::copysign(inverse, re(alpha)));
    }
  }

  // Compute u and w, by the first warp: the step subtracts u w^H + w u^H from the matrix.
  __device__ void prepare(int k, T (&vector)[PARTS], T alpha, R beta, T factor, T* stored) {
    T p[PARTS], dot = of_real<T>(0);
#pragma unroll
    for (int s = 0; s < PARTS; ++s) {
      const int i = threadIdx.x + 32 * s;
      if (i == k + 1) vector[s] = alpha - of_real<T>(beta);
      if (beta == 0) vector[s] = of_real<T>(0);
      p[s] = i > k && i < n ? factor * sub_mul(y[i], next[i], of_real<T>(beta)) : of_real<T>(0);
      dot = add_conj_mul(dot, p[s], vector[s]);
    }
    const T half = times(factor * team_sum<32>(dot), R(0.5));
#pragma unroll
    for (int s = 0; s < PARTS; ++s) {
      const int i = threadIdx.x + 32 * s;
      if (i >= SIZE) continue;
      u[i] = vector[s];
      w[i] = sub_mul(p[s], half, vector[s]);
      if (stored && i < n) stored[k * n + i] = vector[s];
    }
    if (threadIdx.x == 0) factors[k] = factor, e[k] = beta;
  }

  // Subtract u w^H + w u^H from the matrix.
  __device__ void update() {
    T of_row[K], by_row[K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const int r = team + teams * k;
      of_row[k] = r < n ? u[r] : of_real<T>(0);
      by_row[k] = r < n ? w[r] : of_real<T>(0);
    }
#pragma unroll
    for (int t = 0; t < COLUMNS; ++t) {
      const T of_column = conj(u[lane + TEAM * t]), by_column = conj(w[lane + TEAM * t]);
#pragma unroll
      for (int k = 0; k < K; ++k) a[k][t] = sub_mul(sub_mul(a[k][t], of_row[k], by_column), by_row[k], of_column);
    }
  }

  // Write the product of all reflections and the real matrix q to `result`, which may be the memory of q.
  __device__ static void apply(const T* factors, int n, const R* q, T* result, int pitch, const T* stored) {
    const int lane = threadIdx.x % TEAM, team = threadIdx.x / TEAM, teams = blockDim.x / TEAM;
    for (int j = team; j < n; j += teams) {
      T column[COLUMNS], next_reflection[COLUMNS];
      const auto read = [&](int k) {
#pragma unroll
        for (int t = 0; t < COLUMNS; ++t) {
          const int i = lane + TEAM * t;
          next_reflection[t] = i < n ? stored[k * n + i] : of_real<T>(0);
        }
      };
#pragma unroll
      for (int t = 0; t < COLUMNS; ++t) {
        const int i = lane + TEAM * t;
        column[t] = of_real<T>(i < n ? q[i * pitch + j] : R(0));
      }
      if (n > 1) read(n - 2);
      for (int k = n - 2; k >= 0; --k) {
        T reflection[COLUMNS], even = of_real<T>(0), odd = even;
#pragma unroll
        for (int t = 0; t < COLUMNS; ++t) reflection[t] = next_reflection[t];
        if (k > 0) read(k - 1);
#pragma unroll
        for (int t = 0; t < COLUMNS; t += 2) {
          even = add_conj_mul(even, reflection[t], column[t]);
          odd = add_conj_mul(odd, reflection[t + 1], column[t + 1]);
        }
        const T dot = team_sum<TEAM>(even + odd) * factors[k];
#pragma unroll
        for (int t = 0; t < COLUMNS; ++t) column[t] = sub_mul(column[t], dot, reflection[t]);
      }
#pragma unroll
      for (int t = 0; t < COLUMNS; ++t)
        if (lane + TEAM * t < n) result[(lane + TEAM * t) * pitch + j] = column[t];
    }
    __syncthreads();
  }
};

}  // namespace la
