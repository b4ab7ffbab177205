// How many elements of a sorted array come before values: the order is NumPy's, which has NaN at the end.

template <class T> __device__ __forceinline__ bool before(T a, T b) {
  if constexpr (op::kind<T> == 3) {
    const bool odd_a = a.im != a.im, odd_b = b.im != b.im;
    if (a.re < b.re) return !odd_a || odd_b;
    if (a.re > b.re) return odd_b && !odd_a;
    if (a.re == b.re || (a.re != a.re && b.re != b.re)) return a.im < b.im || (odd_b && !odd_a);
    return b.re != b.re;
  } else if constexpr (op::kind<T> == 1) {
    return before(f32(a), f32(b));
  } else if constexpr (op::kind<T> == 2) {
    return a < b || (b != b && a == a);
  } else {
    return a < b;
  }
}

// Whether the place of the value is behind the element; behind equal ones too if it is their `Right` side.
template <bool Right, class T> __device__ __forceinline__ bool passes(T element, T value) {
  return Right ? !before(value, element) : before(element, value);
}

// How many elements of sorted ones the value passes; `at(k)` is element k. Every thread takes the same number of steps.
template <bool Right, class I, class T, class At> __device__ __forceinline__ I passed_by(At at, I n, T value) {
  I found = 0;
  while (n > 1) {
    const I half = n / 2;
    if (passes<Right>(at(found + half - 1), value)) found += half;
    n -= half;
  }
  return found + (n == 1 && passes<Right>(at(found), value));
}
template <bool Right, class T> __device__ __forceinline__ long long passed(const T* sorted, long long n, T value) {
  return passed_by<Right>([=](long long k) { return sorted[k]; }, n, value);
}

// Where element k of the top of an index is in shared memory: the elements that a step looks at are far from each other
// by powers of two, and would lie in one bank.
__device__ __forceinline__ int slot(int k) { return k + k / 32; }

// The same where it passes `found` of the elements that a level above has, every `Width`-th one of these: what is left
// to look at is the window after those, which lies in one sector of memory.
template <bool Right, int Width, class T>
__device__ __forceinline__ long long passed_window(const T* level, long long n, long long found, T value) {
  struct alignas(16) Piece {
    T at[16 / sizeof(T)];
  };
  union Window {
    Piece pieces[Width * sizeof(T) / 16];
    T at[Width];
    __device__ Window() {}
  } window;
  const long long first = found * Width, room = n - first;
  const T* from = level + first;
  if (room >= Width && (u64)from % 16 == 0) {
#pragma unroll
    for (int k = 0; k < int(Width * sizeof(T) / 16); ++k) window.pieces[k] = ((const Piece*)from)[k];
  } else {
#pragma unroll
    for (int k = 0; k < Width - 1; ++k)
      if (k < room) window.at[k] = from[k];
  }
  int more = 0;
#pragma unroll
  for (int k = 0; k < Width - 1; ++k) more += k < room && passes<Right>(window.at[k], value);
  return first + more;
}
