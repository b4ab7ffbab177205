#include "draws.hpp"

#include "new_arrays.hpp"
#include "small_vector.hpp"
#include "stand_in.hpp"

namespace core {

namespace {

Name acquire_name("acquire"), array_of_name("array_of"), inside_name("inside"), lock_name("lock"),
    matches_numpy_name("_matches_numpy"), min_count_name("MIN_COUNT"), release_name("release"),
    running_name("running"), stream_name("_stream"), synchronize_name("synchronize");

// A draw of few numbers: see `small_draw` in gpunumpy/core/_native/__init__.py.
struct SmallDraw {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject* function;
    PyObject* attributes;
    PyObject* numpy_method;
    PyObject* owner;     // the attribute of the stream that has NumPy's generator; None if that is the generator called
    PyObject* names;     // the variables of the function's module
    Py_ssize_t size_at;
};

SmallDraw* as_draw(PyObject* object) { return reinterpret_cast<SmallDraw*>(object); }

bool is_scalar(PyObject* x) {
    const bool is_of_python = PyFloat_CheckExact(x) || PyLong_CheckExact(x) || PyBool_Check(x) || PyUnicode_CheckExact(x);
    if (is_of_python || Py_TYPE(x) == &PyType_Type) return true;
    const int number = number_of(Py_TYPE(x));
    return number == NPY_BOOL || number == NPY_INT || number == NPY_LONG || number == NPY_FLOAT || number == NPY_DOUBLE;
}

// Multiplies a count by a length; false for what is none, and from `least` on.
bool multiply(Py_ssize_t& product, PyObject* length, Py_ssize_t least) {
    if (!PyLong_CheckExact(length)) return false;
    int overflow;
    const long value = PyLong_AsLongAndOverflow(length, &overflow);
    if (overflow || value < 0 || value >= least) return false;
    product *= value;
    return product < least;
}

bool is_small_size(PyObject* size, Py_ssize_t least) {
    Py_ssize_t product = 1;
    if (!PyTuple_CheckExact(size)) return multiply(product, size, least);
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(size); k++) {
        if (!multiply(product, PyTuple_GET_ITEM(size, k), least)) return false;
    }
    return true;
}

// A variable of the function's module, which tests replace.
Ref variable(const SmallDraw* self, PyObject* name) {
    Ref found = find(self->names, name);
    return found || PyErr_Occurred() ? std::move(found) : Ref(PyErr_Format(PyExc_NameError, "%U", name));
}

// Whether the arguments behind the generator are scalars and a size of few numbers, of which `has_size` tells.
bool is_small(const SmallDraw* self, PyObject* const* args, Py_ssize_t count, PyObject* names, bool& has_size) {
    const Ref found = variable(self, min_count_name);
    if (!found) return false;
    const Py_ssize_t least = PyLong_AsSsize_t(found.get());
    Py_ssize_t product = 1;
    for (Py_ssize_t k = 1; k < count; k++) {
        if (self->size_at < 0) {
            has_size = true;
            if (!multiply(product, args[k], least)) return false;
        } else if (k - 1 != self->size_at) {
            if (!is_scalar(args[k])) return false;
        } else if (args[k] != Py_None) {
            has_size = true;
            if (!is_small_size(args[k], least)) return false;
        }
    }
    for (Py_ssize_t k = 0; names && k < PyTuple_GET_SIZE(names); k++) {
        PyObject* x = args[count + k];
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, k), "size")) {
            if (!is_scalar(x)) return false;
        } else if (x != Py_None) {
            has_size = true;
            if (!is_small_size(x, least)) return false;
        }
    }
    return true;
}

// The result of NumPy's method once the stream is up to date.
Ref numbers(const SmallDraw* self, PyObject* stream, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    if (!Ref(PyObject_CallMethodNoArgs(stream, synchronize_name))) return Ref();
    Ref owner = self->owner == Py_None ? Ref::to(args[0]) : Ref(PyObject_GetAttr(stream, self->owner));
    if (!owner) return Ref();
    SmallVector<PyObject*, 8> given;
    given.push_back(owner.get());
    for (Py_ssize_t k = 1; k < count + (names ? PyTuple_GET_SIZE(names) : 0); k++) given.push_back(args[k]);
    return Ref(PyObject_Vectorcall(self->numpy_method, given.begin(), static_cast<size_t>(count), names));
}

// `numbers`, while this thread holds the stream's lock.
Ref numbers_under_lock(const SmallDraw* self, PyObject* stream, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    Ref lock(PyObject_GetAttr(stream, lock_name));
    if (!lock || !Ref(PyObject_CallMethodNoArgs(lock.get(), acquire_name))) return Ref();
    Ref result = numbers(self, stream, args, count, names);
    const FirstException first;
    if (!Ref(PyObject_CallMethodNoArgs(lock.get(), release_name))) result = Ref();
    return result;
}

// NumPy's result as this package returns it.
PyObject* returned(const SmallDraw* self, PyObject* result) {
    if (!PyArray_CheckExact(result)) return Py_NewRef(result);
    const Ref caller = variable(self, running_name);
    const Ref is_inside(caller ? PyObject_GetAttr(caller.get(), inside_name) : nullptr);
    if (!is_inside) return nullptr;
    PyObject* made = is_inside.get() == Py_False ? resident(&result) : nullptr;
    if (made || PyErr_Occurred()) return made;
    const Ref function = variable(self, array_of_name);
    return function ? PyObject_CallOneArg(function.get(), result) : nullptr;
}

// The stream of a generator, if NumPy may draw its numbers.
Ref stream_of(PyObject* generator, bool has_size) {
    Ref stream(PyObject_GetAttr(generator, stream_name));
    if (stream && has_size) {
        const Ref does_match(PyObject_GetAttr(generator, matches_numpy_name));
        if (!does_match || does_match.get() != Py_True) stream = Ref();
    }
    if (!stream) PyErr_Clear();
    return stream;
}

PyObject* call(PyObject* object, PyObject* const* args, size_t given, PyObject* names) {
    const SmallDraw* self = as_draw(object);
    const Py_ssize_t count = PyVectorcall_NARGS(given);
    bool has_size = false;
    const Ref stream = count && is_small(self, args, count, names, has_size) ? stream_of(args[0], has_size) : Ref();
    if (PyErr_Occurred()) return nullptr;
    if (!stream) return PyObject_Vectorcall(self->function, args, given, names);
    const Ref result = numbers_under_lock(self, stream.get(), args, count, names);
    return result ? returned(self, result.get()) : nullptr;
}

using Fields = References<SmallDraw, &SmallDraw::function, &SmallDraw::attributes, &SmallDraw::numpy_method,
                          &SmallDraw::owner, &SmallDraw::names>;

PyTypeObject* draw_type = nullptr;

// small_draw(function, numpy_method, size_at, owner, names)
PyObject* small_draw(PyObject*, PyObject* args) {
    PyObject *function, *numpy_method, *owner, *names;
    Py_ssize_t size_at;
    if (!PyArg_ParseTuple(args, "OOnOO!", &function, &numpy_method, &size_at, &owner, &PyDict_Type, &names)) return nullptr;
    PyObject* made = StandIn<SmallDraw, Fields>::made(draw_type, call, function);
    if (!made) return nullptr;
    as_draw(made)->numpy_method = Py_NewRef(numpy_method);
    as_draw(made)->owner = Py_NewRef(owner);
    as_draw(made)->names = Py_NewRef(names);
    as_draw(made)->size_at = size_at;
    return made;
}

PyMethodDef functions[] = {
    {"small_draw", small_draw, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_draw_type(PyObject* module) {
    draw_type = StandIn<SmallDraw, Fields>::new_type(module, "gpunumpy.core._native._core.SmallDraw");
    return draw_type && PyModule_AddType(module, draw_type) == 0 && PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace core
