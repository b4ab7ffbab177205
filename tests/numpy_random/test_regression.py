"""NumPy's tests of what once was wrong with the functions of the module."""

from .numpys import load

globals().update(load("test_regression"))
