#include "views.hpp"

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

// Read an integer of Python's own class. Returns false, without an exception, for anything else.
bool read_integer(PyObject* object, Py_ssize_t& value) {
    if (!PyLong_CheckExact(object)) return false;
    value = PyLong_AsSsize_t(object);
    if (value != -1 || !PyErr_Occurred()) return true;
    PyErr_Clear();
    return false;
}

bool is_plain_bound(PyObject* object) { return object == Py_None || PyLong_CheckExact(object); }

// The signature of a window of a leaf, as a new reference.
PyObject* leaf_signature(PyObject* window, bool is_aligned) {
    PyObject* known = PyList_GET_ITEM(state.window_leaves.of(window), is_aligned);
    if (known != Py_None) return Py_NewRef(known);
    return PyObject_CallMethod(window, "leaf", "i", is_aligned);
}

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

PyObject* view_of_leaf(const Node* node, PyObject* window) {
    Ref data = Ref::to(node->data), signature = Ref::to(node->signature);
    const Py_ssize_t offset =
        PyLong_AsSsize_t(node->offset) + PyLong_AsSsize_t(state.window_step.of(window));
    bool aligned = false;
    if (!is_aligned(data.get(), offset, state.signature_dtype.of(signature.get()), aligned)) return nullptr;
    Ref of_leaf(leaf_signature(window, aligned));
    if (!of_leaf) return nullptr;
    Ref view(new_node(of_leaf.get(), PyTuple_New(0), data.get()));
    if (!view) return nullptr;
    as_node(view.get())->offset = PyLong_FromSsize_t(offset);
    as_node(view.get())->bound = Py_NewRef(Py_None);
    return as_node(view.get())->offset ? view.release() : nullptr;
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
    PyObject* merges = !was_pending || node->owner == Py_None ? Py_True : Py_False;
    Ref key(PyTuple_Pack(3, signature.get(), layout, merges));
    if (!key) return nullptr;
    Ref window = Ref::to(PyDict_GetItemWithError(state.windows, key.get()));
    if (!window) return nullptr;
    if (window.get() == Py_False) return Py_NewRef(object);
    const bool is_nested = state.window_nested.of(window.get()) == Py_True;
    if (!was_pending) return is_nested ? nullptr : view_of_leaf(node, window.get());
    return new_node(state.window_signature.of(window.get()), is_nested ? PyTuple_Pack(1, object) : Py_NewRef(args.get()));
}

PyObject* view(PyObject* node, PyObject* layout) {
    PyObject* found = view_at_hand(node, layout);
    if (found || PyErr_Occurred()) return found;
    return PyObject_CallFunctionObjArgs(state.make_view_node, node, layout, nullptr);
}

PyObject* as_new_node(PyObject* node) {
    Ref key(PyTuple_Pack(2, state.view, as_node(node)->signature));
    if (!key) return nullptr;
    Ref signature = Ref::to(PyDict_GetItemWithError(state.signatures, key.get()));
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
            if (!read_integer(item, index)) return false;
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
