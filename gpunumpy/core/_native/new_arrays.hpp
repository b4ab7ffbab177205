// New arrays on the host, of numbers and of NumPy arrays.
#pragma once

#include "operands.hpp"

namespace core {

// The queue of the default device, as a new reference.
PyObject* default_queue();

// What NumPy's function makes of data of the host; null, without an exception, where Python decides.
PyObject* made_of_data(int rules, PyObject* numpy_function, PyObject* const* args, Py_ssize_t count, PyObject* names);

// A NumPy array that nothing else refers to as an array on the host, as `resident` in residence.py has it; null, without
// an exception, where Python decides.
PyObject* resident(PyObject* const* args);

bool add_new_arrays(PyObject* module);

}  // namespace core
