// The first steps to the eigenvalues of a square matrix, a block to each matrix: it is balanced, and reflections from
// both sides make it a Hessenberg matrix, which is zero below the first subdiagonal.

namespace la {

// A matrix by rows, whose odd pitch lets neighbouring threads go along rows or columns without bank conflicts.
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

// The smallest normal number.
template <class R> constexpr R MIN_NORMAL = R(1.17549435e-38);
template <> constexpr f64 MIN_NORMAL<f64> = 2.2250738585072014e-308;
// Elements of a matrix are kept below the first, so that products of two of them are finite; weights are powers of two
// kept below the second.
template <class R> constexpr R MAX_ELEMENT = R(274877906944.0);
template <> constexpr f64 MAX_ELEMENT<f64> = 2.9073548971824276e135;
template <class R> constexpr R MAX_WEIGHT = R(1.2676506e30);
template <> constexpr f64 MAX_WEIGHT<f64> = 1.0715086071862673e301;

// The power of two that brings a number near 1.
template <class R> __device__ __noinline__ R unit_power(R largest) {
  int exponent;
  ::frexp(largest, &exponent);
  const int power = LARGEST_POWER<R>;
  return ::ldexp(R(1), -max(-power, min(power, exponent)));
}

// Balances a matrix: rows and columns are exchanged until those that are zero beside the diagonal stand first or last,
// outside the rows `low` to `high`. The rows and columns between are multiplied by powers of two, the weights, until no
// row is much longer than its column.
template <class T> struct Balance {
  typedef Real<T> R;
  Cells<T> a;
  R* weights;
  int *origins, *is_isolated;
  int n, low = 0, high;
  int lane = threadIdx.x % 32;

  __device__ Balance(Cells<T> a, R* weights, int* origins, int* is_isolated, int n)
      : a(a), weights(weights), origins(origins), is_isolated(is_isolated), n(n), high(n - 1) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      origins[i] = i;
      weights[i] = 1;
    }
    __syncthreads();
    for (int i = find_isolated(true); i >= 0; i = find_isolated(true)) exchange_both(i, high--);
    for (int i = find_isolated(false); i >= 0; i = find_isolated(false)) exchange_both(i, low++);
    for (bool has_changed = low < high; has_changed;) {
      has_changed = false;
      for (int i = low; i <= high; ++i) has_changed |= weigh(i);
    }
  }

  // The last row, or the first column, that is zero beside the diagonal; -1 if there is none.
  __device__ int find_isolated(bool rows) const {
    for (int i = low + threadIdx.x; i <= high; i += blockDim.x) {
      bool is_zero_beside = true;
      for (int j = low; j <= high && is_zero_beside; ++j) is_zero_beside = i == j || is_zero(rows ? a(i, j) : a(j, i));
      is_isolated[i] = is_zero_beside;
    }
    __syncthreads();
    int found = -1;
    for (int first = 0; first <= high - low && found < 0; first += 32) {
      const int ahead = first + lane, i = rows ? high - ahead : low + ahead;
      const u32 found_lanes = __ballot_sync(ALL, ahead <= high - low && is_isolated[i]);
      if (found_lanes) found = first + __ffs(int(found_lanes)) - 1;
    }
    __syncthreads();
    return found < 0 ? found : rows ? high - found : low + found;
  }

  // Exchange rows p and q, and columns p and q.
  __device__ void exchange_both(int p, int q) {
    if (p == q) return;
    for (int i = threadIdx.x; i < n; i += blockDim.x) exchange(a(i, p), a(i, q));
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += blockDim.x) exchange(a(p, j), a(q, j));
    if (threadIdx.x == 0) exchange(origins[p], origins[q]);
    __syncthreads();
  }

  // The length of a vector whose squared elements underflow; `largest` is its largest element.
  template <class X> __device__ R length(R largest, X x) const {
    const R scale_to_one = unit_power(largest);
    R sum = 0;
    for (int j = low + lane; j <= high; j += 32) sum += square(times(x(j), scale_to_one));
    return ::sqrt(team_sum<32>(sum)) / scale_to_one;
  }

  // Multiply row and column i by powers of two if that makes their lengths more alike; returns true if it does. Every
  // warp computes the same.
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
    of_row = of_row < MIN_SUM_OF_SQUARES<R> ? length(most_of_row, [=](int j) { return a(i, j); }) : ::sqrt(of_row);
    of_column =
        of_column < MIN_SUM_OF_SQUARES<R> ? length(most_of_column, [=](int j) { return a(j, i); }) : ::sqrt(of_column);
    if (of_row == 0 || of_column == 0) return false;
    const R limit = MAX_ELEMENT<R>, min_length = 1 / MAX_WEIGHT<R>, before = of_row + of_column;
    R scale = 1;
    const auto scale_pair = [&](R& column, R& row, R& top_of_column, R& top_of_row, R step) {
      scale *= step;
      column *= 2;
      top_of_column *= 2;
      row /= 2;
      top_of_row /= 2;
    };
    while (2 * of_column < of_row && most_of_column < limit && ::fmin(of_row, most_of_row) > min_length)
      scale_pair(of_column, of_row, most_of_column, most_of_row, R(2));
    while (2 * of_row <= of_column && most_of_row < limit && ::fmin(of_column, most_of_column) > min_length)
      scale_pair(of_row, of_column, most_of_row, most_of_column, R(0.5));
    const R weight = scale * weights[i];
    if (of_row + of_column >= R(0.95) * before || weight > MAX_WEIGHT<R> || weight < 1 / MAX_WEIGHT<R>) return false;
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
      a(i, j) = times(a(i, j), 1 / scale);
      a(j, i) = times(a(j, i), scale);
    }
    if (threadIdx.x == 0) weights[i] = weight;
    __syncthreads();
    return true;
  }
};

// Make the matrix Hessenberg. The reflections, without the 1 that each begins with, are left in the columns below the
// first subdiagonal; `factors` gets their factors.
template <class T> __device__ inline void hessenberg(Cells<T> a, T* factors, int n, int low, int high) {
  for (int k = low; k < high - 1; ++k) {
    const auto column_reflection = reflection<32, T>(a(k + 1, k), k + 2, high + 1, [=](int i) { return a(i, k); });
    __syncthreads();
    for (int i = k + 2 + threadIdx.x; i <= high; i += blockDim.x) a(i, k) = column_reflection.scaled(a(i, k));
    if (threadIdx.x == 0) {
      a(k + 1, k) = of_real<T>(column_reflection.beta);
      factors[k] = column_reflection.factor;
    }
    __syncthreads();
    for (int j = k + 1 + threadIdx.x; j < n; j += blockDim.x) {
      T dot = a(k + 1, j);
#pragma unroll 4
      for (int i = k + 2; i <= high; ++i) dot = add_conj_mul(dot, a(i, k), a(i, j));
      dot = conj(column_reflection.factor) * dot;
      a(k + 1, j) = a(k + 1, j) - dot;
#pragma unroll 4
      for (int i = k + 2; i <= high; ++i) a(i, j) = sub_mul(a(i, j), dot, a(i, k));
    }
    __syncthreads();
    for (int i = threadIdx.x; i <= high; i += blockDim.x) {
      T dot = a(i, k + 1);
#pragma unroll 4
      for (int j = k + 2; j <= high; ++j) dot = sub_mul(dot, a(i, j), -a(j, k));
      dot = column_reflection.factor * dot;
      a(i, k + 1) = a(i, k + 1) - dot;
#pragma unroll 4
      for (int j = k + 2; j <= high; ++j) a(i, j) = sub_mul(a(i, j), dot, conj(a(j, k)));
    }
    __syncthreads();
  }
}

// Write the product of the reflections to `z`, unless that is null, and zeros over the reflections; a thread computes a
// column.
template <class T>
__device__ inline void form_basis(Cells<T> a, Cells<T> z, const T* factors, int n, int low, int high) {
  for (int j = threadIdx.x; z.first && j < n; j += blockDim.x) {
    for (int i = 0; i < n; ++i) z(i, j) = of_real<T>(i == j);
    for (int k = min(j - 1, high - 2); k >= low && j <= high; --k) {
      T dot = z(k + 1, j);
#pragma unroll 4
      for (int i = k + 2; i <= high; ++i) dot = add_conj_mul(dot, a(i, k), z(i, j));
      dot = factors[k] * dot;
      z(k + 1, j) = z(k + 1, j) - dot;
#pragma unroll 4
      for (int i = k + 2; i <= high; ++i) z(i, j) = sub_mul(z(i, j), dot, a(i, k));
    }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < n; j += blockDim.x)
    for (int i = j + 2; i < n; ++i) a(i, j) = of_real<T>(0);
  __syncthreads();
}

}  // namespace la
