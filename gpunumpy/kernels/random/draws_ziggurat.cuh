// Numbers of a ziggurat as a `Number` of draws.cuh, with the tables of the layers in shared memory.

// The table entries of a layer. The tables hold COPIES of each side by side, so that neighboring threads read different
// banks.
struct alignas(2 * sizeof(Value)) Layer {
  Value limit, scale;
};

struct Number {
  typedef Ziggurat<Shape> Its;
  typedef Value Held;
  struct Tables {
    Layer of[256 * COPIES];
    __device__ void fill() {
      for (int k = threadIdx.x; k < 256 * COPIES; k += THREADS)
        of[k] = {Shape::limit(k / COPIES), Shape::scale(k / COPIES)};
    }
    // The copy of the tables that a thread reads.
    struct Own {
      const Layer* of;
      u32 first;
      __device__ __forceinline__ Layer at(Piece piece) const {
        const int size = sizeof(Layer) * COPIES, bit = Its::Layout::FIRST_BIT;
        const u32 place = u32(bit ? piece >> bit : piece) * size & 255 * size | first;
        return *reinterpret_cast<const Layer*>(reinterpret_cast<const char*>(of) + place);
      }
    };
    // The shuffle, of each lane with itself, keeps the compiler from computing the offset again for each piece.
    __device__ Own own() const {
      return {of, __shfl_sync(~0u, u32(threadIdx.x % COPIES * sizeof(Layer)), int(threadIdx.x % 32))};
    }
  };
  __device__ explicit Number(const u64*) {}
  __device__ __forceinline__ u32 quick(const Tables::Own& tables, Piece piece, Value& held) const {
    const Layer layer = tables.at(piece);
    const Value place = Its::Layout::place(piece);
    held = Its::number(piece, place, layer.scale);
    return is_inside(place, layer.limit);
  }
  __device__ __forceinline__ Value value(Value held) const { return held; }
  __device__ bool begin(Piece piece, Value& value) const { return Its::begin(piece, value); }
  template <class PieceReader> __device__ bool go_on(Piece piece, PieceReader& reader, Value& value) const {
    return Its::go_on(piece, [&reader] { return unit(reader.take()); }, value);
  }
};
