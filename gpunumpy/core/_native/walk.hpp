// What a flush begins with: live_roots, the pending values of living arrays; and walk, all nodes that these need, with
// the key of the plan that serves such a graph.
#pragma once

#include "kept_lists.hpp"
#include "recent_plans.hpp"

namespace core {

bool add_walk(PyObject* module);

// Nodes that are held.
class HeldNodes {
public:
    HeldNodes() = default;
    HeldNodes(const HeldNodes&) = delete;
    HeldNodes& operator=(const HeldNodes&) = delete;
    ~HeldNodes() { clear(); }

    void push_back(PyObject* borrowed) { nodes_.push_back(Py_NewRef(borrowed)); }
    void clear() {
        while (!nodes_.empty()) {
            PyObject* last = nodes_.back();
            nodes_.pop_back();
            Py_DECREF(last);
        }
    }
    size_t size() const { return nodes_.size(); }
    PyObject* const* begin() const { return nodes_.begin(); }
    PyObject* const* end() const { return nodes_.end(); }

    // A list of them; null after an exception.
    PyObject* list() const {
        PyObject* made = PyList_New(static_cast<Py_ssize_t>(size()));
        for (size_t k = 0; made && k < size(); k++) PyList_SET_ITEM(made, static_cast<Py_ssize_t>(k), Py_NewRef(nodes_[k]));
        return made;
    }
    // The same; it has them instead.
    PyObject* moved_list() {
        PyObject* made = take_list(static_cast<Py_ssize_t>(size()));
        if (!made) return nullptr;
        for (size_t k = 0; k < size(); k++) PyList_SET_ITEM(made, static_cast<Py_ssize_t>(k), nodes_[k]);
        nodes_.clear();
        return made;
    }

private:
    SmallVector<PyObject*, 32> nodes_;
};

// As `live_roots` of evaluate.py returns them.
struct LiveRoots {
    HeldNodes roots;
    Py_ssize_t count = 0;  // of entries of the queue
    Ref kept;              // entries that stay, a list; null if there are none
};

// Returns false after an exception. `extra` are so many nodes.
bool find_live_roots(PyObject* queue, PyObject* const* extra, Py_ssize_t extra_count, LiveRoots& found);

// The plan that was found for such a graph of late, and the nodes of the graph; null, maybe after an exception, if none was.
// Its key, as words and as Python has it, is for who looks further then, or has no planner to begin with.
Ref plan_at_hand(PyObject* planner, const HeldNodes& roots, Ref& nodes, KeyWords& words, Ref& key);

// Whether a pending node is cheaper to compute than to read.
bool stays_pending(PyObject* node);

// A number for `Node::walk` that no node has.
uint64_t next_walk();

}  // namespace core
