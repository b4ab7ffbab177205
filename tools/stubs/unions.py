"""Unions of types as lists of their members, and what is left of one when what others include is taken out.

A member is a piece of source; the words for what arrays and numbers may be are those of `head.pyi.in`.
"""

from __future__ import annotations

import ast
import re

UNKNOWN = "?"  # a type that the stubs have no word for

# Literals that many functions offer, by their names in the stubs.
CHOICES = {
    "_Casting": ("no", "equiv", "safe", "same_kind", "same_value", "unsafe"),
    "_Method": (
        *("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen"),
        *("weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest"),
    ),
    "_Mode": ("raise", "wrap", "clip"),
    "_Norm": ("backward", "ortho", "forward"),
    "_OnError": ("ignore", "warn", "raise", "call", "print", "log"),
    "_Order": ("C", "F", "A", "K"),
    "_OrderACF": ("A", "C", "F"),
    "_OrderCF": ("C", "F"),
    "_SortKind": (
        *("Q", "quick", "quicksort", "M", "merge", "mergesort", "H", "heap", "heapsort"),
        *("S", "stable", "stablesort"),
    ),
}
_CHOICE_OF = {frozenset(map(repr, values)): name for name, values in CHOICES.items()}

# What each of these includes, in the order in which it is taken out.
_INCLUDED = {
    "DTypeLike": {"type[Any]", "str"},
    "_Scalar": {"ndarray", "_Number", "_HostNumber", "SupportsIndex", "float", "int", "bool"},
    "_Number": {"_HostNumber", "SupportsIndex", "float", "int", "bool"},
}
_NUMBERS = r"float|complex|_Number|_HostNumber|_Scalar|numpy\.generic|Any"
_ROWS_OF_NUMBERS = re.compile(rf"(Sequence\[)+({_NUMBERS})( \|.*)?\]+")
# What an array can be made of, nested however deep.
_ARRAY_WORDS = re.compile(
    rf"[\[\],. |?]|\b({_NUMBERS}|SupportsIndex|ArrayLike|ndarray|Sequence|tuple|list|int|bool|str|bytes)\b"
)
_ORDER = ("bool", "SupportsIndex", "int", "float", "complex", "str", "bytes", "ndarray", "ArrayLike")


def union(members: list[str]) -> str:
    """The union of some types of parameters, without what others of them include."""
    kept = list(dict.fromkeys(members))
    if "Any" in kept or (UNKNOWN in kept and not set(kept) - {UNKNOWN, "None"}):
        return "Any"
    if "object" in kept:
        return "object"
    if "ndarray" in kept and any(m.startswith("Sequence[") and "ArrayLike" in m for m in kept):
        kept.append("ArrayLike")
    kept = ["ArrayLike" if _ROWS_OF_NUMBERS.fullmatch(m) else m for m in kept if m != UNKNOWN]
    for word, included in _INCLUDED.items():
        if word in kept:
            kept = [m for m in kept if m not in included]
    if "ArrayLike" in kept:
        kept = [m for m in kept if m in ("ArrayLike", "None") or not _is_made_of_array_words(m)]
    if "Sequence[SupportsIndex]" in kept:
        kept = [m for m in kept if not m.startswith("tuple") or not _is_made_of_array_words(m)]
    if "_ShapeLike" in kept:
        kept = [m for m in kept if m in ("_ShapeLike", "None") or not _is_made_of_array_words(m)]
    return in_order(_with_one_literal(kept))


def in_order(members: list[str]) -> str:
    """The union of some members as it is written: None last."""
    places = {word: place for place, word in enumerate(_ORDER)}
    return " | ".join(sorted(members, key=lambda m: (m == "None", places.get(m, len(_ORDER)))))


def _is_made_of_array_words(member: str) -> bool:
    return not _ARRAY_WORDS.sub("", member)


def _with_one_literal(members: list[str]) -> list[str]:
    """One literal in place of several, without values of types that are members."""
    values = [v for m in members if m.startswith("Literal[") for v in _values(m)]
    rest = [m for m in members if not m.startswith("Literal[")]
    flags = {"True", "False"} & set(values)
    if len(flags) == 2 or (flags and "bool" in rest):
        rest.append("bool")
    if "None" in values:
        rest.append("None")
    gone = {"None"} | ({"True", "False"} if "bool" in rest else set())
    if "str" in rest:
        gone |= {v for v in values if v[0] in "'\""}
    if {"SupportsIndex", "int", "_Number"} & set(rest):
        gone |= {v for v in values if v.lstrip("-").isdigit()}
    values = [v for v in dict.fromkeys(values) if v not in gone]
    literal = _CHOICE_OF.get(frozenset(values), f"Literal[{', '.join(values)}]")
    return list(dict.fromkeys([*rest, *([literal] if values else [])]))


def _values(literal: str) -> list[str]:
    """The values of a literal, as they are written."""
    tree = ast.parse(literal, mode="eval").body
    assert isinstance(tree, ast.Subscript)
    return [ast.unparse(value) for value in (tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice])]
