#include "section.hpp"

#include "state.hpp"

#if defined(Py_GIL_DISABLED) && defined(HAVE_FORK)
#include <pthread.h>
#endif

namespace core {

#ifdef Py_GIL_DISABLED

namespace {

// Whether this thread is in a section of a lock.
bool holds(const PyMutex& mutex) {
    constexpr uintptr_t IS_SUSPENDED = 1, HAS_TWO_LOCKS = 2, FLAGS = 3;  // of a pointer to a section
    const PyThreadState* thread = PyThreadState_GetUnchecked();
    uintptr_t section = thread ? thread->critical_section : 0;
    while (section && !(section & IS_SUSPENDED)) {
        const PyCriticalSection2* active = reinterpret_cast<const PyCriticalSection2*>(section & ~FLAGS);
        if (active->_cs_base._cs_mutex == &mutex) return true;
        if ((section & HAS_TWO_LOCKS) && active->_cs_mutex2 == &mutex) return true;
        section = active->_cs_base._cs_prev;
    }
    return false;
}

}  // namespace

void Section::renew_in_child() {
    if (!holds(mutex())) mutex() = {};
    for (PyObject* table : {state.signatures, state.kinds, state.structures}) {
        if (table && !holds(table->ob_mutex)) table->ob_mutex = {};
    }
}

namespace {

PyObject*& place(PyObject* self, const PyMemberDef* member) {
    return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + member->offset);
}

PyObject* get(PyObject* self, void* member_of_type) {
    const PyMemberDef* member = static_cast<const PyMemberDef*>(member_of_type);
    Section section;
    PyObject* value = place(self, member);
    if (value) return Py_NewRef(value);
    return PyErr_Format(PyExc_AttributeError, "'%.200s' object has no attribute '%s'", Py_TYPE(self)->tp_name, member->name);
}

int set(PyObject* self, PyObject* value, void* member_of_type) {
    const PyMemberDef* member = static_cast<const PyMemberDef*>(member_of_type);
    Ref old;  // let go after the section
    Section section;
    old = Ref(std::exchange(place(self, member), Py_XNewRef(value)));
    if (value || old) return 0;
    PyErr_SetString(PyExc_AttributeError, member->name);
    return -1;
}

}  // namespace

bool guard_fields(PyTypeObject* type, PyMemberDef* members) {
    for (PyMemberDef* member = members; member->name; member++) {
        if (member->type != T_OBJECT_EX) continue;
        PyGetSetDef* guarded = new PyGetSetDef{member->name, get, set, nullptr, member};  // for as long as the program runs
        Ref descriptor(PyDescr_NewGetSet(type, guarded));
        if (!descriptor) return false;
        if (PyObject_SetAttrString(reinterpret_cast<PyObject*>(type), member->name, descriptor.get()) < 0) return false;
    }
    return true;
}

// By the C library: before Python's own functions run in a child, it frees the states of other threads and what they held.
bool renew_sections_in_children() {
#ifdef HAVE_FORK
    if (pthread_atfork(nullptr, nullptr, Section::renew_in_child)) {
        PyErr_NoMemory();
        return false;
    }
#endif
    return true;
}

#endif

}  // namespace core
