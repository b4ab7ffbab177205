"""The interpreter of kernels: one program, compiled once, which runs them as data (interpreted.py).

The C expression of each operation is the one that a generated kernel has (`op_code`), and neither contracts operations,
so both give the same bits. What the interpreter reads are words of 8 bytes, all of them parameters of the launch: the
arguments of the kernel, as any kernel takes them, then places, instructions and, last, the head (interpreter.cuh
describes them).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, TypeAlias

from ...core.dtypes import BOOL, BYTE_FLOATS, C_TYPE, COMPLEX128, DTYPES, FLOAT32, FLOAT64, INT64, KIND, DType, check
from ...core.ops.table import ELEMENTWISE, REAL_OF, Loop, loops
from . import op_code
from .sources import source

ENTRY = "interpret"
WORDS = 512  # 8 bytes each: the parameters that every GPU takes
POINTS = 4  # of a thread
GROUP = 40  # operations of a function
THREADS = 64  # of a block
BLOCKS = 16  # of a multiprocessor: so a thread has 64 registers
# The numbers of instructions about reductions begin here.
ACCUMULATIONS, ARRAYS, RESULTS = 1 << 12, 1 << 13, 1 << 14
_SIZES = {
    "WORDS": WORDS,
    "POINTS": POINTS,
    "THREADS": THREADS,
    "BLOCKS": BLOCKS,
    "GROUP": GROUP,
    "ACCUMULATIONS": ACCUMULATIONS,
    "ARRAYS": ARRAYS,
    "RESULTS": RESULTS,
}
# With these dtypes nearly all programs compute. Each further one has some hundred operations to compile.
_DTYPES: tuple[DType, ...] = tuple(map(check, ("?", "u1", "u4", "u8", "i4", "i8", "f4", "f8", "c8", "c16")))
# Scalar arguments may have more.
_SCALARS: tuple[DType, ...] = tuple(dtype for dtype in DTYPES if dtype not in BYTE_FLOATS)
# Integers of 8 and 16 bits are computed as int32, whose lower bits are theirs: there are casts between the two.
_INT32, _UINT64 = check("i4"), check("u8")
_NARROW: tuple[DType, ...] = tuple(map(check, ("i1", "i2", "u2")))
# Those functions of complex numbers that programs of spectra use; each is several of real ones to compile.
_COMPLEX_FUNCTIONS = ("absolute", "sqrt", "exp", "log")
# What accumulates, and the dtypes of its elements; others of the same names would take long to compile, and are rare.
_REAL = ("?", "u1", "u4", "u8", "i4", "i8", "f4", "f8")
_REDUCERS = {
    "add": (*_REAL, "c8", "c16"),
    "multiply": _REAL,
    "maximum": _REAL,
    "minimum": _REAL,
    **dict.fromkeys(("argmax", "argmin"), ("i8", "f4", "f8")),
    "moments": ("f4", "f8", "c8", "c16"),
}
# Reductions of truth values, which are sums and products of bools.
_OF_TRUTH = {"any": "add", "logical_or": "add", "all": "multiply", "logical_and": "multiply"}
_LETTERS = "xyz"
_GROUP = """\
FUNCTION group_%d(int operation, int to, int a, int b, int c) {
  COLUMNS;
  switch (operation) {
%s
  }
}"""

_Opcodes: TypeAlias = dict[object, int]


@cache
def opcodes() -> _Opcodes:
    """Return the number of every operation: of accesses by the bytes of an element, of the others by dtypes.

    Elementwise operations follow the others, from `GROUP` on.
    """
    accesses: list[object] = [(kind, nbytes) for kind in ("load", "store", "gather") for nbytes in (1, 2, 4, 8, 16)]
    accesses += ["index", *(("scalar", dtype) for dtype in _SCALARS)]
    assert len(accesses) <= GROUP
    found = {key: number for number, key in enumerate(accesses)}
    found.update((key, GROUP + number) for number, key in enumerate(_elementwise()))
    return found


def _elementwise() -> Iterator[tuple[str, Loop]]:
    for name in ELEMENTWISE:
        for loop in loops(name):
            is_complex_function = any(KIND[dtype] == "c" for dtype in loop) and op_code.is_long(name, loop)
            if all(dtype in _DTYPES for dtype in loop) and (not is_complex_function or name in _COMPLEX_FUNCTIONS):
                yield name, loop
    for dtype in _NARROW:
        yield "cast", (dtype, _INT32)
        yield "cast", (_INT32, dtype)


@cache
def widened(loop: Loop) -> Loop:
    """Return a loop with int32 in place of narrower integers."""
    return tuple(_INT32 if dtype in _NARROW else dtype for dtype in loop)


@cache
def can_apply(name: str, loop: Loop) -> bool:
    """Return whether there is an elementwise operation, for a loop or for the widened one."""
    return (name, widened(loop)) in opcodes()


@cache
def cast_operations(have: DType, wanted: DType) -> list[int]:
    """Return the operations that cast, one after the other."""
    if ("cast", (have, wanted)) in opcodes():
        return [opcodes()["cast", (have, wanted)]]
    return [opcodes()["cast", (have, _INT32)], opcodes()["cast", (_INT32, wanted)]]


class Reduction(NamedTuple):
    """How the interpreter reduces.

    Attributes
    ----------
    casts
        The dtypes to which an element is cast, one after the other, before it is accumulated.
    reducer
        The number of what accumulates it.
    result
        The dtype that this returns, which is then cast to that of the result.
    cells
        How many cells of 8 bytes its state takes.
    """

    casts: tuple[DType, ...]
    reducer: int
    result: DType
    cells: int = 2

    @property
    def takes_arrays(self) -> bool:
        """Whether it accumulates an array of elements to other bits than one element after the other."""
        return self.cells > 2


@cache
def reduction(name: str, loop: Loop) -> Reduction | None:
    """Return how the interpreter reduces; None if it cannot."""
    if not {*loop} <= {*_DTYPES, *_NARROW}:
        return None
    casts: tuple[DType, ...] = ()
    if name == "moments":
        is_exact = KIND[loop[0]] in "biu"
        number = _reducers().get((name, (FLOAT64 if is_exact else loop[0], loop[-1])))
        casts = (FLOAT64,) if is_exact else ()
        return None if number is None else Reduction(casts, number, loop[-1], 6 if KIND[loop[0]] == "c" else 4)
    if name == "count_nonzero":
        name, casts = "add", (BOOL, INT64)
    elif name in _OF_TRUTH:
        name, casts = _OF_TRUTH[name], (BOOL,)
    elif name in _REDUCERS and KIND[loop[0]] in "biu" and name not in ("argmax", "argmin"):
        casts = widened((op_code.state_dtype(name, loop),))
    elif name in ("argmax", "argmin") and KIND[loop[0]] in "biu" and loop[0] != _UINT64:
        casts = (INT64,)
    of_state = (casts[-1], casts[-1]) if casts else loop
    number = _reducers().get((name, of_state))
    return None if number is None else Reduction(casts, number, of_state[-1])


@cache
def _reducers() -> dict[tuple[str, Loop], int]:
    """Return the number of what accumulates: integers into states of their dtype, others as compiled kernels do.

    These keep more digits of a sum, and have casts of their own for that, in which the sign of a NaN is another.
    """
    found = [(name, check(dtype)) for name, dtypes in _REDUCERS.items() for dtype in dtypes]
    return {(name, (dtype, _result(name, dtype))): number for number, (name, dtype) in enumerate(found)}


def _result(name: str, dtype: DType) -> DType:
    if name == "moments":
        return REAL_OF.get(dtype, dtype)
    return INT64 if name in ("argmax", "argmin") else dtype


@cache
def text() -> str:
    """Return the CUDA C++ of the interpreter.

    The compiler takes long for large functions: operations of much code are functions, and others are in groups.
    """
    functions: list[str] = []
    lines: dict[int, list[str]] = {}
    for key, number in opcodes().items():
        if number < GROUP:
            code = _access(key)
        else:
            assert isinstance(key, tuple)
            name, loop = key
            if op_code.is_long(name, loop):
                functions.append(_function(number, name, loop))
            code = _operation(number, name, loop)
        lines.setdefault(number // GROUP, []).append(f"    case {number}: {code} break;")
    accesses, *groups = ("\n".join(found) for found in lines.values())
    calls = "\n".join(f"    case {n}: group_{n}(operation, to, a, b, c); break;" for n in range(1, len(lines)))
    head, tail = source("codegen/dependent", "codegen/wrap", "codegen/last_block", "codegen/interpreter").split(
        "// Groups\n"
    )
    casts = [("cast", (FLOAT64, dtype)) for dtype in _SCALARS]
    parts = [
        op_code.helpers([*_elementwise(), *_reducers(), *casts]),
        *(f"#define {name} {value}" for name, value in _SIZES.items()),
        f"#define MOMENTS {min(number for (name, _), number in _reducers().items() if name == 'moments')}",
        head,
        *functions,
        *(_GROUP % (n, cases) for n, cases in enumerate(groups, 1)),
        *_reductions(),
        tail.replace("    // accesses", accesses).replace("    // calls", calls),
    ]
    return "\n".join(parts)


def _access(key: object) -> str:
    """Return the C of an instruction that reads or writes an argument, or makes an index."""
    if key == "index":
        return "places(at, w, b, dims, cells); EACH put(CELL(to), at[v]);"
    assert isinstance(key, tuple)
    kind, what = key
    if kind == "scalar":
        return f"{{ const {C_TYPE[what]} x = {_scalar(what)}; EACH put(CELL(to), x); }}"
    bits = f"u{8 * what}" if what <= 8 else "Pair"
    return f"{kind}<{bits}>(w, to, a, b, c, dims, mask, cells);"


def _function(number: int, name: str, loop: Loop) -> str:
    """Return the function of an elementwise operation of much code."""
    letters = _LETTERS[: len(loop) - 1]
    parameters = ", ".join(f"{C_TYPE[dtype]} {x}" for x, dtype in zip(letters, loop, strict=False))
    result = op_code.expression(name, loop, letters)
    return f"__device__ __noinline__ {C_TYPE[loop[-1]]} operation_{number}({parameters}) {{ return {result}; }}"


def _operation(number: int, name: str, loop: Loop) -> str:
    """Return the C of an elementwise instruction; that of few machine instructions is there for each point."""
    letters = _LETTERS[: len(loop) - 1]
    result = op_code.expression(name, loop, letters)
    each = "EACH" if not any(part in result for part in ("op::", "/", "sqrt", "next")) else "EACH_ALONE"
    if op_code.is_long(name, loop):
        each, result = "EACH_ALONE", f"operation_{number}({', '.join(letters)})"
    values = " ".join(
        f"const {C_TYPE[dtype]} {x} = get<{C_TYPE[dtype]}>(CELL({slot}));"
        for x, slot, dtype in zip(letters, "abc", loop, strict=False)
    )
    return f"{each} {{ {values} put(CELL(to), {result}); }}"


class _StateFunction(NamedTuple):
    """What is done to the state of a reduction.

    Attributes
    ----------
    signature
        The function's name and parameters, of which the number of the reduction is the first.
    template
        Its lines for each reduction.
    begin
        Its first lines.
    only_moments
        Whether it is there for moments alone, which have their own way to be combined, and to take arrays of elements.
    """

    signature: str
    template: str
    begin: str = ""
    only_moments: bool = False


_STATE_FUNCTIONS = (
    _StateFunction("void start(int reducer, u64* state)", "write(state, S({identity}));"),
    _StateFunction(
        "void combine(int reducer, u64* into, const u64* other)",
        "const S a = read<S>(into), b = read<S>(other); write(into, S({combined}));",
    ),
    _StateFunction(
        "void align(int reducer, u64* state, const u64* to)",
        "const S a = read<S>(state), b = read<S>(to); write(state, S({aligned}));",
        only_moments=True,
    ),
    _StateFunction(
        "void combine_aligned(int reducer, u64* into, const u64* other)",
        "const S a = read<S>(into), b = read<S>(other); write(into, S({combined_aligned}));",
        only_moments=True,
    ),
    _StateFunction(
        "void result(int reducer, int to, const u64* state, int extra)",
        "const S s = read<S>(state); const T x = {finished}; EACH put(CELL(to), x);",
        "COLUMNS; const f64 ddof = get<f64>(cells + extra * (POINTS * THREADS));",
    ),
    # There may be two ways: of elements one by one, and of those that a compiled kernel has in an array.
    _StateFunction(
        "void accumulate(int number, u64* state, int a, unsigned mask, const long long (&at)[POINTS])",
        "S s = read<S>(state); EACH_ALONE if (mask >> v & 1) {{ const A x = get<A>(CELL(a)); {accumulated} }} "
        "write(state, s);",
        "COLUMNS; const int reducer = number / 2; const bool in_array = number % 2;",
    ),
    _StateFunction(
        "void accumulate_array(int reducer, u64* state, int a, int kept, const Tile& tile)",
        "push_tile<{partial}, S, A>(state, a, kept, tile);",
        only_moments=True,
    ),
)


def _reductions() -> Iterator[str]:
    """Return the functions of the states of all reductions."""
    for function in _STATE_FUNCTIONS:
        yield f"__device__ __noinline__ {function.signature} {{\n  {function.begin}\n  switch (reducer) {{"
        for (name, loop), number in _reducers().items():
            if name == "moments" or not function.only_moments:
                yield f"    case {number}: {{ {_state_code(function.template, name, loop)} break; }}"
        yield "  }\n}"


def _state_code(template: str, name: str, loop: Loop) -> str:
    """Return the lines of a function for one reduction."""
    code = op_code.reduction(name, loop)
    one = f"s = {code.accumulate('s', ['x'], 'at[v]')};"
    if code.accumulate_many_template and name != "moments":
        arrays = "const A several[1] = {x}; const bool exist[1] = {true};"
        many = code.accumulate_many("s", "several", "exist")
        one = f"if (in_array) {{ {arrays} s = {many}; }} else {one}"
    line = template.format(
        identity=code.identity,
        combined=code.combine("a", "b"),
        aligned=code.align("a", "b"),
        combined_aligned=code.combine_aligned("a", "b"),
        finished=code.finish("s", ["ddof"]),
        accumulated=one,
        partial=C_TYPE[op_code.partial_dtype(name, loop)],
    )
    return f"typedef {code.state} S; typedef {C_TYPE[loop[0]]} A; typedef {C_TYPE[loop[-1]]} T; {line}"


def _scalar(dtype: DType) -> str:
    """Return the C expression of a scalar argument, as `Unit.scalar` has it, of the words that hold it."""
    if dtype == BOOL:
        return "w[a] != 0"
    if dtype == FLOAT32:
        return "op::bit_cast<f32>(u32(w[a]))"
    have: DType = FLOAT64
    value = "op::bit_cast<f64>(w[a])"
    if KIND[dtype] == "c":
        value = op_code.expression("complex", (FLOAT64, FLOAT64, COMPLEX128), [value, "op::bit_cast<f64>(w[a + 1])"])
        have = COMPLEX128
    elif KIND[dtype] not in "ef":
        return f"{C_TYPE[dtype]}(w[a])"
    return value if dtype == have else op_code.expression("cast", (have, dtype), [value])
