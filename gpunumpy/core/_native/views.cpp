#include "views.hpp"

#include <cstdlib>

#include "signatures.hpp"

namespace core {

namespace {

PyObject* tuple_of(const Py_ssize_t* numbers, int count) {
    PyObject* tuple = PyTuple_New(count);
    if (!tuple) return nullptr;
    for (int k = 0; k < count; k++) {
        PyObject* number = PyLong_FromSsize_t(numbers[k]);
        if (!number) {
            Py_DECREF(tuple);
            return nullptr;
        }
        PyTuple_SET_ITEM(tuple, k, number);
    }
    return tuple;
}

bool equals(PyObject* tuple, const Py_ssize_t* numbers, int count) {
    if (PyTuple_GET_SIZE(tuple) != count) return false;
    for (int k = 0; k < count; k++) {
        if (PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, k)) != numbers[k]) return false;
    }
    return true;
}

bool is_plain_bound(PyObject* object) { return object == Py_None || PyLong_CheckExact(object); }

bool is_aligned(PyObject* data, Py_ssize_t offset, PyObject* dtype, bool& answer) {
    static PyObject* const phase_name = PyUnicode_InternFromString("phase");
    static PyObject* const itemsize_name = PyUnicode_InternFromString("itemsize");
    Ref phase(PyObject_GetAttr(data, phase_name));
    if (!phase) return false;
    Ref itemsize(PyObject_GetAttr(dtype, itemsize_name));
    if (!itemsize) return false;
    answer = (PyLong_AsSsize_t(phase.get()) + offset * PyLong_AsSsize_t(itemsize.get())) % 16 == 0;
    return !PyErr_Occurred();
}

// A `Layout` in C++. `read` returns false for one that is left to Python.
struct Region {
    Sizes shape, strides;
    Py_ssize_t offset;

    bool read(PyObject* layout) {
        return shape.read(PyTuple_GET_ITEM(layout, 0)) && strides.read(PyTuple_GET_ITEM(layout, 1)) &&
               Sizes::read_integer(PyTuple_GET_ITEM(layout, 2), offset);
    }
    // Whether it shows all elements of a C-ordered value of a shape, in order.
    bool is_whole(const Sizes& whole) const { return shape == whole && !offset && is_c_contiguous(shape, strides); }
    // How far the lowest element is from the first one.
    Py_ssize_t origin() const {
        Py_ssize_t distance = 0;
        for (int k = 0; k < shape.count; k++) {
            if (strides.at[k] < 0) distance -= strides.at[k] * (shape.at[k] - 1);
        }
        return distance;
    }
};

PyObject* new_leaf(PyObject* signature, PyObject* data, Py_ssize_t offset) {
    Ref leaf(new_node(signature, PyTuple_New(0), data));
    if (!leaf) return nullptr;
    as_node(leaf.get())->offset = PyLong_FromSsize_t(offset);
    as_node(leaf.get())->bound = Py_NewRef(Py_None);
    return as_node(leaf.get())->offset ? leaf.release() : nullptr;
}

// What does not follow from arithmetic on C order, and what has no elements, is left to Python: null, without an
// exception.
PyObject* view_of_leaf(PyObject* object, PyObject* signature, PyObject* layout) {
    Ref data = Ref::to(as_node(object)->data);
    PyObject* leaf = state.signature_primitive.of(signature);
    Sizes whole, own;
    Region region;
    Py_ssize_t start, first;
    if (!region.read(layout) || region.shape.has(0) || !whole.read(state.signature_shape.of(signature)) ||
        !own.read(state.leaf_strides.of(leaf)) || !Sizes::read_integer(state.leaf_origin.of(leaf), first) ||
        !Sizes::read_integer(as_node(object)->offset, start)) {
        return nullptr;
    }
    if (region.is_whole(whole)) return Py_NewRef(object);
    if (!is_c_contiguous(whole, own)) return nullptr;
    const Py_ssize_t origin = region.origin(), lowest = start + first + region.offset - origin;
    PyObject* dtype = state.signature_dtype.of(signature);
    bool aligned = false;
    if (!is_aligned(data.get(), lowest, dtype, aligned)) return nullptr;
    Ref made(leaf_signature(PyTuple_GET_ITEM(layout, 0), PyTuple_GET_ITEM(layout, 1), origin, aligned, dtype,
                            state.signature_queue.of(signature)));
    return made ? new_leaf(made.get(), data.get(), lowest) : nullptr;
}

// How a pending value with a signature is shown through a layout: see `_window` in node.py. Null, without an exception,
// where the layout is one over a view that does not follow from arithmetic on C order, and where there are no elements.
PyObject* new_window(PyObject* source, PyObject* layout, bool merges) {
    PyObject* primitive = state.signature_primitive.of(source);
    Sizes whole;
    Region region;
    if (!region.read(layout) || region.shape.has(0) || !whole.read(state.signature_shape.of(source))) return nullptr;
    if (region.is_whole(whole)) return Py_NewRef(Py_False);
    const bool is_merged = merges && Py_TYPE(primitive) == state.view;
    if (is_merged) {
        Sizes own;
        Py_ssize_t start;
        PyObject* argument = PyTuple_GET_ITEM(state.signature_args.of(source), 0);
        if (!own.read(state.view_strides.of(primitive)) || !is_c_contiguous(whole, own) ||
            !Sizes::read_integer(state.view_offset.of(primitive), start) ||
            Py_TYPE(state.signature_primitive.of(argument)) == state.leaf) {  // which may have strides
            return nullptr;
        }
        region.offset += start;
    }
    Ref args(is_merged ? Py_NewRef(state.signature_args.of(source)) : PyTuple_Pack(1, source));
    if (!args) return nullptr;
    Ref signature(view_signature(args.get(), PyTuple_GET_ITEM(layout, 0), PyTuple_GET_ITEM(layout, 1), region.offset,
                                 state.signature_queue.of(source)));
    if (!signature) return nullptr;
    PyObject* window = state.window->tp_alloc(state.window, 0);
    if (!window) return nullptr;
    state.window_signature.set(window, signature.release());
    state.window_nested.set(window, Py_NewRef(is_merged ? Py_False : Py_True));
    return window;
}

}  // namespace

PyObject* view_at_hand(PyObject* object, PyObject* layout) {
    Node* node = as_node(object);
    if (!is_node(object)) return nullptr;
    // What the node is now: where a tuple is made, Python 3.11 may collect garbage, and a finalizer that looks at a value
    // turns the node into a leaf.
    const Ref signature = Ref::to(node->signature), args = Ref::to(node->args);
    const bool was_pending = is_pending(node);
    PyObject* primitive = state.signature_primitive.of(signature.get());
    // Another thread may be turning the node into a leaf: Python waits for it.
    if (was_pending == (Py_TYPE(primitive) == state.leaf) || Py_TYPE(primitive) == state.constant) return nullptr;
    if (!was_pending) return view_of_leaf(object, signature.get(), layout);
    const bool merges = node->owner == Py_None;
    Ref key(PyTuple_Pack(3, signature.get(), layout, merges ? Py_True : Py_False));
    if (!key) return nullptr;
    Ref window = Ref::to(PyDict_GetItemWithError(state.windows, key.get()));
    if (PyErr_Occurred()) return nullptr;
    if (!window) {
        Ref made(new_window(signature.get(), layout, merges));
        if (made) window = Ref::to(keep(state.windows, key.get(), made.get()));
        if (!window) return nullptr;
    }
    if (window.get() == Py_False) return Py_NewRef(object);
    const bool is_nested = state.window_nested.of(window.get()) == Py_True;
    return new_node(state.window_signature.of(window.get()), is_nested ? PyTuple_Pack(1, object) : Py_NewRef(args.get()));
}

PyObject* view(PyObject* node, PyObject* layout) {
    PyObject* found = view_at_hand(node, layout);
    if (found || PyErr_Occurred()) return found;
    return PyObject_CallFunctionObjArgs(state.make_view_node, node, layout, nullptr);
}

PyObject* fill(PyObject* value, PyObject* shape, PyObject* queue) {
    const Ref source = Ref::to(as_node(value)->signature);
    Ref key(PyTuple_Pack(4, state.view, source.get(), shape, queue));
    if (!key) return nullptr;
    Ref signature = Ref::to(PyDict_GetItemWithError(state.signatures, key.get()));
    if (!signature && !PyErr_Occurred() && PyTuple_GET_SIZE(shape) <= MAX_AT_HAND) {
        Sizes zeros;
        zeros.count = static_cast<int>(PyTuple_GET_SIZE(shape));
        for (int k = 0; k < zeros.count; k++) zeros.at[k] = 0;
        Ref strides(zeros.tuple()), args(PyTuple_Pack(1, source.get()));
        if (!strides || !args) return nullptr;
        Ref made(view_signature(args.get(), shape, strides.get(), 0, queue));
        if (made) signature = Ref::to(keep(state.signatures, key.get(), made.get()));
    }
    return signature ? new_node(signature.get(), PyTuple_Pack(1, value)) : nullptr;
}

PyObject* as_new_node(PyObject* node) {
    Ref source = Ref::to(as_node(node)->signature);
    Ref key(PyTuple_Pack(2, state.view, source.get()));
    if (!key) return nullptr;
    Ref signature = Ref::to(PyDict_GetItemWithError(state.signatures, key.get()));
    Sizes shape;
    if (!signature && !PyErr_Occurred() && shape.read(state.signature_shape.of(source.get()))) {
        Ref strides(c_strides(shape).tuple()), args(PyTuple_Pack(1, source.get()));
        if (!strides || !args) return nullptr;
        Ref made(view_signature(args.get(), state.signature_shape.of(source.get()), strides.get(), 0,
                                state.signature_queue.of(source.get())));
        if (made) signature = Ref::to(keep(state.signatures, key.get(), made.get()));
    }
    if (signature) return new_node(signature.get(), PyTuple_Pack(1, node));
    return PyErr_Occurred() ? nullptr : PyObject_CallOneArg(state.as_new_node, node);
}

bool Positions::read(PyObject* array) {
    PyObject *shape_tuple, *strides_tuple = nullptr;
    if (as_array(array)->base == Py_None) {
        shape_tuple = state.signature_shape.of(as_node(as_array(array)->node)->signature);
    } else {
        if (!owner_of(array)) return false;
        PyObject* layout = as_array(array)->layout;
        shape_tuple = PyTuple_GET_ITEM(layout, 0);
        strides_tuple = PyTuple_GET_ITEM(layout, 1);
        offset = PyLong_AsSsize_t(PyTuple_GET_ITEM(layout, 2));
    }
    if (PyTuple_GET_SIZE(shape_tuple) > MAX_AT_HAND) return false;
    ndim = static_cast<int>(PyTuple_GET_SIZE(shape_tuple));
    Py_ssize_t step = 1;
    for (int k = ndim - 1; k >= 0; k--) {
        shape[k] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape_tuple, k));
        strides[k] = strides_tuple ? PyLong_AsSsize_t(PyTuple_GET_ITEM(strides_tuple, k)) : step;
        step *= shape[k] > 1 ? shape[k] : 1;
    }
    return true;
}

bool Positions::select(PyObject* key) {
    const bool is_tuple = PyTuple_CheckExact(key);
    const Py_ssize_t count = is_tuple ? PyTuple_GET_SIZE(key) : 1;
    int indexed = 0, ellipses = 0, added = 0;
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject* item = is_tuple ? PyTuple_GET_ITEM(key, k) : key;
        if (item == Py_None) {
            added++;
        } else if (item == Py_Ellipsis) {
            ellipses++;
        } else if (PySlice_Check(item) || PyLong_CheckExact(item)) {
            indexed++;
        } else {
            return false;
        }
    }
    if (indexed > ndim || ellipses > 1 || ndim + added > MAX_AT_HAND) return false;
    has_ellipsis = ellipses;
    const Positions all = *this;
    int axis = 0;
    ndim = 0;
    const auto keep = [&](int stop) {
        for (; axis < stop; axis++, ndim++) {
            shape[ndim] = all.shape[axis];
            strides[ndim] = all.strides[axis];
        }
    };
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject* item = is_tuple ? PyTuple_GET_ITEM(key, k) : key;
        if (item == Py_None) {
            shape[ndim] = 1;
            strides[ndim++] = 0;
        } else if (item == Py_Ellipsis) {
            keep(axis + all.ndim - indexed);
        } else if (PySlice_Check(item)) {
            const PySliceObject* slice = reinterpret_cast<PySliceObject*>(item);
            Py_ssize_t start, stop, step;
            if (!is_plain_bound(slice->start) || !is_plain_bound(slice->stop) || !is_plain_bound(slice->step)) return false;
            if (PySlice_Unpack(item, &start, &stop, &step) < 0) {
                PyErr_Clear();  // a step of 0, for which Python has the error
                return false;
            }
            const Py_ssize_t length = PySlice_AdjustIndices(all.shape[axis], &start, &stop, step);
            if (length) offset += start * all.strides[axis];
            shape[ndim] = length;
            if (__builtin_mul_overflow(all.strides[axis], step, &strides[ndim])) return false;
            axis++, ndim++;
        } else {
            Py_ssize_t index;
            if (!Sizes::read_integer(item, index)) return false;
            if (index < 0) index += all.shape[axis];
            if (index < 0 || index >= all.shape[axis]) return false;
            offset += index * all.strides[axis++];
        }
    }
    keep(all.ndim);
    return true;
}

bool Positions::has_shape(PyObject* shape_tuple) const { return equals(shape_tuple, shape, ndim); }

bool Positions::equal(PyObject* layout_tuple) const {
    return PyLong_AsSsize_t(PyTuple_GET_ITEM(layout_tuple, 2)) == offset && has_shape(PyTuple_GET_ITEM(layout_tuple, 0)) &&
           equals(PyTuple_GET_ITEM(layout_tuple, 1), strides, ndim);
}

bool Positions::is_whole(PyObject* shape_tuple) const {
    if (offset || !has_shape(shape_tuple)) return false;
    for (int k = 0; k < ndim; k++) {
        if (!shape[k]) return true;
    }
    Py_ssize_t step = 1;
    for (int k = ndim - 1; k >= 0; k--) {
        if (shape[k] != 1 && strides[k] != step) return false;
        step *= shape[k];
    }
    return true;
}

bool Positions::are_distinct() const {
    int order[MAX_AT_HAND], count = 0;  // the dimensions that were looked at, by the lengths of their strides
    for (int k = 0; k < ndim; k++) {
        if (!shape[k]) return true;
        if (shape[k] == 1) continue;
        int place = count++;
        for (; place && std::abs(strides[order[place - 1]]) > std::abs(strides[k]); place--) order[place] = order[place - 1];
        order[place] = k;
    }
    Py_ssize_t reach = 0;
    for (int k = 0; k < count; k++) {
        const Py_ssize_t step = std::abs(strides[order[k]]);
        if (step <= reach) return false;
        reach += step * (shape[order[k]] - 1);
    }
    return true;
}

PyObject* Positions::layout() const {
    Ref made(state.layout->tp_alloc(state.layout, 3));
    if (!made) return nullptr;
    PyObject* items[] = {tuple_of(shape, ndim), tuple_of(strides, ndim), PyLong_FromSsize_t(offset)};
    for (int k = 0; k < 3; k++) PyTuple_SET_ITEM(made.get(), k, items[k]);
    return items[0] && items[1] && items[2] ? made.release() : nullptr;
}

bool can_have_views(PyObject* object) {
    if (!owner_of(object)) return false;
    PyObject* shape = state.signature_shape.of(as_node(as_array(object)->node)->signature);
    return PyTuple_GET_SIZE(shape) > 0 || has_flag(object, MADE_AS_ARRAY);
}

PyObject* make_view(PyObject* array, PyObject* where) {
    Ref owner = Ref::to(owner_of(array)), layout = Ref::to(where);
    Ref current = Ref::to(as_array(owner.get())->node);
    Ref node(view(current.get(), layout.get()));
    if (!node) return nullptr;
    static PyObject* const whole = PyUnicode_InternFromString("");
    PyObject* made = state.ndarray->tp_alloc(state.ndarray, 0);
    if (!made) return nullptr;
    Array* fields = as_array(made);
    fields->flags = PyLong_FromLong(PyLong_AsLong(as_array(array)->flags) | MADE_AS_ARRAY);
    fields->base = owner.release();
    fields->layout = layout.release();
    fields->component = Py_NewRef(whole);
    fields->source = current.release();
    fields->node = node.release();
    return made;
}

}  // namespace core
