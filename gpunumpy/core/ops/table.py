"""The table of operations: NumPy's name and the loops (combinations of dtypes) of each op.

Adding an elementwise operation is one line of `elementwise`; adding a reduction is one line of `reductions`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, TypeAlias

import numpy

from ..dtypes import BOOL, COMPLEX128, DTYPES, FLOAT32, FLOAT64, INT64, KIND, ML_DTYPES, DType, check
from ..errors import allowed
from ..numpy_ufuncs import UFUNCS
from .elementwise import ELEMENTWISE, Op
from .reductions import REDUCTIONS, Reduction
from .special import SPECIAL, resolve_special
from .streams import STREAMS

__all__ = [
    "ELEMENTWISE",
    "REDUCTIONS",
    "Reduction",
    "Op",
    "op_of",
    "loops",
    "reduction_loops",
    "resolve",
    "scans",
    "ufunc_of",
]

Loop: TypeAlias = "tuple[DType, ...]"

# Ops that are one output of a ufunc with several: op -> (ufunc, number of the output).
UFUNC_OUTPUTS: dict[str, tuple[str, int]] = {
    "modf_frac": ("modf", 0),
    "modf_int": ("modf", 1),
    "frexp_mantissa": ("frexp", 0),
    "frexp_exponent": ("frexp", 1),
}

WIDER: dict[DType, DType] = {
    **{dtype: FLOAT32 for dtype in DTYPES if KIND[dtype] == "e"},
    FLOAT32: FLOAT64,
    numpy.dtype(numpy.complex64): COMPLEX128,
}
_COMPLEX_OF: dict[DType, DType] = {
    numpy.dtype(numpy.float32): numpy.dtype(numpy.complex64),
    FLOAT64: COMPLEX128,
}
# Ops that accept Python integers beyond the range of the other operand's dtype.
COMPARISONS = frozenset(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"))
REAL_OF: dict[DType, DType] = {wide: real for real, wide in _COMPLEX_OF.items()}


def op_of(name: str) -> Op:
    """Return the elementwise op of this name."""
    try:
        return STREAMS[name] if name in STREAMS else SPECIAL[name] if name in SPECIAL else ELEMENTWISE[name]
    except KeyError:
        raise KeyError(f"no elementwise op {name!r}; {allowed(ELEMENTWISE)}") from None


@cache
def scans(op_name: str) -> bool:
    """Return whether the table has a scan by this op. Without one, accumulation is a left fold."""
    return op_name in REDUCTIONS and REDUCTIONS[op_name].scans


def ufunc_of(op_name: str) -> numpy.ufunc | None:
    """Return NumPy's ufunc that computes an op, maybe as one of several outputs; None if NumPy has no such ufunc."""
    return UFUNCS.get(UFUNC_OUTPUTS.get(op_name, (op_name, 0))[0])


def _supported(name: str, dtypes: Iterable[Any]) -> Loop:
    """Return the dtypes of a loop of `name`. Raise TypeError if gpunumpy does not support all of them."""
    try:
        return tuple(check(dtype) for dtype in dtypes)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None


def promoted_types(name: str, types: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the inputs of a ufunc's type promotion, with int64 for two Python integers that are compared.

    NumPy would compare them as objects.
    """
    return (INT64, INT64) if name in COMPARISONS and set(types) == {int} else types


@cache
def resolve(name: str, dtypes: tuple[Any, ...]) -> Loop:
    """Return the loop that NumPy uses for arguments of these dtypes: the arguments' dtypes, then the results'.

    Parameters
    ----------
    name
        An op, or a ufunc with several outputs (``modf``, ``divmod``).
    dtypes
        A dtype for each argument, or the type ``int``, ``float`` or ``complex`` for a weak Python scalar.

    Raises
    ------
    TypeError
        If NumPy has no such loop, as NumPy raises it, or gpunumpy does not support its dtypes.
    """
    function = ufunc_of(name)
    if function is not None:
        dtypes = promoted_types(name, dtypes)
        if name == "clip" and not ML_DTYPES.isdisjoint(dtypes):
            result = resolve("maximum", (resolve("maximum", dtypes[:2])[-1], dtypes[2]))[-1]
            return (result,) * 4
        loop = _supported(name, function.resolve_dtypes(dtypes + (None,) * function.nout))
        return (*loop[: function.nin], loop[function.nin + UFUNC_OUTPUTS[name][1]]) if name in UFUNC_OUTPUTS else loop
    if name in SPECIAL:
        return resolve_special(name, dtypes, resolve("arctan2", dtypes * 2 if len(dtypes) == 1 else dtypes)[-1])
    if name == "where":
        result = resolve("maximum", dtypes[1:])[-1]
        return (BOOL, result, result, result)
    if name in ("real", "imag"):
        return (dtypes[0], REAL_OF.get(dtypes[0], dtypes[0]))
    if name == "scaled":
        if dtypes[0] not in REAL_OF:
            raise TypeError(f"{name} takes complex numbers, not {dtypes[0]}")
        return (dtypes[0], REAL_OF[dtypes[0]], dtypes[0])
    if name == "complex":
        real = resolve("arctan2", dtypes)[-1]
        real = real if real in _COMPLEX_OF else numpy.dtype(numpy.float32)
        return (real, real, _COMPLEX_OF[real])
    raise KeyError(f"no dtype rule for {name!r}; {allowed(ELEMENTWISE)}")


@cache
def loops(name: str) -> tuple[Loop, ...]:
    """Return every loop of an elementwise op over the supported dtypes."""
    function = ufunc_of(name)
    if name == "cast":
        return tuple((a, b) for a in DTYPES for b in DTYPES)
    if function is None:
        nin = op_of(name).arity
        found = [_resolve_if_possible(name, (BOOL,) * (nin == 3) + (dtype,) * min(nin, 2)) for dtype in DTYPES]
    else:
        found = [_resolve_if_possible(name, (dtype,) * function.nin) for dtype in DTYPES if dtype in ML_DTYPES]
        for types in function.types:
            arguments = types[: function.nin]
            if set(arguments) <= set(_CHARACTERS):
                found.append(_resolve_if_possible(name, tuple(numpy.dtype(character) for character in arguments)))
    return tuple(dict.fromkeys(loop for loop in found if loop is not None))


# NumPy's character codes of the supported dtypes ("l" and "q" are one dtype, int64).
_CHARACTERS = "?bhilqBHILQefdFD"


def _resolve_if_possible(name: str, dtypes: Loop) -> Loop | None:
    """Return the loop for these dtypes, or None if there is none."""
    try:
        return resolve(name, dtypes)
    except TypeError:
        return None


@cache
def reduction_loops(name: str) -> tuple[Loop, ...]:
    """Return the loops of a reduction: for every dtype that it takes, with the result dtypes of NumPy's functions."""
    op = REDUCTIONS[name]
    if name in ELEMENTWISE:
        is_widened = name in ("add", "multiply")
        found = [_resolve_if_possible(name, (dtype, dtype)) for dtype in DTYPES]
        same = tuple((loop[0], loop[-1]) for loop in found if loop is not None)
        widened = tuple((a, _sum_dtype(a)) for a, _ in same if is_widened and _sum_dtype(a) != a)
        return tuple(dict.fromkeys(same + widened))
    if op.value == "widest":
        return tuple((dtype, _variance_dtype(dtype)) for dtype in DTYPES)
    result = BOOL if op.value == "bool" else INT64
    return tuple((dtype, result) for dtype in DTYPES)


def _sum_dtype(dtype: DType) -> DType:
    """Return the dtype of NumPy's sum or product: integers are widened to 64 bits."""
    return check({"b": "int64", "i": "int64", "u": "uint64"}.get(KIND[dtype], dtype))


def _variance_dtype(dtype: DType) -> DType:
    """Return the dtype of NumPy's variance: real, and float64 for integers."""
    return FLOAT64 if KIND[dtype] in "biu" else REAL_OF.get(dtype, dtype)
