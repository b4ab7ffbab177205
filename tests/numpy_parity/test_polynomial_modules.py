"""The modules of `numpy.polynomial`, beside NumPy, for each basis; nothing of them runs on the host."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy
import numpy.polynomial
import pytest

import gpunumpy as np

from ..core.fusion.counting import kernels
from ..support.arrays import to_host
from .parity import check, on_host, same, sample

MODULES = {
    "polynomial": ("poly", "Polynomial"),
    "chebyshev": ("cheb", "Chebyshev"),
    "legendre": ("leg", "Legendre"),
    "hermite": ("herm", "Hermite"),
    "hermite_e": ("herme", "HermiteE"),
    "laguerre": ("lag", "Laguerre"),
}


@pytest.fixture(autouse=True)
def nothing_on_the_host() -> Iterator[None]:
    """A function that runs through NumPy raises."""
    np.host_fallback("error")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", numpy.exceptions.RankWarning)
        yield
    np.host_fallback("warn")


def compare(module: str, suffix: str, *args: Any, ulp: float = 64, **options: Any) -> None:
    """Assert that the function of a module has NumPy's outcome, if NumPy has the function."""
    name = MODULES[module][0] + suffix
    reference = getattr(getattr(numpy.polynomial, module), name, None)
    if reference is not None:
        check(getattr(getattr(np.polynomial, module), name), reference, *args, ulp=ulp, **options)


C1 = numpy.array([1.5, -2, 0.5, 3, 1])
C2 = numpy.array([2.0, 1, -0.5])
X = numpy.linspace(-0.9, 0.9, 6).reshape(2, 3)
OPERANDS = {
    "long": C1,
    "short": C2,
    "zeros at the end": numpy.array([1.0, 2, 0, 0]),
    "constant": numpy.array([3.0]),
    "zero": numpy.zeros(1),
    "zeros": numpy.zeros(3),
    "integers": numpy.array([4, -2, 6]),
    "float32": numpy.array([1, -2.5, 0.5], "f"),
    "complex": numpy.array([1 + 1j, 2, -1j]),
    "booleans": numpy.array([True, False]),
    "none": numpy.zeros(0),
    "matrix": numpy.ones((2, 2)),
}
everywhere = pytest.mark.parametrize("module", MODULES)
of_operand = pytest.mark.parametrize("c", OPERANDS.values(), ids=OPERANDS)


# --- values ---------------------------------------------------------------------------------------------------------


@everywhere
@of_operand
def test_values(module: str, c: Any) -> None:
    for x in (X, 0.5, 2, X.tolist(), X.astype("f"), numpy.arange(4), X * 1j, numpy.array(0.25)):
        compare(module, "val", x, c)
        compare(module, "val", numpy.asarray(x), c.tolist())


@everywhere
def test_values_of_several_polynomials(module: str) -> None:
    c = sample("d", (4, 3))
    compare(module, "val", X, c)
    compare(module, "val", X, c, tensor=False)
    compare(module, "val", X[0], c.tolist(), tensor=False)
    compare(module, "val", 0.5, sample("i4", (3, 2, 2)))


@everywhere
def test_numbers_of_other_kinds(module: str) -> None:
    """Fractions and long doubles, which no kernel computes, are NumPy's."""
    np.host_fallback("warn")
    fractions = [Fraction(1, 3), Fraction(2), Fraction(-1, 2)]
    wide = numpy.arange(1, 4, dtype=numpy.longdouble)
    calls = (("val", (X, fractions)), ("add", (fractions, fractions)), ("der", (fractions,)), ("mul", (wide, C2)))
    for suffix, args in calls:
        name = MODULES[module][0] + suffix
        tested, reference = (getattr(getattr(m.polynomial, module), name) for m in (np, numpy))
        given = [np.asarray(x) if isinstance(x, numpy.ndarray) else x for x in args]
        assert tested(*given).tolist() == reference(*args).tolist()


@everywhere
def test_values_in_several_variables(module: str) -> None:
    x, y, z = X, X * 2 - 0.25, X.T.reshape(2, 3)
    c = sample("d", (3, 4, 2))
    compare(module, "val2d", x, y, c[..., 0])
    compare(module, "val2d", x, y, c)
    compare(module, "val2d", x, y[0], c)
    compare(module, "val3d", x, y, z, c)
    compare(module, "val3d", x, y, z[:1], c)
    compare(module, "grid2d", x, y[0], c)
    compare(module, "grid3d", x[0], y[1, :2], z, c)
    c = numpy.asarray(c)
    for suffix in ("valnd", "gridnd"):
        name = MODULES[module][0] + suffix
        if hasattr(getattr(numpy.polynomial, module), name):
            tested, reference = (getattr(getattr(m.polynomial, module), name) for m in (np, numpy))
            same(on_host(tested([np.asarray(a) for a in (x, y, z)], c)), reference([x, y, z], c), 64)


@everywhere
def test_vander(module: str) -> None:
    for x in (X, X[0], 0.5, numpy.arange(3), X.astype("f"), X * 1j):
        for deg in (0, 1, 4, -1, 1.5):
            compare(module, "vander", x, deg)
    compare(module, "vander2d", X, X * 2, (2, 1))
    compare(module, "vander2d", X, X * 2, [1])
    compare(module, "vander3d", X, X.astype("f"), numpy.ones((2, 3), int), [1, 2, 1])


@everywhere
def test_weight(module: str) -> None:
    if module != "polynomial":
        compare(module, "weight", X)


@pytest.mark.parametrize("tensor", [True, False])
def test_values_from_roots(tensor: bool) -> None:
    for r in (C1, numpy.array([1, 2]), sample("d", (3, 2)), sample("d", (4, 2, 3))):
        for x in (X, X[0], 0.5, [1, 2]):
            compare("polynomial", "valfromroots", x, r, tensor)


@pytest.mark.on_device
@everywhere
def test_values_are_one_kernel(module: str) -> None:
    x = np.linspace(-1, 1, 1000)
    evaluate = getattr(getattr(np.polynomial, module), MODULES[module][0] + "val")
    assert len(kernels(lambda: evaluate(x, C1))) == 1
    coefficients = np.asarray(C1)
    assert len(kernels(lambda: evaluate(x, coefficients))) == 1


# --- arithmetic -----------------------------------------------------------------------------------------------------


@everywhere
@of_operand
@pytest.mark.parametrize("suffix", ["add", "sub", "mul", "div"])
def test_arithmetic(module: str, suffix: str, c: Any) -> None:
    for other in (*OPERANDS.values(), [1.5, 2]):
        compare(module, suffix, c, other, ulp=256 if c.dtype != "f" else 1024)


@everywhere
@of_operand
def test_operations_on_one_polynomial(module: str, c: Any) -> None:
    compare(module, "mulx", c)
    compare(module, "trim", c)
    compare(module, "trim", c, 2)
    compare(module, "trim", c, -1)
    compare(module, "companion", c)
    for power in (0, 1, 2, 3, -1, 1.5, 17):
        compare(module, "pow", c, power, ulp=1e4)
    compare(module, "pow", C2, 3, maxpower=2)
    if module != "polynomial":
        for name in (f"poly2{MODULES[module][0]}", f"{MODULES[module][0]}2poly"):
            tested, reference = (getattr(getattr(m.polynomial, module), name) for m in (np, numpy))
            check(tested, reference, c, ulp=64)


@everywhere
@pytest.mark.parametrize("args", [(1, 2), (0.5, 0), (numpy.array(3.0), numpy.array(2.0))])
def test_line(module: str, args: Any) -> None:
    compare(module, "line", *args)


CALCULUS: dict[str, dict[str, Any]] = {
    "plain": {},
    "none": {"m": 0},
    "twice": {"m": 2},
    "more than there are": {"m": 9},
    "scaled": {"scl": 2.5, "m": 2},
    "scaled, complex": {"scl": 1j},
    "negative": {"m": -1},
    "fraction": {"m": 1.5},
    "axis": {"axis": 1},
    "axis, fraction": {"axis": 1.5},
}


@everywhere
@pytest.mark.parametrize("options", CALCULUS.values(), ids=CALCULUS)
def test_calculus(module: str, options: dict[str, Any]) -> None:
    for c in (*OPERANDS.values(), sample("d", (5, 4)), sample("f", (7, 2, 2)), sample("D", (6, 3))):
        if c.size:
            compare(module, "der", c, **options)
            compare(module, "int", c, ulp=1e4, **options)


@everywhere
def test_integration_constants(module: str) -> None:
    for k in (2, [1.5], [1, 2], numpy.array([3.0, 1]), [1, 2, 3]):
        compare(module, "int", C1, 2, k, ulp=1e4)
        compare(module, "int", C1, 2, k, lbnd=-0.5, scl=2, ulp=1e4)
        compare(module, "int", numpy.zeros(1), 2, k, ulp=1e4)
    compare(module, "int", C1, 1, [], [1, 2])
    compare(module, "int", C1, 1, [], 0, [1, 2])


# Arguments for the parameters that NumPy's functions have.
BY_NAME: dict[str, Any] = {
    **dict.fromkeys(("c", "c1", "pol"), C1),
    **dict.fromkeys(("c2", "roots", "r"), C2),
    **dict.fromkeys(("x", "y", "z"), X[0]),
    "deg": 2,
    "pow": 2,
    "off": 1,
    "scl": 2,
    "m": 1,
    "k": [1],
    "lbnd": 0.5,
    "axis": 0,
    "tol": 0.1,
    "tensor": True,
    "maxpower": 5,
    "rcond": 1e-9,
    "full": False,
    "w": numpy.ones(3),
}
DEGREES = {"2d": [1, 2], "3d": [1, 2, 1]}


@everywhere
def test_parameters_have_numpys_names(module: str) -> None:
    reference = getattr(numpy.polynomial, module)
    for name in reference.__all__:
        function = getattr(reference, name)
        if isinstance(function, type) or not callable(function):
            continue
        parameters = inspect.signature(function).parameters.keys()
        if parameters <= BY_NAME.keys() and parameters != {"deg"}:
            options = {parameter: BY_NAME[parameter] for parameter in parameters}
            if name[-2:] in DEGREES and "deg" in options:
                options["deg"] = DEGREES[name[-2:]]
            elif name[-2:] in DEGREES:
                options["c"] = sample("d", (3, 2, 2))
            check(getattr(getattr(np.polynomial, module), name), function, ulp=1e5, **options)


# What is computed of eight and five coefficients, and the most kernels that it takes.
COUNTS: dict[str, tuple[Any, int]] = {
    "derivative of powers": (lambda p, c, d: p.polynomial.polyder(c), 1),
    "derivative": (lambda p, c, d: p.chebyshev.chebder(c), 4),
    "integral": (lambda p, c, d: p.legendre.legint(c), 6),
    "product with x": (lambda p, c, d: p.laguerre.lagmulx(c), 5),
    "product": (lambda p, c, d: p.legendre.legmul(c, d), 9),
    "quotient": (lambda p, c, d: p.hermite.hermdiv(c, d), 21),
    "matrix of values": (lambda p, c, d: p.hermite_e.hermevander(c, 6), 8),
}


@pytest.mark.parametrize(("call", "most"), COUNTS.values(), ids=COUNTS)
def test_coefficients_take_few_kernels(call: Any, most: int) -> None:
    c, d = np.linspace(1, 2, 8), np.linspace(-1, 3, 5)
    assert len(kernels(lambda: call(np.polynomial, c, d))) <= most


# --- roots and fits -------------------------------------------------------------------------------------------------


@everywhere
@of_operand
def test_roots(module: str, c: Any) -> None:
    compare(module, "roots", c, ulp=1e4)
    compare(module, "fromroots", c, ulp=1e4)


@everywhere
def test_more_roots(module: str) -> None:
    compare(module, "roots", numpy.array([-1.0, 0, 1]), ulp=1e4)
    compare(module, "fromroots", numpy.linspace(-1, 1, 7), ulp=1e5)


FIT: dict[str, dict[str, Any]] = {
    "plain": {},
    "full": {"full": True},
    "weights": {"w": numpy.linspace(1, 2, 9)},
    "weights of another length": {"w": numpy.ones(3)},
    "tolerance": {"rcond": 1e-3},
}


@everywhere
@pytest.mark.parametrize("options", FIT.values(), ids=FIT)
def test_fit(module: str, options: dict[str, Any]) -> None:
    tested, reference = (getattr(getattr(m.polynomial, module), MODULES[module][0] + "fit") for m in (np, numpy))

    def call(function: Any, *args: Any) -> Any:
        found = function(*args, **options)
        return (found[0], *map(numpy.asarray, found[1][:-1])) if isinstance(found, tuple) else found

    x = numpy.linspace(-1, 1, 9)
    for y in (numpy.sin(x), numpy.stack([numpy.exp(x), x * x], 1), numpy.exp(1j * x)):
        for deg in (0, 3, [0, 2], numpy.array([3, 1]), -1, 1.5):
            check(lambda *args: call(tested, *args), lambda *args: call(reference, *args), x, y, deg, ulp=1e6)


# --- classes --------------------------------------------------------------------------------------------------------


@everywhere
def test_objects_are_evaluated_on_the_device(module: str) -> None:
    tested, reference = (getattr(m.polynomial, MODULES[module][1]) for m in (np, numpy))
    p, q = tested([1, 2, 3], domain=[0, 4]), reference([1, 2, 3], domain=[0, 4])
    x = np.linspace(0, 4, 5)
    assert isinstance(p(x), np.ndarray)
    same(to_host(p(x)), q(to_host(x)), 16)
    assert isinstance(p(to_host(x)), numpy.ndarray)
    assert isinstance(p, reference)
    assert isinstance(q, tested)
    assert p == q
    for r in (p + q, q + p, p * q, p.deriv(), p.convert(kind=reference), pickle.loads(pickle.dumps(p)), copy.copy(p)):
        assert isinstance(r, reference)
    assert np.polynomial.polynomial.Polynomial is np.polynomial.Polynomial


@everywhere
@pytest.mark.parametrize("residence", ["auto", "device"])
def test_objects_are_divided_by_results(module: str, residence: str) -> None:
    np.set_residence(residence)
    name = MODULES[module][1]
    for text in ("p / (x[1] + 2)", "p / x.astype(int)[1]", "p // x.max()", "p ** x.astype(int)[2]", "p % x.max()"):
        tested, reference = (
            eval(text, {"p": getattr(m.polynomial, name)([1, 2, 3]), "x": m.arange(3.0)}) for m in (np, numpy)
        )
        assert tested == reference
        assert isinstance(tested, type(reference))
    for other in (np.ones(2), np.array(2.0), np.array([True]).all()):
        with pytest.raises(TypeError):
            getattr(np.polynomial, name)([1, 2, 3]) / other


@everywhere
@pytest.mark.parametrize("options", [{}, {"domain": []}, {"domain": [-1, 2]}, {"w": numpy.linspace(1, 2, 9)}])
def test_objects_are_fitted_on_the_device(module: str, options: dict[str, Any]) -> None:
    tested, reference = (getattr(m.polynomial, MODULES[module][1]) for m in (np, numpy))
    x = numpy.linspace(-1, 3, 9)
    for points, y in ((x, numpy.sin(x)), (x * (1 + 1j), x)):
        p, q = tested.fit(np.asarray(points), np.asarray(y), 3, **options), reference.fit(points, y, 3, **options)
        assert isinstance(p.coef, numpy.ndarray)
        same(p.coef, q.coef, 1e6)
        same(p.domain, q.domain)
    fitted, status = tested.fit(np.asarray(x), x, 1, full=True)
    assert len(status) == 4
    assert isinstance(fitted, tested)


def test_a_programs_own_class() -> None:
    class Own(np.polynomial.Polynomial):
        pass

    assert isinstance(Own([1, 2]), Own)
    assert not isinstance(np.polynomial.Polynomial([1, 2]), Own)
    assert Own([1, 2])(np.arange(3)).tolist() == [1, 3, 5]


@pytest.mark.parametrize("deg", [0, 1, 8, 1.5, -1, "x", [1]])
def test_interpolation(deg: Any) -> None:
    def outcome(xp: Any) -> Any:
        try:
            return xp.polynomial.chebyshev.chebinterpolate(lambda x, k: xp.tanh(x) * k + 0.5, deg, (8,))
        except (TypeError, ValueError) as error:
            return type(error), str(error)

    found, expected = outcome(np), outcome(numpy)
    if isinstance(expected, tuple):
        assert found == expected
    else:
        assert isinstance(found, np.ndarray)
        numpy.testing.assert_allclose(found.get(), expected, atol=1e-14)


@pytest.mark.parametrize(
    "name", ["chebyshev.chebgauss", "chebyshev.chebpts1", "legendre.leggauss", "laguerre.laggauss"]
)
def test_tables_of_points(name: str) -> None:
    module, _, function = name.partition(".")
    np.host_fallback("error")
    found, expected = (getattr(getattr(xp.polynomial, module), function)(4) for xp in (np, numpy))
    for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, expected)), strict=True):
        assert isinstance(one, np.ndarray)
        numpy.testing.assert_array_equal(one.get(), other)


UTILITIES: tuple[Any, ...] = (
    lambda xp, p: p.as_series([xp.array([1, 2, 0]), xp.array([1.5])]),
    lambda xp, p: p.as_series([xp.array([1, 2, 0])], trim=False),
    lambda xp, p: p.as_series([[1, 2], xp.ones(2)]),
    lambda xp, p: p.as_series([xp.zeros((2, 2))]),
    lambda xp, p: p.as_series([xp.zeros(0)]),
    lambda xp, p: p.trimseq(xp.array([1, 0, 0])),
    lambda xp, p: p.trimseq(xp.zeros(0)),
    lambda xp, p: p.trimcoef(xp.array([1, 0.1, 0.01]), 0.05),
    lambda xp, p: p.trimcoef(xp.ones(2), -1),
    lambda xp, p: p.getdomain(xp.array([3, 1, 2])),
    lambda xp, p: p.getdomain(xp.array([3 + 1j, 1 - 2j])),
    lambda xp, p: p.mapparms(xp.array([0.0, 2]), [1, 5]),
    lambda xp, p: p.mapparms([0, 2], [1, 5]),
    lambda xp, p: p.mapparms((-1j, 1), xp.array([1, 5])),
    lambda xp, p: p.mapdomain(xp.arange(3), xp.array([0, 2]), [1, 5]),
    lambda xp, p: p.mapdomain([1, 2], xp.array([0, 2]), [1, 5]),
    lambda xp, p: p.mapdomain(1.5, (0, 2), (1, 5)),
    lambda xp, p: p.format_float(1.5),
)


@pytest.mark.parametrize("call", UTILITIES)
def test_utilities(call: Any) -> None:
    def outcome(xp: Any) -> Any:
        try:
            result = call(xp, xp.polynomial.polyutils)
        except ValueError as error:
            return str(error)
        return list(result) if isinstance(result, (tuple, list)) else [result]

    np.host_fallback("error")
    found, expected = outcome(np), outcome(numpy)
    if isinstance(expected, str):
        assert found == expected
    else:
        for one, other in zip(found, expected, strict=True):
            same(on_host(one), numpy.asarray(other) if isinstance(one, np.ndarray) else other)


@everywhere
@pytest.mark.parametrize("deg", [2, [0, 2], 12])
def test_fits_warn_where_numpys_do(module: str, deg: Any) -> None:
    x = numpy.linspace(0, 10, 10)
    warned = []
    for xp in (np, numpy):
        points = xp.asarray(x)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            getattr(getattr(xp.polynomial, module), MODULES[module][0] + "fit")(points, points**2, deg)
            getattr(xp.polynomial, MODULES[module][1]).fit(points, points**2, deg)
        warned.append([warning.category for warning in found])
    assert warned[0] == warned[1]


@everywhere
def test_masks_stay_at_points_and_fits_do_not_look_at_them(module: str) -> None:
    x = numpy.linspace(0, 4, 5)
    results = []
    for xp in (np, numpy):
        masked = xp.ma.array(xp.asarray(x), mask=[0, 1, 0, 0, 1])
        series = getattr(xp.polynomial, MODULES[module][1])
        values = series([1.0, 2, 3], domain=[-1, 3])(masked)
        assert isinstance(values, xp.ma.MaskedArray)
        fitted = series.fit(masked, xp.asarray(x) ** 2, 1)
        results.append((values.tolist(), fitted.convert().coef))
    assert results[0][0] == results[1][0]
    same(results[0][1], results[1][1], 1e6)
