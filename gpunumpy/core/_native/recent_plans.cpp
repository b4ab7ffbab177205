#include "recent_plans.hpp"

#include <algorithm>
#include <vector>

#include "recent.hpp"

namespace core {

namespace {

// The key holds the signatures that the words stand for. There are hundreds of entries, so these take no more memory than
// they need: a page that a process uses first costs as much as a microsecond's work.
struct Found {
    PyObject *planner = nullptr, *key = nullptr, *plan = nullptr;  // owned, as the words
    const std::vector<uint64_t>* words = nullptr;

    void let_go() const {
        for (PyObject* field : {planner, key, plan}) Py_XDECREF(field);
        delete words;
    }
    bool is_of(PyObject* wanted_planner, const KeyWords& wanted) const {
        return planner == wanted_planner && words->size() == wanted.size() &&
               std::equal(words->begin(), words->end(), wanted.begin());
    }
};

constexpr size_t MAX_WORDS = 1 << 13;  // of a graph of some 4,000 nodes

Recent<Found, 512> recent_plans;

Found& place_of(PyObject* planner, const KeyWords& words) {
    return recent_plans.at(hash_of(words.hash(), planner), [&](const Found& entry) { return entry.is_of(planner, words); });
}

}  // namespace

uint64_t KeyWords::hash() const {
    if (hash_) return hash_;
    hash_ = words_.size();
    for (const uint64_t word : words_) hash_ = hash_of(hash_, word);
    return hash_;
}

Ref recent_plan(PyObject* planner, const KeyWords& words) {
    const Found& found = place_of(planner, words);
    return found.is_of(planner, words) ? Ref::to(found.plan) : Ref();
}

void remember_plan(PyObject* planner, const KeyWords& words, PyObject* key, PyObject* plan) {
    if (words.size() > MAX_WORDS) return;
    Section section;
    recent_plans.put(place_of(planner, words), {Py_NewRef(planner), Py_NewRef(key), Py_NewRef(plan),
                                                new std::vector<uint64_t>(words.begin(), words.end())});
}

}  // namespace core
