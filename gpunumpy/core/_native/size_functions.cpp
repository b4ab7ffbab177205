#include "size_functions.hpp"

#include "state.hpp"

namespace core {

namespace {

// As in size_functions.py.
enum Opcode { SUM, QUOTIENT, REMAINDER, SHIFT, BITS, LEAST, GREATEST, CALL, IS_ZERO, IS_NEGATIVE };

struct Code {
    size_t count;
    Numbers code, results;
    PyObject* functions;  // borrowed from `SizeFunction::parts`
};

struct SizeFunction {
    PyObject_HEAD
    PyObject* parts;  // what it was made of; null values of `code` stand for what is left to Python
    Code* code;
};

SizeFunction* as_size_function(PyObject* object) { return reinterpret_cast<SizeFunction*>(object); }

PyTypeObject* size_function_type = nullptr;

// Of hundreds of instructions, which need no memory of their own.
using Registers = SmallVector<Py_ssize_t, 256>;

// One evaluation: the registers, and the way through the code.
class Evaluation {
public:
    Evaluation(const Code& code, Registers& registers) : code_(code), r_(registers) {}

    Evaluated all() {
        for (size_t at = 0; at < code_.code.size();) {
            const Py_ssize_t* p = &code_.code[at];
            switch (p[0]) {
                case SUM: {
                    const Py_ssize_t* end = sum(p);
                    if (!end) return Evaluated::NOT_AT_HAND;
                    at = end - code_.code.data();
                    continue;
                }
                case IS_ZERO:
                case IS_NEGATIVE:
                    if ((p[0] == IS_ZERO ? r_[p[1]] == 0 : r_[p[1]] < 0) != p[2]) return Evaluated::NO;
                    break;
                case CALL: {
                    const Evaluated called = call(p);
                    if (called != Evaluated::YES) return called;
                    at += 3 + p[2];
                    continue;
                }
                case BITS:
                    r_.push_back(bits(r_[p[1]]));
                    at += 2;
                    continue;
                default:
                    if (!binary(p[0], r_[p[1]], r_[p[2]])) return Evaluated::NOT_AT_HAND;
            }
            at += 3;
        }
        return Evaluated::YES;
    }

private:
    // Returns what follows; null if the sum is too large.
    const Py_ssize_t* sum(const Py_ssize_t* p) {
        Py_ssize_t total = 0;
        Py_ssize_t left = p[1];
        for (p += 2; left; left--) {
            Py_ssize_t product = *p++;
            for (Py_ssize_t factors = *p++; factors; factors--) {
                if (__builtin_mul_overflow(product, r_[*p++], &product)) return nullptr;
            }
            if (__builtin_add_overflow(total, product, &total)) return nullptr;
        }
        r_.push_back(total);
        return p;
    }

    static Py_ssize_t bits(Py_ssize_t x) {
        Py_ssize_t found = 0;
        for (size_t rest = x < 0 ? 0 - static_cast<size_t>(x) : x; rest; rest >>= 1) found++;
        return found;
    }

    bool binary(Py_ssize_t opcode, Py_ssize_t x, Py_ssize_t y) {
        switch (opcode) {
            case QUOTIENT:
            case REMAINDER: {
                if (!y || y == -1) return false;  // Python raises, or it may be too large
                const Py_ssize_t rest = x % y, below = rest && (rest < 0) != (y < 0) ? 1 : 0;
                r_.push_back(opcode == QUOTIENT ? x / y - below : rest + (below ? y : 0));
                return true;
            }
            case SHIFT:
                if (x < 0 || y < 0 || y > 61 || x > PY_SSIZE_T_MAX >> y) return false;
                r_.push_back(x << y);
                return true;
            case LEAST: r_.push_back(x < y ? x : y); return true;
            case GREATEST: r_.push_back(x > y ? x : y); return true;
            default: return false;
        }
    }

    Evaluated call(const Py_ssize_t* p) {
        Ref args(PyTuple_New(p[2]));
        for (Py_ssize_t k = 0; args && k < p[2]; k++) {
            PyObject* number = PyLong_FromSsize_t(r_[p[3 + k]]);
            if (!number) return Evaluated::ERROR;
            PyTuple_SET_ITEM(args.get(), k, number);
        }
        Ref result(args ? PyObject_CallObject(PyTuple_GET_ITEM(code_.functions, p[1]), args.get()) : nullptr);
        if (!result) return Evaluated::ERROR;
        Py_ssize_t number;
        if (!Sizes::read_integer(result.get(), number)) return Evaluated::NOT_AT_HAND;
        r_.push_back(number);
        return Evaluated::YES;
    }

    const Code& code_;
    Registers& r_;
};

// Integers of any class. Returns false, without an exception, for what does not fit 64 bits.
bool read_code(PyObject* tuple, Numbers& numbers) {
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tuple); k++) {
        numbers.push_back(PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, k)));
        if (numbers.back() == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return false;
        }
    }
    return true;
}

// SizeFunction(count, code, results, functions)
PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
    Py_ssize_t count;
    PyObject *code, *results, *functions;
    if (!PyArg_ParseTuple(args, "nO!O!O!", &count, &PyTuple_Type, &code, &PyTuple_Type, &results, &PyTuple_Type,
                          &functions)) {
        return nullptr;
    }
    Ref made(type->tp_alloc(type, 0));
    if (!made) return nullptr;
    as_size_function(made.get())->parts = Py_NewRef(args);
    Code* c = as_size_function(made.get())->code = new Code{static_cast<size_t>(count), {}, {}, functions};
    if (!read_code(code, c->code) || !read_code(results, c->results)) {
        delete std::exchange(as_size_function(made.get())->code, nullptr);  // Python evaluates what is too large
    }
    return made.release();
}

PyObject* evaluate_in_python(PyObject* function, PyObject* values) {
    PyObject* parts = as_size_function(function)->parts;
    return PyObject_CallFunctionObjArgs(state.evaluated, PyTuple_GET_ITEM(parts, 0), PyTuple_GET_ITEM(parts, 1),
                                        PyTuple_GET_ITEM(parts, 2), PyTuple_GET_ITEM(parts, 3), values, nullptr);
}

PyObject* call(PyObject* self, PyObject* args, PyObject*) {
    PyObject* values;
    if (!PyArg_ParseTuple(args, "O", &values)) return nullptr;
    Numbers read, results;
    if (read_numbers(values, read)) {
        switch (evaluate(self, read, results)) {
            case Evaluated::YES: return tuple_of(results);
            case Evaluated::NO: Py_RETURN_NONE;
            case Evaluated::ERROR: return nullptr;
            case Evaluated::NOT_AT_HAND: break;
        }
    }
    return evaluate_in_python(self, values);
}

using Held = References<SizeFunction, &SizeFunction::parts>;

void deallocate(PyObject* self) {
    delete std::exchange(as_size_function(self)->code, nullptr);
    Held::deallocate(self);
}

PyMemberDef members[] = {
    {"parts", T_OBJECT_EX, offsetof(SizeFunction, parts), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_call, reinterpret_cast<void*>(call)},
    {Py_tp_members, members},
    {Py_tp_traverse, reinterpret_cast<void*>(Held::traverse)},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {0, nullptr},
};

PyType_Spec spec = {
    "gpunumpy.core._native._core.SizeFunction", sizeof(SizeFunction), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots,
};

}  // namespace

bool add_size_function_type(PyObject* module) {
    size_function_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
    return size_function_type && PyModule_AddType(module, size_function_type) == 0;
}

bool is_size_function(PyObject* object) { return Py_TYPE(object) == size_function_type; }

Evaluated evaluate(PyObject* function, const Numbers& values, Numbers& results) {
    const Code* code = as_size_function(function)->code;
    if (!code || values.size() < code->count) return Evaluated::NOT_AT_HAND;
    Registers registers;
    registers.reserve(code->count + code->code.size() / 2);
    registers.append(values.begin(), values.begin() + code->count);
    const Evaluated evaluated = Evaluation(*code, registers).all();
    if (evaluated == Evaluated::YES) {
        for (const Py_ssize_t place : code->results) results.push_back(registers[place]);
    }
    return evaluated;
}

}  // namespace core
