"""Functions that run through NumPy on the host: what they write, what they give views of; and which arrays share."""

from __future__ import annotations

import hashlib
import io
import operator
import pickle
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.numpy_release import RELEASE
from gpunumpy.core.recording.array import memory_on_host
from gpunumpy.functions import fallback

from ..support.arrays import to_host
from .parity import outcome, same

pytestmark = pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")


@pytest.fixture(autouse=True)
def warn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning that this module caused is issued again elsewhere."""
    monkeypatch.setattr(fallback, "_warned", set())


WINDOWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda a: a,
    "transposed": lambda a: a.T,
    "columns": lambda a: a[:, 1:3],
    "every other row, backwards": lambda a: a[::-2],
    "square": lambda a: a[1:4, ::-1].T,
}


def both(shape: tuple[int, ...] = (5, 4), dtype: Any = float) -> tuple[Any, Any]:
    reference = numpy.arange(numpy.prod(shape), dtype=dtype).reshape(shape)
    return np.asarray(reference), reference.copy()


# --- views of arguments ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
@pytest.mark.parametrize("subscripts", ["ij->ji", "ij->ij", "ij"])
def test_a_view_from_the_host_is_a_view_of_ours(window: Callable[[Any], Any], subscripts: str) -> None:
    tested, reference = both()
    for np_, a in ((np, tested), (numpy, reference)):
        view = np_.einsum(subscripts, window(a))
        view[1, 1:] = [-1, -2] if view.shape[1] == 3 else -3
        view *= 2
    same(to_host(tested), reference)


def test_the_diagonal_from_the_host_is_written_through() -> None:
    tested, reference = both((4, 4))
    for np_, a in ((np, tested), (numpy, reference)):
        np_.einsum("ii->i", a)[...] = -1
        np_.linalg.matrix_transpose(a[:2])[3] = 7
    same(to_host(tested), reference)


@pytest.mark.on_device
def test_a_view_that_ours_cannot_have_shares_or_is_read_only() -> None:
    """The memory of a GPU has no arrays of NumPy."""
    a = np.arange(6.0)
    parts = fallback.on_host(numpy.ndarray.getfield, "")(a, "f4", 4)
    same(to_host(parts), to_host(a).getfield("f4", 4))
    if a.device.shares_host_memory:
        parts[0] = 2
        assert float(a[0]) == 2
    else:
        with pytest.raises(ValueError, match="assignment destination is read-only"):
            parts[0] = 2
    with pytest.warns(PendingDeprecationWarning):
        assert np.asmatrix(a).flags.writeable is a.device.shares_host_memory
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        np.einsum("i", a)[0] = 1


def test_a_numpy_array_that_is_returned_is_the_one_given() -> None:
    out = numpy.zeros(3)
    assert np.einsum("i,i->i", np.arange(3.0), np.arange(3.0), out=out) is out
    same(out, numpy.array([0, 1.0, 4]))


def test_the_host_sees_the_order_in_memory() -> None:
    a, reference = both()
    assert [np.isfortran(x) for x in (a, a.T, a[:, 0])] == [
        numpy.isfortran(x) for x in (reference, reference.T, reference[:, 0])
    ]
    assert a.T.byteswap().strides == reference.T.byteswap().strides


@pytest.mark.on_device
def test_the_warning_points_to_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.arange(3.0)
    for call in (
        lambda: np.lib.array_utils.byte_bounds(a),
        lambda: np.vectorize(lambda x: float(f"{x}"))(a),
    ):
        monkeypatch.setattr(fallback, "_warned", set())
        with pytest.warns(np.HostFallbackWarning) as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]


def test_bytes() -> None:
    tested, reference = both()
    for x, host in (
        (tested, reference),
        (tested.T, reference.T),
        (tested[0], reference[0]),
        (np.sum(tested), numpy.sum(reference)),
    ):
        assert bytes(x) == bytes(host)
    with pytest.raises((TypeError, BufferError)):
        memoryview(tested)
    is_of_host = tested.device.shares_host_memory or memory_on_host(tested) is not None
    assert tested.data.readonly is not is_of_host
    assert tested.data == memoryview(reference)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes in Python lend buffers since Python 3.12")
def test_what_takes_bytes() -> None:
    """Files, digests and the like take arrays; NumPy still makes a copy that can be written to."""
    tested, reference = both()
    texts = np.array(["a", "b"])
    for x, host in (
        (tested, reference),
        (tested.T, reference.T),
        (tested[:, 1], reference[:, 1]),
        (texts, numpy.array(["a", "b"])),
    ):
        stream = io.BytesIO()
        stream.write(x)
        assert stream.getvalue() == host.tobytes()
        assert hashlib.sha256(x).digest() == hashlib.sha256(host.tobytes()).digest()
        copied = numpy.asarray(x)
        assert copied.flags.writeable
        assert copied.tobytes() == host.tobytes()
    with pytest.raises(BufferError, match=r"memoryview\(x\), .* is refused.*Take x\.data, .* or x\.get\(\)"):
        memoryview(tested)
    with pytest.raises(BufferError, match="objects"):
        hashlib.sha256(np.array([None]))


def test_vectorize_decorates() -> None:
    tested, reference = both()

    @np.vectorize(signature="(n)->()", excluded={"k"})  # type: ignore[untyped-decorator]
    def total(x: Any, k: float) -> Any:
        """Add up."""
        assert type(x) is np.ndarray
        return x.sum() + k

    same(to_host(total(tested, k=2.0)), reference.sum(1) + 2)
    assert total.__doc__ == "Add up."
    assert isinstance(total, numpy.vectorize)


ROWS_AND_COLUMNS = "(n,m),(m)->(n)"
# Function, signature, options, and arguments.
VECTORIZED: dict[str, tuple[Callable[..., Any], str, dict[str, Any], Callable[[Any], tuple[Any, ...]]]] = {
    "a sum": (lambda x: x.sum(), "(n)->()", {}, lambda xp: (xp.arange(6.0).reshape(2, 3),)),
    "a product": (
        lambda x, y: x @ y,
        ROWS_AND_COLUMNS,
        {},
        lambda xp: (xp.arange(24.0).reshape(2, 4, 3), xp.arange(3.0)),
    ),
    "two results": (lambda x: (x.min(), x * 2), "(n)->(),(n)", {}, lambda xp: (xp.arange(6.0).reshape(2, 3),)),
    "a new size": (lambda x: x[:2], "(n)->(m)", {}, lambda xp: (xp.arange(6).reshape(2, 3),)),
    "a size that changes": (
        lambda x: x[: int(x[0]) + 1],
        "(n)->(m)",
        {},
        lambda xp: (xp.arange(2)[:, None] + xp.zeros((2, 3)),),
    ),
    "a dtype": (lambda x: x.sum(), "(n)->()", {"otypes": "f"}, lambda xp: (xp.arange(6.0).reshape(2, 3),)),
    "the first result's dtype": (
        lambda x: x.sum() + 0.5 if x[0] else 1,
        "(n)->()",
        {},
        lambda xp: (xp.arange(6.0).reshape(2, 3),),
    ),
    "numbers": (lambda x, y: x + y, "(),()->()", {}, lambda xp: (xp.arange(2), xp.arange(3.0)[:, None])),
    "numbers and rows": (lambda x, y: x + y, "(),(n)->(n)", {}, lambda xp: (xp.arange(2), xp.ones(3))),
    "nothing, with a dtype": (lambda x: x.sum(), "(n)->()", {"otypes": "f"}, lambda xp: (xp.zeros((0, 3)),)),
    "nothing": (lambda x: x.sum(), "(n)->()", {}, lambda xp: (xp.zeros((0, 3)),)),
    "nothing of a new size": (lambda x: x[:2], "(n)->(m)", {"otypes": "d"}, lambda xp: (xp.zeros((0, 3)),)),
    "too few arguments": (lambda x, y: x, "(n),(n)->()", {}, lambda xp: (xp.ones(3),)),
    "sizes that differ": (lambda x, y: x, "(n),(n)->()", {}, lambda xp: (xp.ones(3), xp.ones(4))),
    "too many results": (lambda x: (1, 2), "(n)->()", {}, lambda xp: (xp.ones(3),)),
    "too few dimensions": (lambda x: x, "(n)->()", {}, lambda xp: (xp.array(3.0),)),
}


@pytest.mark.parametrize("name", VECTORIZED)
def test_vectorize_with_a_signature(name: str) -> None:
    function, signature, options, arguments = VECTORIZED[name]
    np.host_fallback("error")
    outcomes: list[Any] = []
    for xp in (np, numpy):
        try:
            outcomes.append(xp.vectorize(function, signature=signature, **options)(*arguments(xp)))
        except (TypeError, ValueError) as error:
            outcomes.append(error)
    found, expected = ([x] if not isinstance(x, tuple) else list(x) for x in outcomes)
    for one, other in zip(found, expected, strict=True):
        if isinstance(other, Exception):
            assert type(one) is type(other)
            assert name == "a size that changes" or str(one) == str(other)
        else:
            assert isinstance(one, np.ndarray)
            same(to_host(one), numpy.asarray(other))


def test_the_host_looks_at_elements() -> None:
    np.host_fallback("error")
    for xp in (np, numpy):
        x = xp.arange(6.0).reshape(2, 3)
        assert [float(y) for y in xp.nditer(x, order="F")] == [0, 3, 1, 4, 2, 5]
        assert [tuple(map(float, pair)) for pair in xp.nditer([x[0], 2.0])] == [(0, 2), (1, 2), (2, 2)]
        assert [(k, float(y)) for k, y in xp.ndenumerate(x[:, 0])] == [((0,), 0.0), ((1,), 3.0)]
        assert xp.poly1d(x[0] + 1)(2) == 11
        assert (xp.poly1d([1, 2]) ** 2)(x)[1, 0] == 25
        both = xp.broadcast(x[0], xp.broadcast(x[:, :1], 7))
        assert (both.shape, both.nd, both.ndim, both.size, both.numiter, both.index) == ((2, 3), 2, 2, 6, 3, 0)
        assert [tuple(map(float, parts)) for parts in both][4] == (1, 3, 7)
        assert both.index == 6
        both.reset()
        assert [float(y) for y in both.iters[1]] == [0, 0, 0, 3, 3, 3]
        assert isinstance(both, xp.broadcast)
        with pytest.raises(ValueError, match="shape mismatch"):
            xp.broadcast(x, xp.ones(2))
        with pytest.raises(AttributeError):
            _ = both.nothing


@pytest.mark.parametrize("dtype", "?bhiqBHefdFD")
def test_byteswap(dtype: str) -> None:
    np.host_fallback("error")
    for cut in (lambda x: x, lambda x: x.T, lambda x: x[:, ::2], lambda x: x[::-1], lambda x: x[:0], lambda x: x[1, 2]):
        tested, reference = (cut(xp.arange(18).reshape(3, 6).astype(dtype)) for xp in (np, numpy))
        swapped, expected = tested.byteswap(), reference.byteswap()
        assert swapped.tobytes() == expected.tobytes()
        assert swapped.dtype == expected.dtype
        assert swapped.strides == expected.strides or not expected.size
        if reference.ndim:
            assert tested.byteswap(inplace=True) is tested
            assert tested.tobytes() == expected.tobytes()
            assert swapped.byteswap(True).tobytes() == reference.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        np.broadcast_to(np.ones(2, dtype), (2, 2)).byteswap(inplace=True)


@pytest.mark.filterwarnings("error")
def test_what_is_for_files_says_nothing(tmp_path: Any) -> None:
    arrays: tuple[Any, ...] = np.arange(3), np.ma.array([1, 2, 3])
    for x in arrays:
        x.dump(tmp_path / "dumped")
        assert pickle.loads(x.dumps()).tolist() == x.tolist()
    np.arange(3).tofile(tmp_path / "bytes")
    assert np.fromfile(tmp_path / "bytes", int).tolist() == [0, 1, 2]
    np.lib.format.write_array(io.BytesIO(), np.arange(3))


# --- views by strides -----------------------------------------------------------------------------------------------

STRIDED: tuple[tuple[Callable[[Any], Any], tuple[int, ...], tuple[int, ...]], ...] = (
    (lambda a: a, (3, 2), (32, 8)),
    (lambda a: a.T, (4, 5), (8, 32)),
    (lambda a: a[1, 1:], (2,), (16,)),
    (lambda a: a[::-1], (5,), (-32,)),
    (lambda a: a[0], (3, 4), (8, 8)),
    (lambda a: a[2], (3, 2), (0, 8)),
)


@pytest.mark.parametrize("window", [lambda a: a, lambda a: a[1:], lambda a: a.T, lambda a: a[:, ::2]])
@pytest.mark.parametrize("shape", [(2, 2), (3,), (3, 2), (2, 1, 2)])
def test_as_strided_without_strides(window: Callable[[Any], Any], shape: Any) -> None:
    tested, reference = both()
    expected = outcome(lambda: numpy.lib.stride_tricks.as_strided(window(reference), shape))
    found = outcome(lambda: np.lib.stride_tricks.as_strided(window(tested), shape))
    if isinstance(expected, ValueError):
        assert isinstance(found, ValueError)
    else:
        same(to_host(found), expected.copy())


@pytest.mark.parametrize(("window", "shape", "strides"), STRIDED)
@pytest.mark.parametrize("pending", [False, True])
def test_as_strided(window: Callable[[Any], Any], shape: Any, strides: Any, pending: bool) -> None:
    tested, reference = both()
    tested, reference = (tested + 1, reference + 1) if pending else (tested, reference)
    view, expected = (
        n.lib.stride_tricks.as_strided(window(a), shape, strides) for n, a in ((np, tested), (numpy, reference))
    )
    same(to_host(view), expected.copy())
    assert view.strides == strides
    assert np.shares_memory(view, tested)
    np.host_fallback("ignore")
    view[1:], expected[1:] = -5, -5
    same(to_host(tested), reference)


def test_as_strided_stays_in_the_array() -> None:
    a = np.arange(12.0)
    as_strided = np.lib.stride_tricks.as_strided
    for shape, strides in (((13,), (8,)), ((2,), (-8,)), ((3, 4), (40, 8))):
        with pytest.raises(ValueError, match="out of bounds"):
            as_strided(a, shape, strides)
    with pytest.raises(ValueError, match="whole elements"):
        as_strided(a, (2,), (4,))
    with pytest.raises(ValueError, match="dimensions"):
        as_strided(a, (2,), (8, 8))
    with pytest.raises(ValueError, match="read-only"):
        as_strided(a, (2,), writeable=False)[0] = 1
    assert as_strided(a, (0,), (800,)).shape == (0,)
    same(to_host(as_strided(numpy.arange(4), (2, 2), (8, 8))), numpy.array([[0, 1], [1, 2]]))
    z = np.arange(4) + 1j
    same(to_host(as_strided(z.imag, (2,), (32,))), numpy.ones(2))


@pytest.mark.skipif(RELEASE < "2.5.0", reason="NumPy checks bounds from 2.5 on")
@pytest.mark.parametrize(
    ("shape", "strides"), [((9,), (8,)), ((3,), (-8,)), ((2, 2), (8, -24)), ((4,), (16,)), ((3,), (16,)), ((0,), (80,))]
)
def test_bounds_are_checked_as_numpy_checks_them(shape: Any, strides: Any) -> None:
    a = numpy.arange(12.0)
    for window in (slice(0, 6), slice(4, 8)):
        as_strided = numpy.lib.stride_tricks.as_strided
        expected = outcome(lambda: as_strided(a[window], shape, strides, check_bounds=True))  # noqa: B023
        for check_bounds in (True, False, None):
            for x in (np.asarray(a)[window], a[window]):
                options = {"check_bounds": check_bounds}
                found = outcome(lambda: np.lib.stride_tricks.as_strided(x, shape, strides, **options))  # noqa: B023
                if isinstance(expected, Exception):
                    assert (type(found), str(found)) == (type(expected), str(expected))
                else:
                    same(to_host(found), expected)


@pytest.mark.parametrize(
    ("shape", "axis"), [((2, 3), None), (2, 0), ((2,), -1), ((2, 2), (0, 0)), ((3, 2), (1, 0)), (5, 0)]
)
def test_sliding_windows(shape: Any, axis: Any) -> None:
    tested, reference = both()
    for window in WINDOWS.values():
        a, h = window(tested), window(reference)
        try:
            expected = numpy.lib.stride_tricks.sliding_window_view(h, shape, axis)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)[:20]):
                np.lib.stride_tricks.sliding_window_view(a, shape, axis)
            continue
        view = np.lib.stride_tricks.sliding_window_view(a, shape, axis)
        same(to_host(view), expected.copy())
        same(to_host(view.sum()), expected.sum())
        assert np.shares_memory(view, tested)
        assert not view.flags.writeable


def test_sliding_windows_refuse_what_numpy_refuses() -> None:
    tested, reference = both()
    for args in ((2,), ((2, 2), 0), (-1, 0), (6, 0), (2, 2)):
        with pytest.raises(Exception) as expected:
            numpy.lib.stride_tricks.sliding_window_view(reference, *args)
        with pytest.raises(expected.type) as raised:
            np.lib.stride_tricks.sliding_window_view(tested, *args)
        assert str(raised.value) == str(expected.value)
    np.lib.stride_tricks.sliding_window_view(tested, 1, 0, writeable=True)[2] = 1
    assert to_host(tested)[2].tolist() == [1] * 4


# --- shared memory --------------------------------------------------------------------------------------------------

PAIRS: tuple[Callable[[Any], tuple[Any, Any]], ...] = (
    lambda a: (a, a[1:]),
    lambda a: (a[::2], a[1::2]),
    lambda a: (a[:2], a[2:]),
    lambda a: (a[:, ::2], a[:, 1::2]),
    lambda a: (a.T[1], a[2]),
    lambda a: (a[::-1], a),
    lambda a: (a[:0], a),
    lambda a: (a, a.copy()),
    lambda a: (a, a + 0),
    lambda a: (a.view("i8")[1], a[1]),
    lambda a: (a.reshape(-1), a),
    lambda a: (a[0], numpy.zeros(3)),
    lambda a: ([1, 2], a),
)


@pytest.mark.parametrize("pair", PAIRS)
def test_sharing(pair: Callable[[Any], tuple[Any, Any]]) -> None:
    tested, reference = both()
    for function in ("shares_memory", "may_share_memory"):
        expected = getattr(numpy, function)(*pair(reference))
        for np_ in (np, numpy):
            found = getattr(np_, function)(*pair(tested))
            assert type(found) is bool
            assert found == expected, function


def test_sharing_of_parts() -> None:
    z, h = np.zeros(4, complex), numpy.zeros(4, complex)
    for x, y in (("real", "imag"), ("real", "real"), ("imag", "imag")):
        for function in ("shares_memory", "may_share_memory"):
            tested, reference = (getattr(n, function)(getattr(a, x), getattr(a, y)) for n, a in ((np, z), (numpy, h)))
            assert tested == reference
    assert np.shares_memory(z.imag, z.view(float)[1:2])
    assert not np.shares_memory(z.imag, z.view(float)[::2])
    assert np.shares_memory(z, z.view(float)[7:])


def test_sharing_of_memory_that_was_handed_out() -> None:
    with np.Device("cpu"):
        a = np.arange(6.0)
        host = numpy.asarray(a, copy=False)
        assert np.shares_memory(a, host[2:])
        assert not np.shares_memory(a[:2], host[2:])
        again = np.from_dlpack(host)
        assert np.shares_memory(a[3:], again)
        assert not np.shares_memory(a[3:], again[:3])


NOT_CALLED = frozenset(
    (
        *("fromfile", "fromregex", "genfromtxt", "info", "load", "loadtxt", "nested_iters", "save", "savetxt", "savez"),
        *("savez_compressed", "set_printoptions", "setbufsize", "seterr", "seterrcall", "show_config", "show_runtime"),
        "test",
    )
)
FUNCTIONS = [
    f"{module}{name}"
    for module, names in (("", numpy.__all__), ("linalg.", numpy.linalg.__all__), ("fft.", numpy.fft.__all__))
    for name in names
    if name not in NOT_CALLED
    and callable(getattr(numpy if not module else getattr(numpy, module[:-1]), name))
    and not isinstance(getattr(numpy if not module else getattr(numpy, module[:-1]), name), type)
]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.filterwarnings("ignore")
def test_a_result_shares_as_in_numpy_or_is_read_only(name: str) -> None:
    tested, reference = (operator.attrgetter(name)(n) for n in (np, numpy))
    for shape in ((4,), (3, 3), (1, 4)):
        for more in ((), (0,), (1,), (shape,)):
            h = numpy.arange(1.0, 1 + numpy.prod(shape)).reshape(shape)
            a = np.asarray(h)
            try:
                expected = reference(h, *more)
                found = tested(a, *more)
            except (TypeError, ValueError, IndexError, AttributeError, RuntimeError, ZeroDivisionError):
                continue  # what is refused, and alike, is the matter of other tests
            same(to_host(a), h)
            pairs = zip(*(x if isinstance(x, (tuple, list)) else [x] for x in (found, expected)), strict=True)
            for x, y in pairs:
                if isinstance(x, (np.ndarray, numpy.ndarray)):  # a matrix is NumPy's own
                    assert np.shares_memory(x, a) == numpy.shares_memory(y, h) or not x.flags.writeable


def test_the_conjugate_of_what_is_real_is_the_array_itself() -> None:
    for dtype in (float, int, bool):
        a = np.ones(3, dtype)
        assert a.conj() is a
        assert a.conjugate() is a
    z = np.array([1j, 2])
    assert not np.shares_memory(z.conj(), z)
    same(to_host(z.conj()), numpy.array([-1j, 2]))
    assert z.conj(out=z) is z
    same(to_host(z), numpy.array([-1j, 2]))
    same(to_host(np.ones(2).conjugate(np.zeros(2))), numpy.ones(2))


# --- in place -------------------------------------------------------------------------------------------------------

IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "put": lambda n, a: n.put(a, [0, 2], [-1, -2]),
    "place": lambda n, a: n.place(a, a > 6, [-1, -2]),
    "putmask": lambda n, a: n.putmask(a, a > 6, [-1, -2]),
    "copyto": lambda n, a: n.copyto(a, a[0] * 2),
    "copyto where": lambda n, a: n.copyto(a, -1, where=a > 6),
    "fill_diagonal": lambda n, a: n.fill_diagonal(a, -1),
    "put_along_axis": lambda n, a: n.put_along_axis(a, n.argmax(a, 1, keepdims=True), -1, 1),
    "nan_to_num": lambda n, a: n.nan_to_num(a, copy=False),
    "at": lambda n, a: n.add.at(a, [0, 0], 1),
    "einsum out": lambda n, a: n.einsum("ij,ij->ij", a, a, out=a),
    "sort": lambda n, a: a[::-1].sort(0),
    "partition": lambda n, a: a[::-1].partition(1, 0),
    "byteswap": lambda n, a: a.byteswap(inplace=True).byteswap(inplace=True),
    "fill": lambda n, a: a.fill(3),
    "ndarray.put": lambda n, a: a.put(0, 9),
    "flat": lambda n, a: a.flat.__setitem__(slice(None, None, 2), 1),
    "fft out": lambda n, a: n.fft.fft(a, out=a.astype(complex)).real.sum(),
    "matmul out": lambda n, a: n.matmul(a, n.eye(a.shape[1]), out=a),
}


@pytest.mark.parametrize("write", IN_PLACE.values(), ids=IN_PLACE)
@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_what_is_in_place_is_written(write: Callable[[Any, Any], Any], window: Callable[[Any], Any]) -> None:
    tested, reference = both((5, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.HostFallbackWarning)
        write(np, window(tested))
    write(numpy, window(reference))
    same(to_host(tested), reference)


@pytest.mark.parametrize(
    "write",
    [
        lambda n, a, d: n.add(d, 1, out=a),
        lambda n, a, d: n.einsum("ij,ij->ij", d, d, out=a),
        lambda n, a, d: n.cumsum(d, axis=0, out=a),
        lambda n, a, d: n.place(a, d > 0, [1]),
        lambda n, a, d: n.copyto(a, d),
        lambda n, a, d: a.__iadd__(d),
        lambda n, a, d: a.__setitem__(0, d[0]),
    ],
)
@pytest.mark.parametrize("close", ["flags", "setflags"])
def test_read_only_arrays_of_the_host_beside_those_of_a_device(write: Callable[..., Any], close: str) -> None:
    before = np.set_residence("device")
    of_device = np.ones((5, 5))
    np.set_residence("auto")
    try:
        tested, reference = both((5, 5))
        for array in (tested, reference):
            if close == "flags":
                array.flags.writeable = False
            else:
                array.setflags(write=False)
        values = tested.get()
        with pytest.raises(ValueError, match="read-only"):
            write(numpy, reference, numpy.ones((5, 5)))
        with pytest.raises(ValueError, match="read-only"):
            write(np, tested, of_device)
        numpy.testing.assert_array_equal(tested.get(), values)
    finally:
        np.set_residence(before)


@pytest.mark.parametrize("write", IN_PLACE.values(), ids=IN_PLACE)
def test_what_is_in_place_refuses_read_only_arrays(write: Callable[[Any, Any], Any]) -> None:
    tested, reference = both((5, 5))
    tested.flags.writeable = reference.flags.writeable = False
    try:
        write(numpy, reference)
    except ValueError:
        with pytest.raises(ValueError, match="read-only"):
            write(np, tested)
    else:
        write(np, tested)


COPIES: tuple[tuple[Any, Any, dict[str, Any]], ...] = (
    ("i8", 3.5, {}),
    ("i8", 3.5, {"casting": "unsafe"}),
    ("i1", 300, {}),
    ("i8", [1.5, 2, 3], {}),
    ("f4", [1.5, 2, 3], {}),
    ("f8", [[1, 2, 3]], {}),
    ("f8", [1, 2], {}),
    ("f8", 1, {"where": [True, False, True]}),
    ("f8", 1, {"where": numpy.ones(2, bool)}),
    ("f8", 1, {"where": numpy.ones((2, 3), bool)}),
    ("f8", [5, 6, 7], {"where": numpy.array([False, True, True])}),
    ("f8", numpy.float32(2.5), {"casting": "no"}),
    ("?", 2, {}),
    ("f8", 1, {"casting": "wild"}),
)


@pytest.mark.parametrize(("dtype", "source", "options"), COPIES)
def test_copyto(dtype: str, source: Any, options: dict[str, Any]) -> None:
    reference = numpy.zeros(3, dtype)
    tested = np.asarray(reference)
    sources = [source] if numpy.isscalar(source) else [source, np.asarray(source)]
    try:
        numpy.copyto(reference, source, **options)
    except (TypeError, ValueError, OverflowError) as error:
        for given in sources:
            with pytest.raises(type(error)):
                np.copyto(tested, given, **options)
    else:
        for given in sources:
            tested = np.zeros(3, dtype)
            np.copyto(tested, given, **options)
            same(to_host(tested), reference)


def test_copyto_the_host() -> None:
    host = numpy.zeros(3)
    np.copyto(host, np.arange(3.0), where=np.asarray([True, False, True]))
    same(host, numpy.array([0, 0, 2.0]))
    with pytest.raises(TypeError):
        np.copyto([1], 1)
    with pytest.raises(TypeError):
        np.copyto(np.sum(np.ones(2)), 1)


def test_a_scalar_of_the_host_is_a_result_of_ours() -> None:
    """What goes on is an array of the same namespace and device, which acts as NumPy's scalar."""
    x = np.arange(3.0)
    total = fallback.on_host(lambda a: a.sum(), "a sum")(x)
    parts = fallback.on_host(lambda a: (a.max(), a.tolist()), "parts")(x)
    host = fallback.on_host(lambda a: numpy.float64(a), "a number")(2)
    assert type(total) is type(parts[0]) is np.ndarray
    assert (total.shape, total.dtype, total.device) == ((), numpy.dtype("f8"), x.device)
    before = total
    total += 1
    assert (float(total), float(before)) == (4, 3)
    assert (hash(before), parts[0], parts[1]) == (hash(3.0), 2, [0, 1, 2])
    assert type(host) is numpy.float64


@pytest.mark.parametrize("module", ["ma", "polynomial", "rec"])
def test_all_names_of_a_module_are_imported(module: str) -> None:
    names: dict[str, Any] = {}
    exec(f"from gpunumpy.{module} import *", names)
    assert {name for name in names if not name.startswith("__")} == set(getattr(numpy, module).__all__)


@pytest.mark.parametrize("method", ["__call__", "outer"])
@pytest.mark.filterwarnings("error")
def test_ufuncs_of_objects_are_the_hosts(method: str) -> None:
    add = np.frompyfunc(lambda a, b: a + b, 2, 1)
    run = getattr(add, method)
    assert run(np.arange(3), np.arange(3)).dtype == object
    np.host_fallback("error")
    with pytest.raises(TypeError, match=r"dtype 'object', which NumPy does .* host_fallback\('error'\)"):
        run(np.arange(3), np.arange(3))
