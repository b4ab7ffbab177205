#include "new_arrays.hpp"

#include <cmath>

#include "kept_memory.hpp"

namespace core {

namespace {

Name default_name("_default");

// The devices of `with` statements, the variables of the module that has the default device, and a function.
PyObject *with_devices = nullptr, *of_device_module = nullptr, *find_default_queue = nullptr;
PyObject *known_device = nullptr, *known_queue = nullptr;  // the default without such statements

// An array on the host that has the memory of a NumPy array; null, without an exception, if that is for the device.
PyObject* new_array_of(PyObject* memory, PyObject* queue) {
    if (!is_at_hand(reinterpret_cast<PyArrayObject*>(memory), host_bytes_of(queue))) return nullptr;
    return new_host_array(memory, Py_None, queue, ON_HOST | MADE_AS_ARRAY);
}

// A new array of objects that NumPy has made, which Python refuses where the program has it do so.
PyObject* new_array_of_objects(PyObject* memory, PyObject* queue) {
    const Ref none(PyTuple_New(0));
    return none ? PyObject_CallFunctionObjArgs(state.returned, memory, none.get(), queue, Py_False, nullptr) : nullptr;
}

// Out of line, which keeps the frame of the usual case small.
[[gnu::noinline]] bool is_scalar_or_range(PyObject* x, npy_intp most) {
    const Py_ssize_t length = PyRange_Check(x) ? PyObject_Size(x) : -1;
    return is_scalar_at_hand(Py_TYPE(x)) || (length >= 0 && length <= most);
}

// Whether nested sequences hold numbers alone, Python's or NumPy's.
bool are_numbers(PyObject* x, npy_intp most, int depth = 0) {
    if (is_number(x)) return true;
    const bool is_list = PyList_CheckExact(x);
    if (!is_list && !PyTuple_CheckExact(x)) return is_scalar_or_range(x, most);
    if (depth > 3 || Py_SIZE(x) > most) return false;
    for (Py_ssize_t k = 0; k < Py_SIZE(x); k++) {
        const Ref part = is_list ? item_at(x, k) : Ref::to(PyTuple_GET_ITEM(x, k));
        if (!part || !(is_number(part.get()) || are_numbers(part.get(), most, depth + 1))) return false;
    }
    return true;
}

// The elements of a shape; -1 if it is not plain, or they are more than `most`.
npy_intp elements_of(PyObject* shape, npy_intp most) {
    if (PyRange_Check(shape) || PyArray_CheckExact(shape)) {
        const Ref lengths(PySequence_Tuple(shape));
        return lengths ? elements_of(lengths.get(), most) : -1;
    }
    const bool is_list = PyList_CheckExact(shape), is_tuple = PyTuple_CheckExact(shape);
    npy_intp elements = 1;
    for (Py_ssize_t k = 0; k < (is_list || is_tuple ? Py_SIZE(shape) : 1); k++) {
        const Ref item = is_list ? item_at(shape, k) : Ref::to(is_tuple ? PyTuple_GET_ITEM(shape, k) : shape);
        if (!item || !(PyLong_CheckExact(item.get()) || PyArray_IsScalar(item.get(), Integer))) return -1;
        const Ref number(PyNumber_Index(item.get()));
        if (!number) return -1;
        int overflow;
        const long length = PyLong_AsLongAndOverflow(number.get(), &overflow);
        if (overflow || length < 0 || length > most) return -1;
        elements *= length;
        if (elements > most) return -1;
    }
    return elements;
}

bool is_real(PyObject* x) {
    return PyFloat_CheckExact(x) || PyLong_CheckExact(x) || PyArray_IsScalar(x, Integer) || PyArray_IsScalar(x, Floating);
}

double number_at(PyObject* const* args, Py_ssize_t k) {
    return PyLong_CheckExact(args[k]) ? PyLong_AsDouble(args[k]) : PyFloat_AsDouble(args[k]);
}

// The elements of the end of an interval; -1 after an exception.
npy_intp size_of_end(PyObject* end) {
    if (is_number(end) || PyArray_IsScalar(end, Generic)) return 1;
    const Ref data(PyArray_FROM_O(end));
    return data ? PyArray_SIZE(reinterpret_cast<PyArrayObject*>(data.get())) : -1;
}

// Whether the first arguments make an array of surely no more bytes than that.
bool is_small_data(int rules, PyObject* const* args, Py_ssize_t count, npy_intp host_bytes) {
    const npy_intp most = host_bytes / 8;
    if (rules & IS_OF_SHAPE) {
        return elements_of(args[0], most) >= 0;
    }
    if (rules & IS_OF_DATA) {
        if (!PyArray_CheckExact(args[0])) return are_numbers(args[0], most);
        return PyArray_NBYTES(reinterpret_cast<PyArrayObject*>(args[0])) <= host_bytes;
    }
    if (rules & IS_OF_SAMPLES) {
        const bool has_count = count > 2;
        if (count < 2 || (has_count && !PyLong_CheckExact(args[2]) && !PyArray_IsScalar(args[2], Integer))) return false;
        const npy_intp first = size_of_end(args[0]), last = size_of_end(args[1]);
        const double samples = has_count ? number_at(args, 2) : 50;
        const double largest = static_cast<double>(first) * static_cast<double>(last) * samples;
        return first >= 0 && last >= 0 && samples >= 0 && largest <= static_cast<double>(most);
    }
    for (Py_ssize_t k = 0; k < count && k < 3; k++) {
        if (!is_real(args[k])) return false;
    }
    const double start = count > 1 ? number_at(args, 0) : 0, stop = number_at(args, count > 1);
    const double step = count > 2 ? number_at(args, 2) : 1;
    return !PyErr_Occurred() && step != 0 && std::fabs((stop - start) / step) <= static_cast<double>(most);
}

// Whether NumPy's function computes or casts what it is given: that of a shape, to the dtype that comes after the value.
bool may_cast(int rules, PyObject* const* args, Py_ssize_t total) {
    return PyArray_CheckExact(args[0]) || (rules & IS_OF_SAMPLES) || total > (rules & IS_OF_SHAPE ? 2 : 1);
}

// What NumPy's function makes of arguments that it takes as they are.
PyObject* made_of_taken(int rules, PyObject* numpy_function, PyObject* const* args, Py_ssize_t count, PyObject* names, PyObject* queue) {
    if (!is_small_data(rules, args, count, host_bytes_of(queue))) {
        PyErr_Clear();
        return nullptr;
    }
    Ref result;
    {
        Silence silence(may_cast(rules, args, count + (names ? PyTuple_GET_SIZE(names) : 0)));
        if (!silence) return nullptr;
        result = Ref(PyObject_Vectorcall(numpy_function, args, static_cast<size_t>(count), names));
    }
    if (!result) {
        PyErr_Clear();  // the function of this package says what is wrong
        return nullptr;
    }
    if (!PyArray_CheckExact(result.get())) return nullptr;
    PyArrayObject* data = reinterpret_cast<PyArrayObject*>(result.get());
    if ((rules & IS_OF_DATA) && (result.get() == args[0] || PyArray_BASE(data))) {
        const KeptMemory kept(PyArray_NBYTES(data));
        result = Ref(PyArray_NewCopy(data, NPY_KEEPORDER));
        if (!result) return nullptr;
    }
    if ((rules & IS_OF_SHAPE) && PyArray_ISOBJECT(data)) return new_array_of_objects(result.get(), queue);
    return new_array_of(result.get(), queue);
}

// Whether an argument is no plain one, or a list or tuple that may hold an array: NumPy takes its memory on the host.
bool may_hold_array(PyObject* x) {
    if (is_array(x) || PyArray_CheckExact(x)) return true;
    if (!PyTuple_CheckExact(x) && !PyList_CheckExact(x)) return !is_plain(x);
    for (Py_ssize_t k = 0; k < Py_SIZE(x); k++) {
        const Ref part = PyList_CheckExact(x) ? item_at(x, k) : Ref::to(PyTuple_GET_ITEM(x, k));
        if (!part || !PyLong_CheckExact(part.get())) return true;
    }
    return false;
}

// The same of arguments among which are lists, NumPy arrays, or arrays on the host.
PyObject* made_of_operands(int rules, PyObject* numpy_function, PyObject* const* args, Py_ssize_t count, PyObject* names, PyObject* queue) {
    Operands operands(rules);
    Held held;
    PyObject* taken[MAX_ARGUMENTS];
    const Py_ssize_t total = count + (names ? PyTuple_GET_SIZE(names) : 0);
    for (Py_ssize_t k = 0; k < total; k++) {
        taken[k] = operands.taken(args[k]);
        if (!taken[k]) {
            PyErr_Clear();
            return nullptr;
        }
        held.add(taken[k]);
    }
    if (operands.count() && operands.queue() != queue) return nullptr;
    return made_of_taken(rules, numpy_function, taken, count, names, queue);
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

PyMethodDef functions[] = {
    {"set_default_queue", set_default_queue, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyObject* default_queue() {
    PyObject* devices;
    Section section;
    if (PyContextVar_Get(with_devices, nullptr, &devices) < 0) return nullptr;
    Ref held(devices);
    const Ref device = find(of_device_module, default_name);
    const bool is_known = device && device.get() == known_device && !PyTuple_GET_SIZE(devices);
    if (is_known) return Py_NewRef(known_queue);
    Ref queue(PyObject_CallNoArgs(find_default_queue));
    if (queue && device && device.get() != Py_None && !PyTuple_GET_SIZE(devices)) {
        // Both before the old ones are let go, which may let other threads in.
        const Ref old_device(std::exchange(known_device, Py_NewRef(device.get())));
        const Ref old_queue(std::exchange(known_queue, Py_NewRef(queue.get())));
    }
    return queue.release();
}

PyObject* made_of_data(int rules, PyObject* numpy_function, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    const Py_ssize_t options = names ? PyTuple_GET_SIZE(names) : 0, total = count + options;
    if (!count || total > MAX_ARGUMENTS) return nullptr;
    for (Py_ssize_t k = 0; k < options; k++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, k), "dtype")) return nullptr;
    }
    bool are_taken = !(rules & IS_OF_DATA) && may_hold_array(args[0]);
    for (Py_ssize_t k = 1; k < total; k++) {
        const bool is_object = (rules & IS_OF_SHAPE) && args[k] == reinterpret_cast<PyObject*>(&PyBaseObject_Type);
        if (is_object || is_plain(args[k])) continue;
        if (rules & IS_OF_DATA) return nullptr;
        are_taken = true;
    }
    Ref queue(default_queue());
    if (!queue) return nullptr;
    const auto make = are_taken ? made_of_operands : made_of_taken;
    return make(rules, numpy_function, args, count, names, queue.get());
}

PyObject* resident(PyObject* const* args) {
    if (!PyArray_CheckExact(args[0]) || !are_placed()) return nullptr;
    Ref queue(default_queue());
    return queue ? new_array_of(args[0], queue.get()) : nullptr;
}

bool add_new_arrays(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace core
