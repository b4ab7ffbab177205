"""NumPy's tests of `RandomState`."""

from .numpys import load

globals().update(load("test_randomstate"))
