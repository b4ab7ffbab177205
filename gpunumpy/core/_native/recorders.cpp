#include "recorders.hpp"

#include <cfloat>
#include <cmath>
#include <cstring>

#include "buffer.hpp"
#include "calls.hpp"
#include "flush.hpp"
#include "numpy_api.hpp"
#include "new_arrays.hpp"
#include "queue_lock.hpp"
#include "recent.hpp"
#include "parts.hpp"
#include "recipe.hpp"
#include "signatures.hpp"
#include "structures.hpp"
#include "ufunc_call.hpp"
#include "variants.hpp"
#include "writes.hpp"

namespace core {

namespace {

// Every recorder begins with these fields, and is called with positional arguments by Python's operators.
struct Recorder {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject* function;  // in Python: what the recorder stands for
    PyObject* entries;   // the signature of a result by those of the operands, of an elementwise operation
    PyObject* operations;  // and by the kinds of the operands
    int is_reflected;
};

Recorder* as_recorder(PyObject* object) { return reinterpret_cast<Recorder*>(object); }

PyObject* ask(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    return PyObject_Vectorcall(as_recorder(self)->function, args, count, names);
}

bool are_given(size_t count, PyObject* names, Py_ssize_t wanted) {
    return PyVectorcall_NARGS(count) == wanted && (!names || !PyTuple_GET_SIZE(names));
}

// A recorder of a function of so many arguments: `search` is null, without an exception, for what is left to Python.
template <Py_ssize_t COUNT, PyObject* search(PyObject* const* args)>
PyObject* call_found(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    if (are_given(count, names, COUNT)) {
        Section section;
        PyObject* found = search(args);
        if (found || PyErr_Occurred()) return found;
    }
    return ask(self, args, count, names);
}

// --- elementwise operations -------------------------------------------------------------------------------------------

// The signature of a result that a table has for those of one or two operands.
struct Result {
    PyObject *entries = nullptr, *first = nullptr, *second = nullptr, *signature = nullptr;  // owned

    void let_go() const {
        for (PyObject* field : {entries, first, second, signature}) Py_XDECREF(field);
    }
};

Recent<Result, 4096> recent_results;

// The signature of an operation's result, from the recorder's tables; null, without an exception, if it is not known.
Ref signature_of_result(const Recorder* recorder, PyObject* first, PyObject* second) {
    const auto is_wanted = [&](const Result& entry) {
        return entry.first == first && entry.second == second && entry.entries == recorder->entries;
    };
    Result& recent = recent_results.at(hash_of(hash_of(hash_of(0, recorder->entries), first), second), is_wanted);
    if (is_wanted(recent)) return Ref::to(recent.signature);
    Ref key(second ? PyTuple_Pack(2, first, second) : PyTuple_Pack(1, first));
    if (!key) return Ref();
    Ref signature = find(recorder->entries, key.get());
    if (!signature && !PyErr_Occurred()) {
        Ref made(at_new_sizes(recorder->operations, key.get(), nullptr));
        if (made) signature = keep(recorder->entries, key.get(), made.get());
    }
    if (signature) {
        recent_results.put(
            recent, {Py_NewRef(recorder->entries), Py_NewRef(first), Py_XNewRef(second), Py_NewRef(signature.get())});
    }
    return signature;
}

// The node of an operation on one or two operands; null, without an exception, if it is not known.
PyObject* known_operation(const Recorder* recorder, PyObject* first, PyObject* second) {
    const Ref of_first = Ref::to(as_node(first)->signature);
    const Ref of_second = Ref::to(second ? as_node(second)->signature : nullptr);
    const Ref signature = signature_of_result(recorder, of_first.get(), of_second.get());
    if (!signature) return nullptr;
    return new_node(signature.get(), second ? PyTuple_Pack(2, first, second) : PyTuple_Pack(1, first));
}

Ref operation_in_section(PyObject* self, PyObject* x, PyObject* y) {
    Section section;
    return Ref(operation(self, x, y));
}

// Whether an operation may be recorded: with the first operand on the host it is not at hand.
bool may_be_recorded(PyObject* first) { return is_array(first) && !has_flag(first, ON_HOST); }

PyObject* call_unary(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    if (are_given(count, names, 1) && may_be_recorded(args[0])) {
        Ref node = operation_in_section(self, args[0], nullptr);
        if (node) return wrap(node.get());
        if (PyErr_Occurred()) return nullptr;
    }
    return ask(self, args, count, names);
}

PyObject* call_binary(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    if (are_given(count, names, 2) && may_be_recorded(args[0])) {
        Ref node = operation_in_section(self, args[0], args[1]);
        if (node) return wrap(node.get());
        if (PyErr_Occurred()) return nullptr;
    }
    return ask(self, args, count, names);
}

// --- views ------------------------------------------------------------------------------------------------------------

// What a key selects of an array: a view, or the value of an element, which later writes to the array do not change. Null,
// without an exception, if neither is at hand.
PyObject* selected(PyObject* array, PyObject* key) {
    Section section;
    Positions positions;
    if (!can_have_views(array) || !positions.read(array) || !positions.select(key)) return nullptr;
    const bool is_view = positions.shape.count || positions.has_ellipsis;
    return is_view ? make_view(array, positions) : element(array, positions);
}

PyObject* call_getitem(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    if (are_given(count, names, 2) && is_array(args[0])) {
        Ref found(selected(args[0], args[1]));
        if (found) return is_node(found.get()) ? wrap(found.get()) : found.release();
        if (PyErr_Occurred()) return nullptr;
    }
    return ask(self, args, count, names);
}

// make_view(array, layout)
PyObject* call_make_view(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    Positions positions;
    if (are_given(count, names, 2) && is_array(args[0]) && positions.read_layout(args[1])) {
        Section section;
        if (can_have_views(args[0])) return make_view(args[0], positions, args[1]);
    }
    return ask(self, args, count, names);
}

// --- writes -----------------------------------------------------------------------------------------------------------

bool has_dtype_of(PyObject* node, PyObject* array) {
    return same_dtype(state.signature_dtype.of(as_node(node)->signature),
                      state.signature_dtype.of(as_node(as_array(array)->node)->signature)) == 1;
}

// Whether an array is a view of the very elements that are written to: the second half of ``a[i:j] += b``.
bool shows(PyObject* view, PyObject* array, const Positions& positions) {
    return as_array(view)->base != Py_None && owner_of(view) == owner_of(array) && has_dtype_of(as_array(view)->node, array) &&
           positions.equal(as_array(view)->layout);
}

// A double as float32 holds it. False where NumPy is to convert it, which may warn: what is too large or too small for it.
bool round_to_float32(double& value) {
    if (!std::isfinite(value) || value == 0) return true;
    value = static_cast<double>(static_cast<float>(value));
    return std::isfinite(value) && std::fabs(value) >= FLT_MIN;
}

PyObject* converted_real(double value, int type) {
    if ((type == NPY_FLOAT || type == NPY_CFLOAT) && !round_to_float32(value)) return nullptr;
    if (type == NPY_FLOAT || type == NPY_DOUBLE) return PyFloat_FromDouble(value);
    return type == NPY_CFLOAT || type == NPY_CDOUBLE ? PyComplex_FromDoubles(value, 0) : nullptr;
}

// Whether an integer dtype has a number.
bool has_integer(PyArray_Descr* dtype, long value) {
    const int bits = 8 * static_cast<int>(PyDataType_ELSIZE(dtype));
    if (PyTypeNum_ISUNSIGNED(dtype->type_num)) return value >= 0 && (bits > 63 || value < 1L << bits);
    return bits > 63 || (value >= -(1L << (bits - 1)) && value < 1L << (bits - 1));
}

// A number of Python, or a float64 of NumPy's, as an array of a dtype holds it; null, without an exception, where NumPy
// is to convert it.
PyObject* converted(PyObject* number, PyObject* dtype) {
    auto* descr = reinterpret_cast<PyArray_Descr*>(dtype);
    const int type = descr->type_num;
    if (PyBool_Check(number)) return type == NPY_BOOL ? Py_NewRef(number) : nullptr;
    if (PyFloat_CheckExact(number) || PyArray_IsScalar(number, Double)) return converted_real(PyFloat_AS_DOUBLE(number), type);
    if (!PyLong_CheckExact(number)) return nullptr;
    int overflow;
    const long value = PyLong_AsLongAndOverflow(number, &overflow);
    if (overflow) return nullptr;
    if (PyTypeNum_ISINTEGER(type)) return has_integer(descr, value) ? Py_NewRef(number) : nullptr;
    const bool is_exact = value > -(1L << 53) && value < 1L << 53;
    return is_exact ? converted_real(static_cast<double>(value), type) : nullptr;
}

// The value of a number of Python that is written to elements of an array; null as above.
PyObject* filled(PyObject* number, PyObject* array, const Positions& positions) {
    const Loan signature = loan(as_node(as_array(array)->node)->signature);
    PyObject* dtype = state.signature_dtype.of(signature.get());
    Ref held(converted(number, dtype));
    Ref node(held ? PyObject_CallFunctionObjArgs(state.typed_scalar, held.get(), dtype, nullptr) : nullptr);
    Ref layout(node ? positions.layout() : nullptr);
    return layout ? fill(node.get(), PyTuple_GET_ITEM(layout.get(), 0), state.signature_queue.of(signature.get())) : nullptr;
}

Written write_items(PyObject* array, PyObject* key, PyObject* value) {
    Section section;
    Positions positions;
    if (!can_be_written(array) || !positions.read(array) || !positions.select(key)) return Written::NOT_AT_HAND;
    if (!is_array(value)) {
        if (!positions.are_distinct()) return Written::NOT_AT_HAND;
        Ref node(filled(value, array, positions));
        if (!node) return PyErr_Occurred() ? Written::ERROR : Written::NOT_AT_HAND;
        QueueLock lock(state.signature_queue.of(as_node(as_array(array)->node)->signature));
        return lock.is_held() ? write(array, positions, node.get()) : Written::NOT_AT_HAND;
    }
    if (!positions.shape.count) return Written::NOT_AT_HAND;
    if (shows(value, array, positions)) return Written::YES;
    if (!positions.are_distinct()) return Written::NOT_AT_HAND;
    Ref node(value_of(value));
    if (!node) return PyErr_Occurred() ? Written::ERROR : Written::NOT_AT_HAND;
    if (!has_dtype_of(node.get(), array)) return Written::NOT_AT_HAND;
    if (!positions.has_shape(state.signature_shape.of(as_node(node.get())->signature))) return Written::NOT_AT_HAND;
    PyObject* queue = state.signature_queue.of(as_node(as_array(array)->node)->signature);
    if (state.signature_queue.of(as_node(node.get())->signature) != queue) return Written::NOT_AT_HAND;
    QueueLock lock(queue);
    return lock.is_held() ? write(array, positions, node.get()) : Written::NOT_AT_HAND;
}

PyObject* call_setitem(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    if (are_given(count, names, 3)) {
        switch (write_items(args[0], args[1], args[2])) {
            case Written::YES: Py_RETURN_NONE;
            case Written::ERROR: return nullptr;
            case Written::NOT_AT_HAND: break;
        }
    }
    return PyErr_Occurred() ? nullptr : ask(self, args, count, names);
}

PyObject* call_in_place(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    if (are_given(count, names, 2)) {
        switch (operate_into(args[0], self, args[0], args[1])) {
            case Written::YES: return Py_NewRef(args[0]);
            case Written::ERROR: return nullptr;
            case Written::NOT_AT_HAND: break;
        }
    }
    return PyErr_Occurred() ? nullptr : ask(self, args, count, names);
}

// --- flushes ----------------------------------------------------------------------------------------------------------

// compute(node), compute_to_look(node)
PyObject* compute(PyObject* self, PyObject* const* args, size_t count, PyObject* names, bool is_looked_at) {
    if (are_given(count, names, 1) && is_node(args[0])) {
        PyObject* queue;
        {
            Section section;
            if (!is_pending(as_node(args[0]))) return Py_NewRef(args[0]);
            queue = state.signature_queue.of(as_node(args[0])->signature);
        }
        switch (flush(queue, args[0], is_looked_at)) {
            case Flushed::YES: return Py_NewRef(args[0]);
            case Flushed::ERROR: return nullptr;
            case Flushed::NOT_AT_HAND: break;
        }
    }
    return ask(self, args, count, names);
}

PyObject* call_compute(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    return compute(self, args, count, names, false);
}

PyObject* call_compute_to_look(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    return compute(self, args, count, names, true);
}

// flush(queue), flush(queue, node)
PyObject* call_flush(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    const bool has_node = are_given(count, names, 2) && is_node(args[1]);
    if (has_node || are_given(count, names, 1)) {
        switch (flush(args[0], has_node ? args[1] : nullptr, false)) {
            case Flushed::YES: Py_RETURN_NONE;
            case Flushed::ERROR: return nullptr;
            case Flushed::NOT_AT_HAND: break;
        }
    }
    return ask(self, args, count, names);
}

// compute_part(queue, part, run, looked)
PyObject* call_compute_part(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    if (are_given(count, names, 4)) {
        switch (compute_part(args[0], args[1], args[2], args[3])) {
            case Flushed::YES: Py_RETURN_NONE;
            case Flushed::ERROR: return nullptr;
            case Flushed::NOT_AT_HAND: break;
        }
    }
    return ask(self, args, count, names);
}

// --- memory -----------------------------------------------------------------------------------------------------------

// allocate(device, nbytes)
PyObject* call_allocate(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    if (are_given(count, names, 2)) {
        PyObject* buffer = allocate_at_hand(args[0], args[1]);
        if (buffer || PyErr_Occurred()) return buffer;
    }
    return ask(self, args, count, names);
}

// first_address(array, queue)
PyObject* find_first_address(PyObject* const* args) {
    if (!is_array(args[0]) || has_flag(args[0], ON_HOST) || as_array(args[0])->base != Py_None) return nullptr;
    const Loan value = loan(as_array(args[0])->node);
    Node* node = as_node(value.get());
    const Loan data = loan(node->data), signature = loan(node->signature);
    if (!is_buffer(data.get()) || !has_address(data.get()) || state.signature_queue.of(signature.get()) != args[1]) return nullptr;
    Buffer* buffer = as_buffer(data.get());
    PyObject* leaf = state.signature_primitive.of(signature.get());
    const long long first = PyLong_AsLongLong(node->offset) + PyLong_AsLongLong(state.leaf_origin.of(leaf));
    const unsigned long long start = PyLong_AsUnsignedLongLong(buffer->ptr);
    if (PyErr_Occurred()) return nullptr;
    Py_XSETREF(buffer->copy, Py_NewRef(Py_None));
    auto* dtype = reinterpret_cast<PyArray_Descr*>(state.signature_dtype.of(signature.get()));
    return PyLong_FromUnsignedLongLong(start + first * PyDataType_ELSIZE(dtype));
}

// An argument of a kernel as a word of 8 bytes; null, without an exception, for what is left to Python. `width` is the number
// of what it is among `WIDTHS` in raw.py.
PyObject* find_word(PyObject* argument, PyObject* queue, Py_ssize_t& width) {
    if (is_array(argument)) {
        width = 0;
        PyObject* const found[] = {argument, queue};
        return find_first_address(found);
    }
    if (PyFloat_CheckExact(argument)) {
        width = 2;
        uint64_t word;
        const double value = PyFloat_AS_DOUBLE(argument);
        std::memcpy(&word, &value, sizeof word);
        return PyLong_FromUnsignedLongLong(word);
    }
    if (!PyLong_CheckExact(argument)) return nullptr;
    width = 1;
    int overflow;
    const long long value = PyLong_AsLongLongAndOverflow(argument, &overflow);
    return overflow ? nullptr : PyLong_FromUnsignedLongLong(static_cast<uint64_t>(value));
}

// launched(launches, queue, shape, args, widths)
PyObject* find_launched(PyObject* const* args) {
    PyObject *queue = args[1], *shape = args[2], *given = args[3];
    if (!PyTuple_CheckExact(given)) return nullptr;
    QueueLock lock(queue);
    if (!lock.is_held() || PyList_GET_SIZE(held(state.queue_pending, queue).get())) return nullptr;
    const Py_ssize_t count = PyTuple_GET_SIZE(given), sizes = PyTuple_GET_SIZE(shape);
    Ref words(PyList_New(count)), key(PyTuple_New(sizes + count));
    if (!words || !key) return nullptr;
    for (Py_ssize_t k = 0; k < sizes; k++) PyTuple_SET_ITEM(key.get(), k, Py_NewRef(PyTuple_GET_ITEM(shape, k)));
    for (Py_ssize_t k = 0; k < count; k++) {
        Py_ssize_t width = 0;
        PyObject* word = find_word(PyTuple_GET_ITEM(given, k), queue, width);
        if (!word) return nullptr;
        PyList_SET_ITEM(words.get(), k, word);
        PyTuple_SET_ITEM(key.get(), sizes + k, Py_NewRef(PyTuple_GET_ITEM(args[4], width)));
    }
    Ref launch(find(args[0], key.get()));
    if (!launch || !Ref(PyObject_CallOneArg(launch.get(), words.get()))) return nullptr;
    return Py_NewRef(Py_True);
}

// --- NumPy's ufuncs ---------------------------------------------------------------------------------------------------

PyObject* call_array_ufunc(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    if (!names || !PyTuple_GET_SIZE(names)) {
        PyObject* result = by_own_function(args, PyVectorcall_NARGS(count));
        if (result || PyErr_Occurred()) return result;
    }
    return ask(self, args, count, names);
}

// --- calls of functions with a memo -----------------------------------------------------------------------------------

// The recorder has the memo where others have their tables.
PyObject* call_remembered(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    PyObject* result = remembered_call(as_recorder(self)->operations, args, PyVectorcall_NARGS(count), names);
    return result || PyErr_Occurred() ? result : ask(self, args, count, names);
}

// --- types ------------------------------------------------------------------------------------------------------------

using Held = References<Recorder, &Recorder::function, &Recorder::entries, &Recorder::operations>;

PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
    return object ? PyMethod_New(self, object) : Py_NewRef(self);
}

PyObject* get_function(PyObject* self, void*) { return Py_NewRef(as_recorder(self)->function); }

// Names, documentation and signature are those of the function.
PyObject* get_attribute(PyObject* self, void* name) {
    return PyObject_GetAttrString(as_recorder(self)->function, static_cast<const char*>(name));
}

char NAME[] = "__name__", QUALIFIED_NAME[] = "__qualname__", MODULE[] = "__module__", TEXT[] = "__doc__",
     CODE[] = "__code__";

PyGetSetDef attributes[] = {
    {"__wrapped__", get_function, nullptr, nullptr, nullptr},
    {"__name__", get_attribute, nullptr, nullptr, NAME},
    {"__qualname__", get_attribute, nullptr, nullptr, QUALIFIED_NAME},
    {"__module__", get_attribute, nullptr, nullptr, MODULE},
    {"__doc__", get_attribute, nullptr, nullptr, TEXT},
    {"__code__", get_attribute, nullptr, nullptr, CODE},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyObject* in_front_of(PyObject* self, PyObject* function);

// A function is pickled by its name.
PyObject* reduce(PyObject* self, PyObject*) { return get_attribute(self, QUALIFIED_NAME); }

PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"in_front_of", in_front_of, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Recorder, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_members, members},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
    {Py_tp_traverse, reinterpret_cast<void*>(Held::traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(Held::clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(Held::deallocate)},
    {0, nullptr},
};

PyType_Spec spec = {
    "gpunumpy.core._native._core.Recorder", sizeof(Recorder), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    slots,
};

PyTypeObject* recorder_type = nullptr;

PyObject* new_recorder(vectorcallfunc call, PyObject* function, PyObject* entries, PyObject* operations,
                       int is_reflected) {
    PyObject* made = recorder_type->tp_alloc(recorder_type, 0);
    if (!made) return nullptr;
    as_recorder(made)->call = call;
    as_recorder(made)->function = Py_NewRef(function);
    as_recorder(made)->entries = Py_XNewRef(entries);
    as_recorder(made)->operations = Py_XNewRef(operations);
    as_recorder(made)->is_reflected = is_reflected;
    return made;
}

PyObject* in_front_of(PyObject* self, PyObject* function) {
    const Recorder* recorder = as_recorder(self);
    return new_recorder(recorder->call, function, recorder->entries, recorder->operations, recorder->is_reflected);
}

// elementwise_recorder(function, entries, operations, is_binary, is_reflected)
PyObject* elementwise_recorder(PyObject*, PyObject* args) {
    PyObject *function, *entries, *operations;
    int is_binary, is_reflected;
    if (!PyArg_ParseTuple(args, "OO!O!pp", &function, &PyDict_Type, &entries, &PyDict_Type, &operations, &is_binary,
                          &is_reflected)) {
        return nullptr;
    }
    return new_recorder(is_binary ? call_binary : call_unary, function, entries, operations, is_reflected);
}

bool is_signature(PyObject* object) { return Py_TYPE(object) == state.signature; }

// Nodes and signatures, which are not made by recording alone, by the functions of the same names in Python.

PyObject* find_view(PyObject* const* args) { return is_node(args[0]) ? view_at_hand(args[0], args[1]) : nullptr; }

PyObject* find_update(PyObject* const* args) {
    return is_node(args[0]) && is_node(args[2]) ? update(args[0], args[1], args[2]) : nullptr;
}

PyObject* find_fill(PyObject* const* args) {
    return is_node(args[0]) && PyTuple_CheckExact(args[1]) ? fill(args[0], args[1], args[2]) : nullptr;
}

PyObject* find_repeat(PyObject* const* args) {
    return PyTuple_Check(args[0]) && PyTuple_CheckExact(args[1]) ? repeated(args[0], args[1]) : nullptr;
}

PyObject* find_at_new_sizes(PyObject* const* args) {
    // The first two are the methods `get` of a table's entries and `keep` of another table.
    if (!PyCFunction_Check(args[0]) || !PyMethod_Check(args[1])) return nullptr;
    PyObject *operands = args[2], *static_arguments = args[3];
    Ref made(at_new_sizes(PyCFunction_GET_SELF(args[0]), operands, static_arguments));
    Ref key(made ? PySequence_Concat(operands, static_arguments) : nullptr);
    return key ? keep(state.table_entries.of(PyMethod_GET_SELF(args[1])), key.get(), made.get()).release() : nullptr;
}

PyObject* find_computed_signature(PyObject* const* args) {
    return is_signature(args[0]) ? computed_signature(args[0]) : nullptr;
}

PyObject* find_are_multiplied(PyObject* const* args) {
    const Answer answer = PyTuple_CheckExact(args[0]) ? are_multiplied_by_library(args[0]) : Answer::NOT_AT_HAND;
    return answer == Answer::NOT_AT_HAND ? nullptr : PyBool_FromLong(answer == Answer::YES);
}

PyObject* find_with_operands(PyObject* const* args) {
    return is_signature(args[0]) && PyTuple_CheckExact(args[1]) ? with_operands(args[0], args[1]) : nullptr;
}

// The recorders of functions that need no table of their own, by the functions' names.
const struct {
    const char* name;
    vectorcallfunc call;
} NAMED[] = {
    {"allocate", call_allocate},
    {"are_multiplied_by_library", call_found<1, find_are_multiplied>},
    {"array_ufunc", call_array_ufunc},
    {"compute", call_compute},
    {"compute_part", call_compute_part},
    {"compute_to_look", call_compute_to_look},
    {"first_address", call_found<2, find_first_address>},
    {"flush", call_flush},
    {"getitem", call_getitem},
    {"setitem", call_setitem},
    {"make_view", call_make_view},
    {"view", call_found<2, find_view>},
    {"update", call_found<3, find_update>},
    {"fill", call_found<3, find_fill>},
    {"at_new_sizes", call_found<4, find_at_new_sizes>},
    {"repeated", call_found<2, find_repeat>},
    {"computed_signature", call_found<1, find_computed_signature>},
    {"with_operands", call_found<2, find_with_operands>},
    {"launched", call_found<5, find_launched>},
    {"library_calls", call_found<1, library_calls>},
    {"lowered", call_found<1, lowered>},
    {"has_many_sizes", call_found<2, has_many_sizes>},
    {"parts", call_found<2, parts>},
    {"pattern", call_found<1, pattern>},
    {"known_variant", call_found<2, known_variant>},
    {"resident", call_found<1, resident>},
};

// recorder(name, function)
PyObject* recorder(PyObject*, PyObject* args) {
    const char* name;
    PyObject* function;
    if (!PyArg_ParseTuple(args, "sO", &name, &function)) return nullptr;
    for (const auto& known : NAMED) {
        if (!std::strcmp(known.name, name)) return new_recorder(known.call, function, nullptr, nullptr, 0);
    }
    return PyErr_Format(PyExc_LookupError, "no recorder stands for %s", name);
}

// remembering_recorder(function, memo)
PyObject* remembering_recorder(PyObject*, PyObject* args) {
    PyObject *function, *memo;
    if (!PyArg_ParseTuple(args, "OO!", &function, &PyTuple_Type, &memo)) return nullptr;
    return new_recorder(call_remembered, function, nullptr, memo, 0);
}

// in_place_recorder(function, recorder)
PyObject* in_place_recorder(PyObject*, PyObject* args) {
    PyObject *function, *recorder;
    if (!PyArg_ParseTuple(args, "OO!", &function, recorder_type, &recorder)) return nullptr;
    return new_recorder(call_in_place, function, as_recorder(recorder)->entries, as_recorder(recorder)->operations, 0);
}

PyMethodDef functions[] = {
    {"elementwise_recorder", elementwise_recorder, METH_VARARGS, nullptr},
    {"in_place_recorder", in_place_recorder, METH_VARARGS, nullptr},
    {"recorder", recorder, METH_VARARGS, nullptr},
    {"remembering_recorder", remembering_recorder, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool is_elementwise_recorder(PyObject* object) {
    return Py_TYPE(object) == recorder_type && as_recorder(object)->entries;
}

Written operate_into(PyObject* out, PyObject* recorder, PyObject* x, PyObject* y) {
    Section section;
    Positions positions;
    if (!can_be_written(out) || !positions.read(out) || !positions.are_distinct()) return Written::NOT_AT_HAND;
    PyObject* queue = state.signature_queue.of(as_node(as_array(out)->node)->signature);
    // The array may be an operand too: it is read and written back in one step for other threads.
    QueueLock lock(queue);
    if (!lock.is_held()) return Written::NOT_AT_HAND;
    Ref node(operation(recorder, x, y));
    if (!node) return PyErr_Occurred() ? Written::ERROR : Written::NOT_AT_HAND;
    PyObject* signature = as_node(node.get())->signature;
    if (state.signature_queue.of(signature) != queue || !has_dtype_of(node.get(), out)) return Written::NOT_AT_HAND;
    if (!positions.has_shape(state.signature_shape.of(signature))) return Written::NOT_AT_HAND;
    // The result is an array at first, as in Python: a queue has as many entries then, and is flushed at the same places.
    Ref value(recorded(node.get()));
    if (!value) return Written::ERROR;
    const Ref layout = Ref::to(as_array(out)->base == Py_None ? nullptr : as_array(out)->layout);
    return write(out, positions, value.get(), layout.get());
}

PyObject* operand(PyObject* object) {
    if (is_array(object)) {
        if (!has_flag(object, ON_HOST) || has_flag(object, MADE_AS_ARRAY)) return value_of(object);
        const Loan memory = loan(as_array(object)->base);
        Ref dtype(PyObject_GetAttrString(memory.get(), "dtype"));
        return dtype ? PyObject_CallFunctionObjArgs(state.typed_scalar, memory.get(), dtype.get(), nullptr) : nullptr;
    }
    PyObject* signature = nullptr;
    if (PyFloat_CheckExact(object)) {
        signature = state.of_float;
    } else if (PyLong_CheckExact(object)) {
        int overflow;
        const long value = PyLong_AsLongAndOverflow(object, &overflow);
        if (overflow || value < 0 || value > 127) return PyObject_CallOneArg(state.scalar, object);
        signature = state.of_int_below_128;
    } else if (PyBool_Check(object)) {
        signature = state.of_bool;
    }
    return signature ? new_node(signature, PyTuple_New(0), object) : nullptr;
}

PyObject* operation(PyObject* recorder, PyObject* x, PyObject* y) {
    const Recorder* known = as_recorder(recorder);
    Ref a(is_array(x) ? value_of(x) : nullptr);
    if (!a) return nullptr;
    if (!y) return known_operation(known, a.get(), nullptr);
    Ref b(operand(y));
    if (!b) return nullptr;
    return known->is_reflected ? known_operation(known, b.get(), a.get()) : known_operation(known, a.get(), b.get());
}

bool add_recorder_types(PyObject* module) {
    recorder_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
    return recorder_type && PyModule_AddType(module, recorder_type) == 0 && PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace core
