"""NumPy's tests of `Generator`."""

from .numpys import load

globals().update(load("test_generator_mt19937"))
