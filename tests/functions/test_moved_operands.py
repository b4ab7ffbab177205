"""Arrays on the host that another thread moves to their device while NumPy's function reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.recording.array import require_device
from gpunumpy.functions import placement

VALUES = numpy.arange(3.0)


@pytest.fixture(autouse=True)
def _small_arrays_on_the_host() -> Iterator[None]:
    before = np.set_residence("auto")
    yield
    np.set_residence(before)


def call(function: Callable[[Any], Any], x: Any) -> Any:
    """Call a function of NumPy's arrays, in the middle of which the operand moves."""

    def moving(memory: Any) -> Any:
        require_device(x)
        return function(memory)

    return placement._try_operands(moving, "add", (x,), {})


def test_the_result_is_that_of_what_was_on_the_host() -> None:
    x = np.asarray(VALUES)
    numpy.testing.assert_array_equal(call(lambda memory: memory + 1, x).get(), VALUES + 1)


def test_the_operand_itself_comes_back() -> None:
    x = np.asarray(VALUES)
    assert call(lambda memory: memory, x) is x


def test_a_view_of_memory_that_the_array_has_no_more_is_no_result() -> None:
    x = np.asarray(VALUES)
    assert call(lambda memory: memory[::-1], x) is placement.ELSEWHERE
