// Lists of integers in C++, and tuples of Python's made of them.
#pragma once

#include "sizes.hpp"
#include "small_vector.hpp"

namespace core {

using Numbers = SmallVector<Py_ssize_t, 32>;

// Reads a list or tuple of integers. Returns false, without an exception, for anything else, which is left to Python.
inline bool read_numbers(PyObject* sequence, Numbers& numbers) {
    if (!PyTuple_Check(sequence) && !PyList_Check(sequence)) return false;
    numbers.resize(PySequence_Fast_GET_SIZE(sequence));
    for (size_t k = 0; k < numbers.size(); k++) {
        if (!Sizes::read_integer(PySequence_Fast_GET_ITEM(sequence, k), numbers[k])) return false;
    }
    return true;
}

// A new tuple; null after an exception.
inline PyObject* tuple_of(const Numbers& numbers) { return integers(numbers.data(), numbers.size()); }

}  // namespace core
