// The module gpunumpy.core._native._core: see __init__.py beside this file for how Python uses it.
#include "array.hpp"
#include "attributes.hpp"
#include "buffer.hpp"
#include "cuda_graph.hpp"
#include "calls.hpp"
#include "draws.hpp"
#include "host_call.hpp"
#include "launch.hpp"
#include "looks.hpp"
#include "new_arrays.hpp"
#include "numpy_api.hpp"
#include "operator_slots.hpp"
#include "program.hpp"
#include "queue_lock.hpp"
#include "recent.hpp"
#include "recorders.hpp"
#include "review.hpp"
#include "run.hpp"
#include "search.hpp"
#include "size_functions.hpp"
#include "sized_launch.hpp"
#include "state.hpp"
#include "ufunc_call.hpp"
#include "walk.hpp"

namespace core {

State state = {};

namespace {

bool take(PyObject* options, const char* name, PyObject*& field) {
    field = Py_XNewRef(PyDict_GetItemString(options, name));
    if (!field) PyErr_Format(PyExc_TypeError, "the core needs %s", name);
    return field != nullptr;
}

bool take_class(PyObject* options, const char* name, PyTypeObject*& field) {
    PyObject* found;
    if (!take(options, name, found)) return false;
    field = reinterpret_cast<PyTypeObject*>(found);
    return true;
}

PyObject* wrap_node(PyObject*, PyObject* node) {
    if (!is_node(node)) {
        PyErr_SetString(PyExc_TypeError, "not a node");
        return nullptr;
    }
    return wrap(node);
}

// address(array): of the first element of an array of NumPy's.
PyObject* address(PyObject*, PyObject* array) {
    if (!PyArray_Check(array)) return PyErr_Format(PyExc_TypeError, "not an array of NumPy's");
    return PyLong_FromVoidPtr(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array)));
}

PyObject* is_instance(PyObject* classes, PyObject* x) {
    int found = PyObject_IsInstance(x, classes);
    return found < 0 ? nullptr : Py_NewRef(found ? Py_True : Py_False);
}

PyMethodDef is_instance_definition = {"is_instance", is_instance, METH_O, nullptr};

// instance_test(classes): a function that tells whether an object is an instance of one of them.
PyObject* instance_test(PyObject*, PyObject* classes) { return PyCFunction_New(&is_instance_definition, classes); }

// call_as_outermost(function, *args): the call, in which no frame of Python's has this one's callers under it. A
// debugger, a stack that is printed and a warning then show what they show of a program that Python itself runs.
PyObject* call_as_outermost(PyObject*, PyObject* const* args, Py_ssize_t count) {
    if (!count) return PyErr_Format(PyExc_TypeError, "a function to call is missing");
#ifdef Py_GIL_DISABLED  // the collector looks for references in the frames that it finds from here
    return PyObject_Vectorcall(args[0], args + 1, count - 1, nullptr);
#else
    PyThreadState* thread = PyThreadState_Get();
#if PY_VERSION_HEX < 0x030d0000
    auto& innermost = thread->cframe->current_frame;
#else
    auto& innermost = thread->current_frame;
#endif
    auto* hidden = std::exchange(innermost, nullptr);
    PyObject* result = PyObject_Vectorcall(args[0], args + 1, count - 1, nullptr);
    innermost = hidden;
    return result;
#endif
}

PyObject* forget(PyObject*, PyObject*) {
    Section section;
    AnyRecent::forget_all();
    Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"address", address, METH_O, nullptr},
    {"call_as_outermost", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_as_outermost)), METH_FASTCALL, nullptr},
    {"flat_view", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(flat_view)), METH_FASTCALL, nullptr},
    {"all_buffers", all_buffers, METH_NOARGS, nullptr},
    {"pool_buffers", pool_buffers, METH_NOARGS, nullptr},
    {"forget", forget, METH_NOARGS, nullptr},
    {"instance_test", instance_test, METH_O, nullptr},
    {"set_up", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(set_up)), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"wrap", wrap_node, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_core", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace

// What `Device.__hash__` returns, without a call of Python's.
Py_hash_t hash_of_device(PyObject* device) { return PyLong_AsSsize_t(held(state.device_hash, device).get()); }

PyObject* set_up(PyObject*, PyObject*, PyObject* options) {
    State& s = state;
    if (!options) return PyErr_Format(PyExc_TypeError, "the core needs objects as keywords");
    const struct {
        const char* name;
        PyTypeObject** field;
    } classes[] = {
        {"ndarray", &s.ndarray}, {"Signature", &s.signature}, {"Queue", &s.queue},
        {"Leaf", &s.leaf}, {"Const", &s.constant}, {"View", &s.view}, {"Update", &s.update}, {"Reduce", &s.reduce},
        {"LibraryCall", &s.library_call}, {"Layout", &s.layout}, {"Gather", &s.gather}, {"Scatter", &s.scatter}, {"Iota", &s.iota}, {"Map", &s.map}, {"PoolBuffer", &s.pool_buffer},
        {"Lock", &s.lock}, {"_DeviceState", &s.device_state}, {"Planner", &s.planner}, {"LoopCut", &s.loop_cut},
        {"BoundedTable", &s.bounded_table}, {"Variants", &s.variants},
        {"Plan", &s.plan}, {"Device", &s.device},
    };
    const struct {
        const char* name;
        PyObject** field;
    } objects[] = {
        {"windows", &s.windows}, {"signatures", &s.signatures}, {"kinds", &s.kinds}, {"structures", &s.structures},
        {"view", &s.make_view_node}, {"update", &s.make_update}, {"as_new_node", &s.as_new_node}, {"scalar", &s.scalar},
        {"typed_scalar", &s.typed_scalar}, {"value", &s.compute_value}, {"placeholder", &s.placeholder},
        {"allocate", &s.allocate}, {"VisibleBuffer", &s.visible_buffer},
        {"evaluate", &s.evaluate}, {"recover", &s.recover}, {"schedule_review", &s.schedule_review}, {"review", &s.review}, {"flush_if_large", &s.flush_if_large}, {"nothing", &s.nothing},
        {"count_entries", &s.count_entries}, {"evaluated", &s.evaluated}, {"of_bool", &s.of_bool},
        {"of_float", &s.of_float}, {"of_int_below_128", &s.of_int_below_128},
    };
    for (const auto& each : classes) {
        if (!take_class(options, each.name, *each.field)) return nullptr;
    }
    for (const auto& each : objects) {
        if (!take(options, each.name, *each.field)) return nullptr;
    }
    const struct {
        Slot* slot;
        PyTypeObject* type;
        const char* name;
    } slots[] = {
        {&s.signature_primitive, s.signature, "primitive"}, {&s.signature_args, s.signature, "args"},
        {&s.signature_shape, s.signature, "shape"}, {&s.signature_dtype, s.signature, "dtype"},
        {&s.signature_queue, s.signature, "queue"}, {&s.signature_generator, s.signature, "generator"},
        {&s.signature_weight, s.signature, "weight"}, {&s.signature_outputs, s.signature, "outputs"},
        {&s.signature_kind, s.signature, "kind"}, {&s.signature_c_ordered, s.signature, "c_ordered"},
        {&s.signature_structure, s.signature, "structure"}, {&s.signature_sizes, s.signature, "sizes"},
        {&s.leaf_strides, s.leaf, "strides"}, {&s.leaf_origin, s.leaf, "origin"}, {&s.leaf_aligned, s.leaf, "aligned"},
        {&s.view_strides, s.view, "strides"}, {&s.view_offset, s.view, "offset"}, {&s.update_region, s.update, "region"},
        {&s.library_call_name, s.library_call, "name"}, {&s.library_call_options, s.library_call, "options"},
        {&s.library_call_results, s.library_call, "results"}, {&s.map_op, s.map, "op"}, {&s.reduce_axes, s.reduce, "axes"},
        {&s.queue_pending, s.queue, "pending"}, {&s.queue_lock, s.queue, "lock"},
        {&s.queue_alignment, s.queue, "alignment"}, {&s.queue_device, s.queue, "device"},
        {&s.queue_host_bytes, s.queue, "host_bytes"},
        {&s.queue_host_multiplications, s.queue, "host_multiplications"},
        {&s.queue_shares_memory, s.queue, "shares_memory"}, {&s.queue_review_at, s.queue, "review_at"},
        {&s.queue_review, s.queue, "review"},
        {&s.queue_run, s.queue, "run"}, {&s.queue_publications, s.queue, "publications"},
        {&s.queue_state, s.queue, "state"}, {&s.state_planner, s.device_state, "planner"},
        {&s.state_cut, s.device_state, "cut"}, {&s.planner_plans, s.planner, "plans"},
        {&s.device_hash, s.device, "_hash"}, {&s.device_free_lists, s.device, "free_lists"},
        {&s.device_has_spilled, s.device, "has_spilled"},
        {&s.device_launched, s.device, "launched"}, {&s.device_stays_current, s.device, "_stays_current"},
        {&s.table_entries, s.bounded_table, "_entries"}, {&s.cut_is_first, s.loop_cut, "_is_first"},
        {&s.cut_begin, s.loop_cut, "_begin"}, {&s.cut_search, s.loop_cut, "_search"},
        {&s.cut_held_bytes, s.loop_cut, "_held_bytes"}, {&s.cut_is_counted, s.loop_cut, "_is_counted"},
        {&s.cut_is_over, s.loop_cut, "_is_over"}, {&s.cut_limit, s.loop_cut, "_limit"},
        {&s.cut_place, s.loop_cut, "_place"}, {&s.cut_put_off, s.loop_cut, "_put_off"},
        {&s.cut_scope, s.loop_cut, "_scope"}, {&s.cut_waited, s.loop_cut, "_waited"},
        {&s.variants_by_pattern, s.variants, "_variants"},
        {&s.planner_templates, s.planner, "_templates"}, {&s.plan_numbers, s.plan, "numbers"},
        {&s.plan_program, s.plan, "program"}, {&s.plan_runners, s.plan, "runners"},
        {&s.plan_signatures, s.plan, "signatures"}, {&s.plan_template, s.plan, "template"},
        {&s.plan_values, s.plan, "values"}, {&s.plan_graph, s.plan, "graph"},
    };
    for (const auto& each : slots) {
        if (!each.slot->find(each.type, each.name)) return nullptr;
    }
    if (!find_lock_methods() || !set_array_class()) return nullptr;
    set_pool_class();
    s.device->tp_hash = hash_of_device;
    set_looks_of(s.ndarray);
    Py_RETURN_NONE;
}

}  // namespace core

PyMODINIT_FUNC PyInit__core() {
    core::Ref module(PyModule_Create(&core::definition));
#ifdef Py_GIL_DISABLED
    if (module && PyUnstable_Module_SetGIL(module.get(), Py_MOD_GIL_NOT_USED) < 0) return nullptr;  // section.hpp says why
#endif
    if (!module || !core::Name::make_all() || !core::renew_sections_in_children() ||
        !core::add_node_type(module.get()) || !core::add_array_type(module.get()) ||
        !core::add_buffer_type(module.get()) ||
        !core::add_recorder_types(module.get()) || !core::add_ufunc_call_type(module.get()) ||
        !core::add_size_function_type(module.get()) || !core::add_sized_launch_type(module.get()) ||
         !core::add_walk(module.get()) || !core::add_launch_type(module.get()) ||
        !core::add_cuda_graph_type(module.get()) || !core::add_program_type(module.get()) || !core::add_run_type(module.get()) ||
        !core::add_host_call_type(module.get()) || !core::add_operator_slots(module.get()) || !core::add_looks(module.get()) ||
        !core::add_attributes(module.get()) ||
        !core::add_new_arrays(module.get()) || !core::add_draw_type(module.get()) ||
        !core::add_search_type(module.get()) || !core::add_review(module.get()) || !core::add_calls(module.get())) {
        return nullptr;
    }
    return module.release();
}
