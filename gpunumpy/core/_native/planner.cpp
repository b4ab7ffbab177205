#include "planner.hpp"

#include "program.hpp"
#include "signatures.hpp"
#include "structures.hpp"
#include "variants.hpp"

namespace core {

namespace {

// As in planner.py.
constexpr Py_ssize_t MAX_PLANS = 4096;
constexpr int PLAN_ENTRIES = 15;

// The variants of the template for a structure, as a new reference.
PyObject* templates_for(PyObject* planner, PyObject* structure, Py_ssize_t count) {
    Ref roots(PyLong_FromSsize_t(count));
    Ref key(roots ? PyTuple_Pack(3, structure, roots.get(), Py_True) : nullptr);
    PyObject* templates = state.table_entries.of(state.planner_templates.of(planner));
    return key ? find(templates, key.get()).release() : nullptr;
}

bool is_checked() {
    static Name name("CHECK");
    return PyObject_IsTrue(find(state.evaluate, name).get()) == 1;
}

}  // namespace

PyObject* plan_at_new_sizes(PyObject* planner, PyObject* key, PyObject* nodes, Py_ssize_t count) {
    static Name program_name("program"), verify("verify");
    Numbers sizes, values;
    Ref structure(lowered_structure(nodes, sizes));
    Ref variants(structure ? templates_for(planner, structure.get(), count) : nullptr);
    Ref found(variants ? find_variant(variants.get(), sizes, values) : nullptr);
    Ref program(found ? PyObject_GetAttr(found.get(), program_name) : nullptr);
    // A template that has run once alone has no program yet.
    Ref plan(program && program.get() != Py_None ? planned(program.get(), found.get(), values, nodes) : nullptr);
    if (!plan) return nullptr;
    if (is_checked()) {
        Ref number(PyLong_FromSsize_t(count));
        if (!number || !Ref(PyObject_CallMethodObjArgs(planner, verify, plan.get(), number.get(), nullptr))) return nullptr;
    }
    PyObject* plans = state.table_entries.of(state.planner_plans.of(planner));
    if (PyDict_GET_SIZE(plans) >= MAX_PLANS) PyDict_Clear(plans);
    return keep(plans, key, plan.get(), PLAN_ENTRIES).release();
}

}  // namespace core
