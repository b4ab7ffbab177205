// The flush of a graph that has a plan; see `flush` in gpunumpy/core/runtime/evaluate.py.
#pragma once

#include "node.hpp"
#include "state.hpp"

namespace core {

// What became of a flush.
enum class Flushed { YES, NOT_AT_HAND, ERROR };

// Compute every pending array of a queue that is alive, and `extra`, a node or null, which the host is about to read if
// `is_looked_at`. Left to Python are: a lock that another thread holds, a flush inside of a flush or after one that did
// not end, graphs without a plan, and everything while an observer or a watcher is there.
Flushed flush(PyObject* queue, PyObject* extra, bool is_looked_at);

// Compute those roots of a part of a graph, a list, that are pending, inside of a flush of Python's; `looked` is the node
// that the host is about to read, or None.
Flushed compute_part(PyObject* queue, PyObject* part, PyObject* run, PyObject* looked);

}  // namespace core
