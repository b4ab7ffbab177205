#include "positions.hpp"

#include <algorithm>
#include <cstdlib>

#include "recent.hpp"

namespace core {

namespace {

bool equals(PyObject* tuple, const Sizes& sizes) {
    if (PyTuple_GET_SIZE(tuple) != sizes.count) return false;
    for (int k = 0; k < sizes.count; k++) {
        if (PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, k)) != sizes.at[k]) return false;
    }
    return true;
}

// The index of a position in the C order of a shape (`_digits` in layout.py); false if it has none.
bool read_index(Py_ssize_t position, const Sizes& shape, const Sizes& flat, Py_ssize_t* index) {
    for (int k = 0; k < shape.count; k++) {
        index[k] = shape.at[k] == 1 ? 0 : position / flat.at[k];
        position -= index[k] * flat.at[k];
    }
    return !position;
}

struct Strides {
    static constexpr int FEW = 4;
    PyObject* tuple = nullptr;  // owned
    int count = 0;
    Py_ssize_t at[FEW];

    void let_go() const { Py_XDECREF(tuple); }
};

Recent<Strides, 128> recent_strides;

bool is_plain_bound(PyObject* object) { return object == Py_None || PyLong_CheckExact(object); }

}  // namespace

bool Positions::read(PyObject* array) {
    if (as_array(array)->base != Py_None) return owner_of(array) && read_layout(as_array(array)->layout);
    if (!shape.read(state.signature_shape.of(as_node(as_array(array)->node)->signature))) return false;
    strides = c_strides(shape);
    return true;
}

bool Positions::read_layout(PyObject* layout) {
    return shape.read(PyTuple_GET_ITEM(layout, 0)) && strides.read(PyTuple_GET_ITEM(layout, 1)) &&
           Sizes::read_integer(PyTuple_GET_ITEM(layout, 2), offset);
}

bool Positions::select(PyObject* key) {
    const bool is_tuple = PyTuple_CheckExact(key);
    const Py_ssize_t count = is_tuple ? PyTuple_GET_SIZE(key) : 1;
    int indexed = 0, ellipses = 0, added = 0;
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject* item = is_tuple ? PyTuple_GET_ITEM(key, k) : key;
        if (PySlice_Check(item) || PyLong_CheckExact(item)) {
            indexed++;
        } else if (item == Py_None) {
            added++;
        } else if (item == Py_Ellipsis) {
            ellipses++;
        } else {
            return false;
        }
    }
    if (indexed > shape.count || ellipses > 1 || shape.count + added > MAX_AT_HAND) return false;
    has_ellipsis = ellipses;
    const Sizes all = shape, steps = strides;
    int axis = 0, ndim = 0;
    const auto keep = [&](int stop) {
        for (; axis < stop; axis++, ndim++) {
            shape.at[ndim] = all.at[axis];
            strides.at[ndim] = steps.at[axis];
        }
    };
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject* item = is_tuple ? PyTuple_GET_ITEM(key, k) : key;
        if (item == Py_None) {
            shape.at[ndim] = 1;
            strides.at[ndim++] = 0;
        } else if (item == Py_Ellipsis) {
            keep(axis + all.count - indexed);
        } else if (PySlice_Check(item)) {
            const PySliceObject* slice = reinterpret_cast<PySliceObject*>(item);
            Py_ssize_t start, stop, step;
            if (!is_plain_bound(slice->start) || !is_plain_bound(slice->stop) || !is_plain_bound(slice->step)) return false;
            if (PySlice_Unpack(item, &start, &stop, &step) < 0) {
                PyErr_Clear();  // a step of 0, for which Python has the error
                return false;
            }
            const Py_ssize_t length = PySlice_AdjustIndices(all.at[axis], &start, &stop, step);
            if (length) offset += start * steps.at[axis];
            shape.at[ndim] = length;
            if (__builtin_mul_overflow(steps.at[axis], step, &strides.at[ndim])) return false;
            axis++, ndim++;
        } else {
            Py_ssize_t index;
            if (!Sizes::read_integer(item, index)) return false;
            if (index < 0) index += all.at[axis];
            if (index < 0 || index >= all.at[axis]) return false;
            offset += index * steps.at[axis++];
        }
    }
    keep(all.count);
    shape.count = strides.count = ndim;
    return true;
}

bool Positions::look_through(const Sizes& window_shape, const Sizes& window_strides, Py_ssize_t window_offset) {
    if (is_c_contiguous(window_shape, window_strides)) {
        offset += window_offset;
        return true;
    }
    const Sizes flat = c_strides(window_shape);
    Py_ssize_t low[MAX_AT_HAND], high[MAX_AT_HAND], index[MAX_AT_HAND];
    if (offset < 0 || !read_index(offset, window_shape, flat, low)) return false;
    Py_ssize_t start = window_offset;
    for (int k = 0; k < window_shape.count; k++) {
        high[k] = low[k];
        start += low[k] * window_strides.at[k];
    }
    Sizes steps;
    steps.count = strides.count;
    for (int d = 0; d < strides.count; d++) {
        steps.at[d] = 0;
        if (shape.at[d] == 1) continue;
        const Py_ssize_t sign = strides.at[d] < 0 ? -1 : 1;
        if (!read_index(sign * strides.at[d], window_shape, flat, index)) return false;
        for (int k = 0; k < window_shape.count; k++) {
            steps.at[d] += sign * index[k] * window_strides.at[k];
            (sign < 0 ? low : high)[k] += sign * index[k] * (shape.at[d] - 1);
        }
    }
    for (int k = 0; k < window_shape.count; k++) {
        if (low[k] < 0 || high[k] >= window_shape.at[k]) return false;
    }
    strides = steps;
    offset = start;
    return true;
}

bool Positions::has_shape(PyObject* shape_tuple) const { return equals(shape_tuple, shape); }

bool Positions::equal(PyObject* layout_tuple) const {
    return equal(PyTuple_GET_ITEM(layout_tuple, 0), PyTuple_GET_ITEM(layout_tuple, 1), PyTuple_GET_ITEM(layout_tuple, 2));
}

bool Positions::equal(PyObject* shape_tuple, PyObject* strides_tuple, PyObject* first) const {
    return PyLong_AsSsize_t(first) == offset && has_shape(shape_tuple) && equals(strides_tuple, strides);
}

bool Positions::is_whole(PyObject* shape_tuple) const {
    return !offset && has_shape(shape_tuple) && is_c_contiguous(shape, strides);
}

bool Positions::are_distinct() const {
    int order[MAX_AT_HAND], count = 0;  // the dimensions that were looked at, by the lengths of their strides
    for (int k = 0; k < shape.count; k++) {
        if (!shape.at[k]) return true;
        if (shape.at[k] == 1) continue;
        int place = count++;
        for (; place && std::abs(strides.at[order[place - 1]]) > std::abs(strides.at[k]); place--) order[place] = order[place - 1];
        order[place] = k;
    }
    Py_ssize_t reach = 0;
    for (int k = 0; k < count; k++) {
        const Py_ssize_t step = std::abs(strides.at[order[k]]);
        if (step <= reach) return false;
        reach += step * (shape.at[order[k]] - 1);
    }
    return true;
}

PyObject* tuple_of_strides(const Sizes& strides) {
    if (strides.count > Strides::FEW) return strides.tuple();
    uint64_t hash = static_cast<uint64_t>(strides.count);
    for (int k = 0; k < strides.count; k++) hash = hash_of(hash, static_cast<uint64_t>(strides.at[k]));
    const auto is_wanted = [&](const Strides& entry) {
        return entry.tuple && entry.count == strides.count && std::equal(entry.at, entry.at + entry.count, strides.at);
    };
    Strides& recent = recent_strides.at(hash, is_wanted);
    if (is_wanted(recent)) return Py_NewRef(recent.tuple);
    PyObject* made = strides.tuple();
    if (!made) return nullptr;
    Strides entry{Py_NewRef(made), strides.count, {}};
    std::copy(strides.at, strides.at + strides.count, entry.at);
    recent_strides.put(recent, entry);
    return made;
}

Py_ssize_t Positions::origin() const {
    Py_ssize_t distance = 0;
    for (int k = 0; k < shape.count; k++) {
        if (strides.at[k] < 0) distance -= strides.at[k] * (shape.at[k] - 1);
    }
    return distance;
}

PyObject* Positions::layout() const {
    Ref made(state.layout->tp_alloc(state.layout, 3));
    if (!made) return nullptr;
    PyObject_GC_UnTrack(made.get());  // it will have numbers alone
    PyObject* items[] = {shape.tuple(), tuple_of_strides(strides), PyLong_FromSsize_t(offset)};
    for (int k = 0; k < 3; k++) PyTuple_SET_ITEM(made.get(), k, items[k]);
    return items[0] && items[1] && items[2] ? made.release() : nullptr;
}

uint64_t FewPositions::hash(uint64_t seed, const Positions& positions) {
    uint64_t hash = hash_of(seed, static_cast<uint64_t>(positions.offset) * 8 + positions.shape.count);
    for (int k = 0; k < positions.shape.count; k++) {
        hash = hash_of(hash, static_cast<uint64_t>(positions.shape.at[k]) << 32 ^ positions.strides.at[k]);
    }
    return hash;
}

FewPositions::FewPositions(const Positions& positions)
    : offset_(positions.offset), count_(static_cast<int8_t>(positions.shape.count)) {
    for (int k = 0; k < count_; k++) {
        sizes_[2 * k] = static_cast<int32_t>(positions.shape.at[k]);
        sizes_[2 * k + 1] = static_cast<int32_t>(positions.strides.at[k]);
    }
}

bool FewPositions::operator==(const Positions& positions) const {
    bool are_equal = count_ == positions.shape.count && offset_ == positions.offset;
    for (int k = 0; are_equal && k < count_; k++) {
        are_equal = sizes_[2 * k] == positions.shape.at[k] && sizes_[2 * k + 1] == positions.strides.at[k];
    }
    return are_equal;
}

}  // namespace core
