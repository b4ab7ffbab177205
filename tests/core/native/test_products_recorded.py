"""What the core tells of operands of products, beside Python."""

from __future__ import annotations

import sys
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


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_what_blas_reads_as_it_is(dtype: str) -> None:
    before = np.set_residence("device")
    try:
        signatures = [x.value().signature for x in operands(dtype)]
    finally:
        np.set_residence(before)
    answers = set()
    for pair in [(s, s) for s in signatures] + list(product(signatures[::7], signatures[::5])):
        expected = all(map(matrix_product._is_read_as_it_is, pair))
        assert matrix_product.are_read_as_they_are(pair) is expected, pair
        answers.add(expected)
    assert answers == {True, False}


@pytest.mark.skipif(not _native.IS_COMPILED, reason="the core is not built for this Python")
def test_operands_are_looked_at_once_at_new_sizes() -> None:
    before = np.set_residence("device")
    try:
        a, b = (np.asarray(RNG.random((40, 40))) for _ in range(2))
        called: list[str] = []
        previous = sys.getprofile()
        for n in (5, 6, 7):
            left, right = a[:n, 1:], b[1:, n:]
            called.clear()
            sys.setprofile(
                lambda frame, *_: called.append(f"{Path(frame.f_code.co_filename).name} {frame.f_code.co_name}")
            )
            try:
                left @ right
            finally:
                sys.setprofile(previous)
    finally:
        np.set_residence(before)
    names = {name for name in called if name.startswith(("matrix_product.py", "layout.py"))}
    assert names == {"matrix_product.py are_multiplied_by_library"}
