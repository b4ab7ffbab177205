"""What programs for CuPy call besides kernels."""

from __future__ import annotations

import subprocess
import sys

import numpy
import pytest

import gpunumpy as np


def test_the_module_of_arrays() -> None:
    assert np.get_array_module(numpy.ones(2), np.ones(2)) is np
    assert np.get_array_module(numpy.ones(2), 1) is numpy
    assert np.get_array_module() is numpy


@pytest.mark.parametrize("decorator", [np.fuse, np.fuse(), np.fuse(kernel_name="squared")])
def test_fused_functions(decorator: object) -> None:
    def squared(x: object, y: object) -> object:
        return (x - y) * (x - y)  # type: ignore[operator]

    fused = decorator(squared)  # type: ignore[operator]
    assert fused(np.arange(4), np.ones(4, int)).tolist() == [1, 0, 1, 4]
    assert fused(numpy.arange(4), 1).tolist() == [1, 0, 1, 4]


def test_scatters() -> None:
    x, at = numpy.zeros((3, 2)), numpy.array([0, 2, 0])
    y = np.array(x)
    np.scatter_add(y, np.asarray(at), 1.5)
    numpy.add.at(x, at, 1.5)
    assert (y.get() == x).all()
    np.scatter_max(y, (np.asarray(at), 0), np.array([1.0, 4, 7]))
    numpy.maximum.at(x, (at, 0), [1.0, 4, 7])
    assert (y.get() == x).all()
    np.scatter_min(y, np.s_[:, 1], 0.25)
    numpy.minimum.at(x, numpy.s_[:, 1], 0.25)
    assert (y.get() == x).all()


def test_functions_that_remember() -> None:
    calls = []

    @np.memoize(for_each_device=True)
    def made(x: int, *, y: int = 0) -> int:
        calls.append(x)
        return x + y

    assert (made(1), made(1), made(1, y=2), made(2)) == (1, 1, 3, 2)
    assert calls == [1, 1, 2]
    np.clear_memo()
    assert made(1) == 1
    assert calls == [1, 1, 2, 1]


def test_an_import_of_the_package_imports_no_kernels_of_ones_own() -> None:
    code = "import gpunumpy, sys; print([m for m in sys.modules if m.startswith(('gpunumpy.custom', 'gpunumpy.cuda'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
