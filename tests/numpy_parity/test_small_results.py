"""Functions of small data of the host: their results are on the host, and NumPy's."""

from __future__ import annotations

import array
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.recording.array import memory_on_host

from ..support.arrays import to_host


class HoldsNumPys:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.array([1.0, 2.0, 3.0])


CALLS = """
nanmean(x)
nanmean(x, axis=0)
nanmean([1, 2])
nanmean(numpy.ones(3))
nanmedian(x, 0)
nanstd(x, ddof=1)
nanvar(x, 0)
nanmin(x, 0)
nanmin(x, axis=1, keepdims=True)
nanmax(x)
nanmax([1.0, 2])
nanmax(a.astype(int))
nanargmax(x, 0)
nanargmin(x)
nanpercentile(x, [20, 50])
nanquantile(x, 0.5, axis=1)
nansum(x, 1)
unique_values(a)
unique_values([2, 1, 2])
unique_counts(a)[1]
apply_along_axis(lambda v: v.sum(), 0, x)
apply_along_axis(lambda v: v[::-1], 1, x)
apply_along_axis(sum, 0, [[1, 2], [3, 4]])
apply_along_axis(lambda v: 3.5, 0, x)
apply_along_axis(lambda v: v[:1] if v[0] > 1 else v, 1, x)
apply_along_axis(lambda v: v[None, :1] if v[0] > 1 else v.astype(int), 1, np.nan_to_num(x))
apply_over_axes(np.nansum, x, [0, 1])
vectorize(lambda v, w: (v * w).sum(), signature='(n),(n)->()')(x, x)
vectorize(lambda v: v[::-1], signature='(n)->(n)')([[1, 2], [3, 4]])
piecewise(a, [a < 2, a >= 2], [0, 1])
piecewise(a, [a < 2, a >= 3], [lambda v: -v, lambda v: v * 2, 9])
piecewise([1.0, 2], [[True, False]], [3])
piecewise(3.5, [True], [lambda v: v + 1])
piecewise(a.astype(bool), [numpy.array([1, 0, 0, 1])], [lambda v: ~v])
select([a < 2], [a])
r_[1:5]
r_[1:5, 0, 6]
r_[0:1:5j]
r_[a, 1, 2]
r_['0,2', a, a]
c_[a, a]
c_[1:3, 2:4]
array(holder)
asarray(holder, 'f4')
array([holder, holder])
array(object=[1, 2])
array(object=a)
asarray(a=a)
asanyarray(a=[1, 2])
array(bytearray(b'abc'))
asarray(memoryview(bytearray(b'abc')))
array(array.array('d', [1, 2]))
zeros_like(a, shape=(2,))
zeros_like(x, 'i4', shape=4)
zeros_like([1, 2], shape=(3, 2))
ones_like(a, shape=(2, 3))
full_like(a, 3, shape=(2, 3))
array([1, 2], like=a)
asarray([1, 2], like=None)
zeros(3, like=a)
arange(3, like=a)
full(3, 1, like=a)
emath.sqrt([-1, 2])
emath.log(-1)
emath.arccos([0.5, 2])
broadcast_to(a.max(), (2, 3))
""".strip().splitlines()


def _made(np: Any, text: str) -> Any:
    named = {
        "a": np.array([3.0, 1.0, 2.0, 2.0]),
        "x": np.array([[1.0, numpy.nan, 4.0], [2.0, 3.0, 5.0]]),
        "holder": HoldsNumPys(),
    }
    return eval(f"np.{text}", {"np": np, "numpy": numpy, "array": array, **named})


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("text", CALLS)
def test_small_results_are_on_the_host(text: str, residence: str) -> None:
    gpunumpy.set_residence(residence)
    made, expected = _made(gpunumpy, text), _made(numpy, text)
    assert (memory_on_host(made) is None) == (residence == "device")
    assert made.dtype == expected.dtype
    assert made.flags.writeable == expected.flags.writeable
    ordered = numpy.sort(expected) if text.startswith("unique_values") else expected  # NumPy leaves the order open
    numpy.testing.assert_allclose(to_host(made), numpy.asarray(ordered), rtol=1e-13, strict=True)


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
