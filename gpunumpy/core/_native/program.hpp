// Program: the actions of a plan for all sizes, and the loop that runs them. See gpunumpy/core/runtime/plan.py, whose
// `_execute` runs the same actions.
#pragma once

#include "numbers.hpp"
#include "state.hpp"

namespace core {

extern PyTypeObject* program_type;
bool add_program_type(PyObject* module);

// The plan that a template, which has the program, gives at values of its symbols, for a graph whose nodes are listed.
// Null, without an exception, for what is left to Python.
PyObject* planned(PyObject* program, PyObject* template_plan, const Numbers& values, PyObject* nodes);

// Compute the roots among nodes, a list, as `Plan.run` does. The host is about to read the root at a position, or none
// if that is negative. Returns false after an exception; `run` then tells what there is to be finished.
bool run_plan(PyObject* plan, PyObject* nodes, PyObject* run, Py_ssize_t looked);

}  // namespace core
