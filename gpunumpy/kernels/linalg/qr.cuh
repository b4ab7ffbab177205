// QR by Householder reflections of a matrix in shared memory, a block to each matrix. A team of TEAM lanes owns every
// `teams`-th column. The team that owns the next column makes its reflection in the same step that updates the column,
// so that a step has one barrier.

namespace la {

template <class T, int TEAM> struct Reflections {
  typedef Real<T> R;
  T* cells;  // n columns of m elements, `pitch` from one to the next; then `q_columns` columns of Q
  T* tau;    // the factors of the reflections
  R* spare;  // a number for each warp
  int m, n, q_columns, pitch;
  int lane = threadIdx.x % TEAM, team = threadIdx.x / TEAM, teams = blockDim.x / TEAM;

  __device__ Reflections(void* shared, int m, int n, int q_columns, int pitch)
      : m(m), n(n), q_columns(q_columns), pitch(pitch) {
    cells = (T*)shared;
    tau = cells + (n + q_columns) * pitch;
    spare = (R*)(tau + min(m, n));
  }

  __device__ T* column(int j) const { return cells + j * pitch; }
  __device__ T* column_of_q(int j) const { return cells + (n + j) * pitch; }

  // Factor the matrix whose element is `at(column, row)`. Returns the factor by which R is to be multiplied.
  template <class At> __device__ R run(At at) {
    R largest = 0;
    bool is_finite = true;
    for (int i = threadIdx.x; i < n * m; i += blockDim.x) {
      const T x = column(i / m)[i % m] = at(i / m, i % m);
      is_finite &= is_finite_number(x);
      largest = ::fmax(largest, largest_part(x));
    }
    R scale = power_of_two_scale(largest, is_finite, spare);
    if (scale == 0) scale = 1;
    for (int i = threadIdx.x; i < n * m; i += blockDim.x) column(i / m)[i % m] = times(column(i / m)[i % m], scale);
    __syncthreads();
    if (team == 0) reflect(0);
    __syncthreads();
    const int shorter = min(m, n);
    for (int k = 0; k < shorter; ++k) {
      for (int j = team; j < n; j += teams) {
        if (j <= k) continue;
        apply(column(j), k, conj(tau[k]));
        if (j == k + 1 && j < shorter) reflect(j);
      }
      __syncthreads();
    }
    // A column of Q is a column of the identity with all reflections applied.
    for (int j = team; j < q_columns; j += teams) {
      T* q = column_of_q(j);
      for (int i = lane; i < m; i += TEAM) q[i] = of_real<T>(i == j);
      sync_team();
      for (int k = min(j, shorter - 1); k >= 0; --k) apply(q, k, tau[k]);
    }
    __syncthreads();
    return 1 / scale;
  }

  // Synchronise the lanes of the team.
  __device__ void sync_team() const {
    __syncwarp(TEAM == 32 ? ALL : ((1u << (TEAM % 32)) - 1) << (threadIdx.x % 32 / TEAM * TEAM));
  }

  // Make the reflection of column k. Its vector begins with 1, which is not stored.
  __device__ void reflect(int k) {
    T* x = column(k);
    const Reflection<T> reflected = reflection<TEAM, T>(x[k], k + 1, m, [=](int i) { return x[i]; });
    for (int i = k + 1 + lane; i < m; i += TEAM) x[i] = reflected.scaled(x[i]);
    sync_team();
    if (lane == 0) {
      x[k] = of_real<T>(reflected.beta);
      tau[k] = reflected.factor;
    }
  }

  // Apply reflection k to a column of this team.
  __device__ void apply(T* x, int k, T factor) {
    const T* v = column(k);
    T dot = of_real<T>(0);
    for (int i = k + 1 + lane; i < m; i += TEAM) dot = add_conj_mul(dot, v[i], x[i]);
    dot = (team_sum<TEAM>(dot) + x[k]) * factor;
    sync_team();
    for (int i = k + 1 + lane; i < m; i += TEAM) x[i] = sub_mul(x[i], dot, v[i]);
    if (lane == 0) x[k] = x[k] - dot;
    sync_team();
  }
};

}  // namespace la
