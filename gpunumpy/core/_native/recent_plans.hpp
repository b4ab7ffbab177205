// The plans that were found last: a graph that comes again has its plan without a key of Python's.
#pragma once

#include "small_vector.hpp"
#include "section.hpp"

namespace core {

// The parts of a graph's key as words, which are different for different parts: the addresses of signatures, odd numbers
// for numbers, 0 for None. They hold nothing.
class KeyWords {
public:
    bool add_signature(PyObject* signature) { return add(reinterpret_cast<uintptr_t>(signature)); }
    bool add_number(Py_ssize_t number) { return add(2 * static_cast<uint64_t>(number) + 1); }
    bool add_none() { return add(0); }
    // Adds the parts of a key of Python's.
    void read(PyObject* key);

    const uint64_t* begin() const { return words_.begin(); }
    const uint64_t* end() const { return words_.end(); }
    size_t size() const { return words_.size(); }

private:
    bool add(uint64_t word) {
        words_.push_back(word);
        return true;
    }

    SmallVector<uint64_t, 256> words_;
};

// The plan that a planner has for a key; null, without an exception, if it was not found of late.
Ref recent_plan(PyObject* planner, const KeyWords& words);

void remember_plan(PyObject* planner, PyObject* key, PyObject* plan);

}  // namespace core
