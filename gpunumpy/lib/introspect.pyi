# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
from numpy.lib.introspect import opt_func_info as opt_func_info

__all__ = ["opt_func_info"]
