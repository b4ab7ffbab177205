#include "host_arrays.hpp"

#include <numpy/arrayscalars.h>

#include <array>
#include <chrono>
#include <cstring>

namespace core {

std::atomic<bool> is_auto{false}, is_watched{false}, is_capturing{false}, is_fallback_refused{false};
PyObject *errors_variable = nullptr, *no_errors = nullptr;
PyObject* host_calls = nullptr;

namespace {

double clock_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

double host_call_start() { return host_calls ? clock_seconds() : 0; }

void note_host_call(PyObject* name, double start, PyObject* const* args, Py_ssize_t count, PyObject* result) {
    Loan calls;
    {
        Section section;
        calls = loan(host_calls);
    }
    if (!calls || !name) return PyErr_Clear();
    const double seconds = start ? clock_seconds() - start : 0;
    Ref data(PyTuple_New(count + 1));
    for (Py_ssize_t k = 0; data && k < count; k++) PyTuple_SET_ITEM(data.get(), k, Py_NewRef(args[k]));
    if (data) PyTuple_SET_ITEM(data.get(), count, Py_NewRef(result));
    Ref noted(data ? PyObject_CallFunction(calls.get(), "OdO", name, seconds, data.get()) : nullptr);
    if (!noted) PyErr_Clear();
}

bool is_type_at_hand(int number) {
    return (number >= NPY_BOOL && number <= NPY_DOUBLE) || number == NPY_CFLOAT || number == NPY_CDOUBLE ||
           number == NPY_HALF;
}

bool is_type_of_host(int number) {
    return number == NPY_OBJECT || number == NPY_STRING || number == NPY_UNICODE || number == NPY_DATETIME ||
           number == NPY_TIMEDELTA || number == NPY_VSTRING;
}

namespace {

struct ScalarType {
    PyTypeObject* type;
    int number;
    size_t size;
};

// NumPy's types of scalars that kernels compute, the most frequent first; NumPy's table has them once it is imported.
const std::array<ScalarType, 16>& scalar_types() {
    static const std::array<ScalarType, 16> types = {{
        {&PyDoubleArrType_Type, NPY_DOUBLE, sizeof(npy_double)},
        {&PyLongArrType_Type, NPY_LONG, sizeof(npy_long)},
        {&PyBoolArrType_Type, NPY_BOOL, sizeof(npy_bool)},
        {&PyFloatArrType_Type, NPY_FLOAT, sizeof(npy_float)},
        {&PyIntArrType_Type, NPY_INT, sizeof(npy_int)},
        {&PyCDoubleArrType_Type, NPY_CDOUBLE, sizeof(npy_cdouble)},
        {&PyCFloatArrType_Type, NPY_CFLOAT, sizeof(npy_cfloat)},
        {&PyByteArrType_Type, NPY_BYTE, sizeof(npy_byte)},
        {&PyUByteArrType_Type, NPY_UBYTE, sizeof(npy_ubyte)},
        {&PyShortArrType_Type, NPY_SHORT, sizeof(npy_short)},
        {&PyUShortArrType_Type, NPY_USHORT, sizeof(npy_ushort)},
        {&PyUIntArrType_Type, NPY_UINT, sizeof(npy_uint)},
        {&PyULongArrType_Type, NPY_ULONG, sizeof(npy_ulong)},
        {&PyLongLongArrType_Type, NPY_LONGLONG, sizeof(npy_longlong)},
        {&PyULongLongArrType_Type, NPY_ULONGLONG, sizeof(npy_ulonglong)},
        {&PyHalfArrType_Type, NPY_HALF, sizeof(npy_half)},
    }};
    return types;
}

}  // namespace

int number_of(PyTypeObject* type) {
    for (const auto& scalar : scalar_types()) {
        if (type == scalar.type) return scalar.number;
    }
    return -1;
}

static_assert(offsetof(PyDoubleScalarObject, obval) == sizeof(PyObject) &&
                  offsetof(PyCDoubleScalarObject, obval) == sizeof(PyObject) &&
                  offsetof(PyBoolScalarObject, obval) == sizeof(PyObject),
              "scalars hold their element behind the head of an object");

PyObject* new_scalar(int number, const char* element) {
    if (number == NPY_BOOL) return Py_NewRef(*element ? PyArrayScalar_True : PyArrayScalar_False);
    for (const auto& scalar : scalar_types()) {
        if (number != scalar.number) continue;
        PyObject* made = scalar.type->tp_alloc(scalar.type, 0);
        if (made) std::memcpy(element_of(made), element, scalar.size);
        return made;
    }
    return PyErr_Format(PyExc_SystemError, "no kernel computes scalars of type %d", number);
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
    set_shown(array->owner, Py_NewRef(owner));
    array->queue = Py_NewRef(queue);
    array->flags = flags;
    return made;
}

PyObject* new_host_scalar(Ref scalar, PyObject* queue) {
    PyObject* made = scalar ? new_untracked_array() : nullptr;
    if (!made) return nullptr;
    Array* array = as_array(made);
    array->base = scalar.release();
    array->owner = Py_NewRef(Py_None);
    array->queue = Py_NewRef(queue);
    array->flags = ON_HOST;
    return made;
}

}  // namespace core
