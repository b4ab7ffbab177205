// Reflections that make a Hermitian matrix tridiagonal and real, by a block that has it in registers: every team of eight
// lanes some rows, and a lane of it every eighth column. In a step all rows are multiplied by the column x that is to
// become zeros, while the first warp finds its reflection 1 - factor u u^H, where u is x but for its first element.

namespace la {

// The square of the length of a column that is nothing beside a matrix whose greatest number is near 1.
template <class R> constexpr R NEGLIGIBLE = R(1e-18);
template <> constexpr f64 NEGLIGIBLE<f64> = 1e-36;

// By value, so that what is in registers stays there.
__device__ inline f32 either(bool first, f32 x, f32 y) { return first ? x : y; }
__device__ inline f64 either(bool first, f64 x, f64 y) { return first ? x : y; }
template <class T> __device__ inline cx<T> either(bool first, cx<T> x, cx<T> y) {
  return {first ? x.re : y.re, first ? x.im : y.im};
}

// K rows of a team, and so many columns of a lane.
template <class T, int K, int COLUMNS> struct Reduction {
  static const int TEAM = 8, SIZE = TEAM * COLUMNS, PARTS = (SIZE + 31) / 32, VECTORS = 6;
  typedef Real<T> R;
  T a[K][COLUMNS];
  T *factors, *x, *next, *y, *u, *w;  // SIZE elements each; `next` is the column after x
  R *d, *e;
  int n, lane = threadIdx.x % TEAM, team = threadIdx.x / TEAM, teams = blockDim.x / TEAM;

  // `d` is to have the diagonal, and after it what is beside it.
  __device__ Reduction(T* shared, R* d, int n)
      : factors(shared), x(shared + SIZE), next(x + SIZE), y(next + SIZE), u(y + SIZE), w(u + SIZE), d(d), e(d + n), n(n) {}

  // `at` gives the elements on and below the diagonal. Returns the power of two by which they are multiplied, and 0 where
  // one of them is not finite.
  template <class At> __device__ R load(At at, R* spare) {
    R most = 0;
    bool sound = true;
#pragma unroll
    for (int k = 0; k < K; ++k)
#pragma unroll
      for (int t = 0; t < COLUMNS; ++t) {
        const int r = team + teams * k, c = lane + TEAM * t;
        T& its = a[k][t] = of_real<T>(0);
        if (r < n && c < n) its = c < r ? at(r, c) : c > r ? conj(at(c, r)) : of_real<T>(re(at(r, r)));
        sound &= finite(its);
        most = ::fmax(most, largest_part(its));
      }
    for (int i = threadIdx.x; i < VECTORS * SIZE; i += blockDim.x) factors[i] = of_real<T>(0);
    const R scale = scale_for(most, sound, spare);
#pragma unroll
    for (int k = 0; k < K; ++k)
#pragma unroll
      for (int t = 0; t < COLUMNS; ++t) a[k][t] = times(a[k][t], scale);
    return scale;
  }

  // Both diagonals, and the reflections as rows of `kept`, if that is not null.
  __device__ void run(T* kept) {
    publish(0);
    for (int k = 0; k < n - 1; ++k) {
      __syncthreads();
      multiply();
      T its[PARTS], alpha, factor;
      R beta;
      if (threadIdx.x < 32) reflect(k, its, alpha, beta, factor);
      __syncthreads();
      if (threadIdx.x < 32) prepare(k, its, alpha, beta, factor, kept);
      __syncthreads();
      update();
      publish(k + 1);
    }
    __syncthreads();
  }

  // The column j below the diagonal, and the one after it.
  __device__ void publish(int j) {
    const bool first = lane == j % TEAM;
    if (!first && lane != (j + 1) % TEAM) return;
    const int c = first ? j : j + 1;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const int r = team + teams * k;
      T its = a[k][0];
#pragma unroll
      for (int t = 1; t < COLUMNS; ++t) its = either(t == c / TEAM, a[k][t], its);
      if (r >= n) continue;
      if (first && r == j) d[j] = re(its);
      if (first) x[r] = r > j ? its : of_real<T>(0);
      else next[r] = its;
    }
  }

  __device__ void multiply() {
    T its[COLUMNS];
#pragma unroll
    for (int t = 0; t < COLUMNS; ++t) its[t] = x[lane + TEAM * t];
#pragma unroll
    for (int k = 0; k < K; ++k) {
      T even = of_real<T>(0), odd = even;
#pragma unroll
      for (int t = 0; t < COLUMNS; t += 2) {
        even = less(even, a[k][t], -its[t]);
        odd = less(odd, a[k][t + 1], -its[t + 1]);
      }
      const T sum = team_sum<TEAM>(even + odd);
      if (lane == 0 && team + teams * k < n) y[team + teams * k] = sum;
    }
  }

  __device__ void reflect(int k, T (&its)[PARTS], T& alpha, R& beta, T& factor) {
    R sum = 0;
#pragma unroll
    for (int s = 0; s < PARTS; ++s) {
      const int i = threadIdx.x + 32 * s;
      its[s] = i < SIZE ? x[i] : of_real<T>(0);
      sum += square(its[s]);
    }
    sum = team_sum<32>(sum);
    alpha = x[k + 1];
    beta = 0;
    factor = of_real<T>(0);
    if (sum > NEGLIGIBLE<R>) {
      const R inverse = one_over_root(sum);
      beta = -::copysign(sum * inverse, re(alpha));
      factor = times(la::inverse(conj(alpha - of_real<T>(beta))), ::copysign(inverse, re(alpha)));
    }
  }

  // By the first warp, what the matrix loses: u w^H + w u^H.
  __device__ void prepare(int k, T (&its)[PARTS], T alpha, R beta, T factor, T* kept) {
    T p[PARTS], dot = of_real<T>(0);
#pragma unroll
    for (int s = 0; s < PARTS; ++s) {
      const int i = threadIdx.x + 32 * s;
      if (i == k + 1) its[s] = alpha - of_real<T>(beta);
      if (beta == 0) its[s] = of_real<T>(0);
      p[s] = i > k && i < n ? factor * less(y[i], next[i], of_real<T>(beta)) : of_real<T>(0);
      dot = inner(dot, p[s], its[s]);
    }
    const T half = times(factor * team_sum<32>(dot), R(0.5));
#pragma unroll
    for (int s = 0; s < PARTS; ++s) {
      const int i = threadIdx.x + 32 * s;
      if (i >= SIZE) continue;
      u[i] = its[s];
      w[i] = less(p[s], half, its[s]);
      if (kept && i < n) kept[k * n + i] = its[s];
    }
    if (threadIdx.x == 0) factors[k] = factor, e[k] = beta;
  }

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
      for (int k = 0; k < K; ++k) a[k][t] = less(less(a[k][t], of_row[k], by_column), by_row[k], of_column);
    }
  }

  // The product of all reflections with the real matrix q, which may be where the result is to be.
  __device__ static void apply(const T* factors, int n, const R* q, T* result, int pitch, const T* kept) {
    const int lane = threadIdx.x % TEAM, team = threadIdx.x / TEAM, teams = blockDim.x / TEAM;
    for (int j = team; j < n; j += teams) {
      T its[COLUMNS], after[COLUMNS];
      const auto read = [&](int k) {
#pragma unroll
        for (int t = 0; t < COLUMNS; ++t) {
          const int i = lane + TEAM * t;
          after[t] = i < n ? kept[k * n + i] : of_real<T>(0);
        }
      };
#pragma unroll
      for (int t = 0; t < COLUMNS; ++t) {
        const int i = lane + TEAM * t;
        its[t] = of_real<T>(i < n ? q[i * pitch + j] : R(0));
      }
      if (n > 1) read(n - 2);
      for (int k = n - 2; k >= 0; --k) {
        T by[COLUMNS], even = of_real<T>(0), odd = even;
#pragma unroll
        for (int t = 0; t < COLUMNS; ++t) by[t] = after[t];
        if (k > 0) read(k - 1);
#pragma unroll
        for (int t = 0; t < COLUMNS; t += 2) {
          even = inner(even, by[t], its[t]);
          odd = inner(odd, by[t + 1], its[t + 1]);
        }
        const T part = team_sum<TEAM>(even + odd) * factors[k];
#pragma unroll
        for (int t = 0; t < COLUMNS; ++t) its[t] = less(its[t], part, by[t]);
      }
#pragma unroll
      for (int t = 0; t < COLUMNS; ++t)
        if (lane + TEAM * t < n) result[(lane + TEAM * t) * pitch + j] = its[t];
    }
    __syncthreads();
  }
};

}  // namespace la
