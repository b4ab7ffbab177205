#include "writes.hpp"

#include "buffer.hpp"
#include "recent.hpp"
#include "signatures.hpp"

namespace core {

namespace {

// Whether a value is what an owner shows at these positions already: the second half of ``a[i:j] += b``.
bool is_there_already(PyObject* current, const Positions& positions, PyObject* value) {
    PyObject* primitive = state.signature_primitive.of(as_node(value)->signature);
    PyObject* args = as_node(value)->args;
    if (Py_TYPE(primitive) != state.view || PyTuple_GET_SIZE(args) != 1 || PyTuple_GET_ITEM(args, 0) != current) {
        return false;
    }
    return positions.equal(state.signature_shape.of(as_node(value)->signature), state.view_strides.of(primitive),
                           state.view_offset.of(primitive));
}

// The signature of a base with elements replaced by a value.
struct Update {
    PyObject *base = nullptr, *value = nullptr, *signature = nullptr;  // owned
    FewPositions positions;

    void let_go() const {
        for (PyObject* field : {base, value, signature}) Py_XDECREF(field);
    }
};

Recent<Update, 1024> recent_updates;

PyObject* updated(PyObject* current, const Positions& positions, PyObject* value, PyObject* layout) {
    const Ref base = Ref::to(as_node(current)->signature), of_value = Ref::to(as_node(value)->signature);
    Update* recent = nullptr;
    if (FewPositions::has_room(positions)) {
        const auto is_wanted = [&](const Update& entry) {
            return entry.base == base.get() && entry.value == of_value.get() && entry.positions == positions;
        };
        recent = &recent_updates.at(FewPositions::hash(hash_of(hash_of(0, base.get()), of_value.get()), positions), is_wanted);
        if (is_wanted(*recent)) {
            const Ref signature = Ref::to(recent->signature);
            return new_node(signature.get(), PyTuple_Pack(2, current, value));
        }
    }
    Ref region(layout ? Py_NewRef(layout) : positions.layout());
    if (!region) return nullptr;
    PyObject* found = update(current, region.get(), value);
    // Where garbage was collected meanwhile, a finalizer may have computed one of them.
    if (found && recent && as_node(current)->signature == base.get() && as_node(value)->signature == of_value.get()) {
        recent_updates.put(*recent, {Py_NewRef(base.get()), Py_NewRef(of_value.get()),
                                     Py_NewRef(as_node(found)->signature), FewPositions(positions)});
    }
    if (found || PyErr_Occurred()) return found;
    return PyObject_CallFunctionObjArgs(state.make_update, current, region.get(), value, nullptr);
}

}  // namespace

PyObject* update(PyObject* base, PyObject* region, PyObject* value) {
    const Ref of_base = Ref::to(as_node(base)->signature), of_value = Ref::to(as_node(value)->signature);
    Ref key(PyTuple_Pack(4, state.update, of_base.get(), of_value.get(), region));
    if (!key) return nullptr;
    Ref signature = find(state.signatures, key.get());
    if (!signature && !PyErr_Occurred()) {
        Ref made(update_signature(of_base.get(), of_value.get(), region));
        if (made) signature = keep(state.signatures, key.get(), made.get());
    }
    return signature ? new_node(signature.get(), PyTuple_Pack(2, base, value)) : nullptr;
}

bool can_be_written(PyObject* array) {
    return is_array(array) && !has_flag(array, READ_ONLY) && can_have_views(array);
}

Written write(PyObject* array, const Positions& positions, PyObject* given, PyObject* layout) {
    Ref owner = Ref::to(owner_of(array));
    Ref current = Ref::to(as_array(owner.get())->node), value = Ref::to(given);
    const Loan data = loan(as_node(current.get())->data);
    if (data.get() != Py_None) {
        if (!is_buffer(data.get()) || loan(as_buffer(data.get())->exported).get() != Py_False) return Written::NOT_AT_HAND;
    }
    if (is_there_already(current.get(), positions, given)) return Written::YES;
    if (!positions.is_whole(state.signature_shape.of(as_node(current.get())->signature))) {
        value = Ref(updated(current.get(), positions, given, layout));
    } else if (!may_be_owned(given)) {
        value = Ref(as_new_node(given));
    }
    return value && !PyErr_Occurred() && set_value(owner.get(), value.get()) ? Written::YES : Written::ERROR;
}

}  // namespace core
