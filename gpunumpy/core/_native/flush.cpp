#include "flush.hpp"

#include <algorithm>

#include "host_arrays.hpp"
#include "kept_lists.hpp"
#include "planner.hpp"
#include "program.hpp"
#include "queue_lock.hpp"
#include "recent_plans.hpp"
#include "review.hpp"
#include "run.hpp"
#include "walk.hpp"
#include "writes.hpp"

namespace core {

namespace {

Name observer_name("observer");

bool is_observed() {
    return find(state.evaluate, observer_name).get() != Py_None;
}

// The exception that is on its way, which is over then.
PyObject* taken_exception() {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback) PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return value;
}

// One flush, from the roots to the entries that stay in the queue.
class Flush {
public:
    Flush(PyObject* queue, PyObject* extra, bool is_looked_at) : queue_(queue), extra_(extra), is_looked_at_(is_looked_at) {}

    Flushed all() {
        run_ = Ref(new_run());
        if (!run_) return Flushed::ERROR;
        // There is no frame of Python's by which a flush inside of this one could tell that it is under way.
        as_run(run_.get())->is_in_core = true;
        state.queue_run.set(queue_, Py_NewRef(run_.get()));
        const Flushed flushed = flush();
        as_run(run_.get())->is_in_core = false;
        if (flushed == Flushed::ERROR) return recover();
        state.queue_run.set(queue_, Py_NewRef(Py_None));
        return flushed;
    }

    // As `compute_part`, of which `run` is the run.
    Flushed part(PyObject* roots, PyObject* run) {
        for (Py_ssize_t k = 0; k < PyList_GET_SIZE(roots); k++) {
            PyObject* root = PyList_GET_ITEM(roots, k);
            if (is_pending(as_node(root))) found_.roots.push_back(root);
        }
        if (!found_.roots.size()) return Flushed::YES;
        run_ = Ref::to(run);
        as_run(run)->is_in_core = true;
        const Flushed computed = compute();
        as_run(run)->is_in_core = false;
        return computed;
    }

private:
    Flushed flush() {
        if (!find_roots()) return Flushed::ERROR;
        if (found_.roots.size()) {
            const Flushed computed = compute();
            if (computed != Flushed::YES) return computed;
        }
        const Ref pending = Ref::to(state.queue_pending.of(queue_));
        if (!replace_first(pending.get(), found_.count, found_.kept.get()) || !schedule_review(queue_)) return Flushed::ERROR;
        return !extra_ || note_look() ? Flushed::YES : Flushed::ERROR;
    }

    // What to compute, how many entries of the queue stand for it, and which of them stay.
    bool find_roots() {
        Section section;
        const Ref pending = Ref::to(state.queue_pending.of(queue_));
        if (extra_ && PyList_GET_SIZE(pending.get()) == 1 && is_pending(as_node(extra_)) &&
            item_at(pending.get(), 0).get() == as_node(extra_)->owner) {
            found_.roots.push_back(extra_);  // the case of a program that looks at every result
            found_.count = 1;
            return true;
        }
        return find_live_roots(queue_, &extra_, extra_ ? 1 : 0, found_);
    }

    Flushed compute() {
        const Ref seen = Ref::to(held(state.queue_publications, queue_).get());
        const Ref planner = Ref::to(state.state_planner.of(state.queue_state.of(queue_)));
        Ref nodes, key;
        KeyWords words;
        Ref plan = plan_at_hand(planner.get(), found_.roots, nodes, words, key);
        if (key) {
            plan = known_plan(planner.get(), nodes.get(), key.get());
            if (plan) remember_plan(planner.get(), words, key.get(), plan.get());
        }
        if (PyErr_Occurred()) return Flushed::ERROR;
        // Python's code, of its garbage collector too, may have run a flush beside this one, which has computed some of
        // the roots.
        if (!plan || held(state.queue_publications, queue_).get() != seen.get()) return Flushed::NOT_AT_HAND;
        return run_plan(plan.get(), nodes.get(), run_.get(), looked()) ? Flushed::YES : Flushed::ERROR;
    }

    // The plan that the planner's tables have for the graph; null, maybe after an exception, if they have none.
    Ref known_plan(PyObject* planner, PyObject* nodes, PyObject* key) const {
        Ref plan = find(state.table_entries.of(state.planner_plans.of(planner)), key);
        if (plan || PyErr_Occurred()) return plan;
        return Ref(plan_at_new_sizes(planner, key, nodes, static_cast<Py_ssize_t>(found_.roots.size())));
    }

    // The position of the root that the host is about to read; -1 if there is none.
    Py_ssize_t looked() const {
        PyObject *const *begin = found_.roots.begin(), *const *end = found_.roots.end();
        PyObject* const* found = is_looked_at_ ? std::find(begin, end, extra_) : end;
        return found == end ? -1 : found - begin;
    }

    // As `LoopCut.looked`, which has more to do where a first graph waited for a place.
    bool note_look() {
        PyObject* cut = state.state_cut.of(state.queue_state.of(queue_));
        if (held(state.cut_begin, cut).get() != Py_None) return static_cast<bool>(Ref(PyObject_CallMethod(cut, "looked", nullptr)));
        state.cut_is_first.set(cut, Py_NewRef(Py_True));
        state.cut_search.set(cut, Py_NewRef(Py_None));
        return true;
    }

    // Leave to Python what the exception that is on its way has left.
    Flushed recover() {
        Ref error(taken_exception());
        Ref extra(extra_ ? PyTuple_Pack(1, extra_) : PyTuple_New(0)), roots(found_.roots.list());
        if (!extra || !roots) return Flushed::ERROR;
        Ref done(PyObject_CallFunctionObjArgs(state.recover, queue_, run_.get(), extra.get(), roots.get(), error.get(), nullptr));
        return done ? Flushed::YES : Flushed::ERROR;
    }

    PyObject *queue_, *extra_;
    bool is_looked_at_;
    Ref run_;
    LiveRoots found_;
};

}  // namespace

Flushed flush(PyObject* queue, PyObject* extra, bool is_looked_at) {
    if (Py_TYPE(queue) != state.queue || is_watched || is_capturing || is_observed()) return Flushed::NOT_AT_HAND;
    QueueLock lock(queue);
    if (!lock.is_held() || held(state.queue_run, queue).get() != Py_None) {
        return PyErr_Occurred() ? Flushed::ERROR : Flushed::NOT_AT_HAND;
    }
    return Flush(queue, extra, is_looked_at).all();
}

Flushed compute_part(PyObject* queue, PyObject* part, PyObject* run, PyObject* looked) {
    if (!PyList_CheckExact(part) || is_watched || is_capturing || is_observed()) return Flushed::NOT_AT_HAND;
    return Flush(queue, looked, looked != Py_None).part(part, run);
}

}  // namespace core
