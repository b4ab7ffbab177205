// Eigenvalues and vectors of square matrices, a block to each: balanced, a Hessenberg matrix, a triangle by QR steps. A
// thread solves for the vector of an eigenvalue of the triangle, and all multiply these by what has turned the matrix.

namespace la {

// Numbers of a vector are within it, so that their products with those of the matrix are numbers.
template <class R> constexpr R HUGE_PART = R(1e18);
template <> constexpr f64 HUGE_PART<f64> = 1e150;

// The vector of the eigenvalue j of a triangle. Its elements lie where the matrix is zero, below the diagonal, in row j + 3;
// of a real matrix with a complex eigenvalue the imaginary parts in the next row.
template <class T> struct Solution {
  typedef Real<T> R;
  typedef cx<R> C;
  static const bool REAL = op::kind<T> != 3;
  Cells<T> h;
  const C* values;
  int j, top;  // the last element that is not zero
  bool paired;
  T *x, *imaginary;
  C value;
  R least;

  __device__ Solution(Cells<T> h, const C* values, int j, R tiny) : h(h), values(values), j(j), top(j), paired(false) {
    x = &h(j + 3, 0);
    imaginary = x + h.pitch;
    if constexpr (REAL) {
      paired = values[j].im != 0;
      top += paired;
      value = {h(j, j), values[j].im};
    } else {
      value = h(j, j);
    }
    least = ::fmax(EPSILON<R> * norm(value), tiny);
  }

  __device__ C get(int i) const {
    if constexpr (REAL) return {x[i], paired ? imaginary[i] : R(0)};
    else return x[i];
  }
  __device__ void set(int i, C to) const {
    if constexpr (REAL) {
      x[i] = to.re;
      if (paired) imaginary[i] = to.im;
    } else {
      x[i] = to;
    }
  }
  __device__ static C taken(C from, T by, C its) {
    if constexpr (REAL) return {::fma(-by, its.re, from.re), ::fma(-by, its.im, from.im)};
    else return less(from, by, its);
  }
  __device__ static C whole(T its) {
    if constexpr (REAL) return {its, 0};
    else return its;
  }
  __device__ C or_least(C by) const { return norm(by) < least ? C{least, 0} : by; }

  __device__ void run() const {
    start();
    for (int k = j - 1; k >= 0; --k) {
      bool block = false;
      if constexpr (REAL) block = values[k].im != 0;
      if (block) two(--k);
      else one(k);
    }
    R most = 0;
#pragma unroll 1
    for (int i = 0; i <= top; ++i) most = ::fmax(most, largest_part(get(i)));
    const R shrink = 1 / most;
#pragma unroll 1
    for (int i = 0; i <= top; ++i) set(i, times(get(i), shrink));
  }

  // What belongs to the eigenvalue's own rows.
  __device__ void start() const {
    if constexpr (REAL) {
      if (paired) {
        const R b = h(j, j + 1), c = h(j + 1, j);
        const bool first = ::fabs(b) >= ::fabs(c);
        set(j, {first ? R(1) : -value.im / c, 0});
        set(j + 1, {0, first ? value.im / b : R(1)});
        return;
      }
    }
    set(j, {1, 0});
  }

  // What the elements after row `from` take from the right side of row k.
  __device__ C side(int k, int from) const {
    C even = {0, 0}, odd = {0, 0};
    int i = from + 1;
#pragma unroll 2
    for (; i < top; i += 2) {
      even = taken(even, h(k, i), get(i));
      odd = taken(odd, h(k, i + 1), get(i + 1));
    }
    if (i == top) even = taken(even, h(k, i), get(i));
    return even + odd;
  }

  // Makes sides smaller, and what is known of the vector with them, if they are too large to be divided by what is so small.
  __device__ void fit(int known, R small, C& e, C& f) const {
    const R have = ::fmax(norm(e), norm(f)), room = small * HUGE_PART<R>;
    if (!(have > room)) return;
    const R first = 1 / have, second = ::fmin(room, R(1));
    const auto shrunk = [=](C its) { return times(times(its, first), second); };
#pragma unroll 1
    for (int i = known; i <= top; ++i) set(i, shrunk(get(i)));
    e = shrunk(e);
    f = shrunk(f);
  }

  __device__ void one(int k) const {
    C e = side(k, k), f = {0, 0};
    const C by = or_least(whole(h(k, k)) - value);
    fit(k + 1, norm(by) / 2, e, f);
    set(k, e / by);
  }

  // Rows k and k + 1 are a block: elimination with the greatest of its elements for a pivot.
  __device__ void two(int k) const {
    C e = side(k, k + 1), f = side(k + 1, k + 1);
    C p = whole(h(k, k)) - value, q = whole(h(k, k + 1)), r = whole(h(k + 1, k)), t = whole(h(k + 1, k + 1)) - value;
    const R own = norm(p), above = norm(q), below = norm(r);
    const bool columns = above > own && above >= below, rows = !columns && below > own;
    if (columns) {
      exchange(p, q);
      exchange(r, t);
    } else if (rows) {
      exchange(p, r);
      exchange(q, t);
      exchange(e, f);
    }
    p = or_least(p);
    const C by = r / p, last = or_least(t - by * q);
    fit(k + 2, ::fmin(norm(last), norm(p)) / 16, e, f);
    C y = (f - by * e) / last, x = (e - q * y) / p;
    if (columns) exchange(x, y);
    set(k, x);
    set(k + 1, y);
  }
};

template <class T> struct Eigen {
  typedef Real<T> R;
  typedef cx<R> C;
  static const bool REAL = op::kind<T> != 3;
  Cells<T> a, z;
  T* factors;
  C* values;
  R *weights, *spare;
  int *origins, *alone;
  int n, low, high;
  bool vectors;
  R back;

  // What is too large to be shared lies in global memory: what turns the matrix, or the matrix too.
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
    alone = origins + n;
  }

  // Returns whether it failed.
  template <class At> __device__ bool run(At at) {
    R most = 0;
    bool sound = true;
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
      const T x = a(i / n, i % n) = at(i / n, i % n);
      sound &= finite(x);
      most = ::fmax(most, largest_part(x));
    }
    R scale = scale_for(most, sound, spare);
    if (scale == 0) return true;
    // Only what is very large or small is multiplied at all, and no more than it must be.
    const R far = HUGE_ELEMENT<R>;
    scale = scale * far < 1 ? scale * far : scale > far ? scale / far : R(1);
    back = 1 / scale;
    if (scale != 1)
      for (int i = threadIdx.x; i < n * n; i += blockDim.x) a(i / n, i % n) = times(a(i / n, i % n), scale);
    __syncthreads();
    const Balance<T> balance(a, weights, origins, alone, n);
    low = balance.low;
    high = balance.high;
    hessenberg(a, factors, n, low, high);
    gather(a, z, factors, n, low, high);
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      if (i < low || i > high) values[i] = Steps<T>::value(a(i, i));
    const Steps<T> steps = {a, z, values, n, low, high};
    if (steps.run()) return true;
    if (vectors) solve(steps.tiny);
    // What was on the diagonal of a triangle is an eigenvalue as it was.
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      values[i] = i < low || i > high ? Steps<T>::value(at(origins[i], origins[i])) : times(values[i], back);
    __syncthreads();
    return false;
  }

  // Whether eigenvalue j is the first of a pair of conjugates, or the second.
  __device__ bool first(int j) const { return REAL && values[j].im > 0; }
  __device__ bool second(int j) const { return REAL && values[j].im < 0; }

  __device__ void solve(R tiny) const {
    for (int j = threadIdx.x; j < n; j += blockDim.x)
      if (!second(j)) Solution<T>(a, values, j, tiny).run();
    __syncthreads();
    // Every row of what has turned the matrix, from its end, since a vector needs no elements after its own.
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      T* row = &z(i, 0);
      for (int j = n - 1; j >= 0; --j) {
        const bool two = second(j);
        const int top = j;
        if (two) --j;
        T sum = of_real<T>(0), other = sum;
#pragma unroll 4
        for (int k = 0; k <= top; ++k) {
          sum = less(sum, row[k], -a(j + 3, k));
          if (two) other = less(other, row[k], -a(j + 4, k));
        }
        row[j] = times(sum, weights[i]);
        if (two) row[top] = times(other, weights[i]);
      }
    }
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += blockDim.x)
      if (!second(j)) normalise(j, first(j));
    __syncthreads();
  }

  // A column of length 1, or two as parts of one, whose greatest element is real.
  __device__ void normalise(int j, bool two) const {
    const auto get = [&](int i) {
      if constexpr (REAL) return C{z(i, j), two ? z(i, j + 1) : R(0)};
      else return z(i, j);
    };
    R most = 0;
#pragma unroll 1
    for (int i = 0; i < n; ++i) most = ::fmax(most, largest_part(get(i)));
    const R unit = unit_of(most);
    R sum = 0, greatest = -1;
    int where = 0;
#pragma unroll 1
    for (int i = 0; i < n; ++i) {
      const R its = square(times(get(i), unit));
      sum += its;
      if (its > greatest) {
        greatest = its;
        where = i;
      }
    }
    const R over = 1 / ::sqrt(sum);
    if (REAL && !two) {
#pragma unroll 1
      for (int i = 0; i < n; ++i) z(i, j) = times(times(z(i, j), unit), over);
      return;
    }
    const C turn = times(conj(times(get(where), unit)), over / ::sqrt(greatest));
#pragma unroll 1
    for (int i = 0; i < n; ++i) {
      C its = times(get(i), unit) * turn;
      if (i == where) its.im = 0;
      if constexpr (REAL) {
        z(i, j) = its.re;
        z(i, j + 1) = its.im;
      } else {
        z(i, j) = its;
      }
    }
  }

  // Element i, of the balanced matrix, of vector j.
  __device__ C vector(int j, int i) const {
    if constexpr (REAL) {
      if (first(j)) return {z(i, j), z(i, j + 1)};
      if (second(j)) return {z(i, j - 1), -z(i, j)};
      return {z(i, j), 0};
    } else {
      return z(i, j);
    }
  }
};

}  // namespace la
