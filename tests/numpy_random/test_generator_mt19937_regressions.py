"""NumPy's tests of what once was wrong with `Generator`."""

from .numpy_tests import load

globals().update(load("test_generator_mt19937_regressions"))
