// Calls of NumPy's functions on arrays that are small and on the host; see gpunumpy/functions/placement.py.
#pragma once

#include "array.hpp"

namespace core {

// The result of a call of the type `HostCall`; null, without an exception, if it is not on the host.
PyObject* result_on_host(PyObject* call, PyObject* const* args, Py_ssize_t count, PyObject* names);

bool add_host_call_type(PyObject* module);

}  // namespace core
