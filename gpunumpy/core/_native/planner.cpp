#include "planner.hpp"

#include <algorithm>

#include "program.hpp"
#include "recent.hpp"
#include "signatures.hpp"
#include "structures.hpp"
#include "variants.hpp"

namespace core {

namespace {

Name check_name("CHECK"), program_name("program"), verify_name("verify");

// As in planner.py.
constexpr Py_ssize_t MAX_PLANS = 4096;
constexpr int PLAN_ENTRIES = 15;

// The variants of the template for a structure, in a table.
struct OfStructure {
    PyObject *templates = nullptr, *variants = nullptr;  // owned, as is
    Numbers* structure = nullptr;
    Py_ssize_t count = 0;

    void let_go() const {
        Py_XDECREF(templates);
        Py_XDECREF(variants);
        delete structure;
    }
};

Recent<OfStructure, 128> recent_structures;

// The variants of the template for a structure; null, maybe after an exception, if there are none.
Ref templates_for(PyObject* planner, const Numbers& structure, Py_ssize_t count) {
    PyObject* templates = state.table_entries.of(state.planner_templates.of(planner));
    uint64_t hash = hash_of(count, templates);
    for (const Py_ssize_t number : structure) hash = hash_of(hash, static_cast<uint64_t>(number));
    const auto is_wanted = [&](const OfStructure& entry) {
        return entry.templates == templates && entry.count == count &&
               std::equal(structure.begin(), structure.end(), entry.structure->begin(), entry.structure->end());
    };
    OfStructure& recent = recent_structures.at(hash, is_wanted);
    if (is_wanted(recent)) return Ref::to(recent.variants);
    Ref numbers(tuple_of(structure)), roots(PyLong_FromSsize_t(count));
    Ref key(numbers && roots ? PyTuple_Pack(3, numbers.get(), roots.get(), Py_True) : nullptr);
    Ref known = key ? find(templates, key.get()) : Ref();
    if (known) {
        recent_structures.put(recent, {Py_NewRef(templates), Py_NewRef(known.get()), new Numbers(structure), count});
    }
    return known;
}

bool is_checked() {
    return PyObject_IsTrue(find(state.evaluate, check_name).get()) == 1;
}

}  // namespace

PyObject* plan_at_new_sizes(PyObject* planner, PyObject* key, PyObject* nodes, Py_ssize_t count) {
    Numbers structure, sizes, values;
    // A large graph may have more different sizes than a plan has symbols: Python computes it in parts.
    const Py_ssize_t many = PyList_GET_SIZE(nodes) > MAX_SYMBOLS ? MAX_SYMBOLS + 1 : ANY;
    if (read_structure(nodes, structure, sizes, many) != Structure::READ) return nullptr;
    Ref variants = templates_for(planner, structure, count);
    Ref found(variants ? find_variant(variants.get(), sizes, values) : nullptr);
    Ref program(found ? PyObject_GetAttr(found.get(), program_name) : nullptr);
    // A template that has run once alone has no program yet.
    Ref plan(program && program.get() != Py_None ? planned(program.get(), found.get(), values, nodes) : nullptr);
    if (!plan) return nullptr;
    if (is_checked()) {
        Ref number(PyLong_FromSsize_t(count));
        if (!number || !Ref(PyObject_CallMethodObjArgs(planner, verify_name, plan.get(), number.get(), nullptr))) return nullptr;
    }
    PyObject* plans = state.table_entries.of(state.planner_plans.of(planner));
    if (PyDict_GET_SIZE(plans) >= MAX_PLANS) PyDict_Clear(plans);
    return keep(plans, key, plan.get(), PLAN_ENTRIES).release();
}

}  // namespace core
