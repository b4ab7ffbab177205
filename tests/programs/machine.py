"""Random programs: the same operations, views, writes and flushes on NumPy arrays and on gpunumpy arrays, in lockstep.

Values stay small whole numbers wherever rounding could depend on the order of a sum, so results are compared to the
bit.
A program is determined by its seed alone.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32", "float64", "complex64", "complex128")  # fmt: skip
BINARY = ("add", "subtract", "multiply", "maximum", "minimum", "equal", "less", "greater_equal", "logical_and",
          "bitwise_xor", "floor_divide", "remainder", "copysign", "fmax", "divide", "hypot")  # fmt: skip
INEXACT = {"divide", "hypot"}
# What goes through a library of mathematics, whose last bit is its own; the rest equals NumPy to the bit everywhere.
LIBRARY = {"hypot"}
COMPLEX_LIBRARY = {"absolute", "sign", "divide"}
UNARY = ("negative", "absolute", "square", "sign", "floor", "logical_not", "invert", "conjugate", "isnan", "positive")
REDUCTIONS = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "count_nonzero", "cumsum")


class Pair:
    """One variable of the program in both worlds. `exact` says that sums of it do not depend on their order."""

    __slots__ = ("exact", "reference", "tested")

    def __init__(self, reference: Any, tested: Any, exact: bool) -> None:
        self.reference = reference
        self.tested = tested
        self.exact = exact


class Machine:
    """Runs one random program on `xp` beside NumPy and compares the two wherever it looks.

    `library` says that transcendental functions are NumPy's own, so that they too can be compared to the bit.
    """

    def __init__(self, seed: int, xp: Any, library: bool = True) -> None:
        self.seed = seed
        self.library = library
        self.xp = xp
        self.random = random.Random(seed)
        self.vars: list[Pair] = []
        self.log: list[str] = []

    def run(self, steps: int) -> None:
        for _ in range(2):
            self.create()
        for _ in range(steps):
            step = self.random.choices(*zip(*STEPS, strict=True))[0]
            with warnings.catch_warnings(), numpy.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                step(self)
            if len(self.vars) > 6:
                self.vars.pop(self.random.randrange(len(self.vars)))
        for pair in self.vars:
            self.compare(pair)

    # What every step uses

    def pick(self) -> Pair:
        return self.random.choice(self.vars)

    def both(self, name: str, call: Callable[..., Any], *pairs: Pair, exact: bool, keep: bool = True) -> None:
        """Do the same in both worlds: the same error, or two results that become a variable."""
        self.log.append(name)
        errors: list[type | None] = []
        results = []
        for xp, args in ((numpy, [p.reference for p in pairs]), (self.xp, [p.tested for p in pairs])):
            try:
                results.append(call(xp, *args))
                errors.append(None)
            except (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError) as error:
                errors.append(type(error))
                results.append(error)
        if errors[0] is not None or errors[1] is not None:
            same = errors[0] is not None and errors[1] is not None and issubclass(errors[1], _family(errors[0]))
            assert same, f"{self.story()}\nNumPy: {results[0]!r}; gpunumpy: {results[1]!r}"
            return
        if keep:
            self.vars.append(Pair(results[0], results[1], exact))

    def story(self) -> str:
        return f"seed {self.seed}:\n  " + "\n  ".join(self.log)

    def compare(self, pair: Pair) -> None:
        reference = numpy.asarray(pair.reference)
        assert pair.tested.dtype == reference.dtype, (
            f"{self.story()}\ndtype {pair.tested.dtype}, NumPy's {reference.dtype}"
        )
        assert pair.tested.shape == reference.shape, (
            f"{self.story()}\nshape {pair.tested.shape}, NumPy's {reference.shape}"
        )
        got = self.xp.asnumpy(pair.tested)
        if not _same(got, reference):
            raise AssertionError(f"{self.story()}\ngot\n{got!r}\nNumPy's\n{reference!r}")

    # Steps

    def create(self) -> None:
        shape = tuple(self.random.choice((1, 2, 3, 4, 5, 7)) for _ in range(self.random.randrange(4)))
        dtype = numpy.dtype(self.random.choice(DTYPES))
        source = numpy.random.default_rng(self.random.getrandbits(32))
        low = 0 if dtype.kind in "bu" else -4
        data = numpy.asarray(source.integers(low, 5, shape)).astype(dtype)
        if dtype.kind == "c":
            data = numpy.asarray(data + 1j * source.integers(-4, 5, shape)).astype(dtype)
        self.log.append(f"v = {data!r}")
        self.vars.append(Pair(data.copy(), self.xp.array(data), True))

    def generate(self) -> None:
        n = self.random.randrange(1, 7)
        which = self.random.randrange(4)
        calls: list[Callable[[Any], Any]] = [
            lambda xp: xp.arange(n),
            lambda xp: xp.zeros((n, 3)),
            lambda xp: xp.full((2, n), 3, dtype="int32"),
            lambda xp: xp.eye(n),
        ]
        self.both(f"generate {which} {n}", calls[which], exact=True)

    def binary(self) -> None:
        name = self.random.choice(BINARY)
        a, b = self.pick(), self.pick()
        if self.foreign(name, a, b):
            return
        self.both(
            f"{name}({a.reference.dtype}{a.reference.shape}, {b.reference.dtype}{b.reference.shape})",
            lambda xp, x, y: self._small(xp, getattr(xp, name)(x, y)), a, b,
            exact=a.exact and b.exact and name not in INEXACT,
        )  # fmt: skip

    def with_scalar(self) -> None:
        name = self.random.choice(("add", "multiply", "subtract", "maximum", "less"))
        value: Any = self.random.choice((0, 1, 2, -1, 3, True, 0.5, 2.0, 300, 1j, numpy.float32(2), numpy.int8(3)))
        a = self.pick()
        swap = self.random.random() < 0.3
        self.both(
            f"{name}({a.reference.dtype}{a.reference.shape}, {value!r}) {swap}",
            lambda xp, x: self._small(xp, getattr(xp, name)(*((value, x) if swap else (x, value)))), a,
            exact=a.exact,
        )  # fmt: skip

    def unary(self) -> None:
        name = self.random.choice(UNARY)
        a = self.pick()
        if self.foreign(name, a):
            return
        what = f"{name}({a.reference.dtype}{a.reference.shape})"
        self.both(what, lambda xp, x: self._small(xp, getattr(xp, name)(x)), a, exact=a.exact)

    def _small(self, xp: Any, x: Any) -> Any:
        """Keep magnitudes where every dtype is exact."""
        if x.dtype.kind in "iuf" and x.dtype.itemsize > 0:
            return xp.remainder(x, x.dtype.type(13))
        return x

    def foreign(self, name: str, *pairs: Pair) -> bool:
        """Whether the last bits of a function may differ from those of NumPy."""
        is_complex = any(p.reference.dtype.kind == "c" for p in pairs)
        return not self.library and (name in LIBRARY or (is_complex and name in COMPLEX_LIBRARY))

    def where(self) -> None:
        c, a, b = self.pick(), self.pick(), self.pick()
        self.both("where", lambda xp, c, x, y: xp.where(c, x, y), c, a, b, exact=a.exact and b.exact)

    def astype(self) -> None:
        a = self.pick()
        dtype = self.random.choice(DTYPES)
        if not a.exact and numpy.dtype(dtype).kind in "iu":
            return  # what C makes of NaN is the table's test
        self.both(f"astype {dtype}", lambda xp, x: x.astype(dtype), a, exact=a.exact)

    def key(self, shape: tuple[int, ...]) -> Any:
        """A random basic index."""
        parts: list[Any] = []
        for n in shape:
            kind = self.random.randrange(6)
            if kind == 0:
                parts.append(self.random.randrange(-n, n) if n else 0)
            elif kind == 1:
                parts.append(slice(None, None, self.random.choice((1, -1, 2, -2))))
            elif kind == 2:
                parts.append(slice(self.random.randrange(n + 1), None))
            elif kind == 3:
                parts.append(slice(None, self.random.randrange(n + 1)))
            else:
                parts.append(slice(None))
        if self.random.random() < 0.15:
            parts.insert(self.random.randrange(len(parts) + 1), None)
        if self.random.random() < 0.15 and parts:
            cut = self.random.randrange(len(parts))
            parts = [*parts[:cut], Ellipsis]
        return tuple(parts)

    def view(self) -> None:
        a = self.pick()
        kind = self.random.randrange(7)
        shape = a.reference.shape
        size = a.reference.size
        if kind <= 2:
            key = self.key(shape)
            self.both(f"view [{key}] of {shape}", lambda xp, x: x[key], a, exact=a.exact)
        elif kind == 3:
            self.both(f"T of {shape}", lambda xp, x: x.T, a, exact=a.exact)
        elif kind == 4:
            to = self.random.choice(((-1,), (1, -1), (-1, 1), (2, -1), (size, 1)))
            self.both(f"reshape {shape} to {to}", lambda xp, x: x.reshape(to), a, exact=a.exact)
        elif kind == 5:
            part = self.random.choice(("real", "imag"))
            self.both(f"{part} of {a.reference.dtype}{shape}", lambda xp, x: getattr(x, part), a, exact=a.exact)
        else:
            to2 = (self.random.randrange(1, 4), *shape)
            self.both(f"broadcast {shape} to {to2}", lambda xp, x: xp.broadcast_to(x, to2), a, exact=a.exact)

    def assign(self) -> None:
        a, b = self.pick(), self.pick()
        if not a.reference.ndim:
            return  # tests of indexing have what is an array and what a scalar here
        key = self.key(a.reference.shape) if self.random.random() < 0.8 else Ellipsis
        if self.random.random() < 0.4:
            value: Any = self.random.choice((0, 1, 2, 3.0, True))
            what = f"v[{key}] = {value} on {a.reference.dtype}{a.reference.shape}"
            self.both(what, lambda xp, x: _set(x, key, value), a, exact=True, keep=False)
        else:
            if not b.exact and a.reference.dtype.kind in "iu":
                return  # what C makes of NaN is the table's test
            if b.reference.ndim and _is_element(a.reference, key):
                return  # which error NumPy raises depends on the dtype
            self.both(
                f"v{a.reference.dtype}{a.reference.shape}[{key}] = w{b.reference.dtype}{b.reference.shape}",
                lambda xp, x, y: _set(x, key, y), a, b, exact=True, keep=False,
            )  # fmt: skip
            self.taint(a, b)

    def taint(self, target: Pair, source: Pair) -> None:
        """After a write of inexact values, whatever may share the memory is inexact."""
        if not source.exact:
            for pair in self.vars:
                pair.exact = False

    def in_place(self) -> None:
        name = self.random.choice(("__iadd__", "__isub__", "__imul__"))
        a, b = self.pick(), self.pick()
        fits = _broadcast(a.reference.shape, b.reference.shape)
        if a.reference.ndim == 0 or not fits or not a.reference.flags.writeable:
            return  # NumPy scalars are not changed in place; of two faults, either may be named
        self.both(f"{name} {a.reference.dtype}{a.reference.shape} {b.reference.dtype}{b.reference.shape}",
                  lambda xp, x, y: getattr(x, name)(y), a, b, exact=True, keep=False)  # fmt: skip
        self.both("remainder", lambda xp, x: _small_in_place(x), a, exact=True, keep=False)
        self.taint(a, b)

    def neighbours(self) -> None:
        """A stencil in place: the right side reads what the left side writes."""
        a = self.pick()
        if a.reference.ndim == 0 or a.reference.shape[0] < 3:
            return

        def call(xp: Any, x: Any) -> Any:
            x[1:-1] = self._small(xp, x[2:] + x[:-2])

        self.both(f"stencil {a.reference.dtype}{a.reference.shape}", call, a, exact=True, keep=False)

    def masked(self) -> None:
        a = self.pick()
        kind = self.random.randrange(3) if a.reference.ndim else 0
        if kind == 0:
            self.both("v[v > 1]", lambda xp, x: x[x > 1], a, exact=a.exact)
        elif kind == 1:
            self.both("v[v > 1] = 2", lambda xp, x: _set(x, x > 1, 2), a, exact=True, keep=False)
        else:
            self.both("v[v > 1] += 1", lambda xp, x: _set(x, x > 1, x[x > 1] + 1), a, exact=True, keep=False)

    def indexed(self) -> None:
        a = self.pick()
        if a.reference.ndim == 0 or a.reference.shape[0] == 0:
            return
        n = a.reference.shape[0]
        index = numpy.array([self.random.randrange(-n, n) for _ in range(self.random.randrange(1, 6))])
        self.log.append(f"index = {index}")
        kind = self.random.randrange(3)
        if kind == 0:
            self.both("v[index]", lambda xp, x: x[xp.asarray(index)], a, exact=a.exact)
        elif kind == 1:
            self.both("v[index] = 3", lambda xp, x: _set(x, xp.asarray(index), 3), a, exact=True, keep=False)
        elif a.reference.shape[-1]:
            # A copy, since NumPy lays the result out with the index's dimension first and gpunumpy in C order.
            self.both("v[..., index % last]", lambda xp, x: x[..., xp.asarray(index) % x.shape[-1]].copy(), a,
                      exact=a.exact)  # fmt: skip

    def reduce(self) -> None:
        a = self.pick()
        name = self.random.choice(REDUCTIONS)
        axis = self.random.choice((None, 0, -1, 1))
        if not a.exact and name in ("sum", "prod", "cumsum"):
            return
        if name == "prod" and a.reference.dtype.kind not in "biu":
            return
        call: Callable[..., Any] = lambda xp, x: getattr(xp, name)(x, axis=axis)  # noqa: E731
        if name in ("sum", "max", "any") and self.random.random() < 0.5:
            call = lambda xp, x: getattr(xp, name)(x, axis=axis, keepdims=True)  # noqa: E731
        self.both(f"{name}({a.reference.dtype}{a.reference.shape}, axis={axis})", call, a, exact=True)

    def look(self) -> None:
        """A flush: the host looks at a value."""
        pair = self.pick()
        self.log.append("look")
        self.compare(pair)

    def forget(self) -> None:
        if len(self.vars) > 2:
            self.vars.pop(self.random.randrange(len(self.vars)))

    def copy(self) -> None:
        a = self.pick()
        self.both("copy", lambda xp, x: x.copy(), a, exact=a.exact)


STEPS: list[tuple[Callable[[Machine], None], float]] = [
    (Machine.create, 1), (Machine.generate, 0.7), (Machine.binary, 5), (Machine.with_scalar, 3), (Machine.unary, 2),
    (Machine.where, 1), (Machine.astype, 1.5), (Machine.view, 4), (Machine.assign, 4), (Machine.in_place, 2),
    (Machine.neighbours, 1.5), (Machine.masked, 1), (Machine.indexed, 1.5), (Machine.reduce, 3), (Machine.look, 1),
    (Machine.forget, 1.5), (Machine.copy, 0.7),
]  # fmt: skip


def _family(error: type) -> type:
    """What counts as the same exception: NumPy's own subclasses (AxisError, UFuncTypeError) by their public base."""
    return next(b for b in (TypeError, IndexError, OverflowError, ValueError, ArithmeticError) if issubclass(error, b))


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    try:
        return numpy.broadcast_shapes(a, b) == a
    except ValueError:
        return False


def _is_element(x: Any, key: Any) -> bool:
    try:
        return numpy.ndim(x[key]) == 0
    except IndexError:
        return False


def _set(x: Any, key: Any, value: Any) -> None:
    x[key] = value


def _small_in_place(x: Any) -> None:
    if x.dtype.kind in "iuf":
        x %= x.dtype.type(13)


def _same(got: Any, want: Any) -> bool:
    if want.dtype.kind in "fc":
        parts = [(got, want)] if want.dtype.kind == "f" else [(got.real, want.real), (got.imag, want.imag)]
        return all(bool(numpy.array_equal(g, w, equal_nan=True)) for g, w in parts)
    return bool(numpy.array_equal(got, want))
