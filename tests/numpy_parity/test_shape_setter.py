"""``a.shape = ...`` and ``a.resize``: the array itself changes, and the views made before stay right."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, get_origin

import numpy
import pytest

import gpunumpy

SHAPES: tuple[Any, ...] = ((2, 6), (3, -1), (12,), 12, -1, (2, 3, 2), (1, 12, 1), [4, 3])
WRONG: tuple[Any, ...] = ((5, 2), (-1, -1), (-1, 5), "a", None, (2.0, 6), ())

MAKERS: dict[str, Callable[[Any], Any]] = {
    "owner": lambda np: np.arange(12.0).reshape(3, 4).copy(),
    "pending": lambda np: np.arange(12.0) * 2 + 1,
    "view": lambda np: np.arange(24.0)[12:].reshape(3, 4),
    "strided": lambda np: np.arange(24.0)[::2],
    "transposed": lambda np: np.arange(12.0).reshape(3, 4).T,
    "in another order": lambda np: np.arange(12.0).reshape(3, 4).T + 1,
    "part": lambda np: np.ones((3, 4), complex).imag,
    "all zeros": lambda np: np.zeros((3, 4)),
}


@pytest.fixture(autouse=True)
def _deprecated_in_numpy() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        yield


def outcome(np: Any, make: Callable[[Any], Any], shape: Any, computed: bool) -> Any:
    a = make(np)
    if computed:
        str(a)
    rest = a[1:]
    try:
        a.shape = shape
    except (AttributeError, TypeError, ValueError) as error:
        return type(error), a.shape
    a += 1
    rest[...] = rest * 10
    strides = [s for n, s in zip(a.shape, a.strides, strict=True) if n > 1]
    return a.shape, strides, a.tolist(), rest.tolist()


@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("shape", SHAPES + WRONG, ids=repr)
@pytest.mark.parametrize("make", [pytest.param(f, id=name) for name, f in MAKERS.items()])
def test_shape_is_set_as_by_numpy(make: Callable[[Any], Any], shape: Any, computed: bool) -> None:
    assert outcome(gpunumpy, make, shape, computed) == outcome(numpy, make, shape, computed)


STRIDES: tuple[Any, ...] = (16, (8,), (-8,), (0,), (32, 8), (8, 32), (8, 24), (16, 16), (1 << 20, 8), (8, 8, 8), ())


def strides_outcome(np: Any, make: Callable[[Any], Any], strides: Any) -> Any:
    a = make(np)
    try:
        a.strides = strides
    except (TypeError, ValueError) as error:
        return type(error), a.shape
    seen = a[1:]
    a[:1] = 100
    seen += 1
    return a.strides, a.tolist(), seen.tolist(), a.flags.owndata, a.flags.writeable


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
@pytest.mark.parametrize("strides", STRIDES, ids=repr)
@pytest.mark.parametrize("make", [pytest.param(f, id=name) for name, f in MAKERS.items() if name != "part"])
def test_strides_are_set_as_by_numpy(make: Callable[[Any], Any], strides: Any) -> None:
    assert strides_outcome(gpunumpy, make, strides) == strides_outcome(numpy, make, strides)


def test_strides_of_an_array_with_views() -> None:
    a = gpunumpy.arange(4.0)
    rest = a[1:]
    with pytest.raises(ValueError, match="view of it"):
        a.strides = 0
    rest.strides = 0
    rest[:1] = 9
    assert a.tolist() == [0, 9, 2, 3]
    assert rest.tolist() == [9, 9, 9]
    gpunumpy.set_residence("device")
    imaginary = gpunumpy.ones((3, 4), complex).imag
    with pytest.raises(ValueError, match="no whole elements"):
        imaginary.strides = (32, 8)
    with pytest.raises(AttributeError):
        a.sum().strides = ()
    texts = gpunumpy.array(["a", "b", "c"])
    texts.strides = 0
    assert texts.tolist() == ["a", "a", "a"]


DTYPES = ("i8", "u1", "c16", "f4", "f8", "?", "nonsense", "V8", "O")


def dtype_outcome(np: Any, make: Callable[[Any], Any], dtype: str) -> Any:
    a = make(np)
    try:
        a.dtype = dtype
    except (AttributeError, TypeError, ValueError) as error:
        return type(error), a.shape, a.dtype
    return a.shape, a.dtype, repr(a.tolist())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("make", [pytest.param(f, id=name) for name, f in MAKERS.items()])
def test_dtype_is_set_as_by_numpy(make: Callable[[Any], Any], dtype: str) -> None:
    if dtype != "V8":  # which is no dtype of kernels: the array would be a copy on the host
        assert dtype_outcome(gpunumpy, make, dtype) == dtype_outcome(numpy, make, dtype)


def test_dtype_of_an_array_with_views() -> None:
    a = gpunumpy.arange(4.0)
    rest = a[1:]
    with pytest.raises(ValueError, match="view of it"):
        a.dtype = "i8"
    rest.dtype = "i8"
    rest[0] = 0
    assert a.tolist() == [0, 0, 2, 3]
    texts = gpunumpy.array(["ab", "cd"])
    texts.dtype = "u4"
    assert texts.tolist() == [ord(c) for c in "abcd"]


def test_the_memory_stays_the_same(device: str) -> None:
    a = gpunumpy.arange(6.0, device=device)
    a.shape = (2, 3)
    address = a.data_ptr()
    a.shape = (3, 2)
    a[0] = 7
    assert a.data_ptr() == address
    assert a.tolist() == [[7, 7], [2, 3], [4, 5]]


def test_a_window_of_before_sees_the_same_memory() -> None:
    a = gpunumpy.arange(6.0, device="cpu")  # of a GPU's memory NumPy has no window
    a.shape = (3, 2)
    window = numpy.from_dlpack(a)
    a.shape = 6
    window[2, 1] = -1
    assert a.tolist() == [0, 1, 2, 3, 4, -1]


def test_one_element_stays_an_array() -> None:
    a = gpunumpy.ones(1) + 1
    a.shape = ()
    a[...] = 5
    assert a.tolist() == 5


def test_a_name_of_the_same_array_sees_it() -> None:
    a = gpunumpy.arange(6)
    b, seen = a, a.reshape(3, 2)
    a.shape = (2, 3)
    assert b.shape == (2, 3)
    a *= 2
    assert seen.tolist() == [[0, 2], [4, 6], [8, 10]]
    assert seen.base is a


def test_what_cannot_be_deleted() -> None:
    a = gpunumpy.arange(3)
    with pytest.raises(AttributeError):
        del a.shape
    with pytest.raises(ValueError, match="cannot delete array elements"):
        del a[0]


def test_resize_leaves_no_view_of_what_is_gone() -> None:
    a = gpunumpy.arange(6)
    view = a[3:]
    for shape in (2, (2, 4)):
        with pytest.raises(ValueError, match="referenced"):
            a.resize(shape)
    a.resize(2, 4, refcheck=False)
    assert view.tolist() == [3, 4, 5]
    del view
    a.resize(2, refcheck=False)
    assert a.tolist() == [0, 1]


def test_annotations() -> None:
    assert get_origin(gpunumpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]) is gpunumpy.ndarray


def test_resolve_dtypes() -> None:
    types = (numpy.dtype("f4"), int, None)
    assert gpunumpy.add.resolve_dtypes(types) == numpy.add.resolve_dtypes(types)
    reduction = (None, numpy.dtype("i1"), None)
    assert gpunumpy.add.resolve_dtypes(reduction, reduction=True) == numpy.add.resolve_dtypes(reduction, reduction=True)
