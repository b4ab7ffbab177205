"""The C++ of operations that users write, and the ops of the graph that it makes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from ...core.dtypes import BYTE_FLOATS, C_TYPE, DType
from ...core.ops.made import MadeOp

# The types of a user's variables, where they are not C's of the same name.
_USER_TYPES = {"f16": "float16", "bf16": "bfloat16", "c64": "complex<f32>", "c128": "complex<f64>"}
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)")
_COMPLEX_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<cupy/complex.cuh>", re.MULTILINE)
# Options of the compiler that say nothing of how to compile: macros, and the standard if it is no later than ours.
_MACRO_OPTION = re.compile(r"-D([A-Za-z_]\w*(?:\([^()]*\))?)(?:=(.*))?\Z", re.DOTALL)
_STANDARD_OPTION = re.compile(r"--?std=c\+\+(?:03|11|14|17)\Z")
# What makes a statement one that may not run.
_CONTROL = re.compile(r"[{}#?]|\b(?:if|else|for|while|do|switch|case|return|goto|break|continue)\b|//|/\*|&&|\|\|")
_CONTINUE = re.compile(r"\bcontinue\b")
# A text of more characters is taken for one of fifty instructions or more.
_LONG_TEXT = 120


class Variable(NamedTuple):
    """A variable of an operation."""

    name: str
    dtype: DType


class Operation(NamedTuple):
    """An operation of which all types are known.

    Attributes
    ----------
    name : str
        What messages call it.
    types : tuple
        Pairs of a name that stands for a type, and the dtype.
    inputs, outputs : tuple of Variable
        What it reads, and what it writes.
    text : str
        Statements in C++.
    preamble : str
        Declarations before it.
    reads_outputs : bool
        Whether the values that the outputs have before are arguments, after the inputs.
    """

    name: str
    types: tuple[tuple[str, DType], ...]
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    text: str
    preamble: str = ""
    reads_outputs: bool = False

    @property
    def reads_index(self) -> bool:
        """Whether the position ``i`` of the element is an argument, after those before: it is read, or nothing else."""
        return names(self.text, "i") or not (self.inputs or self.reads_outputs)

    @property
    def reads_size(self) -> bool:
        """Whether it reads the number of elements ``n``, or ``_ind.size()``: then that is the last argument."""
        return names(self.text, "n") or names(self.text, "_ind")

    @property
    def loop(self) -> tuple[DType, ...]:
        """The dtypes of the arguments."""
        int64 = _INT64
        given = [v.dtype for v in (*self.inputs, *(self.outputs if self.reads_outputs else ()))]
        return (*given, *([int64] * self.reads_index), *([int64] * self.reads_size))


_INT64 = next(dtype for dtype, name in C_TYPE.items() if name == "i64")


def names(text: str, name: str) -> bool:
    """Return whether a text has a word in it."""
    return re.search(rf"(?<![\w.]){name}\b", text) is not None


def overwrites(operation: str, preamble: str, name: str) -> bool:
    """Return whether an operation surely assigns to a variable, and reads nothing of it: a line of statements does."""
    if _DEFINE.search(preamble) or _CONTROL.search(operation):
        return False
    return len(re.findall(rf"(?<![\w.]){name}\b", operation)) == 1 and bool(
        re.search(rf"(?:^|;)\s*{name}\s*=(?!=)", operation)
    )


def macros_of(options: Sequence[str]) -> str:
    """Return options of the compiler as definitions of macros.

    Raises
    ------
    ValueError
        For any other option.
    """
    for option in options:
        if not _MACRO_OPTION.match(option) and not _STANDARD_OPTION.match(option):
            raise ValueError(
                f"the option {option!r} is not supported for what is compiled with other operations; allowed: "
                "-DNAME, -DNAME=VALUE, -std=c++17 and earlier standards"
            )
    return macros_in(options)


def macros_in(options: Sequence[str]) -> str:
    """Return those options of the compiler that define macros, as definitions."""
    found = [macro.groups() for option in options if (macro := _MACRO_OPTION.match(option))]
    return "".join([f"#define {name} {'1' if value is None else value}\n" for name, value in found])


def user_type(dtype: DType) -> str:
    """Return the C++ type of a user's variable. Raise `TypeError` for a float of one byte, which has none."""
    if dtype in BYTE_FLOATS:
        raise TypeError(f"kernels of one's own have no type for {dtype}: convert it, or take its bytes as uint8")
    c_type = C_TYPE[dtype]
    return _USER_TYPES.get(c_type, c_type)


def identifier(name: str) -> str:
    """Return a name of C++ that is like another name."""
    return re.sub(r"\W", "_", name) or "kernel"


def typedefs(types: Sequence[tuple[str, DType]]) -> str:
    """Return the definitions of names that stand for types."""
    return "".join(f"typedef {user_type(dtype)} {name};\n" for name, dtype in types)


def in_namespace(name: str, label: str, types: Sequence[tuple[str, DType]], preamble: str, functions: str) -> str:
    """Return functions after a user's preamble, with nothing of either visible outside: macros are undefined.

    `label` is what the compiler calls the preamble in messages.
    """
    included, preamble = _without_headers(_COMPLEX_HEADER.sub("", preamble), label)
    macros = dict.fromkeys(_DEFINE.findall(preamble) + _DEFINE.findall(functions))
    undefined = "".join(f"#undef {macro}\n" for macro in macros)
    before = f'#line 1 "{label}, preamble"\n{preamble}\n' if preamble.strip() else ""
    return f"{included}namespace {name} {{\n{typedefs(types)}{before}{functions}\n}}\n{undefined}"


def _without_headers(preamble: str, label: str) -> tuple[str, str]:
    """Return the lines that include files, which are for no namespace, and a preamble without them.

    Those between ``#if`` and ``#endif`` stay.
    """
    included, left, depth = "", [], 0
    for number, line in enumerate(preamble.split("\n"), 1):
        word = _DIRECTIVE.match(line)
        depth += 0 if word is None else word[1].startswith("if") - (word[1] == "endif")
        is_header = word is not None and word[1] == "include" and not depth
        included += f'#line {number} "{label}, preamble"\n{line}\n' if is_header else ""
        left.append("" if is_header else line)
    return included, "\n".join(left)


def user_lines(label: str, text: str) -> str:
    """Return a user's text, of which the compiler tells the lines as the user counts them."""
    return f'#line 1 "{label}"\n{text}\n;\n#line 1 "gpunumpy"\n'


@lru_cache(maxsize=1024)
def ops_of(operation: Operation) -> tuple[MadeOp, ...]:
    """Return the op of every output of an operation, of the arguments that `Operation.loop` tells."""
    label = identifier(operation.name)
    name = f"{label}_{sha256(repr(operation).encode()).hexdigest()[:16]}"
    given = "".join(f"const {user_type(v.dtype)} {v.name}, " for v in operation.inputs)
    results = "".join(f"{user_type(v.dtype)}& {v.name}, " for v in operation.outputs)
    parameters = f"{given}{results}const long long i, const long long n, const op::Size _ind"
    body = user_lines(label, operation.text)
    if _CONTINUE.search(operation.text):  # to the next element: CuPy's operations are in a loop over them
        body = f"do {{\n{body}}} while (false);\n"
    functions = f"__device__ __forceinline__ void run({parameters}) {{\n{body}}}"
    definitions = in_namespace(name, label, operation.types, operation.preamble, functions)
    is_long = len(operation.text) > _LONG_TEXT
    return tuple(
        MadeOp(f"{name}_{k}", (definitions, _function(operation, name, k)), is_long)
        for k in range(len(operation.outputs))
    )


def _function(operation: Operation, name: str, number: int) -> str:
    """Return the function of one output."""
    words: list[str] = [f"x{k}" for k in range(len(operation.loop))]
    parameters = ", ".join(f"{C_TYPE[dtype]} {word}" for word, dtype in zip(words, operation.loop, strict=True))
    left = iter(words)
    inputs = [f"op::to_user({next(left)})" for _ in operation.inputs]
    lines = []
    for k, output in enumerate(operation.outputs):
        start = f"op::to_user({next(left)})" if operation.reads_outputs else f"{user_type(output.dtype)}()"
        lines.append(f"  {user_type(output.dtype)} y{k} = {start};")
    index = next(left) if operation.reads_index else "0"
    size = next(left) if operation.reads_size else "0"
    arguments = ", ".join(
        [*inputs, *(f"y{k}" for k in range(len(operation.outputs))), index, size, f"op::Size{{{size}}}"]
    )
    result = C_TYPE[operation.outputs[number].dtype]
    body = "\n".join(lines)
    return (
        f"__device__ __forceinline__ {result} {name}_{number}({parameters}) {{\n{body}\n"
        f"  {name}::run({arguments});\n  return op::from_user(y{number});\n}}\n"
    )


def check_text(op: MadeOp, loop: tuple[DType, ...], helpers: str) -> str:
    """Return a program that has nothing but an op in it, to have it compiled."""
    *types, result = (C_TYPE[dtype] for dtype in loop)
    parameters = "".join(f", {c_type} x{k}" for k, c_type in enumerate(types))
    arguments = ", ".join(f"x{k}" for k in range(len(types)))
    head = f'extern "C" __global__ void check({result}* y{parameters})'
    return f"{helpers}\n{head} {{ *y = {op}({arguments}); }}\n"
