// Views: windows of values through layouts.
#pragma once

#include "positions.hpp"

namespace core {

// A new leaf whose lowest element is at an offset of a buffer.
PyObject* new_leaf(PyObject* signature, PyObject* buffer, Py_ssize_t offset);

// Return the value of `node` through a layout over its C order, as `view` in node.py does; null, without an exception,
// for what is left to Python.
PyObject* view_at_hand(PyObject* node, PyObject* layout);

// The same, where Python is asked for what is not at hand.
PyObject* view(PyObject* node, PyObject* layout);

// Return a scalar repeated over a shape, as `fill` in node.py does; null, without an exception, for what is left to Python.
PyObject* fill(PyObject* value, PyObject* shape, PyObject* queue);

// Whether a new array can have a node for its value; see `may_be_owned` in node.py.
bool may_be_owned(PyObject* node);

// Return a value as a new pending node; see `as_new_node` in node.py.
PyObject* as_new_node(PyObject* node);

// Whether an array is on a device, and is none that acts as a NumPy scalar, of which views are new arrays.
bool can_have_views(PyObject* array);

// A new view of such an array, at positions of its owner's elements.
PyObject* make_view(PyObject* array, const Positions& positions);
// The same, of which the layout is at hand as an object of Python too.
PyObject* make_view(PyObject* array, const Positions& positions, PyObject* layout);

// The value of a single element of such an array as a new pending node.
PyObject* element(PyObject* array, const Positions& positions);

}  // namespace core
