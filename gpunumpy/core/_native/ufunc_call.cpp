#include "ufunc_call.hpp"

#include "host_call.hpp"
#include "operands.hpp"
#include "recorders.hpp"

namespace core {

namespace {

Name call_with_any_name("_call_with_any");

struct UfuncCall {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject* host_call;         // of NumPy's ufunc
    PyObject* record_plain;      // a recorder, or None
    PyObject* record_reflected;  // of two operands of which the second is an array; a recorder, or None
};

UfuncCall* as_ufunc(PyObject* object) { return reinterpret_cast<UfuncCall*>(object); }

// The recorder of a call, and the operands as it takes them; no recorder if Python records the call.
struct Recording {
    PyObject *recorder = nullptr, *x = nullptr, *y = nullptr;
};

Recording recording(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    PyObject *plain = as_ufunc(self)->record_plain, *reflected = as_ufunc(self)->record_reflected;
    if (!plain || !reflected || !is_elementwise_recorder(plain)) return {};
    const bool is_binary = is_elementwise_recorder(reflected);
    if (count != 1 + is_binary) return {};
    if (is_array(args[0])) return {plain, args[0], is_binary ? args[1] : nullptr};
    return is_binary && is_array(args[1]) ? Recording{reflected, args[1], args[0]} : Recording{};
}

// The only option of a call if that is `out`, without a tuple around it; null for other options.
PyObject* named_output(PyObject* const* args, Py_ssize_t count, PyObject* names) {
    if (PyTuple_GET_SIZE(names) != 1 || PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "out")) return nullptr;
    PyObject* out = args[count];
    return PyTuple_CheckExact(out) && PyTuple_GET_SIZE(out) == 1 ? PyTuple_GET_ITEM(out, 0) : out;
}

// The result of a call with operands, and perhaps an output; null, without an exception, if it is not at hand.
PyObject* recorded(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    PyObject* out = nullptr;
    if (names && PyTuple_GET_SIZE(names)) {
        out = named_output(args, count, names);
        if (!out) return nullptr;
    }
    Recording call = recording(self, args, count);
    if (!call.recorder && !out && count > 1) {
        call = recording(self, args, count - 1);
        out = args[count - 1];
    }
    if (!call.recorder) return nullptr;
    if (out) return operate_into(out, call.recorder, call.x, call.y) == Written::YES ? Py_NewRef(out) : nullptr;
    Ref node;
    {
        Section section;
        node = Ref(operation(call.recorder, call.x, call.y));
    }
    return node ? wrap(node.get()) : nullptr;
}

PyObject* call(PyObject* self, PyObject* const* args, size_t given, PyObject* names) {
    const Py_ssize_t count = PyVectorcall_NARGS(given);
    PyObject* result = result_on_host(as_ufunc(self)->host_call, args, count, names);
    if (!result && !PyErr_Occurred()) result = recorded(self, args, count, names);
    if (result || PyErr_Occurred()) return result;
    Ref method(PyObject_GetAttr(self, call_with_any_name));
    return method ? PyObject_Vectorcall(method.get(), args, count, names) : nullptr;
}

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
    PyObject* made = type->tp_alloc(type, 0);
    if (made) as_ufunc(made)->call = call;
    return made;
}

using Held = References<UfuncCall, &UfuncCall::host_call, &UfuncCall::record_plain, &UfuncCall::record_reflected>;

PyMemberDef members[] = {
    {"_host_call", T_OBJECT_EX, offsetof(UfuncCall, host_call), 0, nullptr},
    {"_record_plain", T_OBJECT_EX, offsetof(UfuncCall, record_plain), 0, nullptr},
    {"_record_reflected", T_OBJECT_EX, offsetof(UfuncCall, record_reflected), 0, nullptr},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(UfuncCall, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_members, members},
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_traverse, reinterpret_cast<void*>(Held::traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(Held::clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(Held::deallocate)},
    {0, nullptr},
};

PyType_Spec spec = {
    "gpunumpy.core._native._core.UfuncCall", sizeof(UfuncCall), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots,
};

PyObject* own_functions = nullptr;  // a dictionary: the functions of this package by NumPy's ufuncs

// set_own_functions(functions)
PyObject* set_own_functions(PyObject*, PyObject* functions) {
    set_field(own_functions, Py_NewRef(functions));
    Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"set_own_functions", set_own_functions, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyObject* by_own_function(PyObject* const* args, Py_ssize_t count) {
    const bool is_call = count > 3 && own_functions && PyUnicode_Check(args[2]) &&
                         !PyUnicode_CompareWithASCIIString(args[2], "__call__");
    if (!is_call) return nullptr;
    for (Py_ssize_t k = 3; k < count; k++) {
        if (!is_array(args[k]) && !is_plain(args[k]) && !PyArray_CheckExact(args[k])) return nullptr;
    }
    Ref function;
    {
        Section section;
        function = find(own_functions, args[1]);
    }
    return function ? PyObject_Vectorcall(function.get(), args + 3, static_cast<size_t>(count - 3), nullptr) : nullptr;
}

bool add_ufunc_call_type(PyObject* module) {
    PyObject* type = PyType_FromModuleAndSpec(module, &spec, nullptr);
    return type && PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type)) == 0 &&
           PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace core
