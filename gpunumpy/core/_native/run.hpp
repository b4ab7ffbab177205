// Run: what a flush is at. See gpunumpy/core/runtime/run.py, whose class of this name has the same fields.
#pragma once

#include "section.hpp"

namespace core {

struct Run {
    PyObject_HEAD
    PyObject* entered;
    PyObject* nodes;
    PyObject* plan;
    PyObject* slots;
    Py_ssize_t step;
    char is_in_core;
};

extern PyTypeObject* run_type;
bool add_run_type(PyObject* module);

inline Run* as_run(PyObject* object) { return reinterpret_cast<Run*>(object); }

PyObject* new_run();

}  // namespace core
