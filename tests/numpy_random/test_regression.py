"""NumPy's tests of what once was wrong with the functions of the module."""

from .numpy_tests import load

globals().update(load("test_regression"))
