#include "host_arrays.hpp"

namespace core {

bool is_auto = false, is_watched = false;
PyObject *errors_variable = nullptr, *no_errors = nullptr;

bool is_type_at_hand(int number) {
    return (number >= NPY_BOOL && number <= NPY_DOUBLE) || number == NPY_CFLOAT || number == NPY_CDOUBLE ||
           number == NPY_HALF;
}

bool is_scalar_at_hand(PyTypeObject* type) {
    static PyTypeObject* const types[] = {
        &PyDoubleArrType_Type, &PyLongArrType_Type, &PyBoolArrType_Type, &PyFloatArrType_Type, &PyIntArrType_Type,
        &PyCDoubleArrType_Type, &PyCFloatArrType_Type, &PyByteArrType_Type, &PyUByteArrType_Type, &PyShortArrType_Type,
        &PyUShortArrType_Type, &PyUIntArrType_Type, &PyULongArrType_Type, &PyLongLongArrType_Type,
        &PyULongLongArrType_Type, &PyHalfArrType_Type};
    for (PyTypeObject* known : types) {
        if (type == known) return true;
    }
    return false;
}

bool is_at_hand(PyArrayObject* data, npy_intp host_bytes) {
    return is_type_at_hand(PyArray_TYPE(data)) && PyArray_ISNOTSWAPPED(data) && PyArray_NBYTES(data) <= host_bytes;
}

PyObject* memory_of(PyObject* object) {
    if (!is_array(object) || !has_flag(object, ON_HOST)) return nullptr;
    PyObject* owner = as_array(object)->owner;
    return owner && owner != Py_None && !has_flag(owner, ON_HOST) ? nullptr : as_array(object)->base;
}

PyObject* queue_of(PyObject* array) {
    PyObject* queue = as_array(array)->queue;
    return queue ? queue : state.signature_queue.of(as_node(as_array(array)->node)->signature);
}

PyObject* new_host_array(PyObject* memory, PyObject* owner, PyObject* queue, int flags) {
    PyObject* made = new_array();
    if (!made) return nullptr;
    Array* array = as_array(made);
    array->base = Py_NewRef(memory);
    array->owner = Py_NewRef(owner);
    array->queue = Py_NewRef(queue);
    array->flags = PyLong_FromLong(flags);
    return made;
}

}  // namespace core
