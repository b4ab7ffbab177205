// The objects of the Python side that the core asks for what it does not know, and finds what it remembers in.
#pragma once

#include "python.hpp"

namespace core {

struct State {
    // Classes of the graph and of arrays.
    PyTypeObject *ndarray, *signature, *queue, *window, *leaf, *constant, *view, *update, *reduce, *library_call, *layout;
    // Tables: windows by signature and layout, signatures by what they are made from, kinds by themselves, numbers of
    // structures by what these are.
    PyObject *windows, *signatures, *kinds, *structures;
    // Functions for what is not at hand, and what counts entries of tables.
    PyObject *make_view_node, *make_update, *as_new_node, *scalar, *typed_scalar, *compute_value, *placeholder, *count_entries;
    // What becomes of a result of NumPy's; set by the layer of functions.
    PyObject* returned;
    // The methods of arrays that slots stand before, by their names.
    PyObject* looks;
    // The signatures of Python's scalars.
    PyObject *of_bool, *of_float, *of_int_below_128;

    Slot signature_primitive, signature_args, signature_shape, signature_dtype, signature_queue, signature_generator,
        signature_weight, signature_outputs, signature_kind, signature_c_ordered, signature_structure, signature_sizes;
    Slot leaf_strides, leaf_origin, leaf_aligned, view_strides, view_offset, update_region, reduce_axes,
        library_call_name, library_call_options, library_call_results;
    Slot queue_pending, queue_lock, queue_review_at, queue_review;
    Slot window_nested, window_signature;
};

extern State state;

// Called once from Python, with everything that `State` names as keywords.
PyObject* set_up(PyObject* module, PyObject* args, PyObject* options);

}  // namespace core
