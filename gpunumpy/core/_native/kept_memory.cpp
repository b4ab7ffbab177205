#include "kept_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace core {

namespace {

// More is not on the host.
constexpr size_t LEAST_BYTES = KeptMemory::LEAST_BYTES, MOST_BYTES = 1 << 21;
constexpr int MOST_BLOCKS = 8;

// Before the memory of an array: how much there is. A cache line, so that the memory is aligned as malloc's header is.
struct alignas(64) Header {
    size_t capacity;
};

// Blocks of arrays that have died. Whoever finds the flag set does without: another thread, or a child process whose
// parent was at it.
struct {
    std::atomic_flag is_in_use = ATOMIC_FLAG_INIT;
    Header* blocks[MOST_BLOCKS] = {};
    int oldest = 0;
} kept;

class Kept {
public:
    Kept() : is_mine_(!kept.is_in_use.test_and_set(std::memory_order_acquire)) {}
    ~Kept() {
        if (is_mine_) kept.is_in_use.clear(std::memory_order_release);
    }
    explicit operator bool() const { return is_mine_; }

private:
    bool is_mine_;
};

Header* header_of(void* memory) { return static_cast<Header*>(memory) - 1; }

Header* take_kept(size_t size) {
    const Kept mine;
    Header** best = nullptr;
    for (Header*& block : kept.blocks) {
        if (!mine) break;
        const bool is_fit = block && block->capacity >= size && block->capacity - size <= size / 4;
        if (is_fit && (!best || block->capacity < (*best)->capacity)) best = &block;
    }
    return best ? std::exchange(*best, nullptr) : nullptr;
}

// Keeps a block, and returns the one in place of which it is kept, or itself.
Header* keep(Header* block) {
    const Kept mine;
    if (!mine) return block;
    Header** const end = kept.blocks + MOST_BLOCKS;
    Header** place = std::find(kept.blocks, end, nullptr);
    if (place == end) {
        place = kept.blocks + kept.oldest;
        kept.oldest = (kept.oldest + 1) % MOST_BLOCKS;
    }
    return std::exchange(*place, block);
}

void* allocate(void*, size_t size) {
    const bool may_be_kept = size >= LEAST_BYTES && size <= MOST_BYTES;
    Header* block = may_be_kept ? take_kept(size) : nullptr;
    if (!block) {
        if (size > PY_SSIZE_T_MAX - 2 * sizeof(Header)) return nullptr;
        const size_t bytes = (size + 2 * sizeof(Header) - 1) / sizeof(Header) * sizeof(Header);
        block = static_cast<Header*>(std::aligned_alloc(sizeof(Header), bytes));
        if (!block) return nullptr;
        block->capacity = size;
    }
    return block + 1;
}

void* allocate_zeros(void* context, size_t count, size_t size) {
    if (size && count > PY_SSIZE_T_MAX / size) return nullptr;
    void* memory = allocate(context, count * size);
    return memory ? std::memset(memory, 0, count * size) : nullptr;
}

void release(void*, void* memory, size_t) {
    if (!memory) return;
    Header* block = header_of(memory);
    if (block->capacity >= LEAST_BYTES && block->capacity <= MOST_BYTES) block = keep(block);
    std::free(block);
}

void* reallocate(void* context, void* memory, size_t size) {
    void* moved = allocate(context, size);
    if (!memory || !moved) return moved;
    std::memcpy(moved, memory, std::min(size, header_of(memory)->capacity));
    release(context, memory, 0);
    return moved;
}

PyDataMem_Handler handler = {"gpunumpy", 1, {nullptr, allocate, allocate_zeros, reallocate, release}};

}  // namespace

PyObject* KeptMemory::set_handler() {
    static PyObject* const capsule = PyCapsule_New(&handler, "mem_handler", nullptr);
    return capsule ? PyDataMem_SetHandler(capsule) : nullptr;
}

bool KeptMemory::serve_context() {
    const Ref old(set_handler());
    return static_cast<bool>(old);
}

void KeptMemory::begin() {
    old_ = set_handler();
    if (!old_) PyErr_Clear();  // NumPy's own memory does too
}

void KeptMemory::end() {
    const FirstException first;
    const Ref ours(PyDataMem_SetHandler(old_));
    if (!ours) PyErr_Clear();
    Py_DECREF(old_);
}

}  // namespace core
