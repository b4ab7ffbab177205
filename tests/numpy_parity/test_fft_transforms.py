"""Transforms compared with NumPy: sizes, axes, norms, layouts, dtypes, destinations and errors."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

import ml_dtypes
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpunumpy as np
from gpunumpy.fft import steps

from ..support.arrays import from_host, ndarray, to_host
from ..support.host_executor import with_traits
from .parity import generated, outcome, to_gpunumpy

ONE_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = ("fftn", "ifftn", "rfftn", "irfftn")
OF_REAL = frozenset(("rfft", "ihfft", "rfftn", "rfft2"))
NORMS = (None, "backward", "ortho", "forward")
VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda x: x,
    "transposed": lambda x: x.T,
    "backwards": lambda x: x[::-1],
    "every second": lambda x: x[..., ::2],
    "all but the first": lambda x: x[..., 1:],
    "in another order": lambda x: x.transpose(*range(1, x.ndim), 0),
}


@pytest.fixture(autouse=True)
def nothing_on_the_host() -> Iterator[None]:
    before = np.host_fallback()
    np.host_fallback("error")
    yield
    np.host_fallback(before)


def sample(dtype: Any, shape: tuple[int, ...]) -> Any:
    rng = numpy.random.default_rng([numpy.dtype(dtype).itemsize, *shape])
    made = 5 * rng.standard_normal(shape)
    if numpy.dtype(dtype).kind == "c":
        made = made + 5j * rng.standard_normal(shape)
    return abs(made).astype(dtype) if numpy.dtype(dtype).kind == "u" else made.astype(dtype)


def agree(name: str, x: Any, *args: Any, **options: Any) -> None:
    """Both functions over the same array, which stays as it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        reference = outcome(lambda: getattr(numpy.fft, name)(x, *args, **options))
    if name.startswith(("irfft", "hfft")) and not x.size and isinstance(reference, numpy.ndarray) and reference.size:
        reference[...] = 0  # NumPy reads what is not there
    tested = to_gpunumpy(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        found = outcome(lambda: getattr(np.fft, name)(tested, *args, **options))
    what = f"{name}, {x.dtype}, {x.shape}, {x.strides}, {args}, {options}"
    if isinstance(reference, Exception):
        assert isinstance(found, type(reference)), f"{what}: {found!r} instead of {reference!r}"
        return
    assert isinstance(found, ndarray), f"{what}: {found!r}"
    same(to_host(found), reference, what)
    numpy.testing.assert_array_equal(to_host(tested), x, what)


def same(found: Any, reference: Any, what: str = "", precision: Any = None) -> None:
    assert (found.shape, found.dtype) == (reference.shape, reference.dtype), what
    if reference.size:
        eps = float(numpy.finfo(precision or reference.dtype).eps)
        wide = numpy.complex128 if reference.dtype.kind == "c" else numpy.float64
        found, reference = found.astype(wide), reference.astype(wide)
        assert abs(found - reference).max() <= 30 * eps * (abs(reference).max() + eps), what


@pytest.mark.parametrize("dtype", ["?", "i1", "i8", "u2", "u8", "f2", ml_dtypes.bfloat16, "f4", "f8", "F", "D"])
def test_dtypes(dtype: Any) -> None:
    for shape in ((6,), (3, 5)):
        x = sample(dtype, shape)
        for name in (*ONE_AXIS, *SEVERAL):
            for norm in NORMS:
                agree(name, x, norm=norm)


@pytest.mark.parametrize("name", ONE_AXIS)
@pytest.mark.parametrize("dtype", ["f", "D"])
def test_one_axis(name: str, dtype: str) -> None:
    for shape in ((1,), (2,), (7,), (8,), (4, 1, 6), (2, 3, 4, 5)):
        for view in VIEWS.values() if len(shape) > 2 else (VIEWS["whole"], VIEWS["backwards"]):
            x = view(sample(dtype, shape))
            for axis in range(-1, x.ndim - 1):
                for n in (None, 1, 3, 9):
                    agree(name, x, n, axis)
    agree(name, sample(dtype, (7,)), numpy.int32(6))
    agree(name, sample(dtype, (5, 4)), 6, 0, "ortho")


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("dtype", ["d", "F"])
def test_several_axes(name: str, dtype: str) -> None:
    for shape in ((1,), (6,), (3, 4), (1, 5), (4, 5, 6), (2, 2, 3, 2, 3)):
        for view in VIEWS.values() if len(shape) == 3 else (VIEWS["whole"], VIEWS["transposed"]):
            x = view(sample(dtype, shape))
            agree(name, x)
            agree(name, x, norm="ortho")
            for count in (1, 2, 3):
                for axes in itertools.islice(itertools.permutations(range(x.ndim), count), 0, None, 3):
                    agree(name, x, axes=axes, norm="forward")
                    agree(name, x, s=(3, 4, 1)[:count], axes=axes)
            agree(name, x, axes=(0, 0))
            agree(name, x, axes=(-1, 0, -1))


@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2"])
def test_two_axes(name: str) -> None:
    x = sample("f", (4, 5, 6))
    for axes in ((-2, -1), (0, 1), (2, 0), (1, 1), [0, 1]):
        agree(name, x, axes=axes)
        agree(name, x, (3, 8), axes)
        agree(name, x, s=(-1, 3), axes=axes, norm="ortho")
    agree(name, x[0, 0])


def test_what_is_not_an_array() -> None:
    for x in ([1, 2, 3, 4], (1.5, 2), [[1, 2j], [3, 4]], 3, 2.5j):
        reference = outcome(lambda x=x: numpy.fft.fft(x))
        found = outcome(lambda x=x: np.fft.fft(x))
        if isinstance(reference, Exception):
            assert isinstance(found, type(reference))
        else:
            same(to_host(found), reference)
    x = sample("d", (7,))
    same(to_host(np.fft.fft(x)), numpy.fft.fft(x))


@pytest.mark.parametrize("name", ONE_AXIS)
def test_empty(name: str) -> None:
    for shape in ((0,), (0, 4), (4, 0), (2, 0, 3)):
        x = numpy.zeros(shape)
        for axis in range(len(shape)):
            for n in (None, 0, 1, 3):
                agree(name, x, n, axis)


def test_errors() -> None:
    x = sample("f", (3, 4))
    for name in ONE_AXIS:
        for args in ((0,), (-2,), (2.5,), ("3",), (None, 2), (4, 5), (4, -3), (None, -1, "x"), (None, 1.0), (3, 1.5)):
            agree(name, x, *args)
        agree(name, numpy.array(3.0))
    agree("rfft", x + 1j)
    agree("ihfft", x + 1j)
    agree("rfftn", x + 1j)
    for name in SEVERAL:
        for options in (
            *({"s": 3}, {"axes": 1}, {"s": (3, 4), "axes": (0,)}, {"axes": (0, 2)}, {"s": (0, 3), "axes": (0, 1)}),
            *({"norm": "x"}, {"axes": ()}, {"s": (), "axes": ()}, {"axes": (0.5,)}),
        ):
            agree(name, x, **options)
        agree(name, numpy.array(3.0))
    for name in (*ONE_AXIS, "fft"):  # those of real numbers take True for 1
        for n in (True, numpy.True_, False):
            agree(name, x, n)
            agree(name, numpy.zeros(0), n)


def test_arguments_that_equal_others_of_other_types() -> None:
    x = sample("d", (4, 4))
    for name in SEVERAL:
        for s, axes in (
            ((2, 2), (0, 1)),
            ((2.0, 2.0), (0, 1)),
            ((2, 2), (0.0, 1.0)),
            ((2, 2.0), (0, 1)),
            ((1, 1), (0, 1)),
            ((True, True), (0, 1)),
            ((2, 2), (False, True)),
        ):
            agree(name, x, s, axes)
            agree(name, x, s=s, axes=axes)


def test_sizes_and_axes_in_arrays() -> None:
    x = sample("d", (4, 4))
    for name in SEVERAL:
        for s in (numpy.array([2, 3]), numpy.array([3, 3]), numpy.array([2.0, 3.0]), numpy.array([-1, 2], "i1")):
            agree(name, x, s, (0, 1))
            expected = outcome(lambda name=name, s=s: getattr(numpy.fft, name)(x, s, (0, 1)))
            found = outcome(lambda name=name, s=s: getattr(np.fft, name)(from_host(x), from_host(s), (0, 1)))
            if isinstance(expected, Exception):
                assert str(found) == str(expected)
            else:
                same(to_host(found), expected)


def test_words_of_complex_numbers_where_real_ones_are_wanted() -> None:
    for points in (4, 5):
        for name in ("rfft", "ihfft", "rfftn"):
            reference = outcome(lambda name=name, points=points: getattr(numpy.fft, name)(numpy.ones(points) + 1j))
            tested = outcome(lambda name=name, points=points: getattr(np.fft, name)(np.ones(points) + 1j))
            assert str(tested) == str(reference)


def test_an_axis_that_is_not_there() -> None:
    x, no_axes = from_host(sample("f", (3, 4))), from_host(numpy.array(3.0))
    for name in ONE_AXIS:
        for axis in (2, -3):
            with pytest.raises(IndexError, match=f"axis {axis} is out of bounds for array of dimension 2"):
                getattr(np.fft, name)(x, axis=axis)
        with pytest.raises(IndexError, match="axis -1 is out of bounds for array of dimension 0"):
            getattr(np.fft, name)(no_axes)
    for name in SEVERAL:
        with pytest.raises(IndexError) as reference:
            getattr(numpy.fft, name)(numpy.zeros((3, 4)), axes=(0, 5))
        with pytest.raises(IndexError, match=str(reference.value)):
            getattr(np.fft, name)(x, axes=(0, 5))
        with pytest.raises(IndexError, match="axis 5 is out of bounds for array of dimension 2"):
            getattr(np.fft, name)(x, (3, -1), axes=(0, 5))


@pytest.mark.parametrize("name", ["fftn", "irfftn", "rfft2"])
def test_what_is_deprecated(name: str) -> None:
    x = sample("d", (3, 4))
    tested = from_host(x)
    for options in ({"s": (2,)}, {"s": (2, None), "axes": (0, 1)}, {"s": (None, None)}):
        if name == "rfft2" and "axes" not in options:
            continue
        for _ in range(2):  # a memoized recording warns again
            with warnings.catch_warnings(record=True) as expected_warnings:
                warnings.simplefilter("always")
                expected = getattr(numpy.fft, name)(x, **options)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                found = getattr(np.fft, name)(tested, **options)
            same(to_host(found), expected)
            assert [(w.category, str(w.message)) for w in caught] == [
                (w.category, str(w.message)) for w in expected_warnings
            ]
            assert all(w.filename == __file__ for w in caught)


@pytest.mark.parametrize("name", [*ONE_AXIS, *SEVERAL])
def test_out(name: str) -> None:
    tested, reference = getattr(np.fft, name), getattr(numpy.fft, name)
    for dtype in ("f", "d"):
        x = sample(dtype, (4, 6))
        expected = reference(x)
        for kind in {expected.dtype.char, expected.dtype.char.upper(), "D"}:
            for out in (numpy.empty(expected.shape, kind), numpy.empty(expected.shape[::-1], kind).T):
                destination = from_host(out)
                for _ in range(2):
                    assert tested(from_host(x), out=destination) is destination
                same(to_host(destination), expected.astype(kind), precision=expected.dtype)
                assert tested(from_host(x), None, None if name.endswith("n") else -1, None, destination) is destination
        with pytest.raises(ValueError, match="output array has wrong shape"):
            tested(from_host(x), out=from_host(numpy.empty((4, 9), "D")))
        with pytest.raises(TypeError):
            tested(from_host(x), out=from_host(numpy.empty(expected.shape, "i8")))
        with pytest.raises(TypeError):
            tested(from_host(x), out=3)
    host = numpy.empty(expected.shape, "D")
    assert tested(from_host(x), out=host) is host
    same(host, expected.astype("D"))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "ihfft", "fftn", "rfftn"])
def test_real_numbers_to_double_precision(name: str) -> None:
    for dtype in ("f", "e"):
        x = sample(dtype, (3, 5))
        # Without a factor, which is as precise as the source.
        norm = "forward" if name in ("ifft", "irfft", "ihfft") else "backward"
        reference = getattr(numpy.fft, name)(x.astype("d"), norm=norm)
        out = numpy.zeros_like(reference)
        getattr(numpy.fft, name)(x, norm=norm, out=out)
        same(out, reference)
        destination = from_host(numpy.zeros_like(reference))
        assert getattr(np.fft, name)(from_host(x), norm=norm, out=destination) is destination
        same(to_host(destination), reference)


def test_in_place() -> None:
    x = sample("D", (6, 8))
    tested = from_host(x.copy())
    np.fft.fft(tested, axis=0, out=tested)
    np.fft.ifft2(tested[1:4], out=tested[1:4])
    reference = numpy.fft.fft(x, axis=0)
    reference[1:4] = numpy.fft.ifft2(reference[1:4])
    same(to_host(tested), reference)


@pytest.mark.parametrize("by_numpy", [True, False])
def test_no_imaginary_part_where_there_is_none(by_numpy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first and the middle frequency have for an imaginary part does not count."""
    with_traits(monkeypatch, ignores_imaginary_ends=by_numpy)
    for n in (2, 3, 8, 9, 64, 1000, 16384, 16385):
        for lead in ((), (3,)):
            x = sample("F", (*lead, n // 2 + 1)) + 100j
            agree("irfft", x.astype("F"), n)
    x = sample("D", (8, 9, 9)) + 100j
    agree("irfftn", x)
    agree("irfftn", x, axes=(2, 0))


@pytest.mark.parametrize("dtype", ["F", "D"])
def test_a_window_of_a_spectrum_that_was_just_written_to(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU, where the planes whose imaginary part does not count are computed. No factor comes before them."""
    monkeypatch.setattr(steps, "_LARGE_ELEMENTS", 1)
    with_traits(monkeypatch, ignores_imaginary_ends=False)
    for window in (numpy.s_[1:], numpy.s_[..., 1:5], numpy.s_[::2, ::-1, 2:], numpy.s_[:, 1:3]):
        for size in (None, (3, 4, 8), (6, 2, 10)):
            reference = sample(dtype, (6, 4, 7))
            spectrum = from_host(reference.copy())
            for x in (spectrum, reference):
                x[0, 1, 2] = 0
            found = np.fft.irfftn(spectrum[window], size, axes=(0, 1, 2), norm="forward")
            same(to_host(found), numpy.fft.irfftn(reference[window], size, axes=(0, 1, 2), norm="forward"))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("dtype", ["F", "D"])
def test_what_does_not_count_is_not_finite(dtype: str, norm: str | None) -> None:
    for bad in (numpy.nan, numpy.inf):
        for n in (4, 5):
            x = numpy.array([complex(1, bad), 2, complex(3, bad if n == 4 else 1)], dtype)
            for name in ("irfft", "hfft"):
                agree(name, x, n, norm=norm)
                agree(name, numpy.stack([x, x]), n, norm=norm)


def same_parts(name: str, x: Any, norm: str | None) -> None:
    reference, found = getattr(numpy.fft, name)(x, norm=norm), to_host(getattr(np.fft, name)(from_host(x), norm=norm))
    numpy.testing.assert_allclose(found.real, reference.real)
    numpy.testing.assert_allclose(found.imag, reference.imag)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("dtype", ["F", "D"])
def test_a_factor_leaves_infinity_alone(dtype: str, norm: str | None) -> None:
    """Either part is multiplied alone: an infinite one does not make NaN of the other."""
    with numpy.errstate(invalid="ignore"):
        for name in ("fft", "ifft"):
            same_parts(name, numpy.array([numpy.inf, 1], dtype), norm)
            same_parts(name, numpy.array([complex(2, -numpy.inf), 1], dtype), norm)
            if not generated():  # longer ones multiply with roots of one, each library in its own way
                same_parts(name, numpy.array([numpy.inf, 0, 0, 0], dtype), norm)
        if not generated():
            same_parts("rfft", numpy.array([numpy.inf, 0, 0, 0], dtype.lower()), norm)


def test_neighbours_in_an_expression() -> None:
    x, h = sample("d", (12, 20)), sample("D", (12, 11))
    tested, factor = from_host(x), from_host(h)
    same(to_host(np.fft.irfft(np.fft.rfft(tested) * factor)), numpy.fft.irfft(numpy.fft.rfft(x) * h))
    same(to_host(np.fft.irfft2(np.fft.rfft2(tested) * factor)), numpy.fft.irfft2(numpy.fft.rfft2(x) * h))
    same(to_host(abs(np.fft.fft(tested + 1)) ** 2), abs(numpy.fft.fft(x + 1)) ** 2)
    spectrum = np.fft.fft(tested, axis=0)
    back = np.fft.ifft(spectrum, axis=0)
    same(to_host(back), numpy.fft.ifft(numpy.fft.fft(x, axis=0), axis=0))
    same(to_host(spectrum), numpy.fft.fft(x, axis=0))
    parts = np.fft.fft(tested)[:, 3:9]  # a part of what is not computed yet
    same(to_host(np.fft.fft(parts)), numpy.fft.fft(numpy.fft.fft(x)[:, 3:9]))
    same(to_host(np.fft.irfft(np.fft.rfft(tested)[:, 1:], axis=0)), numpy.fft.irfft(numpy.fft.rfft(x)[:, 1:], axis=0))


def test_a_write_between() -> None:
    x = sample("F", (30,))
    tested = from_host(x)
    before = np.fft.fft(tested)
    tested[3:7] = 2
    after = np.fft.fft(tested)
    same(to_host(before), numpy.fft.fft(x))
    x[3:7] = 2
    same(to_host(after), numpy.fft.fft(x))


def test_the_order_of_results_in_memory() -> None:
    x = sample("F", (4, 5, 6))
    for view in (x, x.T, x.transpose(0, 2, 1)):
        assert np.fft.fft(from_host(view)).strides == numpy.fft.fft(view).strides
        assert np.fft.fft(from_host(view), axis=0).strides == numpy.fft.fft(view, axis=0).strides


def test_lengths_of_every_kind() -> None:
    for n in (5, 16, 17, 127, 131, 1000, 1021, 2048, 2310, 4099, 10007, 16384):
        for name in ONE_AXIS:
            agree(name, sample("d", (n,)))
            agree(name, sample("f", (2, n)))


shapes = st.lists(st.integers(1, 7), min_size=1, max_size=4).map(tuple)


@given(st.data())
def test_anything(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    dtype = data.draw(st.sampled_from("fdFDi"))
    name = data.draw(st.sampled_from((*ONE_AXIS, *SEVERAL)))
    x = sample(dtype, shape).transpose(data.draw(st.permutations(range(len(shape)))))
    x = x[tuple(slice(None, None, data.draw(st.sampled_from((1, 1, 2, -1)))) for _ in shape)]
    norm = data.draw(st.sampled_from(NORMS))
    if name in ONE_AXIS:
        axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
        agree(name, x, data.draw(st.none() | st.integers(1, 9)), axis, norm)
        return
    axes = data.draw(st.lists(st.integers(-x.ndim, x.ndim - 1), min_size=1, max_size=4))
    sizes = data.draw(st.none() | st.lists(st.integers(1, 6) | st.just(-1), min_size=len(axes), max_size=len(axes)))
    agree(name, x, sizes, axes, norm)


@pytest.mark.on_device
def test_halves_of_more_points_than_they_count() -> None:
    """Their number has no place in float16: NumPy divides by infinity, and warns of that."""
    x = np.ones(70_000, "f2")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = to_host(np.fft.ifft(x)), to_host(np.fft.fft(x, norm="ortho"))
    assert abs(found[0] - (numpy.arange(70_000) == 0)).max() < 1e-5
    assert abs(found[1][0] / 70_000**0.5 - 1) < 1e-3


@pytest.mark.on_device
def test_numpy_itself_ignores_what_a_spectrum_of_real_numbers_cannot_have() -> None:
    """A GPU needs kernels that drop it."""
    spectrum = numpy.ones((6, 5)) * (1 + 2j)
    x = np.asarray(spectrum, device="cpu")
    result = np.fft.irfft2(x, norm="forward")
    with StringIO() as text:
        np.explain(result, file=text)
        assert text.getvalue().startswith("0 kernels and 2 library calls on cpu")
    numpy.testing.assert_allclose(result.get(), numpy.fft.irfft2(spectrum, norm="forward"))
