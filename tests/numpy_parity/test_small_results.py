"""What is made of few numbers, and of small arrays of the host, is on the host, and NumPy's."""

from __future__ import annotations

import array
import contextlib
import operator
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.recording.array import memory_on_host
from gpunumpy.core.recording.residence import host_bytes

from ..support.arrays import to_host
from .keyword_calls import CALLS as KEYWORD_CALLS
from .keyword_calls import calls_with_keywords
from .test_keywords import new_names
from .test_ownership import arrays_in


class HoldsNumPys:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.array([1.0, 2.0, 3.0])


CALLS = """
np.nanmean(x)
np.nanmean(x, axis=0)
np.nanmean([1, 2])
np.nanmean(numpy.ones(3))
np.nanmedian(x, 0)
np.nanstd(x, ddof=1)
np.nanvar(x, 0)
np.nanmin(x, 0)
np.nanmin(x, axis=1, keepdims=True)
np.nanmax(x)
np.nanmax([1.0, 2])
np.nanmax(a.astype(int))
np.nanargmax(x, 0)
np.nanargmin(x)
np.nanpercentile(x, [20, 50])
np.nanquantile(x, 0.5, axis=1)
np.nansum(x, 1)
np.unique_values(a)
np.unique_values([2, 1, 2])
np.unique_counts(a)[1]
np.apply_along_axis(lambda v: v.sum(), 0, x)
np.apply_along_axis(lambda v: v[::-1], 1, x)
np.apply_along_axis(sum, 0, [[1, 2], [3, 4]])
np.apply_along_axis(lambda v: 3.5, 0, x)
np.apply_along_axis(lambda v: v[:1] if v[0] > 1 else v, 1, x)
np.apply_along_axis(lambda v: v[None, :1] if v[0] > 1 else v.astype(int), 1, np.nan_to_num(x))
np.apply_over_axes(np.nansum, x, [0, 1])
np.vectorize(lambda v, w: (v * w).sum(), signature='(n),(n)->()')(x, x)
np.vectorize(lambda v: v[::-1], signature='(n)->(n)')([[1, 2], [3, 4]])
np.piecewise(a, [a < 2, a >= 2], [0, 1])
np.piecewise(a, [a < 2, a >= 3], [lambda v: -v, lambda v: v * 2, 9])
np.piecewise([1.0, 2], [[True, False]], [3])
np.piecewise(3.5, [True], [lambda v: v + 1])
np.piecewise(a.astype(bool), [numpy.array([1, 0, 0, 1])], [lambda v: ~v])
np.select([a < 2], [a])
np.r_[1:5]
np.r_[1:5, 0, 6]
np.r_[0:1:5j]
np.r_[a, 1, 2]
np.r_['0,2', a, a]
np.c_[a, a]
np.c_[1:3, 2:4]
np.array(holder)
np.asarray(holder, 'f4')
np.array([holder, holder])
np.array(object=[1, 2])
np.array(object=a)
np.asarray(a=a)
np.asanyarray(a=[1, 2])
np.array(bytearray(b'abc'))
np.asarray(memoryview(bytearray(b'abc')))
np.array(array.array('d', [1, 2]))
np.zeros_like(a, shape=(2,))
np.zeros_like(x, 'i4', shape=4)
np.zeros_like([1, 2], shape=(3, 2))
np.ones_like(a, shape=(2, 3))
np.full_like(a, 3, shape=(2, 3))
np.array([1, 2], like=a)
np.asarray([1, 2], like=None)
np.zeros(3, like=a)
np.arange(3, like=a)
np.full(3, 1, like=a)
np.emath.sqrt([-1, 2])
np.emath.log(-1)
np.emath.arccos([0.5, 2])
np.broadcast_to(a.max(), (2, 3))
np.arange(n(5))
np.arange(f(0), f(1), f(0.25))
np.arange(0, n(5), dtype='f4')
np.arange(r)
np.arange(0, stop=5)
np.arange(3j)
np.arange(0, 3 + 3j, dtype='c8')
np.arange(True, 5)
np.arange(0, 10, numpy.array(2))
np.arange(start=0, stop=5)
np.linspace(f(0), f(1), 5)
np.linspace(0, 1, n(5))
np.linspace(0, 1, r)
np.linspace([0, 1, 2], c, 5)
np.linspace(0, 1, num=5)
np.logspace(f(0), 1, 5)
np.geomspace(f(1), 10, 5)
np.array([f(1), 2])
np.array([[f(1), 2], [3, 4]])
np.array([f(1), 2], dtype='f4')
np.array([r, 1])
np.array([numpy.ones(3), numpy.ones(3)])
np.array([range(3), range(3)])
np.array(range(5))
np.full(3, r)
np.full((2, 3), c)
np.full((2, 3), [1, 2, 3], dtype='f4')
np.full((2, 3), numpy.ones(3))
np.full(shape=(r, 2), fill_value=r)
np.zeros((r, 2))
np.zeros([r, 2], 'i4')
np.zeros(shape=(2, r))
np.zeros(range(3))
np.zeros(numpy.array([2, 3]))
np.empty((r, 0))
np.ones((2, r))
np.eye(r)
np.tri(n(3))
np.broadcast_to(1, (2, 3))
np.broadcast_to(f(1), (2, 3))
np.broadcast_to([1, 2, 3], (2, 3))
np.broadcast_to(numpy.ones(3), (r, 3))
np.broadcast_arrays(1, [1, 2])[0] + 0
np.frombuffer(b'12345678', 'i4')
np.fromiter(range(5), float)
np.fromstring('1 2 3', sep=' ')
np.fromfunction(lambda x, y: x + y, (3, 3))
np.fromfunction(lambda x, y: x * y, (r, 3), dtype=int)
np.mean([])
np.std([], ddof=1)
np.median([])
np.average([], returned=True)[1]
np.sum([])
np.sum([[], []], 1)
np.nanmean([])
np.mean(x, where=[True, False, True])
np.mean(a, where=False)
np.mean(a.max(), where=False)
x.mean(0, where=~np.isnan(x))
a.std(where=a > 1)
np.var(a, where=a < 0)
np.var(a, where=a < 3, correction=1)
np.nanvar(x, 0, ddof=3)
np.nanstd(c, where=c > 2)
np.nanmax(x * np.nan)
np.nanmedian(x * np.nan, 1)
np.nanmean(a=x, axis=1)
np.max(a=a)
np.diag(v=a)
np.copyto(dst=a, src=[1, 2, 3, 4]) or a
np.copyto(src=r, dst=a) or a
np.array(a, like=a)
np.zeros_like(a, shape=None)
np.linspace(0, 1, 5, retstep=True)[0]
np.ascontiguousarray(a=3)
np.einsum('ij,j->i', [[1, 2], [3, 4]], [1, 2])
np.einsum('i,i', [1, 2], numpy.ones(2))
np.split(s, 2)[1]
np.hsplit(s, 2)[1]
np.unstack(s)[0]
np.rollaxis(s, 0)
np.take_along_axis(s, np.array([2, 0]), 0)
np.tril_indices_from([s, s, s])[0] if np is gpunumpy else numpy.tril_indices(3, m=4)[0]
np.polyfit([1, 2, 3], [2, 4, 7], 1)
np.diagonal([[1, 2], [3, 4]])
np.linalg.diagonal(numpy.ones((2, 2)))
np.unravel_index([1, 5], shape=(3, 3))[0]
np.reshape(a, shape=(2, 2))
np.clip([1, 2, 3], 2, 3)
np.mask_indices(3, np.triu)[0]
np.mask_indices(3, np.tril, k=-1)[1]
np.pad(a, 2, lambda v, width, axis, options: operator.setitem(v, slice(width[0]), 7))
np.pad([[1, 2], [3, 4]], 1, lambda v, width, axis, options: operator.setitem(v, 0, axis))
np.vectorize(lambda v: v + 1)(a)
np.vectorize(lambda v, w: v if v > w else -w)(a, [3])
np.vectorize(lambda v: v * 2, otypes='f')([])
np.vectorize(lambda p, v: p[0] + v, excluded=[0])([1, 2], v=a)
np.polynomial.polynomial.polyval([1, 2], [1, 2, 3])
np.polynomial.polynomial.polyadd([1, 2], a)
np.polynomial.chebyshev.chebmul(a, [1, 2])
np.polynomial.legendre.legvander(a, 3)
np.polynomial.hermite.hermfit([0, 1, 2, 3], a, 2)
np.polynomial.laguerre.laggrid2d(a, a, [[1, 2], [3, 4]])
np.polynomial.chebyshev.cheb2poly(a)
np.polynomial.chebyshev.chebinterpolate(lambda v: v * v, 3)
np.lib.stride_tricks.sliding_window_view([1, 2, 3], 2)
np.isin(['a', 'b'], ['b'])
np.random.RandomState(1).permutation(a)
np.random.RandomState(1).choice(a, 3)
np.random.RandomState(1).shuffle(a) or a
np.random.default_rng(1).permuted(a)
np.random.default_rng(1).choice(a, 3)
np.random.default_rng(1).shuffle(a) or a
a + [1, 2, 3, 4]
[4, 3, 2, 1] - a
[a, a] * a
np.array([[1, 2]]).T @ [[3, 4]]
operator.iadd(a, [1, 2, 3, 4])
""".strip().splitlines()


def _made(np: Any, text: str) -> Any:
    c = np.array([4, 1, 2])
    named = {
        "a": np.array([3.0, 1.0, 2.0, 2.0]),
        "c": c,
        "r": c.max(),
        "x": np.array([[1.0, numpy.nan, 4.0], [2.0, 3.0, 5.0]]),
        "holder": HoldsNumPys(),
        "s": numpy.arange(4) if np is numpy else [0, 1, 2, 3],  # of functions for which NumPy has no lists
    }
    modules = {"np": np, "numpy": numpy, "gpunumpy": gpunumpy, "array": array, "operator": operator}
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(text, modules | named | {"n": numpy.int64, "f": numpy.float64})


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("text", CALLS)
def test_a_small_result_is_on_the_host(text: str, residence: str) -> None:
    gpunumpy.set_residence(residence)
    made, expected = _made(gpunumpy, text), _made(numpy, text)
    assert (memory_on_host(made) is None) == (residence == "device")
    assert made.dtype == expected.dtype
    assert made.flags.writeable == expected.flags.writeable
    ordered = numpy.sort(expected) if text.startswith("np.unique_values") else expected  # NumPy leaves the order open
    numpy.testing.assert_allclose(to_host(made), numpy.asarray(ordered), rtol=1e-13, strict=True)


def _with_small_data(xp: Any, convert: Callable[[Any], Any], call: str) -> Any:
    names = new_names(numpy, "f8", numpy.arange(6.0))
    data = {name: convert(x) for name, x in names.items() if isinstance(x, numpy.ndarray)}
    return eval(call, names | data | {"np": xp, "new": lambda *args, **options: xp.zeros(6), "operator": operator})


# Calls of one's own shared memory or of a device, and those in which NumPy writes to a NumPy array.
_ON_DEVICE = re.compile(r"from_dlpack|overwrite_input=True|'cpu'|\"cpu\"")


@pytest.mark.parametrize("kind", ["arrays", "lists", "NumPy's"])
@pytest.mark.parametrize("name", sorted(KEYWORD_CALLS))
def test_nothing_takes_small_data_to_the_device(name: str, kind: str) -> None:
    gpunumpy.set_residence("auto")
    gpunumpy.host_fallback("ignore")
    convert = {"arrays": gpunumpy.asarray, "lists": numpy.ndarray.tolist, "NumPy's": numpy.copy}[kind]
    taken = []
    for call in calls_with_keywords(name):
        with warnings.catch_warnings(), numpy.errstate(all="ignore"), contextlib.suppress(Exception):
            warnings.simplefilter("ignore")
            _with_small_data(numpy, numpy.copy if convert is gpunumpy.asarray else convert, call)  # NumPy takes it
            own = call.replace("cpu", str(gpunumpy.default_device()))  # where the data would be
            result = _with_small_data(gpunumpy, convert, own)
            arrays = [x for x in arrays_in(result) if isinstance(x, gpunumpy.ndarray)]
            is_taken = any(memory_on_host(x) is None and x.nbytes <= host_bytes(x.device) for x in arrays)
            taken += [call] * (is_taken and not _ON_DEVICE.search(call))
    assert not taken


@pytest.mark.parametrize("residence", ["auto", "device"])
def test_data_of_others_are_copied(residence: str) -> None:
    gpunumpy.set_residence(residence)
    for make in (gpunumpy.array, gpunumpy.asarray):
        given = bytearray(b"abc")
        made = make(given)
        given[0], made[1] = 1, 7
        assert made.tolist() == [97, 7, 99]
        assert given[1] == 98


@pytest.mark.parametrize("residence", ["auto", "device"])
def test_a_repeated_result_meets_the_device(residence: str) -> None:
    gpunumpy.set_residence(residence)
    repeated = gpunumpy.broadcast_to(gpunumpy.array([1.0, 2.0]).max(), (3,))
    assert (repeated + gpunumpy.zeros((10**6, 3)))[-1].tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("text", ["zeros_like(a, shape=10**8)", "array(object=b)", "zeros(10**8, like=a)"])
def test_large_results_of_small_arrays_are_not(text: str) -> None:
    gpunumpy.set_residence("auto")
    a, b = gpunumpy.ones(2), gpunumpy.zeros(10**8)
    made = eval(f"np.{text}", {"np": gpunumpy, "a": a, "b": b})
    assert made.size == 10**8
    assert memory_on_host(made) is None


def test_an_iterator_leaves_arrays_where_they_are() -> None:
    gpunumpy.set_residence("auto")
    rows = []
    for np in (gpunumpy, numpy):
        x = np.arange(12.0).reshape(3, 4)
        with np.nditer([x[::2, ::-1], None], [], [["readwrite"], ["writeonly", "allocate"]]) as iterator:
            for part, made in iterator:
                made[...] = part
                part[...] += 100
            copied = iterator.operands[1]
        rows.append((x.tolist(), numpy.asarray(copied).tolist()))
        assert np is numpy or (memory_on_host(x) is not None and memory_on_host(copied) is not None)
    assert rows[0] == rows[1]


@pytest.mark.parametrize("dtype", ["f8", "U3"])
@pytest.mark.parametrize("shape", [(2, 2), (4, 3), 5])
def test_an_array_is_resized_where_it_is(dtype: str, shape: Any) -> None:
    gpunumpy.set_residence("auto")
    outcomes = []
    for np in (gpunumpy, numpy):
        x = np.array([[1, 2, 3], [4, 5, 6]], dtype, order="F")
        x.resize(shape)
        outcomes.append((x.tolist(), x.strides, x.flags.owndata))
        assert np is numpy or memory_on_host(x) is not None
    assert outcomes[0] == outcomes[1]
