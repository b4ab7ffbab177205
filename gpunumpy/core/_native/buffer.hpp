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

// Have `PoolBuffer`, which adds no fields, make and free its objects as `BufferState` does; once, when the class is known.
void set_pool_class();

inline Buffer* as_buffer(PyObject* object) { return reinterpret_cast<Buffer*>(object); }
inline bool is_buffer(PyObject* object) { return PyObject_TypeCheck(object, buffer_type); }
// Whether the address of a buffer is `ptr`, whatever it is asked for. A buffer from a pool whose bytes were moved to the host
// (spill.py) gets a block when it is asked, and then is of the pool's class again; one whose bytes are on the host at first
// (host_copies.py) has no `ptr` until then.
inline bool has_address(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    return type == state.pool_buffer || (!PyType_IsSubtype(type, state.pool_buffer) && as_buffer(object)->ptr);
}

// flat_view(buffer, dtype, offset): see memory.py.
PyObject* flat_view(PyObject*, PyObject* const* args, Py_ssize_t count);

// pool_buffers(): see spill.py.
PyObject* pool_buffers(PyObject*, PyObject*);

// all_buffers(): see capture.py.
PyObject* all_buffers(PyObject*, PyObject*);

// A buffer over a free block of a device, that at an address if this is not 0 and the block was freed of late; see `allocate`
// in memory.py. Null, without an exception, if no free list that is known has one.
PyObject* allocate_at_hand(PyObject* device, PyObject* nbytes, uint64_t address = 0);

}  // namespace core
