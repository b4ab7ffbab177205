"""The table's operations as CUDA C++: expressions, accumulators, and the helper functions that they call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy

from ...core.dtypes import C_TYPE, COMPLEX128, FLOAT64, KIND, DType, check
from ...core.errors import allowed
from ...core.ops.streams import CONGRUENTIAL, STREAMS
from ...core.ops.table import ELEMENTWISE, REAL_OF, REDUCTIONS, WIDER, Loop, Reduction, op_of
from ..random.stream_code import source_of
from .sources import source

# Comparisons of int64 with uint64, which C would compare as unsigned.
_MIXED = {"i64 u64", "u64 i64"}


@cache
def _template(name: str, loop: Loop) -> str:
    """The expression of row `name` for `loop`, with fields for the arguments alone."""
    op = op_of(name)
    types = [C_TYPE[dtype] for dtype in loop]
    kind = "x" if " ".join(types[:2]) in _MIXED and "x" in op.code else KIND[loop[0]]
    through_f32 = kind == "e" and "e" not in op.code
    if through_f32:
        kind = "f"
    if kind not in op.code:
        raise TypeError(f"row {name!r} has no loop for {types[0]}; its kinds are {''.join(sorted(op.code))}")
    text = op.code[kind]
    if through_f32:
        for i, dtype in enumerate(loop[:-1]):
            if KIND[dtype] == "e":
                text = text.replace(f"{{{i}}}", f"f32({{{i}}})")
    elif "." in text:  # a member of an argument that may be an expression
        text = re.sub(r"\{(\d)\}\.", r"({\1}).", text)
    single = through_f32 or types[0] in ("f32", "c64")
    unsigned = "u64" if types[0] in ("i64", "u64") else "u32"
    result = "f32" if through_f32 else types[-1]
    fields = {"{T}": result, "{A}": types[0], "{U}": unsigned, "{f}": "f" if single else ""}
    for field, value in fields.items():
        text = text.replace(field, value)
    return f"{types[-1]}({text})"


def expression(op_name: str, loop: Loop, args: Sequence[str]) -> str:
    """Return the C expression of one application of a row.

    Parameters
    ----------
    row_name
        A key of `ELEMENTWISE`.
    loop
        The argument dtypes and the result dtype.
    args
        C expressions of the arguments; each may be evaluated more than once, so let them be names.
    """
    return _template(op_name, loop).format(*args)


@dataclass(frozen=True, slots=True)
class ReductionCode:
    """A reduction for one loop, as C.

    Attributes
    ----------
    state
        The C type of the accumulator: trivially copyable.
    identity
        The state of no elements.
    """

    state: str
    identity: str
    map_template: str
    combine_template: str
    post_template: str
    accumulate_template: str
    several_template: str
    align_template: str
    join_template: str

    def map(self, args: Sequence[str], index: str) -> str:
        """The state of one element; `index` is its int64 position in the reduced space, in C order."""
        return self.map_template.format(*args, i=index)

    def combine(self, a: str, b: str) -> str:
        """The state of `a`'s elements followed by `b`'s."""
        return self.combine_template.format(a=a, b=b)

    def accumulate(self, state: str, args: Sequence[str], index: str) -> str:
        """`state` and one more element: as ``combine(state, map(args, index))``, and cheaper where it can be."""
        if self.accumulate_template:
            return self.accumulate_template.format(*args, a=state, i=index)
        return self.combine(state, self.map(args, index))

    def several(self, state: str, items: str, there: str) -> str:
        """`state` and an array of elements, where an array of bools says that they are there."""
        return self.several_template.format(a=state, x=items, h=there)

    def align(self, a: str, first: str) -> str:
        """`a` as `join` wants it: brought to what it has in common with `first`."""
        return self.align_template.format(a=a, b=first) if self.align_template else a

    def join(self, a: str, b: str) -> str:
        """`a` and `b` combined, where both were aligned to the same state."""
        return self.join_template.format(a=a, b=b) if self.join_template else self.combine(a, b)

    def post(self, state: str, extra: Sequence[str] = ()) -> str:
        """The result; `extra` are C expressions of row-level values (the ddof of `moments`)."""
        return self.post_template.format(s=state, x=extra[0] if extra else "0")


def _limits(dtype: DType) -> dict[str, str]:
    if dtype.kind not in "iu":
        return {}
    info, c_type = numpy.iinfo(dtype), C_TYPE[dtype]
    least = f"{c_type}({info.min + 1}ll - 1)" if dtype.kind == "i" else f"{c_type}(0)"
    return {"{least}": least, "{greatest}": f"{c_type}({info.max}{'ll' if dtype.kind == 'i' else 'ull'})"}


def _state_dtype(op: Reduction, loop: Loop) -> DType:
    if op.value == "wide":
        return WIDER.get(loop[-1], loop[-1])
    if op.value == "widest":
        return COMPLEX128 if KIND[loop[0]] == "c" else FLOAT64
    if op.value == "result":
        return loop[-1]
    if op.value == "argument":
        return loop[0]
    return check({"bool": "bool", "i64": "int64"}[op.value])


def _part_dtype(loop: Loop, state: DType) -> DType:
    """The dtype in which a few elements are worked up: as precise as the result, and no less than float32."""
    real = REAL_OF.get(loop[0], loop[0])
    if KIND[real] not in "ef" or real.itemsize > 4 or loop[-1].itemsize > 4:
        return state
    return loop[0] if KIND[loop[0]] == "c" else check("float32")


def reduction(op_name: str, loop: Loop, scan: bool = False) -> ReductionCode:
    """Return the code of a reduction, or of a scan; `loop` is the argument dtypes and the result dtype."""
    try:
        op = REDUCTIONS[op_name]
    except KeyError:
        raise KeyError(f"no reduction {op_name!r}; {allowed(REDUCTIONS)}") from None
    state = _state_dtype(op, loop)
    fields = {"{S}": C_TYPE[state], "{T}": C_TYPE[loop[-1]], "{A}": C_TYPE[loop[0]], **_limits(state)}
    fields["{P}"] = C_TYPE[_part_dtype(loop, state)]

    def fill(text: str) -> str:
        for field, value in fields.items():
            text = text.replace(field, value)
        return text

    kind = KIND[state]
    begins = op.identity | op.before if scan else op.identity
    identities = [text for kinds, text in begins.items() if kind in kinds or kinds == "*"]
    if not identities:
        raise TypeError(f"reduction {op_name!r} has no loop for {C_TYPE[loop[0]]}")
    combine = op.combine
    if not combine:
        combine = expression(op_name, (state, state, state), ("{a}", "{b}"))
    identity = fill(identities[-1]).format()
    templates = (op.map, combine, op.post, op.accumulate, op.several, op.align, op.join)
    return ReductionCode(fill(op.state), identity, *(fill(text) for text in templates))


_COMPLEX_MATH = "codegen/complex_math"

# The texts of helpers in the order in which they are pasted, each with the texts it builds on.
_HELPERS: dict[str, tuple[str, ...]] = {
    "codegen/types": (),
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
    "random/philox32": (),
    **dict.fromkeys(CONGRUENTIAL, ("random/streams",)),
}


@cache
def _sources() -> dict[str, str]:
    return {name: source_of(name) if name in CONGRUENTIAL else source(name) for name in _HELPERS}


@cache
def _definers() -> dict[str, tuple[str, ...]]:
    """Helper function -> the files with an overload of it."""
    found: dict[str, list[str]] = {}
    for name, text in _sources().items():
        for function in set(re.findall(r"__device__ (?:inline|__forceinline__) [\w<>, :]+? (\w+)\(", text)):
            found.setdefault(function, []).append(name)
    return {function: tuple(files) for function, files in found.items()}


def _texts(name: str, loop: Loop) -> list[str]:
    """Everything that applications of `name`, elementwise or as a reduction, may put into a kernel."""
    out = []
    if name in ELEMENTWISE or name in STREAMS:
        try:
            out.append(_template(name, loop))
        except TypeError:
            if name not in REDUCTIONS:
                raise
    if name in REDUCTIONS:
        code = reduction(name, loop)
        out += [code.identity, code.map_template, code.combine_template, code.post_template, code.several_template]
    return out


@cache
def _files_for(name: str, loop: Loop) -> frozenset[str]:
    complex_kind = any(KIND[dtype] == "c" for dtype in loop)
    needed = {"codegen/types", "codegen/complex"} if complex_kind else {"codegen/types"}
    for text in _texts(name, loop):
        for function in re.findall(r"op::(\w+)", text):
            files = _definers().get(function, ())
            if _COMPLEX_MATH in files:  # a function of its name is one of real numbers
                files = (_COMPLEX_MATH,) if complex_kind else tuple(file for file in files if file != _COMPLEX_MATH)
            for file in files:
                needed.update((file, *_HELPERS[file]))
    return frozenset(needed)


def helpers(rows_with_loops: Iterable[tuple[str, Loop]]) -> str:
    """Return the device helpers that these rows (elementwise or reductions) need, the element types first."""
    needed = frozenset({"codegen/types"}).union(*(_files_for(name, loop) for name, loop in rows_with_loops))
    return _paste(needed)


@cache
def _paste(files: frozenset[str]) -> str:
    return "\n".join(text for name, text in _sources().items() if name in files)
