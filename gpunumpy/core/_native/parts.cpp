#include "parts.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "node.hpp"
#include "numbers.hpp"
#include "walk.hpp"

namespace core {

namespace {

// The search for the parts of one graph. Nodes are named by their places in the list. No object of Python's is made
// meanwhile, so no code of Python's runs that could change the graph.
class Cut {
public:
    // Returns false, without an exception, for arguments that are no nodes of the list.
    bool read(PyObject* nodes, Py_ssize_t root_count) {
        const uint64_t number = next_walk();
        root_count_ = root_count;
        for (Py_ssize_t k = 0; k < PyList_GET_SIZE(nodes); k++) {
            PyObject* node = PyList_GET_ITEM(nodes, k);
            if (!is_node(node)) return false;
            as_node(node)->walk = number;
            as_node(node)->place = k;
            nodes_.push_back(as_node(node));
        }
        for (const Node* node : nodes_) {
            for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(node->args); k++) {
                PyObject* argument = PyTuple_GET_ITEM(node->args, k);
                if (!is_node(argument) || as_node(argument)->walk != number) return false;
            }
        }
        return true;
    }

    void find() {
        put_arguments_first();
        find_last_reads();
        std::vector<bool> is_written(nodes_.size()), at_hand(nodes_.size());
        for (const Py_ssize_t node : order_) {
            if (is_write(node)) is_written[argument(node, 0)] = true;
        }
        Numbers part;
        Py_ssize_t end = 0;  // where the part ends at the earliest
        for (Py_ssize_t place = 0; place < static_cast<Py_ssize_t>(order_.size()); place++) {
            const Py_ssize_t node = order_[place], last_read = last_reads_[node];
            const bool writes = is_write(node);
            if (is_source(node) || (is_generator(node) && all_arguments(node, at_hand))) {
                at_hand[node] = kind(node) != state.leaf;
                if (is_root(node)) part.push_back(node);
                continue;
            }
            if (writes) end = std::max(end, last_reads_[argument(node, 0)]);
            if (is_root(node) || writes) part.push_back(node);
            if ((!writes && !is_root(node)) || (is_root(node) && is_written[node])) end = std::max(end, last_read);
            if (writes && end <= place && place < last_read) finish(part, place);
        }
        finish(part, static_cast<Py_ssize_t>(order_.size()));
    }

    PyObject* found() const {
        Ref all(PyList_New(found_.size()));
        for (size_t k = 0; all && k < found_.size(); k++) {
            PyObject* roots = PyList_New(found_[k].size());
            if (!roots) return nullptr;
            PyList_SET_ITEM(all.get(), k, roots);
            for (size_t j = 0; j < found_[k].size(); j++) {
                PyObject* number = PyLong_FromSsize_t(found_[k][j]);
                if (!number) return nullptr;
                PyList_SET_ITEM(roots, j, number);
            }
        }
        return all.release();
    }

private:
    PyTypeObject* kind(Py_ssize_t node) const { return Py_TYPE(state.signature_primitive.of(nodes_[node]->signature)); }
    bool is_write(Py_ssize_t node) const { return kind(node) == state.update || kind(node) == state.scatter; }
    bool is_source(Py_ssize_t node) const {
        return kind(node) == state.leaf || kind(node) == state.constant || kind(node) == state.iota;
    }
    bool is_generator(Py_ssize_t node) const { return state.signature_generator.of(nodes_[node]->signature) == Py_True; }
    bool is_root(Py_ssize_t node) const { return node < root_count_; }
    Py_ssize_t argument_count(Py_ssize_t node) const { return PyTuple_GET_SIZE(nodes_[node]->args); }
    Py_ssize_t argument(Py_ssize_t node, Py_ssize_t k) const {
        return as_node(PyTuple_GET_ITEM(nodes_[node]->args, k))->place;
    }
    bool all_arguments(Py_ssize_t node, const std::vector<bool>& at_hand) const {
        for (Py_ssize_t k = 0; k < argument_count(node); k++) {
            if (!at_hand[argument(node, k)]) return false;
        }
        return true;
    }

    void put_arguments_first() {
        constexpr Py_ssize_t END = -1;  // of the arguments of the node that was begun last
        std::vector<bool> is_seen(nodes_.size());
        Numbers stack, begun;
        for (Py_ssize_t k = root_count_; k-- > 0;) stack.push_back(k);
        while (!stack.empty()) {
            const Py_ssize_t node = stack.back();
            stack.pop_back();
            if (node == END) {
                order_.push_back(begun.back());
                begun.pop_back();
                continue;
            }
            if (is_seen[node]) continue;
            is_seen[node] = true;
            begun.push_back(node);
            stack.push_back(END);
            for (Py_ssize_t k = argument_count(node); k-- > 0;) {
                if (!is_seen[argument(node, k)]) stack.push_back(argument(node, k));
            }
        }
    }

    // Where in the order each node is read last; for a leaf, where its memory is.
    void find_last_reads() {
        last_reads_.resize(nodes_.size());
        std::fill(last_reads_.begin(), last_reads_.end(), -1);
        std::unordered_map<PyObject*, Py_ssize_t> of_buffers;
        for (Py_ssize_t place = 0; place < static_cast<Py_ssize_t>(order_.size()); place++) {
            for (Py_ssize_t k = 0; k < argument_count(order_[place]); k++) {
                const Py_ssize_t read = argument(order_[place], k);
                last_reads_[read] = place;
                if (!is_pending(nodes_[read])) of_buffers[nodes_[read]->data] = place;
            }
        }
        for (const Py_ssize_t node : order_) {
            if (is_pending(nodes_[node]) || state.signature_queue.of(nodes_[node]->signature) == Py_None) continue;
            const auto found = of_buffers.find(nodes_[node]->data);
            last_reads_[node] = found == of_buffers.end() ? -1 : found->second;
        }
    }

    void finish(Numbers& part, Py_ssize_t place) {
        Numbers roots;
        for (const Py_ssize_t node : part) {
            if (is_root(node) || last_reads_[node] > place) roots.push_back(node);
        }
        found_.push_back(std::move(roots));
        part.clear();
    }

    Py_ssize_t root_count_ = 0;
    std::vector<Node*> nodes_;  // which the list holds
    Numbers order_, last_reads_;
    std::vector<Numbers> found_;
};

}  // namespace

PyObject* parts(PyObject* const* args) {
    Py_ssize_t count;
    if (!PyList_CheckExact(args[0]) || !Sizes::read_integer(args[1], count) || count > PyList_GET_SIZE(args[0])) return nullptr;
    Cut cut;
    if (!cut.read(args[0], count)) return nullptr;
    cut.find();
    return cut.found();
}

}  // namespace core
