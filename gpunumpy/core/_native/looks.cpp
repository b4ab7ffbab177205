#include "looks.hpp"

#include <cstring>
#include <initializer_list>

#include "element_moves.hpp"
#include "operands.hpp"
#include "ufunc_loops.hpp"

namespace core {

namespace {

Name getitem_name("__getitem__"), setitem_name("__setitem__");

// Reads an integer of Python or NumPy, or an array on the host that acts as one; false, without an exception, for all
// else.
bool read_index(PyObject* item, npy_intp& index) {
    if (!PyLong_CheckExact(item)) {
        PyObject* scalar = is_array(item) ? memory_of(item) : item;
        const int type = scalar ? number_of(Py_TYPE(scalar)) : -1;
        if (type == NPY_LONG) index = *reinterpret_cast<npy_long*>(element_of(scalar));
        if (type == NPY_INT) index = *reinterpret_cast<npy_int*>(element_of(scalar));
        return type == NPY_LONG || type == NPY_INT;
    }
    int overflow;
    index = PyLong_AsLongAndOverflow(item, &overflow);
    return !overflow;
}

// Whether the core reads and writes elements of an array on the host. Those of objects, which no device has, are there
// whatever is placed on the host.
bool has_elements_at_hand(PyArrayObject* array) {
    const bool is_at_hand = PyArray_ISOBJECT(array) ? !is_fallback_refused : are_placed() && is_type_at_hand(PyArray_TYPE(array));
    return is_at_hand && PyArray_ISNOTSWAPPED(array);
}

// The place of the element of an array on the host that a key of integers names; null, without an exception, if the key
// is another one, or leads out of the array.
char* place_of(PyObject* x, PyObject* key) {
    PyObject* memory = memory_of(x);
    if (!memory || !PyArray_CheckExact(memory)) return nullptr;
    PyArrayObject* array = reinterpret_cast<PyArrayObject*>(memory);
    const bool is_tuple = PyTuple_CheckExact(key);
    const Py_ssize_t count = is_tuple ? PyTuple_GET_SIZE(key) : 1;
    if (count != PyArray_NDIM(array) || !count || !has_elements_at_hand(array)) return nullptr;
    char* place = PyArray_BYTES(array);
    for (Py_ssize_t k = 0; k < count; k++) {
        npy_intp index;
        if (!read_index(is_tuple ? PyTuple_GET_ITEM(key, k) : key, index)) return nullptr;
        const npy_intp length = PyArray_DIM(array, static_cast<int>(k));
        if (index < 0) index += length;
        if (index < 0 || index >= length) return nullptr;
        place += index * PyArray_STRIDE(array, static_cast<int>(k));
    }
    return place;
}

// A new array that acts as a scalar, with the element at a place of an array on the host; of objects, the object itself.
PyObject* element_at(PyObject* x, const char* place) {
    PyArrayObject* array = reinterpret_cast<PyArrayObject*>(as_array(x)->base);
    if (PyArray_ISOBJECT(array)) {
        PyObject* object;
        std::memcpy(&object, place, sizeof object);
        return Py_NewRef(object ? object : Py_None);
    }
    return new_host_scalar(Ref(new_scalar(PyArray_TYPE(array), place)), queue_of(x));
}

PyObject* element(PyObject* x, PyObject* key) {
    Section section;
    const char* place = place_of(x, key);
    Ref found(place ? element_at(x, place) : nullptr);
    return found && as_array(x)->moves && !count_element(x) ? nullptr : found.release();
}

// Writes a number, or an object to an array of objects, to an element; false if NumPy has to do so, and after an exception.
bool set_element(PyObject* x, PyObject* key, PyObject* value) {
    Ref old;  // let go after the section
    Section section;
    char* place = place_of(x, key);
    if (!place) return false;
    PyArrayObject* array = reinterpret_cast<PyArrayObject*>(as_array(x)->base);
    if (!PyArray_ISOBJECT(array)) return store(value, array, place) && (!as_array(x)->moves || count_element(x));
    if (!PyArray_ISBEHAVED(array)) return false;
    old = Ref(std::exchange(*reinterpret_cast<PyObject**>(place), Py_NewRef(value)));
    return true;
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

// The memory of an array on the host, as long as it is used; see `memory_of`.
Loan held_memory(PyObject* self) {
    Section section;
    return loan(memory_of(self));
}

// The NumPy scalar that an array on the host is, of a type that kernels compute; null, without an exception, else.
Loan scalar_of(PyObject* self) {
    Loan memory = held_memory(self);
    return memory && is_scalar_at_hand(Py_TYPE(memory.get())) ? std::move(memory) : Loan();
}

bool is_real(PyObject* scalar) { return !PyArray_IsScalar(scalar, ComplexFloating); }

PyObject* as_float(PyObject* self) {
    const Loan scalar = scalar_of(self);
    return scalar && is_real(scalar.get()) ? PyNumber_Float(scalar.get()) : asked(FLOAT, {self}).release();
}

PyObject* as_integer(PyObject* self) {
    const Loan scalar = scalar_of(self);
    return scalar && is_real(scalar.get()) ? PyNumber_Long(scalar.get()) : asked(INT, {self}).release();
}

PyObject* as_index(PyObject* self) {
    const Loan scalar = scalar_of(self);
    return scalar && PyArray_IsScalar(scalar.get(), Integer) ? PyNumber_Index(scalar.get()) : asked(INDEX, {self}).release();
}

int truth(PyObject* self) {
    if (const Loan scalar = scalar_of(self)) return PyObject_IsTrue(scalar.get());
    Ref answer = asked(BOOL, {self});
    return answer ? PyObject_IsTrue(answer.get()) : -1;
}

Py_ssize_t length(PyObject* self) {
    const Loan memory = held_memory(self);
    if (memory && PyArray_CheckExact(memory.get())) {
        PyArrayObject* data = reinterpret_cast<PyArrayObject*>(memory.get());
        if (PyArray_NDIM(data)) return PyArray_DIM(data, 0);
    }
    Ref answer = asked(LEN, {self});
    return answer ? PyLong_AsSsize_t(answer.get()) : -1;
}

// The view of NumPy's that a basic key selects of an array on the host, which may be a larger one; null, without an
// exception, if the view has more than so many bytes or is no array, and if NumPy finds an error.
Ref view_of(PyObject* self, PyObject* key, npy_intp most_bytes) {
    const Loan memory = loan(memory_of(self));
    if (!memory || !PyArray_CheckExact(memory.get()) || !is_basic(key)) return Ref();
    if (PyArray_ISOBJECT(reinterpret_cast<PyArrayObject*>(memory.get()))) return Ref();  // an element may be an array
    Ref found(PyObject_GetItem(memory.get(), key));
    if (!found) PyErr_Clear();
    if (!found || !PyArray_CheckExact(found.get())) return Ref();
    return is_at_hand(reinterpret_cast<PyArrayObject*>(found.get()), most_bytes) ? std::move(found) : Ref();
}

bool is_of_objects(PyObject* memory) {
    return PyArray_Check(memory) && PyArray_ISOBJECT(reinterpret_cast<PyArrayObject*>(memory));
}

bool is_view_of(PyObject* x, PyObject* memory) {
    PyObject* base = PyArray_CheckExact(x) ? PyArray_BASE(reinterpret_cast<PyArrayObject*>(x)) : nullptr;
    return base && (base == memory || base == PyArray_BASE(reinterpret_cast<PyArrayObject*>(memory)));
}

// What any other key selects of an array on the host.
PyObject* part(PyObject* self, PyObject* key) {
    Section section;
    if (!memory_of(self)) return nullptr;
    PyObject* queue = queue_of(self);
    const bool may_be_large = shares_memory(queue) || was_moved(self);
    if (Ref view = view_of(self, key, may_be_large ? NPY_MAX_INTP : host_bytes_of(queue))) {
        return new_view(view.get(), self);
    }
    Operands operands(IS_QUIET);
    Ref memory(operands.taken(self)), taken(memory ? operands.taken(key) : nullptr);
    if (!taken || !operands.are_small()) {
        PyErr_Clear();
        return nullptr;
    }
    Ref found(PyObject_GetItem(memory.get(), taken.get()));
    if (found && is_of_objects(memory.get()) && !is_view_of(found.get(), memory.get())) return nullptr;  // may be an element
    return found ? returned(found.get(), operands) : nullptr;
}

PyObject* get_item(PyObject* self, PyObject* key) {
    if (are_placed() && !move_for_read(self)) return nullptr;
    const double start = host_call_start();
    PyObject* found_on_host = element(self, key);
    if (!found_on_host && !PyErr_Occurred() && are_placed()) found_on_host = part(self, key);
    if (found_on_host && host_calls) note_host_call(getitem_name, start, nullptr, 0, found_on_host);
    if (found_on_host || PyErr_Occurred()) return found_on_host;
    const Accesses accesses = accesses_of(self);
    Ref found = asked(GETITEM, {self, key});
    return found && are_placed() && !count_read(self, found.get(), accesses) ? nullptr : found.release();
}

// Whether a value of some type is written without floating-point errors, of which NumPy would warn.
bool is_written_silently(PyObject* value, PyObject* taken, int type) {
    const bool is_of_type = PyArray_Check(taken) && PyArray_TYPE(reinterpret_cast<PyArrayObject*>(taken)) == type;
    return is_of_type || (is_number(value) && type == NPY_DOUBLE);
}

// Writes to the elements of an array on the host that another one selects, by positions or as a mask; false, without an
// exception, where that is left to Python.
bool set_elements(PyObject* self, PyObject* key, PyObject* value) {
    Operands operands(IS_QUIET | IS_ASSIGNMENT);
    const Ref memory(operands.taken(self)), positions(memory ? operands.taken(key) : nullptr);
    const Ref taken(positions ? operands.taken_to_be_written(value) : nullptr);
    const bool is_at_hand = taken && PyArray_CheckExact(memory.get()) && operands.are_small() && !operands.are_of_host();
    if (is_at_hand && PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject*>(memory.get()))) {
        Silence silence(!is_written_silently(value, taken.get(), PyArray_TYPE(reinterpret_cast<PyArrayObject*>(memory.get()))));
        if (silence && PyObject_SetItem(memory.get(), positions.get(), taken.get()) == 0) return true;
    }
    PyErr_Clear();
    return false;
}

// Writes numbers or an array on the host to a small part of another one; false, without an exception, else.
bool set_part(PyObject* self, PyObject* key, PyObject* value) {
    const bool is_list = PyList_CheckExact(value) || PyTuple_CheckExact(value);
    if (!is_array(value) && !is_number(value) && !PyArray_IsScalar(value, Generic) && !is_list) return false;
    Section section;
    if (!memory_of(self)) return false;
    if (is_array(key)) return set_elements(self, key, value);
    const Ref view = view_of(self, key, host_bytes_of(queue_of(self)));
    // NumPy does not look whether an array is read-only where it is copied to itself.
    if (!view || !PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject*>(view.get()))) return false;
    Operands operands(IS_QUIET);
    Ref taken(operands.taken(value));
    if (!taken) {
        PyErr_Clear();
        return false;
    }
    const int type = PyArray_TYPE(reinterpret_cast<PyArrayObject*>(view.get()));
    Silence silence(!is_written_silently(value, taken.get(), type));
    if (silence && PyArray_CopyObject(reinterpret_cast<PyArrayObject*>(view.get()), taken.get()) == 0) return true;
    PyErr_Clear();
    return false;
}

// The element at a position of an array on the host; null, without an exception, if it is not at hand.
PyObject* element_of_vector(PyObject* self, Py_ssize_t index) {
    Section section;
    PyObject* memory = index >= 0 ? memory_of(self) : nullptr;
    if (!memory || !PyArray_CheckExact(memory)) return nullptr;
    PyArrayObject* data = reinterpret_cast<PyArrayObject*>(memory);
    const bool is_element = PyArray_NDIM(data) == 1 && index < PyArray_DIM(data, 0);
    const bool is_at_hand = is_element && has_elements_at_hand(data);
    return is_at_hand ? element_at(self, PyArray_BYTES(data) + index * PyArray_STRIDE(data, 0)) : nullptr;
}

PyObject* get_item_at(PyObject* self, Py_ssize_t index) {
    PyObject* found = element_of_vector(self, index);
    if (found || PyErr_Occurred()) return found;
    Ref key(PyLong_FromSsize_t(index));
    return key ? get_item(self, key.get()) : nullptr;
}

// The iterator over an array on the host.
struct Iterator {
    PyObject_HEAD
    PyObject* array;  // null once it has ended
    Py_ssize_t index;
};

PyTypeObject* iterator_type = nullptr;
using IteratorFields = References<Iterator, &Iterator::array>;

Py_ssize_t length(PyObject* self);

PyObject* next(PyObject* self) {
    Iterator* iterator = reinterpret_cast<Iterator*>(self);
    Section section;
    const Ref array = Ref::to(iterator->array);
    if (!array) return nullptr;
    if (PyObject* found = element_of_vector(array.get(), iterator->index)) {
        iterator->index++;
        return found;
    }
    if (PyErr_Occurred()) return nullptr;
    const Py_ssize_t count = length(array.get());
    if (iterator->index < count) return get_item_at(array.get(), iterator->index++);
    if (count >= 0) set_field(iterator->array, nullptr);
    return nullptr;
}

PyType_Slot iterator_slots[] = {
    {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
    {Py_tp_iternext, reinterpret_cast<void*>(next)},
    {Py_tp_traverse, reinterpret_cast<void*>(IteratorFields::traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(IteratorFields::clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(IteratorFields::deallocate)},
    {0, nullptr},
};

PyType_Spec iterator_spec = {
    "gpunumpy.core._native._core.Iterator", sizeof(Iterator), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, iterator_slots,
};

PyObject* iterate(PyObject* self) {
    const Loan memory = held_memory(self);
    if (memory && PyArray_CheckExact(memory.get())) {
        PyArrayObject* data = reinterpret_cast<PyArrayObject*>(memory.get());
        if (PyArray_NDIM(data) && has_elements_at_hand(data)) {
            PyObject* made = iterator_type->tp_alloc(iterator_type, 0);
            if (made) reinterpret_cast<Iterator*>(made)->array = Py_NewRef(self);
            return made;
        }
    }
    return asked(ITER, {self}).release();
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
    if (!value) return asked(DELITEM, {self, key}) ? 0 : -1;
    const double start = host_call_start();
    if (set_element(self, key, value) || (!PyErr_Occurred() && are_placed() && set_part(self, key, value))) {
        if (host_calls) note_host_call(setitem_name, start, nullptr, 0, value);
        return 0;
    }
    if (PyErr_Occurred()) return -1;
    if (are_placed()) {
        const int has_moved = move_for_write(self, key, value);
        if (has_moved) return has_moved < 0 ? -1 : 0;
        if (const Ref looked_at = looked_at_to_write(self, value)) return set_item(self, key, looked_at.get());
        if (PyErr_Occurred()) return -1;
    }
    const Accesses accesses = accesses_of(self);
    const bool is_written = static_cast<bool>(asked(SETITEM, {self, key, value}));
    if (is_written) count_write(self, key, value, accesses);
    return is_written ? 0 : -1;
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

// Raises NumPy's error in its words, those of the text that tells programs what to call.
PyObject* concatenation(PyObject*, PyObject*) {
    return PyErr_Format(PyExc_TypeError,
                        "Concatenation operation is not implemented for NumPy arrays, use np.concatenate() instead. Please "
                        "do not rely on this error; it may not be given on all Python implementations.");
}

// refuse_concatenation(): have operator.concat raise, for which Python takes ``__add__`` where a class defines that.
PyObject* refuse_concatenation(PyObject*, PyObject*) {
    state.ndarray->tp_as_sequence->sq_concat = concatenation;
    Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"bind", bind_look, METH_VARARGS, nullptr},
    {"refuse_concatenation", refuse_concatenation, METH_NOARGS, nullptr},
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

bool add_looks(PyObject* module) {
    if (!add_element_moves(module)) return false;
    iterator_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &iterator_spec, nullptr));
    return iterator_type && PyModule_AddFunctions(module, functions) == 0;
}

void set_looks_of(PyTypeObject* type) { type->tp_as_sequence->sq_item = get_item_at; }

}  // namespace core
