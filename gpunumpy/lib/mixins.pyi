# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
from numpy.lib.mixins import NDArrayOperatorsMixin as NDArrayOperatorsMixin

__all__ = ["NDArrayOperatorsMixin"]
