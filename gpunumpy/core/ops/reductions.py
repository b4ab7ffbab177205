"""The reductions: what is accumulated, from what, and what becomes of it.

A `Reduction` without templates of its own is a ufunc's: it combines with that ufunc's elementwise row and needs an
identity only. Every ufunc that is here is associative (to rounding) and may be combined in any tree; one that is not
(subtract, divide, power, ...) is a left fold, which the table has no row for.

In a template ``{0}`` is the argument, ``{i}`` its int64 index, ``{a}`` and ``{b}`` two states, ``{s}`` the final state,
``{x}`` the extra row-level value; ``{A}``, ``{T}``, ``{S}`` the C types of argument, result and state value, ``{P}``
the one in which a few elements are worked up: no less precise than the result.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Reduction:
    """One reduction.

    Attributes
    ----------
    name
        NumPy's name of the ufunc or the function.
    identity
        The template of the neutral state for each kind of state value (the letters of `table_rows`; "*" for all).
    before
        What a scan begins with, for the kinds where combining it with an element must give that element to the bit: 0.0
        makes a 0.0 of -0.0.
    scans
        Whether the row is a scan too: not where combining `identity` with a first element may change that element.
    value
        Which value the state holds: "result" or "argument" for one of that dtype, "wide" for the result's dtype, a
        float wider (float16 and bfloat16 in float32, float32 in float64, complex64 in complex128), "widest" for
        float64 or complex128 as the argument is, or the name of a C type.
    state, map, combine, post, accumulate, several, align, join
        Templates where they are not the plain value, its cast, the elementwise row and the cast of the state.
        `accumulate` takes one more element into ``{a}``; it is the map combined with ``{a}`` if not given.
        `several` takes an array of elements ``{x}`` at once, those of which ``{h}`` says that they are there.
        Where combining takes long, `align` brings state ``{a}`` to what it has in common with state ``{b}``, and `join`
        combines two states that were aligned to the same one.
    """

    name: str
    identity: dict[str, str]
    value: str = "result"
    state: str = "{S}"
    map: str = "op::cast<{S}>({0})"
    combine: str = ""
    post: str = "op::cast<{T}>({s})"
    accumulate: str = ""
    several: str = ""
    align: str = ""
    join: str = ""
    before: dict[str, str] = field(default_factory=dict)
    scans: bool = True


_INF = "op::infinity<f32>()"
_LEAST = {"b": "false", "iu": "{least}", "ef": f"{{S}}(-{_INF})", "c": f"{{S}}{{{{-{_INF}, -{_INF}}}}}"}
_GREATEST = {"b": "true", "iu": "{greatest}", "ef": f"{{S}}({_INF})", "c": f"{{S}}{{{{{_INF}, {_INF}}}}}"}
_NAN = {"ef": "{S}(op::nan<f32>())", "c": "{S}{{op::nan<f32>(), op::nan<f32>()}}"}
_ZERO = {"b": "false", "iu": "{S}(0)", "ef": "{S}(0.0f)", "c": "{S}{{0, 0}}"}
_ONE = {"b": "true", "iu": "{S}(1)", "ef": "{S}(1.0f)", "c": "{S}{{1, 0}}"}

_ALL: tuple[Reduction, ...] = (
    Reduction("add", _ZERO, "wide", before={"ef": "{S}(-0.0f)", "c": "{S}{{-0.0f, -0.0f}}"}),
    Reduction("multiply", _ONE, "wide"),
    Reduction("maximum", _LEAST, several="op::extreme<true>({a}, {x}, {h})"),
    Reduction("minimum", _GREATEST, several="op::extreme<false>({a}, {x}, {h})"),
    Reduction("fmax", _LEAST | _NAN),
    Reduction("fmin", _GREATEST | _NAN),
    Reduction("logical_and", {"b": "true"}, "bool"),
    Reduction("logical_or", {"b": "false"}, "bool"),
    Reduction("logical_xor", {"b": "false"}, "bool"),
    Reduction("bitwise_and", {"b": "true", "iu": "{S}(~{S}(0))"}),
    Reduction("bitwise_or", _ZERO),
    Reduction("bitwise_xor", _ZERO),
    Reduction("gcd", _ZERO, scans=False),
    Reduction("hypot", _ZERO, "wide", scans=False),
    Reduction("logaddexp", _LEAST, "wide"),
    Reduction("logaddexp2", _LEAST, "wide"),
    Reduction("any", {"b": "false"}, "bool", combine="{a} || {b}"),
    Reduction("all", {"b": "true"}, "bool", combine="{a} && {b}"),
    Reduction("count_nonzero", {"*": "0"}, "i64", map="i64(op::truth({0}))", combine="{a} + {b}"),
    *(
        Reduction(
            name,
            {"*": "op::no_arg<{S}>()"},
            "argument",
            state="op::arg<{S}>",
            map="op::arg<{S}>{{{0}, {i}}}",
            combine=f"op::best<{greatest}>({{a}}, {{b}})",
            post="{s}.index",
        )
        for name, greatest in (("argmax", "true"), ("argmin", "false"))
    ),
    Reduction(
        "moments",
        {"*": "op::no_moments<{S}>()"},
        "widest",
        state="op::moments<{S}, f64>",
        map="op::first_moments(op::cast<{S}>({0}))",
        combine="op::merge({a}, {b})",
        post="op::cast<{T}>(op::variance({s}, f64({x})))",
        accumulate="op::push({a}, op::cast<{S}>({0}))",
        several="op::push<{P}>({a}, {x}, {h})",
        align="op::rebased({a}, {b})",
        join="op::join({a}, {b})",
    ),
)

REDUCTIONS: dict[str, Reduction] = {reduction.name: reduction for reduction in _ALL}
