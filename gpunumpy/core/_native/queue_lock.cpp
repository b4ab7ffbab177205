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

    // `arguments` is a tuple of at most one argument.
    Ref call(PyObject* self, PyObject* arguments) const {
        if (reinterpret_cast<PyObject*>(Py_TYPE(self)) != type_) {
            Ref method(PyObject_GetAttrString(self, name_));
            return method ? Ref(PyObject_Call(method.get(), arguments, nullptr)) : Ref();
        }
        const Py_ssize_t count = PyTuple_GET_SIZE(arguments);
        if (definition_ && definition_->ml_flags == METH_NOARGS && !count) return Ref(definition_->ml_meth(self, nullptr));
        if (definition_ && definition_->ml_flags == (METH_VARARGS | METH_KEYWORDS)) {
            const auto function = reinterpret_cast<PyCFunctionWithKeywords>(reinterpret_cast<void (*)()>(definition_->ml_meth));
            return Ref(function(self, arguments, nullptr));
        }
        PyObject* const given[] = {self, count ? PyTuple_GET_ITEM(arguments, 0) : nullptr};
        return Ref(PyObject_Vectorcall(method_, given, 1 + count, nullptr));
    }

private:
    const char* name_;
    PyObject *type_ = nullptr, *method_ = nullptr;
    const PyMethodDef* definition_ = nullptr;
};

Method acquire("acquire"), release("release");
PyObject *nothing, *without_waiting;  // arguments of these

}  // namespace

bool find_lock_methods() {
    nothing = PyTuple_New(0);
    without_waiting = PyTuple_Pack(1, Py_False);
    return nothing && without_waiting && acquire.find(state.lock) && release.find(state.lock);
}

QueueLock::QueueLock(PyObject* queue) : lock_(Ref::to(state.queue_lock.of(queue))) {
    is_held_ = acquire.call(lock_.get(), without_waiting).get() == Py_True;
}

QueueLock::~QueueLock() {
    if (!is_held_) return;
    const FirstException first;
    if (!release.call(lock_.get(), nothing)) PyErr_Clear();
}

}  // namespace core
