#include "ufunc_loops.hpp"

#define NO_IMPORT_UFUNC
#include <numpy/arrayscalars.h>
#include <numpy/ufuncobject.h>

#include <cmath>
#include <cstring>

#include "axes.hpp"
#include "kept_memory.hpp"
#include "new_arrays.hpp"
#include "temporaries.hpp"

namespace core {

namespace {

// Reads a scalar of NumPy's; false if kernels do not compute its type.
bool read_scalar(PyObject* scalar, Operand& operand) {
    operand.type = number_of(Py_TYPE(scalar));
    operand.data = element_of(scalar);
    return operand.type >= 0;
}

// Reads an array on the host or a number, of Python or NumPy; false for all else.
bool read(PyObject* x, Operand& operand) {
    if (!is_array(x)) {
        operand.number = x;
        return PyFloat_CheckExact(x) || PyLong_CheckExact(x) || read_scalar(x, operand);
    }
    PyObject* memory = memory_of(x);
    if (!memory) return false;
    if (!PyArray_CheckExact(memory)) return read_scalar(memory, operand);
    PyArrayObject* array = reinterpret_cast<PyArrayObject*>(memory);
    if (!PyArray_ISBEHAVED_RO(array) || !PyArray_NDIM(array) || PyArray_NBYTES(array) > host_bytes_of(queue_of(x))) {
        return false;
    }
    operand.type = PyArray_TYPE(array);
    operand.data = PyArray_BYTES(array);
    operand.array = array;
    return is_type_at_hand(operand.type);
}

template <typename T>
bool store_integer(Operand& operand, int type) {
    int overflow;
    const long long value = PyLong_AsLongLongAndOverflow(operand.number, &overflow);
    const T element = static_cast<T>(value);
    if (overflow || static_cast<long long>(element) != value || (value < 0) != (element < 0)) return false;
    std::memcpy(operand.element, &element, sizeof element);
    operand.data = operand.element;
    operand.type = type;
    return true;
}

// Gives a number of Python the type of the other operand, as NumPy promotes; false where that is left to NumPy.
bool store_number(Operand& operand, int type) {
    if (type == NPY_DOUBLE || type == NPY_FLOAT) {
        double value;
        if (PyFloat_CheckExact(operand.number)) {
            value = PyFloat_AS_DOUBLE(operand.number);
        } else {
            int overflow;
            const long long integer = PyLong_AsLongLongAndOverflow(operand.number, &overflow);
            if (overflow) return false;
            value = static_cast<double>(integer);
        }
        if (type == NPY_DOUBLE) {
            std::memcpy(operand.element, &value, sizeof value);
        } else {
            const float narrow = static_cast<float>(value);
            if (std::isinf(narrow) != std::isinf(value)) return false;
            std::memcpy(operand.element, &narrow, sizeof narrow);
        }
        operand.data = operand.element;
        operand.type = type;
        return true;
    }
    if (!PyLong_CheckExact(operand.number)) return false;
    switch (type) {
        case NPY_BYTE: return store_integer<npy_byte>(operand, type);
        case NPY_UBYTE: return store_integer<npy_ubyte>(operand, type);
        case NPY_SHORT: return store_integer<npy_short>(operand, type);
        case NPY_USHORT: return store_integer<npy_ushort>(operand, type);
        case NPY_INT: return store_integer<npy_int>(operand, type);
        case NPY_UINT: return store_integer<npy_uint>(operand, type);
        case NPY_LONG: return store_integer<npy_long>(operand, type);
        case NPY_ULONG: return store_integer<npy_ulong>(operand, type);
        default: return false;
    }
}

// Calls a function with a number of a type of real numbers, and returns what it does; false for other types.
template <typename Function>
bool with_type(int type, const Function& function) {
    switch (type) {
        case NPY_BOOL: return function(npy_bool());
        case NPY_BYTE: return function(npy_byte());
        case NPY_UBYTE: return function(npy_ubyte());
        case NPY_SHORT: return function(npy_short());
        case NPY_USHORT: return function(npy_ushort());
        case NPY_INT: return function(npy_int());
        case NPY_UINT: return function(npy_uint());
        case NPY_LONG: return function(npy_long());
        case NPY_ULONG: return function(npy_ulong());
        case NPY_FLOAT: return function(npy_float());
        case NPY_DOUBLE: return function(npy_double());
        default: return false;
    }
}

int find_promoted(int first, int last) {
    const Ref descriptors[] = {Ref(reinterpret_cast<PyObject*>(PyArray_DescrFromType(first))),
                               Ref(reinterpret_cast<PyObject*>(PyArray_DescrFromType(last)))};
    const auto descriptor = [](const Ref& ref) { return reinterpret_cast<PyArray_Descr*>(ref.get()); };
    const Ref common(reinterpret_cast<PyObject*>(PyArray_PromoteTypes(descriptor(descriptors[0]), descriptor(descriptors[1]))));
    if (!common) PyErr_Clear();
    const int type = common ? descriptor(common)->type_num : -1;
    return PyTypeNum_ISFLOAT(type) && !PyTypeNum_ISFLOAT(first) && !PyTypeNum_ISFLOAT(last) ? -1 : type;
}

// The type that NumPy gives results of operands of two types that kernels compute; -1 if it would take both as floats, and
// neither is one: it compares such in another way. What was found is kept.
int promoted(int first, int last) {
    static std::atomic<int> known[NPY_CLONGDOUBLE + 1][NPY_CLONGDOUBLE + 1] = {};  // with two added
    if (first > NPY_CLONGDOUBLE || last > NPY_CLONGDOUBLE) return -1;
    if (!known[first][last]) known[first][last] = find_promoted(first, last) + 2;
    return known[first][last] - 2;
}

// Gives an operand another type, if it has no dimensions; false where that is left to NumPy.
bool convert(Operand& operand, int type) {
    if (operand.type == type) return true;
    if (operand.array) return false;
    const bool is_made = with_type(operand.type, [&](auto number) {
        std::memcpy(&number, operand.data, sizeof number);
        return with_type(type, [&](auto wanted) {
            wanted = static_cast<decltype(wanted)>(number);
            std::memcpy(operand.element, &wanted, sizeof wanted);
            return true;
        });
    });
    operand.data = operand.element;
    operand.type = type;
    return is_made;
}

// Gives operands of two types that of the result; false where that is left to NumPy.
bool convert_both(Operand& first, Operand& last) {
    const int type = promoted(first.type, last.type);
    return type >= 0 && convert(first, type) && convert(last, type);
}

int find_loop(PyUFuncObject* ufunc, int type) {
    for (int k = 0; k < ufunc->ntypes; k++) {
        const char* types = ufunc->types + k * ufunc->nargs;
        bool is_found = ufunc->functions[k] != nullptr;
        for (int n = 0; n < ufunc->nin; n++) is_found = is_found && types[n] == type;
        if (is_found) return is_type_at_hand(types[ufunc->nin]) ? k : -1;
    }
    return -1;
}

// The number of the loop for operands of one type; -1 if there is none. What was found last is remembered: ufuncs that
// stand before functions live as long as these.
int loop_of(PyUFuncObject* ufunc, int type) {
    static struct {
        PyUFuncObject* ufunc;
        int type, loop;
    } found[256];
    auto& entry = found[(reinterpret_cast<uintptr_t>(ufunc) / sizeof(PyUFuncObject) + static_cast<unsigned>(type)) % 256];
    if (entry.ufunc != ufunc || entry.type != type) entry = {ufunc, type, find_loop(ufunc, type)};
    return entry.loop;
}

// The smallest temporary arrays in whose memory a result may be: for less it takes longer to find out than it saves.
constexpr npy_intp LEAST_BYTES_REUSED = 1 << 18;

// Whether the result of an operator, of the type of the operands, may be in the memory of an argument.
bool is_reusable(PyObject* argument, const Operand& operand, const Axes& axes) {
    if (!operand.array || PyArray_NBYTES(operand.array) < LEAST_BYTES_REUSED || !axes.has_shape_of(operand.array)) return false;
    const Array* array = as_array(argument);
    const bool is_shown = array->views || array->weak_references || (array->owner && array->owner != Py_None);
    if (is_shown || array->flags != (ON_HOST | MADE_AS_ARRAY) || Py_REFCNT(array->base) != 1) return false;
    return PyArray_ISCARRAY(operand.array) && PyArray_CHKFLAGS(operand.array, NPY_ARRAY_OWNDATA) && is_temporary(argument);
}

// The result of a loop over operands without dimensions.
PyObject* scalar_by_loop(PyUFuncObject* ufunc, int loop, const Operand& first, const Operand& last, int count, PyObject* queue) {
    alignas(16) char element[16];
    char* addresses[] = {first.data, count == 2 ? last.data : element, element};
    const npy_intp length = 1, strides[3] = {};
    ufunc->functions[loop](addresses, &length, strides, ufunc->data ? ufunc->data[loop] : nullptr);
    Ref scalar(new_scalar(ufunc->types[loop * ufunc->nargs + ufunc->nin], element));
    return PyErr_Occurred() ? nullptr : new_host_scalar(std::move(scalar), queue);
}

// The most multiplications of a product by NumPy's loop alone: more take longer than what NumPy does for each call, and
// let other threads in meanwhile.
constexpr npy_intp MOST_MULTIPLICATIONS = 1 << 14;

// The product of two vectors, or of a matrix and a vector, by the loop of `matmul`; null, without an exception, of all
// else. `dot` computes the same of vectors that it does not copy.
__attribute__((noinline)) PyObject* product_by_loop(PyUFuncObject* ufunc, int rules, const Operand& first, const Operand& last, PyObject* const* args) {
    if (!first.array || !last.array || first.type != last.type) return nullptr;
    const int rows_axis = PyArray_NDIM(first.array) - 1, columns_axis = PyArray_NDIM(last.array) - 1;
    if (rows_axis + columns_axis > 1) return nullptr;
    const npy_intp length = PyArray_DIM(first.array, rows_axis), itemsize = PyArray_ITEMSIZE(first.array);
    const npy_intp rows = rows_axis ? PyArray_DIM(first.array, 0) : 1, columns = columns_axis ? PyArray_DIM(last.array, 1) : 1;
    const npy_intp multiplications = rows * length * columns;
    if (PyArray_DIM(last.array, 0) != length || multiplications > MOST_MULTIPLICATIONS) return nullptr;
    const npy_intp strides[] = {
        rows_axis ? PyArray_STRIDE(first.array, 0) : 0, PyArray_STRIDE(first.array, rows_axis),
        PyArray_STRIDE(last.array, 0), columns_axis ? PyArray_STRIDE(last.array, 1) : 0,
    };
    const bool is_of_vectors = !rows_axis && !columns_axis;
    // The strides of axes of length 1 are NumPy's to choose.
    if (!is_of_vectors && (length < 2 || rows * columns < 2)) return nullptr;
    PyObject* queue = queue_of(args[0]);
    if (!is_of_vectors && multiplications > PyLong_AsSsize_t(state.queue_host_multiplications.of(queue))) return nullptr;
    if (!(rules & IS_STACKED)) {
        const bool are_copied = strides[1] <= 0 || strides[2] <= 0 || strides[1] % itemsize || strides[2] % itemsize;
        if (!is_of_vectors || length < 2 || are_copied) return nullptr;
    }
    const int loop = loop_of(ufunc, first.type);
    if (loop < 0 || ufunc->types[loop * ufunc->nargs + ufunc->nin] != first.type) return nullptr;
    alignas(16) char element[16];
    npy_intp shape = rows * columns;
    const Ref memory(is_of_vectors ? nullptr : PyArray_EMPTY(1, &shape, first.type, 0));
    if (!is_of_vectors && !memory) return nullptr;
    char* result = is_of_vectors ? element : PyArray_BYTES(reinterpret_cast<PyArrayObject*>(memory.get()));
    char* addresses[] = {first.data, last.data, result};
    const npy_intp sizes[] = {1, rows, length, columns};
    const npy_intp steps[] = {0, 0, 0, strides[0], strides[1], strides[2], strides[3], itemsize, itemsize};
    ufunc->functions[loop](addresses, sizes, steps, ufunc->data ? ufunc->data[loop] : nullptr);
    if (!is_of_vectors) return new_host_array(memory.get(), Py_None, queue, ON_HOST | MADE_AS_ARRAY);
    return new_host_scalar(Ref(new_scalar(first.type, element)), queue);
}

// The result of a loop over operands of which one at least is an array with dimensions.
__attribute__((noinline)) PyObject* array_by_loop(PyUFuncObject* ufunc, int loop, int rules, Operand* operands, PyObject* const* args, PyObject* queue) {
    const bool is_swapped = rules & IS_SWAPPED, is_in_place = rules & IS_IN_PLACE;
    const int count = ufunc->nin, result = count, type = ufunc->types[loop * ufunc->nargs + count];
    const Operand &first = operands[0], &last = operands[count - 1];
    Axes axes;
    if (!axes.find(operands, result, is_in_place)) return nullptr;
    Ref made;
    char* data = nullptr;
    if (is_in_place) {
        if (!first.array || type != first.type || !PyArray_ISWRITEABLE(first.array)) return nullptr;
        const npy_intp itemsize = PyArray_ITEMSIZE(first.array);
        if (!axes.has_shape_of(first.array) || axes.shows_twice(0, itemsize)) return nullptr;  // is written to once
        if (last.array && axes.size() && !(last.data == first.data && axes.are_alike(0, result - 1))) {
            const auto [start, end] = axes.ends(first, 0, itemsize);
            const auto [other_start, other_end] = axes.ends(last, result - 1, itemsize);
            if (start <= other_end && other_start <= end) return nullptr;
        }
        made = Ref::to(args[0]);
        data = first.data;
        axes.write_to(0, result);
    } else {
        const npy_intp most = host_bytes_of(queue) / 8;
        if (axes.size() > most && axes.size() > axes.largest()) return nullptr;
        for (int k = 0; k < count && !made && (rules & IS_OPERATOR) && type == first.type; k++) {
            PyObject* argument = args[is_swapped ? 1 - k : k];
            if (!is_reusable(argument, operands[k], axes)) continue;
            made = Ref::to(argument);
            data = operands[k].data;
            axes.write_to(k, result);
        }
    }
    if (!made) {
        const KeptMemory kept(axes.size() * static_cast<npy_intp>(sizeof(double)));
        const Ref memory(PyArray_EMPTY(axes.ndim(), axes.shape(), type, axes.is_fortran()));
        made = Ref(memory ? new_host_array(memory.get(), Py_None, queue, ON_HOST | MADE_AS_ARRAY) : nullptr);
        if (!made) return nullptr;
        PyArrayObject* array = reinterpret_cast<PyArrayObject*>(memory.get());
        data = PyArray_BYTES(array);
        axes.write_in_order(result, PyArray_ITEMSIZE(array));
    }
    char* addresses[] = {first.data, count == 2 ? last.data : data, data};
    void* const extra = ufunc->data ? ufunc->data[loop] : nullptr;
    axes.run(addresses, result + 1, [=](char** given, npy_intp length, npy_intp* strides) {
        ufunc->functions[loop](given, &length, strides, extra);
    });
    return PyErr_Occurred() ? nullptr : made.release();
}

}  // namespace

// The result of a ufunc by NumPy's own loop, which finds no floating-point errors, over operands of one type, or of
// which those without dimensions are given it; null, without an exception, where there is more to do.
PyObject* by_loop(PyObject* object, int rules, PyObject* const* args, Py_ssize_t count) {
    PyUFuncObject* ufunc = reinterpret_cast<PyUFuncObject*>(object);
    if (count != ufunc->nin || count > 2 || ufunc->nout != 1) return nullptr;
    Operand operands[2];
    for (int k = 0; k < count; k++) {
        if (!read(args[k], operands[rules & IS_SWAPPED ? 1 - k : k])) return nullptr;
    }
    Operand &first = operands[0], &last = operands[count - 1];
    if (ufunc->core_enabled) return product_by_loop(ufunc, rules, first, last, args);
    const bool are_of_python = first.type < 0 && last.type < 0;
    if (are_of_python && (!PyFloat_CheckExact(first.number) || !PyFloat_CheckExact(last.number))) return nullptr;
    if (first.type < 0 && !store_number(first, are_of_python ? NPY_DOUBLE : last.type)) return nullptr;
    if (last.type < 0 && !store_number(last, first.type)) return nullptr;
    if (first.type != last.type && !convert_both(first, last)) return nullptr;
    const int loop = loop_of(ufunc, first.type);
    if (loop < 0) return nullptr;
    PyObject* array = is_array(args[0]) ? args[0] : args[count - 1];
    const Ref queue(is_array(array) ? Py_NewRef(queue_of(array)) : default_queue());
    if (!queue) return nullptr;
    // A scalar is not written to: in place of it, a name is bound to another one.
    if (!first.array && !last.array) return scalar_by_loop(ufunc, loop, first, last, static_cast<int>(count), queue.get());
    return array_by_loop(ufunc, loop, rules, operands, args, queue.get());
}

PyObject* power_of_scalars(int rules, PyObject* const* args, Py_ssize_t count) {
    Operand operands[2];
    if (count != 2) return nullptr;
    for (int k = 0; k < 2; k++) {
        if (!read(args[k], operands[rules & IS_SWAPPED ? 1 - k : k]) || operands[k].array) return nullptr;
    }
    PyObject* array = is_array(args[0]) ? args[0] : args[1];
    for (Operand& operand : operands) {
        if (operand.type < 0 && !store_number(operand, NPY_DOUBLE)) return nullptr;
        if (operand.type != NPY_DOUBLE) return nullptr;
    }
    double base, exponent;
    std::memcpy(&base, operands[0].data, sizeof base);
    std::memcpy(&exponent, operands[1].data, sizeof exponent);
    const double result = std::pow(base, exponent);
    return new_host_scalar(Ref(new_scalar(NPY_DOUBLE, reinterpret_cast<const char*>(&result))), queue_of(array));
}

bool store(PyObject* value, PyArrayObject* array, char* place) {
    Operand operand;
    if (!PyArray_ISBEHAVED(array) || !read(value, operand) || operand.array) return false;
    if (operand.type < 0 && !store_number(operand, PyArray_TYPE(array))) return false;
    if (operand.type != PyArray_TYPE(array)) return false;
    std::memcpy(place, operand.data, PyArray_ITEMSIZE(array));
    return true;
}

}  // namespace core
