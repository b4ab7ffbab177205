// Lists of integers in C++, and tuples of Python's made of them.
#pragma once

#include <vector>

#include "sizes.hpp"

namespace core {

using Numbers = std::vector<Py_ssize_t>;

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
inline PyObject* tuple_of(const Numbers& numbers) {
    Ref made(PyTuple_New(numbers.size()));
    for (size_t k = 0; made && k < numbers.size(); k++) {
        PyObject* number = PyLong_FromSsize_t(numbers[k]);
        if (!number) return nullptr;
        PyTuple_SET_ITEM(made.get(), k, number);
    }
    return made.release();
}

}  // namespace core
