// Draws of few random numbers on the host, by NumPy's generators; see gpunumpy/random/device_draws.py.
#pragma once

#include "python.hpp"

namespace core {

bool add_draw_type(PyObject* module);

}  // namespace core
