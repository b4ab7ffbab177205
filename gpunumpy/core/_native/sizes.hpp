// Sizes and strides in C++, and the questions about them that core/graph/layout.py answers in Python.
#pragma once

#include "python.hpp"

namespace core {

constexpr int MAX_AT_HAND = 16;  // values of more dimensions are left to Python

// A new tuple of integers, which Python's garbage collector need not look at.
inline PyObject* integers(const Py_ssize_t* numbers, Py_ssize_t count) {
    Ref made(PyTuple_New(count));
    for (Py_ssize_t k = 0; made && k < count; k++) {
        PyObject* number = PyLong_FromSsize_t(numbers[k]);
        if (!number) return nullptr;
        PyTuple_SET_ITEM(made.get(), k, number);
    }
    if (made) PyObject_GC_UnTrack(made.get());
    return made.release();
}

// A tuple of integers, such as a shape or strides.
struct Sizes {
    int count = 0;
    Py_ssize_t at[MAX_AT_HAND];

    // Returns false, without an exception, for a tuple that is left to Python.
    bool read(PyObject* tuple) {
        const Py_ssize_t length = PyTuple_GET_SIZE(tuple);
        if (length > MAX_AT_HAND) return false;
        count = static_cast<int>(length);
        for (int k = 0; k < count; k++) {
            if (!read_integer(PyTuple_GET_ITEM(tuple, k), at[k])) return false;
        }
        return true;
    }

    // Reads an integer of Python's own class. Returns false, without an exception, for anything else.
    static bool read_integer(PyObject* object, Py_ssize_t& value) {
        if (!PyLong_CheckExact(object)) return false;
        value = PyLong_AsSsize_t(object);
        if (value != -1 || !PyErr_Occurred()) return true;
        PyErr_Clear();
        return false;
    }

    bool has(Py_ssize_t number) const {
        for (int k = 0; k < count; k++) {
            if (at[k] == number) return true;
        }
        return false;
    }

    bool operator==(const Sizes& other) const {
        if (count != other.count) return false;
        for (int k = 0; k < count; k++) {
            if (at[k] != other.at[k]) return false;
        }
        return true;
    }

    // A new tuple.
    PyObject* tuple() const { return integers(at, count); }
};

// The strides of a C-ordered array; an empty dimension counts as size 1.
inline Sizes c_strides(const Sizes& shape) {
    Sizes strides;
    strides.count = shape.count;
    Py_ssize_t step = 1;
    for (int k = shape.count - 1; k >= 0; k--) {
        strides.at[k] = step;
        step *= shape.at[k] > 1 ? shape.at[k] : 1;
    }
    return strides;
}

// Whether strides are those of C order. Dimensions of size 1 and empty arrays fit any order.
inline bool is_c_contiguous(const Sizes& shape, const Sizes& strides) {
    if (shape.has(0)) return true;
    Py_ssize_t step = 1;
    for (int k = shape.count - 1; k >= 0; k--) {
        if (shape.at[k] != 1 && strides.at[k] != step) return false;
        step *= shape.at[k];
    }
    return true;
}

// Whether no stride is longer than one before it. Dimensions of size 1 and repeated ones decide nothing.
inline bool is_c_ordered(const Sizes& shape, const Sizes& strides) {
    Py_ssize_t outer = PY_SSIZE_T_MAX;
    for (int k = 0; k < shape.count; k++) {
        if (shape.at[k] == 1 || !strides.at[k]) continue;
        const Py_ssize_t length = strides.at[k] < 0 ? -strides.at[k] : strides.at[k];
        if (length > outer) return false;
        outer = length;
    }
    return true;
}

// Whether BLAS can read a vector (positive stride) or matrices (contiguous rows or columns) in place.
inline bool is_blas_readable(const Sizes& shape, const Sizes& strides) {
    const int last = shape.count - 1;
    if (!last) return strides.at[0] > 0 || shape.at[0] == 1;
    const Py_ssize_t rows = shape.at[last - 1], columns = shape.at[last];
    const Py_ssize_t down = strides.at[last - 1], across = strides.at[last];
    for (int k = 0; k <= last; k++) {
        if (strides.at[k] < 0) return false;
    }
    return ((across == 1 || columns == 1) && (down >= columns || rows == 1)) ||
           ((down == 1 || rows == 1) && (across >= rows || columns == 1));
}

}  // namespace core
