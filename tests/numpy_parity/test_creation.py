"""Creation: from data, of one value, ranges and grids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from ml_dtypes import bfloat16

import gpunumpy
import gpunumpy as np
from gpunumpy.core.recording import record
from gpunumpy.core.recording.array import memory_on_host

from ..support.arrays import ndarray, to_host
from .parity import DTYPES, check, same, sample

SHAPES: tuple[Any, ...] = ((), 0, 3, (2, 3), (0, 2), [2, 1, 2], numpy.int64(4))
BAD_SHAPES: tuple[Any, ...] = (-1, (2, -1), 2.5, "a", (2, 3.0), None)


def both(name: str, *args: Any, **options: Any) -> None:
    check(getattr(np, name), getattr(numpy, name), *args, **options)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_of_one_value(name: str) -> None:
    for shape in (*SHAPES, *BAD_SHAPES):
        if name == "empty" and not any(shape is bad for bad in BAD_SHAPES):
            assert np.empty(shape).shape == numpy.empty(shape).shape
            continue
        for order in "CFX":
            both(name, shape, order=order)
        for dtype in (*DTYPES, None, "int", bfloat16):
            both(name, shape, dtype)
    with pytest.raises(TypeError):
        getattr(np, name)(3, "nonsense")


@pytest.mark.parametrize("dtype", [*DTYPES, None])
def test_full(dtype: Any) -> None:
    values: tuple[Any, ...] = (0, 3, -2, 2.5, True, 1 + 2j, numpy.float32(1.5), numpy.int8(-3), [1, 2, 3], 300)
    for value in values:
        both("full", (2, 3), value, dtype)
        both("full_like", sample("f", (2, 3)), value, dtype)
    both("full", (2, 3), numpy.arange(4), dtype)
    both("full", (2, 3), sample("f", (3,)), dtype)


@pytest.mark.parametrize("name", ["zeros_like", "ones_like"])
def test_like_another(name: str) -> None:
    models = (sample("f", (2, 3)), sample("i4", (3, 2)).T, 3.5, [1, 2], sample("D", (2, 3, 4)).transpose(1, 2, 0))
    for model in models:
        for order in "CFAK":
            both(name, model, order=order)
            tested, reference = (
                getattr(np, name)(np.asarray(model), order=order),
                getattr(numpy, name)(model, order=order),
            )
            assert tested.strides == reference.strides, (model, order)
        for dtype in DTYPES:
            both(name, model, dtype)
        both(name, model, shape=(4,))
        both(name, model, shape=(3, 2, 2))


DATA: tuple[Any, ...] = (
    1, 2.5, True, 3j, [], [1, 2], [1, 2.5], [[1, 2], [3, 4j]], ((1, 2), [3, 4]), [[]], [True, False], range(4),
    numpy.float32(2), [numpy.int8(3), 4], [[1, 2], [3]], "text", [None], {1: 2}, b"bytes",
)  # fmt: skip


@pytest.mark.parametrize("name", ["array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray"])
def test_from_data(name: str) -> None:
    for data in DATA:
        both(name, data)
        both(name, data, "f4")
    for dtype in DTYPES:
        both(name, sample(dtype, (2, 3)))
        both(name, sample(dtype, (2, 3)).T, "c16")
        both(name, sample(dtype, ()))


def test_keywords_of_array() -> None:
    x = sample("d", (2, 3)).T
    for order in ("K", "A", "C", "F", None):
        for key in ((), (slice(None), slice(None, None, 2)), slice(None, None, -1)):
            source = x[key]
            tested, reference = np.array(np.asarray(x)[key], order=order), numpy.array(source, order=order)
            same(to_host(tested), reference)
            assert tested.strides == reference.strides, (source.strides, order)
    for source in (
        x[None],
        x[:, None],
        x[None, ::-1],
        x[:1, ::2],
        x.T[:, :1][::2],
        numpy.ones((2, 1, 3)).transpose(2, 1, 0),
    ):
        copies = [array.copy("K") for array in (np.asarray(source), source)]
        likes = [of.empty_like(array) for of, array in ((np, np.asarray(source)), (numpy, source))]
        for tested, reference in (copies, likes):
            assert tested.strides == reference.strides, source.strides
    for ndmin in range(4):
        both("array", [1, 2], ndmin=ndmin)
        both("array", 5, ndmin=ndmin)
    a = np.arange(3)
    assert np.asarray(a) is a
    assert np.asarray(a, copy=False) is a
    assert np.array(a, copy=None) is a
    assert np.array(a) is not a
    assert np.asarray(a, dtype=float) is not a
    with pytest.raises(ValueError, match="copy"):
        np.array(a, float, copy=False)
    with pytest.raises(ValueError, match="copy"):
        np.array([1, 2], copy=False)
    with pytest.raises(ValueError, match="order"):
        np.array(a, order="Q")


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("mode", numpy._CopyMode)
@pytest.mark.parametrize(
    "make",
    [
        lambda xp, x, mode: xp.array(x, copy=mode),
        lambda xp, x, mode: xp.array(x, "f4", copy=mode),
        lambda xp, x, mode: xp.asarray([1, 2], copy=mode),
        lambda xp, x, mode: xp.reshape(x, (3, 1), copy=mode),
        lambda xp, x, mode: xp.reshape(xp.ones((2, 2)).T, 4, copy=mode),
        lambda xp, x, mode: xp.nan_to_num(x, copy=mode),
        lambda xp, x, mode: x.astype("f8", copy=mode),
    ],
)
def test_modes_of_copies(make: Callable[..., Any], mode: Any, residence: str) -> None:
    np.set_residence(residence)

    def outcome(xp: Any) -> Any:
        x = xp.ones(3)
        try:
            made = make(xp, x, xp._CopyMode(mode.value))
        except ValueError:
            return ValueError
        return made is x, xp.shares_memory(made, x), made.tolist()

    assert outcome(np) == outcome(numpy)


def test_a_copy_is_a_copy() -> None:
    a = np.arange(3)
    b = np.array(a)
    c = np.copy(a)
    a[0] = 7
    assert (b[0], c[0], a[0]) == (0, 0, 7)


def test_lists_that_hold_our_arrays() -> None:
    x, y = sample("f", (3,)), sample("i4", (3,), 1)
    a, b = np.asarray(x), np.asarray(y)
    same(to_host(np.array([np.sum(a), np.sum(b), 1])), numpy.array([x.sum(), y.sum(), 1]))
    same(to_host(np.array([a, b])), numpy.array([x, y]))
    same(to_host(np.array([[a[0], 2.5], [1, b[1]]])), numpy.array([[x[0], 2.5], [1, y[1]]]))
    same(to_host(np.asarray([a, [1, 2, 3]], dtype="c16")), numpy.asarray([x, [1, 2, 3]], dtype="c16"))
    with pytest.raises(ValueError, match="inhomogeneous"):
        np.array([a, 1])


ARANGES: tuple[tuple[Any, ...], ...] = (
    (5,), (0,), (-3,), (2, 7), (7, 2), (7, 2, -1), (0, 1, 0.1), (0, 1, 0.3), (1, -1, -0.25), (0.5,), (3, None),
    (numpy.float32(4),), (numpy.int8(5),), (numpy.uint8(200), 250), (0, 10, 3), (True,), (1, 2, 1e-1),
    (0.1, 0.35, 0.05),
    (5, 5), (0, 2**40, 2**38), (1e10, 1e10 + 5), (0, 3, 0), (0.0, 1.0, 0.0), (numpy.nan,), (numpy.inf,), (0, -5, 2),
    (numpy.float16(3),), (numpy.uint64(3),), (1j,), ("a",), (1 + 1j, 5 + 6j, 1 + 1j),
)  # fmt: skip


@pytest.mark.parametrize("dtype", [None, *DTYPES])
def test_arange(dtype: Any) -> None:
    for args in ARANGES:
        with numpy.errstate(all="ignore"):
            both("arange", *args, dtype=dtype, ulp=0)


def test_arange_of_our_scalars_and_bfloat16() -> None:
    n = np.sum(np.array([4, 2]))
    same(to_host(np.arange(n)), numpy.arange(6))
    same(to_host(np.arange(stop=n, start=1, step=2)), numpy.arange(1, 6, 2))
    same(to_host(np.arange(0, 3, 0.5, dtype=bfloat16)), numpy.arange(0, 3, 0.5, dtype=bfloat16))
    with pytest.raises(TypeError):
        np.arange()


@pytest.mark.filterwarnings("error")
def test_arange_between_dates_has_no_step_without_a_unit() -> None:
    start, stop = numpy.datetime64("2024-01-01"), numpy.datetime64("2024-01-05")
    assert np.arange(start, stop).tolist() == numpy.arange(start, stop).tolist()


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("dtype", [None, "f4", "i4", "c8", "e"])
def test_linspace(endpoint: bool, dtype: Any) -> None:
    ends: tuple[tuple[Any, Any], ...] = (
        (0, 1), (0.1, 2.5), (5, -5), (0, 0), (1, 2 + 3j), (0, 5e-324), (numpy.float32(0), numpy.float32(1)),
        ([1, 2], [4.5, -1]), (0, sample("d", (2, 2))), (numpy.float16(1), 2),
    )  # fmt: skip
    for start, stop in ends:
        for num in (0, 1, 2, 7):
            for axis in (0, -1):
                both("linspace", start, stop, num, endpoint=endpoint, dtype=dtype, axis=axis, ulp=2)
        both("linspace", start, stop, 5, endpoint=endpoint, retstep=True, ulp=2)
    both("linspace", 0, 1, -1)
    both("linspace", 0, 1, 2.5)


@pytest.mark.parametrize("stop", [[1.0, 5, 2], [1.0, 1 + 1e-16, 2.5], [2.0, 5, 2]])
def test_linspace_where_a_step_may_be_zero(stop: list[float]) -> None:
    """NumPy then computes every value in another way, with another last bit."""
    both("linspace", 1, numpy.array(stop), 3, endpoint=False)
    both("linspace", 1, numpy.array([stop, stop]), 7)
    both("linspace", 1, numpy.array(stop[0]), 3, endpoint=False)


@pytest.mark.parametrize("endpoint", [True, False])
def test_logspace_and_geomspace(endpoint: bool) -> None:
    for num in (0, 1, 2, 6):
        both("logspace", 0, 2, num, endpoint=endpoint, ulp=40)
        both("logspace", 0, 2, num, endpoint=endpoint, base=2, dtype="i4")
        both("logspace", [0, 1], 2, num, endpoint=endpoint, base=[2, 3], ulp=40)
        both("geomspace", 1, 1000, num, endpoint=endpoint, ulp=40)
        both("geomspace", -1000, -1, num, endpoint=endpoint, ulp=40)
        both("geomspace", [1, 2], [8, 32], num, endpoint=endpoint, axis=-1, ulp=40)
        both("geomspace", 1j, 16j, num, endpoint=endpoint, ulp=40)
        both("geomspace", numpy.float32(1), numpy.float32(8), num, endpoint=endpoint, ulp=40)
    both("geomspace", 0, 1)


def test_matrices() -> None:
    for k in range(-4, 5):
        for n, m in ((3, None), (3, 4), (4, 2), (0, 3), (1, 1)):
            both("eye", n, m, k)
            both("eye", n, m, k, "i4", order="F")
            both("tri", n, m, k)
            both("tri", n, m, k, dtype="?")
        for x in (
            sample("f", (3, 4)),
            sample("i2", (2, 3, 3)),
            sample("d", (4,)),
            sample("?", (2, 2)),
            [[1, 2], [3, 4]],
        ):
            both("tril", x, k)
            both("triu", x, k)
            if numpy.ndim(x) < 3:
                both("diag", x, k)
            both("diagflat", x, k)
    for k in (2**63 - 1, 2**62, -(2**62)):
        both("tri", 3, 4, k)
        both("tril", sample("f", (3, 4)), k)
        both("triu", sample("f", (3, 4)), k)
        both("eye", 3, 4, 4 * k)
    both("identity", 3)
    both("identity", 2, "?")
    both("diag", sample("f", (2, 2, 2)))
    both("diag", 3)
    both("eye", -1)
    both("eye", 2.5)
    for increasing in (False, True):
        for n in (None, 0, 1, 5):
            for dtype in DTYPES:
                both("vander", sample(dtype, (4,)), n, increasing)
    both("vander", sample("d", (2, 2)))
    both("vander", numpy.array([complex(numpy.inf, 0), complex(0, numpy.nan), -0.0j, 2]), 3)


def test_a_diagonal_is_a_read_only_view() -> None:
    a = np.zeros((3, 3))
    d = np.diag(a)
    a[1, 1] = 5
    assert to_host(d).tolist() == [0, 5, 0]
    with pytest.raises(ValueError, match="read-only"):
        d[0] = 1


def test_grids() -> None:
    x, y, z = sample("f", (3,)), sample("i4", (2,)), [1.5, 2.5]
    for options in ({}, {"indexing": "ij"}, {"sparse": True}, {"copy": False}, {"sparse": True, "indexing": "ij"}):
        for args in ((), (x,), (x, y), (x, y, z), (3, 4)):
            both("meshgrid", *args, **options)
    both("meshgrid", x, y, indexing="zz")
    for shape in ((), (3,), (2, 3), (2, 0), (2, 3, 4), (2, 1, 2, 2)):
        for dtype in (int, "f4", "u1"):
            both("indices", shape, dtype)
            both("indices", shape, dtype, sparse=True)
    both("fromfunction", lambda i, j: i * 10 + j, (3, 4))
    both("fromfunction", lambda i, j: i == j, (3, 3), dtype=int)


KEYS = (
    numpy.s_[0:5], numpy.s_[0:5, 0:3], numpy.s_[-1:1:5j], numpy.s_[0:1:3j, 0:2], numpy.s_[1:2:0.25, 0:4:2],
    numpy.s_[:3],
    numpy.s_[0:3:1, 0:2:2j, 1:3], numpy.s_[5:0], numpy.s_[0:1:1j, 0:2],
)  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_mgrid_and_ogrid(key: Any) -> None:
    for name in ("mgrid", "ogrid"):
        check(lambda name=name: getattr(np, name)[key], lambda name=name: getattr(numpy, name)[key])


def test_from_host_sources() -> None:
    both("frombuffer", numpy.arange(6).tobytes(), "i8")
    both("frombuffer", b"\1\2\3\4", "u1", count=2, offset=1)
    both("fromiter", (k * k for k in range(0)), "f4")
    same(to_host(np.fromiter((k * k for k in range(5)), "f4")), numpy.fromiter((k * k for k in range(5)), "f4"))
    both("fromstring", "1 2 3", sep=" ")


def test_require() -> None:
    a = np.ones((2, 3))
    assert np.require(a) is a
    with pytest.raises(KeyError, match="Q"):
        np.require(a, requirements="q")
    with pytest.raises(KeyError, match="_"):
        np.require(a, requirements="f_contiguous")
    assert np.require(np.broadcast_to(a, (4, 2, 3)), requirements="CW").flags.writeable
    assert np.require(a, requirements="F").flags.f_contiguous
    assert np.require(a.T, requirements=["C"]).flags.c_contiguous
    view = np.broadcast_to(a, (4, 2, 3))
    assert np.require(view, requirements=["W"]).flags.writeable
    with pytest.raises(ValueError):
        np.require(a, requirements=["C", "F"])
    same(to_host(np.asarray_chkfinite([1.0, 2.0])), numpy.array([1.0, 2.0]))
    with pytest.raises(ValueError):
        np.asarray_chkfinite([1.0, numpy.nan])


def test_device_keyword() -> None:
    for made in (
        np.zeros(2, device="cpu"),
        np.arange(3, device="cpu"),
        np.eye(2, device="cpu"),
        np.array([1], device="cpu"),
    ):
        assert isinstance(made, ndarray)
        assert str(made.device) == "cpu"
    with pytest.raises(ValueError):
        np.zeros(2, device="tpu")


def test_full_of_rows() -> None:
    for shape, row in ((3, [1, 2]), ((2, 3), [[1], [2], [3]]), (3, [[1, 2, 3]]), ((2, 3), [[1], [2]]), ((), [1])):
        both("full", shape, row)


# --- sizes ----------------------------------------------------------------------------------------------------------

TOO_LARGE: dict[str, Callable[[Any], Any]] = {
    "zeros of 2**63": lambda n: n.zeros(2**63),
    "zeros of 2**64": lambda n: n.zeros(2**64),
    "zeros of -2**64": lambda n: n.zeros(-(2**64)),
    "zeros, two dimensions": lambda n: n.zeros((10**10, 10**10)),
    "zeros, an empty dimension": lambda n: n.zeros((0, 10**10, 10**10)),
    "zeros, 65 dimensions": lambda n: n.zeros((1,) * 65),
    "zeros of True": lambda n: n.zeros(True),
    "ones": lambda n: n.ones((2**40, 2**40), "f4"),
    "empty": lambda n: n.empty(2**62),
    "full": lambda n: n.full((2**31, 2**31), 1),
    "zeros_like": lambda n: n.zeros_like(n.ones(3), shape=2**63),
    "full_like": lambda n: n.full_like(n.ones(3), 1, shape=(2**40, 2**40)),
    "eye": lambda n: n.eye(2**40),
    "identity": lambda n: n.identity(2**63),
    "indices": lambda n: n.indices((2**40, 2**40)),
    "fromfunction": lambda n: n.fromfunction(lambda i: i, (2**63,)),
    "mgrid": lambda n: n.mgrid[0 : 2**40, 0 : 2**40],
    "tile": lambda n: n.tile(n.ones(2), 2**62),
    "reshape": lambda n: n.ones(0).reshape(0, 2**62, 2**10),
    "reshape of 2**64": lambda n: n.ones(4).reshape(2**64),
    "broadcast_to": lambda n: n.broadcast_to(1.0, (2**62,)),
    "broadcast_to, two dimensions": lambda n: n.broadcast_to(1.0, (2**40, 2**40)),
    "an operation": lambda n: n.broadcast_to(1.0, (2**40, 1)) * n.broadcast_to(1.0, (1, 2**40)),
    "a cast": lambda n: n.broadcast_to(n.int8(1), (2**62,)) + 1.0,
    "diag": lambda n: n.diag(n.broadcast_to(1.0, 2**40)),
    "diagflat": lambda n: n.diagflat(n.ones(3), 2**62),
    "arange of 10**20": lambda n: n.arange(10**20),
    "arange of -10**20": lambda n: n.arange(-(10**20)),
    "arange of 10**400": lambda n: n.arange(10**400),
    "arange of a float": lambda n: n.arange(0, 1e30),
    "arange of -inf": lambda n: n.arange(0, -n.inf),
    "arange of 2**62": lambda n: n.arange(2**62),
    "linspace": lambda n: n.linspace(0, 1, 10**20),
    "ogrid": lambda n: n.ogrid[0 : 10**20],
}


@pytest.mark.parametrize("make", TOO_LARGE.values(), ids=TOO_LARGE)
def test_sizes_that_cannot_be(make: Callable[[Any], Any]) -> None:
    with pytest.raises((ValueError, TypeError)) as expected:
        make(numpy)
    with pytest.raises(expected.type) as raised:
        make(np)
    words = str(expected.value)
    if words.startswith(("array is too big", "negative")) or words in _WORDS:
        assert str(raised.value) == words


_WORDS = ("maximum supported dimension for an ndarray is currently 64, found 65",)


def test_a_large_view_is_no_error() -> None:
    assert np.broadcast_to(np.ones(1, "i1"), (2**40, 2**20)).shape == (2**40, 2**20)


def test_a_read_only_buffer_is_copied_to_a_read_only_array() -> None:
    a = np.frombuffer(bytes(range(8)), "u1", 4, 2)
    same(to_host(a), numpy.array([2, 3, 4, 5], "u1"))
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        a += 1
    b = a.copy()
    b[0] = 1
    assert to_host(b).tolist() == [1, 3, 4, 5]


LISTS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda np, x: np.sum([x, x * 2], axis=0),
    "mean": lambda np, x: np.mean((x, x[::-1]), axis=0),
    "max of nested lists": lambda np, x: np.max([[x, x], [x, x + 1]], axis=(0, 1)),
    "add": lambda np, x: np.add([x, x], 1),
    "sqrt": lambda np, x: np.sqrt([x, x]),
    "beside numbers": lambda np, x: np.cumsum([x, [1, 2, 3]], axis=1),
    "of several dtypes": lambda np, x: np.stack([x, x]) + np.transpose([x.astype("i2"), x.astype("f4")]).T,
    "of 0-d arrays": lambda np, x: np.cumsum([x[0], x.sum(), 2]),
    "of other shapes": lambda np, x: np.sum([x, x[:2]]),
    "beside text": lambda np, x: np.ravel([x, ["a", "b", "c"]]),
    "beside nothing": lambda np, x: np.ravel([x[:1], [None]]),
    "of no elements": lambda np, x: np.sum([x[:0], x[:0]], axis=0),
}


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("name", LISTS)
def test_lists_of_arrays_as_operands(name: str, residence: str) -> None:
    gpunumpy.set_residence(residence)
    outcomes = []
    for xp in (gpunumpy, numpy):
        try:
            result = numpy.asarray(LISTS[name](xp, xp.arange(3.0)))
        except ValueError as error:
            outcomes.append(type(error))
        else:
            outcomes.append((result.tolist(), result.dtype))
    assert outcomes[0] == outcomes[1]


@pytest.mark.on_device
def test_lists_of_arrays_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(3.0)

    def look(x: Any) -> None:
        raise AssertionError("the host looks at the elements")

    monkeypatch.setattr(record, "to_numpy", look)
    assert np.mean([x, [x[0], x[1], x[2]]], axis=0).tolist() == [0, 1, 2]


@pytest.mark.parametrize("shape", [(2, 3), [2, 3], [], [numpy.int64(2), 3], (numpy.int32(2),), numpy.int64(4)])
@pytest.mark.parametrize("name", ["empty", "full", "ones", "zeros"])
def test_small_arrays_are_on_the_host_whatever_says_their_shape(name: str, shape: Any) -> None:
    gpunumpy.set_residence("auto")
    made = getattr(gpunumpy, name)(shape, *([7] if name == "full" else []))
    assert memory_on_host(made) is not None
    assert made.shape == getattr(numpy, name)(shape, *([7] if name == "full" else [])).shape


@pytest.mark.parametrize(
    "text",
    [
        "zeros((n, 2))",
        "zeros(shape=n)",
        "arange(n)",
        "arange(0, stop=n)",
        "linspace(0, 1, num=n)",
        "linspace(np.ones(9), [1], n)",
        "full(n, n)",
        "broadcast_to(1, (n,))",
    ],
)
def test_what_is_large_is_not_made_on_the_host(text: str) -> None:
    gpunumpy.set_residence("auto")
    made = eval(f"np.{text}", {"np": gpunumpy, "n": gpunumpy.array([10**8, 1]).max()})
    assert memory_on_host(made) is None
