// BufferState: the fields of a buffer, and the way of its block back to the free list. The classes of
// gpunumpy/core/runtime/memory_pool.py inherit from it, and describe the fields.
#pragma once

#include "state.hpp"

namespace core {

struct Buffer {
    PyObject_HEAD
    PyObject* block;
    PyObject* copy;
    PyObject* device;
    PyObject* exported;
    PyObject* free_list;
    PyObject* host;
    PyObject* nbytes;
    PyObject* owner;
    PyObject* phase;
    PyObject* ptr;
    PyObject* weak_references;
};

extern PyTypeObject* buffer_type;
bool add_buffer_type(PyObject* module);

inline Buffer* as_buffer(PyObject* object) { return reinterpret_cast<Buffer*>(object); }
inline bool is_buffer(PyObject* object) { return PyObject_TypeCheck(object, buffer_type); }
// Whether a buffer is memory from a pool: its address is `ptr`, whatever it is asked for. Of another buffer the address may
// be that of a block that it gets when it is asked, as of one whose bytes were moved to the host (spilled_buffer.py).
inline bool is_from_pool(PyObject* object) { return Py_TYPE(object) == state.pool_buffer; }

// flat_view(buffer, dtype, offset): see memory.py.
PyObject* flat_view(PyObject*, PyObject* const* args, Py_ssize_t count);

// A buffer over a free block of a device; see `allocate` in memory.py. Null, without an exception, if no free list that
// is known has one.
PyObject* allocate_at_hand(PyObject* device, PyObject* nbytes);

}  // namespace core
