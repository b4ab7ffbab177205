// Arrays that operations index by themselves, and the loop that they are in.

namespace op {

// The position of an element in an array of a shape.
template <int N> struct Space {
  static const int ndim = N;
  i64 shape_[N ? N : 1], index_[N ? N : 1], count;
  __device__ void set(i64 i) {
    for (int d = N - 1; d > 0; --d) {
      index_[d] = i % shape_[d];
      i /= shape_[d];
    }
    index_[0] = i;
  }
  __device__ i64 size() const { return count; }
  __device__ const i64* shape() const { return shape_; }
  __device__ const i64* get() const { return index_; }
};

// An array with strides in elements.
template <class T, int N> struct Array {
  typedef T type;
  static const int ndim = N;
  T* data;
  i64 shape_[N ? N : 1], steps[N ? N : 1], strides_[N ? N : 1], count;
  bool packed;
  __device__ void prepare() {
    count = 1;
    packed = true;
    for (int d = N - 1; d >= 0; --d) {
      packed = packed && (steps[d] == count || shape_[d] == 1);
      count *= shape_[d];
      strides_[d] = steps[d] * i64(sizeof(T));
    }
  }
  __device__ i64 size() const { return count; }
  __device__ const i64* shape() const { return shape_; }
  __device__ const i64* strides() const { return strides_; }
  // By the position in C order, or by an index for each dimension.
  __device__ T& operator[](i64 i) const {
    if (packed) return data[i];
    i64 at = 0;
    for (int d = N - 1; d >= 0; --d) {
      at += i % shape_[d] * steps[d];
      i /= shape_[d];
    }
    return data[at];
  }
  template <class I> __device__ T& operator[](const I* index) const {
    i64 at = 0;
    for (int d = 0; d < N; ++d) at += i64(index[d]) * steps[d];
    return data[at];
  }
  // An element of the loop, whose shape is that of the array.
  __device__ T& at(i64 i, const Space<N>& space) const { return packed ? data[i] : (*this)[space.get()]; }
};

}  // namespace op
