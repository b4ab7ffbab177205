#include "ufunc_call.hpp"

#include "host_call.hpp"
#include "recorders.hpp"

namespace core {

namespace {

struct UfuncCall {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject* host_call;         // of NumPy's ufunc
    PyObject* record_plain;      // a recorder, or None
    PyObject* record_reflected;  // of two operands of which the second is an array; a recorder, or None
};

UfuncCall* as_ufunc(PyObject* object) { return reinterpret_cast<UfuncCall*>(object); }

// The value of a call with operands alone; null, without an exception, if it is not at hand.
PyObject* value(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    PyObject *plain = as_ufunc(self)->record_plain, *reflected = as_ufunc(self)->record_reflected;
    if (!plain || !reflected || !is_elementwise_recorder(plain)) return nullptr;
    const bool is_binary = is_elementwise_recorder(reflected);
    if (count != 1 + is_binary) return nullptr;
    if (is_array(args[0])) return operation(plain, args[0], is_binary ? args[1] : nullptr);
    return is_binary && is_array(args[1]) ? operation(reflected, args[1], args[0]) : nullptr;
}

PyObject* call(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    PyObject* result = result_on_host(as_ufunc(self)->host_call, args, PyVectorcall_NARGS(count), names);
    if (result || PyErr_Occurred()) return result;
    if (!names || !PyTuple_GET_SIZE(names)) {
        Ref node;
        {
            Section section;
            node = Ref(value(self, args, PyVectorcall_NARGS(count)));
        }
        if (node) return wrap(node.get());
        if (PyErr_Occurred()) return nullptr;
    }
    static Name name("_call_with_any");
    Ref method(PyObject_GetAttr(self, name));
    return method ? PyObject_Vectorcall(method.get(), args, PyVectorcall_NARGS(count), names) : nullptr;
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

}  // namespace

bool add_ufunc_call_type(PyObject* module) {
    PyObject* type = PyType_FromModuleAndSpec(module, &spec, nullptr);
    return type && PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type)) == 0;
}

}  // namespace core
