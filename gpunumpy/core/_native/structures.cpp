#include "structures.hpp"

#include <algorithm>
#include "buffer_windows.hpp"
#include "node.hpp"
#include "recent.hpp"
#include "state.hpp"
#include "variants.hpp"
#include "walk.hpp"

namespace core {

namespace {

Name structure_name("structure");

void append(Numbers& numbers, const Sizes& sizes) { numbers.append(sizes.at, sizes.at + sizes.count); }

// Multiples of steps, the longest of which come first, and a rest, that add up to a number.
void append_digits(Numbers& numbers, Py_ssize_t number, const Sizes& steps) {
    const Py_ssize_t sign = number < 0 ? -1 : 1;
    number *= sign;
    for (int k = 0; k < steps.count; k++) {
        const Py_ssize_t step = steps.at[k], length = step < 0 ? -step : step;
        const Py_ssize_t digit = length ? number / length : 0;
        numbers.push_back(step > 0 ? sign * digit : -sign * digit);
        number -= digit * length;
    }
    numbers.push_back(sign * number);
}

// The dimensions of a leaf from the longest stride on.
void sort_by_stride(const Sizes& strides, int* order) {
    for (int k = 0; k < strides.count; k++) order[k] = k;
    std::stable_sort(order, order + strides.count, [&](int x, int y) {
        return (strides.at[x] < 0 ? -strides.at[x] : strides.at[x]) > (strides.at[y] < 0 ? -strides.at[y] : strides.at[y]);
    });
}

Sizes permuted(const Sizes& sizes, const int* order) {
    Sizes made;
    made.count = sizes.count;
    for (int k = 0; k < sizes.count; k++) made.at[k] = sizes.at[order[k]];
    return made;
}

// A leaf in C++; `read` returns false for one that is left to Python.
struct LeafSizes {
    Sizes shape, strides;
    Py_ssize_t origin = 0;
    bool is_dense = false;

    bool read(PyObject* signature) {
        PyObject* leaf = state.signature_primitive.of(signature);
        if (!shape.read(state.signature_shape.of(signature)) || !strides.read(state.leaf_strides.of(leaf)) ||
            !Sizes::read_integer(state.leaf_origin.of(leaf), origin)) {
            return false;
        }
        is_dense = strides == c_strides(shape) && !origin;
        return true;
    }

    Sizes steps() const {
        int order[MAX_AT_HAND];
        sort_by_stride(strides, order);
        return is_dense ? strides : permuted(strides, order);
    }
};

// What a signature is besides its sizes: the class of its primitive, or a primitive without sizes, and a number for what
// else there is to know of that.
struct Kind {
    PyObject* object = nullptr;  // borrowed
    uint64_t detail = 0;

    // Of a leaf: whether it is dense, whether it is aligned, and else the order of its dimensions.
    static constexpr uint64_t DENSE = 1, ALIGNED = 2;
    static constexpr int ORDER_BITS = 4, MAX_ORDERED = 15;
    int ordered(int k) const { return detail >> (2 + ORDER_BITS * k) & ((1 << ORDER_BITS) - 1); }
};

PyObject* object_of(PyTypeObject* type) { return reinterpret_cast<PyObject*>(type); }

// The functions for kinds append the sizes of a primitive to `numbers`. They return false for what is left to Python.

bool read_leaf(PyObject* signature, Numbers& numbers, Kind& kind) {
    LeafSizes leaf;
    if (!leaf.read(signature) || leaf.strides.count > Kind::MAX_ORDERED) return false;
    kind.object = object_of(state.leaf);
    kind.detail = state.leaf_aligned.of(state.signature_primitive.of(signature)) == Py_True ? Kind::ALIGNED : 0;
    if (leaf.is_dense) {
        kind.detail |= Kind::DENSE;
        return true;
    }
    int order[MAX_AT_HAND];
    sort_by_stride(leaf.strides, order);
    append(numbers, leaf.strides);
    append_digits(numbers, leaf.origin, permuted(leaf.strides, order));
    for (int k = 0; k < leaf.strides.count; k++) kind.detail |= static_cast<uint64_t>(order[k]) << (2 + Kind::ORDER_BITS * k);
    return true;
}

// Whether a size is that of several neighbouring dimensions.
bool is_product(Py_ssize_t size, const Sizes& whole) {
    for (int first = 0; first < whole.count; first++) {
        Py_ssize_t product = whole.at[first];
        for (int k = first + 1; k < whole.count; k++) {
            product *= whole.at[k];
            if (product == size) return true;
        }
    }
    return false;
}

bool append_coordinates(Numbers& numbers, const Sizes& strides, PyObject* offset, const Sizes& whole) {
    Py_ssize_t first;
    if (!Sizes::read_integer(offset, first)) return false;
    const Sizes flat = c_strides(whole);
    for (int k = 0; k < strides.count; k++) append_digits(numbers, strides.at[k], flat);
    append_digits(numbers, first, flat);
    return true;
}

// The shape of the first argument.
bool read_whole(PyObject* signature, Sizes& whole) {
    return whole.read(state.signature_shape.of(PyTuple_GET_ITEM(state.signature_args.of(signature), 0)));
}

bool read_view(PyObject* signature, Numbers& numbers, Kind& kind) {
    PyObject* view = state.signature_primitive.of(signature);
    Sizes shape, strides, whole;
    if (!shape.read(state.signature_shape.of(signature)) || !strides.read(state.view_strides.of(view)) ||
        !read_whole(signature, whole) || !append_coordinates(numbers, strides, state.view_offset.of(view), whole)) {
        return false;
    }
    for (int d = 0; d < shape.count; d++) {
        if (shape.at[d] > 1 && !whole.has(shape.at[d]) && is_product(shape.at[d], whole)) return false;
    }
    kind.object = object_of(state.view);
    return true;
}

bool read_update(PyObject* signature, Numbers& numbers, Kind& kind) {
    PyObject* region = state.update_region.of(state.signature_primitive.of(signature));
    Sizes shape, strides, whole;
    if (!shape.read(PyTuple_GET_ITEM(region, 0)) || !strides.read(PyTuple_GET_ITEM(region, 1)) ||
        !read_whole(signature, whole)) {
        return false;
    }
    append(numbers, shape);
    kind.object = object_of(state.update);
    kind.detail = shape.count;
    return append_coordinates(numbers, strides, PyTuple_GET_ITEM(region, 2), whole);
}

bool read_kind(PyObject* signature, Numbers& numbers, Kind& kind) {
    PyObject* primitive = state.signature_primitive.of(signature);
    PyTypeObject* type = Py_TYPE(primitive);
    if (type == state.leaf) return read_leaf(signature, numbers, kind);
    if (type == state.view) return read_view(signature, numbers, kind);
    if (type == state.update) return read_update(signature, numbers, kind);
    kind.object = primitive;
    return type != state.library_call || !PyTuple_GET_SIZE(state.library_call_results.of(primitive));
}

// A kind as the table of structures has it; null after an exception.
PyObject* key_of(const Kind& kind, Py_ssize_t ndim) {
    if (Py_TYPE(kind.object) == state.library_call) {
        return PyTuple_Pack(3, state.library_call, state.library_call_name.of(kind.object),
                            state.library_call_options.of(kind.object));
    }
    if (kind.object == object_of(state.update)) return Py_BuildValue("On", kind.object, static_cast<Py_ssize_t>(kind.detail));
    if (kind.object != object_of(state.leaf)) return Py_NewRef(kind.object);
    PyObject* aligned = kind.detail & Kind::ALIGNED ? Py_True : Py_False;
    if (kind.detail & Kind::DENSE) return Py_BuildValue("OOs", kind.object, aligned, "C");
    Ref key(PyTuple_New(2 + ndim));
    if (!key) return nullptr;
    PyTuple_SET_ITEM(key.get(), 0, Py_NewRef(kind.object));
    PyTuple_SET_ITEM(key.get(), 1, Py_NewRef(aligned));
    for (int k = 0; k < ndim; k++) PyTuple_SET_ITEM(key.get(), 2 + k, PyLong_FromLong(kind.ordered(k)));
    return key.release();
}

// The number of a structure.
struct Numbered {
    PyObject *kind = nullptr, *dtype = nullptr, *queue = nullptr, *number = nullptr;  // owned
    uint64_t detail = 0, counts = 0;

    void let_go() const {
        for (PyObject* field : {kind, dtype, queue, number}) Py_XDECREF(field);
    }
};

Recent<Numbered, 256> recent_numbers;

// See `structure_of`: the number of a structure, as a new reference; null, without an exception, for one without a number.
PyObject* number_of(PyObject* signature, Numbers& numbers) {
    Kind kind;
    if (!read_kind(signature, numbers, kind)) return nullptr;
    PyObject *dtype = state.signature_dtype.of(signature), *queue = state.signature_queue.of(signature);
    PyObject* generator = state.signature_generator.of(signature);
    const Py_ssize_t arg_count = PyTuple_GET_SIZE(state.signature_args.of(signature));
    const Py_ssize_t ndim = PyTuple_GET_SIZE(state.signature_shape.of(signature));
    const uint64_t counts = static_cast<uint64_t>(arg_count) << 16 | ndim << 1 | (generator == Py_True);
    const auto is_wanted = [&](const Numbered& entry) {
        return entry.kind == kind.object && entry.detail == kind.detail && entry.counts == counts && entry.dtype == dtype &&
               entry.queue == queue;
    };
    const uint64_t hash = hash_of(hash_of(hash_of(hash_of(counts, kind.detail), kind.object), dtype), queue);
    Numbered& recent = recent_numbers.at(hash, is_wanted);
    if (is_wanted(recent)) return Py_NewRef(recent.number);
    Ref of_kind(key_of(kind, ndim));
    Ref key(of_kind ? Py_BuildValue("OnnOOO", of_kind.get(), arg_count, ndim, dtype, queue, generator) : nullptr);
    Ref number = key ? find(state.structures, key.get()) : Ref();
    if (number) {
        recent_numbers.put(recent, {Py_NewRef(kind.object), Py_NewRef(dtype), Py_NewRef(queue), Py_NewRef(number.get()),
                                    kind.detail, counts});
    }
    return number.release();
}

// The number of the structure of a signature, whose sizes are appended; null, maybe after an exception, for what is left
// to Python. Most signatures of a loop whose sizes change are asked once, so nothing is kept of them here.
Ref structure_of(PyObject* signature, Numbers& numbers) {
    const size_t before = numbers.size();
    Ref number = Ref::to(held(state.signature_structure, signature).get());
    if (!number || !held(state.signature_sizes, signature)) {
        Sizes shape;
        if (shape.read(state.signature_shape.of(signature))) {
            append(numbers, shape);
            number = Ref(number_of(signature, numbers));
            if (number || PyErr_Occurred()) return number;
            numbers.resize(before);
        }
        number = Ref(PyObject_GetAttr(signature, structure_name));
        if (!number) return number;
    }
    const Loan sizes = held(state.signature_sizes, signature);
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(sizes.get()); k++) {
        Py_ssize_t size;
        if (!Sizes::read_integer(PyTuple_GET_ITEM(sizes.get(), k), size)) return Ref();
        numbers.push_back(size);
    }
    return number;
}

// Let a signature have its structure and sizes, which code in Python is about to ask for; false after an exception.
bool keep_structure(PyObject* signature) {
    if (held(state.signature_structure, signature) && held(state.signature_sizes, signature)) return true;
    Numbers numbers;
    Ref number = structure_of(signature, numbers), sizes(number ? tuple_of(numbers) : nullptr);
    if (!sizes) return false;
    state.signature_structure.set(signature, number.release());
    state.signature_sizes.set(signature, sizes.release());
    return true;
}

// --- graphs -----------------------------------------------------------------------------------------------------------

class Lowered {
public:
    Lowered(Numbers& structure, Numbers& sizes) : structure_(structure), sizes_(sizes) {}

    // Returns false where Python is to do it, or after an exception.
    bool add(PyObject* node) {
        PyObject* signature = as_node(node)->signature;
        const Ref number = structure_of(signature, sizes_);
        Py_ssize_t structure;
        if (!number || !Sizes::read_integer(number.get(), structure)) return false;
        structure_.push_back(structure);
        if (is_pending(as_node(node))) return add_places(as_node(node)->args);
        return state.signature_queue.of(signature) == Py_None || add_buffer(as_node(node));
    }

    // Give the nodes of a list their positions. Returns false where one is a stand-in.
    bool meet_all(PyObject* nodes) {
        for (Py_ssize_t k = 0; k < PyList_GET_SIZE(nodes); k++) {
            PyObject* node = PyList_GET_ITEM(nodes, k);
            if (!is_node(node)) return false;
            as_node(node)->walk = number_;
            as_node(node)->place = k;
        }
        return true;
    }

private:
    bool add_places(PyObject* args) {
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); k++) {
            PyObject* node = PyTuple_GET_ITEM(args, k);
            if (!is_node(node) || as_node(node)->walk != number_) return false;
            structure_.push_back(as_node(node)->place);
        }
        return true;
    }

    bool add_buffer(const Node* node) {
        Py_ssize_t offset;
        if (!Sizes::read_integer(node->offset, offset)) return false;
        const auto* first = windows_.first(node->data, offset);
        if (!first) {
            structure_.push_back(windows_.count() - 1);
            return true;
        }
        LeafSizes leaf;
        if (!leaf.read(node->signature)) return false;
        append_digits(sizes_, offset - first->offset, leaf.steps());
        structure_.push_back(first->number);
        return true;
    }

    const uint64_t number_ = next_walk();
    Numbers &structure_, &sizes_;
    BufferWindows windows_;
};

}  // namespace

PyObject* lowered(PyObject* const* args) {
    Ref nodes(PySequence_List(args[0]));
    if (!nodes) return nullptr;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(nodes.get()); k++) {
        PyObject* node = PyList_GET_ITEM(nodes.get(), k);
        if (!is_node(node)) return nullptr;
        if (!keep_structure(as_node(node)->signature)) return nullptr;
    }
    Numbers numbers, sizes;
    const bool is_read = read_structure(nodes.get(), numbers, sizes) == Structure::READ;
    Ref structure(is_read ? tuple_of(numbers) : nullptr);
    Ref made(structure ? PyList_New(sizes.size()) : nullptr);
    for (size_t k = 0; made && k < sizes.size(); k++) {
        PyObject* number = PyLong_FromSsize_t(sizes[k]);
        if (!number) return nullptr;
        PyList_SET_ITEM(made.get(), k, number);
    }
    return made ? PyTuple_Pack(2, structure.get(), made.get()) : nullptr;
}

PyObject* has_many_sizes(PyObject* const* args) {
    Py_ssize_t many;
    if (!PyList_CheckExact(args[0]) || !Sizes::read_integer(args[1], many)) return nullptr;
    Numbers structure, sizes;
    switch (read_structure(args[0], structure, sizes, many)) {
        case Structure::OF_MANY_SIZES: Py_RETURN_TRUE;
        case Structure::READ: Py_RETURN_FALSE;
        default: return nullptr;
    }
}

Structure read_structure(PyObject* nodes, Numbers& structure, Numbers& sizes, Py_ssize_t many) {
    Lowered made(structure, sizes);
    if (!made.meet_all(nodes)) return Structure::NOT_AT_HAND;
    Numbers different;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(nodes); k++) {
        const size_t before = sizes.size();
        if (!made.add(PyList_GET_ITEM(nodes, k))) return Structure::NOT_AT_HAND;
        for (size_t j = before; many != ANY && j < sizes.size(); j++) {
            const Py_ssize_t size = sizes[j] < 0 ? -sizes[j] : sizes[j];
            if (size < LEAST || std::find(different.begin(), different.end(), size) != different.end()) continue;
            different.push_back(size);
            if (static_cast<Py_ssize_t>(different.size()) >= many) return Structure::OF_MANY_SIZES;
        }
    }
    return many ? Structure::READ : Structure::OF_MANY_SIZES;
}

bool take_structure(PyObject* signature, PyObject* other) {
    // The structure tells whether a value is a generator.
    if (state.signature_generator.of(signature) != state.signature_generator.of(other)) return true;
    if (!keep_structure(other)) return false;
    // Of operations that have no sizes of their own.
    state.signature_structure.set(signature, Py_NewRef(held(state.signature_structure, other).get()));
    state.signature_sizes.set(signature, Py_NewRef(state.signature_shape.of(signature)));
    return true;
}

}  // namespace core
