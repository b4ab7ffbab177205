"""`Numbers`: what a Python function sees in the place of a number, which holds that number of every element.

NumPy calls a vectorized function with Python's own numbers. So operations on `Numbers` have Python's meaning: floats
are double precision, integers do not overflow, a division by zero raises. A check on the device finds elements for
which arrays would compute otherwise, or Python would raise: then the function is to be called for each element.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy

from ...core.dtypes import BOOL, COMPLEX128, FLOAT64, INT64, DType
from ...core.graph import node as graph
from ...core.ops.operators import BINARY, EQUALITY, ORDERING, UNARY
from ...core.recording.array import ndarray, wrap
from ..ufuncs.methods import reduce_ufunc
from ..ufuncs.ufunc import UFUNCS

# The dtypes whose scalars promote as Python's numbers do, by kind. Kinds are in the order of promotion.
DTYPES = {"b": BOOL, "i": INT64, "f": FLOAT64, "c": COMPLEX128}
_KINDS: dict[type, str] = {bool: "b", int: "i", float: "f", complex: "c"}
_PYTHON_TYPES: dict[str, Callable[[Any], Any]] = {"b": bool, "i": int, "f": float, "c": complex}
# Integers of a smaller magnitude are added, and compared with results of float64 arithmetic, without overflow.
MAX_INTEGER = 2**62
# Integers up to this magnitude are float64 numbers.
_MAX_EXACT = 2**53
# A function of more operations has no end in sight, as far as a graph goes; one of more ways has too many results.
_MAX_OPERATIONS, _MAX_WAYS, _MAX_CONDITIONS = 1000, 32, 24


class UntraceableError(Exception):
    """A function does what has no meaning for the numbers of all elements at once."""


class Tracing:
    """The runs of a function over the numbers of all elements, one for each way through its conditions.

    Attributes
    ----------
    reached
        Condition for the elements that go the present way, an array; None for all elements.
    checks
        Conditions that must be true for every element, or else the results are not those of Python's numbers.
    """

    def __init__(self) -> None:
        self.reached: ndarray | None = None
        self.checks: list[Any] = []
        self._choices: list[bool] = []
        self._count = 0
        self._ways = 0
        self._operations = 0

    def start(self) -> None:
        """Begin the next run."""
        self.reached = None
        self._count = 0
        self._ways += 1

    def go_on(self) -> bool:
        """Turn to the next way; return False if there is none."""
        while self._choices and not self._choices[-1]:
            self._choices.pop()
        if not self._choices:
            return False
        if self._ways == _MAX_WAYS:
            raise UntraceableError("too many conditions")
        self._choices[-1] = False
        return True

    def choose(self, condition: ndarray) -> bool:
        """Return whether the present way is that of elements for which a condition is true."""
        if self._count == len(self._choices):
            if self._count == _MAX_CONDITIONS:
                raise UntraceableError("too many conditions")
            self._choices.append(True)
        choice = self._choices[self._count]
        self._count += 1
        taken = condition if choice else UFUNCS["logical_not"](condition)
        self.reached = taken if self.reached is None else UFUNCS["logical_and"](self.reached, taken)
        return choice

    def require(self, condition: Any) -> None:
        """Add a check of the elements that go the present way."""
        if self.reached is not None:
            condition = UFUNCS["logical_or"](condition, UFUNCS["logical_not"](self.reached))
        self.checks.append(condition)

    def require_none(self) -> None:
        """Add the check that no element goes the present way."""
        self.require(False)

    def count_operation(self) -> None:
        """Count an operation of the function."""
        self._operations += 1
        if self._operations > _MAX_OPERATIONS:
            raise UntraceableError("too many operations")

    def succeeded(self) -> bool:
        """Return whether all checks are true; the host waits for them, if there are any."""
        if not self.checks:
            return True
        every = self.checks[0]
        for check in self.checks[1:]:
            every = UFUNCS["logical_and"](every, check)
        return bool(reduce_ufunc("logical_and", every, None))


class Numbers:
    """The number of every element.

    Parameters
    ----------
    tracing
        The run that the numbers belong to.
    array
        The numbers: of a dtype of `DTYPES` if they are Python's.
    limit
        Upper bound of the magnitudes of integers.
    is_numpy
        Whether they are NumPy's scalars, which overflow, divide by zero, and have a dtype.
    """

    __slots__ = ("_array", "_is_numpy", "_kind", "_limit", "_tracing")
    __array_ufunc__ = None  # NumPy's scalars leave operations to this class

    def __init__(self, tracing: Tracing, array: Any, limit: int = 0, is_numpy: bool = False) -> None:
        self._tracing, self._array, self._is_numpy = tracing, array, is_numpy
        self._kind = _KINDS.get(type(array)) or array.dtype.kind
        self._limit = 1 if self._kind == "b" else limit

    def __bool__(self) -> bool:
        """Choose a way."""
        return self._tracing.choose(truth(self)._array)

    def __repr__(self) -> str:
        """Refuse to be a text: there is one for each element."""
        raise UntraceableError("a text of a number")

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        """Refuse to be a text."""
        raise UntraceableError("a text of a number")

    __hash__ = None  # type: ignore[assignment]

    @property
    def real(self) -> Any:
        """The real part."""
        if self._kind == "c":
            return Numbers(self._tracing, self._array.real, is_numpy=self._is_numpy)
        return self if self._is_numpy else _unary("positive", self)

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        if self._kind == "c":
            return Numbers(self._tracing, self._array.imag, is_numpy=self._is_numpy)
        zero = 0.0 if self._kind == "f" else 0
        return self._array.dtype.type(0) if self._is_numpy else zero

    def conjugate(self) -> Any:
        """Return the complex conjugate."""
        return _unary("conjugate", self) if self._kind == "c" else self.real

    def __round__(self, ndigits: None = None) -> Numbers:
        """Return the nearest integer."""
        if ndigits is not None:
            raise UntraceableError("decimal places")
        return integer(self, "rint")

    def __floor__(self) -> Numbers:
        """Return the largest integer that is not larger."""
        return integer(self, "floor")

    def __ceil__(self) -> Numbers:
        """Return the smallest integer that is not smaller."""
        return integer(self, "ceil")

    def __trunc__(self) -> Numbers:
        """Return the integer towards zero."""
        return integer(self, "trunc")

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        """Return quotient and remainder."""
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        """Return quotient and remainder."""
        return other // self, other % self


def numbers_of(tracing: Tracing, x: Any) -> Numbers:
    """Return an operand as numbers: `Numbers`, a number of Python, or a scalar of NumPy."""
    if type(x) is Numbers:
        return x
    if type(x) in _KINDS:
        if type(x) is int and abs(x) >= MAX_INTEGER:
            raise UntraceableError("a large integer")
        return Numbers(tracing, x, abs(x) if type(x) is int else 0)
    if is_plain_scalar(x):
        return Numbers(tracing, x, is_numpy=True)
    raise UntraceableError(f"an operand of {type(x)}")


def is_plain_scalar(x: Any) -> bool:
    """Return whether `x` is a scalar of NumPy that promotes as Python's numbers do."""
    return isinstance(x, numpy.generic) and x.dtype in DTYPES.values()


def operand(tracing: Tracing, x: ndarray) -> Numbers:
    """Return the numbers that Python makes of the elements of an array.

    Raises
    ------
    UntraceableError
        If they are no numbers of Python's own.
    """
    kind = "i" if x.dtype.kind == "u" else x.dtype.kind
    if kind not in DTYPES:
        raise UntraceableError(f"numbers of {x.dtype}")
    if kind == "b":
        return Numbers(tracing, x)
    limit = 2 ** (8 * x.itemsize - (x.dtype.kind == "i")) if kind == "i" else 0
    if x.dtype == numpy.dtype("u8"):
        tracing.require(UFUNCS["less"](x, MAX_INTEGER))
        limit = MAX_INTEGER
    return Numbers(tracing, cast(x, DTYPES[kind]), limit)


def cast(x: Any, dtype: DType) -> ndarray:
    """Return an array in a dtype, without NumPy's warnings."""
    return x if x.dtype == dtype else wrap(graph.cast(x.value(), dtype))


def as_kind(x: Numbers, kind: str) -> Any:
    """Return numbers as an array of a kind, or as a number of Python; the limit of integers is theirs."""
    if type(x._array) in _KINDS:
        return _PYTHON_TYPES[kind](x._array)
    if isinstance(x._array, numpy.generic):
        return x._array.astype(DTYPES[kind])
    return cast(x._array, DTYPES[kind])


# --- what must hold ---------------------------------------------------------------------------------------------------


def _within(x: Numbers, limit: int) -> Numbers:
    """Return integers whose magnitudes are checked to be below a limit, if they may exceed it."""
    if x._kind == "i" and x._limit > limit:
        magnitude = UFUNCS["absolute"](as_kind(x, "f"))
        x._tracing.require(UFUNCS["less"](magnitude, float(limit)))  # a magnitude may be rounded to the limit
        return Numbers(x._tracing, x._array, limit)
    return x


def _require_not_zero(x: Numbers) -> None:
    """Check a divisor."""
    if type(x._array) in _KINDS:
        if not x._array:
            raise ZeroDivisionError
    else:
        x._tracing.require(truth(x)._array)


def require_finite_results(tracing: Tracing, result: Any, *operands: Any) -> None:
    """Check that finite numbers have a finite result, and infinite ones no NaN, as where Python raises none."""
    isnan, isfinite, either = UFUNCS["isnan"], UFUNCS["isfinite"], UFUNCS["logical_or"]
    passed = isfinite(result)
    for x in operands:
        if type(x) not in _KINDS:
            passed = either(passed, isnan(x))
            infinite = UFUNCS["isinf"](x)
            passed = either(passed, UFUNCS["logical_and"](infinite, UFUNCS["logical_not"](isnan(result))))
    tracing.require(passed)


# --- operations -------------------------------------------------------------------------------------------------------


def truth(x: Numbers) -> Numbers:
    """Return whether numbers are not zero."""
    return x if x._kind == "b" else Numbers(x._tracing, UFUNCS["not_equal"](x._array, 0))


def integer(x: Numbers, rounding: str) -> Numbers:
    """Return numbers as integers, rounded by a ufunc."""
    if x._kind == "c":
        raise TypeError
    if x._kind in "biu":
        return _unary("positive", x) if not x._is_numpy else Numbers(x._tracing, as_kind(x, "i"), 2**63)
    rounded = UFUNCS[rounding](x._array)
    x._tracing.require(UFUNCS["less"](UFUNCS["absolute"](rounded), float(MAX_INTEGER)))
    return Numbers(x._tracing, cast(rounded, INT64), MAX_INTEGER)


def real_number(x: Numbers) -> Numbers:
    """Return numbers as Python's floats."""
    if x._kind == "c":
        raise TypeError
    return Numbers(x._tracing, as_kind(x, "f"))


def apply_ufunc(tracing: Tracing, function: Callable[..., Any], *operands: Any) -> Any:
    """Return the result of a function of arrays over numbers: NumPy's scalars, or a tuple of them."""
    tracing.count_operation()
    numbers = [numbers_of(tracing, x) for x in operands]
    if any(x._is_numpy and x._array.dtype not in DTYPES.values() for x in numbers):
        raise UntraceableError("a scalar that promotes otherwise than Python's numbers")
    results = function(*(x._array for x in numbers))
    if isinstance(results, tuple):
        return tuple(Numbers(tracing, result, 2**63, True) for result in results)
    return Numbers(tracing, results, 2**63, True)


def _unary(name: str, x: Numbers) -> Any:
    if x._is_numpy:
        return apply_ufunc(x._tracing, UFUNCS[name], x)
    x._tracing.count_operation()
    if x._kind == "b":
        x = Numbers(x._tracing, as_kind(x, "i"), 1)
    x = _within(x, MAX_INTEGER)
    result = UFUNCS[name](x._array)
    if name == "absolute" and x._kind == "c":
        require_finite_results(x._tracing, result, x._array)
    return Numbers(x._tracing, result, x._limit + (name == "invert"))


def _binary(name: str, tracing: Tracing, x: Any, y: Any) -> Any:
    """Return the result of Python's operator with the name of a ufunc."""
    x, y = numbers_of(tracing, x), numbers_of(tracing, y)
    if x._is_numpy or y._is_numpy:
        if name == "power" and {x._kind, y._kind} <= {"b", "i"}:
            raise UntraceableError("integers to powers that may be negative")
        return apply_ufunc(tracing, UFUNCS[name], x, y)
    tracing.count_operation()
    kind = max(x._kind, y._kind, key=[*DTYPES].index)
    if kind == "c":
        return _complex(name, tracing, x, y)
    return _OPERATIONS[name](name, tracing, x, y, kind)


def _complex(name: str, tracing: Tracing, x: Numbers, y: Numbers) -> Numbers:
    if x._kind != y._kind and sys.version_info >= (3, 14):
        raise UntraceableError("mixed arithmetic, which Python 3.14 does by parts")
    if name not in ("add", "subtract", "multiply", "divide", "equal", "not_equal"):
        raise UntraceableError(f"{name} of complex numbers")
    if "equal" in name:
        x, y = _within(x, _MAX_EXACT), _within(y, _MAX_EXACT)
    operands = as_kind(x, "c"), as_kind(y, "c")
    result = UFUNCS[name](*operands)
    if name == "divide":
        _require_not_zero(y)
    return Numbers(tracing, result)


def _arithmetic(name: str, tracing: Tracing, x: Numbers, y: Numbers, kind: str) -> Numbers:
    function = UFUNCS[name]
    if kind == "f":
        return Numbers(tracing, function(as_kind(x, "f"), as_kind(y, "f")))
    limit = x._limit * y._limit if name == "multiply" else x._limit + y._limit
    result = Numbers(tracing, function(as_kind(x, "i"), as_kind(y, "i")), min(limit, MAX_INTEGER))
    if limit > MAX_INTEGER:
        size = UFUNCS["absolute"](function(as_kind(x, "f"), as_kind(y, "f")))
        tracing.require(UFUNCS["less"](size, float(MAX_INTEGER)))
    return result


def _divide(name: str, tracing: Tracing, x: Numbers, y: Numbers, kind: str) -> Numbers:
    if kind != "f":
        x, y = _within(x, _MAX_EXACT), _within(y, _MAX_EXACT)
    _require_not_zero(y)
    return Numbers(tracing, UFUNCS[name](as_kind(x, "f"), as_kind(y, "f")))


def _floor_divide(name: str, tracing: Tracing, x: Numbers, y: Numbers, kind: str) -> Numbers:
    _require_not_zero(y)
    if kind == "f":
        return Numbers(tracing, UFUNCS[name](as_kind(x, "f"), as_kind(y, "f")))
    x, y = _within(x, MAX_INTEGER), _within(y, MAX_INTEGER)
    limit = y._limit if name == "remainder" else x._limit
    return Numbers(tracing, UFUNCS[name](as_kind(x, "i"), as_kind(y, "i")), limit)


def _power(name: str, tracing: Tracing, x: Numbers, y: Numbers, kind: str) -> Numbers:
    is_constant = type(y._array) in _KINDS
    if kind != "f" and not (is_constant and y._array < 0):
        if not is_constant:
            raise UntraceableError("integers to powers that may be negative")
        power = int(y._array)
        limit = x._limit**power if power < 64 else MAX_INTEGER + 1
        if limit > MAX_INTEGER:
            size = UFUNCS["power"](UFUNCS["absolute"](as_kind(x, "f")), float(power))
            tracing.require(UFUNCS["less"](size, float(MAX_INTEGER)))
        return Numbers(tracing, UFUNCS["power"](as_kind(x, "i"), power), min(limit, MAX_INTEGER))
    base, exponent = as_kind(x, "f"), as_kind(y, "f")
    result = UFUNCS["power"](base, exponent)
    # A negative number to a broken power is complex, and zero has no negative power.
    is_whole = float(exponent).is_integer() if is_constant else UFUNCS["equal"](UFUNCS["floor"](exponent), exponent)
    if is_whole is not True:
        tracing.require(UFUNCS["logical_or"](UFUNCS["logical_not"](UFUNCS["less"](base, 0.0)), is_whole))
    require_finite_results(tracing, result, base, exponent)
    return Numbers(tracing, result)


def _compare(name: str, tracing: Tracing, x: Numbers, y: Numbers, kind: str) -> Numbers:
    if kind == "f":
        x, y = _within(x, _MAX_EXACT), _within(y, _MAX_EXACT)
    return Numbers(tracing, UFUNCS[name](as_kind(x, kind), as_kind(y, kind)))


def _bitwise(name: str, tracing: Tracing, x: Numbers, y: Numbers, kind: str) -> Numbers:
    if kind == "f":
        raise TypeError
    limit = 1 if kind == "b" else 1 << max(x._limit, y._limit).bit_length()
    return Numbers(tracing, UFUNCS[name](as_kind(x, kind), as_kind(y, kind)), limit)


def _shift(name: str, tracing: Tracing, x: Numbers, y: Numbers, kind: str) -> Numbers:
    if kind == "f" or type(y._array) not in _KINDS or y._array < 0:
        raise UntraceableError("a shift by numbers that may be negative")
    if name == "left_shift":
        factor = numbers_of(tracing, 2 ** int(y._array))
        return _arithmetic("multiply", tracing, x, factor, "i")
    return Numbers(tracing, UFUNCS[name](as_kind(x, "i"), min(int(y._array), 63)), x._limit)


_OPERATIONS: dict[str, Callable[..., Numbers]] = {
    **dict.fromkeys(("add", "subtract", "multiply"), _arithmetic),
    "divide": _divide,
    **dict.fromkeys(("floor_divide", "remainder"), _floor_divide),
    "power": _power,
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"), _compare),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), _bitwise),
    **dict.fromkeys(("left_shift", "right_shift"), _shift),
}


# Python's operators, by the ufuncs that they are of arrays.
def _bind_operators() -> None:
    """Give the class Python's operators."""
    comparisons = ORDERING | EQUALITY
    for name, ufunc in (BINARY | comparisons | {"pow": "power"}).items():

        def forward(self: Numbers, other: Any, *, ufunc: str = ufunc) -> Any:
            return _binary(ufunc, self._tracing, self, other)

        def reflected(self: Numbers, other: Any, *, ufunc: str = ufunc) -> Any:
            return _binary(ufunc, self._tracing, other, self)

        setattr(Numbers, f"__{name}__", forward)
        if name not in comparisons:
            setattr(Numbers, f"__r{name}__", reflected)
    for name, ufunc in UNARY.items():
        setattr(Numbers, f"__{name}__", lambda self, ufunc=ufunc: _unary(ufunc, self))


_bind_operators()


# --- results ----------------------------------------------------------------------------------------------------------


def as_result(tracing: Tracing, x: Any, dtype: DType) -> Any:
    """Return a result of a function in a dtype, as NumPy converts an array of objects.

    Raises
    ------
    UntraceableError
        For a result that is no number.
    TypeError, OverflowError, ValueError
        Where NumPy refuses to convert it.
    """
    if type(x) is not Numbers:
        if type(x) not in _KINDS and not isinstance(x, numpy.number | numpy.bool):
            raise UntraceableError(f"a result of {type(x)}")
        return numpy.array(x, object).astype(dtype)[()]
    kind, target = x._kind, dtype.kind
    if target == "b":
        return truth(x)._array
    if kind == "c" and target != "c":
        raise TypeError
    if target in "iu" and kind != "b":
        if kind == "f":
            x = integer(x, "trunc")
        _require_in_range(x, dtype)
    elif target in "fc" and kind in "biu":
        x = real_number(x)
    return cast(x._array, dtype)


def _require_in_range(x: Numbers, dtype: DType) -> None:
    """Check that integers are numbers of a dtype of integers."""
    info = numpy.iinfo(dtype)
    if x._limit > info.max:
        x._tracing.require(UFUNCS["less_equal"](x._array, info.max))
    if x._limit > -info.min:
        x._tracing.require(UFUNCS["greater_equal"](x._array, info.min))
