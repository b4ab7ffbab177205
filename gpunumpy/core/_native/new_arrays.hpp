// New arrays on the host, of numbers and of NumPy arrays.
#pragma once

#include "operands.hpp"

namespace core {

// What NumPy's function makes of data of the host; null, without an exception, where Python decides.
PyObject* made_of_data(int rules, PyObject* numpy_function, PyObject* const* args, Py_ssize_t count, PyObject* names);

bool add_new_arrays(PyObject* module);

}  // namespace core
