#define FILLS_IN_NUMPY_API
#include "host_call.hpp"

#include <algorithm>

#include "calls.hpp"
#include "element_moves.hpp"
#include "kept_memory.hpp"
#include "new_arrays.hpp"
#include "operands.hpp"
#include "stand_in.hpp"
#include "ufunc_loops.hpp"

namespace core {

namespace {

struct HostCall {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject* function;        // of this package, for all that is elsewhere
    PyObject* numpy_function;  // the name of a method if the rules say so
    PyObject* array_method;    // what NumPy's arrays have under that name; null for other functions
    PyObject* ufunc;           // of NumPy, whose loops do what the function does; null for other functions
    PyObject* powers;          // of a power: the ufuncs of one operand that stand for it, by the exponent; or null
    PyObject* memo;            // of what calls on a device recorded; or null
    PyObject* attributes;
    int rules;
    bool is_copy;  // the method `copy`
};

HostCall* as_host_call(PyObject* object) { return reinterpret_cast<HostCall*>(object); }

bool is_one_of(PyObject* name, std::initializer_list<const char*> texts) {
    return std::any_of(texts.begin(), texts.end(), [name](const char* text) { return !PyUnicode_CompareWithASCIIString(name, text); });
}

bool is_refused_option(PyObject* name, int rules) {
    if ((rules & IS_LIKE) && is_one_of(name, {"shape"})) return true;
    return is_one_of(name, {"device", "like"}) || ((rules & IS_OF_MASKS) && is_one_of(name, {"where"}));
}

PyObject* by_loop_of(const HostCall* self, PyObject* const* args, Py_ssize_t count) {
    return by_loop(self->ufunc, self->rules, args, count);
}

// A power of arrays: for some exponents, numbers of Python, NumPy computes another ufunc. Powers of scalars, which are no
// loops, are the C library's.
PyObject* by_power(const HostCall* self, PyObject* const* args, Py_ssize_t count) {
    PyObject* base = count == 2 && !(self->rules & IS_SWAPPED) ? memory_of(args[0]) : nullptr;
    const bool is_number = count == 2 && (PyLong_CheckExact(args[1]) || PyFloat_CheckExact(args[1]));
    if (base && PyArray_CheckExact(base) && is_number) {
        const Ref ufunc = find(self->powers, args[1]);
        if (!ufunc) return PyErr_Occurred() ? nullptr : by_loop_of(self, args, count);
        const int type = PyArray_TYPE(reinterpret_cast<PyArrayObject*>(base));
        static PyObject* const two = PyLong_FromLong(2);
        const bool is_of_reals = PyTypeNum_ISFLOAT(type) || PyTypeNum_ISCOMPLEX(type);
        // Of integers only squares stay integers.
        return is_of_reals || args[1] == two ? by_loop(ufunc.get(), self->rules, args, 1) : nullptr;
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject* memory = memory_of(args[k]);
        if (memory && PyArray_CheckExact(memory)) return by_loop_of(self, args, count);
    }
    return power_of_scalars(self->rules, args, count);
}

// Counts a call over objects, which may be arrays that hold themselves, as so many calls of Python's: versions 3.12 and 3.13
// let 10,000 be inside of each other, and this core's take more of the stack than those do.
class CountedCall {
public:
    explicit CountedCall(bool is_of_objects) {
        while (is_of_objects && entered_ < CALLS && !Py_EnterRecursiveCall("")) entered_++;
        is_possible_ = !is_of_objects || entered_ == CALLS;
    }
    ~CountedCall() {
        for (; entered_; entered_--) Py_LeaveRecursiveCall();
    }
    explicit operator bool() const { return is_possible_; }

private:
#if PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030E0000
    static constexpr int CALLS = 6;
#else
    static constexpr int CALLS = 0;
#endif
    int entered_ = 0;
    bool is_possible_;
};

// What NumPy's function returns for arguments that it takes, in front of which is room for one more.
PyObject* result_of(const HostCall* self, PyObject** taken, Py_ssize_t count, PyObject* names) {
    if (self->rules & IS_ATTRIBUTE) return PyObject_GetAttr(taken[0], self->numpy_function);
    const size_t given = static_cast<size_t>(count) | PY_VECTORCALL_ARGUMENTS_OFFSET;
    if (self->array_method && PyArray_CheckExact(taken[0])) return PyObject_Vectorcall(self->array_method, taken, given, names);
    if (self->rules & IS_METHOD) return PyObject_VectorcallMethod(self->numpy_function, taken, given, names);
    return PyObject_Vectorcall(self->numpy_function, taken, given, names);
}

// An attribute that is a view, such as T, of a small array on the host; null, maybe after an exception, of all else.
PyObject* view_by_attribute(const HostCall* self, PyObject* x) {
    PyObject* memory = memory_of(x);
    if (!memory || !PyArray_CheckExact(memory)) return nullptr;
    if (!is_at_hand(reinterpret_cast<PyArrayObject*>(memory), host_bytes_of(queue_of(x)))) return nullptr;
    const Ref held = Ref::to(memory), view(PyObject_GetAttr(memory, self->numpy_function));
    return view ? new_view(view.get(), x) : nullptr;
}

// A copy in C order of a small array on the host; null, maybe after an exception, of all else.
PyObject* copied(PyObject* x) {
    PyObject* memory = memory_of(x);
    if (!memory || !PyArray_CheckExact(memory)) return nullptr;
    PyArrayObject* data = reinterpret_cast<PyArrayObject*>(memory);
    if (!is_at_hand(data, host_bytes_of(queue_of(x)))) return nullptr;
    const Ref held = Ref::to(memory), queue = Ref::to(queue_of(x));
    const KeptMemory kept(PyArray_NBYTES(data));
    const Ref copy(PyArray_NewCopy(data, NPY_CORDER));
    return copy ? new_host_array(copy.get(), Py_None, queue.get(), ON_HOST | MADE_AS_ARRAY) : nullptr;
}

// Whether a function that writes to its first parameter is given an array there: scalars, and copies of NumPy arrays, are
// not written to, and not all functions see that.
bool writes_to_array(PyObject* const* args, Py_ssize_t count, PyObject* names) {
    Py_ssize_t written = 0;
    while (!count && !is_one_of(PyTuple_GET_ITEM(names, written), {"a", "arr", "dst"})) {
        if (++written == PyTuple_GET_SIZE(names)) return false;
    }
    return is_array(args[written]) && has_flag(args[written], MADE_AS_ARRAY);
}

// The result on the host; null, without an exception, if the call is elsewhere.
PyObject* on_host(const HostCall* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    const bool is_plain_call = !names || !PyTuple_GET_SIZE(names);
    if (is_plain_call && self->ufunc) {
        PyObject* result = self->powers ? by_power(self, args, count) : by_loop_of(self, args, count);
        if (result || PyErr_Occurred()) return result;
    }
    if ((self->rules & IS_ATTRIBUTE) && (self->rules & IS_SHOWING) && count == 1) {
        PyObject* view = view_by_attribute(self, args[0]);
        if (view || PyErr_Occurred()) return view;
    }
    if (is_plain_call && count == 1 && self->is_copy) {
        PyObject* copy = copied(args[0]);
        if (copy || PyErr_Occurred()) return copy;
    }
    if (self->rules & (IS_OF_SHAPE | IS_OF_RANGE | IS_OF_SAMPLES)) {
        return made_of_data(self->rules, self->numpy_function, args, count, names);
    }
    if ((self->rules & IS_OF_DATA) && count && !is_array(args[0])) {
        PyObject* made = made_of_data(self->rules, self->numpy_function, args, count, names);
        const bool may_hold_arrays = PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0]);
        if (made || PyErr_Occurred() || !may_hold_arrays) return made;
    }
    const Py_ssize_t total = count + (names ? PyTuple_GET_SIZE(names) : 0);
    if (total > MAX_ARGUMENTS) return nullptr;
    for (Py_ssize_t k = count; k < total; k++) {
        if (is_refused_option(PyTuple_GET_ITEM(names, k - count), self->rules)) return nullptr;
    }
    Operands operands(self->rules);
    Held held;
    PyObject* taken[MAX_ARGUMENTS + 1];
    for (Py_ssize_t k = 0; k < total; k++) {
        const bool is_written = (self->rules & IS_ASSIGNMENT) && k == total - 1;
        taken[k + 1] = is_written ? operands.taken_to_be_written(args[k]) : operands.taken(args[k]);
        if (!taken[k + 1]) {
            PyErr_Clear();
            return nullptr;
        }
        held.add(taken[k + 1]);
    }
    if (!operands.are_small()) {
        PyErr_Clear();
        return nullptr;
    }
    const bool holds_arrays = operands.count() || operands.have_copies();
    if ((self->rules & IS_OF_DATA) && !is_array(args[0]) && !holds_arrays) return nullptr;
    if ((self->rules & IS_WRITING) && !writes_to_array(args, count, names)) return nullptr;
    if ((self->rules & IS_CAST) && operands.are_of_objects() && operands.count() > 1) return nullptr;
    Ref result;
    {
        Silence silence(!(self->rules & IS_QUIET));
        const CountedCall counted(operands.are_of_objects());
        if (!silence || !counted) return nullptr;
        const KeptMemory kept(operands.most_bytes());
        result = Ref(result_of(self, taken + 1, count, names));
    }
    if (!result) {
        // Python tries again with scalars for 0-d results among objects, of which NumPy makes no texts and dates.
        const bool may_cast_objects = operands.are_of_objects() && !self->ufunc;
        if (operands.are_of_host() && !operands.have_copies() && !may_cast_objects) return nullptr;
        // Scalars lack some methods; a function of this package may take more, or be asked to write to a NumPy array.
        const bool is_left_to_python = PyErr_ExceptionMatches(PyExc_TypeError) ||
                                       PyErr_ExceptionMatches(PyExc_AttributeError) ||
                                       ((operands.have_copies() || may_cast_objects) &&
                                        PyErr_ExceptionMatches(PyExc_ValueError));
        if (is_left_to_python) PyErr_Clear();
        return nullptr;
    }
    if (self->rules & IS_OF_PYTHON) return result.release();
    // Of other dtypes the elements would be NumPy's arrays.
    const bool is_of_objects = PyArray_Check(result.get()) && PyArray_ISOBJECT(reinterpret_cast<PyArrayObject*>(result.get()));
    if ((self->rules & IS_OF_DATA) && is_of_objects) return nullptr;
    return returned(result.get(), operands);
}

// Whether a call may be on the host, by its first argument.
bool may_be_on_host(PyObject* const* args, Py_ssize_t count, PyObject* names) {
    const bool has_arguments = count || (names && PyTuple_GET_SIZE(names));
    return has_arguments && are_placed() && !(is_array(args[0]) && !has_flag(args[0], ON_HOST));
}

// Whether a call makes an array of a shape for objects, which is on the host whatever else is.
bool makes_objects(const HostCall* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    if (!(self->rules & IS_OF_SHAPE)) return false;
    const Py_ssize_t total = count + (names ? PyTuple_GET_SIZE(names) : 0);
    for (Py_ssize_t k = 1; k < total; k++) {
        if (args[k] == reinterpret_cast<PyObject*>(&PyBaseObject_Type)) return true;
    }
    return false;
}

// `on_host`, observed by a profile.
PyObject* counted_on_host(const HostCall* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    Section section;
    PyObject* both[2];
    Ref looked_at;
    if ((self->rules & IS_IN_PLACE) && count == 2) {
        looked_at = looked_at_to_write(args[0], args[1]);
        if (PyErr_Occurred()) return nullptr;
        if (looked_at) {
            both[0] = args[0];
            both[1] = looked_at.get();
            args = both;
        }
    }
    const double start = host_call_start();
    PyObject* result = on_host(self, args, count, names);
    if (result && host_calls) {
        const bool is_method = PyUnicode_Check(self->numpy_function);
        Ref name(is_method ? Py_NewRef(self->numpy_function) : PyObject_GetAttrString(self->function, "__name__"));
        note_host_call(name.get(), start, args, count, result);
    }
    return result;
}

PyObject* call(PyObject* self, PyObject* const* args, size_t given, PyObject* names) {
    const Py_ssize_t count = PyVectorcall_NARGS(given);
    if (may_be_on_host(args, count, names) || makes_objects(as_host_call(self), args, count, names)) {
        PyObject* result = counted_on_host(as_host_call(self), args, count, names);
        if (result || PyErr_Occurred()) return result;
    }
    if (as_host_call(self)->memo) {
        PyObject* result = remembered_call(as_host_call(self)->memo, args, count, names);
        if (result || PyErr_Occurred()) return result;
    }
    return PyObject_Vectorcall(as_host_call(self)->function, args, given, names);
}

using Fields = References<HostCall, &HostCall::function, &HostCall::numpy_function, &HostCall::array_method,
                          &HostCall::ufunc, &HostCall::powers, &HostCall::memo, &HostCall::attributes>;

PyTypeObject* host_call_type = nullptr;

// host_call(function, numpy_function, ufunc, powers, rules, memo)
PyObject* host_call(PyObject*, PyObject* args) {
    PyObject *function, *numpy_function, *ufunc, *powers, *memo;
    int rules;
    if (!PyArg_ParseTuple(args, "OOOOiO", &function, &numpy_function, &ufunc, &powers, &rules, &memo)) return nullptr;
    PyObject* made = StandIn<HostCall, Fields>::made(host_call_type, call, function);
    if (!made) return nullptr;
    as_host_call(made)->numpy_function = Py_NewRef(numpy_function);
    as_host_call(made)->ufunc = ufunc == Py_None ? nullptr : Py_NewRef(ufunc);
    as_host_call(made)->powers = powers == Py_None ? nullptr : Py_NewRef(powers);
    as_host_call(made)->memo = memo == Py_None ? nullptr : Py_NewRef(memo);
    as_host_call(made)->rules = rules;
    as_host_call(made)->is_copy = (rules & IS_METHOD) && is_one_of(numpy_function, {"copy"});
    if (rules & IS_METHOD) {
        as_host_call(made)->array_method = PyObject_GetAttr(reinterpret_cast<PyObject*>(&PyArray_Type), numpy_function);
        PyErr_Clear();
    }
    return made;
}

// keep_memory(): from now on NumPy has the memory of new arrays in this context from what is kept of others.
PyObject* keep_memory(PyObject*, PyObject*) {
    return KeptMemory::serve_context() ? Py_NewRef(Py_None) : nullptr;
}

PyObject* set_auto(PyObject*, PyObject* value) {
    is_auto = PyObject_IsTrue(value) == 1;
    Py_RETURN_NONE;
}

PyObject* set_watched(PyObject*, PyObject* value) {
    is_watched = PyObject_IsTrue(value) == 1;
    Py_RETURN_NONE;
}

PyObject* set_capturing(PyObject*, PyObject* value) {
    is_capturing = PyObject_IsTrue(value) == 1;
    Py_RETURN_NONE;
}

PyObject* set_fallback_refused(PyObject*, PyObject* value) {
    is_fallback_refused = PyObject_IsTrue(value) == 1;
    Py_RETURN_NONE;
}

// set_host_calls(calls): what is called with every call on the host, or None.
PyObject* set_host_calls(PyObject*, PyObject* calls) {
    Ref old;  // let go after the section
    Section section;
    old = Ref(std::exchange(host_calls, calls == Py_None ? nullptr : Py_NewRef(calls)));
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
    {"keep_memory", keep_memory, METH_NOARGS, nullptr},
    {"set_auto", set_auto, METH_O, nullptr},
    {"set_watched", set_watched, METH_O, nullptr},
    {"set_capturing", set_capturing, METH_O, nullptr},
    {"set_fallback_refused", set_fallback_refused, METH_O, nullptr},
    {"set_host_calls", set_host_calls, METH_O, nullptr},
    {"set_returned", set_returned, METH_O, nullptr},
    {"set_errors", set_errors, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyObject* result_on_host(PyObject* call, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    const bool is_possible = call && Py_TYPE(call) == host_call_type && may_be_on_host(args, count, names);
    return is_possible ? counted_on_host(as_host_call(call), args, count, names) : nullptr;
}

bool add_host_call_type(PyObject* module) {
    if (PyArray_ImportNumPyAPI() < 0) return false;
    host_call_type = StandIn<HostCall, Fields>::new_type(module, "gpunumpy.core._native._core.HostCall");
    return host_call_type && PyModule_AddType(module, host_call_type) == 0 && PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace core
