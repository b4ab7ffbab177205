"""Calls of what the core does by itself, in which the tests of faults have something fail, and those of leaks look on.

Each is a function of two arrays of eight numbers, which gives the same result whenever it is called.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

import numpy

import gpunumpy as np
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.loop_cut import LoopCut

Call = Callable[[Any, Any], Any]

# As many floats as are on the host with the CPU device, in memory that the core keeps.
KEPT_FLOATS = 10_000
_ACCESSES = 20
# As many values as a search for the place of a loop counts, with a few more, in which the place comes.
_SEARCHED_VALUES = 260
_sizes = itertools.cycle(range(20, 28))


def _state(x: Any) -> Any:
    return evaluate.state_of(x.device)


def _too_large(x: Any) -> int:
    """Return the length of an array that is not on the host, but of one that its accesses move there."""
    return x.queue.host_bytes // 8 + 8


def _moved(a: Any, b: Any) -> Any:
    x = np.zeros(_too_large(a))
    for k in range(_ACCESSES):
        x[k] = k
    return [float(x[k]) for k in (0, 1, _ACCESSES - 1, _ACCESSES)]


def _moved_by_parts(a: Any, b: Any) -> Any:
    x = np.zeros((_too_large(a) // 8, 8))
    row = x[2]
    for k in range(_ACCESSES):
        x[k] = b
    return float(row[1])


def _at_new_sizes(a: Any, b: Any) -> Any:
    """Sizes that come again, whose plans are forgotten: the core makes them of what serves all sizes."""
    size = next(_sizes)
    x = np.asarray(numpy.ones(32))[:size]
    _state(x).planner.plans.clear()
    return np.asnumpy((x * 2 + 1)[:4]).tolist()


def _reviewed(a: Any, b: Any) -> Any:
    """A queue that is reviewed at each value, as it is at every 128th."""
    kept = []
    for _ in range(3):
        a.queue.review_at = 0
        kept.append(a * 2 + b)
    return kept[-1]


def _searched(a: Any, b: Any) -> Any:
    """A graph that has become too large, and is flushed at a place of this loop."""
    cut = _state(a).cut = LoopCut()
    cut._begin_search(thorough=False)
    a.queue.review_at = -1
    x = a
    for _ in range(_SEARCHED_VALUES):
        x = x * 0.5
    return x


CALLS: dict[str, Call] = {
    "sum of arrays": lambda a, b: a + b,
    "with a number": lambda a, b: 2.5 * a,
    "of a number": lambda a, b: np.sqrt(5),
    "of a NumPy array": lambda a, b: a + numpy.ones(8),
    "power": lambda a, b: a**2,
    "ufunc": lambda a, b: np.maximum(a, b),
    "out=": lambda a, b: np.multiply(a, b, out=a),
    "out= and where=": lambda a, b: np.add(a, b, out=a, where=a > 3),
    "out= of a reduction": lambda a, b: np.cumsum(b, out=a),
    "method of a ufunc": lambda a, b: np.add.accumulate(a),
    "method": lambda a, b: a.sum(),
    "function": lambda a, b: np.concatenate([a, b]),
    "product": lambda a, b: a @ b,
    "product of matrices": lambda a, b: a.reshape(2, 4) @ b.reshape(4, 2),
    "method of products": lambda a, b: a.reshape(2, 4).dot(b[:4]),
    "attribute": lambda a, b: a.T,
    "view": lambda a, b: a[1:-1],
    "views of views": lambda a, b: a.reshape(2, 4)[:, 1:][1],
    "element": lambda a, b: float(a[3]),
    "scalars": lambda a, b: bool(a[3] * 2 > 0),
    "power of a scalar": lambda a, b: a[3] ** 1.5,
    "scalar of NumPy": lambda a, b: numpy.float64(2) * a,
    "chosen": lambda a, b: a[np.array([0, 2])],
    "chosen by a mask": lambda a, b: a[a > 3],
    "iteration": lambda a, b: [x for x in a],  # noqa: C416
    "list": lambda a, b: a.tolist(),
    "new": lambda a, b: np.zeros((2, 3)),
    "of a list": lambda a, b: np.array([1.0, 2.0]),
    "drawn": lambda a, b: np.random.default_rng(7).normal(size=3),
    "drawn by a legacy generator": lambda a, b: np.random.RandomState(7).rand(2, 2),
    "permutation": lambda a, b: np.random.default_rng(7).permutation(a),
    "element written": lambda a, b: a.__setitem__(3, 3.0),
    "part written": lambda a, b: a.__setitem__(slice(2, 5), b[2:5]),
    "written at a mask": lambda a, b: a.__setitem__(a > 3, 5.0),
    "written at positions": lambda a, b: a.__setitem__(np.array([0, 2]), b[:2]),
    "in place": lambda a, b: a.__iadd__(b),
    "part in place": lambda a, b: a[2:6].__imul__(b[1:5]),
    "sorted in place": lambda a, b: a.sort(),
    "moved by elements": _moved,
    "moved by parts": _moved_by_parts,
    "kept memory": lambda a, b: float((np.ones(KEPT_FLOATS) + 1)[3]),
    "flushed": lambda a, b: np.asnumpy((a + b) * a),
    "at new sizes": _at_new_sizes,
    "reviewed": _reviewed,
    "searched": _searched,
}
# Those that write to `a`, or to a part of it.
WRITES = frozenset(
    ["out=", "out= and where=", "out= of a reduction", "element written", "part written", "written at a mask"]
    + ["written at positions", "in place", "part in place", "sorted in place"]
)
# Long ones: of so many places in a row where something may fail, one is tried.
STEPS = {"drawn by a legacy generator": 23, "moved by elements": 5, "moved by parts": 7, "searched": 29}
# The same for calls of functions in Python, after each of which plans are made anew.
CALL_STEPS = STEPS | {"moved by elements": 97, "moved by parts": 89, "searched": 997}
CALL_STEPS |= {"at new sizes": 5, "chosen by a mask": 5}
# Of calls that take long so many are looked at for what they leave, of others more.
FEW_CALLS, MANY_CALLS = 5000, 100_000
LONG_CALLS = frozenset([*STEPS, "drawn", "permutation", "at new sizes"])
# Those that need what kernels compute, of which a pretended GPU has nothing.
OF_VALUES = frozenset(["chosen by a mask"])

_matrix = numpy.ones((2, 2))
_vector, _mask = numpy.ones(8), numpy.ones(8, bool)
_bytes = numpy.zeros(24, "u1")
# What else than a `MemoryError` a failed allocation ends in, as NumPy and Python have it; and a call of theirs with it.
OTHER_ERRORS: dict[tuple[type[Exception], str], Callable[[], Any] | None] = {
    # A ufunc's loop with ``where=``, a product and a reduction that find no room for their iterators.
    (SystemError, "returned NULL without setting an exception"): lambda: numpy.matmul(_matrix, _matrix),
    # A mask for which there is no room to be looked for its elements.
    (SystemError, "error return without exception set"): lambda: _vector[_mask],
    # Python's own, which `core/source_location.py:call_for_user` calls; it depends on what Python has free.
    (SystemError, "<method 'replace' of 'code' objects> returned a result with an exception set"): None,
    # Generators of NumPy's have a lock.
    (RuntimeError, "can't allocate lock"): threading.Lock,
    # An array over memory: NumPy takes any error for one of memory that cannot be written, and asks once more.
    (ValueError, "assignment destination is read-only"): lambda: numpy.ndarray(3, "i8", _bytes).fill(0),
}


def is_of_others(error: Exception) -> bool:
    """Return whether an exception is one of `OTHER_ERRORS`."""
    return any(isinstance(error, kind) and words in str(error) for kind, words in OTHER_ERRORS)
