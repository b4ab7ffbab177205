"""Every special case that the array API standard writes down, over all values that it speaks of."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy
import pytest

import gpunumpy as np

from . import special_cases as tables
from .case_language import cases, complex_gives, gives, holds, near, same_value

Array = Any

_PLAIN = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, 2.0, -2.0, 3.0, -3.0, 4.0, 5.0, 1e4, -1e4)
_ENDLESS = (numpy.inf, -numpy.inf, numpy.nan, -numpy.nan)
_FEW = (0.0, -0.0, 1.0, -2.0, numpy.inf, -numpy.inf, numpy.nan)


@pytest.fixture(autouse=True)
def nothing_on_the_host() -> Iterator[None]:
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("error", np.HostFallbackWarning)
        yield


def pool(dtype: str) -> Array:
    """Values of all classes of a floating dtype."""
    limits = numpy.finfo(dtype)
    ends = [sign * x for x in (limits.max, limits.tiny, limits.smallest_subnormal) for sign in (1, -1)]
    return numpy.array([*_PLAIN, *ends, *_ENDLESS], dtype)


def combined(values: Array, count: int) -> list[Array]:
    """All ways to take `count` of some values: a column for each."""
    return [column.ravel() for column in numpy.meshgrid(*[values] * count, indexing="ij")]


def paired(real: Array, imag: Array) -> Array:
    """Complex numbers of their parts, to the bit."""
    made = numpy.empty(real.shape, numpy.result_type(real.dtype, numpy.complex64))
    made.real, made.imag = real, imag
    return made


def ran(device: str, name: str, *operands: Array) -> Array:
    """The gpunumpy function over NumPy arrays."""
    return np.asnumpy(getattr(np, name)(*(np.asarray(x, device=device) for x in operands)))


def verify(text: str, parts: Sequence[Array], found: Array, meets: Any) -> None:
    """Assert each case of an entry, wherever its conditions hold of the operands or their parts."""
    met = numpy.zeros(parts[0].shape, bool)
    for conditions, words in cases(text):
        if conditions == ["else"]:
            here = ~met
        else:
            others = [*parts[1:], parts[0]]
            assert len(conditions) == len(parts), conditions
            where = zip(conditions, parts, others, strict=True)
            here = numpy.all([holds(word, x, other) for word, x, other in where], axis=0)
        met |= here
        assert here.any(), f"no value for {conditions}"
        bad = here & ~meets(words, found, parts)
        first = bad.argmax()
        assert not bad.any(), f"{conditions} of {[x[first] for x in parts]} gives {found[first]} and not {words}"


def real_result(words: Sequence[str], found: Array, operands: Sequence[Array]) -> Array:
    (word,) = words
    return gives(word, found, operands)


def meets(found: Array) -> Any:
    """What judges a result of a dtype."""
    return complex_gives if found.dtype.kind == "c" else real_result


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", tables.REAL)
def test_real(device: str, name: str, dtype: str) -> None:
    text = tables.REAL[name]
    operands = combined(pool(dtype), len(next(cases(text))[0]))
    verify(text, operands, ran(device, name, *operands), real_result)


@pytest.mark.on_device
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", tables.COMPLEX)
def test_complex(device: str, name: str, dtype: str) -> None:
    parts = combined(pool(dtype), 2)
    found = ran(device, name, paired(*parts))
    verify(tables.COMPLEX[name], parts, found, meets(found))


@pytest.mark.on_device
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [*tables.TURNED, *tables.TURNED_BACK])
def test_complex_by_another_function(device: str, name: str, dtype: str) -> None:
    """The cases of the other function hold where the argument turned by a right angle is."""
    back = name in tables.TURNED_BACK
    other = tables.TURNED_BACK[name] if back else tables.TURNED[name]
    turned = combined(pool(dtype), 2)
    found = ran(device, name, paired(turned[1], -turned[0]))
    verify(tables.COMPLEX[other], turned, paired(-found.imag, found.real) if back else found, complex_gives)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", tables.BASES)
def test_complex_logarithms(device: str, name: str, dtype: str) -> None:
    parts = combined(pool(dtype), 2)
    found, base = ran(device, name, paired(*parts)), numpy.array(numpy.log(tables.BASES[name]), dtype)
    verify(tables.COMPLEX["log"], parts, paired(found.real * base, found.imag * base), complex_gives)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", tables.COMPLEX_PAIRS)
def test_complex_pairs(device: str, name: str, dtype: str) -> None:
    parts = combined(numpy.array(_FEW, dtype), 4)
    found = ran(device, name, paired(*parts[:2]), paired(*parts[2:]))
    verify(tables.COMPLEX_PAIRS[name], parts, found, meets(found))
    if name.endswith("equal"):
        real, imag = (ran(device, name, parts[k], parts[k + 2]) for k in (0, 1))
        numpy.testing.assert_array_equal(found, real & imag if name == "equal" else real | imag)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["add", "subtract", "round"])
def test_complex_part_by_part(device: str, name: str, dtype: str) -> None:
    parts = combined(numpy.array((*_FEW, 2.5, 0.3), dtype), 2 if name == "round" else 4)
    found = ran(device, name, *(paired(*parts[k : k + 2]) for k in range(0, len(parts), 2)))
    for k, part in enumerate((found.real, found.imag)):
        assert same_value(part, ran(device, name, *parts[k::2])).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_complex_mean(device: str, dtype: str) -> None:
    """NaN of a part is NaN of that part of the mean, and so is the mean of nothing. The other part may be lost too."""
    for a, b in zip(*combined(numpy.array((numpy.nan, 1, -2), dtype), 2), strict=True):
        z = numpy.full(3, 1 + 1j, paired(a, b).dtype)
        z[1] = paired(a, b)
        found = ran(device, "mean", z)
        assert numpy.isnan(found.real) or not numpy.isnan(a)
        assert numpy.isnan(found.imag) or not numpy.isnan(b)
        assert numpy.isnan([a, b]).any() or near(found, z.mean())
    with pytest.warns(RuntimeWarning, match="empty"):
        nothing = np.asnumpy(np.mean(np.zeros(0, z.dtype, device=device)))
    assert numpy.isnan([nothing.real, nothing.imag]).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", tables.CONJUGATE.split())
def test_conjugates(device: str, name: str, dtype: str) -> None:
    z = paired(*combined(pool(dtype), 2))
    left, right = ran(device, name, z.conj()), ran(device, name, z).conj()
    good = mirrored(left, right)
    assert good.all(), (z[~good][:3], left[~good][:3], right[~good][:3])


def mirrored(x: Array, y: Array) -> Array:
    """Where results are the same, up to rounding and open signs: of zeros, and of an infinity beside a NaN."""
    good = numpy.ones(x.shape, bool)
    for a, b in ((x.real, y.real), (x.imag, y.imag)):
        good &= near(a, b) | (a == b) | (numpy.isnan(a) & numpy.isnan(b)) | (numpy.isnan(x) & (abs(a) == abs(b)))
    return good


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", [*tables.ODD.split(), tables.EVEN])
def test_of_opposite_arguments(device: str, name: str, dtype: str) -> None:
    values = pool(dtype.replace("complex64", "float32").replace("complex128", "float64"))
    x = paired(*combined(values, 2)) if dtype[0] == "c" else values
    left, right = ran(device, name, -x), ran(device, name, x)
    right = right if name == tables.EVEN else -right
    good = mirrored(left, right)
    assert good.all(), (x[~good][:3], left[~good][:3], right[~good][:3])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_as_other_functions(device: str, dtype: str) -> None:
    x, y = combined(pool(dtype), 2)
    assert same_value(ran(device, "square", x), ran(device, "multiply", x, x)).all()
    assert same_value(ran(device, "reciprocal", x), ran(device, "divide", numpy.ones_like(x), x)).all()
    assert same_value(ran(device, "subtract", x, y), ran(device, "add", x, -y)).all()
    whole = ran(device, "hypot", x, y)
    for other in ((y, x), (x, -y), (-x, y), (-x, -y)):
        assert same_value(whole, ran(device, "hypot", *other)).all()


_IN_PLACE = ("+", "-", "*", "/", "//", "%", "**")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sign", tables.OPERATORS)
def test_operators(device: str, sign: str, dtype: str) -> None:
    x, y = combined(pool(dtype), 2)
    wanted = ran(device, tables.OPERATORS[sign], x, y)
    left, right = (np.asarray(v, device=device) for v in (x, y))
    assert same_value(np.asnumpy(eval(f"left {sign} right")), wanted).all()
    if sign in _IN_PLACE:
        names = {"left": left, "right": right}
        exec(f"left {sign}= right", names)
        assert names["left"] is left
        assert same_value(np.asnumpy(left), wanted).all()
    magnitude = np.asnumpy(abs(np.asarray(x, device=device)))
    assert same_value(magnitude, ran(device, "abs", x)).all()


def numbers(text: str, dtype: str) -> Array:
    return numpy.array([float(word) for word in text.split()], dtype)


@pytest.mark.filterwarnings("ignore:Degrees of freedom:RuntimeWarning", "ignore:Mean of empty:RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "elements", "options", "result"), tables.REDUCTIONS)
def test_reductions(device: str, name: str, elements: str, options: str, result: str, dtype: str) -> None:
    given = {key: float(value) for key, _, value in (option.partition("=") for option in options.split())}
    x = np.asarray(numbers(elements, dtype), device=device)
    found = np.asnumpy(getattr(np, name)(x, **given))
    assert found.dtype == dtype
    assert same_value(found, float(result)).all(), found


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "elements", "result"), tables.SCANS)
def test_scans(device: str, name: str, elements: str, result: str, dtype: str) -> None:
    found = ran(device, name, numbers(elements, dtype))
    assert same_value(found, numbers(result, dtype)).all(), found


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("kind", "word", "wanted"), tables.CONVERSIONS)
def test_conversions(device: str, kind: str, word: str, wanted: Any, dtype: str) -> None:
    convert = {"bool": bool, "int": int, "complex": complex}[kind]
    x = np.asarray(numpy.array(float(word), dtype), device=device)
    if isinstance(wanted, type):
        with pytest.raises(wanted):
            convert(x)
        return
    assert convert(x) == wanted
    assert type(convert(x)) is convert
    if kind == "bool":
        z = np.asarray(
            numpy.array([complex(float(word), 0), complex(0, float(word))], f"c{2 * x.itemsize}"), device=device
        )
        assert [bool(part) for part in z] == [wanted] * 2


@pytest.mark.parametrize("value", [True, False])
def test_conversions_of_truth_values(device: str, value: bool) -> None:
    x = np.asarray(value, device=device)
    for kind in (int, float, complex):
        assert (kind(x), type(kind(x))) == (kind(value), kind)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_matrices(device: str, dtype: str) -> None:
    warnings.simplefilter("ignore", np.HostFallbackWarning)
    assert np.linalg.trace(np.zeros((0, 0), dtype, device=device)) == 0
    sign, logarithm = np.linalg.slogdet(np.zeros((2, 2), dtype, device=device))
    assert (sign, logarithm) == (0, -numpy.inf)


def test_a_condition_is_met_where_it_says() -> None:
    x, y = (numpy.array(v) for v in ((0.0, -0.0, 3.0, -2.5, numpy.inf, numpy.nan), (0.0, 0.0, -3.0, -2.5, 1.0, 1.0)))
    words = """0 100000, ±0 110000, !±0 001111, fin&!int 000100, >0&odd 001000, half 000100, abs>1 001110,
        nz&opp 001000, nz&eq 000100, fin|nan 111101, -0&!same 010000, * 111111, nan 000001, >0 001010, neg 000100"""
    for word, bits in map(str.split, words.split(",")):
        assert "".join("01"[int(b)] for b in holds(word, x, y)) == bits, word


def test_a_result_is_judged() -> None:
    one = [numpy.array([2.5]), numpy.array([-3.0])]
    for word, right, wrong in (
        *(("0", 0.0, -0.0), ("±0", -0.0, 1.0), ("nan", numpy.nan, 0.0), ("inf,nan", numpy.nan, -numpy.inf)),
        *(("x1", 2.5, -2.5), ("-abs2", -3.0, 3.0), ("even", 2.0, 3.0), ("-pi/2", -numpy.pi / 2, numpy.pi / 2)),
        *(("+", 1.0, -1.0), ("-", numpy.nan, 1.0), ("±inf", -numpy.inf, 1.0), ("3pi/4", 3 * numpy.pi / 4, 2.35)),
        *(("nan-", numpy.copysign(numpy.nan, -1), numpy.copysign(numpy.nan, 1)), ("T", True, False)),
    ):
        assert gives(word, numpy.array([right]), one).all(), word
        assert not gives(word, numpy.array([wrong]), one).any(), word
    quarter = [numpy.array([numpy.inf]), numpy.array([2.0])]  # in the second quadrant
    for words, right in (
        (["inf*cis-1"], (-numpy.inf, numpy.inf)),
        (["0*cis"], (-0.0, 0.0)),
        (["nan", "±0"], (numpy.nan, -0.0)),
    ):
        for wrong, parts in ((False, right), (True, (right[0], 1.0)), (True, (1.0, right[1]))):
            found = paired(*(numpy.array([part]) for part in parts))
            assert bool(complex_gives(words, found, quarter).all()) is not wrong, words


def test_a_wrong_result_is_found() -> None:
    x = pool("float64")
    verify("nan: nan; ±0: 1", [x], numpy.cos(x), real_result)
    for text in ("nan: nan; ±0: 2", "else: 1", "7: 1"):
        with pytest.raises(AssertionError):
            verify(text, [x], numpy.cos(x), real_result)
