// The place in the program where a graph that is too large is flushed: whether the program is there, and the search for it.
// See gpunumpy/core/runtime/loop_cut.py, whose class `Search` this has too.
#pragma once

#include "section.hpp"

namespace core {

// Whether the innermost frame outside of the package is at a place, a tuple of code and instruction.
bool is_at(PyObject* place);

// Count the place that the program is at, as `Search.count` does. Returns false, having done nothing, where Python is to
// do more: measure what is alive there, or end the search.
bool count_on(PyObject* search);

bool add_search_type(PyObject* module);

}  // namespace core
