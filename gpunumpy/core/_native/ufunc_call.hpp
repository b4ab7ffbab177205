// UfuncCall: the base of ufuncs. A call with plain operands is tried on the ufunc's recorders first. And what NumPy's
// ufuncs call when they are given arrays of this package, as they are by ``numpy.float64(2) * a``.
#pragma once

#include "python.hpp"

namespace core {

bool add_ufunc_call_type(PyObject* module);

// array_ufunc(array, ufunc, "__call__", *inputs): null, without an exception, for all but arrays, NumPy's too, and plain
// operands of a ufunc that Python has told the function of.
PyObject* by_own_function(PyObject* const* args, Py_ssize_t count);

}  // namespace core
