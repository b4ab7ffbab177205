// How many elements of a sorted array come before a value, in NumPy's order, which has NaN at the end.

// Returns true if a comes before b.

template <class T> __device__ __forceinline__ bool before(T a, T b) {
  if constexpr (op::kind<T> == 3) {
    const bool nan_im_a = a.im != a.im, nan_im_b = b.im != b.im;
    if (a.re < b.re) return !nan_im_a || nan_im_b;
    if (a.re > b.re) return nan_im_b && !nan_im_a;
    if (a.re == b.re || (a.re != a.re && b.re != b.re)) return a.im < b.im || (nan_im_b && !nan_im_a);
    return b.re != b.re;
  } else if constexpr (op::kind<T> == 1) {
    return before(f32(a), f32(b));
  } else if constexpr (op::kind<T> == 2) {
    return a < b || (b != b && a == a);
  } else {
    return a < b;
  }
}

// Returns true if the place of the value is after the element; with `Right` also if the two are equal.
template <bool Right, class T> __device__ __forceinline__ bool passes(T element, T value) {
  return Right ? !before(value, element) : before(element, value);
}

// How many of n sorted elements the value passes; `at(k)` is element k. Every thread takes the same number of steps.
template <bool Right, class I, class T, class At> __device__ __forceinline__ I count_passed_by(At at, I n, T value) {
  I found = 0;
  while (n > 1) {
    const I half = n / 2;
    if (passes<Right>(at(found + half - 1), value)) found += half;
    n -= half;
  }
  return found + (n == 1 && passes<Right>(at(found), value));
}
template <bool Right, class T>
__device__ __forceinline__ long long count_passed(const T* sorted, long long n, T value) {
  return count_passed_by<Right>([=](long long k) { return sorted[k]; }, n, value);
}

// The place in shared memory of element k of an index's top level. The elements that a step reads are powers of two
// apart, and without padding would lie in one bank.
__device__ __forceinline__ int slot(int k) { return k + k / 32; }

// How many of a level's n elements the value passes, if it passes `found` of the level above, which has every
// `Width`-th element of this one. Only the window of `Width` elements after those is read: one sector of memory.
template <bool Right, int Width, class T>
__device__ __forceinline__ long long count_in_window(const T* level, long long n, long long found, T value) {
  struct alignas(16) Piece {
    T at[16 / sizeof(T)];
  };
  union Window {
    Piece pieces[Width * sizeof(T) / 16];
    T at[Width];
    __device__ Window() {}
  } window;
  const long long first = found * Width, remaining = n - first;
  const T* from = level + first;
  if (remaining >= Width && (u64)from % 16 == 0) {
#pragma unroll
    for (int k = 0; k < int(Width * sizeof(T) / 16); ++k) window.pieces[k] = ((const Piece*)from)[k];
  } else {
#pragma unroll
    for (int k = 0; k < Width - 1; ++k)
      if (k < remaining) window.at[k] = from[k];
  }
  int more = 0;
#pragma unroll
  for (int k = 0; k < Width - 1; ++k) more += k < remaining && passes<Right>(window.at[k], value);
  return first + more;
}
