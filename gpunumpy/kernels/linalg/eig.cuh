// Eigenvalues and vectors of square matrices, a block to each matrix. It is balanced, reduced to a Hessenberg matrix,
// and by QR steps to a triangle. A thread solves for each vector of the triangle, and the vectors are multiplied by the
// basis that the steps have built.

namespace la {

// Elements of a vector are kept below it, so that their products with elements of the matrix are finite.
template <class R> constexpr R MAX_PART = R(1e18);
template <> constexpr f64 MAX_PART<f64> = 1e150;

// The vector of eigenvalue j of a triangle. It is stored below the diagonal, where the matrix is zero, in row j + 3;
// for a complex eigenvalue of a real matrix the imaginary parts are in the next row.
template <class T> struct Solution {
  typedef Real<T> R;
  typedef cx<R> C;
  static const bool REAL = op::kind<T> != 3;
  Cells<T> h;
  const C* values;
  int j, top;  // the eigenvalue; the last nonzero element
  bool is_complex;
  T *x, *imaginary;
  C value;
  R smallest;

  __device__ Solution(Cells<T> h, const C* values, int j, R tiny)
      : h(h), values(values), j(j), top(j), is_complex(false) {
    x = &h(j + 3, 0);
    imaginary = x + h.pitch;
    if constexpr (REAL) {
      is_complex = values[j].im != 0;
      top += is_complex;
      value = {h(j, j), values[j].im};
    } else {
      value = h(j, j);
    }
    smallest = ::fmax(EPSILON<R> * norm1(value), tiny);
  }

  __device__ C get(int i) const {
    if constexpr (REAL) return {x[i], is_complex ? imaginary[i] : R(0)};
    else return x[i];
  }
  __device__ void set(int i, C to) const {
    if constexpr (REAL) {
      x[i] = to.re;
      if (is_complex) imaginary[i] = to.im;
    } else {
      x[i] = to;
    }
  }
  // from - factor * x
  __device__ static C sub_product(C from, T factor, C x) {
    if constexpr (REAL) return {::fma(-factor, x.re, from.re), ::fma(-factor, x.im, from.im)};
    else return sub_mul(from, factor, x);
  }
  __device__ static C as_complex(T x) {
    if constexpr (REAL) return {x, 0};
    else return x;
  }
  // The divisor, or the smallest one that is allowed.
  __device__ C or_smallest(C divisor) const { return norm1(divisor) < smallest ? C{smallest, 0} : divisor; }

  __device__ void run() const {
    start();
    for (int k = j - 1; k >= 0; --k) {
      bool is_block = false;
      if constexpr (REAL) is_block = values[k].im != 0;
      if (is_block) solve_block(--k);
      else solve_row(k);
    }
    R largest = 0;
#pragma unroll 1
    for (int i = 0; i <= top; ++i) largest = ::fmax(largest, largest_part(get(i)));
    const R shrink = 1 / largest;
#pragma unroll 1
    for (int i = 0; i <= top; ++i) set(i, times(get(i), shrink));
  }

  // Set the elements in the rows of the eigenvalue itself.
  __device__ void start() const {
    if constexpr (REAL) {
      if (is_complex) {
        const R b = h(j, j + 1), c = h(j + 1, j);
        const bool first = ::fabs(b) >= ::fabs(c);
        set(j, {first ? R(1) : -value.im / c, 0});
        set(j + 1, {0, first ? value.im / b : R(1)});
        return;
      }
    }
    set(j, {1, 0});
  }

  // The right side of row k: minus its products with the known elements, those after row `from`.
  __device__ C right_side(int k, int from) const {
    C even = {0, 0}, odd = {0, 0};
    int i = from + 1;
#pragma unroll 2
    for (; i < top; i += 2) {
      even = sub_product(even, h(k, i), get(i));
      odd = sub_product(odd, h(k, i + 1), get(i + 1));
    }
    if (i == top) even = sub_product(even, h(k, i), get(i));
    return even + odd;
  }

  // Scale down the right sides e and f, and the elements of the vector from `known` on, if e and f divided by a number
  // as small as `small` would overflow.
  __device__ void fit_divisor(int known, R small, C& e, C& f) const {
    const R size = ::fmax(norm1(e), norm1(f)), limit = small * MAX_PART<R>;
    if (!(size > limit)) return;
    const R first = 1 / size, second = ::fmin(limit, R(1));
    const auto shrunk = [=](C its) { return times(times(its, first), second); };
#pragma unroll 1
    for (int i = known; i <= top; ++i) set(i, shrunk(get(i)));
    e = shrunk(e);
    f = shrunk(f);
  }

  // Solve for element k.
  __device__ void solve_row(int k) const {
    C e = right_side(k, k), f = {0, 0};
    const C divisor = or_smallest(as_complex(h(k, k)) - value);
    fit_divisor(k + 1, norm1(divisor) / 2, e, f);
    set(k, e / divisor);
  }

  // Solve for the elements k and k + 1, whose rows are a block, by elimination with its largest element as the pivot.
  __device__ void solve_block(int k) const {
    C e = right_side(k, k + 1), f = right_side(k + 1, k + 1);
    C p = as_complex(h(k, k)) - value, q = as_complex(h(k, k + 1));
    C r = as_complex(h(k + 1, k)), t = as_complex(h(k + 1, k + 1)) - value;
    const R own = norm1(p), above = norm1(q), below = norm1(r);
    const bool columns = above > own && above >= below, rows = !columns && below > own;
    if (columns) {
      exchange(p, q);
      exchange(r, t);
    } else if (rows) {
      exchange(p, r);
      exchange(q, t);
      exchange(e, f);
    }
    p = or_smallest(p);
    const C multiplier = r / p, last_pivot = or_smallest(t - multiplier * q);
    fit_divisor(k + 2, ::fmin(norm1(last_pivot), norm1(p)) / 16, e, f);
    C y = (f - multiplier * e) / last_pivot, x = (e - q * y) / p;
    if (columns) exchange(x, y);
    set(k, x);
    set(k + 1, y);
  }
};

// The eigenvalues, and with `vectors` the eigenvectors, of a matrix of n rows.
template <class T> struct Eigen {
  typedef Real<T> R;
  typedef cx<R> C;
  static const bool REAL = op::kind<T> != 3;
  Cells<T> a, z;
  T* factors;
  C* values;
  R *weights, *spare;
  int *origins, *is_isolated;
  int n, low, high;
  bool vectors;
  R unscale;

  // The matrix lies in `cells` and the basis in `basis`, both in global memory; null: in shared memory.
  __device__ Eigen(void* shared, T* cells, T* basis, int n, int pitch, bool vectors) : n(n), vectors(vectors) {
    const int size = (vectors ? n + 3 : n) * pitch;
    values = (C*)shared;
    factors = (T*)(values + n);
    T* end = factors + n;
    a = {cells ? cells : end, pitch};
    if (!cells) end += size;
    z = {!vectors ? nullptr : basis ? basis : end, pitch};
    if (vectors && !basis) end += n * pitch;
    weights = (R*)end;
    spare = weights + n;
    origins = (int*)(spare + 32);
    is_isolated = origins + n;
  }

  // Decompose the matrix with elements `at(row, column)`. Returns true if that fails.
  template <class At> __device__ bool run(At at) {
    R largest = 0;
    bool is_finite = true;
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
      const T x = a(i / n, i % n) = at(i / n, i % n);
      is_finite &= is_finite_number(x);
      largest = ::fmax(largest, largest_part(x));
    }
    R scale = power_of_two_scale(largest, is_finite, spare);
    if (scale == 0) return true;
    // Only a matrix with very large or very small elements is scaled, and by no more than it must be.
    const R limit = MAX_ELEMENT<R>;
    scale = scale * limit < 1 ? scale * limit : scale > limit ? scale / limit : R(1);
    unscale = 1 / scale;
    if (scale != 1)
      for (int i = threadIdx.x; i < n * n; i += blockDim.x) a(i / n, i % n) = times(a(i / n, i % n), scale);
    __syncthreads();
    const Balance<T> balance(a, weights, origins, is_isolated, n);
    low = balance.low;
    high = balance.high;
    hessenberg(a, factors, n, low, high);
    form_basis(a, z, factors, n, low, high);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      if (i < low || i > high) values[i] = Steps<T>::value(a(i, i));
    const Steps<T> steps = {a, z, values, n, low, high};
    if (steps.run()) return true;
    if (vectors) solve(steps.tiny);
    // A diagonal element that balancing has isolated is an eigenvalue exactly as it was given.
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      values[i] = i < low || i > high ? Steps<T>::value(at(origins[i], origins[i])) : times(values[i], unscale);
    __syncthreads();
    return false;
  }

  // True if eigenvalue j of a real matrix is the first, or the second, of a conjugate pair.
  __device__ bool is_first(int j) const { return REAL && values[j].im > 0; }
  __device__ bool is_second(int j) const { return REAL && values[j].im < 0; }

  // Compute the vectors, as columns of z.
  __device__ void solve(R tiny) const {
    for (int j = threadIdx.x; j < n; j += blockDim.x)
      if (!is_second(j)) Solution<T>(a, values, j, tiny).run();
    __syncthreads();
    // Each thread multiplies rows of the basis in place, from the last vector on: a vector has no elements after its
    // own, so an element that is overwritten is not read again.
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      T* row = &z(i, 0);
      for (int j = n - 1; j >= 0; --j) {
        const bool is_pair = is_second(j);
        const int top = j;
        if (is_pair) --j;
        T sum = of_real<T>(0), imaginary_sum = sum;
#pragma unroll 4
        for (int k = 0; k <= top; ++k) {
          sum = sub_mul(sum, row[k], -a(j + 3, k));
          if (is_pair) imaginary_sum = sub_mul(imaginary_sum, row[k], -a(j + 4, k));
        }
        row[j] = times(sum, weights[i]);
        if (is_pair) row[top] = times(imaginary_sum, weights[i]);
      }
    }
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += blockDim.x)
      if (!is_second(j)) normalise(j, is_first(j));
    __syncthreads();
  }

  // Scale a column, or two that are the parts of a complex one, to length 1; and make the largest element of a complex
  // column real.
  __device__ void normalise(int j, bool is_pair) const {
    const auto get = [&](int i) {
      if constexpr (REAL) return C{z(i, j), is_pair ? z(i, j + 1) : R(0)};
      else return z(i, j);
    };
    R largest = 0;
#pragma unroll 1
    for (int i = 0; i < n; ++i) largest = ::fmax(largest, largest_part(get(i)));
    const R unit = unit_power(largest);
    R sum = 0, greatest = -1;
    int largest_row = 0;
#pragma unroll 1
    for (int i = 0; i < n; ++i) {
      const R size = square(times(get(i), unit));
      sum += size;
      if (size > greatest) {
        greatest = size;
        largest_row = i;
      }
    }
    const R inverse_length = 1 / ::sqrt(sum);
    if (REAL && !is_pair) {
#pragma unroll 1
      for (int i = 0; i < n; ++i) z(i, j) = times(times(z(i, j), unit), inverse_length);
      return;
    }
    const C rotation = times(conj(times(get(largest_row), unit)), inverse_length / ::sqrt(greatest));
#pragma unroll 1
    for (int i = 0; i < n; ++i) {
      C scaled = times(get(i), unit) * rotation;
      if (i == largest_row) scaled.im = 0;
      if constexpr (REAL) {
        z(i, j) = scaled.re;
        z(i, j + 1) = scaled.im;
      } else {
        z(i, j) = scaled;
      }
    }
  }

  // Element i of vector j, in the order of the balanced matrix's rows.
  __device__ C vector(int j, int i) const {
    if constexpr (REAL) {
      if (is_first(j)) return {z(i, j), z(i, j + 1)};
      if (is_second(j)) return {z(i, j - 1), -z(i, j)};
      return {z(i, j), 0};
    } else {
      return z(i, j);
    }
  }
};

}  // namespace la
