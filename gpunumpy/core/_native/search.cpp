#include "search.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace core {

namespace {

Name module_name("__name__");

// As in loop_cut.py.
constexpr Py_ssize_t MIN_SEARCH = 256, MAX_SEARCH = 1500;

PyTypeObject* search_type = nullptr;

// An instruction of a code, how often the program came to it, and what called the code then.
struct Visited {
    PyObject *code, *caller;  // owned
    int instruction;
    Py_ssize_t times, live_bytes;
};

struct Places {
    Places(Py_ssize_t newest_place) : newest(newest_place) {}
    ~Places() {
        for (const Visited& each : visited) {
            Py_DECREF(each.code);
            Py_DECREF(each.caller);
        }
    }

    // The number of a place, which may be a new one.
    size_t number_of(PyObject* code, int instruction, PyObject* caller) {
        const auto [found, is_new] = numbers.try_emplace({code, instruction}, visited.size());
        if (is_new) visited.push_back({Py_NewRef(code), Py_NewRef(caller), instruction, 0, 0});
        return found->second;
    }
    Py_ssize_t end() const { return std::min(MAX_SEARCH, std::max(MIN_SEARCH, 2 * newest)); }

    Py_ssize_t length = 0, newest;  // places that were counted, and those up to the last that came up for the first time
    std::vector<Visited> visited;
    std::map<std::pair<PyObject*, int>, size_t> numbers;
};

struct Search {
    PyObject_HEAD
    Places* places;
};

Places& places_of(PyObject* search) { return *reinterpret_cast<Search*>(search)->places; }

PyFrameObject* as_frame(const Ref& frame) { return reinterpret_cast<PyFrameObject*>(frame.get()); }
Ref back_of(const Ref& frame) { return Ref(reinterpret_cast<PyObject*>(PyFrame_GetBack(as_frame(frame)))); }
Ref code_of(const Ref& frame) { return Ref(reinterpret_cast<PyObject*>(PyFrame_GetCode(as_frame(frame)))); }
Ref innermost_frame() { return Ref::to(reinterpret_cast<PyObject*>(PyEval_GetFrame())); }

// Whether a frame runs code of this package.
bool is_of_package(PyFrameObject* frame) {
    constexpr char PACKAGE[] = "gpunumpy";
    constexpr size_t LENGTH = sizeof PACKAGE - 1;
    Ref globals(PyFrame_GetGlobals(frame));
    Ref name = PyDict_Check(globals.get()) ? find(globals.get(), module_name) : Ref();
    const char* text = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : nullptr;
    if (!text) PyErr_Clear();
    return text && !std::strncmp(text, PACKAGE, LENGTH) && (text[LENGTH] == '.' || !text[LENGTH]);
}

// The innermost frame outside of the package, or the outermost one; null where no code of Python's runs.
Ref user_frame() {
    Ref frame = innermost_frame();
    while (frame && is_of_package(as_frame(frame))) {
        Ref back = back_of(frame);
        if (!back) break;
        frame = std::move(back);
    }
    return frame;
}

// The code that calls a function whose frame this is; that of a module is its own.
Ref caller_of(const Ref& frame) {
    const Ref back = back_of(frame);
    Ref code = code_of(frame);
    PyObject* name = reinterpret_cast<PyCodeObject*>(code.get())->co_name;
    return back && PyUnicode_CompareWithASCIIString(name, "<module>") ? code_of(back) : std::move(code);
}

// Search(thorough)
PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
    int is_thorough;
    if (!PyArg_ParseTuple(args, "p", &is_thorough)) return nullptr;
    PyObject* made = type->tp_alloc(type, 0);
    if (made) reinterpret_cast<Search*>(made)->places = new Places(is_thorough ? MAX_SEARCH : 0);
    return made;
}

void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    delete reinterpret_cast<Search*>(self)->places;
    type->tp_free(self);
    Py_DECREF(type);
}

// search.count((code, instruction), live_bytes)
PyObject* count(PyObject* self, PyObject* args) {
    PyObject *code, *live_bytes;
    int instruction;
    if (!PyArg_ParseTuple(args, "(O!i)O", &PyCode_Type, &code, &instruction, &live_bytes)) return nullptr;
    Ref frame = innermost_frame();
    while (frame && code_of(frame).get() != code) frame = back_of(frame);
    const Ref caller = frame ? caller_of(frame) : Ref::to(code);
    Section section;
    Places& places = places_of(self);
    const size_t number = places.number_of(code, instruction, caller.get());
    places.length++;
    const Py_ssize_t times = ++places.visited[number].times;
    set_field(places.visited[number].caller, Py_NewRef(caller.get()));
    if (times == 1) places.newest = std::max(places.newest, places.length);
    if (times == 2) {
        Ref nbytes(PyObject_CallNoArgs(live_bytes));
        if (!nbytes) return nullptr;
        places.visited[number].live_bytes = PyLong_AsSsize_t(nbytes.get());
        if (PyErr_Occurred()) return nullptr;
    }
    return PyBool_FromLong(places.length >= places.end());
}

// search.found(): ((code, instruction), caller), or two times None
PyObject* found(PyObject* self, PyObject*) {
    Section section;
    const Places& places = places_of(self);
    Py_ssize_t least = PY_SSIZE_T_MAX;
    for (const Visited& each : places.visited) {
        if (each.times > 1) least = std::min(least, each.times);
    }
    const Visited* best = nullptr;
    for (const Visited& each : places.visited) {
        if (each.times < 2 || each.times > least + least / 4) continue;
        if (!best || each.live_bytes < best->live_bytes) best = &each;
    }
    if (!best) return Py_BuildValue("(OO)", Py_None, Py_None);
    return Py_BuildValue("((Oi)O)", best->code, best->instruction, best->caller);
}

PyMethodDef methods[] = {
    {"count", count, METH_VARARGS, nullptr},
    {"found", found, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_methods, methods},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {0, nullptr},
};

PyType_Spec spec = {"gpunumpy.core._native._core.Search", sizeof(Search), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

bool is_at(PyObject* place) {
    const Ref frame = user_frame();
    return !frame || (code_of(frame).get() == PyTuple_GET_ITEM(place, 0) &&  // without a frame Python decides
                      PyFrame_GetLasti(as_frame(frame)) == PyLong_AsLong(PyTuple_GET_ITEM(place, 1)));
}

bool count_on(PyObject* search) {
    if (Py_TYPE(search) != search_type) return false;
    const Ref frame = user_frame();
    if (!frame) return false;
    const Ref code = code_of(frame), caller = caller_of(frame);
    const int instruction = PyFrame_GetLasti(as_frame(frame));
    Section section;
    Places& places = places_of(search);
    const auto known = places.numbers.find({code.get(), instruction});
    const Py_ssize_t times = known == places.numbers.end() ? 0 : places.visited[known->second].times;
    const bool is_new = times == 0;
    if (times == 1 || (!is_new && places.length + 1 >= places.end())) return false;
    if (is_new && places.length + 1 >= MAX_SEARCH) return false;
    Visited& here = places.visited[places.number_of(code.get(), instruction, caller.get())];
    here.times++;
    places.length++;
    if (is_new) places.newest = std::max(places.newest, places.length);
    set_field(here.caller, Py_NewRef(caller.get()));
    return true;
}

bool add_search_type(PyObject* module) {
    search_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
    return search_type && PyModule_AddType(module, search_type) == 0;
}

}  // namespace core
