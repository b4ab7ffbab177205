// Writes: values that parts of arrays are given.
#pragma once

#include "views.hpp"

namespace core {

// What became of a write.
enum class Written { YES, NOT_AT_HAND, ERROR };

// `base` with a region of its C order replaced by a value, as `update` in node.py has it. Null, without an exception, for
// what is left to Python.
PyObject* update(PyObject* base, PyObject* region, PyObject* value);

// Whether Python's `ndarray` may be written to here: an array on a device, writable, with dimensions or made as an array.
bool can_be_written(PyObject* array);

// Record a value, of the dtype and the shape of the positions, for elements of an array; see `ndarray._assign`. The
// caller holds the lock. Memory that others see is left to Python. The layout of a view is what its positions are as a
// `Layout`; for elements that a key selects it is null.
Written write(PyObject* array, const Positions& positions, PyObject* value, PyObject* layout = nullptr);

}  // namespace core
