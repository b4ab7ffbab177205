"""NumPy's tests of `SeedSequence`."""

from .numpys import load

globals().update(load("test_seed_sequence"))
