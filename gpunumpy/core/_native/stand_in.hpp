// Types of callables that stand before a function in Python: they bind as it does, and have its attributes.
#pragma once

#include "section.hpp"

namespace core {

// The type of callables `T`, which have fields `call`, `function`, `attributes`; `Fields` are the `References` of `T`.
template <typename T, typename Fields>
class StandIn {
public:
    static PyTypeObject* new_type(PyObject* module, const char* name) {
        static PyGetSetDef properties[] = {
            {"__doc__", get_docstring, set_of_function, nullptr, const_cast<char*>("__doc__")},
            {"__module__", get_of_function, set_of_function, nullptr, const_cast<char*>("__module__")},
            {nullptr, nullptr, nullptr, nullptr, nullptr},
        };
        static PyMethodDef methods[] = {
            {"__reduce__", reduce, METH_NOARGS, nullptr},
            {nullptr, nullptr, 0, nullptr},
        };
        static PyMemberDef members[] = {
            {"__vectorcalloffset__", T_PYSSIZET, offsetof(T, call), READONLY, nullptr},
            {"__dictoffset__", T_PYSSIZET, offsetof(T, attributes), READONLY, nullptr},
            {nullptr, 0, 0, 0, nullptr},
        };
        static PyType_Slot slots[] = {
            {Py_tp_members, members},
            {Py_tp_methods, methods},
            {Py_tp_getset, properties},
            {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
            {Py_tp_repr, reinterpret_cast<void*>(represent)},
            {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
            {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
            {Py_tp_traverse, reinterpret_cast<void*>(Fields::traverse)},
            {Py_tp_clear, reinterpret_cast<void*>(Fields::clear)},
            {Py_tp_dealloc, reinterpret_cast<void*>(Fields::deallocate)},
            {0, nullptr},
        };
        static PyType_Spec spec = {
            nullptr, sizeof(T), 0,
            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
                Py_TPFLAGS_DISALLOW_INSTANTIATION,
            slots,
        };
        spec.name = name;
        return reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
    }

    // A new callable, whose other fields are still to be set.
    static PyObject* made(PyTypeObject* type, vectorcallfunc call, PyObject* function) {
        PyObject* made = type->tp_alloc(type, 0);
        if (!made) return nullptr;
        of(made)->call = call;
        of(made)->function = Py_NewRef(function);
        return made;
    }

private:
    static T* of(PyObject* object) { return reinterpret_cast<T*>(object); }

    static PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
        return object ? PyMethod_New(self, object) : Py_NewRef(self);
    }

    // What is no attribute of its own is one of the function.
    static PyObject* get_attribute(PyObject* self, PyObject* name) {
        PyObject* found = PyObject_GenericGetAttr(self, name);
        if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
        PyErr_Clear();
        return PyObject_GetAttr(of(self)->function, name);
    }

    static PyObject* get_of_function(PyObject* self, void* name) {
        Ref text(PyUnicode_FromString(static_cast<const char*>(name)));
        if (!text) return nullptr;
        if (of(self)->attributes) {
            Ref found = find(of(self)->attributes, text.get());
            if (found || PyErr_Occurred()) return found.release();
        }
        return PyObject_GetAttr(of(self)->function, text.get());
    }

    // A docstring may be a callable that makes it: it is called once.
    static PyObject* get_docstring(PyObject* self, void* name) {
        Ref found(get_of_function(self, name));
        if (!found || !PyCallable_Check(found.get())) return found.release();
        Ref made(PyObject_CallNoArgs(found.get()));
        return made && !set_of_function(self, made.get(), name) ? made.release() : nullptr;
    }

    static int set_of_function(PyObject* self, PyObject* value, void* name) {
        return PyObject_SetAttrString(of(self)->function, static_cast<const char*>(name), value);
    }

    static PyObject* represent(PyObject* self) { return PyObject_Repr(of(self)->function); }

    // A method that is bound is pickled as Python pickles it, a function by its name.
    static PyObject* reduce(PyObject* self, PyObject*) {
        if (PyMethod_Check(of(self)->function)) return PyObject_CallMethod(of(self)->function, "__reduce__", nullptr);
        return PyObject_GetAttrString(self, "__qualname__");
    }
};

}  // namespace core
