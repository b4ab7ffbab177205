"""NumPy's tests of the functions of the module."""

from .numpy_tests import load

globals().update(load("test_random"))
