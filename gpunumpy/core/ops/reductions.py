"""The table of reductions: the state that each accumulates, and how elements become states and states a result.

A `Reduction` without templates of its own combines states with the elementwise op of the same name, and needs only an
identity. All of these ops are associative up to rounding, so states may be combined in any tree. Reductions by other
ufuncs (subtract, divide, power, ...) are left folds and not in this table: they are library calls.

In a template ``{0}`` is the argument, ``{i}`` its int64 index, ``{a}`` and ``{b}`` are two states, ``{s}`` is the final
state and ``{x}`` the extra argument of `finish`. ``{A}``, ``{T}``, ``{S}`` are the C types of the argument, the result
and the state's value; ``{P}`` is the C type in which `accumulate_many` computes, at least as precise as the result.
"""

from __future__ import annotations

from dataclasses import field

from ..late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reduction:
    """One reduction.

    Attributes
    ----------
    name
        NumPy's name of the ufunc or function.
    identity
        Template of the state of no elements, for each kind of state value (as in `elementwise`; "*" for all kinds).
    value
        Dtype of the state's value: "result" or "argument" for the dtype of that; "wide" for the dtype of the result,
        with floats one size wider (float16 and bfloat16 in float32, float32 in float64, complex64 in complex128);
        "widest" for float64, or complex128 if the argument is complex; or the name of a C type.
    state
        Template of the state's C type.
    map
        Template of the state of one element.
    combine
        Template of two states combined, in order. By default the elementwise op of the same name.
    finish
        Template of the result.
    accumulate
        Template of state ``{a}`` with one more element. By default ``{a}`` combined with the element's `map`.
    accumulate_many
        Template of state ``{a}`` with an array of elements ``{x}``, without those that the array of bools ``{h}``
        excludes. Optional.
    align, combine_aligned
        Templates for a costly `combine`, optional: `align` rebases state ``{a}`` on state ``{b}``, and
        `combine_aligned` combines two states that are aligned to the same state.
    scan_start
        Initial state of a scan, for kinds in which `identity` changes the bits of a first element: 0.0 + -0.0 is 0.0.
    complex_scan
        How complex numbers are scanned, where no identity leaves a first element as it is.
    scans
        Whether the reduction has a scan. Without one if combining `identity` with a first element may change it.
    """

    name: str
    identity: dict[str, str]
    value: str = "result"
    state: str = "{S}"
    map: str = "op::cast<{S}>({0})"
    combine: str = ""
    finish: str = "op::cast<{T}>({s})"
    accumulate: str = ""
    accumulate_many: str = ""
    align: str = ""
    combine_aligned: str = ""
    scan_start: dict[str, str] = field(default_factory=dict)
    complex_scan: Reduction | None = None
    scans: bool = True


_INF = "op::infinity<f32>()"
_LEAST = {"b": "false", "iu": "{least}", "ef": f"{{S}}(-{_INF})", "c": f"{{S}}{{{{-{_INF}, -{_INF}}}}}"}
_GREATEST = {"b": "true", "iu": "{greatest}", "ef": f"{{S}}({_INF})", "c": f"{{S}}{{{{{_INF}, {_INF}}}}}"}
_NAN = {"ef": "{S}(op::nan<f32>())", "c": "{S}{{op::nan<f32>(), op::nan<f32>()}}"}
_ZERO = {"b": "false", "iu": "{S}(0)", "ef": "{S}(0.0f)", "c": "{S}{{0, 0}}"}
_ONE = {"b": "true", "iu": "{S}(1)", "ef": "{S}(1.0f)", "c": "{S}{{1, 0}}"}

_FACTORS = Reduction(
    "multiply",
    {"c": "op::no_factor<{S}>()"},
    "wide",
    state="op::factor<{S}>",
    map="op::factor<{S}>{{op::cast<{S}>({0}), true}}",
    combine="op::multiplied({a}, {b})",
    finish="op::cast<{T}>({s}.value)",
)

_ALL: tuple[Reduction, ...] = (
    Reduction("add", _ZERO, "wide", scan_start={"ef": "{S}(-0.0f)", "c": "{S}{{-0.0f, -0.0f}}"}),
    Reduction("multiply", _ONE, "wide", complex_scan=_FACTORS),
    Reduction("maximum", _LEAST, accumulate_many="op::extreme<true>({a}, {x}, {h})"),
    Reduction("minimum", _GREATEST, accumulate_many="op::extreme<false>({a}, {x}, {h})"),
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
            finish="{s}.index",
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
        finish="op::cast<{T}>(op::variance({s}, f64({x})))",
        accumulate="op::push({a}, op::cast<{S}>({0}))",
        accumulate_many="op::push<{P}>({a}, {x}, {h})",
        align="op::rebased({a}, {b})",
        combine_aligned="op::combine_aligned({a}, {b})",
    ),
)

REDUCTIONS: dict[str, Reduction] = {reduction.name: reduction for reduction in _ALL}
