#include "reentrant_lock.hpp"

#ifndef Py_GIL_DISABLED

#include <algorithm>
#include <chrono>
#include <cmath>

namespace core {

PyTypeObject* lock_type = nullptr;

namespace {

// All fields are read and written with the GIL held, so there is nothing atomic in a lock that nobody waits for.
struct Lock {
    PyObject_HEAD
    unsigned long owner;  // the thread that has it,
    Py_ssize_t count;     // and how often; 0 if it is free
    Py_ssize_t waiting;   // threads; in a forked child those of the parent too
    bool is_signalled;    // whether one of them is to be woken, or has just been
    PyThread_type_lock signal;
};

Lock* as_lock(PyObject* object) { return reinterpret_cast<Lock*>(object); }

bool is_mine(const Lock* lock) { return lock->count && lock->owner == PyThread_get_thread_ident(); }

constexpr PY_TIMEOUT_T FOR_EVER = -1;

// Take a lock, for which the thread waits so many microseconds. Returns whether it is taken; -1 after an exception.
int take(PyObject* self, PY_TIMEOUT_T microseconds) {
    using std::chrono::steady_clock;
    Lock* lock = as_lock(self);
    if (take_if_free(self)) return 1;
    const steady_clock::time_point start = microseconds > 0 ? steady_clock::now() : steady_clock::time_point();
    PY_TIMEOUT_T left = microseconds;
    while (left) {
        PyLockStatus status;
        lock->waiting++;
        Py_BEGIN_ALLOW_THREADS
        status = PyThread_acquire_lock_timed(lock->signal, left, 1);
        Py_END_ALLOW_THREADS
        lock->waiting--;
        if (status == PY_LOCK_ACQUIRED) lock->is_signalled = false;
        if (status == PY_LOCK_INTR && Py_MakePendingCalls() < 0) return -1;
        if (take_if_free(self)) return 1;
        if (microseconds == FOR_EVER) continue;
        const auto past = std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - start).count();
        left = std::max<PY_TIMEOUT_T>(microseconds - past, 0);
    }
    return 0;
}

PyObject* acquire(PyObject* self, PyObject* args, PyObject* options) {
    static char blocking_name[] = "blocking", timeout_name[] = "timeout";
    static char* names[] = {blocking_name, timeout_name, nullptr};
    int is_blocking = 1;
    double seconds = -1;
    if (!PyArg_ParseTupleAndKeywords(args, options, "|pd:acquire", names, &is_blocking, &seconds)) return nullptr;
    const bool has_limit = seconds != -1;
    if (has_limit && !is_blocking) return PyErr_Format(PyExc_ValueError, "can't specify a timeout for a non-blocking call");
    if (has_limit && !(seconds >= 0)) return PyErr_Format(PyExc_ValueError, "timeout value must be a non-negative number");
    if (has_limit && seconds > static_cast<double>(PY_TIMEOUT_MAX) / 1e6) {
        return PyErr_Format(PyExc_OverflowError, "timeout value is too large");
    }
    const PY_TIMEOUT_T limit = !is_blocking ? 0 : has_limit ? static_cast<PY_TIMEOUT_T>(std::ceil(seconds * 1e6)) : FOR_EVER;
    const int taken = take(self, limit);
    return taken < 0 ? nullptr : PyBool_FromLong(taken);
}

PyObject* enter(PyObject* self, PyObject*) { return take(self, FOR_EVER) < 0 ? nullptr : Py_NewRef(Py_True); }

PyObject* release(PyObject* self, PyObject*) {
    if (!is_mine(as_lock(self))) return PyErr_Format(PyExc_RuntimeError, "cannot release un-acquired lock");
    give_back(self);
    Py_RETURN_NONE;
}

PyObject* leave(PyObject* self, PyObject* const*, Py_ssize_t) { return release(self, nullptr); }

PyObject* is_owned(PyObject* self, PyObject*) { return PyBool_FromLong(is_mine(as_lock(self))); }

PyObject* recursion_count(PyObject* self, PyObject*) {
    return PyLong_FromSsize_t(is_mine(as_lock(self)) ? as_lock(self)->count : 0);
}

bool add_signal(Lock* lock) {
    lock->signal = PyThread_allocate_lock();
    if (lock->signal) return PyThread_acquire_lock(lock->signal, NOWAIT_LOCK);
    PyErr_NoMemory();
    return false;
}

// Free it in a forked child, where those who wait for it, or have it, are no more.
PyObject* renew(PyObject* self, PyObject*) {
    Lock* lock = as_lock(self);
    lock->count = lock->waiting = 0;
    lock->is_signalled = false;
    if (!add_signal(lock)) return nullptr;  // the old one is in no known state
    Py_RETURN_NONE;
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject* options) {
    if (PyTuple_GET_SIZE(args) || (options && PyDict_GET_SIZE(options))) {
        return PyErr_Format(PyExc_TypeError, "ReentrantLock takes no arguments");
    }
    Ref made(type->tp_alloc(type, 0));
    return made && add_signal(as_lock(made.get())) ? made.release() : nullptr;
}

void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    if (as_lock(self)->signal) PyThread_free_lock(as_lock(self)->signal);
    type->tp_free(self);
    Py_DECREF(type);
}

template <typename Function>
PyCFunction as_function(Function function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr},
    {"__exit__", as_function(leave), METH_FASTCALL, nullptr},
    {"_at_fork_reinit", renew, METH_NOARGS, nullptr},
    {"_is_owned", is_owned, METH_NOARGS, nullptr},
    {"_recursion_count", recursion_count, METH_NOARGS, nullptr},
    {"acquire", as_function(acquire), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"release", release, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_methods, methods},
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {0, nullptr},
};

PyType_Spec spec = {"gpunumpy.core._native._core.ReentrantLock", sizeof(Lock), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

bool add_lock_type(PyObject* module) {
    lock_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
    return lock_type && PyModule_AddType(module, lock_type) == 0;
}

bool take_if_free(PyObject* self) {
    Lock* lock = as_lock(self);
    const unsigned long thread = PyThread_get_thread_ident();
    if (lock->count && lock->owner != thread) return false;
    lock->owner = thread;
    lock->count++;
    return true;
}

void give_back(PyObject* self) {
    Lock* lock = as_lock(self);
    if (--lock->count || !lock->waiting || lock->is_signalled) return;
    lock->is_signalled = true;
    PyThread_release_lock(lock->signal);
}

}  // namespace core

#else

namespace core {

bool add_lock_type(PyObject*) { return true; }

}  // namespace core

#endif
