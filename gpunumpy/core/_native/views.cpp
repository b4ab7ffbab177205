#include "views.hpp"

#include "buffer.hpp"
#include "numpy_api.hpp"
#include "recent.hpp"
#include "signatures.hpp"

namespace core {

namespace {

Name empty_name("");

// Whether an element of a leaf with a signature is aligned.
bool is_aligned(PyObject* data, Py_ssize_t offset, PyObject* signature) {
    const Py_ssize_t alignment = PyLong_AsSsize_t(state.queue_alignment.of(state.signature_queue.of(signature)));
    PyObject* dtype = state.signature_dtype.of(signature);
    const Py_ssize_t itemsize = PyDataType_ELSIZE(reinterpret_cast<PyArray_Descr*>(dtype));
    return (PyLong_AsSsize_t(as_buffer(data)->phase) + offset * itemsize) % alignment == 0;
}

// How values with a signature are shown through a layout: a pending one by its window, or by itself (`Py_False`), a leaf
// by a leaf whose signature depends on whether it is aligned.
struct Shown {
    PyObject *source = nullptr, *layout = nullptr;  // owned, as those below
    PyObject* found[2] = {nullptr, nullptr};  // the window, or the leaves: one that is not aligned, and one that is
    Py_ssize_t distance = 0;  // of the lowest element of a leaf from that of the leaf shown
    FewPositions positions;
    bool merges = false;

    void let_go() const {
        for (PyObject* field : {source, layout, found[0], found[1]}) Py_XDECREF(field);
    }
    bool is_of(PyObject* signature, bool is_merging, const Positions& wanted) const {
        return source == signature && merges == is_merging && positions == wanted;
    }
};

Recent<Shown, 4096> recent_views;

// The view of a leaf at positions; null, without an exception, for what does not follow from arithmetic on C order, and
// for what has no elements. `recent` may be null.
PyObject* view_of_leaf(PyObject* object, PyObject* signature, const Positions& positions, PyObject* layout, Shown* recent) {
    Ref data = Ref::to(as_node(object)->data);
    PyObject* leaf = state.signature_primitive.of(signature);
    Sizes whole, own;
    Py_ssize_t start, first;
    if (!is_buffer(data.get()) || positions.shape.has(0) || !whole.read(state.signature_shape.of(signature)) ||
        !own.read(state.leaf_strides.of(leaf)) || !Sizes::read_integer(state.leaf_origin.of(leaf), first) ||
        !Sizes::read_integer(as_node(object)->offset, start)) {
        return nullptr;
    }
    if (positions.is_whole(whole)) return Py_NewRef(object);
    Positions shown = positions;
    if (!shown.look_through(whole, own, first)) return nullptr;
    Ref strides(shown.strides == positions.strides ? Py_NewRef(PyTuple_GET_ITEM(layout, 1)) : tuple_of_strides(shown.strides));
    if (!strides) return nullptr;
    const Py_ssize_t origin = shown.origin(), distance = shown.offset - origin;
    PyObject* dtype = state.signature_dtype.of(signature);
    const bool aligned = is_aligned(data.get(), start + distance, signature);
    Ref made(leaf_signature(PyTuple_GET_ITEM(layout, 0), strides.get(), origin, aligned, dtype,
                            state.signature_queue.of(signature), true));
    if (!made) return nullptr;
    if (recent && recent->is_of(signature, true, positions)) {
        recent->distance = distance;
        set_field(recent->found[aligned], Py_NewRef(made.get()));
    } else if (recent) {
        Shown shown{Py_NewRef(signature), Py_NewRef(layout), {}, distance, FewPositions(positions), true};
        shown.found[aligned] = Py_NewRef(made.get());
        recent_views.put(*recent, shown);
    }
    return new_leaf(made.get(), data.get(), start + distance);
}

// How a pending value with a signature is shown at positions: see `_window` in node.py. Null, without an exception, where
// they are those of a view that does not follow from arithmetic on C order, and where there are no elements.
PyObject* new_window(PyObject* source, const Positions& positions, PyObject* layout, bool merges) {
    PyObject* primitive = state.signature_primitive.of(source);
    Sizes whole;
    if (positions.shape.has(0) || !whole.read(state.signature_shape.of(source))) return nullptr;
    if (positions.is_whole(whole)) return Py_NewRef(Py_False);
    const bool is_merged = merges && Py_TYPE(primitive) == state.view;
    Positions shown = positions;
    if (is_merged) {
        Sizes own;
        Py_ssize_t start;
        PyObject* argument = PyTuple_GET_ITEM(state.signature_args.of(source), 0);
        if (!own.read(state.view_strides.of(primitive)) ||
            !Sizes::read_integer(state.view_offset.of(primitive), start) || !shown.look_through(whole, own, start) ||
            Py_TYPE(state.signature_primitive.of(argument)) == state.leaf) {  // which may have strides
            return nullptr;
        }
    }
    Ref args(is_merged ? Py_NewRef(state.signature_args.of(source)) : PyTuple_Pack(1, source));
    Ref strides(shown.strides == positions.strides ? Py_NewRef(PyTuple_GET_ITEM(layout, 1)) : tuple_of_strides(shown.strides));
    if (!args || !strides) return nullptr;
    return view_signature(args.get(), PyTuple_GET_ITEM(layout, 0), strides.get(), shown.offset, state.signature_queue.of(source));
}

// What a table has for such a value, which is put there if it is at hand. Null as above, or after an exception.
PyObject* window_of(PyObject* signature, const Positions& positions, PyObject* layout, bool merges) {
    Ref key(PyTuple_Pack(3, signature, layout, merges ? Py_True : Py_False));
    if (!key) return nullptr;
    Ref window = find(state.windows, key.get());
    if (window || PyErr_Occurred()) return window.release();
    Ref made(new_window(signature, positions, layout, merges));
    return made ? keep(state.windows, key.get(), made.get()).release() : nullptr;
}

// The value of a node at positions, null as above. `layout` is what they are as a `Layout`; if it is null, it is set.
PyObject* view_at(PyObject* object, const Positions& positions, Ref& layout) {
    Node* node = as_node(object);
    if (!is_node(object)) return nullptr;
    // What the node is now: where a tuple is made, Python 3.11 may collect garbage, and a finalizer that looks at a value
    // turns the node into a leaf.
    const Ref signature = Ref::to(node->signature), args = Ref::to(node->args), data = Ref::to(node->data);
    const bool was_pending = data.get() == Py_None;
    // A stand-in (memo.py) has a buffer of Python's, and its arguments are made when Python asks for them.
    if (!args || (!was_pending && !is_buffer(data.get()))) return nullptr;
    PyObject* primitive = state.signature_primitive.of(signature.get());
    // Another thread may be turning the node into a leaf: Python waits for it.
    if (was_pending == (Py_TYPE(primitive) == state.leaf) || Py_TYPE(primitive) == state.constant) return nullptr;
    const bool merges = !was_pending || node->owner == Py_None;
    Shown* recent = nullptr;
    Ref window;
    if (FewPositions::has_room(positions)) {
        const auto is_wanted = [&](const Shown& entry) { return entry.is_of(signature.get(), merges, positions); };
        recent = &recent_views.at(FewPositions::hash(hash_of(merges, signature.get()), positions), is_wanted);
        if (is_wanted(*recent)) {
            if (!layout) layout = Ref::to(recent->layout);
            if (was_pending) window = Ref::to(recent->found[0]);
            Py_ssize_t start;
            if (!was_pending && Sizes::read_integer(node->offset, start)) {
                const Py_ssize_t lowest = start + recent->distance;
                const Ref leaf = Ref::to(recent->found[is_aligned(data.get(), lowest, signature.get())]);
                if (leaf) return new_leaf(leaf.get(), data.get(), lowest);
            }
        }
    }
    if (!layout) layout = Ref(positions.layout());
    if (!layout) return nullptr;
    if (!was_pending) return view_of_leaf(object, signature.get(), positions, layout.get(), recent);
    if (!window) {
        window = Ref(window_of(signature.get(), positions, layout.get(), merges));
        if (!window) return nullptr;
        if (recent) {
            Shown shown{Py_NewRef(signature.get()), Py_NewRef(layout.get()), {}, 0, FewPositions(positions), merges};
            shown.found[0] = Py_NewRef(window.get());
            recent_views.put(*recent, shown);
        }
    }
    if (window.get() == Py_False) return Py_NewRef(object);
    const bool is_nested = PyTuple_GET_ITEM(state.signature_args.of(window.get()), 0) == signature.get();
    return new_node(window.get(), is_nested ? PyTuple_Pack(1, object) : Py_NewRef(args.get()));
}

PyObject* seen_through(PyObject* node, const Positions& positions, Ref& layout) {
    PyObject* found = view_at(node, positions, layout);
    if (found || PyErr_Occurred()) return found;
    if (!layout) layout = Ref(positions.layout());
    return layout ? PyObject_CallFunctionObjArgs(state.make_view_node, node, layout.get(), nullptr) : nullptr;
}

}  // namespace

PyObject* new_leaf(PyObject* signature, PyObject* given, Py_ssize_t offset) {
    Ref data = Ref::to(given), leaf(new_node(signature, PyTuple_New(0), data.get()));
    if (!leaf) return nullptr;
    as_node(leaf.get())->offset = PyLong_FromSsize_t(offset);
    return as_node(leaf.get())->offset ? leaf.release() : nullptr;
}

PyObject* view_at_hand(PyObject* object, PyObject* given) {
    Positions positions;
    Ref layout = Ref::to(given);
    return positions.read_layout(given) ? view_at(object, positions, layout) : nullptr;
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
    Ref signature = find(state.signatures, key.get());
    if (!signature && !PyErr_Occurred() && PyTuple_GET_SIZE(shape) <= MAX_AT_HAND) {
        Sizes zeros;
        zeros.count = static_cast<int>(PyTuple_GET_SIZE(shape));
        for (int k = 0; k < zeros.count; k++) zeros.at[k] = 0;
        Ref strides(zeros.tuple()), args(PyTuple_Pack(1, source.get()));
        if (!strides || !args) return nullptr;
        Ref made(view_signature(args.get(), shape, strides.get(), 0, queue));
        if (made) signature = keep(state.signatures, key.get(), made.get());
    }
    return signature ? new_node(signature.get(), PyTuple_Pack(1, value)) : nullptr;
}

bool may_be_owned(PyObject* object) {
    const Node* node = as_node(object);
    if (node->owner != Py_None || !is_pending(node)) return false;
    PyObject* primitive = state.signature_primitive.of(node->signature);
    if (Py_TYPE(primitive) != state.view) return true;
    Sizes shape, strides;
    if (!shape.read(state.signature_shape.of(node->signature)) || !strides.read(state.view_strides.of(primitive))) {
        return false;  // of more dimensions than are at hand: a node more does no harm
    }
    bool is_repeated = false, is_constant = true;
    for (int k = 0; k < strides.count; k++) {
        is_repeated = is_repeated || (shape.at[k] != 1 && !strides.at[k]);
        is_constant = is_constant && !strides.at[k];
    }
    return shape.count < 2 || is_constant || (!is_repeated && is_c_ordered(shape, strides));
}

PyObject* as_new_node(PyObject* node) {
    Ref source = Ref::to(as_node(node)->signature);
    Ref key(PyTuple_Pack(2, state.view, source.get()));
    if (!key) return nullptr;
    Ref signature = find(state.signatures, key.get());
    Sizes shape;
    if (!signature && !PyErr_Occurred() && shape.read(state.signature_shape.of(source.get()))) {
        Ref strides(c_strides(shape).tuple()), args(PyTuple_Pack(1, source.get()));
        if (!strides || !args) return nullptr;
        Ref made(view_signature(args.get(), state.signature_shape.of(source.get()), strides.get(), 0,
                                state.signature_queue.of(source.get())));
        if (made) signature = keep(state.signatures, key.get(), made.get());
    }
    if (signature) return new_node(signature.get(), PyTuple_Pack(1, node));
    return PyErr_Occurred() ? nullptr : PyObject_CallOneArg(state.as_new_node, node);
}

bool can_have_views(PyObject* object) {
    if (!owner_of(object)) return false;
    PyObject* shape = state.signature_shape.of(as_node(as_array(object)->node)->signature);
    return PyTuple_GET_SIZE(shape) > 0 || has_flag(object, MADE_AS_ARRAY);
}

namespace {

PyObject* new_view(PyObject* array, const Positions& positions, Ref& layout) {
    Ref owner = Ref::to(owner_of(array));
    Ref current = Ref::to(as_array(owner.get())->node);
    Ref node(seen_through(current.get(), positions, layout));
    if (!node) return nullptr;
    PyObject* made = new_array();
    if (!made) return nullptr;
    Array* fields = as_array(made);
    fields->flags = (as_array(array)->flags & ~ORDERED) | MADE_AS_ARRAY;
    set_shown(fields->base, owner.release());
    fields->layout = layout.release();
    fields->component = Py_NewRef(empty_name);
    fields->source = current.release();
    fields->node = node.release();
    return made;
}

}  // namespace

PyObject* make_view(PyObject* array, const Positions& positions) {
    Ref layout;
    return new_view(array, positions, layout);
}

PyObject* make_view(PyObject* array, const Positions& positions, PyObject* given) {
    Ref layout = Ref::to(given);
    return new_view(array, positions, layout);
}

PyObject* element(PyObject* array, const Positions& positions) {
    Ref current = Ref::to(as_array(owner_of(array))->node), layout;
    Ref window(seen_through(current.get(), positions, layout));
    return window ? as_new_node(window.get()) : nullptr;
}

}  // namespace core
