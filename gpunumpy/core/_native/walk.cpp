#include "walk.hpp"

#include <unordered_map>
#include <vector>

#include "node.hpp"
#include "state.hpp"

namespace core {

namespace {

// The number of the walk that met a node last; `Node::place` is then its position.
uint64_t walks = 0;

class Walk {
public:
    bool begin(PyObject* roots) {
        Ref sequence(PySequence_Fast(roots, "roots are a sequence of nodes"));
        if (!sequence) return false;
        const Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence.get());
        for (Py_ssize_t k = 0; k < count; k++) {
            if (meet(PySequence_Fast_GET_ITEM(sequence.get(), k)) < 0) return false;
        }
        for (PyObject* node : nodes_) key_.push_back(Py_NewRef(as_node(node)->signature));
        key_.push_back(Py_NewRef(Py_None));
        return true;
    }

    bool follow() {
        for (size_t k = 0; k < nodes_.size(); k++) {
            if (!(is_pending(as_node(nodes_[k])) ? follow_pending(as_node(nodes_[k])) : note_leaf(as_node(nodes_[k])))) {
                return false;
            }
        }
        return true;
    }

    PyObject* result() {
        Ref nodes(PyList_New(nodes_.size())), key(PyTuple_New(key_.size()));
        if (!nodes || !key) return nullptr;
        for (size_t k = 0; k < nodes_.size(); k++) PyList_SET_ITEM(nodes.get(), k, Py_NewRef(nodes_[k]));
        for (size_t k = 0; k < key_.size(); k++) PyTuple_SET_ITEM(key.get(), k, std::exchange(key_[k], nullptr));
        return PyTuple_Pack(2, nodes.get(), key.get());
    }

    ~Walk() {
        for (PyObject* part : key_) Py_XDECREF(part);
    }

private:
    // Give a node its position; nothing that runs here can let go of one. Returns -1 after an exception.
    Py_ssize_t meet(PyObject* node) {
        if (!is_node(node)) {
            PyErr_Format(PyExc_TypeError, "a graph is made of nodes, not of %R", node);
            return -1;
        }
        Node* fields = as_node(node);
        if (fields->walk != number_) {
            fields->walk = number_;
            fields->place = static_cast<Py_ssize_t>(nodes_.size());
            nodes_.push_back(node);
        }
        return fields->place;
    }

    bool add(Py_ssize_t number) {
        key_.push_back(PyLong_FromSsize_t(number));
        return key_.back() != nullptr;
    }

    bool follow_pending(const Node* node) {
        const Py_ssize_t count = PyTuple_GET_SIZE(node->args);
        // Without arguments: else the next entries could be taken for arguments of this node.
        if (!count) key_.push_back(Py_NewRef(Py_None));
        for (Py_ssize_t k = 0; k < count; k++) {
            const Py_ssize_t place = meet(PyTuple_GET_ITEM(node->args, k));
            if (place < 0 || !add(place)) return false;
        }
        return true;
    }

    bool note_leaf(const Node* node) {
        key_.push_back(Py_NewRef(node->signature));
        if (state.signature_queue.of(node->signature) == Py_None) return true;
        // A buffer: the key tells which windows share it, and their offsets.
        const Py_ssize_t offset = PyLong_AsSsize_t(node->offset);
        const Py_ssize_t label = -1 - static_cast<Py_ssize_t>(buffers_.size());
        const auto [first, is_new] = buffers_.try_emplace(node->data, label, offset);
        return is_new || (add(first->second.first) && add(offset - first->second.second));
    }

    const uint64_t number_ = ++walks;
    std::vector<PyObject*> nodes_;  // borrowed: the roots hold them
    std::vector<PyObject*> key_;
    std::unordered_map<PyObject*, std::pair<Py_ssize_t, Py_ssize_t>> buffers_;
};

PyObject* walk(PyObject*, PyObject* roots) {
    Walk walk;
    return walk.begin(roots) && walk.follow() ? walk.result() : nullptr;
}

PyMethodDef functions[] = {
    {"walk", walk, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_walk(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace core
