"""What the core records of products and reductions without Python, and tells of their operands as Python does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core import _native
from gpunumpy.functions.products import matrix_product

RNG = numpy.random.default_rng(0)


def operands(dtype: str) -> list[Any]:
    """Vectors and matrices of every kind that a product may read."""
    x = np.asarray(RNG.random((9, 8)).astype(dtype))
    x.computed()
    pending = x + 1
    written = np.asarray(RNG.random((9, 8)).astype(dtype))
    written[2:] = 3
    made = [
        view
        for base in (x, pending, np.conjugate(x), np.conjugate(pending), np.conjugate(x[1:, 2:]), written, x @ x.T)
        for view in (base, base.T, base[1:, 2:], base[::-1], base[:, ::2], base[::2], base[:1], base[:, :1], base[3:3])
    ]
    made += [view[:, 0] for view in made[:9]] + [view[1] for view in made[:6]] + [x[0, ::-1], x[0, :1][::-1]]
    return [*made, np.broadcast_to(x[0], (5, 8)), np.zeros((4, 3), dtype)[1:], np.arange(6, dtype=dtype)]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i8"])
def test_what_a_library_multiplies(dtype: str) -> None:
    decide = matrix_product.are_multiplied_by_library
    before = np.set_residence("device")
    try:
        signatures = [x.value().signature for x in operands(dtype)]
        signatures += [np.zeros((2, 5000), dtype)[:, 1:].value().signature, np.zeros(4999, dtype)[:].value().signature]
    finally:
        np.set_residence(before)
    answers = set()
    for pair in [(s, s) for s in signatures] + list(product(signatures[::7], signatures[::5])) + [signatures[-2:]]:
        expected = getattr(decide, "__wrapped__", decide)(tuple(pair))
        assert decide(tuple(pair)) is expected, pair
        answers.add(expected)
    assert answers == {True, False}


def called_by(record: Callable[[], Any]) -> list[str]:
    """The functions of Python's that a recording calls."""
    called: list[str] = []
    previous = sys.getprofile()
    sys.setprofile(lambda frame, *_: called.append(f"{Path(frame.f_code.co_filename).name} {frame.f_code.co_name}"))
    try:
        record()
    finally:
        sys.setprofile(previous)
    return [name for name in called if not name.startswith(Path(__file__).name)]


@pytest.mark.skipif(not _native.IS_COMPILED, reason="the core is not built for this Python")
@pytest.mark.parametrize(
    "record",
    [
        lambda x, y: x @ y,
        lambda x, y: np.matmul(x, y),
        lambda x, y: np.where(x > 0.5, x, 1.0),
        lambda x, y: x.sum(),
        lambda x, y: np.max(x, 0),
        lambda x, y: x.prod(axis=(0, -1)),
        lambda x, y: (x > 0.5).any(axis=1),
    ],
)
def test_known_operations_at_new_sizes_are_the_cores(record: Callable[[Any, Any], Any]) -> None:
    before = np.set_residence("device")
    try:
        a, b = (np.asarray(RNG.random((40, 40))) for _ in range(2))
        for n in (5, 6, 7):
            called = called_by(partial(record, a[:n, 1:], b[1:, n:]))
    finally:
        np.set_residence(before)
    assert not called


def test_one_reduction_has_one_signature() -> None:
    before = np.set_residence("device")
    try:
        a = np.asarray(RNG.random((40, 40)))
        for n in (5, 6, 7, 7):
            x = a[:n, 1:]
            sums = [np.sum(x, axis=0), x.sum(0), np.add.reduce(x), x.sum(axis=0)]
            assert len({s.value().signature for s in sums}) == 1
    finally:
        np.set_residence(before)
