// What a flush begins with: live_roots, the pending values of living arrays; and walk, all nodes that these need, with
// the key of the plan that serves such a graph.
#pragma once

#include "recent_plans.hpp"

namespace core {

bool add_walk(PyObject* module);

// Both as in evaluate.py: `walk`, which returns false after an exception, and `live_roots` with a tuple of nodes.
bool walk_graph(PyObject* roots, Ref& nodes, Ref& key);
// The plan that was found for such a graph of late, and the nodes of the graph; null, maybe after an exception, if none was.
// Its key, as words and as Python has it, is for who looks further then, or has no planner to begin with.
Ref plan_at_hand(PyObject* planner, PyObject* roots, Ref& nodes, KeyWords& words, Ref& key);
PyObject* roots_alive(PyObject* queue, PyObject* extra);

// Whether a pending node is cheaper to compute than to read.
bool stays_pending(PyObject* node);

// A number for `Node::walk` that no node has.
uint64_t next_walk();

}  // namespace core
