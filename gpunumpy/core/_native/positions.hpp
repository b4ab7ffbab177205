// Positions of elements: what a layout, or a key of integers, slices, None and ..., selects.
#pragma once

#include "array.hpp"
#include "sizes.hpp"

namespace core {

// Positions of elements in the memory of an owner, or in the C order of a value: a `Layout` in C++.
struct Positions {
    Sizes shape, strides;
    Py_ssize_t offset = 0;
    bool has_ellipsis = false;  // whether the key has ``...``, which makes a result without dimensions an array

    // Reads those of an array on a device. Returns false, without an exception, if they are not at hand.
    bool read(PyObject* array);
    // Reads those of a `Layout`. Returns false, without an exception, for one that is left to Python.
    bool read_layout(PyObject* layout);
    // Narrows them to what a key selects. Returns false, without an exception, for a key that Python must look at.
    bool select(PyObject* key);
    // Turns them from positions in the C order of a value into positions in the memory that the value is a window of.
    // Returns false if these have no strides (`compose` in layout.py).
    bool look_through(const Sizes& window_shape, const Sizes& window_strides, Py_ssize_t window_offset);
    // Whether the sizes are those of a tuple.
    bool has_shape(PyObject* shape_tuple) const;
    // Whether they are those of a `Layout`.
    bool equal(PyObject* layout_tuple) const;
    bool equal(PyObject* shape_tuple, PyObject* strides_tuple, PyObject* first) const;
    // Whether all elements of a C-ordered array of this shape are taken in order.
    bool is_whole(const Sizes& whole) const { return !offset && shape == whole && is_c_contiguous(shape, strides); }
    bool is_whole(PyObject* shape_tuple) const;
    // Whether every index is sure to have an element of its own, as `are_distinct` in layout.py has it.
    bool are_distinct() const;
    // How far the lowest element is from the first one.
    Py_ssize_t origin() const;
    // A new `Layout`.
    PyObject* layout() const;
};

// A tuple of strides, of which windows of other sizes have the same one.
PyObject* tuple_of_strides(const Sizes& strides);

// Positions as a part of a key of a `Recent` table, which has room for a few dimensions.
class FewPositions {
public:
    FewPositions() = default;
    explicit FewPositions(const Positions& positions);
    static bool has_room(const Positions& positions) { return positions.shape.count <= FEW; }
    static uint64_t hash(uint64_t seed, const Positions& positions);
    bool operator==(const Positions& positions) const;

private:
    // There are thousands of these. Sizes that do not fit are equal to none.
    static constexpr int FEW = 4;
    Py_ssize_t offset_ = 0;
    int32_t sizes_[2 * FEW];
    int8_t count_ = 0;
};

}  // namespace core
