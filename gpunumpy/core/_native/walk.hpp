// walk: all nodes that roots need, and the key of the plan that serves such a graph.
#pragma once

#include "python.hpp"

namespace core {

bool add_walk(PyObject* module);

}  // namespace core
