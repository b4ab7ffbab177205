"""What NumPy's scalars have and arrays have not: the 0-d results of operations have it too."""

from __future__ import annotations

import collections.abc
import copy
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy

DTYPES = ("?", "i1", "i8", "u2", "e", "f", "d", "F")
SEQUENCES: tuple[Any, ...] = ([1, 2], (1, 2), [], "ab", b"ab", bytearray(b"ab"))


def outcome(call: Callable[[], Any]) -> Any:
    try:
        found = call()
    except (TypeError, ValueError) as error:
        return type(error)
    return (type(found), found.tolist()) if isinstance(found, numpy.ndarray) else found


@pytest.mark.parametrize("sequence", SEQUENCES, ids=repr)
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_with_sequences_repeat_them(dtype: str, sequence: Any) -> None:
    reference, tested = numpy.ones(3, dtype).sum(dtype=dtype), gpunumpy.ones(3, dtype).sum(dtype=dtype)
    for product in (lambda n: n * sequence, lambda n: sequence * n):
        assert outcome(lambda: product(tested)) == outcome(lambda: product(reference))  # noqa: B023


def test_products_with_sequences_in_place() -> None:
    n, once = gpunumpy.arange(4)[2], [1, 2]
    again = once
    again *= n
    assert again is once
    assert once == [1, 2, 1, 2]
    n *= [7]
    assert n == [7, 7]


def test_arrays_multiply_lists_element_by_element() -> None:
    for x in (gpunumpy.array(2), gpunumpy.arange(3)[2:], gpunumpy.arange(2)):
        assert isinstance(x * [1, 2], gpunumpy.ndarray)
        assert isinstance([1, 2] * x, gpunumpy.ndarray)
    assert gpunumpy.multiply(gpunumpy.arange(3)[2], [1, 2]).tolist() == [2, 4]
    assert (gpunumpy.arange(3)[2] + [1, 2]).tolist() == [3, 4]


@pytest.mark.parametrize("dtype", DTYPES)
def test_bytes(dtype: str) -> None:
    for made in (lambda n: n.ones(3, dtype).sum(dtype=dtype), lambda n: n.array(2, dtype), lambda n: n.ones(2, dtype)):
        assert outcome(lambda: bytes(made(gpunumpy))) == outcome(lambda: bytes(made(numpy)))  # noqa: B023
    assert outcome(lambda: bytes(gpunumpy.arange(-3, 0).sum())) is ValueError


def matched(x: Any) -> Any:
    match x:
        case []:
            return "empty"
        case [a]:
            return "one", a
        case [a, *rest]:
            return "more", a, rest
        case _:
            return "no sequence"


needs_matches = pytest.mark.skipif(
    matched(numpy.ones(1)) == "no sequence", reason="arrays match sequence patterns since NumPy 2.5"
)


@pytest.mark.parametrize("shape", [0, 1, 3, (2, 2), (1, 0)], ids=str)
def test_arrays_match_sequence_patterns(shape: Any) -> None:
    assert repr(matched(gpunumpy.ones(shape))) == repr(matched(numpy.ones(shape)))


@needs_matches
def test_a_matrix_matches_nested_patterns() -> None:
    match gpunumpy.arange(4).reshape(2, 2):
        case [[a, b], [c, d]]:
            assert [a, b, c, d] == [0, 1, 2, 3]
        case _:
            pytest.fail("does not match")


@needs_matches
def test_arrays_without_dimensions_have_no_length_to_match() -> None:
    for x in (numpy.array(1.0), gpunumpy.array(1.0)):
        with pytest.raises(TypeError, match="unsized"):
            matched(x)
    with pytest.raises(TypeError):
        matched(gpunumpy.ones(3).sum())  # of the class of arrays; NumPy has another class for scalars


@pytest.mark.parametrize(
    "name", ["Sequence", "MutableSequence", "Mapping", "Sized", "Iterable", "Container", "Callable"]
)
def test_abstract_classes(name: str) -> None:
    abstract = getattr(collections.abc, name)
    assert isinstance(gpunumpy.zeros(3), abstract) == isinstance(numpy.zeros(3), abstract)
    assert type(gpunumpy.ndarray) is type(numpy.ndarray) is type


def test_hashes() -> None:
    """One class is for both, so `collections.abc.Hashable` holds for arrays too."""
    x = gpunumpy.arange(4)
    names: dict[Any, str] = {x.sum(): "six"}
    assert names[6] == "six"
    assert hash(x[1]) == hash(numpy.int64(1))
    for array in (x, gpunumpy.array(2)):
        with pytest.raises(TypeError, match=r"unhashable type: 'numpy\.ndarray'"):
            hash(array)


NAMES = ("is_integer", "as_integer_ratio", "hex", "bit_count", "numerator", "denominator")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_methods_of_numbers(name: str, dtype: str) -> None:
    reference, tested = numpy.full(3, 6, dtype).max(), gpunumpy.full(3, 6, dtype).max()
    assert hasattr(tested, name) == hasattr(reference, name)
    if hasattr(reference, name):
        expected, found = getattr(reference, name), getattr(tested, name)
        assert (found() if callable(found) else found) == (expected() if callable(expected) else expected)
    for array in (gpunumpy.ones(2, dtype), gpunumpy.array(1, dtype)):
        assert not hasattr(array, name)


def test_what_changes_an_array_does_not_change_a_scalar() -> None:
    x = gpunumpy.arange(3.0)[1]
    assert not x.flags.writeable
    kept = copy.copy(x)
    x.fill(3)
    x.resize(1)
    for write in (lambda: gpunumpy.put(x, 0, 3), lambda: gpunumpy.putmask(x, True, 3)):
        with pytest.raises(TypeError):
            write()
    with pytest.raises(TypeError, match="item deletion"):
        del x[0]
    with pytest.raises(AttributeError):
        x.shape = (1,)
    with pytest.raises(ValueError, match="could not convert"):
        x.fill("a")
    assert x == kept == 1
    assert x.shape == ()


@pytest.mark.parametrize("key", [(), ..., True, numpy.array(True), gpunumpy.array(True)], ids=repr)
def test_an_assignment_makes_an_array_of_a_scalar(key: Any) -> None:
    """As the array API standard has it, whose 0-d results are arrays."""
    a = gpunumpy.arange(3.0)
    x = a[1]
    kept = x.copy()
    x[key] = 7
    assert (x.tolist(), kept.tolist(), a.tolist()) == (7, 1, [0, 1, 2])
    assert x.flags.writeable
    x[gpunumpy.array(False)] = 8
    assert x.tolist() == 7


def test_the_transpose_of_a_scalar_is_a_scalar() -> None:
    x = (gpunumpy.arange(5000.0).sum() * 2).T
    x_before = x
    x += 1
    assert x is not x_before
    assert x == x_before + 1


@pytest.mark.parametrize("dtype", ["f8", "i4", "c16"])
@pytest.mark.parametrize("part", ["real", "imag"])
def test_views_of_parts_of_a_scalar_can_be_written_to(part: str, dtype: str) -> None:
    flags = []
    for xp in (numpy, gpunumpy):
        x = getattr(xp.ones(3, dtype).sum(), part)
        flags.append([y.flags.writeable for y in (x.reshape(1), x.ravel(), x[None], xp.expand_dims(x, 0))])
    assert flags[1] == flags[0]


METHODS = """
    all() any() argmax() argsort() byteswap() clip(0,3) conj() copy() cumsum() flatten() getfield(t) max() mean() min()
    nonzero() prod() ravel() repeat(2) reshape(()) reshape((),copy=True) reshape(1) reshape(1,1) round() squeeze()
    squeeze(0) sum() swapaxes(0,0) take(0) tolist() transpose() transpose(()) view() view(t) std() var() argmin()
    astype('f4') searchsorted(1) compress([1]) item() T real imag
"""


def text_of(x: Any, method: str) -> str:
    """What a method returns as it is printed, which tells scalars from arrays, or the type of its error."""
    try:
        return repr(eval(f"x.{method}", {"x": x, "t": x.dtype.str.replace("f", "i")})).replace("gpunumpy", "numpy")
    except Exception as error:
        return repr(next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins"))


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", METHODS.split())
def test_methods_give_scalars_where_those_of_scalars_do(method: str, dtype: str, residence: str) -> None:
    gpunumpy.set_residence(residence)
    makers: tuple[Callable[[Any], Any], ...] = (
        lambda xp: xp.ones(3, dtype).max(),
        lambda xp: xp.ones((3, 1), dtype)[2, 0],
        lambda xp: xp.array(1, dtype),
        lambda xp: xp.ones(3, dtype)[1, ...],
    )
    for make in makers:
        assert text_of(make(gpunumpy), method) == text_of(make(numpy), method)
