// Signatures of what was recorded before at other sizes: see gpunumpy/core/graph/signature.py and node.py, which ask what
// the operations are. Sizes, strides and places are arithmetic here.
//
// All functions return null, without an exception, for what is left to Python.
#pragma once

#include "sizes.hpp"
#include "state.hpp"

namespace core {

// Keep a value in a table that is bounded, where it counts as so many entries, and return what the table has for the key
// then; null after an exception.
Ref keep(PyObject* table, PyObject* key, PyObject* value, int size = 1);

// The signature of a leaf; see `leaf_signature` in node.py. It is made at once where it is likely to be new.
PyObject* leaf_signature(PyObject* shape, PyObject* strides, Py_ssize_t origin, bool is_aligned, PyObject* dtype,
                         PyObject* queue, bool is_likely_new = false);

// The signature of the leaf that a pending value becomes; see `computed_signature` in node.py.
PyObject* computed_signature(PyObject* pending);

// The signature of a view of arguments with these signatures, a tuple.
PyObject* view_signature(PyObject* args, PyObject* shape, PyObject* strides, Py_ssize_t offset, PyObject* queue);

// The signature of a base with a region replaced by a value.
PyObject* update_signature(PyObject* base, PyObject* value, PyObject* region);

// The signature of an operation on other arguments of the same kinds; see `with_operands`.
PyObject* with_operands(PyObject* operation, PyObject* args);

// Those of signatures, a list, that are library calls; see `library_calls` in batch.py.
PyObject* library_calls(PyObject* const* args);

// Whether a product of operands, of which there is a tuple of signatures, is one library call; see
// `are_multiplied_by_library` in matrix_product.py.
enum class Answer { YES, NO, NOT_AT_HAND };
Answer are_multiplied_by_library(PyObject* signatures);

// The signature of an operation on operands, of which there is a tuple of signatures, from a table by their kinds and
// static arguments, a tuple that may be null; see `at_new_sizes`.
PyObject* at_new_sizes(PyObject* operations, PyObject* operands, PyObject* static_arguments);

}  // namespace core
