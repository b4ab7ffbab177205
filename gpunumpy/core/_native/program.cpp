#include "program.hpp"

#include <vector>

#include "buffer.hpp"
#include "launch.hpp"
#include "node.hpp"
#include "run.hpp"
#include "small_vector.hpp"

namespace core {

PyTypeObject* program_type = nullptr;

namespace {

// Codes of actions, and the places that arguments come from, as in plan.py.
enum Code { WORK, ALLOCATE, ADOPT, FREE, SAVE, NOTE, SECTION };
enum Place { LEAF, CONSTANT, SLOT, LOCATION };

struct Argument {
    Place place;
    Py_ssize_t index;  // of the node or of the slot
    PyObject* dtype;
    int64_t itemsize;
};

// Bytes that a section overwrites.
struct Saved {
    bool is_in_leaf;
    Py_ssize_t index;  // of the node or of the slot
    PyObject *start, *stop;
};

struct Action {
    PyObject* tuple;  // in Python
    Py_ssize_t step;
    Code code;
    PyObject* first;  // the runner of work, the bytes to allocate, the section to enter
    Py_ssize_t target, source;  // slots, or the node of the source
    bool is_from_leaf;
    bool can_launch;  // whether the runner may have a launch for the core
    std::vector<Argument> args;
    std::vector<Py_ssize_t> freed;
    std::vector<Saved> saved;
};

struct Root {
    Py_ssize_t position, slot;
    PyObject* signature;
};

// A root that a kernel can write to memory of the host.
struct Visible {
    Py_ssize_t position, slot;
    PyObject* nbytes;
};

// All references are borrowed from `Program::held`.
struct Prepared {
    std::vector<Action> actions;
    std::vector<Root> roots;
    std::vector<Visible> visible;
    std::vector<Py_ssize_t> copied;  // leaves that are overwritten, of which the host may have copies
    Py_ssize_t slot_count, end;
    PyObject *device, *bind, *source_location;
    bool writes_inner_values;
};

struct Program {
    PyObject_HEAD
    PyObject* held;
    Prepared* prepared;
};

Program* as_program(PyObject* object) { return reinterpret_cast<Program*>(object); }

// --- reading what Python has prepared ---------------------------------------------------------------------------------

bool read_arguments(PyObject* bindings, std::vector<Argument>& args) {
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(bindings); k++) {
        int place;
        Argument argument;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(bindings, k), "inO", &place, &argument.index, &argument.dtype)) return false;
        argument.place = static_cast<Place>(place);
        Ref itemsize(argument.dtype == Py_None ? PyLong_FromLong(0) : PyObject_GetAttrString(argument.dtype, "itemsize"));
        if (!itemsize) return false;
        argument.itemsize = PyLong_AsLongLong(itemsize.get());
        args.push_back(argument);
    }
    return !PyErr_Occurred();
}

bool read_action(PyObject* tuple, Action& action) {
    int code;
    PyObject *second, *third;
    action.tuple = tuple;
    if (!PyArg_ParseTuple(tuple, "niOOO", &action.step, &code, &action.first, &second, &third)) return false;
    action.code = static_cast<Code>(code);
    switch (action.code) {
        case WORK:
            action.can_launch = PyObject_HasAttrString(action.first, "launch");
            return PyList_Check(second) && read_arguments(second, action.args);
        case ALLOCATE:
            action.target = PyLong_AsSsize_t(action.first);
            action.first = second;
            break;
        case ADOPT:
            action.target = PyLong_AsSsize_t(action.first);
            action.is_from_leaf = second == Py_True;
            action.source = PyLong_AsSsize_t(third);
            break;
        case FREE:
            for (Py_ssize_t k = 0; k < PyList_GET_SIZE(action.first); k++) {
                action.freed.push_back(PyLong_AsSsize_t(PyList_GET_ITEM(action.first, k)));
            }
            break;
        case SAVE:
            for (Py_ssize_t k = 0; k < PyList_GET_SIZE(second); k++) {
                Saved saved;
                int is_in_leaf;
                if (!PyArg_ParseTuple(PyList_GET_ITEM(second, k), "pnOO", &is_in_leaf, &saved.index, &saved.start, &saved.stop)) {
                    return false;
                }
                saved.is_in_leaf = is_in_leaf;
                action.saved.push_back(saved);
            }
            break;
        default: break;
    }
    return !PyErr_Occurred();
}

// Program(actions, roots, visible, copied, slot_count, end, device, bind, source_location, writes_inner_values): tuples,
// of what `Plan` has under these names.
PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject *actions, *roots, *visible, *copied;
    Ref made(type->tp_alloc(type, 0));
    if (!made) return nullptr;
    as_program(made.get())->held = Py_NewRef(args);
    Prepared& p = *(as_program(made.get())->prepared = new Prepared());
    int writes_inner_values;
    if (!PyArg_ParseTuple(args, "O!O!O!O!nnOOOp", &PyTuple_Type, &actions, &PyTuple_Type, &roots, &PyTuple_Type, &visible,
                          &PyTuple_Type, &copied, &p.slot_count, &p.end, &p.device, &p.bind, &p.source_location,
                          &writes_inner_values)) {
        return nullptr;
    }
    p.writes_inner_values = writes_inner_values;
    p.actions.resize(PyTuple_GET_SIZE(actions));
    for (size_t k = 0; k < p.actions.size(); k++) {
        if (!read_action(PyTuple_GET_ITEM(actions, k), p.actions[k])) return nullptr;
    }
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(roots); k++) {
        Root root;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(roots, k), "nnO", &root.position, &root.slot, &root.signature)) return nullptr;
        p.roots.push_back(root);
    }
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(visible); k++) {
        Visible one;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(visible, k), "nnO", &one.position, &one.slot, &one.nbytes)) return nullptr;
        p.visible.push_back(one);
    }
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(copied); k++) {
        p.copied.push_back(PyLong_AsSsize_t(PyTuple_GET_ITEM(copied, k)));
    }
    return PyErr_Occurred() ? nullptr : made.release();
}

// --- a run ------------------------------------------------------------------------------------------------------------

class Execution {
public:
    Execution(const Prepared& prepared, PyObject* plan, PyObject* nodes, PyObject* slots, PyObject* run)
        : p_(prepared), plan_(plan), nodes_(nodes), slots_(slots), run_(run) {}

    bool all() {
        for (const Action& action : p_.actions) {
            as_run(run_)->step = action.step;
            if (!perform(action)) return false;
        }
        as_run(run_)->step = p_.end;
        return true;
    }

private:
    Node* node(Py_ssize_t index) const { return as_node(PyList_GET_ITEM(nodes_, index)); }
    PyObject* slot(Py_ssize_t index) const { return PyList_GET_ITEM(slots_, index); }
    void put(Py_ssize_t index, PyObject* owned) {
        PyObject* old = slot(index);
        PyList_SET_ITEM(slots_, index, owned);
        Py_DECREF(old);
    }

    bool perform(const Action& action) {
        switch (action.code) {
            case WORK: return work(action);
            case ALLOCATE: return allocate(action);
            case ADOPT:
                put(action.target, Py_NewRef(action.is_from_leaf ? node(action.source)->data : slot(action.source)));
                return true;
            case FREE:
                for (const Py_ssize_t index : action.freed) put(index, Py_NewRef(Py_None));
                return true;
            case SAVE: return save(action);
            case NOTE: return note(action);
            default: return leave_to_python(action);
        }
    }

    bool allocate(const Action& action) {
        if (slot(action.target) != Py_None) return true;
        PyObject* buffer = allocate_at_hand(p_.device, action.first);
        if (!buffer && !PyErr_Occurred()) {
                buffer = PyObject_CallFunctionObjArgs(state.allocate, p_.device, action.first, nullptr);
        }
        if (buffer) put(action.target, buffer);
        return buffer != nullptr;
    }

    // The section at hand, what undoes it, no job of a helper, and no launch.
    bool save(const Action& action) {
        static PyObject* const copy = PyUnicode_InternFromString("copy");
        Ref saved(PyList_New(0));
        if (!saved) return false;
        for (const Saved& one : action.saved) {
            Ref buffer = Ref::to(one.is_in_leaf ? node(one.index)->data : slot(one.index));
            Ref bytes(PySlice_New(one.start, one.stop, nullptr));
            Ref view(bytes ? PyObject_GetItem(as_buffer(buffer.get())->host, bytes.get()) : nullptr);
            Ref content(view ? PyObject_CallMethodNoArgs(view.get(), copy) : nullptr);
            Ref entry(content ? PyTuple_Pack(3, buffer.get(), one.start, content.get()) : nullptr);
            if (!entry || PyList_Append(saved.get(), entry.get()) < 0) return false;
        }
        PyObject* entered = PyTuple_Pack(4, action.first, saved.get(), Py_None, Py_None);
        if (entered) set_field(as_run(run_)->entered, entered);
        return entered != nullptr;
    }

    // The section at hand, nothing to undo, no job of a helper, and what its launch is noted in.
    bool note(const Action& action) {
        static PyObject *const name = PyUnicode_InternFromString("note_launches"), *const nothing = PyTuple_New(0);
        Ref launched(PyObject_CallMethodNoArgs(p_.device, name));
        PyObject* entered = launched ? PyTuple_Pack(4, action.first, nothing, Py_None, launched.get()) : nullptr;
        if (entered) set_field(as_run(run_)->entered, entered);
        return entered != nullptr;
    }

    bool leave_to_python(const Action& action) {
        static PyObject* const execute = PyUnicode_InternFromString("_execute");
        Ref program(PyTuple_Pack(1, action.tuple));
        return program && Ref(PyObject_CallMethodObjArgs(plan_, execute, program.get(), nodes_, slots_, run_, Py_None, nullptr));
    }

    bool work(const Action& action) {
        if (action.can_launch) {
            static PyObject* const name = PyUnicode_InternFromString("launch");
            Ref launch(PyObject_GetAttr(action.first, name));
            if (!launch) return false;
            if (is_launch(launch.get())) return launch_over(launch.get(), action);
        }
        Ref values(PyList_New(static_cast<Py_ssize_t>(action.args.size())));
        if (!values) return false;
        for (size_t k = 0; k < action.args.size(); k++) {
            PyObject* value = bound(action.args[k]);
            if (!value) return false;
            PyList_SET_ITEM(values.get(), static_cast<Py_ssize_t>(k), value);
        }
        return static_cast<bool>(Ref(PyObject_CallOneArg(action.first, values.get())));
    }

    bool launch_over(PyObject* launch, const Action& action) {
        words_.clear();
        const char* format = format_of(launch, action.args.size());
        if (!format) return false;
        for (size_t k = 0; k < action.args.size(); k++) {
            int64_t word;
            if (!read_word(action.args[k], format[k], word)) return false;
            words_.push_back(word);
        }
        if (!activate(p_.device)) return false;
        Ref launched = Ref::to(state.device_launched.of(p_.device));
        return launch_words(launch, words_, launched.get());
    }

    // An argument as the launch takes it: an address, or a scalar as the letter of the format says.
    bool read_word(const Argument& argument, char letter, int64_t& word) {
        if (argument.place == CONSTANT) return pack(letter, node(argument.index)->data, word);
        if (argument.place == LEAF) {
            const Node* leaf = node(argument.index);
            if (is_from_pool(leaf->data)) return read_address(leaf->data, PyLong_AsLongLong(leaf->offset) * argument.itemsize, word);
        } else if (argument.place == SLOT && is_from_pool(slot(argument.index))) {
            return read_address(slot(argument.index), 0, word);
        }
        Ref value(bound(argument));
        return value && pack(letter, value.get(), word);
    }

    static bool read_address(PyObject* buffer, int64_t distance, int64_t& word) {
        word = static_cast<int64_t>(PyLong_AsUnsignedLongLong(as_buffer(buffer)->ptr)) + distance;
        return word != -1 || !PyErr_Occurred();
    }

    // What a runner takes for an argument; a new reference.
    PyObject* bound(const Argument& argument) {
        static PyObject *const zero = PyLong_FromLong(0);
        switch (argument.place) {
            case LEAF: {
                Ref leaf = Ref::to(PyList_GET_ITEM(nodes_, argument.index));
                PyObject*& known = as_node(leaf.get())->bound;
                if (known && known != Py_None) return Py_NewRef(known);
                PyObject* made = bind(as_node(leaf.get())->data, argument.dtype, as_node(leaf.get())->offset);
                if (made) set_field(known, Py_NewRef(made));
                return made;
            }
            case CONSTANT: return Py_NewRef(node(argument.index)->data);
            case SLOT: return bind(slot(argument.index), argument.dtype, zero);
            default: {
                static PyObject* const name = PyUnicode_InternFromString("source_location");
                Ref text(PyObject_GetAttr(PyList_GET_ITEM(nodes_, argument.index), name));
                return text ? PyObject_CallOneArg(p_.source_location, text.get()) : nullptr;
            }
        }
    }

    PyObject* bind(PyObject* given, PyObject* dtype, PyObject* offset) {
        Ref buffer = Ref::to(given);  // Python's code may take it from where it is
        return PyObject_CallFunctionObjArgs(p_.bind, buffer.get(), dtype, offset, nullptr);
    }

    const Prepared& p_;
    PyObject *plan_, *nodes_, *slots_, *run_;
    Words words_;
};

// Turn a root into a leaf, if no other flush has done so. What it was computed from is let go last: that may run
// Python's code, which finds a leaf.
void publish(PyObject* object, PyObject* buffer, PyObject* signature) {
    Node* node = as_node(object);
    if (!is_pending(node)) return;
    static PyObject *const zero = PyLong_FromLong(0), *const nothing = PyTuple_New(0);
    Ref args(std::exchange(node->args, Py_NewRef(nothing))), pending(std::exchange(node->signature, Py_NewRef(signature)));
    Ref offset(std::exchange(node->offset, Py_NewRef(zero))), bound(std::exchange(node->bound, Py_NewRef(Py_None)));
    Ref data(std::exchange(node->data, Py_NewRef(buffer)));
}

bool add_publication(PyObject* queue) {
    PyObject* count = PyLong_FromLongLong(PyLong_AsLongLong(state.queue_publications.of(queue)) + 1);
    if (count) state.queue_publications.set(queue, count);
    return count != nullptr;
}

bool publish_inner_values(PyObject* plan, PyObject* nodes) {
    static PyObject* const name = PyUnicode_InternFromString("publish_inner_values");
    return static_cast<bool>(Ref(PyObject_CallMethodOneArg(plan, name, nodes)));
}

// --- the type ---------------------------------------------------------------------------------------------------------

using Held = References<Program, &Program::held>;

void deallocate(PyObject* self) {
    PyObject_GC_UnTrack(self);
    delete std::exchange(as_program(self)->prepared, nullptr);
    Held::deallocate(self);
}

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_traverse, reinterpret_cast<void*>(Held::traverse)},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {0, nullptr},
};

PyType_Spec spec = {
    "gpunumpy.core._native._core.Program", sizeof(Program), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots,
};

}  // namespace

bool add_program_type(PyObject* module) {
    program_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
    return program_type && PyModule_AddType(module, program_type) == 0;
}

bool run_program(PyObject* program, PyObject* plan, PyObject* nodes, PyObject* run, Py_ssize_t looked) {
    const Prepared& p = *as_program(program)->prepared;
    Ref slots(PyList_New(p.slot_count));
    if (!slots) return false;
    for (Py_ssize_t k = 0; k < p.slot_count; k++) PyList_SET_ITEM(slots.get(), k, Py_NewRef(Py_None));
    for (const Visible& one : p.visible) {
        if (one.position != looked) continue;
        PyObject* buffer = PyObject_CallFunctionObjArgs(state.visible_buffer, p.device, one.nbytes, nullptr);
        if (!buffer || PyList_SetItem(slots.get(), one.slot, buffer) < 0) return false;
    }
    set_field(as_run(run)->nodes, Py_NewRef(nodes));
    set_field(as_run(run)->slots, Py_NewRef(slots.get()));
    set_field(as_run(run)->plan, Py_NewRef(plan));  // from now on `run` tells what there is to be finished
    if (!Execution(p, plan, nodes, slots.get(), run).all()) return false;
    for (const Py_ssize_t index : p.copied) {
        PyObject* buffer = as_node(PyList_GET_ITEM(nodes, index))->data;
        if (is_buffer(buffer)) set_field(as_buffer(buffer)->copy, Py_NewRef(Py_None));
    }
    if (!add_publication(state.signature_queue.of(p.roots[0].signature))) return false;
    for (const Root& root : p.roots) {
        publish(PyList_GET_ITEM(nodes, root.position), PyList_GET_ITEM(slots.get(), root.slot), root.signature);
    }
    return !p.writes_inner_values || publish_inner_values(plan, nodes);
}

}  // namespace core
