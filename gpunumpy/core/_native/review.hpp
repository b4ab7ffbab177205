// Reviews of a queue: what is recorded while a graph waits for the place where it is flushed, and how large a graph is.
// See `review` in gpunumpy/core/runtime/evaluate.py, and gpunumpy/core/runtime/loop_cut.py.
#pragma once

#include "python.hpp"

namespace core {

// Do with a value what `review` does where a graph waits, and the program has not come to the place: add it to the queue.
// Returns false, having done nothing, where Python is to do more; with an exception after an error.
bool add_while_waiting(PyObject* queue, PyObject* node);

bool add_review(PyObject* module);

}  // namespace core
