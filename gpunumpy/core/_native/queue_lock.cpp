#include "queue_lock.hpp"

#include "state.hpp"

namespace core {

namespace {

// A method of a class written in C, found once: to look it up and to pack its argument would take longer than the call.
// It is found before other threads come: one that waits for a static variable to be initialized stops at nothing else.
// Objects of other classes are called by its name: queues have locks of two if a program replaces `threading.RLock` after
// the first queue was made, as gevent does.
class Method {
public:
    explicit Method(const char* name) : name_(name) {}

    bool find(PyTypeObject* type) {
        type_ = Py_NewRef(reinterpret_cast<PyObject*>(type));
        method_ = PyObject_GetAttrString(type_, name_);
        if (method_ && Py_IS_TYPE(method_, &PyMethodDescr_Type)) {
            definition_ = reinterpret_cast<PyMethodDescrObject*>(method_)->d_method;
        }
        return method_ != nullptr;
    }

    Ref call(PyObject* self, PyObject* argument = nullptr) const {
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
    const char* name_;
    PyObject *type_ = nullptr, *method_ = nullptr;
    const PyMethodDef* definition_ = nullptr;
};

Method acquire("acquire"), release("release");

}  // namespace

bool find_lock_methods() { return acquire.find(state.lock) && release.find(state.lock); }

QueueLock::QueueLock(PyObject* queue) : lock_(Ref::to(state.queue_lock.of(queue))) {
    is_held_ = acquire.call(lock_.get(), Py_False).get() == Py_True;
}

QueueLock::~QueueLock() {
    if (!is_held_) return;
    const FirstException first;
    if (!release.call(lock_.get())) PyErr_Clear();
}

}  // namespace core
