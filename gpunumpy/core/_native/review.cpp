#include "review.hpp"

#include <unordered_map>

#include "array.hpp"
#include "buffer.hpp"
#include "host_arrays.hpp"
#include "queue_lock.hpp"
#include "run.hpp"
#include "search.hpp"
#include "small_vector.hpp"
#include "walk.hpp"

namespace core {

namespace {

Name bytes_limit_name("BYTES_LIMIT"), nodes_limit_name("NODES_LIMIT");

// As in queue.py and loop_cut.py.
constexpr Py_ssize_t REVIEW_INTERVAL = 128, BYTES_LIMIT = 1 << 29;

// `LoopCut.is_ahead`, where it changes nothing but the number of values that were recorded in the wait, and what the search
// has counted.
bool is_ahead(PyObject* cut, Py_ssize_t waited) {
    const Py_ssize_t held_bytes = PyLong_AsSsize_t(held(state.cut_held_bytes, cut).get());
    const Py_ssize_t interval = held_bytes > BYTES_LIMIT ? REVIEW_INTERVAL / 4 : REVIEW_INTERVAL;
    if (waited % interval == 0 || held(state.cut_is_over, cut).get() != Py_False) return false;
    const Py_ssize_t limit = PyLong_AsSsize_t(held(state.cut_limit, cut).get());
    if (held(state.cut_is_counted, cut).get() == Py_True) return waited < limit;
    const Loan search = held(state.cut_search, cut);
    if (search.get() != Py_None) {
        return waited <= PyLong_AsSsize_t(held(state.cut_put_off, cut).get()) || count_on(search.get());
    }
    if (waited >= limit || held(state.cut_scope, cut).get() == Py_None) return false;
    const Loan place = held(state.cut_place, cut);
    return PyTuple_CheckExact(place.get()) && !is_at(place.get());
}

// What the entries of a queue stand for: the nodes that are pending, each once, with an entry of theirs.
class Survey {
public:
    explicit Survey(PyObject* queue) : pending_(Ref::to(state.queue_pending.of(queue))) {}

    ~Survey() {
        for (PyObject* node : nodes_) Py_DECREF(node);
    }

    // Drop all other entries.
    bool keep_living() {
        const uint64_t walk = next_walk();
        const Py_ssize_t length = PyList_GET_SIZE(pending_.get());  // what other threads add meanwhile comes later
        Ref kept(PyList_New(0));
        if (!kept) return false;
        for (Py_ssize_t k = 0; k < length; k++) {
            Ref reference = item_at(pending_.get(), k);
            if (!reference) break;
            const Ref array = referent(reference.get());
            if (!array || !as_array(array.get())->node) continue;
            Node* node = as_node(as_array(array.get())->node);
            if (!is_pending(node)) continue;
            if (node->walk != walk) {
                node->walk = walk;
                node->place = PyList_GET_SIZE(kept.get());
                if (PyList_Append(kept.get(), reference.get()) < 0) return false;
                if (!stays_pending(as_array(array.get())->node)) nodes_.push_back(Py_NewRef(as_array(array.get())->node));
            } else if (PyList_SetItem(kept.get(), node->place, reference.release()) < 0) {
                return false;
            }
        }
        return PyList_SetSlice(pending_.get(), 0, length, kept.get()) == 0;
    }

    // Find all nodes that the pending ones need, and the bytes of the buffers that nothing else refers to.
    void measure() {
        const uint64_t walk = next_walk();
        for (PyObject* node : nodes_) as_node(node)->walk = walk;
        std::unordered_map<PyObject*, Py_ssize_t> references;  // of the nodes to buffers
        for (size_t k = 0; k < nodes_.size(); k++) {
            const Node* node = as_node(nodes_[k]);
            if (!is_pending(node)) {
                if (node->data && is_buffer(node->data)) references[node->data]++;
                continue;
            }
            for (Py_ssize_t n = 0; n < PyTuple_GET_SIZE(node->args); n++) {
                PyObject* argument = PyTuple_GET_ITEM(node->args, n);
                if (as_node(argument)->walk == walk) continue;
                as_node(argument)->walk = walk;
                nodes_.push_back(Py_NewRef(argument));
            }
        }
        for (const auto& [buffer, count] : references) {
            if (Py_REFCNT(buffer) <= count) held_bytes_ += PyLong_AsSsize_t(as_buffer(buffer)->nbytes);
        }
    }

    // Whether the graph is too large for evaluate.py.
    bool is_large() const {
        return static_cast<Py_ssize_t>(nodes_.size()) > PyLong_AsSsize_t(find(state.evaluate, nodes_limit_name).get()) ||
               held_bytes_ > PyLong_AsSsize_t(find(state.evaluate, bytes_limit_name).get());
    }
    PyObject* result() const { return Py_BuildValue("nn", static_cast<Py_ssize_t>(nodes_.size()), held_bytes_); }

private:
    Ref pending_;
    SmallVector<PyObject*, 512> nodes_;  // owned
    Py_ssize_t held_bytes_ = 0;
};

// survey(queue): see evaluate.py.
PyObject* survey(PyObject*, PyObject* queue) {
    Section section;
    Survey found(queue);
    if (!found.keep_living()) return nullptr;
    found.measure();
    return PyErr_Occurred() ? nullptr : found.result();
}

bool add_entry(PyObject* queue, PyObject* node) {
    Section section;
    const Loan entry = loan(as_node(node)->owner);
    return PyList_Append(state.queue_pending.of(queue), entry.get()) == 0;
}

bool is_searching(PyObject* queue) { return held(state.cut_search, state.state_cut.of(state.queue_state.of(queue))).get() != Py_None; }

// Survey a queue that is locked: that is all if the graph is small.
Reviewed survey_locked(PyObject* queue) {
    Section section;
    Survey found(queue);
    if (!found.keep_living()) return Reviewed::ERROR;
    found.measure();
    const bool is_large = found.is_large();
    return PyErr_Occurred() ? Reviewed::ERROR : is_large ? Reviewed::ADDED : Reviewed::YES;
}

PyMethodDef functions[] = {
    {"survey", survey, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_while_waiting(PyObject* queue, PyObject* node) {
    const Loan review_at = held(state.queue_review_at, queue);
    PyObject* queue_state = state.queue_state.of(queue);
    if (is_watched || !queue_state || PyLong_AsSsize_t(review_at.get()) >= 0) return false;
    PyObject* cut = state.state_cut.of(queue_state);
    const Py_ssize_t waited = PyLong_AsSsize_t(held(state.cut_waited, cut).get()) + 1;
    if (!is_ahead(cut, waited)) return false;
    PyObject* number = PyLong_FromSsize_t(waited);
    if (!number) return false;
    state.cut_waited.set(cut, number);
    return add_entry(queue, node);
}

bool schedule_review(PyObject* queue) {
    PyObject* length = PyLong_FromSsize_t(PyList_GET_SIZE(state.queue_pending.of(queue)) + REVIEW_INTERVAL);
    if (!length) return false;
    state.queue_review_at.set(queue, length);
    const bool is_regular = !is_watched && held(state.queue_review, queue).get() == state.review;
    return is_regular || Ref(PyObject_CallOneArg(state.schedule_review, queue));
}

Reviewed review_small_graph(PyObject* queue, PyObject* node) {
    const bool is_waiting = PyLong_AsSsize_t(held(state.queue_review_at, queue).get()) < 0;
    if (Py_TYPE(queue) != state.queue || held(state.queue_review, queue).get() != state.review || is_waiting || is_watched) {
        return PyErr_Occurred() ? Reviewed::ERROR : Reviewed::NOT_AT_HAND;
    }
    if (!add_entry(queue, node)) return Reviewed::ERROR;
    QueueLock lock(queue);
    if (!lock.is_held() || held(state.queue_run, queue).get() != Py_None || is_searching(queue)) {
        return PyErr_Occurred() ? Reviewed::ERROR : Reviewed::ADDED;
    }
    // A finalizer that looks at a value meanwhile computes it beside this, as in Python.
    Ref run(new_run());
    if (!run) return Reviewed::ERROR;
    as_run(run.get())->is_in_core = true;
    state.queue_run.set(queue, Py_NewRef(run.get()));
    const Reviewed reviewed = survey_locked(queue);
    as_run(run.get())->is_in_core = false;
    state.queue_run.set(queue, Py_NewRef(Py_None));
    if (reviewed == Reviewed::ERROR) return reviewed;
    return schedule_review(queue) ? reviewed : Reviewed::ERROR;
}

bool add_review(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace core
