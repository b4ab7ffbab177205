// Launch: a kernel of a GPU with its grid, launched by the driver's own function.
#pragma once

#include "python.hpp"

namespace core {

bool add_launch_type(PyObject* module);

}  // namespace core
