"""Sequences nested deeper than an array has dimensions, and those that hold themselves: NumPy's errors, and an end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy as np

_MAKERS: dict[str, Callable[[Any], Any]] = {
    "number": lambda m: 1.0,
    "0-d": lambda m: m.arange(3.0).sum(),
    "1-d": lambda m: m.arange(3.0),
    "text": lambda m: m.asarray(["a", "b"]),
}

_USES: dict[str, Callable[[Any, Any], Any]] = {
    "array": lambda m, x: m.array(x),
    "of objects": lambda m, x: m.array(x, dtype=object),
    "of floats": lambda m, x: m.asarray(x, float),
    "add": lambda m, x: m.add(x, 1),
    "shape": lambda m, x: m.shape(x),
    "sum": lambda m, x: m.sum(x),
    "iscomplexobj": lambda m, x: m.iscomplexobj(x),
    "stack": lambda m, x: m.stack(x),
    "result_type": lambda m, x: m.result_type(x),
    "key": lambda m, x: m.zeros(3)[x],
    "value": lambda m, x: m.zeros(3).__setitem__(slice(None), x),
    "masked": lambda m, x: m.ma.array(x),
    "nditer": lambda m, x: m.nditer(x).shape,
}


def _holding_itself(x: Any) -> list[Any]:
    held: list[Any] = [x]
    held.append(held)
    return held


def _holding_a_holder(x: Any) -> list[Any]:
    held: list[Any] = []
    held.append((held,))
    return held


def _beside_holders(x: Any) -> list[Any]:
    held: list[Any] = []
    held.append(held)
    return [held, [x], held]


def _nested(depth: int) -> Callable[[Any], list[Any]]:
    def nest(x: Any) -> Any:
        for _ in range(depth):
            x = [x]
        return x

    return nest


_SHAPES = {
    "itself": _holding_itself,
    "itself in a tuple": _holding_a_holder,
    "beside such": _beside_holders,
    **{f"{depth} deep": _nested(depth) for depth in (2, 63, 64, 65, 70)},
}


def _outcome(use: Callable[[Any, Any], Any], module: Any, x: Any) -> Any:
    try:
        result = use(module, x)
    except Exception as error:
        return type(error)
    return getattr(result, "shape", result), getattr(result, "dtype", None)


@pytest.mark.parametrize("shape", _SHAPES)
@pytest.mark.parametrize("element", _MAKERS)
@pytest.mark.parametrize("use", _USES)
def test_nested_sequences_end_as_in_numpy(device: np.Device, shape: str, element: str, use: str) -> None:
    mine, theirs = (_SHAPES[shape](_MAKERS[element](module)) for module in (np, numpy))
    assert _outcome(_USES[use], np, mine) == _outcome(_USES[use], numpy, theirs)


def test_list_that_holds_itself_twice(device: np.Device) -> None:
    """NumPy would look at 2**64 lists."""
    held: list[Any] = []
    held += [held, held]
    with pytest.raises(ValueError, match="maximum number of dimension"):
        np.array(held)


@pytest.mark.parametrize("use", [bool, int, float, str, repr, lambda x: x.tolist()])
def test_array_of_objects_that_holds_itself(device: np.Device, use: Callable[[Any], Any]) -> None:
    def outcome(module: Any) -> Any:
        x = module.array([None])
        x[0] = x
        try:
            return str(use(x))
        except Exception as error:
            return type(error)

    assert outcome(np) == outcome(numpy)
