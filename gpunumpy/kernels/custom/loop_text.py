"""The C++ of a kernel that indexes its arrays by itself: one function for a GPU's threads and for the host."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from ...core.dtypes import DType
from ...core.graph.layout import Layout, Shape
from ..codegen.sources import source
from .text import identifier, in_namespace, user_lines, user_type

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include(?![ \t]*<cupy/complex.cuh>)", re.MULTILINE)
_TYPES = ("codegen/types", "custom/complex", "custom/types", "custom/arrays", "custom/atomics")


class LoopParameter(NamedTuple):
    """A parameter of a loop.

    `is_output`: it is written to. `same_as`: the number of the earlier output that is the same array, or -1.
    """

    name: str
    dtype: DType
    is_raw: bool
    is_output: bool
    same_as: int = -1


class Loop(NamedTuple):
    """A loop over elements.

    Attributes
    ----------
    name, types, operation, preamble
        As those of `kernels.custom.text.Operation`.
    parameters : tuple of LoopParameter
        The inputs, and then the outputs.
    before, after : str
        Statements before and after the loop of each thread.
    options : tuple of str
        Options of NVRTC.
    """

    name: str
    types: tuple[tuple[str, DType], ...]
    parameters: tuple[LoopParameter, ...]
    operation: str
    preamble: str
    before: str
    after: str
    options: tuple[str, ...]

    @property
    def inputs(self) -> list[LoopParameter]:
        """The parameters that are read."""
        return [p for p in self.parameters if not p.is_output]

    @property
    def outputs(self) -> list[LoopParameter]:
        """The parameters that are written to."""
        return [p for p in self.parameters if p.is_output]

    @property
    def arrays(self) -> list[int]:
        """Of each parameter the number of its array: first are those of the inputs, then the outputs that differ."""
        count = len(self.inputs)
        found = list(range(count))
        for output in self.outputs:
            is_new = output.same_as < 0
            found.append(count if is_new else found[len(self.inputs) + output.same_as])
            count += is_new
        return found

    @property
    def is_plain(self) -> bool:
        """Whether it takes no options and no files."""
        return not (self.options or _INCLUDE.search(self.preamble) or _INCLUDE.search(self.operation))


class MadeLoop(str):
    """The name of a loop in a graph, with the loop; as of a `MadeOp`, equal names are of equal loops."""

    loop: Loop
    is_plain: bool

    def __new__(cls, loop: Loop) -> MadeLoop:
        """Return the name of a loop."""
        digest = sha256(repr(loop).encode()).hexdigest()[:16]
        name = super().__new__(cls, f"{identifier(loop.name)}_{digest}")
        name.loop, name.is_plain = loop, loop.is_plain
        return name

    def __reduce__(self) -> tuple[type[MadeLoop], tuple[Loop]]:
        """Pickle the name with the loop."""
        return MadeLoop, (self.loop,)


def layouts_of(loop: Loop, layouts: Sequence[Layout]) -> list[Layout]:
    """Return the layouts of a loop's parameters. `layouts` are those of the results, and of the inputs."""
    results = len(layouts) - len(loop.inputs)
    of_arrays = [*layouts[results:], *layouts[:results]]
    return [of_arrays[number] for number in loop.arrays]


def shape_of(loop: Loop, layouts: Sequence[Layout], size: int) -> Shape:
    """Return the shape of a loop whose parameters have these layouts; of raw ones alone it has `size` elements."""
    shapes = (where.shape for p, where in zip(loop.parameters, layouts, strict=True) if not p.is_raw)
    return next(shapes, (size,))


def numbers_of(layouts: Sequence[Layout], shape: Shape) -> list[int]:
    """Return what a loop takes besides addresses: sizes, strides and the offset of each array, and its own sizes."""
    found = [n for where in layouts for n in (*where.shape, *where.strides, where.offset)]
    return [*found, *shape]


@lru_cache(maxsize=1024)
def texts(made: MadeLoop, ndims: tuple[int, ...], dimensions: int) -> tuple[str, str, str]:
    """Return C++ that defines a loop, the name of the function, and the declarations of its arguments.

    These are an address of each parameter, and `numbers_of`. The function takes them, and then the first position, the
    step to the next one and the number of elements.

    Parameters
    ----------
    made
        The loop.
    ndims
        The number of dimensions of each parameter.
    dimensions
        That of the loop.
    """
    loop = made.loop
    label = identifier(loop.name)
    lines, pointers, numbers, elements = [], [], [], []
    for k, (p, n) in enumerate(zip(loop.parameters, ndims, strict=True)):
        c_type = user_type(p.dtype) if p.is_output else f"const {user_type(p.dtype)}"
        array = p.name if p.is_raw else f"_array_{p.name}"
        sizes, steps = ([f"{letter}{k}_{d}" for d in range(n)] for letter in "zs")
        pointers.append(f"{c_type}* a{k}")
        numbers += [*sizes, *steps, f"o{k}"]
        lines.append(f"op::Array<{c_type}, {n}> {array};")
        lines += [f"{array}.data = a{k} + o{k};"]
        lines += [f"{array}.shape_[{d}] = {sizes[d]}; {array}.steps[{d}] = {steps[d]};" for d in range(n)]
        lines.append(f"{array}.prepare();")
        if not p.is_raw:
            elements.append(f"{c_type}& {p.name} = {array}.at(i, _ind);")
    numbers += [f"m{d}" for d in range(dimensions)]
    arguments = ", ".join([*pointers, *(f"i64 {x}" for x in numbers)])
    lines.append(f"op::Space<{dimensions}> _ind;")
    lines += [f"_ind.shape_[{d}] = m{d};" for d in range(dimensions)]
    lines.append("_ind.count = n;")
    declared, read = "\n".join(lines), "\n".join(elements)
    before, after = (user_lines(label, text) if text else "" for text in (loop.before, loop.after))
    body = (
        f"{declared}\n{before}for (i64 i = _first; i < n; i += _step) {{\n_ind.set(i);\n{read}\n"
        f"{user_lines(label, loop.operation)}}}\n{after}"
    )
    head = f"__device__ inline void run({arguments}, i64 _first, i64 _step, i64 n)"
    functions = f"{head} {{\n{body}}}"
    text = in_namespace(made, label, loop.types, loop.preamble, functions)
    return f"{source(*_TYPES)}\n{text}", f"{made}::run", arguments
