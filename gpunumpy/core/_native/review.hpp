// Reviews of a queue: what is recorded while a graph waits for the place where it is flushed, and how large a graph is.
// See `review` in gpunumpy/core/runtime/evaluate.py, and gpunumpy/core/runtime/loop_cut.py.
#pragma once

#include "python.hpp"

namespace core {

// Do with a value what `review` does where a graph waits, and the program has not come to the place: add it to the queue.
// Returns false, having done nothing, where Python is to do more; with an exception after an error.
bool add_while_waiting(PyObject* queue, PyObject* node);

// What became of a review: all that there is to do, nothing, or that the value was added to the queue.
enum class Reviewed { YES, NOT_AT_HAND, ADDED, ERROR };

// Add a value to a queue that is due for review and waits for no place, and drop dead entries; see `review`. Where more is to be
// done, since the graph is large or the queue is locked, Python's `flush_if_large` does it.
Reviewed review_small_graph(PyObject* queue, PyObject* node);

// See `_schedule_review` in evaluate.py. Returns false after an exception.
bool schedule_review(PyObject* queue);

bool add_review(PyObject* module);

}  // namespace core
