"""A translation unit under construction: its text, its parameters, and the ops of the table that it uses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod

from ...core.dtypes import C_TYPE, FLOAT32, KIND, DType
from ...core.schedule.kernel import Affine, Kernel, LoadIndexed, are_row_level, memory_of
from . import op_code
from .collapse import affines, bodies
from .program import Launch, Program, Scratch
from .sources import source

_PRELUDE = source("codegen/dependent", "codegen/prelude", "codegen/last_block", "codegen/wrap")

# Kind of a scalar argument's dtype -> the C type as which it is passed to a kernel.
_ARGUMENT_TYPE = {
    "b": "long long",
    "i": "long long",
    "u": "unsigned long long",
    "e": "double",
    "f": "double",
    "c": "double",
}

_INT32_LIMIT = 2**31 - 2**22  # leaves a margin for a last tile that starts inside the loops and ends outside


# Kernels of no more points than this for each processor run for a few microseconds.
_SMALL_POINTS_PER_PROCESSOR = 2048


class Text:
    """The lines of a C function, with their indentation. As a context, it ends the block that was begun last."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._indent = "  "

    def line(self, text: str) -> None:
        """Add one line."""
        self.lines.append(self._indent + text)

    def __enter__(self) -> None:
        """Add lines to the block that has been begun."""

    def __exit__(self, *error: object) -> None:
        """Add the closing brace."""
        self._indent = self._indent[:-2]
        self.line("}")

    def block(self, head: str) -> Text:
        """Begin a block with ``head {``."""
        self.line(f"{head} {{" if head else "{")
        self._indent += "  "
        return self

    def unrolled(self, name: str, count: int) -> Text:
        """Begin an unrolled loop of `name` from 0 to `count`; a block without a loop if `count` is 1."""
        if count == 1:
            self.block("")
            self.line(f"const int {name} = 0;")
            return self
        self.line("#pragma unroll")
        return self.block(f"for (int {name} = 0; {name} < {count}; ++{name})")

    def rolled(self, start: str, end: str, step: int) -> Text:
        """Begin a loop that is not unrolled. `start` initialises its index, which grows by `step`."""
        name = start.split()[0]
        self.line("#pragma unroll 1")
        return self.block(f"for (Int {start}; {name} < {end}; {name} += {step})")


class Unit:
    """The entries of one program, with the parameters and helpers that they share.

    `wide_index` says that the type of indices, ``Int``, is 64 bits wide. `flag` says that entries take the
    out-of-bounds flag. `processors` is the number of multiprocessors; 0 where no entry is made.
    """

    def __init__(self, kernel: Kernel, processors: int = 0) -> None:
        self.kernel = kernel
        self._processors = processors
        self.wide_index = _needs_wide_index(kernel)
        self.flag = any(isinstance(instr, LoadIndexed) for body in bodies(kernel) for instr in body.instructions)
        self._params: list[int] = []
        self._param_names: dict[object, str] = {}
        self._used_ops: dict[tuple[str, tuple[DType, ...]], None] = {}
        self._reducer_names: dict[tuple[str, tuple[DType, ...], bool], str] = {}
        self._reducer_text: list[str] = []
        self._entries: list[tuple[str, str, Text]] = []
        self._launches: list[Launch] = []
        self._scratch: list[Scratch] = []

    @cached_property
    def is_row_level(self) -> list[bool]:
        """For every value of the kernel's body, whether it is computed once a row."""
        return are_row_level(self.kernel, self.kernel.body)

    @cached_property
    def is_small(self) -> bool:
        """Whether the kernel runs so shortly that it is to be started while the kernels before it run."""
        return prod(self.kernel.shape) <= self._processors * _SMALL_POINTS_PER_PROCESSOR

    # Parameters

    def long_param(self, value: int, key: object = None) -> str:
        """Return the name of a ``long long`` parameter that holds `value`. Equal keys share a parameter."""
        if key is not None and key in self._param_names:
            return self._param_names[key]
        name = f"p{len(self._params)}"
        self._params.append(value)
        if key is not None:
            self._param_names[key] = name
        return name

    def param(self, value: int, key: object = None) -> str:
        """Return the C expression of a parameter that holds `value`, as an ``Int``. Equal keys share a parameter."""
        return f"Int({self.long_param(value, key)})"

    def size(self, d: int) -> str:
        """Return the C expression of the number of turns of loop `d`."""
        return self.param(self.kernel.shape[d], ("size", d))

    def quotient(self, number: str, divisor: int, key: object) -> str:
        """Return the C expression of ``number / divisor`` for a nonnegative ``Int`` `number`.

        Equal keys must have equal divisors. GPUs have no instruction for integer division, and the code that replaces
        it would delay the first load; with 32-bit indices a product and a shift do (`quotient` in prelude.cuh).
        """
        if self.wide_index:
            return f"{number} / {self.param(divisor, key)}"
        divisor = max(divisor, 1)
        shift = 31 + (divisor - 1).bit_length()
        magic = (1 << shift) // divisor + 1
        return f"quotient({number}, {self.long_param(magic, (key, 'magic'))}, {self.long_param(shift, (key, 'shift'))})"

    def term(self, at: Affine, d: int, index: str) -> str:
        """Return the C expression of loop `d`'s term in `at`, for the loop index `index`; empty if it is 0."""
        if at.coef[d] == 0 or index == "0":
            return ""
        return index if at.coef[d] == 1 else f"{index} * {self.param(at.coef[d], (at.coef, d))}"

    def element(self, arg: int, at: Affine, index: Sequence[str]) -> str:
        """Return the C expression of the address of the element of `arg` at `at`, for these loop indices."""
        terms = [term for d, name in enumerate(index) if (term := self.term(at, d, name))]
        base = f"a{arg} + {self.long_param(at.offset)}" if at.offset else f"a{arg}"
        return f"({base} + ({' + '.join(terms)}))" if terms else f"({base})"

    # Ops of the table

    def expression(self, op: str, loop: tuple[DType, ...], args: Sequence[str]) -> str:
        """Return the C expression of one application of an elementwise op."""
        self._used_ops[op, loop] = None
        return op_code.expression(op, loop, list(args))

    def reducer(self, op: str, loop: tuple[DType, ...], scan: bool = False) -> tuple[str, op_code.ReductionCode]:
        """Return the C struct of a reduction or scan (``State``, ``identity``, ``combine``, ...) and its code."""
        code = op_code.reduction(op, loop, scan)
        name = self._reducer_names.get((op, loop, scan))
        if name is None:
            name = f"R{len(self._reducer_names)}"
            self._reducer_names[op, loop, scan] = name
            self._used_ops[op, loop] = None
            # Where elements have their own way of being accumulated, states are combined only at the end, where code
            # size matters more than speed.
            inlined = "__noinline__" if code.accumulate_template else "__forceinline__"
            self._reducer_text.append(
                f"struct {name} {{\n"
                f"  typedef {code.state} State;\n"
                f"  static __device__ __forceinline__ State identity() {{ return {code.identity}; }}\n"
                f"  static __device__ {inlined} State combine(State a, State b) {{\n"
                f"    return {code.combine('a', 'b')};\n  }}\n"
                f"  static constexpr bool ALIGNED = {'true' if code.align_template else 'false'};\n"
                "  static __device__ __forceinline__ State align(State a, State b) {\n"
                f"    return {code.align('a', 'b')};\n  }}\n"
                "  static __device__ __forceinline__ State combine_aligned(State a, State b) {\n"
                f"    return {code.combine_aligned('a', 'b')};\n  }}\n}};\n"
            )
        return name, code

    def scalar(self, arg: int) -> str:
        """Return the C expression of scalar argument `arg`, in the type of its dtype."""
        dtype = self.kernel.args[arg].dtype
        kind = KIND[dtype]
        if kind == "b":
            return f"(a{arg} != 0)"
        if kind in "ef" and dtype not in (FLOAT32, _F64):
            return self.expression("cast", (_F64, dtype), [f"a{arg}"])
        if kind == "c":
            value = self.expression("complex", (_F64, _F64, _C128), [f"a{arg}r", f"a{arg}i"])
            return value if dtype == _C128 else self.expression("cast", (_C128, dtype), [value])
        return f"{C_TYPE[dtype]}(a{arg})"

    # Functions

    def preamble(self) -> str:
        """Return the helpers that the text so far uses, and the definition of ``Int``."""
        helpers = op_code.helpers(list(self._used_ops), [arg.dtype for arg in self.kernel.args])
        return f"{helpers}\ntypedef {'long long' if self.wide_index else 'int'} Int;\n"

    def constants(self) -> list[str]:
        """Return C lines that define the parameters as constants."""
        return [f"  const long long p{n} = {value};" for n, value in enumerate(self._params)]

    def argument_type(self, dtype: DType) -> str:
        """Return the C type as which a scalar argument is passed."""
        return "f32" if dtype == FLOAT32 else _ARGUMENT_TYPE[KIND[dtype]]

    # Entries

    def scratch(self, nbytes: int, zeroed: bool = False) -> str:
        """Return the name of a new scratch pointer (``char*``). `zeroed` is as in `Scratch`."""
        self._scratch.append(Scratch(nbytes, zeroed))
        return f"w{len(self._scratch) - 1}"

    def entry(self, grid: int, block: int, resident: int = 1) -> Text:
        """Return the text of a new entry, launched after the entries before it: `grid` blocks of `block` threads.

        The compiler limits registers so that `resident` blocks fit a processor at once.
        """
        text = Text()
        if self.is_small:
            text.line("await_kernels_before();")
        name = f"{self.kernel.name}_{len(self._entries)}"
        self._entries.append((name, f"{block}, {resident}" if resident > 1 else str(block), text))
        self._launches.append(Launch(name, (max(grid, 1), 1, 1), (block, 1, 1), waits=self.is_small))
        return text

    def program(self) -> Program:
        """Return the finished program."""
        declarations = ", ".join(self._declarations())
        parts = [self.preamble(), _PRELUDE, *self._reducer_text]
        for name, bounds, text in self._entries:
            head = f'extern "C" __global__ void __launch_bounds__({bounds}) {name}({declarations}) {{'
            parts.append("\n".join([head, *text.lines, "}\n"]))
        return Program("\n".join(parts), tuple(self._launches), tuple(self._scratch), self.flag, tuple(self._params))

    def _declarations(self) -> list[str]:
        """Return the C declarations of an entry's parameters; `docs/design.md` has their order."""
        args = self.kernel.args
        overwritten = {memory_of(args, n) for n, arg in enumerate(args) if arg.kind == "out" and arg.alias >= 0}
        declarations = []
        for n, arg in enumerate(args):
            if arg.kind == "scalar":
                names = [f"a{n}r", f"a{n}i"] if KIND[arg.dtype] == "c" else [f"a{n}"]
                declarations += [f"{self.argument_type(arg.dtype)} {name}" for name in names]
            else:
                shared = memory_of(args, n) in overwritten
                const = "const " if arg.kind == "in" else ""
                # The compiler may load what is constant and `__restrict__` before the entry waits for its content.
                is_plain = shared or (arg.kind == "in" and self.is_small)
                declarations.append(f"{const}{C_TYPE[arg.dtype]}* {'' if is_plain else '__restrict__ '}a{n}")
        declarations += [f"char* w{n}" for n in range(len(self._scratch))]
        declarations += ["int* flag"] if self.flag else []
        return declarations + [f"long long p{n}" for n in range(len(self._params))]


def _needs_wide_index(kernel: Kernel) -> bool:
    """Return whether an index of the kernel, or the offset of an element, may exceed 32 bits."""
    count = 1
    for size in kernel.shape:
        count *= size
    reach = [sum(abs(c) * (s - 1) for c, s in zip(at.coef, kernel.shape, strict=True)) for at in affines(kernel)]
    return max([count, *reach]) >= _INT32_LIMIT


_F64 = next(dtype for dtype, name in C_TYPE.items() if name == "f64")
_C128 = next(dtype for dtype, name in C_TYPE.items() if name == "c128")
