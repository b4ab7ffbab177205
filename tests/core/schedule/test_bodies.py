"""How often the scheduler lowers a graph: a body that is built in vain takes as long as one that is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.schedule.groups import Placement

from ...support.host_executor import with_new_plans

X = numpy.arange(60.0).reshape(6, 10)


def update_of_a_part(x: Any, y: Any) -> Any:
    """Nothing that is read is overwritten."""
    x[1:3] = y[2:4] * 2
    return x


def sum_of_what_comes_later(x: Any, y: Any) -> Any:
    """The kernel of the first result reads x too, but is before the sorted array."""
    return x + 1, (x * np.sort(y, axis=1)).sum(axis=0)


@pytest.mark.on_device
@pytest.mark.parametrize(("program", "bodies"), [(update_of_a_part, 1), (sum_of_what_comes_later, 2)])
def test_no_body_is_built_in_vain(
    program: Callable[[Any, Any], Any], bodies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_new_plans(monkeypatch)
    built: list[Any] = []
    builder = Placement.builder
    monkeypatch.setattr(Placement, "builder", lambda *args: built.append(args) or builder(*args))  # type: ignore[func-returns-value]
    monkeypatch.setattr("gpunumpy.core.runtime.evaluate.CHECK", False)  # which schedules once more
    with np.Device("cpu"):
        x, y = np.asarray(X.copy()), np.asarray(X.copy())
        np.synchronize()
        results = program(x, y)
        for result in results if isinstance(results, tuple) else (results,):
            result.computed()
    assert len(built) == bodies
