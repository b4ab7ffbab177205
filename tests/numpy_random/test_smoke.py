"""NumPy's tests of all bit generators."""

from .numpys import load

globals().update(load("test_smoke"))
