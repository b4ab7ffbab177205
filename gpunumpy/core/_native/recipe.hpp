// Recipes: what a function has recorded, made again over other operands.
#pragma once

#include "python.hpp"

namespace core {

// The places of fields of a `Recipe`.
enum { RECIPE_LAYOUT = 5, RECIPE_FLAGS = 6 };

// The result of a recipe for a tuple of operands; see `repeated` in memo.py. Null, without an exception, where another
// thread is computing an operand.
PyObject* repeated(PyObject* recipe, PyObject* operands);

}  // namespace core
