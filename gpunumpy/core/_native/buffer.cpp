#include "buffer.hpp"

#include "numpy_api.hpp"
#include "recent.hpp"
#include "sizes.hpp"

namespace core {

PyTypeObject* buffer_type = nullptr;

namespace {

Name base_name("base"), host_name("host"), owned_name("owned");

// The block and its list are left out: the collector does not take them from a buffer that has still to release it.
using Held = References<Buffer, &Buffer::copy, &Buffer::device, &Buffer::exported, &Buffer::host, &Buffer::nbytes,
                        &Buffer::owner, &Buffer::phase, &Buffer::ptr>;

FreeObjects<64> free_buffers;  // of pools

// Whether NumPy has views of a block of the host besides what the buffer has of it. Every view refers to the array that
// owns the bytes, which is the base of the block's.
bool has_views(const Buffer* buffer) {
    Ref base(PyObject_GetAttr(PyTuple_GET_ITEM(buffer->block, 0), base_name));
    const Py_ssize_t by_buffer = buffer->host ? 2 : 1, by_block = 2;  // the base's are the block's and the one here
    return !base || Py_REFCNT(PyTuple_GET_ITEM(buffer->block, 0)) != by_buffer || Py_REFCNT(base.get()) != by_block;
}

bool release(const Buffer* buffer) {
    PyObject* list = buffer->free_list;
    if (PyTuple_Check(buffer->block) && has_views(buffer)) {  // the last view frees the memory
        const Ref owned(PyObject_GetAttr(list, owned_name));
        return owned && popped(owned.get());
    }
    if (PyList_Check(list)) return PyList_Append(list, buffer->block) == 0;
    return static_cast<bool>(Ref(PyObject_CallMethod(list, "append", "O", buffer->block)));
}

void free_buffer(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    Held::clear(self);
    if (type != state.pool_buffer || !free_buffers.put(self)) type->tp_free(self);
    Py_DECREF(type);
}

void deallocate(PyObject* self) {
    PyObject_GC_UnTrack(self);
    Buffer* buffer = as_buffer(self);
    if (buffer->weak_references) PyObject_ClearWeakRefs(self);
    if (buffer->free_list && buffer->block) {
        const FirstException first;
        if (!release(buffer)) PyErr_WriteUnraisable(nullptr);
    }
    set_field(buffer->block, nullptr);
    set_field(buffer->free_list, nullptr);
    if (buffer->owner == Py_None) return free_buffer(self);  // it refers to no other array
    // What owns the memory can be the last of a chain: see `References::deallocate`.
    Py_TRASHCAN_BEGIN(self, deallocate)
    free_buffer(self);
    Py_TRASHCAN_END
}

PyMemberDef members[] = {
    {"_block", T_OBJECT_EX, offsetof(Buffer, block), 0, nullptr},
    {"_free_list", T_OBJECT_EX, offsetof(Buffer, free_list), 0, nullptr},
    {"copy", T_OBJECT_EX, offsetof(Buffer, copy), 0, nullptr},
    {"device", T_OBJECT_EX, offsetof(Buffer, device), 0, nullptr},
    {"exported", T_OBJECT_EX, offsetof(Buffer, exported), 0, nullptr},
    {"host", T_OBJECT_EX, offsetof(Buffer, host), 0, nullptr},
    {"nbytes", T_OBJECT_EX, offsetof(Buffer, nbytes), 0, nullptr},
    {"owner", T_OBJECT_EX, offsetof(Buffer, owner), 0, nullptr},
    {"phase", T_OBJECT_EX, offsetof(Buffer, phase), 0, nullptr},
    {"ptr", T_OBJECT_EX, offsetof(Buffer, ptr), 0, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Buffer, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_members, members},
    {Py_tp_traverse, reinterpret_cast<void*>(Held::traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(Held::clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {0, nullptr},
};

PyType_Spec spec = {
    "gpunumpy.core._native._core.BufferState", sizeof(Buffer), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots,
};

// As in memory_pool.py; -1 for what is left to Python.
Py_ssize_t size_class(Py_ssize_t nbytes) {
    if (nbytes < 0 || nbytes > PY_SSIZE_T_MAX / 2) return -1;
    int bits = 0;
    for (Py_ssize_t rest = (nbytes > 1 ? nbytes : 1) - 1; rest; rest >>= 1) bits++;
    const int shift = bits <= 12 ? 9 : bits <= 24 ? bits - 4 : bits > 27 ? bits - 6 : 21;
    const Py_ssize_t count = (nbytes + (Py_ssize_t{1} << shift) - 1) >> shift;
    return (count > 1 ? count : 1) << shift;
}

// The free list of a pool for requests of so many bytes. A pool keeps its lists.
struct FoundList {
    PyObject *lists = nullptr, *list = nullptr;  // owned
    Py_ssize_t nbytes = 0;

    void let_go() const {
        for (PyObject* field : {lists, list}) Py_XDECREF(field);
    }
};

Recent<FoundList, 64> recent_lists;

// The free list for a request; null if no request of the size class came before.
Ref list_for(PyObject* lists, PyObject* nbytes) {
    Py_ssize_t number;
    if (!Sizes::read_integer(nbytes, number)) return Ref();
    Section section;
    const auto is_wanted = [&](const FoundList& entry) { return entry.lists == lists && entry.nbytes == number; };
    FoundList& recent = recent_lists.at(hash_of(hash_of(0, lists), number), is_wanted);
    if (is_wanted(recent)) return Ref::to(recent.list);
    Ref list = find(lists, nbytes);
    if (!list && !PyErr_Occurred()) {
        Ref size(PyLong_FromSsize_t(size_class(number)));
        if (size) list = find(lists, size.get());
    }
    if (list) recent_lists.put(recent, {Py_NewRef(lists), Py_NewRef(list.get()), number});
    return list;
}

// Let the block at an address be the next one of a free list, if it is one of the last few.
void bring_forward(PyObject* list, uint64_t address) {
    constexpr Py_ssize_t FEW = 8;
    const Locked locked(list);
    const Py_ssize_t last = PyList_GET_SIZE(list) - 1;
    for (Py_ssize_t k = last; k >= 0 && k > last - FEW; k--) {
        PyObject *block = PyList_GET_ITEM(list, k), *next = PyList_GET_ITEM(list, last);
        if (!PyLong_CheckExact(block) || PyLong_AsUnsignedLongLong(block) != address) continue;
        PyList_SET_ITEM(list, k, next);
        PyList_SET_ITEM(list, last, block);
        return;
    }
}

}  // namespace

bool add_buffer_type(PyObject* module) {
    buffer_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
    return buffer_type && guard_fields(buffer_type, members) && PyModule_AddType(module, buffer_type) == 0;
}

void set_pool_class() { state.pool_buffer->tp_dealloc = deallocate; }

PyObject* flat_view(PyObject*, PyObject* const* args, Py_ssize_t count) {
    if (count != 3 || !is_buffer(args[0]) || !PyArray_DescrCheck(args[1])) {
        return PyErr_Format(PyExc_TypeError, "flat_view takes a buffer, a dtype and an offset");
    }
    Ref host(PyObject_GetAttr(args[0], host_name));
    const Py_ssize_t offset = PyLong_AsSsize_t(args[2]), itemsize = PyDataType_ELSIZE(reinterpret_cast<PyArray_Descr*>(args[1]));
    if (!host || PyErr_Occurred()) return nullptr;
    if (!PyArray_CheckExact(host.get()) || offset < 0 || itemsize < 1) {
        return PyErr_Format(PyExc_ValueError, "the host has no such memory of the buffer");
    }
    PyArrayObject* bytes = reinterpret_cast<PyArrayObject*>(host.get());
    const npy_intp available = PyArray_DIM(bytes, 0) / itemsize, first = offset < available ? offset : available;
    npy_intp length = available - first;
    Ref view(PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(Py_NewRef(args[1])), 1, &length, nullptr,
                                  PyArray_BYTES(bytes) + first * itemsize, PyArray_FLAGS(bytes) & NPY_ARRAY_WRITEABLE, nullptr));
    if (!view || PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(view.get()), host.release()) < 0) return nullptr;
    return view.release();
}

namespace {

// What the collector knows and a function accepts.
template <typename Accepts>
PyObject* found_by_collector(Accepts accepts) {
    Ref found(PyList_New(0)), collector(PyImport_ImportModule("gc"));
    if (!found || !collector) return nullptr;
    Ref all(PyObject_CallMethod(collector.get(), "get_objects", nullptr));
    if (!all) return nullptr;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(all.get()); k++) {
        PyObject* object = PyList_GET_ITEM(all.get(), k);
        if (accepts(object) && PyList_Append(found.get(), object) < 0) return nullptr;
    }
    return found.release();
}

}  // namespace

PyObject* pool_buffers(PyObject*, PyObject*) {
    return found_by_collector([](PyObject* object) { return Py_TYPE(object) == state.pool_buffer; });
}

PyObject* all_buffers(PyObject*, PyObject*) { return found_by_collector(is_buffer); }

PyObject* allocate_at_hand(PyObject* device, PyObject* nbytes, uint64_t address) {
    const Loan lists = held(state.device_free_lists, device);
    const Ref list = list_for(lists.get(), nbytes);
    if (!list || !PyList_GET_SIZE(list.get())) return nullptr;
    if (address) bring_forward(list.get(), address);
    // The buffer first: where Python may collect garbage, a block in no buffer's hands would be lost to an exception.
    Ref made(free_buffers.take(state.pool_buffer));
    if (!made) return nullptr;
    Ref block = popped(list.get());
    if (!block) return nullptr;  // what was collected has taken it
    const bool is_of_host = PyTuple_Check(block.get());
    Buffer* buffer = as_buffer(made.get());
    buffer->host = Py_NewRef(is_of_host ? PyTuple_GET_ITEM(block.get(), 0) : Py_None);
    buffer->ptr = Py_NewRef(is_of_host ? PyTuple_GET_ITEM(block.get(), 1) : block.get());
    buffer->device = Py_NewRef(device);
    buffer->nbytes = Py_NewRef(nbytes);
    buffer->exported = Py_NewRef(Py_False);
    buffer->copy = Py_NewRef(Py_None);
    buffer->owner = Py_NewRef(Py_None);
    buffer->phase = PyLong_FromLong(0);
    buffer->block = block.release();
    buffer->free_list = Py_NewRef(list.get());
    PyObject_GC_Track(made.get());
    return made.release();
}

}  // namespace core
