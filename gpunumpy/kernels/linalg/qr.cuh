// QR by Householder's reflections, of a matrix in shared memory, a block to each: a team of threads owns every so many
// columns. What makes the next reflection makes it as soon as its column is there, so that a step ends with one barrier.

namespace la {

template <class T, int TEAM> struct Reflections {
  typedef Real<T> R;
  T* cells;  // n columns of m elements, `pitch` from one to the next; then `wanted` columns of Q
  T* tau;
  R* spare;
  int m, n, wanted, pitch;
  int lane = threadIdx.x % TEAM, team = threadIdx.x / TEAM, teams = blockDim.x / TEAM;

  __device__ Reflections(void* shared, int m, int n, int wanted, int pitch) : m(m), n(n), wanted(wanted), pitch(pitch) {
    cells = (T*)shared;
    tau = cells + (n + wanted) * pitch;
    spare = (R*)(tau + min(m, n));
  }

  __device__ T* column(int j) const { return cells + j * pitch; }
  __device__ T* column_of_q(int j) const { return cells + (n + j) * pitch; }

  // `at` gives an element of a column. Returns what R is to be multiplied by.
  template <class At> __device__ R run(At at) {
    R most = 0;
    bool sound = true;
    for (int i = threadIdx.x; i < n * m; i += blockDim.x) {
      const T x = column(i / m)[i % m] = at(i / m, i % m);
      sound &= finite(x);
      most = ::fmax(most, largest_part(x));
    }
    R scale = scale_for(most, sound, spare);
    if (scale == 0) scale = 1;
    for (int i = threadIdx.x; i < n * m; i += blockDim.x) column(i / m)[i % m] = times(column(i / m)[i % m], scale);
    __syncthreads();
    if (team == 0) reflect(0);
    __syncthreads();
    const int least = min(m, n);
    for (int k = 0; k < least; ++k) {
      for (int j = team; j < n; j += teams) {
        if (j <= k) continue;
        apply(column(j), k, conj(tau[k]));
        if (j == k + 1 && j < least) reflect(j);
      }
      __syncthreads();
    }
    // Every column of Q is one of the identity, reflected by all in turn.
    for (int j = team; j < wanted; j += teams) {
      T* q = column_of_q(j);
      for (int i = lane; i < m; i += TEAM) q[i] = of_real<T>(i == j);
      wait();
      for (int k = min(j, least - 1); k >= 0; --k) apply(q, k, tau[k]);
    }
    __syncthreads();
    return 1 / scale;
  }

  __device__ void wait() const {
    __syncwarp(TEAM == 32 ? ALL : ((1u << (TEAM % 32)) - 1) << (threadIdx.x % 32 / TEAM * TEAM));
  }

  // Make the reflection of a column, whose own first element is 1 and is not stored.
  __device__ void reflect(int k) {
    T* x = column(k);
    const Reflection<T> its = reflection<TEAM, T>(x[k], k + 1, m, [=](int i) { return x[i]; });
    for (int i = k + 1 + lane; i < m; i += TEAM) x[i] = its.scaled(x[i]);
    wait();
    if (lane == 0) {
      x[k] = of_real<T>(its.beta);
      tau[k] = its.factor;
    }
  }

  // Apply reflection k to a column of the team's.
  __device__ void apply(T* x, int k, T factor) {
    const T* v = column(k);
    T part = of_real<T>(0);
    for (int i = k + 1 + lane; i < m; i += TEAM) part = inner(part, v[i], x[i]);
    part = (team_sum<TEAM>(part) + x[k]) * factor;
    wait();
    for (int i = k + 1 + lane; i < m; i += TEAM) x[i] = less(x[i], part, v[i]);
    if (lane == 0) x[k] = x[k] - part;
    wait();
  }
};

}  // namespace la
