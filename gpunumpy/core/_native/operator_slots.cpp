#include "operator_slots.hpp"

#include <iterator>
#include <utility>

#include "element_moves.hpp"
#include "ufunc_loops.hpp"

namespace core {

namespace {

// An operator of the class: its slot, the names of its methods, and, null until `set_operators`, these methods and
// NumPy's ufunc that does the same. Python gives a class that replaces a method, and each subclass, slots of its own.
template <typename Function>
struct Operator {
    Function PyNumberMethods::*slot;
    const char *name, *reflected_name = nullptr;
    PyObject *method = nullptr, *reflected = nullptr, *ufunc = nullptr;
};

using Numbers = PyNumberMethods;

Operator<binaryfunc> binary[] = {
    {&Numbers::nb_add, "__add__", "__radd__"},
    {&Numbers::nb_subtract, "__sub__", "__rsub__"},
    {&Numbers::nb_multiply, "__mul__", "__rmul__"},
    {&Numbers::nb_true_divide, "__truediv__", "__rtruediv__"},
    {&Numbers::nb_floor_divide, "__floordiv__", "__rfloordiv__"},
    {&Numbers::nb_remainder, "__mod__", "__rmod__"},
    {&Numbers::nb_and, "__and__", "__rand__"},
    {&Numbers::nb_or, "__or__", "__ror__"},
    {&Numbers::nb_xor, "__xor__", "__rxor__"},
    {&Numbers::nb_lshift, "__lshift__", "__rlshift__"},
    {&Numbers::nb_rshift, "__rshift__", "__rrshift__"},
};
Operator<binaryfunc> in_place[] = {
    {&Numbers::nb_inplace_add, "__iadd__"},
    {&Numbers::nb_inplace_subtract, "__isub__"},
    {&Numbers::nb_inplace_multiply, "__imul__"},
    {&Numbers::nb_inplace_true_divide, "__itruediv__"},
    {&Numbers::nb_inplace_floor_divide, "__ifloordiv__"},
    {&Numbers::nb_inplace_remainder, "__imod__"},
    {&Numbers::nb_inplace_and, "__iand__"},
    {&Numbers::nb_inplace_or, "__ior__"},
    {&Numbers::nb_inplace_xor, "__ixor__"},
    {&Numbers::nb_inplace_lshift, "__ilshift__"},
    {&Numbers::nb_inplace_rshift, "__irshift__"},
};
Operator<unaryfunc> unary[] = {
    {&Numbers::nb_negative, "__neg__"},
    {&Numbers::nb_absolute, "__abs__"},
    {&Numbers::nb_invert, "__invert__"},
};
// In the order of Python's numbers for them. They have one slot, whose function calls the methods.
Operator<richcmpfunc> comparisons[] = {
    {nullptr, "__lt__"}, {nullptr, "__le__"}, {nullptr, "__eq__"},
    {nullptr, "__ne__"}, {nullptr, "__gt__"}, {nullptr, "__ge__"},
};
richcmpfunc compare_by_methods = nullptr;

// What a ufunc's loop makes of operands on the host; null, without an exception, where the methods decide.
PyObject* on_host(PyObject* ufunc, int rules, PyObject* const* args, Py_ssize_t count) {
    if (!ufunc || !are_placed() || host_calls) return nullptr;
    Section section;
    return by_loop(ufunc, rules | IS_OPERATOR, args, count);
}

// The same for two operands, of which one may come to the host for it. The meeting lasts while the methods decide.
PyObject* on_host(PyObject* ufunc, int rules, PyObject* const* args, const Meeting& meeting) {
    return meeting.is_on_host() ? on_host(ufunc, rules, args, 2) : nullptr;
}

// Python asks the other operand's slot after this one, and a subclass's before it.
template <size_t K>
PyObject* compute(PyObject* a, PyObject* b) {
    PyObject* args[] = {a, b};
    PyObject* made = on_host(binary[K].ufunc, 0, args, 2);
    if (made || PyErr_Occurred()) return made;
    const Meeting meeting(a, b);
    made = on_host(binary[K].ufunc, 0, args, meeting);
    if (made || PyErr_Occurred()) return made;
    if (Py_IS_TYPE(a, state.ndarray)) return meeting.counted(PyObject_Vectorcall(binary[K].method, args, 2, nullptr));
    std::swap(args[0], args[1]);
    return meeting.counted(PyObject_Vectorcall(binary[K].reflected, args, 2, nullptr));
}

template <size_t K>
PyObject* compute_in_place(PyObject* a, PyObject* b) {
    PyObject* args[] = {a, b};
    PyObject* made = on_host(in_place[K].ufunc, IS_IN_PLACE, args, 2);
    if (made || PyErr_Occurred()) return made;
    const Meeting meeting(a, b);
    made = on_host(in_place[K].ufunc, IS_IN_PLACE, args, meeting);
    if (made || PyErr_Occurred()) return made;
    return meeting.counted(PyObject_Vectorcall(in_place[K].method, args, 2, nullptr));
}

template <size_t K>
PyObject* compute_one(PyObject* x) {
    PyObject* made = on_host(unary[K].ufunc, 0, &x, 1);
    if (made || PyErr_Occurred()) return made;
    return PyObject_CallOneArg(unary[K].method, x);
}

PyObject* compare(PyObject* a, PyObject* b, int operation) {
    PyObject* args[] = {a, b};
    PyObject* made = on_host(comparisons[operation].ufunc, 0, args, 2);
    if (made || PyErr_Occurred()) return made;
    const Meeting meeting(a, b);
    made = on_host(comparisons[operation].ufunc, 0, args, meeting);
    return made || PyErr_Occurred() ? made : meeting.counted(compare_by_methods(a, b, operation));
}

template <size_t... K>
void set_binary(Numbers& numbers, std::index_sequence<K...>) {
    ((numbers.*binary[K].slot = compute<K>), ...);
    ((numbers.*in_place[K].slot = compute_in_place<K>), ...);
}

template <size_t... K>
void set_unary(Numbers& numbers, std::index_sequence<K...>) {
    ((numbers.*unary[K].slot = compute_one<K>), ...);
}

// set_operators(ufuncs): have the slots of the class, which has all its methods now, run the loops of NumPy's ufuncs;
// these are given by the names of the methods.
PyObject* set_operators(PyObject*, PyObject* ufuncs) {
    const auto method = [](const char* name) -> PyObject* {
        return name ? PyObject_GetAttrString(reinterpret_cast<PyObject*>(state.ndarray), name) : nullptr;
    };
    const auto take = [=](auto& operators) {
        for (auto& each : operators) {
            each.method = method(each.name);
            each.reflected = method(each.reflected_name);
            each.ufunc = Py_XNewRef(PyDict_GetItemString(ufuncs, each.name));
        }
    };
    take(binary);
    take(in_place);
    take(unary);
    take(comparisons);
    if (PyErr_Occurred()) return nullptr;
    static_assert(std::size(binary) == std::size(in_place), "each operator has one in place");
    set_binary(*state.ndarray->tp_as_number, std::make_index_sequence<std::size(binary)>());
    set_unary(*state.ndarray->tp_as_number, std::make_index_sequence<std::size(unary)>());
    compare_by_methods = std::exchange(state.ndarray->tp_richcompare, compare);
    Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"set_operators", set_operators, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_operator_slots(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace core
