"""A translation unit in the making: its text, its parameters, and what it needs from the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...core.dtypes import C_TYPE, KIND, DType
from ...core.schedule.kernel import Affine, Kernel, LoadIndexed
from . import op_code
from .collapse import affines, bodies
from .program import Launch, Program, Scratch
from .sources import source

_PRELUDE = source("codegen/prelude")

# The C types that scalar arguments travel as, by kind, and the dtype each stands for.
_WIRE = {"b": "long long", "i": "long long", "u": "unsigned long long", "e": "double", "f": "double", "c": "double"}

_INT32_LIMIT = 2**31 - 2**22  # room for a last tile that starts inside and ends outside


class Text:
    """Lines of C with their indentation."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth = 1

    def line(self, text: str) -> None:
        """Add one line."""
        self.lines.append("  " * self._depth + text)

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
        """Add ``head {``, what is added inside, and the closing brace."""
        self.line(f"{head} {{".strip())
        self._depth += 1
        yield
        self._depth -= 1
        self.line(tail)

    @contextmanager
    def loop(self, name: str, count: int) -> Iterator[None]:
        """An unrolled loop of `name` over `count`; a mere block if that is one turn."""
        if count == 1:
            with self.block(""):
                self.line(f"const int {name} = 0;")
                yield
        else:
            self.line("#pragma unroll")
            with self.block(f"for (int {name} = 0; {name} < {count}; ++{name})"):
                yield

    @contextmanager
    def steps(self, start: str, end: str, step: int) -> Iterator[None]:
        """A loop that stays one: what should be in flight together is unrolled inside it."""
        name = start.split()[0]
        self.line("#pragma unroll 1")
        with self.block(f"for (Int {start}; {name} < {end}; {name} += {step})"):
            yield


class Unit:
    """Collects the entries of one program."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.wide = _needs_wide(kernel)
        self.flag = any(isinstance(instr, LoadIndexed) for body in bodies(kernel) for instr in body.instrs)
        self._params: list[int] = []
        self._named: dict[object, str] = {}
        self._applied: dict[tuple[str, tuple[DType, ...]], None] = {}
        self._reducers: dict[tuple[str, tuple[DType, ...], bool], str] = {}
        self._reducer_text: list[str] = []
        self._entries: list[tuple[str, str, Text]] = []
        self._launches: list[Launch] = []
        self._scratch: list[Scratch] = []

    # Parameters

    def long(self, value: int, key: object = None) -> str:
        """The name of the ``long long`` parameter that holds `value`; equal keys share one."""
        if key is not None and key in self._named:
            return self._named[key]
        name = f"p{len(self._params)}"
        self._params.append(value)
        if key is not None:
            self._named[key] = name
        return name

    def param(self, value: int, key: object = None) -> str:
        """The same as an ``Int``, the type of indices."""
        return f"Int({self.long(value, key)})"

    def size(self, d: int) -> str:
        """The number of turns of loop `d`."""
        return self.param(self.kernel.shape[d], ("size", d))

    def quotient(self, number: str, divisor: int, key: object) -> str:
        """``number / divisor`` for an ``Int`` `number` that is not negative; equal keys are of equal divisors.

        A processor has no division, and what stands for it delays the first load; 32 bits take a product and a shift.
        """
        if self.wide:
            return f"{number} / {self.param(divisor, key)}"
        divisor = max(divisor, 1)
        shift = 31 + (divisor - 1).bit_length()
        magic = (1 << shift) // divisor + 1
        return f"quotient({number}, {self.long(magic, (key, 'magic'))}, {self.long(shift, (key, 'shift'))})"

    def term(self, at: Affine, d: int, index: str) -> str:
        """Loop `d`'s share in `at`, for the loop index `index`; empty if it has none."""
        if at.coef[d] == 0 or index == "0":
            return ""
        return index if at.coef[d] == 1 else f"{index} * {self.param(at.coef[d], (at.coef, d))}"

    def element(self, arg: int, at: Affine, index: Sequence[str]) -> str:
        """The address of the element of `arg` at `at` for the given loop indices."""
        terms = [term for d, name in enumerate(index) if (term := self.term(at, d, name))]
        base = f"a{arg} + {self.long(at.offset)}" if at.offset else f"a{arg}"
        return f"({base} + ({' + '.join(terms)}))" if terms else f"({base})"

    # Rows of the table

    def expression(self, op: str, loop: tuple[DType, ...], args: Sequence[str]) -> str:
        """The C expression of one application of an elementwise row."""
        self._applied[op, loop] = None
        return op_code.expression(op, loop, list(args))

    def reducer(self, op: str, loop: tuple[DType, ...], scan: bool = False) -> tuple[str, op_code.ReductionCode]:
        """The C struct that stands for a reduction (``State``, ``identity``, ``combine``), and the row's code."""
        code = op_code.reduction(op, loop, scan)
        name = self._reducers.get((op, loop, scan))
        if name is None:
            name = f"R{len(self._reducers)}"
            self._reducers[op, loop, scan] = name
            self._applied[op, loop] = None
            # Where elements are accumulated in another way, states are combined at the end alone, in many places.
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
                "  static __device__ __forceinline__ State join(State a, State b) {\n"
                f"    return {code.join('a', 'b')};\n  }}\n}};\n"
            )
        return name, code

    def scalar(self, arg: int) -> str:
        """The C value of scalar argument `arg`."""
        dtype = self.kernel.args[arg].dtype
        kind = KIND[dtype]
        if kind == "b":
            return f"(a{arg} != 0)"
        if kind in "ef" and dtype != _F64:
            return self.expression("cast", (_F64, dtype), [f"a{arg}"])
        if kind == "c":
            value = self.expression("complex", (_F64, _F64, _C128), [f"a{arg}r", f"a{arg}i"])
            return value if dtype == _C128 else self.expression("cast", (_C128, dtype), [value])
        return f"{C_TYPE[dtype]}(a{arg})"

    # Functions

    def preamble(self) -> str:
        """What the text so far needs of the table."""
        return f"{op_code.helpers(list(self._applied))}\ntypedef {'long long' if self.wide else 'int'} Int;\n"

    def constants(self) -> list[str]:
        """The lines that define the sizes, strides and offsets as constants."""
        return [f"  const long long p{n} = {value};" for n, value in enumerate(self._params)]

    def wire(self, dtype: DType) -> str:
        """The C type that a scalar argument travels as."""
        return _WIRE[KIND[dtype]]

    # Entries

    def scratch(self, nbytes: int, zeroed: bool = False) -> str:
        """The name of a scratch pointer (``char*``)."""
        self._scratch.append(Scratch(nbytes, zeroed))
        return f"w{len(self._scratch) - 1}"

    def entry(self, grid: int, block: int, resident: int = 1) -> Text:
        """A new entry, launched after those before it with `grid` blocks of `block` threads.

        The compiler is to use so few registers that `resident` blocks fit a processor at once.
        """
        text = Text()
        name = f"{self.kernel.name}_{len(self._entries)}"
        self._entries.append((name, f"{block}, {resident}" if resident > 1 else str(block), text))
        self._launches.append(Launch(name, (max(grid, 1), 1, 1), (block, 1, 1)))
        return text

    def program(self) -> Program:
        """The finished program."""
        signature = ", ".join(self._signature())
        parts = [self.preamble(), _PRELUDE, *self._reducer_text]
        for name, bounds, text in self._entries:
            head = f'extern "C" __global__ void __launch_bounds__({bounds}) {name}({signature}) {{'
            parts.append("\n".join([head, *text.lines, "}\n"]))
        return Program("\n".join(parts), tuple(self._launches), tuple(self._scratch), self.flag, tuple(self._params))

    def _signature(self) -> list[str]:
        args = self.kernel.args
        aliased = {arg.alias for arg in args if arg.kind == "out" and arg.alias >= 0}
        out = []
        for n, arg in enumerate(args):
            if arg.kind == "scalar":
                names = [f"a{n}r", f"a{n}i"] if KIND[arg.dtype] == "c" else [f"a{n}"]
                out += [f"{self.wire(arg.dtype)} {name}" for name in names]
            else:
                shared = n in aliased or arg.alias >= 0
                const = "const " if arg.kind == "in" else ""
                out.append(f"{const}{C_TYPE[arg.dtype]}* {'' if shared else '__restrict__ '}a{n}")
        out += [f"char* w{n}" for n in range(len(self._scratch))]
        out += ["int* flag"] if self.flag else []
        return out + [f"long long p{n}" for n in range(len(self._params))]


def _needs_wide(kernel: Kernel) -> bool:
    """Whether an index of the kernel, or an element offset, may not fit 32 bits."""
    count = 1
    for size in kernel.shape:
        count *= size
    reach = [sum(abs(c) * (s - 1) for c, s in zip(at.coef, kernel.shape, strict=True)) for at in affines(kernel)]
    return max([count, *reach]) >= _INT32_LIMIT


_F64 = next(dtype for dtype, name in C_TYPE.items() if name == "f64")
_C128 = next(dtype for dtype, name in C_TYPE.items() if name == "c128")
