// NumPy's C API, whose table one file of the core, host_call.cpp, has NumPy fill in.
#pragma once

#include "python.hpp"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL gpunumpy_array_api
#ifndef FILLS_IN_NUMPY_API
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
