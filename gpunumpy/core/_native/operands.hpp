// The arguments of a call as NumPy takes them, and its results as arrays.
#pragma once

#include "host_arrays.hpp"

namespace core {

// What is known of a function besides its name, as in placement.py.
enum Rules {
    IS_METHOD = 1 << 0,
    IS_OPERATOR = 1 << 1,
    IS_GROWING = 1 << 2,
    IS_OF_MASKS = 1 << 3,
    IS_OF_FINITE = 1 << 4,
    IS_QUIET = 1 << 5,
    IS_SWAPPED = 1 << 6,
    IS_IN_PLACE = 1 << 7,
    IS_WRITING = 1 << 8,
    // Functions that make arrays of a shape, of a range, of samples, of data.
    IS_OF_SHAPE = 1 << 9,
    IS_OF_RANGE = 1 << 10,
    IS_OF_SAMPLES = 1 << 11,
    IS_OF_DATA = 1 << 12,
    IS_PRODUCT = 1 << 13,
    // Functions that show their operands in another way, and so are of arrays alone.
    IS_SHOWING = 1 << 14,
    // What reads an attribute of a name.
    IS_ATTRIBUTE = 1 << 15,
    // Products of stacks of matrices, one matrix of each by one of the other.
    IS_STACKED = 1 << 16,
    // What writes its last argument to a part of its first one.
    IS_ASSIGNMENT = 1 << 17,
    // What gives Python's objects: those of an array of objects are the very ones that it holds.
    IS_OF_PYTHON = 1 << 18,
    // What makes an array like another one, or of another shape.
    IS_LIKE = 1 << 19,
    // What casts an array or fills it: Python casts objects that NumPy refuses, and keeps arrays as objects.
    IS_CAST = 1 << 20,
    // Of what is growing, functions with as much work as the largest of the operands and integers makes.
    IS_SUMMARY = 1 << 21,
    // Of what is growing, functions that make matrices with as many rows and columns as a number, or a vector, says.
    IS_SQUARE = 1 << 22
};

// The most arguments of a call that is placed here.
constexpr int MAX_ARGUMENTS = 16;

// References that are given back together.
class Held {
public:
    Held() = default;
    ~Held() {
        while (count_) Py_DECREF(objects_[--count_]);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    void add(PyObject* owned) { objects_[count_++] = owned; }

private:
    int count_ = 0;
    PyObject* objects_[MAX_ARGUMENTS];
};

// Whether NumPy takes an argument as it is, and it holds no array.
bool is_plain(PyObject* x);
// Whether an argument is a number of Python's types.
bool is_number(PyObject* x);

// The arrays among the arguments of a call, what their sizes come to, and numbers that can make a result larger. Data of
// the host are operands too: numbers, lists of them, and NumPy arrays, of which NumPy is given read-only copies.
class Operands {
public:
    explicit Operands(int rules) : rules_(rules) {}
    ~Operands();
    Operands(const Operands&) = delete;
    Operands& operator=(const Operands&) = delete;

    // The argument as NumPy takes it, as a new reference; null for a call that is elsewhere.
    PyObject* taken(PyObject* x);
    // The same of the last argument, whose shape makes no result larger.
    PyObject* taken_to_be_written(PyObject* x);
    // Whether the call is for the host: there are operands, and the results are small.
    bool are_small();

    int count() const { return count_; }  // of the arrays
    // The bytes of the largest array that the call may make: of views and of products with a vector there are few.
    npy_intp most_bytes() const {
        const bool is_by_vector = (rules_ & IS_PRODUCT) && matrix_count_ < 2;
        return is_by_vector || (rules_ & IS_SHOWING) ? 0 : largest_ * static_cast<npy_intp>(sizeof(double));
    }
    PyObject* operator[](int k) const { return k < MAX_ARRAYS ? arrays_[k] : PyList_GET_ITEM(more_.get(), k - MAX_ARRAYS); }
    // That of the first array, or of the default device.
    PyObject* queue() const { return queue_.get(); }
    bool have_copies() const { return have_copies_; }
    // Whether an array is of objects, texts or dates: Python has NumPy do the same, whatever NumPy raises.
    bool are_of_host() const { return are_of_host_; }
    bool are_of_objects() const { return are_of_objects_; }

private:
    bool have_queue();
    PyObject* taken_memory(PyObject* array);
    PyObject* taken_copy(PyObject* data);
    PyObject* taken_list(PyObject* x);
    PyObject* taken_parts(PyObject* x);
    bool add_array(PyObject* array);
    void add_shape(int ndim, const npy_intp* dims, npy_intp size);
    void add_number(PyObject* x);
    void add_count(npy_intp count);
    npy_intp multiplications() const;

    // Of more arrays than these, which only lists have, the elements are no more than these could have.
    static constexpr int MAX_ARRAYS = 64;
    static constexpr npy_intp GROWN_ELEMENTS = 1 << 16;

    // The first operands of a product that are no vectors, and the last dimensions of each.
    struct Matrix {
        npy_intp size, rows, columns;
    };
    Matrix matrices_[2];
    int matrix_count_ = 0;

    int rules_, count_ = 0, broadcast_ndim_ = 0;
    bool have_data_ = false, have_copies_ = false, are_of_host_ = false, are_of_objects_ = false, have_lists_ = false;
    int depth_ = 0;  // of lists in lists
    Ref queue_;
    npy_intp grown_ = 1, elements_ = 1, largest_ = 0, sum_ = 0;  // what all come to together, and the size of the largest
    npy_intp broadcast_[NPY_MAXDIMS];
    PyObject* arrays_[MAX_ARRAYS];  // owned
    Ref more_;                      // a list of the arrays after these
};

// A result with arrays of this package in place of NumPy's; an argument comes back as itself.
PyObject* returned(PyObject* x, const Operands& operands);

}  // namespace core
