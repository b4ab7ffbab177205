"""The text of a routine while it grows: its entries, their launches, and the sizes that are their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.dtypes import C_TYPE
from ...core.graph.layout import Layout, broadcast_strides
from ..codegen import op_code
from ..codegen.program import Launch, Program, Scratch

THREADS = 256
_MOST_BLOCKS = 1 << 16


class Routine:
    """A program in the making; what depends on sizes is a parameter, so that one text serves them all."""

    def __init__(self) -> None:
        self._params: list[int] = []
        self._entries: list[tuple[str, str, str]] = []
        self._launches: list[Launch] = []
        self._rows: list[tuple[str, Any]] = []

    def param(self, value: int) -> str:
        """A name for the number."""
        self._params.append(value)
        return f"p{len(self._params) - 1}"

    def split(self, name: str, shape: Sequence[int]) -> str:
        """Take the position `name` over `shape` apart into ``x0``, ``x1``, ..."""
        text = f"long long rest = {name};"
        for axis in range(len(shape) - 1, 0, -1):
            size = self.param(shape[axis])
            text += f" const long long x{axis} = rest % {size}; rest /= {size};"
        return text + (" const long long x0 = rest;" if shape else "")

    def offset(self, where: Layout, shape: tuple[int, ...]) -> str:
        """Where the element ``x0, x1, ...`` of `shape` lies, the layout broadcast to it."""
        strides = broadcast_strides(where.shape, where.strides, shape)
        terms = [f"x{axis} * {self.param(s)}" for axis, s in enumerate(strides) if s]
        return " + ".join((self.param(where.offset), *terms))

    def apply(self, op: str, loop: tuple[Any, ...], args: Sequence[str]) -> str:
        """One application of a row."""
        self.need(op, loop)
        return op_code.expression(op, loop, args)

    def cast(self, name: str, have: Any, want: Any) -> str:
        """A value as another dtype."""
        return name if have == want else self.apply("cast", (have, want), [name])

    def need(self, op: str, loop: tuple[Any, ...]) -> None:
        """Ask for the helpers of a row."""
        self._rows.append((op, loop))

    def entry(
        self,
        name: str,
        body: str,
        blocks: int,
        threads: int = THREADS,
        shared: int = 0,
        most: int | None = None,
        resident: int = 1,
    ) -> None:
        """An entry, launched after those before it; `shared` is its dynamic shared memory in bytes.

        One that may be launched with up to `most` threads takes no more registers than those have, in so many
        `resident` blocks of a processor.
        """
        self._entries.append((name, body, f"__launch_bounds__({most}, {resident}) " if most else ""))
        self._launches.append(Launch(name, (blocks, 1, 1), (threads, 1, 1), shared))

    def each(self, name: str, variable: str, count: int, total: str, body: str, team: int = 1) -> None:
        """An entry that does `body` for every value of `variable` below `total`, a team of threads to each."""
        start = f"((long long)blockIdx.x * {THREADS} + threadIdx.x) / {team}"
        step = f"(long long)gridDim.x * {THREADS // team}"
        text = (
            f"  for (long long {variable} = {start}; {variable} < {total}; {variable} += {step}) {{\n    {body}\n  }}"
        )
        self.entry(name, text, min(_MOST_BLOCKS, -(-count * team // THREADS)))

    def program(
        self, pointers: Sequence[str], scratch: Sequence[tuple[str, int]] = (), *, flag: bool = False, head: str = ""
    ) -> Program:
        """The program; `pointers` are the parameters of its arguments, `scratch` those of its memory with the sizes."""
        words = [*pointers, *(name for name, _ in scratch), *(("int* flag",) if flag else ())]
        parameters = ", ".join((*words, *(f"long long p{k}" for k in range(len(self._params)))))
        entries = "\n".join(
            f'extern "C" __global__ void {bounds}{name}({parameters}) {{\n{body}\n}}'
            for name, body, bounds in self._entries
        )
        text = f"{op_code.helpers(self._rows)}\n{head}\n{entries}\n"
        blocks = tuple(Scratch(size) for _, size in scratch)
        return Program(text, tuple(self._launches), blocks, flag, tuple(self._params))


NOTHING = Program("", (), (), False, ())


def pointer(dtype: Any, name: str, const: str = "const ") -> str:
    """The parameter of an array."""
    return f"{const}{C_TYPE[dtype]}* {name}"


def chosen(which: str, types: Mapping[str, str], most: int) -> str:
    """C++ that names one of the parameters ``x_0``, ``x_1``, ... `x`, the one of number `which`, for every name."""
    cases = "".join(f" case {k}: {''.join(f'{name} = {name}_{k}; ' for name in types)}break;" for k in range(1, most))
    first = " ".join(f"{kind} {name} = {name}_0;" for name, kind in types.items())
    return f"{first} switch ({which}) {{{cases} }}"
