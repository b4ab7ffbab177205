// Views: windows of values, and the layouts that integers, slices, None and ... select.
#pragma once

#include "array.hpp"
#include "sizes.hpp"

namespace core {

// Return the value of `node` through a layout over its C order, as `view` in node.py does; null, without an exception,
// if the table of windows does not know it.
PyObject* view_at_hand(PyObject* node, PyObject* layout);

// The same, where Python is asked for what the table does not know.
PyObject* view(PyObject* node, PyObject* layout);

// Return a scalar repeated over a shape, as `fill` in node.py does; null, without an exception, for what is left to Python.
PyObject* fill(PyObject* value, PyObject* shape, PyObject* queue);

// Return a value as a new pending node; see `as_new_node` in node.py.
PyObject* as_new_node(PyObject* node);

// Positions of elements in the memory of an owner.
struct Positions {
    int ndim = 0;
    Py_ssize_t shape[MAX_AT_HAND], strides[MAX_AT_HAND], offset = 0;
    bool has_ellipsis = false;  // whether the key has ``...``, which makes a result without dimensions an array

    // Reads those of an array on a device. Returns false, without an exception, if they are not at hand.
    bool read(PyObject* array);
    // Narrows them to what a key selects. Returns false, without an exception, for a key that Python must look at.
    bool select(PyObject* key);
    // Whether the sizes are those of a tuple.
    bool has_shape(PyObject* shape_tuple) const;
    // Whether they are those of a `Layout`.
    bool equal(PyObject* layout_tuple) const;
    // Whether all elements of a C-ordered array of this shape are taken in order.
    bool is_whole(PyObject* shape_tuple) const;
    // Whether every index is sure to have an element of its own, as `are_distinct` in layout.py has it.
    bool are_distinct() const;
    // A new `Layout`.
    PyObject* layout() const;
};

// Whether an array is on a device, and is none that acts as a NumPy scalar, of which views are new arrays.
bool can_have_views(PyObject* array);

// A new view of such an array, through a layout of at most `MAX_AT_HAND` dimensions over its owner's elements.
PyObject* make_view(PyObject* array, PyObject* layout);

}  // namespace core
