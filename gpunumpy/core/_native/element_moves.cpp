#include "element_moves.hpp"

#include <algorithm>
#include <cmath>

#include "host_arrays.hpp"

namespace core {

namespace {

// Functions of Python.
PyObject *move_to_host = nullptr, *scalar_to_host = nullptr, *look_to_write = nullptr, *note_elements = nullptr;

// To record a read of a small part of an array on a device takes as long as to move so many bytes, a write takes longer, and
// much longer takes a flush between two accesses, and what an array on the host has the device do. So many accesses take as
// long as to wait for the device once.
constexpr Py_ssize_t BYTES_OF_A_READ = 1 << 13, BYTES_OF_A_WRITE = 1 << 15, BYTES_OF_A_FLUSH = 1 << 18,
                     BYTES_OF_A_MEETING = 1 << 17, LEAST_ACCESSES = 16;
// The largest parts that NumPy computes in less time than a launch takes. Where the device shares the host's memory, no
// bytes are moved, and it takes NumPy less time for larger ones too.
constexpr Py_ssize_t SMALL_BYTES = 1 << 14, SMALL_BYTES_OF_SHARED_MEMORY = 1 << 17;
// So many views of an array are known, and can move along.
constexpr Py_ssize_t MOST_PARTS = 16;
// Accesses to elements after which Python may give a hint.
Py_ssize_t hinted_elements = 0;

bool is_position(PyObject* key, Py_ssize_t ndim) {
    if (PyLong_CheckExact(key)) return ndim == 1;
    if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) != ndim) return false;
    for (Py_ssize_t k = 0; k < ndim; k++) {
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(key, k))) return false;
    }
    return true;
}

PyObject* shape_of(PyObject* array) { return state.signature_shape.of(as_node(as_array(array)->node)->signature); }

double bytes_of(PyObject* array) {
    if (PyObject* memory = memory_of(array)) {
        const bool is_scalar = !PyArray_CheckExact(memory);
        return is_scalar ? 1 : static_cast<double>(PyArray_NBYTES(reinterpret_cast<PyArrayObject*>(memory)));
    }
    if (!as_array(array)->node) return HUGE_VAL;  // a view that has to follow its owner
    PyObject *shape = shape_of(array), *dtype = state.signature_dtype.of(as_node(as_array(array)->node)->signature);
    double bytes = static_cast<double>(PyDataType_ELSIZE(reinterpret_cast<PyArray_Descr*>(dtype)));
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(shape); k++) bytes *= PyLong_AsDouble(PyTuple_GET_ITEM(shape, k));
    return bytes;
}

// The array on a device whose memory an array shows: itself, or what it is a view of. Else null, without an exception.
// Borrowed.
PyObject* owner_on_device(PyObject* object) {
    if (!is_array(object) || has_flag(object, ON_HOST)) return nullptr;
    PyObject* owner = owner_of(object);
    return owner && is_array(owner) && as_array(owner)->base == Py_None ? owner : nullptr;
}

bool is_small(PyObject* part, PyObject* array) {
    return bytes_of(part) <= static_cast<double>(shares_memory(queue_of(array)) ? SMALL_BYTES_OF_SHARED_MEMORY : SMALL_BYTES);
}

// Adds an access to those before, which takes as long as to move so many bytes.
void count_access(PyObject* array, const Accesses& before, Py_ssize_t bytes) {
    const Py_ssize_t publications = PyLong_AsSsize_t(held(state.queue_publications, queue_of(array)).get());
    if (publications != before.publications) bytes += BYTES_OF_A_FLUSH;
    as_array(array)->accesses = {before.count + 1, before.bytes + bytes, publications, before.elements};
}

// Whether the accesses to an array have taken as long as its move; and four times as long each time that it was moved.
bool has_many_accesses(PyObject* self) {
    const Array* array = as_array(self);
    const auto scaled = [array](Py_ssize_t n) { return std::ldexp(static_cast<double>(n), static_cast<int>(-2 * array->moves)); };
    if (scaled(array->accesses.count) < LEAST_ACCESSES) return false;
    return shares_memory(queue_of(self)) || scaled(array->accesses.bytes) >= bytes_of(self);
}

// What a weak reference refers to; null, maybe after an exception, if that has died.
Ref referred(PyObject* reference) {
    Ref found(PyObject_CallNoArgs(reference));
    return found.get() == Py_None ? Ref() : std::move(found);
}

// The views of an array that are known and have not died, as a list.
Ref known_parts(PyObject* owner) {
    Ref found(PyList_New(0));
    const Loan parts = loan(as_array(owner)->parts);
    for (Py_ssize_t k = 0; found && parts && k < PyList_GET_SIZE(parts.get()); k++) {
        const Ref part = referred(PyList_GET_ITEM(parts.get(), k));
        if (PyErr_Occurred() || (part && PyList_Append(found.get(), part.get()) < 0)) return Ref();
    }
    return found;
}

// Knows a view of an array from now on, as one that can move along. Returns false after an exception.
bool note_part(PyObject* owner, PyObject* view) {
    const Ref reference(PyWeakref_NewRef(view, nullptr));  // the same one each time
    if (!reference) return false;
    const Loan parts = loan(as_array(owner)->parts);
    const Py_ssize_t count = parts ? PyList_GET_SIZE(parts.get()) : 0;
    for (Py_ssize_t k = 0; k < count; k++) {
        if (PyList_GET_ITEM(parts.get(), k) == reference.get()) return true;
    }
    Ref known(PyList_New(0));
    for (Py_ssize_t k = 0; known && k < count; k++) {
        PyObject* before = PyList_GET_ITEM(parts.get(), k);
        const Ref part = referred(before);
        if (PyErr_Occurred() || (part && PyList_Append(known.get(), before) < 0)) return false;
    }
    if (!known) return false;
    if (PyList_GET_SIZE(known.get()) == MOST_PARTS && PyList_SetSlice(known.get(), 0, 1, nullptr) < 0) return false;
    if (PyList_Append(known.get(), reference.get()) < 0) return false;
    set_field(as_array(owner)->parts, known.release());
    return true;
}

// Moves an array to the host that was accessed by small parts for long, with its views if all of them are known. Returns what
// NumPy takes for a value that is to be written then: None if the array was not moved.
Ref moved_for(PyObject* owner, PyObject* value) {
    Array* array = as_array(owner);
    if (array->accesses.count < LEAST_ACCESSES) return Ref::to(Py_None);
    if (array->views > (array->parts ? PyList_GET_SIZE(array->parts) : 0)) return Ref::to(Py_None);
    PyObject* dtype = state.signature_dtype.of(as_node(array->node)->signature);
    if (!is_type_at_hand(reinterpret_cast<PyArray_Descr*>(dtype)->type_num) || !has_many_accesses(owner)) return Ref::to(Py_None);
    const Ref parts = known_parts(owner);
    if (!parts) return Ref();
    if (PyList_GET_SIZE(parts.get()) != array->views) return Ref::to(Py_None);
    array->accesses = {};
    array->moves++;
    return Ref(PyObject_CallFunctionObjArgs(move_to_host, owner, value, parts.get(), nullptr));
}

// Whether the large view of an array that was made last has died without an access to its elements: an operation took it as a
// whole. It is forgotten once `accessed`, the array or a view, is that view.
bool has_lost_large_part(PyObject* owner, PyObject* accessed) {
    const Loan reference = loan(as_array(owner)->large_part);
    if (!reference) return false;
    const Ref part = referred(reference.get());
    if (!part || part.get() == accessed) set_field(as_array(owner)->large_part, nullptr);
    return !part;
}

// The array that has the memory of an array on the host, if that was moved there; else null. Borrowed.
PyObject* moved_owner_of(PyObject* object) {
    if (!memory_of(object)) return nullptr;
    PyObject* owner = as_array(object)->owner;
    if (!owner || owner == Py_None) owner = object;
    return is_array(owner) && as_array(owner)->moves ? owner : nullptr;
}

// The one of two operands that is the 0-d result of an operation on the device, which nothing else shows, if the other is a
// small array on the host. Borrowed.
PyObject* scalar_that_meets_host(PyObject* a, PyObject* b) {
    if (!is_array(a) || !is_array(b) || has_flag(a, ON_HOST) == has_flag(b, ON_HOST)) return nullptr;
    PyObject *of_host = has_flag(a, ON_HOST) ? a : b, *scalar = has_flag(a, ON_HOST) ? b : a;
    if (has_flag(scalar, MADE_AS_ARRAY) || as_array(scalar)->base != Py_None || as_array(scalar)->views) return nullptr;
    if (PyTuple_GET_SIZE(shape_of(scalar)) || !memory_of(of_host) || bytes_of(of_host) > SMALL_BYTES) return nullptr;
    PyObject* dtype = state.signature_dtype.of(as_node(as_array(scalar)->node)->signature);
    return is_type_at_hand(reinterpret_cast<PyArray_Descr*>(dtype)->type_num) ? scalar : nullptr;
}

// set_note_elements((function, count)): the function is called with an array of which so many elements were accessed.
PyObject* set_note_elements(PyObject*, PyObject* hint) {
    PyObject* function;
    if (!PyArg_ParseTuple(hint, "On", &function, &hinted_elements)) return nullptr;
    set_field(note_elements, Py_NewRef(function));
    Py_RETURN_NONE;
}

// set_move_to_host(function), set_scalar_to_host(function), set_look_to_write(function)
template <PyObject*& FUNCTION>
PyObject* set_function(PyObject*, PyObject* function) {
    set_field(FUNCTION, Py_NewRef(function));
    Py_RETURN_NONE;
}

// exchange_states(arrays, others): have each array be what the other one was, and the other way round, in one step for signal
// handlers and other threads.
PyObject* exchange_states(PyObject*, PyObject* lists) {
    PyObject *arrays, *others;
    if (!PyArg_ParseTuple(lists, "O!O!", &PyList_Type, &arrays, &PyList_Type, &others)) return nullptr;
    Section section;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(arrays); k++) {
        Array *a = as_array(PyList_GET_ITEM(arrays, k)), *b = as_array(PyList_GET_ITEM(others, k));
        std::swap(a->base, b->base);
        std::swap(a->component, b->component);
        std::swap(a->layout, b->layout);
        std::swap(a->node, b->node);
        std::swap(a->owner, b->owner);
        std::swap(a->queue, b->queue);
        std::swap(a->source, b->source);
        std::swap(a->flags, b->flags);
    }
    Py_RETURN_NONE;
}

// has_met_device(array): count that an array on the host, if it was moved there, meets the device; return whether it did so
// for as long as it takes to be moved back.
PyObject* has_met_device(PyObject*, PyObject* array) {
    Section section;
    PyObject* owner = is_array(array) ? moved_owner_of(array) : nullptr;
    if (!owner) Py_RETURN_FALSE;
    count_access(owner, as_array(owner)->accesses, BYTES_OF_A_MEETING);
    return Py_NewRef(has_many_accesses(owner) ? Py_True : Py_False);
}

// note_product(product, x, y)
PyObject* note_product_of_two(PyObject*, PyObject* arrays) {
    PyObject *product, *x, *y;
    if (!PyArg_ParseTuple(arrays, "OOO", &product, &x, &y)) return nullptr;
    note_product(product, x, y);
    Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"exchange_states", exchange_states, METH_VARARGS, nullptr},
    {"note_product", note_product_of_two, METH_VARARGS, nullptr},
    {"set_move_to_host", set_function<move_to_host>, METH_O, nullptr},
    {"set_scalar_to_host", set_function<scalar_to_host>, METH_O, nullptr},
    {"set_look_to_write", set_function<look_to_write>, METH_O, nullptr},
    {"set_note_elements", set_note_elements, METH_O, nullptr},
    {"has_met_device", has_met_device, METH_O, nullptr},
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

void note_product(PyObject* product, PyObject* x, PyObject* y) {
    Section section;
    for (PyObject* operand : {x, y}) {
        PyObject* owner = owner_on_device(operand);
        if (owner && owner != operand && shares_memory(queue_of(owner)) && is_small(product, owner)) {
            as_array(owner)->accesses.count = std::max(as_array(owner)->accesses.count, LEAST_ACCESSES);
        }
    }
}

bool count_element(PyObject* array) {
    if (++as_array(array)->accesses.elements != hinted_elements) return true;
    return static_cast<bool>(Ref(PyObject_CallOneArg(note_elements, array)));
}

bool was_moved(PyObject* array) { return moved_owner_of(array); }

Accesses accesses_of(PyObject* self) {
    Section section;
    PyObject* owner = owner_on_device(self);
    return owner ? as_array(owner)->accesses : Accesses{};
}

bool move_for_read(PyObject* self) {
    Section section;
    PyObject* owner = owner_on_device(self);
    return !owner || as_array(owner)->accesses.count < LEAST_ACCESSES || static_cast<bool>(moved_for(owner, Py_False));
}

bool count_read(PyObject* self, PyObject* found, const Accesses& before) {
    Section section;
    PyObject* owner = owner_on_device(self);
    if (!owner || !is_array(found) || has_flag(found, ON_HOST)) return true;
    const bool is_view = as_array(found)->base == owner, is_element = !is_view && !PyTuple_GET_SIZE(shape_of(found));
    const bool is_counted = is_element || (is_view && is_small(found, owner));
    if (!is_counted) {
        as_array(owner)->accesses = is_view ? before : Accesses{};
        if (!is_view || !before.count) return true;
        PyObject* reference = PyWeakref_NewRef(found, nullptr);
        if (reference) set_field(as_array(owner)->large_part, reference);
        return reference;
    }
    const bool is_anew = has_lost_large_part(owner, self);
    if (PyErr_Occurred()) return false;
    count_access(owner, is_anew ? Accesses{} : before, BYTES_OF_A_READ);
    if (self != owner && !note_part(owner, self)) return false;
    if (is_element && !count_element(owner)) return false;
    return !is_view || before.count + 2 < LEAST_ACCESSES || note_part(owner, found);
}

int move_for_write(PyObject* self, PyObject* key, PyObject* value) {
    Section section;
    PyObject* owner = owner_on_device(self);
    if (!owner) return 0;
    const bool is_element = is_position(key, PyTuple_GET_SIZE(shape_of(self)));
    const bool is_of_host = is_array(value) && memory_of(value) && is_small(value, owner) && is_basic(key);
    if (!(is_array(value) ? is_of_host : is_element)) return 0;
    const bool is_anew = has_lost_large_part(owner, self);
    if (PyErr_Occurred()) return -1;
    count_access(owner, is_anew ? Accesses{} : as_array(owner)->accesses, BYTES_OF_A_WRITE);
    if (self != owner && !note_part(owner, self)) return -1;
    if (is_element && !count_element(owner)) return -1;
    const Ref written = moved_for(owner, value);
    if (!written) return -1;
    const Loan memory = loan(memory_of(self));
    if (written.get() == Py_None || !memory) return 0;
    return PyObject_SetItem(memory.get(), key, written.get()) < 0 ? -1 : 1;
}

void count_write(PyObject* self, PyObject* key, PyObject* value, const Accesses& before) {
    Section section;
    PyObject* owner = owner_on_device(self);
    if (!owner) return;
    const bool is_of_part = is_basic(key) && (!is_array(value) || is_small(value, owner));
    as_array(owner)->accesses = is_of_part ? before : Accesses{};
}

Ref looked_at_to_write(PyObject* target, PyObject* value) {
    Section section;
    const bool is_on_device = is_array(value) && !has_flag(value, ON_HOST);
    if (!is_on_device || !moved_owner_of(target) || !is_small(value, target)) return Ref();
    Ref written(PyObject_CallFunctionObjArgs(look_to_write, target, value, nullptr));
    return written.get() == Py_None ? Ref() : std::move(written);
}

Meeting::Meeting(PyObject* a, PyObject* b) {
    Section section;
    scalar_ = are_placed() ? scalar_that_meets_host(a, b) : nullptr;
    if (!scalar_) return;
    accesses_ = as_array(scalar_)->accesses;
    accesses_.count++;
    if (accesses_.count < LEAST_ACCESSES) return;
    accesses_ = {};
    const Ref moved(PyObject_CallOneArg(scalar_to_host, scalar_));
    is_on_host_ = moved.get() == Py_True;
}

// What is recorded meanwhile counts as another use of the result, after which accesses are counted anew.
Meeting::~Meeting() {
    if (scalar_) as_array(scalar_)->accesses = accesses_;
}

PyObject* Meeting::counted(PyObject* made) const {
    Section section;
    const bool is_on_device = made && scalar_ && is_array(made) && !has_flag(made, ON_HOST);
    if (is_on_device && !PyTuple_GET_SIZE(shape_of(made))) as_array(made)->accesses = accesses_;
    return made;
}

void note_use(PyObject* owner, PyObject* view) {
    if (as_array(owner)->accesses.count && is_array(owner) && !is_small(view, owner)) as_array(owner)->accesses = {};
}

bool add_element_moves(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace core
