"""What is in the brackets of ``r_`` and ``c_``, beside NumPy; results are arrays of this package."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy

KEYS = """
r_[1:3]
r_[1:3, a]
r_[a, 0, 0, a]
r_[0:1:5j]
r_[0:n, n]
r_[:3]
r_[3:0:-1]
r_[-1:1:3j, [0] * 2, 5, 6]
r_[0.1:0.33:0.1]
r_[f, 1]
r_[f, 1.5]
r_[a, 1.5]
r_[1j, a]
r_[a > 1, a < 1]
r_[a, b]
r_[a[::-1], a.astype('u1')]
r_[True, False]
r_[5]
r_[()]
r_[d, np.datetime64('2022')]
r_[o, a]
r_[np.arange(3, dtype='>i4'), 1]
r_['0,2', a, a]
r_['0,2,0', a, a]
r_['0,2,1', a, a]
r_['0,3,1', b, a]
r_['0,3,-2', b[0], a]
r_['-1', b, b]
r_['0', b, b]
r_['1,3,0', b, b]
r_['0,3', 1:4, a]
r_['r', a, a]
r_['c', a]
r_['a', a]
r_['1,x', a]
r_[a, 'x']
c_[a]
c_[a, a]
c_[b, [1, 2]]
c_[b, np.ones(2)]
c_[1:3, 2:4]
c_[[1, 2], [3, 4]]
c_[s, [1, 2]]
c_[d, d]
c_[np.c_[a, a], a]
c_['0,3,1', a, a]
""".strip().splitlines()


def _outcome(np: Any, key: str) -> Any:
    names = {
        "np": np,
        "a": np.arange(3),
        "b": np.ones((2, 3)),
        "f": np.array([1, 2], "f4"),
        "n": np.array([2, 4]).max(),
        "s": np.array(["a", "b"]),
        "d": np.array(["2020", "2021"], "M8[Y]"),
        "o": np.array([1, None], object),
    }
    try:
        made = eval(f"np.{key}", names)
    except Exception as error:
        return type(error)
    assert type(made) is np.ndarray or isinstance(made, numpy.matrix)
    return made.tolist(), made.dtype, isinstance(made, numpy.matrix)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("residence", ["auto", "device"])
@pytest.mark.parametrize("key", KEYS)
def test_what_is_in_the_brackets_is_joined(key: str, residence: str) -> None:
    gpunumpy.set_residence(residence)
    assert _outcome(gpunumpy, key) == _outcome(numpy, key)


def test_nothing_is_computed_on_the_host() -> None:
    gpunumpy.set_residence("device")
    gpunumpy.host_fallback("error")
    x = gpunumpy.arange(3.0)
    assert gpunumpy.c_[x, 1:4, x].device == gpunumpy.r_[x, 1:4, 5, x].device == x.device
