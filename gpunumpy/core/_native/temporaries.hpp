// Temporary arrays of expressions, in whose memory the next result can be.
#pragma once

#include "python.hpp"

namespace core {

// Whether an argument of a slot for operators is on the interpreter's stack and nowhere else. It takes about as long as
// an operation on some thousand elements.
bool is_temporary(PyObject* argument);

}  // namespace core
