#include "ufunc_loops.hpp"

#define NO_IMPORT_UFUNC
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace core {

namespace {

// An operand of a loop: elements of one type, in C order or along one dimension, or one that is repeated.
struct Operand {
    char* data = nullptr;
    PyArrayObject* array = nullptr;  // null for a single element
    npy_intp stride = 0;             // in bytes
    int type = -1;                   // -1 for a number of Python, which has the type of the other operand
    PyObject* number = nullptr;
    alignas(16) char element[16];
};

// Reads an array on the host or a number of Python; false for all else.
bool read(PyObject* x, Operand& operand) {
    if (!is_array(x)) {
        operand.number = x;
        return PyFloat_CheckExact(x) || PyLong_CheckExact(x);
    }
    PyObject* memory = memory_of(x);
    if (!memory) return false;
    if (!PyArray_CheckExact(memory)) {
        operand.type = number_of(Py_TYPE(memory));
        operand.data = element_of(memory);
        return operand.type >= 0;
    }
    PyArrayObject* array = reinterpret_cast<PyArrayObject*>(memory);
    const bool is_line = PyArray_NDIM(array) == 1;
    if (!(is_line || PyArray_IS_C_CONTIGUOUS(array)) || !PyArray_ISBEHAVED_RO(array) || !PyArray_NDIM(array) ||
        PyArray_NBYTES(array) > host_bytes_of(queue_of(x))) {
        return false;
    }
    operand.type = PyArray_TYPE(array);
    operand.data = PyArray_BYTES(array);
    operand.array = array;
    operand.stride = is_line ? PyArray_STRIDE(array, 0) : PyArray_ITEMSIZE(array);
    return is_type_at_hand(operand.type);
}

template <typename T>
bool store_integer(Operand& operand, int type) {
    int overflow;
    const long long value = PyLong_AsLongLongAndOverflow(operand.number, &overflow);
    const T element = static_cast<T>(value);
    if (overflow || static_cast<long long>(element) != value || (value < 0) != (element < 0)) return false;
    std::memcpy(operand.element, &element, sizeof element);
    operand.data = operand.element;
    operand.type = type;
    return true;
}

// Gives a number of Python the type of the other operand, as NumPy promotes; false where that is left to NumPy.
bool store_number(Operand& operand, int type) {
    if (type == NPY_DOUBLE || type == NPY_FLOAT) {
        double value;
        if (PyFloat_CheckExact(operand.number)) {
            value = PyFloat_AS_DOUBLE(operand.number);
        } else {
            int overflow;
            const long long integer = PyLong_AsLongLongAndOverflow(operand.number, &overflow);
            if (overflow) return false;
            value = static_cast<double>(integer);
        }
        if (type == NPY_DOUBLE) {
            std::memcpy(operand.element, &value, sizeof value);
        } else {
            const float narrow = static_cast<float>(value);
            if (std::isinf(narrow) != std::isinf(value)) return false;
            std::memcpy(operand.element, &narrow, sizeof narrow);
        }
        operand.data = operand.element;
        operand.type = type;
        return true;
    }
    if (!PyLong_CheckExact(operand.number)) return false;
    switch (type) {
        case NPY_BYTE: return store_integer<npy_byte>(operand, type);
        case NPY_UBYTE: return store_integer<npy_ubyte>(operand, type);
        case NPY_SHORT: return store_integer<npy_short>(operand, type);
        case NPY_USHORT: return store_integer<npy_ushort>(operand, type);
        case NPY_INT: return store_integer<npy_int>(operand, type);
        case NPY_UINT: return store_integer<npy_uint>(operand, type);
        case NPY_LONG: return store_integer<npy_long>(operand, type);
        case NPY_ULONG: return store_integer<npy_ulong>(operand, type);
        default: return false;
    }
}

int find_loop(PyUFuncObject* ufunc, int type) {
    for (int k = 0; k < ufunc->ntypes; k++) {
        const char* types = ufunc->types + k * ufunc->nargs;
        bool is_found = ufunc->functions[k] != nullptr;
        for (int n = 0; n < ufunc->nin; n++) is_found = is_found && types[n] == type;
        if (is_found) return is_type_at_hand(types[ufunc->nin]) ? k : -1;
    }
    return -1;
}

// The number of the loop for operands of one type; -1 if there is none. What was found last is remembered: ufuncs that
// stand before functions live as long as these.
int loop_of(PyUFuncObject* ufunc, int type) {
    static struct {
        PyUFuncObject* ufunc;
        int type, loop;
    } found[256];
    auto& entry = found[(reinterpret_cast<uintptr_t>(ufunc) / sizeof(PyUFuncObject) + static_cast<unsigned>(type)) % 256];
    if (entry.ufunc != ufunc || entry.type != type) entry = {ufunc, type, find_loop(ufunc, type)};
    return entry.loop;
}

bool have_one_shape(PyArrayObject* a, PyArrayObject* b) {
    return PyArray_NDIM(a) == PyArray_NDIM(b) && PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a));
}

// Whether the memory between the ends of two operands overlaps.
bool overlap(const Operand& a, const Operand& b) {
    const auto ends = [](const Operand& x) {
        const npy_intp last = x.stride * (PyArray_SIZE(x.array) - 1), size = PyArray_ITEMSIZE(x.array);
        return std::pair(x.data + std::min<npy_intp>(last, 0), x.data + std::max<npy_intp>(last, 0) + size);
    };
    if (!PyArray_SIZE(a.array) || !PyArray_SIZE(b.array)) return false;
    const auto [first, first_end] = ends(a);
    const auto [second, second_end] = ends(b);
    return first < second_end && second < first_end;
}

}  // namespace

// The result of a ufunc by NumPy's own loop, which finds no floating-point errors, over operands of one type and shape;
// null, without an exception, where there is more to do.
PyObject* by_loop(PyObject* object, bool is_swapped, bool is_in_place, PyObject* const* args, Py_ssize_t count) {
    PyUFuncObject* ufunc = reinterpret_cast<PyUFuncObject*>(object);
    if (ufunc->core_enabled || count != ufunc->nin || count > 2 || ufunc->nout != 1) return nullptr;
    Operand operands[2];
    for (int k = 0; k < count; k++) {
        if (!read(args[k], operands[is_swapped ? 1 - k : k])) return nullptr;
    }
    Operand &first = operands[0], &last = operands[count - 1];
    if (first.type < 0 && !store_number(first, last.type)) return nullptr;
    if (last.type < 0 && !store_number(last, first.type)) return nullptr;
    if (first.type != last.type) return nullptr;
    if (first.array && last.array && !have_one_shape(first.array, last.array)) return nullptr;
    const int loop = loop_of(ufunc, first.type);
    if (loop < 0) return nullptr;
    const int type = ufunc->types[loop * ufunc->nargs + ufunc->nin];
    PyArrayObject* shape = first.array ? first.array : last.array;
    PyObject* queue = queue_of(is_array(args[0]) ? args[0] : args[1]);
    alignas(16) char element[16];
    Ref made;
    char* data = element;
    if (is_in_place) {
        if (!first.array || type != first.type || !PyArray_ISWRITEABLE(first.array)) return nullptr;
        const bool is_same = last.data == first.data && last.stride == first.stride;
        const npy_intp step = std::abs(first.stride);  // elements that are shown twice are written to once
        if (step < PyArray_ITEMSIZE(first.array) && PyArray_SIZE(first.array) > 1) return nullptr;
        if (last.array && !is_same && overlap(first, last)) return nullptr;
        data = first.data;
    } else if (shape) {
        made = Ref(PyArray_SimpleNew(PyArray_NDIM(shape), PyArray_DIMS(shape), type));
        if (!made) return nullptr;
        data = PyArray_BYTES(reinterpret_cast<PyArrayObject*>(made.get()));
    }
    char* addresses[] = {first.data, count == 2 ? last.data : data, data};
    const npy_intp size = shape ? PyArray_SIZE(shape) : 1;
    npy_intp strides[3];
    for (int k = 0; k < count; k++) strides[k] = operands[k].stride;
    strides[count] = made ? PyArray_ITEMSIZE(reinterpret_cast<PyArrayObject*>(made.get())) : first.stride;
    ufunc->functions[loop](addresses, &size, strides, ufunc->data ? ufunc->data[loop] : nullptr);
    if (PyErr_Occurred()) return nullptr;
    if (is_in_place) return Py_NewRef(args[0]);
    if (made) return new_host_array(made.get(), Py_None, queue, ON_HOST | MADE_AS_ARRAY);
    Ref scalar;
    if (type == NPY_BOOL) {
        scalar = Ref::to(*element ? PyArrayScalar_True : PyArrayScalar_False);
    } else {
        PyArray_Descr* descr = PyArray_DescrFromType(type);
        scalar = Ref(PyArray_Scalar(element, descr, nullptr));
        Py_DECREF(descr);
    }
    return scalar ? new_host_array(scalar.get(), Py_None, queue, ON_HOST) : nullptr;
}

bool store(PyObject* value, PyArrayObject* array, char* place) {
    Operand operand;
    if (!PyArray_ISBEHAVED(array) || !read(value, operand) || operand.array) return false;
    if (operand.type < 0 && !store_number(operand, PyArray_TYPE(array))) return false;
    if (operand.type != PyArray_TYPE(array)) return false;
    std::memcpy(place, operand.data, PyArray_ITEMSIZE(array));
    return true;
}

}  // namespace core
