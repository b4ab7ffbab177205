// Program: the actions of a plan, and the loop that runs them. See gpunumpy/core/runtime/plan.py, whose `_execute` runs
// the same actions.
#pragma once

#include "state.hpp"

namespace core {

extern PyTypeObject* program_type;
bool add_program_type(PyObject* module);

// Compute the roots among nodes, a list, as `Plan.run` does. The host is about to read the root at a position, or none
// if that is negative. Returns false after an exception; `run` then tells what there is to be finished.
bool run_program(PyObject* program, PyObject* plan, PyObject* nodes, PyObject* run, Py_ssize_t looked);

}  // namespace core
