#include "cuda_graph.hpp"

#include <algorithm>
#include <map>

#include "buffer.hpp"
#include "launch.hpp"

namespace core {

namespace {

Name dropped_name("dropped"), launch_name("launch"), make_name("make"), workspace_name("workspace");

// CUDA_KERNEL_NODE_PARAMS.
struct NodeParams {
    void* function;
    unsigned dimensions[7];  // as of a launch
    void **parameters, **extra;
    void *kernel, *context;
};

// The driver's functions, whose addresses Python hands over.
struct Functions {
    int (*is_capturing)(void* stream, int* status);
    int (*capture_info)(void* stream, int* status, uint64_t* id, void** graph, void* const** last, const void** edges, size_t* count);
    int (*set_params)(void* executable, void* node, const NodeParams* params);
    int (*launch)(void* executable, void* stream);
    int (*begin_capture)(void* stream, int mode);
    int (*end_capture)(void* stream, void** graph);
    int (*instantiate)(void** executable, void* graph, unsigned long long flags);
    int (*destroy)(void* graph);
} functions;

const int RELAXED = 2;    // CU_STREAM_CAPTURE_MODE_RELAXED
const int IS_ACTIVE = 1;  // CU_STREAM_CAPTURE_STATUS_ACTIVE; the others are that it does not capture, or never will again

PyTypeObject* cuda_graph_type = nullptr;

CudaGraph* as_cuda_graph(PyObject* object) { return reinterpret_cast<CudaGraph*>(object); }

// What the driver takes for the parameters of a kernel.
class Addresses {
public:
    Addresses(const PreparedLaunch& prepared, std::vector<int64_t>& words) {
        for (size_t k = 0; k < (prepared.of->is_packed ? 1 : words.size()); k++) addresses_.push_back(&words[k]);
    }
    void** begin() { return addresses_.begin(); }

private:
    SmallVector<void*, 64> addresses_;
};

// --- what a plan becomes ----------------------------------------------------------------------------------------------

// Lays out the values that die inside of a plan: their blocks are used again in the order in which the kernels run.
class Workspace {
public:
    Py_ssize_t take(Py_ssize_t nbytes) {
        const Py_ssize_t size = std::max<Py_ssize_t>((nbytes + ALIGNMENT - 1) / ALIGNMENT, 1) * ALIGNMENT;
        std::vector<Py_ssize_t>& list = free_[size];
        Py_ssize_t block = end_;
        if (list.empty()) {
            end_ += size;
            sizes_[block] = size;
        } else {
            block = list.back();
            list.pop_back();
        }
        return block;
    }
    void give_back(Py_ssize_t block) { free_[sizes_[block]].push_back(block); }
    Py_ssize_t size() const { return end_; }

private:
    static constexpr Py_ssize_t ALIGNMENT = 512;  // as blocks of a pool have
    std::map<Py_ssize_t, std::vector<Py_ssize_t>> free_;  // by their sizes
    std::map<Py_ssize_t, Py_ssize_t> sizes_;
    Py_ssize_t end_ = 0;
};

// Finds out what of a plan stays from run to run.
class Reader {
public:
    Reader(const Actions& actions, PyObject* numbers, PyObject* runners, Graphed& graphed)
        : actions_(actions), numbers_(numbers), runners_(runners), graphed_(graphed), owners_(actions.slot_count, NONE),
          blocks_(actions.slot_count, NONE), is_result_(actions.slot_count, false) {}

    // False, maybe after an exception, if some work is no launch.
    bool read() {
        find_owners(actions_.all);
        for (const Root& root : actions_.roots) {
            if (owners_[root.slot] != NONE) is_result_[owners_[root.slot]] = true;
        }
        return read_all(actions_.all);
    }

    Py_ssize_t workspace_bytes() const { return workspace_.size(); }

    void set_workspace(int64_t address) {
        for (const auto& [launch, place] : inside_) graphed_.launches[launch].words[place] += address;
    }

private:
    static constexpr Py_ssize_t NONE = -1;

    // For which slot the buffer of a slot is allocated; none for that of a leaf.
    void find_owners(const std::vector<Action>& actions) {
        for (const Action& action : actions) {
            if (action.code == ALLOCATE) owners_[action.target] = action.target;
            if (action.code == ADOPT && !action.is_from_leaf) owners_[action.target] = owners_[action.source];
            find_owners(action.inside);
        }
    }

    // Whether the buffer of a slot is in the workspace.
    bool is_inside(Py_ssize_t slot) const { return owners_[slot] != NONE && !is_result_[owners_[slot]]; }

    bool read_all(const std::vector<Action>& actions) {
        for (const Action& action : actions) {
            switch (action.code) {
                case WORK:
                    if (!read_work(action)) return false;
                    break;
                case ALLOCATE:
                    if (is_inside(action.target)) {
                        blocks_[action.target] = workspace_.take(PyLong_AsSsize_t(PyTuple_GET_ITEM(numbers_, action.at)));
                        break;
                    }
                    [[fallthrough]];
                case ADOPT:
                    if (!is_inside(action.target)) graphed_.made.push_back({&action, 0});
                    break;
                case FREE:
                    free(action.freed);
                    break;
                default:
                    if (!read_all(action.inside)) return false;
            }
        }
        return true;
    }

    void free(const std::vector<Py_ssize_t>& slots) {
        for (const Py_ssize_t slot : slots) {
            if (!is_inside(slot)) continue;
            Py_ssize_t& block = blocks_[owners_[slot]];
            if (block != NONE) workspace_.give_back(block);
            block = NONE;
        }
    }

    bool read_work(const Action& action) {
        PyObject* runner = PyTuple_GET_ITEM(runners_, action.runner);
        if (runner == state.nothing) return true;
        Ref launch = launch_of_runner(runner);
        const char* format = launch ? format_of(launch.get(), action.args.size()) : nullptr;
        if (!format) return false;
        const PreparedLaunch& prepared = prepared_launch(launch.get());
        const size_t number = graphed_.launches.size();
        graphed_.launches.push_back({launch.release(), {}, false, nullptr});
        std::vector<int64_t>& words = graphed_.launches.back().words;
        const auto add_inside = [&](Py_ssize_t block) {
            inside_.push_back({number, words.size()});
            words.push_back(block);
        };
        for (size_t k = 0; k < action.args.size(); k++) {
            const Argument& argument = action.args[k];
            if (argument.place == SLOT && is_inside(argument.index)) {
                add_inside(blocks_[owners_[argument.index]]);
            } else {
                graphed_.variables.push_back({argument, format[k], number, words.size()});
                words.push_back(0);
            }
        }
        std::vector<Py_ssize_t> scratch;
        for (const ScratchPart& part : prepared.scratch) {
            if (part.is_zeroed) {
                words.push_back(static_cast<int64_t>(PyLong_AsUnsignedLongLong(as_buffer(prepared.counters)->ptr)) + part.number);
            } else {
                scratch.push_back(workspace_.take(part.number));
                add_inside(scratch.back());
            }
        }
        for (const Py_ssize_t block : scratch) workspace_.give_back(block);
        words.insert(words.end(), prepared.params.begin(), prepared.params.end());
        if (words.empty()) words.push_back(0);
        return !PyErr_Occurred();
    }

    const Actions& actions_;
    PyObject *numbers_, *runners_;
    Graphed& graphed_;
    std::vector<Py_ssize_t> owners_, blocks_;  // by slots
    std::vector<bool> is_result_;
    std::vector<std::pair<size_t, size_t>> inside_;  // words that are addresses in the workspace
    Workspace workspace_;
};

// --- the type ---------------------------------------------------------------------------------------------------------

// Give back the memory, and have the driver's handles destroyed when what is queued has run. A finalizer calls no driver.
bool drop(CudaGraph* graph) {
    void *handle, *executable;
    Ref workspace;
    {
        Section section;
        Graphed& graphed = *graph->graphed;
        if (graphed.is_launched) {  // by another thread
            graphed.is_unwanted = true;
            return true;
        }
        handle = std::exchange(graphed.handle, nullptr);
        executable = std::exchange(graphed.executable, nullptr);
        workspace = Ref(std::exchange(graph->workspace, nullptr));
    }
    if (!executable) return true;
    for (const auto& [destroy, dropped] : {std::pair{"cuGraphExecDestroy", executable}, std::pair{"cuGraphDestroy", handle}}) {
        if (!Ref(PyObject_CallMethod(graph->dropped, "append", "((sK))", destroy, reinterpret_cast<unsigned long long>(dropped)))) {
            return false;
        }
    }
    return true;
}

PyObject* drop_graph(PyObject* self, PyObject*) {
    if (!drop(as_cuda_graph(self))) return nullptr;
    Py_RETURN_NONE;
}

// The error of the driver, or whether the program captures what is launched on a stream; both are 0 where graphs can be launched.
int is_captured(void* stream) {
    int status = 0;
    const int error = functions.is_capturing(stream, &status);
    return error ? error : status ? -1 : 0;
}

// Launch all kernels on a stream that captures them. Returns whether it has, one after the other.
bool launch_captured(Graphed& graphed, void* stream) {
    for (GraphedLaunch& each : graphed.launches) {
        const PreparedLaunch& prepared = prepared_launch(each.launch);
        LaunchConfig config = prepared.config;
        config.stream = stream;
        int error = prepared.of->launch_kernel(&config, prepared.of->function, Addresses(prepared, each.words).begin(), nullptr);
        int status = 0;
        uint64_t id;
        void *graph, *const *last;
        const void* edges;
        size_t count = 0;
        if (!error) error = functions.capture_info(stream, &status, &id, &graph, &last, &edges, &count);
        if (error || status != IS_ACTIVE || count != 1) return false;
        each.node = last[0];
    }
    return true;
}

// Capture all kernels on a stream. Returns the driver's graph of them; null if the driver refuses. A capture that is invalid by
// its end has none, but one that is sound has, whatever is missing in it.
void* captured(Graphed& graphed, void* stream) {
    void* graph = nullptr;
    if (functions.begin_capture(stream, RELAXED)) return nullptr;
    const bool is_complete = launch_captured(graphed, stream);
    if (functions.end_capture(stream, &graph)) return nullptr;
    if (!is_complete && graph) functions.destroy(std::exchange(graph, nullptr));
    return graph;
}

// graph.make(stream): have the driver make the graph of all kernels, launched on a stream. Returns whether it has. No code of
// Python's runs in between: an exception of a signal handler would leave a stream that captures for ever, or lose a handle.
PyObject* make(PyObject* self, PyObject* number) {
    Graphed& graphed = as_graphed(self);
    void *stream = PyLong_AsVoidPtr(number), *executable = nullptr;
    if (PyErr_Occurred()) return nullptr;
    Py_BEGIN_ALLOW_THREADS
    void* graph = captured(graphed, stream);
    if (graph && functions.instantiate(&executable, graph, 0)) functions.destroy(std::exchange(graph, nullptr));
    if (graph) {
        graphed.handle = graph;
        graphed.executable = executable;
    }
    Py_END_ALLOW_THREADS
    return PyBool_FromLong(graphed.executable != nullptr);
}

// CudaGraph.functions(*addresses): where the driver's functions are, in the order of `Functions`.
PyObject* set_functions(PyObject*, PyObject* const* args, Py_ssize_t count) {
    void* addresses[8];
    if (count != 8) return PyErr_Format(PyExc_TypeError, "there are eight functions");
    for (int k = 0; k < 8; k++) addresses[k] = PyLong_AsVoidPtr(args[k]);
    if (PyErr_Occurred()) return nullptr;
    functions.is_capturing = reinterpret_cast<decltype(functions.is_capturing)>(addresses[0]);
    functions.capture_info = reinterpret_cast<decltype(functions.capture_info)>(addresses[1]);
    functions.set_params = reinterpret_cast<decltype(functions.set_params)>(addresses[2]);
    functions.launch = reinterpret_cast<decltype(functions.launch)>(addresses[3]);
    functions.begin_capture = reinterpret_cast<decltype(functions.begin_capture)>(addresses[4]);
    functions.end_capture = reinterpret_cast<decltype(functions.end_capture)>(addresses[5]);
    functions.instantiate = reinterpret_cast<decltype(functions.instantiate)>(addresses[6]);
    functions.destroy = reinterpret_cast<decltype(functions.destroy)>(addresses[7]);
    Py_RETURN_NONE;
}

PyObject* is_made(PyObject* self, void*) { return PyBool_FromLong(as_graphed(self).executable != nullptr); }

PyObject* launch_count(PyObject* self, void*) { return PyLong_FromSize_t(as_graphed(self).launches.size()); }

// The launches and the buffers refer to no graph, so the collector need not see them.
using Held = References<CudaGraph, &CudaGraph::program, &CudaGraph::workspace, &CudaGraph::dropped>;

void deallocate(PyObject* self) {
    PyObject_GC_UnTrack(self);
    CudaGraph* graph = as_cuda_graph(self);
    if (graph->weak_references) PyObject_ClearWeakRefs(self);
    {
        const FirstException first;
        if (!drop(graph)) PyErr_WriteUnraisable(nullptr);
    }
    for (const GraphedLaunch& each : graph->graphed->launches) Py_DECREF(each.launch);
    delete std::exchange(graph->graphed, nullptr);
    Held::deallocate(self);
}

PyGetSetDef attributes[] = {
    {"is_made", is_made, nullptr, nullptr, nullptr},
    {"launch_count", launch_count, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(CudaGraph, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyMethodDef methods[] = {
    {"drop", drop_graph, METH_NOARGS, nullptr},
    {"functions", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(set_functions)), METH_FASTCALL | METH_STATIC, nullptr},
    {"make", make, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_members, members},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {Py_tp_traverse, reinterpret_cast<void*>(Held::traverse)},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {0, nullptr},
};

PyType_Spec spec = {
    "gpunumpy.core._native._core.CudaGraph", sizeof(CudaGraph), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots,
};

// Tell the driver what has changed, and launch the graph; returns the driver's error. No code of Python's runs here.
int launch_all(Graphed& graphed) {
    void* stream = prepared_launch(graphed.launches[0].launch).config.stream;
    if (const int error = is_captured(stream)) return error;
    for (GraphedLaunch& each : graphed.launches) {
        if (!each.is_changed) continue;
        const PreparedLaunch& prepared = prepared_launch(each.launch);
        Addresses addresses(prepared, each.words);
        NodeParams params = {prepared.of->function, {}, addresses.begin(), nullptr, nullptr, nullptr};
        std::copy(std::begin(prepared.config.dimensions), std::end(prepared.config.dimensions), params.dimensions);
        if (const int error = functions.set_params(graphed.executable, each.node, &params)) return error;
        each.is_changed = false;
    }
    return functions.launch(graphed.executable, stream);
}

}  // namespace

bool add_cuda_graph_type(PyObject* module) {
    cuda_graph_type = reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &spec, nullptr));
    return cuda_graph_type && PyModule_AddType(module, cuda_graph_type) == 0;
}

bool is_cuda_graph(PyObject* object) { return Py_TYPE(object) == cuda_graph_type; }

bool is_dropped(PyObject* graph) {
    Section section;
    return !as_graphed(graph).executable;
}

Ref launch_of_runner(PyObject* runner) {
    if (is_launch(runner)) return Ref::to(runner);
    PyObject* attribute = _PyType_Lookup(Py_TYPE(runner), launch_name);
    if (!attribute) return Ref();
    Ref launch = Slot::is_descriptor(attribute) ? Ref::to(held(Slot(attribute), runner).get())
                                                : Ref(PyObject_GetAttr(runner, launch_name));
    return launch && is_launch(launch.get()) ? std::move(launch) : Ref();
}

PyObject* make_cuda_graph(const Actions& actions, PyObject* program, PyObject* numbers, PyObject* runners) {
    Ref graph(cuda_graph_type->tp_alloc(cuda_graph_type, 0));
    if (!graph) return nullptr;
    Graphed& graphed = *(as_cuda_graph(graph.get())->graphed = new Graphed());
    as_cuda_graph(graph.get())->program = Py_NewRef(program);
    as_cuda_graph(graph.get())->dropped = PyObject_GetAttr(actions.graphs, dropped_name);
    if (!as_cuda_graph(graph.get())->dropped) return nullptr;
    Reader reader(actions, numbers, runners, graphed);
    if (!reader.read()) return PyErr_Occurred() ? nullptr : Py_NewRef(Py_None);
    if (graphed.launches.empty()) return Py_NewRef(Py_False);
    // What is captured by the program has no room for this: memory would be its graph's, and a wait would end the capture.
    if (functions.is_capturing && is_captured(prepared_launch(graphed.launches[0].launch).config.stream)) return Py_NewRef(Py_None);
    Ref nbytes(PyLong_FromSsize_t(reader.workspace_bytes()));
    Ref workspace(nbytes ? PyObject_CallMethodOneArg(actions.graphs, workspace_name, nbytes.get()) : nullptr);
    if (!workspace) return nullptr;
    if (!is_buffer(workspace.get())) return Py_NewRef(Py_False);
    const uint64_t address = PyLong_AsUnsignedLongLong(as_buffer(workspace.get())->ptr);
    as_cuda_graph(graph.get())->workspace = workspace.release();
    reader.set_workspace(static_cast<int64_t>(address));
    Ref is_made(PyErr_Occurred() ? nullptr : PyObject_CallMethodOneArg(actions.graphs, make_name, graph.get()));
    if (!is_made) return nullptr;
    return is_made.get() == Py_True ? graph.release() : Py_NewRef(Py_False);
}

bool launch_cuda_graph(PyObject* graph, const int64_t* words) {
    Graphed& graphed = as_graphed(graph);
    {
        Section section;
        if (!graphed.executable) return false;
        graphed.is_launched = true;
    }
    for (size_t k = 0; k < graphed.variables.size(); k++) {
        const Variable& variable = graphed.variables[k];
        GraphedLaunch& launch = graphed.launches[variable.launch];
        launch.is_changed |= launch.words[variable.place] != words[k];
        launch.words[variable.place] = words[k];
    }
    int error;
    Py_BEGIN_ALLOW_THREADS
    error = launch_all(graphed);
    Py_END_ALLOW_THREADS
    bool is_unwanted;
    {
        Section section;
        graphed.is_launched = false;
        is_unwanted = graphed.is_unwanted || error > 0;
    }
    if (is_unwanted && !drop(as_cuda_graph(graph))) PyErr_WriteUnraisable(graph);
    return !error;
}

}  // namespace core
