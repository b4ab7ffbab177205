// Recorders: what `ndarray` has for operators and indexing. Each does what it finds in the tables, and calls the
// function in Python that it stands for where anything else is to be done.
#pragma once

#include "writes.hpp"

namespace core {

bool add_recorder_types(PyObject* module);

// Whether an object is a recorder of an elementwise operation.
bool is_elementwise_recorder(PyObject* object);

// The node of an operand, as a new reference: an array on a device, or a number of Python. Null, without an exception, for
// all else.
PyObject* operand(PyObject* object);

// The value of ``x op y``, or of ``op x`` if `y` is null, by such a recorder; null, without an exception, if it is not
// at hand. `x` is the array that the recorder's table has first, or second if it is reflected.
PyObject* operation(PyObject* recorder, PyObject* x, PyObject* y);

// Write that value to an array of its dtype and shape, all of whose elements have a place of their own.
Written operate_into(PyObject* out, PyObject* recorder, PyObject* x, PyObject* y);

}  // namespace core
