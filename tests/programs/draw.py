"""Operands and arguments for random programs: conditions on variables, and functions that draw an argument.

A function that draws takes the program, the options drawn so far, and the operands as NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy

from gpunumpy.core.numpy_release import RELEASE

if TYPE_CHECKING:
    from .machine import Machine

Arguments = SimpleNamespace
Draw = Callable[..., Any]

# The value of an option that is not given.
LEFT_OUT = type("LEFT_OUT", (), {"__repr__": lambda self: "-"})()

# How far results may be apart that libraries of linear algebra or sums in other orders give, by the kind of precision.
TOLERANCE = {2: 2e-3, 4: 2e-4, 8: 1e-9}

# --- conditions on operands -------------------------------------------------------------------------------------------


def anything(x: Any) -> bool:
    return True


def array(x: Any) -> bool:
    return x.ndim > 0


def filled(x: Any) -> bool:
    return x.ndim > 0 and x.size > 0


def number(x: Any) -> bool:
    return x.ndim > 0 and x.dtype.kind != "b"


def filled_or_writeable(x: Any) -> bool:
    """Whether it has elements or is not read-only: NumPy's `tile` of others is a view."""
    return x.size > 0 or bool(x.flags.writeable)


def filled_number(x: Any) -> bool:
    return number(x) and x.size > 0


def real(x: Any) -> bool:
    return x.ndim > 0 and x.dtype.kind in "iuf"


def small(x: Any) -> bool:
    return x.size < 50 and x.ndim < 3


def matrix(x: Any) -> bool:
    return x.ndim >= 2


def target(x: Any) -> bool:
    """Whether the operand can be written to. NumPy scalars, which results without dimensions are, cannot."""
    return x.ndim > 0 and bool(x.flags.writeable)


def number_target(x: Any) -> bool:
    return target(x) and x.dtype.kind != "b"


def real_target(x: Any) -> bool:
    return target(x) and real(x)


def matrix_target(x: Any) -> bool:
    return target(x) and matrix(x)


def number_matrix_target(x: Any) -> bool:
    return number_target(x) and matrix(x)


# Conditions on what is written to: the array itself, not a NumPy scalar.
TARGETS = (target, number_target, real_target, matrix_target, number_matrix_target)

# --- indices ----------------------------------------------------------------------------------------------------------


def _line(m: Machine, low: int, high: int, most: int = 6, least: int = 0) -> Any:
    """Return a few random whole numbers from `low` to below `high`, or none where there is no such number."""
    count = least + m.below(most - least + 1) if high > low else 0
    name = m.choice(("int64", "int64", "int32", "int8"))
    found = [low + m.below(high - low) for _ in range(count)]
    return numpy.array(found, name if max(-low, high) < 128 else "int64")


def order(m: Machine, o: Arguments, *operands: Any) -> Any:
    """Return an order of a result. For "A" NumPy takes reversed lines that it has cast for contiguous ones."""
    is_plain = all(x.ndim != 1 or x.flags.forc for x in operands)
    return m.choice(("C", "F", "A" if is_plain else "C"))


def axis(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    return m.choice((0, -1, x.ndim - 1, None)) if m.random.random() < 0.95 else 3


def _length(o: Arguments, x: Any) -> int:
    """Return how many elements there are along the axis that was drawn."""
    if o.axis is None:
        return x.size
    return x.shape[o.axis] if -x.ndim <= o.axis < x.ndim else 1


def places_by_mode(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    n = _length(o, x)
    found = _line(m, -n, n) if o.mode == "raise" else _line(m, -2 * n, 2 * n)
    return found.reshape(m.choice(((-1,), (-1, 1), (1, -1))))


def places_along_axis(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    n = _length(o, x)
    length = m.choice((0, 1, n, n + 1)) if n else 0
    if o.axis is None:
        shape: tuple[int, ...] = (length,)
    else:
        at = o.axis % x.ndim if -x.ndim <= o.axis < x.ndim else 0
        shape = tuple(length if d == at else m.choice((k, k, k, 1)) for d, k in enumerate(x.shape))
    return m.numbers(shape, -n, max(n, -n + 1)) if n else numpy.zeros(shape, "int64")


def starts(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    return _line(m, 0, _length(o, x))


def places(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    """Return an index for the first dimensions: places that occur more than once, a mask or a slice."""
    n = x.shape[0]
    kind = m.below(5)
    if kind == 0:
        return m.mask(x.shape[:1])
    if kind == 1:
        return slice(None, None, m.choice((1, -1, 2)))
    if kind == 2 and x.ndim > 1 and n and x.shape[1]:
        first = _line(m, -n, n, least=1)
        return (first, m.numbers(first.shape, 0, x.shape[1]))
    return _line(m, -n, n)


def index(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    """Return a key with at least one array, whose places may occur more than once."""
    if m.random.random() < 0.2:
        return m.mask(x.shape[: 1 + m.below(x.ndim)])
    shape = m.choice(((), (1,), (3,), (2, 1), (0,), (4,)))
    key: list[Any] = []
    for n in x.shape[: 1 + m.below(x.ndim)]:
        kind = m.below(6)
        if kind <= 2 and n:
            key.append(m.numbers(shape, -n, n))
        elif kind == 3:
            key.append(slice(None, None, m.choice((1, -1, 2))))
        elif kind == 4 and n:
            key.append(m.below(n))
        else:
            key.append(slice(m.below(n + 1), None))
        if m.random.random() < 0.1:
            key.append(None)
    if m.random.random() < 0.2:
        key.append(Ellipsis)
    return tuple(key)


def window(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    k = m.below(x.shape[0] + 1)
    steps = (slice(None, None, -1), slice(None, None, 2), slice(-2, 0, -1))
    inner = ((Ellipsis, slice(1, None)), (Ellipsis, slice(None, -1)))
    return m.choice((slice(None), slice(1, None), slice(None, -1), slice(k, None), slice(None, k), *steps, *inner))


# NumPy 2.5.2 and those before it do not see that the `out` of an accumulation does not fit if a size is 0 or 1.


def window_for_sums(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    made, first = window(m, o, x), x[o.first]
    return o.first if min(*first.shape, *x[made].shape) <= 1 and x[made].shape != first.shape else made


def start(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    """Draw what a reduction begins with; in a complex product the signs of zeros depend on the order of the factors."""
    return LEFT_OUT if o.ufunc == "multiply" else m.choice((LEFT_OUT, 0, 1))


def axis_for_sums(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    made = axis(m, o, x)
    return 0 if made is None and min(x.shape) <= 1 else made


# --- values -----------------------------------------------------------------------------------------------------------


def _fitting(m: Machine, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape that broadcasts to another; now and then one that does not."""
    if m.random.random() < 0.03:
        return (*shape, 3)
    made = tuple(m.choice((n, n, 1)) for n in shape)
    return made[m.below(len(made) + 1) :] if m.random.random() < 0.3 else made


def values_for_key(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    if m.random.random() < 0.3:
        return m.choice((0, 1, 2, True))
    try:
        shape = x[o.key].shape
    except IndexError:
        return 1
    return m.data(_fitting(m, shape), m.choice((x.dtype.name, "int8", "float32", "bool")))


def values_at(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    if m.random.random() < 0.4:
        return m.choice((1, 2, True))
    fitting = _fitting(m, x[o.index].shape)
    if len(fitting) > x[o.index].ndim:
        return 1  # of two faults either may be named
    return m.data(fitting, m.choice((x.dtype.name, x.dtype.name, "int8")))


def fitting(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    """Return an array that broadcasts to the first operand."""
    names = (x.dtype.name, x.dtype.name, x.dtype.name, "int8", "bool", "float32", "float64", "int64")
    return m.data(_fitting(m, x.shape), m.choice(names))


def as_many_places(m: Machine, o: Arguments, x: Any) -> Any:
    """Return places along the first axis of a window, as many as it has."""
    n = len(x[o.first])
    return m.numbers((n,), -n, n) if o.mode == "raise" else m.numbers((n,), -3 * n, 3 * n + 1)


def few_values(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    if m.random.random() < 0.3:
        return m.choice((0, 1, 2))
    return m.data((1 + m.below(4),), m.choice((x.dtype.name, x.dtype.name, "int8", "float64")))


def mask_or_nothing(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    return LEFT_OUT if m.random.random() < 0.6 else m.mask(_fitting(m, x.shape))


def mask_line(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    return m.mask((m.below(_length(o, x) + 1),))


def choices(m: Machine, o: Arguments, x: Any, *_: Any) -> Any:
    return m.numbers(_fitting(m, x.shape), 0, 3) if o.mode == "raise" else m.numbers(_fitting(m, x.shape), -5, 9)


def counts(m: Machine, o: Arguments) -> Any:
    return _line(m, 0, 9)


def probabilities(m: Machine, o: Arguments, x: Any) -> Any:
    if o.name == "nanquantile":  # NumPy puts the dimensions of `q` in two places
        return m.choice((0.0, 0.5, [0.25, 0.75]))
    return m.choice((0.0, 0.5, 1.0, 0.3, [0.25, 0.75], [], [[0.1], [1.0]], 0.999))


def axes_of_elements(m: Machine, o: Arguments, x: Any) -> Any:
    """Axes: at most one where there are no elements, as NumPy 2.4.6 and 2.5.2 fail with others."""
    return m.choice((None, 0, -1, 1, (0, 1), ()) if x.size else (None, 0, -1, 1))


def shape(m: Machine, o: Arguments) -> Any:
    return m.shape()


def dtype_of_view(m: Machine, o: Arguments, x: Any) -> Any:
    """Return a dtype whose elements begin where elements of the array that owns the memory could begin.

    What is written through the view makes of booleans what kernels of a GPU do not take for booleans, and of floats
    such whose sums depend on their order.
    """
    name = m.choice(("int8", "uint16", "int32", "float64", "int64"))
    if not m.library and x.dtype.kind not in "iu":
        return x.dtype.name
    owner = x
    while isinstance(owner.base, numpy.ndarray):  # of a view of a subclass, which NumPy leaves between
        owner = owner.base
    places = (x.ctypes.data - owner.ctypes.data, *x.strides[:-1])
    return "int8" if any(place % numpy.dtype(name).itemsize for place in places) else name


def permutation(m: Machine, o: Arguments, x: Any) -> Any:
    return m.random.sample(range(x.ndim), x.ndim)


def reshape(m: Machine, o: Arguments, x: Any) -> Any:
    return m.choice((-1, x.shape[::-1], (1, -1), (-1, 2), (x.size, 1), (*x.shape, 1), (1, *x.shape, 1)))


def pad_width(m: Machine, o: Arguments, x: Any) -> Any:
    return m.choice((0, 1, 2, (1, 0), (0, 3), [(m.below(3), m.below(3)) for _ in x.shape]))


def pad_mode(m: Machine, o: Arguments, x: Any) -> Any:
    mode = m.choice(("constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric",
                     "wrap"))  # fmt: skip
    how: dict[str, Any] = {"mode": mode}
    if mode == "constant" and m.below(2):
        how["constant_values"] = m.choice((1, (1, 2)))
    elif mode == "linear_ramp" and m.below(2):
        how["end_values"] = m.choice((1, (1, 2)))
    elif mode in ("maximum", "mean", "median", "minimum") and m.below(2):
        how["stat_length"] = m.choice((1, 2, (1, 2)))
    elif mode in ("reflect", "symmetric") and m.below(2):
        how["reflect_type"] = "odd"
    return how


# --- matrices ---------------------------------------------------------------------------------------------------------

EQUATIONS = (
    "i->", "i,i", "i,j->ij", "ii->i", "ii", "ij->ji", "ij,jk", "ij,jk->ki", "...j,j->...", "ij,ij->i", "i,i->i",
    "ij,j,i", "ijk,ikl->ijl", "ij,jk,kl", "i...,i...->...", "ijk->k", "iij->j", "ij,kj->ik", "ijk,jil->kl", ",i->i",
    "ij->", "ij,ik,il->jkl", "ijk,k->ij", "ab,cd->adbc", "i,ij,j", "ijj->i",
)  # fmt: skip
_NUMBERS = ("int64", "float64", "float32", "complex128", "int8", "bool", "float16", "complex64", "uint8")


def einsum_factors(m: Machine, o: Arguments) -> Any:
    sizes = {letter: m.size() for letter in "ijklabcd"}
    made = []
    for term in o.equation.split("->")[0].split(","):
        more = m.choice(((), (2,), (1,), (0,))) if "..." in term else ()
        letters = term.replace("...", "")
        dims = [sizes[letter] for letter in letters]
        dims = [*more, *dims] if term.startswith("...") else [*dims, *more]
        made.append(m.data(tuple(dims), m.choice(_NUMBERS)))
    return made


def einsum_path(m: Machine, o: Arguments) -> Any:
    """Return how the factors are paired: one after the other with booleans, whose products NumPy sums as booleans."""
    path = m.choice((False, True, "greedy"))
    return False if any(x.dtype == bool for x in o.factors) else path


def factor(m: Machine, o: Arguments, *_: Any) -> Any:
    n, k = m.sizes[:2]
    dims = m.choice(((n,), (n, n), (k, n), (n, k), (2, n, n), (1, n, n), (n, 1), (1, n), (0, n), (n, 0), ()))
    return _laid_out(m, m.data(dims, m.choice(_NUMBERS)))


def _laid_out(m: Machine, a: Any) -> Any:
    return a.copy(order="F") if m.random.random() < 0.3 else a


def square(m: Machine, o: Arguments) -> Any:
    """Return square matrices: empty ones, of one element, singular ones, the identity, zeros, random ones."""
    n = m.choice((0, 1, 2, 3, m.sizes[0], m.sizes[1]))
    batch = m.choice(((), (), (), (1,), (0,), (2,), (3, 1), (1, 0)))
    dtype = m.choice(("float64", "float32", "complex128", "int64", "complex64", "bool"))
    a = m.data((*batch, n, n), dtype)
    kind = m.below(6)
    if kind == 0 and n:
        a[..., -1, :] = a[..., 0, :] if n > 1 else 0
    elif kind == 1:
        a[...] = 0
    elif kind == 2:
        a[...] = numpy.eye(n)
    elif kind == 3 and n:
        a[..., 0] = 0
    elif kind == 4 and dtype != "bool":
        a = a @ numpy.conj(a.swapaxes(-1, -2)) + numpy.eye(n, dtype=dtype)
    return _laid_out(m, a)


def symmetric(m: Machine, o: Arguments) -> Any:
    a = square(m, o)
    return a if a.dtype.kind == "b" else a + numpy.conj(a.swapaxes(-1, -2))


def filled_rectangle(m: Machine, o: Arguments) -> Any:
    """A matrix with elements: NumPy 2.3 finds no rank of others."""
    found = rectangle(m, o)
    return found if found.size else numpy.ones((2, 3), found.dtype)


def rectangle(m: Machine, o: Arguments) -> Any:
    n, k = m.sizes[:2]
    dims = m.choice(((n, k), (k, n), (1, n), (n, 1), (0, n), (n, 0), (1, 1), (2, 3, 1), (0, 2, 2), (1, 2, 3)))
    a = m.data(dims, m.choice(("float64", "float32", "complex128", "int64")))
    if m.below(3) == 0 and a.size:
        a[..., -1, :] = a[..., 0, :]
    return _laid_out(m, a)


def right_side(m: Machine, o: Arguments) -> Any:
    n = o.a.shape[-1]
    columns = 0 if RELEASE >= "2.4.3" else 1  # before, its OpenBLAS finds no singular matrix without right-hand sides
    return m.data(m.choice(((n,), (n, 1), (n, 2), (n, columns), (1, n, 2))), m.choice(("float64", "float32", "int64")))
