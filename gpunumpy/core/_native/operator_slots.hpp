// Operators of arrays on the host, in front of the slots by which Python calls the methods of a class.
#pragma once

#include "array.hpp"

namespace core {

bool add_operator_slots(PyObject* module);

}  // namespace core
