"""Errors that shapes, dtypes and the host's values decide: raised at the statement, with NumPy's type and words."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.core.numpy_release import NUMPY_2_5

CALLS = (
    "np.arange(5)[7]",
    "hash(np.arange(5))",
    "np.array([1], copy=False)",
    "np.frombuffer(np.ones(3), 'i4', 7)",
    "np.frombuffer(np.ones(3), 'c16')",
    "np.frombuffer(np.ones(3), 'c16', 1, 25)",
    "np.frombuffer(np.ones((3, 2)).T)",
    "np.ones((2,3))[0,7]",
    "np.ones((2,3))[[0,7]]",
    "np.ones((2,3))[0,0,0]",
    "np.ones((2,3))[np.array([True])]",
    "np.ones((2,3))[1.5]",
    "np.ones((2,3))[[0,1],[0,1,2]]",
    "np.ones((2,3))[...,...]",
    "np.take(np.ones(3),[7])",
    "np.take(np.ones(0),[0])",
    "np.delete(np.ones(3),7)",
    "np.insert(np.ones(3),7,0)",
    "np.choose([3],[[1],[2]])",
    "np.ravel_multi_index([[3],[4]],(3,3))",
    "np.put(np.ones(3),[4],1)",
    "np.bincount([-1])",
    "np.repeat(np.ones(3),[1,-1,1])",
    "np.repeat(np.ones(3),[1,1])",
    "np.compress([0,0,0,1],np.ones(3))",
    "np.add.at(np.ones(3),[4],1)",
    "np.add.reduceat(np.ones(3),[4])",
    "np.split(np.ones(3),2)",
    "np.ones(3).reshape(2)",
    "np.ones((2,3))+np.ones(4)",
    "np.ones((2,3))@np.ones(4)",
    "np.concatenate([np.ones(2),np.ones((2,2))])",
    "np.ones((2,3)).transpose(0,0)",
    "np.ones((2,3)).sum(5)",
    "np.ones(0).max()",
    "np.ones(0).argmax()",
    "int(np.ones(3))",
    "bool(np.ones(3))",
    "bool(np.ones(0))",
    "np.ones(3).item()",
    "np.ones(3).item(7)",
    "np.stack([np.ones(3),np.ones(2)])",
    "np.ones((2,3)).squeeze(0)",
    "np.ones(3,int).__iadd__(1.5)",
    "np.broadcast_to(np.ones(3),(2,))",
    "np.linalg.inv(np.ones(3))",
    "np.linalg.inv(np.ones((2,3)))",
    "np.ones(3)[[4]]",
    "np.ones(3).__setitem__([4],1)",
    "np.ones(3).__setitem__(slice(2),np.ones(4))",
    "np.ones(3).__setitem__(7,1)",
    "np.ones((2,3)).take(7,1)",
    "np.swapaxes(np.ones(3),0,1)",
    "np.expand_dims(np.ones(3),5)",
    "np.moveaxis(np.ones(3),0,5)",
    "np.rot90(np.ones(3))",
    "np.fliplr(np.ones(3))",
    "np.roll(np.ones(3),1,4)",
    "np.searchsorted(np.ones((2,2)),1)",
    "np.partition(np.ones(3),7)",
    "np.tensordot(np.ones((2,3)),np.ones((2,3))*1,1)",
    'np.einsum("ij,jk",np.ones((2,3)),np.ones((2,3)))',
    "np.cross(np.ones(4),np.ones(4))",
    "np.histogram(np.ones(3),bins=0)",
    "np.histogram(np.ones(3),bins=[3,1])",
    "np.interp(1,[],[])",
    "np.diag(np.ones((1,1,1)))",
    "np.trace(np.ones(3))",
    "np.linspace(0,1,-1)",
    "np.zeros(-1)",
    "np.arange(0,1,0)",
    "np.full(3,[1,2])",
    "np.pad(np.ones(3),-1)",
    "np.percentile(np.ones(3),101)",
    "np.average(np.ones(3),weights=[0,0,0])",
    "np.average(np.ones(3),weights=[0,0])",
    "np.bitwise_and(np.ones(3),1)",
    "np.ones(3)<<1",
    "-np.array([True])",
    "np.array([True])-np.array([True])",
    'np.sort(np.ones(3),kind="z")',
    'np.ones(3,order="Z")',
    "np.copyto(np.ones(3,int),1.5)",
    'np.ones(3).astype("i4",casting="safe")',
    "np.broadcast_shapes((2,),(3,))",
    "np.array([[1,2],[3]])",
    "np.asarray([np.ones(2),np.ones(3)])",
    "np.append(np.ones(2),np.ones((2,2)),0)",
    "np.unravel_index([1],(-1,3))",
    "np.dot(np.ones(3),np.ones(4))",
    "np.vdot(np.ones(3),np.ones(4))",
    "np.inner(np.ones(3),np.ones(4))",
    "np.linalg.solve(np.ones((2,2)),np.ones(3))",
    "np.fft.fft(np.ones(0))",
    "np.fft.fft(np.ones(3),0)",
    'np.fft.fft(np.ones(3),norm="x")',
    "np.unravel_index([5, 30], (3, 3))",
    "np.unravel_index(30, (3, 3))",
    "np.fft.fftshift(np.array(3.0))",
    "np.fft.fftshift(3.0, 0)",
    "np.fft.ifftshift(np.ones(3), (0, 4))",
    "np.array(1, like=3)",
    'np.array(1, copy="x")',
    "np.power.outer(np.array([1, 2]), np.array([-1]))",
    'np.zeros(3).astype("i4", casting="safe")',
    'np.zeros(3, order="Z")',
)


def _error(call: str, np: Any) -> Exception | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            eval(call, {"np": np})
        except Exception as error:
            return error
    return None


@pytest.mark.filterwarnings("ignore::gpunumpy.HostFallbackWarning")
@pytest.mark.parametrize("call", CALLS)
def test_messages(call: str) -> None:
    found, expected = _error(call, gpunumpy), _error(call, numpy)
    assert expected is not None
    assert isinstance(found, next(kind for kind in type(expected).__mro__ if kind.__module__ == "builtins"))
    if NUMPY_2_5:  # in whose words the messages are
        assert str(found) == str(expected)


DEPRECATED = (
    *("setattr(np.arange(6), 'shape', (2, 3))", "setattr(np.arange(6), 'dtype', 'f8')", "np.fix(1.5)"),
    *("setattr(np.arange(6), 'strides', (8,))", "setattr(np.ma.array([1, 2]), 'shape', (2, 1))"),
)


@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("call", DEPRECATED)
def test_texts_of_deprecations(call: str, residence: str) -> None:
    """Programs filter warnings by their texts."""
    gpunumpy.set_residence(residence)
    texts = []
    for np in (gpunumpy, numpy):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            eval(call, {"np": np})
        texts.append([str(warning.message) for warning in caught])
    assert texts[0] == texts[1]
