// What stands in the core for the GIL, where Python has none; where it has one, nothing is left of it.
//
// Fields of arrays, nodes and buffers are read and written in a `Section`, in which there is one thread at a time. It is
// the only lock of the core, and it is Python's: a thread that waits, for another lock or for other threads to stop, lets
// others in meanwhile, as a thread that waits under the GIL does. So no order of locks has to be kept, and whatever is
// used after a call of Python's functions is held by a reference.
#pragma once

#include <atomic>

#include "python.hpp"

namespace core {

#ifdef Py_GIL_DISABLED

class Section {
public:
#if PY_VERSION_HEX >= 0x030E0000
    Section() { PyCriticalSection_BeginMutex(&section_, &mutex_); }
    ~Section() { PyCriticalSection_End(&section_); }
#else
    // Python 3.13 begins sections of objects alone, and one within itself would let other threads in, which 3.14 does not.
    Section() : section_{} {
        const uintptr_t innermost = PyThreadState_GetUnchecked()->critical_section & ~uintptr_t{3};  // without its flags
        if (innermost && reinterpret_cast<PyCriticalSection*>(innermost)->_cs_mutex == &mutex()) return;
        PyCriticalSection_Begin(&section_, &object_);
    }
    ~Section() {
        if (section_._cs_mutex) PyCriticalSection_End(&section_);
    }
#endif
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;

    // Free the lock in a forked child, and those of tables that all threads look things up in, unless its thread had them when
    // it forked. Python stops the other threads of the parent for a fork, and each lets go of its sections; but a lock goes to
    // a thread that waits, and stops, too.
    static void renew_in_child();

private:
#if PY_VERSION_HEX >= 0x030E0000
    static PyMutex& mutex() { return mutex_; }
    static inline PyMutex mutex_ = {};
#else
    static PyMutex& mutex() { return object_.ob_mutex; }
    static inline PyObject object_ = {};  // of which only the mutex is used
#endif
    PyCriticalSection section_;
};

// What a field refers to, for a scope: held, as another thread may let the field refer to another object.
using Loan = Ref;
inline Loan loan(PyObject* borrowed) { return Ref::to(borrowed); }

// Keeps what Python's code does with an object from other threads.
class Locked {
public:
    explicit Locked(PyObject* object) { PyCriticalSection_Begin(&section_, object); }
    ~Locked() { PyCriticalSection_End(&section_); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

private:
    PyCriticalSection section_;
};

// What a slot refers to that Python's code may set at any time.
inline Loan held(const Slot& slot, PyObject* object) {
    const Locked locked(object);
    return Ref::to(slot.of(object));
}

// Have Python read and write the fields of a type in a section too. Returns false after an exception.
bool guard_fields(PyTypeObject* type, PyMemberDef* members);

// Have forked children begin sections, whatever other threads of their parents were at. Returns false after an exception.
bool renew_sections_in_children();

#else

struct Section {
    Section() {}  // so that it counts as used
};

struct Locked {
    explicit Locked(PyObject*) {}
};

class Loan {
public:
    explicit Loan(PyObject* borrowed = nullptr) : object_(borrowed) {}
    PyObject* get() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }

private:
    PyObject* object_;
};
inline Loan loan(PyObject* borrowed) { return Loan(borrowed); }
inline Loan held(const Slot& slot, PyObject* object) { return Loan(slot.of(object)); }

inline bool guard_fields(PyTypeObject*, PyMemberDef*) { return true; }
inline bool renew_sections_in_children() { return true; }

#endif

// What a table has for a key; null, maybe after an exception, if it has nothing.
inline Ref find(PyObject* table, PyObject* key) {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject* found;
    PyDict_GetItemRef(table, key, &found);
    return Ref(found);
#else
    return Ref::to(PyDict_GetItemWithError(table, key));
#endif
}

// What a table has for a key after it was given a value, if it had none; null after an exception.
inline Ref find_or_add(PyObject* table, PyObject* key, PyObject* value) {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject* found;
    PyDict_SetDefaultRef(table, key, value, &found);
    return Ref(found);
#else
    return Ref::to(PyDict_SetDefault(table, key, value));
#endif
}

// An item of a list that other threads may change; null, without an exception, if there is none.
inline Ref item_at(PyObject* list, Py_ssize_t k) {
#ifdef Py_GIL_DISABLED
    PyObject* item = PyList_GetItemRef(list, k);
    if (!item) PyErr_Clear();
    return Ref(item);
#else
    return Ref::to(0 <= k && k < PyList_GET_SIZE(list) ? PyList_GET_ITEM(list, k) : nullptr);
#endif
}

// What a weak reference refers to; null if that has died.
inline Ref referent(PyObject* reference) {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject* found;
    PyWeakref_GetRef(reference, &found);
    return Ref(found);
#else
    PyObject* found = PyWeakref_GET_OBJECT(reference);
    return Ref::to(found == Py_None ? nullptr : found);
#endif
}

// The last item of a list, which loses it; null, without an exception, if the list is empty.
inline Ref popped(PyObject* list) {
#ifdef Py_GIL_DISABLED
    Ref item(PyObject_CallMethod(list, "pop", nullptr));
    if (!item && PyErr_ExceptionMatches(PyExc_IndexError)) PyErr_Clear();
    return item;
#else
    const Py_ssize_t last = PyList_GET_SIZE(list) - 1;
    if (last < 0) return Ref();
    Ref item(PyList_GET_ITEM(list, last));
    Py_SET_SIZE(list, last);  // the list keeps the room for what is appended next
    return item;
#endif
}

// A name that Python looks up. All are made as the module is imported: later there may be no memory for one. So each is a
// variable outside of functions.
class Name {
public:
    explicit Name(const char* text) : text_(text), next_(std::exchange(newest_, this)) {}
    operator PyObject*() const { return object_; }

    // Make all names, interned, so that each is the object that Python has. Returns false after an exception.
    static bool make_all() {
        for (Name* each = newest_; each; each = each->next_) {
            if (!each->object_ && !(each->object_ = PyUnicode_InternFromString(each->text_))) return false;
        }
        return true;
    }

private:
    static inline Name* newest_ = nullptr;
    const char* text_;
    Name* next_;
    PyObject* object_ = nullptr;
};

}  // namespace core
