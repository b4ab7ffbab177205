#include "temporaries.hpp"

#if PY_VERSION_HEX < 0x030E0000 && defined(__linux__) && !defined(Py_GIL_DISABLED)
#include <dlfcn.h>
#include <opcode.h>
#include <unwind.h>
#endif

namespace core {

#if PY_VERSION_HEX >= 0x030E0000

bool is_temporary(PyObject* argument) { return PyUnstable_Object_IsUniqueReferencedTemporary(argument); }

#elif defined(__linux__) && !defined(Py_GIL_DISABLED)

namespace {

// The way from the interpreter's loop to this file: the return addresses, and where they are on the stack.
struct Way {
    static constexpr int MOST_CALLS = 16;
    struct Call {
        void* address;
        Py_ssize_t place;  // from the frame of `is_called_by_interpreter`
    };

    const char* frame = nullptr;
    Call calls[MOST_CALLS];
    int count = 0;
    bool is_found = false;  // leads to the interpreter, and through nothing but Python and this core
};

void* const interpreter = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");

void* library_of(void* address) {
    Dl_info info;
    return dladdr(address, &info) ? info.dli_fbase : nullptr;
}

_Unwind_Reason_Code add_call(_Unwind_Context* context, void* given) {
    Way& way = *static_cast<Way*>(given);
    void* const address = reinterpret_cast<void*>(_Unwind_GetIP(context));
    // A return address is below the frame of its caller, as machines of today have it; `is_same_way` does not rely on it.
    const char* const place = reinterpret_cast<char*>(_Unwind_GetCFA(context)) - sizeof(void*);
    if (place < way.frame) return _URC_NO_REASON;  // the unwinder's own call
    if (way.count == Way::MOST_CALLS) return _URC_END_OF_STACK;
    way.calls[way.count++] = {address, place - way.frame};
    Dl_info info;
    if (!interpreter || !dladdr(address, &info)) return _URC_END_OF_STACK;
    way.is_found = info.dli_saddr == interpreter;
    static void* const python = library_of(interpreter);
    static void* const core = library_of(reinterpret_cast<void*>(is_temporary));
    const bool goes_on = !way.is_found && (info.dli_fbase == python || info.dli_fbase == core);
    return goes_on ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// A caller returns to one place in its code with one size of its frame, so the same addresses at the same places are
// the same calls.
bool is_same_way(const Way& way, const char* frame) {
    for (int k = 0; k < way.count; k++) {
        if (*reinterpret_cast<void* const*>(frame + way.calls[k].place) != way.calls[k].address) return false;
    }
    return way.count > 0;
}

// Whether the interpreter's loop calls an operator with nothing in between but Python's own dispatch. A library in C may
// hold the only reference in a place that is looked at later, as NumPy's arrays of objects do.
__attribute__((noinline)) bool is_called_by_interpreter() {
    static Way known[16];
    static size_t next = 0;
    const char* const frame = static_cast<const char*>(__builtin_frame_address(0));
    for (const Way& way : known) {
        if (is_same_way(way, frame)) return true;
    }
    Way way;
    way.frame = frame;
    _Unwind_Backtrace(add_call, &way);
    if (way.is_found && is_same_way(way, frame)) known[next++ % 16] = way;
    return way.is_found;
}

// Whether the interpreter is at an operator. At a call of a function in C, such as `operator.add`, its loop may be as near,
// but the arguments may be held by what made the call and looked at later: by a `functools.partial`, or by a tuple.
bool is_at_operator() {
    PyFrameObject* frame = PyEval_GetFrame();
    if (!frame) return false;
    const Ref code(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
    const Ref text(PyCode_GetCode(reinterpret_cast<PyCodeObject*>(code.get())));
    const int at = PyFrame_GetLasti(frame);
    if (!text) PyErr_Clear();
    if (!text || at < 0 || at >= PyBytes_GET_SIZE(text.get())) return false;
    const int opcode = static_cast<unsigned char>(PyBytes_AS_STRING(text.get())[at]);
    return opcode == BINARY_OP || opcode == UNARY_NEGATIVE || opcode == UNARY_INVERT;
}

}  // namespace

bool is_temporary(PyObject* argument) {
    return Py_REFCNT(argument) == 1 && is_called_by_interpreter() && is_at_operator();
}

#else

bool is_temporary(PyObject*) { return false; }

#endif

}  // namespace core
