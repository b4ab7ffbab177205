// The loops of NumPy's ufuncs, run without what NumPy looks up for each call.
#pragma once

#include "operands.hpp"

namespace core {

// A result of a ufunc, which by the rules gets the operands in order, swapped, or writes to the first one. Null, without
// an exception, where there is more to do.
PyObject* by_loop(PyObject* ufunc, int rules, PyObject* const* args, Py_ssize_t count);

// The power of operands without dimensions, of which one at least is an array; null, without an exception, where there is
// more to do.
PyObject* power_of_scalars(int rules, PyObject* const* args, Py_ssize_t count);

// Writes a number, one of Python or an array without dimensions, to an element of a NumPy array; false, without an
// exception, if NumPy has to do so.
bool store(PyObject* value, PyArrayObject* array, char* place);

}  // namespace core
