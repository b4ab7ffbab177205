"""NumPy's tests of what once was wrong with `RandomState`."""

from .numpy_tests import load

globals().update(load("test_randomstate_regression"))
