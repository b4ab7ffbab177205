// Eigenvalues of a Hessenberg matrix by shifted QR steps, a block to each: it becomes a triangle, for real numbers with
// blocks of two rows on the diagonal, which have pairs of conjugate eigenvalues. All threads go through the same numbers
// for what decides; each has columns, and then rows, to which a reflection is applied.

namespace la {

// A reflection of two complex numbers, or of three real ones, that makes zeros of all but the first, which becomes `beta`.
template <class T> struct Bulge {
  static const bool REAL = op::kind<T> != 3;
  static const int SIZE = REAL ? 3 : 2;
  typedef Real<T> R;
  T factor = of_real<T>(0), v[SIZE];  // 1 - factor v v^H, where v begins with 1
  R beta;

  __device__ explicit Bulge(T (&x)[SIZE]) {
    R whole = square(x[0]), unit = 1, rest = 0;
#pragma unroll
    for (int i = 1; i < SIZE; ++i) whole += square(x[i]);
    if (whole < SMALL<R>) {
      R most = 0;
#pragma unroll
      for (int i = 0; i < SIZE; ++i) most = ::fmax(most, largest_part(x[i]));
      unit = unit_of(most);
#pragma unroll
      for (int i = 0; i < SIZE; ++i) x[i] = times(x[i], unit);
      whole = square(x[0]);
#pragma unroll
      for (int i = 1; i < SIZE; ++i) whole += square(x[i]);
    }
    beta = re(x[0]) / unit;
#pragma unroll
    for (int i = 0; i < SIZE; ++i) {
      v[i] = of_real<T>(0);
      if (i) rest += norm(x[i]);
    }
    // Nothing is too small beside the first one to be made zero: steps would come to no end.
    if (rest == 0 && is_real(x[0])) return;
    const R over = one_over_root(whole), length = ::copysign(whole * over, -re(x[0]));
    const T first = x[0] - of_real<T>(length);
    factor = times(first, ::copysign(over, re(x[0])));
    T shrink;
    if constexpr (REAL) shrink = quick_inverse(first);
    else shrink = times(conj(first), quick_inverse(square(first)));
#pragma unroll
    for (int i = 1; i < SIZE; ++i) v[i] = x[i] * shrink;
    beta = length / unit;
  }
  __device__ static bool is_real(T x) {
    if constexpr (REAL) return true;
    else return x.im == 0;
  }

  // To elements of a column; there may be one fewer.
  __device__ void left(T* x, int step, bool all) const {
    T part = inner(x[0], v[1], x[step]);
    if constexpr (REAL)
      if (all) part = inner(part, v[2], x[2 * step]);
    part = conj(factor) * part;
    x[0] = x[0] - part;
    x[step] = less(x[step], part, v[1]);
    if constexpr (REAL)
      if (all) x[2 * step] = less(x[2 * step], part, v[2]);
  }
  // To elements of a row, the last of which is zero if it is not there.
  __device__ void right(T (&x)[SIZE]) const {
    T part = less(x[0], -x[1], v[1]);
    if constexpr (REAL) part = less(part, -x[2], v[2]);
    part = factor * part;
    x[0] = x[0] - part;
    x[1] = less(x[1], part, conj(v[1]));
    if constexpr (REAL) x[2] = less(x[2], part, v[2]);
  }
};

// What is added to the number in a corner for a shift that is no eigenvalue, in parts of what is beside it.
template <class R> constexpr R UNUSUAL = R(0.75);
template <class R> constexpr R UNUSUAL_PRODUCT = R(-0.4375);

// Of a real matrix, two shifts: conjugates, or the same number twice.
template <class R> struct Shift {
  R one = 0, other = 0, imaginary = 0;
  __device__ Shift(R a, R b, R c, R d) {
    const R size = ::fabs(a) + ::fabs(b) + ::fabs(c) + ::fabs(d);
    if (size == 0) return;
    const R over = 1 / size;
    a *= over;
    b *= over;
    c *= over;
    d *= over;
    const R middle = (a + d) / 2, square = (a - middle) * (d - middle) - b * c, root = ::sqrt(::fabs(square));
    if (square >= 0) {
      one = other = middle * size;
      imaginary = root * size;
    } else {
      one = other = (::fabs(middle + root - d) <= ::fabs(middle - root - d) ? middle + root : middle - root) * size;
    }
  }
  __device__ static Shift usual(Cells<R> h, int i) { return {h(i - 1, i - 1), h(i - 1, i), h(i, i - 1), h(i, i)}; }
  __device__ static Shift unusual(R corner, R beside) {
    const R a = UNUSUAL<R> * beside + corner;
    return {a, UNUSUAL_PRODUCT<R> * beside, beside, a};
  }
  // The first column of the product of both shifted matrices from row m on; whether what is left of it is nothing beside.
  __device__ void begin(Cells<R> h, int m, R (&x)[3]) const {
    const R corner = h(m, m), below = h(m + 1, m);
    const R over = 1 / (::fabs(corner - other) + ::fabs(imaginary) + ::fabs(below)), part = below * over;
    x[0] = ::fma(part, h(m, m + 1), (corner - one) * ((corner - other) * over)) + imaginary * (imaginary * over);
    x[1] = part * (corner + h(m + 1, m + 1) - one - other);
    x[2] = part * h(m + 2, m + 1);
    const R sum = ::fabs(x[0]) + ::fabs(x[1]) + ::fabs(x[2]), shrink = sum > LEAST<R> / EPSILON<R> ? 1 / sum : R(1);
    for (R& its : x) its *= shrink;
  }
  __device__ static bool small(Cells<R> h, int m, R (&x)[3]) {
    const R around = ::fabs(h(m - 1, m - 1)) + ::fabs(h(m, m)) + ::fabs(h(m + 1, m + 1));
    return ::fabs(h(m, m - 1)) * (::fabs(x[1]) + ::fabs(x[2])) <= EPSILON<R> * ::fabs(x[0]) * around;
  }
};

template <class R> __device__ inline cx<R> root(cx<R> x) {
  const R length = ::hypot(x.re, x.im), t = ::sqrt((length + ::fabs(x.re)) / 2);
  if (t == 0) return {0, 0};
  const R other = ::fabs(x.im) / (2 * t);
  return x.re >= 0 ? cx<R>{t, ::copysign(other, x.im)} : cx<R>{other, ::copysign(t, x.im)};
}

// Of a complex one, a shift.
template <class R> struct Shift<cx<R>> {
  typedef cx<R> T;
  T shift;
  __device__ static Shift usual(Cells<T> h, int i) {
    const T corner = h(i, i), half = times(h(i - 1, i - 1) - corner, R(0.5));
    const T u = root(h(i - 1, i)) * root(h(i, i - 1));
    const R size = ::fmax(norm(u), norm(half));
    if (norm(u) == 0) return {corner};
    const T x = times(half, 1 / size), y = times(u, 1 / size), square = x * x + y * y;
    T far = root(square);
    if (x.re * far.re + x.im * far.im < 0) far = -far;
    return {corner - u * (y / (x + far))};
  }
  __device__ static Shift unusual(T corner, R beside) { return {corner + of_real<T>(UNUSUAL<R> * beside)}; }
  __device__ void begin(Cells<T> h, int m, T (&x)[2]) const {
    const T first = h(m, m) - shift, below = h(m + 1, m);
    const R over = 1 / (norm(first) + norm(below));
    x[0] = times(first, over);
    x[1] = times(below, over);
  }
  __device__ static bool small(Cells<T> h, int m, T (&x)[2]) {
    return norm(h(m, m - 1)) * norm(x[1]) <= EPSILON<R> * norm(x[0]) * (norm(h(m, m)) + norm(h(m + 1, m + 1)));
  }
};

// A rotation after which a real block of two rows is a triangle, or has twice the same number on the diagonal.
template <class R> struct Pair {
  R a, b, c, d, cosine = 1, sine = 0;
  __device__ Pair(R a, R b, R c, R d) : a(a), b(b), c(c), d(d) {
    if (c == 0) return;
    if (b == 0) {
      swap();
      return;
    }
    const bool apart = ::signbit(b) != ::signbit(c);
    if (a == d && apart) return;
    const R gap = a - d, half = gap / 2, most = ::fmax(::fabs(b), ::fabs(c)), least = ::fmin(::fabs(b), ::fabs(c));
    const R size = ::fmax(::fabs(half), most), signed_least = apart ? -least : least;
    const R z = half / size * half + most / size * signed_least;
    if (z >= 4 * EPSILON<R>) split(half + ::copysign(::sqrt(size) * ::sqrt(z), half), most, signed_least);
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
  // Two real numbers that are not close to each other; `z` is how far the first one is from d.
  __device__ void split(R z, R most, R signed_least) {
    a = d + z;
    d -= most / z * signed_least;
    const R over = 1 / ::hypot(c, z);
    cosine = z * over;
    sine = c * over;
    b -= c;
    c = 0;
  }
  // Make the numbers on the diagonal the same.
  __device__ void level() {
    R gap = a - d, sum = b + c;
    const R unit = unit_of(::fmax(::fabs(gap), ::fabs(sum)));
    gap *= unit;
    sum *= unit;
    const R tau = ::hypot(sum, gap);
    cosine = ::sqrt((1 + ::fabs(sum) / tau) / 2);
    sine = -(gap / 2 / (tau * cosine)) * ::copysign(R(1), sum);
    const R aa = a * cosine + b * sine, bb = b * cosine - a * sine, cc = c * cosine + d * sine, dd = d * cosine - c * sine;
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
      const R of_b = ::sqrt(::fabs(b)), of_c = ::sqrt(::fabs(c)), over = 1 / ::sqrt(::fabs(b + c));
      const R p = ::copysign(of_b * of_c, c), x = of_b * over, y = of_c * over;
      a = middle + p;
      d = middle - p;
      b -= c;
      c = 0;
      const R turned = cosine * x - sine * y;
      sine = cosine * y + sine * x;
      cosine = turned;
    }
  }
};

template <class T> struct Steps {
  typedef Real<T> R;
  static const bool REAL = op::kind<T> != 3;
  static const int SIZE = Bulge<T>::SIZE;
  Cells<T> h, z;  // the matrix, and what turns it, if that is not null
  cx<R>* values;
  int n, low, high;
  R tiny = LEAST<R> * (R(n) / EPSILON<R>);
  int lane = threadIdx.x % 32;

  // Returns whether it failed.
  __device__ bool run() const {
    const int most = 30 * max(10, high - low + 1);
    for (int i = high; i >= low;) {
      int first = low;
      for (int turns = 1;; ++turns) {
        first = last_apart(first, i);
        if (first >= i - REAL) break;
        if (turns > most) return true;
        sweep(first, i, turns);
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

  // Whether what is left of the diagonal in row k is nothing; criterion of Ahues and Tisseur.
  __device__ bool apart(int k, int i) const {
    const R off = norm(h(k, k - 1));
    if (off <= tiny) return true;
    R around = norm(h(k - 1, k - 1)) + norm(h(k, k));
    if (around == 0) {
      if (k - 2 >= low) around += norm(h(k - 1, k - 2));
      if (k + 1 <= i) around += norm(h(k + 1, k));
    }
    if (off > EPSILON<R> * around) return false;
    const R across = norm(h(k - 1, k)), own = norm(h(k, k)), gap = norm(h(k - 1, k - 1) - h(k, k));
    const R sum = ::fmax(own, gap) + ::fmax(off, across);
    return ::fmin(off, across) * (::fmax(off, across) / sum) <=
           ::fmax(tiny, EPSILON<R> * (::fmin(own, gap) * (::fmax(own, gap) / sum)));
  }
  // The row at which the block begins that ends with row i.
  __device__ int last_apart(int first, int i) const {
    for (int from = i; from > first; from -= 32) {
      const int k = from - lane;
      const u32 found = __ballot_sync(ALL, k > first && apart(k, i));
      if (found) return from - __ffs(int(found)) + 1;
    }
    return first;
  }

  // A step over rows `first` to i.
  __device__ void sweep(int first, int i, int turns) const {
    Shift<T> shift = Shift<T>::usual(h, i);
    if (turns % 20 == 0) {
      shift = Shift<T>::unusual(h(i, i), norm(h(i, i - 1)) + (REAL ? norm(h(i - 1, i - 2)) : R(0)));
    } else if (turns % 10 == 0) {
      shift = Shift<T>::unusual(h(first, first), norm(h(first + 1, first)) + (REAL ? norm(h(first + 2, first + 1)) : R(0)));
    }
    T x[SIZE];
    int m = first, last = i - SIZE + 1;
    for (u32 found = 0; !found; last -= 32) {
      const int k = last - lane;
      bool begins = k == first;
      if (k >= first) {
        shift.begin(h, k, x);
        begins |= k > first && shift.small(h, k, x);
      }
      found = __ballot_sync(ALL, begins);
      const int ahead = __ffs(int(found)) - 1;
      if (!found) continue;
      m = last - ahead;
#pragma unroll
      for (int t = 0; t < SIZE; ++t) x[t] = from(x[t], ahead, 32);
    }
    __syncthreads();
    const int begin = z.first ? 0 : first, end = z.first ? n - 1 : i, turned = z.first ? high - low + 1 : 0;
    for (int k = m; k < i; ++k) {
      const bool all = k + 2 <= i;
      if (k > m) {
#pragma unroll
        for (int t = 0; t < SIZE; ++t) x[t] = t < 2 || all ? h(k + t, k - 1) : of_real<T>(0);
      }
      const Bulge<T> its(x);
      for (int j = k + threadIdx.x; j <= end; j += blockDim.x) its.left(&h(k, j), h.pitch, all);
      __syncthreads();
      if (threadIdx.x == 0) {
        if (k > m) {
          h(k, k - 1) = of_real<T>(its.beta);
          h(k + 1, k - 1) = of_real<T>(0);
          if (REAL && all) h(k + 2, k - 1) = of_real<T>(0);
        } else {
          if (m > first) h(m, m - 1) = h(m, m - 1) - conj(its.factor) * h(m, m - 1);
          if (first > low) h(first, first - 1) = of_real<T>(0);
        }
      }
      // A thread has a row of the matrix and one of what turns it, and reads both before it writes.
      const int rows = min(k + SIZE, i) + 1 - begin;
      for (int t = threadIdx.x; t < max(rows, turned); t += blockDim.x) {
        T *row = &h(begin + t, k), *other = &z(low + t, k), its_row[SIZE], its_other[SIZE];
        if (t < rows) load(row, all, its_row);
        if (t < turned) load(other, all, its_other);
        if (t < rows) {
          its.right(its_row);
          store(row, all, its_row);
        }
        if (t < turned) {
          its.right(its_other);
          store(other, all, its_other);
        }
      }
      __syncthreads();
    }
  }

  __device__ static void load(const T* x, bool all, T (&to)[SIZE]) {
#pragma unroll
    for (int t = 0; t < SIZE; ++t) to[t] = t < 2 || all ? x[t] : of_real<T>(0);
  }
  __device__ static void store(T* x, bool all, const T (&from)[SIZE]) {
#pragma unroll
    for (int t = 0; t < SIZE; ++t)
      if (t < 2 || all) x[t] = from[t];
  }

  // Rows i - 1 and i are a block.
  __device__ void finish_pair(int i) const {
    const Pair<R> its(h(i - 1, i - 1), h(i - 1, i), h(i, i - 1), h(i, i));
    __syncthreads();
    const auto turn = [&](T& x, T& y) {
      const T was = x;
      x = its.cosine * x + its.sine * y;
      y = its.cosine * y - its.sine * was;
    };
    if (z.first) {
      for (int j = i + 1 + threadIdx.x; j < n; j += blockDim.x) turn(h(i - 1, j), h(i, j));
      for (int t = threadIdx.x; t < i - 1; t += blockDim.x) turn(h(t, i - 1), h(t, i));
      for (int t = low + threadIdx.x; t <= high; t += blockDim.x) turn(z(t, i - 1), z(t, i));
    }
    if (threadIdx.x == 0) {
      h(i - 1, i - 1) = its.a;
      h(i - 1, i) = its.b;
      h(i, i - 1) = its.c;
      h(i, i) = its.d;
      const R beside = its.real() ? R(0) : its.imaginary();
      values[i - 1] = {its.a, beside};
      values[i] = {its.d, -beside};
    }
    __syncthreads();
  }
};

}  // namespace la
