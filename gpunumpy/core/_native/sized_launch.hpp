// SizedLaunch: prepares the launches of a kernel at all sizes. See gpunumpy/kernels/cuda/tiers.py.
#pragma once

#include "numbers.hpp"

namespace core {

bool add_sized_launch_type(PyObject* module);

// The launch at some sizes, by what has launched a program for these before. Null, without an exception, if there is
// none, or `prepare` is no `SizedLaunch`.
PyObject* launch_at_sizes(PyObject* prepare, const Numbers& sizes);

}  // namespace core
