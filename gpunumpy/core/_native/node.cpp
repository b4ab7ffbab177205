#include "node.hpp"

namespace core {

PyTypeObject* node_type = nullptr;

namespace {

using Held = References<Node, &Node::args, &Node::data, &Node::offset, &Node::owner, &Node::signature,
                        &Node::source_location>;

FreeObjects<1024> free_nodes;

void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Held::clear(self);  // without a trash can: of a chain of nodes every other object is a tuple, which has one
    as_node(self)->walk = 0;
    if (type != node_type || !free_nodes.put(self)) type->tp_free(self);
    Py_DECREF(type);
}

bool fill(Node* node, PyObject* const* args, Py_ssize_t count) {
    if (count < 2 || count > 3) {
        PyErr_Format(PyExc_TypeError, "Node takes 2 or 3 arguments, not %zd", count);
        return false;
    }
    set_field(node->signature, Py_NewRef(args[0]));
    set_field(node->args, Py_NewRef(args[1]));
    set_field(node->data, Py_NewRef(count == 3 ? args[2] : Py_None));
    set_field(node->owner, Py_NewRef(Py_None));
    return true;
}

int initialize(PyObject* self, PyObject* args, PyObject* options) {
    if (options && PyDict_GET_SIZE(options)) {
        PyErr_SetString(PyExc_TypeError, "Node takes no keyword arguments");
        return -1;
    }
    return fill(as_node(self), &PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args)) ? 0 : -1;
}

PyObject* call(PyObject* type, PyObject* const* args, size_t count, PyObject* names) {
    if (names && PyTuple_GET_SIZE(names)) {
        PyErr_SetString(PyExc_TypeError, "Node takes no keyword arguments");
        return nullptr;
    }
    Ref node(reinterpret_cast<PyTypeObject*>(type)->tp_alloc(reinterpret_cast<PyTypeObject*>(type), 0));
    if (!node || !fill(as_node(node.get()), args, PyVectorcall_NARGS(count))) return nullptr;
    return node.release();
}

PyMemberDef members[] = {
    {"args", T_OBJECT_EX, offsetof(Node, args), 0, nullptr},
    {"data", T_OBJECT_EX, offsetof(Node, data), 0, nullptr},
    {"offset", T_OBJECT_EX, offsetof(Node, offset), 0, nullptr},
    {"owner", T_OBJECT_EX, offsetof(Node, owner), 0, nullptr},
    {"signature", T_OBJECT_EX, offsetof(Node, signature), 0, nullptr},
    {"source_location", T_OBJECT_EX, offsetof(Node, source_location), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_members, members},
    {Py_tp_init, reinterpret_cast<void*>(initialize)},
    {Py_tp_traverse, reinterpret_cast<void*>(Held::traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(Held::clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {0, nullptr},
};

PyType_Spec spec = {
    "gpunumpy.core._native._core.Node", sizeof(Node), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots,
};

}  // namespace

bool add_node_type(PyObject* module) {
    node_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
    if (!node_type) return false;
    node_type->tp_vectorcall = call;
    return guard_fields(node_type, members) && PyModule_AddType(module, node_type) == 0;
}

PyObject* new_node(PyObject* signature, PyObject* args, PyObject* data) {
    if (!args) return nullptr;
    PyObject* node = free_nodes.take(node_type);
    if (!node) {
        Py_DECREF(args);
        return nullptr;
    }
    // Neither is in a cycle: what a node refers to was there before it, but for memory, which refers to no node. So the
    // garbage collector has nothing to look for.
    PyObject_GC_UnTrack(args);
    as_node(node)->signature = Py_NewRef(signature);
    as_node(node)->args = args;
    as_node(node)->data = Py_NewRef(data);
    as_node(node)->owner = Py_NewRef(Py_None);
    return node;
}

}  // namespace core
