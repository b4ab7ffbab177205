#include "variants.hpp"

#include <algorithm>

#include "recent.hpp"
#include "size_functions.hpp"
#include "state.hpp"

namespace core {

namespace {

// Returns false for too many different numbers.
bool read_pattern(const Numbers& numbers, Numbers& places, Numbers& symbols) {
    places.reserve(numbers.size());
    for (const Py_ssize_t number : numbers) {
        if (-LEAST < number && number < LEAST) {
            places.push_back(number);
            continue;
        }
        const Py_ssize_t sign = number < 0 ? -1 : 1;
        const auto known = std::find(symbols.begin(), symbols.end(), sign * number);
        places.push_back(sign * (known - symbols.begin() + LEAST));
        if (known != symbols.end()) continue;
        if (static_cast<Py_ssize_t>(symbols.size()) == MAX_SYMBOLS) return false;
        symbols.push_back(sign * number);
    }
    return true;
}

// The variants of a pattern, a list that stays.
struct OfPattern {
    PyObject *variants = nullptr, *list = nullptr;  // owned, as is
    Numbers* places = nullptr;

    void let_go() const {
        Py_XDECREF(variants);
        Py_XDECREF(list);
        delete places;
    }
};

Recent<OfPattern, 512> recent_patterns;

// Null, without an exception, for a pattern without variants.
Ref of_pattern(PyObject* variants, const Numbers& places) {
    uint64_t hash = hash_of(places.size(), variants);
    for (const Py_ssize_t place : places) hash = hash_of(hash, static_cast<uint64_t>(place));
    const auto is_wanted = [&](const OfPattern& entry) {
        return entry.variants == variants && std::equal(places.begin(), places.end(), entry.places->begin(), entry.places->end());
    };
    OfPattern& recent = recent_patterns.at(hash, is_wanted);
    if (is_wanted(recent)) return Ref::to(recent.list);
    Ref key(tuple_of(places));
    Ref known = key ? find(state.variants_by_pattern.of(variants), key.get()) : Ref();
    if (known) recent_patterns.put(recent, {Py_NewRef(variants), Py_NewRef(known.get()), new Numbers(places)});
    return known;
}

}  // namespace

PyObject* pattern(PyObject* const* args) {
    Numbers numbers, places, symbols;
    if (!read_numbers(args[0], numbers) || !read_pattern(numbers, places, symbols)) return nullptr;
    Ref of_places(tuple_of(places)), of_symbols(tuple_of(symbols));
    return of_places && of_symbols ? PyTuple_Pack(2, of_places.get(), of_symbols.get()) : nullptr;
}

PyObject* find_variant(PyObject* variants, const Numbers& numbers, Numbers& values) {
    Numbers places, symbols, nothing;
    if (!read_pattern(numbers, places, symbols)) return nullptr;
    const Ref known = of_pattern(variants, places);
    for (Py_ssize_t k = 0; known; k++) {
        Ref variant = item_at(known.get(), k);  // made, guards, symbols, ...
        if (!variant) break;
        PyObject *guards = PyTuple_GET_ITEM(variant.get(), 1), *which = PyTuple_GET_ITEM(variant.get(), 2);
        Numbers chosen;
        if (which == Py_None) {
            values = symbols;
        } else {
            if (!read_numbers(which, chosen)) return nullptr;
            values.clear();
            for (const Py_ssize_t symbol : chosen) values.push_back(symbol < 0 ? -1 - symbol : symbols[symbol]);
        }
        switch (evaluate(guards, values, nothing)) {
            case Evaluated::YES: return Py_NewRef(PyTuple_GET_ITEM(variant.get(), 0));
            case Evaluated::NO: break;
            default: return nullptr;
        }
    }
    return nullptr;
}

PyObject* known_variant(PyObject* const* args) {
    Numbers numbers, values;
    if (Py_TYPE(args[0]) != state.variants || !read_numbers(args[1], numbers)) return nullptr;
    Ref made(find_variant(args[0], numbers, values)), of_values(made ? tuple_of(values) : nullptr);
    return of_values ? PyTuple_Pack(2, made.get(), of_values.get()) : nullptr;
}

}  // namespace core
