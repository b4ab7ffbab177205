"""The C++ of reductions that users write, and the op of the graph that it makes."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from ...core.dtypes import C_TYPE, DType
from ...core.ops.made import MadeReduction
from ...core.ops.reductions import Reduction
from .text import Variable, identifier, in_namespace, user_lines, user_type


class ReductionTexts(NamedTuple):
    """A reduction of which all types are known.

    Attributes
    ----------
    name : str
        What messages call it.
    types : tuple
        Pairs of a name that stands for a type, and the dtype.
    state : str
        The type of partial results.
    combine : str
        An expression of two of them, ``a`` and ``b``.
    identity : str
        An expression of the partial result of no elements, or an empty text for the type's own zero.
    preamble : str
        Declarations before all expressions.
    element : str
        What `map` calls an element. Empty if partial results and elements are of one dtype, which is the result's too.
    map : str
        An expression of the partial result of an element.
    outputs : tuple of Variable
        What `finish` writes.
    finish : str
        Statements that write the outputs, of a partial result ``a``.
    result : str
        The output that is the result.
    """

    name: str
    types: tuple[tuple[str, DType], ...]
    state: str
    combine: str
    identity: str
    preamble: str
    element: str = ""
    map: str = ""
    outputs: tuple[Variable, ...] = ()
    finish: str = ""
    result: str = ""


@lru_cache(maxsize=1024)
def reduction_of(texts: ReductionTexts, loop: tuple[DType, DType]) -> MadeReduction:
    """Return the reduction, of the graph, of elements to results of these dtypes."""
    label = identifier(texts.name)
    name = f"{label}_{sha256(repr((texts, loop)).encode()).hexdigest()[:16]}"
    element, result = (user_type(dtype) for dtype in loop)
    stored, returned = (C_TYPE[dtype] for dtype in loop)
    mapped = user_expression(label, texts.map) if texts.element else "x"
    finished = (
        f"{''.join(f'{user_type(v.dtype)} {v.name} = {user_type(v.dtype)}();' for v in texts.outputs)}\n"
        f"{user_lines(label, texts.finish)}return op::from_user({texts.result});"
        if texts.element
        else f"const {result} value = a; return op::from_user(value);"
    )
    functions = (
        f"typedef {texts.state} State;\n"
        f"__device__ __forceinline__ State identity() {{ return State({texts.identity}); }}\n"
        f"__device__ __forceinline__ State combine(const State a, const State b) {{\n"
        f"  return {user_expression(label, texts.combine)};\n}}\n"
        f"__device__ __forceinline__ State map_user(const {element} {texts.element or 'x'}) {{ return {mapped}; }}\n"
        f"__device__ __forceinline__ State map(const {stored} x) {{ return map_user(op::to_user(x)); }}\n"
        f"__device__ __forceinline__ {returned} finish(const State a) {{\n{finished}\n}}"
    )
    definitions = in_namespace(name, label, texts.types, texts.preamble, functions)
    row = Reduction(
        name,
        {"*": f"{name}::identity()"},
        "argument",
        f"{name}::State",
        f"{name}::map({{0}})",
        f"{name}::combine({{a}}, {{b}})",
        f"{name}::finish({{s}})",
        scans=False,
    )
    return MadeReduction(name, (definitions,), row)


def user_expression(label: str, text: str) -> str:
    """Return a user's expression, of which the compiler tells the lines as the user counts them."""
    return f'(\n#line 1 "{label}"\n{text}\n#line 1 "gpunumpy"\n)'


def check_text(op: MadeReduction, loop: tuple[DType, ...], helpers: str) -> str:
    """Return a program that has nothing but a reduction in it, to have it compiled."""
    stored, returned = (C_TYPE[dtype] for dtype in loop)
    head = f'extern "C" __global__ void check({returned}* y, {stored} x)'
    return f"{helpers}\n{head} {{ *y = {op}::finish({op}::combine({op}::identity(), {op}::map(x))); }}\n"
