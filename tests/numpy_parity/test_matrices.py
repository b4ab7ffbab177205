"""NumPy's class `matrix` beside subclasses and masked arrays of this package: whose class results have."""

from __future__ import annotations

import operator

import numpy
import pytest

import gpunumpy

pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")

BY_BOTH = (operator.add, operator.sub, operator.matmul, operator.lt, operator.eq)


@pytest.mark.parametrize("priority", [-5, 0, 5, 15])
def test_a_class_and_a_matrix(priority: int) -> None:
    """The higher ``__array_priority__`` decides about the class of the result, on both sides."""
    matrix = numpy.asmatrix([[1.0, 2.0], [3.0, 4.0]])
    found = []
    for xp in (gpunumpy, numpy):
        x = xp.array([[2.0, 1.0], [0.0, 3.0]]).view(type("Ranked", (xp.ndarray,), {"__array_priority__": priority}))
        made = [f(*sides) for f in BY_BOTH for sides in ((x, matrix), (matrix, x))]
        made += [f(*sides) for f in (xp.add, xp.less, xp.dot, xp.matmul) for sides in ((x, matrix), (matrix, x))]
        made += [x * matrix, xp.concatenate([x, matrix]), xp.vstack([matrix, x])]
        found.append([(type(result).__name__, result.tolist()) for result in made])
    assert found[0] == found[1]


@pytest.mark.parametrize("place", ["auto", "device"])
@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne"])
def test_comparisons_with_a_matrix(name: str, place: str) -> None:
    gpunumpy.set_residence(place)
    matrix, compare = numpy.asmatrix([[1, 3], [3, 3]]), getattr(operator, name)
    texts = []
    for np in (gpunumpy, numpy):
        x = np.ma.array([[1.0, 2], [3, 4]], mask=[[0, 1], [0, 0]])
        result = compare(x, matrix)
        texts.append((type(result).__name__, result.filled(True).tolist()))
    assert texts[0] == texts[1]
