"""`vectorize` without a signature beside NumPy: what is computed for all elements at once, and what is not."""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np

# On the host the function is called for each of few elements.
pytestmark = pytest.mark.on_device

X = numpy.array([3.5, -1.0, 0.0, 2.0, 7.0, 4.0])
N = numpy.array([3, -1, 0, 2, 7, 4])
Z = X + 1j * X[::-1]
FACTOR = 2.5
CALLS: list[int] = []
COUNT = 0


def outcome(n: Any, function: Callable[..., Any], args: tuple[Any, ...], made: dict[str, Any], **options: Any) -> Any:
    """What a vectorized function returns for arrays of a library, or the error that it raises."""
    given = [n.asarray(x) if isinstance(x, numpy.ndarray) else x for x in args]
    try:
        with numpy.errstate(all="ignore"):
            return n.vectorize(function, **made)(*given, **options)
    except Exception as error:
        return error


def same(found: Any, expected: Any, ulp: int = 0) -> None:
    """Compare results of any number, with their dtypes and bits, or the types and texts of errors."""
    if isinstance(expected, Exception):
        assert (type(found), str(found)) == (type(expected), str(expected))
        return
    if isinstance(expected, tuple):
        assert isinstance(found, tuple)
        for one, other in zip(found, expected, strict=True):
            same(one, other, ulp)
        return
    assert type(found) is np.ndarray, found
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if ulp and expected.dtype.kind in "fc":
        numpy.testing.assert_allclose(found.get(), expected, ulp * numpy.finfo(expected.dtype).eps)
    else:
        numpy.testing.assert_array_equal(found.get(), expected)
    if expected.dtype.kind in "fc":
        numpy.testing.assert_array_equal(numpy.signbit(found.get().real), numpy.signbit(expected.real))


def scaled(a: Any, b: float = 2) -> Any:
    return a * b + FACTOR


def sign(a: Any) -> Any:
    if a < 0:
        return -1
    elif a == 0:
        return 0
    return 1


def by_loop(a: Any, b: Any) -> Any:
    total = 0
    for k in range(3):
        total += max(a, k) * scaled(b)
    return total


def factorial(n: int, a: Any) -> Any:
    return a if n == 0 else factorial(n - 1, a * n)


def by_closure(power: int, factors: list[float]) -> Callable[[Any], Any]:
    def function(a: Any) -> Any:
        return a**power * factors[0]

    return function


def polynomial(p: Any, x: Any) -> Any:
    """NumPy's own example of `excluded`."""
    p = list(p)
    result = p.pop(0)
    while p:
        result = result * x + p.pop(0)
    return result


def checked(a: Any) -> Any:
    if a != a:
        raise ValueError("not a number")
    return math.sqrt(a * a)


# Functions that are called once for all elements, with their operands.
ON_DEVICE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "two ways": (lambda a, b: a - b if a > b else a + b, (X, X[::-1])),
    "two ways, broadcast": (lambda a, b: a - b if a > b else a + b, (X[:, None], N)),
    "three ways": (sign, (X,)),
    "three ways of integers": (sign, (N,)),
    "another function and a global": (by_loop, (N, N)),
    "a default": (scaled, (X,)),
    "single precision": (scaled, (X.astype("f4"),)),
    "half precision": (scaled, (X.astype("f2"),)),
    "booleans": (lambda a: a + a, (N > 1,)),
    "small integers": (lambda a: a * 3, (N.astype("i1"),)),
    "unsigned integers": (lambda a, b: a - b, (abs(N).astype("u8"), abs(N).astype("u1"))),
    "a list": (lambda a: a * 2, ([1, 2, 3],)),
    "a number": (lambda a, b: a * b, (2.5, 3)),
    "memory in another order": (lambda a: a * 2, (numpy.arange(6.0).reshape(2, 3).T,)),
    "no dimensions": (lambda a: a * 2, (numpy.array(2.0),)),
    "itself": (lambda a: a, (X,)),
    "a constant": (lambda a: 3, (X,)),
    "several results": (lambda a, b: (a, b, a > b), (X, N)),
    "one result twice": (lambda a: (a, a), (X,)),
    "a division with a condition": (lambda a: 1 / a if a else 0.0, (N,)),
    "numbers of both kinds": (lambda a: a / 2 if a > 0 else -7, (X,)),
    "logic": (lambda a, b: (a and not b) or a > 3, (X, N)),
    "a chain": (lambda a, b: a < b < 5, (X, N)),
    "a modulus": (lambda a: (a * a * a) % 7, (N,)),
    "shifts and bits": (lambda a: ~a << 3 | 1 ^ (a >> 1) & 5, (N,)),
    "quotient and remainder": (lambda a: divmod(a, 3), (N,)),
    "quotient and remainder of floats": (lambda a: divmod(a, -1.5), (X,)),
    "the smallest": (lambda a: min(a, 2, 3.5), (X,)),
    "powers": (lambda a: a**3 - a**0, (N,)),
    "a closure": (by_closure(2, [0.5]), (X,)),
    "recursion": (lambda a: factorial(4, a), (X,)),
    "an error that no element raises": (checked, (X,)),
    "builtin": (abs, (X,)),
    "rounding": (round, (X,)),
    "floor": (math.floor, (X,)),
    "int": (int, (X,)),
    "float": (float, (N,)),
    "bool": (bool, (X,)),
    "operator": (operator.mul, (X, N)),
    "math": (lambda a: math.sqrt(abs(a)) * math.pi, (N,)),
    "a cube root": (lambda a: math.cbrt(a), (X,)),
    "predicates": (lambda a: math.isnan(a) or math.isinf(a), (X,)),
    "ufuncs": (lambda a: np.sqrt(abs(a)) / 0, (N,)),
    "functions": (lambda a: np.where(a > 0, a, 0.5) + numpy.maximum(a, 1), (X,)),
    "a ufunc": (np.floor, (X,)),
    "complex": (lambda a: (a * a + a - 1j) * a.conjugate(), (Z,)),
    "parts": (lambda a: a.real - a.imag, (Z,)),
    "parts of real numbers": (lambda a: a.real - a.imag, (X,)),
    "a comprehension": (lambda a: [a * k for k in range(3)][1], (X,)),
    "a local function": (lambda a: (lambda b: b + 1)(a), (X,)),
}


# Units in the last place by which results may differ: what `math` calls is the C library's.
_ULP = {"a cube root": 1}


@pytest.mark.parametrize("otypes", [None, "d", "f", "l", "?", "D"])
@pytest.mark.parametrize("name", ON_DEVICE)
@pytest.mark.filterwarnings("ignore")
def test_for_all_elements_at_once(name: str, otypes: str | None) -> None:
    function, args = ON_DEVICE[name]
    made = {} if otypes is None else {"otypes": otypes * {"several results": 3}.get(name, _results(name))}
    expected = outcome(numpy, function, args, made)
    np.host_fallback("ignore" if isinstance(expected, Exception) else "error")
    same(outcome(np, function, args, made), expected, _ULP.get(name, 0))


def _results(name: str) -> int:
    return 2 if name in ("one result twice",) or name.startswith("quotient") else 1


@pytest.mark.filterwarnings("ignore")
def test_nothing_is_computed_until_it_is_needed() -> None:
    np.host_fallback("error")
    x = np.arange(6.0)
    result = np.vectorize(lambda a: a * 2 if a > 1 else -a, otypes="d")(x + 1)
    assert result._node.data is None
    x[...] = 0
    assert result.tolist() == [-1.0, 4.0, 6.0, 8.0, 10.0, 12.0]


def test_arguments() -> None:
    np.host_fallback("error")
    for n in (np, numpy):
        x = n.arange(4.0)
        evaluate = n.vectorize(polynomial, excluded=["p"])
        assert evaluate(p=[1, 2, 3], x=x).tolist() == [3, 6, 11, 18]
        evaluate = n.vectorize(polynomial)
        evaluate.excluded.add(0)
        coefficients = [1, 2, 3]
        assert evaluate(coefficients, x).tolist() == [3, 6, 11, 18]
        assert coefficients == [1, 2, 3]
        assert n.vectorize(scaled, cache=True)(x, b=x).tolist() == [2.5, 3.5, 6.5, 11.5]
        assert n.vectorize(lambda f, a: f(a), excluded=[0])(scaled, x).tolist() == [2.5, 4.5, 6.5, 8.5]

        @n.vectorize(otypes=["f"])  # type: ignore[untyped-decorator]
        def decorated(a: Any) -> Any:
            """Double."""
            return 2 * a

        assert decorated(x).dtype == "f"
        assert (decorated.__doc__, decorated.__name__) == ("Double.", "decorated")


@pytest.mark.parametrize("otypes", [None, "d", "dl", ["i4"], "S"])
def test_no_elements(otypes: Any) -> None:
    np.host_fallback("ignore")
    for args in ((X[:0],), (X[:0], X[:1]), (X[:0].reshape(0, 2), 3), (X[:0], X)):
        same(*(outcome(n, lambda *a: a, args, {"otypes": otypes}) for n in (np, numpy)))


def test_shapes_that_do_not_fit() -> None:
    np.host_fallback("error")
    same(*(outcome(n, operator.add, (X, X[:4]), {}) for n in (np, numpy)))


# --- what is called for each element ----------------------------------------------------------------------------------


def looking(a: Any) -> Any:
    return float(f"{a}")


def counting(a: Any) -> Any:
    global COUNT
    COUNT += 1
    return a + COUNT


def collecting(a: Any) -> Any:
    CALLS.append(1)
    return a + len(CALLS)


def catching(a: Any) -> Any:
    try:
        return unknown(a) + a  # type: ignore[name-defined]
    except NameError:
        return -a


def asking(a: Any) -> Any:
    return 1 if isinstance(a, float) else 2


def drawing(a: Any) -> Any:
    return a + GENERATOR.random()


def collatz(n: Any) -> Any:
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


GENERATOR = random.Random(0)
FOR_EACH: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "a look": (looking, (X,)),
    "a global": (counting, (X,)),
    "a list of the program": (collecting, (X,)),
    "a default that is a list": (lambda a, kept=[]: kept.append(a) or len(kept), (X,)),
    "an error that is caught": (catching, (X,)),
    "what an object is": (asking, (X,)),
    "identity": (lambda a: a is True, (X > 1,)),
    "a class": (lambda a: a.__class__ is float, (X,)),
    "a random number": (drawing, (X,)),
    "a loop without a known end": (collatz, (abs(N),)),
    "a table": (lambda a: {0: 1.5}.get(a, 2.5), (X,)),
    "texts": (lambda a: "+" if a > 0 else "-", (X,)),
    "texts of numbers": (str, (N,)),
    "objects": (lambda a: [a], (X,)),
    "more results for some": (lambda a: (a, a) if a > 5 else a, (X,)),
    "large integers": (lambda a: a * 2**62 // 2**62, (N,)),
    "integers that overflow": (lambda a: a**40 % 1000003, (N,)),
    "integers that do not fit": (lambda a: a * 2, (numpy.array([1, 250], "u1"),)),
    "large unsigned integers": (lambda a: a // 2, (numpy.array([1, 2**63 + 2], "u8"),)),
    "integers that are no floats": (lambda a: a / 3, (numpy.array([2**60 + 1]),)),
    "comparisons of integers that are no floats": (lambda a: a == 2.0**53, (numpy.array([2**53 + 1]),)),
    "an output": (lambda a, b, c: np.add(a, b, c), (X, X, X)),
    "indices of true elements": (lambda a: numpy.where(a)[0].size, (X,)),
    "a power with a modulus": (lambda a: pow(a, 2, 7), (N,)),
    "a ufunc of the program": (numpy.frompyfunc(lambda a: COUNT, 1, 1), (X,)),
    "no number as an integer": (int, (numpy.array([numpy.inf, 1.0]),)),
    "an overflow": (lambda a: math.exp(a), (X * 200,)),
    "a division by zero": (lambda a: 1 / a, (X,)),
    "a remainder by zero": (lambda a: 1 % a, (N,)),
    "a negative power of zero": (lambda a: a**-1, (X,)),
    "a broken power": (lambda a: a**0.5, (X,)),
    "powers of integers": (lambda a, b: a**b, (abs(N), N)),
    "an error": (checked, (numpy.array([numpy.nan, 1.0]),)),
    "a wrong number of arguments": (lambda a, b: a, (X,)),
    "objects of the program": (lambda a: a, (numpy.array([1, None, 2.5], object),)),
    "dates": (lambda a: a, (numpy.array(["2020-01-01"], "M8[D]"),)),
    "nothing": (lambda: 3, ()),
}


@pytest.mark.parametrize("otypes", [None, "d", "O"])
@pytest.mark.parametrize("name", FOR_EACH)
@pytest.mark.filterwarnings("ignore")
@numpy.errstate(all="ignore")
def test_for_each_element(name: str, otypes: str | None) -> None:
    function, args = FOR_EACH[name]
    results = []
    for n in (numpy, np):
        global COUNT
        COUNT = 0
        CALLS.clear()
        GENERATOR.seed(0)
        for kept in getattr(function, "__defaults__", None) or ():
            kept.clear()
        results.append(outcome(n, function, args, {"otypes": otypes}))
        results.append((COUNT, len(CALLS)))
    expected, effects, found, effects_here = results
    assert effects_here == effects
    if isinstance(expected, (Exception, numpy.ndarray, tuple)):
        same(found, expected) if otypes != "O" else assert_objects(found, expected)
    else:
        assert found == expected


def assert_objects(found: Any, expected: Any) -> None:
    """Compare arrays of objects."""
    if isinstance(expected, numpy.ndarray):
        assert found.dtype == object
        assert [repr(x) for x in found.tolist()] == [repr(x) for x in expected.tolist()]
    else:
        assert type(found) is type(expected)


def test_the_notice() -> None:
    np.host_fallback("error")
    with pytest.raises(np.HostFallbackWarning, match="vectorize"):
        np.vectorize(looking)(np.arange(3.0))


@pytest.mark.parametrize(
    ("function", "otypes", "arguments"),
    [
        (len, None, [["a", "bb"]]),
        (lambda text, n: text[:n], None, [["a", "b"], 2]),
        (str, None, [[1.5, 2.5]]),
        (lambda x: (x, str(x)), None, [[1, 2]]),
        (lambda x: {x}, "O", [[1, 2]]),
        (lambda day: [str(day)][0], None, [numpy.array(["2020-01-01", "2021-02-03"], "M8[D]")]),
    ],
)
def test_texts_dates_and_objects_need_no_notice(function: Any, otypes: Any, arguments: Any) -> None:
    found, expected = (n.vectorize(function, otypes)(*arguments) for n in (np, numpy))
    for one, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()


def test_checked_errors() -> None:
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        np.vectorize(lambda a: np.divide(a, 0))(np.arange(3.0))


@pytest.mark.skipif(numpy.__version__ < "2.4", reason="NumPy's vectorize takes masked arrays since 2.4")
@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
def test_masked_arrays() -> None:
    x, expected = (ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]) for ma in (np.ma, numpy.ma))
    assert np.asarray(np.vectorize(scaled)(x)).tolist() == numpy.asarray(numpy.vectorize(scaled)(expected)).tolist()


# --- random functions -------------------------------------------------------------------------------------------------

_BINARY = ("+", "-", "*", "/", "//", "%", "<", "<=", "==", "!=", "&", "|", "^", "<<", ">>", "**")
_CALLS = ("abs({})", "-{}", "int({})", "float({})", "bool({})", "max({}, 2)", "min({}, y)", "round({})", "np.floor({})")
_LEAVES = ("x", "y", "x", "y", "1", "2", "3", "0.5", "True", "-1.5")


def expression(draw: random.Random, depth: int) -> str:
    """Return the text of a random function of `x` and `y`."""
    kind = draw.random()
    if depth == 0 or kind < 0.1:
        return draw.choice(_LEAVES)
    one, other = (expression(draw, depth - 1) for _ in range(2))
    if kind < 0.6:
        return f"({one} {draw.choice(_BINARY)} {other})"
    if kind < 0.8:
        return "(" + draw.choice(_CALLS).format(one) + ")"
    if kind < 0.9:
        return f"({one} {draw.choice(('and', 'or'))} {other})"
    return f"({one} if {other} else {expression(draw, depth - 1)})"


@pytest.mark.parametrize("seed", range(150))
@pytest.mark.filterwarnings("ignore")
@numpy.errstate(all="ignore")
def test_random_functions(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(4):
        text = expression(draw, 3)
        function = eval(f"lambda x, y: {text}", {"np": numpy})
        dtypes = [draw.choice("?bBhilLefd") for _ in range(2)]
        args = tuple([draw.choice((X, X[::-1], abs(X) + 1)).astype(dtype) for dtype in dtypes])
        made = draw.choice(({}, {"otypes": "d"}, {"otypes": "l"}))
        found, expected = (outcome(n, function, args, made) for n in (np, numpy))
        if isinstance(expected, numpy.ndarray) and expected.dtype.kind in "fc" and "**" in text:
            assert found.dtype == expected.dtype, text
            numpy.testing.assert_allclose(found.get(), expected, rtol=1e-6, err_msg=text)
        elif isinstance(expected, numpy.ndarray) and expected.dtype == object:
            assert found.dtype == object
        else:
            same(found, expected)


@pytest.mark.parametrize("dtype", ["M8[ns]", "m8[s]", "U2", "S2", "O", "g", ">i4", "i4"])
@pytest.mark.parametrize("signature", ["(i)->(i)", "(i)->()", "()->()"])
def test_signatures_over_every_dtype(signature: str, dtype: str) -> None:
    for otypes in (None, [dtype]):
        for data in (["1", "2"], [1, 2]):
            outcomes = []
            for xp in (numpy, np):
                x = xp.asarray(numpy.array(data).astype("i8" if dtype.startswith(("M8", "m8")) else "U2").astype(dtype))
                function = (lambda v: v[0]) if signature == "(i)->()" else (lambda v: v)
                np.host_fallback("ignore")
                found = xp.vectorize(function, signature=signature, otypes=otypes)(x)
                outcomes.append((str(found.dtype), found.shape, found.tolist()))
            assert outcomes[1] == outcomes[0]


def test_dtypes_of_the_host_for_results_of_a_signature() -> None:
    np.host_fallback("ignore")
    for otype in ("M8[D]", "g", "O"):
        found, expected = (
            xp.vectorize(lambda x: x, signature="()->()", otypes=[otype])(xp.arange(3)) for xp in (np, numpy)
        )
        assert found.dtype == expected.dtype
        assert found.tolist() == expected.tolist()


def test_a_difference_of_order_zero_is_the_argument() -> None:
    np.set_residence("device")
    for x in ([0, 1, 2], np.arange(3)):
        assert np.diff(x, n=0) is x
