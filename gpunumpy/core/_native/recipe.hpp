// Recipes: what a function has recorded, made again over other operands.
#pragma once

#include "python.hpp"

namespace core {

// The result of a recipe for a tuple of operands; see `repeated` in memo.py. Null, without an exception, where another
// thread is computing an operand.
PyObject* repeated(PyObject* recipe, PyObject* operands);

}  // namespace core
