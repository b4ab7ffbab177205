// Node: a value of the graph. See gpunumpy/core/graph/node.py, whose class of this name has the same fields.
#pragma once

#include "section.hpp"

namespace core {

struct Node {
    PyObject_HEAD
    PyObject* args;
    PyObject* data;
    PyObject* offset;
    PyObject* owner;
    PyObject* signature;
    PyObject* source_location;
    uint64_t walk;     // the last walk that met the node,
    Py_ssize_t place;  // and its position there
};

extern PyTypeObject* node_type;
bool add_node_type(PyObject* module);

inline Node* as_node(PyObject* object) { return reinterpret_cast<Node*>(object); }
// Whether an object is a node and no stand-in for one, which makes its fields when Python asks for them.
inline bool is_node(PyObject* object) { return Py_TYPE(object) == node_type; }
inline bool is_pending(const Node* node) { return node->data == Py_None; }

// A new node. `args` is an owned tuple, maybe null after an error, which is then passed on.
PyObject* new_node(PyObject* signature, PyObject* args, PyObject* data = Py_None);

}  // namespace core
