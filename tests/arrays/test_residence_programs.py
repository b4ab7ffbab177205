"""Random programs of arrays on the host, arrays on the device, views of both, and moves between them, beside NumPy."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy
import pytest

import gpunumpy
from gpunumpy.core.recording.array import is_scalar

MANY = 5000  # elements of an array that is on the device


class Choice(NamedTuple):
    """What a statement is given besides its arrays."""

    first: int
    last: int
    step: int
    number: float


def _move(np: Any, x: Any, y: Any, c: Choice) -> None:
    if np is gpunumpy and x.ndim and x.flags.writeable and not is_scalar(x):
        np.from_dlpack(x)


def _write_element(np: Any, x: Any, y: Any, c: Choice) -> None:
    if x.ndim == 1 and len(x) > 3:
        x[c.first] = c.number
    elif x.ndim == 2 and min(x.shape) > 3:
        x[c.first, c.last] = c.number


def _add(np: Any, x: Any, y: Any, c: Choice) -> None:
    x += c.number


def _multiply(np: Any, x: Any, y: Any, c: Choice) -> None:
    x *= y


# Each returns a new array, or None. What a scalar of NumPy refuses is not tried: arrays without dimensions take it.
STATEMENTS: dict[str, Callable[[Any, Any, Any, Choice], Any]] = {
    "view": lambda np, x, y, c: x[...],
    "transpose": lambda np, x, y, c: x.T,
    "part": lambda np, x, y, c: x[c.first :] if x.ndim else x[...],
    "steps": lambda np, x, y, c: x[:: c.step] if x.ndim else x,
    "flat": lambda np, x, y, c: x.reshape(-1),
    "add in place": _add,
    "multiply in place": _multiply,
    "write a part": lambda np, x, y, c: x.__setitem__(slice(c.first, c.last), c.number) if x.ndim else None,
    "write an element": _write_element,
    "write by a mask": lambda np, x, y, c: x.__setitem__(x > c.number, 1) if x.ndim else None,
    "write an array": lambda np, x, y, c: x.__setitem__(..., y) if x.ndim else None,
    "out": lambda np, x, y, c: (np.add(x, c.number, out=x), None)[1] if x.ndim else None,
    "sort": lambda np, x, y, c: x.sort() if x.ndim else None,
    "move": _move,
    "number added": lambda np, x, y, c: x + c.number,
    "array added": lambda np, x, y, c: x + y,
    "sum": lambda np, x, y, c: x.sum(axis=0) if x.ndim else x * 1,
    "picked": lambda np, x, y, c: x[[0, -1]] if x.ndim and len(x) > 1 else x * 2,
    "copy": lambda np, x, y, c: x.copy(),
    "chosen": lambda np, x, y, c: np.where(x > 1, x, c.number),
    "element": lambda np, x, y, c: x.ravel()[0] * 2 if x.size else x,
    "joined": lambda np, x, y, c: np.concatenate([x.ravel()[:50], y.ravel()[:50]]),
    "integers": lambda np, x, y, c: x.astype("i4"),
    "every pair": lambda np, x, y, c: np.multiply.outer(x.ravel()[:30], y.ravel()[:30]),
}


@pytest.fixture(autouse=True)
def auto() -> Iterator[None]:
    before = gpunumpy.set_residence("auto")
    yield
    gpunumpy.set_residence(before)


def _outcome(statement: Callable[..., Any], *args: Any) -> Any:
    try:
        return statement(*args)
    except (TypeError, ValueError, IndexError) as error:
        return error


def _run(seed: int) -> None:
    draw = random.Random(seed)
    data = [numpy.arange(12.0).reshape(3, 4), numpy.arange(float(MANY)) % 7, numpy.arange(6) % 4]
    tested, expected = [gpunumpy.asarray(x) for x in data], [x.copy() for x in data]
    done = []
    for _ in range(25):
        k, other = (draw.randrange(len(expected)) for _ in range(2))
        name = draw.choice(list(STATEMENTS))
        numbers = draw.choice([1, 2, -1]), draw.choice([1, 2.5, -3])
        choice = Choice(draw.randrange(-3, 4), draw.randrange(-3, 4), *numbers)
        done.append((name, k, other, choice))
        found, wanted = (
            _outcome(STATEMENTS[name], np, arrays[k], arrays[other], choice)
            for np, arrays in ((gpunumpy, tested), (numpy, expected))
        )
        if isinstance(wanted, Exception) or isinstance(found, Exception):
            assert isinstance(found, Exception), done
            assert isinstance(wanted, Exception), done
        elif wanted is not None:
            place = len(expected) if len(expected) < 9 else draw.randrange(9)
            tested[place : place + 1], expected[place : place + 1] = [found], [wanted]
        for x, reference in zip(tested, expected, strict=True):
            host = gpunumpy.asnumpy(x)
            assert (host.dtype, host.shape) == (reference.dtype, reference.shape), done
            assert numpy.array_equal(host, reference, equal_nan=host.dtype.kind == "f"), done


@pytest.mark.sampled(4)
@pytest.mark.parametrize("batch", range(40))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_programs(batch: int) -> None:
    with numpy.errstate(all="ignore"):
        for seed in range(batch * 50, batch * 50 + 50):
            _run(seed)
