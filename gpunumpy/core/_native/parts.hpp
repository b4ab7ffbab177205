// Where the graph of a loop whose sizes change is cut: see gpunumpy/core/schedule/parts.py.
#pragma once

#include "state.hpp"

namespace core {

// The roots of each part of a graph, of a list of nodes and how many of them are its roots. Null, without an exception, for
// what is left to Python.
PyObject* parts(PyObject* const* args);

}  // namespace core
