// What a flush begins with: live_roots, the pending values of living arrays; and walk, all nodes that these need, with
// the key of the plan that serves such a graph.
#pragma once

#include "python.hpp"

namespace core {

bool add_walk(PyObject* module);

}  // namespace core
