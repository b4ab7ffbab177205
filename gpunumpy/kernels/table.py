"""The table of operations: what each is in C, what it needs, what NumPy calls it, and which dtypes it takes.

Adding an elementwise operation is one line of `table_rows`; adding a reduction one of `table_reductions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy

from ..core.dtypes import BOOL, C_TYPE, COMPLEX128, DTYPES, FLOAT64, INT64, KIND, bfloat16, check
from ..core.errors import allowed
from .table_reductions import REDUCTIONS, Reduction
from .table_rows import ELEMENTWISE, Row
from .table_streams import CONGRUENTIAL, STREAMS, sources

__all__ = [
    "ELEMENTWISE",
    "REDUCTIONS",
    "Reduction",
    "ReductionCode",
    "Row",
    "expression",
    "helpers",
    "loops",
    "reduction",
    "reduction_loops",
    "resolve",
    "scans",
    "ufunc_of",
]

DType: TypeAlias = "numpy.dtype[Any]"
Loop: TypeAlias = "tuple[DType, ...]"

# Parts of ufuncs with several results: row -> (ufunc, which result).
PARTS: dict[str, tuple[str, int]] = {
    "modf_frac": ("modf", 0),
    "modf_int": ("modf", 1),
    "frexp_mantissa": ("frexp", 0),
    "frexp_exponent": ("frexp", 1),
}

_WIDE: dict[DType, DType] = {
    numpy.dtype(numpy.float16): numpy.dtype(numpy.float32),
    bfloat16: numpy.dtype(numpy.float32),
    numpy.dtype(numpy.float32): FLOAT64,
    numpy.dtype(numpy.complex64): COMPLEX128,
}
_COMPLEX_OF: dict[DType, DType] = {
    numpy.dtype(numpy.float32): numpy.dtype(numpy.complex64),
    FLOAT64: COMPLEX128,
}
_REAL_OF: dict[DType, DType] = {wide: real for real, wide in _COMPLEX_OF.items()}
_MIXED = {"i64 u64", "u64 i64"}


def _row(name: str) -> Row:
    try:
        return STREAMS[name] if name in STREAMS else ELEMENTWISE[name]
    except KeyError:
        raise KeyError(f"no elementwise row {name!r}; {allowed(ELEMENTWISE)}") from None


@cache
def _template(name: str, loop: Loop) -> str:
    """The expression of row `name` for `loop`, with fields for the arguments alone."""
    row = _row(name)
    types = [C_TYPE[dtype] for dtype in loop]
    kind = "x" if " ".join(types[:2]) in _MIXED and "x" in row.code else KIND[loop[0]]
    through_f32 = kind == "e" and "e" not in row.code
    if through_f32:
        kind = "f"
    if kind not in row.code:
        raise TypeError(f"row {name!r} has no loop for {types[0]}; its kinds are {''.join(sorted(row.code))}")
    text = row.code[kind]
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


def expression(row_name: str, loop: Loop, args: Sequence[str]) -> str:
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
    return _template(row_name, loop).format(*args)


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


def _state_dtype(row: Reduction, loop: Loop) -> DType:
    if row.value == "wide":
        return _WIDE.get(loop[-1], loop[-1])
    if row.value == "widest":
        return COMPLEX128 if KIND[loop[0]] == "c" else FLOAT64
    if row.value == "result":
        return loop[-1]
    if row.value == "argument":
        return loop[0]
    return check({"bool": "bool", "i64": "int64"}[row.value])


def _part_dtype(loop: Loop, state: DType) -> DType:
    """The dtype in which a few elements are worked up: as precise as the result, and no less than float32."""
    real = _REAL_OF.get(loop[0], loop[0])
    if KIND[real] not in "ef" or real.itemsize > 4 or loop[-1].itemsize > 4:
        return state
    return loop[0] if KIND[loop[0]] == "c" else check("float32")


@cache
def scans(row_name: str) -> bool:
    """Return whether a row is a scan, and not only a left fold."""
    return row_name in REDUCTIONS and REDUCTIONS[row_name].scans


def reduction(row_name: str, loop: Loop, scan: bool = False) -> ReductionCode:
    """Return the code of a reduction, or of a scan; `loop` is the argument dtypes and the result dtype."""
    try:
        row = REDUCTIONS[row_name]
    except KeyError:
        raise KeyError(f"no reduction {row_name!r}; {allowed(REDUCTIONS)}") from None
    state = _state_dtype(row, loop)
    fields = {"{S}": C_TYPE[state], "{T}": C_TYPE[loop[-1]], "{A}": C_TYPE[loop[0]], **_limits(state)}
    fields["{P}"] = C_TYPE[_part_dtype(loop, state)]

    def fill(text: str) -> str:
        for field, value in fields.items():
            text = text.replace(field, value)
        return text

    kind = KIND[state]
    begins = row.identity | row.before if scan else row.identity
    identities = [text for kinds, text in begins.items() if kind in kinds or kinds == "*"]
    if not identities:
        raise TypeError(f"reduction {row_name!r} has no loop for {C_TYPE[loop[0]]}")
    combine = row.combine
    if not combine:
        combine = expression(row_name, (state, state, state), ("{a}", "{b}"))
    identity = fill(identities[-1]).format()
    templates = (row.map, combine, row.post, row.accumulate, row.several, row.align, row.join)
    return ReductionCode(fill(row.state), identity, *(fill(text) for text in templates))


# Helper files in the order they are pasted, each with the files it builds on.
_FILES: dict[str, tuple[str, ...]] = {
    "types": (),
    "cast": (),
    "integer": (),
    "real": (),
    "half": (),
    "complex": (),
    "complex_math": ("complex",),
    "reduce": ("cast", "real", "complex"),
    "streams": (),
    "philox32": (),
    **dict.fromkeys(CONGRUENTIAL, ("streams",)),
}


@cache
def _sources() -> dict[str, str]:
    folder = Path(__file__).parent
    return {name: sources().get(name) or (folder / f"{name}.cuh").read_text() for name in _FILES}


@cache
def _definers() -> dict[str, tuple[str, ...]]:
    """Helper function -> the files with an overload of it."""
    found: dict[str, list[str]] = {}
    for name, source in _sources().items():
        for function in set(re.findall(r"__device__ (?:inline|__forceinline__) [\w<>, :]+? (\w+)\(", source)):
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
    needed = {"types", "complex"} if complex_kind else {"types"}
    for text in _texts(name, loop):
        for function in re.findall(r"op::(\w+)", text):
            for file in _definers().get(function, ()):
                if file != "complex_math" or complex_kind:
                    needed.update((file, *_FILES[file]))
    return frozenset(needed)


def helpers(rows_with_loops: Iterable[tuple[str, Loop]]) -> str:
    """Return the device helpers that these rows (elementwise or reductions) need, the element types first."""
    needed = frozenset({"types"}).union(*(_files_for(name, loop) for name, loop in rows_with_loops))
    return _paste(needed)


@cache
def _paste(files: frozenset[str]) -> str:
    return "\n".join(text for name, text in _sources().items() if name in files)


def ufunc_of(row_name: str) -> numpy.ufunc | None:
    """NumPy's ufunc that a row is, or is a part of; None for the rows that are no ufunc in NumPy."""
    if row_name == "clip":
        return numpy._core.umath.clip  # type: ignore[attr-defined]
    found = getattr(numpy, PARTS.get(row_name, (row_name, 0))[0], None)
    return found if isinstance(found, numpy.ufunc) else None


def _supported(name: str, dtypes: Iterable[Any]) -> Loop:
    try:
        return tuple(check(dtype) for dtype in dtypes)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None


@cache
def resolve(name: str, dtypes: tuple[Any, ...]) -> Loop:
    """Return the loop that NumPy uses for arguments of these dtypes: the arguments' dtypes, then the results'.

    Parameters
    ----------
    name
        A row or a ufunc (``modf``, ``divmod``).
    dtypes
        A dtype for each argument, or the type ``int``, ``float`` or ``complex`` for a weak Python scalar.

    Raises
    ------
    TypeError
        As NumPy's, if there is no such loop or it is one of dtypes that gpunumpy does not support.
    """
    function = ufunc_of(name)
    if function is not None:
        if set(dtypes) == {int}:
            dtypes = (INT64,) * len(dtypes)  # NumPy compares Python integers alone as objects
        if name == "clip" and bfloat16 in dtypes:
            result = resolve("maximum", (resolve("maximum", dtypes[:2])[-1], dtypes[2]))[-1]
            return (result,) * 4
        loop = _supported(name, function.resolve_dtypes(dtypes + (None,) * function.nout))
        return (*loop[: function.nin], loop[function.nin + PARTS[name][1]]) if name in PARTS else loop
    if name == "where":
        result = resolve("maximum", dtypes[1:])[-1]
        return (BOOL, result, result, result)
    if name in ("real", "imag"):
        return (dtypes[0], _REAL_OF.get(dtypes[0], dtypes[0]))
    if name == "scaled":
        if dtypes[0] not in _REAL_OF:
            raise TypeError(f"{name} takes complex numbers, not {dtypes[0]}")
        return (dtypes[0], _REAL_OF[dtypes[0]], dtypes[0])
    if name == "complex":
        part = resolve("arctan2", dtypes)[-1]
        part = part if part in _COMPLEX_OF else numpy.dtype(numpy.float32)
        return (part, part, _COMPLEX_OF[part])
    raise KeyError(f"no dtype rule for {name!r}; {allowed(ELEMENTWISE)}")


@cache
def loops(name: str) -> tuple[Loop, ...]:
    """Return every loop of an elementwise row over the supported dtypes."""
    function = ufunc_of(name)
    if name == "cast":
        return tuple((a, b) for a in DTYPES for b in DTYPES)
    if function is None:
        nin = _row(name).arity
        found = [_attempt(name, (BOOL,) * (nin == 3) + (dtype,) * min(nin, 2)) for dtype in DTYPES]
    else:
        found = [_attempt(name, (bfloat16,) * function.nin)]
        for types in function.types:
            arguments = types[: function.nin]
            if set(arguments) <= set(_CHARACTERS):
                found.append(_attempt(name, tuple(numpy.dtype(character) for character in arguments)))
    return tuple(dict.fromkeys(loop for loop in found if loop is not None))


# NumPy's character codes of the supported dtypes ("l" and "q" are one dtype, int64).
_CHARACTERS = "?bhilqBHILQefdFD"


def _attempt(name: str, dtypes: Loop) -> Loop | None:
    try:
        return resolve(name, dtypes)
    except TypeError:
        return None


@cache
def reduction_loops(name: str) -> tuple[Loop, ...]:
    """Return a reduction's loops that NumPy's functions use: over every dtype it takes, to NumPy's result dtypes."""
    row = REDUCTIONS[name]
    if name in ELEMENTWISE:
        sums = name in ("add", "multiply")
        found = [_attempt(name, (dtype, dtype)) for dtype in DTYPES]
        same = tuple((loop[0], loop[-1]) for loop in found if loop is not None)
        widened = tuple((a, _sum_dtype(a)) for a, _ in same if sums and _sum_dtype(a) != a)
        return tuple(dict.fromkeys(same + widened))
    if row.value == "widest":
        return tuple((dtype, _variance_dtype(dtype)) for dtype in DTYPES)
    result = BOOL if row.value == "bool" else INT64
    return tuple((dtype, result) for dtype in DTYPES)


def _sum_dtype(dtype: DType) -> DType:
    return check({"b": "int64", "i": "int64", "u": "uint64"}.get(KIND[dtype], dtype))


def _variance_dtype(dtype: DType) -> DType:
    return FLOAT64 if KIND[dtype] in "biu" else _REAL_OF.get(dtype, dtype)
