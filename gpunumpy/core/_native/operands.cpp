#include "operands.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kept_memory.hpp"
#include "new_arrays.hpp"

namespace core {

namespace {

// More elements than arrays on the host have. Products of two are numbers.
constexpr npy_intp MANY = npy_intp{1} << 31;

bool is_sequence(PyObject* x) { return PyList_CheckExact(x) || PyTuple_CheckExact(x); }

Ref part_of(PyObject* x, Py_ssize_t k) { return PyList_CheckExact(x) ? item_at(x, k) : Ref::to(PyTuple_GET_ITEM(x, k)); }

// Whether an array, or a row with one, is the first among the first parts of a list or tuple that is no number.
bool begins_with_arrays(PyObject* x, Py_ssize_t looked_at, bool are_rows = false) {
    for (Py_ssize_t k = 0; k < Py_SIZE(x) && k < looked_at; k++) {
        const Ref part = part_of(x, k);
        if (!part || !is_number(part.get())) {
            if (!part || is_array(part.get()) || are_rows) return part && is_array(part.get());
            return is_sequence(part.get()) && begins_with_arrays(part.get(), looked_at, true);
        }
    }
    return false;
}

// A list or tuple, as `x` is, of what `convert` makes of each of its parts; null if that is null for one of them.
template <typename Convert>
PyObject* parts_of(PyObject* x, const Convert& convert) {
    const bool is_list = PyList_CheckExact(x);
    const Py_ssize_t length = Py_SIZE(x);
    Ref made(is_list ? PyList_New(length) : PyTuple_New(length));
    for (Py_ssize_t k = 0; made && k < length; k++) {
        const Ref given = part_of(x, k);
        if (!given) return nullptr;  // the conversion of another part has shortened the list
        PyObject* part = convert(given.get());
        if (!part) return nullptr;
        if (is_list) {
            PyList_SET_ITEM(made.get(), k, part);
        } else {
            PyTuple_SET_ITEM(made.get(), k, part);
        }
    }
    return made.release();
}

}  // namespace

bool is_number(PyObject* x) {
    return PyFloat_CheckExact(x) || PyLong_CheckExact(x) || PyBool_Check(x) || PyComplex_CheckExact(x);
}

bool is_plain(PyObject* x) {
    if (is_number(x) || x == Py_None || PyUnicode_CheckExact(x) || PySlice_Check(x) || x == Py_Ellipsis || PyRange_Check(x)) {
        return true;
    }
    if (PyArray_IsScalar(x, Generic) || PyArray_DescrCheck(x)) return true;
    if (!PyType_Check(x)) return false;
    PyTypeObject* type = reinterpret_cast<PyTypeObject*>(x);
    const bool is_of_python = type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type;
    return is_of_python || type == &PyComplex_Type || is_scalar_at_hand(type);
}

Operands::~Operands() {
    for (int k = 0; k < count_ && k < MAX_ARRAYS; k++) Py_DECREF(arrays_[k]);
}

PyObject* Operands::taken(PyObject* x) {
    if (is_array(x)) return taken_memory(x);
    if (is_plain(x)) {
        if ((rules_ & IS_GROWING) && PyLong_CheckExact(x)) add_number(x);
        have_data_ = have_data_ || is_number(x) || PyArray_IsScalar(x, Generic);
        const bool is_finite = !PyFloat_CheckExact(x) || std::isfinite(PyFloat_AS_DOUBLE(x));
        return (rules_ & IS_OF_FINITE) && !is_finite ? nullptr : Py_NewRef(x);
    }
    if (PyArray_CheckExact(x)) return taken_copy(x);
    const bool is_of_scalar = (rules_ & IS_OPERATOR) && count() && !has_flag(arrays_[0], MADE_AS_ARRAY);
    if (PyList_CheckExact(x) && is_of_scalar) return nullptr;  // a product with it repeats a list, perhaps in place
    return is_sequence(x) ? taken_parts(x) : nullptr;
}

PyObject* Operands::taken_to_be_written(PyObject* x) {
    const npy_intp elements = elements_;
    PyObject* taken_value = taken(x);
    elements_ = elements;
    return taken_value;
}

bool Operands::have_queue() {
    if (!queue_) queue_ = Ref(default_queue());
    return static_cast<bool>(queue_);
}

bool Operands::are_small() {
    if (are_of_objects_ && have_lists_) return false;  // the list itself, not what it was taken as, may become an element
    if (!count() && (!have_data_ || (rules_ & IS_SHOWING) || !have_queue())) return false;
    const npy_intp host_bytes = host_bytes_of(queue());
    const bool has_result = !(rules_ & (IS_WRITING | IS_ASSIGNMENT));  // and else no more elements than the largest operand
    if (has_result && elements_ > host_bytes / 8 && elements_ > largest_) return false;
    if (rules_ & IS_PRODUCT) return multiplications() <= PyLong_AsSsize_t(state.queue_host_multiplications.of(queue()));
    return !(rules_ & IS_GROWING) || grown_ <= std::max(GROWN_ELEMENTS, host_bytes / 8);
}

PyObject* Operands::taken_memory(PyObject* array) {
    Ref memory = Ref::to(memory_of(array));
    if (!memory || (count_ >= MAX_ARRAYS && !depth_)) return nullptr;
    if (!count_) queue_ = Ref::to(queue_of(array));
    if (PyArray_CheckExact(memory.get())) {
        PyArrayObject* data = reinterpret_cast<PyArrayObject*>(memory.get());
        // A product of arrays in the host's memory is NumPy's work in either place.
        const bool is_of_any_size = (rules_ & IS_PRODUCT) && shares_memory(queue());
        if (is_type_of_host(PyArray_TYPE(data)) && !(rules_ & (IS_OF_DATA | IS_WRITING | IS_ASSIGNMENT))) {
            if (is_fallback_refused) return nullptr;
            are_of_host_ = true;
            are_of_objects_ = are_of_objects_ || PyArray_ISOBJECT(data);
        } else if (!is_at_hand(data, is_of_any_size ? NPY_MAX_INTP : host_bytes_of(queue()))) {
            return nullptr;
        }
        add_shape(PyArray_NDIM(data), PyArray_DIMS(data), PyArray_SIZE(data));
    } else if (!is_scalar_at_hand(Py_TYPE(memory.get()))) {
        return nullptr;
    } else {
        sum_++;
    }
    if (count_ >= MAX_ARRAYS && sum_ > MAX_ARRAYS * (host_bytes_of(queue()) / 8)) return nullptr;
    return add_array(array) ? memory.release() : nullptr;
}

bool Operands::add_array(PyObject* array) {
    if (count_ < MAX_ARRAYS) {
        arrays_[count_] = Py_NewRef(array);
    } else {
        if (!more_) more_ = Ref(PyList_New(0));
        if (!more_ || PyList_Append(more_.get(), array) < 0) return false;
    }
    count_++;
    return true;
}

PyObject* Operands::taken_copy(PyObject* x) {
    if ((rules_ & IS_SHOWING) || !have_queue()) return nullptr;
    PyArrayObject* data = reinterpret_cast<PyArrayObject*>(x);
    if (!is_at_hand(data, host_bytes_of(queue()))) return nullptr;
    const KeptMemory kept(PyArray_NBYTES(data));
    PyObject* copy = PyArray_NewCopy(data, NPY_KEEPORDER);
    if (!copy) return nullptr;
    PyArray_CLEARFLAGS(reinterpret_cast<PyArrayObject*>(copy), NPY_ARRAY_WRITEABLE);
    add_shape(PyArray_NDIM(data), PyArray_DIMS(data), PyArray_SIZE(data));
    have_data_ = have_copies_ = true;
    return copy;
}

// A list with many parts that does not begin with arrays is one of numbers alone: it stands for an array.
PyObject* Operands::taken_list(PyObject* x) {
    if ((rules_ & IS_SHOWING) || !have_queue() || Py_SIZE(x) > host_bytes_of(queue()) / 8) return nullptr;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(x); k++) {
        const Ref part = item_at(x, k);
        if (!part || !is_number(part.get())) return nullptr;
    }
    PyObject* data = PyArray_FROM_O(x);
    if (!data) return nullptr;
    const npy_intp length = PyArray_SIZE(reinterpret_cast<PyArrayObject*>(data));
    add_shape(1, &length, length);
    have_data_ = have_lists_ = true;
    return data;
}

PyObject* Operands::taken_parts(PyObject* x) {
    const int arrays = count();
    have_data_ = have_data_ || (!Py_SIZE(x) && PyList_CheckExact(x));
    if (Py_SIZE(x) > MAX_ARRAYS && !begins_with_arrays(x, MAX_ARRAYS)) return PyList_CheckExact(x) ? taken_list(x) : nullptr;
    if (depth_ == NPY_MAXDIMS) return nullptr;  // as of a list that holds itself
    depth_++;
    PyObject* parts = parts_of(x, [this](PyObject* part) { return taken(part); });
    depth_--;
    have_lists_ = have_lists_ || count() == arrays;
    return parts;
}

// Sizes are counted as if the arrays were broadcast together; where they are joined, the result is no larger.
void Operands::add_shape(int ndim, const npy_intp* dims, npy_intp size) {
    if ((rules_ & IS_PRODUCT) && ndim > 1 && matrix_count_ < 2) matrices_[matrix_count_++] = {size, dims[ndim - 2], dims[ndim - 1]};
    if (!(rules_ & IS_SQUARE) || ndim == 1) add_count(size);
    largest_ = std::max(largest_, size);
    sum_ = std::min(sum_ + size, MANY);
    elements_ = 1;
    for (int k = 1; k <= ndim || k <= broadcast_ndim_; k++) {
        if (k > broadcast_ndim_) broadcast_[broadcast_ndim_++] = 1;
        if (k <= ndim && dims[ndim - k] != 1) broadcast_[k - 1] = std::min(dims[ndim - k], MANY);
        elements_ = std::min(elements_ * broadcast_[k - 1], MANY);
    }
}

// Of a product with a vector there are as many multiplications as the other operand has elements.
npy_intp Operands::multiplications() const {
    if (matrix_count_ < 2) return matrix_count_ ? matrices_[0].size : 1;
    const bool is_swapped = rules_ & IS_SWAPPED;
    const Matrix &a = matrices_[is_swapped], &b = matrices_[!is_swapped];
    if (rules_ & IS_STACKED) return std::max(a.size * b.columns, b.size * a.rows);
    return a.size / std::max<npy_intp>(a.columns, 1) * b.size;
}

void Operands::add_number(PyObject* x) {
    int overflow;
    const long value = std::labs(PyLong_AsLongAndOverflow(x, &overflow));
    add_count(overflow ? MANY + 1 : value);
}

void Operands::add_count(npy_intp count) {
    if (!count || grown_ > MANY) return;
    if (rules_ & IS_SQUARE) {
        grown_ = std::max(grown_, std::min(count, MANY) * std::min(count, MANY));
        return;
    }
    grown_ = count > MANY || rules_ & IS_SUMMARY ? std::max(grown_, count) : grown_ * count;
}

namespace {

// What Python makes of a result that is large, of another dtype, or of another class.
PyObject* returned_by_python(PyObject* x, const Operands& operands) {
    Ref arrays(PyTuple_New(operands.count()));
    if (!arrays) return nullptr;
    for (int k = 0; k < operands.count(); k++) PyTuple_SET_ITEM(arrays.get(), k, Py_NewRef(operands[k]));
    PyObject* has_copies = operands.have_copies() ? Py_True : Py_False;
    return PyObject_CallFunctionObjArgs(state.returned, x, arrays.get(), operands.queue(), has_copies, nullptr);
}

PyObject* base_of(PyObject* memory) {
    return PyArray_Check(memory) ? PyArray_BASE(reinterpret_cast<PyArrayObject*>(memory)) : nullptr;
}

PyObject* returned_array(PyObject* x, const Operands& operands) {
    PyArrayObject* data = reinterpret_cast<PyArrayObject*>(x);
    PyObject* base = PyArray_BASE(data);
    const bool is_small = is_at_hand(data, host_bytes_of(operands.queue()));
    for (int k = 0; k < operands.count(); k++) {
        PyObject *array = operands[k], *memory = as_array(array)->base;
        if (memory == x) return Py_NewRef(array);
        if (base && is_small && (base == memory || base == base_of(memory))) return new_view(x, array);
    }
    // Nobody else has a copy that is the result.
    if (!base && operands.have_copies()) PyArray_ENABLEFLAGS(data, NPY_ARRAY_WRITEABLE);
    if (!is_small || (base && !PyArray_ISWRITEABLE(data))) return returned_by_python(x, operands);
    // A part of what NumPy made, such as a column of the positions of `nonzero`, is copied if it has gaps.
    const bool has_gaps = base && !PyArray_IS_C_CONTIGUOUS(data) && !PyArray_IS_F_CONTIGUOUS(data);
    const Ref memory(has_gaps ? PyArray_NewCopy(data, NPY_KEEPORDER) : Py_NewRef(x));
    return memory ? new_host_array(memory.get(), Py_None, operands.queue(), ON_HOST | MADE_AS_ARRAY) : nullptr;
}

}  // namespace

PyObject* returned(PyObject* x, const Operands& operands) {
    if (PyArray_CheckExact(x)) return returned_array(x, operands);
    if (is_scalar_at_hand(Py_TYPE(x))) return new_host_scalar(Ref::to(x), operands.queue());
    if (x == Py_None || PyUnicode_CheckExact(x) || PyFloat_CheckExact(x) || PyLong_CheckExact(x) || PyBool_Check(x)) return Py_NewRef(x);
    if (PyTuple_CheckExact(x) || PyList_CheckExact(x)) {
        return parts_of(x, [&operands](PyObject* part) { return returned(part, operands); });
    }
    return returned_by_python(x, operands);
}

}  // namespace core
