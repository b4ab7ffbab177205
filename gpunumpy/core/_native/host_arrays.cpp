#include "host_arrays.hpp"

#include <numpy/arrayscalars.h>

namespace core {

std::atomic<bool> is_auto{false}, is_watched{false};
PyObject *errors_variable = nullptr, *no_errors = nullptr;
PyObject* host_calls = nullptr;

void count_host_call(PyObject* name) {
    Section section;
    const Loan calls = loan(host_calls);
    if (!calls) return;
    const Ref found = name ? find(calls.get(), name) : Ref();
    Ref count(PyErr_Occurred() ? nullptr : PyLong_FromSsize_t((found ? PyLong_AsSsize_t(found.get()) : 0) + 1));
    if (count) PyDict_SetItem(calls.get(), name, count.get());
    PyErr_Clear();
}

bool is_type_at_hand(int number) {
    return (number >= NPY_BOOL && number <= NPY_DOUBLE) || number == NPY_CFLOAT || number == NPY_CDOUBLE ||
           number == NPY_HALF;
}

int number_of(PyTypeObject* type) {
    static const struct {
        PyTypeObject* type;
        int number;
    } scalars[] = {
        {&PyDoubleArrType_Type, NPY_DOUBLE},   {&PyLongArrType_Type, NPY_LONG},
        {&PyBoolArrType_Type, NPY_BOOL},       {&PyFloatArrType_Type, NPY_FLOAT},
        {&PyIntArrType_Type, NPY_INT},         {&PyCDoubleArrType_Type, NPY_CDOUBLE},
        {&PyCFloatArrType_Type, NPY_CFLOAT},   {&PyByteArrType_Type, NPY_BYTE},
        {&PyUByteArrType_Type, NPY_UBYTE},     {&PyShortArrType_Type, NPY_SHORT},
        {&PyUShortArrType_Type, NPY_USHORT},   {&PyUIntArrType_Type, NPY_UINT},
        {&PyULongArrType_Type, NPY_ULONG},     {&PyLongLongArrType_Type, NPY_LONGLONG},
        {&PyULongLongArrType_Type, NPY_ULONGLONG}, {&PyHalfArrType_Type, NPY_HALF}};
    for (const auto& scalar : scalars) {
        if (type == scalar.type) return scalar.number;
    }
    return -1;
}

static_assert(offsetof(PyDoubleScalarObject, obval) == sizeof(PyObject) &&
                  offsetof(PyCDoubleScalarObject, obval) == sizeof(PyObject) &&
                  offsetof(PyBoolScalarObject, obval) == sizeof(PyObject),
              "scalars hold their element behind the head of an object");

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
    set_shown(array->owner, Py_NewRef(owner));
    array->queue = Py_NewRef(queue);
    array->flags = flags;
    return made;
}

}  // namespace core
