// Memory of arrays on the host that is kept when they die: the system gives new memory page by page, which for an array
// of a MB takes ten times as long as to add to it, and malloc returns what dies at the end of its heap.
#pragma once

#include "numpy_api.hpp"

namespace core {

// While it lives, NumPy has the memory of its new arrays from here, if they may be large enough to gain by it.
class KeptMemory {
public:
    explicit KeptMemory(npy_intp nbytes) {
        if (nbytes >= LEAST_BYTES) begin();
    }
    ~KeptMemory() {
        if (old_) end();
    }
    KeptMemory(const KeptMemory&) = delete;
    KeptMemory& operator=(const KeptMemory&) = delete;

    // Has NumPy take the memory of new arrays from here as long as the present context is used; false after an exception.
    static bool serve_context();

    // For less, malloc seldom asks the system.
    static constexpr npy_intp LEAST_BYTES = 1 << 16;

private:
    static PyObject* set_handler();  // and return the one before
    void begin();
    void end();

    PyObject* old_ = nullptr;  // NumPy's handler before
};

}  // namespace core
