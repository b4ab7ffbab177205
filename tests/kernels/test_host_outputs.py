"""Ufuncs with two outputs on the CPU: one call makes both where a kernel has both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import gpunumpy
from gpunumpy.kernels.host import text as host_text
from tests.support.arrays import to_host

from .test_host import Builder, values

NAMES = ("modf", "frexp", "divmod")
SIZES = (1, 7, 400_000)  # one number, one block, many blocks


def outputs_of(np: Any, name: str, x: Any) -> Any:
    """Both outputs of a ufunc."""
    return np.divmod(x, x[..., ::-1]) if name == "divmod" else getattr(np, name)(x)


def in_place(np: Any, name: str, x: Any) -> Any:
    """Each output over the argument, one after the other, and the other output beside it."""
    for k in range(2):
        outputs = outputs_of(np, name, x + 0.25)
        x[...] = outputs[k]
        x += outputs[1 - k]
    return x


PROGRAMS: dict[str, Callable[[Any, str, Any], Any]] = {
    "both": lambda np, name, x: outputs_of(np, name, x),
    "both of an expression": lambda np, name, x: outputs_of(np, name, abs(x) * 2 + 1),
    "one": lambda np, name, x: outputs_of(np, name, x)[0],
    "the other": lambda np, name, x: outputs_of(np, name, x)[1],
    "a sum of both": lambda np, name, x: (lambda a, b: a + b * 2)(*outputs_of(np, name, x)),
    "the second and a sum": lambda np, name, x: (lambda a, b: (b, a - b, x + a))(*outputs_of(np, name, x)),
    "every second element": lambda np, name, x: outputs_of(np, name, x[::2]),
    "rows": lambda np, name, x: outputs_of(np, name, np.stack([x, x * 3])[:, ::-1]),
    "of each other": lambda np, name, x: outputs_of(np, name, outputs_of(np, name, x)[0] * 3),
    "a reduction": lambda np, name, x: (lambda a, b: (a.max(), b.max()))(*outputs_of(np, name, x)),
    "in place": in_place,
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_values(program: str, name: str, dtype: str, size: int) -> None:
    data = numpy.random.default_rng(1).uniform(-99, 99, size).astype(dtype)
    data[-1] = -numpy.inf
    with numpy.errstate(all="ignore"):
        expected = PROGRAMS[program](numpy, name, data.copy())
    found = PROGRAMS[program](gpunumpy, name, gpunumpy.asarray(data.copy(), device="cpu"))
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for one, other in pairs:
        assert one.dtype == other.dtype
        numpy.testing.assert_array_equal(to_host(one), other)


@pytest.mark.parametrize("ops", [("modf_frac", "modf_int"), ("modf_int", "modf_frac")])
def test_what_the_later_output_overwrites_is_read_before(ops: tuple[str, str]) -> None:
    """What is computed between the outputs reads what the later one is written over."""
    a, b = values((30,)), values((30,), seed=1)
    old = b.copy()
    k = Builder((30,))
    x, y = k.load(a), k.load(b, b)
    earlier = k.full(k.apply(ops[0], x))
    between = k.full(k.apply("add", x, y))
    k.store(k.apply(ops[1], x), b, b, alias=1)
    k.run()
    outputs = dict(zip(("modf_frac", "modf_int"), numpy.modf(a), strict=True))
    for found, expected in ((earlier, outputs[ops[0]]), (between, a + old), (b, outputs[ops[1]])):
        numpy.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", NAMES)
def test_both_are_one_call(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    compiled = host_text._compiled
    monkeypatch.setattr(host_text, "_compiled", lambda text: (texts.append(text), compiled(text))[1])
    x = gpunumpy.asarray(numpy.random.default_rng(3).random(300_011), device="cpu")
    outputs = outputs_of(gpunumpy, name, x)
    outputs[0].computed()
    assert texts
    for text in texts:
        assert text.count("out=") == 1


@pytest.mark.parametrize("dtype", ["i1", "i8", "u4", "u8", "f2", "f4", "f8"])
def test_divmod_of_every_kind(dtype: str) -> None:
    """To the bit: what is divided by zero, and what has no quotient."""
    kind = numpy.dtype(dtype).kind
    limits = numpy.finfo(dtype) if kind == "f" else numpy.iinfo(dtype)
    ends = [limits.min, limits.max, 0, 1, 2, 7, *([-1, -7] if kind != "u" else [])]
    ends += [numpy.inf, -numpy.inf, numpy.nan, -0.0, 0.1, limits.tiny] if isinstance(limits, numpy.finfo) else []
    data = numpy.array(ends, dtype)
    a, b = (x.ravel() for x in numpy.meshgrid(data, data))
    with numpy.errstate(all="ignore"):
        expected = numpy.floor_divide(a, b), numpy.remainder(a, b)
    x, y = (gpunumpy.asarray(v, device="cpu") for v in (a, b))
    for found in (gpunumpy.divmod(x, y), (x // y, x % y), (x % y, x // y)[::-1]):
        for one, other in zip(found, expected, strict=True):
            numpy.testing.assert_array_equal(to_host(one), other)
            numpy.testing.assert_array_equal(numpy.signbit(to_host(one)), numpy.signbit(other))
