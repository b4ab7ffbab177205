#include "calls.hpp"

#include <cmath>

#include "element_moves.hpp"
#include "host_arrays.hpp"
#include "new_arrays.hpp"
#include "numpy_api.hpp"
#include "recipe.hpp"
#include "recent.hpp"
#include "recorders.hpp"
#include "signatures.hpp"
#include "small_vector.hpp"
#include "views.hpp"

namespace core {

namespace {

// What a `CallMemo` is about, as in calls.py.
enum { OF_VALUES, OF_NO_VALUES, OF_LAYOUT, OF_NODES };

// The fields of a `CallMemo`, borrowed.
struct Memo {
    explicit Memo(PyObject* tuple)
        : kind(PyLong_AsLong(PyTuple_GET_ITEM(tuple, 0))), signatures(PyTuple_GET_ITEM(tuple, 1)),
          recordings(PyTuple_GET_ITEM(tuple, 2)), setting(PyTuple_GET_ITEM(tuple, 3)),
          flags(static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(tuple, 4)))),
          are_products(PyTuple_GET_ITEM(tuple, 5) == Py_True), operations(PyTuple_GET_ITEM(tuple, 6)),
          reduction(PyTuple_GET_ITEM(tuple, 7)) {}

    long kind;
    PyObject *signatures, *recordings, *setting;
    int flags;
    bool are_products;
    PyObject *operations, *reduction;
};

// References that are held.
class Objects {
public:
    Objects() = default;
    Objects(const Objects&) = delete;
    Objects& operator=(const Objects&) = delete;
    ~Objects() {
        for (PyObject* object : objects_) Py_DECREF(object);
    }
    void add(PyObject* owned) { objects_.push_back(owned); }
    void add_borrowed(PyObject* object) { objects_.push_back(Py_NewRef(object)); }
    size_t size() const { return objects_.size(); }
    PyObject* operator[](size_t k) const { return objects_[k]; }
    Py_ssize_t place_of(PyObject* object) const {
        for (size_t k = 0; k < objects_.size(); k++) {
            if (objects_[k] == object) return static_cast<Py_ssize_t>(k);
        }
        return -1;
    }
    // A new tuple of them, which holds them instead.
    PyObject* tuple() {
        PyObject* made = PyTuple_New(static_cast<Py_ssize_t>(objects_.size()));
        for (size_t k = 0; made && k < objects_.size(); k++) PyTuple_SET_ITEM(made, k, objects_[k]);
        if (made) objects_.clear();
        return made;
    }

private:
    SmallVector<PyObject*, 32> objects_;
};

// The key of a call, as `call_key` in calls.py makes it.
class Key {
public:
    // All that add something return false for what is left to Python, maybe after an exception.
    bool add_setting(PyObject* variable) {
        if (variable == Py_None) return true;
        PyObject* value = nullptr;
        if (PyContextVar_Get(variable, nullptr, &value) < 0 || !value) return false;
        parts_.add(value);
        return true;
    }
    bool add_queue() {
        PyObject* queue = default_queue();
        if (queue) parts_.add(queue);
        return queue != nullptr;
    }
    bool add(PyObject* x) {
        if (is_array(x)) return add_array(x);
        if (PyTuple_CheckExact(x) || PyList_CheckExact(x)) return add_parts(x);
        return add_static(x);
    }
    bool add_layout(PyObject* array) {
        if (!is_array(array) || has_flag(array, ON_HOST) || !can_have_views(array)) return false;
        if (as_array(array)->base == Py_None) {
            parts_.add_borrowed(state.signature_shape.of(as_node(as_array(array)->node)->signature));
            parts_.add_borrowed(Py_None);
        } else {
            parts_.add_borrowed(PyTuple_GET_ITEM(as_array(array)->layout, 0));
            parts_.add_borrowed(PyTuple_GET_ITEM(as_array(array)->layout, 1));
        }
        return true;
    }
    bool add_part(PyObject* part) {
        parts_.add_borrowed(part);
        return true;
    }
    bool add_node(PyObject* owned) {
        if (!owned) return false;
        operands_.add(owned);
        if (!is_node(owned)) return false;
        parts_.add_borrowed(as_node(owned)->signature);
        return true;
    }
    size_t operand_count() const { return operands_.size(); }
    PyObject* operands() { return operands_.tuple(); }
    PyObject* tuple() { return parts_.tuple(); }

private:
    bool add_array(PyObject* array) {
        if (has_flag(array, ON_HOST) || !owner_of(array)) return false;
        Ref node(value_of(array));
        if (!node || !is_node(node.get())) return false;
        const Py_ssize_t place = operands_.place_of(node.get());
        if (place >= 0) {
            parts_.add(PyLong_FromSsize_t(place));  // below the numbers that Python has to allocate
            return true;
        }
        PyObject* signature = as_node(node.get())->signature;
        parts_.add_borrowed(signature);
        if (as_array(array)->base != Py_None) parts_.add_borrowed(PyTuple_GET_ITEM(as_array(array)->layout, 1));
        if (!PyTuple_GET_SIZE(state.signature_shape.of(signature))) {
            parts_.add(PyLong_FromLong(as_array(array)->flags & MADE_AS_ARRAY));
        }
        operands_.add(node.release());
        return operands_.size() <= MAX_OPERANDS;
    }
    bool add_parts(PyObject* x) {
        if (Py_SIZE(x) > MAX_OPERANDS || ++depth_ > MAX_DEPTH) return false;
        parts_.add_borrowed(reinterpret_cast<PyObject*>(Py_TYPE(x)));
        parts_.add(PyLong_FromSsize_t(Py_SIZE(x)));
        for (Py_ssize_t k = 0; k < Py_SIZE(x); k++) {
            const Ref part = PyList_CheckExact(x) ? item_at(x, k) : Ref::to(PyTuple_GET_ITEM(x, k));
            if (!part || !add(part.get())) return false;
        }
        depth_--;
        return true;
    }
    bool add_static(PyObject* x) {
        if (PyFloat_CheckExact(x)) {
            const double value = PyFloat_AS_DOUBLE(x);
            if (std::isnan(value) || (!value && std::signbit(value))) return false;
        } else {
            const bool is_plain = PyLong_CheckExact(x) || PyBool_Check(x) || x == Py_None || PyUnicode_CheckExact(x);
            if (!is_plain && !PyType_CheckExact(x) && !PyArray_DescrCheck(x)) return false;
        }
        parts_.add_borrowed(reinterpret_cast<PyObject*>(Py_TYPE(x)));
        parts_.add_borrowed(x);
        return true;
    }

    static constexpr int MAX_OPERANDS = 64, MAX_DEPTH = 4;
    Objects parts_, operands_;
    int depth_ = 0;
};

// Whether what was computed meanwhile may be what a recipe has taken from inside of its operands; see `undisturbed`.
class Quiet {
public:
    Quiet(PyObject* recipe, PyObject* operands) {
        if (!PyTuple_GET_SIZE(PyTuple_GET_ITEM(recipe, 0))) return;
        for (Py_ssize_t k = 0; queue_ == nullptr && k < PyTuple_GET_SIZE(operands); k++) {
            PyObject* queue = state.signature_queue.of(as_node(PyTuple_GET_ITEM(operands, k))->signature);
            if (queue != Py_None) queue_ = queue;
        }
        if (queue_) publications_ = count();
    }
    bool was_kept() const {
        return !queue_ || (held(state.queue_run, queue_).get() == Py_None && count() == publications_);
    }

private:
    Py_ssize_t count() const { return PyLong_AsSsize_t(held(state.queue_publications, queue_).get()); }

    PyObject* queue_ = nullptr;
    Py_ssize_t publications_ = 0;
};

PyObject* by_recipe(PyObject* recipe, PyObject* operands) {
    const Quiet quiet(recipe, operands);
    Ref node;
    {
        Section section;
        node = Ref(repeated(recipe, operands));
    }
    if (!node || node.get() == Py_None) return nullptr;
    Ref array(wrap(node.get()));
    if (!array) return nullptr;
    PyObject* layout = PyTuple_GET_ITEM(recipe, RECIPE_LAYOUT);
    if (layout != Py_None) {
        Section section;
        Positions positions;
        if (!positions.read_layout(layout)) return nullptr;
        array = Ref(make_view(array.get(), positions, layout));
        if (!array) return nullptr;
    }
    as_array(array.get())->flags = static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(recipe, RECIPE_FLAGS)));
    return quiet.was_kept() ? array.release() : nullptr;
}

// The signature of an operation on operands, the first parts of a key, that is known for operands of their kinds; null,
// maybe after an exception, if none is. It is kept for the key.
Ref signature_at_new_sizes(const Memo& memo, PyObject* parts, Py_ssize_t operand_count) {
    if (memo.operations == Py_None) return Ref();
    Section section;
    const Ref operands(PyTuple_GetSlice(parts, 0, operand_count));
    const Ref rest(operands ? PyTuple_GetSlice(parts, operand_count, PyTuple_GET_SIZE(parts)) : nullptr);
    if (!rest || (memo.are_products && are_multiplied_by_library(operands.get()) != Answer::YES)) return Ref();
    const Ref made(at_new_sizes(memo.operations, operands.get(), rest.get()));
    return made ? keep(memo.signatures, parts, made.get()) : Ref();
}

// The signature of a value's reduction, by the operation's table and an axis.
struct Reduced {
    PyObject *signatures = nullptr, *op = nullptr, *axis = nullptr, *value = nullptr, *signature = nullptr;  // owned

    void let_go() const {
        for (PyObject* field : {signatures, op, axis, value, signature}) Py_XDECREF(field);
    }
};

Recent<Reduced, 512> recent_reductions;

// From the tables of a `PlainReduction`; null, maybe after an exception, if they have none.
Ref signature_of_reduction(PyObject* reduction, PyObject* value, PyObject* axis) {
    PyObject *op = PyTuple_GET_ITEM(reduction, 0), *signatures = PyTuple_GET_ITEM(reduction, 1);
    const auto is_wanted = [&](const Reduced& entry) {
        return entry.value == value && entry.axis == axis && entry.op == op && entry.signatures == signatures;
    };
    Reduced& recent = recent_reductions.at(hash_of(hash_of(hash_of(0, op), axis), value), is_wanted);
    if (is_wanted(recent)) return Ref::to(recent.signature);
    const Ref key(PyTuple_Pack(3, value, op, axis));
    Ref signature = key ? find(signatures, key.get()) : Ref();
    if (!signature && !PyErr_Occurred()) {
        const Ref operands(PyTuple_Pack(1, value)), static_arguments(PyTuple_Pack(2, op, axis));
        if (!operands || !static_arguments) return Ref();
        const Ref made(at_new_sizes(PyTuple_GET_ITEM(reduction, 2), operands.get(), static_arguments.get()));
        if (made) signature = keep(signatures, key.get(), made.get());
    }
    if (signature) {
        recent_reductions.put(recent, {Py_NewRef(signatures), Py_NewRef(op), Py_NewRef(axis), Py_NewRef(value),
                                       Py_NewRef(signature.get())});
    }
    return signature;
}

// Whether an axis is one as `reduce_ufunc` in ufuncs/methods.py hands it on: None, an integer, or a tuple of these.
bool is_static_axis(PyObject* axis) {
    if (!PyTuple_CheckExact(axis)) return axis == Py_None || PyLong_CheckExact(axis);
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(axis); k++) {
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(axis, k))) return false;
    }
    return true;
}

// The reduction of an array, by a call that gives at most an axis besides; null, maybe after an exception, for any other.
PyObject* reduced_call(PyObject* reduction, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    const Py_ssize_t total = count + (names ? PyTuple_GET_SIZE(names) : 0);
    if (!count || total > 2 || !is_array(args[0]) || has_flag(args[0], ON_HOST)) return nullptr;
    if (count < total && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "axis")) return nullptr;
    PyObject* axis = total == 2 ? args[1] : Py_None;
    if (!is_static_axis(axis)) return nullptr;
    Ref node;
    {
        Section section;
        if (!owner_of(args[0])) return nullptr;
        const Ref value(value_of(args[0]));
        if (!value || !is_node(value.get())) return nullptr;
        const Ref of_value = Ref::to(as_node(value.get())->signature);
        const Ref signature = signature_of_reduction(reduction, of_value.get(), axis);
        if (!signature) return nullptr;
        node = Ref(new_node(signature.get(), PyTuple_Pack(1, value.get())));
    }
    return node ? wrap(node.get()) : nullptr;
}

// What a call with values recorded, over these values.
PyObject* recorded_call(const Memo& memo, Key& key) {
    const Ref parts(key.tuple()), operands(parts ? key.operands() : nullptr);
    if (!operands) return nullptr;
    Ref signature = find(memo.signatures, parts.get());
    if (!signature && !PyErr_Occurred() && memo.kind == OF_NODES) {
        signature = signature_at_new_sizes(memo, parts.get(), PyTuple_GET_SIZE(operands.get()));
    }
    if (PyErr_Occurred()) return nullptr;
    Ref array;
    if (signature) {
        const Ref node(new_node(signature.get(), Py_NewRef(operands.get())));
        array = Ref(node ? wrap(node.get()) : nullptr);
    } else {
        const Ref recipe = find(memo.recordings, parts.get());
        if (!recipe || !PyTuple_Check(recipe.get())) return nullptr;
        array = Ref(by_recipe(recipe.get(), operands.get()));
    }
    if (array) as_array(array.get())->flags |= memo.flags;
    return array.release();
}

// The view of an array that a call made of one with the same shape and strides.
PyObject* view_of_call(const Memo& memo, PyObject* array, Key& key) {
    const Ref parts(key.tuple());
    if (!parts) return nullptr;
    const Ref known = find(memo.recordings, parts.get());
    if (!known || !PyTuple_Check(known.get())) return nullptr;
    PyObject* layout = PyTuple_GET_ITEM(known.get(), 0);
    if (layout == Py_None) return Py_NewRef(array);
    Section section;
    Positions positions;
    Py_ssize_t start = 0;
    if (!can_have_views(array) || !positions.read_layout(layout)) return nullptr;
    if (as_array(array)->base != Py_None && !Sizes::read_integer(PyTuple_GET_ITEM(as_array(array)->layout, 2), start)) {
        return nullptr;
    }
    positions.offset += start;
    PyObject* view = start ? make_view(array, positions) : make_view(array, positions, layout);
    if (view) as_array(view)->flags |= static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(known.get(), 1)));
    return view;
}

// call_key(leading, args, options)
PyObject* call_key(PyObject*, PyObject* given) {
    PyObject *leading, *args, *options, *name, *x;
    if (!PyArg_ParseTuple(given, "O!O!O!", &PyTuple_Type, &leading, &PyTuple_Type, &args, &PyDict_Type, &options)) {
        return nullptr;
    }
    Section section;
    Key key;
    bool is_key = true;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(leading); k++) key.add_part(PyTuple_GET_ITEM(leading, k));
    for (Py_ssize_t k = 0; is_key && k < PyTuple_GET_SIZE(args); k++) is_key = key.add(PyTuple_GET_ITEM(args, k));
    for (Py_ssize_t at = 0; is_key && PyDict_Next(options, &at, &name, &x);) is_key = key.add_part(name) && key.add(x);
    if (PyErr_Occurred()) return nullptr;
    if (!is_key) Py_RETURN_NONE;
    const Ref parts(key.tuple()), operands(parts ? key.operands() : nullptr);
    return operands ? PyTuple_Pack(2, parts.get(), operands.get()) : nullptr;
}

PyMethodDef functions[] = {
    {"call_key", call_key, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_calls(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

PyObject* remembered_call(PyObject* tuple, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    if (is_watched) return nullptr;
    const Memo memo(tuple);
    const Py_ssize_t total = count + (names ? PyTuple_GET_SIZE(names) : 0);
    if (memo.reduction != Py_None) {
        PyObject* made = reduced_call(memo.reduction, args, count, names);
        if (made || PyErr_Occurred()) return made;
    }
    Key key;
    {
        Section section;
        if (memo.kind == OF_NODES) {
            if (total != count) return nullptr;  // an option, as `out`
            bool has_array = false;
            for (Py_ssize_t k = 0; k < count; k++) {
                if (is_array(args[k]) && has_flag(args[k], ON_HOST)) return nullptr;
                has_array = has_array || is_array(args[k]);
                if (!key.add_node(operand(args[k]))) return nullptr;
            }
            if (!has_array || !key.add_setting(memo.setting)) return nullptr;
        } else {
            if (memo.kind == OF_NO_VALUES && !key.add_queue()) return nullptr;
            if (!key.add_setting(memo.setting)) return nullptr;
            for (Py_ssize_t k = 0; k < total; k++) {
                if (k >= count) key.add_part(PyTuple_GET_ITEM(names, k - count));
                const bool is_shown = !k && memo.kind == OF_LAYOUT;
                if (!(is_shown ? count && key.add_layout(args[k]) : key.add(args[k]))) return nullptr;
            }
            const bool has_operands = key.operand_count();
            if (memo.kind == OF_LAYOUT ? has_operands : !has_operands && memo.kind != OF_NO_VALUES) return nullptr;
        }
    }
    PyObject* made = memo.kind == OF_LAYOUT ? view_of_call(memo, args[0], key) : recorded_call(memo, key);
    const bool are_arrays = total > 1 && is_array(args[0]) && is_array(args[1]);
    if (made && memo.are_products && are_arrays) note_product(made, args[0], args[1]);
    return made;
}

}  // namespace core
