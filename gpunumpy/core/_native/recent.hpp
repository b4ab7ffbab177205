// Tables of what was found last, in front of the tables that Python fills: they are found in without a key of Python's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "python.hpp"

namespace core {

class AnyRecent {
public:
    AnyRecent() : next_(first) { first = this; }
    virtual void forget() = 0;

    // Empty all of them.
    static void forget_all() {
        for (AnyRecent* each = first; each; each = each->next_) each->forget();
    }

private:
    static inline AnyRecent* first = nullptr;
    AnyRecent* next_;
};

// An entry has a few places, by the hash of its key, and a later one may take its place: with one place each, of the some
// hundred entries of a loop many would take each other's. `Entry` has its key, which it refers to: so no other object comes to
// be at the same address. Its `let_go` gives its references back.
template <typename Entry, size_t COUNT>
class Recent : public AnyRecent {
public:
    // The entry that is wanted, or the place where to put it.
    template <typename Is>
    Entry& at(uint64_t hash, const Is& is_wanted) {
        Entry* const places = entries_ + hash % (COUNT / PLACES) * PLACES;
        for (size_t k = 0; k < PLACES; k++) {
            if (is_wanted(places[k])) return places[k];
        }
        return places[missed_++ % PLACES];
    }
    void forget() override {
        for (Entry& entry : entries_) put(entry, {});
    }

    // Let an entry, with its references, take a place. The old one goes last: that may let other threads in.
    static void put(Entry& place, const Entry& made) { std::exchange(place, made).let_go(); }

private:
    static constexpr size_t PLACES = 4;
    static_assert(COUNT % PLACES == 0);

    size_t missed_ = 0;
    Entry entries_[COUNT];
};

inline uint64_t hash_of(uint64_t hash, uint64_t part) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}

inline uint64_t hash_of(uint64_t hash, const PyObject* part) { return hash_of(hash, reinterpret_cast<uintptr_t>(part) >> 4); }

}  // namespace core
