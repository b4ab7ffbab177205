// The objects of the Python side that the core asks for what it does not know, and finds what it remembers in.
#pragma once

#include "section.hpp"

namespace core {

struct State {
    // Classes of the graph and of arrays.
    PyTypeObject *ndarray, *signature, *queue, *leaf, *constant, *view, *update, *reduce, *library_call, *layout,
        *gather, *scatter, *iota, *map;
    // Tables: windows by signature and layout, signatures by what they are made from, kinds by themselves, numbers of
    // structures by what these are.
    PyObject *windows, *signatures, *kinds, *structures;
    // Functions for what is not at hand, and what counts entries of tables.
    PyObject *make_view_node, *make_update, *as_new_node, *scalar, *typed_scalar;
    PyObject *compute_value, *placeholder, *count_entries, *evaluated;
    // What becomes of a result of NumPy's; set by the layer of functions.
    PyObject* returned;
    // Memory from a pool, and what finds it where no free block is at hand.
    PyTypeObject* pool_buffer;
    PyObject* allocate;
    // What a flush is done with: the class of values that the host is about to read, the names of evaluate.py, and its
    // functions for what an exception leaves and for the length at which a queue is reviewed.
    PyTypeObject *lock, *device_state, *planner, *loop_cut, *bounded_table, *device, *variants, *plan;
    PyObject *visible_buffer, *evaluate, *recover, *schedule_review, *review, *flush_if_large;
    // The runner of calls that leave their results as they are.
    PyObject* nothing;
    // The signatures of Python's scalars.
    PyObject *of_bool, *of_float, *of_int_below_128;

    Slot signature_primitive, signature_args, signature_shape, signature_dtype, signature_queue, signature_generator,
        signature_weight, signature_outputs, signature_kind, signature_c_ordered, signature_structure, signature_sizes;
    Slot leaf_strides, leaf_origin, leaf_aligned, view_strides, view_offset, update_region, reduce_axes,
        library_call_name, library_call_options, library_call_results, map_op;
    Slot queue_alignment, queue_device, queue_host_bytes, queue_host_multiplications, queue_shares_memory, queue_pending, queue_lock, queue_review_at, queue_review, queue_run,
        queue_publications, queue_state;
    Slot state_planner, state_cut, planner_plans, planner_templates, variants_by_pattern;
    Slot plan_numbers, plan_program, plan_runners, plan_signatures, plan_template, plan_values, plan_graph;
    Slot device_hash, device_free_lists, device_has_spilled, device_launched, device_stays_current, table_entries, cut_is_first, cut_begin, cut_search;
    Slot cut_held_bytes, cut_is_counted, cut_is_over, cut_limit, cut_place, cut_put_off, cut_scope, cut_waited;
};

extern State state;

// Called once from Python, with everything that `State` names as keywords.
PyObject* set_up(PyObject* module, PyObject* args, PyObject* options);

}  // namespace core
