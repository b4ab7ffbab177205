"""Random programs: the same operations, views, writes and flushes on NumPy arrays and on gpunumpy arrays, in lockstep.

Values stay small whole numbers wherever rounding could depend on the order of a sum, so results are compared to the
bit.
A program is determined by its seed and its sizes: at other sizes the same seed makes the same operations, so that plans
are bound at sizes that they were not made for.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext, suppress
from itertools import accumulate
from typing import Any

import numpy

from . import draw, kinds
from .features import GROUPS, Feature

BINARY = ("add", "subtract", "multiply", "maximum", "minimum", "equal", "less", "greater_equal", "logical_and",
          "bitwise_xor", "floor_divide", "remainder", "copysign", "fmax", "divide", "hypot")  # fmt: skip
INEXACT = {"divide", "hypot"}
# What goes through a library of mathematics, whose last bit is its own; the rest equals NumPy to the bit everywhere.
LIBRARY = {"hypot"}
COMPLEX_LIBRARY = {"absolute", "sign", "divide"}
UNARY = ("negative", "absolute", "square", "sign", "floor", "logical_not", "invert", "conjugate", "isnan", "positive")
# What gives results of a subclass where NumPy does not, or the other way round (docs/differences.md); they are
# forgotten.
OTHER_CLASS = frozenset(("round", "meshgrid", "count_nonzero", "take_along_axis", "unique"))
REDUCTIONS = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "count_nonzero", "cumsum")


class Pair:
    """One variable of the program in both worlds. `exact` says that sums of it do not depend on their order."""

    __slots__ = ("exact", "reference", "tested")

    def __init__(self, reference: Any, tested: Any, exact: bool) -> None:
        self.reference = reference
        self.tested = tested
        self.exact = exact


class Statement:
    """A line of a program's story, written when somebody reads it: most programs' lines nobody reads.

    Its options are not changed afterwards.
    """

    __slots__ = ("_operands", "_options", "name")

    def __init__(self, name: str, operands: Iterable[Any], options: Mapping[str, Any]) -> None:
        self.name = name
        self._operands = [(x.dtype, x.shape) for x in operands]
        self._options = options

    def __str__(self) -> str:
        """Return the name, the dtypes and shapes of the operands, and the options."""
        return f"{self.name}({', '.join(f'{dtype}{shape}' for dtype, shape in self._operands)}) {self._options}"


class Machine:
    """Runs one random program on `xp` beside NumPy and compares the two wherever it looks.

    Parameters
    ----------
    library
        Whether transcendental functions and linear algebra are NumPy's own, so that they too can be compared. If not,
        floats are compared but for their last bits.
    sizes
        The three sizes that shapes are made of; they are drawn if not given.
    warns
        Whether warnings are compared, which takes a process with one thread.
    """

    def __init__(
        self, seed: int, xp: Any, library: bool = True, sizes: tuple[int, int, int] | None = None, warns: bool = True
    ) -> None:
        self.seed = seed
        self.library = library
        self.xp = xp
        self.random = random.Random(seed)
        drawn = self.random.choices((0, 1, 2, 3, 4, 5, 7, 11), (0.3, 1, 1, 1, 1, 1, 1, 0.5), k=3)
        self.sizes = sizes or (drawn[0], drawn[1], drawn[2])
        self.warns = warns
        self.vars: list[Pair] = []
        self.others: list[Pair] = []
        self.has_others = self.random.random() < 0.6
        self.log: list[str | Statement] = [f"sizes {self.sizes}"]

    def run(self, steps: int) -> None:
        residence = self.xp.set_residence("device")
        if self.seed % 2:  # else what is small is on the host, and few operations reach the engine
            self.xp.set_residence(residence)
        try:
            for _ in range(2):
                self.create()
            for _ in range(3 if self.has_others else 0):
                self.guarded(lambda: self.other_kind(kinds.MAKING))
            for _ in range(steps):
                self.step()
            self.finish()
        finally:
            self.xp.set_residence(residence)

    def step(self) -> None:
        step = self.random.choices(*zip(*(MIXED_STEPS if self.has_others else STEPS), strict=True))[0]
        self.guarded(lambda: step(self))
        for pairs in (self.vars, self.others):
            while len(pairs) > 6:
                pairs.pop(self.below(len(pairs)))

    def guarded(self, step: Callable[[], None]) -> None:
        """Do a step whose warnings are of no interest but where it compares them."""
        with warnings.catch_warnings() if self.warns else nullcontext(), numpy.errstate(all="ignore"):
            if self.warns:
                warnings.simplefilter("ignore")
            step()

    def finish(self) -> None:
        for pair in (*self.vars, *self.others):
            self.compare(pair)

    # What is drawn. The state of `random` afterwards does not depend on sizes.

    def below(self, n: int) -> int:
        """Return a number from 0 to below `n`; 0 if there is none."""
        return int(self.random.random() * n)

    def choice(self, choices: tuple[Any, ...]) -> Any:
        return choices[self.below(len(choices))]

    def size(self) -> int:
        n, m, k = self.sizes
        return int(self.choice((1, n, n, n, m, m, k, n + 1, 3, 1 if self.random.random() < 0.9 else 0)))

    def shape(self) -> tuple[int, ...]:
        """Return a shape, of zeros and ones among others, of at most 400 elements."""
        shape = tuple([self.size() for _ in range(self.below(5))])
        return tuple([n for n, total in zip(shape, accumulate(shape, lambda x, y: x * max(1, y))) if total <= 400])

    def numbers(self, shape: tuple[int, ...], low: int, high: int) -> Any:
        source = numpy.random.default_rng(self.random.getrandbits(32))
        return source.integers(low, max(high, low + 1), shape)

    def mask(self, shape: tuple[int, ...]) -> Any:
        return self.numbers(shape, 0, 3) > 0

    def data(self, shape: tuple[int, ...], name: str) -> Any:
        """Return an array of small whole numbers."""
        dtype = numpy.dtype(name)
        low = 0 if dtype.kind in "bu" else -4
        data = numpy.asarray(self.numbers(shape, low, 5)).astype(dtype)
        if dtype.kind == "c":
            data = numpy.asarray(data + 1j * self.numbers(shape, -4, 5)).astype(dtype)
        return data

    # What every step uses

    def pick(self) -> Pair:
        return self.vars[self.below(len(self.vars))]

    def both(
        self,
        name: str | Statement,
        call: Callable[..., Any],
        *pairs: Pair,
        exact: bool,
        keep: bool = True,
        loop: bool = False,
    ) -> list[tuple[Any, Any]]:
        """Do the same in both worlds: the same error and warnings, or two results, which become variables.

        A call writes once, unless it is a loop.

        Return the pairs of results; none after an error.
        """
        self.log.append(name)
        reference, expected = self.attempt(lambda: call(numpy, *[p.reference for p in pairs]))
        failed = isinstance(reference, Exception)
        # An error that depends on values comes when these are looked at.
        tested, got = self.attempt(lambda: self.seen(call(self.xp, *[p.tested for p in pairs]), failed))
        if failed or isinstance(tested, Exception):
            same = failed and isinstance(tested, _family(type(reference)))
            assert same, f"{self.story()}\nNumPy: {reference!r}; gpunumpy: {tested!r}"
            return []
        assert got == expected, f"{self.story()}\nwarnings: {got}, NumPy's {expected}"
        results = list(zip(_flat(reference), _flat(tested), strict=True))
        for wanted, found in results if keep else ():
            self.keep(name, Pair(wanted, found, exact))
        return results

    def keep(self, name: str | Statement, pair: Pair) -> None:
        """Make a result a variable; a single value of another kind is compared and forgotten."""
        if (name.name if isinstance(name, Statement) else name.split("(")[0]) in OTHER_CLASS and hasattr(
            pair.reference, "tag"
        ) != hasattr(pair.tested, "tag"):
            return
        self.compare_attributes(pair, "tag")
        if not hasattr(pair.reference, "dtype") or not (kinds.is_number(pair.reference) or pair.reference.ndim):
            self.compare(pair)
            return
        if kinds.is_masked(pair.reference):
            self.others.append(pair)
            return
        if _steps(pair.reference) != _steps(pair.tested):
            # Where memory order differs on purpose, so does what is a view of this: both go on in C order.
            pair = Pair(pair.reference.copy(), pair.tested.copy(), pair.exact)
        (self.vars if kinds.is_number(pair.reference) else self.others).append(pair)

    def attempt(self, call: Callable[[], Any]) -> tuple[Any, set[type]]:
        """Return the result of a call or its exception, and the classes of its warnings.

        Those of empty slices and of NaN are left out: docs/differences.md has where they differ. So are those of
        files that an exception of a signal handler leaves open, which Python's `open` does not close either.
        """
        with warnings.catch_warnings(record=True) if self.warns else nullcontext([]) as caught:
            if self.warns:
                warnings.simplefilter("always")
            try:
                result = call()
            except (TypeError, ValueError, IndexError, OverflowError, RuntimeError, ZeroDivisionError) as error:
                result = error
        left_out = (RuntimeWarning, ResourceWarning, self.xp.HostFallbackWarning)
        return result, {w.category for w in caught or () if not issubclass(w.category, left_out)}

    def seen(self, results: Any, look: bool) -> Any:
        for x in _flat(results) if look else ():
            self.on_host(x)
        return results

    def on_host(self, x: Any) -> Any:
        """Return what NumPy has for a value of the library."""
        if x is numpy.ma.masked or not hasattr(x, "dtype"):
            return x
        if isinstance(x, self.xp.ma.MaskedArray):
            data, mask = self.xp.asnumpy(self.xp.ma.getdata(x)), self.xp.asnumpy(self.xp.ma.getmaskarray(x))
            return numpy.ma.array(data, mask=mask)
        return self.xp.asnumpy(x)

    def story(self) -> str:
        return f"seed {self.seed}:\n  " + "\n  ".join(map(str, self.log))

    def compare(self, pair: Pair, close: bool = False) -> None:
        reference, got = plain(pair.reference), self.on_host(pair.tested)
        if not hasattr(reference, "dtype") or reference is numpy.ma.masked:
            assert got is reference or (type(got) is type(reference) and got == reference), (
                f"{self.story()}\ngot {got!r}, NumPy's {reference!r}"
            )
            return
        self.compare_attributes(pair, "dtype", "shape")
        if not (_close(got, reference) if close else self.is_same(got, reference)):
            raise AssertionError(f"{self.story()}\ngot\n{got!r}\nNumPy's\n{reference!r}")

    def is_same(self, got: Any, reference: Any) -> bool:
        """Return whether a value is what it is to be, but for last bits where functions are not NumPy's own."""
        return same_bits(got, reference) if self.library else _close(got, reference)

    def compare_attributes(self, pair: Pair, *names: str) -> None:
        for name in names:
            found, wanted = getattr(pair.tested, name, None), getattr(pair.reference, name, None)
            assert found == wanted, f"{self.story()}\n{name} {found!r}, NumPy's {wanted!r}"

    # Steps

    def create(self) -> None:
        data = self.data(self.shape(), self.random.choice(kinds.NUMBERS))
        order = self.choice(("C", "C", "F"))
        self.log.append(Statement("v = array", [data], {"data": data, "order": order}))
        self.vars.append(Pair(data.copy(order=order), self.xp.array(data, order=order), True))

    def feature(self, group: list[Feature] | None = None) -> None:
        """Draw a row of the tables, or of one of them, operands that it takes, and its options."""
        group = group or self.random.choices(*zip(*GROUPS, strict=True))[0]
        feature: Feature = self.choice(tuple(group))
        if feature.result == "close" and not self.library:
            return
        pairs = []
        for condition in feature.operands:
            fitting = [p for p in self.vars if condition(numpy.asarray(p.reference)) and (p.exact or not feature.sums)]
            if condition in draw.TARGETS:
                fitting = [p for p in fitting if isinstance(p.reference, numpy.ndarray)]
            if not fitting:
                return
            pairs.append(fitting[self.below(len(fitting))])
        o = draw.Arguments()
        operands = [numpy.asarray(p.reference) for p in pairs]
        for name, choices in feature.options.items():
            setattr(o, name, self.choice(choices) if isinstance(choices, tuple) else choices(self, o, *operands))
        if not self.is_comparable(feature, o, pairs):
            return
        written = feature.result == "written"
        exact = feature.result != "bits" and all(p.exact for p in pairs)

        def call(xp: Any, *args: Any) -> Any:
            result = feature.call(xp, _options_of(xp, o), *args)
            if written:
                return None
            if feature.layout or feature.result == "close" or isinstance(result, (tuple, list)):
                return result
            return self._small(xp, result)

        keep = not written and feature.result != "close"
        results = self.both(
            Statement(feature.name, operands, vars(o)), call, *pairs, exact=exact, keep=keep, loop=feature.loop
        )
        if feature.result == "close":
            for reference, tested in results:
                self.compare(Pair(reference, tested, False), close=True)
        if written:
            self.both("remainder", lambda xp, x: _small_in_place(x), pairs[0], exact=True, keep=False)
            self.review()
        elif feature.layout and results:
            self.compare_layout(feature, pairs, *results[0])

    def other_kind(self, group: list[Feature] | None = None) -> None:
        """Draw a row of the tables of other kinds, with operands of all kinds."""
        group = group or self.random.choices(*zip(*kinds.GROUPS, strict=True))[0]
        feature: Feature = self.choice(tuple(group))
        if feature.result == "close" and not self.library:
            return
        pairs = []
        for condition in feature.operands:
            fitting = [p for p in (*self.others, *self.vars) if condition(p.reference)]
            fitting = [p for p in fitting if p.exact or not feature.sums]
            if pairs and self.random.random() < 0.8:  # one that goes with the first, if there is one
                first = pairs[0].reference
                fitting = [p for p in fitting if _goes_with(p.reference, first)] or fitting
            if not fitting:
                return
            pairs.append(fitting[self.below(len(fitting))])
        o, operands = draw.Arguments(), [p.reference for p in pairs]
        if feature.result == "written" and len(pairs) == 2 and _has_two_faults(*operands):
            return
        for name, choices in feature.options.items():
            setattr(o, name, self.choice(choices) if isinstance(choices, tuple) else choices(self, o, *operands))
        written = feature.result == "written"

        def call(xp: Any, *args: Any) -> Any:
            result = feature.call(xp, _options_of(xp, o), *args)
            return None if written else result

        keep = not written and feature.result != "close"
        statement = Statement(feature.name, operands, vars(o))
        # NumPy takes any exception while it compares records for an answer, that of a signal handler too.
        loop = feature.loop or any(x.dtype.names for x in operands)
        results = self.both(statement, call, *pairs, exact=True, keep=False, loop=loop)
        for reference, tested in results:
            if keep:
                self.keep(statement, Pair(reference, tested, True))
            else:
                self.compare(Pair(reference, tested, False), close=True)
        self.review()
        if feature.layout and results:
            self.compare_layout(feature, pairs, *results[0])

    def review(self) -> None:
        """Find which variables no longer hold small whole numbers, after a write through any of them."""
        for pair in (*self.vars, *self.others):
            pair.exact = pair.exact and _is_whole(pair.reference)

    def is_comparable(self, feature: Feature, o: draw.Arguments, pairs: list[Pair]) -> bool:
        """Whether the result of a row does not depend on the order of sums, nor on what C leaves undefined."""
        name = getattr(o, "ufunc", getattr(o, "name", feature.name))
        kinds = {p.reference.dtype.kind for p in pairs}
        # Negative numbers as unsigned ones: a float rounds such sums, and a cast back is undefined.
        if any(p.reference.dtype.kind == "u" and p.reference.max(initial=0) >= 2**31 for p in pairs):
            return False
        if feature.sums:
            if any(p.reference.dtype == "float16" and p.reference.size > 100 for p in pairs):
                return False
            if ("prod" in name or name == "multiply") and not kinds <= set("biu"):
                return False
        if feature.name in ("sort", "sorted", "partition", "pad") and any(map(_has_negative_zero, pairs)):
            return False  # only a stable sort keeps the order of equal elements; a mean of one may add it to zero
        target_kind = pairs[0].reference.dtype.kind if pairs else "b"
        if feature.result == "written" and target_kind in "iu" and not all(p.exact for p in pairs):
            return False
        return not self.foreign(name, *pairs)

    def compare_layout(self, feature: Feature, operands: list[Pair], reference: Any, tested: Any) -> None:
        """Compare the strides of a result, and whether it is a view."""
        alike = all(_steps(p.reference) == _steps(p.tested) for p in operands)
        if not isinstance(reference, numpy.ndarray) or not reference.size or not alike:
            return
        if feature.layout == "view":
            wanted = numpy.shares_memory(reference, operands[0].reference)
            found = self.xp.shares_memory(tested, operands[0].tested)
            assert found == wanted, f"{self.story()}\na view in NumPy: {wanted}"
            if not wanted:
                return
        assert _steps(tested) == _steps(reference), (
            f"{self.story()}\nstrides {tested.strides}, NumPy's {reference.strides}"
        )

    def generate(self) -> None:
        n = self.size()
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
        dtype = self.random.choice(kinds.NUMBERS)
        if not a.exact and numpy.dtype(dtype).kind in "iu":
            return  # what C makes of NaN is the table's test
        self.both(f"astype {dtype}", lambda xp, x: x.astype(dtype), a, exact=a.exact)

    def key(self, shape: tuple[int, ...]) -> Any:
        """A random basic index."""
        parts: list[Any] = []
        for n in shape:
            kind = self.random.randrange(6)
            if kind == 0:
                parts.append(self.below(2 * n) - n)
            elif kind == 1:
                parts.append(slice(None, None, self.random.choice((1, -1, 2, -2))))
            elif kind == 2:
                parts.append(slice(self.below(n + 1), None))
            elif kind == 3:
                parts.append(slice(None, self.below(n + 1)))
            else:
                parts.append(slice(None))
        if self.random.random() < 0.15:
            parts.insert(self.below(len(parts) + 1), None)
        if self.random.random() < 0.15 and parts:
            cut = self.below(len(parts))
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
            if a.reference.dtype.kind in "iu" and not (b.exact and numpy.isfinite(b.reference).all()):
                return  # what C makes of NaN is the table's test
            if b.reference.ndim and _is_element(a.reference, key):
                return  # which error NumPy raises depends on the dtype
            if a.reference.dtype != b.reference.dtype and numpy.may_share_memory(a.reference, b.reference):
                return  # NumPy (2.4.6) reads what it has overwritten: x[...] = x.view("f8") of four float16
            if b.reference.dtype == bool and b.reference.view("u1").max(initial=0) > 1:
                return  # NumPy copies the bytes, of which a view of another dtype has made others than 0 and 1
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
                  lambda xp, x, y: _change(x, name, y), a, b, exact=True, keep=False)  # fmt: skip
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
        index = numpy.array([self.below(2 * n) - n for _ in range(self.random.randrange(1, 6))])
        self.log.append(f"index = {index}")
        kind = self.random.randrange(3)
        if kind == 0:
            self.both("v[index]", lambda xp, x: x[xp.asarray(index)].copy(), a, exact=a.exact)
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
            self.vars.pop(self.below(len(self.vars)))

    def copy(self) -> None:
        a = self.pick()
        self.both("copy", lambda xp, x: x.copy(), a, exact=a.exact)

    def move(self) -> None:
        """Have the memory of an array on the device, if it is on the host and can leave it."""
        pair = self.pick()
        if pair.reference.ndim and isinstance(pair.reference, numpy.ndarray) and pair.reference.flags.writeable:
            self.log.append("move")
            with suppress(BufferError):  # fields of records stay
                self.xp.from_dlpack(pair.tested)

    def change_residence(self) -> None:
        residence = self.choice(("auto", "device"))
        self.log.append(f"residence {residence}")
        self.xp.set_residence(residence)


STEPS: list[tuple[Callable[[Machine], None], float]] = [
    (Machine.create, 1), (Machine.generate, 0.7), (Machine.binary, 5), (Machine.with_scalar, 3), (Machine.unary, 2),
    (Machine.where, 1), (Machine.astype, 1.5), (Machine.view, 4), (Machine.assign, 4), (Machine.in_place, 2),
    (Machine.neighbours, 1.5), (Machine.masked, 1), (Machine.indexed, 1.5), (Machine.reduce, 3), (Machine.look, 1),
    (Machine.forget, 1.5), (Machine.copy, 0.7), (Machine.feature, 16),
    (Machine.move, 0.5), (Machine.change_residence, 0.5),
]  # fmt: skip
# In programs of arrays of other kinds, these are in most steps.
MIXED_STEPS = [*STEPS, (Machine.other_kind, 60)]


def _family(error: type) -> type:
    """What counts as the same exception: NumPy's own subclasses (AxisError, UFuncTypeError) by their public base."""
    bases = (TypeError, IndexError, OverflowError, numpy.linalg.LinAlgError, ValueError, RuntimeError,
             ArithmeticError)  # fmt: skip
    return next(b for b in bases if issubclass(error, b))


def _flat(results: Any) -> list[Any]:
    """Return the arrays that a function gives."""
    if results is None:
        return []
    return [x for r in results for x in _flat(r)] if isinstance(results, (tuple, list)) else [results]


def _options_of(xp: Any, o: draw.Arguments) -> draw.Arguments:
    """Return options with the module's own arrays."""
    return draw.Arguments(**{name: _own(xp, value) for name, value in vars(o).items()})


def _own(xp: Any, value: Any) -> Any:
    if isinstance(value, numpy.ndarray):
        return value.copy(order="K") if xp is numpy else xp.array(value, order="K")
    return tuple([_own(xp, x) for x in value]) if isinstance(value, tuple) else value


def _steps(x: Any) -> list[int]:
    """Return the strides that an array steps by."""
    return [] if 0 in x.shape else [stride for stride, n in zip(x.strides, x.shape) if n > 1]


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    try:
        return numpy.broadcast_shapes(a, b) == a
    except ValueError:
        return False


def _goes_with(x: Any, first: Any) -> bool:
    """Whether an array is of the kind of another, and broadcasts to it."""
    is_alike = x.dtype.kind == first.dtype.kind and kinds.is_masked(x) == kinds.is_masked(first)
    return _broadcast(first.shape, x.shape) and (is_alike or kinds.is_number(x))


def _has_two_faults(target: Any, x: Any) -> bool:
    """Whether `x` fits neither the shape nor the dtype of what it is added to, so that either may be named."""
    return not (_broadcast(target.shape, x.shape) or numpy.can_cast(x.dtype, target.dtype, "same_kind"))


def _is_element(x: Any, key: Any) -> bool:
    try:
        return numpy.ndim(x[key]) == 0
    except IndexError:
        return False


def _set(x: Any, key: Any, value: Any) -> None:
    x[key] = value


def _change(x: Any, operator: str, y: Any) -> None:
    getattr(x, operator)(y)


def _small_in_place(x: Any) -> None:
    if x.dtype.kind in "iuf":
        x %= x.dtype.type(13)


def _parts(*arrays: Any) -> Iterable[tuple[Any, ...]]:
    return [arrays] if arrays[0].dtype.kind != "c" else [[x.real for x in arrays], [x.imag for x in arrays]]


def plain(x: Any) -> Any:
    """Return what is compared of a value of NumPy's: an array of no subclass, a masked array, or another value."""
    return numpy.asarray(x) if hasattr(x, "dtype") and not isinstance(x, numpy.ma.MaskedArray) else x


def _is_whole(x: Any) -> bool:
    """Whether values are small whole numbers, so that no order of a sum rounds them."""
    if x.dtype.kind not in "biufc":
        return False
    return all(bool((abs(part) < 300).all() and (part == numpy.round(part)).all()) for (part,) in _parts(x))


def _has_negative_zero(pair: Pair) -> bool:
    x = pair.reference
    return x.dtype.kind in "fc" and any(bool((numpy.signbit(part) & (part == 0)).any()) for (part,) in _parts(x))


def same_bits(got: Any, want: Any) -> bool:
    """Whether arrays are equal to the bit, but for the bits of NaN, of what is masked, and of padding."""
    if isinstance(want, numpy.ma.MaskedArray):
        mask = numpy.ma.getmaskarray(want)
        is_same = numpy.array_equal(numpy.ma.getmaskarray(got), mask)
        return is_same and same_bits(numpy.ma.getdata(got)[~mask], numpy.ma.getdata(want)[~mask])
    if want.dtype.names:
        return all(same_bits(got[name], want[name]) for name in want.dtype.names)
    if want.dtype.kind == "b":  # NumPy's comparison of booleans of other bytes than 0 and 1 depends on their strides
        return bool(numpy.array_equal(got.view("u1") != 0, want.view("u1") != 0))
    if want.dtype.kind in "mM":
        bits = f"i{want.dtype.itemsize}"
        return bool(numpy.array_equal(got.view(bits), want.view(bits)))
    if want.dtype.kind == "O":
        return repr(got.tolist()) == repr(want.tolist())
    if want.dtype.kind in "fc":
        return all(
            bool(numpy.array_equal(g, w, equal_nan=True))
            and bool((numpy.signbit(g) == numpy.signbit(w))[~numpy.isnan(w)].all())
            for g, w in _parts(got, want)
        )
    return bool(numpy.array_equal(got, want))


def _close(got: Any, want: Any) -> bool:
    if isinstance(want, numpy.ma.MaskedArray):
        mask = numpy.ma.getmaskarray(want)
        return numpy.array_equal(numpy.ma.getmaskarray(got), mask) and _close(got.data[~mask], want.data[~mask])
    if want.dtype.kind not in "fc":
        return same_bits(got, want)
    tolerance = draw.TOLERANCE[min(8, want.real.dtype.itemsize)]
    finite = numpy.abs(want[numpy.isfinite(want)])
    scale = float(finite.max()) if finite.size else 1.0
    return bool(numpy.allclose(got, want, tolerance, tolerance * max(scale, 1.0), equal_nan=True))
