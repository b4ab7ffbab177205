"""Construction of hand-written programs: entries, their launches, and the parameters that hold sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.dtypes import C_TYPE
from ...core.graph.layout import Layout, broadcast_strides
from ..codegen import op_code
from ..codegen.program import Launch, Program, Scratch
from ..codegen.sources import source

THREADS = 256
_MAX_BLOCKS = 1 << 16


class ProgramBuilder:
    """A program under construction. Numbers that depend on sizes are parameters, so that one text serves all sizes."""

    def __init__(self) -> None:
        self._params: list[int] = []
        self._entries: list[tuple[str, str, str]] = []
        self._launches: list[Launch] = []
        self._ops: list[tuple[str, Any]] = []
        self._dtypes_without_op: list[Any] = []

    def param(self, value: int) -> str:
        """Return the name of a new parameter with this value."""
        self._params.append(value)
        return f"p{len(self._params) - 1}"

    def unravel(self, name: str, shape: Sequence[int]) -> str:
        """Return C that defines the indices ``x0``, ``x1``, ... of the position `name` in an array of `shape`."""
        text = f"long long rest = {name};"
        for axis in range(len(shape) - 1, 0, -1):
            size = self.param(shape[axis])
            text += f" const long long x{axis} = rest % {size}; rest /= {size};"
        return text + (" const long long x0 = rest;" if shape else "")

    def offset(self, layout: Layout, shape: tuple[int, ...]) -> str:
        """Return the C expression of the offset of element ``x0, x1, ...``, with the layout broadcast to `shape`."""
        strides = broadcast_strides(layout.shape, layout.strides, shape)
        terms = [f"x{axis} * {self.param(s)}" for axis, s in enumerate(strides) if s]
        return " + ".join((self.param(layout.offset), *terms))

    def apply(self, op: str, loop: tuple[Any, ...], args: Sequence[str]) -> str:
        """Return the C expression of one application of an op."""
        self.require_op(op, loop)
        return op_code.expression(op, loop, args)

    def cast(self, name: str, have: Any, want: Any) -> str:
        """Return the C expression of value `name`, converted from dtype `have` to `want`."""
        return name if have == want else self.apply("cast", (have, want), [name])

    def require_op(self, op: str, loop: tuple[Any, ...]) -> None:
        """Include the helper functions of an op in the program."""
        self._ops.append((op, loop))

    def require_types(self, *dtypes: Any) -> None:
        """Include the element types of dtypes in the program, to which it may apply no op."""
        self._dtypes_without_op += dtypes

    def add_entry(
        self,
        name: str,
        body: str,
        blocks: int,
        threads: int = THREADS,
        shared: int = 0,
        max_threads: int | None = None,
        resident: int = 1,
    ) -> None:
        """Add an entry, launched after the entries before it, with `shared` bytes of dynamic shared memory.

        `max_threads`, if given, is the largest number of threads of any launch: the compiler limits registers so that
        `resident` blocks of so many threads fit a processor.
        """
        self._entries.append((name, body, f"__launch_bounds__({max_threads}, {resident}) " if max_threads else ""))
        self._launches.append(Launch(name, (blocks, 1, 1), (threads, 1, 1), shared, waits=True))

    def add_loop_entry(self, name: str, variable: str, count: int, total: str, body: str, team: int = 1) -> None:
        """Add an entry that runs `body` for every value of `variable` below `total`, with `team` threads each.

        `count` is the value of `total`, from which the number of blocks follows.
        """
        start = f"((long long)blockIdx.x * {THREADS} + threadIdx.x) / {team}"
        step = f"(long long)gridDim.x * {THREADS // team}"
        text = (
            f"  for (long long {variable} = {start}; {variable} < {total}; {variable} += {step}) {{\n    {body}\n  }}"
        )
        self.add_entry(name, text, min(_MAX_BLOCKS, -(-count * team // THREADS)))

    def build(
        self, pointers: Sequence[str], scratch: Sequence[tuple[str, int]] = (), *, flag: bool = False, head: str = ""
    ) -> Program:
        """Return the program.

        Parameters
        ----------
        pointers
            C declarations of the parameters of its arguments.
        scratch
            C declarations of the parameters of its scratch memory, with the bytes of each.
        flag
            Whether entries take the out-of-bounds flag.
        head
            Text before the entries.
        """
        words = [*pointers, *(name for name, _ in scratch), *(("int* flag",) if flag else ())]
        parameters = ", ".join((*words, *(f"long long p{k}" for k in range(len(self._params)))))
        entries = "\n".join(
            f'extern "C" __global__ void {bounds}{name}({parameters}) {{\n  await_kernels_before();\n{body}\n}}'
            for name, body, bounds in self._entries
        )
        helpers = op_code.helpers(self._ops, self._dtypes_without_op)
        text = f"{source('codegen/dependent')}\n{helpers}\n{head}\n{entries}\n"
        blocks = tuple(Scratch(size) for _, size in scratch)
        return Program(text, tuple(self._launches), blocks, flag, tuple(self._params))


# The program that launches no kernel.
EMPTY_PROGRAM = Program("", (), (), False, ())


def pointer_declaration(dtype: Any, name: str, const: str = "const ") -> str:
    """Return the C declaration of the parameter of an array."""
    return f"{const}{C_TYPE[dtype]}* {name}"


def select_parameters(number: str, types: Mapping[str, str], count: int) -> str:
    """Return C++ that defines, for every name ``x`` of `types`, ``x`` as the parameter ``x_<number>`` of `count`."""
    cases = "".join(f" case {k}: {''.join(f'{name} = {name}_{k}; ' for name in types)}break;" for k in range(1, count))
    first = " ".join(f"{kind} {name} = {name}_0;" for name, kind in types.items())
    return f"{first} switch ({number}) {{{cases} }}"
