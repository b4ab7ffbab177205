#include "run.hpp"

#include "kept_lists.hpp"

namespace core {

PyTypeObject* run_type = nullptr;

namespace {

using Held = References<Run, &Run::entered, &Run::nodes, &Run::plan, &Run::slots>;

// Every flush has a run, and few flushes are under way at once.
FreeObjects<4> free_runs;

void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    for (PyObject** list : {&as_run(self)->nodes, &as_run(self)->slots}) give_list(std::exchange(*list, nullptr));
    Held::clear(self);
    if (!free_runs.put(self)) type->tp_free(self);
    Py_DECREF(type);
}

PyObject* make(PyTypeObject*, PyObject*, PyObject*) { return new_run(); }

PyMemberDef members[] = {
    {"entered", T_OBJECT_EX, offsetof(Run, entered), 0, nullptr},
    {"is_in_core", T_BOOL, offsetof(Run, is_in_core), 0, nullptr},
    {"nodes", T_OBJECT_EX, offsetof(Run, nodes), 0, nullptr},
    {"plan", T_OBJECT_EX, offsetof(Run, plan), 0, nullptr},
    {"slots", T_OBJECT_EX, offsetof(Run, slots), 0, nullptr},
    {"step", T_PYSSIZET, offsetof(Run, step), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_members, members},
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_traverse, reinterpret_cast<void*>(Held::traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(Held::clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {0, nullptr},
};

PyType_Spec spec = {
    "gpunumpy.core._native._core.Run", sizeof(Run), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots,
};

}  // namespace

bool add_run_type(PyObject* module) {
    run_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
    return run_type && guard_fields(run_type, members) && PyModule_AddType(module, run_type) == 0;
}

PyObject* new_run() {
    PyObject* run = free_runs.take(run_type);
    if (!run) return nullptr;
    as_run(run)->step = 0;
    as_run(run)->is_in_core = false;
    as_run(run)->plan = Py_NewRef(Py_None);
    as_run(run)->entered = Py_NewRef(Py_None);
    PyObject_GC_Track(run);  // what a run is at may refer to it
    return run;
}

}  // namespace core
