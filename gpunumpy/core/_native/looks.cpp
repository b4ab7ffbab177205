#include "looks.hpp"

#include <cmath>
#include <cstring>
#include <initializer_list>

#include "operands.hpp"
#include "ufunc_loops.hpp"

namespace core {

namespace {

// The place of the element of an array on the host that a key of integers names; null, without an exception, if the key
// is another one, or leads out of the array.
char* place_of(PyObject* x, PyObject* key) {
    PyObject* memory = memory_of(x);
    if (!memory || !PyArray_CheckExact(memory)) return nullptr;
    PyArrayObject* array = reinterpret_cast<PyArrayObject*>(memory);
    const bool is_tuple = PyTuple_CheckExact(key);
    const Py_ssize_t count = is_tuple ? PyTuple_GET_SIZE(key) : 1;
    if (count != PyArray_NDIM(array) || !count || !is_type_at_hand(PyArray_TYPE(array)) || !PyArray_ISNOTSWAPPED(array)) {
        return nullptr;
    }
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
    return scalar ? new_host_array(scalar.get(), Py_None, queue_of(x), ON_HOST) : nullptr;
}

// Writes a number to an element; false, without an exception, if NumPy has to do so.
bool set_element(PyObject* x, PyObject* key, PyObject* value) {
    char* place = place_of(x, key);
    return place && store(value, reinterpret_cast<PyArrayObject*>(as_array(x)->base), place);
}

// The methods in Python that slots stand before.
enum Look { BOOL, DELITEM, FLOAT, GETITEM, INDEX, INT, ITER, LEN, SETITEM, LOOKS };
const char* const NAMES[] = {"__bool__", "__delitem__", "__float__", "__getitem__", "__index__",
                             "__int__",  "__iter__",    "__len__",   "__setitem__"};
PyObject* methods[LOOKS];

// What such a method returns.
Ref asked(Look look, std::initializer_list<PyObject*> args) {
    PyObject* method = methods[look];
    if (!method) return Ref(PyErr_Format(PyExc_SystemError, "%s is not bound", NAMES[look]));
    return Ref(PyObject_Vectorcall(method, args.begin(), args.size(), nullptr));
}

// The NumPy scalar that an array on the host is, of a type that kernels compute; null, without an exception, else.
PyObject* scalar_of(PyObject* self) {
    PyObject* memory = memory_of(self);
    return memory && is_scalar_at_hand(Py_TYPE(memory)) ? memory : nullptr;
}

bool is_real(PyObject* scalar) { return !PyArray_IsScalar(scalar, ComplexFloating); }

PyObject* as_float(PyObject* self) {
    PyObject* scalar = scalar_of(self);
    return scalar && is_real(scalar) ? PyNumber_Float(scalar) : asked(FLOAT, {self}).release();
}

PyObject* as_integer(PyObject* self) {
    PyObject* scalar = scalar_of(self);
    return scalar && is_real(scalar) ? PyNumber_Long(scalar) : asked(INT, {self}).release();
}

PyObject* as_index(PyObject* self) {
    PyObject* scalar = scalar_of(self);
    return scalar && PyArray_IsScalar(scalar, Integer) ? PyNumber_Index(scalar) : asked(INDEX, {self}).release();
}

int truth(PyObject* self) {
    if (PyObject* scalar = scalar_of(self)) return PyObject_IsTrue(scalar);
    Ref answer = asked(BOOL, {self});
    return answer ? PyObject_IsTrue(answer.get()) : -1;
}

Py_ssize_t length(PyObject* self) {
    PyObject* memory = memory_of(self);
    if (memory && PyArray_CheckExact(memory)) {
        PyArrayObject* data = reinterpret_cast<PyArrayObject*>(memory);
        if (PyArray_NDIM(data)) return PyArray_DIM(data, 0);
    }
    Ref answer = asked(LEN, {self});
    return answer ? PyLong_AsSsize_t(answer.get()) : -1;
}

// What any other key selects of an array on the host.
PyObject* part(PyObject* self, PyObject* key) {
    if (!memory_of(self)) return nullptr;
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
    if (are_placed()) {
        PyObject* found = element(self, key);
        if (!found && !PyErr_Occurred()) found = part(self, key);
        if (found || PyErr_Occurred()) return found;
    }
    return asked(GETITEM, {self, key}).release();
}

PyObject* get_item_at(PyObject* self, Py_ssize_t index) {
    Ref key(PyLong_FromSsize_t(index));
    return key ? get_item(self, key.get()) : nullptr;
}

PyObject* iterate(PyObject* self) {
    PyObject* memory = are_placed() ? memory_of(self) : nullptr;
    if (memory && PyArray_CheckExact(memory)) {
        PyArrayObject* data = reinterpret_cast<PyArrayObject*>(memory);
        if (PyArray_NDIM(data) && is_type_at_hand(PyArray_TYPE(data))) return PySeqIter_New(self);
    }
    return asked(ITER, {self}).release();
}

PyObject* move_to_host = nullptr;  // a function of Python

// A write of an element to an array on a device takes as long as to move so many bytes, or longer; and so many writes
// take longer than to look whether there are views of the array.
constexpr Py_ssize_t BYTES_OF_A_WRITE = 1 << 15, LEAST_WRITES = 256;

bool is_position(PyObject* key, Py_ssize_t ndim) {
    if (PyLong_CheckExact(key)) return ndim == 1;
    if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) != ndim) return false;
    for (Py_ssize_t k = 0; k < ndim; k++) {
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(key, k))) return false;
    }
    return true;
}

// Moves an array to the host that is written to element by element: after as many writes as take as long as the move,
// and after four times as many each time that it came back. Then writes the value. Returns whether it has moved, or -1
// after an exception.
int move_for_write(PyObject* self, PyObject* key, PyObject* value) {
    if (!is_array(self) || as_array(self)->base != Py_None) return 0;
    Array* array = as_array(self);
    PyObject* signature = as_node(array->node)->signature;
    PyObject* shape = state.signature_shape.of(signature);
    if (!is_position(key, PyTuple_GET_SIZE(shape)) || ++array->writes % LEAST_WRITES) return 0;
    PyArray_Descr* descr = reinterpret_cast<PyArray_Descr*>(state.signature_dtype.of(signature));
    if (!is_type_at_hand(descr->type_num)) return 0;
    double bytes = static_cast<double>(PyDataType_ELSIZE(descr));
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(shape); k++) bytes *= PyLong_AsDouble(PyTuple_GET_ITEM(shape, k));
    if (static_cast<double>(array->writes) * BYTES_OF_A_WRITE < std::ldexp(bytes, static_cast<int>(2 * array->moves))) return 0;
    array->writes = 0;
    array->moves++;
    Ref written(PyObject_CallFunctionObjArgs(move_to_host, self, value, nullptr));
    if (!written) return -1;
    PyObject* memory = memory_of(self);
    if (written.get() == Py_None || !memory) return 0;
    return PyObject_SetItem(memory, key, written.get()) < 0 ? -1 : 1;
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
    if (!value) return asked(DELITEM, {self, key}) ? 0 : -1;
    if (are_placed()) {
        if (set_element(self, key, value)) return 0;
        if (PyErr_Occurred()) return -1;
        const int has_moved = move_for_write(self, key, value);
        if (has_moved) return has_moved < 0 ? -1 : 0;
    }
    return asked(SETITEM, {self, key, value}) ? 0 : -1;
}

// set_move_to_host(function)
PyObject* set_move_to_host(PyObject*, PyObject* function) {
    set_field(move_to_host, Py_NewRef(function));
    Py_RETURN_NONE;
}

// bind(name, method): have a slot of arrays call a method for what the core leaves to Python.
PyObject* bind_look(PyObject*, PyObject* args) {
    const char* name;
    PyObject* method;
    if (!PyArg_ParseTuple(args, "sO", &name, &method)) return nullptr;
    for (int look = 0; look < LOOKS; look++) {
        if (!std::strcmp(NAMES[look], name)) {
            set_field(methods[look], Py_NewRef(method));
            Py_RETURN_NONE;
        }
    }
    return PyErr_Format(PyExc_LookupError, "no slot stands before %s", name);
}

PyMethodDef functions[] = {
    {"bind", bind_look, METH_VARARGS, nullptr},
    {"set_move_to_host", set_move_to_host, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

const PyType_Slot* look_slots() {
    static const PyType_Slot slots[] = {
        {Py_nb_float, reinterpret_cast<void*>(as_float)},   {Py_nb_int, reinterpret_cast<void*>(as_integer)},
        {Py_nb_index, reinterpret_cast<void*>(as_index)},   {Py_nb_bool, reinterpret_cast<void*>(truth)},
        {Py_mp_length, reinterpret_cast<void*>(length)},    {Py_sq_length, reinterpret_cast<void*>(length)},
        {Py_sq_item, reinterpret_cast<void*>(get_item_at)}, {Py_tp_iter, reinterpret_cast<void*>(iterate)},
        {Py_mp_subscript, reinterpret_cast<void*>(get_item)}, {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
        {0, nullptr}};
    return slots;
}

bool add_looks(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace core
