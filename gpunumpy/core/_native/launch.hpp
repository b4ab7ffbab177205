// Launch: a kernel of a GPU with its grid, launched by the driver's own function.
#pragma once

#include "python.hpp"
#include "small_vector.hpp"

namespace core {

bool add_launch_type(PyObject* module);

// Make a GPU active in this thread, as `Device.activate` does. Returns false after an exception.
bool activate(PyObject* device);

bool is_launch(PyObject* object);

// The launch of the same kernel with another grid, three sizes, and other parameters.
PyObject* launch_at(PyObject* launch, const Py_ssize_t* grid, const Py_ssize_t* params, size_t count);

// Packed arguments, each of 8 bytes.
using Words = SmallVector<int64_t, 64>;

// Scratch memory of a launch, which is given back once the kernel is queued.
class Scratch {
public:
    // Allocate it, and add its addresses to the packed arguments; false after an exception.
    bool add(PyObject* launch, Words& words);
    ~Scratch();

private:
    SmallVector<PyObject*, 4> buffers_;
};

// The format of the arguments, in letters of Python's module `struct`; null after an exception, if these are not so many.
const char* format_of(PyObject* launch, size_t count);

// Write an argument as the letter says; false after an exception.
bool pack(char letter, PyObject* value, int64_t& word);

// Queue the kernel over packed arguments, which are added to, and note that in `launched`, a list, if that is empty. Nothing
// of Python's comes between the launch and the note: an exception finds both, or neither. False after an exception.
bool launch_words(PyObject* launch, Words& words, PyObject* launched);

}  // namespace core
