#include "structures.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "node.hpp"
#include "state.hpp"

namespace core {

namespace {

void append(Numbers& numbers, const Sizes& sizes) { numbers.insert(numbers.end(), sizes.at, sizes.at + sizes.count); }

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

// What follows is null, without an exception, for what is left to Python: `kind`s are primitives without sizes, which are
// appended to `numbers`.

PyObject* kind_of_leaf(PyObject* signature, Numbers& numbers) {
    LeafSizes leaf;
    if (!leaf.read(signature)) return nullptr;
    PyObject* aligned = state.leaf_aligned.of(state.signature_primitive.of(signature));
    if (leaf.is_dense) return Py_BuildValue("OOs", state.leaf, aligned, "C");
    int order[MAX_AT_HAND];
    sort_by_stride(leaf.strides, order);
    append(numbers, leaf.strides);
    append_digits(numbers, leaf.origin, permuted(leaf.strides, order));
    Ref kind(PyTuple_New(2 + leaf.strides.count));
    if (!kind) return nullptr;
    PyTuple_SET_ITEM(kind.get(), 0, Py_NewRef(state.leaf));
    PyTuple_SET_ITEM(kind.get(), 1, Py_NewRef(aligned));
    for (int k = 0; k < leaf.strides.count; k++) PyTuple_SET_ITEM(kind.get(), 2 + k, PyLong_FromLong(order[k]));
    return kind.release();
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

PyObject* kind_of_view(PyObject* signature, Numbers& numbers) {
    PyObject* view = state.signature_primitive.of(signature);
    Sizes shape, strides, whole;
    if (!shape.read(state.signature_shape.of(signature)) || !strides.read(state.view_strides.of(view)) ||
        !read_whole(signature, whole) || !append_coordinates(numbers, strides, state.view_offset.of(view), whole)) {
        return nullptr;
    }
    for (int d = 0; d < shape.count; d++) {
        if (shape.at[d] > 1 && !whole.has(shape.at[d]) && is_product(shape.at[d], whole)) return nullptr;
    }
    return Py_NewRef(state.view);
}

PyObject* kind_of_update(PyObject* signature, Numbers& numbers) {
    PyObject* region = state.update_region.of(state.signature_primitive.of(signature));
    Sizes shape, strides, whole;
    if (!shape.read(PyTuple_GET_ITEM(region, 0)) || !strides.read(PyTuple_GET_ITEM(region, 1)) ||
        !read_whole(signature, whole)) {
        return nullptr;
    }
    append(numbers, shape);
    if (!append_coordinates(numbers, strides, PyTuple_GET_ITEM(region, 2), whole)) return nullptr;
    return Py_BuildValue("Oi", state.update, shape.count);
}

PyObject* kind_of_library_call(PyObject* signature) {
    PyObject* call = state.signature_primitive.of(signature);
    if (PyTuple_GET_SIZE(state.library_call_results.of(call))) return nullptr;
    return PyTuple_Pack(3, state.library_call, state.library_call_name.of(call), state.library_call_options.of(call));
}

PyObject* kind_of(PyObject* signature, Numbers& numbers) {
    PyObject* primitive = state.signature_primitive.of(signature);
    PyTypeObject* type = Py_TYPE(primitive);
    if (type == state.leaf) return kind_of_leaf(signature, numbers);
    if (type == state.view) return kind_of_view(signature, numbers);
    if (type == state.update) return kind_of_update(signature, numbers);
    if (type == state.library_call) return kind_of_library_call(signature);
    return Py_NewRef(primitive);
}

// See `structure_of`: the number of a structure, as a new reference.
PyObject* number_of(PyObject* signature, Numbers& numbers) {
    Ref kind(kind_of(signature, numbers));
    if (!kind) return nullptr;
    Ref key(Py_BuildValue("OnnOOO", kind.get(), PyTuple_GET_SIZE(state.signature_args.of(signature)),
                          PyTuple_GET_SIZE(state.signature_shape.of(signature)), state.signature_dtype.of(signature),
                          state.signature_queue.of(signature), state.signature_generator.of(signature)));
    return key ? find(state.structures, key.get()).release() : nullptr;
}

// See to it that a signature has its structure and sizes; false after an exception.
bool find_structure(PyObject* signature) {
    if (held(state.signature_structure, signature) && held(state.signature_sizes, signature)) return true;
    Numbers numbers;
    Ref number(number_of(signature, numbers));
    if (PyErr_Occurred()) return false;
    if (number) {
        Ref of_primitive(tuple_of(numbers));
        Ref sizes(of_primitive ? PySequence_Concat(state.signature_shape.of(signature), of_primitive.get()) : nullptr);
        if (!sizes) return false;
        state.signature_structure.set(signature, number.release());
        state.signature_sizes.set(signature, sizes.release());
        return true;
    }
    static Name name("structure");
    return static_cast<bool>(Ref(PyObject_GetAttr(signature, name)));
}

// --- graphs -----------------------------------------------------------------------------------------------------------

class Lowered {
public:
    explicit Lowered(Numbers& sizes) : sizes_(sizes) {}

    // Returns false where Python is to do it, or after an exception.
    bool add(PyObject* node) {
        PyObject* signature = as_node(node)->signature;
        if (!find_structure(signature)) return false;
        structure_.push_back(Py_NewRef(held(state.signature_structure, signature).get()));
        const Loan held_sizes = held(state.signature_sizes, signature);
        PyObject* sizes = held_sizes.get();
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(sizes); k++) {
            Py_ssize_t number;
            if (!Sizes::read_integer(PyTuple_GET_ITEM(sizes, k), number)) return false;
            sizes_.push_back(number);
        }
        if (is_pending(as_node(node))) return add_places(as_node(node)->args);
        return state.signature_queue.of(signature) == Py_None || add_buffer(as_node(node));
    }

    // A new tuple.
    PyObject* structure() {
        Ref made(PyTuple_New(structure_.size()));
        for (size_t k = 0; made && k < structure_.size(); k++) {
            PyTuple_SET_ITEM(made.get(), k, std::exchange(structure_[k], nullptr));
        }
        return made.release();
    }

    ~Lowered() {
        for (PyObject* part : structure_) Py_XDECREF(part);
    }

    std::unordered_map<PyObject*, Py_ssize_t> place_of;

private:
    bool add_places(PyObject* args) {
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); k++) {
            const auto found = place_of.find(PyTuple_GET_ITEM(args, k));
            if (found == place_of.end() || !add(structure_, found->second)) return false;
        }
        return true;
    }

    bool add_buffer(const Node* node) {
        Py_ssize_t offset;
        if (!Sizes::read_integer(node->offset, offset)) return false;
        const auto [first, is_new] = buffers_.try_emplace(node->data, buffers_.size(), offset);
        if (!is_new) {
            LeafSizes leaf;
            if (!leaf.read(node->signature)) return false;
            append_digits(sizes_, offset - first->second.second, leaf.steps());
        }
        return add(structure_, first->second.first);
    }

    static bool add(std::vector<PyObject*>& numbers, Py_ssize_t number) {
        numbers.push_back(PyLong_FromSsize_t(number));
        return numbers.back() != nullptr;
    }

    Numbers& sizes_;
    std::vector<PyObject*> structure_;
    std::unordered_map<PyObject*, std::pair<Py_ssize_t, Py_ssize_t>> buffers_;
};

}  // namespace

PyObject* lowered(PyObject* const* args) {
    Ref nodes(PySequence_List(args[0]));
    Numbers sizes;
    Ref structure(nodes ? lowered_structure(nodes.get(), sizes) : nullptr);
    Ref made(structure ? PyList_New(sizes.size()) : nullptr);
    for (size_t k = 0; made && k < sizes.size(); k++) {
        PyObject* number = PyLong_FromSsize_t(sizes[k]);
        if (!number) return nullptr;
        PyList_SET_ITEM(made.get(), k, number);
    }
    return made ? PyTuple_Pack(2, structure.get(), made.get()) : nullptr;
}

PyObject* lowered_structure(PyObject* nodes, Numbers& sizes) {
    Lowered made(sizes);
    const Py_ssize_t count = PyList_GET_SIZE(nodes);
    for (Py_ssize_t k = 0; k < count; k++) made.place_of[PyList_GET_ITEM(nodes, k)] = k;
    for (Py_ssize_t k = 0; k < count; k++) {
        if (!made.add(PyList_GET_ITEM(nodes, k))) return nullptr;
    }
    return made.structure();
}

bool take_structure(PyObject* signature, PyObject* other) {
    // The structure tells whether a value is a generator.
    if (state.signature_generator.of(signature) != state.signature_generator.of(other)) return true;
    if (!find_structure(other)) return false;
    // Of operations that have no sizes of their own.
    state.signature_structure.set(signature, Py_NewRef(held(state.signature_structure, other).get()));
    state.signature_sizes.set(signature, Py_NewRef(state.signature_shape.of(signature)));
    return true;
}

}  // namespace core
