// Attributes of arrays that tell what an array is: shape, dtype, strides and others.
#pragma once

#include "array.hpp"

namespace core {

bool add_attributes(PyObject* module);

}  // namespace core
