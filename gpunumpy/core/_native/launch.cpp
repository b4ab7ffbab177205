#include "launch.hpp"

#include <climits>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "numbers.hpp"
#include "state.hpp"

namespace core {

namespace {

Name activate_name("activate");

// CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: the kernel may be started while those before it run, for whose end
// it waits by itself.
LaunchAttribute starts_early = {6, 0, {1}};

constexpr Py_ssize_t SCRATCH_ALIGNMENT = 16;  // as in scratch.py

struct Launch {
    PyObject_HEAD
    vectorcallfunc call;
    PreparedLaunch prepared;
};

Launch* as_launch(PyObject* object) { return reinterpret_cast<Launch*>(object); }

PyTypeObject* launch_type = nullptr;

// A new launch, still of nothing; null after an exception.
PyObject* new_launch(vectorcallfunc call) {
    PyObject* made = launch_type->tp_alloc(launch_type, 0);
    if (!made) return nullptr;
    as_launch(made)->call = call;
    new (&as_launch(made)->prepared) PreparedLaunch();
    return made;
}

bool has_count(const PreparedLaunch& prepared, size_t count) {
    const size_t wanted = prepared.of->format.size() - prepared.scratch.size();
    if (wanted == count) return true;
    PyErr_Format(PyExc_TypeError, "the kernel takes %zu arguments, not %zu", wanted, count);
    return false;
}

bool pack_all(const PreparedLaunch& prepared, PyObject* values, Words& words) {
    Ref sequence(PySequence_Fast(values, "arguments are a sequence"));
    if (!sequence || !has_count(prepared, PySequence_Fast_GET_SIZE(sequence.get()))) return false;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(sequence.get()); k++) {
        int64_t word;
        if (!pack(prepared.of->format[k], PySequence_Fast_GET_ITEM(sequence.get(), k), word)) return false;
        words.push_back(word);
    }
    return true;
}

// launch(values), launch(values, launched)
PyObject* call(PyObject* self, PyObject* const* args, size_t count, PyObject*) {
    const Py_ssize_t given = PyVectorcall_NARGS(count);
    PyObject* device = as_launch(self)->prepared.of->device;
    if (given == 2 ? !PyList_Check(args[1]) : given != 1 || device == Py_None) {
        PyErr_SetString(PyExc_TypeError, "a launch takes the arguments, and the list that it is noted in");
        return nullptr;
    }
    Words words;
    Scratch scratch;
    if (!pack_all(as_launch(self)->prepared, args[0], words) || !scratch.add(self, words)) return nullptr;
    if (given == 1 && !activate(device)) return nullptr;
    Ref launched = Ref::to(given == 2 ? args[1] : held(state.device_launched, device).get());
    if (!launch_words(self, words, launched.get())) return nullptr;
    Py_RETURN_NONE;
}

// Launch(launch_kernel, function, dimensions, stream, starts_early, format, params, is_packed, failed, device, kernel, fixed)
PyObject* make(PyTypeObject*, PyObject* args, PyObject*) {
    unsigned long long launch_kernel, function, stream;
    unsigned d[7];
    const char* format;
    PyObject *params, *failed, *device, *kernel;
    int is_early, is_packed;
    Py_ssize_t fixed;
    if (!PyArg_ParseTuple(args, "KK(IIIIIII)KpsOpOOOn", &launch_kernel, &function, d, d + 1, d + 2, d + 3, d + 4, d + 5, d + 6,
                          &stream, &is_early, &format, &params, &is_packed, &failed, &device, &kernel, &fixed)) {
        return nullptr;
    }
    Ref sequence(PySequence_Fast(params, "parameters are a sequence")), made(new_launch(call));
    if (!sequence || !made) return nullptr;
    if (fixed < 0 || fixed > PySequence_Fast_GET_SIZE(sequence.get())) {
        return PyErr_Format(PyExc_ValueError, "there are not %zd fixed parameters", fixed);
    }
    const auto shared = std::make_shared<LaunchedKernel>();
    shared->launch_kernel = reinterpret_cast<LaunchKernel>(launch_kernel);
    shared->function = reinterpret_cast<void*>(function);
    shared->format = format;
    shared->is_packed = is_packed;
    shared->failed = Py_NewRef(failed);
    shared->device = Py_NewRef(device);
    shared->kernel = Py_NewRef(kernel);
    shared->fixed = fixed;
    PreparedLaunch* p = &as_launch(made.get())->prepared;
    p->of = shared;
    p->config = {{}, reinterpret_cast<void*>(stream), &starts_early, is_early ? 1u : 0u};
    std::memcpy(p->config.dimensions, d, sizeof d);
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(sequence.get()); k++) {
        p->params.push_back(PyLong_AsLongLong(PySequence_Fast_GET_ITEM(sequence.get(), k)));
    }
    return PyErr_Occurred() ? nullptr : made.release();
}

// launch.at(grid, numbers): as `launch_at`, or None.
PyObject* at(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    if (count != 2) return PyErr_Format(PyExc_TypeError, "at takes a grid and numbers");
    Ref grid(PySequence_Fast(args[0], "a grid is a sequence")), params(PySequence_Fast(args[1], "numbers are a sequence"));
    if (!grid || !params) return nullptr;
    if (PySequence_Fast_GET_SIZE(grid.get()) != 3) return PyErr_Format(PyExc_ValueError, "a grid has three sizes");
    Numbers grid_sizes, numbers;
    for (const auto& [sequence, read] : {std::pair{grid.get(), &grid_sizes}, std::pair{params.get(), &numbers}}) {
        for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(sequence); k++) {
            read->push_back(PyLong_AsSsize_t(PySequence_Fast_GET_ITEM(sequence, k)));
        }
    }
    if (PyErr_Occurred()) return nullptr;
    PyObject* made = launch_at(self, grid_sizes.data(), numbers.data(), numbers.size());
    return made || PyErr_Occurred() ? made : Py_NewRef(Py_None);
}

// launch.with_scratch(parts, counters): the launch with scratch memory. A part is whether it is zeroed, and a number as in
// `ScratchPart`; `counters` is a buffer or None.
PyObject* with_scratch(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    if (count != 2 || !PyTuple_Check(args[0])) return PyErr_Format(PyExc_TypeError, "with_scratch takes parts and a buffer");
    std::vector<ScratchPart> parts;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args[0]); k++) {
        int is_zeroed;
        Py_ssize_t number;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(args[0], k), "pn", &is_zeroed, &number)) return nullptr;
        if (is_zeroed && !is_buffer(args[1])) return PyErr_Format(PyExc_TypeError, "there are no counters");
        parts.push_back({is_zeroed != 0, number});
    }
    const PreparedLaunch& other = as_launch(self)->prepared;
    if (parts.size() > other.of->format.size()) return PyErr_Format(PyExc_ValueError, "the kernel has no such scratch memory");
    Ref made(new_launch(call));
    if (!made) return nullptr;
    PreparedLaunch* p = &as_launch(made.get())->prepared;
    *p = other;
    p->scratch = std::move(parts);
    p->counters = args[1] == Py_None ? nullptr : Py_NewRef(args[1]);
    return made.release();
}

void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    Py_XDECREF(as_launch(self)->prepared.counters);
    as_launch(self)->prepared.~PreparedLaunch();
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject* is_one_launch(PyObject*, void*) { Py_RETURN_TRUE; }

PyGetSetDef attributes[] = {
    {"is_one_launch", is_one_launch, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Launch, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyMethodDef methods[] = {
    {"at", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(at)), METH_FASTCALL, nullptr},
    {"with_scratch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(with_scratch)), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_members, members},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
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
    launch_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
    return launch_type && PyModule_AddType(module, launch_type) == 0;
}

// Each GPU that becomes active after another one has a number of its own; a thread knows the last one that it activated.
// `Device` says whether other code could have activated another one since.
bool activate(PyObject* device) {
    static PyObject* last = nullptr;
    static uint64_t activations = 0;
    thread_local uint64_t known = 0;
    Section section;
    if (device == last && known == activations && held(state.device_stays_current, device).get() == Py_True) return true;
    if (!Ref(PyObject_CallMethodNoArgs(device, activate_name))) return false;
    if (device != last) {
        activations++;
        set_field(last, Py_NewRef(device));  // held, so that no other device is ever found at its address
    }
    known = activations;
    return true;
}

PyObject* launch_at(PyObject* launch, const Py_ssize_t* grid, const Py_ssize_t* numbers, size_t count) {
    const PreparedLaunch& other = as_launch(launch)->prepared;
    const size_t parts = other.scratch.size();
    if (count < parts) return PyErr_Format(PyExc_ValueError, "the kernel has %zu parts of scratch memory", parts);
    std::vector<ScratchPart> scratch;
    scratch.reserve(parts);
    Py_ssize_t counter_bytes = 0;
    for (size_t k = 0; k < parts; k++) {
        const bool is_zeroed = other.scratch[k].is_zeroed;
        scratch.push_back({is_zeroed, is_zeroed ? counter_bytes : numbers[k]});
        if (is_zeroed) counter_bytes += (numbers[k] + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
    }
    if (counter_bytes) {
        const Py_ssize_t there = PyLong_AsSsize_t(as_buffer(other.counters)->nbytes);
        if (counter_bytes > there) return nullptr;
    }
    Ref made(new_launch(call));
    if (!made) return nullptr;
    PreparedLaunch* p = &as_launch(made.get())->prepared;
    p->of = other.of;
    p->config = other.config;
    p->scratch = std::move(scratch);
    p->counters = Py_XNewRef(other.counters);
    const Py_ssize_t fixed = other.of->fixed;
    p->params.reserve(fixed + count - parts);
    p->params.assign(other.params.begin(), other.params.begin() + fixed);
    p->params.insert(p->params.end(), numbers + parts, numbers + count);
    for (int k = 0; k < 3; k++) {
        if (grid[k] < 0 || grid[k] > UINT_MAX) return PyErr_Format(PyExc_OverflowError, "no grid has a size of %zd", grid[k]);
        p->config.dimensions[k] = static_cast<unsigned>(grid[k]);
    }
    return made.release();
}

bool is_launch(PyObject* object) { return Py_TYPE(object) == launch_type; }

const PreparedLaunch& prepared_launch(PyObject* launch) { return as_launch(launch)->prepared; }

const char* format_of(PyObject* launch, size_t count) {
    const PreparedLaunch& prepared = as_launch(launch)->prepared;
    return has_count(prepared, count) ? prepared.of->format.c_str() : nullptr;
}

bool pack(char letter, PyObject* value, int64_t& word) {
    // Python's own integers without a float that is made of them.
    const auto as_double = [&] { return PyLong_CheckExact(value) ? PyLong_AsDouble(value) : PyFloat_AsDouble(value); };
    if (letter == 'd') {
        const double number = as_double();
        std::memcpy(&word, &number, sizeof word);
        return number != -1.0 || !PyErr_Occurred();
    }
    if (letter == 'f') {
        const double number = as_double();
        const float rounded = static_cast<float>(number);
        word = 0;
        std::memcpy(&word, &rounded, sizeof rounded);
        return number != -1.0 || !PyErr_Occurred();
    }
    Ref integer(PyNumber_Index(value));
    if (!integer) return false;
    word = letter == 'Q' ? static_cast<int64_t>(PyLong_AsUnsignedLongLong(integer.get()))
                         : PyLong_AsLongLong(integer.get());
    return word != -1 || !PyErr_Occurred();
}

bool Scratch::add(PyObject* launch, Words& words) {
    const PreparedLaunch& p = as_launch(launch)->prepared;
    for (const ScratchPart& part : p.scratch) {
        PyObject* buffer = p.counters;
        if (!part.is_zeroed) {
            Ref nbytes(PyLong_FromSsize_t(part.number));
            if (!nbytes) return false;
            buffer = allocate_at_hand(p.of->device, nbytes.get());
            if (!buffer && !PyErr_Occurred()) {
                buffer = PyObject_CallFunctionObjArgs(state.allocate, p.of->device, nbytes.get(), nullptr);
            }
            if (!buffer) return false;
            buffers_.push_back(buffer);
            set_field(as_buffer(buffer)->exported, Py_NewRef(Py_True));  // as `allocate_fixed` does
        }
        const uint64_t address = PyLong_AsUnsignedLongLong(as_buffer(buffer)->ptr);
        words.push_back(static_cast<int64_t>(address) + (part.is_zeroed ? part.number : 0));
    }
    return !PyErr_Occurred();
}

Scratch::~Scratch() {
    for (PyObject* buffer : buffers_) Py_DECREF(buffer);
}

bool launch_words(PyObject* launch, Words& words, PyObject* launched) {
    const PreparedLaunch& p = as_launch(launch)->prepared;
    const LaunchedKernel& kernel = *p.of;
    for (const int64_t word : p.params) words.push_back(word);
    if (!words.size()) words.push_back(0);
    SmallVector<void*, 64> addresses;
    for (size_t k = 0; k < (kernel.is_packed ? 1 : words.size()); k++) addresses.push_back(&words[k]);
    for (int failures = 0;; failures++) {
        int error;
        Py_BEGIN_ALLOW_THREADS
        error = kernel.launch_kernel(&p.config, kernel.function, addresses.begin(), nullptr);
        Py_END_ALLOW_THREADS
        if (!error) break;
        if (!Ref(PyObject_CallFunction(kernel.failed, "ii", error, failures))) return false;
        if (kernel.device != Py_None && !activate(kernel.device)) return false;
    }
    return PyList_GET_SIZE(launched) || PyList_Append(launched, Py_None) == 0;
}

}  // namespace core
