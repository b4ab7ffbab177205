"""NumPy's tests of bit generators, one by one."""

from .numpys import load

globals().update(load("test_direct"))
