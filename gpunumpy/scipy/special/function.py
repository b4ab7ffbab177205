"""The class of the functions: ufuncs of this package for rows of the table that are SciPy's and not NumPy's."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import numpy

from ...core.dtypes import DType
from ...core.ops import table
from ...core.recording.array import ndarray
from ...core.recording.record import binary_operator, unary_operator
from ...functions.placement import ELSEWHERE
from ...functions.ufuncs.ufunc import ufunc
from ...kernels.special.host import scipy_function
from ..functions import handed_over
from ..modules import lookup

_METHODS = ("__call__", "accumulate", "at", "outer", "reduce", "reduceat")
_SIGNATURES = {
    nin: inspect.Signature(
        [inspect.Parameter(f"x{k}", inspect.Parameter.POSITIONAL_ONLY) for k in range(1, nin + 1)]
        + [inspect.Parameter("out", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)]
        + [inspect.Parameter("where", inspect.Parameter.KEYWORD_ONLY, default=True)]
        + [inspect.Parameter("dtype", inspect.Parameter.KEYWORD_ONLY, default=None)]
    )
    for nin in (1, 2)
}


class SpecialFunction(ufunc):
    """Function that operates element by element, as a ufunc of `scipy.special` does. See `numpy.ufunc`.

    Floats narrower than float32 and integers of up to 16 bits are computed in float32, others in float64, as SciPy's
    are. SciPy computes complex numbers, on the host.
    """

    def __init__(self, name: str, doc: str) -> None:
        self._ops = (name,)
        self.__name__, self.__doc__, self.__module__ = name, doc, __package__
        self.nin, self.nout, self.nargs = table.op_of(name).arity, 1, table.op_of(name).arity + 1
        self.identity = None
        self.types = [f"{letter * self.nin}->{letter}" for letter in "fd"]
        self.ntypes = len(self.types)
        self._recorder = unary_operator(name) if self.nin == 1 else binary_operator(name)
        self._host_call = self._record_plain = self._record_reflected = None  # type: ignore[assignment]
        # Nothing is computed on the host at once: that takes a library.
        self._places = dict.fromkeys(_METHODS, _elsewhere)
        self.__signature__ = _SIGNATURES[self.nin]
        self._numpy = self._on_host = partial(_hand_over, name)

    def __reduce__(self) -> str:
        """Return the name, by which pickle finds the one object of this name."""
        return self.__name__

    def reduce(self, *args: Any, **options: Any) -> Any:
        """Reduce an array along axes, by SciPy on the host. See `numpy.ufunc.reduce`."""
        return _method_of_scipy(self.__name__, "reduce", args, options)

    def accumulate(self, *args: Any, **options: Any) -> Any:
        """Return all results of a reduction, by SciPy on the host. See `numpy.ufunc.accumulate`."""
        return _method_of_scipy(self.__name__, "accumulate", args, options)

    def reduceat(self, *args: Any, **options: Any) -> Any:
        """Reduce slices, by SciPy on the host. See `numpy.ufunc.reduceat`."""
        return _method_of_scipy(self.__name__, "reduceat", args, options)

    def at(self, *args: Any, **options: Any) -> Any:
        """Operate in place on indexed elements, by SciPy on the host. See `numpy.ufunc.at`."""
        return _method_of_scipy(self.__name__, "at", args, options)

    def _call_with_any(self, *args: Any, **options: Any) -> Any:
        if any(map(_is_complex, args)):
            return self._on_host(*args, **options)
        if not options and len(args) == self.nin and type(args[0]) is ndarray:
            result = self._recorder(*args)
            if result is not NotImplemented:
                return result
        return super()._call_with_any(*args, **options)

    def resolve_dtypes(self, dtypes: Any, **options: Any) -> tuple[DType, ...]:
        """Return the dtypes of the loop for operands and outputs of some dtypes. See `numpy.ufunc.resolve_dtypes`.

        Raises
        ------
        TypeError
            If there is no loop of the dtypes that `signature` asks for, or no cast that the rule allows.
        """
        signature, casting = options.get("signature"), options.get("casting", "same_kind")
        loop = table.resolve(self.__name__, tuple(dtypes[: self.nin]))
        if signature is not None:
            result = numpy.dtype(signature.rpartition(">")[2] if isinstance(signature, str) else signature[-1])
            loop = (result,) * self.nargs
            if loop not in table.loops(self.__name__):
                raise TypeError(f"{self.__name__} has no loop that gives {result}; allowed: float32, float64")
        wanted = [
            *zip(dtypes[: self.nin], loop, strict=False),
            *zip(loop[self.nin :], dtypes[self.nin :], strict=False),
        ]
        for have, to in wanted:
            if isinstance(have, numpy.dtype) and to is not None and not numpy.can_cast(have, to, casting):
                raise TypeError(f"{self.__name__}: no cast from {have} to {to} according to the rule {casting!r}")
        return loop


def _elsewhere(args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return ELSEWHERE


def _is_complex(x: Any) -> bool:
    return isinstance(x, complex) or getattr(getattr(x, "dtype", None), "kind", "") == "c"


def _hand_over(name: str, *args: Any, **options: Any) -> Any:
    """Call SciPy's function of a name as those are called that this package does not have."""
    return lookup("special", name)(*args, **options)


def _method_of_scipy(name: str, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call a method of SciPy's ufunc of a name: every result needs the one before, which no kernel here computes."""
    found = getattr(scipy_function(name), method)
    return handed_over(found, "special", f"{name}.{method}")(*args, **options)
