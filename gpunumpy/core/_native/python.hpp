// What every file of the core uses of Python: owned references, and fields of Python's classes with __slots__.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <cstdint>
#include <utility>

#ifndef Py_BEGIN_CRITICAL_SECTION  // before Python 3.13
#define Py_BEGIN_CRITICAL_SECTION(object) { (void)(object);
#define Py_END_CRITICAL_SECTION() }
#endif

namespace core {

// A reference that is given back at the end of its scope.
class Ref {
public:
    Ref() = default;
    explicit Ref(PyObject* owned) : object_(owned) {}
    static Ref to(PyObject* borrowed) {
        Py_XINCREF(borrowed);
        return Ref(borrowed);
    }
    Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Ref& operator=(Ref&& other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    Ref(const Ref&) = delete;
    Ref& operator=(const Ref&) = delete;
    ~Ref() { Py_XDECREF(object_); }

    PyObject* get() const { return object_; }
    PyObject* release() { return std::exchange(object_, nullptr); }
    explicit operator bool() const { return object_ != nullptr; }

private:
    PyObject* object_ = nullptr;
};

// Keeps an exception that is on its way apart from what is done meanwhile, and lets it take the place of a later one.
class FirstException {
public:
    FirstException() { PyErr_Fetch(&type_, &value_, &traceback_); }
    ~FirstException() {
        if (type_) PyErr_Restore(type_, value_, traceback_);
    }
    FirstException(const FirstException&) = delete;
    FirstException& operator=(const FirstException&) = delete;

private:
    PyObject *type_, *value_, *traceback_;
};

// Let a field refer to another object. What it referred to may run Python code when it dies, so it is let go last.
inline void set_field(PyObject*& field, PyObject* owned) {
    PyObject* old = field;
    field = owned;
    Py_XDECREF(old);
}

// A slot of a class that is written in Python. Its place in the objects is that of the descriptor.
//
// `of` is for slots that are set once, before other threads see the object; `held` in section.hpp for all others.
class Slot {
public:
    Slot() = default;
    explicit Slot(PyObject* descriptor)
        : offset_(reinterpret_cast<PyMemberDescrObject*>(descriptor)->d_member->offset) {}

    // Whether an attribute of a class is the descriptor of a slot.
    static bool is_descriptor(PyObject* attribute) {
        return Py_IS_TYPE(attribute, &PyMemberDescr_Type) &&
               reinterpret_cast<PyMemberDescrObject*>(attribute)->d_member->type == T_OBJECT_EX;
    }

    // Finds the slot; sets an exception and returns false if the class has no such slot.
    bool find(PyTypeObject* type, const char* name) {
        Ref descriptor(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), name));
        if (!descriptor) return false;
        if (!is_descriptor(descriptor.get())) {
            PyErr_Format(PyExc_TypeError, "%s.%s is no slot", type->tp_name, name);
            return false;
        }
        *this = Slot(descriptor.get());
        return true;
    }
    // A borrowed reference; null if the slot is not set.
    PyObject* of(PyObject* object) const {
        return place(object);
    }
    void set(PyObject* object, PyObject* owned) const {
        PyObject* old;
        Py_BEGIN_CRITICAL_SECTION(object);  // of Python's own, for its slots
        old = std::exchange(place(object), owned);
        Py_END_CRITICAL_SECTION();
        Py_XDECREF(old);
    }

private:
    PyObject*& place(PyObject* object) const {
        return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + offset_);
    }

    Py_ssize_t offset_ = 0;
};

// Memory of objects of one type that have died, for the next ones. Where Python has no lock of its own around everything,
// there is none.
template <size_t ROOM>
class FreeObjects {
public:
    // A new object whose fields are all null, which the garbage collector does not know yet.
    PyObject* take(PyTypeObject* type) {
        if (count_) return PyObject_Init(objects_[--count_], type);
        PyObject* made = type->tp_alloc(type, 0);
        if (made) PyObject_GC_UnTrack(made);
        return made;
    }

    // Take the memory of an object of the type whose fields are all null again. Returns false if there is no room.
    bool put(PyObject* object) {
#ifndef Py_GIL_DISABLED
        if (count_ < ROOM) {
            objects_[count_++] = object;
            return true;
        }
#endif
        return false;
    }

private:
    size_t count_ = 0;
    PyObject* objects_[ROOM];
};

// What Python's memory management asks of a type of objects `T` that refer to others in these fields.
template <typename T, PyObject* T::*... FIELDS>
struct References {
    static int traverse(PyObject* self, visitproc visit, void* arg) {
        Py_VISIT(Py_TYPE(self));
        int result = 0;
        const auto visit_field = [&](PyObject* field) {
            if (!result && field) result = visit(field, arg);
        };
        (visit_field(reinterpret_cast<T*>(self)->*FIELDS), ...);
        return result;
    }

    static int clear(PyObject* self) {
        (set_field(reinterpret_cast<T*>(self)->*FIELDS, nullptr), ...);
        return 0;
    }

    static void deallocate(PyObject* self) {
        PyTypeObject* type = Py_TYPE(self);
        PyObject_GC_UnTrack(self);
        // A graph can be deep: objects inside objects are freed from Python's list of what is to be freed, not by
        // recursion.
        Py_TRASHCAN_BEGIN(self, deallocate)
        clear(self);
        type->tp_free(self);
        Py_DECREF(type);
        Py_TRASHCAN_END
    }
};

}  // namespace core
