// CudaGraph: the kernels of a plan as one CUDA graph, which the driver launches in the time of one kernel.
#pragma once

#include "actions.hpp"
#include "numbers.hpp"
#include "section.hpp"

namespace core {

bool add_cuda_graph_type(PyObject* module);

// An argument of a kernel that may differ from run to run.
struct Variable {
    Argument argument;
    char letter;           // as in the format of its launch
    size_t launch, place;  // the number of the launch, and of the word among its words
};

// A kernel of the graph. Its words are those of its next launch, and the driver knows them unless they have changed.
struct GraphedLaunch {
    PyObject* launch;
    std::vector<int64_t> words;
    bool is_changed;
    void* node;
};

struct Graphed;

struct CudaGraph {
    PyObject_HEAD
    PyObject* program;    // which has what the actions refer to
    PyObject* workspace;  // the buffer with all values that die inside of the plan
    PyObject* dropped;    // takes what destroys a handle, and the handle
    PyObject* weak_references;
    Graphed* graphed;
};

// An action that allocates or adopts the buffer of a result, and where that was allocated last. The driver need not be told of
// a result that is there again.
struct Made {
    const Action* action;
    uint64_t address;
};

struct Graphed {
    std::vector<Made> made;
    std::vector<Variable> variables;
    std::vector<GraphedLaunch> launches;
    void *handle, *executable;  // the driver's; null before the graph is made, and after it was dropped
    bool is_launched, is_unwanted;
};

bool is_cuda_graph(PyObject* object);
bool is_dropped(PyObject* graph);
inline Graphed& as_graphed(PyObject* graph) { return *reinterpret_cast<CudaGraph*>(graph)->graphed; }

// The launch that a runner is; null, maybe after an exception, if it is none, or not yet.
Ref launch_of_runner(PyObject* runner);

// The graph of a plan. None if it has none yet, and False if it is to have none; null after an exception.
PyObject* make_cuda_graph(const Actions& actions, PyObject* program, PyObject* numbers, PyObject* runners);

// Launch a graph whose variables have these words. False, without an exception, if nothing was launched: the graph was dropped,
// or the driver refuses it, or its stream is being captured.
bool launch_cuda_graph(PyObject* graph, const int64_t* words);

}  // namespace core
