"""NumPy's tests of bit generators, one by one."""

from .numpy_tests import load

globals().update(load("test_direct"))
