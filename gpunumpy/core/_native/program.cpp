#include "program.hpp"

#include "actions.hpp"
#include "buffer.hpp"
#include "cuda_graph.hpp"
#include "flush.hpp"
#include "kept_lists.hpp"
#include "launch.hpp"
#include "node.hpp"
#include "numpy_api.hpp"
#include "run.hpp"
#include "signatures.hpp"
#include "size_functions.hpp"
#include "sized_launch.hpp"
#include "small_vector.hpp"

namespace core {

PyTypeObject* program_type = nullptr;

namespace {

Name host_name("host"), is_one_launch_name("is_one_launch"), note_uses_name("note_uses"),
    run_whole_name("_run_whole"), runners_name("runners"), source_location_name("source_location");

struct Program {
    PyObject_HEAD
    PyObject* held;
    Actions* prepared;
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

bool read_actions(PyObject* list, std::vector<Action>& actions);

bool read_section(PyObject* section, PyObject* regions, Action& action) {
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(regions); k++) {
        Region region;
        int is_in_leaf;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(regions, k), "pnn", &is_in_leaf, &region.index, &region.at)) return false;
        region.is_in_leaf = is_in_leaf;
        action.regions.push_back(region);
    }
    action.section = section;
    return read_actions(PyTuple_GET_ITEM(section, 2), action.inside);
}

bool read_action(PyObject* tuple, Action& action) {
    int code;
    PyObject *first, *second, *third;
    if (!PyArg_ParseTuple(tuple, "niOOO", &action.step, &code, &first, &second, &third)) return false;
    action.code = static_cast<Code>(code);
    switch (action.code) {
        case WORK:
            action.runner = PyLong_AsSsize_t(first);
            return PyList_Check(second) && read_arguments(second, action.args);
        case ALLOCATE:
            action.target = PyLong_AsSsize_t(first);
            action.at = PyLong_AsSsize_t(second);
            break;
        case ADOPT:
            action.target = PyLong_AsSsize_t(first);
            action.is_from_leaf = second == Py_True;
            action.source = PyLong_AsSsize_t(third);
            break;
        case FREE:
            for (Py_ssize_t k = 0; k < PyList_GET_SIZE(first); k++) {
                action.freed.push_back(PyLong_AsSsize_t(PyList_GET_ITEM(first, k)));
            }
            break;
        default:
            action.runner = PyLong_AsSsize_t(third);
            return read_section(first, second, action);
    }
    return !PyErr_Occurred();
}

bool read_actions(PyObject* list, std::vector<Action>& actions) {
    actions.resize(PySequence_Fast_GET_SIZE(list));
    for (size_t k = 0; k < actions.size(); k++) {
        if (!read_action(PySequence_Fast_GET_ITEM(list, k), actions[k])) return false;
    }
    return true;
}

void read_numbers_of(PyObject* tuple, std::vector<Py_ssize_t>& numbers) {
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tuple); k++) numbers.push_back(PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, k)));
}

// Program(actions, roots, visible, copied, slot_count, end, device, bind, source_location, inner_values,
// undo_bytes, sizes, number_count, work, allocations, probe_bytes, graphs): of what `PlanTemplate` has under these names, tuples.
PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject *actions, *roots, *visible, *copied, *inner_values, *work, *allocations;
    Ref made(type->tp_alloc(type, 0));
    if (!made) return nullptr;
    as_program(made.get())->held = Py_NewRef(args);
    Actions& p = *(as_program(made.get())->prepared = new Actions());
    if (!PyArg_ParseTuple(args, "O!O!O!O!nnOOOO!nOnO!O!nO", &PyTuple_Type, &actions, &PyTuple_Type, &roots, &PyTuple_Type,
                          &visible, &PyTuple_Type, &copied, &p.slot_count, &p.end, &p.device, &p.bind,
                          &p.source_location, &PyTuple_Type, &inner_values, &p.undo_bytes, &p.sizes, &p.number_count,
                          &PyTuple_Type, &work, &PyTuple_Type, &allocations, &p.probe_bytes, &p.graphs)) {
        return nullptr;
    }
    if (!read_actions(actions, p.all)) return nullptr;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(roots); k++) {
        Root root;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(roots, k), "nn", &root.position, &root.slot)) return nullptr;
        p.roots.push_back(root);
    }
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(inner_values); k++) {
        InnerValue value;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(inner_values, k), "nn", &value.position, &value.leaf)) return nullptr;
        p.inner_values.push_back(value);
    }
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(visible); k++) {
        Visible one;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(visible, k), "nnO", &one.position, &one.slot, &one.nbytes)) return nullptr;
        p.visible.push_back(one);
    }
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(work); k++) {
        Work one;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(work, k), "Onn", &one.prepare, &one.start, &one.stop)) return nullptr;
        p.work.push_back(one);
    }
    read_numbers_of(copied, p.copied);
    read_numbers_of(allocations, p.allocations);
    return PyErr_Occurred() ? nullptr : made.release();
}

// --- a run ------------------------------------------------------------------------------------------------------------

class Execution {
public:
    Execution(const Actions& actions, PyObject* plan, PyObject* nodes, PyObject* slots, PyObject* run)
          : p_(actions), plan_(plan), nodes_(nodes), slots_(slots), run_(run), numbers_(state.plan_numbers.of(plan)),
          runners_(state.plan_runners.of(plan)) {}

    bool all() {
        if (!perform_all(p_.all)) return false;
        as_run(run_)->step = p_.end;
        return true;
    }

    // Launch everything at once, if there is a CUDA graph of it. Until that is launched nothing is: what is left to do then is
    // all of it.
    Flushed as_graph() {
        const Ref graph = graph_at_hand();
        if (!graph) return PyErr_Occurred() ? Flushed::ERROR : Flushed::NOT_AT_HAND;
        Graphed& graphed = as_graphed(graph.get());
        for (Made& made : graphed.made) {
            if (!perform(*made.action, made.address)) return Flushed::ERROR;
            PyObject* buffer = slot(made.action->target);
            if (has_address(buffer)) made.address = PyLong_AsUnsignedLongLong(as_buffer(buffer)->ptr);
        }
        if (!activate(p_.device)) return Flushed::ERROR;
        words_.clear();
        for (const Variable& variable : graphed.variables) {
            int64_t word;
            if (!read_word(variable.argument, variable.letter, word)) return Flushed::ERROR;
            words_.push_back(word);
        }
        if (has_spilled() || !launch_cuda_graph(graph.get(), words_.begin())) return Flushed::NOT_AT_HAND;
        as_run(run_)->step = p_.end;
        return Flushed::YES;
    }

private:
    // The CUDA graph of the plan, which is made when the plan has run so often that it is worth it; null, maybe after an
    // exception, if there is none.
    Ref graph_at_hand() const {
        if (p_.graphs == Py_None || p_.work.empty() || has_spilled()) return Ref();
        Ref known = Ref::to(held(state.plan_graph, plan_).get());
        if (is_cuda_graph(known.get()) && is_dropped(known.get())) known = Ref(PyLong_FromLong(0));
        if (PyLong_CheckExact(known.get())) {
            const Py_ssize_t runs = PyLong_AsSsize_t(known.get()) + 1, launches = runs * static_cast<Py_ssize_t>(p_.work.size());
            known = Ref(runs > MIN_GRAPH_RUNS && launches > MIN_GRAPHED_LAUNCHES
                            ? make_cuda_graph(p_, state.plan_program.of(plan_), numbers_, runners_)
                            : PyLong_FromSsize_t(runs));
            if (!known) return Ref();
            if (known.get() == Py_None) known = Ref(PyLong_FromLong(0));  // where kernels are still interpreted
            state.plan_graph.set(plan_, Py_NewRef(known.get()));
        }
        return is_cuda_graph(known.get()) ? std::move(known) : Ref();
    }

    bool has_spilled() const { return held(state.device_has_spilled, p_.device).get() == Py_True; }

    bool perform_all(const std::vector<Action>& actions) {
        for (const Action& action : actions) {
            as_run(run_)->step = action.step;
            if (!perform(action)) return false;
        }
        return true;
    }

    Node* node(Py_ssize_t index) const { return as_node(PyList_GET_ITEM(nodes_, index)); }
    PyObject* slot(Py_ssize_t index) const { return PyList_GET_ITEM(slots_, index); }
    void put(Py_ssize_t index, PyObject* owned) {
        PyObject* old = slot(index);
        PyList_SET_ITEM(slots_, index, owned);
        Py_DECREF(old);
    }

    // What is allocated is at an address, if that is not 0 and the block there is at hand.
    bool perform(const Action& action, uint64_t address = 0) {
        switch (action.code) {
            case WORK: return work(action);
            case ALLOCATE: return allocate(action, address);
            case ADOPT:
                put(action.target, Py_NewRef(action.is_from_leaf ? node(action.source)->data : slot(action.source)));
                return true;
            case FREE:
                for (const Py_ssize_t index : action.freed) put(index, Py_NewRef(Py_None));
                return true;
            default: return section(action);
        }
    }

    bool allocate(const Action& action, uint64_t address) {
        if (slot(action.target) != Py_None) return true;
        PyObject* nbytes = PyTuple_GET_ITEM(numbers_, action.at);
        PyObject* buffer = allocate_at_hand(p_.device, nbytes, address);
        if (!buffer && !PyErr_Occurred()) {
            buffer = PyObject_CallFunctionObjArgs(state.allocate, p_.device, nbytes, nullptr);
        }
        if (buffer) put(action.target, buffer);
        return buffer != nullptr;
    }

    // As `_run_section`.
    bool section(const Action& action) {
        if (p_.undo_bytes >= 0 && overwritten_bytes(action) <= p_.undo_bytes) return save(action) && perform_all(action.inside);
        if (action.runner >= 0 && is_one_launch(PyTuple_GET_ITEM(runners_, action.runner))) {
            return note(action) && perform_all(action.inside);
        }
        if (PyErr_Occurred()) return false;
        return static_cast<bool>(
            Ref(PyObject_CallMethodObjArgs(plan_, run_whole_name, action.section, nodes_, slots_, run_, Py_None, nullptr)));
    }

    // As `overwritten_rows` returns them.
    struct Rows {
        Py_ssize_t start, length, pitch, number;
    };

    Rows overwritten_rows(const Region& region) const {
        const auto at = [&](Py_ssize_t k) { return PyLong_AsSsize_t(PyTuple_GET_ITEM(numbers_, region.at + k)); };
        const Rows rows{at(0), at(1), at(2), at(3)};
        if (rows.length < rows.pitch) return rows;
        return {rows.start, rows.length + rows.pitch * (rows.number - 1), 0, 1};
    }

    Py_ssize_t overwritten_bytes(const Action& action) const {
        Py_ssize_t sum = 0;
        for (const Region& region : action.regions) {
            const Rows rows = overwritten_rows(region);
            sum += rows.length * rows.number;
        }
        return sum;
    }

    static bool is_one_launch(PyObject* runner) {
        if (is_launch(runner)) return true;
        Ref found(PyObject_GetAttr(runner, is_one_launch_name));
        if (!found) PyErr_Clear();
        return found && PyObject_IsTrue(found.get()) == 1;
    }

    // Numbers of so many bytes, as `view_of_rows` has them; bytes for rows of another length.
    static int number_of_bytes(Py_ssize_t length) {
        switch (length) {
            case 2: return NPY_UINT16;
            case 4: return NPY_UINT32;
            case 8: return NPY_UINT64;
            case 16: return NPY_COMPLEX128;
            default: return NPY_UINT8;
        }
    }

    static PyObject* copy_of_rows(PyObject* host, const Rows& rows) {
        if (!PyArray_CheckExact(host)) return PyErr_Format(PyExc_TypeError, "the memory of a buffer of the CPU is an array");
        const int type = number_of_bytes(rows.length);
        const Py_ssize_t unit = type == NPY_UINT8 ? 1 : rows.length;
        npy_intp shape[] = {rows.number, rows.length / unit}, strides[] = {rows.pitch, unit};
        Ref view(PyArray_New(&PyArray_Type, 2, shape, type, strides,
                             PyArray_BYTES(reinterpret_cast<PyArrayObject*>(host)) + rows.start, 0, 0, nullptr));
        return view ? PyArray_NewCopy(reinterpret_cast<PyArrayObject*>(view.get()), NPY_CORDER) : nullptr;
    }

    // The section at hand, what undoes it, no job of a helper, and no launch.
    bool save(const Action& action) {
        Ref saved(PyList_New(0));
        if (!saved) return false;
        for (const Region& one : action.regions) {
            const Rows rows = overwritten_rows(one);
            Ref buffer = Ref::to(one.is_in_leaf ? node(one.index)->data : slot(one.index));
            Ref host(PyObject_GetAttr(buffer.get(), host_name));
            Ref content(host ? copy_of_rows(host.get(), rows) : nullptr);
            Ref entry(content ? Py_BuildValue("(O(nnnn)O)", buffer.get(), rows.start, rows.length, rows.pitch, rows.number,
                                              content.get())
                              : nullptr);
            if (!entry || PyList_Append(saved.get(), entry.get()) < 0) return false;
        }
        PyObject* entered = PyTuple_Pack(4, action.section, saved.get(), Py_None, Py_None);
        if (entered) set_field(as_run(run_)->entered, entered);
        return entered != nullptr;
    }

    // The section at hand, nothing to undo, no job of a helper, and what its launch is noted in, as `note_launches` does.
    bool note(const Action& action) {
        static PyObject* const nothing = PyTuple_New(0);
        Ref launched(PyList_New(0));
        if (launched) state.device_launched.set(p_.device, Py_NewRef(launched.get()));
        PyObject* entered = launched ? PyTuple_Pack(4, action.section, nothing, Py_None, launched.get()) : nullptr;
        if (entered) set_field(as_run(run_)->entered, entered);
        return entered != nullptr;
    }

    bool work(const Action& action) {
        PyObject* runner = PyTuple_GET_ITEM(runners_, action.runner);
        if (runner == state.nothing) return true;
        if (const Ref launch = launch_of_runner(runner)) return launch_over(launch.get(), action);
        if (PyErr_Occurred()) return false;
        Ref values(PyList_New(static_cast<Py_ssize_t>(action.args.size())));
        if (!values) return false;
        for (size_t k = 0; k < action.args.size(); k++) {
            PyObject* value = bound(action.args[k]);
            if (!value) return false;
            PyList_SET_ITEM(values.get(), static_cast<Py_ssize_t>(k), value);
        }
        return static_cast<bool>(Ref(PyObject_CallOneArg(runner, values.get())));
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
        Scratch scratch;
        if (!scratch.add(launch, words_) || !activate(p_.device)) return false;
        const Ref launched = Ref::to(held(state.device_launched, p_.device).get());
        return launch_words(launch, words_, launched.get());
    }

    // An argument as the launch takes it: an address, or a scalar as the letter of the format says.
    bool read_word(const Argument& argument, char letter, int64_t& word) {
        if (argument.place == CONSTANT) return pack(letter, node(argument.index)->data, word);
        if (argument.place == LEAF) {
            const Node* leaf = node(argument.index);
            if (has_address(leaf->data)) return read_address(leaf->data, PyLong_AsLongLong(leaf->offset) * argument.itemsize, word);
        } else if (argument.place == SLOT && has_address(slot(argument.index))) {
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
                return bind(as_node(leaf.get())->data, argument.dtype, as_node(leaf.get())->offset);
            }
            case CONSTANT: return Py_NewRef(node(argument.index)->data);
            case SLOT: return bind(slot(argument.index), argument.dtype, zero);
            default: {
                Ref text(PyObject_GetAttr(PyList_GET_ITEM(nodes_, argument.index), source_location_name));
                return text ? PyObject_CallOneArg(p_.source_location, text.get()) : nullptr;
            }
        }
    }

    PyObject* bind(PyObject* given, PyObject* dtype, PyObject* offset) {
        Ref buffer = Ref::to(given);  // Python's code may take it from where it is
        return PyObject_CallFunctionObjArgs(p_.bind, buffer.get(), dtype, offset, nullptr);
    }

    // What makes a CUDA graph takes as long as so many launches by themselves.
    static constexpr Py_ssize_t MIN_GRAPH_RUNS = 2, MIN_GRAPHED_LAUNCHES = 64;

    const Actions& p_;
    PyObject *plan_, *nodes_, *slots_, *run_, *numbers_, *runners_;
    Words words_;
};

// Turn a root into a leaf, if no other flush has done so. What it was computed from is let go last: that may run
// Python's code, which finds a leaf.
void publish(PyObject* object, PyObject* buffer, PyObject* signature) {
    static PyObject *const zero = PyLong_FromLong(0), *const nothing = PyTuple_New(0);
    Ref args, pending, offset, data;
    Section section;
    Node* node = as_node(object);
    if (!is_pending(node)) return;
    args = Ref(std::exchange(node->args, Py_NewRef(nothing)));
    pending = Ref(std::exchange(node->signature, Py_NewRef(signature)));
    offset = Ref(std::exchange(node->offset, Py_NewRef(zero)));
    data = Ref(std::exchange(node->data, Py_NewRef(buffer)));
}

bool add_publication(PyObject* queue) {
    PyObject* count = PyLong_FromLongLong(PyLong_AsLongLong(held(state.queue_publications, queue).get()) + 1);
    if (count) state.queue_publications.set(queue, count);
    return count != nullptr;
}

bool note_uses(PyObject* plan, PyObject* nodes, PyObject* slots) {
    return static_cast<bool>(Ref(PyObject_CallMethodObjArgs(plan, note_uses_name, nodes, slots, nullptr)));
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

PyObject* planned(PyObject* program, PyObject* template_plan, const Numbers& values, PyObject* nodes) {
    const Actions& p = *as_program(program)->prepared;
    Numbers numbers;
    if (!is_size_function(p.sizes) || evaluate(p.sizes, values, numbers) != Evaluated::YES) return nullptr;
    for (const Py_ssize_t at : p.allocations) {
        if (numbers[at] >= p.probe_bytes) return nullptr;
    }
    Ref signatures(PyTuple_New(p.roots.size() + p.inner_values.size()));
    for (Py_ssize_t k = 0; signatures && k < PyTuple_GET_SIZE(signatures.get()); k++) {
        const size_t number = static_cast<size_t>(k);
        const bool is_root = number < p.roots.size();
        const Py_ssize_t position = is_root ? p.roots[number].position : p.inner_values[number - p.roots.size()].position;
        PyObject* signature = computed_signature(as_node(PyList_GET_ITEM(nodes, position))->signature);
        if (!signature) return nullptr;
        PyTuple_SET_ITEM(signatures.get(), k, signature);
    }
    Ref of_numbers(signatures ? integers(numbers.data(), p.number_count) : nullptr);
    Ref runners(of_numbers ? PyTuple_New(p.work.size()) : nullptr);
    for (size_t k = 0; runners && k < p.work.size(); k++) {
        const Work& work = p.work[k];
        PyObject* launch = launch_at_sizes(work.prepare, Numbers(numbers.data() + work.start, numbers.data() + work.stop));
        if (!launch) {
            if (PyErr_Occurred()) return nullptr;
            Ref all(tuple_of(numbers));
            runners = Ref(all ? PyObject_CallMethodOneArg(template_plan, runners_name, all.get()) : nullptr);
            break;
        }
        PyTuple_SET_ITEM(runners.get(), k, launch);
    }
    Ref of_values(runners ? tuple_of(values) : nullptr), plan(of_values ? state.plan->tp_alloc(state.plan, 0) : nullptr);
    if (!plan) return nullptr;
    PyObject_GC_UnTrack(signatures.get());  // as what they refer to, see signatures.cpp
    PyObject_GC_UnTrack(runners.get());
    state.plan_template.set(plan.get(), Py_NewRef(template_plan));
    state.plan_values.set(plan.get(), of_values.release());
    state.plan_numbers.set(plan.get(), of_numbers.release());
    state.plan_runners.set(plan.get(), runners.release());
    state.plan_signatures.set(plan.get(), signatures.release());
    state.plan_program.set(plan.get(), Py_NewRef(program));
    state.plan_graph.set(plan.get(), PyLong_FromLong(0));
    return plan.release();
}

bool run_plan(PyObject* plan, PyObject* nodes, PyObject* run, Py_ssize_t looked) {
    Ref program = Ref::to(state.plan_program.of(plan)), signatures = Ref::to(state.plan_signatures.of(plan));
    const Actions& p = *as_program(program.get())->prepared;
    Ref slots(take_list(p.slot_count));
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
    Execution execution(p, plan, nodes, slots.get(), run);
    const Flushed flushed = execution.as_graph();
    if (flushed == Flushed::ERROR || (flushed == Flushed::NOT_AT_HAND && !execution.all())) return false;
    if (held(state.device_has_spilled, p.device).get() == Py_True && !note_uses(plan, nodes, slots.get())) return false;
    for (const Py_ssize_t index : p.copied) {
        Section section;
        PyObject* buffer = as_node(PyList_GET_ITEM(nodes, index))->data;
        if (is_buffer(buffer)) set_field(as_buffer(buffer)->copy, Py_NewRef(Py_None));
    }
    if (!add_publication(state.signature_queue.of(PyTuple_GET_ITEM(signatures.get(), 0)))) return false;
    for (size_t k = 0; k < p.roots.size(); k++) {
        const Root& root = p.roots[k];
        publish(PyList_GET_ITEM(nodes, root.position), PyList_GET_ITEM(slots.get(), root.slot),
                PyTuple_GET_ITEM(signatures.get(), k));
    }
    for (size_t k = 0; k < p.inner_values.size(); k++) {
        const InnerValue& value = p.inner_values[k];
        const Ref buffer = Ref::to(as_node(PyList_GET_ITEM(nodes, value.leaf))->data);
        publish(PyList_GET_ITEM(nodes, value.position), buffer.get(), PyTuple_GET_ITEM(signatures.get(), p.roots.size() + k));
    }
    return true;
}

}  // namespace core
