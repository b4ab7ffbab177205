// Moves to the host of larger arrays that a program accesses element by element, or by small parts such as rows.
#pragma once

#include "array.hpp"

namespace core {

// Whether a key selects a view: of integers, slices, None and ``...``.
bool is_basic(PyObject* key);

// Whether the memory of an array on the host was moved there.
bool was_moved(PyObject* array);

// Counts an access to an element of an array, and has Python give a hint where there were very many. Returns false after an
// exception.
bool count_element(PyObject* array);

// The accesses that are counted of the array on a device that an array is, or is a view of.
Accesses accesses_of(PyObject* array);

// Moves an array to the host that was accessed by small parts for long, itself or through its views. Returns false after an
// exception.
bool move_for_read(PyObject* array);

// Counts a read of what was found by a key, after the accesses before; one of a large part begins anew. Returns false after
// an exception.
bool count_read(PyObject* array, PyObject* found, const Accesses& before);

// Counts a write of the host's to a small part, and writes the value to the array if that is moved to the host for it.
// Returns whether it was, or -1 after an exception.
int move_for_write(PyObject* array, PyObject* key, PyObject* value);

// Has a write of the device's to a small part leave the accesses as they were before.
void count_write(PyObject* array, PyObject* key, PyObject* value, const Accesses& before);

// A copy on the host of a small value on the device, that is to be written to an array which was moved to the host; null,
// maybe after an exception, for all else.
Ref looked_at_to_write(PyObject* target, PyObject* value);

// The meeting of two operands. Where one is the 0-d result of an operation on the device and the other is on the host, such
// meetings are counted, and after many that result moves to the host: a loop over elements compares all with one mean.
class Meeting {
public:
    Meeting(PyObject* a, PyObject* b);
    ~Meeting();
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;
    // Whether the result has come to the host; false, maybe after an exception, else.
    bool is_on_host() const { return is_on_host_; }
    // What the operation made, which is returned: a sum that a loop goes on with has met what its operand has.
    PyObject* counted(PyObject* made) const;

private:
    PyObject* scalar_;
    Accesses accesses_{};
    bool is_on_host_ = false;
};

// Has a use of a view as an operand, if that is no small part, begin to count the accesses to the array anew.
void note_use(PyObject* owner, PyObject* view);

// An array on a device that shares the host's memory, parts of which make a small product, moves to the host with the next
// small part that is read: NumPy multiplies them in less time than it takes to record and run it.
void note_product(PyObject* product, PyObject* x, PyObject* y);

bool add_element_moves(PyObject* module);

}  // namespace core
