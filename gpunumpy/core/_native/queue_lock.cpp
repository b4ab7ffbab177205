#include "queue_lock.hpp"

#include "state.hpp"

namespace core {

namespace {

// A method of a class written in C, found once: to look it up and to pack its argument would take longer than the call.
// Objects of other classes are called by its name: queues have locks of two if a program replaces `threading.RLock` after
// the first queue was made, as gevent does.
class Method {
public:
    Method(PyTypeObject* type, const char* name)
        : type_(Py_NewRef(reinterpret_cast<PyObject*>(type))), name_(name), method_(PyObject_GetAttrString(type_, name)) {
        if (method_ && Py_IS_TYPE(method_, &PyMethodDescr_Type)) {
            definition_ = reinterpret_cast<PyMethodDescrObject*>(method_)->d_method;
        }
    }

    Ref call(PyObject* self, PyObject* argument = nullptr) const {
        if (!method_) return Ref();
        if (reinterpret_cast<PyObject*>(Py_TYPE(self)) != type_) return Ref(PyObject_CallMethod(self, name_, argument ? "(O)" : nullptr, argument));
        if (definition_ && definition_->ml_flags == METH_NOARGS && !argument) return Ref(definition_->ml_meth(self, nullptr));
        if (definition_ && definition_->ml_flags == (METH_VARARGS | METH_KEYWORDS) && argument) {
            Ref arguments(PyTuple_Pack(1, argument));
            const auto function = reinterpret_cast<PyCFunctionWithKeywords>(reinterpret_cast<void (*)()>(definition_->ml_meth));
            return arguments ? Ref(function(self, arguments.get(), nullptr)) : Ref();
        }
        PyObject* const given[] = {self, argument};
        return Ref(PyObject_Vectorcall(method_, given, argument ? 2 : 1, nullptr));
    }

private:
    PyObject* type_;
    const char* name_;
    PyObject* method_;
    const PyMethodDef* definition_ = nullptr;
};

}  // namespace

QueueLock::QueueLock(PyObject* queue) : lock_(Ref::to(state.queue_lock.of(queue))) {
    static const Method acquire(Py_TYPE(lock_.get()), "acquire");
    is_held_ = acquire.call(lock_.get(), Py_False).get() == Py_True;
}

QueueLock::~QueueLock() {
    if (!is_held_) return;
    static const Method release(Py_TYPE(lock_.get()), "release");
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    release.call(lock_.get());
    PyErr_Restore(type, value, traceback);
}

}  // namespace core
