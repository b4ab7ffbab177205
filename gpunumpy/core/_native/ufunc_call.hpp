// UfuncCall: the base of ufuncs. A call with plain operands is tried on the ufunc's recorders first.
#pragma once

#include "python.hpp"

namespace core {

bool add_ufunc_call_type(PyObject* module);

}  // namespace core
