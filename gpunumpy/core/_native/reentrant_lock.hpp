// ReentrantLock: what `threading.RLock` is, in a Python with a GIL, which is all that taking a free lock needs.
#pragma once

#include "python.hpp"

namespace core {

bool add_lock_type(PyObject* module);

#ifndef Py_GIL_DISABLED

extern PyTypeObject* lock_type;
inline bool is_lock(PyObject* object) { return Py_IS_TYPE(object, lock_type); }

// Take the lock if no other thread has it. Returns whether it is taken.
bool take_if_free(PyObject* lock);
// Give back a lock that this thread has.
void give_back(PyObject* lock);

#endif

}  // namespace core
