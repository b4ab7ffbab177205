// Looks at arrays by the slots of their type: elements, parts, numbers, lengths.
#pragma once

#include "array.hpp"

namespace core {

// The slots: of what is on the host by the core, of all else by methods in Python.
const PyType_Slot* look_slots();

bool add_looks(PyObject* module);

// Gives a class of Python's the slot that Python derives from ``__getitem__`` where two slots have that name.
void set_looks_of(PyTypeObject* type);

}  // namespace core
