// Moves to the host of arrays that a program writes to element by element, or row by row; and where that copies nothing,
// of arrays that it reads so too.
#pragma once

#include "array.hpp"

namespace core {

// Whether a key selects a view: of integers, slices, None and ``...``.
bool is_basic(PyObject* key);

// Moves an array to the host of which few elements at a time are accessed, once nothing shows it. Returns false after an
// exception.
bool move_for_read(PyObject* array);

// Counts a read of what was found by a key.
void count_read(PyObject* array, PyObject* found);

// Counts a write, and writes the value to a part of an array that is moved to the host for it. Returns whether it
// was, or -1 after an exception.
int move_for_write(PyObject* array, PyObject* key, PyObject* value);

bool add_element_moves(PyObject* module);

}  // namespace core
