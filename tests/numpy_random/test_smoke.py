"""NumPy's tests of all bit generators."""

from .numpy_tests import load

globals().update(load("test_smoke"))
