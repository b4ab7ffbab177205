// The planner: plans at sizes that were not met before, of graphs whose structure has a template. See
// gpunumpy/core/runtime/planner.py.
#pragma once

#include "state.hpp"

namespace core {

// The plan for a graph of which the first so many nodes are asked for, which is kept by a key. Null, without an
// exception, if there is no template, or Python is to make the plan.
PyObject* plan_at_new_sizes(PyObject* planner, PyObject* key, PyObject* nodes, Py_ssize_t count);

}  // namespace core
