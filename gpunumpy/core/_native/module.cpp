// The module gpunumpy.core._native._core: see __init__.py beside this file for how Python uses it.
#include "array.hpp"
#include "buffer.hpp"
#include "launch.hpp"
#include "program.hpp"
#include "recorders.hpp"
#include "run.hpp"
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

PyMethodDef functions[] = {
    {"set_up", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(set_up)), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"wrap", wrap_node, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_core", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyObject* set_up(PyObject*, PyObject*, PyObject* options) {
    State& s = state;
    if (!options) return PyErr_Format(PyExc_TypeError, "the core needs objects as keywords");
    const bool is_complete =
        take_class(options, "ndarray", s.ndarray) && take_class(options, "Signature", s.signature) &&
        take_class(options, "Queue", s.queue) && take_class(options, "Window", s.window) &&
        take_class(options, "Leaf", s.leaf) && take_class(options, "Const", s.constant) &&
        take_class(options, "View", s.view) && take_class(options, "Update", s.update) &&
        take_class(options, "Layout", s.layout) && take_class(options, "PoolBuffer", s.pool_buffer) &&
        take(options, "free_lists", s.free_lists) && take(options, "allocate", s.allocate) &&
        take_class(options, "_DeviceState", s.device_state) &&
        take_class(options, "Planner", s.planner) && take_class(options, "LoopCut", s.loop_cut) &&
        take_class(options, "BoundedTable", s.bounded_table) && take_class(options, "Device", s.device) && take(options, "VisibleBuffer", s.visible_buffer) &&
        take(options, "evaluate", s.evaluate) && take(options, "recover", s.recover) &&
        take(options, "schedule_review", s.schedule_review) && take(options, "windows", s.windows) &&
        take(options, "signatures", s.signatures) && take(options, "view", s.make_view_node) &&
        take(options, "update", s.make_update) && take(options, "as_new_node", s.as_new_node) &&
        take(options, "scalar", s.scalar) && take(options, "value", s.compute_value) &&
        take(options, "of_bool", s.of_bool) && take(options, "of_float", s.of_float) &&
        take(options, "of_int_below_128", s.of_int_below_128);
    const bool has_slots = is_complete && s.signature_primitive.find(s.signature, "primitive") &&
                           s.signature_shape.find(s.signature, "shape") &&
                           s.signature_dtype.find(s.signature, "dtype") &&
                           s.signature_queue.find(s.signature, "queue") &&
                           s.signature_generator.find(s.signature, "generator") && s.queue_pending.find(s.queue, "pending") &&
                           s.queue_lock.find(s.queue, "lock") && s.queue_review_at.find(s.queue, "review_at") &&
                           s.queue_review.find(s.queue, "review") &&
                           s.queue_run.find(s.queue, "run") && s.queue_publications.find(s.queue, "publications") &&
                           s.queue_state.find(s.queue, "state") && s.state_planner.find(s.device_state, "planner") &&
                           s.state_cut.find(s.device_state, "cut") && s.planner_plans.find(s.planner, "plans") &&
                           s.device_launched.find(s.device, "launched") &&
                           s.device_stays_current.find(s.device, "_stays_current") &&
                           s.table_entries.find(s.bounded_table, "_entries") &&
                           s.cut_is_first.find(s.loop_cut, "_is_first") && s.cut_begin.find(s.loop_cut, "_begin") &&
                           s.cut_search.find(s.loop_cut, "_search") && s.window_nested.find(s.window, "nested") &&
                           s.window_signature.find(s.window, "signature") && s.window_step.find(s.window, "step") &&
                           s.window_leaves.find(s.window, "_leaves");
    if (!has_slots) return nullptr;
    Py_RETURN_NONE;
}

}  // namespace core

PyMODINIT_FUNC PyInit__core() {
    core::Ref module(PyModule_Create(&core::definition));
    if (!module || !core::add_node_type(module.get()) || !core::add_array_type(module.get()) ||
        !core::add_buffer_type(module.get()) ||
        !core::add_recorder_types(module.get()) || !core::add_ufunc_call_type(module.get()) ||
        !core::add_walk(module.get()) || !core::add_launch_type(module.get()) ||
        !core::add_program_type(module.get()) || !core::add_run_type(module.get())) {
        return nullptr;
    }
    return module.release();
}
