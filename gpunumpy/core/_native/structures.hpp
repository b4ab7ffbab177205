// Signatures and graphs without their sizes, by which plans are found: see gpunumpy/core/graph/structure.py and
// schedule/lift.py.
#pragma once

#include "numbers.hpp"

namespace core {

// The structure and the sizes of a graph, whose nodes are the argument; see `lowered` in lift.py. Null, without an
// exception, for what is left to Python.
PyObject* lowered(PyObject* const* args);

// Whether a graph, whose nodes are the first argument, has so many different sizes; see `has_many_sizes` in lift.py. Null as
// above.
PyObject* has_many_sizes(PyObject* const* args);

// `NOT_AT_HAND`, maybe after an exception, is left to Python.
enum class Structure { READ, OF_MANY_SIZES, NOT_AT_HAND };
constexpr Py_ssize_t ANY = -1;

// Add the structure and the sizes of a graph, a list of nodes, to numbers; end where so many different sizes, which are
// not -1, 0 or 1, have been found.
Structure read_structure(PyObject* nodes, Numbers& structure, Numbers& sizes, Py_ssize_t many = ANY);

// Give a signature the structure of another one that is of the same operation, on arguments of other sizes. Returns false
// after an exception.
bool take_structure(PyObject* signature, PyObject* other);

}  // namespace core
