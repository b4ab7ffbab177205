// Actions: what the program of a plan does, as it is read from Python. See gpunumpy/core/runtime/plan.py.
#pragma once

#include <vector>

#include "python.hpp"

namespace core {

// Codes of actions, and the places that arguments come from, as in plan.py.
enum Code { WORK, ALLOCATE, ADOPT, FREE, SECTION };
enum Place { LEAF, CONSTANT, SLOT, LOCATION };

struct Argument {
    Place place;
    Py_ssize_t index;  // of the node or of the slot
    PyObject* dtype;
    int64_t itemsize;
};

// Bytes that a section overwrites.
struct Region {
    bool is_in_leaf;
    Py_ssize_t index;  // of the node or of the slot
    Py_ssize_t at;     // of the first byte, of the length of a row, of how far apart and how many rows are, among the numbers
};

struct Action {
    Py_ssize_t step;
    Code code;
    Py_ssize_t target, source;  // slots, or the node of the source
    Py_ssize_t at;              // the number of bytes to allocate
    Py_ssize_t runner;          // of work; of a section with only one; else -1
    bool is_from_leaf;
    PyObject* section;
    std::vector<Argument> args;
    std::vector<Py_ssize_t> freed;
    std::vector<Region> regions;
    std::vector<Action> inside;  // the section
};

struct Root {
    Py_ssize_t position, slot;
};

// A root that a kernel can write to memory of the host.
struct Visible {
    Py_ssize_t position, slot;
    PyObject* nbytes;
};

// A value that is no root and is written into the memory of a leaf.
struct InnerValue {
    Py_ssize_t position, leaf;
};

// What prepares a runner from some of the numbers.
struct Work {
    PyObject* prepare;
    Py_ssize_t start, stop;
};

// All references are borrowed from the program.
struct Actions {
    std::vector<Action> all;
    std::vector<Root> roots;
    std::vector<Visible> visible;
    std::vector<Py_ssize_t> copied;  // leaves that are overwritten, of which the host may have copies
    Py_ssize_t slot_count, end;
    PyObject *device, *bind, *source_location;
    std::vector<InnerValue> inner_values;
    Py_ssize_t undo_bytes;  // of a section that is undone
    PyObject* sizes;        // computes the numbers: those that actions look at,
    Py_ssize_t number_count;  // so many, and behind them those that runners are made from
    std::vector<Work> work;
    std::vector<Py_ssize_t> allocations;  // numbers: bytes of buffers
    Py_ssize_t probe_bytes;               // of which Python sees whether there is so much memory
    PyObject* graphs;                     // makes CUDA graphs, or None
};

}  // namespace core
