#include "attributes.hpp"

#include <cstring>

#include "host_arrays.hpp"
#include "sizes.hpp"

namespace core {

namespace {

Name device_name("device"), host_name("host");

// Each function below returns what the property of its name in array.py does, for arrays of subclasses too; null, without
// an exception, where that is left to Python. The functions with a `self` begin a section.

// The signature of an array's node, borrowed; null if it has no node yet.
PyObject* signature_of(const Array* array) {
    return array->node && PyObject_TypeCheck(array->node, node_type) ? as_node(array->node)->signature : nullptr;
}

// What tells of an array on the host until it has a node, borrowed: a NumPy array, or a scalar that kernels compute.
PyArrayObject* data_of(const Array* array) {
    const bool is_at_hand = !array->node && array->queue && array->base && PyArray_CheckExact(array->base);
    return is_at_hand ? reinterpret_cast<PyArrayObject*>(array->base) : nullptr;
}
int scalar_type_of(const Array* array) {
    return !array->node && array->queue && array->base ? number_of(Py_TYPE(array->base)) : -1;
}

// The one dtype that Python has for NumPy's number of a type, borrowed; null where there may be several.
PyArray_Descr* dtype_of_type(int number) {
    const bool has_twin = number == NPY_LONGLONG || number == NPY_ULONGLONG;
    if (has_twin || !(is_type_at_hand(number) || number == NPY_OBJECT)) return nullptr;
    PyArray_Descr* dtype = PyArray_DescrFromType(number);  // which lives as long as NumPy
    Py_XDECREF(dtype);
    return dtype;
}

PyArray_Descr* dtype_of_signature(PyObject* signature) {
    return reinterpret_cast<PyArray_Descr*>(state.signature_dtype.of(signature));
}

PyObject* shape(PyObject* self) {
    Section section;
    const Array* array = as_array(self);
    if (PyObject* signature = signature_of(array)) return Py_NewRef(state.signature_shape.of(signature));
    if (PyArrayObject* data = data_of(array)) return integers(PyArray_DIMS(data), PyArray_NDIM(data));
    return scalar_type_of(array) >= 0 ? PyTuple_New(0) : nullptr;
}

PyObject* dtype(PyObject* self) {
    Section section;
    const Array* array = as_array(self);
    if (PyObject* signature = signature_of(array)) return Py_NewRef(state.signature_dtype.of(signature));
    PyArrayObject* data = data_of(array);
    PyArray_Descr* known = dtype_of_type(data ? PyArray_TYPE(data) : scalar_type_of(array));
    const bool is_known = known && (!data || PyArray_DESCR(data) == known);
    return is_known ? Py_NewRef(reinterpret_cast<PyObject*>(known)) : nullptr;
}

// -1 where it is left to Python, as below.
Py_ssize_t dimensions_of(const Array* array) {
    if (PyObject* signature = signature_of(array)) return PyTuple_GET_SIZE(state.signature_shape.of(signature));
    if (PyArrayObject* data = data_of(array)) return PyArray_NDIM(data);
    return scalar_type_of(array) >= 0 ? 0 : -1;
}

Py_ssize_t size_of(const Array* array) {
    if (PyObject* signature = signature_of(array)) {
        PyObject* shape = state.signature_shape.of(signature);
        Py_ssize_t count = 1, length;
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(shape); k++) {
            if (!Sizes::read_integer(PyTuple_GET_ITEM(shape, k), length)) return -1;
            if (__builtin_mul_overflow(count, length, &count)) return -1;
        }
        return count;
    }
    if (PyArrayObject* data = data_of(array)) return PyArray_SIZE(data);
    return scalar_type_of(array) >= 0 ? 1 : -1;
}

Py_ssize_t itemsize_of(const Array* array) {
    PyArray_Descr* dtype;
    if (PyObject* signature = signature_of(array)) {
        dtype = dtype_of_signature(signature);
    } else if (PyArrayObject* data = data_of(array)) {
        dtype = PyArray_DESCR(data);
    } else {
        dtype = dtype_of_type(scalar_type_of(array));
    }
    return dtype ? PyDataType_ELSIZE(dtype) : -1;
}

PyObject* number(Py_ssize_t found) { return found < 0 ? nullptr : PyLong_FromSsize_t(found); }

PyObject* ndim(PyObject* self) {
    Section section;
    return number(dimensions_of(as_array(self)));
}

PyObject* size(PyObject* self) {
    Section section;
    return number(size_of(as_array(self)));
}

PyObject* itemsize(PyObject* self) {
    Section section;
    return number(itemsize_of(as_array(self)));
}

PyObject* nbytes(PyObject* self) {
    Section section;
    const Py_ssize_t count = size_of(as_array(self)), bytes = itemsize_of(as_array(self));
    Py_ssize_t product;
    return count < 0 || bytes < 0 || __builtin_mul_overflow(count, bytes, &product) ? nullptr : number(product);
}

// The strides of a view, in elements of the owner; false for a view without elements, whose strides depend on the owner.
bool read_strides_of_view(const Array* array, Sizes& strides) {
    Sizes shape;
    const bool is_at_hand = array->layout && PyTuple_Check(array->layout) && PyTuple_GET_SIZE(array->layout) > 1;
    return is_at_hand && shape.read(PyTuple_GET_ITEM(array->layout, 0)) && !shape.has(0) &&
           strides.read(PyTuple_GET_ITEM(array->layout, 1));
}

// Whether a view is of the real or the imaginary parts of elements.
bool is_of_parts(PyObject* component) {
    return !PyUnicode_CompareWithASCIIString(component, "real") || !PyUnicode_CompareWithASCIIString(component, "imag");
}

PyObject* strides_on_host(PyObject* self) {
    PyObject* memory = memory_of(self);
    if (memory && PyArray_CheckExact(memory)) {
        PyArrayObject* data = reinterpret_cast<PyArrayObject*>(memory);
        return integers(PyArray_STRIDES(data), PyArray_NDIM(data));
    }
    return memory && is_scalar_at_hand(Py_TYPE(memory)) ? PyTuple_New(0) : nullptr;
}

// The strides of an owner, which is in C order; null where they are too long.
PyObject* strides_of_owner(PyObject* signature, Py_ssize_t step) {
    Sizes shape, found;
    if (!shape.read(state.signature_shape.of(signature))) return nullptr;
    if (shape.has(0)) step = 0;
    found.count = shape.count;
    for (int k = shape.count - 1; k >= 0; k--) {
        found.at[k] = step;
        if (__builtin_mul_overflow(step, shape.at[k], &step)) return nullptr;
    }
    return found.tuple();
}

PyObject* strides(PyObject* self) {
    Section section;
    if (has_flag(self, ON_HOST)) return strides_on_host(self);
    const Array* array = as_array(self);
    PyObject* signature = signature_of(array);
    if (!signature || !array->base) return nullptr;
    Py_ssize_t step = PyDataType_ELSIZE(dtype_of_signature(signature));
    if (array->base == Py_None) return strides_of_owner(signature, step);
    Sizes found;
    if (!array->component || !PyUnicode_Check(array->component) || !read_strides_of_view(array, found)) return nullptr;
    if (PyUnicode_GET_LENGTH(array->component) && is_of_parts(array->component)) step *= 2;
    for (int k = 0; k < found.count; k++) {
        if (__builtin_mul_overflow(found.at[k], step, &found.at[k])) return nullptr;
    }
    return found.tuple();
}

PyObject* base(PyObject* self) {
    Section section;
    const Array* array = as_array(self);
    if (array->flags & ORDERED) return Py_NewRef(Py_None);
    if (!(array->flags & ON_HOST)) return Py_XNewRef(array->base);
    const bool is_lent = array->owner == Py_None && (array->flags & STAYS_ON_HOST);
    return is_lent ? nullptr : Py_XNewRef(array->owner);
}

PyObject* device(PyObject* self) {
    Section section;
    const Array* array = as_array(self);
    PyObject* signature = array->queue ? nullptr : signature_of(array);
    PyObject* queue = signature ? state.signature_queue.of(signature) : array->queue;
    return queue && Py_TYPE(queue) == state.queue ? Py_XNewRef(held(state.queue_device, queue).get()) : nullptr;
}

PyObject* residence(PyObject* self) {
    Section section;
    if (!has_flag(self, ON_HOST)) return Py_NewRef(device_name);
    return memory_of(self) ? Py_NewRef(host_name) : nullptr;
}

// The attributes, with what Python has as properties: they tell what the core does not know, and write.
struct Attribute {
    const char* name;
    PyObject* (*read)(PyObject*);
    PyObject* property;
    PyGetSetDef definition;
};

Attribute attributes[] = {
    {"base", base, nullptr, {}},         {"device", device, nullptr, {}}, {"dtype", dtype, nullptr, {}},
    {"itemsize", itemsize, nullptr, {}}, {"nbytes", nbytes, nullptr, {}}, {"ndim", ndim, nullptr, {}},
    {"residence", residence, nullptr, {}}, {"shape", shape, nullptr, {}}, {"size", size, nullptr, {}},
    {"strides", strides, nullptr, {}},
};

PyObject* read(PyObject* self, void* attribute_of_type) {
    const Attribute* attribute = static_cast<const Attribute*>(attribute_of_type);
    PyObject* found = attribute->read(self);
    if (found || PyErr_Occurred()) return found;
    PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(self));
    return Py_TYPE(attribute->property)->tp_descr_get(attribute->property, self, type);
}

int write(PyObject* self, PyObject* value, void* attribute_of_type) {
    PyObject* property = static_cast<const Attribute*>(attribute_of_type)->property;
    return Py_TYPE(property)->tp_descr_set(property, self, value);
}

// attribute(name, property): the descriptor that stands before a property of `ndarray`. It keeps the property for as long
// as the program runs.
PyObject* new_attribute(PyObject*, PyObject* args) {
    const char* name;
    PyObject* property;
    if (!PyArg_ParseTuple(args, "sO!", &name, &PyProperty_Type, &property)) return nullptr;
    for (Attribute& attribute : attributes) {
        if (std::strcmp(attribute.name, name)) continue;
        Ref doc(PyObject_GetAttrString(property, "__doc__"));
        const char* text = doc && PyUnicode_Check(doc.get()) ? PyUnicode_AsUTF8(doc.get()) : nullptr;
        if (PyErr_Occurred()) return nullptr;
        if (text) doc.release();  // the text lives in it
        attribute.property = Py_NewRef(property);
        attribute.definition = {attribute.name, read, write, text, &attribute};
        return PyDescr_NewGetSet(state.ndarray, &attribute.definition);
    }
    return PyErr_Format(PyExc_LookupError, "the core has no attribute %s", name);
}

PyMethodDef functions[] = {
    {"attribute", new_attribute, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_attributes(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace core
