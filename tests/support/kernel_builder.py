"""Kernels made by hand from NumPy views, for tests of what runs kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from gpunumpy.core.ops.table import resolve
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
)


class Builder:
    """Collects the arguments and instructions of a kernel over `shape`, and what to run it with."""

    def __init__(self, shape: Sequence[int], reduced: int = 0) -> None:
        self.shape = tuple(shape)
        self.reduced = reduced
        self.args: list[Arg] = []
        self.values: list[Any] = []
        self.instructions: list[Instruction] = []
        self.dtypes: list[numpy.dtype[Any]] = []
        self.stores: list[Store] = []
        self._buffers: dict[int, int] = {}

    def _add(self, instr: Instruction, dtype: Any) -> int:
        self.instructions.append(instr)
        self.dtypes.append(numpy.dtype(dtype))
        return len(self.instructions) - 1

    def buffer(self, base: numpy.ndarray[Any, Any], kind: str = "in", aligned: bool = True) -> int:
        """The argument number of a C-contiguous base array."""
        assert base.flags.c_contiguous
        key = id(base)
        if key not in self._buffers:
            self._buffers[key] = len(self.args)
            self.args.append(Arg(kind, base.dtype, aligned))
            self.values.append(base)
        return self._buffers[key]

    def walk(self, base: numpy.ndarray[Any, Any], view: numpy.ndarray[Any, Any], shape: Sequence[int]) -> Affine:
        """How a loop over `shape` walks `view` of `base`."""
        view = numpy.broadcast_to(view, shape)
        start = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        coef = tuple(s // base.itemsize if n > 1 else 0 for s, n in zip(view.strides, view.shape, strict=True))
        assert start >= 0
        return Affine(start // base.itemsize, coef)

    def load(self, base: numpy.ndarray[Any, Any], view: numpy.ndarray[Any, Any] | None = None) -> int:
        """Load `view` of `base`, broadcast to the loops."""
        view = base if view is None else view
        return self._add(Load(self.buffer(base), self.walk(base, view, self.shape)), base.dtype)

    def scalar(self, value: Any, dtype: Any) -> int:
        """A scalar argument."""
        self.args.append(Arg("scalar", numpy.dtype(dtype)))
        self.values.append(numpy.dtype(dtype).type(value))
        return self._add(Scalar(len(self.args) - 1), dtype)

    def index(self, offset: int, coef: Sequence[int]) -> int:
        """An index value."""
        return self._add(LoopIndex(Affine(offset, tuple(coef))), "int64")

    def gather(self, base: numpy.ndarray[Any, Any], index: Sequence[int], source_location: int) -> int:
        """``base[index[0], index[1], ...]``."""
        arg = self.buffer(base)
        number = len(self.args)
        self.args.append(Arg("scalar", numpy.dtype("int32")))
        self.values.append(source_location)
        strides = tuple(s // base.itemsize for s in base.strides)
        at = Affine(0, (0,) * len(self.shape))
        return self._add(LoadIndexed(arg, at, tuple(index), base.shape, strides, number), base.dtype)

    def apply(self, op: str, *args: int) -> int:
        """An elementwise op."""
        loop = resolve(op, tuple(self.dtypes[arg] for arg in args))
        cast = [self.cast(arg, dtype) for arg, dtype in zip(args, loop, strict=False)]
        return self._add(Apply(op, tuple(cast), loop), loop[-1])

    def cast(self, arg: int, dtype: Any) -> int:
        """A cast, if it is one."""
        dtype = numpy.dtype(dtype)
        if self.dtypes[arg] == dtype:
            return arg
        return self._add(Apply("cast", (arg,), (self.dtypes[arg], dtype)), dtype)

    def reduce(self, op: str, *args: int, result: Any = None) -> int:
        """A reduction; of the first argument's dtype if no other is named."""
        dtype = numpy.dtype(self.dtypes[args[0]] if result is None else result)
        return self._add(ReduceLoops(op, args, (*(self.dtypes[arg] for arg in args), dtype)), dtype)

    def scan(self, op: str, arg: int) -> int:
        """A scan."""
        return self._add(ScanLoop(op, (arg,), (self.dtypes[arg], self.dtypes[arg])), self.dtypes[arg])

    def store(self, value: int, base: numpy.ndarray[Any, Any], view: numpy.ndarray[Any, Any] | None = None) -> None:
        """Store at `view` of `base`: over all loops, or over the outer ones if it has as few dimensions."""
        view = base if view is None else view
        outer = len(self.shape) - self.reduced
        arg = self.buffer(base, "out")
        if view.ndim == len(self.shape):
            at = self.walk(base, view, self.shape)
        else:
            at = self.walk(base, view, self.shape[:outer])
            at = Affine(at.offset, (*at.coef, *(0,) * self.reduced))
        self.stores.append(Store(arg, value, at))

    def overwrite(self, value: int, base: numpy.ndarray[Any, Any]) -> None:
        """Store where `base` was loaded from, over all loops."""
        self.args.append(Arg("out", base.dtype, alias=self.buffer(base)))
        self.values.append(base)
        self.stores.append(Store(len(self.args) - 1, value, self.walk(base, base, self.shape)))

    def body(self) -> Body:
        """What was collected since the last body."""
        body = Body(tuple(self.instructions), tuple(self.stores))
        self.instructions, self.stores, self.dtypes = [], [], []
        return body

    def kernel(self, region: Any = None, outside: Body | None = None) -> Kernel:
        """The kernel. Where there is a region, take its `outside` body first."""
        return Kernel(self.shape, self.reduced, tuple(self.args), self.body(), region, outside)
