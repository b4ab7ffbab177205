#include "signatures.hpp"

#include "numpy_api.hpp"
#include "positions.hpp"
#include "recent.hpp"
#include "structures.hpp"

namespace core {

namespace {

Name kind_name("kind");

// As in signature.py.
constexpr Py_ssize_t MAX_GENERATOR_WEIGHT = 12, MAX_WEIGHT = MAX_GENERATOR_WEIGHT + 1;

// Whether an array of a shape has not too many bytes; an empty dimension counts as 1. Else Python has the error.
bool has_possible_size(const Sizes& shape, PyObject* dtype) {
    Py_ssize_t bytes = PyDataType_ELSIZE(reinterpret_cast<PyArray_Descr*>(dtype));
    for (int k = 0; k < shape.count && bytes > 0; k++) {
        if (__builtin_mul_overflow(bytes, shape.at[k] ? shape.at[k] : 1, &bytes)) return false;
    }
    return bytes > 0;
}

// A new object of a class with slots, which are still to be set. It will refer to what lives as long as the program and to
// older signatures, so it is in no cycle, and Python's collector need not look at it: a loop makes thousands of them.
PyObject* blank(PyTypeObject* type) {
    PyObject* made = type->tp_alloc(type, 0);
    if (made) PyObject_GC_UnTrack(made);
    return made;
}

PyObject* new_signature(PyObject* primitive, PyObject* args, PyObject* shape, PyObject* dtype, PyObject* queue,
                        bool may_be_generator) {
    const Py_ssize_t count = PyTuple_GET_SIZE(args);
    Py_ssize_t weight = 1;
    bool is_generator = may_be_generator;
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject* arg = PyTuple_GET_ITEM(args, k);
        weight += PyLong_AsSsize_t(state.signature_weight.of(arg));
        is_generator = is_generator && state.signature_generator.of(arg) == Py_True;
    }
    Ref made(blank(state.signature)), number(PyLong_FromSsize_t(weight < MAX_WEIGHT ? weight : MAX_WEIGHT));
    Ref none(PyTuple_New(0));
    if (!made || !number || !none) return nullptr;
    PyObject_GC_UnTrack(args);
    state.signature_primitive.set(made.get(), Py_NewRef(primitive));
    state.signature_args.set(made.get(), Py_NewRef(args));
    state.signature_shape.set(made.get(), Py_NewRef(shape));
    state.signature_dtype.set(made.get(), Py_NewRef(dtype));
    state.signature_queue.set(made.get(), Py_NewRef(queue));
    state.signature_weight.set(made.get(), number.release());
    state.signature_outputs.set(made.get(), none.release());
    is_generator = is_generator && weight <= MAX_GENERATOR_WEIGHT;
    state.signature_generator.set(made.get(), Py_NewRef(is_generator ? Py_True : Py_False));
    return made.release();
}

// What `kind_of` gives for values of a number of dimensions and a dtype.
struct OfDtype {
    PyObject *dtype = nullptr, *queue = nullptr, *kind = nullptr;  // owned
    Py_ssize_t ndim = 0;

    void let_go() const {
        for (PyObject* field : {dtype, queue, kind}) Py_XDECREF(field);
    }
};

Recent<OfDtype, 64> recent_kinds;

// What decides which operations are recorded over a value; null after an exception.
Loan kind_of(PyObject* signature) {
    Loan known = held(state.signature_kind, signature);
    if (known) return known;
    PyObject* primitive = state.signature_primitive.of(signature);
    if (Py_TYPE(primitive) != state.constant) {
        PyObject *dtype = state.signature_dtype.of(signature), *queue = state.signature_queue.of(signature);
        const Py_ssize_t ndim = PyTuple_GET_SIZE(state.signature_shape.of(signature));
        const auto is_wanted = [&](const OfDtype& entry) {
            return entry.dtype == dtype && entry.queue == queue && entry.ndim == ndim;
        };
        OfDtype& recent = recent_kinds.at(hash_of(hash_of(ndim, dtype), queue), is_wanted);
        if (is_wanted(recent)) {
            state.signature_kind.set(signature, Py_NewRef(recent.kind));
            return loan(recent.kind);
        }
        Ref number(PyLong_FromSsize_t(ndim));
        Ref key(number ? PyTuple_Pack(4, number.get(), dtype, queue, Py_None) : nullptr);
        if (!key) return Loan();
        Ref kind = find(state.kinds, key.get());
        if (kind) {
            state.signature_kind.set(signature, Py_NewRef(kind.get()));
            recent_kinds.put(recent, {Py_NewRef(dtype), Py_NewRef(queue), Py_NewRef(kind.get()), ndim});
        }
        if (kind || PyErr_Occurred()) return loan(kind.get());
    }
    return Ref(PyObject_GetAttr(signature, kind_name)) ? held(state.signature_kind, signature) : Loan();
}

// Whether a value has elements, and no stride is longer than one before it.
bool is_full_and_c_ordered(PyObject* signature) {
    Sizes shape, strides;
    if (!shape.read(state.signature_shape.of(signature)) || shape.has(0)) return false;
    PyObject* known = held(state.signature_c_ordered, signature).get();  // True and False stay
    if (!known) {
        PyObject* primitive = state.signature_primitive.of(signature);
        bool is_ordered = true;
        if (Py_TYPE(primitive) == state.leaf || Py_TYPE(primitive) == state.view) {
            const Slot& slot = Py_TYPE(primitive) == state.leaf ? state.leaf_strides : state.view_strides;
            if (!strides.read(slot.of(primitive))) return false;
            is_ordered = is_c_ordered(shape, strides);
        }
        known = is_ordered ? Py_True : Py_False;
        state.signature_c_ordered.set(signature, Py_NewRef(known));
    }
    return known == Py_True;
}

// The broadcast shape of arguments as a new tuple, one of theirs if they agree.
PyObject* broadcast_shape(PyObject* args, Sizes& shape) {
    PyObject* given = nullptr;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); k++) {
        PyObject* tuple = state.signature_shape.of(PyTuple_GET_ITEM(args, k));
        Sizes own;
        if (!own.read(tuple)) return nullptr;
        if (!own.count) continue;
        if (!shape.count) {
            shape = own;
            given = tuple;
            continue;
        }
        if (own == shape) continue;
        given = nullptr;
        Sizes both = own.count > shape.count ? own : shape;
        const Sizes& other = own.count > shape.count ? shape : own;
        for (int k = 1; k <= other.count; k++) {
            Py_ssize_t& n = both.at[both.count - k];
            const Py_ssize_t m = other.at[other.count - k];
            if (n != m && n != 1 && m != 1) return nullptr;
            n = n == 1 ? m : n;
        }
        shape = both;
    }
    return given ? Py_NewRef(given) : shape.tuple();
}

// The shape of the product of two vectors or matrices.
PyObject* product_shape(PyObject* args, Sizes& shape) {
    Sizes left, right;
    if (!left.read(state.signature_shape.of(PyTuple_GET_ITEM(args, 0))) ||
        !right.read(state.signature_shape.of(PyTuple_GET_ITEM(args, 1)))) {
        return nullptr;
    }
    for (int k = 0; k + 1 < left.count; k++) shape.at[shape.count++] = left.at[k];
    for (int k = 1; k < right.count; k++) shape.at[shape.count++] = right.at[k];
    return shape.tuple();
}

// The shape of an argument without some axes.
PyObject* reduced_shape(PyObject* argument, PyObject* axes, Sizes& shape) {
    Sizes whole, without;
    if (!whole.read(state.signature_shape.of(argument)) || !without.read(axes)) return nullptr;
    for (int k = 0; k < whole.count; k++) {
        if (!without.has(k)) shape.at[shape.count++] = whole.at[k];
    }
    return shape.tuple();
}

// What a table of operations has for the kinds of operands and static arguments, a few in all.
struct OfKinds {
    static constexpr Py_ssize_t FEW = 4;
    PyObject *operations = nullptr, *operation = nullptr, *parts[FEW] = {};  // owned

    void let_go() const {
        Py_XDECREF(operations);
        Py_XDECREF(operation);
        for (PyObject* part : parts) Py_XDECREF(part);
    }
};

Recent<OfKinds, 256> recent_operations;

// The signature of an operation on operands of these kinds, from a table; null, maybe after an exception, if it has none.
Ref known_operation(PyObject* operations, PyObject* operands, PyObject* static_arguments) {
    const Py_ssize_t count = PyTuple_GET_SIZE(operands);
    const Py_ssize_t total = count + (static_arguments ? PyTuple_GET_SIZE(static_arguments) : 0);
    const auto part = [&](Py_ssize_t k) -> Ref {
        if (k >= count) return Ref::to(PyTuple_GET_ITEM(static_arguments, k - count));
        return Ref::to(kind_of(PyTuple_GET_ITEM(operands, k)).get());
    };
    Ref few[OfKinds::FEW];
    uint64_t hash = hash_of(total, operations);
    for (Py_ssize_t k = 0; k < total && k < OfKinds::FEW; k++) {
        few[k] = part(k);
        if (!few[k]) return Ref();
        hash = hash_of(hash, few[k].get());
    }
    const auto is_wanted = [&](const OfKinds& entry) {
        if (entry.operations != operations) return false;
        for (Py_ssize_t k = 0; k < OfKinds::FEW; k++) {
            if (entry.parts[k] != few[k].get()) return false;
        }
        return true;
    };
    const bool is_short = total <= OfKinds::FEW;
    OfKinds& recent = recent_operations.at(hash, is_wanted);
    if (is_short && is_wanted(recent)) return Ref::to(recent.operation);
    Ref key(PyTuple_New(total));
    for (Py_ssize_t k = 0; key && k < total; k++) {
        Ref owned = k < OfKinds::FEW ? Ref::to(few[k].get()) : part(k);
        if (!owned) return Ref();
        PyTuple_SET_ITEM(key.get(), k, owned.release());
    }
    Ref known = key ? find(operations, key.get()) : Ref();
    if (known && is_short) {
        OfKinds made{Py_NewRef(operations), Py_NewRef(known.get()), {}};
        for (Py_ssize_t k = 0; k < total; k++) made.parts[k] = Py_NewRef(few[k].get());
        recent_operations.put(recent, made);
    }
    return known;
}

// A primitive, by a tuple of strides.
struct OfStrides {
    PyObject *strides = nullptr, *aligned = nullptr, *leaf = nullptr;  // owned
    Py_ssize_t origin = 0;

    void let_go() const {
        for (PyObject* field : {strides, aligned, leaf}) Py_XDECREF(field);
    }
};

Recent<OfStrides, 64> recent_leaves;

// The primitive of a leaf, which windows of one array share; null after an exception.
Ref leaf_primitive(PyObject* strides, Py_ssize_t origin, PyObject* first, PyObject* aligned) {
    const auto is_wanted = [&](const OfStrides& entry) {
        return entry.strides == strides && entry.aligned == aligned && entry.origin == origin;
    };
    OfStrides& recent = recent_leaves.at(hash_of(hash_of(static_cast<uint64_t>(origin), strides), aligned), is_wanted);
    if (is_wanted(recent)) return Ref::to(recent.leaf);
    Ref leaf(blank(state.leaf));
    if (!leaf) return leaf;
    state.leaf_strides.set(leaf.get(), Py_NewRef(strides));
    state.leaf_origin.set(leaf.get(), Py_NewRef(first));
    state.leaf_aligned.set(leaf.get(), Py_NewRef(aligned));
    recent_leaves.put(recent, {Py_NewRef(strides), Py_NewRef(aligned), Py_NewRef(leaf.get()), origin});
    return leaf;
}

// The signature of what is computed, of a shape and a dtype.
struct Computed {
    PyObject *dtype = nullptr, *queue = nullptr, *signature = nullptr;  // owned
    Sizes shape;

    void let_go() const {
        for (PyObject* field : {dtype, queue, signature}) Py_XDECREF(field);
    }
};

Recent<Computed, 64> recent_computed;

bool is_conjugation(PyObject* signature) {
    PyObject* primitive = state.signature_primitive.of(signature);
    return Py_TYPE(primitive) == state.map &&
           !PyUnicode_CompareWithASCIIString(state.map_op.of(primitive), "conjugate");
}

}  // namespace

Ref keep(PyObject* table, PyObject* key, PyObject* value, int size) {
    constexpr int COUNTED_TOGETHER = 512;
    static std::atomic<int> kept{0};
    if (kept.fetch_add(size) + size >= COUNTED_TOGETHER) {
        Ref number(PyLong_FromLong(kept.exchange(0)));
        if (!number || !Ref(PyObject_CallOneArg(state.count_entries, number.get()))) return Ref();
    }
    if (PyTuple_CheckExact(key)) PyObject_GC_UnTrack(key);  // as what it refers to, see `blank`
    return find_or_add(table, key, value);
}

PyObject* leaf_signature(PyObject* shape, PyObject* strides, Py_ssize_t origin, bool is_aligned, PyObject* dtype,
                         PyObject* queue, bool is_likely_new) {
    Ref first(PyLong_FromSsize_t(origin));
    PyObject* aligned = is_aligned ? Py_True : Py_False;
    Ref key(first ? PyTuple_Pack(7, state.leaf, shape, strides, first.get(), aligned, dtype, queue) : nullptr);
    if (!key) return nullptr;
    Ref known = is_likely_new ? Ref() : find(state.signatures, key.get());
    if (known || PyErr_Occurred()) return known.release();
    Sizes sizes;
    if (!sizes.read(shape) || !has_possible_size(sizes, dtype)) return nullptr;
    const Ref leaf = leaf_primitive(strides, origin, first.get(), aligned), none(PyTuple_New(0));
    if (!leaf || !none) return nullptr;
    Ref made(new_signature(leaf.get(), none.get(), shape, dtype, queue, false));
    return made ? keep(state.signatures, key.get(), made.get()).release() : nullptr;
}

PyObject* computed_signature(PyObject* pending) {
    Section section;  // a plan at new sizes asks in none
    PyObject *dtype = state.signature_dtype.of(pending), *queue = state.signature_queue.of(pending);
    PyObject* shape = state.signature_shape.of(pending);
    Sizes sizes;
    if (!sizes.read(shape)) return nullptr;
    uint64_t hash = hash_of(hash_of(sizes.count, dtype), queue);
    for (int k = 0; k < sizes.count; k++) hash = hash_of(hash, static_cast<uint64_t>(sizes.at[k]));
    const auto is_wanted = [&](const Computed& entry) {
        return entry.dtype == dtype && entry.queue == queue && entry.shape == sizes;
    };
    Computed& recent = recent_computed.at(hash, is_wanted);
    if (is_wanted(recent)) return Py_NewRef(recent.signature);
    Ref strides(tuple_of_strides(c_strides(sizes)));
    PyObject* made = strides ? leaf_signature(shape, strides.get(), 0, true, dtype, queue) : nullptr;
    if (made) recent_computed.put(recent, {Py_NewRef(dtype), Py_NewRef(queue), Py_NewRef(made), sizes});
    return made;
}

PyObject* view_signature(PyObject* args, PyObject* shape, PyObject* strides, Py_ssize_t offset, PyObject* queue) {
    PyObject* dtype = state.signature_dtype.of(PyTuple_GET_ITEM(args, 0));
    Sizes sizes;
    if (!sizes.read(shape) || !has_possible_size(sizes, dtype)) return nullptr;
    Ref view(blank(state.view)), first(PyLong_FromSsize_t(offset));
    if (!view || !first) return nullptr;
    state.view_strides.set(view.get(), Py_NewRef(strides));
    state.view_offset.set(view.get(), first.release());
    return new_signature(view.get(), args, shape, dtype, queue, true);
}

PyObject* update_signature(PyObject* base, PyObject* value, PyObject* region) {
    PyObject* queue = state.signature_queue.of(base);
    if (state.signature_queue.of(value) != queue) return nullptr;
    Ref update(blank(state.update)), args(PyTuple_Pack(2, base, value));
    if (!update || !args) return nullptr;
    state.update_region.set(update.get(), Py_NewRef(region));
    return new_signature(update.get(), args.get(), state.signature_shape.of(base), state.signature_dtype.of(base), queue,
                         false);
}

PyObject* with_operands(PyObject* operation, PyObject* args) {
    PyObject* primitive = state.signature_primitive.of(operation);
    PyObject* dtype = state.signature_dtype.of(operation);
    const bool is_reduction = Py_TYPE(primitive) == state.reduce, is_product = Py_TYPE(primitive) == state.library_call;
    bool may_be_generator = !is_reduction && !is_product;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); k++) {
        may_be_generator = may_be_generator && state.signature_generator.of(PyTuple_GET_ITEM(args, k)) == Py_True;
    }
    // Whether a value made of generators is one depends on the operation, which Python knows.
    if (may_be_generator || !PyTuple_GET_SIZE(args)) return nullptr;
    Sizes sizes;
    Ref shape(is_reduction ? reduced_shape(PyTuple_GET_ITEM(args, 0), state.reduce_axes.of(primitive), sizes)
              : is_product ? product_shape(args, sizes)
                           : broadcast_shape(args, sizes));
    if (!shape || !has_possible_size(sizes, dtype)) return nullptr;
    Ref made(new_signature(primitive, args, shape.get(), dtype, state.signature_queue.of(operation), false));
    if (!made) return nullptr;
    const Loan kind = kind_of(operation);
    if (!kind) return nullptr;
    state.signature_kind.set(made.get(), Py_NewRef(kind.get()));
    state.signature_c_ordered.set(made.get(), Py_NewRef(Py_True));
    return take_structure(made.get(), operation) ? made.release() : nullptr;
}

PyObject* library_calls(PyObject* const* args) {
    if (!PyList_CheckExact(args[0])) return nullptr;
    Ref found(PyList_New(0));
    for (Py_ssize_t k = 0; found && k < PyList_GET_SIZE(args[0]); k++) {
        PyObject* signature = PyList_GET_ITEM(args[0], k);
        if (Py_TYPE(signature) != state.signature) return nullptr;
        if (Py_TYPE(state.signature_primitive.of(signature)) != state.library_call) continue;
        if (PyList_Append(found.get(), signature) < 0) return nullptr;
    }
    return found.release();
}

namespace {

// Whether BLAS reads an operand as it is; see `_is_read_as_it_is` in matrix_product.py.
Answer is_read_as_it_is(PyObject* signature) {
    PyObject* primitive = state.signature_primitive.of(signature);
    const bool is_view = Py_TYPE(primitive) == state.view, is_leaf = Py_TYPE(primitive) == state.leaf;
    bool is_read = true;
    if (is_view || is_leaf) {
        Sizes shape, strides;
        if (!shape.read(state.signature_shape.of(signature)) || !shape.count ||
            !strides.read((is_leaf ? state.leaf_strides : state.view_strides).of(primitive))) {
            return Answer::NOT_AT_HAND;
        }
        is_read = is_blas_readable(shape, strides);
    }
    PyObject* seen = is_view ? PyTuple_GET_ITEM(state.signature_args.of(signature), 0) : signature;
    return is_read && !is_conjugation(seen) ? Answer::YES : Answer::NO;
}

}  // namespace

Answer are_multiplied_by_library(PyObject* signatures) {
    constexpr Py_ssize_t LONG_ROW_ELEMENTS = 4096;  // as in matrix_product.py
    if (PyTuple_GET_SIZE(signatures) != 2) return Answer::NOT_AT_HAND;
    Sizes shapes[2];
    for (int k = 0; k < 2; k++) {
        PyObject* signature = PyTuple_GET_ITEM(signatures, k);
        if (Py_TYPE(signature) != state.signature) return Answer::NOT_AT_HAND;
        if (!shapes[k].read(state.signature_shape.of(signature))) return Answer::NOT_AT_HAND;
    }
    const auto& [left, right] = shapes;
    if (!left.count || !right.count || left.count > 2 || right.count > 2 || left.count + right.count < 3) return Answer::NO;
    PyObject *first = PyTuple_GET_ITEM(signatures, 0), *second = PyTuple_GET_ITEM(signatures, 1);
    PyObject* dtype = state.signature_dtype.of(first);
    const int type = reinterpret_cast<PyArray_Descr*>(dtype)->type_num;
    if (dtype != state.signature_dtype.of(second) || type >= NPY_USERDEF) return Answer::NOT_AT_HAND;
    const Py_ssize_t length = left.at[left.count - 1];
    if (length != right.at[0]) return Answer::NO;
    const bool is_leaf = Py_TYPE(state.signature_primitive.of(first)) == state.leaf;
    if (type == NPY_FLOAT && length >= LONG_ROW_ELEMENTS && is_leaf) return Answer::NO;
    const Answer answer = is_read_as_it_is(first);
    return answer == Answer::YES ? is_read_as_it_is(second) : answer;
}

PyObject* at_new_sizes(PyObject* operations, PyObject* operands, PyObject* static_arguments) {
    const Ref known = known_operation(operations, operands, static_arguments);
    for (Py_ssize_t k = 0; known && k < PyTuple_GET_SIZE(operands); k++) {
        if (!is_full_and_c_ordered(PyTuple_GET_ITEM(operands, k))) return nullptr;
    }
    return known ? with_operands(known.get(), operands) : nullptr;
}

}  // namespace core
