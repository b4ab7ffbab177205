// SizeFunction: computes numbers from others by a program of integers. See gpunumpy/core/schedule/size_functions.py.
#pragma once

#include "numbers.hpp"

namespace core {

bool add_size_function_type(PyObject* module);

bool is_size_function(PyObject* object);

// NO: the numbers do not pass a test. NOT_AT_HAND: Python is to compute it, as something does not fit 64 bits.
enum class Evaluated { YES, NO, NOT_AT_HAND, ERROR };

// Compute the results for some values.
Evaluated evaluate(PyObject* function, const Numbers& values, Numbers& results);

}  // namespace core
