#include "walk.hpp"

#include "array.hpp"
#include "buffer_windows.hpp"
#include "recent_plans.hpp"

namespace core {

namespace {

// The number of the walk that met a node last; `Node::place` is then its position.
uint64_t walks = 0;

// The key of a graph as Python has it, of its words. It holds its parts: where a tuple or a list is made, Python 3.11 may
// collect garbage, and a finalizer that looks at a value makes nodes let go of their arguments and signatures.
class PythonKey {
public:
    explicit PythonKey(const KeyWords& words) {
        for (const uint64_t word : words) parts_.push_back(KeyWords::part(word));
    }
    ~PythonKey() {
        for (PyObject* part : parts_) Py_XDECREF(part);
    }

    // Null after an exception.
    PyObject* tuple() {
        PyObject* made = PyErr_Occurred() ? nullptr : PyTuple_New(parts_.size());
        for (size_t k = 0; made && k < parts_.size(); k++) PyTuple_SET_ITEM(made, k, std::exchange(parts_[k], nullptr));
        return made;
    }

private:
    SmallVector<PyObject*, 128> parts_;
};

class Walk {
public:
    explicit Walk(KeyWords& key) : key_(key) {}

    // Returns false after an exception.
    bool all(const HeldNodes& roots) {
        for (PyObject* root : roots) {
            if (meet(root) < 0) return false;
        }
        for (PyObject* node : nodes_) key_.add_signature(as_node(node)->signature);
        key_.add_none();
        for (size_t k = 0; k < nodes_.size(); k++) {
            const Node* node = as_node(nodes_.begin()[k]);
            if (!is_pending(node)) {
                note_leaf(node);
            } else if (!follow(node)) {
                return false;
            }
        }
        return true;
    }

    // A list of the nodes, which are its own then.
    PyObject* nodes() { return nodes_.moved_list(); }

private:

    // Give a node its position. Returns -1 after an exception.
    Py_ssize_t meet(PyObject* node) {
        if (!PyObject_TypeCheck(node, node_type) || !as_node(node)->args) {
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

    bool follow(const Node* node) {
        const Py_ssize_t count = PyTuple_GET_SIZE(node->args);
        // Without arguments: else the next entries could be taken for arguments of this node.
        if (!count) key_.add_none();
        for (Py_ssize_t k = 0; k < count; k++) {
            const Py_ssize_t place = meet(PyTuple_GET_ITEM(node->args, k));
            if (place < 0) return false;
            key_.add_number(place);
        }
        return true;
    }

    void note_leaf(const Node* node) {
        key_.add_signature(node->signature);
        if (state.signature_queue.of(node->signature) == Py_None) return;
        // A buffer: the key tells which windows share it, and their offsets.
        const Py_ssize_t offset = PyLong_AsSsize_t(node->offset);
        const auto* first = windows_.first(node->data, offset);
        if (!first) return;
        key_.add_number(-1 - first->number);
        key_.add_number(offset - first->offset);
    }

    const uint64_t number_ = next_walk();
    HeldNodes nodes_;
    KeyWords& key_;
    BufferWindows windows_;
};

PyObject* walk(PyObject*, PyObject* given) {
    Ref sequence(PySequence_Fast(given, "roots are a sequence of nodes")), nodes, key;
    if (!sequence) return nullptr;
    HeldNodes roots;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(sequence.get()); k++) {
        roots.push_back(PySequence_Fast_GET_ITEM(sequence.get(), k));
    }
    KeyWords words;
    plan_at_hand(nullptr, roots, nodes, words, key);
    return key ? PyTuple_Pack(2, nodes.get(), key.get()) : nullptr;
}

// Whether a pending generator reads a buffer: a part of it may have been computed since it was recorded.
bool reads_buffer(PyObject* node) {
    PyObject* args = as_node(node)->args;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); k++) {
        PyObject* argument = PyTuple_GET_ITEM(args, k);
        const bool reads = is_pending(as_node(argument))
                               ? reads_buffer(argument)
                               : state.signature_queue.of(as_node(argument)->signature) != Py_None;
        if (reads) return true;
    }
    return false;
}

// live_roots(queue, extra): see evaluate.py.
PyObject* live_roots(PyObject*, PyObject* const* args, Py_ssize_t count) {
    if (count < 1 || count > 2) return PyErr_Format(PyExc_TypeError, "live_roots takes 1 or 2 arguments, not %zd", count);
    Ref extra(count == 2 ? PySequence_Fast(args[1], "extra is a sequence of nodes") : PyTuple_New(0));
    LiveRoots found;
    if (!extra || !find_live_roots(args[0], PySequence_Fast_ITEMS(extra.get()), PySequence_Fast_GET_SIZE(extra.get()), found)) {
        return nullptr;
    }
    Ref nodes(found.roots.list()), kept(found.kept ? found.kept.release() : PyList_New(0));
    return nodes && kept ? Py_BuildValue("OnO", nodes.get(), found.count, kept.get()) : nullptr;
}

PyMethodDef functions[] = {
    {"live_roots", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(live_roots)), METH_FASTCALL, nullptr},
    {"walk", walk, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

uint64_t next_walk() { return ++walks; }

bool stays_pending(PyObject* node) {
    return state.signature_generator.of(as_node(node)->signature) == Py_True && !reads_buffer(node);
}

bool find_live_roots(PyObject* queue, PyObject* const* extra, Py_ssize_t extra_count, LiveRoots& found) {
    Section section;
    const Ref pending = Ref::to(state.queue_pending.of(queue));
    uint64_t number;
    do {
        found.roots.clear();
        found.kept = Ref();
        number = next_walk();
        const auto meet = [&](PyObject* node) {
            if (std::exchange(as_node(node)->walk, number) != number) found.roots.push_back(node);
        };
        found.count = PyList_GET_SIZE(pending.get());  // what other threads add meanwhile comes later
        for (Py_ssize_t k = 0; k < found.count; k++) {
            const Ref reference = item_at(pending.get(), k);
            if (!reference) break;
            const Ref array = referent(reference.get());
            PyObject* node = array ? as_array(array.get())->node : nullptr;
            if (!node || !is_pending(as_node(node))) continue;
            if (!stays_pending(node)) {
                meet(node);
                continue;
            }
            if (!found.kept) found.kept = Ref(PyList_New(0));
            if (!found.kept || PyList_Append(found.kept.get(), reference.get()) < 0) return false;
        }
        for (Py_ssize_t k = 0; k < extra_count; k++) {
            if (is_pending(as_node(extra[k]))) meet(extra[k]);
        }
    } while (walks != number);  // Python's code, of its garbage collector too, may have walked over a graph meanwhile
    return true;
}

Ref plan_at_hand(PyObject* planner, const HeldNodes& roots, Ref& nodes, KeyWords& words, Ref& key) {
    Section section;
    Walk walk(words);
    if (!walk.all(roots)) return Ref();
    Ref plan = planner ? recent_plan(planner, words) : Ref();
    if (plan) {
        nodes = Ref(walk.nodes());  // after the plan was found: the words hold no signature
        return nodes ? std::move(plan) : Ref();
    }
    PythonKey parts(words);
    nodes = Ref(walk.nodes());
    key = Ref(nodes ? parts.tuple() : nullptr);
    return Ref();
}

bool add_walk(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace core
