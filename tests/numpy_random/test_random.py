"""NumPy's tests of the functions of the module."""

from .numpys import load

globals().update(load("test_random"))
