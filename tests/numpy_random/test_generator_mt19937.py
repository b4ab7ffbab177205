"""NumPy's tests of `Generator`."""

from .numpy_tests import load

globals().update(load("test_generator_mt19937"))
