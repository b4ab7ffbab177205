#include "array.hpp"

#include <iterator>
#include <vector>

#include "element_moves.hpp"
#include "looks.hpp"
#include "review.hpp"
#include "views.hpp"

namespace core {

PyTypeObject* array_type = nullptr;

namespace {

using Held = References<Array, &Array::base, &Array::component, &Array::large_part, &Array::layout, &Array::node,
                        &Array::owner, &Array::parts, &Array::queue, &Array::source>;

FreeObjects<256> free_arrays;

int clear(PyObject* self) {
    set_shown(as_array(self)->base, nullptr);
    set_shown(as_array(self)->owner, nullptr);
    return Held::clear(self);
}

void free_array(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    clear(self);
    as_array(self)->accesses = {};
    as_array(self)->moves = as_array(self)->views = as_array(self)->flags = 0;
    if (type != state.ndarray || !free_arrays.put(self)) type->tp_free(self);
    Py_DECREF(type);
}

void deallocate(PyObject* self) {
    PyObject_GC_UnTrack(self);
    if (as_array(self)->weak_references) PyObject_ClearWeakRefs(self);
    if (as_array(self)->flags == ON_HOST) return free_array(self);  // what acts as a scalar refers to no array
    Py_TRASHCAN_BEGIN(self, deallocate)
    free_array(self);
    Py_TRASHCAN_END
}

// An array without values, for who fills it. As the type has this function of its own, Python refuses ``object.__new__``,
// by which programs could make arrays that nobody fills.
PyObject* make(PyTypeObject* type, PyObject*, PyObject*) { return type->tp_alloc(type, 0); }

// The node of an array on the host tells shape, dtype and queue alone.
PyObject* get_node(PyObject* self, void*) {
    Array* array = as_array(self);
    Section section;
    if (!array->node) {
        if (!array->queue) return PyErr_Format(PyExc_AttributeError, "_node");
        const Loan memory = loan(array->base);
        Ref shape(PyObject_GetAttrString(memory.get(), "shape")), dtype(PyObject_GetAttrString(memory.get(), "dtype"));
        if (!shape || !dtype) return nullptr;
        PyObject* node = PyObject_CallFunctionObjArgs(state.placeholder, shape.get(), dtype.get(), array->queue, nullptr);
        if (!node) return nullptr;
        set_field(array->node, node);
    }
    return Py_NewRef(array->node);
}

int set_node(PyObject* self, PyObject* node, void*) {
    Ref old;  // let go after the section
    Section section;
    old = Ref(std::exchange(as_array(self)->node, Py_XNewRef(node)));
    return 0;
}

char BASE[] = "_base", OWNER[] = "_owner";

template <PyObject* Array::*FIELD>
PyObject* get_shown(PyObject* self, void* name) {
    Section section;
    PyObject* shown = as_array(self)->*FIELD;
    return shown ? Py_NewRef(shown) : PyErr_Format(PyExc_AttributeError, "%s", static_cast<const char*>(name));
}

template <PyObject* Array::*FIELD>
int set_shown_array(PyObject* self, PyObject* shown, void*) {
    Section section;
    set_shown(as_array(self)->*FIELD, Py_XNewRef(shown));
    return 0;
}

PyGetSetDef properties[] = {
    {"_base", get_shown<&Array::base>, set_shown_array<&Array::base>, nullptr, BASE},
    {"_node", get_node, set_node, nullptr, nullptr},
    {"_owner", get_shown<&Array::owner>, set_shown_array<&Array::owner>, nullptr, OWNER},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef members[] = {
    {"_component", T_OBJECT_EX, offsetof(Array, component), 0, nullptr},
    {"_flags", T_INT, offsetof(Array, flags), 0, nullptr},
    {"_views", T_PYSSIZET, offsetof(Array, views), READONLY, nullptr},
    {"_layout", T_OBJECT_EX, offsetof(Array, layout), 0, nullptr},
    {"_source", T_OBJECT_EX, offsetof(Array, source), 0, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Array, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

#if PY_VERSION_HEX < 0x030C0000
// Lends what the method __buffer__ returns: before Python 3.12 that is no method which a slot of a class stands for.
int get_buffer(PyObject* self, Py_buffer* buffer, int flags) {
    buffer->obj = nullptr;
    Ref memory(PyObject_CallMethod(self, "__buffer__", "i", flags));
    return memory ? PyObject_GetBuffer(memory.get(), buffer, flags) : -1;
}
#endif

const PyType_Slot own_slots[] = {
#if PY_VERSION_HEX < 0x030C0000
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
#endif
    {Py_tp_members, members},
    {Py_tp_getset, properties},
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_traverse, reinterpret_cast<void*>(Held::traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
};

// The entry of a queue that stands for an array. It is in no cycle, so the garbage collector has nothing to look for.
PyObject* entry_of(PyObject* array) {
    PyObject* reference = PyWeakref_NewRef(array, nullptr);
    if (reference) PyObject_GC_UnTrack(reference);
    return reference;
}

// That of an array which has died.
PyObject* entry_of_none = nullptr;

Py_ssize_t review_length(PyObject* queue) { return PyLong_AsSsize_t(held(state.queue_review_at, queue).get()); }

bool review(PyObject* queue, PyObject* node) {
    if (add_while_waiting(queue, node)) return true;
    if (PyErr_Occurred()) return false;
    switch (review_small_graph(queue, node)) {
        case Reviewed::YES: return true;
        case Reviewed::ERROR: return false;
        case Reviewed::ADDED: return static_cast<bool>(Ref(PyObject_CallFunctionObjArgs(state.flush_if_large, queue, Py_False, nullptr)));
        case Reviewed::NOT_AT_HAND: break;
    }
    Ref function = Ref::to(held(state.queue_review, queue).get());
    return static_cast<bool>(Ref(PyObject_CallFunctionObjArgs(function.get(), queue, node, nullptr)));
}

}  // namespace

bool add_array_type(PyObject* module) {
    std::vector<PyType_Slot> slots(std::begin(own_slots), std::end(own_slots));
    for (const PyType_Slot* slot = look_slots(); slot->slot; slot++) slots.push_back(*slot);
    slots.push_back({0, nullptr});
    PyType_Spec spec = {"gpunumpy.core._native._core.ArrayState", sizeof(Array), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
    array_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
    return array_type && guard_fields(array_type, members) && PyModule_AddType(module, array_type) == 0;
}

bool set_array_class() {
    state.ndarray->tp_dealloc = deallocate;
    const Ref array(new_array());
    if (array) entry_of_none = entry_of(array.get());
    return entry_of_none;
}

PyObject* new_untracked_array() { return free_arrays.take(state.ndarray); }

PyObject* new_array() {
    PyObject* made = new_untracked_array();
    if (made) PyObject_GC_Track(made);
    return made;
}

PyObject* owner_of(PyObject* object) {
    Array* array = as_array(object);
    if (array->base == Py_None) return object;
    if (!PyObject_TypeCheck(array->base, array_type) || PyUnicode_GET_LENGTH(array->component)) return nullptr;
    return array->base;
}

PyObject* value_of(PyObject* object) {
    Array* array = as_array(object);
    if (array->base == Py_None) {
        array->accesses = {};
        return Py_NewRef(array->node);
    }
    if (!PyObject_TypeCheck(array->base, array_type)) return nullptr;
    PyObject* owner = owner_of(object);
    if (owner && as_array(owner)->base == Py_None) {
        note_use(owner, object);
        Ref current = Ref::to(as_array(owner)->node);
        const Loan layout = loan(array->layout);
        PyObject* data = as_node(current.get())->data;
        Node* node = as_node(array->node);
        bool is_shown = node->data == data || (data == Py_None && node->owner == Py_None);
        if (array->source == current.get() && is_shown) {
            return Py_NewRef(array->node);
        }
        Ref view(view_at_hand(current.get(), layout.get()));
        if (PyErr_Occurred()) return nullptr;
        if (view) {
            set_field(array->node, Py_NewRef(view.get()));
            set_field(array->source, current.release());
            return view.release();
        }
    }
    return PyObject_CallOneArg(state.compute_value, object);
}

PyObject* wrap(PyObject* given) {
    Ref array, node = Ref::to(given);
    PyObject* queue;
    {
        Section section;
        if (!may_be_owned(given)) {
            node = Ref(as_new_node(given));  // a node has one owner, an array its own buffer
            if (!node) return nullptr;
        }
        array = Ref(new_array());
        if (!array) return nullptr;
        as_array(array.get())->node = Py_NewRef(node.get());
        as_array(array.get())->base = Py_NewRef(Py_None);
        Ref reference(entry_of(array.get()));
        if (!reference) return nullptr;
        set_field(as_node(node.get())->owner, Py_NewRef(reference.get()));
        queue = state.signature_queue.of(as_node(node.get())->signature);
        PyObject* pending = state.queue_pending.of(queue);
        if (PyList_GET_SIZE(pending) < review_length(queue)) {
            return PyList_Append(pending, reference.get()) < 0 ? nullptr : array.release();
        }
    }
    return review(queue, node.get()) ? array.release() : nullptr;  // may compute everything, and outside of the section
}

PyObject* recorded(PyObject* given) {
    const Node* node = as_node(given);
    PyObject* queue = state.signature_queue.of(node->signature);
    PyObject* pending = state.queue_pending.of(queue);
    if (may_be_owned(given) && PyList_GET_SIZE(pending) < review_length(queue)) {
        return PyList_Append(pending, entry_of_none) < 0 ? nullptr : Py_NewRef(given);
    }
    const Ref array(wrap(given));
    if (!array) return nullptr;
    PyObject* value = as_array(array.get())->node;
    set_field(as_node(value)->owner, Py_NewRef(Py_None));
    return Py_NewRef(value);
}

bool set_value(PyObject* owner, PyObject* node) {
    Ref reference(entry_of(owner));
    if (!reference) return false;
    set_field(as_node(node)->owner, Py_NewRef(reference.get()));
    PyObject* queue = state.signature_queue.of(as_node(node)->signature);
    PyObject* pending = state.queue_pending.of(queue);
    if (PyList_Append(pending, reference.get()) < 0) return false;
    set_field(as_array(owner)->node, Py_NewRef(node));
    return PyList_GET_SIZE(pending) <= review_length(queue) || review(queue, node);
}

int same_dtype(PyObject* a, PyObject* b) { return a == b ? 1 : PyObject_RichCompareBool(a, b, Py_EQ); }

}  // namespace core
