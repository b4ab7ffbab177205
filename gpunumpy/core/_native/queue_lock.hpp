// The lock of a queue, while one thread changes values of its device.
#pragma once

#include "python.hpp"

namespace core {

// Holds the lock of a queue for a scope, if no other thread holds it. It is never waited for.
class QueueLock {
public:
    explicit QueueLock(PyObject* queue);
    ~QueueLock();
    bool is_held() const { return is_held_; }

private:
    Ref lock_;
    bool is_held_ = false;
};

// Looks up what locks of queues are called by; once, as the core is set up. Returns false after an exception.
bool find_lock_methods();

}  // namespace core
