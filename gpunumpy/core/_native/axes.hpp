// The operands of a ufunc's loop, and the axes that they are broadcast to.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "host_arrays.hpp"

namespace core {

// An operand of a loop: an array, or one element that is repeated.
struct Operand {
    char* data = nullptr;
    PyArrayObject* array = nullptr;  // null for a single element
    int type = -1;                   // -1 for a number of Python, which has the type of the other operand
    PyObject* number = nullptr;
    alignas(16) char element[16];
};

// The axes of a loop over one or two operands and a result, in C order and joined where memory permits.
class Axes {
public:
    // Finds the axes that operands are broadcast to; false where NumPy has to do so. A result in memory of its own has
    // the order that NumPy gives it: Fortran's if all arrays are in that order, or C's.
    bool find(const Operand* operands, int count, bool is_in_place) {
        for (int k = 0; k < count; k++) {
            if (operands[k].array) ndim_ = std::max(ndim_, PyArray_NDIM(operands[k].array));
        }
        if (ndim_ > MOST_AXES) return false;
        is_fortran_ = ndim_ > 1 && are_in_fortran_order(operands, count);
        for (int position = 0; position < ndim_; position++) {
            const int at = is_fortran_ ? ndim_ - 1 - position : position;
            Axis axis = {1, {0, 0, 0}};
            for (int k = 0; k < count; k++) {
                PyArrayObject* array = operands[k].array;
                const int dim = array ? at - ndim_ + PyArray_NDIM(array) : -1;
                const npy_intp length = dim < 0 ? 1 : PyArray_DIM(array, dim);
                if (length == 1) continue;
                if (axis.length != 1 && axis.length != length) return false;
                axis.length = length;
                axis.strides[k] = PyArray_STRIDE(array, dim);
            }
            shape_[at] = axis.length;
            size_ *= axis.length;
            if (axis.length != 1) add(axis, count);
        }
        for (int k = 0; k < count; k++) largest_ = std::max(largest_, operands[k].array ? PyArray_SIZE(operands[k].array) : 1);
        return is_in_place || is_in_order(count);
    }

    int ndim() const { return ndim_; }
    npy_intp* shape() { return shape_; }
    bool is_fortran() const { return is_fortran_; }
    npy_intp size() const { return size_; }
    npy_intp largest() const { return largest_; }

    bool has_shape_of(PyArrayObject* array) const {
        return PyArray_NDIM(array) == ndim_ && PyArray_CompareLists(PyArray_DIMS(array), shape_, ndim_);
    }

    // Let the result have the strides of an operand.
    void write_to(int operand, int result) {
        for (int k = 0; k < count_; k++) axes_[k].strides[result] = axes_[k].strides[operand];
    }

    // Let the result be in its order.
    void write_in_order(int result, npy_intp itemsize) {
        for (int k = count_ - 1; k >= 0; k--) {
            axes_[k].strides[result] = itemsize;
            itemsize *= axes_[k].length;
        }
    }

    bool are_alike(int operand, int other) const {
        return std::all_of(axes_, axes_ + count_, [=](const Axis& axis) { return axis.strides[operand] == axis.strides[other]; });
    }

    // Whether an operand shows elements twice, or might.
    bool shows_twice(int operand, npy_intp itemsize) const {
        npy_intp extent = itemsize;
        for (int k = count_ - 1; k >= 0; k--) {
            const npy_intp step = std::abs(axes_[k].strides[operand]);
            if (step < extent) return true;
            extent = step * axes_[k].length;
        }
        return false;
    }

    // The first and the last byte that an operand shows.
    std::pair<char*, char*> ends(const Operand& x, int operand, npy_intp itemsize) const {
        char *first = x.data, *last = x.data + itemsize - 1;
        for (int k = 0; k < count_; k++) {
            const npy_intp reach = axes_[k].strides[operand] * (axes_[k].length - 1);
            (reach < 0 ? first : last) += reach;
        }
        return {first, last};
    }

    // Runs a loop along the last axis, or a longer one where that is short, at all positions of the others. Loops of one
    // operand always take the last: NumPy, which does so too, has ones that fail where the result is not contiguous
    // (`negative` and `isnan`, 2.4.6).
    template <typename Loop>
    void run(char* const* starts, int operands, const Loop& loop) {
        if (operands > 2 && count_ > 1 && axes_[count_ - 1].length < SHORT) {
            std::swap(axes_[count_ - 1], *std::max_element(axes_, axes_ + count_, [](const Axis& a, const Axis& b) {
                return a.length < b.length;
            }));
        }
        Axis one = {1, {0, 0, 0}};
        Axis& inner = count_ ? axes_[count_ - 1] : one;
        npy_intp at[MOST_AXES] = {};
        char* addresses[3];
        std::copy(starts, starts + operands, addresses);
        if (!size_) return;
        for (;;) {
            char* given[3];
            std::copy(addresses, addresses + operands, given);
            loop(given, inner.length, inner.strides);
            int k = count_ - 2;
            for (; k >= 0; k--) {
                Axis& axis = axes_[k];
                const bool is_over = ++at[k] == axis.length;
                const npy_intp steps = is_over ? 1 - axis.length : 1;
                for (int n = 0; n < operands; n++) addresses[n] += steps * axis.strides[n];
                if (!is_over) break;
                at[k] = 0;
            }
            if (k < 0) return;
        }
    }

private:
    static constexpr int MOST_AXES = 8;
    static constexpr npy_intp SHORT = 16;

    struct Axis {
        npy_intp length;
        npy_intp strides[3];  // of the operands, and of the result
    };

    // Adds an axis behind the others, or joins it to the last one if all operands go on there.
    void add(const Axis& axis, int operands) {
        bool is_joined = count_ > 0;
        for (int n = 0; n < operands && is_joined; n++) {
            is_joined = axes_[count_ - 1].strides[n] == axis.strides[n] * axis.length;
        }
        if (!is_joined) {
            axes_[count_++] = axis;
            return;
        }
        Axis& last = axes_[count_ - 1];
        last.length *= axis.length;
        std::copy(axis.strides, axis.strides + operands, last.strides);
    }

    // Whether all arrays have one shape and are in Fortran's order, and not in C's as well.
    bool are_in_fortran_order(const Operand* operands, int count) const {
        PyArrayObject* last = nullptr;
        for (int k = 0; k < count; k++) {
            PyArrayObject* array = operands[k].array;
            if (!array) continue;
            if (PyArray_NDIM(array) != ndim_ || !PyArray_IS_F_CONTIGUOUS(array) || PyArray_IS_C_CONTIGUOUS(array)) return false;
            if (last && !PyArray_CompareLists(PyArray_DIMS(array), PyArray_DIMS(last), ndim_)) return false;
            last = array;
        }
        return true;
    }

    bool is_in_order(int operands) const {
        for (int n = 0; n < operands && count_ > 1; n++) {
            npy_intp outer = NPY_MAX_INTP;
            for (int k = 0; k < count_; k++) {
                const npy_intp stride = axes_[k].strides[n];
                if (stride < 0 || stride > outer) return false;
                if (stride) outer = stride;
            }
        }
        return true;
    }

    bool is_fortran_ = false;
    int ndim_ = 0, count_ = 0;
    npy_intp size_ = 1, largest_ = 1;
    npy_intp shape_[MOST_AXES];
    Axis axes_[MOST_AXES];
};

}  // namespace core
