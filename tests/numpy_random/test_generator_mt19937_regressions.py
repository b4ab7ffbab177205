"""NumPy's tests of what once was wrong with `Generator`."""

from .numpys import load

globals().update(load("test_generator_mt19937_regressions"))
