// The buffers of a graph in the order in which they are met, each with the offset at which it was met first.
#pragma once

#include <unordered_map>

#include "python.hpp"
#include "small_vector.hpp"

namespace core {

class BufferWindows {
public:
    struct Window {
        PyObject* buffer;
        Py_ssize_t number, offset;
    };

    // The first window of a buffer; null, after noting it, if this is the first one.
    const Window* first(PyObject* buffer, Py_ssize_t offset) {
        constexpr size_t FEW = 16;  // are searched one by one
        if (windows_.size() <= FEW) {
            for (const Window& window : windows_) {
                if (window.buffer == buffer) return &window;
            }
        } else {
            if (place_of_.empty()) {
                for (size_t k = 0; k < windows_.size(); k++) place_of_[windows_[k].buffer] = k;
            }
            const auto [found, is_new] = place_of_.try_emplace(buffer, windows_.size());
            if (!is_new) return &windows_[found->second];
        }
        windows_.push_back({buffer, static_cast<Py_ssize_t>(windows_.size()), offset});
        return nullptr;
    }
    Py_ssize_t count() const { return static_cast<Py_ssize_t>(windows_.size()); }

private:
    SmallVector<Window, 16> windows_;
    std::unordered_map<PyObject*, size_t> place_of_;
};

}  // namespace core
