// Launch: a kernel of a GPU with its grid, launched by the driver's own function.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "python.hpp"
#include "small_vector.hpp"

namespace core {

// The core is built without CUDA's headers: these are CUlaunchAttribute, CUlaunchConfig, and cuLaunchKernelEx, whose address
// Python hands over.
struct LaunchAttribute {
    int id, padding;
    union {
        int is_allowed;
        uint64_t words[8];
    } value;
};

struct LaunchConfig {
    unsigned dimensions[7];  // grid, block, bytes of shared memory
    void* stream;
    LaunchAttribute* attributes;
    unsigned attribute_count;
};

using LaunchKernel = int (*)(const LaunchConfig* config, void* function, void** parameters, void** extra);

// A part of the scratch memory: bytes to allocate, or where it is among the counters, which are zero between kernels.
struct ScratchPart {
    bool is_zeroed;
    Py_ssize_t number;
};

// What the launches of a kernel at all sizes share.
struct LaunchedKernel {
    LaunchedKernel() = default;
    LaunchedKernel(const LaunchedKernel&) = delete;
    LaunchedKernel& operator=(const LaunchedKernel&) = delete;
    ~LaunchedKernel() {
        for (PyObject* object : {failed, device, kernel}) Py_XDECREF(object);
    }

    LaunchKernel launch_kernel = nullptr;
    void* function = nullptr;
    std::string format;      // of the arguments, in letters of Python's module `struct`, each of 8 bytes
    bool is_packed = false;  // whether these and the parameters are one parameter of the kernel
    Py_ssize_t fixed = 0;    // parameters, the first ones, that stay at other sizes
    PyObject* failed = nullptr;  // raises the exception for an error of the driver, or makes room for another attempt
    PyObject* device = nullptr;  // of the kernel, or None
    PyObject* kernel = nullptr;  // what keeps it loaded
};

// What a launch has in all its calls.
struct PreparedLaunch {
    std::shared_ptr<const LaunchedKernel> of;
    LaunchConfig config;
    std::vector<int64_t> params;       // follow the arguments in every launch
    std::vector<ScratchPart> scratch;  // whose addresses are the last arguments
    PyObject* counters = nullptr;      // the buffer of those that are zeroed, or null
};

bool add_launch_type(PyObject* module);

// Make a GPU active in this thread, as `Device.activate` does. Returns false after an exception.
bool activate(PyObject* device);

bool is_launch(PyObject* object);
const PreparedLaunch& prepared_launch(PyObject* launch);

// The launch of the same kernel with another grid, three sizes, and other numbers: the bytes of its scratch memory, and then
// the parameters. Null, without an exception, if there are not enough counters.
PyObject* launch_at(PyObject* launch, const Py_ssize_t* grid, const Py_ssize_t* numbers, size_t count);

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
