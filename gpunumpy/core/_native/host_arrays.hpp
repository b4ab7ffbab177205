// Arrays that are small and on the host: the memory that they show, and new ones.
#pragma once

#include "array.hpp"
#include "numpy_api.hpp"

namespace core {

// Whether small arrays may be on the host, and whether a context checks floating-point errors, so that they may not.
extern std::atomic<bool> is_auto, is_watched, is_capturing;
inline bool are_placed() { return is_auto && !is_watched; }
// Whether the program has what NumPy would do for arrays of other dtypes raise.
extern std::atomic<bool> is_fallback_refused;

// Whether NumPy's type of a number is one that kernels compute.
bool is_type_at_hand(int number);

// Whether it is one of objects, texts or dates, which no device has.
bool is_type_of_host(int number);

// NumPy's number of the type of a scalar; -1 if it is none that kernels compute.
int number_of(PyTypeObject* type);
inline bool is_scalar_at_hand(PyTypeObject* type) { return number_of(type) >= 0; }

// The element that a scalar of such a type holds.
inline char* element_of(PyObject* scalar) { return reinterpret_cast<char*>(scalar) + sizeof(PyObject); }

// A new scalar of NumPy's of such a type.
PyObject* new_scalar(int number, const char* element);

// The bytes of the largest arrays that are placed on the host, of the device that a queue belongs to.
inline npy_intp host_bytes_of(PyObject* queue) { return PyLong_AsSsize_t(state.queue_host_bytes.of(queue)); }

// Whether the memory of that device is the host's.
inline bool shares_memory(PyObject* queue) { return state.queue_shares_memory.of(queue) == Py_True; }

// Whether NumPy data have no more bytes than that, and are of such a type in the machine's byte order.
bool is_at_hand(PyArrayObject* data, npy_intp host_bytes);

// The memory of an array on the host, borrowed: a NumPy array or scalar. Null, without an exception, for all else, and
// for a view that has to follow its owner to the device.
PyObject* memory_of(PyObject* object);

// The queue of an array, borrowed.
PyObject* queue_of(PyObject* array);

// A new array on the host that shows memory, which `owner` has, or nothing else if that is None.
PyObject* new_host_array(PyObject* memory, PyObject* owner, PyObject* queue, int flags);

// A new array on the host that acts as a scalar; null if there is none.
PyObject* new_host_scalar(Ref scalar, PyObject* queue);

// A new array on the host that shows memory of an array: a view of NumPy's.
inline PyObject* new_view(PyObject* memory, PyObject* array) {
    PyObject* owner = as_array(array)->owner;
    return new_host_array(memory, owner && owner != Py_None ? owner : array, queue_of(array), ON_HOST | MADE_AS_ARRAY);
}

// What notes every call on the host while a profile is made (`HostCalls` of core/runtime/host_work.py); else null.
extern PyObject* host_calls;

// When a call on the host begins, in seconds; 0 if no profile is made.
double host_call_start();

// Tells of a call that began then, its arguments and its result, if a profile is made. Leaves no exception.
void note_host_call(PyObject* name, double start, PyObject* const* args, Py_ssize_t count, PyObject* result);

// What NumPy's context variable of `errstate` is, and its value that ignores all errors.
extern PyObject *errors_variable, *no_errors;

// NumPy's handling of floating-point errors, which is silent while this lives; false after an exception.
class Silence {
public:
    explicit Silence(bool is_wanted)
        : token_(is_wanted ? PyContextVar_Set(errors_variable, no_errors) : nullptr), is_as_wanted_(!is_wanted || token_) {}
    explicit operator bool() const { return is_as_wanted_; }
    ~Silence() {
        if (!token_) return;
        const FirstException first;
        if (PyContextVar_Reset(errors_variable, token_)) PyErr_Clear();
        Py_DECREF(token_);
    }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;

private:
    PyObject* token_;
    bool is_as_wanted_;
};

}  // namespace core
