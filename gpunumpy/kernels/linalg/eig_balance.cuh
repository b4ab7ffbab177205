// What the eigenvalues of any square matrix begin with, a block to each: the matrix is balanced, and then reflections from
// both sides make it zero below what is beside its diagonal (Hessenberg).

namespace la {

// A matrix by rows, of an odd pitch, so that neighbouring threads may go along rows or columns.
template <class T> struct Cells {
  T* first;
  int pitch;
  __device__ T& operator()(int i, int j) const { return first[i * pitch + j]; }
};

template <class T> __device__ inline void exchange(T& x, T& y) {
  const T z = x;
  x = y;
  y = z;
}

// The least normal number.
template <class R> constexpr R LEAST = R(1.17549435e-38);
template <> constexpr f64 LEAST<f64> = 2.2250738585072014e-308;
// Elements of a matrix are within it, so that products of two are numbers; weights are powers of two within the other.
template <class R> constexpr R HUGE_ELEMENT = R(274877906944.0);
template <> constexpr f64 HUGE_ELEMENT<f64> = 2.9073548971824276e135;
template <class R> constexpr R HUGE_WEIGHT = R(1.2676506e30);
template <> constexpr f64 HUGE_WEIGHT<f64> = 1.0715086071862673e301;

// A power of two that brings a number near 1.
template <class R> __device__ __noinline__ R unit_of(R most) {
  int exponent;
  ::frexp(most, &exponent);
  const int power = LARGEST_POWER<R>;
  return ::ldexp(R(1), -max(-power, min(power, exponent)));
}

// Rows low to high are left, when all are put first or last that have zeros, beside the diagonal, in their column or row.
// Multiplied by powers of two, no row of those is then much longer than its column.
template <class T> struct Balance {
  typedef Real<T> R;
  Cells<T> a;
  R* weights;
  int *origins, *alone;
  int n, low = 0, high;
  int lane = threadIdx.x % 32;

  __device__ Balance(Cells<T> a, R* weights, int* origins, int* alone, int n)
      : a(a), weights(weights), origins(origins), alone(alone), n(n), high(n - 1) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      origins[i] = i;
      weights[i] = 1;
    }
    __syncthreads();
    for (int i = lonely(true); i >= 0; i = lonely(true)) exchange_both(i, high--);
    for (int i = lonely(false); i >= 0; i = lonely(false)) exchange_both(i, low++);
    for (bool moved = low < high; moved;) {
      moved = false;
      for (int i = low; i <= high; ++i) moved |= weigh(i);
    }
  }

  // The last row, or the first column, that is zero beside the diagonal; -1 if none is.
  __device__ int lonely(bool rows) const {
    for (int i = low + threadIdx.x; i <= high; i += blockDim.x) {
      bool zeros = true;
      for (int j = low; j <= high && zeros; ++j) zeros = i == j || is_zero(rows ? a(i, j) : a(j, i));
      alone[i] = zeros;
    }
    __syncthreads();
    int found = -1;
    for (int first = 0; first <= high - low && found < 0; first += 32) {
      const int ahead = first + lane, i = rows ? high - ahead : low + ahead;
      const u32 those = __ballot_sync(ALL, ahead <= high - low && alone[i]);
      if (those) found = first + __ffs(int(those)) - 1;
    }
    __syncthreads();
    return found < 0 ? found : rows ? high - found : low + found;
  }

  __device__ void exchange_both(int p, int q) {
    if (p == q) return;
    for (int i = threadIdx.x; i < n; i += blockDim.x) exchange(a(i, p), a(i, q));
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += blockDim.x) exchange(a(p, j), a(q, j));
    if (threadIdx.x == 0) exchange(origins[p], origins[q]);
    __syncthreads();
  }

  // Of numbers whose squares are nearly nothing, of which `most` is the greatest.
  template <class X> __device__ R length(R most, X x) const {
    const R unit = unit_of(most);
    R sum = 0;
    for (int j = low + lane; j <= high; j += 32) sum += square(times(x(j), unit));
    return ::sqrt(team_sum<32>(sum)) / unit;
  }

  // Whether row and column i are multiplied. Every warp finds the same.
  __device__ bool weigh(int i) {
    R of_row = 0, of_column = 0, most_of_row = 0, most_of_column = 0;
    for (int j = lane; j < n; j += 32) {
      const T x = a(i, j), y = a(j, i);
      most_of_row = ::fmax(most_of_row, largest_part(x));
      most_of_column = ::fmax(most_of_column, largest_part(y));
      if (j < low || j > high) continue;
      of_row += square(x);
      of_column += square(y);
    }
    most_of_row = team_max<32>(most_of_row);
    most_of_column = team_max<32>(most_of_column);
    of_row = team_sum<32>(of_row);
    of_column = team_sum<32>(of_column);
    of_row = of_row < SMALL<R> ? length(most_of_row, [=](int j) { return a(i, j); }) : ::sqrt(of_row);
    of_column = of_column < SMALL<R> ? length(most_of_column, [=](int j) { return a(j, i); }) : ::sqrt(of_column);
    if (of_row == 0 || of_column == 0) return false;
    const R most = HUGE_ELEMENT<R>, least = 1 / HUGE_WEIGHT<R>, before = of_row + of_column;
    R by = 1;
    const auto up = [&](R& column, R& row, R& top_of_column, R& top_of_row, R step) {
      by *= step;
      column *= 2;
      top_of_column *= 2;
      row /= 2;
      top_of_row /= 2;
    };
    while (2 * of_column < of_row && most_of_column < most && ::fmin(of_row, most_of_row) > least)
      up(of_column, of_row, most_of_column, most_of_row, R(2));
    while (2 * of_row <= of_column && most_of_row < most && ::fmin(of_column, most_of_column) > least)
      up(of_row, of_column, most_of_row, most_of_column, R(0.5));
    const R weight = by * weights[i];
    if (of_row + of_column >= R(0.95) * before || weight > HUGE_WEIGHT<R> || weight < 1 / HUGE_WEIGHT<R>) return false;
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
      a(i, j) = times(a(i, j), 1 / by);
      a(j, i) = times(a(j, i), by);
    }
    if (threadIdx.x == 0) weights[i] = weight;
    __syncthreads();
    return true;
  }
};

// Reflections as columns below what is beside the diagonal, each without the 1 it begins with, and their factors.
template <class T> __device__ inline void hessenberg(Cells<T> a, T* factors, int n, int low, int high) {
  for (int k = low; k < high - 1; ++k) {
    const auto its = reflection<32, T>(a(k + 1, k), k + 2, high + 1, [=](int i) { return a(i, k); });
    __syncthreads();
    for (int i = k + 2 + threadIdx.x; i <= high; i += blockDim.x) a(i, k) = its.scaled(a(i, k));
    if (threadIdx.x == 0) {
      a(k + 1, k) = of_real<T>(its.beta);
      factors[k] = its.factor;
    }
    __syncthreads();
    for (int j = k + 1 + threadIdx.x; j < n; j += blockDim.x) {
      T part = a(k + 1, j);
#pragma unroll 4
      for (int i = k + 2; i <= high; ++i) part = inner(part, a(i, k), a(i, j));
      part = conj(its.factor) * part;
      a(k + 1, j) = a(k + 1, j) - part;
#pragma unroll 4
      for (int i = k + 2; i <= high; ++i) a(i, j) = less(a(i, j), part, a(i, k));
    }
    __syncthreads();
    for (int i = threadIdx.x; i <= high; i += blockDim.x) {
      T part = a(i, k + 1);
#pragma unroll 4
      for (int j = k + 2; j <= high; ++j) part = less(part, a(i, j), -a(j, k));
      part = its.factor * part;
      a(i, k + 1) = a(i, k + 1) - part;
#pragma unroll 4
      for (int j = k + 2; j <= high; ++j) a(i, j) = less(a(i, j), part, conj(a(j, k)));
    }
    __syncthreads();
  }
}

// The product of the reflections, every column by itself; and zeros in their place, if `z` is null only these.
template <class T> __device__ inline void gather(Cells<T> a, Cells<T> z, const T* factors, int n, int low, int high) {
  for (int j = threadIdx.x; z.first && j < n; j += blockDim.x) {
    for (int i = 0; i < n; ++i) z(i, j) = of_real<T>(i == j);
    for (int k = min(j - 1, high - 2); k >= low && j <= high; --k) {
      T part = z(k + 1, j);
#pragma unroll 4
      for (int i = k + 2; i <= high; ++i) part = inner(part, a(i, k), z(i, j));
      part = factors[k] * part;
      z(k + 1, j) = z(k + 1, j) - part;
#pragma unroll 4
      for (int i = k + 2; i <= high; ++i) z(i, j) = less(z(i, j), part, a(i, k));
    }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < n; j += blockDim.x)
    for (int i = j + 2; i < n; ++i) a(i, j) = of_real<T>(0);
  __syncthreads();
}

}  // namespace la
