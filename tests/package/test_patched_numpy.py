"""A program that has put functions of its own into NumPy's namespace before it imports this package."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import sys, numpy, ml_dtypes
def wrap(function):
    return lambda *args, **options: function(*args, **options)
names = sys.argv[1].split()
for name in names:
    setattr(numpy, name, wrap(getattr(numpy, name)))
numpy.own_ufunc, numpy.plus = numpy.frompyfunc(lambda a: a, 1, 1), numpy.subtract
import gpunumpy as np
x = np.arange(4.0)
assert all(isinstance(getattr(np, name), np.ufunc) for name in names if name not in ("sum", "matmul"))
print((x + x).tolist(), np.add(x, 1).tolist(), np.maximum(1, x).tolist(), np.add.reduce(x).item(), (x @ x).item())
print(np.sum(x).item(), np.std(x).item(), np.sin(x).tolist()[0], np.clip(x, 1, 2).tolist(), np.linalg.norm(x).item())
"""
_PATCHED = ("sum", "add", "sin maximum", "isnan logical_and absolute abs", "matmul", "multiply subtract less sqrt")


@pytest.mark.parametrize("names", _PATCHED)
def test_patched_numpy(names: str) -> None:
    ran = subprocess.run([sys.executable, "-c", _PROGRAM, names], capture_output=True, text=True, check=False)
    assert ran.stdout.splitlines() == [
        "[0.0, 2.0, 4.0, 6.0] [1.0, 2.0, 3.0, 4.0] [1.0, 1.0, 2.0, 3.0] 6.0 14.0",
        "6.0 1.118033988749895 0.0 [1.0, 1.0, 2.0, 2.0] 3.7416573867739413",
    ], ran.stderr
