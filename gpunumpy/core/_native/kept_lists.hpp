// Lists that a flush is done with, for the next ones: they keep the room for their items.
#pragma once

#include "section.hpp"

namespace core {

// A new list of so many items, which are still to be set; null after an exception. It is to be in no cycle: the garbage
// collector does not know it.
PyObject* take_list(Py_ssize_t count);

// Let go of a list of `take_list`, or of any other object, or of null.
void give_list(PyObject* owned);

// Remove the first items of a list, so many of them that others may be behind them, and put those of another list, or of
// none if that is null, in their place. Returns false after an exception.
bool replace_first(PyObject* list, Py_ssize_t count, PyObject* items);

}  // namespace core
