"""Functions run nothing on the host for numeric arrays: with ``host_fallback("error")`` none of them raises it."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np

from .keyword_calls import CALLS, calls_with_keywords
from .test_keywords import LEAVING_EXCEPTIONS, new_names

DTYPES = ("f8", "i8", "c16")
NUMBERS = numpy.arange(12) * 7 % 11 + 1


def _names(text: str) -> list[str]:
    return text.split()


# What takes no arrays of numbers: files, NumPy's build, texts and dates, functions of the program.
NOT_FOR_NUMBERS = _names("""
    asmatrix base_repr binary_repr bmat busday_count busday_offset datetime_as_string datetime_data frombuffer fromfile
    fromregex fromstring frompyfunc genfromtxt get_include getbufsize info is_busday isnat load loadtxt
    matrix save savetxt savez savez_compressed setbufsize show_config show_runtime test
""")
MASKED_METHODS = _names("""
    all any anom argmax argmin argsort astype clip compress compressed conj copy count cumprod cumsum diagonal dot fill
    filled flatten harden_mask item max mean min nonzero prod ptp put ravel repeat reshape round soften_mask sort
    squeeze std sum swapaxes take tolist trace transpose var view
    __abs__ __add__ __and__ __eq__ __floordiv__ __ge__ __getitem__ __gt__ __iadd__ __imul__ __invert__ __le__ __lt__
    __matmul__ __mod__ __mul__ __ne__ __neg__ __or__ __pow__ __radd__ __rsub__ __sub__ __truediv__
""")
# Of records, of addresses, and what looks at one element after the other.
MASKED_FUNCTIONS_ON_HOST = _names("""
    flatten_mask flatten_structured_array fromflex ids make_mask_descr ndenumerate
""")


@pytest.fixture(autouse=True)
def no_fallback() -> None:
    np.host_fallback("error")


def _arrays(dtype: str) -> tuple[Any, Any]:
    """A vector and a matrix of a dtype."""
    numbers = NUMBERS + 1j * NUMBERS[::-1] if dtype == "c16" else NUMBERS
    return np.asarray(numbers[:6].astype(dtype)), np.asarray(numbers.reshape(3, 4).astype(dtype))


def _arguments(dtype: str) -> Iterator[tuple[Any, ...]]:
    x, m = _arrays(dtype)
    yield from ((x,), (m,), (x, x[::-1]), (m, m), (x, 2), (m, 1), (2, x), (x, x, x), ([x, x],), (x, x, 2), (3,))
    yield from (
        (x, [0, 1]),
        (x, 2, 0),
        (m, (4, 3)),
        (x, x, m),
        (x, [0, 1], [2, 3]),
        (x, x, x, np.ones((2, 2, 2), dtype)),
    )


def _run(function: Callable[..., Any], *args: Any) -> None:
    """Call a function with arguments that may be none for it, which raises any error but that of a fallback."""
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            function(*args)
        except Exception as error:
            if isinstance(error, np.HostFallbackWarning) or "kernel" in str(error):
                raise


def _functions_of(module: Any) -> list[str]:
    names = (name for name in module.__all__ if callable(getattr(module, name)))
    return sorted(name for name in names if not isinstance(getattr(module, name), type))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [name for name in _functions_of(numpy) if name not in NOT_FOR_NUMBERS])
def test_functions(name: str, dtype: str) -> None:
    for args in _arguments(dtype):
        _run(getattr(np, name), *args)


MATRICES = ("asmatrix", "bmat")
# Values of keywords that are no numbers: arrays of them are on the host.
NO_NUMBERS = (
    *("'x'", "rtol=None", "atol=None", "prepend=None", "append=None", "default=None", "nan=None"),
    *("nanstd(m, mean=None", "nanvar(m, mean=None"),
)


@pytest.mark.sampled(60)
@pytest.mark.parametrize("name", sorted(CALLS.keys() - LEAVING_EXCEPTIONS - {*MATRICES}))
def test_calls_with_keywords(name: str) -> None:
    for dtype in ("?", "i8", "f4", "c16"):
        for call in calls_with_keywords(name):
            if not any(text in call for text in NO_NUMBERS):
                _run(lambda call=call, dtype=dtype: eval(call, new_names(np, dtype, numpy.zeros((3, 4)))))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("module", ["emath", "linalg", "fft"])
def test_submodules(module: str, dtype: str) -> None:
    _, m = _arrays(dtype)
    for name in _functions_of(getattr(numpy, module)):
        for args in (*_arguments(dtype), (m[:, :3],), (m[:, :3], m[:, :3]), (m[:, :3], m[:, 0])):
            _run(getattr(getattr(np, module), name), *args)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "module", ["polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre", "polyutils"]
)
def test_polynomials(module: str, dtype: str) -> None:
    for name in _functions_of(getattr(numpy.polynomial, module)):
        for args in _arguments(dtype):
            _run(getattr(getattr(np.polynomial, module), name), *args)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre"])
def test_classes_of_polynomials(name: str, dtype: str) -> None:
    x, _ = _arrays(dtype)
    cls = getattr(np.polynomial, name)
    calls: tuple[Callable[[], Any], ...] = (
        *(lambda: cls([1, 2, 3])(x), lambda: cls.fit(x, x, 2), lambda: cls(x)(x), lambda: cls(x) * cls(x) + cls(x) / 2),
        *(lambda: cls(x).deriv(), lambda: cls(x).integ(), lambda: cls(x).roots(), lambda: cls.fromroots(x)),
        *(
            lambda: cls(x).linspace(),
            lambda: cls(x).convert(kind=np.polynomial.Chebyshev),
            lambda: divmod(cls(x), cls(x)),
        ),
    )
    for call in calls:
        _run(call)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions(mode: str, dtype: str) -> None:
    x, _ = _arrays(dtype)
    for function in (np.convolve, np.correlate):
        expected = getattr(numpy, function.__name__)(x.get(), x.get()[:3], mode)
        numpy.testing.assert_allclose(function(x, x[:3], mode).get(), expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_masked_arrays(dtype: str) -> None:
    x, m = _arrays(dtype)
    masked = np.ma.array(m, mask=m.get().real > 5)
    for name in MASKED_METHODS:
        for args in ((), (1,), (masked,), (0,), (m,)):
            _run(lambda name=name, args=args: getattr(masked.copy(), name)(*args))
    for name in set(_functions_of(numpy.ma)) - {*MASKED_FUNCTIONS_ON_HOST}:
        for args in ((masked,), (masked, masked), (masked, 1), (masked, masked, masked), ((masked, masked),), (x,)):
            if name == "masked_values" and len(args) > 1 and args[1] is masked:
                continue  # a value that is an array, of which NumPy decides
            _run(getattr(np.ma, name), *args)


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_rows(dtype: str) -> None:
    _, m = _arrays(dtype)
    assert np.apply_along_axis(lambda row: row.sum(), 1, m).shape == (3,)
    assert np.apply_over_axes(np.sum, m, [0, 1]).shape == (1, 1)
    assert np.vectorize(lambda row: row.sum(), signature="(n)->()")(m).shape == (3,)
    assert np.unwrap(m.real, axis=0).shape == (3, 4)
    assert len([*np.nditer(m)]) == 12


def test_an_unknown_action_in_the_environment() -> None:
    environment = {**os.environ, "GPUNUMPY_HOST_FALLBACK": "raise"}
    done = subprocess.run(
        [sys.executable, "-c", "import gpunumpy"], env=environment, capture_output=True, text=True, check=False
    )
    assert "GPUNUMPY_HOST_FALLBACK='raise'; allowed: warn, error, ignore" in done.stderr
