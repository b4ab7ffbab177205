#include "host_call.hpp"

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include <cmath>

namespace core {

namespace {

// What is known of a function besides its name, as in placement.py.
enum Rules { IS_METHOD = 1, IS_OPERATOR = 2, IS_GROWING = 4, IS_WARNING = 8, IS_OF_FINITE = 16, IS_QUIET = 32 };

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

// --- calls ------------------------------------------------------------------------------------------------------------

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

bool is_refused_option(PyObject* name, int rules) {
    for (const char* refused : {"device", "like", "shape"}) {
        if (!PyUnicode_CompareWithASCIIString(name, refused)) return true;
    }
    return (rules & IS_WARNING) && !PyUnicode_CompareWithASCIIString(name, "where");
}

// The result on the host; null, without an exception, if the call is elsewhere.
PyObject* on_host(const HostCall* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
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

using Held = References<HostCall, &HostCall::function, &HostCall::numpy_function, &HostCall::attributes>;

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

PyObject* get_function(PyObject* self, void*) { return Py_NewRef(as_host_call(self)->function); }

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
    {"__wrapped__", get_function, nullptr, nullptr, nullptr},
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

// host_call(function, numpy_function, rules)
PyObject* host_call(PyObject*, PyObject* args) {
    PyObject *function, *numpy_function;
    int rules;
    if (!PyArg_ParseTuple(args, "OOi", &function, &numpy_function, &rules)) return nullptr;
    PyObject* made = host_call_type->tp_alloc(host_call_type, 0);
    if (!made) return nullptr;
    as_host_call(made)->call = call;
    as_host_call(made)->function = Py_NewRef(function);
    as_host_call(made)->numpy_function = Py_NewRef(numpy_function);
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

PyMethodDef functions[] = {
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

bool add_host_call_type(PyObject* module) {
    if (PyArray_ImportNumPyAPI() < 0) return false;
    host_call_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
    return host_call_type && PyModule_AddType(module, host_call_type) == 0 && PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace core
