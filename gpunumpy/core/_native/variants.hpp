// Variants: things that are made once for all sizes of a class. See gpunumpy/core/schedule/variants.py.
#pragma once

#include "numbers.hpp"

namespace core {

constexpr Py_ssize_t MAX_SYMBOLS = 48, LEAST = 2;  // as in variants.py and sizes.py

// Where equal numbers stand in a sequence, and which these are; see `pattern`. Null, without an exception, for what is
// left to Python.
PyObject* pattern(PyObject* const* args);

// What serves a list of numbers, as a new reference, and the values of its symbols; null, without an exception, if
// nothing that was made does.
PyObject* find_variant(PyObject* variants, const Numbers& numbers, Numbers& values);

// The same as a tuple, for a `Variants` and a sequence of numbers; see variants.py.
PyObject* known_variant(PyObject* const* args);

}  // namespace core
