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

Name counts_name("counts"), nbytes_name("nbytes"), observe_name("observe"), seconds_name("seconds");

double clock_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

double host_call_start() { return host_calls ? clock_seconds() : 0; }

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

namespace {

// The bytes of an argument or a result; 0 of what has none.
Py_ssize_t bytes_of(PyObject* object) {
    PyObject* memory = memory_of(object);
    if (!memory) memory = object;
    if (PyArray_Check(memory)) return PyArray_NBYTES(reinterpret_cast<PyArrayObject*>(memory));
    for (const auto& scalar : scalar_types()) {
        if (Py_IS_TYPE(memory, scalar.type)) return static_cast<Py_ssize_t>(scalar.size);
    }
    if (PyFloat_CheckExact(memory) || PyLong_CheckExact(memory)) return 0;
    Ref found(PyObject_GetAttr(memory, nbytes_name));
    const Py_ssize_t count = found && PyLong_Check(found.get()) ? PyLong_AsSsize_t(found.get()) : 0;
    PyErr_Clear();
    return count > 0 ? count : 0;
}

// Adds a number to the one that a dict in an attribute has under a name; false after an exception.
bool add(PyObject* object, PyObject* attribute, PyObject* name, PyObject* number) {
    Ref numbers(PyObject_GetAttr(object, attribute));
    if (!numbers) return false;
    const Ref known = find(numbers.get(), name);
    if (!known && PyErr_Occurred()) return false;
    Ref sum(known ? PyNumber_Add(known.get(), number) : Py_NewRef(number));
    return sum && PyDict_SetItem(numbers.get(), name, sum.get()) == 0;
}

}  // namespace

void note_host_call(PyObject* name, double start, PyObject* const* args, Py_ssize_t count, PyObject* result) {
    Loan calls;
    {
        Section section;
        calls = loan(host_calls);
    }
    if (!calls || !name) return PyErr_Clear();
    Ref seconds(PyFloat_FromDouble(start ? clock_seconds() - start : 0));
    Py_ssize_t nbytes = bytes_of(result);
    for (Py_ssize_t k = 0; k < count; k++) nbytes += bytes_of(args[k]);
    Ref bytes(PyLong_FromSsize_t(nbytes)), one(PyLong_FromLong(1));
    Ref observer(PyObject_GetAttr(calls.get(), observe_name));
    PyObject* told[] = {name, seconds.get(), bytes.get()};
    if (!observer || !seconds || !bytes || !one) return PyErr_Clear();
    const bool is_noted = observer.get() != Py_None ? bool(Ref(PyObject_Vectorcall(calls.get(), told, 3, nullptr)))
                                                    : add(calls.get(), counts_name, name, one.get()) &&
                                                          add(calls.get(), seconds_name, name, seconds.get()) &&
                                                          add(calls.get(), nbytes_name, name, bytes.get());
    if (!is_noted) PyErr_Clear();
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
