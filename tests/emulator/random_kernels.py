"""Random kernels, and what NumPy makes of them.

The values are small integers of every dtype and the operations keep them exact, so that a reduction has the same bits
in whatever order it is done, and the comparison is exact too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy

from gpunumpy.core.dtypes import BOOL, INT64, KIND
from gpunumpy.core.schedule.kernel import (
    Affine,
    Apply,
    Arg,
    Body,
    Instruction,
    Kernel,
    Load,
    LoadIndexed,
    LoopIndex,
    ReduceLoops,
    Scalar,
    ScanLoop,
    Store,
    are_row_level,
    value_dtypes,
)
from gpunumpy.kernels.host import op_functions

DTYPES = [numpy.dtype(name) for name in ("?", "i1", "i4", "i8", "u1", "u2", "u8", "f2", "f4", "f8", "c8", "c16")]
_SIZES = [1, 1, 2, 3, 7, 16, 31, 33, 64, 100, 257]
_MOST_POINTS = 6000
_SAME = ("add", "subtract", "maximum", "minimum")  # of two values of one dtype
_COMPARISONS = ("less", "equal", "greater_equal")
_SCANS = ("add", "maximum", "minimum")
_REDUCTIONS = ("add", "maximum", "minimum", "any", "logical_and", "count_nonzero", "argmax", "argmin")


@dataclass
class RandomKernel:
    """Builds a kernel instruction by instruction, with arguments for it."""

    rng: numpy.random.Generator
    shape: tuple[int, ...] = ()
    reduced: int = 0
    scans: bool = False  # one scan instead of reductions: the scheduler gives each a kernel of its own
    dtypes: Sequence[numpy.dtype] = tuple(DTYPES)
    args: list[Arg] = field(default_factory=list)
    given: list[Any] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)

    def pick(self, choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def argument(self, kind: str, dtype: numpy.dtype, value: Any) -> int:
        aligned = kind == "scalar" or self.rng.random() < 0.75
        if not aligned:
            value = numpy.append(value[:1], value)[1:]  # one element into its memory
        self.args.append(Arg(kind, dtype, aligned))
        self.given.append(value)
        return len(self.args) - 1

    def emit(self, instr: Instruction) -> int:
        self.instructions.append(instr)
        return len(self.instructions) - 1

    def values(self, count: int, dtype: numpy.dtype) -> numpy.ndarray:
        low = 0 if KIND[dtype] in "ub" else -3
        return self.rng.integers(low, 4, count).astype(dtype)

    def window(self, parts: tuple[int, ...]) -> tuple[Affine, int]:
        """A random view of a new buffer: some dimensions broadcast, reversed, permuted or strided; its size."""
        coef, span, low = [0] * len(parts), int(self.rng.integers(1, 3)), 0
        order = list(range(len(parts)))[::-1]
        if self.rng.random() < 0.3:
            self.rng.shuffle(order)
        for d in order:
            if self.rng.random() < 0.2:
                continue
            sign = -1 if self.rng.random() < 0.2 else 1
            coef[d] = sign * span
            low -= min(0, coef[d] * (parts[d] - 1))
            span *= parts[d]
        shift = int(self.rng.integers(0, 3))
        return Affine(low + shift, tuple(coef)), span + shift

    def load(self) -> int:
        dtype = self.pick(self.dtypes)
        at, size = self.window(self.shape)
        return self.emit(Load(self.argument("in", dtype, self.values(size, dtype)), at))

    def gather(self) -> int:
        at, size = self.window(self.shape)
        rows, columns = (int(n) for n in self.rng.integers(1, 9, 2))
        index = self.rng.integers(-rows, rows, size)
        source_location = self.argument("scalar", INT64, 5)
        chosen = self.emit(Load(self.argument("in", INT64, index), at))
        dtype = self.pick(self.dtypes)
        source = self.argument("in", dtype, self.values(rows * columns, dtype))
        rest = Affine(int(self.rng.integers(columns)), (0,) * len(self.shape))
        return self.emit(LoadIndexed(source, rest, (chosen,), (rows,), (columns,), source_location))

    def leaf(self) -> int:
        choice = self.rng.random()
        if choice < 0.7:
            return self.load()
        if choice < 0.8:
            return self.gather()
        if choice < 0.9:
            dtype = self.pick(self.dtypes)
            return self.emit(Scalar(self.argument("scalar", dtype, self.values(1, dtype)[0])))
        return self.emit(LoopIndex(Affine(2, tuple(int(c) for c in self.rng.integers(-1, 2, len(self.shape))))))

    def dtype_of(self, value: int) -> numpy.dtype:
        return value_dtypes(self.kernel(()), Body(tuple(self.instructions), ()))[value]

    def cast(self, value: int, dtype: numpy.dtype) -> int:
        own = self.dtype_of(value)
        return value if own == dtype else self.emit(Apply("cast", (value,), (own, dtype)))

    def apply(self) -> int:
        a, b = (int(self.rng.integers(len(self.instructions))) for _ in range(2))
        dtype = self.pick([self.dtype_of(a), self.dtype_of(b), self.pick(self.dtypes)])
        if KIND[dtype] in "iu" and any(KIND[self.dtype_of(v)] in "efc" for v in (a, b)):
            dtype = numpy.dtype("f8")  # the cast of a float beyond an integer is a subject of its own
        a, b = self.cast(a, dtype), self.cast(b, dtype)
        op = self.pick(_SAME + _COMPARISONS)
        if op == "subtract" and dtype == BOOL:
            op = "add"
        if op in _COMPARISONS:
            chosen = self.emit(Apply(op, (a, b), (dtype, dtype, BOOL)))
            return (
                chosen
                if self.rng.random() < 0.5
                else self.emit(Apply("where", (chosen, a, b), (BOOL, dtype, dtype, dtype)))
            )
        return self.emit(Apply(op, (a, b), (dtype, dtype, dtype)))

    def reduce(self) -> int:
        level = are_row_level(self.kernel(()), Body(tuple(self.instructions), ()))
        full = [k for k, is_row in enumerate(level) if not is_row] or [self.load()]
        value = self.pick(full)
        op = self.pick(_SCANS if self.scans else _REDUCTIONS)
        own = self.dtype_of(value)
        if KIND[own] == "e" and op == "add":
            value, own = self.cast(value, numpy.dtype("f4")), numpy.dtype("f4")
        results = {"any": BOOL, "logical_and": BOOL, "count_nonzero": INT64, "argmax": INT64, "argmin": INT64}
        result = results.get(op, own)
        if self.scans:
            return self.emit(ScanLoop(op, (value,), (own, result)))
        return self.emit(ReduceLoops(op, (value,), (own, result)))

    def kernel(self, stores: tuple[Store, ...]) -> Kernel:
        return Kernel(self.shape, self.reduced, tuple(self.args), Body(tuple(self.instructions), stores))

    def finished(self) -> Kernel:
        """The kernel with its last value and another one stored; elementwise ones may be an update of a region."""
        plain = self.kernel(())
        level, dtypes = are_row_level(plain, plain.body), value_dtypes(plain, plain.body)
        outer = len(self.shape) - self.reduced
        stores = []
        for value in {len(self.instructions) - 1, self.pick(range(len(self.instructions)))}:
            parts = self.shape[:outer] if level[value] else self.shape
            coef = tuple(prod(parts[d + 1 :]) for d in range(len(parts))) + (0,) * (len(self.shape) - len(parts))
            out = self.argument("out", dtypes[value], numpy.zeros(prod(parts), dtypes[value]))
            stores.append(Store(out, value, Affine(0, coef)))
        kernel = self.kernel(tuple(stores))
        if self.reduced or not self.shape or self.rng.random() < 0.7:
            return kernel
        region = tuple((int(a), int(b)) for a, b in (sorted(self.rng.integers(0, n + 1, 2)) for n in self.shape))
        old, store = kernel.body.instructions[0], stores[0]
        cast = Apply("cast", (0,), (dtypes[0], dtypes[store.value]))
        outside = Body((old, cast), (replace(store, value=1),))
        return replace(kernel, body=Body(kernel.body.instructions, (store,)), region=region, outside=outside)


def random_kernel(
    seed: int, dtypes: Sequence[numpy.dtype] = tuple(DTYPES), elementwise: bool = False
) -> tuple[Kernel, list[Any]]:
    """A kernel and arguments for it; the arrays that it writes are zero."""
    make = RandomKernel(numpy.random.default_rng(seed), dtypes=dtypes)
    ndim = int(make.rng.integers(0, 5))
    while not make.shape or prod(make.shape) > _MOST_POINTS:
        make.shape = tuple(make.pick(_SIZES) for _ in range(ndim))
        if not ndim:
            break
    make.reduced = 0 if elementwise else int(make.rng.integers(0, ndim + 1))
    make.scans = make.reduced == 1 and make.rng.random() < 0.3
    for _ in range(int(make.rng.integers(1, 4))):
        make.leaf()
    for _ in range(int(make.rng.integers(0, 4))):
        make.apply()
    if make.reduced:
        for _ in range(1 if make.scans else int(make.rng.integers(1, 4))):
            make.reduce()
            if make.rng.random() < 0.7:
                make.apply()
    kernel = make.finished()
    return kernel, make.given


def interpret(kernel: Kernel, given: list[Any]) -> None:
    """Run the kernel with NumPy, value by value over the whole loop space."""
    everywhere = tuple(slice(None) for _ in kernel.shape)
    for body, region in ((kernel.outside, None), (kernel.body, kernel.region)):
        if body is not None:
            box = everywhere if region is None else tuple(slice(low, high) for low, high in region)
            values = _values(kernel, body, given)
            for store in body.stores:
                given[store.arg][_place(kernel, store.at)[box]] = values[store.value][box]


def _place(kernel: Kernel, at: Affine) -> numpy.ndarray:
    """The element that `at` is for every point of the loop space."""
    grid = numpy.indices(kernel.shape, sparse=True) if kernel.shape else ()
    return numpy.broadcast_to(at.offset + sum(c * i for c, i in zip(at.coef, grid)), kernel.shape)


def _values(kernel: Kernel, body: Body, given: list[Any]) -> list[numpy.ndarray]:
    """Every value of `body`, over the loop space."""
    axes = tuple(range(len(kernel.shape) - kernel.reduced, len(kernel.shape)))
    values: list[numpy.ndarray] = []
    for instr in body.instructions:
        if isinstance(instr, Load):
            value = given[instr.arg][_place(kernel, instr.at)]
        elif isinstance(instr, LoadIndexed):
            at = _place(kernel, instr.at)
            for index, size, stride in zip(instr.index, instr.dims, instr.strides):
                at = at + values[index] % size * stride
            value = given[instr.arg][at]
        elif isinstance(instr, Scalar):
            value = numpy.full(kernel.shape, given[instr.arg], kernel.args[instr.arg].dtype)
        elif isinstance(instr, LoopIndex):
            value = _place(kernel, instr.at)
        elif isinstance(instr, Apply) and instr.op == "cast":
            value = values[instr.args[0]].astype(instr.loop[-1])
        elif isinstance(instr, Apply):
            value = op_functions.function(instr.op, instr.loop)(*(values[k] for k in instr.args))
        elif isinstance(instr, ScanLoop):
            value = getattr(numpy, instr.op).accumulate(values[instr.args[0]], axis=axes[0], dtype=instr.loop[-1])
        else:
            value = numpy.broadcast_to(_reduce(instr, values[instr.args[0]], axes), kernel.shape)
        values.append(numpy.asarray(value))
    return values


def _reduce(instr: ReduceLoops, value: numpy.ndarray, axes: tuple[int, ...]) -> numpy.ndarray:
    """The reduction over `axes`, which are the last ones, in C order; they stay, of size 1."""
    outer = value.shape[: axes[0]]
    rows = value.reshape((*outer, prod(value.shape[axes[0] :])))
    ufunc = getattr(numpy, instr.op)
    if isinstance(ufunc, numpy.ufunc):
        result = ufunc.reduce(rows, axis=-1, dtype=instr.loop[-1])
    else:
        result = ufunc(rows, axis=-1)
    return numpy.asarray(result).reshape(outer + (1,) * len(axes))
