#include "recipe.hpp"

#include "node.hpp"
#include "small_vector.hpp"
#include "state.hpp"
#include "views.hpp"

namespace core {

namespace {

Name empty_name("");

// The nodes of a recipe by their numbers, which hold them: a finalizer that looks at a value makes nodes let go of others.
class Nodes {
public:
    ~Nodes() {
        for (PyObject* node : nodes_) Py_DECREF(node);
    }
    void add(PyObject* owned) { nodes_.push_back(owned); }
    void add_all(PyObject* tuple) {
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tuple); k++) add(Py_NewRef(PyTuple_GET_ITEM(tuple, k)));
    }
    bool add_constants(PyObject* tuple) {
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tuple); k++) {
            if (!is_constant(as_node(PyTuple_GET_ITEM(tuple, k)))) return false;
        }
        add_all(tuple);
        return true;
    }
    PyObject* at(PyObject* number) { return nodes_[PyLong_AsSize_t(number)]; }
    PyObject* last() { return Py_NewRef(nodes_.back()); }

private:
    // A scalar, or a generator as it was when the recipe was made.
    static bool is_constant(const Node* node) {
        return is_pending(node) || Py_TYPE(state.signature_primitive.of(node->signature)) == state.constant;
    }

    SmallVector<PyObject*, 64> nodes_;
};

// The node inside an operand that a path leads to; null if a node on the way is computed.
PyObject* inner_node(PyObject* path, PyObject* operands) {
    Ref node = Ref::to(PyTuple_GET_ITEM(operands, PyLong_AsSsize_t(PyTuple_GET_ITEM(path, 0))));
    for (Py_ssize_t k = 1; k < PyTuple_GET_SIZE(path); k++) {
        const Loan args = loan(as_node(node.get())->args);
        if (!PyTuple_GET_SIZE(args.get())) return nullptr;
        node = Ref::to(PyTuple_GET_ITEM(args.get(), PyLong_AsSsize_t(PyTuple_GET_ITEM(path, k))));
    }
    return node.release();
}

PyObject* step_node(PyObject* step, Nodes& nodes) {
    PyObject *signature = PyTuple_GET_ITEM(step, 0), *numbers = PyTuple_GET_ITEM(step, 1);
    Ref args(PyTuple_New(PyTuple_GET_SIZE(numbers)));
    if (!args) return nullptr;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(numbers); k++) {
        PyTuple_SET_ITEM(args.get(), k, Py_NewRef(nodes.at(PyTuple_GET_ITEM(numbers, k))));
    }
    PyObject* made = new_node(signature, args.release());
    if (made && Py_TYPE(state.signature_primitive.of(signature)) == state.gather) {
        as_node(made)->source_location = Py_NewRef(empty_name);
    }
    return made;
}

}  // namespace

PyObject* repeated(PyObject* recipe, PyObject* operands) {
    PyObject *inner = PyTuple_GET_ITEM(recipe, 0), *constants = PyTuple_GET_ITEM(recipe, 1);
    PyObject *scalars = PyTuple_GET_ITEM(recipe, 2), *windows = PyTuple_GET_ITEM(recipe, 3), *steps = PyTuple_GET_ITEM(recipe, 4);
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(operands); k++) {
        if (!is_node(PyTuple_GET_ITEM(operands, k))) return nullptr;
    }
    Nodes nodes;
    nodes.add_all(operands);
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(inner); k++) {
        PyObject* node = inner_node(PyTuple_GET_ITEM(inner, k), operands);
        if (!node) Py_RETURN_NONE;
        nodes.add(node);
    }
    if (!nodes.add_constants(constants)) Py_RETURN_NONE;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(scalars); k++) {
        const Node* scalar = as_node(PyTuple_GET_ITEM(scalars, k));
        PyObject* made = new_node(scalar->signature, PyTuple_New(0), scalar->data);
        if (!made) return nullptr;
        nodes.add(made);
    }
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(windows); k++) {
        PyObject* window = PyTuple_GET_ITEM(windows, k);
        const Node* source = as_node(nodes.at(PyTuple_GET_ITEM(window, 1)));
        Py_ssize_t start;
        if (is_pending(source) || !source->offset || !Sizes::read_integer(source->offset, start)) return nullptr;
        PyObject* made = new_leaf(PyTuple_GET_ITEM(window, 0), source->data, start + PyLong_AsSsize_t(PyTuple_GET_ITEM(window, 2)));
        if (!made) return nullptr;
        nodes.add(made);
    }
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(steps); k++) {
        PyObject* made = step_node(PyTuple_GET_ITEM(steps, k), nodes);
        if (!made) return nullptr;
        nodes.add(made);
    }
    return nodes.last();
}

}  // namespace core
