#include "element_moves.hpp"

#include <cmath>

#include "host_arrays.hpp"

namespace core {

namespace {

PyObject* move_to_host = nullptr;  // a function of Python

// A write of a few elements to an array on a device takes as long as to move so many bytes, or longer; and so many writes
// take as long as to wait for the device once.
constexpr Py_ssize_t BYTES_OF_A_WRITE = 1 << 15, LEAST_WRITES = 16, FEW_ELEMENTS = 512;

bool is_position(PyObject* key, Py_ssize_t ndim) {
    if (PyLong_CheckExact(key)) return ndim == 1;
    if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) != ndim) return false;
    for (Py_ssize_t k = 0; k < ndim; k++) {
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(key, k))) return false;
    }
    return true;
}

PyObject* shape_of(PyObject* array) { return state.signature_shape.of(as_node(as_array(array)->node)->signature); }

double elements_in(PyObject* shape) {
    double count = 1;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(shape); k++) count *= PyLong_AsDouble(PyTuple_GET_ITEM(shape, k));
    return count;
}

// Whether an array owns its memory on a device.
bool is_owner_on_device(PyObject* object) { return is_array(object) && as_array(object)->base == Py_None; }

// Counts a write to an array on a device, of an element or of an array of few elements.
void count_write(PyObject* self, PyObject* key, PyObject* value) {
    if (!is_owner_on_device(self)) return;
    const bool is_part = is_array(value) && as_array(value)->base && as_array(value)->node && is_basic(key);
    if (is_position(key, PyTuple_GET_SIZE(shape_of(self))) || (is_part && elements_in(shape_of(value)) <= FEW_ELEMENTS)) {
        as_array(self)->writes++;
    }
}

// Whether so few elements at a time were written to an array so often that it has taken as long as its move to the host;
// and four times as often each time that it came back.
bool is_written_by_elements(PyObject* self) {
    Array* array = as_array(self);
    if (array->writes < LEAST_WRITES || array->views || !is_owner_on_device(self)) return false;
    PyArray_Descr* descr =
        reinterpret_cast<PyArray_Descr*>(state.signature_dtype.of(as_node(array->node)->signature));
    if (!is_type_at_hand(descr->type_num)) return false;
    const double bytes = static_cast<double>(PyDataType_ELSIZE(descr)) * elements_in(shape_of(self));
    return static_cast<double>(array->writes) * BYTES_OF_A_WRITE >= std::ldexp(bytes, static_cast<int>(2 * array->moves));
}

// Moves such an array to the host, and returns what NumPy takes for a value that is to be written then: None if it was
// not moved.
Ref moved_for(PyObject* self, PyObject* value) {
    as_array(self)->writes = 0;
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
    return !is_array(self) || !is_written_by_elements(self) || static_cast<bool>(moved_for(self, Py_False));
}

int move_for_write(PyObject* self, PyObject* key, PyObject* value) {
    Section section;
    count_write(self, key, value);
    if (!is_written_by_elements(self) || !is_position(key, PyTuple_GET_SIZE(shape_of(self)))) return 0;
    Ref written = moved_for(self, value);
    if (!written) return -1;
    const Loan memory = loan(memory_of(self));
    if (written.get() == Py_None || !memory) return 0;
    return PyObject_SetItem(memory.get(), key, written.get()) < 0 ? -1 : 1;
}

bool add_element_moves(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace core
