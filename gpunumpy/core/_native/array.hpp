// ArrayState: the fields of an array, and what is done with them on every recording. The class `ndarray` of
// gpunumpy/core/recording/array.py inherits from it, and describes the fields.
#pragma once

#include "node.hpp"
#include "state.hpp"

namespace core {

// Bits of the flags, as in array.py.
enum { READ_ONLY = 1, MADE_AS_ARRAY = 2, ON_HOST = 8, STAYS_ON_HOST = 16, ORDERED = 32 };

// The accesses to small parts of an array since it was used as a whole; of one on the host, the meetings with its device.
struct Accesses {
    Py_ssize_t count;
    Py_ssize_t bytes;         // that could have been moved meanwhile
    Py_ssize_t publications;  // of the queue before the last one
    Py_ssize_t elements;      // accesses to single elements, on the device or on the host after a move
};

// An array on the host has no node until Python asks for it.
struct Array {
    PyObject_HEAD
    PyObject* base;
    PyObject* component;
    PyObject* large_part;  // a weak reference to the view of much of it that was made last
    PyObject* layout;
    PyObject* node;
    PyObject* owner;
    PyObject* parts;  // weak references to views of it which were read, or whose elements were accessed
    PyObject* queue;  // of an array on the host whose node has not been asked for
    PyObject* source;
    PyObject* weak_references;
    Accesses accesses;
    Py_ssize_t moves;  // to the host that were tried
    Py_ssize_t views;  // how many arrays show the memory of this one: those with it as their base or owner
    int flags;
};

extern PyTypeObject* array_type;
bool add_array_type(PyObject* module);

inline Array* as_array(PyObject* object) { return reinterpret_cast<Array*>(object); }
inline bool has_flag(PyObject* array, int flag) { return as_array(array)->flags & flag; }
// Whether an object is an array of the class itself, on whatever memory. Subclasses are left to Python.
inline bool is_array(PyObject* object) { return Py_TYPE(object) == state.ndarray; }

// Have `ndarray`, which adds no fields, free its objects as `ArrayState` does; once, when the class is known. Returns false after
// an exception.
bool set_array_class();

// A new array of the class itself, whose fields are still to be set.
PyObject* new_array();
// The same for one that will be in no cycle, so that the garbage collector need not know it.
PyObject* new_untracked_array();

// Whether an object is an array of this package, of a subclass too: those are classes of Python's, as NumPy's arrays and
// scalars are not, which most memory is.
inline bool is_array_of_any_class(PyObject* object) {
    if (is_array(object)) return true;
    return PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE) && PyObject_TypeCheck(object, array_type);
}

// Let the base or the owner of an array be another object, of which the array then is a view if that is an array.
inline void set_shown(PyObject*& field, PyObject* owned) {
    Section section;
    if (owned && is_array_of_any_class(owned)) as_array(owned)->views++;
    if (field && is_array_of_any_class(field)) as_array(field)->views--;
    set_field(field, owned);
}

// The owner of the memory that an array on a device shows, borrowed: the array itself or its base. Null, without an
// exception, for an array on the host and for a view of parts of elements or of another dtype.
PyObject* owner_of(PyObject* array);

// The node of an array's current value, as a new reference. `ndarray.value` is asked where it is not at hand. Null,
// without an exception, for an array on the host.
PyObject* value_of(PyObject* array);

// A new array with a value; see `wrap` in array.py.
PyObject* wrap(PyObject* node);

// Record a value as that of a new array which dies at once, so that another one can own the value. It is returned; null after
// an exception.
PyObject* recorded(PyObject* node);

// Make a node, which no array owns yet, the value of an owner; see `ndarray._set`. Returns false after an exception.
bool set_value(PyObject* owner, PyObject* node);

// Whether two dtypes are equal, of which most are one object; -1 after an exception.
int same_dtype(PyObject* a, PyObject* b);

}  // namespace core
