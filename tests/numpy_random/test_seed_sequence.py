"""NumPy's tests of `SeedSequence`."""

from .numpy_tests import load

globals().update(load("test_seed_sequence"))
