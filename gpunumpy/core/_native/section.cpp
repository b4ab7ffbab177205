#include "section.hpp"

namespace core {

#ifdef Py_GIL_DISABLED

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

#endif

}  // namespace core
