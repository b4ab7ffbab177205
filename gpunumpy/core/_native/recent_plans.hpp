// The plans that were found last: a graph that comes again has its plan without a key of Python's.
#pragma once

#include "small_vector.hpp"
#include "section.hpp"

namespace core {

// The parts of a graph's key as words, which are different for different parts: the addresses of signatures, odd numbers
// for numbers, 0 for None. They hold nothing.
class KeyWords {
public:
    void add_signature(PyObject* signature) { words_.push_back(reinterpret_cast<uintptr_t>(signature)); }
    void add_number(Py_ssize_t number) { words_.push_back(2 * static_cast<uint64_t>(number) + 1); }
    void add_none() { words_.push_back(0); }

    // The part that a word stands for, as a new reference; null after an exception.
    static PyObject* part(uint64_t word) {
        if (word & 1) return PyLong_FromSsize_t(static_cast<Py_ssize_t>(word) >> 1);
        return Py_NewRef(word ? reinterpret_cast<PyObject*>(word) : Py_None);
    }

    const uint64_t* begin() const { return words_.begin(); }
    const uint64_t* end() const { return words_.end(); }
    size_t size() const { return words_.size(); }

    // Of the words as they are now; computed once.
    uint64_t hash() const;

private:
    SmallVector<uint64_t, 256> words_;
    mutable uint64_t hash_ = 0;
};

// The plan that a planner has for a key; null, without an exception, if it was not found of late.
Ref recent_plan(PyObject* planner, const KeyWords& words);

// The key holds the signatures that the words stand for.
void remember_plan(PyObject* planner, const KeyWords& words, PyObject* key, PyObject* plan);

}  // namespace core
