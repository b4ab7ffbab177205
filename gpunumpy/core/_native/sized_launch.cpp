#include "sized_launch.hpp"

#include "launch.hpp"
#include "section.hpp"
#include "size_functions.hpp"
#include "variants.hpp"

namespace core {

namespace {

Name launch_name("launch"), numbers_name("numbers"), runner_name("runner");

struct SizedLaunch {
    PyObject_HEAD
    PyObject* programs;  // variants of what has `numbers` and a `runner`
    PyObject* prepare;   // in Python
    // The program that was launched last, its launch, and its numbers.
    PyObject *known, *launch, *formulas;
};

SizedLaunch* as_sized_launch(PyObject* object) { return reinterpret_cast<SizedLaunch*>(object); }

PyTypeObject* sized_launch_type = nullptr;

// Whether kernels are to be compiled with contraction: what launched others is not for them.
std::atomic<bool> contracts{false};

// Find the launch of a program, which stays, and its numbers. False, maybe after an exception, if nothing has launched it.
bool find_launch(SizedLaunch* self, PyObject* program, Ref& launch, Ref& formulas) {
    {
        Section section;
        if (self->known == program) {
            launch = Ref::to(self->launch);
            formulas = Ref::to(self->formulas);
            return true;
        }
    }
    const Ref runner(PyObject_GetAttr(program, runner_name));
    if (!runner || runner.get() == Py_None) return false;
    launch = Ref(is_launch(runner.get()) ? Py_NewRef(runner.get()) : PyObject_GetAttr(runner.get(), launch_name));
    if (!launch || !is_launch(launch.get())) return false;
    formulas = Ref(PyObject_GetAttr(program, numbers_name));
    if (!formulas) return false;
    Section section;
    set_field(self->known, nullptr);
    set_field(self->launch, Py_NewRef(launch.get()));
    set_field(self->formulas, Py_NewRef(formulas.get()));
    set_field(self->known, Py_NewRef(program));
    return true;
}

// The launch of a program at other sizes; null, without an exception, if nothing has launched it, or there is none.
PyObject* launch_of(SizedLaunch* self, PyObject* program, const Numbers& values) {
    Ref launch, formulas;
    if (program == Py_None || !find_launch(self, program, launch, formulas)) return nullptr;
    if (PyTuple_CheckExact(formulas.get())) return launch.release();  // the numbers are the same at all sizes
    if (!is_size_function(formulas.get())) return nullptr;
    Numbers numbers;
    switch (evaluate(formulas.get(), values, numbers)) {
        case Evaluated::YES: return launch_at(launch.get(), numbers.data(), numbers.data() + 3, numbers.size() - 3);
        default: return nullptr;
    }
}

// SizedLaunch(programs, prepare)
PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject *programs, *prepare;
    if (!PyArg_ParseTuple(args, "OO", &programs, &prepare)) return nullptr;
    Ref made(type->tp_alloc(type, 0));
    if (!made) return nullptr;
    as_sized_launch(made.get())->programs = Py_NewRef(programs);
    as_sized_launch(made.get())->prepare = Py_NewRef(prepare);
    return made.release();
}

PyObject* call(PyObject* self, PyObject* args, PyObject*) {
    PyObject* sizes;
    if (!PyArg_ParseTuple(args, "O", &sizes)) return nullptr;
    Numbers numbers;
    if (read_numbers(sizes, numbers)) {
        PyObject* launch = launch_at_sizes(self, numbers);
        if (launch || PyErr_Occurred()) return launch;
    }
    return PyObject_CallOneArg(as_sized_launch(self)->prepare, sizes);
}

PyObject* set_contraction(PyObject*, PyObject* value) {
    contracts = PyObject_IsTrue(value) == 1;
    Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"set_contraction", set_contraction, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

using Held = References<SizedLaunch, &SizedLaunch::programs, &SizedLaunch::prepare, &SizedLaunch::known, &SizedLaunch::launch,
                        &SizedLaunch::formulas>;

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_call, reinterpret_cast<void*>(call)},
    {Py_tp_traverse, reinterpret_cast<void*>(Held::traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(Held::clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(Held::deallocate)},
    {0, nullptr},
};

PyType_Spec spec = {
    "gpunumpy.core._native._core.SizedLaunch", sizeof(SizedLaunch), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots,
};

}  // namespace

bool add_sized_launch_type(PyObject* module) {
    sized_launch_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
    return sized_launch_type && PyModule_AddType(module, sized_launch_type) == 0 &&
           PyModule_AddFunctions(module, functions) == 0;
}

PyObject* launch_at_sizes(PyObject* prepare, const Numbers& sizes) {
    if (Py_TYPE(prepare) != sized_launch_type || contracts) return nullptr;
    Numbers values;
    Ref program(find_variant(as_sized_launch(prepare)->programs, sizes, values));
    return program ? launch_of(as_sized_launch(prepare), program.get(), values) : nullptr;
}

}  // namespace core
