// Eigenvalues of a Hessenberg matrix by shifted QR steps, a block to each matrix. The matrix becomes a triangle; a real
// one keeps blocks of two rows on the diagonal, whose eigenvalues are conjugate pairs. All threads compute the shifts
// and reflections alike; each applies a reflection to its columns, and then to its rows.

namespace la {

// A reflection of two complex numbers, or three real ones, that makes the first one `beta` and the others zero.
template <class T> struct Bulge {
  static const bool REAL = op::kind<T> != 3;
  static const int SIZE = REAL ? 3 : 2;
  typedef Real<T> R;
  T factor = of_real<T>(0), v[SIZE];  // 1 - factor v v^H, where v begins with 1
  R beta;

  __device__ explicit Bulge(T (&x)[SIZE]) {
    R sum_of_squares = square(x[0]), unit = 1, rest = 0;
#pragma unroll
    for (int i = 1; i < SIZE; ++i) sum_of_squares += square(x[i]);
    if (sum_of_squares < MIN_SUM_OF_SQUARES<R>) {
      R largest = 0;
#pragma unroll
      for (int i = 0; i < SIZE; ++i) largest = ::fmax(largest, largest_part(x[i]));
      unit = unit_power(largest);
#pragma unroll
      for (int i = 0; i < SIZE; ++i) x[i] = times(x[i], unit);
      sum_of_squares = square(x[0]);
#pragma unroll
      for (int i = 1; i < SIZE; ++i) sum_of_squares += square(x[i]);
    }
    beta = re(x[0]) / unit;
#pragma unroll
    for (int i = 0; i < SIZE; ++i) {
      v[i] = of_real<T>(0);
      if (i) rest += norm1(x[i]);
    }
    // Even numbers that are negligible beside the first must become zero: else the steps do not end.
    if (rest == 0 && is_real(x[0])) return;
    const R inverse_length = inverse_root(sum_of_squares);
    const R length = ::copysign(sum_of_squares * inverse_length, -re(x[0]));
    const T first = x[0] - of_real<T>(length);
    factor = times(first, ::copysign(inverse_length, re(x[0])));
    T inverse_first;
    if constexpr (REAL) inverse_first = quick_inverse(first);
    else inverse_first = times(conj(first), quick_inverse(square(first)));
#pragma unroll
    for (int i = 1; i < SIZE; ++i) v[i] = x[i] * inverse_first;
    beta = length / unit;
  }
  // Returns true if the imaginary part is zero.
  __device__ static bool is_real(T x) {
    if constexpr (REAL) return true;
    else return x.im == 0;
  }

  // Apply the reflection to elements of a column, `step` apart; without `has_third` to the first two.
  __device__ void left(T* x, int step, bool has_third) const {
    T dot = add_conj_mul(x[0], v[1], x[step]);
    if constexpr (REAL)
      if (has_third) dot = add_conj_mul(dot, v[2], x[2 * step]);
    dot = conj(factor) * dot;
    x[0] = x[0] - dot;
    x[step] = sub_mul(x[step], dot, v[1]);
    if constexpr (REAL)
      if (has_third) x[2 * step] = sub_mul(x[2 * step], dot, v[2]);
  }
  // Apply the reflection to elements of a row; a third that does not exist is zero.
  __device__ void right(T (&x)[SIZE]) const {
    T dot = sub_mul(x[0], -x[1], v[1]);
    if constexpr (REAL) dot = sub_mul(dot, -x[2], v[2]);
    dot = factor * dot;
    x[0] = x[0] - dot;
    x[1] = sub_mul(x[1], dot, conj(v[1]));
    if constexpr (REAL) x[2] = sub_mul(x[2], dot, v[2]);
  }
};

// Coefficients of exceptional shifts, as in LAPACK: they break the cycles that the usual shifts may fall into.
template <class R> constexpr R EXCEPTIONAL = R(0.75);
template <class R> constexpr R EXCEPTIONAL_PRODUCT = R(-0.4375);

// The two shifts of a step on a real matrix: conjugates, or the same number twice.
template <class R> struct Shift {
  R one = 0, other = 0, imaginary = 0;
  // The eigenvalues of the block ((a, b), (c, d)); of two real ones the closer to d, twice.
  __device__ Shift(R a, R b, R c, R d) {
    const R size = ::fabs(a) + ::fabs(b) + ::fabs(c) + ::fabs(d);
    if (size == 0) return;
    const R inverse_size = 1 / size;
    a *= inverse_size;
    b *= inverse_size;
    c *= inverse_size;
    d *= inverse_size;
    const R middle = (a + d) / 2, square = (a - middle) * (d - middle) - b * c, root = ::sqrt(::fabs(square));
    if (square >= 0) {
      one = other = middle * size;
      imaginary = root * size;
    } else {
      one = other = (::fabs(middle + root - d) <= ::fabs(middle - root - d) ? middle + root : middle - root) * size;
    }
  }
  __device__ static Shift standard(Cells<R> h, int i) { return {h(i - 1, i - 1), h(i - 1, i), h(i, i - 1), h(i, i)}; }
  __device__ static Shift exceptional(R corner, R beside) {
    const R a = EXCEPTIONAL<R> * beside + corner;
    return {a, EXCEPTIONAL_PRODUCT<R> * beside, beside, a};
  }
  // The first column of the product of the two shifted matrices from row m on, scaled; and whether a step may begin in
  // row m, as the element to the left of it is negligible.
  __device__ void first_column(Cells<R> h, int m, R (&x)[3]) const {
    const R corner = h(m, m), below = h(m + 1, m);
    const R inverse_size = 1 / (::fabs(corner - other) + ::fabs(imaginary) + ::fabs(below));
    const R below_ratio = below * inverse_size;
    x[0] = ::fma(below_ratio, h(m, m + 1), (corner - one) * ((corner - other) * inverse_size)) +
           imaginary * (imaginary * inverse_size);
    x[1] = below_ratio * (corner + h(m + 1, m + 1) - one - other);
    x[2] = below_ratio * h(m + 2, m + 1);
    const R sum = ::fabs(x[0]) + ::fabs(x[1]) + ::fabs(x[2]);
    const R shrink = sum > MIN_NORMAL<R> / EPSILON<R> ? 1 / sum : R(1);
    for (R& element : x) element *= shrink;
  }
  __device__ static bool can_begin(Cells<R> h, int m, R (&x)[3]) {
    const R around = ::fabs(h(m - 1, m - 1)) + ::fabs(h(m, m)) + ::fabs(h(m + 1, m + 1));
    return ::fabs(h(m, m - 1)) * (::fabs(x[1]) + ::fabs(x[2])) <= EPSILON<R> * ::fabs(x[0]) * around;
  }
};

// A square root.
template <class R> __device__ inline cx<R> complex_root(cx<R> x) {
  const R length = ::hypot(x.re, x.im), t = ::sqrt((length + ::fabs(x.re)) / 2);
  if (t == 0) return {0, 0};
  const R other = ::fabs(x.im) / (2 * t);
  return x.re >= 0 ? cx<R>{t, ::copysign(other, x.im)} : cx<R>{other, ::copysign(t, x.im)};
}

// The shift of a step on a complex matrix: Wilkinson's, the eigenvalue of the last two rows closer to the corner.
template <class R> struct Shift<cx<R>> {
  typedef cx<R> T;
  T shift;
  __device__ static Shift standard(Cells<T> h, int i) {
    const T corner = h(i, i), half = times(h(i - 1, i - 1) - corner, R(0.5));
    const T product_root = complex_root(h(i - 1, i)) * complex_root(h(i, i - 1));
    const R size = ::fmax(norm1(product_root), norm1(half));
    if (norm1(product_root) == 0) return {corner};
    const T x = times(half, 1 / size), y = times(product_root, 1 / size), square = x * x + y * y;
    T distance = complex_root(square);
    if (x.re * distance.re + x.im * distance.im < 0) distance = -distance;
    return {corner - product_root * (y / (x + distance))};
  }
  __device__ static Shift exceptional(T corner, R beside) { return {corner + of_real<T>(EXCEPTIONAL<R> * beside)}; }
  __device__ void first_column(Cells<T> h, int m, T (&x)[2]) const {
    const T first = h(m, m) - shift, below = h(m + 1, m);
    const R inverse_sum = 1 / (norm1(first) + norm1(below));
    x[0] = times(first, inverse_sum);
    x[1] = times(below, inverse_sum);
  }
  __device__ static bool can_begin(Cells<T> h, int m, T (&x)[2]) {
    return norm1(h(m, m - 1)) * norm1(x[1]) <= EPSILON<R> * norm1(x[0]) * (norm1(h(m, m)) + norm1(h(m + 1, m + 1)));
  }
};

// The rotation that makes a real block of two rows a triangle, or gives it equal numbers on the diagonal.
template <class R> struct Pair {
  R a, b, c, d, cosine = 1, sine = 0;
  __device__ Pair(R a, R b, R c, R d) : a(a), b(b), c(c), d(d) {
    if (c == 0) return;
    if (b == 0) {
      swap();
      return;
    }
    const bool opposite_signs = ::signbit(b) != ::signbit(c);
    if (a == d && opposite_signs) return;
    const R gap = a - d, half = gap / 2, larger = ::fmax(::fabs(b), ::fabs(c)), smaller = ::fmin(::fabs(b), ::fabs(c));
    const R size = ::fmax(::fabs(half), larger), signed_least = opposite_signs ? -smaller : smaller;
    const R z = half / size * half + larger / size * signed_least;
    if (z >= 4 * EPSILON<R>) split(half + ::copysign(::sqrt(size) * ::sqrt(z), half), larger, signed_least);
    else level();
  }
  __device__ bool real() const { return c == 0; }
  __device__ R imaginary() const { return ::sqrt(::fabs(b)) * ::sqrt(::fabs(c)); }

 private:
  __device__ void swap() {
    exchange(a, d);
    b = -c;
    c = 0;
    cosine = 0;
    sine = 1;
  }
  // Two real eigenvalues that are not close to each other; `z` is the distance of the first from d.
  __device__ void split(R z, R larger, R signed_least) {
    a = d + z;
    d -= larger / z * signed_least;
    const R inverse_length = 1 / ::hypot(c, z);
    cosine = z * inverse_length;
    sine = c * inverse_length;
    b -= c;
    c = 0;
  }
  // Make the numbers on the diagonal equal.
  __device__ void level() {
    R gap = a - d, sum = b + c;
    const R unit = unit_power(::fmax(::fabs(gap), ::fabs(sum)));
    gap *= unit;
    sum *= unit;
    const R tau = ::hypot(sum, gap);
    cosine = ::sqrt((1 + ::fabs(sum) / tau) / 2);
    sine = -(gap / 2 / (tau * cosine)) * ::copysign(R(1), sum);
    const R aa = a * cosine + b * sine, bb = b * cosine - a * sine;
    const R cc = c * cosine + d * sine, dd = d * cosine - c * sine;
    a = aa * cosine + cc * sine;
    b = bb * cosine + dd * sine;
    c = cc * cosine - aa * sine;
    d = dd * cosine - bb * sine;
    const R middle = (a + d) / 2;
    a = d = middle;
    if (c == 0) return;
    if (b == 0) {
      b = -c;
      c = 0;
      exchange(cosine, sine);
      cosine = -cosine;
    } else if (::signbit(b) == ::signbit(c)) {
      const R of_b = ::sqrt(::fabs(b)), of_c = ::sqrt(::fabs(c)), inverse_length = 1 / ::sqrt(::fabs(b + c));
      const R p = ::copysign(of_b * of_c, c), x = of_b * inverse_length, y = of_c * inverse_length;
      a = middle + p;
      d = middle - p;
      b -= c;
      c = 0;
      const R new_cosine = cosine * x - sine * y;
      sine = cosine * y + sine * x;
      cosine = new_cosine;
    }
  }
};

// The QR steps on the rows `low` to `high` of a Hessenberg matrix.
template <class T> struct Steps {
  typedef Real<T> R;
  static const bool REAL = op::kind<T> != 3;
  static const int SIZE = Bulge<T>::SIZE;
  Cells<T> h, z;  // the matrix, and the basis that is transformed with it, unless that is null
  cx<R>* values;
  int n, low, high;
  R tiny = MIN_NORMAL<R> * (R(n) / EPSILON<R>);
  int lane = threadIdx.x % 32;

  // Take steps until the matrix is a triangle; returns true if they do not converge.
  __device__ bool run() const {
    const int max_steps = 30 * max(10, high - low + 1);
    for (int i = high; i >= low;) {
      int first = low;
      for (int steps = 1;; ++steps) {
        first = block_start(first, i);
        if (first >= i - REAL) break;
        if (steps > max_steps) return true;
        sweep(first, i, steps);
      }
      if (first == i) {
        if (threadIdx.x == 0) values[i] = value(h(i, i));
      } else {
        if constexpr (REAL) finish_pair(i);
      }
      i = first - 1;
    }
    __syncthreads();
    return false;
  }
  __device__ static cx<R> value(T x) {
    if constexpr (REAL) return {x, 0};
    else return x;
  }

  // Returns true if the element left of the diagonal in row k is negligible, by the criterion of Ahues and Tisseur.
  __device__ bool is_negligible(int k, int i) const {
    const R off = norm1(h(k, k - 1));
    if (off <= tiny) return true;
    R neighbours = norm1(h(k - 1, k - 1)) + norm1(h(k, k));
    if (neighbours == 0) {
      if (k - 2 >= low) neighbours += norm1(h(k - 1, k - 2));
      if (k + 1 <= i) neighbours += norm1(h(k + 1, k));
    }
    if (off > EPSILON<R> * neighbours) return false;
    const R across = norm1(h(k - 1, k)), own = norm1(h(k, k)), gap = norm1(h(k - 1, k - 1) - h(k, k));
    const R sum = ::fmax(own, gap) + ::fmax(off, across);
    return ::fmin(off, across) * (::fmax(off, across) / sum) <=
           ::fmax(tiny, EPSILON<R> * (::fmin(own, gap) * (::fmax(own, gap) / sum)));
  }
  // The first row of the unreduced block that ends with row i.
  __device__ int block_start(int first, int i) const {
    for (int from = i; from > first; from -= 32) {
      const int k = from - lane;
      const u32 found = __ballot_sync(ALL, k > first && is_negligible(k, i));
      if (found) return from - __ffs(int(found)) + 1;
    }
    return first;
  }

  // Take a step over the rows `first` to i.
  __device__ void sweep(int first, int i, int steps) const {
    Shift<T> shift = Shift<T>::standard(h, i);
    if (steps % 20 == 0) {
      shift = Shift<T>::exceptional(h(i, i), norm1(h(i, i - 1)) + (REAL ? norm1(h(i - 1, i - 2)) : R(0)));
    } else if (steps % 10 == 0) {
      shift = Shift<T>::exceptional(
          h(first, first), norm1(h(first + 1, first)) + (REAL ? norm1(h(first + 2, first + 1)) : R(0)));
    }
    T x[SIZE];
    int m = first, last = i - SIZE + 1;
    for (u32 found = 0; !found; last -= 32) {
      const int k = last - lane;
      bool begins = k == first;
      if (k >= first) {
        shift.first_column(h, k, x);
        begins |= k > first && shift.can_begin(h, k, x);
      }
      found = __ballot_sync(ALL, begins);
      const int lane_found = __ffs(int(found)) - 1;
      if (!found) continue;
      m = last - lane_found;
#pragma unroll
      for (int t = 0; t < SIZE; ++t) x[t] = shuffle(x[t], lane_found, 32);
    }
    __syncthreads();
    const int begin = z.first ? 0 : first, end = z.first ? n - 1 : i, basis_rows = z.first ? high - low + 1 : 0;
    for (int k = m; k < i; ++k) {
      const bool has_third = k + 2 <= i;
      if (k > m) {
#pragma unroll
        for (int t = 0; t < SIZE; ++t) x[t] = t < 2 || has_third ? h(k + t, k - 1) : of_real<T>(0);
      }
      const Bulge<T> reflection(x);
      for (int j = k + threadIdx.x; j <= end; j += blockDim.x) reflection.left(&h(k, j), h.pitch, has_third);
      __syncthreads();
      if (threadIdx.x == 0) {
        if (k > m) {
          h(k, k - 1) = of_real<T>(reflection.beta);
          h(k + 1, k - 1) = of_real<T>(0);
          if (REAL && has_third) h(k + 2, k - 1) = of_real<T>(0);
        } else {
          if (m > first) h(m, m - 1) = h(m, m - 1) - conj(reflection.factor) * h(m, m - 1);
          if (first > low) h(first, first - 1) = of_real<T>(0);
        }
      }
      // A thread has a row of the matrix and one of the basis, and reads both before it writes either.
      const int rows = min(k + SIZE, i) + 1 - begin;
      for (int t = threadIdx.x; t < max(rows, basis_rows); t += blockDim.x) {
        T *row = &h(begin + t, k), *basis_row = &z(low + t, k), row_elements[SIZE], basis_elements[SIZE];
        if (t < rows) load(row, has_third, row_elements);
        if (t < basis_rows) load(basis_row, has_third, basis_elements);
        if (t < rows) {
          reflection.right(row_elements);
          store(row, has_third, row_elements);
        }
        if (t < basis_rows) {
          reflection.right(basis_elements);
          store(basis_row, has_third, basis_elements);
        }
      }
      __syncthreads();
    }
  }

  // Read and write the elements of a row that a reflection changes.
  __device__ static void load(const T* x, bool has_third, T (&to)[SIZE]) {
#pragma unroll
    for (int t = 0; t < SIZE; ++t) to[t] = t < 2 || has_third ? x[t] : of_real<T>(0);
  }
  __device__ static void store(T* x, bool has_third, const T (&from)[SIZE]) {
#pragma unroll
    for (int t = 0; t < SIZE; ++t)
      if (t < 2 || has_third) x[t] = from[t];
  }

  // Bring the block of rows i - 1 and i to standard form, and write its two eigenvalues.
  __device__ void finish_pair(int i) const {
    const Pair<R> pair(h(i - 1, i - 1), h(i - 1, i), h(i, i - 1), h(i, i));
    __syncthreads();
    const auto turn = [&](T& x, T& y) {
      const T old_x = x;
      x = pair.cosine * x + pair.sine * y;
      y = pair.cosine * y - pair.sine * old_x;
    };
    if (z.first) {
      for (int j = i + 1 + threadIdx.x; j < n; j += blockDim.x) turn(h(i - 1, j), h(i, j));
      for (int t = threadIdx.x; t < i - 1; t += blockDim.x) turn(h(t, i - 1), h(t, i));
      for (int t = low + threadIdx.x; t <= high; t += blockDim.x) turn(z(t, i - 1), z(t, i));
    }
    if (threadIdx.x == 0) {
      h(i - 1, i - 1) = pair.a;
      h(i - 1, i) = pair.b;
      h(i, i - 1) = pair.c;
      h(i, i) = pair.d;
      const R beside = pair.real() ? R(0) : pair.imaginary();
      values[i - 1] = {pair.a, beside};
      values[i] = {pair.d, -beside};
    }
    __syncthreads();
  }
};

}  // namespace la
