"""NumPy's tests of `RandomState`."""

from .numpy_tests import load

globals().update(load("test_randomstate"))
