// The objects of the Python side that the core asks for what it does not know, and finds what it remembers in.
#pragma once

#include "python.hpp"

namespace core {

struct State {
    // Classes of the graph and of arrays.
    PyTypeObject *ndarray, *signature, *queue, *window, *leaf, *constant, *view, *update, *layout;
    // Tables: windows by signature and layout, signatures by what they are made from.
    PyObject *windows, *signatures;
    // Memory from a pool, and lists of free blocks by device and bytes.
    PyTypeObject* pool_buffer;
    PyObject *free_lists, *allocate;
    // What a flush is done with: the class of values that the host is about to read, the names of evaluate.py, and its
    // functions for what an exception leaves and for the length at which a queue is reviewed.
    PyTypeObject *device_state, *planner, *loop_cut, *bounded_table, *device;
    PyObject *visible_buffer, *evaluate, *recover, *schedule_review;
    // Functions for what is not at hand.
    PyObject *make_view_node, *make_update, *as_new_node, *scalar, *compute_value;
    // The signatures of Python's scalars.
    PyObject *of_bool, *of_float, *of_int_below_128;

    Slot signature_primitive, signature_shape, signature_dtype, signature_queue, signature_generator;
    Slot queue_pending, queue_lock, queue_review_at, queue_review, queue_run, queue_publications, queue_state;
    Slot state_planner, state_cut, planner_plans;
    Slot device_launched, device_stays_current, table_entries, cut_is_first, cut_begin, cut_search;
    Slot window_nested, window_signature, window_step, window_leaves;
};

extern State state;

// Called once from Python, with everything that `State` names as keywords.
PyObject* set_up(PyObject* module, PyObject* args, PyObject* options);

}  // namespace core
