#include "host_call.hpp"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#define NO_IMPORT_UFUNC
#include <numpy/ufuncobject.h>

#include <cmath>
#include <cstring>

namespace core {

namespace {

// What is known of a function besides its name, as in placement.py.
enum Rules {
    IS_METHOD = 1, IS_OPERATOR = 2, IS_GROWING = 4, IS_WARNING = 8, IS_OF_FINITE = 16, IS_QUIET = 32,
    IS_SWAPPED = 64, IS_IN_PLACE = 128, IS_GETITEM = 256, IS_SETITEM = 512,
    // Functions that make arrays of a shape, of a range, of data.
    IS_OF_SHAPE = 1024, IS_OF_RANGE = 2048, IS_OF_DATA = 4096, IS_OF_SAMPLES = 8192,
    IS_WRITING = 16384
};

constexpr npy_intp HOST_BYTES = 1 << 15, GROWN_ELEMENTS = 1 << 16;
constexpr int MAX_ARRAYS = 64, MAX_ARGUMENTS = 16;

// Whether small arrays may be on the host, and no context checks floating-point errors.
bool is_auto = false, is_watched = false;

PyObject *errors_variable = nullptr, *no_errors = nullptr;  // NumPy's context variable of `errstate`, and its silent value

struct HostCall {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject* function;        // of this package, for all that is elsewhere
    PyObject* numpy_function;  // the name of a method if the rules say so
    PyObject* ufunc;           // of NumPy, whose loops do what the function does; null for other functions
    PyObject* attributes;
    int rules;
};

HostCall* as_host_call(PyObject* object) { return reinterpret_cast<HostCall*>(object); }

// --- arguments --------------------------------------------------------------------------------------------------------

bool is_type_at_hand(int number) { return (number >= NPY_BOOL && number <= NPY_DOUBLE) || number == NPY_CFLOAT || number == NPY_CDOUBLE || number == NPY_HALF; }

// Whether a NumPy scalar is of a dtype that kernels compute.
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

bool is_plain(PyObject* x) {
    if (PyLong_CheckExact(x) || PyFloat_CheckExact(x) || x == Py_None || PyBool_Check(x) || PyUnicode_CheckExact(x) ||
        PyComplex_CheckExact(x) || PySlice_Check(x) || x == Py_Ellipsis || PyRange_Check(x)) {
        return true;
    }
    if (PyArray_IsScalar(x, Generic) || PyArray_DescrCheck(x)) return true;
    if (!PyType_Check(x)) return false;
    PyTypeObject* type = reinterpret_cast<PyTypeObject*>(x);
    return type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type || type == &PyComplex_Type || is_scalar_at_hand(type);
}

// The arrays among the arguments of a call, what their sizes come to, and numbers that can make a result larger.
struct Operands {
    explicit Operands(int rules) : rules(rules) {}

    // The argument as NumPy takes it, as a new reference; null for a call that is elsewhere.
    PyObject* taken(PyObject* x) {
        if (is_array(x)) return memory_of(x);
        if (is_plain(x)) {
            if (PyLong_CheckExact(x)) count_number(x);
            if ((rules & IS_OF_FINITE) && PyFloat_CheckExact(x) && !std::isfinite(PyFloat_AS_DOUBLE(x))) return nullptr;
            return Py_NewRef(x);
        }
        const bool is_list = PyList_CheckExact(x) && !(rules & IS_OPERATOR);
        return is_list || PyTuple_CheckExact(x) ? taken_parts(x, is_list) : nullptr;
    }

    // Whether results are small enough to be on the host.
    bool are_small() const {
        if (!count || is_too_large) return false;
        if ((rules & IS_WARNING) && is_empty) return false;
        return !(rules & IS_GROWING) || product <= GROWN_ELEMENTS;
    }

    PyObject* arrays[MAX_ARRAYS];
    int count = 0;

private:
    PyObject* memory_of(PyObject* array) {
        if (!has_flag(array, ON_HOST) || count == MAX_ARRAYS) return nullptr;
        PyObject *owner = as_array(array)->owner, *memory = as_array(array)->base;
        if (owner && owner != Py_None && !has_flag(owner, ON_HOST)) return nullptr;  // the view has to follow it
        if (PyArray_CheckExact(memory)) {
            PyArrayObject* data = reinterpret_cast<PyArrayObject*>(memory);
            if (!is_type_at_hand(PyArray_TYPE(data)) || !PyArray_ISNOTSWAPPED(data) || PyArray_NBYTES(data) > HOST_BYTES) return nullptr;
            add_shape(PyArray_NDIM(data), PyArray_DIMS(data), PyArray_SIZE(data));
        } else if (!is_scalar_at_hand(Py_TYPE(memory))) {
            return nullptr;
        }
        arrays[count++] = array;
        return Py_NewRef(memory);
    }

    void add_shape(int ndim, const npy_intp* dims, npy_intp size) {
        if (!size) is_empty = true;
        if (size) product *= size;
        if (product > GROWN_ELEMENTS) product = GROWN_ELEMENTS + 1;
        npy_intp elements = 1;
        for (int k = 1; k <= ndim || k <= broadcast_ndim; k++) {
            if (k > NPY_MAXDIMS) return;
            if (k > broadcast_ndim) broadcast[broadcast_ndim++] = 1;
            if (k <= ndim && dims[ndim - k] != 1) broadcast[k - 1] = dims[ndim - k];
            elements *= broadcast[k - 1];
        }
        if (elements > HOST_BYTES / 8 && elements > size) is_too_large = true;
    }

    void count_number(PyObject* x) {
        if (!(rules & IS_GROWING)) return;
        int overflow;
        const long value = std::labs(PyLong_AsLongAndOverflow(x, &overflow));
        if (overflow || value > GROWN_ELEMENTS) product = GROWN_ELEMENTS + 1;
        else if (value && product <= GROWN_ELEMENTS) product *= value;
    }

    PyObject* taken_parts(PyObject* x, bool is_list) {
        const Py_ssize_t length = Py_SIZE(x);
        if (length > MAX_ARRAYS) return nullptr;
        Ref made(is_list ? PyList_New(length) : PyTuple_New(length));
        if (!made) return nullptr;
        for (Py_ssize_t k = 0; k < length; k++) {
            if (k >= Py_SIZE(x)) return nullptr;
            PyObject* part = taken(is_list ? PyList_GET_ITEM(x, k) : PyTuple_GET_ITEM(x, k));
            if (!part) return nullptr;
            if (is_list) PyList_SET_ITEM(made.get(), k, part);
            else PyTuple_SET_ITEM(made.get(), k, part);
        }
        return made.release();
    }

    int rules;
    bool is_empty = false, is_too_large = false;
    npy_intp product = 1, broadcast[NPY_MAXDIMS];
    int broadcast_ndim = 0;
};

// --- results ----------------------------------------------------------------------------------------------------------

PyObject* queue_of(PyObject* array) {
    PyObject* queue = as_array(array)->queue;
    return queue ? queue : state.signature_queue.of(as_node(as_array(array)->node)->signature);
}

PyObject* new_array(PyObject* memory, PyObject* owner, PyObject* queue, int flags) {
    PyObject* made = state.ndarray->tp_alloc(state.ndarray, 0);
    if (!made) return nullptr;
    Array* array = as_array(made);
    array->base = Py_NewRef(memory);
    array->owner = Py_NewRef(owner);
    array->queue = Py_NewRef(queue);
    array->flags = PyLong_FromLong(flags);
    return made;
}

// What Python makes of a result that is large, of another dtype, or of another class.
PyObject* returned_by_python(PyObject* x, const Operands& operands) {
    Ref arrays(PyTuple_New(operands.count));
    if (!arrays) return nullptr;
    for (int k = 0; k < operands.count; k++) PyTuple_SET_ITEM(arrays.get(), k, Py_NewRef(operands.arrays[k]));
    return PyObject_CallFunctionObjArgs(state.returned, x, arrays.get(), nullptr);
}

PyObject* returned(PyObject* x, const Operands& operands);

PyObject* returned_array(PyObject* x, const Operands& operands) {
    PyArrayObject* data = reinterpret_cast<PyArrayObject*>(x);
    PyObject* base = PyArray_BASE(data);
    for (int k = 0; k < operands.count; k++) {
        PyObject *array = operands.arrays[k], *memory = as_array(array)->base;
        if (memory == x) return Py_NewRef(array);
        const bool is_shared = base && (base == memory || (PyArray_Check(memory) && base == PyArray_BASE(reinterpret_cast<PyArrayObject*>(memory))));
        if (is_shared && is_type_at_hand(PyArray_TYPE(data)) && PyArray_ISNOTSWAPPED(data)) {
            PyObject* owner = as_array(array)->owner;
            return new_array(x, owner && owner != Py_None ? owner : array, queue_of(array), ON_HOST | MADE_AS_ARRAY);
        }
    }
    if (base || !is_type_at_hand(PyArray_TYPE(data)) || !PyArray_ISNOTSWAPPED(data) || PyArray_NBYTES(data) > HOST_BYTES) {
        return returned_by_python(x, operands);
    }
    return new_array(x, Py_None, queue_of(operands.arrays[0]), ON_HOST | MADE_AS_ARRAY);
}

PyObject* returned_parts(PyObject* x, const Operands& operands) {
    const Py_ssize_t length = Py_SIZE(x);
    const bool is_list = PyList_CheckExact(x);
    Ref made(is_list ? PyList_New(length) : PyTuple_New(length));
    if (!made) return nullptr;
    for (Py_ssize_t k = 0; k < length; k++) {
        PyObject* part = returned(is_list ? PyList_GET_ITEM(x, k) : PyTuple_GET_ITEM(x, k), operands);
        if (!part) return nullptr;
        if (is_list) PyList_SET_ITEM(made.get(), k, part);
        else PyTuple_SET_ITEM(made.get(), k, part);
    }
    return made.release();
}

PyObject* returned(PyObject* x, const Operands& operands) {
    if (PyArray_CheckExact(x)) return returned_array(x, operands);
    if (is_scalar_at_hand(Py_TYPE(x))) return new_array(x, Py_None, queue_of(operands.arrays[0]), ON_HOST);
    if (x == Py_None || PyFloat_CheckExact(x) || PyLong_CheckExact(x) || PyBool_Check(x)) return Py_NewRef(x);
    if (PyTuple_CheckExact(x) || PyList_CheckExact(x)) return returned_parts(x, operands);
    return returned_by_python(x, operands);
}

// --- errors -----------------------------------------------------------------------------------------------------------

// NumPy's handling of floating-point errors, which is silent while this lives.
class Silence {
public:
    explicit Silence(bool is_wanted) : token_(is_wanted ? PyContextVar_Set(errors_variable, no_errors) : nullptr) {}
    ~Silence() {
        if (!token_) return;
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        if (PyContextVar_Reset(errors_variable, token_)) PyErr_Clear();
        Py_DECREF(token_);
        PyErr_Restore(type, value, trace);
    }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;

private:
    PyObject* token_;
};

// --- loops of ufuncs --------------------------------------------------------------------------------------------------

// An operand of a loop: elements of one type, in C order, or one that is repeated.
struct Operand {
    char* data = nullptr;
    PyArrayObject* array = nullptr;  // null for a single element
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
    if (!has_flag(x, ON_HOST)) return false;
    PyObject *owner = as_array(x)->owner, *memory = as_array(x)->base;
    if (owner && owner != Py_None && !has_flag(owner, ON_HOST)) return false;
    if (!PyArray_CheckExact(memory)) {
        if (!is_scalar_at_hand(Py_TYPE(memory))) return false;
        PyArray_Descr* descr = PyArray_DescrFromScalar(memory);
        operand.type = descr->type_num;
        Py_DECREF(descr);
        PyArray_ScalarAsCtype(memory, operand.element);
        operand.data = operand.element;
        return true;
    }
    PyArrayObject* array = reinterpret_cast<PyArrayObject*>(memory);
    if (!PyArray_IS_C_CONTIGUOUS(array) || !PyArray_ISBEHAVED_RO(array) || !PyArray_NDIM(array) ||
        PyArray_NBYTES(array) > HOST_BYTES) {
        return false;
    }
    operand.type = PyArray_TYPE(array);
    operand.data = PyArray_BYTES(array);
    operand.array = array;
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

// The number of the loop for operands of one type; -1 if there is none.
int loop_of(PyUFuncObject* ufunc, int type) {
    for (int k = 0; k < ufunc->ntypes; k++) {
        const char* types = ufunc->types + k * ufunc->nargs;
        bool is_found = ufunc->functions[k] != nullptr;
        for (int n = 0; n < ufunc->nin; n++) is_found = is_found && types[n] == type;
        if (is_found) return is_type_at_hand(types[ufunc->nin]) ? k : -1;
    }
    return -1;
}

bool have_one_shape(PyArrayObject* a, PyArrayObject* b) {
    return PyArray_NDIM(a) == PyArray_NDIM(b) && PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a));
}

bool overlap(PyArrayObject* a, PyArrayObject* b) {
    return PyArray_BYTES(a) < PyArray_BYTES(b) + PyArray_NBYTES(b) && PyArray_BYTES(b) < PyArray_BYTES(a) + PyArray_NBYTES(a);
}

// The result of a ufunc by NumPy's own loop, which finds no floating-point errors, over operands of one type and shape;
// null, without an exception, where there is more to do.
PyObject* by_loop(const HostCall* self, PyObject* const* args, Py_ssize_t count) {
    PyUFuncObject* ufunc = reinterpret_cast<PyUFuncObject*>(self->ufunc);
    if (ufunc->core_enabled || count != ufunc->nin || count > 2 || ufunc->nout != 1) return nullptr;
    Operand operands[2];
    const bool is_swapped = self->rules & IS_SWAPPED, is_in_place = self->rules & IS_IN_PLACE;
    for (int k = 0; k < count; k++) {
        if (!read(args[k], operands[is_swapped ? 1 - k : k])) return nullptr;
    }
    Operand &first = operands[0], &last = operands[count - 1];
    if (first.type < 0 && !store_number(first, last.type)) return nullptr;
    if (last.type < 0 && !store_number(last, first.type)) return nullptr;
    if (first.type != last.type || (first.array && last.array && !have_one_shape(first.array, last.array))) return nullptr;
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
        if (last.array && last.data != first.data && overlap(first.array, last.array)) return nullptr;
        data = first.data;
    } else if (shape) {
        made = Ref(PyArray_SimpleNew(PyArray_NDIM(shape), PyArray_DIMS(shape), type));
        if (!made) return nullptr;
        data = PyArray_BYTES(reinterpret_cast<PyArrayObject*>(made.get()));
    }
    char* addresses[] = {first.data, count == 2 ? last.data : data, data};
    const npy_intp size = shape ? PyArray_SIZE(shape) : 1;
    npy_intp strides[3];
    for (int k = 0; k < count; k++) strides[k] = operands[k].array ? PyArray_ITEMSIZE(operands[k].array) : 0;
    strides[count] = made ? PyArray_ITEMSIZE(reinterpret_cast<PyArrayObject*>(made.get())) : shape ? PyArray_ITEMSIZE(shape) : 0;
    ufunc->functions[loop](addresses, &size, strides, ufunc->data ? ufunc->data[loop] : nullptr);
    if (PyErr_Occurred()) return nullptr;
    if (is_in_place) return Py_NewRef(args[0]);
    if (made) return new_array(made.get(), Py_None, queue, ON_HOST | MADE_AS_ARRAY);
    PyArray_Descr* descr = PyArray_DescrFromType(type);
    Ref scalar(PyArray_Scalar(element, descr, nullptr));
    Py_DECREF(descr);
    return scalar ? new_array(scalar.get(), Py_None, queue, ON_HOST) : nullptr;
}

// --- elements ---------------------------------------------------------------------------------------------------------

// The place of the element of an array on the host that a key of integers names; null, without an exception, if the key
// is another one, or leads out of the array.
char* place_of(PyObject* x, PyObject* key) {
    if (!is_array(x) || !has_flag(x, ON_HOST)) return nullptr;
    PyObject *owner = as_array(x)->owner, *memory = as_array(x)->base;
    if ((owner && owner != Py_None && !has_flag(owner, ON_HOST)) || !PyArray_CheckExact(memory)) return nullptr;
    PyArrayObject* array = reinterpret_cast<PyArrayObject*>(memory);
    const bool is_tuple = PyTuple_CheckExact(key);
    const Py_ssize_t count = is_tuple ? PyTuple_GET_SIZE(key) : 1;
    if (count != PyArray_NDIM(array) || !count || !is_type_at_hand(PyArray_TYPE(array)) || !PyArray_ISNOTSWAPPED(array)) return nullptr;
    char* place = PyArray_BYTES(array);
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject* item = is_tuple ? PyTuple_GET_ITEM(key, k) : key;
        if (!PyLong_CheckExact(item)) return nullptr;
        int overflow;
        npy_intp index = PyLong_AsLongAndOverflow(item, &overflow);
        const npy_intp length = PyArray_DIM(array, static_cast<int>(k));
        if (index < 0) index += length;
        if (overflow || index < 0 || index >= length) return nullptr;
        place += index * PyArray_STRIDE(array, static_cast<int>(k));
    }
    return place;
}

PyObject* element(PyObject* x, PyObject* key) {
    const char* place = place_of(x, key);
    if (!place) return nullptr;
    PyObject* memory = as_array(x)->base;
    PyArray_Descr* descr = PyArray_DESCR(reinterpret_cast<PyArrayObject*>(memory));
    Ref scalar(PyArray_Scalar(const_cast<char*>(place), descr, memory));
    return scalar ? new_array(scalar.get(), Py_None, queue_of(x), ON_HOST) : nullptr;
}

// Writes a number to an element; false, without an exception, if NumPy has to do so.
bool set_element(PyObject* x, PyObject* key, PyObject* value) {
    char* place = place_of(x, key);
    if (!place) return false;
    PyArrayObject* array = reinterpret_cast<PyArrayObject*>(as_array(x)->base);
    if (!PyArray_ISBEHAVED(array)) return false;
    Operand operand;
    if (!read(value, operand) || operand.array) return false;
    if (operand.type < 0 && !store_number(operand, PyArray_TYPE(array))) return false;
    if (operand.type != PyArray_TYPE(array)) return false;
    std::memcpy(place, operand.data, PyArray_ITEMSIZE(array));
    return true;
}

// --- new arrays -------------------------------------------------------------------------------------------------------

// The devices of `with` statements, the variables of the module that has the default device, and a function.
PyObject *with_devices = nullptr, *of_device_module = nullptr, *find_default_queue = nullptr;
PyObject *known_device = nullptr, *known_queue = nullptr;  // the default without such statements

// The queue of the default device, as a new reference.
PyObject* default_queue() {
    PyObject* devices;
    if (PyContextVar_Get(with_devices, nullptr, &devices) < 0) return nullptr;
    Ref held(devices);
    static PyObject* const name = PyUnicode_InternFromString("_default");
    PyObject* device = PyDict_GetItemWithError(of_device_module, name);
    const bool is_known = device && device == known_device && !PyTuple_GET_SIZE(devices);
    if (is_known) return Py_NewRef(known_queue);
    Ref queue(PyObject_CallNoArgs(find_default_queue));
    if (queue && device && device != Py_None && !PyTuple_GET_SIZE(devices)) {
        set_field(known_device, Py_NewRef(device));
        set_field(known_queue, Py_NewRef(queue.get()));
    }
    return queue.release();
}

bool is_number(PyObject* x) { return PyFloat_CheckExact(x) || PyLong_CheckExact(x) || PyBool_Check(x) || PyComplex_CheckExact(x); }

// Whether nested sequences hold numbers alone.
bool are_numbers(PyObject* x, int depth) {
    if (is_number(x)) return true;
    const bool is_list = PyList_CheckExact(x);
    if (depth > 3 || !(is_list || PyTuple_CheckExact(x)) || Py_SIZE(x) > HOST_BYTES / 8) return false;
    for (Py_ssize_t k = 0; k < Py_SIZE(x); k++) {
        if (!are_numbers(is_list ? PyList_GET_ITEM(x, k) : PyTuple_GET_ITEM(x, k), depth + 1)) return false;
    }
    return true;
}

// The elements of a shape; -1 if it is not plain, or they are many.
npy_intp elements_of(PyObject* shape) {
    const bool is_tuple = PyTuple_CheckExact(shape);
    npy_intp elements = 1;
    for (Py_ssize_t k = 0; k < (is_tuple ? PyTuple_GET_SIZE(shape) : 1); k++) {
        PyObject* item = is_tuple ? PyTuple_GET_ITEM(shape, k) : shape;
        if (!PyLong_CheckExact(item)) return -1;
        int overflow;
        const long length = PyLong_AsLongAndOverflow(item, &overflow);
        if (overflow || length < 0 || length > HOST_BYTES) return -1;
        elements *= length;
        if (elements > HOST_BYTES) return -1;
    }
    return elements;
}

double number_at(PyObject* const* args, Py_ssize_t k) {
    return PyFloat_CheckExact(args[k]) ? PyFloat_AS_DOUBLE(args[k]) : PyLong_AsDouble(args[k]);
}

// Whether the first arguments make an array that is surely small enough to be made here.
bool is_small_data(int rules, PyObject* const* args, Py_ssize_t count) {
    if (rules & IS_OF_SHAPE) {
        const npy_intp elements = elements_of(args[0]);
        return elements >= 0 && elements <= HOST_BYTES / 8;
    }
    if (rules & IS_OF_DATA) return are_numbers(args[0], 0) || (PyArray_CheckExact(args[0]) && PyArray_NBYTES(reinterpret_cast<PyArrayObject*>(args[0])) <= HOST_BYTES);
    if (rules & IS_OF_SAMPLES) {
        const bool has_count = count > 2;
        if (count < 2 || !is_number(args[0]) || !is_number(args[1]) || (has_count && !PyLong_CheckExact(args[2]))) return false;
        return !has_count || (number_at(args, 2) >= 0 && number_at(args, 2) <= HOST_BYTES / 8);
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        if (k < 3 && !PyFloat_CheckExact(args[k]) && !PyLong_CheckExact(args[k])) return false;
    }
    const double start = count > 1 ? number_at(args, 0) : 0, stop = number_at(args, count > 1), step = count > 2 ? number_at(args, 2) : 1;
    return !PyErr_Occurred() && step != 0 && std::fabs((stop - start) / step) <= HOST_BYTES / 8;
}

// A new array of data of the host; null, without an exception, where Python decides.
PyObject* made_of_data(const HostCall* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    const Py_ssize_t options = names ? PyTuple_GET_SIZE(names) : 0;
    for (Py_ssize_t k = 0; k < options; k++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, k), "dtype")) return nullptr;
    }
    for (Py_ssize_t k = 1; k < count + options; k++) {
        if (!is_plain(args[k])) return nullptr;
    }
    if (!count || !is_small_data(self->rules, args, count)) {
        PyErr_Clear();
        return nullptr;
    }
    Ref result;
    {
        Silence silence(PyArray_CheckExact(args[0]) || (self->rules & IS_OF_SAMPLES));
        result = Ref(PyObject_Vectorcall(self->numpy_function, args, static_cast<size_t>(count), names));
    }
    if (!result) {
        PyErr_Clear();  // the function of this package says what is wrong
        return nullptr;
    }
    if (!PyArray_CheckExact(result.get())) return nullptr;
    PyArrayObject* data = reinterpret_cast<PyArrayObject*>(result.get());
    if (!is_type_at_hand(PyArray_TYPE(data)) || !PyArray_ISNOTSWAPPED(data) || PyArray_NBYTES(data) > HOST_BYTES) return nullptr;
    if ((self->rules & IS_OF_DATA) && (result.get() == args[0] || PyArray_BASE(data))) {
        result = Ref(PyArray_NewCopy(data, NPY_KEEPORDER));
        if (!result) return nullptr;
    }
    Ref queue(default_queue());
    return queue ? new_array(result.get(), Py_None, queue.get(), ON_HOST | MADE_AS_ARRAY) : nullptr;
}

// --- calls ------------------------------------------------------------------------------------------------------------

bool is_refused_option(PyObject* name, int rules) {
    for (const char* refused : {"device", "like", "shape"}) {
        if (!PyUnicode_CompareWithASCIIString(name, refused)) return true;
    }
    return (rules & IS_WARNING) && !PyUnicode_CompareWithASCIIString(name, "where");
}

// The result on the host; null, without an exception, if the call is elsewhere.
PyObject* on_host(const HostCall* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    const bool is_plain_call = !names || !PyTuple_GET_SIZE(names);
    if (is_plain_call && self->ufunc) {
        PyObject* result = by_loop(self, args, count);
        if (result || PyErr_Occurred()) return result;
    } else if (is_plain_call && count == 2 && (self->rules & IS_GETITEM)) {
        PyObject* result = element(args[0], args[1]);
        if (result || PyErr_Occurred()) return result;
    } else if (is_plain_call && count == 3 && (self->rules & IS_SETITEM)) {
        if (set_element(args[0], args[1], args[2])) Py_RETURN_NONE;
        if (PyErr_Occurred()) return nullptr;
    }
    if ((self->rules & (IS_OF_SHAPE | IS_OF_RANGE | IS_OF_DATA | IS_OF_SAMPLES)) && count && !is_array(args[0])) {
        return made_of_data(self, args, count, names);
    }
    const Py_ssize_t total = count + (names ? PyTuple_GET_SIZE(names) : 0);
    if (total > MAX_ARGUMENTS) return nullptr;
    for (Py_ssize_t k = count; k < total; k++) {
        if (is_refused_option(PyTuple_GET_ITEM(names, k - count), self->rules)) return nullptr;
    }
    Operands operands(self->rules);
    Ref held[MAX_ARGUMENTS];
    PyObject* taken[MAX_ARGUMENTS + 1];
    for (Py_ssize_t k = 0; k < total; k++) {
        held[k] = Ref(operands.taken(args[k]));
        if (!held[k]) {
            PyErr_Clear();
            return nullptr;
        }
        taken[k + 1] = held[k].get();
    }
    if (!operands.are_small()) return nullptr;
    if ((self->rules & IS_WRITING) && !has_flag(operands.arrays[0], MADE_AS_ARRAY)) return nullptr;
    Ref result;
    {
        Silence silence(!(self->rules & IS_QUIET));
        const size_t given = static_cast<size_t>(count) | PY_VECTORCALL_ARGUMENTS_OFFSET;
        result = Ref(self->rules & IS_METHOD ? PyObject_VectorcallMethod(self->numpy_function, taken + 1, given, names)
                                             : PyObject_Vectorcall(self->numpy_function, taken + 1, given, names));
    }
    if (!result) {
        if (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
        return nullptr;
    }
    return returned(result.get(), operands);
}

PyObject* call(PyObject* self, PyObject* const* args, size_t given, PyObject* names) {
    const Py_ssize_t count = PyVectorcall_NARGS(given);
    if (is_auto && !is_watched && count && !(is_array(args[0]) && !has_flag(args[0], ON_HOST))) {
        PyObject* result = on_host(as_host_call(self), args, count, names);
        if (result || PyErr_Occurred()) return result;
    }
    return PyObject_Vectorcall(as_host_call(self)->function, args, given, names);
}

// --- the type ---------------------------------------------------------------------------------------------------------

using Held = References<HostCall, &HostCall::function, &HostCall::numpy_function, &HostCall::ufunc,
                        &HostCall::attributes>;

PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
    return object ? PyMethod_New(self, object) : Py_NewRef(self);
}

// What is no attribute of its own is one of the function.
PyObject* get_attribute(PyObject* self, PyObject* name) {
    PyObject* found = PyObject_GenericGetAttr(self, name);
    if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
    PyErr_Clear();
    return PyObject_GetAttr(as_host_call(self)->function, name);
}

PyObject* get_attribute_of_function(PyObject* self, void* name) {
    Ref text(PyUnicode_FromString(static_cast<const char*>(name)));
    if (!text) return nullptr;
    if (as_host_call(self)->attributes) {
        PyObject* found = PyDict_GetItemWithError(as_host_call(self)->attributes, text.get());
        if (found || PyErr_Occurred()) return Py_XNewRef(found);
    }
    return PyObject_GetAttr(as_host_call(self)->function, text.get());
}

int set_attribute_of_function(PyObject* self, PyObject* value, void* name) {
    return PyObject_SetAttrString(as_host_call(self)->function, static_cast<const char*>(name), value);
}

PyObject* represent(PyObject* self) { return PyObject_Repr(as_host_call(self)->function); }

PyObject* reduce(PyObject* self, PyObject*) { return PyObject_GetAttrString(as_host_call(self)->function, "__qualname__"); }

char TEXT[] = "__doc__", MODULE[] = "__module__";

PyGetSetDef properties[] = {
    {"__doc__", get_attribute_of_function, set_attribute_of_function, nullptr, TEXT},
    {"__module__", get_attribute_of_function, set_attribute_of_function, nullptr, MODULE},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(HostCall, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(HostCall, attributes), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_members, members},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
    {Py_tp_repr, reinterpret_cast<void*>(represent)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
    {Py_tp_traverse, reinterpret_cast<void*>(Held::traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(Held::clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(Held::deallocate)},
    {0, nullptr},
};

PyType_Spec spec = {
    "gpunumpy.core._native._core.HostCall", sizeof(HostCall), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    slots,
};

PyTypeObject* host_call_type = nullptr;

// host_call(function, numpy_function, ufunc, rules)
PyObject* host_call(PyObject*, PyObject* args) {
    PyObject *function, *numpy_function, *ufunc;
    int rules;
    if (!PyArg_ParseTuple(args, "OOOi", &function, &numpy_function, &ufunc, &rules)) return nullptr;
    PyObject* made = host_call_type->tp_alloc(host_call_type, 0);
    if (!made) return nullptr;
    as_host_call(made)->call = call;
    as_host_call(made)->function = Py_NewRef(function);
    as_host_call(made)->numpy_function = Py_NewRef(numpy_function);
    as_host_call(made)->ufunc = ufunc == Py_None ? nullptr : Py_NewRef(ufunc);
    as_host_call(made)->rules = rules;
    return made;
}

PyObject* set_auto(PyObject*, PyObject* value) {
    is_auto = PyObject_IsTrue(value) == 1;
    Py_RETURN_NONE;
}

PyObject* set_watched(PyObject*, PyObject* value) {
    is_watched = PyObject_IsTrue(value) == 1;
    Py_RETURN_NONE;
}

// set_returned(function): what makes arrays of results of NumPy's that are large or not plain.
PyObject* set_returned(PyObject*, PyObject* function) {
    set_field(state.returned, Py_NewRef(function));
    Py_RETURN_NONE;
}

// set_errors((variable, value)): the context variable that NumPy keeps `errstate` in, and its value that ignores all.
PyObject* set_errors(PyObject*, PyObject* pair) {
    PyObject *variable, *value;
    if (!PyArg_ParseTuple(pair, "OO", &variable, &value)) return nullptr;
    errors_variable = Py_NewRef(variable);
    no_errors = Py_NewRef(value);
    Py_RETURN_NONE;
}

// set_default_queue((variable, variables, function)): see `default_queue`.
PyObject* set_default_queue(PyObject*, PyObject* parts) {
    PyObject *variable, *variables, *function;
    if (!PyArg_ParseTuple(parts, "OOO", &variable, &variables, &function)) return nullptr;
    set_field(with_devices, Py_NewRef(variable));
    set_field(of_device_module, Py_NewRef(variables));
    set_field(find_default_queue, Py_NewRef(function));
    Py_RETURN_NONE;
}

// bind(name, method): have a slot of arrays call a method for what the core leaves to Python.
PyObject* bind_look(PyObject*, PyObject* args) {
    PyObject *name, *method;
    if (!PyArg_ParseTuple(args, "UO", &name, &method)) return nullptr;
    if (!state.looks) state.looks = PyDict_New();
    if (!state.looks || PyDict_SetItem(state.looks, name, method) < 0) return nullptr;
    Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"bind", bind_look, METH_VARARGS, nullptr},
    {"set_default_queue", set_default_queue, METH_O, nullptr},
    {"host_call", host_call, METH_VARARGS, nullptr},
    {"set_auto", set_auto, METH_O, nullptr},
    {"set_watched", set_watched, METH_O, nullptr},
    {"set_returned", set_returned, METH_O, nullptr},
    {"set_errors", set_errors, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyObject* result_on_host(PyObject* call, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    const bool is_possible = call && Py_TYPE(call) == host_call_type && is_auto && !is_watched;
    return is_possible ? on_host(as_host_call(call), args, count, names) : nullptr;
}

namespace {

// The method in Python of a look at an array: the core looks at NumPy's scalars by itself.
PyObject* look(PyObject* self, const char* name) {
    PyObject* method = PyDict_GetItemString(state.looks, name);
    return method ? PyObject_CallOneArg(method, self) : PyErr_Format(PyExc_SystemError, "%s is not bound", name);
}

// The NumPy scalar that an array on the host is, of a type that kernels compute; null, without an exception, else.
PyObject* scalar_of(PyObject* self) {
    if (!is_array(self) || !has_flag(self, ON_HOST)) return nullptr;
    PyObject* memory = as_array(self)->base;
    return is_scalar_at_hand(Py_TYPE(memory)) ? memory : nullptr;
}

bool is_real(PyObject* scalar) { return !PyArray_IsScalar(scalar, ComplexFloating); }

PyObject* as_float(PyObject* self) {
    PyObject* scalar = scalar_of(self);
    return scalar && is_real(scalar) ? PyNumber_Float(scalar) : look(self, "__float__");
}

PyObject* as_integer(PyObject* self) {
    PyObject* scalar = scalar_of(self);
    return scalar && is_real(scalar) ? PyNumber_Long(scalar) : look(self, "__int__");
}

PyObject* as_index(PyObject* self) {
    PyObject* scalar = scalar_of(self);
    return scalar && PyArray_IsScalar(scalar, Integer) ? PyNumber_Index(scalar) : look(self, "__index__");
}

int truth(PyObject* self) {
    if (PyObject* scalar = scalar_of(self)) return PyObject_IsTrue(scalar);
    Ref answer(look(self, "__bool__"));
    return answer ? PyObject_IsTrue(answer.get()) : -1;
}

Py_ssize_t length(PyObject* self) {
    if (is_array(self) && has_flag(self, ON_HOST) && PyArray_CheckExact(as_array(self)->base)) {
        PyArrayObject* memory = reinterpret_cast<PyArrayObject*>(as_array(self)->base);
        if (PyArray_NDIM(memory)) return PyArray_DIM(memory, 0);
    }
    Ref answer(look(self, "__len__"));
    return answer ? PyLong_AsSsize_t(answer.get()) : -1;
}

// What any other key selects of an array on the host.
PyObject* part(PyObject* self, PyObject* key) {
    if (!is_array(self) || !has_flag(self, ON_HOST)) return nullptr;
    Operands operands(IS_QUIET);
    Ref memory(operands.taken(self)), taken(memory ? operands.taken(key) : nullptr);
    if (!taken || !operands.are_small()) {
        PyErr_Clear();
        return nullptr;
    }
    Ref found(PyObject_GetItem(memory.get(), taken.get()));
    return found ? returned(found.get(), operands) : nullptr;
}

PyObject* get_item(PyObject* self, PyObject* key) {
    if (is_auto && !is_watched) {
        PyObject* found = element(self, key);
        if (!found && !PyErr_Occurred()) found = part(self, key);
        if (found || PyErr_Occurred()) return found;
    }
    PyObject* args[] = {self, key};
    return PyObject_Vectorcall(PyDict_GetItemString(state.looks, "__getitem__"), args, 2, nullptr);
}

PyObject* get_item_at(PyObject* self, Py_ssize_t index) {
    Ref key(PyLong_FromSsize_t(index));
    return key ? get_item(self, key.get()) : nullptr;
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
    if (!value) return PyErr_Occurred() ? -1 : (Ref(PyObject_CallFunctionObjArgs(PyDict_GetItemString(state.looks, "__delitem__"), self, key, nullptr)) ? 0 : -1);
    if (is_auto && !is_watched) {
        if (set_element(self, key, value)) return 0;
        if (PyErr_Occurred()) return -1;
    }
    PyObject* args[] = {self, key, value};
    return Ref(PyObject_Vectorcall(PyDict_GetItemString(state.looks, "__setitem__"), args, 3, nullptr)) ? 0 : -1;
}

}  // namespace

const PyType_Slot* look_slots() {
    static const PyType_Slot slots[] = {
        {Py_nb_float, reinterpret_cast<void*>(as_float)},   {Py_nb_int, reinterpret_cast<void*>(as_integer)},
        {Py_nb_index, reinterpret_cast<void*>(as_index)},   {Py_nb_bool, reinterpret_cast<void*>(truth)},
        {Py_mp_length, reinterpret_cast<void*>(length)},    {Py_sq_length, reinterpret_cast<void*>(length)},
        {Py_sq_item, reinterpret_cast<void*>(get_item_at)},
        {Py_mp_subscript, reinterpret_cast<void*>(get_item)}, {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
        {0, nullptr}};
    return slots;
}

bool add_host_call_type(PyObject* module) {
    if (PyArray_ImportNumPyAPI() < 0) return false;
    host_call_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
    return host_call_type && PyModule_AddType(module, host_call_type) == 0 && PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace core
