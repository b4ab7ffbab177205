#include "launch.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace core {

namespace {

// cuLaunchKernel, whose address Python hands over: the core is built without CUDA's headers.
using LaunchKernel = int (*)(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             unsigned shared_bytes, void* stream, void** parameters, void** extra);

struct Prepared {
    LaunchKernel launch_kernel;
    void *function, *stream;
    unsigned dimensions[7];  // grid, block, bytes of shared memory
    std::string format;      // of the arguments, in letters of Python's module `struct`, each of 8 bytes
    std::vector<int64_t> params;  // follow the arguments in every launch
    bool is_packed;               // whether all of these are one parameter of the kernel
};

struct Launch {
    PyObject_HEAD
    vectorcallfunc call;
    Prepared* prepared;
};

Launch* as_launch(PyObject* object) { return reinterpret_cast<Launch*>(object); }

// Write an argument as the letter says; false after an exception.
bool pack(char letter, PyObject* value, int64_t& word) {
    if (letter == 'd') {
        const double number = PyFloat_AsDouble(value);
        std::memcpy(&word, &number, sizeof word);
        return number != -1.0 || !PyErr_Occurred();
    }
    Ref integer(PyNumber_Index(value));
    if (!integer) return false;
    word = letter == 'Q' ? static_cast<int64_t>(PyLong_AsUnsignedLongLong(integer.get()))
                         : PyLong_AsLongLong(integer.get());
    return word != -1 || !PyErr_Occurred();
}

bool pack_all(const Prepared& prepared, PyObject* values, std::vector<int64_t>& words) {
    Ref sequence(PySequence_Fast(values, "arguments are a sequence"));
    if (!sequence) return false;
    const size_t count = prepared.format.size();
    if (static_cast<size_t>(PySequence_Fast_GET_SIZE(sequence.get())) != count) {
        PyErr_Format(PyExc_TypeError, "the kernel takes %zu arguments, not %zd", count,
                     PySequence_Fast_GET_SIZE(sequence.get()));
        return false;
    }
    words.reserve(count + prepared.params.size() + 1);
    words.resize(count);
    for (size_t k = 0; k < count; k++) {
        if (!pack(prepared.format[k], PySequence_Fast_GET_ITEM(sequence.get(), k), words[k])) return false;
    }
    words.insert(words.end(), prepared.params.begin(), prepared.params.end());
    if (words.empty()) words.push_back(0);
    return true;
}

// launch(values, launched): queue the kernel, note that in `launched`, and return what the driver says. Nothing of
// Python's comes between the launch and the note: an exception finds both, or neither.
PyObject* call(PyObject* self, PyObject* const* args, size_t count, PyObject*) {
    if (PyVectorcall_NARGS(count) != 2) {
        PyErr_SetString(PyExc_TypeError, "a launch takes the arguments, and the list that it is noted in");
        return nullptr;
    }
    const Prepared& p = *as_launch(self)->prepared;
    std::vector<int64_t> words;
    if (!pack_all(p, args[0], words)) return nullptr;
    std::vector<void*> addresses(p.is_packed ? 1 : words.size());
    for (size_t k = 0; k < addresses.size(); k++) addresses[k] = &words[k];
    const unsigned* d = p.dimensions;
    int error;
    Py_BEGIN_ALLOW_THREADS
    error = p.launch_kernel(p.function, d[0], d[1], d[2], d[3], d[4], d[5], d[6], p.stream, addresses.data(), nullptr);
    Py_END_ALLOW_THREADS
    if (!error) {
        static PyObject* const append = PyUnicode_InternFromString("append");
        if (!Ref(PyObject_CallMethodOneArg(args[1], append, Py_None))) return nullptr;
    }
    return PyLong_FromLong(error);
}

// Launch(launch_kernel, function, dimensions, stream, format, params, is_packed)
PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
    unsigned long long launch_kernel, function, stream;
    unsigned d[7];
    const char* format;
    PyObject* params;
    int is_packed;
    if (!PyArg_ParseTuple(args, "KK(IIIIIII)KsOp", &launch_kernel, &function, d, d + 1, d + 2, d + 3, d + 4, d + 5, d + 6,
                          &stream, &format, &params, &is_packed)) {
        return nullptr;
    }
    Ref sequence(PySequence_Fast(params, "parameters are a sequence")), made(type->tp_alloc(type, 0));
    if (!sequence || !made) return nullptr;
    Prepared* p = as_launch(made.get())->prepared = new Prepared();
    as_launch(made.get())->call = call;
    p->launch_kernel = reinterpret_cast<LaunchKernel>(launch_kernel);
    p->function = reinterpret_cast<void*>(function);
    p->stream = reinterpret_cast<void*>(stream);
    std::memcpy(p->dimensions, d, sizeof d);
    p->format = format;
    p->is_packed = is_packed;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(sequence.get()); k++) {
        p->params.push_back(PyLong_AsLongLong(PySequence_Fast_GET_ITEM(sequence.get(), k)));
    }
    return PyErr_Occurred() ? nullptr : made.release();
}

void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    delete as_launch(self)->prepared;
    type->tp_free(self);
    Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Launch, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_members, members},
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {0, nullptr},
};

PyType_Spec spec = {
    "gpunumpy.core._native._core.Launch", sizeof(Launch), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots,
};

}  // namespace

bool add_launch_type(PyObject* module) {
    PyObject* type = PyType_FromModuleAndSpec(module, &spec, nullptr);
    return type && PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type)) == 0;
}

}  // namespace core
