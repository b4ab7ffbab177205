#include "kept_lists.hpp"

#include <algorithm>

#include "small_vector.hpp"

namespace core {

#ifdef Py_GIL_DISABLED

PyObject* take_list(Py_ssize_t count) { return PyList_New(count); }

void give_list(PyObject* owned) { Py_XDECREF(owned); }

bool replace_first(PyObject* list, Py_ssize_t count, PyObject* items) {
    return PyList_SetSlice(list, 0, count, items) == 0;
}

#else

namespace {

constexpr Py_ssize_t LEAST_ROOM = 16, MOST_ROOM = 1024;  // items

// Empty. Few flushes are under way at once, and each has two.
constexpr size_t MOST_LISTS = 4;
PyObject* kept[MOST_LISTS];
size_t kept_count = 0;

Py_ssize_t room_of(PyObject* list) { return reinterpret_cast<PyListObject*>(list)->allocated; }
PyObject** items_of(PyObject* list) { return reinterpret_cast<PyListObject*>(list)->ob_item; }

// Empty a list, which keeps its room. What dies may run Python's code, which finds the list empty.
void empty(PyObject* list) {
    const SmallVector<PyObject*, 64> items(items_of(list), items_of(list) + PyList_GET_SIZE(list));
    Py_SET_SIZE(list, 0);
    for (PyObject* item : items) Py_XDECREF(item);
}

}  // namespace

PyObject* take_list(Py_ssize_t count) {
    for (size_t k = kept_count; k--;) {
        PyObject* list = kept[k];
        if (room_of(list) < count) continue;
        kept[k] = kept[--kept_count];
        std::fill_n(items_of(list), count, nullptr);
        Py_SET_SIZE(list, count);
        return list;
    }
    PyObject* made = PyList_New(std::max(count, LEAST_ROOM));
    if (!made) return nullptr;
    Py_SET_SIZE(made, count);
    PyObject_GC_UnTrack(made);
    return made;
}

void give_list(PyObject* owned) {
    if (!owned) return;
    // Python's own, of a flush that it has run itself, are left to Python.
    const bool is_given = PyList_CheckExact(owned) && Py_REFCNT(owned) == 1 && !PyObject_GC_IsTracked(owned);
    if (is_given) empty(owned);
    if (is_given && room_of(owned) <= MOST_ROOM && kept_count < MOST_LISTS) {
        kept[kept_count++] = owned;
    } else {
        Py_DECREF(owned);
    }
}

bool replace_first(PyObject* list, Py_ssize_t count, PyObject* items) {
    if (items || count != PyList_GET_SIZE(list)) return PyList_SetSlice(list, 0, count, items) == 0;
    empty(list);
    return true;
}

#endif

}  // namespace core
