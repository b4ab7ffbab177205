// Calls of public functions that record what they recorded before.
#pragma once

#include "python.hpp"

namespace core {

// The result of a call that a `CallMemo` of calls.py knows; null, maybe after an exception, of any other.
PyObject* remembered_call(PyObject* memo, PyObject* const* args, Py_ssize_t count, PyObject* names);

// Add `call_key` of calls.py to the core.
bool add_calls(PyObject* module);

}  // namespace core
