#include "element_moves.hpp"

#include <cmath>

#include "host_arrays.hpp"

namespace core {

namespace {

PyObject* move_to_host = nullptr;  // a function of Python

// A write of a few elements to an array on a device takes as long as to move so many bytes, or longer; and so many writes
// take as long as to wait for the device once. Where the device shares the host's memory, no bytes are moved, and it takes
// NumPy less time to access more elements, and to read them too.
constexpr Py_ssize_t BYTES_OF_A_WRITE = 1 << 15, LEAST_ACCESSES = 16, FEW_ELEMENTS = 512, FEW_OF_SHARED_MEMORY = 1 << 14;

bool is_position(PyObject* key, Py_ssize_t ndim) {
    if (PyLong_CheckExact(key)) return ndim == 1;
    if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) != ndim) return false;
    for (Py_ssize_t k = 0; k < ndim; k++) {
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(key, k))) return false;
    }
    return true;
}

PyObject* shape_of(PyObject* array) { return state.signature_shape.of(as_node(as_array(array)->node)->signature); }

double elements_in(PyObject* array) {
    if (PyObject* memory = memory_of(array)) {
        return PyArray_CheckExact(memory) ? static_cast<double>(PyArray_SIZE(reinterpret_cast<PyArrayObject*>(memory))) : 1;
    }
    if (!as_array(array)->node) return HUGE_VAL;  // a view that has to follow its owner
    PyObject* shape = shape_of(array);
    double count = 1;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(shape); k++) count *= PyLong_AsDouble(PyTuple_GET_ITEM(shape, k));
    return count;
}

// Whether an array owns its memory on a device.
bool is_owner_on_device(PyObject* object) { return is_array(object) && as_array(object)->base == Py_None; }

// Whether a part of an array on a device, or what is written to it, has few elements.
bool is_few(double elements, PyObject* array) {
    return elements <= (shares_memory(queue_of(array)) ? FEW_OF_SHARED_MEMORY : FEW_ELEMENTS);
}

// Counts a write to an array on a device, of an element or of an array of few elements. Returns whether the host has what
// is written.
bool count_write(PyObject* self, PyObject* key, PyObject* value) {
    if (!is_owner_on_device(self)) return false;
    const bool is_element = is_position(key, PyTuple_GET_SIZE(shape_of(self)));
    const bool is_part = is_array(value) && is_basic(key) && is_few(elements_in(value), self);
    if (is_part || is_element) as_array(self)->accesses++;
    return is_element || (is_part && memory_of(value));
}

// Whether so few elements at a time were accessed of an array so often that it has taken as long as its move to the host;
// and four times as often each time that it came back.
bool is_accessed_by_elements(PyObject* self) {
    Array* array = as_array(self);
    if (array->accesses < LEAST_ACCESSES || array->views || !is_owner_on_device(self)) return false;
    PyObject* signature = as_node(array->node)->signature;
    PyArray_Descr* descr = reinterpret_cast<PyArray_Descr*>(state.signature_dtype.of(signature));
    if (!is_type_at_hand(descr->type_num)) return false;
    const bool is_free = shares_memory(state.signature_queue.of(signature));
    const double bytes = static_cast<double>(PyDataType_ELSIZE(descr)) * elements_in(self);
    const double accesses = is_free ? LEAST_ACCESSES : bytes / BYTES_OF_A_WRITE;
    return static_cast<double>(array->accesses) >= std::ldexp(accesses, static_cast<int>(2 * array->moves));
}

// Moves such an array to the host, and returns what NumPy takes for a value that is to be written then: None if it was
// not moved.
Ref moved_for(PyObject* self, PyObject* value) {
    as_array(self)->accesses = 0;
    as_array(self)->moves++;
    return Ref(PyObject_CallFunctionObjArgs(move_to_host, self, value, nullptr));
}

// set_move_to_host(function)
PyObject* set_move_to_host(PyObject*, PyObject* function) {
    set_field(move_to_host, Py_NewRef(function));
    Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"set_move_to_host", set_move_to_host, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool is_basic(PyObject* key) {
    const bool is_tuple = PyTuple_CheckExact(key);
    for (Py_ssize_t k = 0; k < (is_tuple ? PyTuple_GET_SIZE(key) : 1); k++) {
        PyObject* item = is_tuple ? PyTuple_GET_ITEM(key, k) : key;
        if (!PySlice_Check(item) && !PyLong_CheckExact(item) && item != Py_None && item != Py_Ellipsis) return false;
    }
    return true;
}

// Rows are written to as views, so the array is moved when the next one is asked for.
bool move_for_read(PyObject* self) {
    Section section;
    return !is_array(self) || !is_accessed_by_elements(self) || static_cast<bool>(moved_for(self, Py_False));
}

void count_read(PyObject* self, PyObject* found) {
    Section section;
    if (!is_owner_on_device(self) || !shares_memory(queue_of(self))) return;
    const bool is_view = is_array(found) && as_array(found)->base == self;
    if (is_view && is_few(elements_in(found), self)) as_array(self)->accesses++;
}

int move_for_write(PyObject* self, PyObject* key, PyObject* value) {
    Section section;
    if (!count_write(self, key, value) || !is_accessed_by_elements(self)) return 0;
    Ref written = moved_for(self, value);
    if (!written) return -1;
    const Loan memory = loan(memory_of(self));
    if (written.get() == Py_None || !memory) return 0;
    return PyObject_SetItem(memory.get(), key, written.get()) < 0 ? -1 : 1;
}

bool add_element_moves(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace core
