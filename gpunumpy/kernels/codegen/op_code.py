"""The ops of the table as CUDA C++: expressions, reductions, and the helper functions that they call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

import numpy

from ...core.dtypes import BYTE_FLOATS, C_TYPE, COMPLEX128, FLOAT32, FLOAT64, KIND, DType, check
from ...core.errors import allowed
from ...core.late_dataclasses import dataclass
from ...core.ops.made import MadeOp, MadeReduction
from ...core.ops.special import SPECIAL
from ...core.ops.streams import CONGRUENTIAL, STREAMS
from ...core.ops.table import ELEMENTWISE, REAL_OF, REDUCTIONS, WIDER, Loop, Reduction, op_of
from ..random.stream_code import source_of
from .sources import source

# Argument types that C would compare as unsigned integers: an op has an expression of its own for them, "x".
_SIGNED_WITH_UNSIGNED = {"i64 u64", "u64 i64"}


@cache
def _template(name: str, loop: Loop) -> str:
    """Return the expression of op `name` for `loop`, in which only the fields of the arguments are left."""
    op = op_of(name)
    types = [C_TYPE[dtype] for dtype in loop]
    kind = "x" if " ".join(types[:2]) in _SIGNED_WITH_UNSIGNED and "x" in op.code else KIND[loop[0]]
    through_f32 = kind == "e" and "e" not in op.code
    if through_f32:
        kind = "f"
    if kind not in op.code:
        raise TypeError(f"op {name!r} has no loop for {types[0]}; its kinds are {''.join(sorted(op.code))}")
    text = op.code[kind]
    if through_f32:
        for i, dtype in enumerate(loop[:-1]):
            if KIND[dtype] == "e":
                text = text.replace(f"{{{i}}}", f"f32({{{i}}})")
    elif "." in text:  # access to a member: the argument may be an expression and needs parentheses
        text = re.sub(r"\{(\d)\}\.", r"({\1}).", text)
    single = through_f32 or types[0] in ("f32", "c64")
    unsigned = "u64" if types[0] in ("i64", "u64") else "u32"
    result = "f32" if through_f32 else types[-1]
    fields = {"{T}": result, "{A}": types[0], "{U}": unsigned, "{f}": "f" if single else ""}
    for field, value in fields.items():
        text = text.replace(field, value)
    return f"{types[-1]}({text})"


def expression(op_name: str, loop: Loop, args: Sequence[str]) -> str:
    """Return the C expression of one application of an elementwise op.

    Parameters
    ----------
    op_name
        A key of `ELEMENTWISE`, `SPECIAL` or `STREAMS`, or an op made at run time.
    loop
        The argument dtypes and the result dtype.
    args
        C expressions of the arguments. Each may be evaluated more than once, so they should be names.
    """
    if isinstance(op_name, MadeOp):
        return f"{op_name}({', '.join(args)})"
    return _template(op_name, loop).format(*args)


@dataclass(frozen=True, slots=True)
class ReductionCode:
    """A reduction for one loop, as C. The templates are those of `core.ops.reductions.Reduction`.

    Attributes
    ----------
    state
        The C type of the state (the accumulator); it is trivially copyable.
    identity
        The state of no elements.
    """

    state: str
    identity: str
    map_template: str
    combine_template: str
    finish_template: str
    accumulate_template: str
    accumulate_many_template: str
    align_template: str
    combine_aligned_template: str

    def map(self, args: Sequence[str], index: str) -> str:
        """Return the state of one element. `index` is the element's int64 position in the reduced space, in C order."""
        return self.map_template.format(*args, i=index)

    def combine(self, a: str, b: str) -> str:
        """Return the state of the elements of `a` followed by the elements of `b`."""
        return self.combine_template.format(a=a, b=b)

    def accumulate(self, state: str, args: Sequence[str], index: str) -> str:
        """Return `state` with one more element: ``combine(state, map(args, index))``, or a cheaper equivalent."""
        if self.accumulate_template:
            return self.accumulate_template.format(*args, a=state, i=index)
        return self.combine(state, self.map(args, index))

    def accumulate_many(self, state: str, items: str, exists: str) -> str:
        """Return `state` with an array of more elements. The bool array `exists` says which of them count."""
        return self.accumulate_many_template.format(a=state, x=items, h=exists)

    def align(self, a: str, b: str) -> str:
        """Return `a` prepared for `combine_aligned`: expressed relative to `b` (moments: about the shift of `b`)."""
        return self.align_template.format(a=a, b=b) if self.align_template else a

    def combine_aligned(self, a: str, b: str) -> str:
        """Return `a` and `b` combined, which were aligned to the same state."""
        return self.combine_aligned_template.format(a=a, b=b) if self.combine_aligned_template else self.combine(a, b)

    def finish(self, state: str, extra: Sequence[str] = ()) -> str:
        """Return the result of the final `state`; `extra` are C expressions of row-level values (a ddof)."""
        return self.finish_template.format(s=state, x=extra[0] if extra else "0")


def _limits(dtype: DType) -> dict[str, str]:
    """Return the template fields for the least and greatest value of an integer dtype; none for other dtypes."""
    if dtype.kind not in "iu":
        return {}
    info, c_type = numpy.iinfo(dtype), C_TYPE[dtype]
    least = f"{c_type}({info.min + 1}ll - 1)" if dtype.kind == "i" else f"{c_type}(0)"
    return {"{least}": least, "{greatest}": f"{c_type}({info.max}{'ll' if dtype.kind == 'i' else 'ull'})"}


def _row_of(op_name: str) -> Reduction:
    """Return the row of a reduction of the table, or of one made at run time."""
    if isinstance(op_name, MadeReduction):
        return op_name.row
    try:
        return REDUCTIONS[op_name]
    except KeyError:
        raise KeyError(f"no reduction {op_name!r}; {allowed(REDUCTIONS)}") from None


def state_dtype(op_name: str, loop: Loop) -> DType:
    """Return the dtype of the value that a state of a reduction holds."""
    op = _row_of(op_name)
    if op.value == "wide":
        return WIDER.get(loop[-1], loop[-1])
    if op.value == "widest":
        return COMPLEX128 if KIND[loop[0]] == "c" else FLOAT64
    if op.value == "result":
        return FLOAT32 if loop[-1] in BYTE_FLOATS else loop[-1]  # which has an infinity to begin with
    if op.value == "argument":
        return loop[0]
    return check({"bool": "bool", "i64": "int64"}[op.value])


def partial_dtype(op_name: str, loop: Loop) -> DType:
    """Return the dtype in which a few elements are reduced first: as precise as the result, and at least float32."""
    real = REAL_OF.get(loop[0], loop[0])
    if KIND[real] not in "ef" or real.itemsize > 4 or loop[-1].itemsize > 4:
        return state_dtype(op_name, loop)
    return loop[0] if KIND[loop[0]] == "c" else check("float32")


@lru_cache(maxsize=4096)
def reduction(op_name: str, loop: Loop, scan: bool = False) -> ReductionCode:
    """Return the C of a reduction, or of a scan. `loop` is the argument dtypes and the result dtype."""
    op = _row_of(op_name)
    state = state_dtype(op_name, loop)
    fields = {"{S}": C_TYPE[state], "{T}": C_TYPE[loop[-1]], "{A}": C_TYPE[loop[0]], **_limits(state)}
    fields["{P}"] = C_TYPE[partial_dtype(op_name, loop)]

    def fill(text: str) -> str:
        for field, value in fields.items():
            text = text.replace(field, value)
        return text

    kind = KIND[state]
    if scan and kind == "c" and op.complex_scan is not None:
        op = op.complex_scan
    initial_states = op.identity | op.scan_start if scan else op.identity
    candidates = [text for kinds, text in initial_states.items() if kind in kinds or kinds == "*"]
    if not candidates:
        raise TypeError(f"reduction {op_name!r} has no loop for {C_TYPE[loop[0]]}")
    combine = op.combine
    if not combine:
        combine = expression(op_name, (state, state, state), ("{a}", "{b}"))
    identity = fill(candidates[-1]).format()
    templates = (op.map, combine, op.finish, op.accumulate, op.accumulate_many, op.align, op.combine_aligned)
    return ReductionCode(fill(op.state), identity, *(fill(text) for text in templates))


_COMPLEX_MATH = "codegen/complex_math"
# The types of floats of one byte, with overloads of what other files have. Other kernels have the text without it.
_BYTE_FLOAT_TYPES = "codegen/float8"
# The files of helpers that ops made at run time have, besides the element types.
_OF_MADE_OPS = ("custom/complex", "custom/types")
_REMAINDERS = frozenset({"floor_divide", "remainder", "fmod"})

_LOGARITHMS = ("codegen/double_word", "codegen/exponential", "codegen/logarithm", "codegen/power")

# The files of helper functions in the order in which their texts are concatenated, each with the files it needs.
_HELPERS: dict[str, tuple[str, ...]] = {
    "codegen/types": (),
    _BYTE_FLOAT_TYPES: (),
    "codegen/cast": (),
    "codegen/integer": (),
    "codegen/real": (),
    "codegen/double_word": (),
    "codegen/exponential": ("codegen/double_word",),
    "codegen/logarithm": ("codegen/double_word",),
    "codegen/power": ("codegen/double_word", "codegen/exponential", "codegen/logarithm"),
    "codegen/hypot": ("codegen/double_word",),
    "codegen/trigonometric": ("codegen/double_word",),
    "codegen/inverse_trigonometric": ("codegen/double_word",),
    "codegen/half": (),
    "codegen/complex": (),
    _COMPLEX_MATH: (
        *("codegen/complex", "codegen/double_word", "codegen/exponential", "codegen/hypot"),
        *("codegen/trigonometric", "codegen/inverse_trigonometric"),
    ),
    "codegen/reduce": ("codegen/cast", "codegen/real", "codegen/complex"),
    "random/streams": (),
    "random/philox32": ("codegen/double_word",),
    **dict.fromkeys(CONGRUENTIAL, ("random/streams",)),
    "special/words": _LOGARITHMS,
    "special/error_polynomials": _LOGARITHMS,
    "special/error": (*_LOGARITHMS, "special/words", "special/error_polynomials"),
    "special/gamma_polynomials": _LOGARITHMS,
    "special/gamma": (*_LOGARITHMS, "codegen/trigonometric", "special/words", "special/gamma_polynomials"),
    "special/beta": (
        *(*_LOGARITHMS, "codegen/trigonometric", "special/words", "special/gamma_polynomials", "special/gamma"),
    ),
    "special/bessel_polynomials": _LOGARITHMS,
    "special/bessel": (*_LOGARITHMS, "codegen/trigonometric", "special/words", "special/bessel_polynomials"),
    "special/modified_bessel_polynomials": _LOGARITHMS,
    "special/modified_bessel": (*_LOGARITHMS, "special/words", "special/modified_bessel_polynomials"),
    "special/entropy": (*_LOGARITHMS, "codegen/trigonometric", "special/words"),
}


@cache
def _sources() -> dict[str, str]:
    """Return the text of each helper file; those of the congruential generators are generated."""
    return {name: source_of(name) if name in CONGRUENTIAL else source(name) for name in _HELPERS}


@cache
def _definers() -> dict[str, tuple[str, ...]]:
    """Return, for each helper function, the files with an overload of it but for those that come with a type."""
    found: dict[str, list[str]] = {}
    for name, text in _sources().items():
        if name == _BYTE_FLOAT_TYPES:
            continue
        for function in set(
            re.findall(r"__device__ (?:inline|__forceinline__|__noinline__) [\w<>, :]+? (\w+)\(", text)
        ):
            found.setdefault(function, []).append(name)
    return {function: tuple(files) for function, files in found.items()}


def _templates_of(name: str, loop: Loop) -> list[str]:
    """Return all C text that applications of op `name`, elementwise or as a reduction, may put into a kernel."""
    out = []
    if name in ELEMENTWISE or name in STREAMS or name in SPECIAL:
        try:
            out.append(_template(name, loop))
        except TypeError:
            if name not in REDUCTIONS:
                raise
    if name in REDUCTIONS:
        code = reduction(name, loop)
        out += [
            code.identity,
            code.map_template,
            code.combine_template,
            code.finish_template,
            code.accumulate_many_template,
        ]
    return out


@cache
def _helper_files(name: str, loop: Loop) -> frozenset[str]:
    """Return the helper files that op `name` needs for `loop`."""
    complex_kind = any(KIND[dtype] == "c" for dtype in loop)
    needed = {"codegen/complex"} if complex_kind else set[str]()
    needed.update(_type_files(loop))
    for text in _templates_of(name, loop):
        for function in re.findall(r"op::(\w+)", text):
            files = _definers().get(function, ())
            if _COMPLEX_MATH in files:  # a function of its name is one of real numbers
                files = (_COMPLEX_MATH,) if complex_kind else tuple(file for file in files if file != _COMPLEX_MATH)
            for file in files:
                needed.update((file, *_HELPERS[file]))
    return frozenset(needed)


def _type_files(dtypes: Iterable[DType]) -> set[str]:
    """Return the helper files that define the element types of these dtypes."""
    return {"codegen/types"} if BYTE_FLOATS.isdisjoint(dtypes) else {"codegen/types", _BYTE_FLOAT_TYPES}


def is_long(name: str, loop: Loop) -> bool:
    """Return whether an op's code is about fifty instructions or more: a mathematical function, or a remainder."""
    return name.is_long if isinstance(name, MadeOp) else _is_long(name, loop)


def points_of(name: str) -> int:
    """Return how many points a thread has at most that applies an op of hundreds of instructions; 0 for other ops."""
    return SPECIAL[name].points if name in SPECIAL else 0


@cache
def _is_long(name: str, loop: Loop) -> bool:
    return name in _REMAINDERS or any("codegen/double_word" in _HELPERS[file] for file in _helper_files(name, loop))


def helpers(ops_with_loops: Iterable[tuple[str, Loop]], dtypes: Iterable[DType] = ()) -> str:
    """Return the text of the helpers that these ops (elementwise or reductions) need, the element types first.

    `dtypes` are further ones whose element types are needed.
    """
    ops = list(ops_with_loops)
    of_table = [(name, loop) for name, loop in ops if not isinstance(name, (MadeOp, MadeReduction))]
    needed = frozenset(_type_files(dtypes)).union(*(_helper_files(name, loop) for name, loop in of_table))
    made = dict.fromkeys(text for name, _ in ops if isinstance(name, (MadeOp, MadeReduction)) for text in name.texts)
    return "\n".join([_concatenate(needed), *([source(*_OF_MADE_OPS), *made] if made else [])])


@cache
def _concatenate(files: frozenset[str]) -> str:
    """Return the texts of these helper files, in the order of `_HELPERS`."""
    return "\n".join(text for name, text in _sources().items() if name in files)
